// Houses: drawn when they come into view, with a roof that lifts where one looks in.

import { ABOVE, drawInside, drawOutside, EAVES } from "./art/house";
import { cut, type Picture, picture } from "./art/paint";
import { type Board, DEEP, type Image, type View } from "./board";
import { type Building, TILE } from "./layout/map";
import type { Lamp } from "./light";
import type { Scenery } from "./scenery";

/** How bright windows and signs make the ground before a house. */
const LIT_FRONT = 0.62;

export interface House {
  readonly b: Building;
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
  /** 1 closed … 0 lifted. */
  roof: number;
  /** In view. */
  near: boolean;
  /** The roof is higher or lower than a frame ago. */
  moved: boolean;
}

interface Raised extends House {
  drawn: { readonly day: Image; readonly lit: Image } | null;
  inside: Image | null;
  /** Of the front: out while one looks in. */
  readonly lamps: Lamp[];
}

export interface Houses {
  readonly all: readonly House[];
  /** By the id of the house or of one of its rooms. */
  readonly byArea: ReadonlyMap<string, House>;
  at(x: number, y: number): House | null;
  /** Lifts the roofs of `open` and lowers the others. Whether a roof moved. */
  update(view: View, ms: number, lamp: number, open: ReadonlySet<House>): boolean;
}

export function buildHouses(board: Board, scenery: Scenery, smokeAt: (x: number, y: number) => void): Houses {
  const { map, theme, calm, lamps, add } = board;
  const letters = writer();
  const index = new Int16Array(map.width * map.height).fill(-1);
  const all: Raised[] = map.buildings.map((b, i) => {
    for (let y = b.rect.y; y < b.rect.y + b.rect.h; y++)
      index.fill(i, y * map.width + b.rect.x, y * map.width + b.rect.x + b.rect.w);
    return {
      b,
      x: b.rect.x * TILE,
      y: b.rect.y * TILE,
      w: b.rect.w * TILE,
      h: b.rect.h * TILE,
      roof: b.open ? 0 : 1,
      near: false,
      moved: false,
      drawn: null,
      inside: null,
      lamps: [],
    };
  });
  const byArea = new Map<string, House>();
  for (const house of all)
    for (const id of [house.b.id, ...house.b.rooms.map(({ area }) => area)]) byArea.set(id, house);
  let begun = false;

  function raise(house: Raised): NonNullable<Raised["drawn"]> {
    const { b } = house;
    const outside = drawOutside(b, theme, letters);
    const left = house.x - EAVES;
    const up = house.y - ABOVE;
    // A tree that stands before a window takes its light away.
    const front = b.rect.y + b.rect.h;
    for (const plant of scenery.standing(b.rect.x - 2, front, b.rect.x + b.rect.w + 1, front + 3))
      cut(outside.lit, plant.picture, plant.x - left, plant.y - up, plant.flip);
    const day = add(`house ${b.id}`, () => outside.day, left, up)
      .setOrigin(0)
      .setDepth(house.y + house.h - 2);
    const lit = add(`house ${b.id} lit`, () => outside.lit, left, up)
      .setOrigin(0)
      .setDepth(DEEP.lit)
      .setAlpha(0);
    if (b.style !== "boat")
      add(`house shade ${house.w} ${house.h}`, () => shadow(house), house.x + 2, house.y + 4)
        .setOrigin(0)
        .setDepth(DEEP.flat - 1)
        .setAlpha(0.22);
    for (const { x, y, r, colour } of outside.lights) {
      const lamp: Lamp = { x: left + x, y: up + y, r, colour, strength: LIT_FRONT, flickers: false };
      lamps.push(lamp);
      house.lamps.push(lamp);
      if (theme.neon && b.style !== "boat") scenery.streak(left + x, house.y + house.h + 5, colour);
    }
    if (outside.smoke && (!theme.neon || b.roof % 3 === 0)) smokeAt(left + outside.smoke.x, up + outside.smoke.y);
    return (house.drawn = { day, lit });
  }

  return {
    all,
    byArea,
    at(x, y) {
      const i = Math.floor(x / TILE);
      const j = Math.floor(y / TILE);
      return i < 0 || j < 0 || i >= map.width || j >= map.height
        ? null
        : (all[index[j * map.width + i] as number] ?? null);
    },
    update(view, ms, lamp, open) {
      // What is in sight at first is drawn at once, later one house a frame.
      let budget = begun ? 1 : 99;
      let moved = false;
      begun = true;
      for (const house of all) {
        house.near =
          house.x < view.right + 40 &&
          house.x + house.w > view.x - 40 &&
          house.y - ABOVE < view.bottom + 20 &&
          house.y + house.h > view.y - 20;
        const wanted = house.b.open || open.has(house) ? 0 : 1;
        house.moved = house.roof !== wanted;
        if (house.moved) {
          house.roof += (wanted - house.roof) * (calm ? 1 : Math.min(1, ms / 130));
          if (Math.abs(house.roof - wanted) < 0.02) house.roof = wanted;
          moved = true;
        }
        const drawn = house.drawn ?? (house.near && budget-- > 0 ? raise(house) : null);
        if (!drawn) continue;
        const lifted = house.roof < 0.99;
        if (lifted)
          house.inside ??= add(`inside ${house.b.id}`, () => drawInside(house.b, theme), house.x, house.y)
            .setOrigin(0)
            .setDepth(DEEP.inside);
        house.inside?.setVisible(house.near && lifted);
        drawn.day
          .setVisible(house.near && house.roof > 0.02)
          .setAlpha(house.roof)
          .setY(house.y - ABOVE - (1 - house.roof) * 10);
        drawn.lit
          .setVisible(house.near && house.roof > 0.02 && lamp > 0.04)
          .setAlpha(house.roof * Math.min(1, lamp * 1.5));
        if (house.moved) for (const one of house.lamps) one.strength = LIT_FRONT * house.roof;
      }
      return moved;
    },
  };
}

function shadow(house: House): Picture {
  const p = picture(house.w + 20, house.h);
  for (let j = Math.floor(p.h * 0.25); j < p.h; j++) {
    const out = Math.min(14, (j - p.h * 0.25) * 0.4) - (j > p.h - 9 ? j - p.h + 9 : 0);
    p.px.fill(0xff33222b, j * p.w, j * p.w + Math.min(p.w, Math.round(house.w + out)));
  }
  return p;
}

/** Letters of the pixel font as hard pixels. */
function writer(): (text: string) => Picture {
  const canvas = document.createElement("canvas");
  const context = canvas.getContext("2d", { willReadFrequently: true });
  return (text) => {
    if (!context) return picture(1, 1);
    // Twelve pixels is the grid of this font: its letters are then eleven whole pixels high.
    const font = '12px Galmuri11, "Noto Sans KR", sans-serif';
    context.font = font;
    canvas.width = Math.max(1, Math.ceil(context.measureText(text).width));
    canvas.height = 20;
    context.font = font;
    context.textBaseline = "alphabetic";
    context.fillText(text, 0, 14);
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const inked = (y: number): boolean =>
      Array.from({ length: canvas.width }, (_, x) => data[(y * canvas.width + x) * 4 + 3] as number).some(
        (alpha) => alpha > 110,
      );
    const rows = Array.from({ length: canvas.height }, (_, y) => y).filter(inked);
    const top = rows[0] ?? 0;
    const p = picture(canvas.width, Math.min(13, (rows.at(-1) ?? 0) - top + 1));
    for (let i = 0; i < p.px.length; i++)
      if ((data[(top * canvas.width + i) * 4 + 3] as number) > 110) p.px[i] = 0xffffffff;
    return p;
  };
}
