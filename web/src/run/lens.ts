// A lens over the map: who knows a piece of news and from whose mouth it came, or who likes whom.

import type { EventLine, Metrics, SeedFact } from "../api";
import type { Lens, Tie } from "../scene/village";

/** Warmth counts from −100 to 100. */
const WARMEST = 100;

/**
 * Who knows the fact at the tick, and every passing in the metrics, also those to come: the map draws a tie from its tick
 * on, with a spark when the view passes it. What is said in a tick is known in the next, so a spark flies one tick before
 * the hearer is lit. The metrics may be those of a later tick, such as the last one; in a run that goes on they cannot be,
 * and the lines of the tick say who is being told.
 */
export function factLens(metrics: Metrics, fact: SeedFact, tick: number, lines: readonly EventLine[] = []): Lens {
  const spread = metrics.spreads.find((one) => one.fact === fact.id);
  if (!spread) return { lit: new Set(fact.originators), ties: [] };
  const lit = new Set<string>();
  for (const origin of spread.originators) {
    // Who came to know without being told (from a god-mode sentence, say) counts from the first sign of it.
    const first = spread.tree.find((step) => step.source === origin)?.tick;
    if (fact.originators.includes(origin) || metrics.tick <= tick || (first !== undefined && first <= tick)) {
      lit.add(origin);
    }
  }
  for (const step of spread.tree) if (step.tick < tick) lit.add(step.target);
  const ties = spread.tree.map((step): Tie => ({ from: step.source, to: step.target, strength: 1, tick: step.tick }));
  for (const line of metrics.tick <= tick ? lines : []) {
    if (!line.to || !line.facts.includes(fact.id) || ties.some((tie) => tie.to === line.to) || lit.has(line.to))
      continue;
    if (lit.has(line.agent_id)) ties.push({ from: line.agent_id, to: line.to, strength: 1, tick: line.tick });
  }
  return { lit, ties };
}

/** Whom the person likes or dislikes, and who likes or dislikes them, as of the metrics. Indifference is no tie. */
export function personLens(metrics: Metrics, person: string): Lens {
  const ties = metrics.warmth
    .filter((one) => one.warmth !== 0 && (one.source === person || one.target === person))
    .map(
      (one): Tie => ({
        from: one.source,
        to: one.target,
        strength: Math.max(-1, Math.min(1, one.warmth / WARMEST)),
        tick: -1,
      }),
    );
  return { lit: new Set([person, ...ties.flatMap((tie) => [tie.from, tie.to])]), ties };
}
