// What stands in squares, gardens and streets: fountains, stalls, shrines, carts, beasts of the yard.

import { blob, type Colour, INK, paste, shade } from "./paint";
import { cloth, type Drawings, FIRE, SIDE, STEEL } from "./pen";
import { drawPlant } from "./plants";
import type { Theme } from "./theme";

export const OUTDOORS: Drawings = {
  lights: (d) => {
    d.r(0x4a4556, 0, 0, 1, 30);
    d.r(0x4a4556, d.w - 1, 0, 1, 30);
    for (let k = 0; k <= d.w; k++) d.r(INK, k, 28 - Math.round(Math.sin((k / d.w) * Math.PI) * 6), 1, 1);
    for (let k = 0; k < 5; k++) {
      const x = 3 + Math.round((k * (d.w - 8)) / 4);
      const up = 24 - Math.round(Math.sin(((x + 1) / d.w) * Math.PI) * 6);
      if (d.mode === "off") d.r(0xb9a9a0, x, up, 4, 4);
      else {
        d.l(([0xffb04a, 0xff7a5c, 0xffe07a, 0x8fe6c8, 0xff8fc2] as const)[k] as Colour, x, up, 4, 4);
        d.l(0xfff6d8, x + 1, up + 1, 1, 2);
      }
    }
    if (d.mode !== "off") d.light(d.w / 2, 20, 54, 0xffb04a);
  },
  fountain: (d) => {
    const m = d.w / 2;
    d.e(d.t.stone[3], m, 9, 23, 10);
    d.e(d.t.stone[0], m, 13, 23, 10);
    d.e(d.t.stone[2], m, 13, 20, 8);
    d.e(d.t.water[2], m, 12, 19, 7);
    d.e(d.t.water[1], m, 11, 15, 5);
    d.r(d.t.stone[1], m - 3, 12, 7, 19);
    d.r(d.t.stone[0], m - 3, 12, 3, 19);
    d.e(d.t.stone[2], m, 28, 10, 3);
    d.e(d.t.stone[0], m, 30, 10, 3);
    d.e(d.t.water[0], m, 30, 7, 2);
    if (d.mode !== "off" && d.mode !== "empty") {
      d.r(d.t.water[3], m - 1, 31, 2, 7);
      for (const [x, up, h] of [
        [-4, 31, 4],
        [3, 31, 4],
        [-9, 16, 13],
        [8, 16, 13],
        [-11, 14, 10],
        [10, 14, 10],
      ] as const)
        d.r(x % 2 ? d.t.water[0] : d.t.water[3], m + x, up, 1, h);
      d.r(d.t.water[3], m - 14, 12, 6, 1);
      d.r(d.t.water[3], m + 7, 9, 6, 1);
    }
  },
  well: (d) => {
    const { picture, foot } = drawPlant("well", 0, d.t);
    paste(d.p, picture, SIDE, d.foot + SIDE - foot);
  },
  pump: (d) => {
    d.r(0x4f6b60, 6, 0, 5, 16);
    d.r(0x6f9484, 6, 0, 2, 16);
    d.e(0x6f9484, 8, 16, 3, 2);
    d.r(0x4f6b60, 1, 10, 5, 2);
    d.r(0x4f6b60, 11, 14, 5, 1);
    d.r(0x4f6b60, 15, 9, 1, 6);
    if (d.mode === "on") d.r(d.t.water[0], 1, 0, 2, 10);
    d.e(d.t.stone[1], 4, 1, 4, 1);
  },
  bench: (d) => {
    d.r(d.t.wood[1], 2, 12, d.w - 4, 3);
    d.r(d.t.wood[0], 2, 14, d.w - 4, 1);
    d.r(d.t.wood[1], 1, 5, d.w - 2, 5);
    d.r(d.t.wood[0], 1, 9, d.w - 2, 1);
    for (const x of [3, d.w - 5]) {
      d.r(0x5a5563, x, 0, 2, 5);
      d.r(0x5a5563, x, 10, 2, 2);
    }
    if (d.mode === "used") d.r(0xfff7e8, d.w - 12, 8, 5, 3);
  },
  stall: (d) => {
    const closed = d.mode === "closed";
    const [light, dark] = cloth(d.v);
    d.r(d.t.wood[3], 2, 0, 2, 30);
    d.r(d.t.wood[3], d.w - 4, 0, 2, 30);
    d.box(d.t.wood[0], d.t.wood[2], 1, 0, d.w - 2, 9, 6);
    if (closed) d.r(shade(dark, 0.8), 4, 9, d.w - 8, 16);
    else
      for (let k = 0; k < (d.w - 8) / 5; k++) {
        d.r(d.t.wood[1], 4 + k * 5, 10, 4, 3);
        d.e(d.t.petals[(k + d.v) % d.t.petals.length] as Colour, 6 + k * 5, 13, 2, 1);
      }
    for (let x = 0; x < d.w + 2; x++) {
      const c = Math.floor(x / 6) % 2 ? 0xfff3e0 : light;
      d.r(c, x - 1, 24, 1, 9);
      d.r(Math.floor(x / 6) % 2 ? 0xd9ccbd : dark, x - 1, 22 + (x % 6 === 0 || x % 6 === 5 ? 1 : 0), 1, 3);
    }
    if (!closed) {
      d.l(0xffe3a0, d.w / 2 - 2, 18, 4, 4);
      d.light(d.w / 2, 18, 44, d.t.neon ? (d.t.tubes[d.v % 5] as Colour) : d.t.lamp);
    }
  },
  awning: (d) => {
    const [light, dark] = cloth(d.v);
    d.r(d.t.wood[3], 1, 0, 2, 26);
    d.r(d.t.wood[3], d.w - 3, 0, 2, 26);
    for (let x = 0; x < d.w; x++) {
      const hole = d.mode === "broken" && x > d.w * 0.55 && x < d.w * 0.72;
      d.r(Math.floor(x / 8) % 2 ? 0xfff3e0 : light, x, hole ? 27 : 22, 1, hole ? 6 : 11);
      if (!hole) d.r(Math.floor(x / 8) % 2 ? 0xd9ccbd : dark, x, 20 + (x % 8 === 0 ? 1 : 0), 1, 3);
    }
  },
  boat: (d) => {
    d.e(d.t.wood[3], d.w / 2, 5, d.w / 2 - 1, 5);
    d.e(d.t.wood[1], d.w / 2, 8, d.w / 2 - 2, 4);
    d.e(d.t.wood[3], d.w / 2, 8, d.w / 2 - 5, 2);
    d.r(d.t.wood[0], d.w / 2 - 3, 6, 6, 4);
    d.r(d.t.wood[2], 10, 11, d.w - 14, 1);
  },
  bridge: (d) => d.box(d.t.wood[0], d.t.wood[2], 0, 0, d.w, 4, 12),
  statue: (d) => {
    d.box(d.t.stone[0], d.t.stone[2], 1, 0, 14, 7, 5);
    d.r(d.t.stone[1], 5, 11, 6, 9);
    d.e(d.t.stone[0], 8, 22, 3, 3);
    d.r(d.t.stone[0], 5, 13, 2, 6);
    d.r(d.t.stone[2], 10, 11, 1, 8);
  },
  towerclock: (d) => {
    const m = d.w / 2;
    d.box(d.t.stone[0], d.t.stone[2], m - 10, 0, 20, 6, 4);
    d.r(d.t.wood[2], m - 6, 8, 12, 18);
    d.r(d.t.wood[1], m - 6, 8, 4, 18);
    d.r(d.t.wood[3], m - 9, 24, 18, 12);
    d.e(0xfff7e0, m, 29, 5, 5);
    d.l(0xfff7e0, m - 3, 27, 7, 6);
    d.r(INK, m, 29, 1, d.mode === "broken" ? -1 : 4);
    d.r(INK, m, d.mode === "broken" ? 26 : 29, d.mode === "broken" ? 1 : 3, d.mode === "broken" ? 3 : 1);
    const c = (d.t.roofs[0] as Theme["wood"])[1];
    for (let k = 0; k < 2; k++) d.r(c, m - 10 + k * 3, 36 + k, 20 - k * 6, 1);
  },
  sign: (d) => {
    const on = d.mode !== "off" && d.mode !== "broken";
    d.r(0x2f2d4a, 1, 4, 14, 10);
    const c = d.t.tubes[d.v % d.t.tubes.length] as Colour;
    for (const [x, up, w, h] of [
      [1, 4, 14, 1],
      [1, 13, 14, 1],
      [1, 4, 1, 10],
      [14, 4, 1, 10],
    ] as const)
      (on ? d.l : d.r).call(d, on ? c : 0x55536f, x, up, w, h);
    for (const [x, up, w, h] of [
      [4, 7, 3, 1],
      [4, 7, 1, 4],
      [9, 6, 1, 5],
      [9, 8, 3, 1],
    ] as const)
      (on ? d.l : d.r).call(d, on ? 0xfff3d8 : 0x6d6b88, x, up, w, h);
    if (on) d.light(8, 9, 34, c);
  },
  board: (d) => {
    d.r(d.t.wood[3], 3, 0, 2, 8);
    d.r(d.t.wood[3], d.w - 5, 0, 2, 8);
    d.box(d.t.wood[2], d.t.wood[1], 1, 7, d.w - 2, 15, 2);
    d.r((d.t.roofs[0] as Theme["wood"])[1], -1, 23, d.w + 2, 3);
    d.r((d.t.roofs[0] as Theme["wood"])[3], -1, 22, d.w + 2, 1);
    const notes = d.mode === "empty" || d.mode === "full" || d.mode === "closed" ? 2 : 7;
    for (let k = 0; k < notes; k++)
      d.r(k % 3 ? 0xfff7e8 : 0xffe9a3, 3 + ((k * 7) % (d.w - 8)), 9 + ((k * 5) % 9), 4, 4);
  },
  flowers: (d) => {
    d.box(d.t.soil[1], d.t.wood[1], 1, 0, 14, 4, 6);
    for (let k = 0; k < 8; k++) {
      const x = 2 + (k % 4) * 3;
      const up = 6 + Math.floor(k / 4) * 4 + (k % 2);
      d.r(d.t.grass[3], x + 1, up - 2, 1, 3);
      d.r(d.t.petals[(k + d.v) % d.t.petals.length] as Colour, x, up, 3, 3);
      d.r(0xffe48a, x + 1, up + 1, 1, 1);
    }
  },
  hen: (d) => {
    d.e(0xfff1dd, 8, 5, 4, 3);
    d.r(0xfff1dd, 10, 7, 3, 4);
    d.r(0xe8546b, 10, 11, 3, 1);
    d.r(0xffb13d, 13, 8, 1, 1);
    d.r(0xffb13d, 7, 0, 1, 2);
  },
  cow: (d) => {
    d.r(0xfff7ee, 1, 4, 13, 8);
    d.r(0x4a3a44, 4, 7, 4, 4);
    d.r(0xfff7ee, 11, 9, 5, 6);
    d.r(0xf2b8b0, 13, 8, 3, 3);
    for (const x of [2, 5, 10]) d.r(0x4a3a44, x, 0, 2, 4);
  },
  bell: (d) => {
    d.r(d.t.wood[3], 0, 0, 2, 22);
    d.r(d.t.wood[3], 14, 0, 2, 22);
    d.r(d.t.wood[2], -1, 20, 18, 3);
    d.e(0xd9a53f, 8, 14, 4, 4);
    d.r(0xd9a53f, 4, 9, 9, 5);
    d.r(0xb5852f, 3, 8, 11, 1);
    d.r(0xfff0b0, 6, 11, 1, 6);
  },
  antenna: (d) => {
    const lean = d.mode === "broken" ? 1 : 0;
    for (let k = 0; k < 34; k++) d.r(0x8a8fa8, 7 + Math.round((k / 6) * lean), k, 2, 1);
    for (const [up, w] of [
      [12, 10],
      [20, 8],
      [27, 6],
    ] as const)
      d.r(0x8a8fa8, 8 - w / 2 + Math.round((up / 6) * lean), up, w, 1);
    d.l(0xff5a5a, 7 + lean * 5, 33, 2, 2);
    d.r(0x5a5f78, 3, 0, 10, 2);
    d.light(8, 33, 18, 0xff5a5a);
  },
  cart: (d) => {
    d.box(d.t.wood[0], d.t.wood[1], 4, 5, d.w - 8, 5, 7);
    d.e(INK, 9, 4, 4, 4);
    d.e(d.t.wood[2], 9, 4, 2, 2);
    d.e(INK, d.w - 9, 4, 4, 4);
    d.e(d.t.wood[2], d.w - 9, 4, 2, 2);
    d.r(d.t.wood[3], 0, 12, 5, 1);
    if (d.mode !== "empty")
      for (let k = 0; k < 3; k++)
        d.box(d.t.petals[k] as Colour, shade(d.t.petals[k] as Colour, 0.75), 6 + k * 6, 13, 5, 3, 3);
  },
  bicycle: (d) => {
    for (const x of [3, 12]) {
      d.e(INK, x, 4, 4, 4);
      d.e(0xb8bccb, x, 4, 2, 2);
    }
    d.r(0xe0523f, 3, 8, 9, 1);
    d.r(0xe0523f, 7, 4, 1, 5);
    d.r(INK, 11, 11, 4, 1);
    d.r(INK, 5, 10, 4, 1);
  },
  hive: (d) => {
    d.box(0xf0cf7a, 0xd9a53f, 2, 3, 12, 11, 4);
    d.r(0xb5852f, 2, 7, 12, 1);
    d.r(0xb5852f, 2, 11, 12, 1);
    d.r(INK, 6, 4, 4, 2);
    d.r(d.t.wood[3], 3, 0, 2, 3);
    d.r(d.t.wood[3], 11, 0, 2, 3);
    if (d.mode === "on")
      for (const [x, up] of [
        [0, 14],
        [13, 20],
        [4, 21],
      ] as const)
        d.r(0xffd25a, x, up, 2, 1);
  },
  vegetables: (d) => {
    d.box(d.mode === "off" ? d.t.soil[0] : d.t.soil[2], d.t.wood[1], 0, 0, d.w, 4, 11);
    for (let k = 0; k < d.w / 6; k++) {
      blob(d.p, 4 + k * 6 + SIDE, d.foot - 11 + SIDE - (k % 2), 3, 5, d.t.leaves.bush, k + d.v);
      d.r(([0xe8546b, 0xf0ad3c, 0xe8546b] as const)[k % 3] as Colour, 3 + k * 6, 7 + (k % 2) * 3, 2, 2);
    }
  },
  torii: (d) => {
    const c = 0xd9483f;
    d.r(c, 5, 0, 4, 32);
    d.r(c, d.w - 9, 0, 4, 32);
    d.r(0xf07a5c, 5, 0, 1, 32);
    d.r(0xf07a5c, d.w - 9, 0, 1, 32);
    d.r(c, 2, 24, d.w - 4, 3);
    d.r(c, -1, 31, d.w + 2, 4);
    d.r(INK, -2, 34, d.w + 4, 2);
    d.r(INK, 4, 0, 6, 2);
    d.r(INK, d.w - 10, 0, 6, 2);
  },
  stonelantern: (d) => {
    d.r(d.t.stone[2], 4, 0, 8, 3);
    d.r(d.t.stone[1], 6, 3, 4, 8);
    d.r(d.t.stone[0], 3, 11, 10, 2);
    d.r(d.t.stone[1], 4, 13, 8, 5);
    d.l(0xffd98a, 6, 13, 4, 4);
    d.r(d.t.stone[2], 1, 18, 14, 2);
    d.r(d.t.stone[0], 3, 20, 10, 2);
    d.r(d.t.stone[1], 7, 22, 2, 2);
    d.light(8, 15, 36, 0xffc673);
  },
  grave: (d) => {
    d.r(d.t.stone[1], 4, 0, 9, 12);
    d.r(d.t.stone[0], 5, 11, 7, 2);
    d.r(d.t.stone[3], 7, 7, 3, 1);
    d.r(d.t.stone[3], 8, 5, 1, 5);
  },
  chess: (d) => {
    d.r(d.t.stone[2], 6, 0, 4, 5);
    d.box(d.t.stone[0], d.t.stone[2], 1, 5, 14, 3, 9);
    for (let k = 0; k < 12; k++)
      d.r(0x6d6673, 2 + (k % 4) * 3 + (Math.floor(k / 4) % 2) * 1, 9 + Math.floor(k / 4) * 2, 2, 2);
    if (d.mode === "used" || d.mode === "on") {
      d.r(0xfff7ee, 4, 12, 2, 5);
      d.r(INK, 10, 11, 2, 5);
      d.r(0xfff7ee, 8, 14, 1, 3);
    }
  },
  pavilion: (d) => {
    const c = d.t.roofs[5] ?? d.t.roofs[0];
    for (const x of [3, d.w - 6]) d.r(0xb5523f, x, 0, 3, 26);
    d.box(d.t.wood[0], d.t.wood[2], 1, 0, d.w - 2, 5, 14);
    for (let k = 0; k < 14; k++)
      d.r(
        (c as Theme["wood"])[k < 3 ? 2 : k < 8 ? 1 : 0],
        -1 + Math.floor(k * 1.2),
        26 + k,
        d.w + 2 - Math.floor(k * 1.2) * 2,
        1,
      );
  },
  swing: (d) => {
    d.r(d.t.wood[2], 1, 0, 2, 30);
    d.r(d.t.wood[2], d.w - 3, 0, 2, 30);
    d.r(d.t.wood[1], 0, 28, d.w, 2);
    for (const x of [12, 28]) {
      d.r(0x6b6878, x, 8, 1, 20);
      d.r(0x6b6878, x + 7, 8, 1, 20);
      d.r(0xe8546b, x - 1, 6, 10, 2);
    }
  },
  slide: (d) => {
    d.r(STEEL[2], 3, 0, 1, 26);
    d.r(STEEL[2], 9, 0, 1, 26);
    for (let k = 0; k < 5; k++) d.r(STEEL[1], 3, 4 + k * 5, 7, 1);
    for (let k = 0; k < 20; k++) d.r(k % 2 ? 0xffd25a : 0xf0ad3c, 10 + k, 24 - k, 3, 4);
  },
  scarecrow: (d) => {
    d.r(d.t.wood[2], 7, 0, 2, 16);
    d.r(0xc95b4b, 2, 11, 12, 3);
    d.r(0x5c80b8, 5, 7, 6, 6);
    d.e(0xe9d9a6, 8, 17, 3, 3);
    d.r(0xc79a5b, 3, 19, 10, 2);
    d.r(0xc79a5b, 5, 21, 6, 2);
  },
  hay: (d) => {
    d.box(0xf0d27a, 0xd0a94f, 2, 0, d.w - 4, 10, 6);
    for (let k = 0; k < 14; k++) d.r(0xb58a35, 3 + ((k * 5) % (d.w - 7)), (k * 3) % 9, 3, 1);
  },
  letterbox: (d) => {
    d.r(d.t.wood[3], 7, 0, 2, 9);
    d.r(0xd9483f, 3, 9, 10, 8);
    d.e(0xd9483f, 8, 17, 4, 2);
    d.r(INK, 5, 14, 6, 1);
    d.r(0xfff7e8, 6, 11, 4, 2);
  },
  flag: (d) => {
    d.r(d.t.wood[3], 3, 0, 1, 16);
    d.r(cloth(d.v)[1], 4, 8, 10, 7);
    d.r(0xfff7ee, 4, 11, 10, 2);
  },
  fire: (d) => {
    d.r(d.t.wood[3], 2, 0, 12, 3);
    d.l(FIRE, 4, 3, 8, 6);
    d.l(0xffe07a, 6, 4, 4, 7);
    d.light(8, 6, 56, FIRE);
  },
  tent: (d) => {
    for (let k = 0; k < 28; k++)
      d.r(k % 6 === 5 ? 0xb5852f : 0xe0b25a, Math.floor(k / 2), k, d.w - Math.floor(k / 2) * 2, 1);
    for (let k = 0; k < 16; k++) d.r(0x5b4030, d.w / 2 - 5 + Math.floor(k / 3.4), k, 10 - 2 * Math.floor(k / 3.4), 1);
  },
  rock: (d) => blob(d.p, 8 + SIDE, d.foot - 5 + SIDE, 6, 5, d.t.stone, d.v),
  washline: (d) => {
    d.r(d.t.wood[3], 1, 0, 2, 24);
    d.r(d.t.wood[3], d.w - 3, 0, 2, 24);
    d.r(0xe8e4da, 1, 22, d.w - 2, 1);
    for (let k = 0; k < 4; k++) {
      d.r(cloth(k + d.v)[0], 7 + k * 9, 12 + (k % 2) * 2, 7, 10 - (k % 2) * 2);
      d.r(cloth(k + d.v)[1], 7 + k * 9, 12 + (k % 2) * 2, 7, 1);
    }
  },
};
