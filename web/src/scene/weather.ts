// What moves in the air and on the water: rain, snow, storm, clouds' shadows, smoke, glints, fireflies.

import * as Phaser from "phaser";
import { chance, noise, type Picture, picture } from "./art/paint";
import type { Light } from "./art/sky";
import { imageOf } from "./atlas";
import { type Board, DEEP, type Image, type View } from "./board";
import { type Rect, TILE } from "./layout/map";
import { rains } from "./shelter";

export interface Weather {
  smokeAt(x: number, y: number): void;
  /** `open` are the houses one looks into, in pixels: it rains, snows and drifts round them. */
  update(view: View, now: number, ms: number, sky: string, wind: number, light: Light, open: readonly Rect[]): void;
}

const rgba = (r: number, g: number, b: number, a: number): number => ((a << 24) | (b << 16) | (g << 8) | r) >>> 0;

export function buildWeather({ scene, add, map, theme, calm }: Board): Weather {
  const tile = (key: string, p: Picture, depth: number): Phaser.GameObjects.TileSprite => {
    const canvas = document.createElement("canvas");
    canvas.width = p.w;
    canvas.height = p.h;
    canvas.getContext("2d")?.putImageData(imageOf(p), 0, 0);
    scene.textures.addCanvas(key, canvas);
    return scene.add.tileSprite(0, 0, 16, 16, key).setOrigin(0).setDepth(depth).setVisible(false);
  };

  const rain = [0, 1].map((layer) => {
    const p = picture(128, 128);
    for (let i = 0; i < (layer ? 46 : 26); i++) {
      const x = Math.floor(chance(i, layer) * 128);
      const y = Math.floor(chance(i + 50, layer) * 128);
      const long = layer ? 5 : 9;
      for (let j = 0; j < long; j++)
        p.px[((y + j) % 128) * 128 + ((x - (j >> 1) + 128) % 128)] = layer
          ? rgba(176, 204, 232, 105)
          : rgba(214, 232, 250, 150);
    }
    return tile(`rain ${layer}`, p, DEEP.air + layer);
  });
  const snow = [0, 1].map((layer) => {
    const p = picture(128, 128);
    for (let i = 0; i < (layer ? 60 : 30); i++) {
      const x = Math.floor(chance(i, layer + 9) * 127);
      const y = Math.floor(chance(i + 70, layer) * 127);
      const size = layer ? 1 : 2;
      for (let a = 0; a < size; a++)
        for (let b = 0; b < size; b++) p.px[(y + a) * 128 + x + b] = rgba(248, 250, 255, layer ? 170 : 235);
    }
    return tile(`snow ${layer}`, p, DEEP.air + layer);
  });
  const cloudPicture = picture(128, 128);
  for (let j = 0; j < 128; j++)
    for (let i = 0; i < 128; i++) {
      // Noise on a ring in both directions repeats without a seam.
      const u = (i / 128) * 4;
      const v = (j / 128) * 4;
      const wrap = (f: number): number => {
        const s = 4 * f;
        const a = (i / 128) ** 2 * (3 - (2 * i) / 128);
        const b = (j / 128) ** 2 * (3 - (2 * j) / 128);
        const n = (x: number, y: number): number => noise(x * f + 40 * f, y * f + 7 * f);
        return (
          (n(u, v) * (1 - a) + n(u - s / f, v) * a) * (1 - b) +
          (n(u, v - s / f) * (1 - a) + n(u - s / f, v - s / f) * a) * b
        );
      };
      const n = wrap(1) * 0.68 + wrap(2) * 0.32;
      cloudPicture.px[j * 128 + i] = n > 0.56 ? rgba(30, 30, 66, 60) : n > 0.525 ? rgba(30, 30, 66, 30) : 0;
    }
  const clouds = tile("clouds", cloudPicture, DEEP.above + 10).setTileScale(5);
  const fog = tile(
    "fog",
    (() => {
      const p = picture(128, 128);
      for (let i = 0; i < p.px.length; i++)
        p.px[i] = cloudPicture.px[i] ? rgba(236, 240, 246, (cloudPicture.px[i] as number) >>> 24) : 0;
      return p;
    })(),
    DEEP.air + 6,
  ).setTileScale(3);

  const mist = scene.add
    .rectangle(0, 0, 8, 8, theme.neon ? 0xd9cfee : 0xe6ebf0, 1)
    .setOrigin(0)
    .setDepth(DEEP.air + 5)
    .setVisible(false);
  // What falls and drifts is not seen indoors: a stencil of the open houses, in use only while there are any.
  const indoors = scene.make.graphics({}, false);
  const outside = indoors.createGeometryMask().setInvertAlpha(true);
  const falling = [...rain, ...snow, fog, mist, clouds];
  let masked = "";

  function keepOut(open: readonly Rect[]): void {
    const now = open.map(({ x, y }) => `${x} ${y}`).join();
    if (now === masked) return;
    if (!now) for (const sprite of falling) sprite.clearMask();
    else if (!masked) for (const sprite of falling) sprite.setMask(outside);
    masked = now;
    indoors.clear().fillStyle(0xffffff);
    for (const { x, y, w, h } of open) indoors.fillRect(x, y, w, h);
  }

  const pool = (count: number, make: () => Image): Image[] =>
    Array.from({ length: count }, () => make().setVisible(false));
  const splashes = pool(46, () =>
    add(
      "splash",
      () => {
        const p = picture(7, 4);
        const c = rgba(223, 242, 255, 255);
        for (const [x, y] of [
          [1, 3],
          [2, 3],
          [3, 3],
          [4, 3],
          [5, 3],
          [0, 1],
          [6, 1],
          [3, 0],
        ] as const)
          p.px[y * 7 + x] = c;
        return p;
      },
      0,
      0,
    ).setDepth(DEEP.flat + 30),
  );
  const glints = pool(calm ? 0 : 26, () =>
    add(
      "glint",
      () => {
        const p = picture(6, 1);
        p.px.fill(rgba(232, 251, 255, 255));
        return p;
      },
      0,
      0,
    ).setDepth(DEEP.flat - 200),
  );
  const flies = pool(calm ? 0 : 18, () =>
    add(
      "fly",
      () => {
        const p = picture(5, 5);
        for (let j = 0; j < 5; j++)
          for (let i = 0; i < 5; i++)
            p.px[j * 5 + i] = rgba(
              222,
              255,
              130,
              i === 2 && j === 2
                ? 255
                : Math.abs(i - 2) + Math.abs(j - 2) < 2
                  ? 150
                  : Math.abs(i - 2) + Math.abs(j - 2) < 3
                    ? 45
                    : 0,
            );
        return p;
      },
      0,
      0,
    )
      .setDepth(DEEP.lit + 10)
      .setBlendMode(Phaser.BlendModes.ADD),
  );
  const chimneys: { x: number; y: number; puffs: Image[] }[] = [];
  const water: number[] = [];
  for (let i = 0; i < map.ground.length; i++) if (map.ground[i] === "water") water.push(i);
  const born = glints.map(() => -1);
  let lightning = 0;
  const flash = scene.add
    .rectangle(0, 0, 8, 8, 0xe8eeff, 1)
    .setOrigin(0)
    .setDepth(DEEP.air + 9)
    .setVisible(false);

  const over = (sprite: Phaser.GameObjects.TileSprite, view: View, dx: number, dy: number, scale: number): void => {
    const x = Math.floor(view.x) - 1;
    const y = Math.floor(view.y) - 1;
    if (sprite.width !== Math.ceil(view.width) + 3 || sprite.height !== Math.ceil(view.height) + 3)
      sprite.setSize(Math.ceil(view.width) + 3, Math.ceil(view.height) + 3);
    sprite.setPosition(x, y);
    sprite.tilePositionX = Math.round((x + dx) / scale);
    sprite.tilePositionY = Math.round((y + dy) / scale);
  };

  return {
    smokeAt(x, y) {
      chimneys.push({
        x,
        y,
        puffs: Array.from({ length: 3 }, () =>
          add(
            "puff",
            () => {
              const p = picture(7, 7);
              for (let j = 0; j < 7; j++)
                for (let i = 0; i < 7; i++)
                  if ((i - 3) ** 2 + (j - 3) ** 2 < 10) p.px[j * 7 + i] = rgba(246, 243, 240, 255);
              return p;
            },
            x,
            y,
          )
            .setDepth(DEEP.above)
            .setVisible(false),
        ),
      });
    },
    update(view, now, ms, sky, wind, light, open) {
      keepOut(open);
      mist.setVisible(light.mist > 0.01);
      if (mist.visible)
        mist
          .setPosition(view.x - 2, view.y - 2)
          .setSize(view.width + 4, view.height + 4)
          .setAlpha(light.mist);
      const time = calm ? 0 : now;
      const raining = rains(sky);
      const heavy = sky === "storm" ? 1.5 : 1;
      rain.forEach((sprite, i) => {
        sprite.setVisible(raining);
        if (raining)
          over(
            sprite,
            view,
            time * (i ? 0.13 : 0.2) * (0.5 + wind * 0.5) * heavy,
            -time * (i ? 0.36 : 0.52) * heavy,
            1,
          );
      });
      const snowing = sky === "snow";
      snow.forEach((sprite, i) => {
        sprite.setVisible(snowing);
        if (snowing)
          over(sprite, view, time * 0.012 * wind + Math.sin(time / 1300 + i) * 7, -time * (i ? 0.022 : 0.034), 1);
      });
      clouds.setVisible(light.clouds > 0.05);
      if (light.clouds > 0.05) {
        over(clouds, view, time * 0.008 * (0.4 + wind), time * 0.003, 5);
        clouds.setAlpha(light.clouds);
      }
      fog.setVisible(sky === "fog");
      if (sky === "fog") over(fog, view, time * 0.006, time * 0.001, 3);

      for (let i = 0; i < splashes.length; i++) {
        const drop = splashes[i] as Image;
        drop.setVisible(raining && !calm);
        if (!raining || calm) continue;
        const turn = Math.floor(now / 420 + i * 0.37);
        const t = (now / 420 + i * 0.37) % 1;
        drop
          .setPosition(
            Math.round(view.x + chance(i, turn) * view.width),
            Math.round(view.y + chance(i + 7, turn) * view.height),
          )
          .setAlpha((1 - t) * 0.75)
          .setScale(t < 0.5 ? 0.6 : 1);
      }
      for (let i = 0; i < glints.length; i++) {
        const glint = glints[i] as Image;
        const turn = Math.floor(now / 1700 + i * 0.29);
        const t = (now / 1700 + i * 0.29) % 1;
        if (born[i] !== turn) {
          born[i] = turn;
          let shown = false;
          for (let k = 0; k < 10 && water.length && !shown; k++) {
            const at = water[Math.floor(chance(i * 31 + k, turn) * water.length)] as number;
            const x = (at % map.width) * TILE + 4 + chance(turn, i) * 8;
            const y = Math.floor(at / map.width) * TILE + 3 + Math.floor(chance(i, turn + 5) * 10);
            if (x > view.x && x < view.right && y > view.y && y < view.bottom) {
              glint.setPosition(Math.round(x), y);
              shown = true;
            }
          }
          glint.setVisible(shown);
        }
        if (glint.visible) glint.setAlpha(Math.sin(t * Math.PI) * 0.7);
      }
      const night = light.lamp > 0.75 && !raining && !snowing;
      for (let i = 0; i < flies.length; i++) {
        const fly = flies[i] as Image;
        fly.setVisible(night && !theme.neon);
        if (!fly.visible) continue;
        const x = (chance(i, 1) * 900 + Math.sin(now / 2300 + i * 2) * 22 + now * 0.002) % (view.width + 40);
        const y = (chance(1, i) * 700 + Math.cos(now / 1900 + i * 3) * 16) % (view.height + 40);
        fly
          .setPosition(Math.round(view.x - 20 + x), Math.round(view.y - 20 + y))
          .setAlpha(0.35 + 0.6 * Math.max(0, Math.sin(now / 700 + i * 1.9)));
      }
      for (const chimney of chimneys) {
        const near =
          chimney.x > view.x - 60 &&
          chimney.x < view.right + 60 &&
          chimney.y > view.y - 20 &&
          chimney.y < view.bottom + 60;
        for (let k = 0; k < chimney.puffs.length; k++) {
          const puff = chimney.puffs[k] as Image;
          puff.setVisible(near && !calm);
          if (!puff.visible) continue;
          const t = (now / 3600 + k / 3 + chance(chimney.x, 3)) % 1;
          puff
            .setPosition(chimney.x + t * 9 * (0.5 + wind) + Math.sin(now / 500 + k) * 1.5, chimney.y - t * 26)
            .setScale(0.5 + t * 0.9)
            .setAlpha((1 - t) * 0.4 * (1 - light.lamp * 0.5));
        }
      }
      lightning = Math.max(0, lightning - ms);
      const turn = Math.floor(now / 1000);
      if (sky === "storm" && !calm && lightning === 0 && chance(turn, 77) < 0.07 && now % 1000 < 40) lightning = 260;
      flash.setVisible(lightning > 0);
      if (lightning > 0)
        flash
          .setPosition(view.x - 2, view.y - 2)
          .setSize(view.width + 4, view.height + 4)
          .setAlpha((lightning / 260) * 0.28);
    },
  };
}
