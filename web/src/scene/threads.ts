// A lens over the map: lines between people, and sparks where something passes from one to another.

import type { Frame } from "../run/frame";
import type { Actor, Cast } from "./actors";
import { type Board, DEEP } from "./board";
import type { Lens, Tie } from "./village";

/** Milliseconds a spark flies. */
const FLIGHT = 1500;

export interface Threads {
  lens(): Lens | null;
  put(lens: Lens | null, frame: Frame | null, now: number): void;
  /** What came to be between two ticks sparks. */
  passed(after: number, tick: number, now: number): void;
  update(frame: Frame | null, now: number): void;
}

export function buildThreads({ scene }: Board, cast: Cast): Threads {
  const pen = scene.add.graphics().setDepth(DEEP.lens);
  const sparks: { readonly from: string; readonly to: string; readonly at: number }[] = [];
  let lens: Lens | null = null;

  function arc(a: Actor, b: Actor, from: number, to: number): void {
    pen.beginPath();
    for (let k = 0; k <= 14; k++) {
      const [x, y] = along(a, b, from + ((to - from) * k) / 14);
      if (k) pen.lineTo(x, y);
      else pen.moveTo(x, y);
    }
    pen.strokePath();
  }

  const spark = ({ from, to }: Tie, now: number): void => void sparks.push({ from, to, at: now });

  return {
    lens: () => lens,
    put(next, frame, now) {
      // In a live run a passing is known only after its tick was shown: it sparks now.
      const known = lens?.ties;
      if (known && next)
        for (const tie of next.ties)
          if (tie.tick === frame?.tick && !known.some((one) => one.to === tie.to && one.tick === tie.tick))
            spark(tie, now);
      lens = next;
      if (!next) sparks.length = 0;
    },
    passed(after, tick, now) {
      for (const tie of lens?.ties ?? []) if (tie.tick > after && tie.tick <= tick) spark(tie, now);
    },
    update(frame, now) {
      pen.clear();
      if (!lens) return;
      for (const tie of lens.ties) {
        const a = cast.actors.get(tie.from);
        const b = cast.actors.get(tie.to);
        if (!a || !b || (!a.near && !b.near) || (frame && tie.tick > frame.tick)) continue;
        const strong = Math.min(1, Math.abs(tie.strength));
        pen.lineStyle(1 + strong, tie.strength >= 0 ? 0xffd27a : 0x7fb0ff, 0.25 + strong * 0.45);
        arc(a, b, 0, 1);
      }
      for (let i = sparks.length - 1; i >= 0; i--) {
        const { from, to, at } = sparks[i] as (typeof sparks)[number];
        const t = (now - at) / FLIGHT;
        const a = cast.actors.get(from);
        const b = cast.actors.get(to);
        if (t >= 1.3 || !a || !b) {
          sparks.splice(i, 1);
          continue;
        }
        const head = Math.min(1, t);
        pen.lineStyle(2, 0xfff3c4, 0.9);
        arc(a, b, Math.max(0, head - 0.3), head);
        const [x, y] = along(a, b, head);
        pen.fillStyle(0xfffbe6, 1).fillCircle(x, y, 2.5);
        pen.fillStyle(0xffd27a, 0.35).fillCircle(x, y, 6);
        if (t > 1) pen.lineStyle(1.5, 0xffe9a3, 1 - (t - 1) / 0.3).strokeCircle(b.x, b.y - 14, 8 + (t - 1) * 50);
      }
    },
  };
}

function along(a: Actor, b: Actor, t: number): [number, number] {
  const high = Math.min(60, Math.hypot(b.x - a.x, b.y - a.y) * 0.25 + 8);
  return [a.x + (b.x - a.x) * t, a.y - 16 + (b.y - a.y) * t - Math.sin(Math.PI * t) * high];
}
