// The director: which scene is worth watching now, and why. Decided from the latest ticks alone, never by chance.

import type { EventLine, Mark, Metrics, Town } from "../api";
import type { Picked } from "../scene/village";
import type { Frame } from "./frame";

export type Reason =
  | "intervention"
  | "scripted"
  | "quarrel"
  | "news"
  | "broken"
  | "arrival"
  | "meeting"
  | "long talk"
  | "plan"
  | "reflection"
  | "talk"
  | "quiet";

/** What a scene is worth when it happens, and the ticks in which half of that is lost. */
export const WEIGHTS: Readonly<Record<Reason, { readonly worth: number; readonly half: number }>> = {
  intervention: { worth: 12, half: 6 },
  scripted: { worth: 10, half: 6 },
  news: { worth: 9, half: 4 },
  quarrel: { worth: 8, half: 5 },
  broken: { worth: 7, half: 4 },
  arrival: { worth: 6, half: 4 },
  meeting: { worth: 5, half: 5 },
  plan: { worth: 4, half: 3 },
  "long talk": { worth: 3, half: 3 },
  reflection: { worth: 3, half: 3 },
  talk: { worth: 1.5, half: 2 },
  quiet: { worth: 0.5, half: Infinity },
};

/** What does not wait until the scene shown has had its time, unless that is one of these too. */
const URGENT: ReadonlySet<Reason> = new Set(["intervention", "scripted", "news", "quarrel", "broken", "arrival"]);

/** Ticks looked back on. */
export const WINDOW = 12;
/** Seconds a scene is kept at least, as long as it can be seen. */
const STAY = 4;
const SHORTEST_STAY = 3;
const LONGEST_STAY = 24;
/** A scene is left for one that is worth this many times as much. */
const BETTER = 1.25;
/** Ticks in which half of the reluctance to show somebody again is lost. */
const BOREDOM = 10;
/** Lines of a talk that make it a long one. */
const LONG = 10;
/** Warmth lost within the metrics' distance that counts as a quarrel. */
const COOLED = 5;
const MOST_TEXT = 140;
/** Scenes left that are remembered. */
const REMEMBERED = 12;

export interface Caption {
  /** Why this is worth watching, with the names. */
  readonly en: string;
  readonly ko: string;
  /** What was said or happened, in the language of the run; may be empty. */
  readonly text: string;
}

export interface Shot {
  readonly reason: Reason;
  readonly target: Picked;
  /** Who is in it. */
  readonly people: readonly string[];
  readonly caption: Caption;
  /** The event it rests on; empty for a quiet scene. */
  readonly eventId: string;
  readonly score: number;
  /** The tick at which it happened. */
  readonly at: number;
  /** The tick at which the camera went there. */
  readonly since: number;
}

/** What the director remembers from tick to tick. */
export interface Direction {
  readonly shot: Shot | null;
  /** Scenes left, the latest last. */
  readonly left: readonly { readonly target: string; readonly people: readonly string[]; readonly tick: number }[];
}

export const START: Direction = { shot: null, left: [] };

export interface Seen {
  readonly town: Town;
  /** Consecutive frames up to the tick shown, the latest last; `WINDOW` of them are enough. */
  readonly frames: readonly Frame[];
  /** Of the time-line. */
  readonly marks: readonly Mark[];
  /** Of some ticks ago and of now, where they are at hand: for warmth that fell and for strangers who meet. */
  readonly metrics?: readonly [Metrics, Metrics];
  /** Ticks per second. */
  readonly rate: number;
}

interface Scene extends Omit<Shot, "since" | "score" | "at"> {
  readonly tick: number;
  /** Added to the worth of its reason. */
  readonly extra: number;
}

/** The direction after a tick. The same ticks seen give the same shots. */
export function direct(before: Direction, seen: Seen): Direction {
  const now = seen.frames.at(-1);
  if (!now) return START;
  // Somebody went back in time, or far ahead: what was shown says nothing about what to show.
  const last = before.shot?.since ?? now.tick;
  if (last > now.tick || before.left.some((one) => one.tick > now.tick)) before = START;

  const scenes = scenesOf(seen, before).filter((scene) => isThere(scene.target, now, seen.town));
  const best = pick(scenes, now.tick, before);
  const current = before.shot && isThere(before.shot.target, now, seen.town) ? before.shot : null;
  if (!best) return { ...before, shot: null };
  if (!current) return cutTo(best, before, now.tick);

  const stayed = now.tick - current.since;
  const stay = Math.max(SHORTEST_STAY, Math.min(LONGEST_STAY, Math.ceil(STAY * seen.rate)));
  // What was said of a scene goes forward in time: nothing that is over is told again.
  const onwards = scenes.filter((scene) => sameTarget(scene.target, current.target) && scene.tick >= current.at);
  const same = pick(onwards, now.tick, START);
  const worth = same?.score ?? 0;
  // A caption is there to be read: it does not give way to “meanwhile” before the time of its scene is over.
  const goesOn = same && (stayed >= stay || same.scene.reason !== "quiet");
  const kept: Shot = { ...(goesOn ? shotOf(same.scene, worth) : { ...current, score: worth }), since: current.since };
  if (sameTarget(best.scene.target, current.target)) return { ...before, shot: kept };

  // Where nothing happens, nothing is missed by leaving.
  const idle = current.reason === "quiet" && best.scene.reason !== "quiet";
  const presses = URGENT.has(best.scene.reason) && !URGENT.has(current.reason);
  const leave = idle || (stayed >= (presses ? SHORTEST_STAY : stay) && best.score >= worth * BETTER);
  return leave ? cutTo(best, before, now.tick) : { ...before, shot: kept };
}

function cutTo(best: Scored, before: Direction, tick: number): Direction {
  const { shot } = before;
  const left = shot ? [...before.left, { target: keyOf(shot.target), people: shot.people, tick }] : before.left;
  return { shot: { ...shotOf(best.scene, best.score), since: tick }, left: left.slice(-REMEMBERED) };
}

interface Scored {
  readonly scene: Scene;
  readonly score: number;
}

function pick(scenes: readonly Scene[], tick: number, before: Direction): Scored | null {
  let best: Scored | null = null;
  for (const scene of scenes) {
    const { worth, half } = WEIGHTS[scene.reason];
    const score = (worth + scene.extra) * 0.5 ** ((tick - scene.tick) / half) * freshness(scene, tick, before);
    // Equal scores: the later event, then the smaller id, so that no order of scenes matters.
    if (!best || score > best.score || (score === best.score && comesFirst(scene, best.scene))) best = { scene, score };
  }
  return best;
}

function comesFirst(one: Scene, other: Scene): boolean {
  return one.tick !== other.tick ? one.tick > other.tick : orderOf(one) < orderOf(other);
}

function orderOf(scene: Scene): string {
  return `${scene.eventId} ${keyOf(scene.target)} ${scene.reason}`;
}

/** 0.2 … 1: less for who or what was shown a short while ago. */
function freshness(scene: Scene, tick: number, before: Direction): number {
  let fresh = 1;
  for (const one of before.left) {
    const share =
      one.target === keyOf(scene.target) ? 0.8 : one.people.some((id) => scene.people.includes(id)) ? 0.5 : 0;
    fresh = Math.min(fresh, 1 - share * 0.5 ** ((tick - one.tick) / BOREDOM));
  }
  return fresh;
}

function shotOf(scene: Scene, score: number): Omit<Shot, "since"> {
  const { reason, target, people, caption, eventId, tick } = scene;
  return { reason, target, people, caption, eventId, score, at: tick };
}

function isThere(target: Picked, now: Frame, town: Town): boolean {
  if (target.kind === "agent") return now.agents.has(target.id);
  if (target.kind === "object") return now.objects.has(target.id);
  return town.areas.some((area) => area.id === target.id);
}

function keyOf(target: Picked): string {
  return `${target.kind}:${target.id}`;
}

function sameTarget(one: Picked, other: Picked): boolean {
  return one.kind === other.kind && one.id === other.id;
}

// ── scenes ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

const OUTSIDE = new Set(["GOD_EVENT", "INNER_VOICE", "TAKEN_OVER", "GIVEN_BACK", "CHANGED", "FORGOT"]);
const BROKEN = /broken|torn|jammed|smash|crack|shatter|burst|spilled|stolen|wreck|망가|부서|고장|깨진|깨짐|찢어|터진/i;
const HARSH = new RegExp(
  "\\b(angry at|furious|hate you|liar|you lied|ashamed of you|your fault|leave me alone|shut up|how dare|never forgive|" +
    "rather not be where|enough of you|not speaking to)\\b|화가 나|화났|미워|꼴도 보기|거짓말쟁이|네 탓|당신 탓|용서 못|지긋지긋",
  "i",
);

function scenesOf(seen: Seen, before: Direction): Scene[] {
  const { town, marks } = seen;
  const frames = seen.frames.slice(-WINDOW);
  const now = frames.at(-1)!;
  const first = frames[0]!.tick;
  const names = namesOf(town);
  const told = new Map(
    marks.filter((one) => one.kind === "fact" && one.tick >= first).map((one) => [one.event_id, one]),
  );
  const scenes: Scene[] = [];

  for (const frame of frames) {
    for (const line of frame.lines) {
      const scene = sceneOf(line, told.has(line.event_id), names);
      if (scene) scenes.push(scene);
    }
  }
  for (const [index, frame] of frames.entries()) {
    const before = frames[index - 1];
    if (before) scenes.push(...broken(before, frame, names));
  }
  scenes.push(...talks(seen, frames, names, before), ...planned(frames, names));
  scenes.push(...cooled(seen, now, names), ...quiet(now, names));
  return scenes;
}

interface Names {
  readonly town: Town;
  who(id: string): string;
  thing(id: string): string;
  place(id: string): string;
}

function namesOf(town: Town): Names {
  const called = new Map(town.characters.map((one) => [one.id, one.called]));
  const things = new Map(town.things.map((one) => [one.id, one.name]));
  const places = new Map(town.areas.map((one) => [one.id, one.name]));
  return {
    town,
    who: (id) => called.get(id) ?? id,
    thing: (id) => things.get(id) ?? id,
    place: (id) => places.get(id) ?? id,
  };
}

/** A scene that one line makes by itself. */
function sceneOf(line: EventLine, isNews: boolean, names: Names): Scene | null {
  const me = line.agent_id;
  const text = shortened(line.text);
  const scene = (reason: Reason, target: Picked, people: readonly string[], en: string, ko: string): Scene => ({
    reason,
    target,
    people,
    caption: { en, ko, text },
    eventId: line.event_id,
    tick: line.tick,
    extra: 0,
  });
  const place: Picked = { kind: "area", id: line.place };
  const person: Picked = { kind: "agent", id: me };
  const name = names.who(me);

  if (OUTSIDE.has(line.type)) {
    return me
      ? scene("intervention", person, [me], `A hand from outside: ${name}`, `바깥의 손길: ${name}`)
      : scene("intervention", place, [], "A hand from outside", "바깥의 손길");
  }
  switch (line.type) {
    case "SCRIPTED":
      return scene(
        "scripted",
        place,
        [],
        `Something happens: ${names.place(line.place)}`,
        `사건: ${names.place(line.place)}`,
      );
    case "JOINED":
      return scene("arrival", person, [me], `${name} comes to live here`, `새로 온 사람: ${name}`);
    case "LEFT":
      return scene("arrival", place, [], `${name} leaves for good`, `떠나는 사람: ${name}`);
    case "REFLECTED":
      return {
        ...scene("reflection", person, [me], "", ""),
        caption: { en: `${name} thinks things over`, ko: `생각에 잠긴 ${name}`, text: "" },
      };
    case "SAY": {
      const you = names.who(line.to);
      const people = line.to ? [me, line.to] : [me];
      if (isNews) {
        return scene(
          "news",
          person,
          people,
          `${name} tells ${you || "everybody"} something new`,
          `새 소식: ${name} → ${you || "모두"}`,
        );
      }
      if (HARSH.test(line.text)) {
        return scene("quarrel", person, people, `Hard words from ${name}`, `거친 말: ${name}`);
      }
      return null;
    }
    default:
      return null;
  }
}

function broken(before: Frame, frame: Frame, names: Names): Scene[] {
  const found: Scene[] = [];
  for (const thing of frame.objects.values()) {
    const old = before.objects.get(thing.object_id);
    if (!old || old.state === thing.state || !BROKEN.test(thing.state) || BROKEN.test(old.state)) continue;
    const line = frame.lines.find((one) => one.type === "OBJECT_STATE_CHANGED" && one.text.endsWith(thing.state));
    const name = names.thing(thing.object_id);
    // What somebody carries is seen where they are.
    const carrier = frame.agents.has(thing.parent);
    found.push({
      reason: "broken",
      target: carrier ? { kind: "agent", id: thing.parent } : { kind: "object", id: thing.object_id },
      people: carrier ? [thing.parent] : [],
      caption: { en: `Broken: ${name}`, ko: `고장: ${name}`, text: `${name}: ${old.state} → ${thing.state}` },
      eventId: line?.event_id ?? "",
      tick: frame.tick,
      extra: 0,
    });
  }
  return found;
}

/** Talks under way, those of two who did not know each other, and talks that do not end. One scene for each pair. */
function talks(seen: Seen, frames: readonly Frame[], names: Names, before: Direction): Scene[] {
  const pairs = new Map<string, EventLine[]>();
  for (const frame of frames) {
    for (const line of frame.lines) {
      if (line.type !== "SAY" || !line.to) continue;
      const pair = pairOf(line.agent_id, line.to);
      const said = pairs.get(pair);
      if (said) said.push(line);
      else pairs.set(pair, [line]);
    }
  }
  const earlier = seen.marks.filter((one) => one.kind === "conversation" && one.tick < frames[0]!.tick);
  const known = new Set(seen.metrics?.[0].warmth.map((one) => pairOf(one.source, one.target)));
  const found: Scene[] = [];
  for (const [pair, said] of pairs) {
    const last = said.at(-1)!;
    const people = [last.agent_id, last.to].sort();
    const [one, other] = people.map(names.who) as [string, string];
    const isNew = !earlier.some((mark) => people.every((id) => mark.people.includes(id)));
    const strangers = isNew && seen.metrics !== undefined && !known.has(pair);
    const reason: Reason = strangers ? "meeting" : said.length >= LONG ? "long talk" : "talk";
    const words: Record<"long talk" | "meeting" | "talk", [string, string]> = {
      "long talk": [`${one} and ${other} talk and talk`, `길어지는 대화: ${one}, ${other}`],
      meeting: [`${one} and ${other} meet`, `첫 만남: ${one}, ${other}`],
      talk: [`${one} and ${other} talk`, `대화: ${one}, ${other}`],
    };
    const [en, ko] = words[reason];
    found.push({
      reason,
      target: { kind: "agent", id: facing(people, before) },
      people,
      caption: { en, ko, text: shortened(last.text) },
      eventId: last.event_id,
      tick: last.tick,
      // Those who have not talked before are heard rather than those who always do.
      extra: Math.min(said.length, LONG) / 5 + (isNew ? 1.5 : 0),
    });
  }
  return found;
}

/** Who of several that stand together is looked at: whom the camera is on, else whom it has not been on for longest. */
function facing(people: readonly string[], before: Direction): string {
  const lastLeft = (id: string): number => before.left.findLastIndex((one) => one.target === `agent:${id}`);
  const shown = before.shot?.target.id;
  return people.find((id) => id === shown) ?? people.toSorted((one, other) => lastLeft(one) - lastLeft(other))[0]!;
}

function pairOf(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}

/** Plans that were broken. Those of one tick and one reason, such as a shower, are one scene. */
function planned(frames: readonly Frame[], names: Names): Scene[] {
  const found: Scene[] = [];
  for (const frame of frames) {
    const groups = new Map<string, EventLine[]>();
    for (const line of frame.lines) {
      // A plan that was changed names its reason after a colon; the first one of a day has none.
      if (line.type !== "PLAN_CHANGED" || !line.text.includes(":")) continue;
      const group = groups.get(line.text);
      if (group) group.push(line);
      else groups.set(line.text, [line]);
    }
    for (const [text, lines] of groups) {
      const first = lines[0]!;
      const people = lines.map((line) => line.agent_id);
      const [en, ko] =
        lines.length === 1
          ? [`${names.who(people[0]!)} drops a plan`, `계획을 바꾼 ${names.who(people[0]!)}`]
          : [`${lines.length} people drop their plans`, `계획을 바꾼 ${lines.length}명`];
      found.push({
        reason: "plan",
        target: { kind: "agent", id: first.agent_id },
        people: people.slice(0, 1),
        caption: { en, ko, text: shortened(text.slice(text.indexOf(":") + 1).trim()) },
        eventId: first.event_id,
        tick: first.tick,
        extra: HARSH.test(text) ? 2 : Math.min(2, (lines.length - 1) / 2),
      });
    }
  }
  return found;
}

/** Who has cooled towards whom between the metrics at hand, as long as the two are together. */
function cooled(seen: Seen, now: Frame, names: Names): Scene[] {
  if (!seen.metrics) return [];
  const [before, after] = seen.metrics;
  const old = new Map(before.warmth.map((one) => [`${one.source} ${one.target}`, one.warmth]));
  const found: Scene[] = [];
  for (const one of after.warmth) {
    const fell = (old.get(`${one.source} ${one.target}`) ?? one.warmth) - one.warmth;
    const here = now.agents.get(one.source);
    if (fell < COOLED || !here || here.position !== now.agents.get(one.target)?.position) continue;
    const [me, you] = [names.who(one.source), names.who(one.target)];
    found.push({
      reason: "quarrel",
      target: { kind: "agent", id: one.source },
      people: [one.source, one.target],
      caption: { en: `${me} has cooled towards ${you}`, ko: `식어 버린 마음: ${me} → ${you}`, text: "" },
      eventId: "",
      tick: Math.min(after.tick, now.tick),
      extra: Math.min(2, fell / 10),
    });
  }
  return found;
}

/** When nothing happens: what somebody does. Company and walking are better to look at than sleep. */
function quiet(now: Frame, names: Names): Scene[] {
  const present = new Map<string, number>();
  for (const agent of now.agents.values()) present.set(agent.position, (present.get(agent.position) ?? 0) + 1);
  return [...now.agents.values()].map((agent) => {
    const name = names.who(agent.agent_id);
    const company = present.get(agent.position)! - 1;
    const worth = (agent.asleep ? -0.4 : 0) + (agent.path.length > 1 ? 0.2 : 0) + Math.min(0.3, company / 10);
    return {
      reason: "quiet" as const,
      target: { kind: "agent" as const, id: agent.agent_id },
      people: [agent.agent_id],
      caption: agent.asleep
        ? { en: `${name} is asleep`, ko: `자는 중: ${name}`, text: "" }
        : { en: `Meanwhile, ${name}`, ko: `한편, ${name}`, text: shortened(agent.current_action) },
      eventId: "",
      tick: now.tick,
      extra: worth,
    };
  });
}

function shortened(text: string): string {
  const letters = [...text];
  return letters.length <= MOST_TEXT
    ? text
    : `${letters
        .slice(0, MOST_TEXT - 1)
        .join("")
        .trimEnd()}…`;
}
