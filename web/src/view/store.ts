// What the page shows of one run: the tick, how it moves on, who is selected, which panels are open.

import { createStore, type StoreApi } from "zustand/vanilla";
import type { Delta, Problem, Snapshot, Speaking, Status, Timeline, Town } from "../api";
import type { Shot } from "../run/director";
import { afterDelta, type Frame, fromSnapshot } from "../run/frame";
import { problemOf } from "../run/problem";
import type { Source } from "../run/source";
import { shelfOf } from "./frames";

/** What the right-hand side shows. */
export type Card =
  | { readonly kind: "agent" | "area" | "object" | "talk"; readonly id: string }
  | { readonly kind: "why"; readonly id: string };

/** What the left-hand side shows. */
export type Tab = "talk" | "log" | "people" | "metrics" | "act";

export type LensChoice = { readonly kind: "fact" | "person"; readonly id: string };

export const RATES = [1, 2, 4, 8, 16] as const;

/** How often the marks of a live run are read again, in milliseconds. */
const TIMELINE_EVERY = 4_000;

/** Milliseconds without a tick after which another process is taken to have stopped. */
const STILL_AFTER = 60_000;

export interface View {
  readonly source: Source;
  readonly town: Town;
  readonly timeline: Timeline;
  /** The last tick known. */
  readonly head: number;
  /** The tick asked for; the frame shown may still be that of another one. */
  readonly tick: number;
  readonly frame: Frame;
  /** Whether the frame does not follow the one shown before it. */
  readonly jump: boolean;
  /** Whether new ticks are shown as they come. */
  readonly live: boolean;
  /** Whether recorded ticks move on by themselves. */
  readonly playing: boolean;
  /** Ticks per second at which recorded ticks move on. */
  readonly rate: number;
  /** How the run itself is doing, as the server last said; null where there is none. */
  readonly status: Status | null;
  /** Who is saying what in the tick that is being made; it may be refused. */
  readonly speaking: Readonly<Record<string, string>>;
  /** Whether ticks are being made, here or by another process. */
  readonly growing: boolean;
  readonly connection: "recorded" | "open" | "lost";
  readonly problem: Problem | null;
  /** Cards of the right-hand side, the one shown last. */
  readonly cards: readonly Card[];
  readonly tab: Tab | null;
  readonly followed: string | null;
  readonly lens: LensChoice | null;
  readonly director: boolean;
  /** What the director shows. */
  readonly shot: Shot | null;
  /** Event or memory id → stars, 0 for none, of what can be rated, as last read. */
  readonly ratings: Readonly<Record<string, number>>;

  goTo(tick: number): void;
  step(by: number): void;
  play(): void;
  pause(): void;
  setRate(rate: number): void;
  /** Show the newest tick, and those that come after it. */
  backToNow(): void;
  /** Have a run that stands still make more ticks, and watch them. */
  goOn(): Promise<void>;
  open(card: Card): void;
  back(): void;
  closeCards(): void;
  showTab(tab: Tab | null): void;
  follow(agent: string | null): void;
  setLens(lens: LensChoice | null): void;
  setDirector(on: boolean): void;
  setShot(shot: Shot | null): void;
  /** Reads the ratings again, where there are any: other people and programs rate as well. */
  readRatings(): Promise<void>;
  giveStars(id: string, stars: number): Promise<void>;
  report(thrown: unknown): void;
  dismiss(): void;
  close(): void;
}

export type ViewStore = StoreApi<View>;

export interface Opening {
  readonly tick?: number;
  readonly agent?: string;
  readonly event?: string;
}

/**
 * Reads a run as far as the first picture needs it, and follows it where that can be done: another process may be making
 * its ticks, and a run that stands still may go on.
 */
export async function openView(source: Source, opening: Opening = {}): Promise<ViewStore> {
  const [town, timeline] = await Promise.all([source.town(), source.timeline()]);
  const shelf = shelfOf(source);
  const follows = source.follow !== undefined;
  const live = follows && town.live && opening.tick === undefined;
  const beginning = source.first ?? 0;
  const first = Math.max(beginning, Math.min(opening.tick ?? (live ? town.last_tick : 0), town.last_tick));
  const frame = await shelf.read(first, town.last_tick);

  let timer: ReturnType<typeof setTimeout> | undefined;
  let unfollow: (() => void) | undefined;
  let newest: Frame | null = null;
  let wanted = 0;
  let timelineRead = Date.now();
  let resuming = false;
  let reading: Promise<View["ratings"]> | undefined;
  let silence: ReturnType<typeof setTimeout> | undefined;

  const store = createStore<View>((set, get) => {
    const shown = (next: Frame): void =>
      set({ frame: next, tick: next.tick, jump: next.tick !== get().frame.tick + 1 });

    const goTo = async (tick: number): Promise<void> => {
      const target = Math.max(beginning, Math.min(tick, get().head));
      const turn = ++wanted;
      const ready = shelf.at(target);
      if (ready) return shown(ready);
      set({ tick: target });
      try {
        const read = await shelf.read(target, get().head);
        if (turn === wanted) shown(read);
      } catch (thrown) {
        if (turn === wanted) set({ problem: problemOf(thrown), playing: false });
      }
    };

    const schedule = (): void => {
      clearTimeout(timer);
      timer = setTimeout(async () => {
        if (!get().playing) return;
        if (get().tick >= get().head) {
          set({ playing: false, live: get().growing });
          return;
        }
        await goTo(get().tick + 1);
        // The next run of ticks is read ahead, so that nobody stops in mid-stride.
        const ahead = get().tick + 12;
        if (ahead <= get().head && !shelf.at(ahead)) shelf.read(ahead, get().head).catch(() => undefined);
        schedule();
      }, 1000 / get().rate);
    };

    return {
      source,
      town,
      timeline,
      head: town.last_tick,
      tick: first,
      frame,
      jump: true,
      live,
      playing: false,
      rate: 2,
      status: null,
      speaking: {},
      growing: follows && town.live,
      connection: follows ? "open" : "recorded",
      problem: null,
      cards: opened(opening),
      // On a narrow page a sheet would hide half of the scene.
      tab: matchMedia("(max-width: 760px)").matches ? null : "talk",
      followed: null,
      lens: null,
      director: false,
      shot: null,
      ratings: {},

      goTo: (tick) => {
        set({ live: false });
        void goTo(tick);
      },
      step: (by) => {
        clearTimeout(timer);
        set({ live: false, playing: false });
        void goTo(get().tick + by);
      },
      play: () => {
        if (get().tick >= get().head && !get().growing) void goTo(beginning);
        set({ playing: true, live: false });
        schedule();
      },
      pause: () => {
        clearTimeout(timer);
        set({ playing: false });
      },
      setRate: (rate) => {
        set({ rate });
        if (get().playing) schedule();
      },
      backToNow: () => {
        clearTimeout(timer);
        set({ playing: false, live: get().growing });
        void goTo(get().head);
      },
      goOn: async () => {
        try {
          const status = await source.actions?.play();
          if (!status || !source.follow) return;
          clearTimeout(timer);
          set({ status, growing: true, playing: false, live: true });
          void goTo(get().head);
        } catch (thrown) {
          set({ problem: problemOf(thrown) });
        }
      },
      open: (card) => set(({ cards }) => ({ cards: pushed(cards, card) })),
      back: () => set(({ cards }) => ({ cards: cards.slice(0, -1) })),
      closeCards: () => set({ cards: [] }),
      showTab: (tab) => set({ tab }),
      follow: (agent) => set({ followed: agent, ...(agent ? { director: false } : {}) }),
      setLens: (lens) => set({ lens }),
      setDirector: (director) => set({ director, ...(director ? { followed: null } : {}) }),
      setShot: (shot) => set({ shot }),
      readRatings: async () => {
        if (!source.actions || !town.may.includes("rate")) return;
        reading ??= source.actions.ratings().finally(() => (reading = undefined));
        try {
          set({ ratings: await reading });
        } catch (thrown) {
          set({ problem: problemOf(thrown) });
        }
      },
      giveStars: async (id, stars) => {
        try {
          await source.actions?.rate(id, stars);
          await get().readRatings();
        } catch (thrown) {
          set({ problem: problemOf(thrown) });
        }
      },
      report: (thrown) => set({ problem: problemOf(thrown) }),
      dismiss: () => set({ problem: null }),
      close: () => {
        clearTimeout(timer);
        clearTimeout(silence);
        unfollow?.();
      },
    };
  });

  const arrived = (next: Frame): void => {
    const { live: showing, frame: before, timeline: known } = store.getState();
    newest = next;
    shelf.put(next);
    store.setState({
      head: next.tick,
      speaking: {},
      timeline: grown(known, next),
      ...(showing ? { frame: next, tick: next.tick, jump: next.tick !== before.tick + 1 } : {}),
    });
    if (Date.now() - timelineRead > TIMELINE_EVERY) {
      timelineRead = Date.now();
      source.timeline().then(
        (read) => store.setState({ timeline: caughtUp(read, store.getState().timeline) }),
        () => undefined,
      );
    }
  };

  const message = (received: Snapshot | Delta | Status | Speaking): void => {
    if (received.type === "speaking") {
      store.setState({ speaking: received.lines });
    } else if (received.type === "status") {
      clearTimeout(silence);
      store.setState({ status: received, growing: received.live, ...(received.live ? {} : { live: false }) });
    } else if (received.type === "snapshot") {
      resuming = false;
      const known = newest?.tick ?? town.last_tick;
      arrived(fromSnapshot(received));
      if (received.tick > known) seenGrowing();
    } else if (!newest || received.tick > newest.tick + 1) {
      // A gap: only a whole tick helps.
      if (!resuming) {
        resuming = true;
        unfollow?.();
        begin(-1);
      }
    } else if (received.tick === newest.tick + 1) {
      arrived(afterDelta(newest, received));
      seenGrowing();
    }
  };

  /** Ticks that nobody here makes: another process does, until none has come for a while. */
  const seenGrowing = (): void => {
    if (store.getState().status?.live) return;
    clearTimeout(silence);
    silence = setTimeout(() => store.setState({ growing: false }), STILL_AFTER);
    if (!store.getState().growing) store.setState({ growing: true });
  };

  const begin = (after: number): void => {
    unfollow = source.follow?.(after, {
      message,
      joined: () => store.setState({ connection: "open" }),
      lost: () => store.setState({ connection: "lost" }),
    });
  };

  if (follows) {
    if (live) newest = frame;
    begin(live ? frame.tick : -1);
  }
  return store;
}

function opened(opening: Opening): Card[] {
  const cards: Card[] = [];
  if (opening.agent) cards.push({ kind: "agent", id: opening.agent });
  if (opening.event) cards.push({ kind: "why", id: opening.event });
  return cards;
}

/** The cards with another on top; the same card twice in a row is one. A different person or place begins anew. */
function pushed(cards: readonly Card[], card: Card): readonly Card[] {
  const top = cards.at(-1);
  if (top && top.kind === card.kind && top.id === card.id) return cards;
  return [...cards, card].slice(-20);
}

/** The time-line with one more tick; its marks come when it is read again. */
function grown(timeline: Timeline, frame: Frame): Timeline {
  if (frame.tick <= timeline.last_tick) return timeline;
  const activity = [...timeline.activity];
  for (let tick = activity.length; tick < frame.tick; tick++) activity[tick] = 0;
  activity[frame.tick] = frame.lines.length;
  const sky = timeline.weather.at(-1)?.[1];
  const weather: Timeline["weather"] =
    sky === frame.sky ? timeline.weather : [...timeline.weather, [frame.tick, frame.sky]];
  return { ...timeline, last_tick: frame.tick, activity, weather };
}

/** What was read, with the ticks that came while it was read. */
function caughtUp(read: Timeline, known: Timeline): Timeline {
  if (read.last_tick >= known.last_tick) return read;
  return {
    ...read,
    last_tick: known.last_tick,
    activity: [...read.activity, ...known.activity.slice(read.activity.length)],
  };
}
