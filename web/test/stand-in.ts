// A source of a small town whose ticks, lines and reasons are made up by rule; and a store and a page around it.

import { render } from "@testing-library/react";
import { createElement, type ReactElement } from "react";
import { vi } from "vitest";
import type {
  AgentDetail,
  Delta,
  EventLine,
  FoundMemory,
  Frames,
  PartJson,
  Reasons,
  Snapshot,
  Status,
  Timeline,
  Town,
} from "../src/api";
import type { Actions, Listener, Source } from "../src/run/source";
import { ViewContext } from "../src/view/context";
import { usePreferences } from "../src/view/preferences";
import { type Opening, openView, type ViewStore } from "../src/view/store";
import { agent, hours, memory, metrics, PEOPLE, say, TOWN, timeOf } from "./small";

const AMBIENT = { part_of_day: "morning", sky: "clear", wind: "calm", temperature: "mild", circumstances: [] };

/** Ada says something to Ben at every third tick. */
export function linesOf(tick: number): EventLine[] {
  return tick % 3 === 0 ? [say(tick, "ada", "ben", `“Line ${tick}.”`)] : [];
}

const standing = (tick: number): ReturnType<typeof agent>[] =>
  PEOPLE.map((id) => agent(id, { timestamp: timeOf(tick), current_action: `waiting at tick ${tick}` }));

export function snapshot(tick: number): Snapshot {
  return {
    type: "snapshot",
    seq: tick,
    tick,
    time: timeOf(tick),
    ...AMBIENT,
    agents: standing(tick),
    objects: [{ object_id: "bell", state: "whole", parent: "square" }],
    lines: linesOf(tick),
  };
}

export function delta(tick: number): Delta {
  return {
    type: "delta",
    seq: tick,
    tick,
    time: timeOf(tick),
    ...AMBIENT,
    agents: standing(tick),
    objects: [],
    gone: [],
    lines: linesOf(tick),
  };
}

export function status(more: Partial<Status> = {}): Status {
  return {
    type: "status",
    live: true,
    playing: true,
    rate: 2,
    last_tick: 100,
    final_tick: 200,
    progress: "",
    ...more,
  };
}

function framesOf(from: number, to: number): Frames {
  const rest: Delta[] = [];
  for (let tick = from + 1; tick <= to; tick++) rest.push(delta(tick));
  return { first: snapshot(from), rest };
}

export const DETAIL: AgentDetail = {
  agent_id: "ada",
  tick: 0,
  time: timeOf(0),
  doing: "waiting",
  position: "square",
  mood: "glad",
  asleep: false,
  played: false,
  plan: {
    day: [
      { start: "06:00", end: "08:00", place: "inn", text: "breakfast", now: false, over: true },
      { start: "08:00", end: "12:00", place: "square", text: "selling pears", now: true, over: false },
    ],
    hours: [],
    actions: [],
  },
  beliefs: [
    {
      node_id: "inn",
      name: "Inn",
      kind: "area",
      place: "town",
      state: "open",
      seen: 3,
      true_place: "town",
      true_state: "open",
      stale: false,
    },
    {
      node_id: "bell",
      name: "bell",
      kind: "object",
      place: "square",
      state: "whole",
      seen: 2,
      true_place: "square",
      true_state: "cracked",
      stale: true,
    },
  ],
  ties: [
    {
      other: "ben",
      label: "friend",
      warmth: 40,
      talks: 3,
      known_since: 0,
      last_talk: 9,
      summary: "We sell pears.",
      because: [1],
    },
  ],
  goals: [
    {
      id: "repair/bell 3",
      kind: "repair",
      text: "mend the bell",
      person: "ben",
      object: "bell",
      place: "square",
      hour: "",
      steps: 3,
      done_steps: 1,
      opened: timeOf(3),
      changed: timeOf(12),
      due: timeOf(24),
      tries: 2,
      status: "open",
      because: [1, 2],
      moved_by: 2,
      event: "t12.ada.0",
      memory: "The bell is cracked.",
    },
    {
      id: "visit/cho 1",
      kind: "visit",
      text: "call on Cho",
      person: "cho",
      object: "",
      place: "",
      hour: "",
      steps: 1,
      done_steps: 0,
      opened: timeOf(1),
      changed: timeOf(6),
      due: "",
      tries: 0,
      status: "given_up",
      because: [3],
      moved_by: 3,
      event: "",
      memory: "Cho is away.",
    },
  ],
  past: [
    {
      kind: "told",
      other: "ben",
      act: "",
      topic: "feast",
      text: "there is a feast at seven",
      times: 2,
      since: timeOf(3),
      time: timeOf(9),
      due: "",
      because: [1, 2],
      event: "t9.ada.0",
      memory: "I told Ben of the feast.",
    },
    {
      kind: "promised",
      other: "cho",
      act: "",
      topic: "the gate",
      text: "",
      times: 1,
      since: timeOf(6),
      time: timeOf(6),
      due: timeOf(24),
      because: [3],
      event: "",
      memory: "I will see to the gate.",
    },
  ],
  carries: [],
  knows: ["feast"],
  thinking: [{ kind: "relate", about: "ben", due: timeOf(1) }],
};

export const TIMELINE: Timeline = {
  last_tick: 100,
  activity: Array.from({ length: 101 }, (_, tick) => (tick % 3 === 0 ? 1 : 0)),
  weather: [
    [0, "clear"],
    [40, "rain"],
    [60, "clear"],
  ],
  marks: [
    {
      tick: 12,
      kind: "conversation",
      event_id: "t12.ada.1",
      agent_id: "",
      people: ["ada", "ben"],
      text: "Ada & Ben begin to talk",
    },
    {
      tick: 50,
      kind: "reflection",
      event_id: "t50.ben.1",
      agent_id: "ben",
      people: ["ben"],
      text: "thinks it over",
    },
  ],
};

const parts = (relevance: number): Record<string, PartJson> => ({
  relevance: { raw: relevance, normalised: relevance, weight: 1 },
  recency: { raw: 1, normalised: 1, weight: 1 },
});

/** Memory 2 tipped it by its score, memory 4 was cited. */
export const WHY: Reasons = {
  event: {
    id: "t12.ada.0",
    tick: 12,
    time: timeOf(12),
    type: "SAY",
    agent_id: "ada",
    place: "square",
    to_agent_id: "ben",
    utterance: "Come to the feast.",
    because: [4],
    facts: ["feast"],
  },
  explanation: "",
  retrievals: [
    {
      purpose: "react",
      query: "Ben is here",
      policy: "recall",
      k: 3,
      candidates: 40,
      hits: [
        { memory: memory(2, "There is a feast tonight."), rank: 1, score: 1.9, parts: parts(0.9) },
        { memory: memory(3, "Ben likes pears."), rank: 2, score: 1.3, parts: parts(0.3) },
        {
          memory: memory(4, "Ben asked about tonight.", { kind: "reflection", citations: [1] }),
          rank: 3,
          score: 1.29,
          parts: parts(0.29),
        },
      ],
    },
  ],
  plan: {
    item: {
      id: "day 0.1",
      start_time: timeOf(12),
      duration_minutes: 30,
      location: "square",
      action_description: "selling pears",
      object_id: "",
      verb: "",
      emoji: "",
      because: [],
    },
    day: [],
  },
  reaction: { decision: "talk", target: "ben", purpose: "invite", reason: "Ben is here", because: [4] },
  asked: [
    {
      task: "converse",
      prompt: "Say something.",
      answer: { utterance: "Come to the feast." },
      outcome: "value",
      kind: "",
      ordinal: 0,
      reused: false,
      needless: false,
      flaws: {},
      row: { row: "invite", when: ["met = ben"], nearly: [["bye.nod", "whim < 80 (91)"]] },
      attempts: [],
    },
  ],
  account: [],
  goals: [],
  lines: [{ say: "It rains on my roof.", when: ["sky = rain"], failed: "sky = rain (clear)" }],
  stored: [
    { kind: "dialogue", text: "I asked Ben to the feast.", importance: 4, stored: true, reason: "new", memory: 5 },
  ],
  heard_from: [
    {
      fact: "feast",
      agent: "ada",
      memory: 2,
      from: "cho",
      event_id: "t1.cho.0",
      tick: 1,
      chain: [{ agent: "cho", memory: 1, from: "", event_id: "", tick: 0 }],
    },
  ],
  delivered: [],
};

export interface StandIn extends Source {
  readonly town: Source["town"] & ReturnType<typeof vi.fn>;
  /** Who follows, the latest last. */
  readonly listeners: Listener[];
  /** From which tick each of them follows. */
  readonly after: number[];
}

export function standIn(town: Partial<Town> = {}, actions?: Partial<Actions>): StandIn {
  const whole = { ...TOWN, ...town };
  const listeners: Listener[] = [];
  const after: number[] = [];
  return {
    run: whole.run,
    listeners,
    after,
    town: vi.fn(async () => whole),
    timeline: vi.fn(async () => TIMELINE),
    frames: vi.fn(async (from: number, to: number) => framesOf(from, to)),
    lines: vi.fn(async ({ to, limit = 200 }: { to: number; limit?: number }) => {
      const all: EventLine[] = [];
      for (let tick = 0; tick <= to; tick++) all.push(...linesOf(tick));
      return all.slice(-limit);
    }),
    why: vi.fn(async () => WHY),
    agent: vi.fn(async (id: string, at: number) => ({ ...DETAIL, agent_id: id, tick: at })),
    memories: vi.fn(async (id: string, { at, ids, query }: { at: number; ids?: readonly number[]; query?: string }) => {
      const found: FoundMemory[] = ids
        ? ids.map((one) => ({ memory: memory(one, `Memory ${one}.`) }))
        : [
            {
              memory: memory(7, "A pear fell."),
              ...(query ? { rank: 1, score: 1.5, parts: parts(0.5) } : {}),
            },
          ];
      return { agent_id: id, tick: at, policy: "recall", total: found.length, found };
    }),
    metrics: vi.fn(async (at: number) => metrics(at)),
    hours: vi.fn(async (at: number) => hours(at)),
    ...(whole.live
      ? {
          follow: (from: number, listener: Listener) => {
            listeners.push(listener);
            after.push(from);
            return () => undefined;
          },
        }
      : {}),
    ...(actions ? { actions: actions as Actions } : {}),
  };
}

/** A store of the town, opened. */
export async function opened(source: Source = standIn(), opening: Opening = {}): Promise<ViewStore> {
  return openView(source, opening);
}

/** A panel in the page, in English unless said otherwise. */
export function shown(store: ViewStore, panel: ReactElement, language: "en" | "ko" = "en"): ReturnType<typeof render> {
  usePreferences.setState({ language });
  return render(createElement(ViewContext.Provider, { value: store }, panel));
}
