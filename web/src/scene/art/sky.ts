// The light of an hour and a sky: pure, so that a tick always looks the same.

import { type Colour, mix, multiply } from "./paint";

export interface Light {
  /** What everything under the open sky is multiplied with. */
  readonly ambient: Colour;
  /** 0 by day … 1 at night: lamps, windows, neon. */
  readonly lamp: number;
  /** 0 … 1: shadows of clouds. */
  readonly clouds: number;
  /** 0 … 1: a pale veil. */
  readonly mist: number;
}

type Row = readonly [hour: number, ambient: Colour, lamp: number];

// biome-ignore format: a table
const HAMLET: readonly Row[] = [
  [0, 0x4a4f96, 1], [4.2, 0x4c5298, 1], [5.4, 0x8d7fb0, 0.8], [6.3, 0xf0bfa4, 0.35], [7.5, 0xffe9cc, 0], [9, 0xffffff, 0],
  [15.5, 0xffffff, 0], [17.2, 0xffe6bd, 0.05], [18.4, 0xf7ad85, 0.45], [19.3, 0xb27fa6, 0.85], [20.3, 0x6a64a8, 1], [22, 0x4e5199, 1], [24, 0x4a4f96, 1],
];
// biome-ignore format: a table
const NEON: readonly Row[] = [
  [0, 0x555a9f, 1], [4.2, 0x575ca0, 1], [5.4, 0x8278b4, 0.9], [6.4, 0xe0b3c4, 0.5], [7.6, 0xf4e2ea, 0.2], [9.5, 0xffffff, 0.12],
  [15, 0xfff8fb, 0.12], [16.8, 0xfcdccf, 0.3], [18.2, 0xd394bd, 0.75], [19.2, 0x8b6fb6, 0.95], [20.3, 0x6664ae, 1], [22, 0x585da2, 1], [24, 0x555a9f, 1],
];

export function lightAt(hour: number, sky: string, neon: boolean): Light {
  const rows = neon ? NEON : HAMLET;
  const h = ((hour % 24) + 24) % 24;
  const i = Math.max(
    1,
    rows.findIndex((row) => row[0] > h),
  );
  const [h0, a0, l0] = rows[i - 1] as Row;
  const [h1, a1, l1] = rows[i] as Row;
  const t = (h - h0) / (h1 - h0);
  const clear = mix(a0, a1, t);
  const lamp = l0 + (l1 - l0) * t;
  const day = 1 - lamp;
  switch (sky) {
    case "rain":
      return {
        ambient: mix(clear, multiply(clear, 0xa9b8d6), 0.85),
        lamp: Math.max(lamp, 0.35),
        clouds: 0,
        mist: 0.06,
      };
    case "storm":
      return { ambient: mix(clear, multiply(clear, 0x8791bd), 0.9), lamp: Math.max(lamp, 0.6), clouds: 0, mist: 0.08 };
    case "snow":
      return { ambient: mix(clear, multiply(clear, 0xd2dcf4), 0.8), lamp: Math.max(lamp, 0.25), clouds: 0, mist: 0.12 };
    case "fog":
      return { ambient: mix(clear, multiply(clear, 0xdcdde6), 0.8), lamp: Math.max(lamp, 0.3), clouds: 0, mist: 0.42 };
    case "cloudy":
      return { ambient: mix(clear, multiply(clear, 0xdfe3ee), 0.7), lamp, clouds: day * 0.8, mist: neon ? 0.07 : 0 };
    default:
      return { ambient: clear, lamp, clouds: day * 0.45, mist: neon ? day * 0.06 : 0 };
  }
}

/** Hours of a simulated time, with minutes; times are read as written, without a zone of the viewer. */
export function hourOf(time: string): number {
  const found = /T(\d\d):(\d\d)/.exec(time);
  return found ? Number(found[1]) + Number(found[2]) / 60 : 12;
}

export const WINDS: Readonly<Record<string, number>> = { calm: 0.35, breezy: 1, windy: 2.4 };
