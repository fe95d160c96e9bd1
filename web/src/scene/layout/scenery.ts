// Green around the houses: trees, bushes, flowers, lamps along the paths, and the border of the world. Nothing stands on a path
// or before a door, so that no way is ever closed.

import type { Town } from "../../api";
import { chanceAt, hash } from "./chance";
import type { Building, GroundKind, OpenGround, Plant } from "./map";
import { type Land, stamp, tilesOf } from "./paths";

interface Surroundings {
  readonly border: number;
  readonly houses: readonly Building[];
  readonly grounds: readonly OpenGround[];
}

const WALKED_OVER = new Set<Plant["sprite"]>(["flower", "grasstuft", "mushroom"]);

const FENCED: Partial<Record<GroundKind, "fence" | "hedge">> = {
  garden: "fence",
  field: "fence",
  graveyard: "fence",
  playground: "fence",
  yard: "hedge",
  shrine: "hedge",
};

/** Adds what it plants to the land's `built`. */
export function scenery(land: Land, town: Town, { border, houses, grounds }: Surroundings): Plant[] {
  const { width, height, ground, built, core, network } = land;
  const salt = hash(`scenery ${town.scenario} ${town.title}`) & 0xffff;
  const plants: Plant[] = [];
  const taken = new Uint8Array(width * height);
  const at = (x: number, y: number): number => y * width + x;
  const indoors = new Uint8Array(width * height);
  for (const { rect } of houses) stamp(land, indoors, rect, 1);
  const free = (x: number, y: number): boolean => {
    const i = at(x, y);
    return (
      x >= 0 &&
      y >= 0 &&
      x < width &&
      y < height &&
      !taken[i] &&
      !core[i] &&
      !network[i] &&
      ground[i] === "grass" &&
      !built[i] &&
      !indoors[i]
    );
  };
  const plant = (sprite: Plant["sprite"], x: number, y: number): void => {
    plants.push({ sprite, x, y, variant: Math.floor(chanceAt(x, y, salt + 7) * 1000) });
    taken[at(x, y)] = 1;
    if (!WALKED_OVER.has(sprite)) built[at(x, y)] = 1;
  };

  // Before houses and places: low things alone, a tree is three tiles high and would hide them.
  const low = new Uint8Array(width * height);
  for (const { rect } of [...houses, ...grounds]) {
    for (const { x, y } of tilesOf({ x: rect.x, y: rect.y + rect.h, w: rect.w, h: 3 }))
      if (y < height) low[at(x, y)] = 1;
  }
  for (const { rect } of houses) {
    for (const { x, y } of tilesOf({ x: rect.x, y: rect.y + rect.h, w: rect.w, h: 1 })) {
      const chance = chanceAt(x, y, salt);
      if (!free(x, y)) continue;
      if (chance < 0.3) plant("bush", x, y);
      else if (chance < 0.62) plant("flower", x, y);
      else if (chance < 0.68) plant("barrel", x, y);
      else taken[at(x, y)] = 1;
    }
  }

  // Fences and hedges around what is tended; every path has its gap.
  for (const { kind, rect } of grounds) {
    const sprite = FENCED[kind];
    if (!sprite) continue;
    for (const { x, y } of tilesOf({ x: rect.x - 1, y: rect.y - 1, w: rect.w + 2, h: rect.h + 2 })) {
      const rim = x < rect.x || y < rect.y || x >= rect.x + rect.w || y >= rect.y + rect.h;
      if (rim && free(x, y)) plant(sprite, x, y);
    }
  }

  // The edge of the world: behind a neon village a city.
  if (town.theme === "neon") {
    const step = (x: number): number => 4 + Math.floor(chanceAt(x, 0, salt + 13) * 3);
    for (let x = 1; x < width - 4; x += step(x)) {
      const four = [0, 1, 2, 3].map((i) => at(x + i, 3));
      if (four.some((i) => ground[i] !== "grass" || network[i] || core[i] || indoors[i])) continue;
      plants.push({ sprite: "highrise", x, y: 3, variant: Math.floor(chanceAt(x, 3, salt + 7) * 1000) });
      for (const tile of four)
        for (const i of [tile, tile - width, tile - 2 * width]) {
          taken[i] = 1;
          built[i] = 1;
        }
    }
  }
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const edge = Math.min(x, y, width - 1 - x, height - 1 - y);
      if (
        edge >= border ||
        core[at(x, y)] ||
        network[at(x, y)] ||
        indoors[at(x, y)] ||
        ground[at(x, y)] !== "grass" ||
        taken[at(x, y)]
      )
        continue;
      const chance = chanceAt(x, y, salt + 1);
      const dense = edge < 2 ? 0.62 : edge < 3 ? 0.4 : 0.14;
      if (chance < dense && !low[at(x, y)] && !near(x, y, 1)) plant(tree(x, y), x, y);
    }
  }

  vignettes();

  // Lamps along the paths, one every few tiles.
  const lit = new Uint8Array(width * height);
  for (let y = 2; y < height - 2; y++) {
    for (let x = 2; x < width - 2; x++) {
      if (lit[at(x, y)] || !free(x, y) || !besidePath(x, y) || indoors[at(x, y - 1)]) continue;
      plant("lamp", x, y);
      for (let j = Math.max(0, y - 8); j <= Math.min(height - 1, y + 8); j++) {
        const far = 8 - Math.abs(j - y);
        lit.fill(1, at(Math.max(0, x - far), j), at(Math.min(width - 1, x + far), j) + 1);
      }
    }
  }

  for (let y = 2; y < height - 2; y++) {
    for (let x = 2; x < width - 2; x++) {
      if (!free(x, y)) continue;
      const wood = noise(x, y) * (town.theme === "neon" ? 0.6 : 1);
      const chance = chanceAt(x, y, salt + 3);
      const away = !besidePath(x, y) && !indoors[at(x, y - 1)];
      if (away && !low[at(x, y)] && chance < 0.05 + 0.16 * wood && !near(x, y, 1)) plant(tree(x, y), x, y);
      else if (away && chance < 0.07 + 0.16 * wood) plant("bush", x, y);
      else if (chance < 0.2) plant("flower", x, y);
      else if (chance < 0.22 && away) plant("rock", x, y);
      else if (chance < 0.3) plant("grasstuft", x, y);
    }
  }

  // Reeds and lilies on water's edge.
  for (let y = 1; y < height - 1; y++) {
    for (let x = 1; x < width - 1; x++) {
      if (ground[at(x, y)] !== "water") continue;
      const shore = [at(x - 1, y), at(x + 1, y), at(x, y - 1), at(x, y + 1)].some(
        (i) => ground[i] === "grass" || ground[i] === "sand",
      );
      const chance = chanceAt(x, y, salt + 5);
      if (shore ? chance < 0.22 : chance < 0.03)
        plants.push({ sprite: shore ? "reed" : "lily", x, y, variant: Math.floor(chance * 1000) });
    }
  }
  return plants;

  /** Wide greens get something to look at: a pond, an orchard, a meadow in flower, a ring of stones. */
  function vignettes(): void {
    // How many tiles from here up and left are not free.
    const shut = new Int32Array((width + 1) * (height + 1));
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const i = (y + 1) * (width + 1) + x + 1;
        shut[i] =
          (shut[i - 1] as number) +
          (shut[i - width - 1] as number) -
          (shut[i - width - 2] as number) +
          (free(x, y) ? 0 : 1);
      }
    }
    const clear = (x: number, y: number, w: number, h: number): boolean => {
      const a = y * (width + 1) + x;
      const b = (y + h) * (width + 1) + x;
      return (shut[b + w] as number) - (shut[a + w] as number) - (shut[b] as number) + (shut[a] as number) === 0;
    };
    const made: { x: number; y: number }[] = [];
    const most = 3 + Math.floor((width * height) / 3000);
    for (let i = 0; made.length < most && i < most * 30; i++) {
      const x = 3 + Math.floor(chanceAt(i, 1, salt + 17) * (width - 18));
      const y = 3 + Math.floor(chanceAt(i, 2, salt + 17) * (height - 15));
      const w = 7 + Math.floor(chanceAt(i, 3, salt + 17) * 3) * 2;
      const h = 6 + Math.floor(chanceAt(i, 4, salt + 17) * 3);
      if (!clear(x, y, w, h) || made.some((one) => Math.abs(one.x - x) < 13 && Math.abs(one.y - y) < 11)) continue;
      vignette((salt + made.length * 2 + (i % 2)) % 5, x, y, w, h);
      made.push({ x, y });
    }
  }

  function vignette(kind: number, x0: number, y0: number, w: number, h: number): void {
    const cx = x0 + (w - 1) / 2;
    const cy = y0 + (h - 1) / 2;
    for (const { x, y } of tilesOf({ x: x0, y: y0, w, h })) {
      const round = ((x - cx) / (w / 2)) ** 2 + ((y - cy) / (h / 2)) ** 2;
      const chance = chanceAt(x, y, salt + 23);
      const i = at(x, y);
      if (kind === 0) {
        if (round < 0.3 + 0.3 * noise(x * 2, y * 2)) {
          ground[i] = "water";
          built[i] = 1;
        } else if (round < 1 && chance < 0.3) plant(chance < 0.12 ? "rock" : chance < 0.2 ? "bush" : "flower", x, y);
        else if (round >= 1 && chance < 0.5) plant(tree(x, y), x, y);
        else taken[i] = 1;
      } else if (kind === 1) {
        const rim = x === x0 || y === y0 || x === x0 + w - 1 || y === y0 + h - 1;
        const gate = y === y0 + h - 1 && Math.abs(x - cx) < 1;
        if (gate) taken[i] = 1;
        else if (rim) plant("fence", x, y);
        else if ((x - x0) % 2 === 0 && (y - y0) % 2 === 1) plant("blossom", x, y);
        else if (chance < 0.2) plant("flower", x, y);
        else taken[i] = 1;
      } else if (kind === 2) {
        if (round < 0.9 && chance < 0.75) plant("flower", x, y);
        else if (chance > 0.9) plant("bush", x, y);
        else taken[i] = 1;
      } else if (kind === 3) {
        if (x === Math.round(cx) && y === Math.round(cy)) plant("well", x, y);
        else if (Math.abs(round - 0.62) < 0.16 && chance < 0.6) plant(chance < 0.4 ? "rock" : "mushroom", x, y);
        else if (y === Math.round(cy) + 1 && Math.abs(x - cx) === 3) plant("bench", x, y);
        else taken[i] = 1;
      } else if (round < 1.1 && chance < 0.42 && !near(x, y, 1)) {
        plant(chance < 0.3 ? "pine" : chance < 0.36 ? "stump" : "birch", x, y);
      } else if (chance > 0.8) {
        plant(chance > 0.9 ? "mushroom" : "grasstuft", x, y);
      }
    }
  }

  function besidePath(x: number, y: number): boolean {
    for (const [dx, dy] of [
      [1, 0],
      [-1, 0],
      [0, 1],
      [0, -1],
    ] as const) {
      const i = at(x + dx, y + dy);
      if (network[i] && !core[i]) return true;
    }
    return false;
  }

  function near(x: number, y: number, far: number): boolean {
    for (let dy = -far; dy <= far; dy++) {
      for (let dx = -far; dx <= far; dx++) {
        if (
          x + dx >= 0 &&
          x + dx < width &&
          y + dy >= 0 &&
          y + dy < height &&
          built[at(x + dx, y + dy)] &&
          taken[at(x + dx, y + dy)]
        )
          return true;
      }
    }
    return false;
  }

  function tree(x: number, y: number): Plant["sprite"] {
    const stand = noise(x + 40, y + 9);
    const chance = chanceAt(x, y, salt + 2);
    if (stand > 0.62) return chance < 0.8 ? "pine" : "birch";
    if (stand < 0.34) return chance < 0.55 ? "blossom" : "oak";
    return chance < 0.68 ? "oak" : chance < 0.86 ? "birch" : "pine";
  }

  /** Smooth from place to place, so that trees stand in woods and glades. */
  function noise(x: number, y: number): number {
    const size = 7;
    const cx = Math.floor(x / size);
    const cy = Math.floor(y / size);
    const fx = x / size - cx;
    const fy = y / size - cy;
    const corner = (i: number, j: number): number => chanceAt(cx + i, cy + j, salt + 11);
    const top = corner(0, 0) * (1 - fx) + corner(1, 0) * fx;
    const low = corner(0, 1) * (1 - fx) + corner(1, 1) * fx;
    return top * (1 - fy) + low * fy;
  }
}
