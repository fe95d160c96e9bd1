// Who talks with whom: spoken lines put together into conversations.

import type { EventLine } from "../api";

/** Ticks of silence after which the same two begin another conversation. */
const SILENCE = 6;

export interface Talk {
  /** Event id of its first line. */
  readonly id: string;
  readonly place: string;
  readonly members: readonly string[];
  readonly lines: readonly EventLine[];
  readonly last: number;
  readonly ended: boolean;
}

/** Conversations in the order of their last line. A line goes to the latest talk that one of its two people is in. */
export function talksOf(lines: readonly EventLine[]): readonly Talk[] {
  const talks: {
    id: string;
    place: string;
    members: Set<string>;
    lines: EventLine[];
    last: number;
    ended: boolean;
  }[] = [];
  for (const line of lines) {
    if (line.type === "CONVERSATION_ENDED") {
      const talk = talks.findLast(
        (one) => !one.ended && one.members.has(parseSpeaker(line)) && one.last >= line.tick - SILENCE,
      );
      if (talk) talk.ended = true;
      continue;
    }
    if (line.type !== "SAY") continue;
    const people = [line.agent_id, line.to].filter((id) => id !== "");
    const open = talks.findLast(
      (one) => !one.ended && line.tick - one.last <= SILENCE && joins(one.members, people) && one.place === line.place,
    );
    const talk = open ?? {
      id: line.event_id,
      place: line.place,
      members: new Set<string>(),
      lines: [],
      last: 0,
      ended: false,
    };
    if (!open) talks.push(talk);
    for (const id of people) talk.members.add(id);
    talk.lines.push(line);
    talk.last = line.tick;
  }
  return talks.sort((a, b) => a.last - b.last).map((talk) => ({ ...talk, members: [...talk.members] }));
}

/** Two people go on with a talk of theirs; somebody who speaks to nobody joins the talk they are in. */
function joins(members: ReadonlySet<string>, people: readonly string[]): boolean {
  return people.some((id) => members.has(id)) && (members.size > 2 || people.every((id) => members.has(id)));
}

/** Character part of an event id such as `t31.mira.0`. */
function parseSpeaker(line: EventLine): string {
  return line.agent_id || line.event_id.split(".").slice(1, -1).join(".");
}
