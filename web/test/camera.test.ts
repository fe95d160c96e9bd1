// The camera under fingers and a mouse: pan, pinch, tap.

import { beforeEach, expect, test } from "vitest";
import { buildCamera, type Camera } from "../src/scene/camera";

let picked: { x: number; y: number }[];
let moved: number;
let camera: Camera;
let parent: HTMLElement;
let centre: { x: number; y: number };

beforeEach(() => {
  picked = [];
  moved = 0;
  parent = document.createElement("div");
  document.body.append(parent);
  const view = {
    width: 400,
    height: 800,
    setZoom: () => undefined,
    centerOn: (x: number, y: number) => void (centre = { x, y }),
    roundPixels: false,
  };
  camera = buildCamera(view as never, parent, {
    width: 4000,
    height: 4000,
    calm: false,
    moved: () => moved++,
    picked: (x, y) => picked.push({ x, y }),
  });
  camera.goTo(2000, 2000, true);
  return () => camera.destroy();
});

function point(type: string, x: number, y: number, pointerId = 1, pointerType = "touch"): void {
  const event = new Event(type, { bubbles: true });
  Object.assign(event, { clientX: x, clientY: y, pointerId, pointerType, button: 0 });
  (type === "pointerdown" ? parent : window).dispatchEvent(event);
}

test("a tap picks the point of the world under it, even from a finger that is not quite still", () => {
  const zoom = camera.zoom();
  point("pointerdown", 250, 400);
  point("pointermove", 255, 404);
  point("pointerup", 255, 404);
  expect(picked).toEqual([{ x: 2000 + 55 / zoom, y: 2000 + 4 / zoom }]);
  expect(moved).toBe(0);
});

test("one finger moves the map with it and picks nothing", () => {
  const zoom = camera.zoom();
  point("pointerdown", 200, 400);
  for (let x = 200; x >= 100; x -= 10) point("pointermove", x, 400);
  point("pointerup", 100, 400);
  expect(picked).toEqual([]);
  expect(moved).toBe(1);
  expect(centre.x).toBeGreaterThan(2000 + 80 / zoom);
});

test.each([
  [1, 30, 150],
  [-1, 150, 30],
])("two fingers zoom about their middle (%i)", (step, from, to) => {
  const before = camera.zoom();
  point("pointerdown", 200 - from, 400, 1);
  point("pointerdown", 200 + from, 400, 2);
  for (let k = 0; k <= 20; k++) {
    const half = from + ((to - from) * k) / 20;
    point("pointermove", 200 - half, 400, 1);
    point("pointermove", 200 + half, 400, 2);
  }
  point("pointerup", 200 - to, 400, 1);
  point("pointerup", 200 + to, 400, 2);
  expect(Math.sign(camera.zoom() - before)).toBe(step);
  expect(picked).toEqual([]);
  expect(moved).toBe(1);
  expect(Math.hypot(centre.x - 2000, centre.y - 2000)).toBeLessThan(25);
});
