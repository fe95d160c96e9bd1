// Lens and director joined with the page, and a page that shows a part of a run.

import { act, cleanup, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, test, vi } from "vitest";
import { Captions } from "../src/panels/Captions";
import { MemoryView } from "../src/panels/MemoryView";
import { stage } from "../src/panels/stage-handle";
import { TimeLine } from "../src/panels/TimeLine";
import type { Lens, Village } from "../src/scene/village";
import { en } from "../src/words/en";
import { metrics } from "./small";
import { opened, shown, standIn } from "./stand-in";

afterEach(() => {
  stage.stands(null);
  cleanup();
});

function laidLenses(): (Lens | null)[] {
  const laid: (Lens | null)[] = [];
  stage.stands({ lens: (lens: Lens | null) => laid.push(lens) } as unknown as Village);
  return laid;
}

describe("the lens", () => {
  test("of news says how many know it at the tick shown, and tells the scene who", async () => {
    const step = (source: string, target: string, tick: number) => ({ source, target, tick, event_id: "", words: "" });
    const tree = [step("ada", "ben", 5), step("ben", "cho", 9)];
    const spreads = [
      { fact: "feast", text: "", originators: ["ada"], knowers: ["ada", "ben", "cho"], share: 0.6, tree },
    ];
    const source = { ...standIn(), metrics: vi.fn(async (at: number) => metrics(at, { spreads })) };
    const store = await opened(source, { tick: 7 });
    const laid = laidLenses();
    shown(store, <Captions />);
    act(() => store.getState().setLens({ kind: "fact", id: "feast" }));
    await screen.findByText(en.lens.knowing(2, 5));
    expect(laid.at(-1)).toMatchObject({
      lit: new Set(["ada", "ben"]),
      ties: [
        { from: "ada", to: "ben", tick: 5 },
        { to: "cho", tick: 9 },
      ],
    });
    act(() => store.getState().goTo(10));
    await screen.findByText(en.lens.knowing(3, 5));
    act(() => store.getState().setLens(null));
    expect(laid.at(-1)).toBeNull();
  });
});

describe("a person's lens", () => {
  test("shows the person", async () => {
    const visit = vi.fn();
    stage.stands({ lens: () => undefined, visit } as unknown as Village);
    const store = await opened(standIn(), { tick: 7 });
    shown(store, <Captions />);
    act(() => store.getState().setLens({ kind: "person", id: "cho" }));
    expect(visit).toHaveBeenCalledWith({ kind: "agent", id: "cho" });
  });
});

describe("the director", () => {
  test("says what it shows and why, also right after a jump", async () => {
    const store = await opened(standIn(), { tick: 50 });
    shown(store, <Captions />);
    act(() => store.getState().setDirector(true));
    // Tick 50 is silent; the talk of tick 48 is what one would have come for.
    await waitFor(() => expect(store.getState().shot?.people).toEqual(["ada", "ben"]));
    expect(screen.getByText(/Line 48/)).toBeTruthy();
    act(() => store.getState().goTo(90));
    await screen.findByText(/Line 90/);
    act(() => store.getState().setDirector(false));
    expect(store.getState().shot).toBeNull();
  });

  test("speaks the language of the page", async () => {
    const store = await opened(standIn(), { tick: 51 });
    shown(store, <Captions />, "ko");
    act(() => store.getState().setDirector(true));
    await screen.findByText(/대화: Ada, Ben/);
  });
});

describe("a part of a run", () => {
  test("begins at its first tick and asks for nothing before it", async () => {
    const source = { ...standIn(), first: 30 };
    const store = await opened(source);
    expect(store.getState().frame.tick).toBe(30);
    shown(store, <TimeLine />);
    expect(screen.getByRole("slider").getAttribute("aria-valuemin")).toBe("30");
    act(() => store.getState().step(-1));
    act(() => store.getState().goTo(3));
    await waitFor(() => expect(store.getState().tick).toBe(30));
    for (const [from] of vi.mocked(source.frames).mock.calls) expect(from).toBeGreaterThanOrEqual(30);
  });

  test("looks for words in memories where no policy can rank them", async () => {
    const store = await opened({ ...standIn(), ranks: false }, { tick: 50 });
    shown(store, <MemoryView agent="ada" />);
    await screen.findByText("A pear fell.");
    expect(screen.getByPlaceholderText(en.memory.find)).toBeTruthy();
    expect(screen.queryByRole("button", { name: en.memory.mind })).toBeNull();
  });
});
