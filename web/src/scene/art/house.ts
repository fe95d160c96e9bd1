// Houses from outside (roof and front, with what shines at night apart) and from within (floors and walls).

import { type Building, type Room, TILE } from "../layout/map";
import {
  type Colour,
  chance,
  clear,
  dot,
  ellipse,
  INK,
  outline,
  type Picture,
  picture,
  rect,
  shade,
  veil,
} from "./paint";
import type { Theme } from "./theme";

/** Pixels the drawing stands out beyond the house's rectangle. */
export const EAVES = 4;
export const ABOVE = 22;

export interface Outside {
  readonly day: Picture;
  /** Windows, lamps and neon alone. */
  readonly lit: Picture;
  /** Where light falls on the ground and how bright, from the upper left of the drawing. */
  readonly lights: readonly { readonly x: number; readonly y: number; readonly r: number; readonly colour: Colour }[];
  /** The mouth of the chimney. */
  readonly smoke: { readonly x: number; readonly y: number } | null;
}

/** Letters as a picture of one colour; made by whoever has a canvas. */
export type Letters = (text: string) => Picture;

type Tones = Theme["wood"];

interface Site {
  readonly b: Building;
  readonly theme: Theme;
  readonly day: Picture;
  readonly lit: Picture;
  readonly lights: { x: number; y: number; r: number; colour: Colour }[];
  readonly tones: Tones;
  readonly tube: Colour;
  readonly pane: readonly [Colour, Colour];
  readonly w: number;
  readonly h: number;
  /** Top of the front wall. */
  readonly wall: number;
  readonly doorX: number;
}

export function drawOutside(b: Building, theme: Theme, letters: Letters): Outside {
  const w = b.rect.w * TILE + EAVES * 2;
  const h = b.rect.h * TILE + ABOVE + EAVES;
  const storeys =
    b.style === "shed" || b.style === "boat"
      ? 0
      : b.style === "tower"
        ? 3
        : b.rect.h >= 12 || b.style === "hall" || b.style === "house"
          ? 2
          : 1;
  const site: Site = {
    b,
    theme,
    w,
    h,
    day: picture(w, h),
    lit: picture(w, h),
    lights: [],
    tones: theme.roofs[b.roof % theme.roofs.length] as Tones,
    tube: theme.tubes[b.roof % theme.tubes.length] as Colour,
    pane: theme.panes[(b.roof >> 3) % theme.panes.length] as readonly [Colour, Colour],
    wall: h - EAVES - ([28, 44, 60, 82][storeys] as number),
    doorX: (b.door.x - b.rect.x) * TILE + EAVES,
  };
  if (b.style === "boat") return { day: boat(site), lit: site.lit, lights: site.lights, smoke: null };
  front(site, storeys);
  const flat = theme.neon && b.style !== "cottage" && b.style !== "shed";
  const smoke = flat ? flatRoof(site) : pitchedRoof(site);
  sign(site, letters);
  outline(site.day, theme.neon ? 0x211f38 : INK);
  return { day: site.day, lit: site.lit, lights: site.lights, smoke };
}

function pane({ day, lit, theme, pane: [light, dark] }: Site, x: number, y: number, w: number, h: number): void {
  rect(day, theme.glass[1], x, y, w, h);
  rect(day, theme.glass[0], x, y, w, Math.max(1, (h >> 1) - 1));
  rect(lit, dark, x, y, w, h);
  rect(lit, light, x, y, w, Math.max(1, (h >> 1) - 1));
}

function bar({ day, lit }: Site, c: Colour, x: number, y: number, w: number, h: number): void {
  rect(day, c, x, y, w, h);
  clear(lit, x, y, w, h);
}

function windowAt(site: Site, x: number, y: number, box: boolean): void {
  const { day, theme, tones } = site;
  bar(site, theme.wood[3], x - 1, y - 1, 12, 11);
  pane(site, x, y, 10, 9);
  bar(site, theme.wood[3], x + 4, y, 1, 9);
  bar(site, theme.wood[3], x, y + 4, 10, 1);
  if (theme.neon) {
    // A grille or a drawn blind instead of shutters.
    if (chance(x, y + site.b.roof) < 0.4)
      for (let k = 1; k < 9; k += 2) bar(site, shade(theme.stone[2], 0.8), x, y + k, 10, 1);
  } else {
    rect(day, tones[2], x - 4, y - 1, 3, 11);
    rect(day, tones[2], x + 11, y - 1, 3, 11);
    rect(day, tones[3], x - 4, y + 3, 3, 1);
    rect(day, tones[3], x + 11, y + 3, 3, 1);
    rect(day, tones[3], x - 4, y + 7, 3, 1);
    rect(day, tones[3], x + 11, y + 7, 3, 1);
  }
  if (box) {
    rect(day, theme.wood[2], x - 2, y + 10, 14, 3);
    rect(day, theme.grass[3], x, y + 9, 10, 1);
    for (const k of [0, 3, 7, 10])
      rect(day, theme.petals[(k + (x >> 4)) % theme.petals.length] as Colour, x + k - 1, y + 8, 2, 2);
  }
}

function front(site: Site, storeys: number): void {
  const { b, theme, day, tones, h, wall, doorX } = site;
  const [cream, dim] = theme.walls[b.roof % theme.walls.length] as readonly [Colour, Colour];
  const wide = b.rect.w * TILE;
  const bottom = h - EAVES;
  rect(day, cream, EAVES, wall, wide, bottom - wall);
  for (let i = 0; i < wide * 2; i++)
    rect(
      day,
      dim,
      EAVES + Math.floor(chance(i, b.roof) * wide),
      wall + Math.floor(chance(b.roof, i) * (bottom - wall)),
      i % 2 ? 2 : 1,
      1,
    );
  if (b.style === "shed") for (let x = EAVES; x < EAVES + wide; x += 5) rect(day, dim, x, wall, 1, bottom - wall);
  rect(day, theme.stone[1], EAVES, bottom - 5, wide, 5);
  for (let i = 0; i < wide; i += 7) rect(day, theme.stone[2], EAVES + i, bottom - 5 + ((i / 7) % 2 ? 2 : 0), 1, 3);
  veil(day, 0x1d1730, 0.22, EAVES, wall, wide, 6);
  if (b.style !== "shed" && !theme.neon) {
    const bay = Math.max(3, Math.round(b.rect.w / 4));
    for (let i = 0; i <= b.rect.w; i += bay)
      rect(day, theme.wood[3], EAVES + Math.min(wide - 3, i * TILE), wall, 3, bottom - wall - 5);
    rect(day, theme.wood[3], EAVES + wide - 3, wall, 3, bottom - wall - 5);
  } else if (theme.neon) {
    // Pipes and a seam of panels.
    for (let i = 2; i < b.rect.w; i += 4) rect(day, dim, EAVES + i * TILE, wall, 1, bottom - wall - 5);
    rect(day, theme.stone[3], EAVES + wide - 6, wall, 2, bottom - wall - 4);
    rect(day, theme.stone[2], EAVES + wide - 6, wall, 1, bottom - wall - 4);
  }
  const shopfront = b.style === "shop";
  for (let s = 0; s < storeys; s++) {
    const y = bottom - 26 - s * 20 + (storeys > 1 ? 2 : 0);
    if (s > 0) {
      rect(day, theme.wood[2], EAVES, y + 15, wide, 3);
      rect(day, theme.wood[3], EAVES, y + 17, wide, 1);
    }
    for (let i = 1; i < b.rect.w - 1; i += 2) {
      const x = EAVES + i * TILE + 3;
      if (s === 0 && Math.abs(x - 3 - doorX) < 20) continue;
      if (s === 0 && shopfront && i + 1 < b.rect.w - 1 && Math.abs(x + TILE - doorX) > 28 && i % 4 === 1) {
        // A wide window with goods in it.
        bar(site, theme.wood[3], x - 3, y - 1, 34, 15);
        pane(site, x - 2, y, 32, 13);
        for (const k of [8, 20]) bar(site, theme.wood[3], x - 2 + k, y, 1, 13);
        for (let g = 0; g < 6; g++)
          bar(site, theme.petals[(g + b.roof) % theme.petals.length] as Colour, x + g * 5, y + 10 - (g % 2), 3, 3);
        i += 2;
      } else windowAt(site, x, y, s === storeys - 1 || !shopfront);
    }
  }
  door(site);
  const { lights } = site;
  for (let i = 2; i < b.rect.w; i += 4)
    lights.push({ x: EAVES + i * TILE, y: bottom + 2, r: 30, colour: site.pane[1] });
  lights.push({ x: doorX + 8, y: bottom + 4, r: 34, colour: theme.lamp });
  if (shopfront || (b.style === "hall" && theme.neon)) awning(site, tones);
}

function door(site: Site): void {
  const { theme, day, lit, doorX, h, tones } = site;
  const y = h - EAVES - 24;
  bar(site, INK, doorX - 1, y, 18, 24);
  bar(site, theme.wood[2], doorX + 1, y + 2, 14, 22);
  if (theme.neon) rect(day, tones[1], doorX + 1, y + 2, 14, 22);
  for (let i = 0; i < 14; i += 4) rect(day, theme.neon ? tones[2] : theme.wood[3], doorX + 1 + i, y + 2, 1, 22);
  pane(site, doorX + 4, y + 4, 8, 6);
  bar(site, theme.wood[3], doorX + 7, y + 4, 1, 6);
  rect(day, 0xffd25a, doorX + 12, y + 14, 2, 2);
  rect(day, theme.stone[2], doorX - 4, h - EAVES - 1, 24, 5);
  rect(day, theme.stone[0], doorX - 4, h - EAVES - 1, 24, 2);
  // Lanterns beside the door.
  for (const x of [doorX - 6, doorX + 20]) {
    rect(day, 0x4a4556, x, y + 4, 3, 1);
    for (const p of [day, lit]) {
      rect(p, theme.neon ? site.tube : 0xffd98a, x, y + 5, 3, 4);
      rect(p, 0xfff6d8, x + 1, y + 6, 1, 2);
    }
    rect(day, 0x4a4556, x, y + 9, 3, 1);
  }
}

function awning(site: Site, tones: Tones): void {
  const { day, lit, doorX, h, theme } = site;
  const y = h - EAVES - 30;
  for (let i = 0; i < 46; i++) {
    const drop = i % 6 > 0 && i % 6 < 5 ? 1 : 0;
    rect(day, Math.floor(i / 6) % 2 ? 0xfff3e0 : tones[1], doorX - 15 + i, y, 1, 7 + drop);
    rect(day, Math.floor(i / 6) % 2 ? 0xdccfbf : tones[2], doorX - 15 + i, y + 5, 1, 2 + drop);
  }
  clear(lit, doorX - 15, y, 46, 8);
  veil(day, 0x1d1730, 0.28, doorX - 15, y + 8, 46, 2);
  if (theme.neon) rect(lit, site.tube, doorX - 15, y + 7, 46, 1);
}

/** Tiles in courses, hipped or with straight gables, with dormers, moss and a chimney. */
function pitchedRoof(site: Site): { x: number; y: number } | null {
  const { b, theme, day, lit, tones, w, wall, doorX } = site;
  const top = b.style === "tower" ? 0 : ABOVE - 14;
  const eave = wall + 5;
  const height = eave - top;
  const hip =
    b.style === "cottage" || b.style === "shed"
      ? 0
      : b.style === "tower"
        ? Math.min(w / 2 - 6, height * 0.6)
        : Math.min(34, Math.round(height * 0.32));
  for (let y = top; y < eave; y++) {
    const f = (y - top) / height;
    const left = Math.round(hip * (1 - f) * 0.85);
    const course = Math.floor((y - top) / 6);
    for (let x = left; x < w - left; x++) {
      const shift = (course & 1) * 5;
      const inTile = (x + shift) % 10;
      const luck = chance(Math.floor((x + shift) / 10), course * 7 + b.roof);
      let k = f < 0.14 ? 0.2 : f < 0.55 ? 1 : 1.4;
      if (b.style === "shed") {
        k = (x % 7 === 6 ? 2.4 : chance(Math.floor(x / 7), b.roof) * 1.4 + 0.4) + (f > 0.9 ? 0.6 : 0);
      } else {
        const band = hip * (1 - f) * 0.9;
        if (x > w - left - band - 8) k += 0.9;
        else if (x < left + band) k -= 0.4;
        if (luck > 0.86) k -= 0.9;
        else if (luck < 0.18) k += 0.8;
        if ((y - top) % 6 === 5) k += 1.1;
        else if (inTile === 0 && (y - top) % 6 > 0) k += 0.8;
        else if ((y - top) % 6 === 0 && luck > 0.5) k -= 0.5;
        if (f > 0.94) k += 0.6;
      }
      dot(day, tones[Math.max(0, Math.min(3, Math.round(k)))] as Colour, x, y);
    }
  }
  const ridge = Math.round(hip * 0.85);
  rect(day, tones[0], ridge - 1, top - 2, w - ridge * 2 + 2, 3);
  rect(day, tones[3], ridge, top + 1, w - ridge * 2, 1);
  for (let x = ridge + 4; x < w - ridge; x += 8) rect(day, tones[1], x, top - 2, 1, 3);
  rect(day, theme.wood[2], 0, eave - 2, w, 2);
  rect(day, theme.wood[3], 0, eave, w, 1);
  veil(day, 0x1d1730, 0.34, EAVES, eave + 1, w - EAVES * 2, 4);
  clear(lit, 0, top, w, eave - top + 1);
  if (!theme.neon) {
    for (let i = 0; i < w / 18; i++) {
      const x = Math.floor(chance(i, b.roof + 3) * (w - 12));
      for (let k = 0; k < 9; k++)
        rect(
          day,
          theme.grass[k % 2 ? 3 : 2],
          x + Math.floor(chance(k, i) * 9),
          eave - 3 - Math.floor(chance(i, k + 9) ** 2 * 13),
          2,
          1,
        );
    }
  }
  if (b.style === "shed") return null;
  gable(site, doorX + 8, eave, b.rect.w > 9 ? 20 : 14);
  // Dormers keep a large roof from being a plain field.
  if (height > 84) {
    const y = top + Math.round(height * 0.42);
    for (const x of [w * 0.2, w * 0.5, w * 0.8])
      if (Math.abs(x - doorX - 8) > 24 || y < eave - 56) dormer(site, Math.round(x), y);
  } else if (b.rect.w > 12)
    for (const x of [w * 0.24, w * 0.76])
      if (Math.abs(x - doorX - 8) > 40) dormer(site, Math.round(x), top + Math.round(height * 0.5));
  if (b.style === "hall") return turret(site, top);
  if (b.style === "tower") return null;
  const cx = doorX > w / 2 ? ridge + 14 : w - ridge - 26;
  return chimney(site, cx, top - 4);
}

function gable(site: Site, ax: number, eave: number, size: number): void {
  const { day, theme, tones, b } = site;
  const cream = (theme.walls[b.roof % theme.walls.length] as readonly [Colour, Colour])[0];
  const top = eave - size - 12;
  for (let k = 0; k < size; k++) rect(day, cream, ax - k, top + k + 4, k * 2 + 1, 1);
  rect(day, cream, ax - size + 2, top + size, size * 2 - 3, eave - top - size);
  for (let k = 0; k <= size + 2; k++) {
    rect(day, tones[k % 6 === 5 ? 2 : 0], ax - k - 3, top + k, 5, 2);
    rect(day, tones[k % 6 === 5 ? 3 : 1], ax + k - 1, top + k, 5, 2);
    rect(day, tones[3], ax - k - 2, top + k + 2, 3, 1);
    rect(day, tones[3], ax + k, top + k + 2, 3, 1);
  }
  bar(site, theme.wood[3], ax - 5, top + size - 4, 11, 10);
  pane(site, ax - 4, top + size - 3, 9, 8);
  bar(site, theme.wood[3], ax, top + size - 3, 1, 8);
  rect(day, theme.wood[2], ax - size + 1, top + size + 7, size * 2 - 1, 2);
}

function dormer(site: Site, x: number, y: number): void {
  const { day, theme, tones } = site;
  rect(day, tones[3], x - 10, y - 2, 20, 22);
  rect(day, (theme.walls[0] as readonly [Colour, Colour])[0], x - 8, y + 4, 16, 15);
  for (let k = 0; k < 7; k++) {
    rect(day, tones[k % 3 === 2 ? 1 : 0], x - 11 - (k > 4 ? 1 : 0), y - 3 + k, 22 + (k > 4 ? 2 : 0), 1);
  }
  rect(day, tones[2], x - 12, y + 4, 24, 1);
  bar(site, theme.wood[3], x - 5, y + 7, 10, 10);
  pane(site, x - 4, y + 8, 8, 8);
  bar(site, theme.wood[3], x, y + 8, 1, 8);
}

function turret(site: Site, top: number): null {
  const { day, lit, doorX, theme, tones } = site;
  const x = doorX - 6;
  const y = Math.max(0, top - 8);
  rect(day, INK, x - 1, y + 8, 30, 40);
  rect(day, 0xf0e2c2, x, y + 8, 28, 39);
  rect(day, 0xd9c59c, x + 20, y + 8, 8, 39);
  for (let k = 0; k < 10; k++)
    rect(day, tones[k < 5 ? 0 : 2], x - 2 + Math.max(0, 6 - k), y + k, 32 - 2 * Math.max(0, 6 - k), 1);
  rect(day, tones[3], x - 2, y + 10, 32, 1);
  ellipse(day, INK, x + 14, y + 26, 9, 9);
  ellipse(day, 0xe8a23d, x + 14, y + 26, 8, 8);
  for (const p of [day, lit]) ellipse(p, 0xfff7e0, x + 14, y + 26, 6, 6);
  bar(site, INK, x + 14, y + 21, 1, 6);
  bar(site, INK, x + 14, y + 26, 4, 1);
  rect(day, theme.wood[3], x, y + 45, 28, 2);
  return null;
}

function chimney({ day, theme }: Site, x: number, y: number): { x: number; y: number } {
  const brick = theme.neon ? 0x7d6a86 : 0xb06f62;
  rect(day, brick, x, y, 11, 24);
  rect(day, shade(brick, 0.72), x + 7, y, 4, 24);
  for (let j = 3; j < 24; j += 4) rect(day, shade(brick, 0.82), x, y + j, 11, 1);
  rect(day, theme.stone[0], x - 2, y - 2, 15, 4);
  rect(day, 0x3a2d38, x + 2, y - 2, 7, 1);
  return { x: x + 5, y: y - 4 };
}

/** A flat roof of the city: parapet, machines, tanks, aerials and a neon edge. */
function flatRoof(site: Site): { x: number; y: number } | null {
  const { b, day, lit, tones, tube, w, wall, lights } = site;
  const top = ABOVE - 8;
  const left = EAVES - 2;
  const wide = w - left * 2;
  rect(day, tones[1], left, top, wide, wall - top);
  for (let y = top + 5; y < wall - 5; y++) {
    for (let x = left + 5; x < left + wide - 5; x++) {
      const slab = chance(Math.floor(x / 22) + b.roof, Math.floor(y / 18));
      let k = slab < 0.3 ? 2 : slab > 0.8 ? 1 : 2;
      if (x % 22 === 0 || y % 18 === 0) k = 3;
      if (chance(x, y) < 0.02) k = 3;
      dot(day, tones[k] as Colour, x, y);
    }
  }
  // Parapet: light top, dark inner side.
  rect(day, tones[0], left, top, wide, 4);
  rect(day, tones[0], left, top, 4, wall - top);
  rect(day, tones[0], left + wide - 4, top, 4, wall - top);
  rect(day, tones[0], left, wall - 5, wide, 4);
  rect(day, tones[3], left + 4, top + 4, wide - 8, 5);
  rect(day, tones[3], left + 4, top + 4, 2, wall - top - 9);
  rect(day, tones[3], left, wall - 1, wide, 3);
  clear(lit, 0, 0, w, wall + 2);
  // The tube along the edge, dull by day.
  for (const [x, y, ww, hh] of [
    [left, wall - 2, wide, 2],
    [left, top + 1, 1, wall - top - 2],
    [left + wide - 1, top + 1, 1, wall - top - 2],
  ] as const) {
    rect(day, shade(tube, 0.75), x, y, ww, hh);
    rect(lit, tube, x, y, ww, hh);
  }
  rect(lit, shade(tube, 1.6), left + 1, wall - 2, wide - 2, 1);
  for (let x = left + 20; x < left + wide; x += 64) lights.push({ x, y: wall + 6, r: 46, colour: tube });
  const depth = wall - top;
  const rows = Math.max(1, Math.floor((depth - 30) / 34));
  const columns = Math.floor((wide - 20) / 38);
  for (let j = 0; j < rows; j++) {
    for (let i = 0; i < columns; i++) {
      const luck = chance(i * 3 + b.roof, j * 5 + 1);
      const x = left + 12 + i * 38 + Math.floor(chance(i, j + b.roof) * 10);
      const y = top + 16 + j * 34 + Math.floor(chance(j + b.roof, i) * 8);
      if (luck < 0.26) unit(site, x, y);
      else if (luck < 0.42) tank(site, x, y);
      else if (luck < 0.56) skylight(site, x, y);
      else if (luck < 0.68) planter(site, x, y);
      else if (luck < 0.78) laundry(site, x, y);
    }
  }
  aerial(site, left + wide - 16, top - 4);
  if (b.rect.w > 12) aerial(site, left + 16, top + 4);
  return { x: left + 24, y: top + 8 };
}

function unit({ day }: Site, x: number, y: number): void {
  rect(day, 0xb8bccb, x, y, 20, 10);
  rect(day, 0x878ba2, x, y + 10, 20, 7);
  rect(day, INK, x, y + 16, 20, 1);
  ellipse(day, 0x5d617c, x + 6, y + 5, 4, 3);
  ellipse(day, 0x5d617c, x + 14, y + 5, 4, 3);
  rect(day, 0xd9dce6, x + 5, y + 5, 3, 1);
  rect(day, 0xd9dce6, x + 13, y + 5, 3, 1);
}

function tank({ day, theme }: Site, x: number, y: number): void {
  rect(day, INK, x + 1, y + 16, 2, 7);
  rect(day, INK, x + 13, y + 16, 2, 7);
  rect(day, theme.wood[1], x, y + 2, 16, 16);
  rect(day, theme.wood[0], x + 2, y + 2, 4, 16);
  rect(day, theme.wood[3], x + 12, y + 2, 4, 16);
  ellipse(day, theme.stone[1], 0 + x + 8, y + 1, 8, 3);
  rect(day, theme.stone[3], x, y + 8, 16, 1);
}

function skylight(site: Site, x: number, y: number): void {
  rect(site.day, INK, x - 1, y - 1, 24, 16);
  pane(site, x, y, 22, 14);
  bar(site, site.theme.stone[3], x + 10, y, 1, 14);
  bar(site, site.theme.stone[3], x, y + 7, 22, 1);
}

function planter({ day, theme }: Site, x: number, y: number): void {
  rect(day, theme.wood[2], x, y + 5, 22, 8);
  rect(day, theme.wood[3], x, y + 10, 22, 3);
  for (let k = 0; k < 10; k++) {
    rect(day, theme.leaves.oak[k % 3] as Colour, x + 1 + k * 2, y + 1 + Math.floor(chance(k, x) * 4), 3, 5);
    if (k % 3 === 0) rect(day, theme.petals[k % theme.petals.length] as Colour, x + 1 + k * 2, y + 1, 2, 2);
  }
}

function laundry({ day, theme }: Site, x: number, y: number): void {
  rect(day, 0x4a4866, x, y, 1, 14);
  rect(day, 0x4a4866, x + 24, y, 1, 14);
  rect(day, 0xd9d6e6, x, y + 1, 25, 1);
  for (let k = 0; k < 4; k++)
    rect(day, theme.petals[(k + x) % theme.petals.length] as Colour, x + 3 + k * 5, y + 2, 4, 5 + (k % 2) * 2);
}

function aerial({ day, lit }: Site, x: number, y: number): void {
  rect(day, 0x37355a, x, Math.max(0, y - 12), 1, 26);
  rect(day, 0x37355a, x - 4, Math.max(1, y - 6), 9, 1);
  rect(day, 0x37355a, x - 2, Math.max(1, y - 2), 5, 1);
  for (const p of [day, lit]) rect(p, 0xff5a5a, x, Math.max(0, y - 13), 1, 2);
}

/** A board over the door with the name on it; in the city it is a lit tube. */
function sign(site: Site, letters: Letters): void {
  const { b, theme, day, lit, tube, doorX, w, h, wall, lights } = site;
  if (!b.sign && b.style !== "shop") return;
  const words = letters(b.sign || b.name);
  const wide = Math.min(w - 8, words.w + 10);
  const x = Math.max(3, Math.min(w - 3 - wide, doorX + 8 - (wide >> 1)));
  // A shed's front is too low for board and door: there it hangs on the roof.
  const front = h - EAVES - wall;
  const y = front < 40 ? wall - 11 : theme.neon ? wall - 3 : front < 50 ? wall + 1 : wall - 2;
  const tall = Math.max(15, words.h + 5);
  if (theme.neon) {
    rect(day, 0x25233f, x, y, wide, tall);
    rect(day, shade(tube, 0.6), x, y, wide, 1);
    rect(day, shade(tube, 0.6), x, y + tall - 1, wide, 1);
    rect(lit, 0x25233f, x, y, wide, tall);
    for (const [ox, oy, ww, hh] of [
      [0, 0, wide, 1],
      [0, tall - 1, wide, 1],
      [0, 0, 1, tall],
      [wide - 1, 0, 1, tall],
    ] as const)
      rect(lit, tube, x + ox, y + oy, ww, hh);
    lights.push({ x: x + wide / 2, y: y + tall, r: 40, colour: tube });
  } else {
    rect(day, theme.wood[3], x, y, wide, tall);
    rect(day, 0xf3dfb5, x + 1, y + 1, wide - 2, tall - 3);
    rect(day, 0xd9b98a, x + 1, y + tall - 3, wide - 2, 1);
    clear(lit, x, y, wide, tall);
    // A lantern over the board, or nobody could read it at night.
    lights.push(
      { x: x + wide / 4, y: y + tall / 2, r: 26, colour: 0xffd9a0 },
      { x: x + (wide * 3) / 4, y: y + tall / 2, r: 26, colour: 0xffd9a0 },
    );
  }
  const up = y + Math.max(1, ((theme.neon ? tall : tall - 2) - words.h) >> 1);
  stamp(day, words, theme.neon ? shade(tube, 1.25) : 0x4a3028, x + 5, up);
  if (theme.neon) stamp(lit, words, shade(tube, 1.55), x + 5, up);
}

function stamp(to: Picture, words: Picture, c: Colour, x: number, y: number): void {
  for (let j = 0; j < words.h; j++)
    for (let i = 0; i < words.w; i++) if (words.px[j * words.w + i]) dot(to, c, x + i, y + j);
}

function boat(site: Site): Picture {
  const { day, lit, theme, tones, w, h, lights, doorX } = site;
  const mid = (h + ABOVE) / 2;
  for (let y = ABOVE - 6; y < h; y++) {
    const f = Math.abs(y - mid) / (h - mid);
    const taper = Math.round(f * f * 14);
    rect(day, y > h - 16 ? theme.wood[3] : theme.wood[2], taper, y, w - taper * 2, 1);
    if (y > h - 16 && (y & 3) === 0) rect(day, theme.wood[2], taper, y, w - taper * 2, 1);
  }
  rect(day, tones[1], 12, h - 12, w - 24, 3);
  for (let y = ABOVE; y < h - 20; y++) {
    const f = Math.abs(y - (mid - 6)) / (h - mid);
    const taper = Math.round(f * f * 14) + 5;
    for (let x = taper; x < w - taper; x++)
      dot(
        day,
        theme.planks[y % 6 === 5 ? 3 : chance(Math.floor(x / 19), Math.floor(y / 6)) > 0.5 ? 0 : 1] as Colour,
        x,
        y,
      );
  }
  const [x, y, ww, hh] = [20, ABOVE + 2, w - 40, h - ABOVE - 48];
  rect(day, INK, x - 3, y - 3, ww + 6, hh + 29);
  for (let j = 0; j < hh; j++)
    for (let i = 0; i < ww + 4; i++)
      dot(day, tones[j % 7 === 6 ? 3 : j < 6 ? 0 : i % 13 === 0 ? 2 : 1] as Colour, x - 2 + i, y - 2 + j);
  rect(day, theme.wood[1], x, y + hh - 2, ww, 26);
  rect(day, theme.wood[2], x, y + hh + 20, ww, 4);
  veil(day, 0x1d1730, 0.3, x, y + hh - 2, ww, 4);
  for (let i = 10; i < ww - 12; i += 22) {
    if (Math.abs(x + i - doorX) < 18) continue;
    bar(site, INK, x + i - 1, y + hh + 4, 12, 10);
    pane(site, x + i, y + hh + 5, 10, 8);
    bar(site, theme.wood[3], x + i + 5, y + hh + 5, 1, 8);
  }
  bar(site, INK, doorX, y + hh, 16, 24);
  rect(day, theme.wood[2], doorX + 1, y + hh + 1, 14, 23);
  rect(day, 0xffd25a, doorX + 11, y + hh + 12, 2, 2);
  for (let i = 6; i < w - 6; i += 14) {
    for (const p of [day, lit])
      rect(
        p,
        (site.theme.tubes[((i / 14) % theme.tubes.length) | 0] ?? theme.lamp) as Colour,
        i,
        ABOVE - 3 + Math.round(Math.sin(i * 0.11) * 2),
        2,
        3,
      );
    rect(day, INK, i - 6, ABOVE - 4 + Math.round(Math.sin(i * 0.11) * 2), 14, 1);
  }
  lights.push(
    { x: w / 2, y: h - 8, r: 60, colour: site.pane[1] },
    { x: w / 4, y: ABOVE, r: 36, colour: site.tube },
    { x: (w * 3) / 4, y: ABOVE, r: 36, colour: site.tube },
  );
  return outline(day);
}

// ── within ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Floors, the faces of the northern walls, and the tops of all others. Drawn over the house's rectangle. */
export function drawInside(b: Building, theme: Theme): Picture {
  const w = b.rect.w * TILE;
  const h = b.rect.h * TILE;
  const p = picture(w, h);
  const top = theme.neon ? 0x6f6a92 : 0x94705a;
  rect(p, INK, 0, 0, w, h);
  rect(p, top, 1, 1, w - 2, h - 2);
  rect(p, shade(top, 1.15), 1, 1, w - 2, 2);
  const faces: Room[] = [];
  for (const room of b.rooms) {
    const x0 = (room.rect.x - b.rect.x) * TILE;
    const y0 = (room.rect.y - b.rect.y) * TILE;
    const x1 = x0 + room.rect.w * TILE;
    const y1 = y0 + room.rect.h * TILE;
    const outer = y1 + TILE >= h;
    rect(p, INK, x0 - 6, y0 - 26, x1 - x0 + 12, y1 - y0 + 26 + (outer ? 8 : 3));
    for (let y = y0; y < y1 + (outer ? 7 : 2); y++)
      for (let x = x0 - 5; x < x1 + 5; x++) dot(p, floor(room.floor, x, y, theme, b.roof), x, y);
    faces.push(room);
  }
  for (const { x, y } of b.doors) {
    const left = (x - b.rect.x) * TILE;
    const up = (y - b.rect.y) * TILE;
    const room = b.rooms[0];
    const sideways = b.rooms.some(({ rect: r }) => y >= r.y && y < r.y + r.h && (x === r.x - 1 || x === r.x + r.w));
    if (!sideways) continue;
    // The floors reach five pixels under the walls from both sides; a threshold joins them.
    for (let j = up; j < up + TILE; j++)
      for (let i = left + 4; i < left + TILE - 4; i++) dot(p, floor(room?.floor ?? "wood", i, j, theme, b.roof), i, j);
    rect(p, theme.wood[3], left + 4, up, TILE - 8, 1);
    rect(p, theme.wood[2], left + 5, up + 1, 1, TILE - 1);
    rect(p, theme.wood[2], left + TILE - 6, up + 1, 1, TILE - 1);
  }
  for (const room of faces) {
    const x0 = (room.rect.x - b.rect.x) * TILE - 5;
    const y0 = (room.rect.y - b.rect.y) * TILE;
    const wide = room.rect.w * TILE + 10;
    const [light, dim] = paper(room, theme, b);
    rect(p, light, x0, y0 - 25, wide, 25);
    for (let i = 0; i < wide; i += 8) rect(p, shade(light, 0.96), x0 + i, y0 - 25, 4, 19);
    rect(p, shade(light, 0.8), x0, y0 - 25, wide, 2);
    rect(p, dim, x0, y0 - 7, wide, 5);
    rect(p, theme.wood[3], x0, y0 - 2, wide, 2);
    rect(p, theme.wood[2], x0, y0 - 8, wide, 1);
    veil(p, 0x1d1730, 0.24, x0, y0, wide, 4);
    veil(p, 0x1d1730, 0.16, x0, y0 + 4, 4, room.rect.h * TILE);
  }
  for (const { x, y } of b.doors) {
    const left = (x - b.rect.x) * TILE;
    const up = (y - b.rect.y) * TILE;
    const sideways = b.rooms.some(({ rect: r }) => y >= r.y && y < r.y + r.h && (x === r.x - 1 || x === r.x + r.w));
    if (sideways) continue;
    if (y === b.rect.y + b.rect.h - 1) {
      rect(p, theme.wood[2], left, up, TILE, TILE);
      rect(p, theme.wood[0], left + 2, up + 3, TILE - 4, TILE - 5);
      for (let i = left + 3; i < left + TILE - 3; i += 3) rect(p, theme.wood[1], i, up + 5, 1, 8);
    } else {
      for (let j = up; j < up + TILE; j++)
        for (let i = left; i < left + TILE; i++) dot(p, floor(b.rooms[0]?.floor ?? "wood", i, j, theme, b.roof), i, j);
      rect(p, theme.wood[3], left - 1, up, 1, TILE);
      rect(p, theme.wood[3], left + TILE, up, 1, TILE);
      veil(p, 0x1d1730, 0.18, left, up, TILE, TILE);
    }
  }
  return p;
}

function paper(room: Room, theme: Theme, b: Building): readonly [Colour, Colour] {
  const tones = theme.roofs[b.roof % theme.roofs.length] as Tones;
  if (theme.neon)
    return [
      shade(([0xb9a9c9, 0xa8c1c9, 0xd0b0bf, 0xb3b6d4] as const)[(b.roof + room.rect.x) % 4] as Colour, 1),
      tones[2],
    ];
  switch (room.floor) {
    case "tile":
      return [0xe8efe6, 0x9fc3bd];
    case "stone":
      return [0xd8cfc4, 0xa79b93];
    case "carpet":
      return [0xead7bd, tones[2]];
    case "metal":
      return [0xc7ccd8, 0x8790a6];
    default:
      return [(theme.walls[b.roof % theme.walls.length] as readonly [Colour, Colour])[0], 0xcaa57c];
  }
}

function floor(kind: Room["floor"], x: number, y: number, theme: Theme, seed: number): Colour {
  const grain = chance(x, y);
  switch (kind) {
    case "tile":
      return x % 8 === 0 || y % 8 === 0
        ? theme.neon
          ? 0x9da6b8
          : 0xbfc7c3
        : ((x >> 3) + (y >> 3)) & 1
          ? theme.neon
            ? 0xcfd3e0
            : 0xece5d8
          : theme.neon
            ? 0xb7c3d2
            : 0xd2dcd8;
    case "stone": {
      const row = Math.floor(y / 10);
      const s = x + (row & 1) * 7;
      return y % 10 === 9 || s % 14 === 13
        ? theme.stone[2]
        : grain < 0.06
          ? theme.stone[2]
          : chance(Math.floor(s / 14), row) > 0.6
            ? theme.stone[0]
            : theme.stone[1];
    }
    case "metal":
      return x % 24 === 0 || y % 24 === 0
        ? 0x555a73
        : (x + y) % 6 === 0 && (x - y + 600) % 12 === 0
          ? 0x9196ac
          : grain < 0.04
            ? 0x6d7289
            : 0x7a7f96;
    case "carpet": {
      const tones = theme.roofs[(seed + 1) % theme.roofs.length] as Tones;
      return (x + y) % 8 === 0 || (x - y + 8000) % 8 === 0 ? tones[0] : tones[1];
    }
    default: {
      const row = Math.floor(y / 8);
      const s = x + (row % 3) * 11;
      return y % 8 === 7
        ? theme.wood[2]
        : s % 32 === 0
          ? theme.wood[2]
          : grain < 0.03
            ? theme.wood[2]
            : chance(Math.floor(s / 32), row) > 0.5
              ? theme.wood[0]
              : theme.wood[1];
    }
  }
}
