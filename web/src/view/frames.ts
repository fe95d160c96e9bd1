// The ticks read so far. Ticks are asked for in runs of 48, and the runs used longest ago are forgotten.

import { afterDelta, type Frame, fromSnapshot } from "../run/frame";
import type { Source } from "../run/source";

const CHUNK = 48;
const KEPT = 40;

export interface Shelf {
  /** The frame, if it is at hand. */
  at(tick: number): Frame | undefined;
  /** The frame, asked for if it is not at hand. */
  read(tick: number, last: number): Promise<Frame>;
  /** A frame that came by itself. */
  put(frame: Frame): void;
}

/** A shelf of the frames of a source. */
export function shelfOf(source: Pick<Source, "frames" | "first">): Shelf {
  const chunks = new Map<number, Map<number, Frame>>();
  const asked = new Map<number, Promise<void>>();

  const chunkOf = (number: number): Map<number, Frame> => {
    const found = chunks.get(number) ?? new Map<number, Frame>();
    chunks.delete(number);
    chunks.set(number, found);
    for (const old of chunks.keys()) {
      if (chunks.size <= KEPT) break;
      chunks.delete(old);
    }
    return found;
  };

  const fetchChunk = async (number: number, last: number): Promise<void> => {
    const from = Math.max(source.first ?? 0, number * CHUNK);
    const frames = await source.frames(from, Math.min(number * CHUNK + CHUNK - 1, last));
    const chunk = chunkOf(number);
    let frame = fromSnapshot(frames.first);
    chunk.set(frame.tick, frame);
    for (const delta of frames.rest) {
      frame = afterDelta(frame, delta);
      chunk.set(frame.tick, frame);
    }
  };

  return {
    at: (tick) => chunks.get(Math.floor(tick / CHUNK))?.get(tick),
    put: (frame) => void chunkOf(Math.floor(frame.tick / CHUNK)).set(frame.tick, frame),
    read: async (tick, last) => {
      const number = Math.floor(tick / CHUNK);
      const found = chunks.get(number)?.get(tick);
      if (found) return found;
      let fetching = asked.get(number);
      if (!fetching) {
        fetching = fetchChunk(number, last).finally(() => asked.delete(number));
        asked.set(number, fetching);
      }
      await fetching;
      const frame = chunks.get(number)?.get(tick);
      if (!frame) throw new Error(`tick ${tick} is not in the run`);
      return frame;
    },
  };
}
