// What furnishes rooms, each as its state shows it: lit, open, broken, empty.

import { type Colour, chance, INK, shade } from "./paint";
import { books, cloth, type Drawings, FIRE, note, RISE, STEEL, table } from "./pen";

export const FURNITURE: Drawings = {
  bed: (d) => {
    const [light, dark] = cloth(d.v);
    d.box(d.t.wood[1], d.t.wood[3], 1, 0, 14, 4, 28);
    d.r(d.t.wood[2], 1, 28, 14, 8);
    d.r(d.t.wood[0], 1, 35, 14, 1);
    d.r(0xfff7ee, 2, 5, 12, 24);
    d.r(0xe6e0ea, 3, 23, 10, 5);
    d.r(0xffffff, 3, 25, 10, 3);
    if (d.mode === "used") {
      d.r(light, 2, 5, 12, 12);
      d.r(dark, 2, 14, 9, 3);
      d.r(light, 6, 15, 8, 4);
      d.r(dark, 3, 7, 5, 1);
    } else {
      d.r(light, 2, 5, 12, 17);
      d.r(dark, 2, 5, 12, 3);
      d.r(shade(light, 1.35), 2, 19, 12, 3);
      for (let k = 0; k < 3; k++) d.r(dark, 4 + k * 4, 13, 1, 2);
    }
  },
  cradle: (d) => {
    d.box(0xfff7ee, d.t.wood[2], 1, 2, 14, 5, 6);
    d.r(cloth(d.v)[0], 2, 8, 8, 4);
    d.r(d.t.wood[3], 0, 0, 16, 2);
  },
  stove: (d) => {
    d.box(STEEL[0], STEEL[1], 0, 0, 16, 13, 8);
    d.e(0x3a2d38, 4, 17, 2, 1);
    d.e(0x3a2d38, 11, 17, 2, 1);
    d.r(0x3a2d38, 3, 2, 10, 7);
    if (d.mode === "on") {
      d.l(FIRE, 4, 2, 8, 4);
      d.l(0xffe07a, 6, 3, 4, 2);
      d.l(0xff7a3c, 3, 17, 3, 1);
      d.light(8, 6, 34, FIRE);
    }
    d.r(0xffd25a, 3, 11, 2, 1);
    d.r(0xffd25a, 11, 11, 2, 1);
  },
  hearth: (d) => {
    d.box(0xb7a49e, 0x8d7772, 0, 0, d.w, 22, 5);
    for (let k = 0; k < 4; k++) d.r(0x7a6460, (k % 2) * 8, 3 + k * 5, d.w, 1);
    d.r(0x2c2028, 7, 0, d.w - 14, 14);
    d.r(d.t.wood[3], 9, 1, d.w - 18, 3);
    if (d.mode !== "off" && d.mode !== "empty") {
      d.l(FIRE, 10, 3, d.w - 20, 5);
      d.l(0xffe07a, 13, 4, d.w - 26, 6);
      d.light(d.w / 2, 6, 46, FIRE);
    }
    d.r(d.t.wood[0], -1, 25, d.w + 2, 3);
  },
  counter: (d) => {
    d.box(0xefe2c8, d.t.wood[2], 0, 0, d.w, 10, 7);
    for (let x = 7; x < d.w; x += 8) d.r(d.t.wood[3], x, 0, 1, 9);
    d.r(d.t.wood[1], 0, 9, d.w, 1);
    d.r(0xd05d4f, 4, 14, 4, 3);
    d.r(0xfff7e8, d.w - 9, 14, 5, 2);
  },
  table: (d) => {
    table(d);
    if (d.v % 3 === 0) d.r(0xfff7e8, 6, 11, 5, 3);
    if (d.v % 3 === 1) {
      d.r(0xe8546b, d.w - 9, 11, 3, 2);
      d.r(0x67ad4c, d.w - 8, 13, 1, 2);
    }
  },
  roundtable: (d) => {
    d.r(d.t.wood[3], 7, 0, 3, 6);
    d.r(d.t.wood[3], 4, 0, 9, 2);
    d.e(d.t.wood[2], 8, 9, 8, 4);
    d.e(d.t.wood[0], 8, 11, 8, 4);
    d.e(d.t.wood[1], 8, 11, 5, 2);
    d.r(0xfff7e8, 6, 11, 4, 2);
  },
  desk: (d) => {
    table(d);
    d.r(d.t.wood[2], d.w - 9, 0, 9, 6);
    d.r(0xffd25a, d.w - 5, 3, 2, 1);
    d.r(0xfff7e8, 4, 10, 7, 4);
    d.r(0x5c80b8, 14, 11, 4, 3);
    if (d.v % 2) d.r(0xfff7e8, d.w - 9, 10, 5, 3);
  },
  chair: (d) => {
    d.r(d.t.wood[3], 4, 0, 2, 5);
    d.r(d.t.wood[3], 10, 0, 2, 5);
    d.r(cloth(d.v)[1], 3, 5, 10, 4);
    d.r(cloth(d.v)[0], 3, 7, 10, 2);
    d.r(d.t.wood[3], 4, 9, 8, 7);
    for (const x of [3, 6, 9, 11]) d.r(d.t.wood[2], x, 9, 2, 8);
    d.r(d.t.wood[1], 3, 15, 10, 2);
  },
  stool: (d) => {
    d.r(d.t.wood[3], 5, 0, 2, 6);
    d.r(d.t.wood[3], 9, 0, 2, 6);
    d.e(cloth(d.v)[1], 8, 6, 5, 2);
    d.e(cloth(d.v)[0], 8, 8, 5, 2);
  },
  sofa: (d) => {
    const [light, dark] = cloth(d.v);
    d.r(dark, 1, 9, d.w - 2, 10);
    d.r(light, 1, 17, d.w - 2, 2);
    d.box(light, dark, 0, 2, d.w, 4, 6);
    d.r(dark, 0, 2, 4, 13);
    d.r(dark, d.w - 4, 2, 4, 13);
    d.r(light, 0, 13, 4, 2);
    d.r(light, d.w - 4, 13, 4, 2);
    d.r(shade(light, 1.3), 6, 10, 7, 5);
    d.r(d.t.wood[3], 1, 0, 3, 2);
    d.r(d.t.wood[3], d.w - 4, 0, 3, 2);
  },
  shelf: (d) => {
    d.box(d.t.wood[1], d.t.wood[3], 0, 0, d.w, 24, 3);
    for (let s = 0; s < 3; s++) {
      d.r(0x4a3030, 2, 2 + s * 8, d.w - 4, 6);
      for (let k = 0; k < d.w / 6 - 1; k++) {
        const c = d.t.petals[Math.floor(chance(k + d.v, s) * d.t.petals.length)] as Colour;
        if (d.mode === "empty" && chance(k, s + d.v) < 0.7) continue;
        const kind = chance(s + d.v, k);
        if (kind < 0.4) {
          d.r(shade(c, 0.85), 3 + k * 6, 2 + s * 8, 4, 4);
          d.r(c, 4 + k * 6, 5 + s * 8, 2, 2);
        } else if (kind < 0.75) d.r(shade(c, 0.8), 3 + k * 6, 2 + s * 8, 3, 5);
        else d.r(0xe8dcc8, 3 + k * 6, 2 + s * 8, 4, 3);
      }
      d.r(d.t.wood[2], 1, 1 + s * 8, d.w - 2, 1);
    }
  },
  bookshelf: (d) => {
    d.box(d.t.wood[1], d.t.wood[3], 0, 0, d.w, 26, 3);
    for (let s = 0; s < 3; s++) {
      d.r(0x4a3030, 2, 2 + s * 8, d.w - 4, 7);
      books(d, 2, 2 + s * 8, d.w - 4, 7, s + d.v * 5);
      d.r(d.t.wood[2], 1, 1 + s * 8, d.w - 2, 1);
    }
  },
  cupboard: (d) => {
    d.box(d.t.wood[0], d.t.wood[1], 1, 0, 14, 19, 4);
    if (d.mode === "open") {
      d.r(0x3f2c33, 3, 2, 10, 15);
      for (let k = 0; k < 3; k++) d.r(d.t.petals[k + 1] as Colour, 4 + k * 3, 9, 2, 3);
      d.r(d.t.wood[2], 3, 8, 10, 1);
      d.r(d.t.wood[0], 0, 1, 2, 17);
    } else {
      d.r(d.t.wood[2], 8, 1, 1, 17);
      d.r(d.t.wood[2], 3, 10, 10, 1);
      d.r(0xffd25a, 6, 9, 1, 2);
      d.r(0xffd25a, 10, 9, 1, 2);
      if (d.mode === "closed") d.r(0xd9a53f, 7, 8, 3, 3);
    }
  },
  drawers: (d) => {
    d.box(d.t.wood[0], d.t.wood[2], 1, 0, 14, 12, 6);
    for (let k = 0; k < 3; k++) {
      d.r(d.t.wood[1], 2, 1 + k * 4, 12, 3);
      d.r(0xffd25a, 7, 2 + k * 4, 2, 1);
    }
    if (d.mode === "open") {
      d.r(0x4a3030, 2, 6, 12, 2);
      d.r(d.t.wood[0], 1, 3, 14, 3);
    }
  },
  chest: (d) => {
    d.box(d.t.wood[1], d.t.wood[2], 1, 0, 14, 7, 5);
    d.r(0xd9a53f, 1, 6, 14, 1);
    d.r(0xd9a53f, 7, 4, 2, 3);
    if (d.mode === "open") {
      d.r(0x3f2c33, 2, 7, 12, 4);
      d.r(d.t.wood[0], 1, 11, 14, 5);
      d.r(0xffd25a, 5, 8, 4, 2);
    }
  },
  wardrobe: (d) => {
    d.box(d.t.wood[1], d.t.wood[2], 0, 0, 16, 24, 4);
    d.r(d.t.wood[3], 8, 1, 1, 22);
    d.r(d.t.wood[1], 2, 3, 5, 18);
    d.r(d.t.wood[1], 10, 3, 5, 18);
    d.r(0xffd25a, 6, 11, 1, 2);
    d.r(0xffd25a, 10, 11, 1, 2);
  },
  fridge: (d) => {
    d.box(0xf4f7fa, 0xd7dfe8, 1, 0, 14, 23, 4);
    d.r(0xaab6c4, 1, 14, 14, 1);
    d.r(0x8b97a8, 12, 9, 1, 4);
    d.r(0x8b97a8, 12, 16, 1, 4);
    if (d.mode === "empty") d.r(0xf2d34f, 4, 17, 4, 3);
  },
  piano: (d) => {
    d.box(0x4a3a44, 0x372a33, 0, 0, d.w, 18, 5);
    d.r(0xfff7ee, 2, 8, d.w - 4, 3);
    for (let k = 3; k < d.w - 3; k += 3) d.r(INK, k, 9, 1, 2);
    d.r(0x5a4853, 0, 7, d.w, 1);
    if (d.mode === "on") note(d, d.w - 8, 25);
  },
  clock: (d) => {
    d.e(d.t.wood[3], 8, 9, 6, 6);
    d.e(0xfff7e0, 8, 9, 4, 4);
    d.r(INK, 8, 9, 1, 4);
    d.r(INK, 8, 9, 3, 1);
    if (d.v % 2) d.r(0xd9a53f, 7, 0, 3, 3);
  },
  door: (d) => {
    d.r(d.t.wood[3], 2, 0, 12, 16);
    d.r(d.t.wood[1], 3, 0, 10, 15);
    d.r(0xffd25a, 11, 6, 1, 2);
  },
  window: (d) => {
    d.r(d.t.wood[3], 2, 1, 12, 13);
    d.r(d.t.glass[1], 3, 2, 10, 11);
    d.r(d.t.glass[0], 3, 8, 5, 5);
    d.r(d.t.wood[3], 7, 2, 1, 11);
    d.r(d.t.wood[3], 3, 7, 10, 1);
    d.r(cloth(d.v)[0], 1, 3, 2, 12);
    d.r(cloth(d.v)[0], 13, 3, 2, 12);
    d.r(cloth(d.v)[1], 1, 13, 14, 2);
  },
  shutters: (d) => {
    d.r(d.t.wood[3], 1, 0, d.w - 2, 15);
    if (d.mode === "open") {
      d.r(d.t.glass[0], 3, 1, d.w - 6, 12);
      d.r(d.t.wood[3], d.w / 2, 1, 1, 12);
      d.r(d.t.wood[1], 1, 12, d.w - 2, 3);
    } else for (let k = 0; k < 14; k += 2) d.r(d.t.wood[1], 2, k + 1, d.w - 4, 1);
  },
  workbench: (d) => {
    table(d);
    d.r(d.t.wood[3], 0, 3, d.w, 2);
    if (d.mode === "used" || d.mode === "") {
      d.r(STEEL[0], 3, 11, 6, 1);
      d.r(0xe8546b, 11, 10, 2, 3);
      d.r(0xffd25a, 16, 12, 3, 2);
      d.r(STEEL[2], 22, 10, 4, 3);
      d.r(0x5c80b8, 26, 12, 2, 2);
    } else {
      d.r(STEEL[0], 4, 13, 8, 1);
      d.r(0x5c80b8, d.w - 8, 12, 5, 2);
    }
  },
  loom: (d) => {
    d.r(d.t.wood[2], 1, 0, 3, 22);
    d.r(d.t.wood[2], d.w - 4, 0, 3, 22);
    d.r(d.t.wood[1], 0, 20, d.w, 3);
    for (let k = 5; k < d.w - 5; k += 2) d.r(0xfff1dd, k, 6, 1, 14);
    d.r(cloth(d.v)[0], 5, 6, d.w - 10, 6);
  },
  tub: (d) => {
    d.box(0xdcc59b, 0x94633f, 0, 0, d.w, 8, 26);
    for (let k = 5; k < d.w; k += 6) d.r(0x6d4630, k, 0, 1, 8);
    d.r(0x6d4630, 0, 5, d.w, 1);
    if (d.mode === "empty") d.r(0xb08a5c, 4, 10, d.w - 8, 21);
    else {
      d.r(d.t.water[1], 4, 10, d.w - 8, 21);
      d.r(d.t.water[0], 4, 26, d.w - 8, 5);
      for (let k = 0; k < 4; k++) d.r(0xf2f8fa, 8 + k * 9, 14 + (k % 2) * 8, 5, 1);
      if (d.mode !== "off") for (let k = 0; k < 4; k++) d.r(0xf2f8fa, 9 + k * 9, 33 + (k % 2) * 2, 1, 4);
    }
  },
  basin: (d) => {
    d.box(0xf4f7fa, 0xc9d3dc, 1, 0, 14, 9, 6);
    d.e(d.t.water[0], 8, 12, 4, 2);
    d.r(STEEL[1], 7, 14, 2, 5);
    d.r(STEEL[1], 7, 18, 4, 1);
  },
  boiler: (d) => {
    d.r(0x9c5a3c, 2, 0, 12, 18);
    d.r(0xc27a50, 3, 0, 3, 18);
    d.e(0xb56a45, 8, 18, 6, 2);
    d.r(0x6b4630, 6, 20, 3, 8);
    d.r(0x2c2028, 4, 2, 8, 5);
    if (d.mode === "on") {
      d.l(FIRE, 5, 2, 6, 4);
      d.l(0xffe07a, 7, 3, 2, 2);
      d.light(8, 5, 40, FIRE);
    }
    d.e(0xfff7ee, 8, 12, 2, 2);
    d.r(0xe8546b, 8, 12, 2, 1);
  },
  tank: (d) => {
    d.r(d.t.wood[3], 0, 0, d.w, 5);
    d.l(d.mode === "used" ? 0x7f9a86 : 0x6cc3dd, 1, 5, d.w - 2, 15);
    d.l(0xc9f2fa, 1, 18, d.w - 2, 2);
    for (let k = 0; k < 4; k++)
      d.l(([0xff9d45, 0xe8546b, 0xf2f4fa] as const)[k % 3] as Colour, 4 + k * 7, 8 + (k % 2) * 5, 4, 2);
    d.r(0x4da36a, 3, 5, 1, 5);
    d.r(0x4da36a, d.w - 6, 5, 1, 7);
    d.light(d.w / 2, 12, 30, 0x6cc3dd);
  },
  safe: (d) => {
    d.box(0x6d7289, 0x4d5268, 1, 0, 14, 14, 4);
    d.e(0xb8bccb, 8, 7, 3, 3);
    d.r(INK, 8, 7, 1, 3);
  },
  easel: (d) => {
    d.r(d.t.wood[3], 2, 0, 2, 22);
    d.r(d.t.wood[3], 12, 0, 2, 22);
    d.r(0xfff7e8, 1, 8, 14, 13);
    d.r(0x7fb3cf, 3, 14, 10, 5);
    d.r(0x67ad4c, 3, 10, 10, 4);
    d.r(0xe8546b, 8, 12, 3, 3);
  },
  picture: (d) => {
    d.r(0xd9a53f, 3, 3, 11, 10);
    d.r(([0x9fd0e0, 0xf2c6a0, 0xbfe0b0, 0xd6c3ea] as const)[d.v % 4] as Colour, 4, 4, 9, 8);
    d.r(([0x67ad4c, 0xc96a5e, 0x458f70, 0x725095] as const)[d.v % 4] as Colour, 4, 4, 9, 3);
    d.e(0xfff0b0, 10, 9, 1, 1);
  },
  mirror: (d) => {
    d.e(0xd9a53f, 8, 8, 5, 7);
    d.e(0xcfe8f0, 8, 8, 4, 6);
    d.r(0xffffff, 6, 9, 1, 4);
  },
  curtain: (d) => {
    for (let x = 0; x < d.w; x += 4) d.r(cloth(d.v)[x % 8 ? 1 : 0] as Colour, x, 0, 4, 15);
    d.r(0xd9a53f, 0, 14, d.w, 1);
  },
  rug: (d) => {
    const [light, dark] = cloth(d.v);
    const h = d.foot - RISE;
    d.r(dark, 1, 2, d.w - 2, h - 3);
    d.r(0xf3dfb5, 3, 4, d.w - 6, h - 7);
    d.r(light, 5, 6, d.w - 10, h - 11);
    for (let j = 9; j < h - 6; j += 6)
      for (let i = 9; i < d.w - 8; i += 8) {
        d.r(dark, i, j, 3, 1);
        d.r(dark, i + 1, j - 1, 1, 3);
      }
    for (let i = 2; i < d.w - 2; i += 2) {
      d.r(0xf3dfb5, i, 1, 1, 1);
      d.r(0xf3dfb5, i, h - 1, 1, 1);
    }
  },
  altar: (d) => {
    d.box(d.t.stone[0], d.t.stone[2], 0, 0, d.w, 9, 6);
    d.r(0xd9483f, 0, 8, d.w, 2);
    for (const x of [5, d.w - 8]) {
      d.r(0xfff7e8, x, 14, 2, 4);
      d.l(0xffc24a, x, 18, 2, 2);
    }
    d.light(d.w / 2, 16, 34, 0xffb35c);
  },
  stage: (d) => {
    d.box(d.t.wood[0], d.t.wood[3], 0, 0, d.w, 8, 22);
    for (let k = 6; k < d.w; k += 8) d.r(d.t.wood[1], k, 9, 1, 20);
    d.r(0xc95b4b, 0, 29, 6, 12);
    d.r(0xc95b4b, d.w - 6, 29, 6, 12);
    if (d.mode === "full" || d.mode === "on")
      for (let k = 0; k < d.w / 10; k++) d.l(d.t.petals[k % 5] as Colour, 4 + k * 10, 8, 4, 3);
  },
  barometer: (d) => {
    d.r(d.t.wood[2], 5, 1, 6, 14);
    d.e(0xd9a53f, 8, 9, 4, 4);
    d.e(0xfff7e0, 8, 9, 3, 3);
    d.r(0xe8546b, 8, 9, 2, 1);
  },
  lectern: (d) => {
    d.r(d.t.wood[2], 6, 0, 4, 10);
    d.r(d.t.wood[3], 4, 0, 8, 2);
    d.box(d.t.wood[0], d.t.wood[1], 2, 9, 12, 3, 5);
    d.r(0xfff7e8, 4, 12, 8, 4);
  },
  partition: (d) => {
    d.r(d.t.wood[2], 1, 0, 14, 22);
    d.r(0xf3ead6, 2, 2, 12, 18);
    d.r(d.t.wood[2], 7, 0, 1, 22);
    d.r(d.t.wood[2], 1, 10, 14, 1);
  },
};
