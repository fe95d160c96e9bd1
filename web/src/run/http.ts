// A run read from the server: REST for what is asked, a WebSocket for ticks as they are made.

import createClient from "openapi-fetch";
import type { Ask, Control, Delta, Input, paths, Snapshot, Speaking, Status } from "../api";
import { Failure } from "./problem";
import type { Actions, Library, Listener, Source } from "./source";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;

const server = createClient<paths>({
  fetch: (request) =>
    fetch(request).catch(() => {
      throw refused("unreachable", 0);
    }),
});

/** The server's runs and scenarios. */
export const httpLibrary: Library = {
  runs: () => told(server.GET("/api/runs")),
  scenarios: () => told(server.GET("/api/scenarios")),
  scenario: async (scenario) =>
    (await told(server.GET("/api/scenarios/{scenario}", { params: { path: { scenario } } }))).text,
  check: (text) => told(server.POST("/api/scenarios/check", { body: { text } })),
  start: (body) => told(server.POST("/api/runs", { body })),
  open: httpSource,
};

/** One run of the server. What may be done to it is known once `town()` has answered. */
export function httpSource(run: string): Source {
  const path = { run };
  const root = `/api/runs/${encodeURIComponent(run)}`;
  return {
    run,
    town: () => told(server.GET("/api/runs/{run}", { params: { path } })),
    timeline: () => told(server.GET("/api/runs/{run}/timeline", { params: { path } })),
    frames: (from, to) => told(server.GET("/api/runs/{run}/frames", { params: { path, query: { from, to } } })),
    lines: (query) => told(server.GET("/api/runs/{run}/lines", { params: { path, query } })),
    why: (event_id) =>
      told(server.GET("/api/runs/{run}/events/{event_id}/why", { params: { path: { run, event_id } } })),
    agent: (agent_id, at) =>
      told(server.GET("/api/runs/{run}/agents/{agent_id}", { params: { path: { run, agent_id }, query: { at } } })),
    memories: (agent_id, query) =>
      told(server.GET("/api/runs/{run}/agents/{agent_id}/memories", { params: { path: { run, agent_id }, query } })),
    metrics: (at) => told(server.GET("/api/runs/{run}/metrics", { params: { path, query: { at } } })),
    hours: (at) => told(server.GET("/api/runs/{run}/hours", { params: { path, query: { at } } })),
    follow: (after, listener) => follow(`${root}/live`, after, listener),
    file: `${root}/replay.html`,
    actions: httpActions(run),
  };
}

function httpActions(run: string): Actions {
  const params = { path: { run } };
  const control = (action: Control["action"], rate = 2): Promise<Status> =>
    told(server.POST("/api/runs/{run}/control", { params, body: { action, rate } }));
  const input = async (kind: Input["kind"], text: string, agent_id: string, preview: boolean): Promise<string> =>
    (await told(server.POST("/api/runs/{run}/inputs", { params, body: { kind, text, agent_id, preview } }))).text;
  const talk = (agent_id: string, at: number, rest: Partial<Ask>): ReturnType<Actions["ask"]> => {
    const body = { agent_id, at, question: "", retry: false, note: "", ...rest };
    return told(server.POST("/api/runs/{run}/talk", { params, body }));
  };
  return {
    play: () => control("play"),
    pause: () => control("pause"),
    step: () => control("step"),
    speed: (rate) => control("speed", rate),
    preview: (kind, text, agentId = "") => input(kind, text, agentId, true),
    submit: (kind, text, agentId = "") => input(kind, text, agentId, false),
    ask: (agentId, at, question) => talk(agentId, at, { question }),
    retry: (agentId, at) => talk(agentId, at, { retry: true }),
    thumb: (agentId, at, thumb, note = "") => talk(agentId, at, { thumb, note }),
    ratings: () => told(server.GET("/api/runs/{run}/ratings", { params })),
    rate: (id, stars) => told(server.POST("/api/runs/{run}/ratings", { params, body: { id, stars } })),
    fork: (at, name, inject) =>
      told(server.POST("/api/runs/{run}/fork", { params, body: { at, run: name || null, inject } })),
  };
}

/** What the server answers; rejects with what it refuses. */
async function told<T>(asked: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await asked;
  if (response.ok) return data as T;
  throw refused(response.statusText || `HTTP ${response.status}`, response.status, error);
}

/** `said` is what the server says of it; a page of a proxy says nothing. */
function refused(title: string, status: number, said?: unknown): Failure {
  const more = typeof said === "object" ? said : {};
  return new Failure({ type: "about:blank", title, status, detail: "", hint: "", ...more });
}

/** Follow a live run; a lost connection is tried again after 0.5, 1, 2 … 15 s, from the last tick that came. */
function follow(url: string, after: number, listener: Listener): () => void {
  let last = after;
  let wait = FIRST_WAIT;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let socket: WebSocket | null = null;
  let over = false;

  const connect = (): void => {
    const address = new URL(`${url}${last >= 0 ? `?after=${last}` : ""}`, location.href);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    const opened = new WebSocket(address);
    socket = opened;
    opened.onopen = () => listener.joined();
    opened.onmessage = (event: MessageEvent<string>) => {
      const message = JSON.parse(event.data) as Snapshot | Delta | Status | Speaking;
      if (!["snapshot", "delta", "status", "speaking"].includes(message.type)) return;
      wait = FIRST_WAIT;
      if ("seq" in message) last = message.seq;
      listener.message(message);
    };
    opened.onclose = () => {
      if (over || socket !== opened) return;
      listener.lost();
      timer = setTimeout(connect, wait * (0.75 + Math.random() / 2));
      wait = Math.min(wait * 2, LONGEST_WAIT);
    };
  };

  connect();
  return () => {
    over = true;
    clearTimeout(timer);
    socket?.close();
  };
}
