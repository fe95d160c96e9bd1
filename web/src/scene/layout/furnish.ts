// What stands in a place, and where: the scenario's objects first, beds for who lives there, then what makes a room of its kind
// look lived in. Nothing closes a way: every free tile of a place stays reachable from its door.

import { chances, pick } from "./chance";
import type { Bed, Lies, Placed, PlaceKind, Point, Rect, RoomKind, Sprite } from "./map";
import type { Node } from "./tree";
import { SURFACES, shapeOf, spriteOf } from "./words";

/** A thing that is to be placed. */
export interface Piece {
  readonly object: string;
  readonly sprite: Sprite;
  readonly lies: Lies;
  readonly w: number;
  readonly h: number;
}

export interface Furnished {
  readonly placed: readonly Placed[];
  readonly stands: readonly Point[];
  readonly uses: ReadonlyMap<string, readonly Point[]>;
  readonly beds: ReadonlyMap<string, Bed>;
}

export interface Place {
  readonly node: Node;
  readonly kind: PlaceKind;
  readonly rect: Rect;
  /** Tiles that stay free: before doors, on the way through. */
  readonly free: readonly Point[];
  /** Openings in the northern wall, where nothing hangs. */
  readonly gaps: ReadonlySet<number>;
  /** Who sleeps here. */
  readonly sleepers: readonly string[];
  /** Tiles of `rect` that nobody stands on and nothing is put on: water, beds of soil. */
  readonly closed?: (x: number, y: number) => boolean;
}

type Liking = "back" | "side" | "corner" | "middle" | "open";

// biome-ignore format: a table
const BACK = new Set<Sprite>([
  "bed", "cradle", "stove", "hearth", "shelf", "bookshelf", "cupboard", "drawers", "wardrobe", "fridge", "basin", "boiler", "console",
  "screen", "arcade", "claw", "vending", "piano", "altar", "board", "safe", "tank", "workbench", "desk", "stage", "antenna", "chest",
  "engine", "machine", "towerclock", "torii", "awning", "steamer", "radio", "speaker", "anvil",
]);
// biome-ignore format: a table
const CORNER = new Set<Sprite>([
  "plant", "lamp", "barrel", "crate", "sack", "bucket", "basket", "umbrella", "letterbox", "drum", "telescope", "box", "tool", "toolbox",
  "flowers", "bottle", "cart", "hive", "hay", "partition", "guitar", "violin", "kite", "bicycle", "hen", "stonelantern", "tree", "pot",
  "scale", "bell", "mortar",
]);
// biome-ignore format: a table
const MIDDLE = new Set<Sprite>([
  "table", "roundtable", "chess", "tub", "drone", "easel", "loom", "rug", "sofa", "microphone", "lectern", "fountain", "statue", "fire",
  "stall", "pavilion", "well", "pump", "vegetables", "swing", "slide", "counter",
]);

/** What a room of a kind has, the most telling first; repeated where one may be more. */
// biome-ignore format: a table
const FILL: Record<RoomKind, readonly Sprite[]> = {
  home: ["table", "stove", "shelf", "wardrobe", "rug", "plant", "window", "picture", "lamp", "drawers", "window", "cup", "basin", "sofa", "bookshelf", "flowers"],
  bedroom: ["wardrobe", "rug", "drawers", "lamp", "window", "picture", "desk", "plant", "chest", "bookshelf", "mirror"],
  kitchen: ["stove", "basin", "table", "cupboard", "pot", "window", "shelf", "basket", "fridge", "sack", "food", "barrel"],
  cafe: ["counter", "table", "roundtable", "shelf", "table", "plant", "window", "lamp", "window", "picture", "roundtable", "barrel", "cup", "table"],
  bakery: ["counter", "stove", "shelf", "table", "sack", "food", "basket", "shelf", "window", "sack", "plant", "window"],
  fish: ["counter", "tank", "crate", "crate", "barrel", "tray", "shelf", "bucket", "window", "scale", "barrel"],
  clocks: ["counter", "workbench", "clock", "clock", "shelf", "lamp", "clock", "drawers", "window", "stool", "plant"],
  books: ["bookshelf", "bookshelf", "counter", "bookshelf", "books", "table", "bookshelf", "lamp", "rug", "books", "window", "globe", "bookshelf"],
  shop: ["counter", "shelf", "shelf", "crate", "basket", "shelf", "window", "plant", "barrel", "scale", "sack", "shelf"],
  clinic: ["desk", "cupboard", "bed", "partition", "bed", "shelf", "basin", "plant", "window", "scale", "picture", "bench", "lamp"],
  workshop: ["workbench", "shelf", "toolbox", "tool", "crate", "machine", "barrel", "lamp", "window", "workbench", "box", "stool"],
  smithy: ["anvil", "hearth", "workbench", "barrel", "tool", "crate", "shelf", "bucket", "window"],
  arcade: ["arcade", "arcade", "claw", "counter", "arcade", "screen", "vending", "rug", "arcade", "stool", "plant", "speaker"],
  bath: ["tub", "bench", "basin", "bucket", "partition", "tub", "basin", "plant", "mirror", "shelf", "stool", "window", "bucket"],
  shrine: ["altar", "lamp", "bell", "rug", "picture", "stonelantern", "plant", "bowl", "lamp"],
  church: ["altar", "lectern", "bench", "bench", "bench", "bench", "lamp", "bench", "bench", "window", "window", "lamp", "picture", "plant"],
  library: ["bookshelf", "bookshelf", "table", "bookshelf", "desk", "lamp", "bookshelf", "globe", "rug", "window", "bookshelf", "plant"],
  school: ["board", "lectern", "desk", "desk", "desk", "desk", "desk", "desk", "bookshelf", "globe", "window", "plant", "window", "picture"],
  office: ["desk", "cupboard", "table", "bookshelf", "plant", "phone", "clock", "desk", "safe", "window", "picture", "lamp"],
  hall: ["table", "table", "piano", "rug", "plant", "bookshelf", "sofa", "lamp", "window", "picture", "window", "plant", "statue", "clock", "table"],
  stage: ["stage", "curtain", "speaker", "bench", "bench", "bench", "bench", "bench", "bench", "piano", "bench", "bench", "lamp", "lamp", "plant", "curtain"],
  shed: ["shelf", "crate", "barrel", "tool", "sack", "workbench", "bucket", "crate", "window", "hay", "basket"],
  barn: ["hay", "hay", "barrel", "sack", "cow", "bucket", "cart", "hen", "tool", "window"],
  studio: ["easel", "picture", "table", "picture", "shelf", "easel", "rug", "window", "plant", "stool", "bucket", "lamp"],
  radio: ["console", "desk", "microphone", "speaker", "shelf", "bookshelf", "lamp", "sofa", "clock", "plant", "antenna", "picture"],
  boat: ["table", "chest", "lantern", "barrel", "window", "window", "compass", "shelf", "rug", "stove", "crate"],
  lab: ["console", "table", "shelf", "telescope", "cupboard", "desk", "screen", "bottle", "console", "lamp", "globe", "board"],
  inn: ["counter", "table", "roundtable", "hearth", "barrel", "rug", "plant", "shelf", "window", "table", "picture", "lamp", "barrel"],
  music: ["piano", "drum", "guitar", "speaker", "sofa", "violin", "rug", "gramophone", "lamp", "picture", "stool", "window"],
  study: ["desk", "bookshelf", "bookshelf", "roundtable", "rug", "lamp", "globe", "window", "plant", "picture", "clock", "hearth", "bookshelf", "window"],
  tower: ["table", "telescope", "bookshelf", "chest", "barrel", "lamp", "window", "bell"],
  room: ["table", "shelf", "rug", "plant", "lamp", "window", "cupboard", "sofa", "picture", "drawers", "bookshelf", "window"],
};

/** Of these a room has no second one of its own accord. */
// biome-ignore format: a table
const ONE_OF_A_KIND = new Set<Sprite>(["stove", "piano", "counter", "altar", "hearth", "stage", "fridge", "safe", "anvil", "rug", "basin", "boiler",
  "fountain", "statue", "board", "pavilion", "torii", "bell", "well", "letterbox", "scarecrow", "slide",
]);

/** The pieces a place must have: its objects, and a bed for everybody who sleeps there, or tents under the open sky. */
export function musts(node: Node, sleepers: readonly string[]): Piece[] {
  const outdoor = node.open;
  const pieces = node.things.map((thing) => {
    const sprite = spriteOf(thing);
    return { object: thing.id, sprite, ...shapeOf(sprite, outdoor) };
  });
  const beds = pieces.filter((piece) => piece.sprite === "bed").length;
  if (outdoor) {
    const tents = Math.min(6, Math.ceil((sleepers.length - beds) / 2));
    for (let i = 0; i < tents; i++) pieces.push({ object: "", sprite: "tent", ...shapeOf("tent", true) });
    return pieces;
  }
  for (let i = beds; i < sleepers.length; i++) pieces.push({ object: "", sprite: "bed", ...shapeOf("bed", false) });
  return pieces;
}

export function fillOf(kind: RoomKind): readonly Sprite[] {
  return FILL[kind];
}

/**
 * Places everything. Objects that find no spot of their own stand on the last resort: anywhere free, then on another object's
 * tile as a `top` thing, so that each is always seen.
 */
export function furnish(place: Place, fill: readonly Sprite[], density: number): Furnished {
  const { node, rect } = place;
  const outdoor = node.open;
  const chance = chances(`furnish ${node.area.id}`);
  const { w, h } = rect;
  const solid = new Uint8Array(w * h);
  const kept = new Uint8Array(w * h);
  const soft = new Uint8Array(w * h);
  const hung = new Set<number>(place.gaps);
  const closed = place.closed;
  if (closed) {
    for (let y = 0; y < h; y++) for (let x = 0; x < w; x++) if (closed(rect.x + x, rect.y + y)) solid[y * w + x] = 1;
  }
  for (const { x, y } of place.free) {
    const i = (y - rect.y) * w + (x - rect.x);
    if (x >= rect.x && y >= rect.y && x < rect.x + w && y < rect.y + h) kept[i] = 1;
  }
  let open = 0;
  for (const one of solid) if (!one) open++;
  const floor = open;
  const placed: Placed[] = [];
  const surfaces: Placed[] = [];
  const laden = new Set<Placed>();
  const stack = new Int32Array(w * h);
  const seen = new Uint8Array(w * h);
  const spotAt = new Int32Array(w * h);
  const scores = new Float64Array(w * h);

  const around = (at: Point, bw: number, bh: number): Point[] => {
    const out: Point[] = [];
    for (let x = at.x; x < at.x + bw; x++) out.push({ x, y: at.y + bh });
    for (let y = at.y + bh - 1; y >= at.y; y--) out.push({ x: at.x - 1, y }, { x: at.x + bw, y });
    for (let x = at.x; x < at.x + bw; x++) out.push({ x, y: at.y - 1 });
    return out.filter(
      (p) =>
        p.x >= rect.x &&
        p.y >= rect.y &&
        p.x < rect.x + w &&
        p.y < rect.y + h &&
        !solid[(p.y - rect.y) * w + p.x - rect.x],
    );
  };

  /** Whether a piece leaves the free tiles in one, and a free tile beside itself and each of its neighbours. */
  const holds = (piece: Piece, x: number, y: number): boolean => {
    const at = { x: rect.x + x, y: rect.y + y };
    if (!around(at, piece.w, piece.h).length) return false;
    const touched = placed.filter(
      (p) =>
        p.lies === "floor" &&
        p.at.x <= at.x + piece.w &&
        at.x <= p.at.x + p.w &&
        p.at.y <= at.y + piece.h &&
        at.y <= p.at.y + p.h,
    );
    return touched.every((p) => around(p.at, p.w, p.h).length > 0) && (passable(piece, x, y) || inOne());
  };

  /** Whether one can go around a piece: then it parts nothing. The tiles around it, in order, are free in one stretch. */
  const passable = (piece: Piece, x: number, y: number): boolean => {
    let stretches = 0;
    let before = -1;
    let first = -1;
    const see = (i: number, j: number): void => {
      const free = i >= 0 && j >= 0 && i < w && j < h && !solid[j * w + i] ? 1 : 0;
      if (first < 0) first = free;
      if (free && before === 0) stretches++;
      before = free;
    };
    for (let i = x - 1; i < x + piece.w; i++) see(i, y - 1);
    for (let j = y - 1; j < y + piece.h; j++) see(x + piece.w, j);
    for (let i = x + piece.w; i > x - 1; i--) see(i, y + piece.h);
    for (let j = y + piece.h; j > y - 1; j--) see(x - 1, j);
    if (first && before === 0) stretches++;
    return stretches <= 1;
  };

  const inOne = (): boolean => {
    let first = -1;
    let left = 0;
    for (let i = 0; i < w * h; i++) {
      if (solid[i]) continue;
      left++;
      if (first < 0) first = i;
    }
    if (first < 0) return false;
    seen.fill(0);
    let top = 0;
    const reach = (i: number): void => {
      if (solid[i] || seen[i]) return;
      seen[i] = 1;
      stack[top++] = i;
    };
    reach(first);
    let reached = 0;
    while (top > 0) {
      const i = stack[--top] as number;
      reached++;
      const x = i % w;
      if (x > 0) reach(i - 1);
      if (x < w - 1) reach(i + 1);
      if (i >= w) reach(i - w);
      if (i < w * (h - 1)) reach(i + w);
    }
    return reached === left;
  };

  const set = (x: number, y: number, piece: Piece, value: 0 | 1): void => {
    for (let j = 0; j < piece.h; j++) for (let i = 0; i < piece.w; i++) solid[(y + j) * w + x + i] = value;
  };

  const put = (piece: Piece, x: number, y: number): Placed => {
    const one: Placed = {
      object: piece.object,
      sprite: piece.sprite,
      at: { x: rect.x + x, y: rect.y + y },
      w: piece.w,
      h: piece.h,
      lies: piece.lies,
      area: node.area.id,
      variant: Math.floor(chance() * 1000),
    };
    placed.push(one);
    if (SURFACES.has(piece.sprite) && piece.lies === "floor") surfaces.push(one);
    return one;
  };

  const hang = (piece: Piece): boolean => {
    const starts: number[] = [];
    for (let x = 0; x + piece.w <= w; x++) {
      let clear = true;
      for (let i = 0; i < piece.w; i++) if (hung.has(rect.x + x + i)) clear = false;
      if (clear) starts.push(x);
    }
    const low = starts.filter(
      (x) =>
        !placed.some(
          (p) => TALL.has(p.sprite) && p.at.y === rect.y && p.at.x < rect.x + x + piece.w && p.at.x + p.w > rect.x + x,
        ),
    );
    const from = low.length ? low : starts;
    if (!from.length || (!piece.object && !low.length)) return false;
    const x = pick(from, chance());
    for (let i = 0; i < piece.w; i++) hung.add(rect.x + x + i);
    put(piece, x, -1);
    return true;
  };

  const lay = (piece: Piece): boolean => {
    const at = bestSpot(piece, (x, y) => {
      for (let j = 0; j < piece.h; j++) {
        for (let i = 0; i < piece.w; i++) {
          const k = (y + j) * w + x + i;
          if (solid[k] || soft[k] || (piece.lies === "floor" && kept[k])) return false;
        }
      }
      return true;
    });
    if (!at) return false;
    if (piece.lies === "floor") open -= piece.w * piece.h;
    else if (piece.lies === "seat")
      for (let j = 0; j < piece.h; j++) for (let i = 0; i < piece.w; i++) soft[(at.y + j) * w + at.x + i] = 1;
    put(piece, at.x, at.y);
    return true;
  };

  const bestSpot = (piece: Piece, fits: (x: number, y: number) => boolean): Point | null => {
    const liking: Liking = BACK.has(piece.sprite)
      ? "back"
      : CORNER.has(piece.sprite)
        ? "corner"
        : MIDDLE.has(piece.sprite)
          ? "middle"
          : "open";
    const alike = placed.filter((p) => p.sprite === piece.sprite && p.lies === "floor");
    // On a large square not every tile is looked at.
    const look = w * h > 400 ? 130 / (w * h) : 1;
    let spots = 0;
    for (let y = 0; y + piece.h <= h; y++) {
      for (let x = 0; x + piece.w <= w; x++) {
        if (look < 1 && chance() >= look) continue;
        if (!fits(x, y)) continue;
        spotAt[spots] = y * w + x;
        scores[spots++] = like(piece, liking, alike, x, y) + chance() * (outdoor ? 0.5 : 0.9);
      }
    }
    for (let tries = 0; tries < 40 && spots > 0; tries++) {
      let best = 0;
      for (let i = 1; i < spots; i++) if ((scores[i] as number) > (scores[best] as number)) best = i;
      const at = spotAt[best] as number;
      const spot = { x: at % w, y: Math.floor(at / w) };
      if (piece.lies !== "floor") return spot;
      set(spot.x, spot.y, piece, 1);
      if (holds(piece, spot.x, spot.y)) return spot;
      set(spot.x, spot.y, piece, 0);
      spots--;
      spotAt[best] = spotAt[spots] as number;
      scores[best] = scores[spots] as number;
    }
    return null;
  };

  const like = (piece: Piece, liking: Liking, alike: readonly Placed[], x: number, y: number): number => {
    const left = x;
    const right = w - x - piece.w;
    const up = y;
    const down = h - y - piece.h;
    const wall = Math.min(left, right, up, outdoor ? down : down + 1);
    if (outdoor) return likeOutside(piece, x, y, wall);
    let near = 0;
    for (const p of alike) near = Math.max(near, 4 - Math.abs(p.at.x - rect.x - x) - Math.abs(p.at.y - rect.y - y));
    if (ROWS[place.kind] === piece.sprite) {
      // Rows to sit in, with a way down the middle and before them.
      const rows = alike.some((p) => p.at.x - rect.x === x) ? 1 : 0;
      const aisle = Math.abs(x + piece.w / 2 - w / 2) < 1.5 ? 4 : 0;
      return (
        4 + rows - (up < 3 ? 5 : 0) - (up % 2 === 1 ? 0 : 3) - near * 0.1 - aisle - (left === 0 || right === 0 ? 2 : 0)
      );
    }
    if (FACED.has(piece.sprite)) return (up === 0 ? 9 : 0) - Math.abs(left - right) * 0.5;
    if (liking === "back")
      return (up === 0 ? 6 : left === 0 || right === 0 ? 2 : 0) - down * 0.01 + (left === 0 || right === 0 ? 1 : 0);
    if (liking === "corner") return (left === 0 || right === 0 ? 3 : 0) + (up === 0 || down === 0 ? 2 : 0) - near * 0.3;
    if (liking === "middle") {
      const off = Math.abs(left - right) / w + Math.abs(up - down + (piece.sprite === "counter" ? 1 : 0)) / h;
      // A counter has a row behind it for who serves; tables keep apart, or their chairs meet.
      if (piece.sprite === "rug") return 4 - off * 3;
      let crowded = 0;
      for (const p of placed) {
        if (p.lies !== "floor" || !MIDDLE.has(p.sprite)) continue;
        const gap = Math.max(
          p.at.x - rect.x - x - piece.w,
          x - p.at.x + rect.x - p.w,
          (p.at.y - rect.y - y - piece.h) * 1.5,
          (y - p.at.y + rect.y - p.h) * 1.5,
        );
        if (gap < 3) crowded += 3 - gap;
      }
      if (piece.sprite === "counter") return (up === 2 || (up === 1 && h < 5) ? 6 : 0) - off * 2 - crowded;
      const inLine = alike.some((p) => p.at.y - rect.y === y || p.at.x - rect.x === x) ? 1 : 0;
      return Math.min(wall, 2) * 1.4 + inLine - off * (alike.length ? 0.5 : 2.5) - crowded * 1.6;
    }
    return (wall === 0 ? 2 : 0.5) - near * 0.5;
  };

  /** How much a piece would stand in others' way there, or hide them. */
  const crowding = (piece: Piece, x: number, y: number): number => {
    let crowded = 0;
    for (const p of placed) {
      const gapX = Math.max(p.at.x - rect.x - x - piece.w, x - p.at.x + rect.x - p.w);
      const gapY = Math.max(p.at.y - rect.y - y - piece.h, y - p.at.y + rect.y - p.h);
      const gap = Math.max(gapX, gapY);
      // A tree is three tiles high and hides what stands behind it.
      const behind = piece.sprite === "tree" ? y - (p.at.y - rect.y) : p.sprite === "tree" ? p.at.y - rect.y - y : 0;
      if (behind > 0 && behind < 4 && gapX < 1) crowded += 2.5;
      if (piece.sprite === "vegetables" && p.sprite === "vegetables")
        crowded += p.at.x - rect.x === x && gapY === 1 ? -1.5 : gap < 1 ? 4 : 0;
      else if (gap < 1) crowded += 5;
      else if (gap < 2) crowded += p.sprite === piece.sprite ? 2.5 : 1;
    }
    return crowded;
  };

  /** Under the open sky things keep apart: the great ones in the middle, benches around them, trees and stalls at the rim. */
  const likeOutside = (piece: Piece, x: number, y: number, wall: number): number => {
    const dx = x + piece.w / 2 - w / 2;
    const dy = y + piece.h / 2 - h / 2;
    const off = Math.hypot(dx / w, dy / h) * 2;
    const crowded = crowding(piece, x, y);
    if (place.kind === "shrine") {
      // The altar at the back, the gate before it, lanterns in rows along the way between.
      if (piece.sprite === "altar") return 12 - Math.abs(dx) * 2 - y - crowded;
      if (piece.sprite === "torii") return 12 - Math.abs(dx) * 2 - Math.abs(h - 2 - y) - crowded;
      if (piece.sprite === "stonelantern") return 8 - Math.abs(Math.abs(dx) - 2) * 1.5 - Math.abs(y % 3) - crowded;
    }
    if (CENTRAL.has(piece.sprite)) return 8 - off * 10 - crowded;
    if (ROUND.has(piece.sprite))
      return 4 - Math.abs(off - 0.62) * 6 - Math.min(Math.abs(dx), Math.abs(dy)) * 0.5 - crowded;
    if (piece.sprite === "stall")
      return (placed.some((p) => p.sprite === "stall" && p.at.y - rect.y === y) ? 3.5 : wall < 2 ? 2.5 : 0.5) - crowded;
    if (piece.sprite === "vegetables") return 5 - off * 1.5 - crowded;
    if (piece.sprite === "tree") return (wall === 1 ? 3 : wall === 0 ? 1.5 : 0) + Math.min(1.5, off) * 2 - crowded;
    return (wall === 0 ? 2.5 : wall === 1 ? 1.5 : 0) - crowded;
  };

  /** On a table; without one, a small table is brought. */
  const putOn = (piece: Piece): boolean => {
    const bare = surfaces.filter((one) => !laden.has(one));
    const cooked = COOKED.has(piece.sprite);
    const suits = (one: Placed): number =>
      one.sprite === "stove" ? (cooked ? 2 : -9) : one.sprite === "chest" || one.sprite === "cupboard" ? 0 : 1;
    let table: Placed | undefined = bare.filter((one) => suits(one) >= 0).sort((a, b) => suits(b) - suits(a))[0];
    if (!table && lay({ object: "", sprite: "drawers", ...shapeOf("drawers", false) })) table = surfaces.at(-1);
    if (!table) return false;
    laden.add(table);
    const x = table.at.x - rect.x + (table.w > 1 ? Math.floor(chance() * table.w) : 0);
    put({ ...piece, w: 1, h: 1 }, x, table.at.y - rect.y);
    return true;
  };

  const seatsAt = (table: Placed): void => {
    const places: readonly Point[] =
      table.sprite === "desk" || table.sprite === "workbench"
        ? [{ x: table.at.x, y: table.at.y + 1 }]
        : table.sprite === "counter"
          ? [
              { x: table.at.x, y: table.at.y + 1 },
              { x: table.at.x + table.w - 1, y: table.at.y + 1 },
            ]
          : [
              { x: table.at.x - 1, y: table.at.y },
              { x: table.at.x + table.w, y: table.at.y },
              { x: table.at.x, y: table.at.y + 1 },
            ];
    const sprite: Sprite = table.sprite === "counter" || table.sprite === "workbench" ? "stool" : "chair";
    for (const { x, y } of places) {
      const i = (y - rect.y) * w + (x - rect.x);
      if (x < rect.x || y < rect.y || x >= rect.x + w || y >= rect.y + h || solid[i] || kept[i] || soft[i]) continue;
      soft[i] = 1;
      put({ object: "", sprite, lies: "seat", w: 1, h: 1 }, x - rect.x, y - rect.y);
    }
  };

  const add = (piece: Piece): boolean => {
    const before = placed.length;
    const done = piece.lies === "wall" ? hang(piece) : piece.lies === "top" ? putOn(piece) : lay(piece);
    const last = placed.at(-1);
    if (done && last && placed.length > before && SEATED.has(last.sprite) && !outdoor) seatsAt(last);
    return done;
  };

  /** Its like on the other side: a square looks laid out then. */
  const mirror = (piece: Piece, one: Placed): void => {
    const x = w - piece.w - (one.at.x - rect.x);
    const y = one.at.y - rect.y;
    for (let j = 0; j < piece.h; j++)
      for (let i = 0; i < piece.w; i++)
        if (solid[(y + j) * w + x + i] || kept[(y + j) * w + x + i] || soft[(y + j) * w + x + i]) return;
    if (crowding(piece, x, y) >= 2) return;
    set(x, y, piece, 1);
    if (holds(piece, x, y)) {
      open -= piece.w * piece.h;
      put(piece, x, y);
    } else {
      set(x, y, piece, 0);
    }
  };

  const must = musts(node, place.sleepers);
  const order: Record<Lies, number> = { floor: 0, rug: 1, seat: 2, wall: 3, top: 4 };
  const bulky = (piece: Piece): number => order[piece.lies] * 100 - piece.w * piece.h;
  const has = (piece: Piece): void => {
    if (add(piece) || !piece.object) return;
    const small = { ...piece, w: 1, h: 1, lies: "floor" as const };
    if (!lay(small)) put({ ...small, lies: "top" }, Math.floor(w / 2), Math.floor(h / 2));
  };
  must.sort((a, b) => bulky(a) - bulky(b));
  for (const piece of must) if (piece.lies !== "top") has(piece);
  const fills = fill.map((sprite): Piece => ({ object: "", sprite, ...shapeOf(sprite, outdoor) }));
  for (const piece of fills) {
    if (outdoor && CENTRAL.has(piece.sprite) && must.some((one) => CENTRAL.has(one.sprite))) continue;
    if (piece.lies === "top" || (ONE_OF_A_KIND.has(piece.sprite) && placed.some((one) => one.sprite === piece.sprite)))
      continue;
    if (piece.lies === "floor" && (floor - open + piece.w * piece.h) / floor > density) continue;
    const like = outdoor ? placed.filter((one) => one.sprite === piece.sprite).length : 0;
    if (like > 1 && like >= floor / (CROWDED.has(place.kind) ? 12 : 45)) continue;
    if (add(piece) && outdoor && PAIRED.has(piece.sprite)) mirror(piece, placed.at(-1) as Placed);
  }
  // Last what lies on tables, when there are tables: the objects first.
  for (const piece of must) if (piece.lies === "top") has(piece);
  for (const piece of fills) if (piece.lies === "top" && surfaces.some((one) => !laden.has(one))) add(piece);

  const freeTile = (p: Point): boolean => !solid[(p.y - rect.y) * w + p.x - rect.x];
  const isSeat = (p: Point): boolean => soft[(p.y - rect.y) * w + p.x - rect.x] === 1;
  const nearest = (to: Point): Point[] => {
    const all: Point[] = [];
    for (let y = rect.y; y < rect.y + h; y++)
      for (let x = rect.x; x < rect.x + w; x++) if (freeTile({ x, y })) all.push({ x, y });
    return all.sort((a, b) => Math.hypot(a.x - to.x, a.y - to.y) - Math.hypot(b.x - to.x, b.y - to.y)).slice(0, 3);
  };
  const uses = new Map<string, readonly Point[]>();
  for (const one of placed) {
    const key = one.object || `${node.area.id}:${one.sprite}`;
    if (!one.object && (one.lies === "wall" || one.lies === "rug" || one.lies === "top")) continue;
    const under = one.lies === "top" ? surfaces.find((s) => covers(s, one.at)) : undefined;
    const body = under ?? one;
    const at = one.lies === "wall" ? { x: one.at.x, y: one.at.y } : body.at;
    let spots =
      one.lies === "rug" || one.lies === "seat" ? [one.at] : around(at, body.w, one.lies === "wall" ? 1 : body.h);
    if (spots.length > 1) spots = [...spots.filter(isSeat), ...spots.filter((p) => !isSeat(p))];
    if (one.object) uses.set(key, spots.length ? spots : nearest(at));
    else if (spots[0])
      uses.set(key, [
        ...(uses.get(key) ?? []),
        ...(SEATED.has(one.sprite) ? spots.filter(isSeat) : spots.slice(0, one.w)),
      ]);
  }
  return { placed, stands: standsOf(), uses, beds: bedsOf() };

  function standsOf(): Point[] {
    const hiding = placed.filter((p) => HIDING.has(p.sprite) && outdoor);
    let count = 0;
    for (let i = 0; i < w * h; i++) {
      if (solid[i]) continue;
      const x = i % w;
      const y = Math.floor(i / w);
      const wall = Math.min(x, w - 1 - x, y, h - 1 - y);
      const hidden = hiding.some(
        (p) =>
          rect.x + x >= p.at.x - (p.sprite === "tree" ? 1 : 0) &&
          rect.x + x < p.at.x + p.w + (p.sprite === "tree" ? 1 : 0) &&
          p.at.y > rect.y + y &&
          p.at.y <= rect.y + y + 2,
      );
      spotAt[count++] = i;
      scores[i] = (soft[i] ? 3 : 0) + Math.min(2, wall) - (kept[i] ? 5 : 0) - (hidden ? 4 : 0) + chance() * 2;
    }
    const order = spotAt.subarray(0, count).sort((a, b) => (scores[b] as number) - (scores[a] as number));
    return Array.from(order, (i) => ({ x: rect.x + (i % w), y: rect.y + Math.floor(i / w) }));
  }

  /** Everybody their own bed, the one that bears their name if there is one. */
  function bedsOf(): Map<string, Bed> {
    const left = placed.filter((one) => one.sprite === "bed" && one.lies === "floor" && one.h === 2);
    const beds = new Map<string, Bed>();
    const names = new Map(node.things.map((thing) => [thing.id, `${thing.id} ${thing.name}`.toLowerCase()]));
    const give = (who: string, bed: Placed): void => {
      left.splice(left.indexOf(bed), 1);
      const beside = around(bed.at, 1, 2)[0] ?? bed.at;
      beds.set(who, { x: bed.at.x, y: bed.at.y, area: node.area.id, beside });
    };
    for (const who of place.sleepers) {
      const named = left.find((bed) => names.get(bed.object)?.includes(who.toLowerCase()));
      if (named) give(who, named);
    }
    for (const who of place.sleepers) {
      const bed = left[0];
      if (bed && !beds.has(who)) give(who, bed);
    }
    return beds;
  }
}

// biome-ignore format: a table
const CENTRAL = new Set<Sprite>(["fountain", "well", "statue", "pavilion", "altar", "stage", "fire", "towerclock", "pump"]);
const ROUND = new Set<Sprite>(["bench", "chess", "table", "roundtable", "lights"]);
const PAIRED = new Set<Sprite>(["bench", "tree", "stall", "flowers", "stonelantern", "lamp", "grave"]);
const COOKED = new Set<Sprite>(["pot", "kettle", "steamer"]);
const ROWS: Partial<Record<PlaceKind, Sprite>> = { stage: "bench", church: "bench", school: "desk" };
/** What a room looks towards: in the middle of the back wall. */
const FACED = new Set<Sprite>(["stage", "altar", "board", "hearth"]);
/** Taller than people: who stands behind is not seen. */
// biome-ignore format: a table
const HIDING = new Set<Sprite>(["tree", "torii", "stall", "awning", "pavilion", "towerclock", "board", "statue", "vending", "stage"]);
const CROWDED = new Set<PlaceKind>(["market", "field", "garden", "graveyard", "forest", "harbour"]);
const SEATED = new Set<Sprite>(["table", "roundtable", "desk", "counter", "chess", "console"]);
// biome-ignore format: a table
const TALL = new Set<Sprite>(["shelf", "bookshelf", "wardrobe", "cupboard", "fridge", "vending", "arcade", "claw", "boiler", "hearth", "stove", "screen", "board", "drawers"]);

function covers(rect: { readonly at: Point; readonly w: number; readonly h: number }, p: Point): boolean {
  return p.x >= rect.at.x && p.y >= rect.at.y && p.x < rect.at.x + rect.w && p.y < rect.at.y + rect.h;
}
