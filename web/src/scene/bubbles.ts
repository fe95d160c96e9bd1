// Where words over the scene go: bubbles near who speaks, apart from each other and over no face; names that do not pile up.

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly w: number;
  readonly h: number;
}

export interface Wanted {
  readonly id: string;
  /** The top of the head, in pixels of the view. */
  readonly x: number;
  readonly y: number;
  /** From the top of the head to the foot. */
  readonly tall: number;
  readonly w: number;
  readonly h: number;
  /** Which of the places it had, or -1: it stays there unless another is much better. */
  readonly had: number;
}

export interface Placed extends Box {
  readonly id: string;
  /** Where the tail leaves the bubble, from its left. */
  readonly tail: number;
  /** From the bubble to the head or the foot: a tail alone would not reach. */
  readonly gap: number;
  /** The bubble is under the foot, the tail points up. */
  readonly below: boolean;
  /** Which of the places it took. */
  readonly place: number;
}

const GAP = 6;
const TAIL = 9;
/** So far beside who speaks a tail may point: farther, it points at somebody else. */
const BESIDE = 40;
/** A name stands under the foot. */
const NAME = 20;

/** How far aside (in widths) and how far off (in pixels) a bubble may be; the nearest first. */
const PLACES: readonly { readonly aside: number; readonly off: number; readonly below: boolean }[] = [
  ...[0, 16, 34, 56, 82, 112, 146, 184, 224, 268, 316].flatMap((off) =>
    [0, 0.22, -0.22, 0.44, -0.44].map((aside) => ({ aside, off, below: false })),
  ),
  ...[0, 30, 64, 100, 140, 184].flatMap((off) =>
    [0, 0.3, -0.3, 0.44, -0.44].map((aside) => ({ aside, off, below: true })),
  ),
];

export const meet = (a: Box, b: Box, gap = 0): number => {
  const w = Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x) + gap;
  const h = Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y) + gap;
  return w > 0 && h > 0 ? w * h : 0;
};

/** The first wanted are placed first and keep the best places; one that would cover another bubble is left out. */
export function placeBubbles(wanted: readonly Wanted[], free: Box, faces: readonly Box[]): Placed[] {
  const out: (Placed & { readonly stem: Box })[] = [];
  for (const one of wanted) {
    let best: (typeof out)[number] | undefined;
    let least = Infinity;
    for (let place = 0; place < PLACES.length; place++) {
      const { aside, off, below } = PLACES[place] as (typeof PLACES)[number];
      let cost = Math.abs(aside) * 160 + off * 2.2 + (below ? 150 : 0) - (place === one.had ? 120 : 0);
      if (cost >= least) continue;
      const x = clamp(one.x - one.w / 2 + aside * one.w, free.x + GAP, free.x + free.w - one.w - GAP);
      const y = clamp(
        below ? one.y + one.tall + NAME + TAIL + off : one.y - one.h - TAIL - off,
        free.y + GAP,
        free.y + free.h - one.h - GAP,
      );
      const tail = clamp(one.x - x, 12, one.w - 12);
      if (Math.abs(x + tail - one.x) > BESIDE) continue;
      const box = { x, y, w: one.w, h: one.h };
      const stem = below
        ? { x: one.x - 2, y: one.y + one.tall, w: 4, h: y - one.y - one.tall }
        : { x: one.x - 2, y: y + one.h, w: 4, h: one.y - y - one.h };
      if (out.some((other) => meet(box, other, GAP))) continue;
      for (const other of out) if (meet(stem, other) || meet(box, other.stem)) cost += 260;
      for (const { x: head, y: top, tall } of wanted)
        if (meet(box, { x: head - 12, y: top, w: 24, h: tall * 0.6 })) cost += 1500;
      for (const face of faces) {
        const hidden = meet(box, face);
        if (hidden) cost += 600 + (hidden / (face.w * face.h)) * 600;
        // A line over somebody's face reads as if they spoke.
        else if (below && meet(stem, face)) cost += 500;
        if (cost >= least) break;
      }
      if (cost >= least) continue;
      least = cost;
      best = {
        ...box,
        stem,
        id: one.id,
        below,
        place,
        tail,
        gap: Math.max(0, below ? y - one.y - one.tall : one.y - y - one.h),
      };
    }
    if (best) out.push(best);
  }
  return out;
}

/** Which of many labels are shown, the first before the later: none lies on another. */
export function thinned<T extends { readonly box: Box }>(labels: readonly T[], most: number): T[] {
  const out: T[] = [];
  for (const label of labels) {
    if (out.length >= most) break;
    if (!out.some(({ box }) => meet(box, label.box) > 0)) out.push(label);
  }
  return out;
}

const clamp = (value: number, low: number, high: number): number => Math.max(low, Math.min(Math.max(low, high), value));
