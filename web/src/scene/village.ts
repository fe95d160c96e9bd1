// The scene behind a thin wrapper: the page knows this interface and nothing of Phaser.

import type { Town } from "../api";
import type { Frame } from "../run/frame";

/** Who is joined with whom in a lens, in sparks or lines over the map. */
export interface Tie {
  readonly from: string;
  readonly to: string;
  /** −1 … 1: dislike … like; 1 for news. */
  readonly strength: number;
  /** Tick at which it came to be: sparks fly when the view passes it. */
  readonly tick: number;
}

export interface Lens {
  /** Who stands in its light; everybody else is dimmed. */
  readonly lit: ReadonlySet<string>;
  readonly ties: readonly Tie[];
}

export interface Picked {
  readonly kind: "agent" | "area" | "object";
  readonly id: string;
}

export interface Village {
  /** Show a tick. `jump`: nobody walks there, everybody stands where they are at once. */
  show(frame: Frame, how: { readonly jump: boolean; readonly rate: number }): void;
  select(agent: string | null): void;
  /** Keep the camera on somebody; null lets it go. */
  follow(agent: string | null): void;
  /** Move the camera to a person or place and stay there. */
  visit(target: Picked): void;
  lens(lens: Lens | null): void;
  /** Pixels of the view that panels cover. */
  inset(covered: {
    readonly left: number;
    readonly right: number;
    readonly top: number;
    readonly bottom: number;
  }): void;
  zoom(step: 1 | -1): void;
  /** A head-and-shoulders picture of somebody, as a data URL. */
  portrait(agent: string): string;
  destroy(): void;
}

export interface VillageOptions {
  readonly town: Town;
  readonly theme: "hamlet" | "neon";
  readonly reducedMotion: boolean;
  onPick(picked: Picked | null): void;
  /** The person has moved the camera. */
  onPan(): void;
}

/** Builds the scene in an element; resolves when the first picture is drawn. */
export type BuildVillage = (parent: HTMLElement, options: VillageOptions) => Promise<Village>;
