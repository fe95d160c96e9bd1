// One tick as the page shows it, and how messages change it.

import type { AgentState, CircumstanceState, Delta, EventLine, ObjectState, Snapshot } from "../api";

export interface Frame {
  readonly tick: number;
  readonly time: string;
  readonly partOfDay: string;
  readonly sky: string;
  readonly wind: string;
  readonly temperature: string;
  /** All that is so. */
  readonly circumstances: readonly CircumstanceState[];
  readonly agents: ReadonlyMap<string, AgentState>;
  readonly objects: ReadonlyMap<string, ObjectState>;
  readonly lines: readonly EventLine[];
}

/** The whole state of a snapshot. */
export function fromSnapshot(message: Snapshot): Frame {
  return {
    ...ambient(message),
    agents: new Map(message.agents.map((agent) => [agent.agent_id, agent])),
    objects: new Map(message.objects.map((thing) => [thing.object_id, thing])),
    lines: message.lines,
  };
}

/**
 * The frame after a delta. Whoever follows an announced path and is not in the delta moves on by one area.
 * Throws for a delta that does not follow the frame: the caller asks for a snapshot then.
 */
export function afterDelta(before: Frame, delta: Delta): Frame {
  if (delta.tick !== before.tick + 1) {
    throw new Error(`tick ${delta.tick} does not follow tick ${before.tick}`);
  }
  const agents = new Map<string, AgentState>();
  for (const [id, agent] of before.agents) agents.set(id, carriedOn(agent, delta.time));
  for (const id of delta.gone) agents.delete(id);
  for (const agent of delta.agents) agents.set(agent.agent_id, agent);
  const objects = new Map(before.objects);
  for (const thing of delta.objects) objects.set(thing.object_id, thing);
  return { ...ambient(delta), agents, objects, lines: delta.lines };
}

function carriedOn(agent: AgentState, time: string): AgentState {
  const path = agent.path.slice(1);
  const position = path[0] ?? agent.position;
  return { ...agent, position, path: path.length > 1 ? path : [], dialogue: "", to: "", timestamp: time };
}

function ambient(message: Snapshot | Delta): Omit<Frame, "agents" | "objects" | "lines"> {
  return {
    tick: message.tick,
    time: message.time,
    partOfDay: message.part_of_day,
    sky: message.sky,
    wind: message.wind,
    temperature: message.temperature,
    circumstances: message.circumstances,
  };
}
