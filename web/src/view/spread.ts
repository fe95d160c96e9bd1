// How a fact spreads: a curve over time, and a tree from mouth to mouth.

import type { Spread } from "../api";

type Step = Spread["tree"][number];

export interface Branch {
  readonly id: string;
  /** How it came to know; null for an origin. */
  readonly step: Step | null;
  readonly told: readonly Branch[];
}

/** Knowers after each passing: (tick, how many), beginning with the originators at tick 0. */
export function curve(spread: Spread): readonly (readonly [number, number])[] {
  const known = new Set(spread.originators);
  const points: [number, number][] = [[0, known.size]];
  for (const step of [...spread.tree].sort((one, other) => one.tick - other.tick)) {
    known.add(step.source);
    if (known.has(step.target)) continue;
    known.add(step.target);
    points.push([step.tick, known.size]);
  }
  return points;
}

/** From each origin to those it told, and so on; who heard it twice stands where it was heard first. */
export function branches(spread: Spread): readonly Branch[] {
  const steps = [...spread.tree].sort((one, other) => one.tick - other.tick);
  const targets = new Set(steps.map((step) => step.target));
  const origins = new Set([
    ...spread.originators,
    ...steps.map((step) => step.source).filter((id) => !targets.has(id)),
  ]);
  const heard = new Map<string, Step>();
  for (const step of steps) if (!origins.has(step.target) && !heard.has(step.target)) heard.set(step.target, step);
  const grow = (id: string): readonly Branch[] =>
    [...heard.values()]
      .filter((step) => step.source === id)
      .map((step) => ({ id: step.target, step, told: grow(step.target) }));
  return [...origins].map((id) => ({ id, step: null, told: grow(id) }));
}
