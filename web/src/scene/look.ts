// A page for looking at the scene alone, not part of the build: /look.html?town=plaza&tick=40&hour=21&sky=rain&theme=neon&zoom=2
// More: select=ID, follow=ID, visit=ID (an area), at=X,Y (tiles), play=TICKS_PER_SECOND, lens=1, calm=1, people=NUMBER, party=NUMBER (in the area of visit), put=OBJECT:PLACE.

import "../styles/base.css";
import type { Delta, Snapshot, Town } from "../api";
import { afterDelta, type Frame, fromSnapshot } from "../run/frame";
import { buildVillage } from "./phaser";
import type { Village } from "./village";

const query = new URLSearchParams(location.search);
const name = query.get("town") ?? "latticeville";

/** Milliseconds of script in each animation frame, of all callbacks together. */
const costs: number[] = [];
const ask = window.requestAnimationFrame.bind(window);
window.requestAnimationFrame = (callback) =>
  ask((time) => {
    const from = performance.now();
    callback(time);
    costs.push(performance.now() - from);
  });

async function read<T>(file: string): Promise<T> {
  return (await (await fetch(`/fixtures/${name}/${file}.json`)).json()) as T;
}

/** More people of the same kind, at the places there are. */
function crowd(town: Town, frame: Frame, people: number): [Town, Frame] {
  const characters = [...town.characters];
  const agents = new Map(frame.agents);
  const places = town.areas.filter((area) => area.parent !== "" || area.outdoor);
  const open = places.filter((area) => area.outdoor);
  const emoji = ["🍜", "📚", "🔧", "🎶", "", "", "", ""];
  for (let i = characters.length; i < people; i++) {
    const like = town.characters[i % town.characters.length];
    if (!like) break;
    const id = `${like.id}-${i}`;
    const work =
      ["cook", "nurse", "gardener", "courier", "teacher", "smith", "painter", "", "fisher", "student"][i % 10] ?? "";
    characters.push({
      ...like,
      id,
      name: `${like.called} ${i}`,
      called: `${like.called} ${i}`,
      work,
      age: 8 + ((i * 37) % 76),
      pronoun: (["she", "he", "they"] as const)[i % 3] ?? "they",
    });
    const place = (i % 3 ? open[(i * 7) % open.length] : places[(i * 11) % places.length]) ?? places[0];
    const template = frame.agents.get(like.id);
    if (template && place)
      agents.set(id, {
        ...template,
        agent_id: id,
        position: place.id,
        path: [],
        asleep: false,
        to: "",
        dialogue: i % 40 === 7 ? "Have you heard about the lantern festival?" : "",
        emoji: emoji[i % 8] ?? "",
      });
  }
  return [
    { ...town, characters, people: characters.length },
    { ...frame, agents },
  ];
}

let [town, frames] = await Promise.all([read<Town>("town"), read<{ first: Snapshot; rest: Delta[] }>("frames")]);
const number = (key: string, otherwise: number): number => (query.has(key) ? Number(query.get(key)) : otherwise);
let tick = number("tick", 40);
let frame = fromSnapshot(frames.first);
for (const delta of frames.rest.slice(0, tick)) frame = afterDelta(frame, delta);

const people = number("people", 0);
const sayings = [
  "Have you heard about the lantern festival?",
  "No.",
  "The broth wants another hour, and I am not going to be hurried by anybody.",
  "오늘 저녁에 광장에서 만날까요?",
  "Then we agree.",
  "I thought the drone was broken!",
];

/** The first `n` people in one place, every other one of them speaking. */
function party(from: Frame, n: number, place: string): Frame {
  const agents = new Map(from.agents);
  [...agents.values()].slice(0, n).forEach((one, i, all) => {
    const speaks = i % 2 === 0;
    const to = speaks ? (all[i + 1]?.agent_id ?? "") : "";
    agents.set(one.agent_id, {
      ...one,
      position: place,
      path: [],
      asleep: false,
      to,
      dialogue: speaks ? (sayings[(i / 2) % sayings.length] ?? "") : "",
      emoji: "",
    });
  });
  return { ...from, agents };
}

function shown(from: Frame): Frame {
  let out = from;
  if (query.has("hour")) {
    const hour = number("hour", 12);
    const two = (n: number): string => String(Math.floor(n)).padStart(2, "0");
    out = { ...out, time: `2031-10-04T${two(hour)}:${two((hour % 1) * 60)}:00Z` };
  }
  if (query.has("sky")) out = { ...out, sky: query.get("sky") ?? "clear" };
  if (query.has("wind")) out = { ...out, wind: query.get("wind") ?? "calm" };
  const [moved, to] = query.get("put")?.split(":") ?? [];
  const thing = moved && to ? out.objects.get(moved) : undefined;
  if (thing && to) out = { ...out, objects: new Map(out.objects).set(thing.object_id, { ...thing, parent: to }) };
  if (people) out = crowd(town, out, people)[1];
  return query.has("party") ? party(out, number("party", 10), query.get("visit") ?? "") : out;
}

const first = shown(frame);
if (people) [town] = crowd(town, first, people);
const element = document.getElementById("scene") as HTMLElement;
Object.assign(document.body.style, { margin: "0" });
Object.assign(element.style, { position: "fixed", inset: "0" });
const begun = performance.now();
const village: Village = await buildVillage(element, {
  town,
  theme: (query.get("theme") as "hamlet" | "neon" | null) ?? town.theme,
  reducedMotion: query.has("calm"),
  onPick: (picked) => {
    document.title = picked ? `${picked.kind} ${picked.id}` : "nothing";
    if (picked?.kind === "agent") village.select(picked.id);
  },
  onPan: () => undefined,
});
village.show(first, { jump: true, rate: 1 });
for (let zoom = 2; zoom < number("zoom", 2); zoom++) village.zoom(1);
if (number("zoom", 2) === 1) village.zoom(-1);
const who = query.get("select") ?? query.get("follow");
if (who) village.select(who);
if (query.has("follow")) village.follow(query.get("follow"));
if (query.has("visit")) village.visit({ kind: "area", id: query.get("visit") ?? "" });
if (query.has("lens")) {
  const ids = town.characters.map((one) => one.id);
  village.lens({
    lit: new Set(ids.filter((_, i) => i % 2 === 0)),
    ties: ids.slice(1).map((id, i) => ({
      from: ids[i] as string,
      to: id,
      strength: i % 3 === 2 ? -0.8 : 0.9,
      tick: i % 4 === 0 ? tick + 1 : tick - 1,
    })),
  });
}
if (query.has("play")) {
  setInterval(() => {
    const delta = frames.rest[tick++];
    if (!delta) return;
    frame = afterDelta(frame, delta);
    village.show(shown(frame), { jump: false, rate: number("play", 1) });
  }, 1000 / number("play", 1));
}
Object.assign(window, {
  looked: () => ({ built: Math.round(performance.now() - begun), frames: costs.length, costs: costs.slice(-200) }),
  portraits: () => town.characters.map((one) => village.portrait(one.id)),
  step: (rate: number, jump = false) => {
    const delta = frames.rest[tick++];
    if (!delta) return;
    frame = afterDelta(frame, delta);
    village.show(shown(frame), { jump, rate });
  },
});
