// The people of the scene: where they walk, how they stand, what they say. No drawing; the scene reads it every frame.

import type { AgentState, Character, Town } from "../api";
import type { Frame } from "../run/frame";
import { type Look, lookOf } from "./art/look";
import type { Labelled } from "./labels";
import { type Point, TILE, type VillageMap } from "./layout/map";
import { rains } from "./shelter";
import { type Facing, journey, type Present, route, type Stance, settle, workplace } from "./walk";

export interface Actor extends Labelled {
  readonly character: Character;
  readonly look: Look;
  /** Pixels of the world: the foot. */
  x: number;
  y: number;
  facing: Facing;
  pose: Stance["pose"];
  /** Where it is once it has walked. */
  stance: Stance;
  way: readonly Point[];
  leg: number;
  /** Tiles a second. */
  speed: number;
  walking: boolean;
  stride: number;
  area: string;
  asleep: boolean;
  doing: string;
  /** What it carries, by object id. */
  carries: string;
  with: string;
  /** Under an open umbrella. */
  covered: boolean;
}

const feet = ({ x, y }: Point): Point => ({ x: x * 16 + 8, y: y * 16 + 13 });

/** Feet of somebody in a bed of 1 × 2 tiles. */
const inBed = ({ x, y }: Point): Point => ({ x: x * 16 + 8, y: y * 16 + 31 });

const standing = (stance: Stance): Point => (stance.pose === "lie" ? inBed(stance.at) : feet(stance.at));

export interface Cast {
  readonly actors: Map<string, Actor>;
  /** Takes a tick: everybody gets a way to walk. Returns who is gone. */
  show(frame: Frame, jump: boolean, rate: number, now: number): string[];
  /** Moves everybody on by milliseconds. */
  step(ms: number): void;
}

const TALKING = /talking with|이야기하는/;

export function buildCast(town: Town, map: VillageMap): Cast {
  const actors = new Map<string, Actor>();
  const characters = new Map(town.characters.map((one) => [one.id, one]));
  const thingsOf = new Map<string, { id: string; name: string }[]>();
  for (const thing of town.things) {
    const there = thingsOf.get(thing.area) ?? [];
    there.push(thing);
    thingsOf.set(thing.area, there);
  }
  const names = town.characters.map(({ id, name }) => ({ id, name }));
  const openAir = new Set(map.grounds.map(({ area }) => area));
  let stances: Map<string, Stance> = new Map();
  /** Tiles a second somebody walks at least: quicker in the rain. */
  let hurry = 3.1;

  function partner(state: AgentState, before: Actor | undefined): string {
    if (state.to) return state.to;
    if (!TALKING.test(state.current_action)) return "";
    return (
      names.find(({ id, name }) => id !== state.agent_id && state.current_action.includes(name))?.id ??
      before?.with ??
      ""
    );
  }

  return {
    actors,
    show(frame, jump, rate, now) {
      const people: Present[] = [];
      const raining = rains(frame.sky);
      hurry = raining ? 4.4 : 3.1;
      for (const state of frame.agents.values()) {
        if (!map.spots.has(state.position)) continue;
        people.push({
          id: state.agent_id,
          area: state.position,
          asleep: state.asleep,
          with: partner(state, actors.get(state.agent_id)),
          at:
            state.path.length > 1 || state.asleep
              ? ""
              : workplace(map, state.position, state.current_action, thingsOf.get(state.position) ?? []),
          wet: raining && !state.asleep && openAir.has(state.position),
        });
      }
      const before = stances;
      stances = settle(map, people, jump ? new Map() : before);
      const seconds = Math.max(0.08, 1 / Math.max(0.05, rate));
      const held = new Map<string, string>();
      for (const thing of frame.objects.values())
        if (frame.agents.has(thing.parent)) held.set(thing.parent, thing.object_id);

      for (const one of people) {
        const state = frame.agents.get(one.id) as AgentState;
        const stance = stances.get(one.id);
        if (!stance) continue;
        const character = characters.get(one.id) ?? {
          id: one.id,
          name: one.id,
          called: one.id,
          age: 30,
          pronoun: "they" as const,
          work: "",
          traits: [],
          background: "",
          goals: [],
          home: "",
          look: "",
        };
        let actor = actors.get(one.id);
        const fresh = !actor;
        if (!actor) {
          const at = standing(stance);
          actor = {
            id: one.id,
            called: character.called || character.name,
            character,
            look: lookOf(character),
            x: at.x,
            y: at.y,
            facing: stance.facing,
            pose: stance.pose,
            stance,
            way: [],
            leg: 0,
            speed: 3,
            walking: false,
            stride: 0,
            area: one.area,
            asleep: state.asleep,
            doing: "",
            carries: "",
            with: "",
            covered: false,
            seen: false,
            near: false,
            sx: 0,
            sy: 0,
            tall: 0,
            chosen: false,
            hovered: false,
            emoji: "",
            emojiUntil: 0,
            words: "",
            wordsUntil: 0,
          };
          actors.set(one.id, actor);
        }
        actor.doing = state.current_action;
        actor.asleep = state.asleep;
        actor.carries = held.get(one.id) ?? "";
        actor.with = one.with;
        if (state.emoji !== actor.emoji || (state.emoji && jump)) {
          actor.emoji = state.emoji;
          actor.emojiUntil = now + 5200 + (one.id.length % 5) * 600;
        }
        if (state.dialogue) {
          actor.words = state.dialogue;
          actor.wordsUntil = now + Math.max(3200, Math.min(9000, 1800 + state.dialogue.length * 55, seconds * 2600));
        }
        const moved =
          actor.stance.at.x !== stance.at.x || actor.stance.at.y !== stance.at.y || actor.stance.pose !== stance.pose;
        if (jump || fresh) {
          const at = standing(stance);
          actor.x = at.x;
          actor.y = at.y;
          actor.way = [];
          actor.walking = false;
          actor.pose = stance.pose;
          actor.facing = stance.facing;
          if (jump && !state.dialogue) actor.wordsUntil = 0;
        } else if (moved || one.area !== actor.area) {
          setOut(actor, one.area, stance, state, seconds);
        } else if (!actor.walking) actor.facing = stance.facing;
        actor.stance = stance;
        actor.area = one.area;
      }
      const gone = [...actors.keys()].filter((id) => !stances.has(id));
      for (const id of gone) actors.delete(id);
      return gone;
    },
    step(ms) {
      for (const actor of actors.values()) if (actor.walking) walk(actor, ms);
    },
  };

  function setOut(actor: Actor, area: string, stance: Stance, state: AgentState, seconds: number): void {
    const from = { x: Math.max(0, (actor.x - 8) / 16), y: Math.max(0, (actor.y - 13) / 16) };
    const start =
      actor.pose === "lie"
        ? (map.beds.get(actor.id)?.beside ?? from)
        : { x: Math.round(from.x), y: Math.round(from.y) };
    const target = stance.pose === "lie" ? (map.beds.get(actor.id)?.beside ?? stance.at) : stance.at;
    let way: Point[];
    let length = 0;
    if (area !== actor.area && state.path.length > 1) {
      // On the way through: walk to where the next area begins and go on from there with the next tick.
      const last = map.spots.get(state.path.at(-1) as string);
      const trip = journey(map, start, [actor.area, ...state.path], last?.door ?? target);
      length = trip.reached[0] ?? 0;
      way = cutAt(trip.way, length);
    } else {
      way = [...route(map, start, target)];
      length = lengthOf(way);
    }
    if (stance.pose === "lie") way.push({ x: stance.at.x, y: stance.at.y + 1 });
    actor.way = [from, ...way];
    actor.leg = 0;
    actor.speed = Math.max(hurry, length / (seconds * 0.96));
    actor.walking = true;
    actor.pose = "stand";
  }

  function walk(actor: Actor, ms: number): void {
    let left = (actor.speed * 16 * ms) / 1000;
    while (left > 0) {
      const next = actor.way[actor.leg + 1];
      if (!next) {
        actor.walking = false;
        actor.pose = actor.stance.pose;
        actor.facing = actor.stance.facing;
        if (actor.stance.pose === "lie") {
          const at = inBed(actor.stance.at);
          actor.x = at.x;
          actor.y = at.y;
        }
        return;
      }
      const tx = next.x * 16 + 8;
      const ty = next.y * 16 + 13;
      const dx = tx - actor.x;
      const dy = ty - actor.y;
      const far = Math.hypot(dx, dy);
      if (far > 0.5)
        actor.facing = Math.abs(dx) > Math.abs(dy) * 1.05 ? (dx < 0 ? "left" : "right") : dy < 0 ? "up" : "down";
      if (far <= left) {
        actor.x = tx;
        actor.y = ty;
        actor.leg++;
        left -= far;
      } else {
        actor.x += (dx / far) * left;
        actor.y += (dy / far) * left;
        left = 0;
      }
    }
    actor.stride += ms * Math.min(1.8, actor.speed / 3.4);
  }
}

function lengthOf(way: readonly Point[]): number {
  let length = 0;
  for (let i = 1; i < way.length; i++)
    length += Math.hypot((way[i] as Point).x - (way[i - 1] as Point).x, (way[i] as Point).y - (way[i - 1] as Point).y);
  return length;
}

function cutAt(way: readonly Point[], length: number): Point[] {
  const out: Point[] = [];
  let gone = 0;
  for (let i = 0; i < way.length; i++) {
    const at = way[i] as Point;
    const last = way[i - 1];
    if (last) gone += Math.hypot(at.x - last.x, at.y - last.y);
    if (gone > length + 0.01) break;
    out.push(at);
  }
  return out;
}

/** Where most is going on: people near each other, out of doors and awake before all; while all sleep, the largest square. */
export function liveliest(
  map: VillageMap,
  actors: ReadonlyMap<string, Actor>,
  indoors: (one: Actor) => boolean,
): readonly [number, number] {
  const centre = map.grounds.toSorted((a, b) => rank(b) - rank(a))[0]?.rect;
  let best: readonly [number, number] = centre
    ? [(centre.x + centre.w / 2) * TILE, (centre.y + centre.h / 2) * TILE]
    : [(map.width * TILE) / 2, (map.height * TILE) / 2];
  let most = 1.9;
  let seen = 0;
  for (const one of actors.values()) {
    if (seen++ > 250) break;
    let score = 0;
    let x = 0;
    let y = 0;
    for (const other of actors.values()) {
      if (Math.abs(other.x - one.x) > 220 || Math.abs(other.y - one.y) > 130) continue;
      const weight = other.asleep ? 0.1 : (1 + (other.with ? 1 : 0)) * (indoors(other) ? 0.45 : 1);
      score += weight;
      x += other.x * weight;
      y += other.y * weight;
    }
    if (score > most) {
      most = score;
      best = [x / score, y / score];
    }
  }
  return best;
}

const rank = ({ kind, rect }: VillageMap["grounds"][number]): number =>
  rect.w *
  rect.h *
  (kind === "plaza" ? 4 : kind === "market" || kind === "street" ? 2 : kind === "gate" || kind === "forest" ? 0 : 1);
