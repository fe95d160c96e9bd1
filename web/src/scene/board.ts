// What every part of the scene draws with and on.

import type * as Phaser from "phaser";
import type { Picture } from "./art/paint";
import type { Theme } from "./art/theme";
import type { Atlas } from "./atlas";
import type { VillageMap } from "./layout/map";
import type { Lamp } from "./light";

/** Layers above and below what is sorted by the foot. */
export const DEEP = {
  ground: -3000,
  flat: -2500,
  inside: -2000,
  rug: -1900,
  above: 1e6,
  light: 1.1e6,
  lit: 1.2e6,
  air: 1.3e6,
  lens: 1.4e6,
} as const;

export type Image = Phaser.GameObjects.Image;
export type View = Phaser.Geom.Rectangle;

export interface Board {
  readonly scene: Phaser.Scene;
  readonly map: VillageMap;
  readonly theme: Theme;
  /** Nothing moves but people. */
  readonly calm: boolean;
  readonly atlas: Atlas;
  /** All that shines at night. */
  readonly lamps: Lamp[];
  /** A drawing of the atlas, made on first use, put into the scene. */
  add(key: string, draw: () => Picture, x: number, y: number): Image;
}
