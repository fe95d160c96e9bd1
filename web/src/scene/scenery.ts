// The ground and what grows and stands on it: drawn where the view comes, swaying in the wind, lit at night.

import * as Phaser from "phaser";
import { bakeGround } from "./art/ground";
import { chance, ellipse, glow, type Picture, picture } from "./art/paint";
import { type Drawn, drawPlant, UPRIGHT } from "./art/plants";
import { drawThing } from "./art/things";
import { imageOf } from "./atlas";
import { type Board, DEEP, type Image, type View } from "./board";
import { type Plant, TILE } from "./layout/map";

const CHUNK = 256;
const CELL = 256;

interface Cell {
  readonly x: number;
  readonly y: number;
  readonly make: (() => Image)[];
  images: Image[] | null;
  shown: boolean;
}

export interface Scenery {
  /** Light lying on wet ground. */
  streak(x: number, y: number, colour: number): Image;
  /** The drawings of plants that stand in an area of tiles, with their upper left corners. */
  standing(
    left: number,
    top: number,
    right: number,
    bottom: number,
  ): { readonly picture: Picture; readonly x: number; readonly y: number; readonly flip: boolean }[];
  update(view: View, now: number, lamp: number, wind: number): void;
}

export function buildScenery({ scene, map, theme, calm, lamps, add }: Board): Scenery {
  const width = map.width * TILE;
  const height = map.height * TILE;
  const chunks = new Map<string, Image>();
  const cells = new Map<string, Cell>();
  const swaying: Image[] = [];
  const shining: { image: Image; strength: number }[] = [];
  const drawings = new Map<string, Drawn>();

  function groundAt(view: View): void {
    // What is in sight at first is drawn at once, later two pieces a frame.
    let budget = chunks.size ? 2 : 99;
    for (let y = Math.max(0, Math.floor((view.y - 32) / CHUNK)); y * CHUNK < Math.min(height, view.bottom + 32); y++) {
      for (let x = Math.max(0, Math.floor((view.x - 32) / CHUNK)); x * CHUNK < Math.min(width, view.right + 32); x++) {
        const key = `ground ${x} ${y}`;
        if (chunks.has(key)) continue;
        if (budget-- <= 0) return;
        const w = Math.min(CHUNK, width - x * CHUNK);
        const h = Math.min(CHUNK, height - y * CHUNK);
        const canvas = document.createElement("canvas");
        canvas.width = w;
        canvas.height = h;
        canvas.getContext("2d")?.putImageData(imageOf(bakeGround(map, theme, x * CHUNK, y * CHUNK, w, h)), 0, 0);
        scene.textures.addCanvas(key, canvas);
        chunks.set(
          key,
          scene.add
            .image(x * CHUNK, y * CHUNK, key)
            .setOrigin(0)
            .setDepth(DEEP.ground),
        );
      }
    }
  }

  function inCell(x: number, y: number, make: () => Image): void {
    const key = `${Math.floor(x / CELL)} ${Math.floor(y / CELL)}`;
    let cell = cells.get(key);
    if (!cell)
      cells.set(
        key,
        (cell = {
          x: Math.floor(x / CELL) * CELL,
          y: Math.floor(y / CELL) * CELL,
          make: [],
          images: null,
          shown: false,
        }),
      );
    cell.make.push(make);
  }

  function cellsIn(view: View): void {
    for (const cell of cells.values()) {
      const shown =
        cell.x < view.right + 80 &&
        cell.x + CELL > view.x - 80 &&
        cell.y < view.bottom + 120 &&
        cell.y + CELL > view.y - 80;
      if (shown === cell.shown) continue;
      cell.shown = shown;
      if (!cell.images) cell.images = cell.make.map((make) => make());
      else
        for (const image of cell.images)
          if (shown) image.addToDisplayList();
          else image.removeFromDisplayList();
    }
  }

  function lit(image: Image, strength: number): Image {
    shining.push({ image: image.setAlpha(0), strength });
    return image;
  }

  function streak(x: number, y: number, colour: number): Image {
    const draw = (): Picture => {
      const p = picture(14, 44);
      for (let j = 0; j < 44; j++) {
        const half = Math.round(3 + chance(j, 5) * 4 * (1 - j / 60));
        const alpha = Math.round(150 * (1 - j / 44) * (0.5 + 0.5 * chance(9, Math.floor(j / 2))));
        for (let i = 7 - half; i < 7 + half; i++)
          p.px[j * 14 + i] = ((alpha << 24) | ((colour & 255) << 16) | (colour & 0xff00) | (colour >> 16)) >>> 0;
      }
      return p;
    };
    return lit(
      add(`streak ${colour}`, draw, x, y)
        .setOrigin(0.5, 0)
        .setBlendMode(Phaser.BlendModes.ADD)
        .setDepth(DEEP.light + 1),
      0.3,
    );
  }

  function shadow(r: number): Picture {
    const p = picture(r * 2 + 2, r);
    ellipse(p, 0x1d1730, r, r / 2 - 0.5, r, r / 2 - 1);
    return p;
  }

  const fences = new Set(map.plants.filter((plant) => plant.sprite === "fence").map(({ x, y }) => y * map.width + x));

  function drawnOf(plant: Plant): {
    readonly key: string;
    readonly drawn: Drawn;
    readonly x: number;
    readonly y: number;
  } {
    const at = plant.y * map.width + plant.x;
    const runsDown =
      plant.sprite === "fence" &&
      !fences.has(at - 1) &&
      !fences.has(at + 1) &&
      (fences.has(at - map.width) || fences.has(at + map.width));
    const v = runsDown ? UPRIGHT : plant.sprite === "flower" ? plant.variant % theme.petals.length : plant.variant % 4;
    const key = `plant ${plant.sprite} ${v}`;
    let drawn = drawings.get(key);
    if (!drawn) {
      const { sprite } = plant;
      drawn =
        sprite === "bench" || sprite === "barrel"
          ? { ...drawThing(sprite, sprite === "bench" ? 2 : 1, 1, v, "", theme), shadow: sprite === "bench" ? 13 : 8 }
          : drawPlant(sprite, v, theme);
      drawings.set(key, drawn);
    }
    const wild = drawn.sways || drawn.flat || plant.sprite === "bush" || plant.sprite === "rock";
    const x = plant.x * TILE + 8 + (wild ? Math.round((chance(plant.x, plant.y) - 0.5) * 6) : 0);
    const y = plant.y * TILE + 15 + (wild ? Math.round((chance(plant.y, plant.x + 3) - 0.5) * 4) : 0);
    return { key, drawn, x, y };
  }

  for (const plant of map.plants) {
    const { key, drawn, x, y } = drawnOf(plant);
    if (drawn.shadow)
      inCell(x, y, () =>
        add(`shade ${drawn.shadow}`, () => shadow(drawn.shadow), x + 2, y - 1)
          .setDepth(DEEP.flat)
          .setAlpha(0.28),
      );
    inCell(x, y, () => {
      const image = add(key, () => drawn.picture, x, y)
        .setOrigin(0.5, drawn.foot / drawn.picture.h)
        .setDepth(drawn.flat ? DEEP.flat : y);
      if (plant.variant & 4 && !drawn.lit) image.setFlipX(true);
      if (drawn.sways && !calm) swaying.push(image);
      return image;
    });
    const { lit: shines, light } = drawn;
    if (shines)
      inCell(x, y, () =>
        lit(
          add(`${key} lit`, () => shines, x, y)
            .setOrigin(0.5, drawn.foot / drawn.picture.h)
            .setDepth(DEEP.lit),
          1,
        ),
      );
    if (light) {
      const size = light.r > 40 ? 48 : 24;
      lamps.push({
        x: x + light.x,
        y: y + light.y + 14,
        r: light.r * 1.5,
        colour: light.colour,
        strength: 1,
        flickers: false,
      });
      inCell(x, y, () =>
        lit(
          add(`glow ${size} ${light.colour}`, () => glow(size, light.colour), x + light.x, y + light.y)
            .setBlendMode(Phaser.BlendModes.ADD)
            .setDepth(DEEP.lit),
          0.34,
        ),
      );
      if (theme.neon) inCell(x, y, () => streak(x + light.x, y + 4, light.colour));
    }
  }

  return {
    streak,
    standing(left, top, right, bottom) {
      return map.plants
        .filter((plant) => plant.x >= left && plant.x <= right && plant.y >= top && plant.y <= bottom)
        .map((plant) => ({ plant, ...drawnOf(plant) }))
        .filter(({ drawn }) => !drawn.flat)
        .map(({ plant, drawn, x, y }) => ({
          picture: drawn.picture,
          x: Math.round(x - drawn.picture.w / 2),
          y: Math.round(y - drawn.foot),
          flip: (plant.variant & 4) > 0 && !drawn.lit,
        }));
    },
    update(view, now, lamp, wind) {
      groundAt(view);
      cellsIn(view);
      for (const { image, strength } of shining)
        if (image.displayList) image.setAlpha(lamp * strength).setVisible(lamp > 0.03);
      if (calm) return;
      for (let i = 0; i < swaying.length; i++) {
        const tree = swaying[i] as Image;
        if (tree.displayList)
          tree.setRotation(
            Math.sin(now / (900 - wind * 120) + i * 1.7 + tree.x * 0.02) * 0.011 * wind + (wind > 2 ? 0.012 : 0),
          );
      }
    },
  };
}
