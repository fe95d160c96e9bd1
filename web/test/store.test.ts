import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { delta, opened, snapshot, standIn, status } from "./stand-in";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const settled = (): Promise<void> => vi.advanceTimersByTimeAsync(0).then(() => undefined);
const LIVE = { live: true, playing: true, last_tick: 10, final_tick: 200 };

describe("a recording", () => {
  test("opens at its beginning, or at the tick of the address", async () => {
    expect((await opened()).getState().tick).toBe(0);
    const store = await opened(standIn(), { tick: 60, agent: "ada" });
    expect(store.getState()).toMatchObject({
      tick: 60,
      live: false,
      connection: "recorded",
      cards: [{ kind: "agent", id: "ada" }],
    });
    expect(store.getState().frame.agents.get("ada")?.current_action).toBe("waiting at tick 60");
    expect((await opened(standIn(), { tick: 10 ** 6 })).getState().tick).toBe(100);
  });

  test("plays on, tick by tick, until its end, and says which ticks follow each other", async () => {
    const store = await opened(standIn(), { tick: 97 });
    const jumps: [number, boolean][] = [];
    store.subscribe((view, before) => view.frame !== before.frame && jumps.push([view.frame.tick, view.jump]));
    store.getState().play();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(jumps).toEqual([
      [98, false],
      [99, false],
      [100, false],
    ]);
    expect(store.getState().playing).toBe(false);
    store.getState().play();
    await settled();
    expect(store.getState().tick).toBe(0);
  });

  test("shows the tick that was asked for last, however late the others come", async () => {
    const source = standIn();
    const store = await opened(source);
    const frames = source.frames;
    let release = (): void => undefined;
    source.frames = vi.fn(async (from: number, to: number) => {
      if (from === 48) await new Promise<void>((resolve) => (release = resolve));
      return frames(from, to);
    });
    store.getState().goTo(50);
    store.getState().goTo(99);
    await settled();
    release();
    await settled();
    expect(store.getState().frame.tick).toBe(99);
  });

  test("reads a run of ticks once, however often it is scrubbed over", async () => {
    const source = standIn();
    const store = await opened(source);
    for (const tick of [60, 61, 70, 49, 60]) store.getState().goTo(tick);
    await settled();
    expect(source.frames).toHaveBeenCalledTimes(2);
    expect(store.getState().frame.tick).toBe(60);
  });

  test("a tick that cannot be read is a problem, and the frame stays", async () => {
    const source = standIn();
    const store = await opened(source);
    source.frames = () => Promise.reject(new Error("gone"));
    store.getState().goTo(99);
    await settled();
    expect(store.getState()).toMatchObject({ problem: { title: "gone" }, frame: { tick: 0 } });
  });
});

describe("a live run", () => {
  test("shows every tick as it comes, once", async () => {
    const source = standIn(LIVE);
    const store = await opened(source);
    const [listener] = source.listeners;
    expect(source.after).toEqual([10]);
    for (const tick of [11, 12, 12, 11, 13]) listener?.message(delta(tick));
    expect(store.getState()).toMatchObject({ tick: 13, head: 13, live: true, jump: false });
    expect(store.getState().timeline.last_tick).toBe(100);
  });

  test("shows what is being said until it is refused or the tick is there", async () => {
    const source = standIn(LIVE);
    const store = await opened(source);
    const [listener] = source.listeners;
    listener?.message({ type: "speaking", lines: { ada: "I was" } });
    expect(store.getState().speaking).toEqual({ ada: "I was" });
    listener?.message({ type: "speaking", lines: {} });
    expect(store.getState().speaking).toEqual({});
    listener?.message({ type: "speaking", lines: { ada: "Well" } });
    listener?.message(delta(11));
    expect(store.getState().speaking).toEqual({});
  });

  test("goes on from the whole tick that follows a lost connection", async () => {
    const source = standIn(LIVE);
    const store = await opened(source);
    source.listeners[0]?.lost();
    expect(store.getState().connection).toBe("lost");
    source.listeners[0]?.joined();
    source.listeners[0]?.message(snapshot(40));
    source.listeners[0]?.message(delta(41));
    expect(store.getState()).toMatchObject({ connection: "open", tick: 41, head: 41 });
  });

  test("asks for a whole tick when one is missing", async () => {
    const source = standIn(LIVE);
    await opened(source);
    source.listeners[0]?.message(delta(11));
    source.listeners[0]?.message(delta(13));
    source.listeners[0]?.message(delta(14));
    expect(source.after).toEqual([10, -1]);
  });

  test("stays in the past while ticks come, and comes back to now", async () => {
    const source = standIn(LIVE);
    const store = await opened(source);
    store.getState().goTo(5);
    source.listeners[0]?.message(delta(11));
    expect(store.getState()).toMatchObject({ tick: 5, head: 11, live: false });
    store.getState().backToNow();
    await settled();
    expect(store.getState()).toMatchObject({ tick: 11, live: true });
    source.listeners[0]?.message(delta(12));
    expect(store.getState().tick).toBe(12);
  });

  test("becomes a recording when it ends", async () => {
    const source = standIn(LIVE);
    const store = await opened(source);
    source.listeners[0]?.message(delta(11));
    source.listeners[0]?.message(status({ live: false, playing: false }));
    expect(store.getState().live).toBe(false);
    store.getState().backToNow();
    await settled();
    expect(store.getState().live).toBe(false);
  });
});

test("cards lie on each other, and the same card is not laid twice", async () => {
  const store = await opened();
  const { open, back } = store.getState();
  open({ kind: "agent", id: "ada" });
  open({ kind: "why", id: "t12.ada.0" });
  open({ kind: "why", id: "t12.ada.0" });
  expect(store.getState().cards).toHaveLength(2);
  back();
  expect(store.getState().cards).toEqual([{ kind: "agent", id: "ada" }]);
});

describe("a run that stands still", () => {
  const still = async (play = vi.fn(async () => status({ last_tick: 100 }))) => {
    const source = standIn({ live: true, last_tick: 100 });
    const stood = {
      ...source,
      town: async () => ({ ...(await source.town()), live: false }),
      actions: { play } as never,
    };
    const store = await opened(stood, { tick: 30 });
    const [listener] = source.listeners;
    listener?.message(status({ live: false, playing: false }));
    listener?.message(snapshot(100));
    return { store, listener };
  };

  test("is no live one, and can be made to go on", async () => {
    const { store, listener } = await still();
    expect(store.getState()).toMatchObject({ growing: false, live: false, tick: 30, head: 100 });
    await store.getState().goOn();
    await settled();
    expect(store.getState()).toMatchObject({ growing: true, live: true, tick: 100 });
    listener?.message(status());
    listener?.message(delta(101));
    expect(store.getState()).toMatchObject({ tick: 101, head: 101 });
  });

  test("grows while another process makes its ticks", async () => {
    const { store, listener } = await still();
    listener?.message(delta(101));
    expect(store.getState()).toMatchObject({ growing: true, live: false, tick: 30, head: 101 });
    store.getState().backToNow();
    await settled();
    listener?.message(delta(102));
    expect(store.getState()).toMatchObject({ live: true, tick: 102 });
    await vi.advanceTimersByTimeAsync(100_000);
    expect(store.getState().growing).toBe(false);
  });
});
