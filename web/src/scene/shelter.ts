// Where it does not rain: under trees, awnings and eaves. Pure; where somebody is in the simulation stays as it is.

import type { Placed, Plant, Point, VillageMap } from "./layout/map";

export const rains = (sky: string): boolean => sky === "rain" || sky === "storm";

const CROWNS = new Set<Plant["sprite"]>(["oak", "pine", "birch", "blossom"]);
const ROOFS = new Set<Placed["sprite"]>(["tree", "awning", "stall", "pavilion", "tent"]);

const known = new WeakMap<VillageMap, ReadonlySet<number>>();

/** Tiles (row × width + column) on which one stays dry without a roof over it. */
export function shelterOf(map: VillageMap): ReadonlySet<number> {
  let tiles = known.get(map);
  if (!tiles) {
    const found = new Set<number>();
    /** Beside and before something that covers `w` tiles of a row. */
    const under = (x: number, y: number, w: number): void => {
      for (const at of [y * map.width + x - 1, y * map.width + x + w]) found.add(at);
      for (let i = 0; i < w; i++) found.add((y + 1) * map.width + x + i);
    };
    for (const { sprite, x, y } of map.plants) if (CROWNS.has(sprite)) under(x, y, 1);
    for (const { sprite, at, w, h } of map.placed) if (ROOFS.has(sprite)) under(at.x, at.y + h - 1, w);
    for (const { rect } of map.buildings)
      for (let i = 0; i < rect.w; i++) found.add((rect.y + rect.h) * map.width + rect.x + i);
    known.set(map, (tiles = found));
  }
  return tiles;
}

export const sheltered = (map: VillageMap, { x, y }: Point): boolean =>
  shelterOf(map).has(Math.round(y) * map.width + Math.round(x));
