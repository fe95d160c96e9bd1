// The ground, baked per pixel: soft and noisy borders rather than squares of tiles.

import { type Ground, TILE, type VillageMap } from "../layout/map";
import { type Colour, chance, type Picture, picture, rect, solid } from "./paint";
import type { Theme } from "./theme";

const SIDE = 256;

/** Smooth noise that repeats every 256 pixels: looked up, since a chunk of ground asks for a million values. */
function table(cell: number): Float32Array {
  const count = SIDE / cell;
  const out = new Float32Array(SIDE * SIDE);
  const at = (i: number, j: number): number => chance((i % count) + cell * 100, (j % count) + cell * 7);
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      const i = Math.floor(x / cell);
      const j = Math.floor(y / cell);
      const u = x / cell - i;
      const v = y / cell - j;
      const su = u * u * (3 - 2 * u);
      const sv = v * v * (3 - 2 * v);
      const a = at(i, j) * (1 - su) + at(i + 1, j) * su;
      const b = at(i, j + 1) * (1 - su) + at(i + 1, j + 1) * su;
      out[y * SIDE + x] = a * (1 - sv) + b * sv;
    }
  }
  return out;
}

let fine: Float32Array | undefined;
let broad: Float32Array | undefined;

const CLASS: Readonly<Record<Ground, number>> = {
  grass: 0,
  path: 1,
  paving: 2,
  street: 3,
  water: 4,
  sand: 5,
  garden: 6,
  planks: 7,
  soil: 8,
};
const [PATH, PAVING, STREET, WATER, SAND, GARDEN, PLANKS, SOIL] = [1, 2, 3, 4, 5, 6, 7, 8] as const;

/** A piece of the ground in pixels of the world. */
export function bakeGround(map: VillageMap, theme: Theme, x0: number, y0: number, w: number, h: number): Picture {
  fine ??= table(4);
  broad ??= table(32);
  const p = picture(w, h);
  const classes = classesOf(map);
  const at = (i: number, j: number): number =>
    classes[Math.max(0, Math.min(map.height - 1, j)) * map.width + Math.max(0, Math.min(map.width - 1, i))] as number;
  const tone = (c: Colour): number => solid(c);
  const grass = theme.grass.map(tone);
  const path = theme.path.map(tone);
  const paving = theme.paving.map(tone);
  const street = theme.street.map(tone);
  const water = theme.water.map(tone);
  const sand = theme.sand.map(tone);
  const garden = theme.garden.map(tone);
  const soil = theme.soil.map(tone);
  const planks = theme.planks.map(tone);
  const ink = tone(theme.neon ? 0x2c2b4a : 0x4a3b3f);
  const edge = tone(theme.tuft);

  // The four tiles whose middles are around a pixel, and how much of each it has.
  let [a, b, c, d] = [0, 0, 0, 0];
  let [wa, wb, wc, wd] = [0, 0, 0, 0];
  const share = (k: number): number =>
    (a === k ? wa : 0) + (b === k ? wb : 0) + (c === k ? wc : 0) + (d === k ? wd : 0);
  for (let y = 0; y < h; y++) {
    const py = y0 + y;
    const fy = py / TILE - 0.5;
    const j = Math.floor(fy);
    const v = fy - j;
    for (let x = 0; x < w; x++) {
      const px = x0 + x;
      const fx = px / TILE - 0.5;
      const i = Math.floor(fx);
      const u = fx - i;
      if (u === 0 || x === 0) {
        a = at(i, j);
        b = at(i + 1, j);
        c = at(i, j + 1);
        d = at(i + 1, j + 1);
      }
      const grain = chance(px, py);
      const n = fine[(py & 255) * SIDE + (px & 255)] as number;
      const big =
        (broad[((py * 0.6) & 255) * SIDE + ((px * 0.6) & 255)] as number) * 0.55 +
        (broad[((py * 2) & 255) * SIDE + ((px * 2) & 255)] as number) * 0.45;
      let tint = grass[big < 0.4 ? 2 : big > 0.62 ? 0 : 1] as number;
      if ((Math.abs(big - 0.4) < 0.02 || Math.abs(big - 0.62) < 0.02) && (px + py) & 1) tint = grass[1] as number;
      if (grain < 0.012) tint = grass[3] as number;
      else if (grain > 0.992) tint = grass[0] as number;

      if (a | b | c | d) {
        wa = (1 - u) * (1 - v);
        wb = u * (1 - v);
        wc = (1 - u) * v;
        wd = u * v;
        const wobble = (n - 0.5) * 0.36;
        const here = at(px >> 4, py >> 4);
        const laidOn = share(PATH) + share(PAVING) + share(STREET) + share(PLANKS);
        const waters = share(WATER);
        const lawn = share(GARDEN) + share(SOIL);
        if (lawn + wobble * 0.6 > 0.5) {
          tint = garden[big < 0.45 ? 2 : 1] as number;
          if (((px >> 3) + (py >> 3)) & 1) tint = garden[big < 0.45 ? 1 : 0] as number;
          if (grain > 0.985) tint = garden[3] as number;
        } else if (lawn + wobble * 0.6 > 0.44) tint = edge;
        if (share(SAND) + wobble > 0.46) tint = (grain < 0.06 ? sand[1] : sand[0]) as number;
        if (laidOn) {
          const trodden = laidOn + share(SAND) * 0.5 + wobble * 0.8;
          if (trodden > 0.5) {
            tint = (grain < 0.05 ? path[2] : n > 0.66 ? path[0] : path[1]) as number;
            if (trodden < 0.57) tint = path[2] as number;
            if (grain > 0.993) tint = path[3] as number;
            if (theme.neon && trodden >= 0.57) {
              // Setts, so that paths of a city are laid, not trodden.
              const row = py >> 2;
              if ((py & 3) === 3 || ((px + (row & 1) * 4) & 7) === 7) tint = path[2] as number;
            }
          } else if (trodden > 0.44) tint = edge;
        }
        const wet = waters + (here === WATER ? share(PLANKS) : 0) + wobble * (theme.neon ? 0.12 : 0.7);
        if (waters && wet > 0.5) {
          const deep = wet > 0.9 ? 2 : wet > 0.62 ? 1 : 0;
          tint = water[deep] as number;
          const ripple = broad[((py * 9) & 255) * SIDE + ((px * 3) & 255)] as number;
          if (deep === 2 && ripple > 0.7) tint = water[1] as number;
          if (deep === 1 && ripple > 0.74) tint = water[0] as number;
          if (wet < 0.54) tint = (theme.neon ? paving[3] : water[3]) as number;
          else if (theme.neon && wet < 0.6) tint = ink;
        } else if (waters && wet > 0.36 && !theme.neon && here !== PAVING && here !== PLANKS && here !== STREET) {
          tint = (wet > 0.42 ? sand[0] : sand[1]) as number;
          if (wet < 0.385) tint = edge;
        } else if (waters && theme.neon && wet > 0.34) tint = (wet > 0.42 ? paving[0] : paving[2]) as number;

        if (here === PAVING || here === STREET)
          tint = laid(here, px, py, grain, here === PAVING ? paving : street, path, at, theme.neon);
        else if (here === PLANKS) {
          const k = px % 6;
          tint = (k === 5 ? planks[3] : Math.floor(px / 6) % 3 === 0 ? planks[0] : planks[1]) as number;
          if (grain < 0.03) tint = planks[2] as number;
          const up = at(px >> 4, (py >> 4) - 1);
          const low = at(px >> 4, (py >> 4) + 1);
          if (up === WATER && (py & 15) < 3) tint = (py & 15 ? planks[2] : ink) as number;
          if (low === WATER && (py & 15) > 10) tint = (py & 15) > 13 ? ink : (planks[3] as number);
        } else if (here === SOIL) {
          const row = py % 8;
          tint = (row < 2 ? soil[2] : row < 6 ? soil[1] : soil[3]) as number;
          if (grain > 0.95) tint = soil[0] as number;
        }
      }
      p.px[y * w + x] = tint;
    }
  }
  tufts(p, map, theme, x0, y0, at);
  return p;
}

/** Slabs with a kerb where the paving ends. */
function laid(
  here: number,
  px: number,
  py: number,
  grain: number,
  tones: readonly number[],
  path: readonly number[],
  at: (i: number, j: number) => number,
  neon: boolean,
): number {
  const open = (dx: number, dy: number): boolean => at((px + dx) >> 4, (py + dy) >> 4) !== here;
  const rim = (far: number): boolean => open(-far, 0) || open(far, 0) || open(0, -far) || open(0, far);
  if (rim(5)) {
    if (rim(1)) return tones[3] as number;
    if (rim(4))
      return (
        (px % 12 === 0 && (open(0, -4) || open(0, 4))) || (py % 12 === 0 && (open(-4, 0) || open(4, 0)))
          ? tones[3]
          : tones[0]
      ) as number;
    return tones[2] as number;
  }
  const wide = here === STREET ? 24 : 12;
  const tall = here === STREET ? 16 : 8;
  const row = Math.floor(py / tall);
  const shifted = px + (row & 1) * (wide / 2);
  const slab = chance(Math.floor(shifted / wide), row * 3 + here);
  if (py % tall === tall - 1 || shifted % wide === wide - 1) return tones[2] as number;
  if (grain < 0.02) return tones[2] as number;
  if (!neon && here === PAVING && slab > 0.86) return path[0] as number;
  return (
    slab < 0.3 ? tones[1] : slab > 0.8 ? tones[0] : grain > 0.94 ? tones[1] : slab > 0.55 ? tones[0] : tones[1]
  ) as number;
}

function tufts(
  p: Picture,
  map: VillageMap,
  theme: Theme,
  x0: number,
  y0: number,
  at: (i: number, j: number) => number,
): void {
  for (let j = y0 >> 4; j <= (y0 + p.h) >> 4; j++) {
    for (let i = x0 >> 4; i <= (x0 + p.w) >> 4; i++) {
      if (i < 0 || j < 0 || i >= map.width || j >= map.height || at(i, j) !== 0 || chance(i * 7, j * 5) > 0.5) continue;
      if (at(i + 1, j) || at(i - 1, j) || at(i, j + 1) || at(i, j - 1)) continue;
      const x = i * TILE + Math.floor(chance(i, j + 31) * 13) - x0;
      const y = j * TILE + Math.floor(chance(i + 17, j) * 13) - y0;
      const c = (chance(j, i) < 0.5 ? theme.tuft : theme.grass[3]) as Colour;
      rect(p, c, x, y, 1, 2);
      rect(p, c, x + 2, y, 1, 2);
      rect(p, chance(j, i + 3) < 0.3 ? theme.grass[0] : c, x + 1, y - 1, 1, 3);
    }
  }
}

const classCache = new WeakMap<VillageMap, Uint8Array>();

function classesOf(map: VillageMap): Uint8Array {
  let classes = classCache.get(map);
  if (!classes) {
    classes = Uint8Array.from(map.ground, (ground) => CLASS[ground]);
    classCache.set(map, classes);
  }
  return classes;
}
