import { cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Answer, RunCard } from "../src/api";
import { Act } from "../src/panels/Act";
import { AgentCard } from "../src/panels/AgentCard";
import { App } from "../src/panels/App";
import { AskCard } from "../src/panels/AskCard";
import { Cards } from "../src/panels/Cards";
import { Dock } from "../src/panels/Dock";
import { Library } from "../src/panels/Library";
import { Log } from "../src/panels/Log";
import { MetricsPanel } from "../src/panels/Metrics";
import { People } from "../src/panels/People";
import { TalkList } from "../src/panels/TalkList";
import { TimeLine } from "../src/panels/TimeLine";
import { WhyCard } from "../src/panels/WhyCard";
import { Failure } from "../src/run/problem";
import type { Library as RunLibrary } from "../src/run/source";
import { usePreferences } from "../src/view/preferences";
import { en } from "../src/words/en";
import { memory, metrics, TOWN } from "./small";
import { opened, shown, standIn } from "./stand-in";

beforeEach(() => {
  usePreferences.setState({ language: "en", theme: "light", reducedMotion: true });
  history.replaceState(null, "", "#");
});
afterEach(cleanup);

const MAY = {
  live: true,
  last_tick: 10,
  may: ["control", "inputs", "talk", "fork"] as ("control" | "inputs" | "talk" | "fork")[],
};

describe("the time-line", () => {
  test("is a slider that keys move, and says where it is", async () => {
    const store = await opened(standIn(), { tick: 50 });
    shown(store, <TimeLine />);
    const slider = screen.getByRole("slider");
    expect(slider.getAttribute("aria-valuetext")).toBe("Day 1, 10:10, tick 50");
    const moves = [
      ["ArrowRight", 51],
      ["ArrowLeft", 50],
      ["PageUp", 62],
      ["Home", 0],
      ["End", 100],
      ["PageDown", 88],
    ] as const;
    for (const [key, tick] of moves) {
      fireEvent.keyDown(slider, { key });
      await waitFor(() => expect(store.getState().frame.tick).toBe(tick));
    }
  });

  test("of a recording plays the recording; of a live run it steers the run, until one looks at the past", async () => {
    const recording = await opened();
    shown(recording, <TimeLine />);
    fireEvent.click(screen.getByRole("button", { name: en.time.play }));
    expect(recording.getState().playing).toBe(true);
    recording.getState().close();
    cleanup();

    const pause = vi.fn(async () => ({}) as never);
    const live = await opened(standIn(MAY, { pause }));
    live.setState({
      status: { type: "status", live: true, playing: true, rate: 2, last_tick: 10, final_tick: 20, progress: "" },
    });
    shown(live, <TimeLine />);
    fireEvent.click(screen.getByRole("button", { name: en.time.runPause }));
    expect(pause).toHaveBeenCalled();
    fireEvent.click(screen.getByRole("button", { name: en.time.stepBack }));
    await waitFor(() => expect(live.getState().tick).toBe(9));
    fireEvent.click(screen.getByRole("button", { name: en.time.now }));
    await waitFor(() => expect(live.getState().live).toBe(true));
  });

  test("offers nothing to a live run that may not be steered", async () => {
    const store = await opened(standIn({ live: true, last_tick: 10, may: [] }));
    shown(store, <TimeLine />);
    expect(screen.queryByRole("button", { name: en.time.runPause })).toBeNull();
    expect(screen.queryByRole("button", { name: en.time.play })).toBeNull();
  });
});

test("the talk shows who says what, and a click on a line opens its why", async () => {
  const store = await opened(standIn(), { tick: 9 });
  shown(store, <TalkList />);
  expect(await screen.findByText("Line 9.")).toBeTruthy();
  expect(screen.queryByText("Line 12.")).toBeNull();
  store.getState().goTo(12);
  fireEvent.click(await screen.findByText("Line 12."));
  expect(store.getState().cards).toEqual([{ kind: "why", id: "t12.ada.0" }]);
});

test("the log asks the server for what the filters say", async () => {
  const source = standIn();
  shown(await opened(source, { tick: 60 }), <Log />);
  await screen.findAllByText(/Line/);
  fireEvent.change(screen.getByRole("combobox", { name: en.log.category }), { target: { value: "talk" } });
  await waitFor(() =>
    expect(source.lines).toHaveBeenLastCalledWith({
      agent: "",
      category: "talk",
      text: "",
      place: "",
      to: 60,
      limit: 400,
    }),
  );
});

test("people are found by what they do", async () => {
  const store = await opened(standIn(), { tick: 4 });
  shown(store, <People />);
  fireEvent.change(screen.getByRole("searchbox"), { target: { value: "cho" } });
  fireEvent.click(within(screen.getAllByRole("list")[0]!).getByRole("button"));
  expect(store.getState().cards).toEqual([{ kind: "agent", id: "cho" }]);
});

describe("somebody's card", () => {
  test("shows plan, beliefs beside the truth, and ties; arrow keys go through them", async () => {
    shown(await opened(standIn(), { tick: 30 }), <AgentCard id="ada" />);
    const tabs = screen.getAllByRole("tab");
    expect((await screen.findByText(en.who.thinking)).nextSibling?.textContent).toBe("Ben");
    fireEvent.click(tabs[1]!);
    expect((await screen.findByText("selling pears")).closest("li")?.getAttribute("aria-current")).toBe("time");
    expect(screen.getByText("breakfast").closest("li")?.className).toBe("done");
    fireEvent.click(tabs[4]!);
    const stale = (await screen.findByText(en.belief.outdated)).closest("li")!;
    expect(stale.textContent).toContain("believes whole · Square");
    expect(stale.textContent).toContain("true now cracked · Square");
    fireEvent.keyDown(tabs[4]!, { key: "ArrowRight" });
    expect(await screen.findByText("We sell pears.")).toBeTruthy();
    fireEvent.click(screen.getByText(/Rests on/));
    expect(await screen.findByText("Memory 1.")).toBeTruthy();
  });

  test("tells what they mean to do, how far it is and what moved it", async () => {
    const store = await opened(standIn(), { tick: 30 });
    shown(store, <AgentCard id="ada" />);
    fireEvent.click(screen.getAllByRole("tab")[1]!);
    const mending = (await screen.findByText("mend the bell")).closest("li")!;
    for (const said of ["open", "Ben", "step 1 of 3", "failed 2 times", "by 08:00"]) {
      expect(within(mending).getByText(said)).toBeTruthy();
    }
    const visit = screen.getByText("call on Cho").closest("li")!;
    expect(within(visit).getByText("given up")).toBeTruthy();
    expect(within(visit).queryByRole("button", { name: en.goals.moved })).toBeNull();
    fireEvent.click(within(mending).getByRole("button", { name: en.goals.moved }));
    expect(store.getState().cards).toEqual([{ kind: "why", id: "t12.ada.0" }]);
  });

  test("tells what they know of their own past, with its memories and its reasons", async () => {
    const store = await opened(standIn(), { tick: 30 });
    shown(store, <AgentCard id="ada" />);
    fireEvent.click(screen.getAllByRole("tab")[3]!);
    const told = (await screen.findByText("there is a feast at seven")).closest("li")!;
    expect(told.textContent).toContain("told Ben · 2 times06:45there is a feast at seven");
    const promised = screen.getByText("by 08:00").closest("li")!;
    expect(promised.textContent).toContain("promised Cho");
    fireEvent.click(within(told).getByText(/Rests on/));
    expect(await screen.findByText("Memory 2.")).toBeTruthy();
    fireEvent.click(within(told).getByRole("button", { name: en.who.why }));
    expect(store.getState().cards).toEqual([{ kind: "why", id: "t9.ada.0" }]);
    fireEvent.click(within(told).getByRole("button", { name: "06:45" }));
    expect(store.getState().tick).toBe(9);
  });

  test("ranks memories for a question and shows the parts of each score", async () => {
    const source = standIn();
    shown(await opened(source, { tick: 30 }), <AgentCard id="ada" />);
    fireEvent.click(screen.getAllByRole("tab")[2]!);
    await screen.findByText("A pear fell.");
    fireEvent.change(screen.getByRole("textbox", { name: en.memory.query }), { target: { value: "pears?" } });
    fireEvent.submit(screen.getByRole("search"));
    expect(await screen.findByRole("img", { name: /score 1.50: relevance 0.50, recency 1.00/ })).toBeTruthy();
    expect(source.memories).toHaveBeenLastCalledWith(
      "ada",
      expect.objectContaining({ at: 30, query: "pears?", policy: "recall", k: 12 }),
    );
  });

  test("leads to why they did what they last did", async () => {
    const store = await opened(standIn(), { tick: 31 });
    shown(store, <AgentCard id="ada" />);
    fireEvent.click(screen.getByRole("button", { name: en.who.whyLast }));
    await waitFor(() => expect(store.getState().cards).toEqual([{ kind: "why", id: "t30.ada.0" }]));
  });

  test("of a stranger says that nobody of that name lives here, and asks for nothing", async () => {
    const source = standIn();
    shown(await opened(source), <AgentCard id="nobody" />);
    expect(screen.getByText(en.who.unknown("nobody"))).toBeTruthy();
    expect(source.agent).not.toHaveBeenCalled();
  });

  test("cannot be talked with where nothing can be done", async () => {
    shown(await opened(), <AgentCard id="ada" />);
    expect(screen.queryByRole("button", { name: en.who.ask })).toBeNull();
  });
});

test("a why begins with the memory that was cited, and shows what it rests on", async () => {
  shown(await opened(), <WhyCard id="t12.ada.0" />);
  const tipped = (await screen.findByText(en.why.tipped)).closest("section")!;
  const rows = within(tipped).getAllByRole("button", { expanded: false });
  expect(rows.map((row) => row.textContent)).toEqual([
    expect.stringContaining("Ben asked about tonight."),
    expect.stringContaining("There is a feast tonight."),
    expect.stringContaining("Ben likes pears."),
  ]);
  expect(await within(tipped).findByText("Memory 1.")).toBeTruthy();
  expect(screen.getByText(/Come to the feast/)).toBeTruthy();
  expect(screen.getByText(en.why.origin)).toBeTruthy();
  expect(screen.getByText(en.why.nearly("bye.nod", "whim < 80 (91)"))).toBeTruthy();
  expect(screen.getByText(en.why.heldBack("sky = rain (clear)"))).toBeTruthy();
});

test("Korean words stand in the page, and the run keeps its own", async () => {
  shown(await opened(), <WhyCard id="t12.ada.0" />, "ko");
  expect(await screen.findByText("선택을 기울게 한 기억")).toBeTruthy();
  expect(screen.getByText("There is a feast tonight.")).toBeTruthy();
});

test("cards can be closed and gone back on", async () => {
  const store = await opened();
  shown(store, <Cards />);
  expect(screen.queryByRole("complementary")).toBeNull();
  store.getState().open({ kind: "area", id: "square" });
  store.getState().open({ kind: "object", id: "bell" });
  fireEvent.click(await screen.findByRole("button", { name: en.app.back }));
  expect(await screen.findByRole("heading", { name: "Square" })).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: en.app.close }));
  expect(store.getState().cards).toEqual([]);
});

test.each(["Enter", " "])("somebody in the network is opened by the key %o, which does nothing else", async (key) => {
  const network = [{ between: ["ada", "ben"], lines: 3 }] as ReturnType<typeof metrics>["network"];
  const source = { ...standIn(), metrics: vi.fn(async (at: number) => metrics(at, { network })) };
  const store = await opened(source, { tick: 7 });
  shown(store, <MetricsPanel />);
  const [node] = await screen.findAllByRole("button", { name: "Ada" });
  expect(fireEvent.keyDown(node!, { key: "x" })).toBe(true);
  expect(store.getState().cards).toEqual([]);
  expect(fireEvent.keyDown(node!, { key })).toBe(false);
  expect(store.getState().cards).toMatchObject([{ kind: "agent", id: "ada" }]);
});

test("the verdict on a mind and the answers that lost their words are told with what was asked", async () => {
  const verdicts = ["ollama:tiny is too small for act: 41 of 50 answers were replaced"];
  const spent = { from_cache: 0, prompt_tokens: 0, answer_tokens: 0, cost: 0 };
  const usage = [{ agent_id: "ada", task: "act", asked: 50, fallbacks: 3, lost: 38, ...spent }];
  const source = { ...standIn(), metrics: vi.fn(async (at: number) => metrics(at, { verdicts, usage })) };
  shown(await opened(source, { tick: 7 }), <MetricsPanel />);
  const section = await screen.findByRole("region", { name: new RegExp(en.metrics.usage) });
  expect(within(section).getByText(verdicts[0]!)).toBeTruthy();
  expect(within(section).getByRole("columnheader", { name: en.metrics.lost })).toBeTruthy();
  expect(within(section).getAllByText("38")).toHaveLength(2);
});

describe("what emerges", () => {
  test("is a line for η and one for each fact, with the shares at the tick shown", async () => {
    shown(await opened(standIn(), { tick: 40 }), <MetricsPanel />);
    const section = await screen.findByRole("region", { name: new RegExp(en.metrics.emerges) });
    expect(within(section).getByRole("img", { name: en.metrics.curves("09:20") })).toBeTruthy();
    const names = within(section).getAllByRole("listitem");
    expect(names.map((one) => one.textContent)).toEqual([
      `${en.metrics.acquainted}50%`,
      "there is a feast at seven100%",
    ]);
    expect(section.querySelectorAll(".curves .trace")).toHaveLength(2);
    expect([...section.querySelectorAll("text")].map((one) => one.textContent)).toContain("08:00");
  });

  test("needs two ticks", async () => {
    const source = { ...standIn(), hours: vi.fn(async () => []) };
    shown(await opened(source, { tick: 0 }), <MetricsPanel />);
    expect(await screen.findByText(en.metrics.noCurves)).toBeTruthy();
  });
});

describe("stars", () => {
  const kept = (): { readonly stars: Record<string, number>; readonly source: ReturnType<typeof standIn> } => {
    const stars: Record<string, number> = { "t12.ada.0": 0, "t7.ada.0": 2 };
    const rate = vi.fn(async (id: string, given: number) => (stars[id] = given));
    const ratings = vi.fn(async () => ({ ...stars }));
    return { stars, source: standIn({ may: ["rate"] }, { rate, ratings }) };
  };

  test("of an answer are given with the keys, and only those that were given are", async () => {
    const { stars, source } = kept();
    shown(await opened(source, { tick: 12 }), <WhyCard id="t12.ada.0" />);
    const group = await screen.findByRole("radiogroup", { name: en.rating.title });
    expect(screen.getByText(en.rating.none)).toBeTruthy();
    const radios = within(group).getAllByRole("radio");
    expect(radios.map((one) => one.tabIndex)).toEqual([0, -1, -1, -1, -1]);
    radios[0]!.focus();
    for (const key of ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]) {
      expect(fireEvent.keyDown(document.activeElement!, { key })).toBe(false);
    }
    expect(document.activeElement).toBe(radios[2]);
    expect(stars["t12.ada.0"]).toBe(0);
    fireEvent.click(radios[2]!);
    expect(await screen.findByText(en.rating.of(3))).toBeTruthy();
    expect(stars["t12.ada.0"]).toBe(3);
    expect(screen.getByRole("radio", { checked: true })).toBe(radios[2]);
  });

  test("of a memory are shown in the list, and can be changed where it is opened", async () => {
    const { stars, source } = kept();
    shown(await opened(source, { tick: 12 }), <AgentCard id="ada" />);
    fireEvent.click(screen.getByRole("tab", { name: en.who.memory }));
    expect(await screen.findByRole("img", { name: en.rating.of(2) })).toBeTruthy();
    fireEvent.click(screen.getByText("A pear fell."));
    fireEvent.click(await screen.findByRole("radio", { name: en.rating.of(5) }));
    expect(await screen.findByRole("img", { name: en.rating.of(5) })).toBeTruthy();
    expect(stars["t7.ada.0"]).toBe(5);
  });

  test.each([
    ["what cannot be rated", ["rate"], 1],
    ["a town", ["talk"], 0],
  ] as const)("are not offered for %s", async (_, may, asked) => {
    const ratings = vi.fn(async () => ({ "t99.ada.0": 4 }));
    shown(await opened(standIn({ may: [...may] }, { ratings }), { tick: 12 }), <WhyCard id="t12.ada.0" />);
    await screen.findByText(en.why.stored);
    await waitFor(() => expect(ratings).toHaveBeenCalledTimes(asked));
    expect(screen.queryByRole("radiogroup")).toBeNull();
  });
});

describe("god mode", () => {
  test("says what will happen before it happens, and what was accepted", async () => {
    const preview = vi.fn(async () => "Square will perceive: Rain.");
    const submit = vi.fn(async () => "From tick 11 on: Rain.");
    shown(await opened(standIn(MAY, { preview, submit })), <Act />);
    fireEvent.change(screen.getByRole("textbox"), { target: { value: " Rain. " } });
    fireEvent.click(screen.getByRole("button", { name: en.act.preview }));
    expect(await screen.findByText("Square will perceive: Rain.")).toBeTruthy();
    fireEvent.click(screen.getByRole("button", { name: en.act.submit }));
    expect(await screen.findByText("From tick 11 on: Rain.")).toBeTruthy();
    expect(submit).toHaveBeenCalledExactlyOnceWith("god", "Rain.", "");
    expect((screen.getByRole("textbox") as HTMLTextAreaElement).value).toBe("");
  });

  test("keeps the sentence when it is refused", async () => {
    const submit = () =>
      Promise.reject(
        new Failure({ type: "", title: "nobody is there", status: 409, detail: "", hint: "name a place" }),
      );
    shown(await opened(standIn(MAY, { submit })), <Act />);
    fireEvent.change(screen.getByRole("textbox"), { target: { value: "Rain." } });
    fireEvent.click(screen.getByRole("button", { name: en.act.submit }));
    expect((await screen.findByRole("alert")).textContent).toContain("name a place");
    expect((screen.getByRole("textbox") as HTMLTextAreaElement).value).toBe("Rain.");
  });

  test("is not offered for a recording", async () => {
    shown(await opened(), <Dock />);
    expect(screen.getAllByRole("tab").map((tab) => tab.textContent)).not.toContain(en.tabs.act);
  });
});

test("talk with somebody: question, answer, what it rests on, another answer, a thumb", async () => {
  const answer = (text: string): Answer => ({
    agent_id: "ada",
    question: "How are you?",
    answer: text,
    outcome: "value",
    mind: "offline",
    asked_before: null,
    rests: [{ memory: memory(3, "The pears are ripe.") }],
  });
  const ask = vi.fn(async () => answer("Well enough."));
  const retry = vi.fn(async () => answer("Splendid."));
  const thumb = vi.fn(async () => answer("Splendid."));
  shown(await opened(standIn(MAY, { ask, retry, thumb }), { tick: 8 }), <AskCard id="ada" />);
  fireEvent.change(screen.getByRole("textbox"), { target: { value: "How are you?" } });
  fireEvent.submit(screen.getByRole("textbox").closest("form")!);
  expect(await screen.findByText("Well enough.")).toBeTruthy();
  expect(ask).toHaveBeenCalledWith("ada", 8, "How are you?");
  fireEvent.click(screen.getByRole("button", { name: en.ask.again }));
  expect(await screen.findByText("Splendid.")).toBeTruthy();
  expect(screen.queryByText("Well enough.")).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: en.ask.good }));
  await waitFor(() =>
    expect(screen.getByRole("button", { name: en.ask.good }).getAttribute("aria-pressed")).toBe("true"),
  );
  fireEvent.click(screen.getByText(/Memories it rests on/));
  expect(await screen.findByText("The pears are ripe.")).toBeTruthy();
});

const CARD: RunCard = { ...TOWN };

function libraryOf(more: Partial<RunLibrary> = {}): RunLibrary {
  return {
    runs: async () => [CARD, { ...CARD, run: "broken", problem: "the file is damaged" }],
    scenarios: async () => [
      {
        name: "plaza",
        title: "Linden Square",
        summary: "A clock.",
        language: "en",
        stage: "town",
        people: 2,
        seed: 7,
        ticks: 144,
      },
    ],
    scenario: async (name) => `name: ${name}`,
    check: async () => ({ findings: [], scenario: null }),
    start: async () => CARD,
    open: () => standIn(),
    ...more,
  };
}

describe("the library", () => {
  test("opens a sound run and starts a scenario", async () => {
    const visit = vi.fn();
    const start = vi.fn(async () => CARD);
    shown(await opened(), <Library library={libraryOf({ start })} current="" visit={visit} />);
    const [sound, broken] = await screen.findAllByRole("button", { name: /Small/ });
    expect((broken as HTMLButtonElement).disabled).toBe(true);
    fireEvent.click(sound!);
    expect(visit).toHaveBeenCalledWith("small");
    fireEvent.click(screen.getByRole("tab", { name: en.library.scenarios }));
    fireEvent.click(await screen.findByRole("button", { name: /Linden Square/ }));
    fireEvent.click(screen.getByRole("button", { name: en.library.start }));
    await waitFor(() => expect(start).toHaveBeenCalledWith({ seed: 7, ticks: 144, scenario: "plaza", text: "" }));
  });

  test("checks a scenario while it is written, and starts none with errors", async () => {
    const wrong = {
      level: "error" as const,
      line: 2,
      column: 1,
      what: 'the key "nam" means nothing here',
      hint: "name?",
    };
    const [plaza] = await libraryOf().scenarios();
    const check = vi.fn(async (text: string) =>
      text.includes("nam:") ? { findings: [wrong], scenario: null } : { findings: [], scenario: plaza! },
    );
    shown(await opened(), <Library library={libraryOf({ check })} current="" visit={vi.fn()} />);
    fireEvent.click(screen.getByRole("tab", { name: en.library.write }));
    const text = screen.getByRole("textbox", { name: en.library.text });
    await screen.findByRole("option", { name: "Linden Square" });
    fireEvent.change(screen.getByRole("combobox", { name: en.library.from }), { target: { value: "plaza" } });
    await waitFor(() => expect((text as HTMLTextAreaElement).value).toBe("name: plaza"));
    fireEvent.change(text, { target: { value: "a: 1\nnam: b" } });
    expect((await screen.findByRole("button", { name: /line 2/ })).textContent).toContain("means nothing here");
    const start = screen.getByRole("button", { name: en.library.start }) as HTMLButtonElement;
    expect(start.disabled).toBe(true);
    fireEvent.change(text, { target: { value: "a: 1\nname: b" } });
    await waitFor(() => expect(start.disabled).toBe(false));
    expect(screen.getByText("Linden Square", { selector: "strong" })).toBeTruthy();
    expect((screen.getByLabelText(en.library.seed) as HTMLInputElement).value).toBe("7");
  });
});

test("the page of one run alone has no library and nothing that could be done", async () => {
  render(<App source={standIn()} />);
  expect(await screen.findByRole("heading", { name: "Small" })).toBeTruthy();
  for (const name of [en.top.library, en.top.fork, en.tabs.act])
    expect(screen.queryByRole("button", { name })).toBeNull();
  expect(screen.getByRole("slider")).toBeTruthy();
});

test("keys move through time, close what is open, and leave text alone", async () => {
  render(<App source={standIn()} />);
  const slider = await screen.findByRole("slider");
  fireEvent.keyDown(document.body, { key: "ArrowRight" });
  await waitFor(() => expect(slider.getAttribute("aria-valuenow")).toBe("1"));
  fireEvent.keyDown(document.body, { key: "." });
  await waitFor(() => expect(slider.getAttribute("aria-valuenow")).toBe("12"));
  fireEvent.click(screen.getByRole("tab", { name: en.tabs.people }));
  fireEvent.keyDown(screen.getByRole("searchbox"), { key: "ArrowRight" });
  expect(slider.getAttribute("aria-valuenow")).toBe("12");
  const ada = within(screen.getByRole("tabpanel")).getByRole("button", { name: /Ada/ });
  ada.focus();
  fireEvent.click(ada);
  expect(await screen.findByRole("heading", { name: "ada Full" })).toBeTruthy();
  expect(document.activeElement?.getAttribute("aria-label")).toBe(en.who.title);
  fireEvent.keyDown(document.body, { key: "Escape" });
  await waitFor(() => expect(screen.queryByRole("heading", { name: "ada Full" })).toBeNull());
  expect(document.activeElement).toBe(ada);
});

test("text of a run is text, whatever it says", async () => {
  const source = standIn();
  const evil = "“<img src=x onerror=alert(1)><script>alert(2)</script>”";
  source.lines = async () => [
    {
      event_id: "t0.ada.0",
      tick: 0,
      time: TOWN.start,
      type: "SAY",
      category: "talk",
      mark: "“",
      agent_id: "ada",
      to: "ben",
      place: "square",
      text: evil,
      facts: [],
      memories: [],
    },
  ];
  const { container } = shown(await opened(source), <TalkList />);
  expect(await screen.findByText(evil.slice(1, -1))).toBeTruthy();
  expect(container.querySelector("script, img[src=x]")).toBeNull();
});
