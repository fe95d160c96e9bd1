// Words over the scene as text nodes: names, emoji, speech, what is under the pointer. Crisp at any zoom, in any script.

import { placeBubbles, type Box, type Wanted } from "./bubbles";
import "./labels.css";

const NAMES = 60;
const EMOJI = 14;
const BUBBLES = 6;

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

interface Nodes {
  name: HTMLElement | null;
  emoji: HTMLElement | null;
  bubble: { element: HTMLElement; tail: HTMLElement; text: string; w: number; h: number; x: number; y: number } | null;
}

export interface Labels {
  update(people: readonly Labelled[], now: number, free: Box, scale: number): void;
  hover(text: string, more: string, x: number, y: number): void;
  rooms(rooms: readonly { readonly id: string; readonly name: string; readonly x: number; readonly y: number }[]): void;
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
  const wanted: Wanted[] = [];
  const faces: Box[] = [];
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

  function bubbleOf(one: Labelled, mine: Nodes): NonNullable<Nodes["bubble"]> {
    if (mine.bubble && mine.bubble.text === one.words) return mine.bubble;
    mine.bubble?.element.remove();
    const element = make("village-bubble");
    const name = document.createElement("b");
    name.textContent = one.called;
    const tail = document.createElement("i");
    element.append(name, document.createTextNode(one.words.length > 180 ? `${one.words.slice(0, 178)}…` : one.words), tail);
    layer.append(element);
    mine.bubble = { element, tail, text: one.words, w: element.offsetWidth, h: element.offsetHeight, x: NaN, y: NaN };
    return mine.bubble;
  }

  function forget(id: string): void {
    const mine = nodes.get(id);
    mine?.name?.remove();
    mine?.emoji?.remove();
    mine?.bubble?.element.remove();
    nodes.delete(id);
  }

  return {
    update(people, now, free, scale) {
      // Who is far off after a leap through time takes names and words along.
      const near = new Set(people.map((one) => one.id));
      for (const id of nodes.keys()) if (!near.has(id)) forget(id);
      let visible = 0;
      for (const one of people) if (one.seen) visible++;
      const crowd = visible > NAMES;
      let emoji = 0;
      wanted.length = 0;
      faces.length = 0;
      let speaking = 0;
      // The newest words first: who spoke last is read now.
      for (const one of people.filter((each) => each.near && each.words && each.wordsUntil > now).sort((a, b) => b.wordsUntil - a.wordsUntil)) {
        if (speaking++ >= BUBBLES) break;
        const bubble = bubbleOf(one, of(one.id));
        wanted.push({ id: one.id, x: one.sx, y: one.sy - one.tall - 2, w: bubble.w, h: bubble.h });
      }
      const talking = new Set(wanted.map((one) => one.id));
      for (const one of people) {
        const mine = nodes.get(one.id);
        const named = one.seen && (!crowd || one.chosen || one.hovered || talking.has(one.id)) && scale >= (crowd || one.chosen ? 1 : 2);
        if (named) {
          const { name = null } = mine ?? {};
          const element = name ?? make("village-name");
          if (!name) {
            element.textContent = one.called;
            layer.append(element);
            of(one.id).name = element;
            element.dataset.w = String(element.offsetWidth);
          }
          if (one.chosen !== element.hasAttribute("data-chosen")) element.toggleAttribute("data-chosen", one.chosen);
          move(element, one.sx - Number(element.dataset.w) / 2, one.sy + 3);
        }
        if (mine?.name) shown(mine.name, named);
        const feeling = one.seen && one.emoji !== "" && one.emojiUntil > now && !talking.has(one.id) && emoji < EMOJI && scale >= 2;
        if (feeling) {
          emoji++;
          const element = mine?.emoji ?? make("village-emoji");
          if (!mine?.emoji) {
            layer.append(element);
            of(one.id).emoji = element;
          }
          if (element.textContent !== one.emoji) element.textContent = one.emoji;
          move(element, one.sx - 13, one.sy - one.tall - 32);
        }
        if (mine?.emoji) shown(mine.emoji, feeling);
        if (mine?.bubble && !talking.has(one.id)) {
          mine.bubble.element.remove();
          mine.bubble = null;
        }
        if (one.seen) faces.push({ x: one.sx - 6 * scale, y: one.sy - one.tall, w: 12 * scale, h: one.tall * 0.55 });
      }
      if (wanted.length) {
        const ease = 1 - Math.exp((settledAt - now) / 110);
        settledAt = now;
        // Placed in a constant order, so that bubbles do not change places while they stand.
        wanted.sort((a, b) => (a.id < b.id ? -1 : 1));
        for (const place of placeBubbles(wanted, free, faces)) {
          const bubble = nodes.get(place.id)?.bubble;
          if (!bubble) continue;
          const far = Number.isNaN(bubble.x) || Math.abs(bubble.x - place.x) + Math.abs(bubble.y - place.y) > 160;
          bubble.x = far ? place.x : bubble.x + (place.x - bubble.x) * ease;
          bubble.y = far ? place.y : bubble.y + (place.y - bubble.y) * ease;
          move(bubble.element, bubble.x, bubble.y);
          bubble.tail.style.left = `${Math.round(place.tail)}px`;
          if (place.below !== bubble.element.hasAttribute("data-below")) bubble.element.toggleAttribute("data-below", place.below);
        }
      }
    },
    hover(text, more, x, y) {
      shown(hovering, text !== "");
      if (!text) return;
      if (hoverText.data !== text) hoverText.data = text;
      if (hoverMore.textContent !== more) hoverMore.textContent = more;
      move(hovering, Math.min(x + 14, parent.clientWidth - hovering.offsetWidth - 6), Math.max(4, y - 26));
    },
    rooms(rooms) {
      for (const [id, element] of roomNodes) if (!rooms.some((one) => one.id === id)) {
        element.remove();
        roomNodes.delete(id);
      }
      for (const { id, name, x, y } of rooms) {
        let element = roomNodes.get(id);
        if (!element) {
          element = make("village-room");
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
