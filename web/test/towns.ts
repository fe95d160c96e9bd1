// Small towns for tests.

import type { Area, Character, Thing, Town } from "../src/api";

export function area(id: string, name: string, parent: string, outdoor = false, box: Area["box"] = null): Area {
  return { id, name, parent, outdoor, private: false, box };
}

export function thing(id: string, name: string, place: string): Thing {
  return { id, name, kind: "object", area: place, states: ["there"], portable: false };
}

export function person(id: string, home: string): Character {
  return {
    id,
    name: id,
    called: id,
    age: 30,
    pronoun: "they",
    work: "baker",
    traits: [],
    background: "",
    goals: [],
    home,
    look: "",
  };
}

export function townOf(areas: Area[], things: Thing[] = [], characters: Character[] = [], scenario = "test"): Town {
  return {
    run: "test",
    title: scenario,
    scenario,
    language: "en",
    stage: "town",
    mind: "offline",
    seed: 1,
    people: characters.length,
    last_tick: 0,
    final_tick: 0,
    time: "2031-10-04T06:00:00Z",
    changed: "2031-01-01T00:00:00Z",
    live: false,
    playing: false,
    problem: "",
    theme: "hamlet",
    start: "2031-10-04T06:00:00",
    tick_minutes: 5,
    areas,
    ways: [],
    things,
    characters,
    facts: [],
    policies: [],
    may: [],
  };
}
