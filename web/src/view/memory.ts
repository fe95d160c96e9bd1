// A memory as the panels read it. On the wire it has the fields of the public contract and nothing promises their types.

import type { FoundMemory } from "../api";

export interface Memory {
  readonly id: number;
  readonly kind: string;
  readonly text: string;
  readonly createdAt: string;
  readonly accessedAt: string;
  readonly tick: number;
  readonly importance: number;
  readonly citations: readonly number[];
  /** Names from outside in. */
  readonly place: readonly string[];
  readonly emotion: {
    readonly valence: number;
    readonly arousal: number;
    readonly keywords: readonly string[];
  } | null;
  /** The event it is of; empty for what was known before. */
  readonly event: string;
  /** What its stars are kept under: itself, if an earlier run brought it along, else the event it is of. */
  readonly rated: string;
}

export interface ScorePart {
  readonly name: string;
  readonly raw: number;
  readonly normalised: number;
  readonly weight: number;
  /** What it adds to the score. */
  readonly amount: number;
}

export interface Hit {
  readonly memory: Memory;
  readonly rank: number | null;
  readonly score: number | null;
  readonly parts: readonly ScorePart[];
}

type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; none for anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

export function numberOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

export function memoryOf(value: unknown): Memory {
  const fields = fieldsOf(value);
  const emotion = fields.emotion ? fieldsOf(fields.emotion) : null;
  return {
    id: numberOf(fields.id),
    kind: textOf(fields.kind),
    text: textOf(fields.text),
    createdAt: textOf(fields.created_at),
    accessedAt: textOf(fields.accessed_at),
    tick: numberOf(fields.tick),
    importance: numberOf(fields.importance),
    citations: listOf(fields.citations).map(numberOf),
    place: listOf(fields.place).map(textOf),
    emotion: emotion && {
      valence: numberOf(emotion.valence),
      arousal: numberOf(emotion.arousal),
      keywords: listOf(emotion.keywords).map(textOf),
    },
    event: textOf(fields.event),
    rated: textOf(fieldsOf(fields.details).memory_id) || textOf(fields.event),
  };
}

export function partsOf(value: unknown): readonly ScorePart[] {
  return Object.entries(fieldsOf(value)).map(([name, part]) => {
    const fields = fieldsOf(part);
    const [raw, normalised, weight] = [numberOf(fields.raw), numberOf(fields.normalised), numberOf(fields.weight)];
    return { name, raw, normalised, weight, amount: normalised * weight };
  });
}

/** A memory that was found, ranked or not. */
export function hitOf(value: FoundMemory | unknown): Hit {
  const fields = fieldsOf(value);
  return {
    memory: memoryOf(fields.memory),
    rank: typeof fields.rank === "number" ? fields.rank : null,
    score: typeof fields.score === "number" ? fields.score : null,
    parts: partsOf(fields.parts),
  };
}
