// Where the page reads a run: over HTTP from the server, or from the data in a one-file replay.

import type {
  AgentDetail,
  Answer,
  Checked,
  Delta,
  EventLine,
  Frames,
  Hour,
  Memories,
  Metrics,
  NewRun,
  operations,
  Reasons,
  RunCard,
  ScenarioCard,
  Snapshot,
  Speaking,
  Status,
  Timeline,
  Town,
} from "../api";

/** Which memories: the tick at which, and what the server's route takes. */
export type MemoryQuery = Query<"memories"> & { readonly at: number };
export type LineQuery = Query<"lines"> & { readonly to: number };
type Query<Name extends "memories" | "lines"> = NonNullable<operations[Name]["parameters"]["query"]>;

export interface Listener {
  /** The connection stands (again). */
  joined(): void;
  message(message: Snapshot | Delta | Status | Speaking): void;
  /** The connection is lost; it is tried again by itself. */
  lost(): void;
}

/** What is read. Every call rejects with a `Failure` (`problem.ts`) the page can show. */
export interface Source {
  readonly run: string;
  /** The first tick there is; 0 if it is left out. */
  readonly first?: number;
  /** False where no policy can rank memories: a question to them is then looked for word by word. */
  readonly ranks?: boolean;
  town(): Promise<Town>;
  timeline(): Promise<Timeline>;
  /** The ticks from … to, both included; at most 288 of them. */
  frames(from: number, to: number): Promise<Frames>;
  lines(query: LineQuery): Promise<readonly EventLine[]>;
  why(eventId: string): Promise<Reasons>;
  agent(agentId: string, at: number): Promise<AgentDetail>;
  memories(agentId: string, query: MemoryQuery): Promise<Memories>;
  metrics(at: number): Promise<Metrics>;
  /** What emerged hour by hour; the last row is that of the tick. */
  hours(at: number): Promise<readonly Hour[]>;
  /** Address of the run as one HTML file to send to somebody; only where there is one. */
  readonly file?: string;
  /** Only where ticks may still come: calls back with every committed tick after `after`. */
  follow?(after: number, listener: Listener): () => void;
  /** Only where the run can be changed. */
  readonly actions?: Actions;
}

/** What a person does to a run. */
export interface Actions {
  play(): Promise<Status>;
  pause(): Promise<Status>;
  step(): Promise<Status>;
  speed(rate: number): Promise<Status>;
  preview(kind: "god" | "voice" | "attempt", text: string, agentId?: string): Promise<string>;
  submit(kind: "god" | "voice" | "attempt", text: string, agentId?: string): Promise<string>;
  ask(agentId: string, at: number, question: string): Promise<Answer>;
  retry(agentId: string, at: number): Promise<Answer>;
  thumb(agentId: string, at: number, thumb: "up" | "down", note?: string): Promise<Answer>;
  /** Event or memory id → stars, 0 for none, of all that can be rated. */
  ratings(): Promise<Readonly<Record<string, number>>>;
  rate(id: string, stars: number): Promise<unknown>;
  fork(at: number, run: string, inject: string): Promise<RunCard>;
}

/** The runs and scenarios of a server. */
export interface Library {
  runs(): Promise<readonly RunCard[]>;
  scenarios(): Promise<readonly ScenarioCard[]>;
  /** The text of a scenario. */
  scenario(name: string): Promise<string>;
  check(text: string): Promise<Checked>;
  start(wanted: NewRun): Promise<RunCard>;
  open(run: string): Source;
}
