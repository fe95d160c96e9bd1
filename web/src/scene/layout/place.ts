// Where houses and places lie. A scenario may hint at it with boxes on a character grid; without hints everything gathers
// around the ground it belongs to, in rows along streets. Nothing overlaps.

import { chances } from "./chance";
import type { Plan, Size } from "./house";
import type { Rect } from "./map";
import { type House, isGate, type Node, type Site } from "./tree";

export interface Placement {
  readonly w: number;
  readonly h: number;
  readonly grounds: ReadonlyMap<Node, Rect>;
  readonly houses: ReadonlyMap<House, Rect>;
  /** Straight streets, besides the paths that join doors. */
  readonly streets: readonly Rect[];
}

/** Tiles around a house that stay free: for neighbours' walls, and for the way before the door. */
const SIDE = 1;
const ABOVE = 1;
const BEFORE = 3;
const STREET = 2;

interface Units {
  readonly plan: (house: House) => Plan;
  readonly core: (node: Node) => Size;
  readonly isChannel: (node: Node) => boolean;
  /** Whether a place is a street, which the houses stand along. */
  readonly isStreet: (node: Node) => boolean;
  /** House boats, which lie in the water of their place instead of somewhere around it. */
  readonly moored: (node: Node) => readonly House[];
}

export function place(site: Site, units: Units): Placement {
  return hinted(site, units) ?? gathered(site, units);
}

// ── without hints ────────────────────────────────────────────────────────────────────────────────────────────────────

/** Something of a size that can be put anywhere. */
interface Unit extends Size {
  readonly put: (x: number, y: number, into: Building) => void;
}

interface Building {
  readonly grounds: Map<Node, Rect>;
  readonly houses: Map<House, Rect>;
  readonly streets: Rect[];
}

function gathered(site: Site, units: Units): Placement {
  const { root } = site;
  let unit: Unit;
  if (!root.open) {
    unit = houseUnit(site, units, site.houses[0] as House);
  } else if (isGate(root)) {
    unit = district(site, units, root.kids[0] as Node, [groundUnit(units, root)]);
  } else {
    unit = district(site, units, root, []);
  }
  const into: Building = { grounds: new Map(), houses: new Map(), streets: [] };
  unit.put(0, 0, into);
  return { w: unit.w, h: unit.h, ...into };
}

function groundUnit(units: Units, node: Node, higher = 0, wider = 0): Unit {
  const need = units.core(node);
  const size = { w: need.w + wider, h: need.h + higher };
  return {
    w: size.w + 2 * SIDE,
    h: size.h + ABOVE + 1,
    put: (x, y, into) => lie(units, node, { x: x + SIDE, y: y + ABOVE, w: size.w, h: size.h }, into),
  };
}

/** The quay is the southern part of a waterside, so boats lie with their doors to it. */
function lie({ plan, moored }: Units, node: Node, rect: Rect, into: Building): void {
  into.grounds.set(node, rect);
  const boats = moored(node);
  const quay = rect.y + waterRows(boats.map(plan));
  const free = rect.w - sum(boats.map((boat) => plan(boat).w));
  let x = rect.x;
  boats.forEach((boat, i) => {
    const { w, h } = plan(boat);
    x += Math.floor(((i + 1) * free) / (boats.length + 1)) - Math.floor((i * free) / (boats.length + 1));
    into.houses.set(boat, { x, y: quay - h, w, h });
    x += w;
  });
}

/** Rows of water of a waterside: it holds its boats. */
export function waterRows(boats: readonly Size[]): number {
  return Math.max(4, ...boats.map(({ h }) => h + 1));
}

/** A house, with the yards behind its rooms beside it. */
function houseUnit(site: Site, units: Units, house: House): Unit {
  const plan = units.plan(house);
  const chance = chances(`lot ${house.entrance.area.id}`);
  const left = SIDE + Math.floor(chance() * 1.6);
  // Houses do not stand in line like soldiers; here and there one has a green beside it.
  const right = SIDE + Math.floor(chance() * 1.6) + (chance() < 0.14 ? 5 : 0);
  const above = ABOVE + 1 + Math.floor(chance() * 1.5);
  const before = BEFORE + (chance() < 0.35 ? 1 : 0);
  const yards = house.rooms
    .flatMap((room) => room.kids.filter((kid) => kid.open))
    .map((yard) => district(site, units, yard, []));
  const w = plan.w + left + right;
  const h = plan.h + above + before;
  return {
    w: w + sum(yards.map((yard) => yard.w)),
    h: Math.max(h, ...yards.map((yard) => yard.h)),
    put: (x, y, into) => {
      const tall = Math.max(h, ...yards.map((yard) => yard.h));
      into.houses.set(house, { x: x + left, y: y + tall - before - plan.h, w: plan.w, h: plan.h });
      let at = x + w;
      for (const yard of yards) {
        yard.put(at, y + tall - yard.h, into);
        at += yard.w;
      }
    },
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, n) => all + n, 0);

/** A ground with all that belongs to it around it: houses in rows, north and south of it and beside it. */
function district(site: Site, units: Units, node: Node, more: readonly Unit[]): Unit {
  const boats = new Set(units.moored(node).map((boat) => boat.entrance));
  const mine = node.kids
    .filter((kid) => !boats.has(kid))
    .map((kid) =>
      kid.open ? district(site, units, kid, []) : houseUnit(site, units, site.houseOf.get(kid.area.id) as House),
    );
  const members = shuffled([...mine, ...more], `district ${node.area.id}`);
  const bare = groundUnit(units, node);
  if (!members.length) return bare;
  // A square is as high as the houses beside it, so that there can be some.
  const street = units.isStreet(node) && members.length > 1;
  const square = groundUnit(
    units,
    node,
    members.length > 3 && !street ? Math.min(6, Math.max(0, Math.min(...members.map((unit) => unit.h)) - bare.h)) : 0,
  );
  const area = sum(members.map((unit) => unit.w * unit.h)) * 1.1 + square.w * square.h;
  const widest = Math.max(...members.map((unit) => unit.w));
  const wanted = Math.max(square.w, members.length > 1 ? Math.sqrt(area * 1.45) : 0);
  // Several widths are tried: how well units fill their rows cannot be told beforehand.
  const tried = (members.length > 1 ? [0.7, 0.85, 1, 1.15, 1.3, 1.5] : [1]).map((share) =>
    packed(members, square, street, Math.max(widest, Math.ceil(wanted * share)), widest),
  );
  const { parted, half, W, H, coreAt, left, right, north, south, band } = tried.reduce((best, one) =>
    one.cost < best.cost ? one : best,
  );
  const core = street ? groundUnit(units, node, 0, W - square.w) : square;

  return {
    w: W,
    h: H,
    put: (x, y, into) => {
      const lay = ({ rows: [first, second], h }: Rows, at: number, onStreet = false): void => {
        if (!first) return;
        const from = parted ? x + half - first.w : x + Math.floor((W - first.w) / 2);
        first.put(from, at, h, into);
        second?.put(x + half + STREET, at, h, into);
        const to = parted ? x + half + STREET + (second?.w ?? 0) : from + first.w;
        if (!onStreet) into.streets.push({ x: from + 1, y: at + h - STREET, w: to - from - 2, h: STREET });
      };
      const avenue = (from: number, to: number): void => {
        if (parted && to > from) into.streets.push({ x: x + half, y: from, w: STREET, h: to - from });
      };
      let at = y;
      let firstStreet = -1;
      for (const rows of north.toReversed()) {
        // Houses along a street open onto it.
        lay(rows, at, street && rows === north[0]);
        at += rows.h;
        if (firstStreet < 0) firstStreet = at - STREET;
      }
      if (north.length) avenue(firstStreet, at);
      const coreX = x + coreAt;
      core.put(coreX, at + Math.floor((band - core.h) / 2), into);
      for (const [column, atX] of [
        [left, (w: number) => coreX - w],
        [right, () => coreX + core.w],
      ] as const) {
        let down = at + Math.floor((band - heights(column)) / 2);
        for (const row of column) {
          row.put(atX(row.w), down, row.h, into);
          down += row.h;
        }
      }
      at += band;
      const below = at;
      for (const rows of south) {
        lay(rows, at);
        at += rows.h;
      }
      avenue(below, at);
    },
  };
}

interface Packing {
  /** Rows are parted by an avenue, each half of them `half` wide. */
  readonly parted: boolean;
  readonly half: number;
  readonly W: number;
  readonly H: number;
  readonly coreAt: number;
  readonly left: readonly Row[];
  readonly right: readonly Row[];
  readonly north: readonly Rows[];
  readonly south: readonly Rows[];
  /** Height of the row the core lies in. */
  readonly band: number;
  /** Area, more if it is far from a screen's shape. */
  readonly cost: number;
}

const heights = (rows: readonly { readonly h: number }[]): number => sum(rows.map((row) => row.h));

function packed(members: readonly Unit[], core: Size, street: boolean, wide: number, widest: number): Packing {
  const parted = widest * 2 + STREET <= wide * 1.2 && members.length > 2;
  const most = parted
    ? Math.max(widest, Math.ceil((wide - STREET) / 2), Math.ceil(core.w / 2))
    : Math.max(wide, core.w);
  const queue = [...members];
  const left: Row[] = [];
  const right: Row[] = [];
  const beside = parted ? most - Math.ceil((core.w - STREET) / 2) : Math.floor((most - core.w) / 2);
  if (members.length > 1 && !street) {
    // Half of what is low enough on either side, or the one side would take all.
    const low = queue.filter((unit) => unit.h <= core.h + 3 && unit.w <= beside).map((unit) => unit.w);
    const share = Math.min(beside, Math.max(Math.ceil(sum(low) / 2), ...low));
    for (const column of [left, right]) {
      for (let used = 0; ; ) {
        const row = takeRow(queue, share, core.h + 3 - used);
        if (!row) break;
        column.push(row);
        used += row.h;
      }
    }
  }
  const north: Rows[] = [];
  const south: Rows[] = [];
  while (queue.length) {
    const pair = parted
      ? [takeRow(queue, most, Infinity), takeRow(queue, most, Infinity)]
      : [takeRow(queue, most, Infinity)];
    const rows = pair.filter((row) => row !== null);
    (north.length <= south.length ? north : south).push({ rows, h: Math.max(...rows.map((row) => row.h)) });
  }
  const all = [...north, ...south];
  const sides = Math.max(0, ...[...left, ...right].map((row) => row.w));
  const half = Math.max(
    sides + Math.ceil((core.w - STREET) / 2),
    ...all.flatMap(({ rows }) => rows.map((row) => row.w)),
  );
  const W = parted ? half * 2 + STREET : Math.max(core.w + 2 * sides, ...all.map(({ rows: [row] }) => row?.w ?? 0));
  const band = Math.max(core.h, heights(left), heights(right));
  const H = heights(all) + band;
  const coreAt = street ? 0 : parted ? half + Math.floor((STREET - core.w) / 2) : Math.floor((W - core.w) / 2);
  return {
    parted,
    half,
    W,
    H,
    coreAt,
    left,
    right,
    north,
    south,
    band,
    cost: W * H * (1 + Math.abs(Math.log(W / H / 1.35)) * 0.7),
  };
}

/** Houses left and right of the avenue. */
interface Rows {
  readonly rows: readonly Row[];
  readonly h: number;
}

interface Row extends Size {
  readonly put: (x: number, y: number, h: number, into: Building) => void;
}

/** The first units of a queue that fit side by side; null if not even one does. */
function takeRow(queue: Unit[], w: number, h: number): Row | null {
  const row: Unit[] = [];
  let used = 0;
  for (let i = 0; i < queue.length && row.length < 40; ) {
    const unit = queue[i] as Unit;
    if (used + unit.w <= w && unit.h <= h) {
      row.push(unit);
      used += unit.w;
      queue.splice(i, 1);
    } else if (i < 6 || h < Infinity) {
      i++;
    } else {
      break;
    }
  }
  if (!row.length) return null;
  return {
    w: used,
    h: Math.max(...row.map((unit) => unit.h)),
    put: (x, y, tall, into) => {
      let at = x;
      for (const unit of row) {
        unit.put(at, y + tall - unit.h, into);
        at += unit.w;
      }
    },
  };
}

function shuffled<T>(list: readonly T[], seed: string): T[] {
  const chance = chances(seed);
  const out = [...list];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(chance() * (i + 1));
    [out[i], out[j]] = [out[j] as T, out[i] as T];
  }
  return out;
}

// ── with hints ───────────────────────────────────────────────────────────────────────────────────────────────────────

interface Item {
  readonly hint: Rect;
  readonly need: Size;
  readonly put: (cell: Rect, into: Building) => void;
}

/**
 * The lines of the hinted boxes become the lines of a grid whose columns and rows are as wide as what lies in them needs, so
 * that neighbours stay neighbours. Null if few areas have a box.
 */
function hinted(site: Site, units: Units): Placement | null {
  const grounds = site.grounds.filter((node) => !isGate(node) || node.area.box);
  const boats = new Set(grounds.flatMap(units.moored));
  const ashore = site.houses.filter((house) => !boats.has(house));
  const all = grounds.length + ashore.length;
  const boxed = (box: readonly number[] | null): Rect | null =>
    box && box.length === 4
      ? { x: box[0] as number, y: box[1] as number, w: Math.max(1, box[2] as number), h: Math.max(1, box[3] as number) }
      : null;
  const wanted: { owner: Node | House; hint: Rect }[] = [];
  const loose: Unit[] = [];
  const without: (Node | House)[] = [];
  for (const node of grounds) {
    const hint = boxed(node.area.box);
    if (hint) wanted.push({ owner: node, hint });
    else without.push(node);
  }
  for (const house of ashore) {
    const hints = house.rooms.map((room) => boxed(room.area.box)).filter((box) => box !== null);
    const first = boxed(house.entrance.area.box);
    if (first) wanted.push({ owner: house, hint: hints.reduce(union, first) });
    else without.push(house);
  }
  if (all < 2 || wanted.length < all * 0.6 || wanted.length < 2) return null;

  const isHouse = (owner: Node | House): owner is House => "rooms" in owner;
  // A house whose rooms' boxes lie apart keeps to the box of its entrance.
  const kept: { owner: Node | House; hint: Rect }[] = [];
  const holders: { owner: Node; hint: Rect }[] = [];
  for (const one of wanted) {
    const holds = !isHouse(one.owner) && wanted.some((other) => other !== one && within(other.hint, one.hint));
    if (holds) holders.push({ owner: one.owner as Node, hint: one.hint });
    else kept.push(one);
  }
  const clear: { owner: Node | House; hint: Rect }[] = [];
  for (const { owner, hint } of kept) {
    const own = isHouse(owner) ? boxed(owner.entrance.area.box) : null;
    const others = kept.filter((other) => other.owner !== owner);
    const fits = (rect: Rect): boolean => !clear.some((other) => overlap(other.hint, rect));
    if (fits(hint) && !(own && others.some((other) => overlap(other.hint, hint) && !overlap(other.hint, own))))
      clear.push({ owner, hint });
    else if (own && fits(own)) clear.push({ owner, hint: own });
    else without.push(owner);
  }
  // A place whose box holds others lies in the largest free space of its box.
  for (const { owner, hint } of holders) {
    const free = largestFree(
      hint,
      clear.map((one) => one.hint),
    );
    if (free) clear.push({ owner, hint: free });
    else without.push(owner);
  }
  if (clear.length < 2) return null;

  const items: Item[] = clear.map(({ owner, hint }) =>
    isHouse(owner) ? houseItem(units, owner, hint) : groundItem(units, owner, hint),
  );
  for (const owner of without) loose.push(isHouse(owner) ? bareHouse(units, owner) : groundUnit(units, owner));
  const xs = lines(
    items.flatMap(({ hint }) => [hint.x, hint.x + hint.w]),
    2,
    items.map(({ hint }) => [hint.x, hint.x + hint.w]),
  );
  const ys = lines(
    items.flatMap(({ hint }) => [hint.y, hint.y + hint.h]),
    0,
    items.map(({ hint }) => [hint.y, hint.y + hint.h]),
  );
  const across = tracks(
    xs,
    items.map(({ hint, need }) => [xs.of(hint.x), xs.of(hint.x + hint.w), need.w]),
    0.4,
  );
  const down = tracks(
    ys,
    items.map(({ hint, need }) => [ys.of(hint.y), ys.of(hint.y + hint.h), need.h]),
    0.9,
  );

  const into: Building = { grounds: new Map(), houses: new Map(), streets: [] };
  for (const { hint, put } of items) {
    const x = across[xs.of(hint.x)] as number;
    const y = down[ys.of(hint.y)] as number;
    put(
      { x, y, w: (across[xs.of(hint.x + hint.w)] as number) - x, h: (down[ys.of(hint.y + hint.h)] as number) - y },
      into,
    );
  }
  const moored = new Set<House>(boats);
  gather(units, into, moored, site.root.open && into.grounds.has(site.root) ? site.root : [...into.grounds.keys()][0]);
  let { w, h } = extent(into);
  const gate = isGate(site.root) && !site.root.area.box ? [groundUnit(units, site.root)] : [];
  const queue = [...loose, ...gate];
  w = Math.max(w, ...queue.map((unit) => unit.w));
  for (let row = takeRow(queue, w, Infinity); row; row = takeRow(queue, w, Infinity)) {
    row.put(Math.floor((w - row.w) / 2), h, row.h, into);
    h += row.h;
  }
  return { w, h, ...into };
}

/** Steps nearer to the middle that everything may take, as long as there is green and a way between neighbours. */
const NEARER = 14;
const APART_X = 3;
const APART_Y = 4;

/** The grid leaves wide gaps where a small house shares a row with a large one: everything moves together a little. */
function gather(
  { isChannel, plan, moored: boatsOf }: Units,
  into: Building,
  moored: ReadonlySet<House>,
  centre: Node | undefined,
): void {
  const middle = centre && into.grounds.get(centre);
  if (!middle) return;
  interface Mover {
    at: Rect;
    /** Rows of water at its top that run on to both sides. */
    readonly water: number;
    readonly set: (dx: number, dy: number) => void;
  }
  const movers: Mover[] = [];
  for (const [node, rect] of into.grounds) {
    const aboard = [...moored].filter((boat) => boat.entrance.parent === node);
    const mover: Mover = {
      at: rect,
      water: isChannel(node) ? waterRows(boatsOf(node).map(plan)) : 0,
      set: (dx, dy) => {
        mover.at = { ...mover.at, x: mover.at.x + dx, y: mover.at.y + dy };
        into.grounds.set(node, mover.at);
        for (const boat of aboard) {
          const there = into.houses.get(boat) as Rect;
          into.houses.set(boat, { ...there, x: there.x + dx, y: there.y + dy });
        }
      },
    };
    if (node !== centre) movers.push(mover);
  }
  for (const [house, rect] of into.houses) {
    if (moored.has(house)) continue;
    const mover: Mover = {
      at: rect,
      water: 0,
      set: (dx, dy) => {
        mover.at = { ...mover.at, x: mover.at.x + dx, y: mover.at.y + dy };
        into.houses.set(house, mover.at);
      },
    };
    movers.push(mover);
  }
  const cx = middle.x + middle.w / 2;
  const cy = middle.y + middle.h / 2;
  const off = ({ at }: Mover): readonly [number, number] => [at.x + at.w / 2 - cx, at.y + at.h / 2 - cy];
  const clear = (mover: Mover, dx: number, dy: number): boolean => {
    const { x, y, w, h } = mover.at;
    const room = { x: x + dx - APART_X, y: y + dy - APART_Y, w: w + 2 * APART_X, h: h + 2 * APART_Y };
    if (overlap(room, middle) || movers.some((other) => other !== mover && overlap(room, other.at))) return false;
    // Nothing comes to stand where a river is to run, and no river runs into what stands.
    const dams = (one: Mover, other: Mover, oneY: number, otherY: number): boolean =>
      one.water > 0 && oneY - 2 < otherY + other.at.h + 2 && otherY - 2 < oneY + one.water + 1;
    const was = mover.at.y;
    return movers.every(
      (other) =>
        other === mover ||
        ((!dams(mover, other, was + dy, other.at.y) || dams(mover, other, was, other.at.y)) &&
          (!dams(other, mover, other.at.y, was + dy) || dams(other, mover, other.at.y, was))),
    );
  };
  for (let step = 0; step < NEARER; step++) {
    for (const mover of movers.toSorted((a, b) => Math.hypot(...off(a)) - Math.hypot(...off(b)))) {
      const [dx, dy] = off(mover);
      const tall = Math.abs(dy) > (mover.at.h + middle.h) / 2;
      const wide = Math.abs(dx) > (mover.at.w + middle.w) / 2;
      if (tall && clear(mover, 0, -Math.sign(dy))) mover.set(0, -Math.sign(dy));
      if (wide && clear(mover, -Math.sign(dx), 0)) mover.set(-Math.sign(dx), 0);
    }
  }
}

/** Moves everything to the upper left corner; the size of it all, with the free tiles around. */
function extent(into: Building): Size {
  const all = [...into.grounds.values(), ...into.houses.values()];
  const left = Math.min(...all.map(({ x }) => x)) - SIDE;
  const top = Math.min(...all.map(({ y }) => y)) - ABOVE;
  const moved = (rect: Rect): Rect => ({ ...rect, x: rect.x - left, y: rect.y - top });
  for (const [node, rect] of into.grounds) into.grounds.set(node, moved(rect));
  for (const [house, rect] of into.houses) into.houses.set(house, moved(rect));
  return {
    w: Math.max(...all.map(({ x, w }) => x + w)) - left + SIDE,
    h: Math.max(...all.map(({ y, h }) => y + h)) - top + BEFORE,
  };
}

function houseItem({ plan }: Units, house: House, hint: Rect): Item {
  const { w, h } = plan(house);
  const chance = chances(`lot ${house.entrance.area.id}`);
  return {
    hint,
    need: { w: w + 2 * SIDE + 1, h: h + ABOVE + BEFORE },
    put: (cell, into) => {
      const freeX = cell.w - w - 2 * SIDE;
      const freeY = cell.h - h - ABOVE - BEFORE;
      const x = cell.x + SIDE + Math.round(freeX * (0.3 + 0.4 * chance()));
      const y = cell.y + ABOVE + Math.round(freeY * (0.35 + 0.65 * chance()));
      into.houses.set(house, { x, y, w, h });
    },
  };
}

function groundItem(units: Units, node: Node, hint: Rect): Item {
  const need = units.core(node);
  return {
    hint,
    need: { w: need.w + 2 * SIDE, h: need.h + ABOVE + 1 },
    put: (cell, into) => {
      // Wide places may be wider still; a shrine or a garden keeps its measure.
      const w = Math.min(cell.w - 2 * SIDE, Math.round(need.w * (need.w > 13 ? 1.7 : 1.2)));
      const h = Math.min(cell.h - ABOVE - 1, Math.round(need.h * 1.25));
      const x = cell.x + Math.floor((cell.w - w) / 2);
      const y = cell.y + Math.floor((cell.h - h) / 2);
      lie(units, node, { x, y, w, h }, into);
    },
  };
}

function bareHouse({ plan }: Units, house: House): Unit {
  const { w, h } = plan(house);
  return {
    w: w + 2 * SIDE,
    h: h + ABOVE + BEFORE,
    put: (x, y, into) => void into.houses.set(house, { x: x + SIDE, y: y + ABOVE, w, h }),
  };
}

function union(a: Rect, b: Rect): Rect {
  const x = Math.min(a.x, b.x);
  const y = Math.min(a.y, b.y);
  return { x, y, w: Math.max(a.x + a.w, b.x + b.w) - x, h: Math.max(a.y + a.h, b.y + b.h) - y };
}

export function overlap(a: Rect, b: Rect): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

function within(inner: Rect, outer: Rect): boolean {
  return (
    inner.x >= outer.x &&
    inner.y >= outer.y &&
    inner.x + inner.w <= outer.x + outer.w &&
    inner.y + inner.h <= outer.y + outer.h
  );
}

/** The largest rectangle of a box that others leave free, wide ones preferred as characters are narrow. */
function largestFree(box: Rect, others: readonly Rect[]): Rect | null {
  const inside = others.filter((other) => overlap(other, box));
  const cut = (from: number, to: number, at: readonly number[]): number[] =>
    [...new Set([from, to, ...at.filter((n) => n > from && n < to)])].sort((a, b) => a - b);
  const xs = cut(
    box.x,
    box.x + box.w,
    inside.flatMap((one) => [one.x, one.x + one.w]),
  );
  const ys = cut(
    box.y,
    box.y + box.h,
    inside.flatMap((one) => [one.y, one.y + one.h]),
  );
  if (xs.length * ys.length > 3600) return null;
  let best: Rect | null = null;
  let most = 0;
  for (let i = 0; i < xs.length - 1; i++) {
    for (let j = i + 1; j < xs.length; j++) {
      for (let k = 0; k < ys.length - 1; k++) {
        for (let l = k + 1; l < ys.length; l++) {
          const x = xs[i] as number;
          const y = ys[k] as number;
          const rect = { x, y, w: (xs[j] as number) - x, h: (ys[l] as number) - y };
          const size = Math.min(rect.w, rect.h * 6) * Math.min(rect.h, rect.w);
          if (size > most && !inside.some((one) => overlap(one, rect))) {
            most = size;
            best = rect;
          }
        }
      }
    }
  }
  return best;
}

interface Lines {
  readonly at: readonly number[];
  readonly of: (edge: number) => number;
}

/** The edges of boxes in order; edges nearer than `near` are one line, as long as that leaves every box some width. */
function lines(
  edges: readonly number[],
  near: number,
  spans: readonly (readonly [number, number] | number[])[],
): Lines {
  const sorted = [...new Set(edges)].sort((a, b) => a - b);
  const index = new Map<number, number>();
  const at: number[] = [];
  for (const edge of sorted) {
    const start = at.at(-1);
    const closes =
      start !== undefined &&
      edge - start <= near &&
      !spans.some(([from, to]) => index.get(from as number) === at.length - 1 && to === edge);
    if (!closes) at.push(edge);
    index.set(edge, at.length - 1);
  }
  return { at, of: (edge) => index.get(edge) as number };
}

/** Where each line comes to lie: every span as wide as it needs, the rest by the hints. */
function tracks({ at }: Lines, spans: readonly (readonly number[])[], scale: number): number[] {
  const hints = at.slice(1).map((line, i) => line - (at[i] as number));
  const size = hints.map((hint) => Math.round(hint * scale));
  const bySpan = [...spans].sort((a, b) => (a[1] as number) - (a[0] as number) - ((b[1] as number) - (b[0] as number)));
  for (const [from, to, need] of bySpan as [number, number, number][]) {
    const has = sum(size.slice(from, to));
    if (has >= need) continue;
    const share = sum(hints.slice(from, to));
    let left = need - has;
    let of = share;
    for (let i = from; i < to; i++) {
      const hint = hints[i] as number;
      const give = i === to - 1 ? left : Math.round((left * hint) / of);
      size[i] = (size[i] as number) + give;
      left -= give;
      of -= hint;
    }
  }
  const out = [0];
  for (const one of size) out.push((out.at(-1) as number) + one);
  return out;
}
