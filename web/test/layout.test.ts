import { describe, expect, it } from "vitest";

import type { Area, Town } from "../src/api";
import { chances, pick } from "../src/scene/layout/chance";
import { layout } from "../src/scene/layout/layout";
import type { Point, Rect, VillageMap } from "../src/scene/layout/map";
import { overlap } from "../src/scene/layout/place";
import { groundKindOf, roomKindOf, spriteOf } from "../src/scene/layout/words";
import { area, person, thing, townOf } from "./towns";

// biome-ignore format: a table
const NAMES = [
  "Old Square", "Mira's Noodle Bar", "Kitchen", "Canal Walk", "Rose Garden", "Fox Shrine", "Town Hall", "Market Row", "뒷골목", "순자네 떡집",
  "약수탕", "Mill Pond", "Beach", "Library", "Loft", "Bunk", "Workshop", "Hill", "Long Field", "House", "Houseboat", "Xyzzy", "Clinic", "School",
];
// biome-ignore format: a table
const THINGS = ["bed", "stove", "fountain", "piano", "cat", "kettle", "notice board", "게시판", "chess set", "window", "radio", "boat", "frob"];

/** Any tree a scenario may have: deep, wide, outdoor in indoor, with boxes or without. */
function randomTown(seed: string): Town {
  const chance = chances(seed);
  const areas: Area[] = [area("a0", pick(NAMES, chance()), "", chance() < 0.7)];
  const many = 1 + Math.floor(chance() * chance() * 40);
  const deep = chance() < 0.2;
  const hints = chance() < 0.4;
  for (let i = 1; i < many; i++) {
    const parent = deep ? `a${i - 1}` : `a${Math.floor(chance() * chance() * i)}`;
    const box =
      hints && chance() < 0.9
        ? [
            Math.floor(chance() * 60),
            Math.floor(chance() * 20),
            4 + Math.floor(chance() * 18),
            2 + Math.floor(chance() * 5),
          ]
        : null;
    areas.push(area(`a${i}`, pick(NAMES, chance()), parent, chance() < 0.3, box as Area["box"]));
  }
  const somewhere = (): string => `a${Math.floor(chance() * many)}`;
  const things = Array.from({ length: Math.floor(chance() * many * 3) }, (_, i) =>
    thing(`t${i}`, pick(THINGS, chance()), somewhere()),
  );
  const people = Array.from({ length: 1 + Math.floor(chance() * 12) }, (_, i) => person(`p${i}`, somewhere()));
  return townOf(areas, things, people, seed);
}

const covers = (rect: Rect, { x, y }: Point): boolean =>
  x >= rect.x && y >= rect.y && x < rect.x + rect.w && y < rect.y + rect.h;

function reachable(map: VillageMap): Set<number> {
  const first = [...map.spots.values()][0]?.door as Point;
  const seen = new Set([first.y * map.width + first.x]);
  for (const tile of seen) {
    const x = tile % map.width;
    const next = [
      tile - map.width,
      tile + map.width,
      ...(x > 0 ? [tile - 1] : []),
      ...(x < map.width - 1 ? [tile + 1] : []),
    ];
    for (const one of next) if (map.blocked[one] === false) seen.add(one);
  }
  return seen;
}

/** What is wrong with a village. Collected rather than asserted one by one: there are some hundred thousand facts. */
function faults(town: Town): string[] {
  const map = layout(town);
  const wrong: string[] = [];
  const must = (fact: boolean, fault: string): void => void (fact || wrong.push(`${town.scenario}: ${fault}`));
  const at = ({ x, y }: Point): number => y * map.width + x;
  const spots = [...map.spots.values()];
  must(map.ground.length === map.width * map.height && map.blocked.length === map.ground.length, "size");
  for (const { id } of town.areas) must(map.spots.has(id), `${id} has no spot`);
  spots.forEach(({ area: id, rect }, i) => {
    must(
      rect.x >= 0 && rect.y >= 0 && rect.x + rect.w <= map.width && rect.y + rect.h <= map.height,
      `${id} lies outside`,
    );
    for (const other of spots.slice(i + 1)) must(!overlap(rect, other.rect), `${id} lies on ${other.area}`);
  });
  map.buildings.forEach(({ id, rect }, i) => {
    for (const other of map.buildings.slice(i + 1)) must(!overlap(rect, other.rect), `house ${id} lies on ${other.id}`);
    for (const ground of map.grounds) must(!overlap(rect, ground.rect), `house ${id} lies on ${ground.area}`);
  });
  const reached = reachable(map);
  const solid = new Set<number>();
  for (const one of map.placed) {
    if (one.lies !== "floor") continue;
    for (let y = 0; y < one.h; y++) {
      for (let x = 0; x < one.w; x++) {
        const tile = at({ x: one.at.x + x, y: one.at.y + y });
        must(!solid.has(tile), `${one.sprite} stands on something in ${one.area}`);
        solid.add(tile);
      }
    }
  }
  for (const { area: id, stands, door, rect } of spots) {
    must(stands.length > 0, `nobody can stand in ${id}`);
    must(reached.has(at(door)), `the door of ${id} is closed`);
    for (const stand of stands)
      must(covers(rect, stand) && reached.has(at(stand)) && !solid.has(at(stand)), `${id}: ${stand.x},${stand.y}`);
  }
  for (const { id } of town.things) {
    must(map.placed.filter((one) => one.object === id).length === 1, `${id} is not placed`);
    const uses = map.uses.get(id) ?? [];
    must(uses.length > 0 && uses.every((use) => reached.has(at(use))), `${id} cannot be used`);
  }
  must(new Set([...map.beds.values()].map(at)).size === map.beds.size, "two in one bed");
  const indoors = new Set(map.buildings.flatMap((house) => house.rooms.map((room) => room.area)));
  for (const { id, home } of town.characters)
    must(!indoors.has(home) || map.beds.get(id)?.area === home, `${id} has no bed`);
  return wrong;
}

describe("a village", () => {
  it("is sound for any world tree", () => {
    for (const i of [...Array(20).keys(), 386]) expect(faults(randomTown(`town ${i}`))).toEqual([]);
  });

  it("is the same each time, and another for another scenario", () => {
    const town = randomTown("town 3");
    expect(layout(town)).toEqual(layout(structuredClone(town)));
    expect(layout({ ...town, scenario: "other" }).plants).not.toEqual(layout(town).plants);
  });

  it("keeps neighbours where the boxes hint", () => {
    const map = layout(
      townOf([
        area("square", "Square", "", true, [20, 6, 20, 6]),
        area("west", "West House", "square", false, [0, 6, 19, 6]),
        area("east", "East House", "square", false, [41, 6, 19, 6]),
        area("north", "North House", "square", false, [20, 0, 20, 5]),
      ]),
    );
    const rect = (id: string): Rect => map.buildings.find((house) => house.id === id)?.rect as Rect;
    const square = map.spots.get("square")?.rect as Rect;
    expect(rect("west").x + rect("west").w).toBeLessThanOrEqual(square.x);
    expect(rect("east").x).toBeGreaterThanOrEqual(square.x + square.w);
    expect(rect("north").y + rect("north").h).toBeLessThanOrEqual(square.y);
  });

  it("makes one room of a world of one room, without a roof and with no beds on a stage", () => {
    const town = {
      ...townOf([area("study", "Study", "")], [], [person("ada", "study"), person("ben", "study")]),
      stage: "panel" as const,
    };
    const map = layout(town);
    expect(map.buildings.map(({ open, rooms }) => [open, rooms.length])).toEqual([[true, 1]]);
    expect(map.beds.size).toBe(0);
  });

  it("puts a garden behind a house outside of it", () => {
    const map = layout(
      townOf([
        area("lane", "Lane", "", true),
        area("cottage", "Cottage", "lane"),
        area("garden", "Garden", "cottage", true),
      ]),
    );
    expect(map.grounds.map((ground) => ground.area)).toContain("garden");
    expect(map.buildings.map((house) => house.rooms.map((room) => room.area))).toEqual([["cottage"]]);
  });

  it("leaves a boat with a garden ashore", () => {
    const town = townOf([
      area("quay", "Canal Walk", "", true),
      area("boat", "Houseboat", "quay"),
      area("deck", "Deck Garden", "boat", true),
      area("inn", "Inn", "quay"),
    ]);
    expect(faults(town)).toEqual([]);
  });

  it("lets water be crossed where a path needs it", () => {
    const map = layout(
      townOf([
        area("square", "Square", "", true, [0, 0, 40, 6]),
        area("canal", "Canal Walk", "square", true, [0, 7, 40, 4]),
        area("boat", "Houseboat", "canal", false, [0, 12, 12, 4]),
        area("south", "House", "canal", false, [20, 12, 18, 4]),
      ]),
    );
    expect(map.ground.includes("water")).toBe(true);
    expect(map.ground.includes("planks")).toBe(true);
    expect(map.buildings.find((house) => house.id === "boat")?.style).toBe("boat");
  });
});

describe("words", () => {
  it.each([
    ["seat", "bench under the linden tree", "bench"],
    ["vegetable-bed", "tomato bed", "vegetables"],
    ["electric-light", "neon bowl sign", "sign"],
    ["bedding", "공룡 이불", "bed"],
    ["coffee_machine", "coffee machine", "coffee"],
    ["gizmo", "the frobnicator", "thing"],
    ["object", "아버지의 통기타", "guitar"],
  ])("a %s called %s looks like %s", (kind, name, sprite) => {
    expect(spriteOf({ kind, name, id: "x" })).toBe(sprite);
  });

  it("tells rooms and places by name or id", () => {
    expect(roomKindOf({ name: "Mira's Noodle Bar", id: "bar" })).toBe("cafe");
    expect(roomKindOf({ name: "만호 헌책방", id: "bookshop" })).toBe("books");
    expect(groundKindOf({ name: "Canal Walk", id: "canal" })).toBe("canal");
    expect(groundKindOf({ name: "시장 마당", id: "madang" })).toBe("plaza");
    expect(groundKindOf({ name: "Xyzzy", id: "q" })).toBeUndefined();
  });
});
