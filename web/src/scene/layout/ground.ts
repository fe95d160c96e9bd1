// Places under the open sky: how large they are, what they are paved with, and what stands on them.

import type { Size } from "./house";
import type { Ground, GroundKind, Point, Rect, Sprite } from "./map";
import { waterRows } from "./place";
import { isGate, type Node } from "./tree";
import { groundKindOf, shapeOf, spriteOf } from "./words";

// biome-ignore format: a table
const SIZES: Record<GroundKind, readonly [number, number]> = {
  plaza: [15, 9], garden: [10, 7], canal: [22, 7], lake: [14, 10], harbour: [17, 9], beach: [18, 9], market: [15, 6], street: [15, 4],
  park: [14, 9], forest: [14, 10], hill: [12, 9], shrine: [9, 7], field: [12, 8], yard: [7, 5], graveyard: [10, 7], playground: [10, 7],
  gate: [7, 4], meadow: [11, 7],
};

/** What a place of a kind has of its own accord, the most telling first, and how much of it things may cover. */
// biome-ignore format: a table
const FILL: Record<GroundKind, readonly [number, readonly Sprite[]]> = {
  plaza: [0.16, ["fountain", "bench", "bench", "tree", "bench", "board", "tree", "statue", "bench", "flowers", "flowers", "stall", "tree", "letterbox"]],
  garden: [0.34, ["vegetables", "flowers", "vegetables", "tree", "bucket", "flowers", "vegetables", "barrel", "flowers", "vegetables", "bench", "flowers", "tool"]],
  canal: [0.12, ["bench", "crate", "lamp", "barrel", "bench", "lamp", "crate"]],
  lake: [0.08, ["bench", "tree", "bench", "rock", "lamp"]],
  harbour: [0.22, ["crate", "barrel", "crate", "lamp", "sack", "basket", "barrel", "crate", "cart", "lamp"]],
  beach: [0.08, ["umbrella", "rock", "umbrella", "boat", "ball", "rock"]],
  market: [0.3, ["stall", "stall", "crate", "stall", "basket", "barrel", "stall", "sack", "cart", "crate", "lamp", "stall"]],
  street: [0.14, ["lamp", "crate", "bench", "barrel", "bicycle", "lamp", "letterbox", "plant", "crate"]],
  park: [0.2, ["bench", "tree", "tree", "flowers", "fountain", "bench", "tree", "flowers", "lamp", "tree"]],
  forest: [0.24, ["tree", "tree", "tree", "rock", "tree", "tree", "tree", "tree", "rock", "tree", "tree"]],
  hill: [0.18, ["pavilion", "tree", "rock", "bench", "tree", "flowers", "tree", "rock"]],
  shrine: [0.24, ["altar", "torii", "stonelantern", "stonelantern", "bell", "tree", "flowers", "statue", "stonelantern"]],
  field: [0.36, ["vegetables", "vegetables", "scarecrow", "vegetables", "vegetables", "hay", "vegetables", "vegetables", "cart", "vegetables"]],
  yard: [0.26, ["washline", "flowers", "barrel", "bench", "plant", "bucket", "flowers"]],
  graveyard: [0.26, ["grave", "grave", "grave", "tree", "grave", "grave", "stonelantern", "grave", "flowers", "grave", "bench"]],
  playground: [0.22, ["swing", "slide", "bench", "tree", "ball", "bench", "tree"]],
  gate: [0.14, ["letterbox", "bench", "flowers"]],
  meadow: [0.12, ["tree", "flowers", "bench", "rock", "flowers", "tree"]],
};

/** Water with a quay south of it. */
export const isChannel = (kind: GroundKind): boolean => kind === "canal" || kind === "harbour";

/** A place nobody named tellingly: the land around a village is its square if people live around it, else a meadow. */
export function kindOfGround(node: Node): GroundKind {
  if (isGate(node)) return "gate";
  const named = groundKindOf(node.area);
  if (!node.parent && node.kids.length > 0 && !named) return "plaza";
  if (named === "gate" && node.kids.length > 1) return "plaza";
  if (named) return named;
  if (node.parent && !node.parent.open) return "yard";
  return node.kids.length >= 3 ? "plaza" : "meadow";
}

/** Room for what stands there and for the people that gather: everybody on a square, some elsewhere. */
export function sizeOfGround(node: Node, kind: GroundKind, people: number, boats: readonly Size[]): Size {
  const [w, h] = SIZES[kind];
  let tiles = w * h;
  for (const thing of node.things) {
    const shape = shapeOf(spriteOf(thing), true);
    tiles += shape.w * shape.h * 3;
  }
  tiles = Math.max(tiles, people * (kind === "plaza" || kind === "market" || !node.parent ? 2.2 : 0.5) + w * h * 0.5);
  const grow = Math.sqrt(tiles / (w * h));
  if (isChannel(kind)) {
    const berths = boats.reduce((all, boat) => all + boat.w + 3, 3);
    return { w: Math.max(Math.round(w * grow), berths), h: Math.max(3, Math.round((h - 4) * grow)) + waterRows(boats) };
  }
  return { w: Math.round(w * grow), h: Math.max(h, Math.round(h * grow)) };
}

export function fillOfGround(kind: GroundKind): readonly [number, readonly Sprite[]] {
  return FILL[kind];
}

/** What a tile of a place is made of; `water`: rows of it, where a quay is. */
export function tileOf(kind: GroundKind, rect: Rect, { x, y }: Point, water: number): Ground {
  const dx = x - rect.x;
  const dy = y - rect.y;
  switch (kind) {
    case "plaza":
    case "shrine":
      return "paving";
    case "market":
    case "street":
      return "street";
    case "garden":
      return "garden";
    case "field":
      return dy % 3 === 2 || dx === 0 || dx === rect.w - 1 ? "path" : "soil";
    case "yard":
    case "gate":
      return "path";
    case "playground":
      return "sand";
    case "canal":
    case "harbour":
      return dy < water ? "water" : dy === water || kind === "harbour" ? "planks" : "paving";
    case "beach":
      return dy < Math.ceil(rect.h * 0.55) ? "sand" : "water";
    case "lake": {
      const ex = (dx + 0.5 - rect.w / 2) / (rect.w / 2 - 2);
      const ey = (dy + 0.5 - rect.h / 2) / (rect.h / 2 - 1.6);
      const r = ex * ex + ey * ey;
      return r < 1 ? "water" : r < 1.45 ? "sand" : "grass";
    }
    case "hill":
    case "park":
    case "forest":
    case "meadow":
    case "graveyard":
      return winding(rect, dx, dy) ? "path" : "grass";
  }
}

/** A path from the west side to the east side that does not go straight. */
function winding(rect: Rect, dx: number, dy: number): boolean {
  const middle = rect.h / 2 - 0.5 + Math.sin((dx / rect.w) * Math.PI * 2) * Math.max(0.6, rect.h * 0.14);
  return Math.abs(dy - middle) <= 0.8;
}
