// Paths from door to door: each new one is the cheapest way to a path that is there, so that they join like trodden ways.

import type { Ground, Point, Rect } from "./map";

/** The land while a village is built on it. */
export interface Land {
  readonly width: number;
  readonly height: number;
  readonly ground: Ground[];
  /** What stops a path: houses and the edge of the world. */
  readonly built: Uint8Array;
  /** Tiles of open places, which paths may end at and otherwise go around. */
  readonly core: Uint8Array;
  /** Tiles every door is joined to. */
  readonly network: Uint8Array;
  /** Kept between searches. */
  scratch?: { readonly best: Int32Array; readonly came: Int32Array; readonly search: { base: number } };
}

const PLAIN = 10;
const BESIDE_WALL = 6;
const TURN = 7;
const ACROSS_WATER = 45;
const THROUGH_PLACE = 14;
const STEPS = [
  [0, 1],
  [1, 0],
  [0, -1],
  [-1, 0],
] as const;

/** The cheapest way from one of some tiles to the nearest tile of the network, both included; null if there is none. */
export function wayToNetwork(land: Land, ...from: readonly Point[]): Point[] | null {
  const { width, height, ground, built, core, network } = land;
  // States are tiles with the direction one came in, so that turns have a price; costs are small whole numbers, so that the
  // queue is a row of buckets.
  const { best, came, search } = (land.scratch ??= {
    best: new Int32Array(width * height * 4),
    came: new Int32Array(width * height * 4),
    search: { base: 1 },
  });
  // Costs of earlier searches lie below `base`, so that nothing is cleared between searches.
  const { base } = search;
  const buckets: number[][] = [];
  const push = (state: number, cost: number, before: number): void => {
    const known = best[state] as number;
    if (known >= base && known <= base + cost) return;
    best[state] = base + cost;
    came[state] = before;
    (buckets[cost] ??= []).push(state);
  };
  for (const { x, y } of from) push((y * width + x) * 4, 0, -1);
  for (let cost = 0; cost < buckets.length; cost++) {
    const bucket = buckets[cost];
    if (!bucket) continue;
    for (const state of bucket) {
      if ((best[state] as number) < base + cost) continue;
      const tile = state >> 2;
      if (network[tile]) {
        const way: Point[] = [];
        search.base += buckets.length;
        for (let at = state; at >= 0; at = came[at] as number)
          way.push({ x: (at >> 2) % width, y: Math.floor((at >> 2) / width) });
        return way.reverse();
      }
      const x = tile % width;
      const y = (tile - x) / width;
      for (let d = 0; d < 4; d++) {
        const nx = x + (STEPS[d] as readonly [number, number])[0];
        const ny = y + (STEPS[d] as readonly [number, number])[1];
        if (nx < 0 || ny < 0 || nx >= width || ny >= height) continue;
        const next = ny * width + nx;
        if (built[next]) continue;
        let price = PLAIN;
        if (ground[next] === "water") price += ACROSS_WATER;
        if (core[next]) price += THROUGH_PLACE;
        if (built[next - 1] || built[next + 1] || built[next - width] || built[next + width]) price += BESIDE_WALL;
        if (d !== (state & 3)) price += TURN;
        push(next * 4 + d, cost + price, state);
      }
    }
  }
  search.base += buckets.length;
  return null;
}

/** Lays a path, wider than one tile where there is space; water is crossed on planks, and not covered where a path runs along it. */
export function tread(land: Land, way: readonly Point[], wide: number, tile: Ground): void {
  const { width, height, ground, built, core, network } = land;
  let crossing = false;
  const lay = (x: number, y: number, must: boolean): void => {
    if (x < 0 || y < 0 || x >= width || y >= height) return;
    const i = y * width + x;
    const under = ground[i];
    if (must) crossing = under === "water" || under === "planks";
    if (built[i] || (core[i] && !must && under !== "water") || (under === "water" && !crossing)) return;
    if (under === "water") {
      ground[i] = "planks";
    } else if (!core[i] && (under === "grass" || (under === "path" && tile === "street"))) {
      ground[i] = tile;
    }
    network[i] = 1;
  };
  way.forEach(({ x, y }, i) => {
    lay(x, y, true);
    if (wide < 2) return;
    const before = way[Math.max(0, i - 1)] as Point;
    const after = way[Math.min(way.length - 1, i + 1)] as Point;
    if (before.x === after.x || before.y !== after.y) lay(x + 1, y, false);
    if (before.y === after.y || before.x !== after.x) lay(x, y + 1, false);
    if (before.x !== after.x && before.y !== after.y) lay(x + 1, y + 1, false);
    if (wide < 3) return;
    if (before.x === after.x) lay(x - 1, y, false);
    if (before.y === after.y) lay(x, y - 1, false);
  });
}

export function tilesOf(rect: Rect): Point[] {
  const out: Point[] = [];
  for (let y = rect.y; y < rect.y + rect.h; y++) for (let x = rect.x; x < rect.x + rect.w; x++) out.push({ x, y });
  return out;
}

/** Marks the tiles of a rectangle that lie on the land. */
export function stamp(
  { width, height }: Pick<Land, "width" | "height">,
  tiles: Uint8Array,
  { x, y, w, h }: Rect,
  value: 0 | 1,
): void {
  const left = Math.max(0, x);
  const right = Math.min(width, x + w);
  if (right > left)
    for (let row = Math.max(0, y); row < Math.min(height, y + h); row++)
      tiles.fill(value, row * width + left, row * width + right);
}
