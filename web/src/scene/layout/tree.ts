// The world tree as a builder sees it: which areas are open ground, which are houses, which are rooms of a house.

import type { Area, Thing, Town } from "../../api";
import { groundKindOf, roomKindOf } from "./words";

export interface Node {
  readonly area: Area;
  readonly parent: Node | null;
  readonly kids: Node[];
  /** Under the open sky. */
  open: boolean;
  readonly things: Thing[];
  /** Characters whose home it is. */
  readonly residents: string[];
  /** Areas of the tree from here down, this one included. */
  size: number;
}

export interface House {
  /** The area one enters by. */
  readonly entrance: Node;
  /** The entrance and the indoor areas behind it, outermost first. */
  readonly rooms: readonly Node[];
}

export interface Site {
  readonly root: Node;
  readonly nodes: ReadonlyMap<string, Node>;
  /** Outermost first. */
  readonly grounds: readonly Node[];
  readonly houses: readonly House[];
  /** The house an indoor area is a room of. */
  readonly houseOf: ReadonlyMap<string, House>;
}

/** Rooms under one roof, above which an area without the word for it is rather a village than a house. */
const ROOMS_OF_A_HOUSE = 14;

export function readSite(town: Town): Site {
  const nodes = new Map<string, Node>();
  let root: Node | undefined;
  for (const area of town.areas) {
    const parent = nodes.get(area.parent) ?? null;
    const node: Node = { area, parent, kids: [], open: area.outdoor, things: [], residents: [], size: 1 };
    nodes.set(area.id, node);
    parent?.kids.push(node);
    root ??= node;
  }
  if (!root) throw new Error("the world has no area");
  for (const thing of town.things) nodes.get(thing.area)?.things.push(thing);
  for (const { id, home } of town.characters) nodes.get(home)?.residents.push(id);
  const inOrder = [...nodes.values()];
  for (const node of inOrder.toReversed()) if (node.parent) node.parent.size += node.size;
  openUp(root, inOrder);

  const grounds: Node[] = [];
  const houses: House[] = [];
  const houseOf = new Map<string, House>();
  const rooms = new Map<House, Node[]>();
  for (const node of inOrder) {
    if (node.open) {
      grounds.push(node);
      continue;
    }
    const around = node.parent && !node.parent.open ? houseOf.get(node.parent.area.id) : undefined;
    if (around) {
      rooms.get(around)?.push(node);
      houseOf.set(node.area.id, around);
    } else {
      const own: Node[] = [node];
      const house: House = { entrance: node, rooms: own };
      rooms.set(house, own);
      houses.push(house);
      houseOf.set(node.area.id, house);
    }
  }
  return { root, nodes, grounds, houses, houseOf };
}

/**
 * An indoor area that holds a whole village (`Latticeville` holds a plaza) is the land the village lies on, and so is a root
 * with more rooms than a house has. A garden behind a cottage, even with a shed in it, leaves the cottage a house.
 */
function openUp(root: Node, inOrder: readonly Node[]): void {
  const holdsHouses = new Set<Node>();
  for (const node of inOrder) {
    if (node.open || !node.parent?.open) continue;
    for (let up: Node | null = node.parent; up && !holdsHouses.has(up); up = up.parent) holdsHouses.add(up);
  }
  for (const node of holdsHouses) if (roomKindOf(node.area) === undefined) node.open = true;
  if (root.open) return;
  const named = groundKindOf(root.area);
  const isHouse = roomKindOf(root.area) !== undefined;
  const deep = root.kids.some((kid) => kid.kids.length > 0);
  const outside = root.kids.some((kid) => kid.open);
  if (root.kids.length > 0 && ((named && !isHouse) || root.size > ROOMS_OF_A_HOUSE || outside || (deep && !isHouse))) {
    root.open = true;
  }
}

/** The land around a village that has one place in it is only the way in. */
export function isGate(root: Node): boolean {
  return !root.parent && root.open && root.kids.length === 1 && root.kids[0]?.open === true && root.things.length === 0;
}
