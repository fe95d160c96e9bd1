// The village as a map of tiles: made once from the world tree, drawn by `art`, walked on by `walk`. Pure data.

/** Pixels of a tile's side in the drawings. */
export const TILE = 16;

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** In tiles. */
export interface Rect extends Point {
  readonly w: number;
  readonly h: number;
}

/** `planks` are quays, jetties and bridges; `soil` is tilled. */
export type Ground = "grass" | "path" | "paving" | "water" | "sand" | "street" | "garden" | "planks" | "soil";

/** Where somebody can be: a room of a building, or a place under the open sky. */
export interface Spot {
  readonly area: string;
  readonly name: string;
  /** What one can stand on, without walls. */
  readonly rect: Rect;
  /** Tiles to stand on, the nicest first; never on something solid. */
  readonly stands: readonly Point[];
  /** Where one enters and leaves: a free tile in or beside `rect`. */
  readonly door: Point;
  /** What sort of place it is, by its name. */
  readonly kind: PlaceKind;
}

// biome-ignore format: a table
export type RoomKind =
  | "home" | "bedroom" | "kitchen" | "cafe" | "shop" | "bakery" | "fish" | "clocks" | "books" | "clinic" | "workshop" | "smithy"
  | "arcade" | "bath" | "shrine" | "library" | "school" | "office" | "hall" | "stage" | "shed" | "studio" | "radio" | "boat"
  | "church" | "lab" | "inn" | "music" | "study" | "barn" | "tower" | "room";

// biome-ignore format: a table
export type GroundKind =
  | "plaza" | "garden" | "canal" | "lake" | "harbour" | "beach" | "market" | "street" | "park" | "forest" | "hill" | "shrine"
  | "field" | "yard" | "graveyard" | "playground" | "gate" | "meadow";

export type PlaceKind = RoomKind | GroundKind;

export interface Room extends Spot {
  readonly kind: RoomKind;
  readonly floor: "wood" | "tile" | "stone" | "carpet" | "metal";
}

/**
 * A house. Inside `rect` everything that is neither a room's `rect` nor one of `doors` is wall. The wall north of a room is
 * two tiles high (its face is seen), the other walls are one tile thick. The front with the door is the southern wall.
 */
export interface Building {
  readonly id: string;
  readonly name: string;
  /** The whole house, walls included. */
  readonly rect: Rect;
  readonly rooms: readonly Room[];
  /** Picks the colours: any whole number from 0. */
  readonly roof: number;
  readonly style: "cottage" | "house" | "hall" | "shop" | "shed" | "tower" | "boat";
  /** The tile of the southern wall that is the front door. */
  readonly door: Point;
  /** Openings in the walls, tile by tile, the front door among them. */
  readonly doors: readonly Point[];
  readonly sign: string;
  /** Always seen from within: a stage has no roof. */
  readonly open: boolean;
}

/** An open place. */
export interface OpenGround extends Spot {
  readonly kind: GroundKind;
}

/**
 * How a thing lies: `floor` things stop a walker; one walks on a `rug` and sits on a `seat`; a `wall` thing hangs in the
 * wall tile `at`; a `top` thing stands on the piece of furniture that covers `at`.
 */
export type Lies = "floor" | "seat" | "rug" | "wall" | "top";

/** An object of the scenario, or furniture that only makes a place look lived in (`object` empty). */
export interface Placed {
  readonly object: string;
  /** What to draw. */
  readonly sprite: Sprite;
  /** Upper left tile of its footprint of `w` × `h` tiles. */
  readonly at: Point;
  readonly w: number;
  readonly h: number;
  readonly lies: Lies;
  readonly area: string;
  /** A whole number that makes two of a kind look different. */
  readonly variant: number;
}

// biome-ignore format: a table
export type Sprite =
  | "bed" | "cradle" | "stove" | "hearth" | "pot" | "counter" | "table" | "roundtable" | "desk" | "chair" | "stool" | "sofa" | "shelf"
  | "bookshelf" | "cupboard" | "drawers" | "chest" | "wardrobe" | "lamp" | "lantern" | "radio" | "gramophone" | "drone" | "console"
  | "screen" | "arcade" | "claw" | "vending" | "fridge" | "piano" | "guitar" | "violin" | "drum" | "tree" | "well" | "pump" | "fountain"
  | "bench" | "stall" | "awning" | "boat" | "bridge" | "statue" | "clock" | "towerclock" | "sign" | "board" | "door" | "window"
  | "shutters" | "plant" | "flowers" | "bucket" | "barrel" | "crate" | "basket" | "sack" | "tool" | "toolbox" | "workbench" | "anvil"
  | "loom" | "book" | "books" | "paper" | "cup" | "kettle" | "samovar" | "coffee" | "bowl" | "tray" | "food" | "cat" | "dog" | "bird"
  | "hen" | "cow" | "tub" | "basin" | "boiler" | "bell" | "antenna" | "umbrella" | "kite" | "tank" | "safe" | "scale" | "cart"
  | "bicycle" | "speaker" | "microphone" | "typewriter" | "easel" | "picture" | "mirror" | "rug" | "curtain" | "hive" | "vegetables"
  | "torii" | "altar" | "stonelantern" | "grave" | "chess" | "stage" | "pavilion" | "swing" | "slide" | "scarecrow" | "hay" | "letterbox"
  | "barometer" | "compass" | "telescope" | "mortar" | "steamer" | "lights" | "phone" | "camera" | "engine" | "machine" | "bottle"
  | "toy" | "ball" | "flag" | "fire" | "tent" | "lectern" | "globe" | "rock" | "washline" | "partition" | "key" | "box" | "thing";

export interface Plant extends Point {
  readonly sprite:
    | "oak"
    | "pine"
    | "birch"
    | "blossom"
    | "bush"
    | "rock"
    | "flower"
    | "reed"
    | "lily"
    | "lamp"
    | "bench"
    | "barrel"
    | "fence"
    | "hedge"
    | "grasstuft"
    | "mushroom"
    | "stump"
    | "well"
    | "highrise";
  readonly variant: number;
}

/** Where somebody sleeps: the upper left tile of a bed of 1 × 2 tiles, and a free tile beside it. */
export interface Bed extends Point {
  readonly area: string;
  readonly beside: Point;
}

export interface VillageMap {
  readonly width: number;
  readonly height: number;
  /** Row by row. */
  readonly ground: readonly Ground[];
  readonly buildings: readonly Building[];
  /** Places under the open sky. */
  readonly grounds: readonly OpenGround[];
  readonly placed: readonly Placed[];
  readonly plants: readonly Plant[];
  /** Every area that can be walked to, by id. */
  readonly spots: ReadonlyMap<string, Spot>;
  /** The bed of everybody who has a home, by character. */
  readonly beds: ReadonlyMap<string, Bed>;
  /** Free tiles from which a thing is used, the best first: by object, and by `area:sprite` for furniture that is no object. */
  readonly uses: ReadonlyMap<string, readonly Point[]>;
  /** Whether a tile stops a walker, row by row. */
  readonly blocked: readonly boolean[];
}
