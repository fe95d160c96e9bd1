// From a world tree to a village: who lies where (`place`), how houses are cut (`house`), what is in them (`furnish`), paths from
// door to door (`paths`), and green around it all (`scenery`). The same town gives the same village every time.

import type { Town } from "../../api";
import { hash } from "./chance";
import { fillOf, furnish, musts } from "./furnish";
import { fillOfGround, isChannel, kindOfGround, sizeOfGround, tileOf } from "./ground";
import { type Plan, planHouse, type Size } from "./house";
import type {
  Bed,
  Building,
  Ground,
  GroundKind,
  OpenGround,
  Placed,
  Point,
  Rect,
  Room,
  RoomKind,
  Spot,
  VillageMap,
} from "./map";
import { type Land, stamp, tilesOf, tread, wayToNetwork } from "./paths";
import { overlap, place, waterRows } from "./place";
import { river } from "./river";
import { scenery } from "./scenery";
import { type House, type Node, readSite } from "./tree";
import { roomKindOf } from "./words";

/** Tiles of trees or towers around the village, so that the edge of the world looks meant. */
const BORDER = 5;

export function layout(town: Town): VillageMap {
  const site = readSite(town);
  const people = town.characters.length;
  const staged = town.stage !== "town";
  const stage = !site.root.open && site.root.size === 1;
  const sleepers = (node: Node): readonly string[] => (staged ? [] : node.residents);
  const kinds = new Map<Node, RoomKind>();
  for (const house of site.houses)
    for (const room of house.rooms) kinds.set(room, kindOfRoom(house, room, site.grounds));
  const groundKinds = new Map<Node, GroundKind>(site.grounds.map((node) => [node, kindOfGround(node)]));

  const ways = town.ways.flatMap(({ between }) => {
    const [a, b] = between.map((id) => site.nodes.get(id));
    return a && b ? [[a, b] as const] : [];
  });
  const plans = new Map<House, Plan>();
  const sizeOf = (node: Node): Size => {
    if (stage) return sizeOfStage(people);
    return sizeOfRoom(node, kinds.get(node) as RoomKind, sleepers(node));
  };
  for (const house of site.houses) plans.set(house, planHouse(house, sizeOf, ways));
  const crowd = (node: Node): number => (node === site.root || node.parent === site.root ? people : people * 0.25);
  // A boat with a garden lies ashore beside it.
  const afloat = ({ entrance, rooms }: House): boolean =>
    kinds.get(entrance) === "boat" && rooms.every((room) => room.kids.every((kid) => !kid.open));
  const moored = (node: Node): readonly House[] =>
    isChannel(groundKinds.get(node) ?? "meadow")
      ? node.kids
          .flatMap((kid) => site.houseOf.get(kid.area.id) ?? [])
          .filter((house) => house.entrance.parent === node && afloat(house))
      : [];
  const boatsOf = (node: Node): readonly Size[] => moored(node).map((boat) => plans.get(boat) as Plan);
  const placement = place(site, {
    plan: (house) => plans.get(house) as Plan,
    core: (node) => sizeOfGround(node, groundKinds.get(node) as GroundKind, crowd(node), boatsOf(node)),
    isChannel: (node) => isChannel(groundKinds.get(node) ?? "meadow"),
    isStreet: (node) => groundKinds.get(node) === "street",
    moored,
  });

  // ── the land ──
  const margin = stage ? BORDER + 3 : BORDER;
  const width = placement.w + 2 * margin;
  const height = placement.h + 2 * margin;
  const tiles = width * height;
  const land: Land = {
    width,
    height,
    ground: new Array<Ground>(tiles).fill("grass"),
    built: new Uint8Array(tiles),
    core: new Uint8Array(tiles),
    network: new Uint8Array(tiles),
  };
  const moved = (rect: Rect): Rect => ({ ...rect, x: rect.x + margin, y: rect.y + margin });
  const grounds = new Map([...placement.grounds].map(([node, rect]) => [node, moved(rect)]));
  const houses = new Map([...placement.houses].map(([house, rect]) => [house, moved(rect)]));
  for (let i = 0; i < tiles; i++) {
    const x = i % width;
    const y = (i - x) / width;
    if (x < 2 || y < 2 || x >= width - 2 || y >= height - 2) land.built[i] = 1;
  }
  for (const rect of houses.values()) stamp(land, land.built, rect, 1);
  for (const [node, rect] of grounds) {
    const kind = groundKinds.get(node) as GroundKind;
    for (const p of tilesOf(rect)) {
      const i = p.y * width + p.x;
      land.ground[i] = tileOf(kind, rect, p, waterRows(boatsOf(node)));
      land.core[i] = 1;
    }
  }
  const waters: Rect[] = [];
  for (const [node, rect] of grounds) {
    const kind = groundKinds.get(node) as GroundKind;
    if (isChannel(kind)) {
      const rows = waterRows(boatsOf(node));
      waters.push({ ...rect, h: rows });
      grounds.set(node, { ...rect, y: rect.y + rows, h: rect.h - rows });
    } else if (kind === "beach") {
      const rows = Math.ceil(rect.h * 0.55);
      waters.push({ ...rect, y: rect.y + rows, h: rect.h - rows });
      grounds.set(node, { ...rect, h: rows });
    }
  }
  for (const water of waters) river(land, water, [...houses.values()]);

  // ── paths ──
  const isWater = (p: Point): boolean => land.ground[p.y * width + p.x] === "water";
  const doorOf = new Map<Node, Point>();
  for (const [node, rect] of grounds) {
    const towards = node.parent && grounds.get(node.parent);
    doorOf.set(node, rimNearest(rect, towards ? middle(towards) : { x: rect.x + rect.w / 2, y: height }, isWater));
  }
  const join = (rect: Rect): void => {
    for (const { x, y } of tilesOf(rect)) if (!isWater({ x, y })) land.network[y * width + x] = 1;
  };
  const [first, ...rest] = site.grounds;
  if (first) join(grounds.get(first) as Rect);
  const tile: Ground = placement.houses.size > 40 ? "street" : "path";
  const streets = placement.streets.map(moved);
  const met: Rect[] = first ? [grounds.get(first) as Rect] : [];
  while (streets.length) {
    // Those that meet a street there is come first: the others may then find a shorter way to them.
    const meets = streets.findIndex((street) =>
      met.some((other) => overlap({ x: street.x - 1, y: street.y - 1, w: street.w + 2, h: street.h + 2 }, other)),
    );
    const [street] = streets.splice(Math.max(0, meets), 1) as [Rect];
    const way = tilesOf(street).filter(({ x, y }) => !land.built[y * width + x] && !land.core[y * width + x]);
    const link = meets < 0 && first && way.length ? wayToNetwork(land, ...way) : null;
    met.push(street);
    tread(land, way, 1, tile);
    if (link) tread(land, link, 2, tile);
  }
  for (const node of rest) {
    const way = wayToNetwork(land, doorOf.get(node) as Point);
    if (way) tread(land, way, 2, "path");
    join(grounds.get(node) as Rect);
  }
  const outside = (house: House): Point => {
    const rect = houses.get(house) as Rect;
    const { front } = plans.get(house) as Plan;
    return { x: rect.x + front.x, y: rect.y + front.y + 1 };
  };
  for (const house of site.houses) {
    const from = outside(house);
    const way = wayToNetwork(land, from) ?? [from, { x: from.x, y: from.y + 1 }];
    tread(land, way, 2, "path");
  }

  for (const road of roadsOut(land)) tread(land, road, 2, tile);

  // ── furniture ──
  const placed: Placed[] = [];
  const spots = new Map<string, Spot>();
  const uses = new Map<string, readonly Point[]>();
  const beds = new Map<string, Bed>();
  const buildings: Building[] = [];
  for (let i = 0; i < tiles; i++) if (land.ground[i] === "water") land.built[i] = 1;
  const openGrounds: OpenGround[] = [];
  const collect = (made: ReturnType<typeof furnish>): void => {
    placed.push(...made.placed);
    for (const [id, at] of made.uses) uses.set(id, at);
    for (const [id, bed] of made.beds) beds.set(id, bed);
  };
  for (const [house, rect] of houses) {
    const plan = plans.get(house) as Plan;
    const at = (p: Point): Point => ({ x: p.x + rect.x, y: p.y + rect.y });
    const doors = plan.doors.map(at);
    const rooms: Room[] = [];
    for (const node of house.rooms) {
      const inner = plan.rooms.get(node) as Rect;
      const room = { ...inner, ...at(inner) };
      const kind = kinds.get(node) as RoomKind;
      const landings = doors.flatMap((door) => landing(door, room));
      const gaps = new Set(doors.filter((door) => door.y === room.y - 1).map((door) => door.x));
      const made = furnish(
        { node, kind, rect: room, free: landings, gaps, sleepers: sleepers(node) },
        stage ? stageFill(town) : fillOf(kind),
        stage ? 0.22 : 0.4,
      );
      collect(made);
      const way = house.entrance === node ? at(plan.front) : doors.find((door) => landing(door, room).length > 0);
      const door = (way && landing(way, room)[0]) ?? (made.stands[0] as Point);
      const spot: Room = {
        area: node.area.id,
        name: node.area.name,
        rect: room,
        stands: made.stands,
        door,
        kind,
        floor: floorOf(kind),
      };
      rooms.push(spot);
      spots.set(node.area.id, spot);
    }
    const { id, name } = house.entrance.area;
    const kind = kinds.get(house.entrance) as RoomKind;
    buildings.push({
      id,
      name,
      rect,
      rooms,
      roof: roofUnlike(id, rect, buildings),
      style: styleOf(house, kind, rect),
      door: at(plan.front),
      doors,
      sign: name,
      open: stage,
    });
    stamp(land, land.built, rect, 1);
    for (const room of rooms) stamp(land, land.built, room.rect, 0);
    for (const p of doors) land.built[p.y * width + p.x] = 0;
  }
  const thresholds = site.houses.map(outside);
  for (const [node, rect] of grounds) {
    const kind = groundKinds.get(node) as GroundKind;
    const door = doorOf.get(node) as Point;
    const [density, fill] = fillOfGround(kind);
    const bridged = (p: Point): boolean =>
      land.ground[p.y * width + p.x] === "planks" && tileOf(kind, rect, p, 0) !== "planks";
    const free = [
      door,
      ...thresholds,
      ...tilesOf(rect).filter((p) => bridged(p) || (onRim(rect, p) && besidePath(land, rect, p))),
    ];
    const made = furnish(
      { node, kind, rect, free, gaps: new Set(), sleepers: sleepers(node), closed: (x, y) => isWater({ x, y }) },
      repeated(fill, rect),
      density,
    );
    collect(made);
    const spot: OpenGround = { area: node.area.id, name: node.area.name, rect, stands: made.stands, door, kind };
    openGrounds.push(spot);
    spots.set(node.area.id, spot);
  }
  for (const one of placed) {
    if (one.lies === "floor") stamp(land, land.built, { ...one.at, w: one.w, h: one.h }, 1);
  }
  const plants = scenery(land, town, { border: BORDER, houses: buildings, grounds: openGrounds });
  return {
    width,
    height,
    ground: land.ground,
    buildings,
    grounds: openGrounds,
    placed,
    plants,
    spots,
    beds,
    uses,
    blocked: blockedOf(land.built),
  };
}

function blockedOf(built: Uint8Array): boolean[] {
  const blocked = new Array<boolean>(built.length);
  for (let i = 0; i < built.length; i++) blocked[i] = built[i] === 1;
  return blocked;
}

// ── kinds and sizes ──────────────────────────────────────────────────────────────────────────────────────────────────

/** A colour that no house near has, however many colours there are. */
function roofUnlike(id: string, { x, y, w, h }: Rect, built: readonly Building[]): number {
  const near: { roof: number; far: number }[] = [];
  for (const { rect, roof } of built) {
    const far = Math.abs(rect.x + rect.w / 2 - x - w / 2) + Math.abs(rect.y + rect.h / 2 - y - h / 2);
    if (far < 30) near.push({ roof, far });
  }
  let best = 0;
  let least = Infinity;
  for (let i = 0; i < 12 && least > 0; i++) {
    const roof = hash(`roof ${id} ${i}`) % 5040;
    let alike = 0;
    for (const other of near)
      for (let colours = 4; colours <= 9; colours++)
        if (roof % colours === other.roof % colours) alike += 1 / (other.far + 4);
    if (alike < least) {
      least = alike;
      best = roof;
    }
  }
  return best;
}

const BOATLIKE = /\b(berth|hammock|helm|anchor|rudder|sail|houseboat|porthole)\b|돛|닻|선실/i;

function kindOfRoom(house: House, node: Node, grounds: readonly Node[]): RoomKind {
  const afloat =
    node.area.private &&
    BOATLIKE.test(node.things.map(({ id, name }) => `${id.replaceAll(/[-_]/g, " ")} ${name}`).join(" "));
  if (
    afloat &&
    node === house.entrance &&
    node.parent &&
    grounds.includes(node.parent) &&
    isChannel(kindOfGround(node.parent))
  )
    return "boat";
  const named = roomKindOf(node.area);
  if (named === "bedroom" && house.rooms.length === 1) return "home";
  if (named) return named;
  if (node.residents.length) return node === house.entrance ? "home" : "bedroom";
  return "room";
}

// biome-ignore format: a table
const ROOM_SIZES: Partial<Record<RoomKind, readonly [number, number]>> = {
  bedroom: [5, 4], kitchen: [6, 4], home: [7, 5], cafe: [9, 6], bakery: [8, 5], fish: [8, 5], clocks: [7, 5], books: [8, 6], shop: [8, 5],
  clinic: [8, 5], workshop: [8, 5], smithy: [8, 5], arcade: [9, 6], bath: [9, 6], library: [10, 6], school: [10, 6], office: [8, 5],
  hall: [11, 7], stage: [12, 8], church: [9, 8], inn: [10, 6], barn: [9, 6], shed: [6, 4], boat: [8, 4], tower: [5, 4], study: [7, 5],
};

function sizeOfRoom(node: Node, kind: RoomKind, sleepers: readonly string[]): Size {
  const [w, h] = ROOM_SIZES[kind] ?? [7, 5];
  const covered = musts(node, sleepers)
    .filter((piece) => piece.lies === "floor")
    .reduce((all, piece) => all + piece.w * piece.h, 0);
  const grow = Math.sqrt(Math.max(1, (covered * 3.2 + 6) / (w * h)));
  const varied = hash(`size ${node.area.id}`);
  return { w: Math.ceil(w * grow) + (varied % 4) - 1, h: Math.ceil(h * grow) + (varied % 7 === 0 && h < 6 ? 1 : 0) };
}

/** One room is the whole world: space for everybody in it, and a little for the eye. */
function sizeOfStage(people: number): Size {
  const tiles = 84 + people * 5;
  const h = Math.round(Math.sqrt(tiles / 1.7));
  return { w: Math.round(tiles / h), h };
}

function stageFill(town: Town): readonly ReturnType<typeof fillOf>[number][] {
  const root = town.areas[0];
  const kind = (root && roomKindOf(root)) ?? "room";
  const seats = Math.ceil(town.characters.length / 3);
  return [
    "rug",
    ...new Array<"roundtable">(Math.max(1, seats)).fill("roundtable"),
    ...fillOf(kind),
    ...fillOf("study"),
  ];
}

function floorOf(kind: RoomKind): Room["floor"] {
  switch (kind) {
    case "kitchen":
    case "clinic":
    case "bakery":
    case "bath":
    case "fish":
      return "tile";
    case "workshop":
    case "smithy":
    case "shed":
    case "barn":
    case "shrine":
    case "church":
    case "tower":
      return "stone";
    case "library":
    case "office":
    case "study":
    case "books":
    case "stage":
    case "music":
    case "hall":
      return "carpet";
    case "arcade":
    case "lab":
    case "radio":
      return "metal";
    default:
      return "wood";
  }
}

function styleOf(house: House, kind: RoomKind, rect: Rect): Building["style"] {
  if (kind === "boat") return "boat";
  if (kind === "shed" || kind === "barn") return "shed";
  if (kind === "tower") return "tower";
  if (["hall", "church", "school", "library", "stage", "office", "shrine", "bath"].includes(kind)) return "hall";
  if (
    [
      "cafe",
      "shop",
      "bakery",
      "fish",
      "clocks",
      "books",
      "clinic",
      "arcade",
      "inn",
      "workshop",
      "smithy",
      "studio",
      "radio",
    ].includes(kind)
  )
    return "shop";
  return house.rooms.length > 1 || rect.w > 11 ? "house" : "cottage";
}

// ── water and doors ──────────────────────────────────────────────────────────────────────────────────────────────────

const middle = (rect: Rect): Point => ({ x: rect.x + rect.w / 2, y: rect.y + rect.h / 2 });

const onRim = (rect: Rect, { x, y }: Point): boolean =>
  x === rect.x || y === rect.y || x === rect.x + rect.w - 1 || y === rect.y + rect.h - 1;

function rimNearest(rect: Rect, to: Point, closed: (p: Point) => boolean): Point {
  let best: Point = { x: rect.x, y: rect.y };
  let least = Infinity;
  for (const p of tilesOf(rect)) {
    if (!onRim(rect, p) || closed(p)) continue;
    const far =
      Math.abs(p.x - to.x) +
      Math.abs(p.y - to.y) +
      0.3 * Math.abs(p.x - rect.x - rect.w / 2) +
      0.3 * Math.abs(p.y - rect.y - rect.h / 2);
    if (far < least) {
      least = far;
      best = p;
    }
  }
  return best;
}

/** The village is not the world: a road leads south and another to the nearer side. */
function roadsOut(land: Land): Point[][] {
  const { width, height, ground, built } = land;
  const roads: Point[][] = [];
  const inner = (from: number, to: number, at: (i: number) => Point): Point[] =>
    Array.from({ length: to - from }, (_, i) => at(from + i)).filter(
      ({ x, y }) => !built[y * width + x] && ground[y * width + x] !== "water",
    );
  const south = wayToNetwork(land, ...inner(8, width - 8, (x) => ({ x, y: height - 3 })));
  if (south)
    roads.push([{ x: (south[0] as Point).x, y: height - 1 }, { x: (south[0] as Point).x, y: height - 2 }, ...south]);
  const sides = [2, width - 3].map((x) => wayToNetwork(land, ...inner(8, height - 8, (y) => ({ x, y }))));
  const side = sides.filter((way) => way !== null).sort((a, b) => a.length - b.length)[0];
  const start = side?.[0];
  if (side && start)
    roads.push([
      start.x === 2 ? { x: 0, y: start.y } : { x: width - 1, y: start.y },
      start.x === 2 ? { x: 1, y: start.y } : { x: width - 2, y: start.y },
      ...side,
    ]);
  for (const { x, y } of roads.flat()) if (x < 2 || y >= height - 2 || x >= width - 2) built[y * width + x] = 0;
  return roads;
}

/** Whether a path or a bridge comes in there. */
function besidePath({ width, network }: Land, rect: Rect, { x, y }: Point): boolean {
  const outside = [
    { x: x - 1, y },
    { x: x + 1, y },
    { x, y: y - 1 },
    { x, y: y + 1 },
  ].filter((p) => !overlap({ ...p, w: 1, h: 1 }, rect));
  return outside.some((p) => network[p.y * width + p.x] === 1);
}

/** The tile of a room that a door opens onto, if it does. */
function landing(door: Point, room: Rect): Point[] {
  return [
    { x: door.x, y: door.y - 1 },
    { x: door.x, y: door.y + 1 },
    { x: door.x - 1, y: door.y },
    { x: door.x + 1, y: door.y },
  ].filter(({ x, y }) => x >= room.x && y >= room.y && x < room.x + room.w && y < room.y + room.h);
}

/** A large place has more of what its kind has. */
function repeated<T>(fill: readonly T[], rect: Rect): readonly T[] {
  const times = Math.min(6, Math.max(1, Math.round((rect.w * rect.h) / 150)));
  return Array.from({ length: times }, () => fill).flat();
}
