// The pen that things are drawn with, and the shapes that several of them share.

import type { Sprite } from "../layout/map";
import { type Colour, chance, type Picture } from "./paint";
import type { Mode } from "./state";
import type { Theme } from "./theme";

/** Pixels above the upper tile that a drawing may rise. */
export const RISE = 22;
export const SIDE = 2;

export interface Pen {
  readonly p: Picture;
  readonly lit: Picture;
  readonly t: Theme;
  readonly mode: Mode;
  readonly v: number;
  /** Width of the footprint in pixels; the foot is at y = `foot`. */
  readonly w: number;
  readonly foot: number;
  /** A rectangle by its distance from the left and its height above the foot. */
  r(c: Colour, x: number, up: number, w: number, h: number): void;
  /** The same, shining at night. */
  l(c: Colour, x: number, up: number, w: number, h: number): void;
  e(c: Colour, x: number, up: number, rx: number, ry: number): void;
  /** A box seen from above and the front. */
  box(top: Colour, front: Colour, x: number, up: number, w: number, high: number, deep: number): void;
  light(x: number, up: number, r: number, colour: Colour): void;
}

export type Drawings = Partial<Record<Sprite, (d: Pen) => void>>;

export const BOOKS = [0xc95b4b, 0x5c80b8, 0xe0b04f, 0x4da38f, 0x9169b5, 0xefe2c8];
export const STEEL: readonly [Colour, Colour, Colour] = [0xc4c3cf, 0x9a98a8, 0x6b6878];
export const FIRE = 0xff9d45;

export const cloth = (v: number): readonly [Colour, Colour] =>
  (
    [
      [0x7c9fd1, 0x5c80b8],
      [0xe39a8a, 0xc96a5e],
      [0x8fc9ad, 0x5fa588],
      [0xd9b765, 0xbb9245],
      [0xb79bd6, 0x9474b8],
      [0xe4a3bd, 0xc77796],
    ] as const
  )[v % 6] as readonly [Colour, Colour];

export function books(d: Pen, x: number, up: number, w: number, h: number, seed: number): void {
  for (let i = x; i < x + w - 1; ) {
    const wide = 1 + Math.floor(chance(i, seed) * 2.4);
    const tall = h - Math.floor(chance(seed, i) * 2);
    d.r(BOOKS[Math.floor(chance(i * 3, seed + 7) * 6)] as Colour, i, up, Math.min(wide, x + w - i), tall);
    i += wide + (chance(seed, i + 3) < 0.15 ? 1 : 0);
  }
}

export function table(d: Pen): void {
  const [a, b, c, e] = d.t.wood;
  d.r(e, 1, 0, 2, 6);
  d.r(e, d.w - 3, 0, 2, 6);
  d.box(a, c, 0, 5, d.w, 4, 9);
  d.r(b, 1, 15, d.w - 2, 1);
}

export function note(d: Pen, x: number, up: number): void {
  d.r(0xfff3c4, x + 2, up, 1, 5);
  d.r(0xfff3c4, x, up, 3, 2);
  d.r(0xfff3c4, x + 3, up + 3, 1, 2);
}
