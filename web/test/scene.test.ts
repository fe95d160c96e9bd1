// What the scene decides without drawing: looks, states, light, and where bubbles go.

import { describe, expect, test } from "vitest";
import { bakeGround } from "../src/scene/art/ground";
import { drawInside, drawOutside } from "../src/scene/art/house";
import { lookOf } from "../src/scene/art/look";
import { picture } from "../src/scene/art/paint";
import { drawPerson, drawPortrait, FRAMES } from "../src/scene/art/people";
import { hourOf, lightAt } from "../src/scene/art/sky";
import { modeOf } from "../src/scene/art/state";
import { HAMLET, NEON } from "../src/scene/art/theme";
import { drawThing } from "../src/scene/art/things";
import { type Box, placeBubbles, thinned, type Wanted } from "../src/scene/bubbles";
import type { Building, Sprite, VillageMap } from "../src/scene/layout/map";

const somebody = { id: "ada", name: "Ada", age: 30, pronoun: "she" as const, work: "", traits: [], look: "" };

describe("looks", () => {
  test("the same person always looks the same, another one does not", () => {
    expect(lookOf(somebody)).toEqual(lookOf({ ...somebody }));
    const many = Array.from({ length: 40 }, (_, i) => JSON.stringify(lookOf({ ...somebody, id: `ada${i}` })));
    expect(new Set(many).size).toBeGreaterThan(35);
  });

  test.each([
    ["noodle cook", "chef"],
    ["국숫집 요리사", "chef"],
    ["nurse", "nurse"],
    ["간호사", "nurse"],
    ["gardener", "straw"],
    ["배달 기사", "cap"],
    ["radio host", "headphones"],
  ])("work shows: %s", (work, hat) => {
    expect(lookOf({ ...somebody, work }).hat).toBe(hat);
  });

  test("children are small and the old are grey", () => {
    expect(lookOf({ ...somebody, age: 9 }).child).toBe(true);
    const old = lookOf({ ...somebody, age: 78 }).hair;
    expect(old >> 16).toBeGreaterThan(0xc0);
  });

  test.each([
    ["red hair, green coat, glasses", { hair: 0xd9524f, coat: 0x4f9d5d, glasses: true }],
    ["빨간 머리, 파란 모자, 안경", { hair: 0xd9524f, hat: "cap", hatColour: 0x5c80b8, glasses: true }],
  ])("a scenario's own words win: %s", (look, expected) => {
    expect(lookOf({ ...somebody, work: "cook", look })).toMatchObject(expected);
  });

  test("every frame has a face or a back, and the steps differ", () => {
    const frames = drawPerson(lookOf(somebody));
    expect(frames).toHaveLength(FRAMES.length + 1);
    for (const frame of frames) expect(frame.px.filter((value) => value >>> 24 === 255).length).toBeGreaterThan(90);
    expect(frames[1]?.px).not.toEqual(frames[2]?.px);
    expect(drawPortrait(lookOf(somebody), 0xa9cfd8).px.every((value) => value >>> 24 === 255)).toBe(true);
  });
});

describe("states", () => {
  test.each([
    ["lit", "on"],
    ["dark", "off"],
    ["켜짐", "on"],
    ["꺼짐", "off"],
    ["on-air", "on"],
    ["broken", "broken"],
    ["고장", "broken"],
    ["open", "open"],
    ["비었음", "empty"],
    ["half open", "open"],
    ["kept", ""],
    ["", ""],
  ])("%s is drawn as %s", (word, mode) => {
    expect(modeOf(word)).toBe(mode);
  });

  test("a lamp shines when it is lit, a bed never", () => {
    expect(drawThing("lamp", 1, 1, 0, "on", HAMLET).light).toBeDefined();
    expect(drawThing("lamp", 1, 1, 0, "off", HAMLET).light).toBeUndefined();
    expect(drawThing("bed", 1, 2, 0, "on", HAMLET).light).toBeUndefined();
  });

  test("everything can be drawn in every state", () => {
    const sprites: readonly Sprite[] = [
      "bed",
      "stove",
      "stall",
      "fountain",
      "arcade",
      "tub",
      "cat",
      "thing",
      "tree",
      "well",
      "drone",
      "crate",
      "towerclock",
    ];
    for (const theme of [HAMLET, NEON])
      for (const sprite of sprites)
        for (const mode of ["", "on", "off", "open", "broken", "empty", "full", "used"] as const) {
          expect(drawThing(sprite, 2, 1, 1, mode, theme).picture.px.some((value) => value !== 0)).toBe(true);
        }
  });
});

describe("light", () => {
  test("noon is clear, midnight dark with lamps, and rain darker than a clear sky", () => {
    expect(lightAt(12, "clear", false)).toMatchObject({ ambient: 0xffffff, lamp: 0 });
    expect(lightAt(0, "clear", false).lamp).toBe(1);
    expect(lightAt(12, "rain", false).ambient).toBeLessThan(0xffffff);
    expect(lightAt(24, "clear", true)).toEqual(lightAt(0, "clear", true));
  });

  test("it changes without jumps", () => {
    for (const neon of [false, true])
      for (let hour = 0; hour < 24; hour += 0.1) {
        const a = lightAt(hour, "clear", neon);
        const b = lightAt(hour + 0.1, "clear", neon);
        expect(Math.abs(a.lamp - b.lamp)).toBeLessThan(0.12);
        for (const shift of [0, 8, 16])
          expect(Math.abs(((a.ambient >> shift) & 255) - ((b.ambient >> shift) & 255))).toBeLessThan(20);
      }
  });

  test("the hour is read as written", () => {
    expect(hourOf("2031-10-04T18:30:00Z")).toBe(18.5);
    expect(hourOf("2031-10-04T06:15:00+09:00")).toBe(6.25);
  });
});

describe("bubbles", () => {
  const free: Box = { x: 40, y: 60, w: 800, h: 500 };
  const covered = (a: Box, b: Box): number =>
    Math.max(0, Math.min(a.x + a.w, b.x + b.w) - Math.max(a.x, b.x)) *
    Math.max(0, Math.min(a.y + a.h, b.y + b.h) - Math.max(a.y, b.y));

  const speaker = (id: string, x: number, y: number, w = 180, h = 50): Wanted => ({
    id,
    x,
    y,
    tall: 50,
    w,
    h,
    had: -1,
  });
  const faceOf = ({ x, y }: Wanted): Box => ({ x: x - 12, y: y + 2, w: 24, h: 28 });

  test("they stay within the free part and the tail within the bubble", () => {
    for (const [x, y] of [
      [30, 0],
      [850, 700],
      [45, 300],
      [400, 62],
    ] as const) {
      const [one] = placeBubbles([speaker("a", x, y, 200, 60)], free, []);
      expect(
        one &&
          one.x >= free.x &&
          one.y >= free.y &&
          one.x + one.w <= free.x + free.w &&
          one.y + one.h <= free.y + free.h,
      ).toBe(true);
      expect(one && one.tail >= 10 && one.tail <= 190).toBe(true);
    }
  });

  test("who stands far behind a panel has no bubble, which would seem to be somebody else's", () => {
    expect(
      placeBubbles([speaker("a", -60, 300), speaker("b", 960, 300), speaker("c", 400, 300)], free, []).map(
        ({ id }) => id,
      ),
    ).toEqual(["c"]);
  });

  test.each([
    [10, 5, 0],
    [25, 6, 5],
  ] as const)(
    "of %i people close together %i speak: bubbles cover neither each other nor who speaks, and at most %i faces",
    (people, speaking, most) => {
      const wide = Math.ceil(Math.sqrt(people));
      const all = Array.from({ length: people }, (_, i) =>
        speaker(`${i}`, 280 + (i % wide) * 64, 260 + Math.floor(i / wide) * 64),
      );
      const talk = all.filter((_, i) => i % Math.floor(people / speaking) === 0).slice(0, speaking);
      const placed = placeBubbles(talk, free, all.map(faceOf));
      expect(placed.length).toBe(speaking);
      for (const a of placed) for (const b of placed) if (a !== b) expect(covered(a, b)).toBe(0);
      for (const a of placed) for (const b of talk) expect(covered(a, faceOf(b))).toBe(0);
      expect(all.filter((one) => placed.some((bubble) => covered(bubble, faceOf(one)) > 0)).length).toBeLessThanOrEqual(
        most,
      );
    },
  );

  test("a neighbour's face is left free, and near the edge the speaker's own", () => {
    const face = { x: 380, y: 250, w: 30, h: 20 };
    const [one] = placeBubbles([speaker("a", 400, 300, 160, 50)], free, [face]);
    expect(one && covered(one, face)).toBe(0);
    const high = speaker("b", 400, 70);
    const [two] = placeBubbles([high], free, [faceOf(high)]);
    expect(two && covered(two, faceOf(high))).toBe(0);
  });

  test("a bubble keeps its place while a neighbour walks by", () => {
    const had = placeBubbles([speaker("a", 400, 300)], free, [])[0]?.place ?? -1;
    for (let x = 300; x < 500; x += 10) {
      const [one] = placeBubbles([{ ...speaker("a", 400, 300), had }], free, [{ x, y: 292, w: 24, h: 4 }]);
      expect(one?.place).toBe(had);
    }
  });

  test("names in a jam thin out, the first asked for stay", () => {
    const labels = Array.from({ length: 200 }, (_, i) => ({
      id: i,
      box: { x: (i * 37) % 600, y: (i * 23) % 300, w: 50, h: 16 },
    }));
    const kept = thinned(labels, 60);
    expect(kept[0]).toBe(labels[0]);
    expect(kept.length).toBeGreaterThan(30);
    for (const a of kept) for (const b of kept) if (a !== b) expect(covered(a.box, b.box)).toBe(0);
  });
});

describe("houses and ground", () => {
  const house: Building = {
    id: "cafe",
    name: "Café",
    rect: { x: 2, y: 2, w: 10, h: 8 },
    roof: 3,
    style: "shop",
    door: { x: 6, y: 9 },
    doors: [{ x: 6, y: 9 }],
    sign: "Café",
    open: false,
    rooms: [
      {
        area: "cafe",
        name: "Café",
        rect: { x: 3, y: 4, w: 8, h: 5 },
        stands: [],
        door: { x: 6, y: 8 },
        kind: "cafe",
        floor: "wood",
      },
    ],
  };

  test.each([
    ["hamlet", HAMLET],
    ["neon", NEON],
  ] as const)("a house in %s has lit windows within its outline", (_, theme) => {
    for (const style of ["cottage", "house", "hall", "shop", "shed", "tower", "boat"] as const) {
      const { day, lit } = drawOutside({ ...house, style }, theme, () => picture(20, 9));
      expect(lit.px.some((value) => value !== 0)).toBe(true);
      expect(lit.px.every((value, i) => value === 0 || day.px[i] !== 0)).toBe(true);
    }
    expect(drawInside(house, theme).px.every((value) => value >>> 24 === 255)).toBe(true);
  });

  test("pieces of the ground fit without a seam", () => {
    const map = {
      width: 8,
      height: 8,
      ground: Array.from({ length: 64 }, (_, i) => (i % 8 > 4 ? "water" : i % 3 ? "grass" : "path")),
    } as unknown as VillageMap;
    const whole = bakeGround(map, HAMLET, 0, 0, 128, 128);
    const part = bakeGround(map, HAMLET, 64, 32, 32, 32);
    let same = 0;
    for (let y = 0; y < 32; y++)
      for (let x = 0; x < 32; x++) if (whole.px[(y + 32) * 128 + x + 64] === part.px[y * 32 + x]) same++;
    expect(same / 1024).toBeGreaterThan(0.97);
  });
});
