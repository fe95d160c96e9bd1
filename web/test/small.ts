// A town of a few people, made tick by tick for tests.

import type { AgentState, EventLine, Hour, Mark, MemoryJson, Metrics, ObjectState, Town } from "../src/api";
import type { Frame } from "../src/run/frame";

export const PEOPLE = ["ada", "ben", "cho", "dan", "eva"] as const;

const area = (id: string, parent: string, outdoor = false) => ({
  id,
  name: id[0]!.toUpperCase() + id.slice(1),
  parent,
  outdoor,
  private: false,
  box: null,
});

export const TOWN: Town = {
  run: "small",
  title: "Small",
  scenario: "small",
  language: "en",
  stage: "society",
  mind: "offline",
  seed: 1,
  people: PEOPLE.length,
  last_tick: 100,
  final_tick: 100,
  time: "2031-10-04T14:20:00Z",
  changed: "2031-10-04T14:20:00Z",
  live: false,
  playing: false,
  problem: "",
  theme: "hamlet",
  start: "2031-10-04T06:00:00Z",
  tick_minutes: 5,
  areas: [area("town", ""), area("square", "town", true), area("inn", "town")],
  ways: [],
  things: [{ id: "bell", name: "bell", kind: "bell", area: "square", states: ["whole", "cracked"], portable: false }],
  characters: PEOPLE.map((id) => ({
    id,
    name: `${id} Full`,
    called: id[0]!.toUpperCase() + id.slice(1),
    age: 40,
    pronoun: "they" as const,
    work: "",
    traits: [],
    background: "",
    goals: [],
    home: "inn",
    look: "",
  })),
  facts: [
    { id: "feast", text: "there is a feast at seven", originators: ["ada"], place: "square", starts: "", minutes: 60 },
  ],
  policies: ["recall"],
  may: [],
};

export function timeOf(tick: number): string {
  return new Date(Date.parse(TOWN.start) + tick * TOWN.tick_minutes * 60_000).toISOString();
}

export function agent(id: string, more: Partial<AgentState> = {}): AgentState {
  return {
    agent_id: id,
    position: "square",
    current_action: "standing about",
    current_plan_item: "",
    dialogue: "",
    to: "",
    emoji: "",
    asleep: false,
    path: [],
    timestamp: "",
    ...more,
  };
}

export function line(tick: number, type: string, agentId: string, more: Partial<EventLine> = {}): EventLine {
  return {
    event_id: `t${tick}.${agentId || "-"}.0`,
    tick,
    time: timeOf(tick),
    type,
    category: "world",
    mark: "·",
    agent_id: agentId,
    to: "",
    place: "square",
    text: "",
    facts: [],
    memories: [],
    ...more,
  };
}

export function say(tick: number, from: string, to: string, text = "“Well.”"): EventLine {
  return line(tick, "SAY", from, { to, text, category: "talk" });
}

export function frame(
  tick: number,
  lines: readonly EventLine[] = [],
  agents: readonly AgentState[] = PEOPLE.map((id) => agent(id)),
  objects: readonly ObjectState[] = [{ object_id: "bell", state: "whole", parent: "square" }],
): Frame {
  return {
    tick,
    time: timeOf(tick),
    partOfDay: "morning",
    sky: "clear",
    wind: "calm",
    temperature: "mild",
    circumstances: [],
    agents: new Map(agents.map((one) => [one.agent_id, one])),
    objects: new Map(objects.map((one) => [one.object_id, one])),
    lines,
  };
}

export function mark(
  tick: number,
  kind: Mark["kind"],
  people: readonly string[],
  eventId = `t${tick}.${people[0] ?? "-"}.0`,
): Mark {
  return { tick, kind, event_id: eventId, agent_id: people[0] ?? "", people: [...people], text: "" };
}

/** Something that Ada saw in the tick of its number. */
export function memory(id: number, text: string, more: Partial<MemoryJson> = {}): MemoryJson {
  return {
    id,
    agent: "ada",
    kind: "observation",
    text,
    created_at: timeOf(id),
    accessed_at: timeOf(id),
    tick: id,
    importance: 5,
    citations: [],
    place: ["Town", "Square"],
    emotion: null,
    source: "",
    session: "",
    tags: [],
    event: `t${id}.ada.0`,
    details: {},
    ...more,
  };
}

export function metrics(tick: number, more: Partial<Metrics> = {}): Metrics {
  return { tick, spreads: [], network: [], density: 0, warmth: [], usage: [], verdicts: [], ...more };
}

/** Half of all pairs have spoken by tick 12, and everybody knows of the feast by tick 24. */
export function hours(at: number): Hour[] {
  return [...[0, 12, 24, 36].filter((tick) => tick < at), at].map((tick) => ({
    tick,
    time: timeOf(tick),
    density: tick < 12 ? 0 : 0.5,
    pairs: tick < 12 ? 0 : 5,
    lines: tick,
    known: { feast: tick < 24 ? 0.2 : 1 },
  }));
}
