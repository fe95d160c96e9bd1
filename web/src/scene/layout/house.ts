// The plan of a house: its rooms as rectangles with walls between, and the openings in the walls. The room one enters by lies
// in front (south); the rooms behind it open onto it. Coordinates are from the upper left corner of the house.

import { hash } from "./chance";
import type { Point, Rect } from "./map";
import type { House, Node } from "./tree";

/** Height of a wall seen from the front, and thickness of one seen from above. */
export const FACE = 2;
export const WALL = 1;

export interface Plan {
  readonly w: number;
  readonly h: number;
  readonly rooms: ReadonlyMap<Node, Rect>;
  /** The front door, in the southern wall. */
  readonly front: Point;
  /** Openings, the front door first. */
  readonly doors: readonly Point[];
}

export interface Size {
  readonly w: number;
  readonly h: number;
}

/** A room with the rooms that open onto it. */
interface Block {
  readonly node: Node;
  readonly kids: readonly Block[];
  readonly own: Size;
  readonly w: number;
  readonly h: number;
}

const MOST_NESTED = 3;
const MOST_ROOMS = 12;
const MOST_SIDE_BY_SIDE = 3;

/** `ways`: pairs of areas joined by a door besides those between an area and the areas in it. */
export function planHouse(house: House, size: (node: Node) => Size, ways: readonly (readonly [Node, Node])[]): Plan {
  const { entrance } = house;
  const inside = new Set(house.rooms);
  const rooms = new Map<Node, Rect>();
  const depth = (node: Node): number => (node === entrance || !node.parent ? 0 : 1 + depth(node.parent));
  const huge = house.rooms.length > MOST_ROOMS || house.rooms.some((node) => depth(node) > MOST_NESTED);
  let inner: Size;
  if (huge) {
    inner = grid(house, size, rooms);
  } else {
    const block = measured(entrance, inside, size);
    if (block.kids.length > MOST_SIDE_BY_SIDE) inner = alongHall(block, rooms);
    else if (isWideHouse(block)) inner = beside(block, rooms);
    else {
      behind(block, { x: 0, y: 0, w: block.w, h: block.h }, rooms);
      inner = block;
    }
  }
  for (const [node, rect] of rooms) rooms.set(node, { ...rect, x: rect.x + WALL, y: rect.y + FACE });

  const own = rooms.get(entrance) as Rect;
  const h = inner.h + FACE + WALL;
  const front = { x: own.x + Math.floor((own.w - 1) / 2), y: h - 1 };
  const doors: Point[] = [front];
  const joined = new Map<Node, Node>();
  const group = (node: Node): Node => {
    const next = joined.get(node);
    return next ? group(next) : node;
  };
  const join = (a: Node, b: Node): void => {
    const opening = between(rooms.get(a) as Rect, rooms.get(b) as Rect, doors);
    if (!opening.length) return;
    doors.push(...opening);
    if (group(a) !== group(b)) joined.set(group(a), group(b));
  };
  for (const node of house.rooms) if (node !== entrance && node.parent) join(node.parent, node);
  for (const [a, b] of ways) if (inside.has(a) && inside.has(b)) join(a, b);
  if (huge) {
    for (const a of house.rooms) for (const b of house.rooms) if (group(a) !== group(b)) join(a, b);
  }
  return { w: inner.w + 2 * WALL, h, rooms, front, doors };
}

function measured(node: Node, inside: ReadonlySet<Node>, size: (node: Node) => Size): Block {
  const kids = node.kids.filter((kid) => inside.has(kid)).map((kid) => measured(kid, inside, size));
  const own = size(node);
  if (!kids.length) return { node, kids, own, w: own.w, h: own.h };
  const w = Math.max(own.w, total(kids.map((kid) => kid.w)) + WALL * (kids.length - 1));
  return { node, kids, own, w, h: own.h + FACE + Math.max(...kids.map((kid) => kid.h)) };
}

const total = (numbers: readonly number[]): number => numbers.reduce((sum, n) => sum + n, 0);

/** The kids side by side behind the room; whatever space is over goes to all of them. */
function behind(block: Block, at: Rect, rooms: Map<Node, Rect>): void {
  if (!block.kids.length) {
    rooms.set(block.node, at);
    return;
  }
  const tallest = Math.max(...block.kids.map((kid) => kid.h));
  const over = at.h - block.h;
  const back = tallest + Math.floor(over / 2);
  rooms.set(block.node, { x: at.x, y: at.y + back + FACE, w: at.w, h: at.h - back - FACE });
  stretched(block.kids, at, at.w, (kid, x, w) => behind(kid, { x, y: at.y, w, h: back }, rooms));
}

function stretched(
  kids: readonly Block[],
  at: Point,
  w: number,
  put: (kid: Block, x: number, w: number) => void,
): void {
  const free = w - total(kids.map((kid) => kid.w)) - WALL * (kids.length - 1);
  let x = at.x;
  kids.forEach((kid, i) => {
    const wide = kid.w + Math.floor(((i + 1) * free) / kids.length) - Math.floor((i * free) / kids.length);
    put(kid, x, wide);
    x += wide + WALL;
  });
}

/** Two rooms lie rather side by side than one behind the other, but not in every house. */
function isWideHouse({ node, kids, own }: Block): boolean {
  const [kid] = kids;
  return (
    kids.length === 1 &&
    kid !== undefined &&
    kid.kids.length === 0 &&
    own.w + kid.w <= 19 &&
    hash(`wide ${node.area.id}`) % 6 !== 0
  );
}

function beside(block: Block, rooms: Map<Node, Rect>): Size {
  const kid = block.kids[0] as Block;
  const h = Math.max(block.own.h, kid.h);
  const first = hash(`left ${block.node.area.id}`) % 2 === 0;
  rooms.set(block.node, { x: first ? 0 : kid.w + WALL, y: 0, w: block.own.w, h });
  rooms.set(kid.node, { x: first ? block.own.w + WALL : 0, y: 0, w: kid.w, h });
  return { w: block.own.w + WALL + kid.w, h };
}

/** A hall from front to back, the kids left and right of it. */
function alongHall(block: Block, rooms: Map<Node, Rect>): Size {
  const left = block.kids.filter((_, i) => i % 2 === 0);
  const right = block.kids.filter((_, i) => i % 2 === 1);
  const height = (column: readonly Block[]): number => total(column.map((kid) => kid.h)) + FACE * (column.length - 1);
  const width = (column: readonly Block[]): number => Math.max(...column.map((kid) => kid.w));
  const h = Math.max(height(left), height(right));
  const hall = Math.max(4, Math.ceil((block.own.w * block.own.h) / h));
  const put = (column: readonly Block[], x: number, w: number): void => {
    const free = h - height(column);
    let y = 0;
    column.forEach((kid, i) => {
      const tall = kid.h + Math.floor(((i + 1) * free) / column.length) - Math.floor((i * free) / column.length);
      behind(kid, { x, y, w, h: tall }, rooms);
      y += tall + FACE;
    });
  };
  put(left, 0, width(left));
  rooms.set(block.node, { x: width(left) + WALL, y: 0, w: hall, h });
  put(right, width(left) + hall + 2 * WALL, width(right));
  return { w: width(left) + hall + width(right) + 2 * WALL, h };
}

/** More rooms than a house has: rows of equal rooms behind a front hall, each opening onto the one before it. */
function grid(house: House, size: (node: Node) => Size, rooms: Map<Node, Rect>): Size {
  const others = house.rooms.slice(1);
  const sizes = others.map(size);
  const w = Math.max(...sizes.map((one) => one.w));
  const columns = Math.max(2, Math.round(Math.sqrt(others.length)));
  const rows = Math.ceil(others.length / columns);
  const own = size(house.entrance);
  const wide = Math.max(own.w, columns * w + (columns - 1) * WALL);
  let y = 0;
  for (let row = rows - 1; row >= 0; row--) {
    const here = others.slice(row * columns, (row + 1) * columns);
    const tall = Math.max(...sizes.slice(row * columns, (row + 1) * columns).map((one) => one.h));
    here.forEach((node, i) => {
      const from = Math.floor((i * (wide + WALL)) / here.length);
      const to = Math.floor(((i + 1) * (wide + WALL)) / here.length) - WALL;
      rooms.set(node, { x: from, y, w: to - from, h: tall });
    });
    y += tall + FACE;
  }
  rooms.set(house.entrance, { x: 0, y, w: wide, h: own.h });
  return { w: wide, h: y + own.h };
}

/** An opening in the wall two rooms share, away from other openings; none if they share no wall. */
function between(a: Rect, b: Rect, doors: readonly Point[]): Point[] {
  const [north, south] = a.y < b.y ? [a, b] : [b, a];
  if (north.y + north.h + FACE === south.y) {
    const from = Math.max(a.x, b.x);
    const to = Math.min(a.x + a.w, b.x + b.w);
    if (to - from < 1) return [];
    const x = from + Math.floor((to - from) / 2);
    return [
      { x, y: south.y - 1 },
      { x, y: south.y - 2 },
    ];
  }
  const [west, east] = a.x < b.x ? [a, b] : [b, a];
  if (west.x + west.w + WALL !== east.x) return [];
  const from = Math.max(a.y, b.y);
  const to = Math.min(a.y + a.h, b.y + b.h);
  if (to - from < 1) return [];
  const x = east.x - 1;
  const y = from + Math.min(to - from - 1, Math.max(1, Math.floor((to - from) / 2)));
  return doors.some((door) => door.x === x && door.y === y) ? [] : [{ x, y }];
}
