// Objects and furniture: one drawing for each kind and state.

import type { Sprite } from "../layout/map";
import { DEVICES } from "./devices";
import { FURNITURE } from "./furniture";
import { OUTDOORS } from "./outdoors";
import { dot, ellipse, INK, outline, type Picture, picture, rect, shade } from "./paint";
import { cloth, type Drawings, type Pen, RISE, SIDE } from "./pen";
import { type Drawn, drawPlant } from "./plants";
import { SMALL } from "./small";
import type { Mode } from "./state";
import type { Theme } from "./theme";

const DRAW: Drawings = { ...FURNITURE, ...OUTDOORS, ...DEVICES, ...SMALL };

export function drawThing(sprite: Sprite, w: number, h: number, variant: number, mode: Mode, theme: Theme): Drawn {
  if (sprite === "tree") {
    const kind = (["oak", "birch", "blossom", "oak"] as const)[variant % 4] as "oak";
    return drawPlant(kind, mode === "full" ? 3 : variant, theme);
  }
  const wide = w * 16;
  const p = picture(wide + SIDE * 2, h * 16 + RISE + SIDE * 2);
  const lit = picture(p.w, p.h);
  const foot = h * 16 + RISE;
  const shining: NonNullable<Drawn["light"]>[] = [];
  const pen: Pen = {
    p,
    lit,
    t: theme,
    mode,
    v: variant,
    w: wide,
    foot,
    r: (c, x, up, ww, hh) => {
      rect(p, c, SIDE + Math.round(x), SIDE + foot - up - hh, Math.round(ww), hh);
    },
    l: (c, x, up, ww, hh) => {
      rect(p, c, SIDE + Math.round(x), SIDE + foot - up - hh, Math.round(ww), hh);
      rect(lit, c, SIDE + Math.round(x), SIDE + foot - up - hh, Math.round(ww), hh);
    },
    e: (c, x, up, rx, ry) => ellipse(p, c, SIDE + Math.round(x), SIDE + foot - 1 - up, rx, ry),
    box: (top, front, x, up, ww, high, deep) => {
      rect(p, front, SIDE + x, SIDE + foot - up - high, ww, high);
      rect(p, shade(front, 0.85), SIDE + x, SIDE + foot - up - 1, ww, 1);
      rect(p, top, SIDE + x, SIDE + foot - up - high - deep, ww, deep);
      rect(p, shade(top, 1.18), SIDE + x, SIDE + foot - up - high - deep, ww, 1);
    },
    light: (x, up, r, colour) => void shining.push({ x: x - wide / 2, y: -up, r, colour }),
  };
  (DRAW[sprite] ?? thing)(pen);
  const flat = sprite === "rug" || sprite === "bridge";
  if (!flat) outline(p);
  if (mode === "broken" && !["drone", "samovar", "kite", "awning", "antenna", "towerclock"].includes(sprite)) {
    for (let k = 0; k < 5; k++) dot(p, INK, SIDE + wide / 2 - 2 + k + (k % 2), SIDE + foot - 8 - k);
  }
  const light = shining[0];
  const shines = lit.px.some((value) => value !== 0);
  return { picture: p, foot: foot + SIDE, flat, shadow: 0, ...(shines ? { lit } : {}), ...(light ? { light } : {}) };
}

function thing(d: Pen): void {
  d.box(cloth(d.v)[0], cloth(d.v)[1], 4, 0, 8, 5, 4);
  d.r(0xffd25a, 7, 0, 2, 9);
}

/** A thing small enough to be carried in a hand. */
export function drawCarried(sprite: Sprite, mode: Mode, theme: Theme): Picture {
  const p = picture(10, 12);
  const big = drawThing(sprite, 1, 1, 0, mode, theme).picture;
  // Every other pixel of the drawing's lower part keeps its colours and shape.
  const top = big.px.findIndex((value) => value !== 0);
  const first = Math.max(0, Math.floor(top / big.w));
  const step = Math.max(1.6, (big.h - first) / 11);
  for (let j = 0; j < 11; j++)
    for (let i = 0; i < 10; i++) {
      const y = Math.floor(big.h - 1 - (11 - j) * step);
      const x = Math.floor(big.w / 2 + (i - 4.5) * step);
      if (y >= 0 && x >= 0 && x < big.w) p.px[j * p.w + i] = big.px[y * big.w + x] as number;
    }
  return outline(p);
}
