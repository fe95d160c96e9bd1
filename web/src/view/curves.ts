// Shares over time as lines of a chart, and where its time axis has marks.

import type { Hour } from "../api";
import { momentOf } from "./clock";

const MINUTE = 60_000;
const DAY = 24 * 60;
/** Minutes between two marks of the time axis. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, DAY, 2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY];
const MOST_MARKS = 6;

export interface Curve {
  /** Id of a seed fact; empty for the density η. */
  readonly fact: string;
  /** (tick, share), 0–1. */
  readonly points: readonly (readonly [number, number])[];
}

/** η, then each seed fact in the order of the facts. */
export function curvesOf(hours: readonly Hour[], facts: readonly string[]): readonly Curve[] {
  return [
    { fact: "", points: hours.map((row) => [row.tick, row.density] as const) },
    ...facts.map((fact) => ({ fact, points: hours.map((row) => [row.tick, row.known[fact] ?? 0] as const) })),
  ];
}

/** Moments with a mark, in milliseconds: full hours, days or minutes between the ticks 0 and `last`, at most six. */
export function marksOf(last: number, start: string, tickMinutes: number): readonly number[] {
  const begin = momentOf(0, start, tickMinutes);
  const step = (STEPS.find((one) => (last * tickMinutes) / one < MOST_MARKS) ?? 364 * DAY) * MINUTE;
  const marks: number[] = [];
  for (let at = Math.ceil(begin / step) * step; at <= momentOf(last, start, tickMinutes); at += step) marks.push(at);
  return marks;
}
