import { expect, test } from "vitest";
import { caughtUp, extended, gathered, need, passes } from "../src/view/recent";
import { talksOf } from "../src/view/talks";
import { line, say } from "./small";

test("lines of the next tick are appended, those of a jump are asked for", () => {
  const lines = Array.from({ length: 100 }, (_, tick) => say(tick + 100, "ada", "ben"));
  const recent = gathered(lines, 199, 100);
  expect(recent.from).toBe(100);
  expect(need(null, 5)).toBe("ask");
  expect(need(recent, 199)).toBe("nothing");
  expect(need(recent, 200)).toBe("append");
  expect(need(recent, 202)).toBe("ask");
  expect(need(recent, 50)).toBe("ask");
  // Too few lines before the tick to fill a panel.
  expect(need(recent, 105)).toBe("ask");
  expect(need(gathered(lines.slice(0, 3), 199, 100), 1)).toBe("nothing");
});

test("what is appended passes the filter, and old lines are forgotten", () => {
  let recent = gathered([], 0, 400);
  for (let tick = 1; tick <= 500; tick++) {
    recent = extended(recent, tick, [say(tick, "ada", "ben"), line(tick, "MOVE", "cho", { category: "moves" })], {
      category: "talk",
    });
  }
  expect(recent.lines).toHaveLength(400);
  expect(recent.lines.every((one) => one.category === "talk")).toBe(true);
  expect(recent.from).toBe(101);
});

test("an answer that comes late has the lines of the ticks that followed meanwhile", () => {
  const filter = { category: "talk" };
  const passed = [11, 12, 13].map((tick) => ({
    tick,
    lines: [say(tick, "ada", "ben"), line(tick, "MOVE", "cho", { category: "moves" })],
  }));
  const recent = caughtUp(gathered([say(10, "ada", "ben")], 10, 400), { of: filter, to: 10, passed });
  expect(recent.to).toBe(13);
  expect(recent.lines.map((one) => one.tick)).toEqual([10, 11, 12, 13]);
  expect(need(recent, 14)).toBe("append");
});

test("a filter looks at words, people and places", () => {
  const one = say(1, "ada", "ben", "“The FEAST is tonight.”");
  expect(passes(one, { text: "feast", agent: "ben", category: "talk", place: "square" })).toBe(true);
  expect(passes(one, { agent: "cho" })).toBe(false);
  expect(passes(one, { place: "inn" })).toBe(false);
  expect(passes(one, { text: "pear" })).toBe(false);
});

test("lines of two who talk belong together, until they are silent for long or stop", () => {
  const talks = talksOf([
    say(1, "ada", "ben"),
    say(1, "cho", "dan"),
    say(2, "ben", "ada"),
    line(3, "CONVERSATION_ENDED", "", { event_id: "t3.ben.1" }),
    say(4, "ada", "ben"),
    say(30, "cho", "dan"),
  ]);
  expect(talks.map((talk) => [talk.members.join(), talk.lines.length, talk.ended])).toEqual([
    ["cho,dan", 1, false],
    ["ada,ben", 2, true],
    ["ada,ben", 1, false],
    ["cho,dan", 1, false],
  ]);
});
