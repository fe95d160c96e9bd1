// The village drawn with Phaser: its parts put together, and the order in which they take each frame. The page knows it as `Village` alone.

import * as Phaser from "phaser";
import type { Frame } from "../run/frame";
import { type Actor, buildCast, liveliest } from "./actors";
import { lookOf } from "./art/look";
import { drawPortrait } from "./art/people";
import { hourOf, type Light, lightAt, WINDS } from "./art/sky";
import { HAMLET, NEON, type Theme } from "./art/theme";
import { buildAtlas, urlOf } from "./atlas";
import type { Board } from "./board";
import { buildCamera } from "./camera";
import { buildCrowd } from "./crowd";
import { buildFurniture } from "./furniture";
import { buildHouses, type House } from "./houses";
import { buildLabels } from "./labels";
import { layout } from "./layout/layout";
import { TILE, type VillageMap } from "./layout/map";
import { buildDark } from "./light";
import { buildScenery } from "./scenery";
import { rains } from "./shelter";
import { buildThreads } from "./threads";
import type { BuildVillage, Picked, Village, VillageOptions } from "./village";
import { buildWeather } from "./weather";

export const buildVillage: BuildVillage = async (parent, options) => {
  await Promise.race([
    document.fonts.load("12px Galmuri11", "Aa가").catch(() => []),
    new Promise((done) => setTimeout(done, 1500)),
  ]);
  const map = layout(options.town);
  return new Promise<Village>((resolve, reject) => {
    const game = new Phaser.Game({
      type: Phaser.WEBGL,
      parent,
      backgroundColor: options.theme === "neon" ? "#4f8986" : "#62a84e",
      pixelArt: true,
      banner: false,
      disableContextMenu: false,
      audio: { noAudio: true },
      input: { keyboard: false, mouse: false, touch: false, gamepad: false },
      scale: { mode: Phaser.Scale.RESIZE, width: "100%", height: "100%" },
      scene: {
        create(this: Phaser.Scene) {
          try {
            const village = stand(this, game, parent, map, options);
            this.game.events.once(Phaser.Core.Events.POST_RENDER, () => resolve(village));
          } catch (error) {
            game.destroy(true);
            reject(error as Error);
          }
        },
      },
    });
  });
};

/** What a point of the world shows, with words for it. */
interface Hit {
  readonly picked: Picked;
  readonly text: string;
  readonly more: string;
}

function stand(
  scene: Phaser.Scene,
  game: Phaser.Game,
  parent: HTMLElement,
  map: VillageMap,
  options: VillageOptions,
): Village {
  const theme: Theme = options.theme === "neon" ? NEON : HAMLET;
  const atlas = buildAtlas(scene.textures);
  const calm = options.reducedMotion;
  const board: Board = {
    scene,
    map,
    theme,
    calm,
    atlas,
    lamps: [],
    add(key, draw, x, y) {
      const { page, key: frame } = atlas.frame(key, draw);
      return scene.add.image(x, y, page, frame);
    },
  };
  const world = { width: map.width * TILE, height: map.height * TILE };
  const camera = buildCamera(scene.cameras.main, parent, {
    ...world,
    calm,
    moved: options.onPan,
    picked: (x, y) => options.onPick(hit(x, y)?.picked ?? null),
  });
  const labels = buildLabels(parent);
  const cast = buildCast(options.town, map);
  const scenery = buildScenery(board);
  const weather = buildWeather(board);
  const houses = buildHouses(board, scenery, weather.smokeAt);
  const furniture = buildFurniture(board, houses);
  const crowd = buildCrowd(board, houses, furniture, cast);
  const threads = buildThreads(board, cast);
  const dark = buildDark(board);
  const thingNames = new Map(options.town.things.map((thing) => [thing.id, thing.name]));
  const areaNames = new Map(options.town.areas.map((area) => [area.id, area.name]));
  const lookFor = (actor: Actor): House | null => houses.at(actor.x, actor.y - 4);

  let frame: Frame | null = null;
  let light: Light = lightAt(12, "clear", theme.neon);
  let selected: string | null = null;
  let followed: string | null = null;
  let framed = false;
  /** The house that the first view is of: open until the mouse comes, so that those in it are seen. */
  let first: House | null = null;
  let clock = 0;

  function hit(x: number, y: number): Hit | null {
    const actor = crowd.hit(x, y);
    if (actor) return { picked: { kind: "agent", id: actor.id }, text: actor.character.name, more: actor.doing };
    const thing = furniture.hit(x, y);
    if (thing)
      return { picked: { kind: "object", id: thing.id }, text: thingNames.get(thing.id) ?? "", more: thing.state };
    const house = houses.at(x, y);
    if (house) {
      const { b, roof } = house;
      const room =
        roof < 0.5
          ? b.rooms.find(
              ({ rect }) =>
                x >= (rect.x - 0.4) * TILE &&
                y >= (rect.y - 1.6) * TILE &&
                x < (rect.x + rect.w + 0.4) * TILE &&
                y < (rect.y + rect.h + 0.4) * TILE,
            )
          : undefined;
      return { picked: { kind: "area", id: room?.area ?? b.id }, text: room?.name ?? b.name, more: "" };
    }
    const ground = map.grounds.find(
      ({ rect }) =>
        x >= rect.x * TILE && y >= rect.y * TILE && x < (rect.x + rect.w) * TILE && y < (rect.y + rect.h) * TILE,
    );
    return ground
      ? { picked: { kind: "area", id: ground.area }, text: areaNames.get(ground.area) ?? ground.name, more: "" }
      : null;
  }

  function update(_time: number, elapsed: number): void {
    // Nothing is drawn before it is known who is where: the camera then goes to them.
    if (!frame) return;
    const ms = Math.min(100, elapsed);
    clock += ms;
    cast.step(ms);
    const target = followed ? cast.actors.get(followed) : undefined;
    if (target) camera.follow(target.x, target.y - 12);
    camera.step(ms);
    const main = scene.cameras.main;
    main.preRender();
    const view = main.worldView;
    const zoom = camera.zoom();
    const { sky } = frame;
    const wind = WINDS[frame.wind] ?? 1;
    scenery.update(view, clock, light.lamp, wind);

    const pointer = camera.pointer();
    const open = new Set<House>();
    const under = pointer ? houses.at(pointer.x, pointer.y) : null;
    if (under) open.add(under);
    if (pointer) first = null;
    else if (first) open.add(first);
    for (const id of [selected, followed]) {
      const actor = id ? cast.actors.get(id) : undefined;
      const house = actor ? lookFor(actor) : null;
      if (house) open.add(house);
    }
    if (houses.update(view, ms, light.lamp, open)) dark.stale();
    furniture.update(view, light.lamp);
    crowd.update(view, zoom, clock, rains(sky), selected);

    const hovered = pointer ? hit(pointer.x, pointer.y) : null;
    const people: Actor[] = [];
    for (const actor of cast.actors.values()) {
      if (!actor.near) continue;
      // Words of somebody under a roof come from the upper part of the house.
      const house = actor.seen ? null : lookFor(actor);
      actor.sx = (actor.x - view.x) * zoom;
      actor.sy = ((house ? Math.max(house.y + 40, actor.y) : actor.y) - view.y) * zoom;
      actor.tall = (actor.look.child ? 20 : actor.covered ? 31 : 25) * zoom;
      actor.chosen = actor.id === selected || actor.id === followed;
      actor.hovered = hovered?.picked.id === actor.id;
      people.push(actor);
    }

    const lens = threads.lens();
    dark.update(view, clock, light, lens !== null, () => ({
      rooms: houses.all
        .filter((house) => house.near && house.roof <= 0.98)
        .map(({ x, y, w, h, roof }) => ({ x, y, w, h, open: 1 - roof })),
      faces: lens ? people.filter((actor) => lens.lit.has(actor.id)) : [],
    }));
    weather.update(
      view,
      clock,
      ms,
      sky,
      wind,
      light,
      houses.all.filter((house) => house.near && house.roof < 0.5),
    );
    threads.update(frame, clock);

    const rooms =
      zoom < 2 ? [] : houses.all.filter((house) => house.near && house.roof < 0.4).flatMap((house) => house.b.rooms);
    const signs = frame.circumstances.flatMap(({ key, of, emoji }, index) => {
      const house = houses.byArea.get(of);
      const rect = map.spots.get(of)?.rect;
      const [x, y] = house
        ? [house.x + house.w / 2, house.y + house.h / 3]
        : rect
          ? [(rect.x + rect.w / 2) * TILE, (rect.y + rect.h / 2) * TILE]
          : [0, 0];
      return (house || rect) && emoji
        ? [
            {
              id: key,
              name: emoji,
              sign: true,
              x: (x - view.x) * zoom - 16 + 8 * (index % 3),
              y: (y - view.y) * zoom - 20,
            },
          ]
        : [];
    });
    labels.rooms([
      ...signs,
      ...rooms.map(({ area, name, rect }) => ({
        id: area,
        name,
        sign: false,
        x: ((rect.x - 0.3) * TILE - view.x) * zoom,
        y: ((rect.y - 2) * TILE - 12 - view.y) * zoom,
      })),
    ]);
    labels.update(people, clock, camera.free(), zoom);
    if (pointer && hovered) labels.hover(hovered.text, hovered.more, pointer.sx, pointer.sy);
    else labels.hover("", "", 0, 0);
    camera.cursor(hovered ? "pointer" : "");
    atlas.flush();
  }

  camera.goTo(world.width / 2, world.height / 2, true);
  scene.events.on(Phaser.Scenes.Events.UPDATE, update);

  return {
    show(next, { jump, rate }) {
      const last = frame;
      frame = next;
      for (const id of cast.show(next, jump, rate, clock)) labels.forget(id);
      const before = light;
      light = lightAt(hourOf(next.time), next.sky, theme.neon);
      if (before.ambient !== light.ambient || before.lamp !== light.lamp) dark.stale();
      furniture.show(next);
      if (last && !jump) threads.passed(last.tick, next.tick, clock);
      if (!framed && cast.actors.size) {
        framed = true;
        const [x, y] = liveliest(map, cast.actors, (one) => lookFor(one) !== null);
        camera.goTo(x, y, true);
        first = houses.at(x, y);
      }
    },
    select(agent) {
      selected = agent;
    },
    follow(agent) {
      if (!agent && followed) camera.letGo(); // not a visit that has just begun
      followed = agent;
    },
    visit({ kind, id }) {
      followed = null;
      const actor = kind === "agent" ? cast.actors.get(id) : undefined;
      const thing = kind === "object" ? furniture.at(id) : undefined;
      const house = kind === "area" ? houses.byArea.get(id) : undefined;
      const spot = map.spots.get(id);
      if (actor) camera.goTo(actor.x, actor.y - 12, calm);
      else if (thing) camera.goTo(thing.x, thing.y, calm);
      else if (house) camera.goTo(house.x + house.w / 2, house.y + house.h / 2, calm);
      else if (spot) camera.goTo((spot.rect.x + spot.rect.w / 2) * TILE, (spot.rect.y + spot.rect.h / 2) * TILE, calm);
    },
    lens(next) {
      threads.put(next, frame, clock);
      dark.stale();
    },
    inset: camera.inset,
    zoom: camera.zoomBy,
    portrait(agent) {
      const character = options.town.characters.find((one) => one.id === agent);
      const look = cast.actors.get(agent)?.look ?? (character && lookOf(character));
      return look ? urlOf(drawPortrait(look, theme.neon ? 0x6f88a8 : 0xa9cfd8), 4) : "";
    },
    destroy() {
      scene.events.off(Phaser.Scenes.Events.UPDATE, update);
      camera.destroy();
      labels.destroy();
      game.destroy(true);
    },
  };
}
