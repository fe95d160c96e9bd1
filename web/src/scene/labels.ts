// Words over the scene as text nodes: names, emoji, speech, what is under the pointer. Crisp at any zoom, in any script.

import { type Box, meet, placeBubbles, thinned, type Wanted } from "./bubbles";
import "./labels.css";

const NAMES = 60;
const EMOJI = 14;
const BUBBLES = 6;
const NAME_HIGH = 16;
/** Pixels a tail reaches. */
const STEM = 12;

/** What a person's labels need to know, in pixels of the view. */
export interface Labelled {
  readonly id: string;
  readonly called: string;
  /** In view, and not under a closed roof. */
  seen: boolean;
  /** In view at all. */
  near: boolean;
  sx: number;
  /** The foot. */
  sy: number;
  /** Height of the person. */
  tall: number;
  chosen: boolean;
  hovered: boolean;
  emoji: string;
  emojiUntil: number;
  words: string;
  wordsUntil: number;
}

interface Bubble {
  readonly element: HTMLElement;
  readonly tail: HTMLElement;
  /** From the tail on to the head, where the bubble is far from it. */
  readonly stem: HTMLElement;
  readonly text: string;
  readonly w: number;
  readonly h: number;
  /** When it was made, to place the oldest first: what is being read does not move. */
  readonly since: number;
  x: number;
  y: number;
  place: number;
}

interface Nodes {
  name: { readonly element: HTMLElement; readonly w: number; shown: boolean } | null;
  emoji: HTMLElement | null;
  bubble: Bubble | null;
}

export interface Labels {
  update(people: readonly Labelled[], now: number, free: Box, scale: number): void;
  hover(text: string, more: string, x: number, y: number): void;
  /** Names of rooms, and signs of what is so of a place. */
  rooms(
    rooms: readonly {
      readonly id: string;
      readonly name: string;
      readonly sign: boolean;
      readonly x: number;
      readonly y: number;
    }[],
  ): void;
  forget(id: string): void;
  destroy(): void;
}

export function buildLabels(parent: HTMLElement): Labels {
  const layer = document.createElement("div");
  layer.className = "village-labels";
  parent.append(layer);
  const nodes = new Map<string, Nodes>();
  const hovering = make("village-hover");
  const hoverText = document.createTextNode("");
  const hoverMore = document.createElement("span");
  hovering.append(hoverText, hoverMore);
  hovering.style.display = "none";
  layer.append(hovering);
  const roomNodes = new Map<string, HTMLElement>();
  let faces: readonly Box[] = [];
  let settledAt = 0;

  function make(name: string): HTMLElement {
    const element = document.createElement("div");
    element.className = name;
    return element;
  }

  const of = (id: string): Nodes => {
    let mine = nodes.get(id);
    if (!mine) nodes.set(id, (mine = { name: null, emoji: null, bubble: null }));
    return mine;
  };

  const shown = (element: HTMLElement, on: boolean): void => {
    const display = on ? "" : "none";
    if (element.style.display !== display) element.style.display = display;
  };
  const move = (element: HTMLElement, x: number, y: number): void => {
    const transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
    if (element.style.transform !== transform) element.style.transform = transform;
  };

  function drop(mine: Nodes): void {
    mine.bubble?.element.remove();
    mine.bubble?.stem.remove();
    mine.bubble = null;
  }

  function bubbleOf(one: Labelled, mine: Nodes, now: number): Bubble {
    if (mine.bubble && mine.bubble.text === one.words) return mine.bubble;
    drop(mine);
    const element = make("village-bubble");
    const name = document.createElement("b");
    name.textContent = one.called;
    const tail = document.createElement("i");
    const stem = make("village-stem");
    element.append(
      name,
      document.createTextNode(one.words.length > 180 ? `${one.words.slice(0, 178)}…` : one.words),
      tail,
    );
    layer.append(stem, element);
    mine.bubble = {
      element,
      tail,
      stem,
      text: one.words,
      w: element.offsetWidth,
      h: element.offsetHeight,
      since: now,
      x: NaN,
      y: NaN,
      place: -1,
    };
    return mine.bubble;
  }

  function nameOf(one: Labelled, mine: Nodes): NonNullable<Nodes["name"]> {
    if (!mine.name) {
      const element = make("village-name");
      element.textContent = one.called;
      layer.append(element);
      mine.name = { element, w: element.offsetWidth, shown: true };
    }
    return mine.name;
  }

  /** Names under the feet, of whom one looks at first, then of whom it was shown before: they do not come and go. */
  function names(people: readonly Labelled[], talking: ReadonlySet<string>, scale: number): readonly Box[] {
    const asked = people.filter((one) => one.seen && (scale >= 2 || one.chosen || one.hovered || talking.has(one.id)));
    const rank = (one: Labelled): number =>
      one.chosen ? 0 : one.hovered ? 1 : talking.has(one.id) ? 2 : nodes.get(one.id)?.name?.shown ? 3 : 4;
    const ranked = asked.map((one) => ({ one, rank: rank(one) })).sort((a, b) => a.rank - b.rank);
    const labels = ranked.map(({ one }) => {
      const { w } = nameOf(one, of(one.id));
      return { one, box: { x: one.sx - w / 2, y: one.sy + 3, w, h: NAME_HIGH } };
    });
    const shownNow = new Set<string>();
    const kept = thinned(labels, NAMES);
    for (const { one, box } of kept) {
      const { element } = nameOf(one, of(one.id));
      if (one.chosen !== element.hasAttribute("data-chosen")) element.toggleAttribute("data-chosen", one.chosen);
      move(element, box.x, box.y);
      shownNow.add(one.id);
    }
    for (const [id, { name }] of nodes)
      if (name) {
        name.shown = shownNow.has(id);
        shown(name.element, name.shown);
      }
    return kept.map(({ box }) => box);
  }

  function bubbles(people: readonly Labelled[], now: number, free: Box): ReadonlySet<string> {
    // The newest words first: who spoke last is read now.
    const speaking = people
      .filter((each) => each.near && each.words && each.wordsUntil > now)
      .sort((a, b) => b.wordsUntil - a.wordsUntil)
      .slice(0, BUBBLES);
    const open = speaking
      .map((one) => ({ one, bubble: bubbleOf(one, of(one.id), now) }))
      .sort((a, b) => a.bubble.since - b.bubble.since || (a.one.id < b.one.id ? -1 : 1));
    const wanted: Wanted[] = open.map(({ one, bubble }) => ({
      id: one.id,
      x: one.sx,
      y: one.sy - one.tall - 2,
      tall: one.tall + 2,
      w: bubble.w,
      h: bubble.h,
      had: bubble.place,
    }));
    const ease = 1 - Math.exp((settledAt - now) / 110);
    settledAt = now;
    const placed = new Set<string>();
    for (const place of placeBubbles(wanted, free, faces)) {
      const bubble = nodes.get(place.id)?.bubble;
      if (!bubble) continue;
      placed.add(place.id);
      const far = Number.isNaN(bubble.x) || Math.abs(bubble.x - place.x) + Math.abs(bubble.y - place.y) > 160;
      bubble.x = far ? place.x : bubble.x + (place.x - bubble.x) * ease;
      bubble.y = far ? place.y : bubble.y + (place.y - bubble.y) * ease;
      bubble.place = place.place;
      shown(bubble.element, true);
      move(bubble.element, bubble.x, bubble.y);
      bubble.tail.style.left = `${Math.round(place.tail)}px`;
      // Between the tail and the head, or the name under the foot.
      const stem = Math.round(place.gap) - (place.below ? NAME_HIGH + STEM : STEM);
      shown(bubble.stem, stem > 0);
      if (stem > 0) {
        bubble.stem.style.height = `${stem}px`;
        move(
          bubble.stem,
          bubble.x + place.tail - 1,
          place.below ? bubble.y - STEM / 2 - stem : bubble.y + bubble.h + STEM / 2,
        );
      }
      if (place.below !== bubble.element.hasAttribute("data-below"))
        bubble.element.toggleAttribute("data-below", place.below);
    }
    const talking = new Set(speaking.map((one) => one.id));
    for (const [id, mine] of nodes)
      if (mine.bubble && !placed.has(id)) {
        if (talking.has(id)) {
          shown(mine.bubble.element, false);
          shown(mine.bubble.stem, false);
        } else drop(mine);
      }
    return talking;
  }

  function feelings(
    people: readonly Labelled[],
    talking: ReadonlySet<string>,
    taken: readonly Box[],
    now: number,
    scale: number,
  ): void {
    let count = 0;
    for (const one of people) {
      const mine = nodes.get(one.id);
      const box = { x: one.sx - 13, y: one.sy - one.tall - 32, w: 26, h: 30 };
      const wants =
        one.seen && one.emoji !== "" && one.emojiUntil > now && !talking.has(one.id) && count < EMOJI && scale >= 2;
      const feeling =
        wants &&
        !taken.some((other) => meet(box, other) > 90) &&
        !faces.some((face) => meet(box, face) > (face.w * face.h) / 4);
      if (feeling) {
        count++;
        const element = mine?.emoji ?? make("village-emoji");
        if (!mine?.emoji) {
          layer.append(element);
          of(one.id).emoji = element;
        }
        if (element.textContent !== one.emoji) element.textContent = one.emoji;
        move(element, box.x, box.y);
      }
      if (mine?.emoji) shown(mine.emoji, feeling);
    }
  }

  function forget(id: string): void {
    const mine = nodes.get(id);
    mine?.name?.element.remove();
    mine?.emoji?.remove();
    if (mine) drop(mine);
    nodes.delete(id);
  }

  return {
    update(people, now, free, scale) {
      // Who is far off after a leap through time takes names and words along.
      const near = new Set(people.map((one) => one.id));
      for (const id of [...nodes.keys()]) if (!near.has(id)) forget(id);
      faces = people
        .filter((one) => one.seen)
        .map((one) => ({
          x: one.sx - 6 * scale,
          y: one.sy - Math.min(one.tall, 25 * scale),
          w: 12 * scale,
          h: 14 * scale,
        }));
      const talking = bubbles(people, now, free);
      const taken = names(people, talking, scale);
      feelings(people, talking, taken, now, scale);
    },
    hover(text, more, x, y) {
      shown(hovering, text !== "");
      if (!text) return;
      if (hoverText.data !== text) hoverText.data = text;
      if (hoverMore.textContent !== more) hoverMore.textContent = more;
      move(hovering, Math.min(x + 14, parent.clientWidth - hovering.offsetWidth - 6), Math.max(4, y - 26));
    },
    rooms(rooms) {
      for (const [id, element] of roomNodes)
        if (!rooms.some((one) => one.id === id)) {
          element.remove();
          roomNodes.delete(id);
        }
      for (const { id, name, sign, x, y } of rooms) {
        let element = roomNodes.get(id);
        if (!element) {
          element = make(sign ? "village-sign" : "village-room");
          element.textContent = name;
          layer.prepend(element);
          roomNodes.set(id, element);
        }
        move(element, x, y);
      }
    },
    forget,
    destroy() {
      layer.remove();
    },
  };
}
