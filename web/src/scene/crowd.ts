// People drawn: the frame of each step, what they carry, who sleeps, who is chosen.

import type { Actor, Cast } from "./actors";
import { inRain, type Look } from "./art/look";
import { type Picture, picture } from "./art/paint";
import { drawPerson, drawUmbrella, FOOT, FRAMES, HEIGHT } from "./art/people";
import { type Board, DEEP, type Image, type View } from "./board";
import type { Furniture } from "./furniture";
import type { Houses } from "./houses";
import { hash } from "./layout/chance";
import { TILE } from "./layout/map";
import { sheltered } from "./shelter";

const STEPS = ["left", "stand", "right", "stand"] as const;
const NAMES = [...FRAMES.map(([view, pose]) => `${view} ${pose}`), "lie"];
/** At most so many breathe a `z` at once. */
const SLEEPERS = 12;

type Frames = ReadonlyMap<string, { readonly page: string; readonly key: string }>;

interface Drawn {
  readonly image: Image;
  readonly frames: Frames;
  /** In a raincoat; drawn when it first rains on them. */
  wet: Frames | null;
  icon: Image | null;
  umbrella: Image | null;
  carried: string;
  frame: string;
}

export interface Crowd {
  /** Draws everybody. `now` in milliseconds; who is `chosen` has a ring at the feet. */
  update(view: View, zoom: number, now: number, raining: boolean, chosen: string | null): void;
  /** Who is drawn nearest to a point of the world, within reach of a pointer. */
  hit(x: number, y: number): Actor | null;
}

export function buildCrowd(
  { scene, map, atlas, calm, add }: Board,
  houses: Houses,
  furniture: Furniture,
  cast: Cast,
): Crowd {
  const drawn = new Map<string, Drawn>();
  const sleepers: Image[] = [];
  const ring = add("ring", ringPicture, 0, 0)
    .setDepth(DEEP.flat + 20)
    .setVisible(false);

  const framesOf = (name: string, look: Look): Frames =>
    new Map(
      drawPerson(look).map((each, i) => [NAMES[i] as string, atlas.frame(`${name} ${NAMES[i]}`, () => each)] as const),
    );

  function draw(actor: Actor): Drawn {
    const frames = framesOf(actor.id, actor.look);
    const { page, key } = frames.get("down stand") as { page: string; key: string };
    return {
      image: scene.add.image(0, 0, page, key),
      frames,
      wet: null,
      icon: null,
      umbrella: null,
      carried: "",
      frame: "",
    };
  }

  function show(actor: Actor, view: View, zoom: number, raining: boolean): void {
    actor.near =
      actor.x > view.x - 16 && actor.x < view.right + 16 && actor.y > view.y - 8 && actor.y < view.bottom + 36;
    const house = houses.at(actor.x, actor.y - 4);
    actor.seen = actor.near && (!house || house.roof < 0.5);
    let mine = drawn.get(actor.id);
    if (!actor.near || (house && house.roof >= 0.97)) {
      mine?.image.setVisible(false);
      mine?.icon?.setVisible(false);
      mine?.umbrella?.setVisible(false);
      return;
    }
    if (!mine) drawn.set(actor.id, (mine = draw(actor)));
    const side = actor.facing === "left" || actor.facing === "right";
    const pose = actor.walking ? STEPS[Math.floor(actor.stride / 140) % 4] : actor.pose === "sit" ? "sit" : "stand";
    const frame = actor.pose === "lie" && !actor.walking ? "lie" : `${side ? "side" : actor.facing} ${pose}`;
    // Who has both hands free holds an umbrella, the others and children wear a raincoat; under a tree an umbrella is closed.
    const wet = raining && !house && frame !== "lie";
    const umbrella = wet && !actor.look.child && !actor.carries && hash(actor.id) % 3 > 0;
    const coat = wet && !umbrella;
    const open = umbrella && (actor.walking || !sheltered(map, { x: (actor.x - 8) / TILE, y: (actor.y - 13) / TILE }));
    if (coat) mine.wet ??= framesOf(`${actor.id} wet`, inRain(actor.look));
    const worn = `${frame}${coat ? " wet" : ""}`;
    if (worn !== mine.frame) {
      mine.frame = worn;
      const at = ((coat && mine.wet) || mine.frames).get(frame) as { page: string; key: string };
      mine.image.setTexture(at.page, at.key).setOrigin(0.5, frame === "lie" ? 1 : FOOT / HEIGHT);
    }
    const x = Math.round(actor.x * zoom) / zoom;
    const y = Math.round(actor.y * zoom) / zoom;
    mine.image
      .setFlipX(actor.facing === "right" && frame !== "lie")
      .setPosition(x, y)
      .setDepth(frame === "lie" ? actor.y + 2 : actor.y)
      .setVisible(true);
    actor.covered = open;
    if (open) {
      const n = hash(`${actor.id} umbrella`) % 6;
      mine.umbrella ??= add(`umbrella ${n}`, () => drawUmbrella(n), 0, 0).setOrigin(0.5, 1);
      const left = actor.facing === "left" || (actor.facing === "up" && hash(actor.id) % 2 > 0);
      mine.umbrella
        .setPosition(
          x + (left ? -5 : 5),
          y - (actor.pose === "sit" && !actor.walking ? 5 : 8) + (pose === "left" || pose === "right" ? -1 : 0),
        )
        .setDepth(actor.y + 0.2);
    }
    mine.umbrella?.setVisible(open);
    if (actor.carries !== mine.carried) {
      mine.carried = actor.carries;
      mine.icon?.destroy();
      mine.icon = furniture.inHand(actor.carries);
    }
    if (mine.icon) {
      const at = actor.facing === "left" ? -5 : actor.facing === "up" ? 6 : 7;
      mine.icon
        .setPosition(x + at, y - 3 + (pose === "left" ? -1 : 0))
        .setDepth(actor.facing === "up" ? actor.y - 0.1 : actor.y + 0.1)
        .setVisible(frame !== "lie");
    }
  }

  return {
    update(view, zoom, now, raining, chosen) {
      let asleep = 0;
      for (const actor of cast.actors.values()) {
        show(actor, view, zoom, raining);
        if (!actor.seen || !actor.asleep || actor.walking || asleep >= SLEEPERS) continue;
        const z = (sleepers[asleep] ??= add("z", zed, 0, 0).setDepth(DEEP.above));
        const t = calm ? 0.4 : (now / 2400 + asleep * 0.37) % 1;
        z.setPosition(actor.x + 7 + t * 5, actor.y - 24 - t * 9)
          .setAlpha(t < 0.8 ? 0.95 : (1 - t) * 4.7)
          .setVisible(true);
        asleep++;
      }
      for (; asleep < sleepers.length; asleep++) sleepers[asleep]?.setVisible(false);
      for (const [id, { image, icon, umbrella }] of drawn)
        if (!cast.actors.has(id)) {
          image.destroy();
          icon?.destroy();
          umbrella?.destroy();
          drawn.delete(id);
        }
      const one = chosen ? cast.actors.get(chosen) : undefined;
      ring.setVisible(!!one?.seen && one.pose !== "lie");
      if (one) ring.setPosition(one.x, one.y).setScale(calm ? 1 : 1 + 0.06 * Math.sin(now / 180));
    },
    hit(x, y) {
      let best: Actor | null = null;
      let least = 13;
      for (const actor of cast.actors.values()) {
        if (!actor.seen) continue;
        const far = Math.hypot(actor.x - x, actor.y - (actor.pose === "lie" ? 22 : 11) - y);
        if (far < least) {
          least = far;
          best = actor;
        }
      }
      return best;
    },
  };
}

function ringPicture(): Picture {
  const p = picture(24, 12);
  for (let j = 0; j < 12; j++)
    for (let i = 0; i < 24; i++) {
      const q = ((i + 0.5 - 12) / 12) ** 2 + ((j + 0.5 - 6) / 6) ** 2;
      if (q < 1 && q > 0.6) p.px[j * 24 + i] = 0xff7ae2ff;
    }
  return p;
}

function zed(): Picture {
  const p = picture(7, 7);
  const white = 0xfffff3e8;
  for (let i = 1; i < 6; i++) {
    p.px[7 + i] = white;
    p.px[5 * 7 + i] = white;
    p.px[i * 7 + 6 - i] = white;
  }
  for (let i = 0; i < 49; i++)
    if (
      !p.px[i] &&
      ((p.px[i - 1] ?? 0) === white ||
        (p.px[i + 1] ?? 0) === white ||
        (p.px[i - 7] ?? 0) === white ||
        (p.px[i + 7] ?? 0) === white)
    )
      p.px[i] = 0xff33222b;
  return p;
}
