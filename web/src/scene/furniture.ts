// Objects and furniture: where they lie, how their state shows, which one a pointer is on.

import type { Frame } from "../run/frame";
import type { Picture } from "./art/paint";
import type { Drawn } from "./art/plants";
import { type Mode, modeOf } from "./art/state";
import { drawCarried, drawThing } from "./art/things";
import { type Board, DEEP, type Image, type View } from "./board";
import type { House, Houses } from "./houses";
import { hash } from "./layout/chance";
import { type Placed, TILE } from "./layout/map";
import type { Lamp } from "./light";

interface Place {
  readonly x: number;
  readonly y: number;
  readonly depth: number;
  readonly house: House | null;
}

interface Thing {
  readonly placed: Placed;
  /** How it lies at its place. */
  readonly home: Place;
  /** The place it lies in, and how. */
  area: string;
  lies: Place;
  state: string;
  /** Carried by somebody. */
  away: boolean;
  /** Made when it is first in sight: most of a village's furniture is under closed roofs. */
  drawn: { readonly day: Image; readonly lit: Image | null; readonly lamp: Lamp | null } | null;
}

export interface Furniture {
  /** Takes the state of a tick. */
  show(frame: Frame): void;
  update(view: View, lamp: number): void;
  /** The object drawn at a point of the world, with its state. */
  hit(x: number, y: number): { readonly id: string; readonly state: string } | null;
  /** Where an object is drawn. */
  at(id: string): { readonly x: number; readonly y: number } | undefined;
  /** An object as it looks in somebody's hand. */
  inHand(id: string): Image | null;
}

export function buildFurniture({ map, theme, lamps, add }: Board, houses: Houses): Furniture {
  const drawings = new Map<string, Drawn>();
  const things: Thing[] = map.placed.map((placed) => {
    const house = houses.byArea.get(placed.area) ?? null;
    const indoors = house && houses.at(placed.at.x * TILE + 8, placed.at.y * TILE + 8) === house ? house : null;
    const lift = placed.lies === "top" ? 10 : 0;
    const foot = (placed.at.y + placed.h) * TILE - (placed.lies === "wall" ? 3 : 1);
    const depth =
      placed.lies === "rug"
        ? DEEP.rug
        : placed.lies === "wall"
          ? foot - 14
          : placed.lies === "seat"
            ? foot - 4
            : foot + (lift ? 1 : 0);
    const home: Place = { x: (placed.at.x + placed.w / 2) * TILE, y: foot - lift, depth, house: indoors };
    return { placed, home, area: placed.area, lies: home, state: "", away: false, drawn: null };
  });
  const objects = things.filter(({ placed }) => placed.object);
  const byId = new Map(objects.map((thing) => [thing.placed.object, thing]));

  function undress(thing: Thing): void {
    if (!thing.drawn) return;
    const { day, lit, lamp } = thing.drawn;
    thing.drawn = null;
    day.destroy();
    lit?.destroy();
    if (lamp) lamps.splice(lamps.indexOf(lamp), 1);
  }

  function dress({
    placed: { sprite, w, h, variant },
    lies: { x, y, depth },
    state,
  }: Thing): NonNullable<Thing["drawn"]> {
    const mode: Mode = modeOf(state);
    const key = `${sprite} ${w} ${h} ${variant % 6} ${mode}`;
    let drawing = drawings.get(key);
    if (!drawing) drawings.set(key, (drawing = drawThing(sprite, w, h, variant % 6, mode, theme)));
    const { picture, lit, light, foot } = drawing;
    const lamp = light
      ? { x: x + light.x, y: y + light.y + 6, r: light.r * 1.4, colour: light.colour, strength: 1, flickers: true }
      : null;
    if (lamp) lamps.push(lamp);
    const put = (name: string, shown: Picture): Image => add(name, () => shown, x, y).setOrigin(0.5, foot / picture.h);
    return {
      day: put(key, picture).setDepth(depth),
      lit: lit ? put(`${key} lit`, lit).setDepth(DEEP.lit) : null,
      lamp,
    };
  }

  /** Where a thing lies: at its place, or on the floor of the place it was put down in. */
  function lay(thing: Thing, area: string): void {
    if (thing.area === area || (area !== thing.placed.area && !map.spots.has(area))) return;
    thing.area = area;
    const stands = area === thing.placed.area ? [] : (map.spots.get(area)?.stands ?? []);
    const at =
      stands[Math.floor(stands.length / 2) + (hash(thing.placed.object) % Math.max(1, Math.ceil(stands.length / 2)))] ??
      stands[0];
    const down = at && {
      x: at.x * TILE + TILE / 2,
      y: at.y * TILE + TILE - 2,
      depth: at.y * TILE + TILE - 4,
      house: houses.at(at.x * TILE + 8, at.y * TILE + 8),
    };
    thing.lies = down ?? thing.home;
    undress(thing);
  }

  return {
    show(frame) {
      for (const thing of objects) {
        const now = frame.objects.get(thing.placed.object);
        if (!now) continue;
        thing.away = frame.agents.has(now.parent);
        lay(thing, now.parent);
        if (thing.state !== now.state) undress(thing);
        thing.state = now.state;
      }
    },
    update(view, lamp) {
      for (const thing of things) {
        const { house, x, y } = thing.lies;
        const near = house
          ? house.near
          : x > view.x - 60 && x < view.right + 60 && y > view.y - 20 && y < view.bottom + 80;
        const open = near && !thing.away ? (house ? 1 - house.roof : 1) : 0;
        if (open > 0.01) thing.drawn ??= dress(thing);
        if (!thing.drawn) continue;
        const { day, lit, lamp: shines } = thing.drawn;
        day.setVisible(open > 0.01);
        lit?.setVisible(open > 0.01 && lamp > 0.03).setAlpha(open * lamp);
        if (shines) shines.strength = thing.away ? 0 : house ? 1 - house.roof : 1;
      }
    },
    hit(x, y) {
      let found: Thing | null = null;
      for (const thing of objects) {
        const {
          placed: { w, h, lies },
          lies: at,
        } = thing;
        if (thing.away || (at.house && at.house.roof > 0.5)) continue;
        // From somewhat above its tiles, where tall things reach, down to the foot.
        const above = lies === "top" ? 3 : lies === "wall" ? -3 : 9;
        const below = lies === "top" ? 11 : lies === "wall" ? 3 : 1;
        const within = Math.abs(x - at.x) <= (w * TILE) / 2 && y >= at.y - h * TILE - above && y < at.y + below;
        if (within && (!found || lies === "top" || at.depth > found.lies.depth)) found = thing;
      }
      return found && { id: found.placed.object, state: found.state };
    },
    at: (id) => byId.get(id)?.lies,
    inHand(id) {
      const thing = byId.get(id);
      if (!thing) return null;
      const { sprite } = thing.placed;
      const mode = modeOf(thing.state);
      return add(`carried ${sprite} ${mode}`, () => drawCarried(sprite, mode, theme), 0, 0).setOrigin(0.5, 1);
    },
  };
}
