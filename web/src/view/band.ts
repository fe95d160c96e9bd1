// The arithmetic of the time-line: where ticks lie, how busy they are, what is marked there.

import type { Mark, Timeline } from "../api";
import { hourOf, momentOf } from "./clock";

export type MarkKind = Mark["kind"];

/** The kinds, the most telling first: where marks crowd, the first one is drawn. */
export const KINDS: readonly MarkKind[] = [
  "intervention",
  "fact",
  "scripted",
  "arrival",
  "reflection",
  "plan",
  "conversation",
];

/** The last tick the line has room for: that of the end, or of the day's end while the run goes on. */
export function spanOf(head: number, final: number, grows: boolean, tickMinutes: number): number {
  const day = Math.max(1, Math.round(1440 / tickMinutes));
  return Math.max(1, grows ? Math.max(head, Math.min(final, Math.ceil((head + 1) / day) * day)) : head);
}

/** Heights from 0 to 1 of `bins` columns over the ticks 0 … span. */
export function histogram(activity: readonly number[], span: number, bins: number): readonly number[] {
  const sums = new Array<number>(bins).fill(0);
  const counts = new Array<number>(bins).fill(0);
  activity.forEach((count, tick) => {
    const bin = Math.min(bins - 1, Math.floor((tick / (span + 1)) * bins));
    sums[bin] = (sums[bin] ?? 0) + count;
    counts[bin] = (counts[bin] ?? 0) + 1;
  });
  const means = sums.map((sum, bin) => sum / Math.max(1, counts[bin] ?? 1));
  const most = Math.max(...means, 1e-9);
  return means.map((mean) => mean / most);
}

/** The outline of a histogram in a box of `bins` by 1. */
export function outline(heights: readonly number[]): string {
  let path = "M0 1";
  heights.forEach((height, bin) => {
    path += `V${(1 - height).toFixed(3)}H${bin + 1}`;
  });
  return `${path}V1Z`;
}

export interface Cluster {
  /** The tick of its most telling mark. */
  readonly tick: number;
  readonly kind: MarkKind;
  readonly marks: readonly Mark[];
}

/** Marks that would be drawn over each other, put together. The line begins at `first`. */
export function clusters(marks: readonly Mark[], span: number, columns: number, first = 0): readonly Cluster[] {
  const groups = new Map<number, Mark[]>();
  for (const mark of marks) {
    const column = Math.floor(((mark.tick - first) / (span + 1)) * Math.max(1, columns));
    const group = groups.get(column);
    if (group) group.push(mark);
    else groups.set(column, [mark]);
  }
  return [...groups.values()].map((group) => {
    const telling = group.reduce((best, mark) => (KINDS.indexOf(mark.kind) < KINDS.indexOf(best.kind) ? mark : best));
    return { tick: telling.tick, kind: telling.kind, marks: group };
  });
}

/** Tick of the next mark in a direction, of those that are shown. */
export function nextMark(marks: readonly Mark[], tick: number, by: 1 | -1): number | null {
  const ticks = marks.map((mark) => mark.tick).filter((one) => (by > 0 ? one > tick : one < tick));
  if (ticks.length === 0) return null;
  return by > 0 ? Math.min(...ticks) : Math.max(...ticks);
}

export interface Label {
  readonly tick: number;
  readonly text: string;
  readonly midnight: boolean;
}

/** Hours, or days, to write under the line: as many as have room. */
export function labels(
  start: string,
  tickMinutes: number,
  span: number,
  width: number,
  day: (n: number) => string,
): readonly Label[] {
  const perTick = tickMinutes / 60;
  const room = width / (span * perTick) || 1;
  const every = [1, 2, 3, 6, 12, 24, 48, 120, 240, 720, 2400, 8760].find((hours) => hours * room >= 56) ?? 8760;
  const first = momentOf(0, start, tickMinutes) / 3_600_000;
  const midnight = Math.floor(first / 24) * 24;
  const found: Label[] = [];
  for (let hour = midnight + Math.ceil((first - midnight) / every) * every; ; hour += every) {
    const tick = (hour - first) / perTick;
    if (tick > span) return found;
    const atMidnight = hour % 24 === 0;
    const text = atMidnight ? day((hour - midnight) / 24 + 1) : hourOf(hour * 3_600_000);
    // The ends of the line have no room beside them.
    const near = Math.min(tick, span - tick) * (width / span);
    if (near >= 16) found.push({ tick, text, midnight: atMidnight });
  }
}

const LIGHT: readonly (readonly [number, string])[] = [
  [0, "#262b57"],
  [4.5, "#343a74"],
  [6, "#c98a86"],
  [7.5, "#9fc3e6"],
  [12, "#b5d9f2"],
  [16.5, "#a9cbe8"],
  [18.5, "#d68a5c"],
  [20, "#5b4a86"],
  [22, "#2b3064"],
];

/** The light of the day along the ticks 0 … span, as a CSS gradient. */
export function daylight(start: string, tickMinutes: number, span: number): string {
  const hours = (span * tickMinutes) / 60;
  const first = momentOf(0, start, tickMinutes) / 3_600_000;
  const midnight = Math.floor(first / 24) * 24;
  // Beyond two months of days the colours would be thinner than a pixel.
  if (hours > 24 * 60) return "linear-gradient(90deg, #6f8fc0, #6f8fc0)";
  const stops: string[] = [];
  for (let day = midnight - 24; day <= first + hours + 24; day += 24) {
    for (const [hour, colour] of LIGHT) {
      const at = ((day + hour - first) / hours) * 100;
      if (at >= -60 && at <= 160) stops.push(`${colour} ${at.toFixed(2)}%`);
    }
  }
  return `linear-gradient(90deg, ${stops.join(", ")})`;
}

/** Stretches of bad weather on a line of `span` ticks from `first` on, from … to in ticks. */
export function weatherBands(
  weather: Timeline["weather"],
  span: number,
  first = 0,
): readonly { sky: string; from: number; to: number }[] {
  return weather
    .map(([from, sky], index) => ({
      sky,
      from: Math.max(first, from),
      to: weather[index + 1]?.[0] ?? first + span,
    }))
    .filter(({ sky, from, to }) => to > from && (sky === "rain" || sky === "storm" || sky === "snow" || sky === "fog"));
}
