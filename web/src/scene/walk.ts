// Where people stand and how they walk there. Pure: the same people at the same places give the same stances and ways.

import type { Thing } from "../api";
import { hash } from "./layout/chance";
import type { Placed, Point, Spot, VillageMap } from "./layout/map";
import { placesFor } from "./layout/words";
import { sheltered } from "./shelter";

// ── ways ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

const STRAIGHT = 10;
const DIAGONAL = 14;
/** Grass is slower than a path, so that people keep to paths and still cut a corner. */
const OFF_PATH = 6;

/** Reused between searches, by map. */
interface Scratch {
  readonly cost: Uint8Array;
  readonly reached: Int32Array;
  readonly spent: Int32Array;
  readonly came: Int32Array;
  search: number;
}

const scratches = new WeakMap<VillageMap, Scratch>();

function scratchOf(map: VillageMap): Scratch {
  let scratch = scratches.get(map);
  if (!scratch) {
    const size = map.width * map.height;
    const cost = new Uint8Array(size);
    const indoors = new Uint8Array(size);
    for (const { rect } of map.buildings) {
      for (let y = rect.y; y < rect.y + rect.h; y++)
        indoors.fill(1, y * map.width + rect.x, y * map.width + rect.x + rect.w);
    }
    for (let i = 0; i < size; i++)
      cost[i] = map.blocked[i] ? 0 : map.ground[i] === "grass" && !indoors[i] ? OFF_PATH + 1 : 1;
    scratch = {
      cost,
      reached: new Int32Array(size),
      spent: new Int32Array(size),
      came: new Int32Array(size),
      search: 0,
    };
    scratches.set(map, scratch);
  }
  return scratch;
}

/**
 * The quickest way over free tiles, both ends included; corners only, between which one walks straight. An end may be a bed (its
 * upper tile of two). Without a way (there always is one between places) the straight line.
 */
export function route(map: VillageMap, from: Point, to: Point): Point[] {
  const { width, height } = map;
  const scratch = scratchOf(map);
  const { cost, reached, spent, came } = scratch;
  const start = Math.round(from.y) * width + Math.round(from.x);
  const goal = Math.round(to.y) * width + Math.round(to.x);
  if (start === goal) return same(from, to) ? [from] : [from, to];
  const footOfStart = cost[start] ? -1 : start + width;
  const footOfGoal = cost[goal] ? -1 : goal + width;
  const gx = goal % width;
  const gy = Math.floor(goal / width);
  const round = ++scratch.search * 2;
  const ahead = (x: number, y: number): number => {
    const dx = Math.abs(x - gx);
    const dy = Math.abs(y - gy);
    return STRAIGHT * Math.max(dx, dy) + (DIAGONAL - STRAIGHT) * Math.min(dx, dy);
  };
  // `reached` is `round` for a tile in the queue and `round + 1` for a settled one, so nothing is cleared between searches. Costs
  // are small whole numbers: the queue is a row of buckets.
  const buckets: number[][] = [];
  const put = (tile: number, g: number, x: number, y: number): void =>
    void (buckets[g + ahead(x, y)] ??= []).push(tile);
  reached[start] = round;
  spent[start] = 0;
  came[start] = -1;
  put(start, 0, start % width, Math.floor(start / width));
  for (let f = 0; f < buckets.length; f++) {
    const bucket = buckets[f];
    if (!bucket) continue;
    for (let tile = bucket.pop(); tile !== undefined; tile = bucket.pop()) {
      if (reached[tile] === round + 1) continue;
      reached[tile] = round + 1;
      if (tile === goal) return corners(came, start, goal, width, from, to);
      const x = tile % width;
      const y = (tile - x) / width;
      const g = spent[tile] as number;
      for (let dy = -1; dy <= 1; dy++) {
        for (let dx = -1; dx <= 1; dx++) {
          const nx = x + dx;
          const ny = y + dy;
          if ((!dx && !dy) || nx < 0 || ny < 0 || nx >= width || ny >= height) continue;
          const next = ny * width + nx;
          if (
            reached[next] === round + 1 ||
            (!cost[next] && next !== goal && next !== footOfStart && next !== footOfGoal)
          )
            continue;
          if (dx && dy && (!cost[tile + dx] || !cost[tile + dy * width])) continue;
          const spentThen = g + (dx && dy ? DIAGONAL : STRAIGHT) + (cost[next] ? (cost[next] as number) - 1 : 0);
          if (reached[next] === round && (spent[next] as number) <= spentThen) continue;
          reached[next] = round;
          spent[next] = spentThen;
          came[next] = tile;
          put(next, spentThen, nx, ny);
        }
      }
    }
  }
  return [from, to];
}

const same = (a: Point, b: Point): boolean => a.x === b.x && a.y === b.y;

function corners(came: Int32Array, start: number, goal: number, width: number, from: Point, to: Point): Point[] {
  const way: Point[] = [];
  let dx = 0;
  let dy = 0;
  for (let at = goal; at !== start; at = came[at] as number) {
    const before = came[at] as number;
    const x = (at % width) - (before % width);
    const y = Math.floor(at / width) - Math.floor(before / width);
    if (x !== dx || y !== dy) way.push({ x: at % width, y: Math.floor(at / width) });
    dx = x;
    dy = y;
  }
  way[0] = to;
  way.push(from);
  return way.reverse();
}

/** A walk through areas, one after the other. */
export interface Journey {
  readonly way: readonly Point[];
  /** For each area after the first: tiles walked from the start when it is reached. */
  readonly reached: readonly number[];
  /** Tiles walked in all. */
  readonly length: number;
}

/** From a point through areas (the first is where one is, the last is where `to` lies): each is really crossed. */
export function journey(map: VillageMap, from: Point, areas: readonly string[], to: Point): Journey {
  const way: Point[] = [from];
  const reached: number[] = [];
  let length = 0;
  let at = from;
  areas.slice(1).forEach((area, i) => {
    const last = i === areas.length - 2;
    const spot = map.spots.get(area);
    const after = map.spots.get(areas[i + 2] ?? "");
    const next = last || !spot ? to : crossing(map, spot, at, after?.door ?? to);
    for (const point of route(map, at, next).slice(1)) {
      length += Math.hypot(point.x - at.x, point.y - at.y);
      way.push(point);
      at = point;
    }
    reached.push(length);
  });
  return { way, reached, length };
}

/** The free tile of an area that is the least way around between two points. */
function crossing(map: VillageMap, { rect, door }: Spot, from: Point, to: Point): Point {
  let best = door;
  let least = Infinity;
  for (let y = rect.y; y < rect.y + rect.h; y++) {
    for (let x = rect.x; x < rect.x + rect.w; x++) {
      if (map.blocked[y * map.width + x]) continue;
      const far = Math.abs(x - from.x) + Math.abs(y - from.y) + Math.abs(x - to.x) + Math.abs(y - to.y);
      if (far < least) {
        least = far;
        best = { x, y };
      }
    }
  }
  return best;
}

// ── stances ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export type Facing = "up" | "down" | "left" | "right";

/** How somebody is in a place, in tiles; of many in a small room some stand between tiles. */
export interface Stance {
  readonly at: Point;
  readonly area: string;
  readonly facing: Facing;
  readonly pose: "stand" | "sit" | "lie";
}

export interface Present {
  readonly id: string;
  readonly area: string;
  readonly asleep: boolean;
  /** Whom it talks with; empty for nobody. */
  readonly with: string;
  /** What it is at, a key of `uses`; empty for nothing. */
  readonly at: string;
  /** It rains on it. */
  readonly wet: boolean;
}

/**
 * The object an action's words name, among those of a place (`wipes the stove`); of two the one named more fully. A telling word
 * of its name is enough: who is `making coffee` is at the coffee machine.
 */
export function objectIn(action: string, things: readonly Pick<Thing, "id" | "name">[]): string {
  const words = action.toLowerCase();
  let best = "";
  let most = 0;
  for (const { id, name } of things) {
    const named = name.toLowerCase();
    let letters = mentions(words, named) ? named.length + 1 : 0;
    if (!letters)
      for (const word of named.split(/\s+/))
        if ((HANGUL.test(word) || word.length > 3) && mentions(words, word)) letters += word.length;
    if (letters > most) {
      best = id;
      most = letters;
    }
  }
  return best;
}

/** What somebody is at: an object their action names, else furniture that suits it (who cooks stands at the stove). */
export function workplace(
  map: VillageMap,
  area: string,
  action: string,
  things: readonly Pick<Thing, "id" | "name">[],
): string {
  const named = objectIn(action, things);
  if (named && map.uses.has(named)) return named;
  for (const sprite of placesFor(action)) if (map.uses.get(`${area}:${sprite}`)?.length) return `${area}:${sprite}`;
  return "";
}

const HANGUL = /[가-힣]/;
/** What follows a noun of one syllable; anything else makes another word of it. */
const PARTICLE = /[을를이가은는에의로과와도]/;

/** Whether a word is said, as a word of its own and not within another; in Korean particles may follow it. */
function mentions(action: string, word: string): boolean {
  const at = action.indexOf(word);
  if (at < 0) return false;
  const letter = /\p{L}/u;
  if (at > 0 && letter.test(action[at - 1] as string)) return false;
  const after = action[at + word.length];
  if (HANGUL.test(word) && (word.length > 1 || PARTICLE.test(after ?? ""))) return true;
  return after === undefined || after === "s" || !letter.test(after);
}

/** Tiles between two who talk, at most. */
const EARSHOT = 2.5;

/**
 * Where everybody is. Nobody moves without a reason: whoever was in the area before stays on the spot, unless they go to bed, get
 * up, use an object elsewhere or join somebody to talk.
 */
export function settle(
  map: VillageMap,
  present: readonly Present[],
  before: ReadonlyMap<string, Stance>,
): Map<string, Stance> {
  const people = heard(present);
  const { width } = map;
  const taken = new Map<number, string>();
  const out = new Map<string, Stance>();
  const tile = ({ x, y }: Point): number => Math.round(y) * width + Math.round(x);
  const byId = new Map(people.map((one) => [one.id, one]));
  const seats = seatsOf(map);
  const take = (one: Present, at: Point, facing: Facing, pose?: Stance["pose"]): void => {
    const seat = pose ? undefined : seats.get(tile(at));
    out.set(one.id, { at, area: one.area, facing: seat ?? facing, pose: pose ?? (seat ? "sit" : "stand") });
    if (!taken.has(tile(at))) taken.set(tile(at), one.id);
  };
  const free = (at: Point): boolean => !taken.has(tile(at)) && !map.blocked[tile(at)];

  const left: Present[] = [];
  for (const one of people) {
    const bed = one.asleep ? map.beds.get(one.id) : undefined;
    if (bed && bed.area === one.area) {
      out.set(one.id, { at: { x: bed.x, y: bed.y }, area: one.area, facing: "down", pose: "lie" });
      continue;
    }
    const was = before.get(one.id);
    const there = was && was.area === one.area && (was.pose !== "lie" || one.asleep) && !taken.has(tile(was.at));
    const useful = !one.at || (was && (map.uses.get(one.at) ?? []).some((at) => tile(at) === tile(was.at)));
    const partner = byId.get(one.with);
    const with_ = partner && partner.area === one.area ? before.get(one.with) : undefined;
    const near =
      !partner ||
      partner.area !== one.area ||
      (was && with_ && with_.area === was.area && distance(was.at, with_.at) <= EARSHOT);
    const dry = !one.wet || one.at !== "" || partner !== undefined || !was || sheltered(map, was.at);
    if (there && was && useful && near && dry)
      take(one, was.at, was.facing, one.asleep || was.pose === "sit" ? was.pose : undefined);
    else left.push(one);
  }
  // Whoever uses an object comes first; who speaks goes up to whom they speak to, who then need not move.
  const speaks = new Set(present.filter((one) => one.with).map((one) => one.id));
  const rank = (one: Present): number => (one.at ? 0 : !one.with ? 3 : speaks.has(one.id) ? 1 : 2);
  for (const one of left.toSorted((a, b) => rank(a) - rank(b) || (a.id < b.id ? -1 : 1))) {
    const spot = map.spots.get(one.area);
    if (!spot) continue;
    if (one.at) {
      const at = map.uses.get(one.at)?.find(free);
      if (at) {
        const used = usedFrom(map, one.at, at);
        // One sits on a bench with the back to its back.
        if (used && BENCHES.has(used.sprite) && at.y > used.at.y) take(one, { x: at.x, y: at.y - 0.45 }, "down", "sit");
        else
          take(
            one,
            at,
            used ? towards(at, { x: used.at.x + (used.w - 1) / 2, y: used.at.y + (used.h - 1) / 2 }) : "down",
          );
        continue;
      }
    }
    const partner = byId.get(one.with);
    if (partner && partner.area === one.area) {
      const was = before.get(one.id);
      const came = out.get(partner.id);
      if (
        was &&
        came &&
        was.area === one.area &&
        was.pose !== "lie" &&
        free(was.at) &&
        distance(was.at, came.at) <= EARSHOT
      ) {
        take(one, was.at, was.facing);
        continue;
      }
      const theirs = came ?? stayed(partner, before.get(partner.id));
      const at = theirs ? beside(theirs.at, spot, free) : placeForTwo(spot, one, free);
      if (at) {
        take(one, at, "down");
        continue;
      }
    }
    const was = stayed(one, before.get(one.id));
    const dry = one.wet ? (dryStand(map, one, free) ?? (was && free(was.at) ? was.at : undefined)) : undefined;
    take(one, dry ?? anywhere(spot, one.id, free, taken, width), "down", one.asleep ? "lie" : undefined);
  }
  for (const one of people) {
    const mine = out.get(one.id);
    const theirs = one.with ? out.get(one.with) : undefined;
    if (mine && theirs && mine.pose !== "lie" && theirs.area === mine.area)
      out.set(one.id, { ...mine, facing: towards(mine.at, theirs.at) });
  }
  return out;
}

/** Who is spoken to is in the talk too, and who talks leaves their work for as long. */
function heard(present: readonly Present[]): Present[] {
  const area = new Map(present.map((one) => [one.id, one.area]));
  const speaker = new Map<string, string>();
  for (const one of present)
    if (area.get(one.with) === one.area && !speaker.has(one.with)) speaker.set(one.with, one.id);
  return present.map((one) => {
    const other = area.get(one.with) === one.area ? one.with : (speaker.get(one.id) ?? "");
    return { ...one, with: other, at: other ? "" : one.at };
  });
}

/** How somebody stands who has not left the place since: who is talked to stays there, even if their turn to be settled comes later. */
function stayed(one: Present, was: Stance | undefined): Stance | undefined {
  return was && was.area === one.area && was.pose !== "lie" ? was : undefined;
}

const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);

export function towards(from: Point, to: Point): Facing {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  if (Math.abs(dx) >= Math.abs(dy)) return dx < 0 ? "left" : "right";
  return dy < 0 ? "up" : "down";
}

const inside = ({ rect }: Spot, { x, y }: Point): boolean =>
  x >= rect.x && y >= rect.y && x < rect.x + rect.w && y < rect.y + rect.h;

/** Face to face: best two tiles away left or right, so that both are seen and bubbles have space. */
// biome-ignore format: a table
const FACE_TO_FACE = [
  [2, 0], [-2, 0], [1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, 1], [2, 1], [-2, 1], [0, 2], [1, -1], [-1, -1], [0, -2], [2, -1], [-2, -1],
] as const;

function beside(at: Point, spot: Spot, free: (at: Point) => boolean): Point | undefined {
  const points = FACE_TO_FACE.map(([dx, dy]) => ({ x: Math.round(at.x) + dx, y: Math.round(at.y) + dy })).filter(
    (point) => inside(spot, point) && free(point),
  );
  // The last of the stands are in doorways and behind trees.
  const poor = spot.stands.slice(Math.floor(spot.stands.length * 0.85));
  return points.find((point) => !poor.some((stand) => same(stand, point))) ?? points[0];
}

/** The nicest free tile that has a free one beside it for the other. */
function placeForTwo(spot: Spot, one: Present, free: (at: Point) => boolean): Point | undefined {
  const good = spot.stands.slice(0, Math.max(2, Math.ceil(spot.stands.length * 0.85)));
  const pairs = good.filter(
    (at) =>
      free(at) &&
      [2, -2, 1, -1].some((dx) => inside(spot, { x: at.x + dx, y: at.y }) && free({ x: at.x + dx, y: at.y })),
  );
  return pairs[hash(`${one.id} ${one.with}`) % Math.max(1, Math.min(6, pairs.length))];
}

/** Where one waits for the rain to end. */
function dryStand(map: VillageMap, one: Present, free: (at: Point) => boolean): Point | undefined {
  const dry = map.spots.get(one.area)?.stands.filter((at) => sheltered(map, at) && free(at)) ?? [];
  return dry[hash(`${one.id} in the rain`) % Math.max(1, dry.length)];
}

/** A stand nobody has, away from others while there is space; in a full room between two tiles. */
function anywhere(
  spot: Spot,
  id: string,
  free: (at: Point) => boolean,
  taken: ReadonlyMap<number, string>,
  width: number,
): Point {
  const { stands } = spot;
  const open = stands.filter(free);
  const mine = hash(`${id} in ${spot.area}`);
  if (!open.length) {
    const crowded = stands[mine % Math.max(1, stands.length)] ?? spot.door;
    return { x: crowded.x + (((mine >> 8) % 5) - 2) * 0.14, y: crowded.y + (((mine >> 12) % 3) - 1) * 0.18 };
  }
  const alone = (at: Point, far: number): boolean => {
    for (let dy = -far; dy <= far; dy++)
      for (let dx = -far; dx <= far; dx++) if (taken.has((at.y + dy) * width + at.x + dx)) return false;
    return true;
  };
  const nice = open.slice(0, Math.max(6, Math.ceil(open.length * 0.6)));
  for (const [from, far] of [
    [nice, 2],
    [nice, 1],
    [open, 1],
  ] as const) {
    for (let i = 0; i < from.length; i++) {
      const at = from[(mine + i) % from.length] as Point;
      if (alone(at, far)) return at;
    }
  }
  return open[mine % open.length] as Point;
}

const seatCache = new WeakMap<VillageMap, ReadonlyMap<number, Facing>>();

/** Seats by tile, and where one looks from them: to the table, or out of the picture. */
function seatsOf(map: VillageMap): ReadonlyMap<number, Facing> {
  let seats = seatCache.get(map);
  if (!seats) {
    const tables = new Set<number>();
    for (const { lies, at, w } of map.placed)
      if (lies === "floor") for (let i = 0; i < w; i++) tables.add(at.y * map.width + at.x + i);
    const sides = [
      ["up", 0, -1],
      ["right", 1, 0],
      ["left", -1, 0],
    ] as const;
    const look = (at: Point): Facing =>
      sides.find(([, dx, dy]) => tables.has((at.y + dy) * map.width + at.x + dx))?.[0] ?? "down";
    seats = new Map(
      map.placed.filter((one) => one.lies === "seat").map((one) => [one.at.y * map.width + one.at.x, look(one.at)]),
    );
    seatCache.set(map, seats);
  }
  return seats;
}

const BENCHES = new Set<Placed["sprite"]>(["bench", "sofa"]);

function usedFrom(map: VillageMap, object: string, from: Point): Placed | undefined {
  const [area, sprite] = object.split(":");
  const touches = (one: Placed): boolean =>
    Math.abs(one.at.x + (one.w - 1) / 2 - from.x) <= one.w / 2 + 0.5 &&
    Math.abs(one.at.y + (one.h - 1) / 2 - from.y) <= one.h / 2 + 0.5;
  return (
    map.placed.find((one) => one.object === object) ??
    map.placed.find((one) => one.area === area && one.sprite === sprite && touches(one))
  );
}
