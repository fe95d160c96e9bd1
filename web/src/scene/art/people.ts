// People: three directions drawn (right is left mirrored), standing and two steps, sitting, and lying asleep.

import type { Look } from "./look";
import { type Colour, ellipse, INK, outline, type Picture, picture, rect, shade, veil } from "./paint";

export const WIDTH = 22;
export const HEIGHT = 30;
/** Row of the feet. */
export const FOOT = 27;

export type View = "down" | "up" | "side";
export type Pose = "stand" | "left" | "right" | "sit";

export const FRAMES: readonly (readonly [View, Pose])[] = (["down", "up", "side"] as const).flatMap((view) =>
  (["stand", "left", "right", "sit"] as const).map((pose) => [view, pose] as const),
);

/** All frames of a person side by side: those of `FRAMES`, then lying. */
export function drawPerson(look: Look): readonly Picture[] {
  return [...FRAMES.map(([view, pose]) => frame(look, view, pose)), lying(look)];
}

function frame(look: Look, view: View, pose: Pose): Picture {
  const p = picture(WIDTH, HEIGHT);
  const sit = pose === "sit";
  const step = pose === "left" ? 1 : pose === "right" ? -1 : 0;
  const small = look.child ? 3 : 0;
  const body = look.child ? 5 : 7;
  // Rows from the feet up: legs, body, head.
  const ground = FOOT - 1;
  const legs = sit ? 2 : look.child ? 3 : 4;
  const bob = step ? -1 : 0;
  const hip = ground - legs + bob + (sit ? 1 : 0);
  const neck = hip - body;
  const head = neck - 9;
  const put = (c: Colour, x: number, y: number, w: number, h: number): void => rect(p, c, x + 2, y, w, h);
  const half = small ? 3 : 4;
  const left = 9 - half;
  const wide = half * 2;
  const top = look.coat || look.top;

  if (sit) {
    if (view === "side") {
      put(look.under, 4, hip, 6, 2);
      put(look.shoes, 3, hip + 2, 2, 2);
    } else {
      put(look.dress ? look.top : look.under, left, hip, wide, 2);
      if (view === "down") {
        put(look.shoes, 6, hip + 2, 2, 1);
        put(look.shoes, 10, hip + 2, 2, 1);
      }
    }
  } else if (view === "side") {
    put(shade(look.under, 0.8), 8 - step, hip, 2, legs - Math.abs(step));
    put(look.under, 8 + step, hip, 2, legs);
    put(look.shoes, 7 + step, ground, 3, 1);
    put(look.shoes, 7 - step, ground - Math.abs(step), 3, 1);
  } else {
    const l = step === 1 ? 1 : 0;
    const r = step === -1 ? 1 : 0;
    put(look.under, 6, hip, 2, legs - l);
    put(look.under, 10, hip, 2, legs - r);
    put(look.shoes, 6, ground - l, 2, 1);
    put(look.shoes, 10, ground - r, 2, 1);
  }

  // Body.
  const bx = view === "side" ? 9 - half + 1 : left;
  const bw = view === "side" ? wide - 2 : wide;
  put(top, bx, neck, bw, body);
  put(shade(top, 0.84), bx, hip - 2, bw, 2);
  put(shade(top, 1.14), bx, neck, bw, 1);
  if (look.dress && !sit) {
    put(look.top, bx - 1, hip - 2, bw + 2, look.child ? 3 : 4);
    put(shade(look.top, 0.84), bx - 1, hip + (look.child ? 0 : 1), bw + 2, 1);
  } else if (look.coat) {
    put(look.coat, bx, hip, bw, sit ? 1 : 2);
    if (view === "down") {
      put(look.top, 8, neck, 2, body - 2);
      put(shade(look.coat, 0.8), 7, neck + 2, 1, body);
    }
  } else put(shade(look.under, 0.9), bx, hip - 1, bw, 1);
  if (look.apron && view !== "up") {
    const ax = view === "side" ? bx : bx + 1;
    put(look.apron, ax, neck + 2, view === "side" ? 3 : bw - 2, body + (sit ? -1 : 1));
    put(shade(look.apron, 0.86), ax, hip, view === "side" ? 3 : bw - 2, 1);
  } else if (look.apron) put(look.apron, bx, hip - 2, bw, 1);
  if (look.scarf) put(look.scarf, bx, neck, bw, 2);

  // Arms.
  const sleeve = shade(top, 0.9);
  if (view === "side") {
    put(shade(top, 0.76), 8 + step, neck + 1, 2, 4);
    put(look.skin, 8 + step - (sit ? 2 : 0), neck + (sit ? 4 : 5), 2, 1);
  } else {
    put(sleeve, bx - 1, neck + 1, 1, 4 + step);
    put(look.skin, bx - 1, neck + 4 + step, 1, 2);
    put(sleeve, bx + bw, neck + 1, 1, 4 - step);
    put(look.skin, bx + bw, neck + 4 - step, 1, 2);
  }
  if (look.bag) {
    if (view === "up") {
      put(look.bag, bx + 1, neck + 1, bw - 2, 5);
      put(shade(look.bag, 0.75), bx + 1, neck + 4, bw - 2, 1);
    } else if (view === "side") put(look.bag, bx + bw - 1, neck + 1, 3, 5);
    else {
      put(look.bag, bx, neck, 1, 4);
      put(look.bag, bx + bw - 1, neck, 1, 4);
    }
  }

  face(look, view, put, head, false);
  const out = outline(p);
  // Shade at the feet, under everything.
  const ground_ = picture(WIDTH, HEIGHT);
  ellipse(ground_, 0x1d1730, WIDTH / 2 - 0.5, FOOT, 7, 2, 0.3);
  for (let i = 0; i < out.px.length; i++) if (!out.px[i]) out.px[i] = ground_.px[i] as number;
  return out;
}

/** A head in a box of 10 × 9 at x = 4, with hair and hat. */
function face(
  look: Look,
  view: View,
  put: (c: Colour, x: number, y: number, w: number, h: number) => void,
  y: number,
  closed: boolean,
): void {
  const { skin, hair, style, hat, hatColour } = look;
  const dim = shade(hair, 0.8);
  const bright = shade(hair, 1.22);
  put(skin, 4, y + 2, 10, 7);
  put(skin, 5, y + 1, 8, 9);
  put(shade(skin, 0.9), 5, y + 9, 8, 1);
  const eye = (x: number): void => (closed ? put(shade(skin, 0.55), x, y + 6, 2, 1) : put(INK, x, y + 5, 1, 2));
  if (view === "down") {
    eye(closed ? 5 : 6);
    eye(11);
    put(mixCheek(skin), 5, y + 7, 1, 1);
    put(mixCheek(skin), 12, y + 7, 1, 1);
    put(shade(skin, 0.72), 8, y + 8, 2, 1);
  } else if (view === "side") {
    eye(6);
    put(mixCheek(skin), 6, y + 7, 1, 1);
    put(skin, 3, y + 6, 1, 1);
  }
  if (look.beard && view === "down") {
    put(hair, 5, y + 8, 8, 2);
    put(shade(skin, 0.7), 8, y + 8, 2, 1);
    put(hair, 4, y + 6, 1, 3);
    put(hair, 13, y + 6, 1, 3);
  } else if (look.beard && view === "side") put(hair, 4, y + 8, 6, 2);
  if (style !== "bald") {
    put(hair, 5, y - 1, 8, 3);
    put(hair, 4, y, 10, 3);
    put(bright, 6, y - 1, 4, 1);
    if (view === "up") {
      put(hair, 4, y, 10, style === "crop" ? 6 : 8);
      put(dim, 5, y + 7, 8, 1);
      put(bright, 6, y, 5, 1);
      if (style === "long") put(hair, 4, y + 6, 10, 7);
      if (style === "bob") put(hair, 4, y + 6, 10, 4);
    } else if (view === "down") {
      put(hair, 4, y + 2, 2, 3);
      put(hair, 12, y + 2, 2, 3);
      if (style !== "crop") put(hair, 6, y + 3, 3, 1);
      if (style === "bob" || style === "long") {
        put(hair, 3, y + 2, 2, style === "long" ? 11 : 7);
        put(hair, 13, y + 2, 2, style === "long" ? 11 : 7);
      }
    } else {
      put(hair, 8, y + 1, 6, style === "crop" ? 4 : 6);
      put(hair, 5, y + 2, 3, 1);
      if (style === "bob" || style === "long") put(hair, 9, y + 3, 5, style === "long" ? 9 : 6);
    }
    if (style === "bun") {
      put(dim, 7, y - 3, 4, 2);
      put(hair, 7, y - 3, 3, 1);
    }
    if (style === "curly") {
      for (const x of [3, 6, 9, 12]) put(hair, x, y - 2 + (x % 2), 3, 3);
      if (view !== "side") {
        put(hair, 3, y + 2, 2, 4);
        put(hair, 13, y + 2, 2, 4);
      }
      put(bright, 7, y - 2, 2, 1);
    }
    if (style === "tails") {
      if (view === "side") put(hair, 13, y + 3, 3, 6);
      else {
        put(hair, 2, y + 3, 2, 6);
        put(hair, 14, y + 3, 2, 6);
        put(0xe8546b, 2, y + 3, 2, 1);
        put(0xe8546b, 14, y + 3, 2, 1);
      }
    }
  } else if (view !== "down") put(hair, view === "up" ? 4 : 9, y + 4, view === "up" ? 10 : 5, 4);
  else {
    put(hair, 4, y + 4, 1, 3);
    put(hair, 13, y + 4, 1, 3);
    put(shade(skin, 1.2), 7, y + 1, 3, 1);
  }
  if (look.glasses && !closed) {
    const rim = 0x6b5a78;
    const lens = 0xeaf4fa;
    if (view === "down") {
      for (const x of [5, 10]) {
        put(rim, x, y + 4, 3, 1);
        put(lens, x, y + 5, 3, 2);
      }
      put(rim, 8, y + 5, 2, 1);
      put(INK, 6, y + 5, 1, 2);
      put(INK, 11, y + 5, 1, 2);
    } else if (view === "side") {
      put(rim, 5, y + 4, 6, 1);
      put(lens, 5, y + 5, 3, 2);
      put(INK, 6, y + 5, 1, 2);
    }
  }
  if (closed) return;
  const c = hatColour;
  switch (hat) {
    case "cap":
      put(c, 4, y - 1, 10, 3);
      put(shade(c, 1.15), 5, y - 2, 8, 2);
      put(shade(c, 0.72), view === "side" ? 1 : 3, y + 2, view === "side" ? 6 : view === "up" ? 0 : 12, 1);
      break;
    case "beanie":
      put(c, 4, y - 1, 10, 4);
      put(shade(c, 1.2), 5, y - 2, 8, 2);
      put(shade(c, 0.8), 4, y + 2, 10, 1);
      put(0xfff7ee, 8, y - 4, 2, 2);
      break;
    case "chef":
      put(c, 4, y, 10, 2);
      put(c, 3, y - 4, 12, 4);
      put(0xe4dfe4, 4, y - 1, 10, 1);
      put(0xe4dfe4, 7, y - 4, 1, 3);
      put(0xe4dfe4, 11, y - 4, 1, 3);
      break;
    case "nurse":
      put(c, 5, y - 2, 8, 3);
      put(0xe0523f, 8, y - 2, 2, 3);
      put(0xe0523f, 7, y - 1, 4, 1);
      break;
    case "straw":
      put(c, 5, y - 3, 8, 3);
      put(0xc95b4b, 5, y, 8, 1);
      put(shade(c, 0.9), 1, y + 1, 16, 2);
      put(c, 2, y + 1, 14, 1);
      break;
    case "kerchief":
      put(c, 4, y - 1, 10, 4);
      put(shade(c, 0.85), 4, y + 2, 10, 1);
      if (view === "up") put(c, 6, y + 3, 6, 3);
      if (view === "side") put(c, 12, y + 3, 3, 3);
      break;
    case "helmet":
      put(c, 4, y - 1, 10, 3);
      put(c, 5, y - 2, 8, 1);
      put(shade(c, 1.3), 8, y - 3, 2, 4);
      put(shade(c, 0.8), 3, y + 2, 12, 1);
      break;
    case "headphones":
      put(c, 4, y - 2, 10, 1);
      put(c, 3, y - 1, 2, 4);
      put(c, 13, y - 1, 2, 4);
      if (view !== "side") {
        put(0xff6fae, 2, y + 3, 2, 4);
        put(0xff6fae, 14, y + 3, 2, 4);
      } else put(0xff6fae, 9, y + 3, 3, 4);
      break;
    case "top":
      put(c, 5, y - 6, 8, 6);
      put(shade(c, 0.75), 3, y, 12, 1);
      put(0xc95b4b, 5, y - 1, 8, 1);
      break;
    case "hood":
      put(shade(c, 1.15), 5, y - 3, 8, 2);
      put(c, 4, y - 2, 10, 3);
      if (view === "up") put(c, 3, y, 12, 10);
      else if (view === "side") {
        put(c, 6, y, 9, 2);
        put(c, 9, y + 1, 6, 9);
      } else {
        put(c, 3, y, 2, 9);
        put(c, 13, y, 2, 9);
        put(shade(c, 0.8), 5, y + 1, 8, 1);
      }
      break;
    case "none":
  }
}

const UMBRELLAS: readonly Colour[] = [0xe0523f, 0x4b8fc4, 0xf0ad3c, 0x8c6bc0, 0x4da38f, 0xe07aa8];

/** An open umbrella of the nth colour, held up by a hand under its stick. */
export function drawUmbrella(n: number): Picture {
  const p = picture(26, 24);
  const c = UMBRELLAS[n % UMBRELLAS.length] as Colour;
  rect(p, c, 12, 0, 1, 2);
  for (let j = 0; j < 10; j++) {
    const half = Math.round(11 * Math.sqrt(1 - ((9 - j) / 10) ** 2));
    for (let i = -half; i <= half; i++) {
      const rib = Math.round((i / Math.max(1, half)) * 2.4);
      // Points between the ribs hang lower.
      if (j === 9 && Math.abs((i / 11) * 2.4 - rib) > 0.36) continue;
      rect(p, shade(c, [1.25, 1.1, 1, 0.86, 0.74][rib + 2] as number), 12 + i, 2 + j, 1, 1);
    }
  }
  outline(p);
  rect(p, INK, 12, 12, 1, 10);
  rect(p, INK, 10, 21, 2, 1);
  return p;
}

const mixCheek = (skin: Colour): Colour =>
  shade(skin, 0.93) === skin
    ? skin
    : (((skin >> 16) & 255) << 16) | (Math.round(((skin >> 8) & 255) * 0.78) << 8) | Math.round((skin & 255) * 0.8);

/** Head on the pillow and a hump under the blanket, to lie on a bed of 1 × 2 tiles whose foot is the frame's. */
function lying(look: Look): Picture {
  const p = picture(WIDTH, HEIGHT + 8);
  const put = (c: Colour, x: number, y: number, w: number, h: number): void => rect(p, c, x + 2, y, w, h);
  face(look, "down", put, 5, true);
  outline(p);
  // The hump is light and shade alone: the blanket is the bed's own.
  rect(p, 0xfff7ee, 4, 14, 14, 3);
  veil(p, 0xffffff, 0.22, 6, 17, 5, 13);
  veil(p, 0x1d1730, 0.2, 15, 17, 2, 15);
  veil(p, 0x1d1730, 0.12, 12, 17, 3, 14);
  return p;
}

/** Head and shoulders on a soft ground, 28 × 28. */
export function drawPortrait(look: Look, ground: Colour): Picture {
  const p = picture(28, 28);
  rect(p, ground, 0, 0, 28, 28);
  rect(p, shade(ground, 1.25), 0, 0, 28, 9);
  const person = picture(28, 28);
  const put = (c: Colour, x: number, y: number, w: number, h: number): void => rect(person, c, x + 5, y, w, h);
  const top = look.coat || look.top;
  put(top, 2, 19, 14, 9);
  put(top, 1, 21, 16, 7);
  put(shade(top, 1.15), 3, 19, 12, 1);
  put(shade(top, 0.8), 2, 26, 14, 2);
  put(shade(look.skin, 0.86), 7, 17, 4, 3);
  if (look.coat) {
    put(look.top, 7, 19, 4, 9);
    put(shade(look.coat, 0.8), 6, 20, 1, 8);
    put(shade(look.coat, 0.8), 11, 20, 1, 8);
  }
  if (look.apron) {
    put(look.apron, 5, 22, 8, 6);
    put(look.apron, 5, 19, 1, 4);
    put(look.apron, 12, 19, 1, 4);
  }
  if (look.scarf) put(look.scarf, 5, 18, 8, 3);
  face(look, "down", put, 8, false);
  outline(person);
  for (let i = 0; i < person.px.length; i++) if (person.px[i]) p.px[i] = person.px[i] as number;
  return p;
}
