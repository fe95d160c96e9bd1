// A canal does not end where its name does: its water runs on, around houses and places, to the edges of the world.

import type { Rect } from "./map";
import { type Land, tilesOf } from "./paths";

/** How far the water's middle keeps from what stands there, and half its width. */
const KEEP = 2;
const HALF = 1;
const STRAIGHT = 10;
const TURN = 25;

export function river(land: Land, water: Rect, houses: readonly Rect[]): void {
  const { width, height, core } = land;
  const shut = new Uint8Array(width * height);
  const shutOff = (x: number, y: number, w: number, h: number): void => {
    for (let j = Math.max(0, y); j < Math.min(height, y + h); j++)
      for (let i = Math.max(0, x); i < Math.min(width, x + w); i++) shut[j * width + i] = 1;
  };
  // Below a house more is kept free: its door and the way before it.
  for (const { x, y, w, h } of houses) shutOff(x - KEEP, y - KEEP, w + 2 * KEEP, h + 2 * KEEP + 1);
  for (let i = 0; i < core.length; i++)
    if (core[i]) shutOff((i % width) - HALF - 1, Math.floor(i / width) - HALF - 1, 2 * HALF + 3, 2 * HALF + 3);
  for (const step of [-1, 1]) {
    const edge = step < 0 ? water.x - HALF - 2 : water.x + water.w + HALF + 1;
    const starts = [...tilesOf({ x: edge, y: water.y + HALF, w: 1, h: Math.max(1, water.h - 2 * HALF) })].filter(
      ({ x, y }) => x > 0 && x < width && !shut[y * width + x],
    );
    const course = flow(
      land,
      shut,
      starts.map(({ x, y }) => y * width + x),
      step,
    );
    if (!course) continue;
    const source = course[0] as number;
    const y = Math.floor(source / width);
    for (let x = step < 0 ? edge : edge - 2; x <= (step < 0 ? edge + 2 : edge); x++) wet(land, x, y);
    for (const tile of course) wet(land, tile % width, Math.floor(tile / width));
  }
}

function wet({ width, height, ground, core, built }: Land, x: number, y: number): void {
  for (let j = y - HALF; j <= y + HALF; j++) {
    for (let i = x - HALF; i <= x + HALF; i++) {
      if (i < 0 || j < 0 || i >= width || j >= height || core[j * width + i]) continue;
      const rim = i < 2 || j < 2 || i >= width - 2 || j >= height - 2;
      if (!built[j * width + i] || rim) ground[j * width + i] = "water";
    }
  }
}

/** The cheapest course to the edge of the world, straight where it can be; null if all ways are shut. */
function flow({ width, height }: Land, shut: Uint8Array, starts: readonly number[], step: number): number[] | null {
  const best = new Map<number, number>();
  const came = new Map<number, number>();
  const buckets: number[][] = [];
  const steps = [step, width, -width] as const;
  const push = (state: number, cost: number, before: number): void => {
    if ((best.get(state) ?? Infinity) <= cost) return;
    best.set(state, cost);
    came.set(state, before);
    (buckets[cost] ??= []).push(state);
  };
  for (const start of starts) push(start * 3, 0, -1);
  for (let cost = 0; cost < buckets.length; cost++) {
    for (const state of buckets[cost] ?? []) {
      if ((best.get(state) as number) < cost) continue;
      const tile = Math.floor(state / 3);
      const x = tile % width;
      const y = Math.floor(tile / width);
      if (x === 0 || y === 0 || x === width - 1 || y === height - 1) {
        const course: number[] = [];
        for (let at = state; at >= 0; at = came.get(at) as number) course.push(Math.floor(at / 3));
        return course.reverse();
      }
      for (let d = 0; d < 3; d++) {
        const next = tile + steps[d as 0 | 1 | 2];
        if (!shut[next]) push(next * 3 + d, cost + STRAIGHT + (d === state % 3 ? 0 : TURN), state);
      }
    }
  }
  return null;
}
