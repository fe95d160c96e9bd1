import { describe, expect, it } from "vitest";

import { layout } from "../src/scene/layout/layout";
import type { Point, VillageMap } from "../src/scene/layout/map";
import { sheltered } from "../src/scene/shelter";
import { journey, objectIn, type Present, route, type Stance, settle, workplace } from "../src/scene/walk";
import { area, person, thing, townOf } from "./towns";

const TOWN = townOf(
  [
    area("square", "Square", "", true),
    area("bar", "Noodle Bar", "square"),
    area("loft", "Loft", "bar"),
    area("shed", "Tiny Shed", "square"),
    ...Array.from({ length: 12 }, (_, i) => area(`h${i}`, "House", "square")),
  ],
  [thing("stove", "stove", "bar"), thing("fountain", "fountain", "square")],
  [person("ada", "loft"), person("ben", "loft"), ...Array.from({ length: 110 }, (_, i) => person(`p${i}`, "square"))],
);
const MAP = layout(TOWN);

const present = (id: string, where: string, more: Partial<Present> = {}): Present => ({
  id,
  area: where,
  asleep: false,
  with: "",
  at: "",
  wet: false,
  ...more,
});
const none: ReadonlyMap<string, Stance> = new Map();

function* steps(way: readonly Point[]): Generator<Point> {
  for (let i = 1; i < way.length; i++) {
    const [a, b] = [way[i - 1] as Point, way[i] as Point];
    const n = Math.max(Math.abs(b.x - a.x), Math.abs(b.y - a.y));
    for (let k = 0; k <= n; k++) yield { x: a.x + ((b.x - a.x) * k) / n, y: a.y + ((b.y - a.y) * k) / n };
  }
}

const stand = (map: VillageMap, id: string): Point => map.spots.get(id)?.stands[0] as Point;

describe("a route", () => {
  it("leads over free tiles from any place to any other", () => {
    for (const from of MAP.spots.keys()) {
      for (const to of ["loft", "square", "shed"]) {
        const way = route(MAP, stand(MAP, from), stand(MAP, to));
        expect(way[0]).toEqual(stand(MAP, from));
        expect(way.at(-1)).toEqual(stand(MAP, to));
        for (const { x, y } of steps(way))
          expect(Number.isInteger(x) && Number.isInteger(y) && !MAP.blocked[y * MAP.width + x]).toBe(true);
      }
    }
  });

  it("starts from a bed", () => {
    const bed = MAP.beds.get("ada") as Point;
    const way = route(MAP, bed, stand(MAP, "square"));
    expect(way.length).toBeGreaterThan(2);
  });

  it("crosses every area of a journey, in order", () => {
    const { way, reached, length } = journey(
      MAP,
      stand(MAP, "loft"),
      ["loft", "bar", "square", "shed"],
      stand(MAP, "shed"),
    );
    expect(reached.length).toBe(3);
    expect([...reached].sort((a, b) => a - b)).toEqual([...reached]);
    expect(reached.at(-1)).toBeCloseTo(length);
    const square = MAP.spots.get("square")?.rect;
    expect(
      square &&
        [...steps(way)].some(
          ({ x, y }) => x >= square.x && y >= square.y && x < square.x + square.w && y < square.y + square.h,
        ),
    ).toBe(true);
  });
});

describe("people settle", () => {
  it("in their beds to sleep, each in their own", () => {
    const out = settle(MAP, [present("ada", "loft", { asleep: true }), present("ben", "loft", { asleep: true })], none);
    const bed = MAP.beds.get("ada") as Point;
    expect(out.get("ada")).toMatchObject({ at: { x: bed.x, y: bed.y }, pose: "lie" });
    expect(out.get("ben")?.pose).toBe("lie");
    expect(out.get("ben")?.at).not.toEqual(out.get("ada")?.at);
  });

  it("at the object they use", () => {
    const at = settle(MAP, [present("ada", "bar", { at: "stove" })], none).get("ada")?.at;
    expect(MAP.uses.get("stove")).toContainEqual(at);
  });

  it("face to face to talk, and stay when the talk goes on or ends", () => {
    const talk = [present("ada", "square", { with: "ben" }), present("ben", "square", { with: "ada" })];
    const first = settle(MAP, talk, none);
    const [ada, ben] = [first.get("ada") as Stance, first.get("ben") as Stance];
    expect(Math.hypot(ada.at.x - ben.at.x, ada.at.y - ben.at.y)).toBeLessThanOrEqual(2.5);
    expect([ada.facing, ben.facing].sort()).toEqual(ada.at.y === ben.at.y ? ["left", "right"] : expect.anything());
    const later = settle(MAP, [present("ada", "square"), present("ben", "square", { with: "ada" })], first);
    expect(later.get("ada")?.at).toEqual(ada.at);
    expect(later.get("ben")?.at).toEqual(ben.at);
  });

  it("apart from one another, a hundred on a square", () => {
    const crowd = Array.from({ length: 100 }, (_, i) => present(`p${i}`, "square"));
    const out = settle(MAP, crowd, none);
    const tiles = new Set([...out.values()].map(({ at }) => `${at.x},${at.y}`));
    expect(tiles.size).toBe(100);
    for (const { at } of out.values()) expect(MAP.blocked[at.y * MAP.width + at.x]).toBe(false);
  });

  it("between tiles where there are more people than tiles", () => {
    const crowd = Array.from({ length: 60 }, (_, i) => present(`p${i}`, "shed"));
    const out = settle(MAP, crowd, none);
    const rect = MAP.spots.get("shed")?.rect;
    expect(out.size).toBe(60);
    for (const { at } of out.values())
      expect(rect && at.x > rect.x - 1 && at.y > rect.y - 1 && at.x < rect.x + rect.w && at.y < rect.y + rect.h).toBe(
        true,
      );
  });

  it("and do not move without a reason", () => {
    const crowd = Array.from({ length: 40 }, (_, i) => present(`p${i}`, i % 2 ? "square" : "bar"));
    const first = settle(MAP, crowd, none);
    const again = settle(MAP, [present("ada", "square"), ...crowd.slice(5)].reverse(), first);
    for (const [id, { at }] of again) if (id !== "ada") expect(at).toEqual(first.get(id)?.at);
  });

  it("under trees and awnings in the rain, those who wait and only as many as fit", () => {
    const dry = MAP.spots.get("square")?.stands.filter((at) => sheltered(MAP, at)).length ?? 0;
    expect(dry).toBeGreaterThan(2);
    const crowd = Array.from({ length: dry + 10 }, (_, i) =>
      present(`p${i}`, "square", i < 2 ? { with: `p${1 - i}` } : {}),
    );
    const before = settle(MAP, crowd, none);
    const rain = settle(
      MAP,
      crowd.map((one) => ({ ...one, wet: true })),
      before,
    );
    expect([...rain.values()].filter(({ at }) => sheltered(MAP, at)).length).toBeGreaterThanOrEqual(dry - 2);
    for (const [id, { at }] of rain)
      if (id === "p0" || id === "p1" || !sheltered(MAP, at)) expect(at).toEqual(before.get(id)?.at);
    expect(
      settle(
        MAP,
        crowd.map((one) => ({ ...one, wet: true })),
        rain,
      ),
    ).toEqual(rain);
  });

  it("at furniture that suits what they do, where no object is named", () => {
    const at = workplace(MAP, "h3", "cooking breakfast", []);
    expect(at).toBe("h3:stove");
    const stance = settle(MAP, [present("ada", "h3", { at })], none).get("ada") as Stance;
    expect(MAP.uses.get(at)).toContainEqual(stance.at);
    expect(workplace(MAP, "h3", "pondering", [])).toBe("");
  });

  it("on a bench, out of the picture with their faces, and stay there", () => {
    const [first] = MAP.uses.get("square:bench") ?? [];
    const sits = present("ada", "square", { at: "square:bench" });
    const stance = settle(MAP, [sits], none).get("ada") as Stance;
    expect(stance).toMatchObject({ pose: "sit", facing: "down" });
    expect(Math.hypot(stance.at.x - (first?.x ?? 0), stance.at.y - (first?.y ?? 0))).toBeLessThan(0.5);
    expect(settle(MAP, [sits], new Map([["ada", stance]])).get("ada")).toEqual(stance);
  });

  it("at what their words name", () => {
    const things = [thing("pot", "pot", "bar"), thing("broth", "broth pot", "bar")];
    expect(objectIn("stirs the Broth Pot slowly", things)).toBe("broth");
    expect(objectIn("dreams of a spot in the sun", things)).toBe("");
    expect(objectIn("making coffee", [thing("machine", "coffee machine", "bar")])).toBe("machine");
    expect(objectIn("솥을 휘젓는 중", [thing("sot", "국수 솥", "bar"), thing("radio", "라디오", "bar")])).toBe("sot");
    expect(objectIn("솥뚜껑 닦기", [thing("sot", "국수 솥", "bar")])).toBe("");
    expect(objectIn("라디오를 듣는 중", [thing("sot", "국수 솥", "bar"), thing("radio", "라디오", "bar")])).toBe(
      "radio",
    );
  });
});
