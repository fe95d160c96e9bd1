// Lamps, machines and instruments: what can be on or off.

import { type Colour, chance, INK, shade } from "./paint";
import { cloth, type Drawings, FIRE, note, STEEL } from "./pen";

export const DEVICES: Drawings = {
  lamp: (d) => {
    const on = d.mode !== "off" && d.mode !== "broken";
    d.r(0x4a4556, 7, 0, 2, 14);
    d.r(0x4a4556, 4, 0, 8, 2);
    const shadeOf = on ? 0xffe3a0 : 0xbfae93;
    if (on) d.l(shadeOf, 3, 13, 10, 7);
    else d.r(shadeOf, 3, 13, 10, 7);
    if (on) {
      d.l(0xfff8de, 5, 14, 5, 4);
      d.light(8, 15, 42, d.t.neon ? (d.t.tubes[d.v % 5] as Colour) : d.t.lamp);
    }
    d.r(shade(shadeOf, 0.8), 3, 13, 10, 1);
  },
  lantern: (d) => {
    const on = d.mode === "on";
    d.r(0x4a4556, 5, 0, 6, 1);
    if (on) {
      d.l(0xffd27a, 5, 1, 6, 6);
      d.l(0xfff6d0, 7, 2, 2, 4);
      d.light(8, 4, 34, 0xffb35c);
    } else d.r(0x9aa6ab, 5, 1, 6, 6);
    d.r(0x4a4556, 4, 7, 8, 1);
    d.r(0x4a4556, 7, 8, 2, 2);
  },
  radio: (d) => {
    d.r(d.t.wood[2], 2, 0, 12, 8);
    d.r(d.t.wood[0], 2, 7, 12, 1);
    d.e(0x4a3a3f, 5, 4, 2, 2);
    if (d.mode === "on") {
      d.l(0xffd25a, 9, 4, 4, 2);
      note(d, 12, 13);
    } else d.r(0x6a5a50, 9, 4, 4, 2);
    d.r(0x4a4556, 12, 8, 1, 5);
  },
  gramophone: (d) => {
    d.box(d.t.wood[1], d.t.wood[2], 2, 0, 12, 7, 4);
    d.e(0x2f2833, 7, 9, 4, 1);
    d.r(0xd9a53f, 10, 9, 2, 5);
    d.e(0xe8b950, 11, 17, 5, 4);
    d.e(0xb5852f, 12, 17, 2, 2);
    if (d.mode === "on") note(d, 1, 20);
  },
  drone: (d) => {
    d.e(0x5d6b8a, 8, 6, 4, 3);
    d.e(0x8ba0c4, 8, 7, 3, 2);
    for (const x of [1, 12]) {
      d.r(0x45506b, x, 8, 4, 1);
      d.r(0xb9c6dd, x - 1, 10, 6, 1);
    }
    if (d.mode === "on") d.l(0x66f0b0, 7, 6, 3, 2);
    else if (d.mode === "broken") {
      d.r(0xff6a5c, 7, 6, 2, 2);
      d.l(0xffe07a, 3, 12, 1, 2);
      d.l(0xffe07a, 5, 14, 1, 1);
    } else d.r(0x33405e, 7, 6, 2, 2);
    d.r(0x45506b, 5, 1, 1, 3);
    d.r(0x45506b, 10, 1, 1, 3);
  },
  console: (d) => {
    d.box(0x6d7692, 0x4f566f, 0, 0, d.w, 11, 6);
    d.r(0x2b3048, 3, 13, d.w - 6, 10);
    const on = d.mode === "on";
    for (let k = 0; k < 6; k++)
      (on || k % 2 ? d.l : d.r).call(
        d,
        (on ? d.t.tubes[k % d.t.tubes.length] : 0x5a7f98) as Colour,
        5 + k * 4,
        14 + Math.floor(chance(k, d.v) * 5),
        3,
        3,
      );
    for (let k = 0; k < 5; k++) d.r(([0xe8546b, 0xffd25a, 0x66d0b0] as const)[k % 3] as Colour, 3 + k * 5, 5, 2, 2);
    if (on) d.light(d.w / 2, 16, 36, 0x6fe7da);
  },
  screen: (d) => {
    d.r(0x3a3d56, 6, 0, 4, 4);
    d.r(0x2b3048, 0, 4, 16, 12);
    d.l(d.mode === "off" ? 0x3f4a66 : 0x7fd8e6, 1, 5, 14, 10);
    d.l(d.mode === "off" ? 0x4a5674 : 0xc9fbff, 2, 12, 7, 2);
    if (d.mode !== "off") d.light(8, 8, 30, 0x7fd8e6);
  },
  arcade: (d) => {
    const c = d.t.neon ? (d.t.tubes[d.v % 5] as Colour) : (cloth(d.v)[1] as Colour);
    d.box(shade(c, 0.7), shade(c, 0.5), 1, 0, 14, 26, 3);
    if (d.mode === "broken") d.r(0x4a4d63, 3, 12, 10, 8);
    else {
      d.l(0x243058, 3, 12, 10, 8);
      d.l(0x7ff0e4, 4, 17, 3, 2);
      d.l(0xff6fae, 8, 14, 3, 2);
      d.l(0xffe07a, 5, 13, 2, 1);
      d.light(8, 16, 30, c);
    }
    d.l(c, 2, 22, 12, 3);
    d.r(shade(c, 0.85), 1, 7, 14, 3);
    d.r(0xe8546b, 4, 9, 2, 2);
    d.r(0xffd25a, 10, 9, 2, 1);
  },
  claw: (d) => {
    d.box(0xd96a8f, 0xa94a70, 1, 0, 14, 26, 3);
    d.l(0xbfeef2, 2, 10, 12, 13);
    d.r(0x6b6878, 8, 18, 1, 5);
    d.r(0x6b6878, 6, 17, 5, 1);
    if (d.mode !== "broken" && d.mode !== "empty")
      for (let k = 0; k < 5; k++) d.r(d.t.petals[k] as Colour, 3 + k * 2, 10 + (k % 2), 2, 3);
    d.l(0xfff0b0, 2, 23, 12, 2);
    d.light(8, 16, 30, 0xffa3cc);
  },
  vending: (d) => {
    const c = d.v % 2 ? 0x4b8fc4 : 0xd35d5a;
    d.box(shade(c, 1.2), c, 1, 0, 14, 25, 3);
    if (d.mode === "broken") d.r(0x5d5a6b, 2, 9, 9, 13);
    else {
      d.l(0xe9fbff, 2, 9, 9, 13);
      d.light(7, 14, 34, 0xbfeef2);
    }
    for (let s = 0; s < 3; s++)
      for (let k = 0; k < 4; k++) d.r(d.t.petals[(k + s) % 5] as Colour, 3 + k * 2, 10 + s * 4, 1, 3);
    d.r(INK, 3, 3, 8, 3);
    d.r(0xffd25a, 12, 12, 2, 3);
  },
  guitar: (d) => {
    d.e(0xb5713a, 8, 4, 4, 4);
    d.e(0xd99a55, 8, 9, 3, 2);
    d.e(0x5b3622, 8, 5, 1, 1);
    d.r(0x5b3622, 7, 9, 2, 12);
    d.r(0x3a2d38, 6, 20, 4, 3);
    if (d.mode === "on") note(d, 12, 18);
  },
  violin: (d) => {
    d.e(0x9c4a2b, 8, 3, 3, 3);
    d.e(0xb5633a, 8, 8, 3, 2);
    d.r(0x3a2d38, 7, 9, 2, 9);
    d.r(0xe8dcc8, 12, 1, 1, 15);
    if (d.mode === "on") note(d, 0, 16);
  },
  drum: (d) => {
    d.r(0xc95b4b, 2, 2, 12, 9);
    d.e(0xfff1dd, 8, 11, 6, 2);
    for (let k = 0; k < 3; k++) d.r(0xffd25a, 3 + k * 4, 3, 1, 7);
  },
  anvil: (d) => {
    d.r(0x57525f, 4, 0, 8, 4);
    d.r(0x6b6672, 6, 4, 4, 4);
    d.r(0x6b6672, 1, 8, 14, 4);
    d.r(0x9a95a3, 1, 11, 14, 1);
  },
  coffee: (d) => {
    d.r(STEEL[1], 3, 0, 11, 11);
    d.r(STEEL[0], 3, 9, 11, 2);
    d.r(0x3a2d38, 5, 2, 7, 5);
    d.r(0xfff7ee, 7, 2, 3, 2);
    if (d.mode === "on") {
      d.l(0xff6a5c, 12, 8, 1, 1);
      d.r(0xf2f4fa, 8, 12, 1, 4);
    }
  },
  scale: (d) => {
    d.box(STEEL[0], STEEL[1], 3, 0, 10, 3, 4);
    d.r(STEEL[2], 7, 6, 2, 10);
    d.e(0xfff7ee, 8, 17, 4, 3);
    d.r(0xe8546b, 8, 17, 2, 1);
  },
  speaker: (d) => {
    d.box(0x4a4d63, 0x34374a, 2, 0, 12, 20, 3);
    d.e(0x6d7289, 8, 6, 4, 4);
    d.e(0x2b2d3e, 8, 6, 1, 1);
    d.e(0x6d7289, 8, 14, 2, 2);
    if (d.mode === "on") note(d, 13, 22);
  },
  microphone: (d) => {
    d.r(0x4a4556, 7, 0, 1, 10);
    d.r(0x4a4556, 4, 0, 7, 1);
    d.e(0x9a98a8, 8, 11, 2, 3);
    d.r(0x6b6878, 6, 9, 4, 1);
  },
  typewriter: (d) => {
    d.r(0x4f6b73, 3, 0, 10, 5);
    d.r(0xfff7e8, 5, 5, 6, 5);
    d.r(0x2f464d, 3, 5, 10, 1);
    d.r(0xe8dcc8, 4, 1, 8, 1);
  },
  telescope: (d) => {
    d.r(d.t.wood[3], 5, 0, 1, 10);
    d.r(d.t.wood[3], 10, 0, 1, 10);
    for (let k = 0; k < 12; k++) d.r(k > 8 ? 0xd9a53f : 0x5c6b8a, 2 + k, 9 + Math.floor(k / 2), 2, 4);
  },
  steamer: (d) => {
    d.r(0x4a4d63, 2, 0, 12, 6);
    for (let k = 0; k < 2; k++) {
      d.r(0xd9b27a, 2, 6 + k * 6, 12, 5);
      d.r(0xb58a4f, 2, 6 + k * 6, 12, 1);
    }
    d.e(0xe8c894, 8, 18, 6, 1);
    if (d.mode === "on") {
      d.l(FIRE, 4, 1, 8, 2);
      for (let k = 0; k < 3; k++) d.r(0xf2f4fa, 4 + k * 4, 20 + (k % 2) * 2, 2, 4);
      d.light(8, 4, 30, FIRE);
    }
  },
  phone: (d) => {
    d.r(0x3f4a5f, 4, 0, 8, 5);
    d.r(0x3f4a5f, 2, 5, 12, 2);
    d.e(0xe8dcc8, 8, 2, 2, 1);
  },
  camera: (d) => {
    d.r(0x3a3d4f, 3, 0, 10, 7);
    d.e(0x9fd0e0, 8, 3, 2, 2);
    d.r(0xe8546b, 11, 6, 2, 2);
  },
  engine: (d) => {
    d.box(STEEL[1], STEEL[2], 0, 0, d.w, 12, 6);
    d.e(0x2b2d3e, 8, 6, 4, 4);
    d.e(STEEL[0], 8, 6, 2, 2);
    d.r(0xd9a53f, d.w - 10, 4, 6, 6);
    d.r(0x6b4630, d.w - 6, 16, 3, 8);
  },
  machine: (d) => {
    d.box(0x8fa3b5, 0x64788c, 0, 0, 16, 17, 5);
    d.l(d.mode === "broken" ? 0xff6a5c : 0x66f0b0, 3, 12, 2, 2);
    d.r(0x2b3048, 7, 9, 7, 6);
    d.r(0xffd25a, 3, 3, 10, 2);
  },
};
