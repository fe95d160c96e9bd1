// The light over the scene: a small picture the view is multiplied with, dark at night and bright round lamps.

import * as Phaser from "phaser";
import { type Colour, mix, multiply } from "./art/paint";
import type { Light } from "./art/sky";
import { type Board, DEEP, type View } from "./board";

export interface Lamp {
  readonly x: number;
  readonly y: number;
  readonly r: number;
  readonly colour: Colour;
  /** 0 … 1, at night. */
  strength: number;
  readonly flickers: boolean;
}

/** A world pixel is a quarter of a pixel of the picture. */
const COARSE = 4;
/** What the light is multiplied with outside a lens. */
const DIM = 0x8f92b8;

const css = (c: Colour, alpha: number): string => `rgba(${c >> 16},${(c >> 8) & 255},${c & 255},${alpha})`;

const discs = new Map<Colour, HTMLCanvasElement>();

function discOf(colour: Colour): HTMLCanvasElement {
  let disc = discs.get(colour);
  if (!disc) {
    disc = document.createElement("canvas");
    disc.width = disc.height = 64;
    const context = disc.getContext("2d") as CanvasRenderingContext2D;
    const gradient = context.createRadialGradient(32, 32, 0, 32, 32, 32);
    const warm = mix(colour, 0xffffff, 0.28);
    gradient.addColorStop(0, css(warm, 0.95));
    gradient.addColorStop(0.35, css(colour, 0.55));
    gradient.addColorStop(0.7, css(colour, 0.17));
    gradient.addColorStop(1, css(colour, 0));
    context.fillStyle = gradient;
    context.fillRect(0, 0, 64, 64);
    discs.set(colour, disc);
  }
  return disc;
}

interface Shine {
  readonly lamps: readonly Lamp[];
  /** Rooms one looks into, with how open they are. */
  readonly rooms: readonly {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
    readonly open: number;
  }[];
  readonly faces: readonly { readonly x: number; readonly y: number }[];
}

/** Fills the picture for a view that begins at `x`, `y` of the world. */
function drawLight(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  ambient: Colour,
  lamp: number,
  shine: Shine,
  now: number,
): void {
  const { width, height } = context.canvas;
  context.globalCompositeOperation = "source-over";
  context.globalAlpha = 1;
  context.fillStyle = css(ambient, 1);
  context.fillRect(0, 0, width, height);
  for (const room of shine.rooms) {
    context.globalAlpha = room.open;
    context.fillStyle = css(mix(mix(ambient, 0xffffff, 0.78), 0xffd9a8, lamp * 0.75), 1);
    context.fillRect((room.x - x) / COARSE, (room.y - y) / COARSE, room.w / COARSE, room.h / COARSE);
  }
  context.globalCompositeOperation = "lighter";
  // Lamps add little where it is still light, or grass beside them would turn to poison.
  const glare = Math.min(1, 1.25 - ((((ambient >> 16) & 255) + ((ambient >> 8) & 255) + (ambient & 255)) / 765) * 0.95);
  if (lamp > 0.02) {
    for (const one of shine.lamps) {
      const left = (one.x - one.r - x) / COARSE;
      const up = (one.y - one.r - y) / COARSE;
      const size = (one.r * 2) / COARSE;
      if (one.strength <= 0 || left > width || up > height || left + size < 0 || up + size < 0) continue;
      context.globalAlpha = Math.min(
        1,
        glare * lamp * one.strength * (one.flickers ? 0.9 + 0.1 * Math.sin(now / 160 + one.x) : 1),
      );
      context.drawImage(discOf(one.colour), left, up, size, size);
    }
  }
  context.globalAlpha = 0.9;
  for (const face of shine.faces)
    context.drawImage(
      discOf(0xfff0c8),
      (face.x - 26 - x) / COARSE,
      (face.y - 34 - y) / COARSE,
      52 / COARSE,
      52 / COARSE,
    );
  context.globalAlpha = 1;
}

export interface Dark {
  /** Draws the light of an hour; what shines is asked for only when the picture is drawn anew. */
  update(view: View, now: number, light: Light, dim: boolean, shine: () => Omit<Shine, "lamps">): void;
  /** Something that shines has changed. */
  stale(): void;
}

export function buildDark({ scene, lamps, calm }: Board): Dark {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 8;
  const texture = scene.textures.addCanvas("light", canvas) as Phaser.Textures.CanvasTexture;
  texture.setFilter(Phaser.Textures.FilterMode.LINEAR);
  const image = scene.add
    .image(0, 0, "light")
    .setOrigin(0)
    .setScale(COARSE)
    .setBlendMode(Phaser.BlendModes.MULTIPLY)
    .setDepth(DEEP.light)
    .setVisible(false);
  let drawn = 0;

  return {
    update(view, now, light, dim, shine) {
      const ambient = dim ? multiply(light.ambient, DIM) : light.ambient;
      const bright = ambient === 0xffffff && light.lamp < 0.02;
      image.setVisible(!bright);
      if (bright) return;
      const w = Math.ceil(view.width / COARSE) + 4;
      const h = Math.ceil(view.height / COARSE) + 4;
      if (texture.width !== w || texture.height !== h) {
        texture.setSize(w, h);
        texture.setFilter(Phaser.Textures.FilterMode.LINEAR);
        image.setTexture("light");
        image.setSizeToFrame();
        drawn = 0;
      }
      const x = (Math.floor(view.x / COARSE) - 2) * COARSE;
      const y = (Math.floor(view.y / COARSE) - 2) * COARSE;
      if (image.x === x && image.y === y && now - drawn < 90) return;
      drawn = now;
      image.setPosition(x, y);
      drawLight(texture.context, x, y, ambient, light.lamp, { lamps, ...shine() }, calm ? 0 : now);
      texture.refresh();
    },
    stale() {
      drawn = 0;
    },
  };
}
