import { describe, expect, it } from "vitest";
import { factLens, personLens } from "../src/run/lens";
import { metrics, say, TOWN } from "./small";

const FEAST = TOWN.facts[0]!;
const step = (source: string, target: string, tick: number) => ({
  source,
  target,
  tick,
  event_id: `t${tick}.${source}.0`,
  words: "",
});
const KNOWN = metrics(50, {
  spreads: [
    {
      fact: "feast",
      text: "",
      originators: ["ada", "dan"],
      knowers: ["ada", "ben", "cho", "dan", "eva"],
      share: 1,
      tree: [step("ada", "ben", 5), step("ben", "cho", 9), step("dan", "eva", 20)],
    },
  ],
});

describe("a fact", () => {
  it("lights its originators before anybody is told", () => {
    expect(factLens(KNOWN, FEAST, 0).lit).toEqual(new Set(["ada"]));
  });

  it("sparks at the tick of the words and lights the hearer at the next", () => {
    const spoken = factLens(KNOWN, FEAST, 5);
    expect(spoken.ties[0]).toEqual({ from: "ada", to: "ben", strength: 1, tick: 5 });
    expect(spoken.ties.map((tie) => tie.tick)).toEqual([5, 9, 20]);
    expect(spoken.lit).toEqual(new Set(["ada"]));
    expect(factLens(KNOWN, FEAST, 6).lit).toEqual(new Set(["ada", "ben"]));
  });

  it("lights somebody who found it out alone from the first telling on", () => {
    expect(factLens(KNOWN, FEAST, 19).lit.has("dan")).toBe(false);
    expect(factLens(KNOWN, FEAST, 20).lit.has("dan")).toBe(true);
  });

  it("only gains people, and at the tick of the metrics has just their knowers", () => {
    let before = new Set<string>();
    for (let tick = 0; tick <= 50; tick++) {
      const { lit } = factLens(KNOWN, FEAST, tick);
      for (const one of before) expect(lit.has(one)).toBe(true);
      before = new Set(lit);
    }
    expect([...before].sort()).toEqual(KNOWN.spreads[0]!.knowers);
  });

  it("sparks at once in a run that goes on, from somebody who knows it to somebody who does not", () => {
    const now = metrics(8, {
      spreads: [{ ...KNOWN.spreads[0]!, originators: ["ada"], tree: [step("ada", "ben", 5)] }],
    });
    const said = (from: string, to: string) => ({ ...say(8, from, to), facts: ["feast"] });
    const fresh = factLens(now, FEAST, 8, [
      said("ben", "cho"),
      said("ben", "ada"),
      said("dan", "eva"),
      say(8, "ada", "eva"),
    ]);
    expect(fresh.ties.slice(1)).toEqual([{ from: "ben", to: "cho", strength: 1, tick: 8 }]);
    expect(fresh.lit.has("cho")).toBe(false);
    expect(factLens(KNOWN, FEAST, 8, [said("ben", "cho")]).ties).toHaveLength(3);
  });

  it("is known to its originators alone where nothing was measured", () => {
    expect(factLens(metrics(3), FEAST, 3)).toEqual({ lit: new Set(["ada"]), ties: [] });
  });
});

describe("a person", () => {
  const warm = metrics(50, {
    warmth: [
      { source: "ada", target: "ben", warmth: 40, label: "friend" },
      { source: "ben", target: "ada", warmth: -250, label: "" },
      { source: "ada", target: "cho", warmth: 0, label: "neighbour" },
      { source: "cho", target: "dan", warmth: 9, label: "" },
    ],
  });

  it("is joined with whom they like or dislike and who likes or dislikes them", () => {
    const { lit, ties } = personLens(warm, "ada");
    expect(lit).toEqual(new Set(["ada", "ben"]));
    expect(ties.map(({ from, to, strength }) => [from, to, strength])).toEqual([
      ["ada", "ben", 0.4],
      ["ben", "ada", -1],
    ]);
  });

  it("stands alone in the light when nobody cares", () => {
    expect(personLens(warm, "eva")).toEqual({ lit: new Set(["eva"]), ties: [] });
  });
});
