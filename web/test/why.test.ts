import { expect, test } from "vitest";
import { layout } from "../src/view/network";
import { branches, curve } from "../src/view/spread";
import { summed, sums } from "../src/view/usage";
import { missingOf, tippingOf } from "../src/view/why";
import { WHY } from "./stand-in";

test("what was cited comes first, then what stood out most", () => {
  const tipping = tippingOf(WHY);
  expect(tipping.map((one) => [one.memory.id, one.cited])).toEqual([
    [4, true],
    [2, false],
    [3, false],
  ]);
  expect(tipping[1]?.lead).toBeCloseTo(0.6);
  expect(missingOf(WHY)).toEqual([]);
});

test("a memory that is no longer there tips nothing", () => {
  const [retrieval] = WHY.retrievals;
  const [gone, ...rest] = retrieval!.hits;
  const retrievals = [{ ...retrieval!, hits: [{ ...gone!, memory: null }, ...rest] }];
  expect(tippingOf({ ...WHY, retrievals }).map((one) => one.memory.id)).toEqual([4, 3]);
});

test("a memory that is cited and was not retrieved is asked for", () => {
  expect(missingOf({ ...WHY, retrievals: [] })).toEqual([4]);
});

const step = (source: string, target: string, tick: number) => ({
  source,
  target,
  tick,
  event_id: `t${tick}.${source}.0`,
  words: "",
});

test("a fact grows from its origins to those who heard it first from each", () => {
  const spread = {
    fact: "feast",
    text: "",
    originators: ["ada"],
    knowers: [],
    share: 0.8,
    tree: [step("ben", "cho", 9), step("ada", "ben", 4), step("ada", "cho", 12), step("eva", "dan", 5)],
  };
  expect(curve(spread)).toEqual([
    [0, 1],
    [4, 2],
    [5, 4],
    [9, 5],
  ]);
  expect(branches(spread)).toMatchObject([
    { id: "ada", told: [{ id: "ben", told: [{ id: "cho", told: [] }] }] },
    { id: "eva", told: [{ id: "dan" }] },
  ]);
});

test("those who talk lie nearer than those who do not, always in the same places", () => {
  const ids = ["a", "b", "c", "d", "e", "f"];
  const edges = [
    { between: ["a", "d"] as const, weight: 9 },
    { between: ["b", "e"] as const, weight: 1 },
  ];
  const nodes = layout(
    ids,
    edges.map((edge) => ({ ...edge, between: [...edge.between] as [string, string] })),
  );
  expect(nodes).toEqual(
    layout(
      ids,
      edges.map((edge) => ({ ...edge, between: [...edge.between] as [string, string] })),
    ),
  );
  const at = new Map(nodes.map((node) => [node.id, node]));
  const far = (one: string, other: string): number =>
    Math.hypot(at.get(one)!.x - at.get(other)!.x, at.get(one)!.y - at.get(other)!.y);
  expect(far("a", "d")).toBeLessThan(far("a", "c"));
  for (const node of nodes) expect(node.x >= 0 && node.x <= 1 && node.y >= 0 && node.y <= 1).toBe(true);
  expect(layout([], [])).toEqual([]);
  expect(layout(["a"], [])).toEqual([{ id: "a", x: 0.5, y: 0.5 }]);
});

test("usage adds up by person and by task", () => {
  const line = (agent_id: string, task: string, asked: number) => ({
    agent_id,
    task,
    asked,
    from_cache: 1,
    fallbacks: 0,
    lost: 0,
    prompt_tokens: 10,
    answer_tokens: 2,
    cost: 0.5,
  });
  const lines = [line("ada", "react", 3), line("ben", "react", 4), line("ada", "rate", 9)];
  expect(sums(lines, "task").map((row) => [row.name, row.asked])).toEqual([
    ["rate", 9],
    ["react", 7],
  ]);
  expect(summed("", lines)).toMatchObject({ asked: 16, tokensIn: 30, cost: 1.5 });
});
