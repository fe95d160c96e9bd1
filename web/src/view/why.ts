// What tipped a choice: the memories that were cited, and those that stood out.

import type { FoundMemory, Reasons } from "../api";

export interface Tipping extends FoundMemory {
  readonly cited: boolean;
  /** How far its score lies above that of the next memory; 0 for the last one, and for one that was not ranked. */
  readonly lead: number;
}

/** Memories shown as those that tipped the choice, unless more were cited. */
const MOST_TIPPING = 4;

/** Ids that the event and the decision name, without repeats, in their order. */
function citedBy({ event, reaction }: Reasons): readonly number[] {
  return [...new Set([...(event.because ?? []), ...(reaction?.because ?? []), ...(event.memory_ids ?? [])])];
}

/** Ids that are cited and that no retrieval holds: their memories must be asked for. */
export function missingOf(why: Reasons): readonly number[] {
  const found = new Set(why.retrievals.flatMap(({ hits }) => hits.map((hit) => hit.memory?.id)));
  return citedBy(why).filter((id) => !found.has(id));
}

/**
 * The memories that decided: those cited, then those whose score stands out most from the next one of their retrieval.
 */
export function tippingOf(why: Reasons): readonly Tipping[] {
  const cited = citedBy(why);
  const best = new Map<number, Tipping>();
  for (const { hits } of why.retrievals) {
    for (const [index, { memory, ...hit }] of hits.entries()) {
      if (!memory) continue;
      const lead = hit.score - (hits[index + 1]?.score ?? hit.score);
      const known = best.get(memory.id);
      if (!known || lead > known.lead) {
        best.set(memory.id, { ...hit, memory, lead, cited: cited.includes(memory.id) });
      }
    }
  }
  const kept = [...best.values()]
    .filter((one) => one.cited || one.lead > 0)
    .sort(
      (one, other) =>
        Number(other.cited) - Number(one.cited) || other.lead - one.lead || one.memory.id - other.memory.id,
    );
  return kept.slice(0, Math.max(MOST_TIPPING, kept.filter((one) => one.cited).length));
}
