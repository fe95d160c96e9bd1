// A run read from the data in a one-file replay. `server/one_file.py` writes the blocks and says what is in them; every
// answer equals the server's, but for questions to memories, which only it can rank.

import type {
  AgentDetail,
  Delta,
  EventLine,
  FoundMemory,
  Frames,
  GoalRow,
  Hit,
  Hour,
  Memories,
  MemoryJson,
  Metrics,
  Reasons,
  Retrieved,
  Snapshot,
  StoredRow,
  Timeline,
  Town,
} from "../api";
import { afterDelta, type Frame, fromSnapshot } from "./frame";
import { Failure } from "./problem";
import type { LineQuery, MemoryQuery, Source } from "./source";

const FORMAT = 1;
/** Scores are whole multiples of this. */
const UNIT = 2 ** -30;
const MOST_TICKS = 288;
/** Memories and lines given at a time. */
const PAGE = 50;
const LINES = 200;

/** The text of a block, or null where there is none of that name. */
export type ReadBlock = (name: string) => string | null;

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Fields = { [key: string]: Json };

interface Start {
  readonly format: number;
  readonly first: number;
  readonly last: number;
  readonly chunk: number;
  readonly agents: readonly string[];
  readonly town: Town;
  readonly timeline: Timeline;
}

interface Ticks {
  readonly first: Snapshot;
  readonly deltas: readonly Delta[];
}

/** A value at successive ticks: the first one whole, then what changed. */
type Over = readonly (readonly [number, Json])[];
type States<T> = readonly (readonly [number, T])[];

/** A value with lists of it as tables: rows by their key. */
type Tabled<T, Name extends keyof T> = Omit<T, Name> & {
  readonly [Key in Name]: Readonly<Record<string, T[Key] extends (infer Row)[] ? Row : never>>;
};
type Detail = Omit<Tabled<AgentDetail, "beliefs" | "ties" | "past" | "goals">, "tick" | "time">;
type Measures = Omit<Tabled<Metrics, "network" | "warmth" | "usage">, "tick">;

interface Stream {
  readonly memories: readonly MemoryJson[];
  readonly removed: readonly (readonly [number, number])[];
  readonly touched: readonly (readonly [number, string, readonly number[]])[];
  readonly policies: readonly (readonly [number, string])[];
}

/** What each event has of its own. */
type Own = Pick<Reasons, "event" | "explanation" | "heard_from" | "account" | "goals">;
/** What a turn has in common for its events. */
type Shared = Omit<Reasons, keyof Own>;

interface Explained {
  readonly turns: Readonly<Record<string, Turn>>;
  readonly events: Readonly<Record<string, Own & { readonly turn?: string }>>;
}

type Turn = Omit<Shared, "retrievals" | "stored"> & {
  readonly retrievals: readonly Scored[];
  /** Memory id and reason of what was remembered; the rest in full. */
  readonly stored: readonly (readonly [number, string] | StoredRow)[];
};

type Scored = Pick<Retrieved, "purpose" | "query" | "policy" | "k"> & {
  readonly candidates?: number;
  /** Part → weight and the range it was normalised over. */
  readonly parts: Readonly<Record<string, readonly [number, number, number]>>;
  /** Memory id, then each normalised part in units. */
  readonly hits: readonly (readonly [number, ...number[]])[];
};

/** The blocks of the page, or null in a page that holds no run. */
export function blocksOf(page: Document): ReadBlock | null {
  const read: ReadBlock = (name) => page.getElementById(`data-${name}`)?.textContent ?? null;
  return read("start") === null ? null : read;
}

/** The run in the blocks. A block is unpacked once, when it is first needed. */
export async function embeddedSource(read: ReadBlock): Promise<Source> {
  const start = await unpacked<Start>(read, "start");
  if (start.format !== FORMAT) throw missing("a replay that this page cannot read", `format ${start.format}`);
  const { first, last, chunk, town } = start;

  const kept = new Map<string, Promise<unknown>>();
  function block<T>(name: string): Promise<T> {
    let found = kept.get(name);
    if (!found) kept.set(name, (found = unpacked<T>(read, name)));
    return found as Promise<T>;
  }
  /** The states of a value, one for each entry of its block. */
  function over<T>(name: string): Promise<States<T>> {
    const key = `${name} in full`;
    let found = kept.get(key);
    if (!found) kept.set(key, (found = block<Over>(name).then(unrolled)));
    return found as Promise<States<T>>;
  }

  const held = (tick: number): number => {
    if (tick < first || tick > last || !Number.isInteger(tick)) {
      throw missing(`there is no tick ${tick}`, `this file has the ticks ${first} to ${last}`);
    }
    return tick;
  };
  const someone = (id: string): string => {
    if (!start.agents.includes(id)) throw missing(`there is no character ${id}`, "");
    return id;
  };
  const ticksOf = (tick: number): Promise<Ticks> => block(`ticks-${Math.floor(tick / chunk)}`);
  const timeOf = (tick: number): string =>
    new Date(Date.parse(town.start) + tick * town.tick_minutes * 60_000).toISOString().replace(".000Z", "Z");

  async function frames(from: number, to: number): Promise<Frames> {
    const end = Math.min(to, last);
    held(from);
    if (from > end || end >= from + MOST_TICKS)
      throw missing(`ticks ${from} to ${to} are not 1 to ${MOST_TICKS} ticks`, "");
    const begin = await ticksOf(from);
    let frame = fromSnapshot(begin.first);
    for (const delta of begin.deltas)
      if (delta.tick > frame.tick && delta.tick <= from) frame = afterDelta(frame, delta);
    const rest: Delta[] = [];
    for (let number = Math.floor(from / chunk); number <= Math.floor(end / chunk); number++) {
      const { deltas } = await ticksOf(number * chunk);
      rest.push(...deltas.filter((delta) => delta.tick > from && delta.tick <= end));
    }
    return { first: begin.first.tick === from ? begin.first : toSnapshot(frame), rest };
  }

  async function lines(query: LineQuery): Promise<readonly EventLine[]> {
    const { to, text = "", agent = "", category = "", place = "", limit = LINES } = query;
    const sought = text.trim().toLowerCase();
    const found: EventLine[] = [];
    for (let number = Math.floor(held(Math.min(to, last)) / chunk); number >= Math.floor(first / chunk); number--) {
      const ticks = await ticksOf(number * chunk);
      const all = [
        ...ticks.first.lines,
        ...ticks.deltas.filter((one) => one.tick > ticks.first.tick).flatMap((one) => one.lines),
      ];
      for (const line of all.reverse()) {
        if (line.tick > to || (category && line.category !== category)) continue;
        if (agent && line.agent_id !== agent && line.to !== agent) continue;
        if ((place && line.place !== place) || !line.text.toLowerCase().includes(sought)) continue;
        found.push(line);
        if (found.length >= limit) return found.reverse();
      }
    }
    return found.reverse();
  }

  async function agent(id: string, at: number): Promise<AgentDetail> {
    const { beliefs, ties, past, goals, ...rest } = latest(await over<Detail>(`detail-${someone(id)}`), held(at));
    return {
      tick: at,
      time: timeOf(at),
      ...rest,
      beliefs: rows(beliefs),
      ties: rows(ties),
      past: latestFirst(rows(past), (row) => row.time),
      goals: openFirst(rows(goals)),
    };
  }

  async function metrics(at: number): Promise<Metrics> {
    const { network, warmth, usage, ...rest } = latest(await over<Measures>("metrics"), held(at));
    return {
      tick: at,
      ...rest,
      network: rows(network),
      warmth: rows(warmth),
      usage: rows(usage),
    };
  }

  /** As the server's: its last row is that of the tick, whatever hour it is. */
  async function hours(at: number): Promise<readonly Hour[]> {
    const { density, network, spreads } = await metrics(at);
    const spoken = network.filter((one) => one.lines > 0);
    return [
      ...(await block<readonly Hour[]>("hours")).filter((row) => row.tick < at),
      {
        tick: at,
        time: timeOf(at),
        density,
        pairs: spoken.length,
        lines: spoken.reduce((sum, one) => sum + one.lines, 0),
        known: Object.fromEntries(spreads.map((one) => [one.fact, one.share])),
      },
    ];
  }

  async function memories(id: string, query: MemoryQuery): Promise<Memories> {
    const stream = await block<Stream>(`memories-${someone(id)}`);
    const at = held(query.at);
    const test = filterOf(query, town);
    const removed = new Map(stream.removed);
    const passing = stream.memories
      .filter((one) => one.tick <= at && (removed.get(one.id) ?? Infinity) > at && test(one))
      .reverse();
    const accessed = accessesAt(stream, at);
    const begin = query.offset ?? 0;
    const page = passing.slice(begin, begin + (query.limit ?? PAGE));
    return {
      agent_id: id,
      tick: at,
      policy: query.policy || stream.policies.findLast(([tick]) => tick <= at)![1],
      total: passing.length,
      found: page.map(
        (one): FoundMemory => ({ memory: accessedAt(one, accessed), rank: null, score: null, parts: {} }),
      ),
    };
  }

  async function why(eventId: string): Promise<Reasons> {
    const tick = Number(/^t(\d{1,15})\./.exec(eventId)?.[1] ?? NaN);
    if (!(tick >= first && tick <= last)) {
      throw missing(`the reasons of ${eventId} are not in this file`, `it has the ticks ${first} to ${last}`);
    }
    const { turns, events } = await block<Explained>(`why-${Math.floor(tick / chunk)}`);
    const own = Object.hasOwn(events, eventId) ? events[eventId] : undefined;
    if (!own) throw missing(`there is no event ${eventId}`, "");
    const { turn: name, ...event } = own;
    const turn = name === undefined ? undefined : turns[name];
    if (name === undefined || !turn) return { ...NO_TURN, ...event };
    const stream = await block<Stream>(`memories-${name.split(" ")[0]!}`);
    return { ...turn, ...event, ...recalled(turn, stream, tick) };
  }

  return {
    run: town.run,
    first,
    ranks: false,
    town: async () => town,
    timeline: async () => start.timeline,
    frames,
    lines,
    why,
    agent,
    memories,
    metrics,
    hours,
  };
}

async function unpacked<T>(read: ReadBlock, name: string): Promise<T> {
  const text = read(name);
  if (text === null) throw missing(`this file has no block ${name}`, "it may have been cut off; get it again");
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text()) as T;
}

function missing(title: string, hint: string): Failure {
  return new Failure({ type: "about:blank", title, status: 404, detail: "", hint });
}

// ── ticks ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

function toSnapshot(frame: Frame): Snapshot {
  const byId = <T>(all: ReadonlyMap<string, T>): T[] =>
    [...all].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, value]) => value);
  return {
    type: "snapshot",
    seq: frame.tick,
    tick: frame.tick,
    time: frame.time,
    part_of_day: frame.partOfDay,
    sky: frame.sky,
    wind: frame.wind,
    temperature: frame.temperature,
    circumstances: [...frame.circumstances],
    agents: byId(frame.agents),
    objects: byId(frame.objects),
    lines: [...frame.lines],
  };
}

// ── values over time ───────────────────────────────────────────────────────────────────────────────────────────────────

function unrolled(entries: Over): States<Json> {
  let now: Json = {};
  return entries.map(([tick, value], index) => [tick, (now = index === 0 ? value : changed(now, value))]);
}

/** `[value]` is another value; a mapping names the entries that change, those of a list by number; 0 removes one. */
function changed(before: Json, change: Json): Json {
  if (Array.isArray(change)) return change[0]!;
  const entries = Object.entries(change as Fields);
  if (Array.isArray(before)) {
    const after = [...before];
    for (const [index, one] of entries) after[Number(index)] = changed(after[Number(index)]!, one);
    return after;
  }
  // A map, because an id may be a name that objects have from birth.
  const after = new Map(Object.entries(before as Fields));
  for (const [key, one] of entries) {
    if (one === 0) after.delete(key);
    else after.set(key, changed(after.get(key) ?? null, one));
  }
  return Object.fromEntries(after);
}

function latest<T>(states: States<T>, tick: number): T {
  return states.findLast(([since]) => since <= tick)![1];
}

/** The rows of a table, in the order of their keys. */
function rows<Row>(table: Readonly<Record<string, Row>>): Row[] {
  return Object.entries(table)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([, row]) => row);
}

/** Rows by a moment of theirs. */
function latestFirst<Row>(rows: readonly Row[], time: (row: Row) => string): Row[] {
  return [...rows].sort((one, other) => (time(one) < time(other) ? 1 : time(one) > time(other) ? -1 : 0));
}

/** Goals: the open ones, the first opened first; then those that have ended, the latest first. */
function openFirst(goals: readonly GoalRow[]): GoalRow[] {
  const open = goals.filter(({ status }) => status === "open");
  const over = goals.filter(({ status }) => status !== "open");
  return [
    ...latestFirst(open.reverse(), ({ opened }) => opened).reverse(),
    ...latestFirst(over, ({ changed }) => changed),
  ];
}

// ── memories ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Memory id → last access at the end of a tick, of those accessed again. */
function accessesAt(stream: Stream, tick: number): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const [when, at, ids] of stream.touched) if (when <= tick) for (const id of ids) found.set(id, at);
  return found;
}

function accessedAt(memory: MemoryJson, accessed: ReadonlyMap<number, string>): MemoryJson {
  return { ...memory, accessed_at: accessed.get(memory.id) ?? memory.accessed_at };
}

const FEELINGS: Readonly<Record<string, (felt: { valence: number; arousal: number }) => boolean>> = {
  pleasant: (felt) => felt.valence >= 0.2,
  unpleasant: (felt) => felt.valence <= -0.2,
  stirred: (felt) => felt.arousal >= 0.5,
};

/** A question is looked for word by word, since nothing here can rank. */
function filterOf(query: MemoryQuery, town: Town): (memory: MemoryJson) => boolean {
  const words = (query.query ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const place = query.place ? placeOf(query.place, town) : [];
  const [since, until] = [query.since, query.until].map((text) => (text ? Date.parse(text) : NaN));
  const feeling = query.emotion
    ? Object.hasOwn(FEELINGS, query.emotion)
      ? FEELINGS[query.emotion]
      : undefined
    : undefined;
  const keyword = query.emotion && !feeling ? query.emotion.trim().toLowerCase() : "";
  return (memory) => {
    const { emotion } = memory;
    const text = [memory.text, ...memory.tags].join("\n").toLowerCase();
    const made = Date.parse(memory.created_at);
    return (
      (!query.ids?.length || query.ids.includes(memory.id)) &&
      (!query.kind || memory.kind === query.kind) &&
      place.every((name, index) => memory.place[index] === name) &&
      (!query.min_importance || memory.importance + 1e-9 >= query.min_importance) &&
      !(since! > made) &&
      !(until! < made) &&
      (!feeling || (emotion !== null && feeling(emotion))) &&
      (!keyword || emotion?.keywords.some((one) => one.toLowerCase() === keyword) === true) &&
      words.every((word) => text.includes(word))
    );
  };
}

/** Names from outside in, of an area's id or of `Town > Library`. */
function placeOf(place: string, town: Town): readonly string[] {
  const areas = new Map(town.areas.map((area) => [area.id, area]));
  const path: string[] = [];
  for (let area = areas.get(place); area; area = areas.get(area.parent)) path.unshift(area.name);
  return path.length ? path : place.split(">").map((part) => part.trim());
}

// ── reasons ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const NO_TURN: Shared = {
  retrievals: [],
  plan: { item: null, day: [] },
  reaction: null,
  asked: [],
  lines: [],
  stored: [],
  delivered: [],
};

/** What a turn says with ids: hits with their memories and scores, and what was stored. */
function recalled(turn: Turn, stream: Stream, tick: number): Pick<Shared, "retrievals" | "stored"> {
  const byId = new Map(stream.memories.map((memory) => [memory.id, memory]));
  const accessed = accessesAt(stream, tick - 1);
  const memoryOf = (id: number): MemoryJson | null => {
    const memory = byId.get(id);
    return memory ? accessedAt(memory, accessed) : null;
  };
  return {
    retrievals: turn.retrievals.map((found) => ({
      purpose: found.purpose,
      query: found.query,
      policy: found.policy,
      k: found.k,
      candidates: found.candidates ?? null,
      hits: found.hits.map(([id, ...units], index) => ({
        memory: memoryOf(id),
        rank: index + 1,
        ...scored(found.parts, units),
      })),
    })),
    stored: turn.stored.map((entry) => {
      if ("memory" in entry) return entry;
      const [id, reason] = entry;
      const { kind, text, importance } = byId.get(id)!;
      return { kind, text, importance, stored: true, reason, memory: id };
    }),
  };
}

/** Total and parts, with the arithmetic of `cognition/turn.py`. */
function scored(parts: Scored["parts"], units: readonly number[]): Pick<Hit, "score" | "parts"> {
  let total = 0;
  const made = Object.entries(parts).map(([name, [weight, low, high]], index) => {
    const normalised = units[index]! * UNIT;
    total += weight * normalised;
    return [name, { raw: rounded((low + normalised * (high - low)) / UNIT) * UNIT, normalised, weight }] as const;
  });
  return { score: rounded(total / UNIT) * UNIT, parts: Object.fromEntries(made) };
}

/** To the nearest whole number, halves to the even one, as Python rounds. */
function rounded(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest < 0.5 || (rest === 0.5 && below % 2 === 0) ? below : below + 1;
}
