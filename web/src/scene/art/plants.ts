// What grows and stands out of doors beside the scenario's own objects.

import type { Plant } from "../layout/map";
import { blob, type Colour, chance, ellipse, outline, type Picture, picture, rect, shade } from "./paint";
import type { Theme } from "./theme";

/** A drawing and where its foot is; `flat` ones lie on the ground, `lit` is the part that shines at night. */
export interface Drawn {
  readonly picture: Picture;
  readonly foot: number;
  readonly flat?: boolean;
  readonly sways?: boolean;
  /** Half the width of the shadow, 0 for none. */
  readonly shadow: number;
  readonly lit?: Picture;
  /** A light at night, in pixels from the middle of the foot, with its radius. */
  readonly light?: { readonly x: number; readonly y: number; readonly r: number; readonly colour: Colour };
}

/** The variant of a fence that runs north and south. */
export const UPRIGHT = -1;

export function drawPlant(sprite: Exclude<Plant["sprite"], "bench" | "barrel">, variant: number, theme: Theme): Drawn {
  const v = Math.abs(variant) % 4;
  switch (sprite) {
    case "oak":
    case "birch":
    case "blossom":
      return { picture: leafy(sprite, v, theme), foot: 50, sways: true, shadow: 15 };
    case "pine":
      return { picture: pine(v, theme), foot: 50, sways: true, shadow: 12 };
    case "bush":
      return { picture: bush(v, theme), foot: 15, shadow: 7 };
    case "hedge":
      return { picture: hedge(v, theme), foot: 16, shadow: 8 };
    case "rock":
      return { picture: rock(v, theme), foot: 13, shadow: 6 };
    case "stump":
      return { picture: stump(theme), foot: 12, shadow: 6 };
    case "flower":
      return { picture: flower(Math.abs(variant), theme), foot: 10, flat: true, shadow: 0 };
    case "grasstuft":
      return { picture: tuft(v, theme), foot: 9, flat: true, shadow: 0 };
    case "mushroom":
      return { picture: mushroom(), foot: 9, flat: true, shadow: 0 };
    case "reed":
      return { picture: reed(v, theme), foot: 20, sways: true, shadow: 0 };
    case "lily":
      return { picture: lily(v, theme), foot: 9, flat: true, shadow: 0 };
    case "lamp":
      return lamp(theme, v);
    case "highrise":
      return highrise(v, theme);
    case "fence":
      return {
        picture: variant === UPRIGHT ? upright(theme) : fence(theme),
        foot: variant === UPRIGHT ? 19 : 15,
        shadow: 0,
      };
    case "well":
      return { picture: well(theme), foot: 28, shadow: 12 };
  }
}

function leafy(kind: "oak" | "birch" | "blossom", v: number, theme: Theme): Picture {
  const p = picture(40, 52);
  const tones = theme.leaves[kind];
  const [light, dark] = kind === "birch" ? [0xf1ece0, 0xc9c0b4] : [shade(theme.wood[2], 0.95), theme.wood[3]];
  rect(p, dark, 17, 36, 6, 14);
  rect(p, light, 17, 36, 3, 14);
  if (kind === "birch") {
    rect(p, 0x4a4148, 18, 40, 2, 1);
    rect(p, 0x4a4148, 20, 45, 2, 1);
  }
  rect(p, dark, 15, 48, 3, 2);
  rect(p, dark, 22, 48, 3, 2);
  const wide = v % 2;
  blob(p, 12 - wide, 27, 9, 9, tones, v);
  blob(p, 28 + wide, 26 + wide, 9, 9, tones, v + 4);
  blob(p, 20, 17 + wide, 13, 13, tones, v + 8);
  blob(p, 20, 28, 10, 8, tones, v + 2);
  if (kind === "oak" && v === 3)
    for (let k = 0; k < 7; k++)
      rect(
        p,
        theme.neon ? 0xffb36b : 0xe8546b,
        10 + Math.floor(chance(k, 3) * 20),
        12 + Math.floor(chance(3, k) * 20),
        2,
        2,
      );
  return outline(p, kind === "blossom" ? 0x5a2f57 : theme.leafInk);
}

function pine(v: number, theme: Theme): Picture {
  const p = picture(40, 52);
  const tones = theme.leaves.pine;
  rect(p, theme.wood[3], 18, 42, 4, 8);
  rect(p, theme.wood[2], 18, 42, 2, 8);
  for (let k = 0; k < 3; k++) {
    const base = 20 + k * 11;
    const half = 8 + k * 4;
    for (let j = 0; j < 15; j++) {
      const w = Math.round((half * (j + 2)) / 16);
      for (let i = -w; i <= w; i++) {
        if (j > 11 && Math.floor(chance(i + 40, k * 9 + v) * 3) > 1) continue;
        const light = (-i / half) * 0.8 - j / 22 + (chance(i + k * 7, j + v * 5) - 0.5) * 0.5;
        rect(p, tones[light > 0.35 ? 0 : light > -0.1 ? 1 : light > -0.65 ? 2 : 3], 20 + i, base - 14 + j, 1, 1);
      }
    }
  }
  return outline(p, theme.leafInk);
}

function bush(v: number, theme: Theme): Picture {
  const p = picture(20, 17);
  blob(p, 10, 9, v > 1 ? 8 : 6, v % 2 ? 6 : 5, theme.leaves.bush, v);
  if (v % 2)
    for (const [x, y] of [
      [6, 6],
      [11, 9],
      [9, 4],
      [13, 6],
    ] as const)
      rect(p, theme.petals[v === 1 ? 0 : 3] as Colour, x, y, 2, 2);
  return outline(p, theme.leafInk);
}

function hedge(v: number, theme: Theme): Picture {
  const p = picture(20, 18);
  blob(p, 6, 9, 6, 6, theme.leaves.bush, v);
  blob(p, 14, 9, 6, 6, theme.leaves.bush, v + 3);
  return outline(p, theme.leafInk);
}

function rock(v: number, theme: Theme): Picture {
  const p = picture(17, 15);
  blob(p, 8, 8, v % 2 ? 6 : 4, v > 1 ? 5 : 4, theme.stone, v + 2);
  return outline(p);
}

function stump(theme: Theme): Picture {
  const p = picture(16, 14);
  rect(p, theme.wood[3], 3, 5, 10, 7);
  ellipse(p, theme.wood[0], 8, 5, 5, 2);
  ellipse(p, theme.wood[2], 8, 5, 2, 0);
  return outline(p);
}

function flower(variant: number, theme: Theme): Picture {
  const p = picture(15, 11);
  const colour = theme.petals[variant % theme.petals.length] as Colour;
  for (const [x, y] of [
    [2, 3],
    [7, 1],
    [10, 5],
    [5, 6],
  ] as const) {
    rect(p, theme.tuft, x + 1, y + 2, 1, 2);
    rect(p, colour, x, y + 1, 3, 1);
    rect(p, colour, x + 1, y, 1, 3);
    rect(p, 0xffe48a, x + 1, y + 1, 1, 1);
  }
  return p;
}

function tuft(v: number, theme: Theme): Picture {
  const p = picture(11, 9);
  for (let k = 0; k < 4; k++) {
    const h = 3 + Math.floor(chance(k, v) * 5);
    rect(p, theme.grass[k % 2 ? 3 : 0], 1 + k * 2, 9 - h, 1, h);
    rect(p, theme.tuft, 2 + k * 2, 10 - h, 1, h - 1);
  }
  return p;
}

function mushroom(): Picture {
  const p = picture(10, 9);
  rect(p, 0xfff1dd, 4, 5, 2, 4);
  rect(p, 0xd9524f, 2, 3, 6, 2);
  rect(p, 0xe8746a, 3, 2, 4, 1);
  rect(p, 0xfff1dd, 3, 3, 1, 1);
  rect(p, 0xfff1dd, 6, 3, 1, 1);
  return p;
}

function reed(v: number, theme: Theme): Picture {
  const p = picture(16, 21);
  for (let k = 0; k < 6; k++) {
    const h = 9 + Math.floor(chance(k, v + 5) * 9);
    rect(p, k % 2 ? theme.grass[3] : theme.grass[1], 2 + k * 2, 20 - h, 1, h);
    if (k % 3 === 1) rect(p, theme.wood[2], 2 + k * 2, 18 - h, 2, 4);
  }
  return p;
}

function lily(v: number, theme: Theme): Picture {
  const p = picture(14, 9);
  ellipse(p, theme.grass[3], 6, 5, 5, 2);
  ellipse(p, theme.grass[1], 6, 4, 5, 2);
  rect(p, theme.water[1], 8, 4, 3, 1);
  if (v % 2) {
    rect(p, 0xffd9ea, 4, 2, 3, 2);
    rect(p, 0xfff4c4, 5, 2, 1, 1);
  }
  return p;
}

function lamp(theme: Theme, v: number): Drawn {
  const p = picture(16, 36);
  const lit = picture(16, 36);
  if (theme.neon && v % 2) {
    // A paper lantern on a bracket.
    rect(p, 0x3a3858, 7, 6, 2, 28);
    rect(p, 0x56547c, 7, 6, 1, 28);
    rect(p, 0x3a3858, 4, 33, 8, 2);
    rect(p, 0x3a3858, 7, 5, 6, 1);
    for (const pic of [p, lit]) {
      rect(pic, 0xff7a5c, 9, 8, 6, 8);
      rect(pic, 0xffb27c, 10, 9, 3, 6);
      rect(pic, 0xffe6b0, 11, 10, 1, 4);
    }
    rect(p, 0x3a3858, 10, 7, 4, 1);
    rect(p, 0x3a3858, 10, 16, 4, 1);
    return { picture: outline(p), foot: 35, shadow: 5, lit, light: { x: 4, y: -23, r: 44, colour: 0xff9a6e } };
  }
  const post = theme.neon ? 0x3a3858 : 0x4a4556;
  rect(p, post, 7, 10, 2, 22);
  rect(p, shade(post, 1.25), 7, 10, 1, 22);
  rect(p, post, 5, 31, 6, 3);
  rect(p, post, 4, 9, 8, 1);
  for (const pic of [p, lit]) {
    rect(pic, theme.neon ? 0x9df2ee : 0xffe9a3, 5, 4, 6, 5);
    rect(pic, 0xfffbe6, 6, 5, 3, 3);
  }
  rect(p, post, 4, 2, 8, 2);
  rect(p, post, 7, 1, 2, 1);
  return {
    picture: outline(p),
    foot: 34,
    shadow: 5,
    lit,
    light: { x: 0, y: -28, r: 52, colour: theme.neon ? 0x7fe6e6 : theme.lamp },
  };
}

/** The edge of the city: dark towers with lit windows. */
function highrise(v: number, theme: Theme): Drawn {
  const w = 44 + (v % 2) * 8;
  const h = 84 + v * 12;
  const p = picture(w + 2, h + 2);
  const lit = picture(w + 2, h + 2);
  const body = ([0x5b5a86, 0x4d5f86, 0x6a567f, 0x4a4f78] as const)[v] as Colour;
  rect(p, body, 1, 12, w, h - 11);
  rect(p, shade(body, 1.15), 1, 4, w, 9);
  rect(p, shade(body, 0.8), Math.floor(w * 0.7), 13, Math.ceil(w * 0.3) + 1, h - 12);
  for (let j = 20; j < h - 8; j += 7) {
    for (let i = 5; i < w - 5; i += 6) {
      const on = chance(i + v * 31, j) < 0.42;
      rect(p, on ? 0x8fb6c9 : shade(body, 0.62), i, j, 3, 4);
      if (on)
        rect(
          lit,
          (theme.panes[Math.floor(chance(j, i + v) * theme.panes.length)] ?? theme.panes[0])?.[1] ?? 0xffca5c,
          i,
          j,
          3,
          4,
        );
    }
  }
  const tube = theme.tubes[v % theme.tubes.length] as Colour;
  rect(lit, tube, 1, 13, w, 1);
  rect(p, shade(tube, 0.7), 1, 13, w, 1);
  rect(p, 0x2f2d4e, 9, 0, 1, 6);
  return {
    picture: outline(p, 0x26243f),
    foot: h + 1,
    shadow: 0,
    lit,
    light: { x: 0, y: -h / 2, r: 50, colour: tube },
  };
}

function fence(theme: Theme): Picture {
  const p = picture(18, 16);
  rect(p, theme.wood[1], 1, 5, 16, 2);
  rect(p, theme.wood[1], 1, 10, 16, 2);
  for (const x of [2, 8, 14]) {
    rect(p, theme.wood[0], x, 2, 3, 13);
    rect(p, theme.wood[2], x + 2, 3, 1, 12);
  }
  return outline(p);
}

function upright(theme: Theme): Picture {
  const p = picture(8, 20);
  rect(p, theme.wood[1], 3, 2, 2, 17);
  rect(p, theme.wood[0], 2, 1, 4, 5);
  rect(p, theme.wood[2], 2, 6, 4, 7);
  rect(p, theme.wood[3], 2, 13, 4, 1);
  return outline(p);
}

function well(theme: Theme): Picture {
  const p = picture(30, 30);
  ellipse(p, theme.stone[2], 15, 23, 11, 5);
  ellipse(p, theme.stone[0], 15, 19, 11, 5);
  ellipse(p, 0x33405e, 15, 19, 8, 3);
  rect(p, theme.wood[3], 4, 6, 2, 14);
  rect(p, theme.wood[3], 24, 6, 2, 14);
  rect(p, theme.roofs[0]?.[1] ?? 0xc95b4b, 1, 3, 28, 5);
  rect(p, theme.roofs[0]?.[3] ?? 0x7d3038, 1, 7, 28, 1);
  return outline(p);
}
