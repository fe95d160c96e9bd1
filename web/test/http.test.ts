import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { httpSource } from "../src/run/http";
import { Failure } from "../src/run/problem";
import type { Listener } from "../src/run/source";
import { addressOf, routeOf } from "../src/view/route";
import { delta, status } from "./stand-in";

class Socket {
  static made: Socket[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: (() => void) | null = null;
  closed = false;
  constructor(readonly url: URL) {
    Socket.made.push(this);
  }
  close(): void {
    this.closed = true;
    this.onclose?.();
  }
}

beforeEach(() => {
  vi.useFakeTimers();
  Socket.made = [];
  vi.stubGlobal("WebSocket", Socket);
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const answer = (body: unknown, init: ResponseInit = {}): Response =>
  new Response(JSON.stringify(body), { headers: { "content-type": "application/json" }, ...init });

test("questions become addresses, and only what is asked is in them", async () => {
  const fetched = vi.fn(async (_: Request) => answer([]));
  vi.stubGlobal("fetch", fetched);
  const source = httpSource("달마루 1");
  await source.memories("ada", { at: 7, min_importance: 3, ids: [1, 2] });
  await source.lines({ to: 9, text: "a&b" });
  expect(fetched.mock.calls.map(([{ url }]) => url.slice(location.origin.length))).toEqual([
    `/api/runs/${encodeURIComponent("달마루 1")}/agents/ada/memories?at=7&min_importance=3&ids=1&ids=2`,
    `/api/runs/${encodeURIComponent("달마루 1")}/lines?to=9&text=a%26b`,
  ]);
});

test("a refusal says what the server says, and a missing server says so", async () => {
  vi.stubGlobal("fetch", async () =>
    answer(
      { title: "there is no run 'x'", status: 404, hint: "look in the library" },
      { status: 404, headers: { "content-type": "application/problem+json" } },
    ),
  );
  await expect(httpSource("x").town()).rejects.toMatchObject({
    problem: { title: "there is no run 'x'", hint: "look in the library", status: 404 },
  });
  vi.stubGlobal("fetch", async () => new Response("<h1>oops</h1>", { status: 502, statusText: "Bad Gateway" }));
  await expect(httpSource("x").town()).rejects.toMatchObject({ problem: { title: "Bad Gateway" } });
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed")));
  await expect(httpSource("x").town()).rejects.toBeInstanceOf(Failure);
});

test("a lost connection is taken up after the last tick that came, later each time, and never after leaving", () => {
  const seen: string[] = [];
  const listener: Listener = {
    joined: () => seen.push("joined"),
    lost: () => seen.push("lost"),
    message: (message) => seen.push(message.type),
  };
  const leave = httpSource("x").follow!(4, listener);
  const after = (): (string | null)[] => Socket.made.map((socket) => socket.url.searchParams.get("after"));
  const [first] = Socket.made;
  first?.onopen?.();
  first?.onmessage?.({ data: JSON.stringify(status()) });
  first?.onmessage?.({ data: JSON.stringify(delta(5)) });
  first?.onmessage?.({ data: JSON.stringify({ type: "something new" }) });
  first?.onclose?.();
  expect(seen).toEqual(["joined", "status", "delta", "lost"]);
  vi.advanceTimersByTime(700);
  expect(after()).toEqual(["4", "5"]);
  for (let turn = 0; turn < 8; turn++) {
    Socket.made.at(-1)?.onclose?.();
    vi.advanceTimersByTime(20_000);
  }
  expect(Socket.made).toHaveLength(10);
  leave();
  vi.advanceTimersByTime(60_000);
  expect(Socket.made).toHaveLength(10);
  expect(Socket.made.at(-1)?.closed).toBe(true);
});

test("an address says where the view is, and a token of the command line does not stay in it", () => {
  const route = { run: "달마루-1", tick: 120, agent: "ada", event: "t12.ada.0" };
  expect(routeOf(addressOf(route).replace(/^[^#]*/, ""))).toEqual(route);
  expect(routeOf("", "?token=secret&run=plaza-1")).toEqual({ run: "plaza-1" });
  expect(addressOf({ run: "plaza-1" })).not.toContain("?");
  expect(routeOf("#run=x&at=-3&who=")).toEqual({ run: "x" });
});
