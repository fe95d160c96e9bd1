// Small things on tables, in hands and on the floor.

import { blob, type Colour, INK, shade } from "./paint";
import { BOOKS, cloth, type Drawings, SIDE, STEEL } from "./pen";

export const SMALL: Drawings = {
  pot: (d) => {
    d.e(0x45424f, 8, 3, 6, 3);
    d.r(0x5b5866, 2, 3, 12, 7);
    d.r(0x77748a, 3, 4, 3, 6);
    d.e(d.mode === "empty" ? 0x3a3745 : 0xd99a55, 8, 11, 5, 2);
    if (d.mode === "on") for (let k = 0; k < 3; k++) d.r(0xf2f4fa, 5 + k * 3, 14 + (k % 2) * 2, 1, 3);
  },
  plant: (d) => {
    d.r(0xc9754b, 4, 0, 8, 7);
    d.r(0xe59468, 3, 6, 10, 2);
    blob(d.p, 8 + SIDE, d.foot - 13 + SIDE, 6, 7, d.t.leaves.oak, d.v);
    if (d.v % 2)
      for (const [x, up] of [
        [5, 14],
        [9, 17],
        [10, 12],
      ] as const)
        d.r(d.t.petals[d.v % 5] as Colour, x, up, 2, 2);
  },
  bucket: (d) => {
    d.r(STEEL[1], 4, 0, 8, 8);
    d.r(STEEL[0], 4, 0, 3, 8);
    d.e(d.mode === "empty" ? STEEL[2] : d.t.water[1], 8, 8, 4, 1);
    d.r(STEEL[2], 4, 11, 8, 1);
  },
  barrel: (d) => {
    d.r(d.t.wood[1], 2, 0, 12, 15);
    d.r(d.t.wood[0], 3, 0, 3, 15);
    d.r(d.t.wood[2], 11, 0, 3, 15);
    d.r(0x6b6672, 2, 3, 12, 1);
    d.r(0x6b6672, 2, 11, 12, 1);
    d.e(d.mode === "full" ? d.t.water[0] : d.mode === "empty" ? d.t.wood[3] : d.t.wood[2], 8, 15, 5, 2);
  },
  crate: (d) => {
    d.box(d.t.wood[0], d.t.wood[1], 1, 0, 14, 9, 6);
    d.r(d.t.wood[3], 4, 0, 1, 9);
    d.r(d.t.wood[3], 11, 0, 1, 9);
    if (d.mode === "full" || d.mode === "empty") {
      d.r(d.t.wood[3], 2, 10, 12, 4);
      for (let k = 0; k < (d.mode === "full" ? 8 : 2); k++)
        d.e(0xf08a3c, 4 + (k % 4) * 3, 11 + Math.floor(k / 4) * 3, 1, 1);
    } else d.r(d.t.wood[2], 1, 9, 14, 1);
  },
  basket: (d) => {
    d.r(0xc79a5b, 3, 0, 10, 7);
    for (let k = 0; k < 5; k++) d.r(0xa67c42, 3 + k * 2, k % 2, 1, 6);
    for (let k = 0; k < 3; k++)
      d.e(([0xe8546b, 0xf0ad3c, 0x8ccb66] as const)[(k + d.v) % 3] as Colour, 5 + k * 3, 8, 2, 1);
    d.r(0xa67c42, 3, 7, 10, 1);
  },
  sack: (d) => {
    d.e(0xd9c59c, 8, 5, 6, 5);
    d.r(0xd9c59c, 5, 9, 6, 4);
    d.r(0x9c7a4e, 5, 10, 6, 1);
    d.r(0xc0a878, 10, 2, 3, 6);
  },
  tool: (d) => {
    d.r(d.t.wood[2], 3, 0, 2, 18);
    d.r(STEEL[1], 1, 15, 6, 4);
    d.r(d.t.wood[1], 10, 0, 2, 15);
    d.r(STEEL[0], 9, 13, 4, 6);
  },
  toolbox: (d) => {
    d.box(0x5fae74, 0x3f8357, 2, 0, 12, 6, 3);
    d.r(0x2f5f45, 6, 10, 4, 1);
    d.r(0xffd25a, 7, 4, 2, 2);
    if (d.mode === "open") {
      d.r(0x2c2028, 3, 6, 10, 2);
      d.r(STEEL[0], 5, 7, 1, 4);
      d.r(0xe8546b, 9, 7, 2, 3);
    }
  },
  book: (d) => {
    d.r(cloth(d.v)[1], 3, 0, 10, 3);
    d.r(0xfff7e8, 3, 2, 10, 3);
    d.r(0xc9bda8, 8, 2, 1, 3);
  },
  books: (d) => {
    for (let k = 0; k < 5; k++)
      d.r(BOOKS[(k + d.v) % 6] as Colour, 2 + (d.mode === "used" ? (k % 2) * 3 : k % 2), k * 3, 11, 3);
    d.r(0xfff7e8, 4, 4, 7, 1);
    d.r(0xfff7e8, 4, 10, 7, 1);
  },
  paper: (d) => {
    d.r(0xfff7e8, 3, 0, 9, 5);
    d.r(0xb9b0a2, 5, 1, 5, 1);
    d.r(0xb9b0a2, 5, 3, 4, 1);
  },
  cup: (d) => {
    d.r(0xfff7ee, 5, 0, 5, 5);
    d.r(0x8f5a3c, 6, 4, 3, 1);
    d.r(0xd9d0c6, 10, 1, 2, 3);
  },
  kettle: (d) => {
    const c = d.v % 2 ? 0xb5713a : 0x6b7588;
    d.e(c, 8, 3, 4, 3);
    d.r(shade(c, 1.3), 6, 4, 2, 2);
    d.r(c, 12, 4, 3, 1);
    d.r(INK, 6, 8, 5, 1);
    if (d.mode === "on") d.r(0xf2f4fa, 14, 7, 1, 4);
  },
  samovar: (d) => {
    const c = d.mode === "broken" ? 0x9c7a4e : 0xd9a53f;
    d.r(shade(c, 0.7), 4, 0, 8, 2);
    d.e(c, 8, 6, 4, 5);
    d.r(shade(c, 1.4), 6, 4, 2, 6);
    d.r(shade(c, 0.75), 6, 11, 5, 2);
    d.r(0x6b4630, 12, 4, 2, 1);
    if (d.mode === "broken") d.r(INK, 9, 4, 1, 5);
    else d.r(0xf2f4fa, 8, 14, 1, 3);
  },
  bowl: (d) => {
    d.r(0xd9695a, 4, 0, 8, 3);
    d.r(0xfff1dd, 3, 3, 10, 1);
    if (d.mode !== "empty") d.e(0xf0c070, 8, 4, 3, 1);
  },
  tray: (d) => {
    d.r(d.t.wood[2], 1, 0, 14, 4);
    d.r(d.t.wood[0], 1, 3, 14, 1);
    if (d.mode !== "empty")
      for (let k = 0; k < 4; k++) d.e(([0xf5c6d6, 0xfff7ee, 0xa9cf8f] as const)[k % 3] as Colour, 3 + k * 3, 4, 1, 1);
  },
  food: (d) => {
    d.e(0xfff7ee, 8, 1, 5, 1);
    d.e(([0xd99a55, 0xe8846b, 0x8ccb66] as const)[d.v % 3] as Colour, 8, 3, 3, 1);
  },
  cat: (d) => {
    const c = ([0xe0a050, 0x6b6678, 0xf2ece2] as const)[d.v % 3] as Colour;
    if (d.mode === "on") {
      d.r(c, 5, 0, 5, 6);
      d.r(c, 4, 6, 7, 5);
      d.r(c, 4, 11, 2, 2);
      d.r(c, 9, 11, 2, 2);
      d.r(INK, 5, 8, 1, 1);
      d.r(INK, 9, 8, 1, 1);
      d.r(c, 11, 1, 2, 5);
    } else {
      d.e(c, 8, 3, 6, 3);
      d.r(c, 3, 5, 5, 3);
      d.r(c, 3, 8, 1, 1);
      d.r(c, 6, 8, 1, 1);
      d.r(shade(c, 0.75), 9, 3, 4, 1);
      d.r(INK, 4, 6, 1, 1);
    }
  },
  dog: (d) => {
    const c = ([0xb5834f, 0xe8dcc8, 0x5b4a48] as const)[d.v % 3] as Colour;
    d.r(c, 3, 3, 9, 5);
    for (const x of [3, 6, 10]) d.r(c, x, 0, 2, 3);
    d.r(c, 10, 6, 5, 5);
    d.r(shade(c, 0.7), 13, 7, 2, 4);
    d.r(INK, 12, 8, 1, 1);
    d.r(c, 1, 7, 2, 3);
  },
  bird: (d) => {
    d.e(0x8f9df0, 8, 4, 3, 2);
    d.r(0x8f9df0, 10, 5, 3, 3);
    d.r(0xffb13d, 13, 6, 2, 1);
    d.r(INK, 11, 7, 1, 1);
  },
  umbrella: (d) => {
    if (d.mode === "open") {
      d.e(0x6d7690, 8, 12, 7, 4);
      d.r(0x45506b, 7, 1, 1, 10);
    } else {
      d.r(0x6d7690, 7, 4, 3, 12);
      d.r(0x8b95b0, 7, 5, 1, 10);
      d.r(d.t.wood[2], 8, 0, 1, 5);
    }
  },
  kite: (d) => {
    for (let k = 0; k < 6; k++) d.r(k % 2 ? 0xe0523f : 0xf07a5c, 8 - k, 6 + k, k * 2 + 1, 1);
    for (let k = 0; k < 6; k++) d.r(0xe0523f, 2 + k, 12 + k, 11 - k * 2, 1);
    d.r(0xfff1dd, 7, 6, 1, 11);
    if (d.mode === "broken") d.r(INK, 9, 9, 3, 3);
    d.r(0xffd25a, 5, 2, 3, 2);
    d.r(0xffd25a, 9, 0, 3, 2);
  },
  compass: (d) => {
    d.e(0xd9a53f, 8, 3, 4, 2);
    d.e(0xfff7e0, 8, 3, 2, 1);
    d.r(0xe8546b, 8, 3, 2, 1);
  },
  mortar: (d) => {
    d.r(d.t.stone[2], 3, 0, 10, 8);
    d.e(d.t.stone[0], 8, 8, 5, 2);
    d.e(0xfff7ee, 8, 8, 3, 1);
    d.r(d.t.wood[1], 10, 8, 2, 10);
  },
  bottle: (d) => {
    d.r(0x4da36a, 6, 0, 4, 7);
    d.r(0x4da36a, 7, 7, 2, 3);
    d.r(0xfff1dd, 6, 2, 4, 2);
  },
  toy: (d) => {
    d.e(0xe8a05c, 8, 3, 3, 3);
    d.e(0xe8a05c, 8, 8, 2, 2);
    d.r(INK, 7, 8, 1, 1);
    d.r(INK, 9, 8, 1, 1);
  },
  ball: (d) => {
    d.e(0xe0523f, 8, 3, 3, 3);
    d.r(0xfff7ee, 5, 3, 7, 1);
  },
  globe: (d) => {
    d.r(d.t.wood[2], 5, 0, 6, 1);
    d.e(0x5fa8d8, 8, 6, 4, 4);
    d.r(0x67ad4c, 6, 6, 3, 3);
    d.r(0x67ad4c, 9, 4, 2, 2);
  },
  key: (d) => {
    d.r(0xd9a53f, 4, 1, 8, 1);
    d.e(0xd9a53f, 4, 2, 1, 1);
    d.r(0xd9a53f, 10, 0, 1, 1);
  },
  box: (d) => {
    d.box(0xd9b98a, 0xb5915c, 2, 0, 12, 8, 5);
    d.r(0x9c7a4e, 7, 0, 2, 13);
    if (d.mode === "full") {
      d.e(0xe0a050, 8, 10, 4, 2);
      d.r(0xe0a050, 4, 12, 3, 2);
    }
  },
};
