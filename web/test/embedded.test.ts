// @vitest-environment node
// What a one-file replay answers. With COMMONPLACE_REPLAY, a folder made by tests/parts/web/test_one_file.py, also that it
// answers what the server would.

import { existsSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Delta, MemoryJson, Snapshot } from "../src/api";
import { embeddedSource, type ReadBlock } from "../src/run/embedded";
import { afterDelta, fromSnapshot } from "../src/run/frame";
import type { Source } from "../src/run/source";
import { agent, memory, say, TOWN, timeOf } from "./small";

const LAST = 99;
const ambient = (tick: number) => ({
  seq: tick,
  tick,
  time: timeOf(tick).replace(".000Z", "Z"),
  part_of_day: "morning",
  sky: "clear",
  wind: "calm",
  temperature: "mild",
  circumstances: [],
});
const objects = [{ object_id: "bell", state: "whole", parent: "square" }];
const linesAt = (tick: number) => (tick % 10 === 0 ? [say(tick, "ada", "ben", `“Number ${tick}.”`)] : []);
const at = (tick: number, position: string) => agent("ada", { position, timestamp: ambient(tick).time });
const snapshot = (tick: number): Snapshot => ({
  type: "snapshot",
  ...ambient(tick),
  agents: [at(tick, tick < 60 ? "square" : "inn")],
  objects,
  lines: linesAt(tick),
});
const delta = (tick: number): Delta => ({
  type: "delta",
  ...ambient(tick),
  agents: tick === 60 ? [at(tick, "inn")] : [],
  objects: [],
  gone: [],
  lines: linesAt(tick),
});
const span = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const ticks = (from: number, to: number) => ({ first: snapshot(from), deltas: span(Math.max(1, from), to).map(delta) });
const detail = {
  agent_id: "ada",
  doing: "a",
  position: "square",
  mood: "calm",
  asleep: false,
  played: false,
  plan: { day: [{ now: false }, { now: false }] },
  beliefs: { ben: { node_id: "ben", seen: 0 } },
  ties: {},
  past: { "heard ben  pot": { topic: "pot", time: "2031-10-04T06:00:00Z" } },
  goals: {
    a: { id: "a", status: "done", opened: "2031-10-04T06:00:00Z", changed: "2031-10-04T06:05:00Z" },
    b: { id: "b", status: "open", opened: "2031-10-04T06:10:00Z", changed: "2031-10-04T06:10:00Z" },
    c: { id: "c", status: "open", opened: "2031-10-04T06:00:00Z", changed: "2031-10-04T06:20:00Z" },
    d: { id: "d", status: "given_up", opened: "2031-10-04T06:00:00Z", changed: "2031-10-04T06:15:00Z" },
  },
  carries: [],
  knows: [],
  thinking: [],
};
const remembered = (id: number, tick: number, more: Partial<MemoryJson> = {}) => {
  const { time } = ambient(tick);
  const of = { tick, created_at: time, accessed_at: time, importance: id, place: ["Town", "Inn"], event: "" };
  return memory(id, `memory ${id}`, { ...of, ...more });
};

const BLOCKS: Readonly<Record<string, unknown>> = {
  start: {
    format: 1,
    first: 0,
    last: LAST,
    chunk: 48,
    agents: ["ada"],
    prompts: false,
    town: TOWN,
    timeline: { last_tick: LAST, activity: [], weather: [], marks: [] },
  },
  "ticks-0": ticks(0, 47),
  "ticks-1": ticks(48, 95),
  "ticks-2": ticks(96, LAST),
  "detail-ada": [
    [0, detail],
    [
      3,
      {
        plan: { day: { "1": { now: [true] } } },
        beliefs: { __proto: [{ node_id: "__proto" }], ben: { seen: [3] } },
        past: { "told ben  bell": [{ topic: "bell", time: "2031-10-04T06:15:00Z" }] },
      },
    ],
    [7, { beliefs: { ben: 0 } }],
  ],
  "memories-ada": {
    memories: [
      remembered(1, 0),
      remembered(2, 5, { emotion: { valence: 0.8, arousal: 0.1, confidence: 1, keywords: ["Joy"] }, tags: ["feast"] }),
      remembered(3, 9, { place: ["Town", "Square"] }),
      remembered(4, 80),
    ],
    removed: [[1, 20]],
    touched: [
      [12, "2031-10-04T07:00:00Z", [2]],
      [30, "2031-10-04T08:30:00Z", [2, 3]],
    ],
    policies: [
      [0, "recall"],
      [50, "park"],
    ],
  },
  metrics: [
    [0, { spreads: [], density: 0, network: {}, warmth: {}, usage: {}, verdicts: [] }],
    [10, { density: [0.5], network: { "ada ben": [{ between: ["ada", "ben"], lines: 0 }] } }],
  ],
  hours: [0, 12, 24].map((tick) => ({ tick, density: tick / 100 })),
  "why-0": {
    turns: {
      "ada 20": {
        plan: { item: null, day: [] },
        reaction: null,
        asked: [],
        delivered: [],
        retrievals: [
          {
            purpose: "react",
            query: "q",
            policy: "recall",
            k: 2,
            parts: { recency: [1, 0, 2], relevance: [0.5, 0, 1] },
            hits: [[2, 1 << 29, 1 << 30]],
          },
        ],
        stored: [
          [2, "it matters"],
          { kind: "observation", text: "x", importance: 1, stored: false, reason: "dull", memory: 0 },
        ],
      },
    },
    events: {
      "t20.ada.0": { event: { id: "t20.ada.0" }, explanation: "", heard_from: [], turn: "ada 20" },
      "t20.-.0": { event: { id: "t20.-.0" }, explanation: "The script.", heard_from: [] },
    },
  },
};

const pack = (value: unknown): string => gzipSync(JSON.stringify(value)).toString("base64");

function opened(blocks: Readonly<Record<string, unknown>> = BLOCKS): { source: Promise<Source>; read: string[] } {
  const read: string[] = [];
  const block: ReadBlock = (name) => {
    read.push(name);
    return name in blocks ? pack(blocks[name]) : null;
  };
  return { source: embeddedSource(block), read };
}

describe("ticks", () => {
  it("any span is a snapshot and its deltas, across blocks too", async () => {
    const source = await opened().source;
    for (const [from, to] of [
      [0, 0],
      [0, 99],
      [30, 70],
      [48, 50],
      [61, 200],
    ] as const) {
      const frames = await source.frames(from, to);
      expect(frames).toEqual({ first: snapshot(from), rest: span(from + 1, Math.min(to, LAST)).map(delta) });
      let frame = fromSnapshot(frames.first);
      for (const one of frames.rest) frame = afterDelta(frame, one);
      expect(frame.agents.get("ada")!.position).toBe(frame.tick < 60 ? "square" : "inn");
    }
  });

  it("lines are found from the last one back", async () => {
    const source = await opened().source;
    const ids = async (query: Parameters<Source["lines"]>[0]) => (await source.lines(query)).map((one) => one.tick);
    expect(await ids({ to: 99 })).toEqual([0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    expect(await ids({ to: 59, limit: 2 })).toEqual([40, 50]);
    expect(await ids({ to: 99, text: " NUMBER 4" })).toEqual([40]);
    expect(await ids({ to: 99, agent: "ben", category: "talk" })).toHaveLength(10);
    expect(await ids({ to: 99, agent: "cho" })).toEqual([]);
    expect(await ids({ to: 99, place: "inn" })).toEqual([]);
  });

  it("those not in the file are refused", async () => {
    const source = await opened().source;
    await expect(source.frames(100, 120)).rejects.toMatchObject({
      problem: { status: 404, title: "there is no tick 100" },
    });
    await expect(source.frames(9, 3)).rejects.toThrow();
    await expect(source.agent("ada", 100)).rejects.toThrow();
    await expect(source.agent("toString", 1)).rejects.toThrow();
  });
});

describe("a character", () => {
  it("is as it was at the tick", async () => {
    const source = await opened().source;
    const { beliefs, plan, tick, time } = await source.agent("ada", 5);
    expect({ tick, time }).toEqual({ tick: 5, time: "2031-10-04T06:25:00Z" });
    expect(plan.day.map((item) => item.now)).toEqual([false, true]);
    expect(beliefs).toEqual([{ node_id: "__proto" }, { node_id: "ben", seen: 3 }]);
    expect((await source.agent("ada", 2)).beliefs).toEqual([{ node_id: "ben", seen: 0 }]);
    expect((await source.agent("ada", 99)).beliefs).toEqual([{ node_id: "__proto" }]);
    expect((await source.agent("ada", 2)).past.map((row) => row.topic)).toEqual(["pot"]);
    expect(
      (await source.agent("ada", 5)).past.map((row) => row.topic),
      "the latest first",
    ).toEqual(["bell", "pot"]);
    expect(
      (await source.agent("ada", 5)).goals.map((goal) => goal.id),
      "open ones first",
    ).toEqual(["c", "b", "d", "a"]);
  });

  it("remembers what it did at the tick, accessed when it was", async () => {
    const source = await opened().source;
    const found = async (query: object) =>
      (await source.memories("ada", { at: 40, ...query })).found.map(({ memory: one }) => one.id);
    expect(await found({})).toEqual([3, 2]);
    expect(await found({ at: 19 })).toEqual([3, 2, 1]);
    expect(await found({ place: "inn" })).toEqual([2]);
    expect(await found({ place: "Town > Square" })).toEqual([3]);
    expect(await found({ emotion: "pleasant" })).toEqual([2]);
    expect(await found({ emotion: "joy" })).toEqual([2]);
    expect(await found({ emotion: "constructor" })).toEqual([]);
    expect(await found({ min_importance: 3 })).toEqual([3]);
    expect(await found({ until: "2031-10-04T06:30:00Z" })).toEqual([2]);
    expect(await found({ query: "feast MEMORY" })).toEqual([2]);
    expect(await found({ offset: 1 })).toEqual([2]);
    expect(await found({ limit: 1 })).toEqual([3]);
    expect(await found({ ids: [1, 2] })).toEqual([2]);
    const one = await source.memories("ada", { at: 12 });
    expect(one.found.map(({ memory: { accessed_at } }) => accessed_at)).toEqual([
      "2031-10-04T06:45:00Z",
      "2031-10-04T07:00:00Z",
      "2031-10-04T06:00:00Z",
    ]);
    expect([one.total, one.policy, (await source.memories("ada", { at: 60 })).policy]).toEqual([3, "recall", "park"]);
  });
});

describe("reasons", () => {
  it("are the turn's, with memories as they were when they were scored", async () => {
    const why = await (await opened().source).why("t20.ada.0");
    expect(why).toMatchObject({
      event: { id: "t20.ada.0" },
      stored: [{ text: "memory 2", reason: "it matters", stored: true }, { stored: false }],
    });
    expect(why.retrievals).toEqual([
      {
        purpose: "react",
        query: "q",
        policy: "recall",
        k: 2,
        candidates: null,
        hits: [
          {
            memory: {
              ...remembered(2, 5, { emotion: expect.anything(), tags: ["feast"] }),
              accessed_at: "2031-10-04T07:00:00Z",
            },
            rank: 1,
            score: 1,
            parts: {
              recency: { raw: 1, normalised: 0.5, weight: 1 },
              relevance: { raw: 1, normalised: 1, weight: 0.5 },
            },
          },
        ],
      },
    ]);
  });

  it("of what no character did are a sentence", async () => {
    const source = await opened().source;
    expect(await source.why("t20.-.0")).toMatchObject({ explanation: "The script.", retrievals: [], stored: [] });
    for (const id of ["t20.ada.9", "t500.ada.0", "nonsense", "constructor"])
      await expect(source.why(id)).rejects.toThrow();
  });
});

describe("the blocks", () => {
  it("are unpacked once, and only those that are needed", async () => {
    const { source, read } = opened();
    await (await source).town();
    expect(read).toEqual(["start"]);
    await Promise.all([(await source).frames(0, 10), (await source).frames(5, 20)]);
    expect(read).toEqual(["start", "ticks-0"]);
  });

  it("of another format are refused, and a cut-off file says so", async () => {
    await expect(opened({ start: { ...(BLOCKS.start as object), format: 2 } }).source).rejects.toThrow("cannot read");
    const cut = await opened({ start: BLOCKS.start }).source;
    await expect(cut.metrics(5)).rejects.toMatchObject({ problem: { hint: expect.stringContaining("cut off") } });
  });

  it("measures are those of the tick", async () => {
    const source = await opened().source;
    expect(await source.metrics(9)).toMatchObject({ tick: 9, density: 0, network: [] });
    expect(await source.metrics(50)).toMatchObject({ tick: 50, density: 0.5, network: [{ between: ["ada", "ben"] }] });
  });

  it("the hours before a tick are followed by the tick itself", async () => {
    const source = await opened().source;
    const rows = await source.hours(12);
    expect(rows.map(({ tick, density }) => [tick, density])).toEqual([
      [0, 0],
      [12, 0.5],
    ]);
    expect(rows.at(-1)).toEqual({
      tick: 12,
      time: "2031-10-04T07:00:00Z",
      density: 0.5,
      pairs: 0,
      lines: 0,
      known: {},
    });
    expect((await source.hours(0)).length).toBe(1);
  });
});

const folder = process.env.COMMONPLACE_REPLAY ?? "";

describe.runIf(existsSync(folder))("the server's answers", () => {
  it("are the file's", async () => {
    const blocks = JSON.parse(readFileSync(`${folder}/blocks.json`, "utf8")) as Record<string, string>;
    const answers = JSON.parse(readFileSync(`${folder}/answers.json`, "utf8")) as [keyof Source, unknown[], unknown][];
    const source = await embeddedSource((name) => blocks[name] ?? null);
    expect(answers.length).toBeGreaterThan(0);
    for (const [ask, given, answer] of answers) {
      expect(
        await (source[ask] as (...given: unknown[]) => Promise<unknown>)(...given),
        `${ask}(${given.join(", ")})`,
      ).toEqual(answer);
    }
  });
});
