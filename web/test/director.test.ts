import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { EventLine, Mark } from "../src/api";
import { type Direction, direct, type Seen, START, WEIGHTS, WINDOW } from "../src/run/director";
import type { Frame } from "../src/run/frame";
import { agent, frame, line, mark, metrics, PEOPLE, say, TOWN } from "./small";

const RATE = 1;
/** Ticks a scene stays at that rate. */
const STAY = 4;

function watched(frames: readonly Frame[], marks: readonly Mark[] = [], more: Partial<Seen> = {}): Direction[] {
  let now = START;
  return frames.map((_, index) => {
    const seen = {
      town: TOWN,
      frames: frames.slice(Math.max(0, index - WINDOW + 1), index + 1),
      marks,
      rate: RATE,
      ...more,
    };
    return (now = direct(now, seen));
  });
}

/** What is shown at the last of some ticks in which only these lines happen. */
function shotOf(lines: readonly EventLine[], marks: readonly Mark[] = [], more: Partial<Seen> = {}) {
  const last = Math.max(20, ...lines.map((one) => one.tick));
  const frames = Array.from({ length: last - 18 }, (_, index) => 19 + index);
  return watched(
    frames.map((tick) =>
      frame(
        tick,
        lines.filter((one) => one.tick === tick),
      ),
    ),
    marks,
    more,
  ).at(-1)!.shot!;
}

describe("what is worth watching", () => {
  it("news told for the first time, before talk that carries old news", () => {
    const lines = [say(20, "ben", "cho"), { ...say(20, "dan", "eva"), facts: ["feast"] }];
    const shot = shotOf(lines, [mark(20, "fact", ["dan", "eva"])]);
    expect(shot).toMatchObject({ reason: "news", target: { kind: "agent", id: "dan" }, eventId: "t20.dan.0" });
    expect(shot.caption.en).toBe("Dan tells Eva something new");
    expect(shot.caption.ko).toBe("새 소식: Dan → Eva");
    expect(shotOf(lines).reason).not.toBe("news");
  });

  it("what the script or somebody outside does, at its place", () => {
    const drone = line(20, "SCRIPTED", "", { text: "A drone falls." });
    expect(shotOf([drone, say(20, "ben", "cho")])).toMatchObject({
      reason: "scripted",
      target: { kind: "area", id: "square" },
    });
    expect(shotOf([drone, line(20, "GOD_EVENT", "", { place: "inn" })]).target).toEqual({ kind: "area", id: "inn" });
  });

  it("hard words, and warmth that fell between two who are together", () => {
    expect(shotOf([say(20, "ben", "cho", "“How dare you, liar!”")])).toMatchObject({
      reason: "quarrel",
      people: ["ben", "cho"],
    });
    const warm = (tick: number, warmth: number) =>
      metrics(tick, { warmth: [{ source: "eva", target: "dan", warmth, label: "" }] });
    const shot = shotOf([], [], { metrics: [warm(8, 20), warm(20, -5)] });
    expect(shot).toMatchObject({ reason: "quarrel", target: { kind: "agent", id: "eva" } });
    expect(shot.caption.en).toBe("Eva has cooled towards Dan");
  });

  it("a thing that breaks, but not one that is mended", () => {
    const bell = (state: string) => [{ object_id: "bell", state, parent: "square" }];
    const all = PEOPLE.map((id) => agent(id));
    const frames = (one: string, other: string) => [frame(19, [], all, bell(one)), frame(20, [], all, bell(other))];
    expect(watched(frames("whole", "cracked")).at(-1)!.shot).toMatchObject({ target: { kind: "object", id: "bell" } });
    expect(watched(frames("cracked", "whole")).at(-1)!.shot!.reason).toBe("quiet");
  });

  it("two who did not know each other, not those who do", () => {
    const known = metrics(10, { warmth: [{ source: "cho", target: "ben", warmth: 0, label: "" }] });
    expect(shotOf([say(20, "ben", "cho")], [], { metrics: [metrics(10), metrics(20)] })).toMatchObject({
      reason: "meeting",
    });
    expect(shotOf([say(20, "ben", "cho")], [], { metrics: [known, known] }).reason).toBe("talk");
    expect(shotOf([say(20, "ben", "cho")]).reason).toBe("talk");
  });

  it("rather those who have not talked before than those who have", () => {
    const lines = [say(20, "ada", "ben"), say(20, "cho", "dan")];
    expect(shotOf(lines, [mark(3, "conversation", ["ada", "ben"])]).people).toEqual(["cho", "dan"]);
    expect(shotOf(lines, [mark(3, "conversation", ["cho", "dan"])]).people).toEqual(["ada", "ben"]);
  });

  it("a talk that does not end", () => {
    const lines = Array.from({ length: 11 }, (_, index) => say(20 + index, "ben", "cho"));
    expect(shotOf(lines, [mark(3, "conversation", ["ben", "cho"])]).reason).toBe("long talk");
  });

  it("a shower that changes many plans is one scene", () => {
    const rain = PEOPLE.map((id) => line(20, "PLAN_CHANGED", id, { text: "changes plans: it rains" }));
    expect(shotOf(rain).caption).toMatchObject({
      en: "5 people drop their plans",
      ko: "계획을 바꾼 5명",
      text: "it rains",
    });
    expect(shotOf([line(20, "PLAN_CHANGED", "ben", { text: "has a plan for the day" })]).reason).toBe("quiet");
  });

  it("somebody awake, in company or under way, when nothing happens", () => {
    const agents = [
      agent("ada", { asleep: true, position: "inn" }),
      agent("ben"),
      agent("cho", { path: ["square", "inn"] }),
    ];
    expect(watched([frame(20, [], agents)]).at(-1)!.shot).toMatchObject({ reason: "quiet", target: { id: "cho" } });
  });

  it("every reason has a caption in two languages with the names of who is in it, and a text of bounded length", () => {
    const long = say(20, "ben", "cho", "x".repeat(400));
    const shot = shotOf([long], [mark(20, "fact", ["ben", "cho"])]);
    expect([...shot.caption.text].length).toBeLessThanOrEqual(140);
    for (const text of [shot.caption.en, shot.caption.ko]) expect(text).toMatch(/Ben.*Cho/);
  });

  it("nobody is watched where nobody is", () => {
    expect(watched([frame(20, [line(20, "SCRIPTED", "", { place: "nowhere" })], [])]).at(-1)!.shot).toBeNull();
  });
});

describe("how long a scene is kept", () => {
  it("until its time is over, when the next is worth more", () => {
    const frames = Array.from({ length: 30 }, (_, tick) =>
      frame(tick, tick % 2 ? [say(tick, "ada", "ben")] : [say(tick, "cho", "dan")]),
    );
    const cuts = cutsOf(watched(frames));
    for (const [one, other] of pairs(cuts)) expect(other - one).toBeGreaterThanOrEqual(STAY);
  });

  it("shorter for something far better", () => {
    const frames = Array.from({ length: 8 }, (_, tick) =>
      frame(tick, tick === 4 ? [line(4, "SCRIPTED", "")] : tick < 4 ? [say(tick, "ada", "ben")] : []),
    );
    expect(watched(frames)[4]!.shot!.reason).toBe("scripted");
  });

  it("is longer where ticks go by faster", () => {
    const frames = Array.from({ length: 60 }, (_, tick) =>
      frame(tick, [say(tick, tick % 2 ? "ada" : "cho", tick % 2 ? "ben" : "dan")]),
    );
    const slow = cutsOf(watched(frames)).length;
    expect(cutsOf(watched(frames, [], { rate: 4 })).length).toBeLessThan(slow);
  });

  it("begins anew when somebody goes back in time", () => {
    const late = watched([frame(50, [say(50, "ada", "ben")])]).at(-1)!;
    const back = direct(late, { town: TOWN, frames: [frame(10)], marks: [], rate: RATE });
    expect(back.shot!.since).toBe(10);
    expect(back.left).toEqual([]);
  });
});

describe("of any history", () => {
  const histories = Array.from({ length: 40 }, (_, seed) => history(seed + 1));

  it("the same ticks give the same shots", () => {
    for (const { frames, marks } of histories.slice(0, 8))
      expect(watched(frames, marks)).toEqual(watched(frames, marks));
  });

  it("nobody absent is watched", () => {
    for (const { frames, marks } of histories) {
      watched(frames, marks).forEach(({ shot }, tick) => {
        if (shot?.target.kind === "agent") expect(frames[tick]!.agents.has(shot.target.id)).toBe(true);
        if (!shot) expect(frames[tick]!.agents.size).toBe(0);
      });
    }
  });

  it("no scene is left within three ticks as long as it can be seen and something happens in it", () => {
    for (const { frames, marks } of histories) {
      const shots = watched(frames, marks);
      for (const [one, other] of pairs(cutsOf(shots))) {
        const { target, reason } = shots[other - 1]!.shot!;
        if (reason === "quiet") continue;
        if (target.kind !== "agent" || frames[other]!.agents.has(target.id))
          expect(other - one).toBeGreaterThanOrEqual(3);
      }
    }
  });

  it("the camera gets round: nobody has half of the time to themselves", () => {
    for (const { frames, marks } of histories.filter((one) => one.crowded)) {
      const counts = new Map<string, number>();
      for (const { shot } of watched(frames, marks))
        if (shot) counts.set(shot.target.id, (counts.get(shot.target.id) ?? 0) + 1);
      expect(Math.max(...counts.values())).toBeLessThan(frames.length / 2);
    }
  });

  it("is weighed as docs/browser.md says", () => {
    const page = readFileSync("../docs/browser.md", "utf8");
    const table = page.slice(page.indexOf("| worth |")).split("\n\n")[0]!;
    const told = [...table.matchAll(/^\| ([\d.]+) \|/gm)].map((row) => Number(row[1]));
    expect(told).toEqual([...new Set(Object.values(WEIGHTS).map((one) => one.worth))]);
  });
});

function cutsOf(shots: readonly Direction[]): number[] {
  return [...new Set(shots.flatMap(({ shot }) => (shot ? [shot.since] : [])))];
}

function pairs(list: readonly number[]): [number, number][] {
  return list.slice(1).map((value, index) => [list[index]!, value]);
}

/** Eighty ticks in which people come, go, talk, tell news and change plans as a small generator has it. */
function history(seed: number): { frames: Frame[]; marks: Mark[]; crowded: boolean } {
  let state = seed * 2654435761;
  const dice = (sides: number): number => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * sides);
  };
  const crowded = seed % 2 === 0;
  const marks: Mark[] = [];
  const frames = Array.from({ length: 80 }, (_, tick) => {
    const there = PEOPLE.filter(() => crowded || dice(6) > 0);
    const lines: EventLine[] = [];
    const [one, other] = [there[dice(there.length)], there[dice(there.length)]];
    if (one && other && one !== other) {
      const kind = dice(8);
      if (kind < 4) lines.push(say(tick, one, other));
      if (kind === 4) {
        lines.push(say(tick, one, other));
        marks.push(mark(tick, "fact", [one, other]));
      }
      if (kind === 5) lines.push(line(tick, "PLAN_CHANGED", one, { text: `changes plans: ${tick}` }));
      if (kind === 6) lines.push(line(tick, "REFLECTED", other));
      if (kind === 7 && dice(4) === 0) lines.push(line(tick, "SCRIPTED", ""));
    }
    return frame(
      tick,
      lines,
      there.map((id) => agent(id)),
    );
  });
  return { frames, marks, crowded };
}
