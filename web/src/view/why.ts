// An explanation made ready to be read: what tipped the choice first, then everything else.

import type { Why } from "../run/source";
import { fieldsOf, type Hit, hitOf, listOf, type Memory, numberOf, textOf } from "./memory";

export interface Retrieval {
  readonly purpose: string;
  readonly query: string;
  readonly policy: string;
  readonly candidates: number;
  readonly hits: readonly Hit[];
}

export interface Question {
  readonly task: string;
  readonly outcome: string;
  /** As text, whatever it was. */
  readonly prompt: string;
  readonly answer: string;
}

/** A row of a table that decided an answer, or an author's line that was weighed. */
export interface Ruled {
  readonly name: string;
  /** Its conditions, with what they found. */
  readonly when: readonly string[];
  /** For a line that was held back: the condition that failed. */
  readonly failed: string;
  /** Rows that would have come first, each with the condition that failed. */
  readonly nearly: readonly { readonly name: string; readonly failed: string }[];
}

export interface Stored {
  readonly kind: string;
  readonly text: string;
  readonly importance: number;
  readonly stored: boolean;
  readonly reason: string;
  readonly memory: number | null;
}

/** A seed fact in what was said, and from mouth to mouth how it came to the speaker. */
export interface Heard {
  readonly fact: string;
  /** The nearest first, the origin last; none if the speaker made it up. */
  readonly links: readonly {
    readonly agent: string;
    readonly from: string;
    readonly tick: number;
    readonly event: string;
  }[];
}

export interface Tipping extends Hit {
  readonly cited: boolean;
  /** How far its score lies above that of the next memory; null for one that was cited and not ranked. */
  readonly lead: number | null;
}

export interface Reasons {
  readonly event: {
    readonly id: string;
    readonly tick: number;
    readonly time: string;
    readonly type: string;
    readonly agent: string;
    readonly place: string;
    readonly to: string;
    readonly utterance: string;
    readonly doing: string;
  };
  readonly explanation: string;
  readonly tipping: readonly Tipping[];
  readonly plan: {
    readonly start: string;
    readonly minutes: number;
    readonly text: string;
    readonly place: string;
  } | null;
  readonly day: readonly { readonly start: string; readonly text: string; readonly place: string }[];
  readonly reaction: {
    readonly decision: string;
    readonly target: string;
    readonly purpose: string;
    readonly reason: string;
  } | null;
  readonly retrievals: readonly Retrieval[];
  readonly asked: readonly Question[];
  readonly rows: readonly Ruled[];
  readonly lines: readonly Ruled[];
  readonly stored: readonly Stored[];
  readonly heard: readonly Heard[];
  /** Ids that the event or the decision cites and no retrieval holds: their memories must be asked for. */
  readonly missing: readonly number[];
}

/** Memories shown as those that tipped the choice. */
const MOST_TIPPING = 4;

export function reasonsOf(why: Why): Reasons {
  const event = fieldsOf(why.event);
  const plan = fieldsOf(why.plan);
  const item = fieldsOf(plan.item);
  const reaction = fieldsOf(why.reaction);
  const retrievals = listOf(why.retrievals).map(retrievalOf);
  const cited = citedBy(event, reaction);
  const found = new Set(retrievals.flatMap((retrieval) => retrieval.hits.map((hit) => hit.memory.id)));
  return {
    event: {
      id: textOf(event.id),
      tick: numberOf(event.tick),
      time: textOf(event.time),
      type: textOf(event.type),
      agent: textOf(event.agent_id),
      place: textOf(event.place),
      to: textOf(event.to_agent_id),
      utterance: textOf(event.utterance),
      doing: textOf(event.doing),
    },
    explanation: textOf(why.explanation),
    tipping: tippingOf(retrievals, cited),
    plan: textOf(item.action_description)
      ? {
          start: textOf(item.start_time),
          minutes: numberOf(item.duration_minutes),
          text: textOf(item.action_description),
          place: textOf(item.location),
        }
      : null,
    day: listOf(plan.day).map((one) => {
      const stroke = fieldsOf(one);
      return {
        start: textOf(stroke.start_time),
        text: textOf(stroke.action_description),
        place: textOf(stroke.location),
      };
    }),
    reaction:
      Object.keys(reaction).length > 0 && (textOf(reaction.decision) || textOf(reaction.reason))
        ? {
            decision: textOf(reaction.decision),
            target: textOf(reaction.target),
            purpose: textOf(reaction.purpose),
            reason: textOf(reaction.reason),
          }
        : null,
    retrievals,
    asked: listOf(why.asked).map(questionOf),
    rows: listOf(why.asked)
      .map((one) => fieldsOf(fieldsOf(one).row))
      .filter((row) => textOf(row.row))
      .map(ruledOf),
    lines: listOf(why.lines).map((one) => ruledOf(fieldsOf(one))),
    stored: listOf(why.stored).map(storedOf),
    heard: listOf(why.heard_from).map(heardOf),
    missing: cited.filter((id) => !found.has(id)),
  };
}

/** Ids that the event and the decision name, without repeats, in their order. */
function citedBy(
  event: Readonly<Record<string, unknown>>,
  reaction: Readonly<Record<string, unknown>>,
): readonly number[] {
  const lists = [event.because, reaction.because, event.memory_ids];
  return [...new Set(lists.flatMap((list) => listOf(list).map(numberOf)))].filter((id) => id > 0);
}

/**
 * The memories that decided: those cited, then those whose score stands out most from the next one of their retrieval.
 */
export function tippingOf(retrievals: readonly Retrieval[], cited: readonly number[]): readonly Tipping[] {
  const best = new Map<number, Tipping>();
  for (const { hits } of retrievals) {
    hits.forEach((hit, index) => {
      if (hit.score === null) return;
      const next = hits[index + 1]?.score ?? null;
      const lead = next === null ? 0 : hit.score - next;
      const known = best.get(hit.memory.id);
      if (!known || lead > (known.lead ?? 0)) {
        best.set(hit.memory.id, { ...hit, lead, cited: cited.includes(hit.memory.id) });
      }
    });
  }
  const ranked = [...best.values()].sort(
    (one, other) =>
      Number(other.cited) - Number(one.cited) || (other.lead ?? 0) - (one.lead ?? 0) || one.memory.id - other.memory.id,
  );
  const kept = ranked.filter((one) => one.cited || (one.lead ?? 0) > 0);
  return kept.slice(0, Math.max(MOST_TIPPING, kept.filter((one) => one.cited).length));
}

/** A cited memory that no retrieval held. */
export function citedMemory(memory: Memory): Tipping {
  return { memory, rank: null, score: null, parts: [], cited: true, lead: null };
}

function retrievalOf(value: unknown): Retrieval {
  const fields = fieldsOf(value);
  return {
    purpose: textOf(fields.purpose),
    query: textOf(fields.query),
    policy: textOf(fields.policy),
    candidates: numberOf(fields.candidates),
    hits: listOf(fields.hits).map(hitOf),
  };
}

function questionOf(value: unknown): Question {
  const fields = fieldsOf(value);
  return {
    task: textOf(fields.task),
    outcome: textOf(fields.outcome),
    prompt: printed(fields.prompt),
    answer: printed(fields.answer),
  };
}

function ruledOf(fields: Readonly<Record<string, unknown>>): Ruled {
  return {
    name: textOf(fields.row) || textOf(fields.say),
    when: listOf(fields.when).map(textOf),
    failed: textOf(fields.failed),
    nearly: listOf(fields.nearly).map((pair) => {
      const [name, failed] = listOf(pair).map(textOf);
      return { name: name ?? "", failed: failed ?? "" };
    }),
  };
}

function storedOf(value: unknown): Stored {
  const fields = fieldsOf(value);
  return {
    kind: textOf(fields.kind),
    text: textOf(fields.text),
    importance: numberOf(fields.importance),
    stored: fields.stored === true,
    reason: textOf(fields.reason),
    memory: typeof fields.memory === "number" ? fields.memory : null,
  };
}

function heardOf(value: unknown): Heard {
  const fields = fieldsOf(value);
  const links = typeof fields.memory === "number" ? [fields, ...listOf(fields.chain).map(fieldsOf)] : [];
  return {
    fact: textOf(fields.fact),
    links: links.map((link) => ({
      agent: textOf(link.agent),
      from: textOf(link.from),
      tick: numberOf(link.tick),
      event: textOf(link.event_id),
    })),
  };
}

/** Text as it is; anything else as indented JSON; nothing for what is empty. */
function printed(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (typeof value === "object" && Object.keys(value).length === 0) return "";
  return JSON.stringify(value, null, 2);
}
