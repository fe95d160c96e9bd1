// Pixels without a canvas: pictures are plain arrays, so drawing is quick, exact and works in tests.

/** 0xAABBGGRR as a canvas keeps it; 0 is clear. */
export interface Picture {
  readonly w: number;
  readonly h: number;
  readonly px: Uint32Array;
}

/** 0xRRGGBB. */
export type Colour = number;

export const INK: Colour = 0x2b2233;

export const picture = (w: number, h: number): Picture => ({ w, h, px: new Uint32Array(w * h) });

export const solid = (c: Colour): number => (0xff000000 | ((c & 0xff) << 16) | (c & 0xff00) | (c >>> 16)) >>> 0;

const faded = (c: Colour, alpha: number): number => ((solid(c) & 0xffffff) | (Math.round(alpha * 255) << 24)) >>> 0;

export function mix(a: Colour, b: Colour, t: number): Colour {
  const at = (shift: number): number => Math.round(((a >> shift) & 255) * (1 - t) + ((b >> shift) & 255) * t) << shift;
  return at(16) | at(8) | at(0);
}

/** One light through another. */
export function multiply(a: Colour, b: Colour): Colour {
  const at = (shift: number): number => Math.round((((a >> shift) & 255) * ((b >> shift) & 255)) / 255) << shift;
  return at(16) | at(8) | at(0);
}

/** Darker below 1, lighter above it. */
export const shade = (c: Colour, f: number): Colour => (f < 1 ? mix(0x1d1730, c, f) : mix(c, 0xfff6e0, f - 1));

export function dot({ w, h, px }: Picture, c: Colour, x: number, y: number): void {
  if (x >= 0 && y >= 0 && x < w && y < h) px[y * w + x] = solid(c);
}

export function rect(
  { w: width, h: height, px }: Picture,
  c: Colour,
  x: number,
  y: number,
  w: number,
  h: number,
): void {
  const value = solid(c);
  const left = Math.max(0, x);
  const right = Math.min(width, x + w);
  for (let j = Math.max(0, y); j < Math.min(height, y + h); j++)
    if (right > left) px.fill(value, j * width + left, j * width + right);
}

export function clear({ w: width, h: height, px }: Picture, x: number, y: number, w: number, h: number): void {
  for (let j = Math.max(0, y); j < Math.min(height, y + h); j++)
    px.fill(0, j * width + Math.max(0, x), j * width + Math.max(0, Math.min(width, x + w)));
}

/** A half clear veil over what is there; on clear ground it keeps its own alpha. */
export function veil(
  { w: width, h: height, px }: Picture,
  c: Colour,
  alpha: number,
  x: number,
  y: number,
  w: number,
  h: number,
): void {
  for (let j = Math.max(0, y); j < Math.min(height, y + h); j++) {
    for (let i = Math.max(0, x); i < Math.min(width, x + w); i++) {
      const under = px[j * width + i] as number;
      px[j * width + i] =
        under >>> 24 === 255
          ? blend(under, c, alpha)
          : Math.max(under >>> 24, alpha * 255) === under >>> 24
            ? under
            : faded(c, alpha);
    }
  }
}

function blend(under: number, c: Colour, alpha: number): number {
  const r = (under & 255) * (1 - alpha) + (c >>> 16) * alpha;
  const g = ((under >>> 8) & 255) * (1 - alpha) + ((c >>> 8) & 255) * alpha;
  const b = ((under >>> 16) & 255) * (1 - alpha) + (c & 255) * alpha;
  return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}

export function ellipse(p: Picture, c: Colour, cx: number, cy: number, rx: number, ry: number, alpha = 1): void {
  for (let j = Math.floor(-ry); j <= ry; j++) {
    const half = Math.floor(rx * Math.sqrt(Math.max(0, 1 - (j / (ry + 0.5)) ** 2)));
    if (alpha < 1) veil(p, c, alpha, Math.round(cx - half), Math.round(cy + j), half * 2 + 1, 1);
    else rect(p, c, Math.round(cx - half), Math.round(cy + j), half * 2 + 1, 1);
  }
}

/** From 0 up to 1, by place. */
export function chance(x: number, y: number): number {
  let h = (Math.imul(x, 374761393) + Math.imul(y, 668265263)) | 0;
  h = Math.imul(h ^ (h >>> 13), 1274126177);
  return ((h ^ (h >>> 16)) >>> 0) / 4294967296;
}

/** Smooth noise from 0 to 1. */
export function noise(x: number, y: number): number {
  const i = Math.floor(x);
  const j = Math.floor(y);
  const u = x - i;
  const v = y - j;
  const su = u * u * (3 - 2 * u);
  const sv = v * v * (3 - 2 * v);
  const top = chance(i, j) + (chance(i + 1, j) - chance(i, j)) * su;
  const low = chance(i, j + 1) + (chance(i + 1, j + 1) - chance(i, j + 1)) * su;
  return top + (low - top) * sv;
}

/** A leafy lump lit from the upper left, in four tones from light to dark. */
export function blob(
  p: Picture,
  cx: number,
  cy: number,
  rx: number,
  ry: number,
  tones: readonly Colour[],
  seed: number,
): void {
  for (let j = -ry - 1; j <= ry + 1; j++) {
    for (let i = -rx - 1; i <= rx + 1; i++) {
      if ((i / rx) ** 2 + (j / ry) ** 2 + noise((cx + i) / 3 + seed, (cy + j) / 3) * 0.45 - 0.2 > 1) continue;
      const light =
        (-i * 0.45 - j * 0.9) / Math.max(rx, ry) + (noise((cx + i) / 2.2 + seed * 3, (cy + j) / 2.2) - 0.5) * 0.9;
      dot(p, tones[light > 0.55 ? 0 : light > 0.05 ? 1 : light > -0.5 ? 2 : 3] as Colour, cx + i, cy + j);
    }
  }
}

/** One dark pixel round everything solid. */
export function outline(p: Picture, c: Colour = INK): Picture {
  const { w, h, px } = p;
  const before = px.slice();
  const full = (i: number, j: number): boolean =>
    i >= 0 && j >= 0 && i < w && j < h && (before[j * w + i] as number) >>> 24 === 255;
  for (let j = 0; j < h; j++) {
    for (let i = 0; i < w; i++) {
      if (
        (before[j * w + i] as number) >>> 24 < 200 &&
        (full(i - 1, j) || full(i + 1, j) || full(i, j - 1) || full(i, j + 1))
      )
        px[j * w + i] = solid(c);
    }
  }
  return p;
}

/** Lays a picture on another; clear pixels let through, half clear ones are mixed. */
export function paste(to: Picture, from: Picture, x: number, y: number, flip = false): void {
  for (let j = 0; j < from.h; j++) {
    const ty = y + j;
    if (ty < 0 || ty >= to.h) continue;
    for (let i = 0; i < from.w; i++) {
      const tx = x + (flip ? from.w - 1 - i : i);
      const value = from.px[j * from.w + i] as number;
      const alpha = value >>> 24;
      if (!alpha || tx < 0 || tx >= to.w) continue;
      const at = ty * to.w + tx;
      const under = to.px[at] as number;
      if (alpha === 255 || under >>> 24 === 0) to.px[at] = value;
      else to.px[at] = blend(under, ((value & 255) << 16) | (value & 0xff00) | ((value >>> 16) & 255), alpha / 255);
    }
  }
}

/** Takes away what another picture covers. */
export function cut(from: Picture, shape: Picture, x: number, y: number, flip = false): void {
  for (let j = 0; j < shape.h; j++) {
    for (let i = 0; i < shape.w; i++) {
      const tx = x + (flip ? shape.w - 1 - i : i);
      const ty = y + j;
      if (tx >= 0 && ty >= 0 && tx < from.w && ty < from.h && (shape.px[j * shape.w + i] as number) >>> 24 > 200)
        from.px[ty * from.w + tx] = 0;
    }
  }
}

/** A round light that fades out in steps, in one colour with alpha. */
export function glow(radius: number, c: Colour): Picture {
  const p = picture(radius * 2, radius * 2);
  for (let j = 0; j < p.h; j++) {
    for (let i = 0; i < p.w; i++) {
      const near = Math.max(0, 1 - Math.hypot(i + 0.5 - radius, j + 0.5 - radius) / radius);
      const alpha = Math.floor(near * near * 14 + chance(i, j) * 0.7) / 14;
      if (alpha > 0) p.px[j * p.w + i] = faded(c, Math.min(1, alpha));
    }
  }
  return p;
}
