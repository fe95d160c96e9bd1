// A run read from the server: REST for what is asked, a WebSocket for ticks as they are made.

import { Failure } from "./problem";
import type { Actions, Library, LineQuery, Listener, MemoryQuery, Source } from "./source";
import type { Answer, Delta, Problem, Snapshot, Speaking, Status, Town } from "./types";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15_000;

type Field = string | number | readonly number[] | undefined;

/** The server's runs and scenarios. `base` is empty where the page comes from the server itself. */
export function httpLibrary(base = ""): Library {
  return {
    runs: () => ask(`${base}/api/runs`),
    scenarios: () => ask(`${base}/api/scenarios`),
    scenario: async (name) => (await ask<{ text: string }>(`${base}/api/scenarios/${encodeURIComponent(name)}`)).text,
    check: (text) => ask(`${base}/api/scenarios/check`, { text }),
    start: (wanted) => ask(`${base}/api/runs`, wanted),
    open: (run) => httpSource(run, base),
  };
}

/** One run of the server. What may be done to it is known once `town()` has answered. */
export function httpSource(run: string, base = ""): Source {
  const root = `${base}/api/runs/${encodeURIComponent(run)}`;
  const agentPath = (id: string): string => `${root}/agents/${encodeURIComponent(id)}`;
  return {
    run,
    town: () => ask<Town>(root),
    timeline: () => ask(`${root}/timeline`),
    frames: (from, to) => ask(`${root}/frames${query({ from, to })}`),
    lines: (wanted: LineQuery) => ask(`${root}/lines${query({ ...wanted })}`),
    why: (eventId) => ask(`${root}/events/${encodeURIComponent(eventId)}/why`),
    agent: (id, at) => ask(`${agentPath(id)}${query({ at })}`),
    memories: (id, { minImportance, ...wanted }: MemoryQuery) =>
      ask(`${agentPath(id)}/memories${query({ ...wanted, min_importance: minImportance })}`),
    metrics: (at) => ask(`${root}/metrics${query({ at })}`),
    hours: (at) => ask(`${root}/hours${query({ at })}`),
    follow: (after, listener) => follow(`${root}/live`, after, listener),
    file: `${root}/replay.html`,
    actions: httpActions(root),
  };
}

function httpActions(root: string): Actions {
  const control = (action: string, rate?: number): Promise<Status> =>
    ask(`${root}/control`, rate === undefined ? { action } : { action, rate });
  const input = async (kind: string, text: string, agentId: string, preview: boolean): Promise<string> => {
    const accepted = await ask<{ text: string }>(`${root}/inputs`, { kind, text, agent_id: agentId, preview });
    return accepted.text;
  };
  const talk = (agentId: string, at: number, rest: object): Promise<Answer> =>
    ask(`${root}/talk`, { agent_id: agentId, at, ...rest });
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
    ratings: () => ask(`${root}/ratings`),
    rate: (id, stars) => ask(`${root}/ratings`, { id, stars }),
    fork: (at, run, inject) => ask(`${root}/fork`, { at, ...(run ? { run } : {}), inject }),
  };
}

function query(fields: Readonly<Record<string, Field>>): string {
  const given: [string, string][] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined || value === "") continue;
    if (typeof value === "object") for (const one of value) given.push([key, String(one)]);
    else given.push([key, String(value)]);
  }
  const text = new URLSearchParams(given).toString();
  return text ? `?${text}` : "";
}

async function ask<T>(url: string, body?: unknown): Promise<T> {
  let response: Response;
  try {
    response = await fetch(url, {
      credentials: "same-origin",
      ...(body === undefined
        ? {}
        : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
    });
  } catch {
    throw new Failure(problem("unreachable", 0));
  }
  if (!response.ok) throw new Failure(await refusal(response));
  return (await response.json()) as T;
}

async function refusal(response: Response): Promise<Problem> {
  const plain = problem(response.statusText || `HTTP ${response.status}`, response.status);
  if (!response.headers.get("content-type")?.includes("json")) return plain;
  try {
    return { ...plain, ...((await response.json()) as Partial<Problem>) };
  } catch {
    return plain;
  }
}

function problem(title: string, status: number): Problem {
  return { type: "about:blank", title, status, detail: "", hint: "" };
}

/** Follow a live run; a lost connection is tried again after 0.5, 1, 2 … 15 s, from the last tick that came. */
function follow(url: string, after: number, listener: Listener): () => void {
  let last = after;
  let wait = FIRST_WAIT;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let socket: WebSocket | null = null;
  let over = false;

  const connect = (): void => {
    const address = new URL(`${url}${query({ after: last >= 0 ? last : undefined })}`, location.href);
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
