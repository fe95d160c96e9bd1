// How somebody looks, from what the scenario says of them: pure, so that they look the same everywhere.

import type { Character } from "../../api";
import { chances, pick } from "../layout/chance";
import type { Colour } from "./paint";

export interface Look {
  readonly skin: Colour;
  readonly hair: Colour;
  readonly style: "short" | "bob" | "long" | "bun" | "curly" | "tails" | "bald" | "crop";
  readonly beard: boolean;
  readonly top: Colour;
  readonly under: Colour;
  readonly shoes: Colour;
  readonly dress: boolean;
  readonly coat: Colour | 0;
  readonly apron: Colour | 0;
  readonly scarf: Colour | 0;
  readonly glasses: boolean;
  readonly hat:
    | "none"
    | "cap"
    | "chef"
    | "nurse"
    | "straw"
    | "beanie"
    | "kerchief"
    | "headphones"
    | "helmet"
    | "top"
    | "hood";
  readonly hatColour: Colour;
  readonly bag: Colour | 0;
  readonly child: boolean;
}

const SKIN: readonly Colour[] = [0xf9dcc4, 0xf6d0ae, 0xe8b48c, 0xc98d62, 0x96623f, 0x7a4a30];
const HAIR: readonly Colour[] = [0x3a2a2e, 0x2b2333, 0x6b4226, 0xa8642f, 0xe0b354, 0x8c2f39, 0x4b3a52];
const TOPS: readonly Colour[] = [
  0xe8546b, 0x5c80b8, 0x4da38f, 0xf0ad62, 0x9169b5, 0xefe2c8, 0x67ad4c, 0xd67ba0, 0x4a4f6a, 0xffd25a, 0xc06845,
  0x3f8fa8,
];
const UNDER: readonly Colour[] = [0x3f4763, 0x6b4a3a, 0x4a6048, 0x5a4668, 0x8a7a66, 0x35506b];

const RAINCOATS: readonly Colour[] = [0xf2c84b, 0x4b95cc, 0x5fae74, 0xe07a5f];

/** The same person in a raincoat. */
export const inRain = (look: Look): Look => {
  const colour = RAINCOATS[(look.hair ^ look.top) % RAINCOATS.length] as Colour;
  return { ...look, coat: colour, hat: "hood", hatColour: colour, apron: 0, scarf: 0, bag: 0 };
};

type Part = Partial<{ -readonly [K in keyof Look]: Look[K] }>;

/** What work makes one wear; the first that fits wins. */
const WORK: readonly (readonly [RegExp, Part])[] = [
  [/nurse|간호/, { hat: "nurse", hatColour: 0xffffff, top: 0xdfeef2, apron: 0xffffff }],
  [/doctor|physician|pharmac|vet|의사|약사|한의/, { coat: 0xf4f7fa, glasses: true }],
  [/bak|떡|빵/, { hat: "kerchief", hatColour: 0xfff7ee, apron: 0xfff7ee }],
  [/cook|chef|noodle|요리|주방|국수|식당|분식/, { hat: "chef", hatColour: 0xffffff, apron: 0xfff7ee }],
  [/caf|barista|tea ?house|waiter|inn|bar|찻집|카페|주막/, { apron: 0x6b4a3a }],
  [/fish|생선|어부|sailor|boat|선장/, { apron: 0x4f7fa8, hat: "beanie", hatColour: 0x35506b }],
  [/repair|mechanic|engineer|tinker|수리|기술|정비/, { apron: 0x7d6a4a, hat: "cap", hatColour: 0x5c80b8 }],
  [/watch|clock|시계/, { apron: 0x5c4a3e, glasses: true }],
  [/smith|carpent|대장|목수|build/, { apron: 0x6b4630, hat: "helmet", hatColour: 0xf0ad3c }],
  [/garden|farm|정원|농부|flor|꽃/, { hat: "straw", hatColour: 0xe9cf86, apron: 0x67a05a }],
  [/courier|deliver|post|messenger|배달|우체|집배/, { hat: "cap", hatColour: 0xe0523f, bag: 0xb5713a }],
  [/radio|dj|music|sing|음악|가수|라디오/, { hat: "headphones", hatColour: 0x4a4f6a }],
  [/school|student|pupil|학생|초등|중학/, { bag: 0xe0523f }],
  [/teacher|librar|book|writer|poet|scholar|교사|선생|사서|서점|책방|작가|시인/, { glasses: true }],
  [/paint|artist|화가/, { hat: "beanie", hatColour: 0x8c2f39, apron: 0xefe2c8 }],
  [/police|guard|경찰|경비/, { hat: "cap", hatColour: 0x33487a, top: 0x456499 }],
  [/priest|monk|shrine|신부|스님/, { coat: 0x4a4f6a }],
  [/mayor|chair|회장|시장님|촌장|lawyer|banker|사장/, { coat: 0x3f4763, scarf: 0xc95b4b }],
  [/seller|shop|merchant|장수|상인|keeper|주인/, { apron: 0x8a5f8f }],
];

// biome-ignore format: a table
const COLOURS: readonly (readonly [RegExp, Colour])[] = [
  [/red|빨간|붉은/, 0xd9524f], [/blue|파란|푸른/, 0x5c80b8], [/green|초록|녹색/, 0x4f9d5d], [/yellow|노란/, 0xffd25a], [/purple|violet|보라/, 0x9169b5],
  [/pink|분홍/, 0xe88ab0], [/orange|주황/, 0xf0954a], [/white|흰|하얀/, 0xf4f0ea], [/black|검은|까만/, 0x352c3d], [/gr[ae]y|회색/, 0x9a98a8],
  [/brown|갈색/, 0x7a4f33], [/blond|golden|금발/, 0xe8c05e], [/silver|은발/, 0xcfccd8], [/teal|청록/, 0x3f9a94],
];

const colourIn = (words: string): Colour | undefined => COLOURS.find(([pattern]) => pattern.test(words))?.[1];

export function lookOf(one: Pick<Character, "id" | "name" | "age" | "pronoun" | "work" | "traits" | "look">): Look {
  const luck = chances(`look ${one.id}`);
  const hangul = /[가-힣]/.test(one.name);
  const child = one.age > 0 && one.age < 14;
  const work = one.work.toLowerCase();
  const traits = one.traits.join(" ").toLowerCase();
  const woman = one.pronoun === "she";
  const man = one.pronoun === "he";
  const skin = hangul ? pick(SKIN.slice(0, 3), luck()) : pick(SKIN, luck());
  const young = hangul || skin >> 16 < 0xd0 ? pick(HAIR.slice(0, 3), luck()) : pick(HAIR, luck());
  const hair = one.age >= 64 ? 0xd5d2dc : one.age >= 54 ? 0x9a939f : young;
  const styles: readonly Look["style"][] = woman
    ? ["long", "bob", "bun", "curly", "tails", "bob"]
    : man
      ? ["short", "crop", "curly", "short", "short"]
      : ["bob", "curly", "short", "tails"];
  let style = pick(styles, luck());
  if (man && one.age > 58 && luck() < 0.35) style = "bald";
  if (woman && one.age > 60) style = luck() < 0.6 ? "bun" : "curly";
  if (child && woman) style = "tails";
  const bright = /playful|energetic|outgoing|lively|cheer|장난|씩씩|활발/.test(traits);
  const plain = /shy|formal|quiet|cautious|grumpy|조용|수줍|무뚝뚝/.test(traits);
  const top = pick(
    bright
      ? [0xe8546b, 0xffd25a, 0xf0ad62, 0x4da38f, 0xd67ba0]
      : plain
        ? [0x4a4f6a, 0x5c80b8, 0x6f8a72, 0x8a6f8f, 0xc7b299]
        : TOPS,
    luck(),
  );
  const base: Look = {
    skin,
    hair,
    style,
    top,
    beard: man && !child && one.age > 30 && luck() < 0.42,
    under: pick(UNDER, luck()),
    shoes: pick([0x4a3230, 0x33303f, 0x7a4f33], luck()),
    dress: woman && luck() < (child ? 0.6 : 0.38),
    coat: 0,
    apron: 0,
    scarf: !child && luck() < 0.16 ? pick(TOPS, luck()) : 0,
    glasses: one.age > 40 ? luck() < 0.28 : luck() < 0.1,
    hat: luck() < 0.12 ? pick(["cap", "beanie"] as const, luck()) : "none",
    hatColour: pick(TOPS, luck()),
    bag: 0,
    child,
  };
  const dressed = WORK.find(([pattern]) => pattern.test(work))?.[1] ?? {};
  return { ...base, ...dressed, ...hinted(one.look ?? "") };
}

/** "red hair, green coat, glasses", "파란 모자": each phrase is a thing with a colour. */
function hinted(look: string): Part {
  const out: Part = {};
  for (const phrase of look.toLowerCase().split(/[,;.]| and | with |·|、/)) {
    const colour = colourIn(phrase);
    if (/hair|머리/.test(phrase)) {
      if (colour !== undefined) out.hair = colour;
      if (/long|긴/.test(phrase)) out.style = "long";
      if (/short|짧/.test(phrase)) out.style = "short";
      if (/curl|곱슬/.test(phrase)) out.style = "curly";
      if (/bun|쪽/.test(phrase)) out.style = "bun";
      if (/pigtail|braid|양갈래|땋/.test(phrase)) out.style = "tails";
    }
    if (/bald|대머리/.test(phrase)) out.style = "bald";
    if (/beard|수염/.test(phrase)) out.beard = true;
    if (/glasses|spectacles|안경/.test(phrase)) out.glasses = true;
    if (/apron|앞치마/.test(phrase)) out.apron = colour ?? 0xfff7ee;
    if (/coat|jacket|코트|외투|재킷|가운/.test(phrase)) out.coat = colour ?? 0x6b5a4e;
    if (/scarf|목도리|스카프/.test(phrase)) out.scarf = colour ?? 0xd9524f;
    if (/dress|skirt|치마|원피스|한복/.test(phrase)) {
      out.dress = true;
      if (colour !== undefined) out.top = colour;
    }
    if (/shirt|sweater|top|셔츠|스웨터|저고리/.test(phrase) && colour !== undefined) out.top = colour;
    if (/trousers|pants|jeans|바지/.test(phrase) && colour !== undefined) out.under = colour;
    if (/bag|satchel|가방|배낭/.test(phrase)) out.bag = colour ?? 0x8a5f3c;
    const hat = /straw|밀짚/.test(phrase)
      ? "straw"
      : /beanie|비니/.test(phrase)
        ? "beanie"
        : /headphone|헤드폰/.test(phrase)
          ? "headphones"
          : /helmet|안전모/.test(phrase)
            ? "helmet"
            : /kerchief|bandana|두건/.test(phrase)
              ? "kerchief"
              : /top hat|중절모/.test(phrase)
                ? "top"
                : /\b(cap|hat)\b|모자/.test(phrase)
                  ? "cap"
                  : undefined;
    if (hat) {
      out.hat = hat;
      if (colour !== undefined) out.hatColour = colour;
    }
    if (/pale|흰 피부/.test(phrase)) out.skin = SKIN[0] as Colour;
    if (/dark skin|brown skin/.test(phrase)) out.skin = SKIN[4] as Colour;
  }
  return out;
}
