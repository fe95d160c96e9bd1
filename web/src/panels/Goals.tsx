// What somebody means to do, or what became of it: how far it is, and what moved it last.

import { type ReactElement, useState } from "react";
import type { GoalRow } from "../api";
import { instant, tickOf } from "../view/clock";
import { useView, useViewStore } from "../view/context";
import { named, useWords } from "../words";
import { Icon } from "./icons";
import { Evidence } from "./Memories";
import { Name, Section, useMoment, When } from "./parts";

interface GoalsProps {
  readonly agent: string;
  readonly title: string;
  readonly goals: readonly GoalRow[];
}

export function Goals({ agent, title, goals }: GoalsProps): ReactElement | null {
  if (goals.length === 0) return null;
  return (
    <Section title={title}>
      <ul className="past">
        {goals.map((goal) => (
          <Row key={goal.id} agent={agent} goal={goal} />
        ))}
      </ul>
    </Section>
  );
}

function Row({ agent, goal }: { readonly agent: string; readonly goal: GoalRow }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const moment = useMoment();
  const language = useView((view) => view.town.language);
  const tick = useView((view) => tickOf(instant(goal.changed), view.town.start, view.town.tick_minutes));
  const [open, setOpen] = useState(false);
  const isOpen = goal.status === "open";
  return (
    <li className={isOpen ? "goal" : "goal over"}>
      <Icon name={isOpen ? "spark" : "list"} />
      <div>
        <span className="row spread">
          <b lang={language} title={goal.memory}>
            {goal.text}
          </b>
          <span className={goal.status === "given_up" ? "chip warn" : "chip"}>
            {named(words.goals.status, goal.status)}
          </span>
          <span className="aside">
            <When tick={tick} iso={goal.changed} />
          </span>
        </span>
        <span className="row soft">
          {goal.person && <Name agent={goal.person} />}
          {goal.steps > 1 && <span>{words.goals.steps(goal.done_steps, goal.steps)}</span>}
          {goal.tries > 0 && <span>{words.goals.tries(goal.tries)}</span>}
          {goal.due && isOpen && <span>{words.past.due(moment(goal.due))}</span>}
        </span>
        <span className="row">
          <button type="button" className="link soft" aria-expanded={open} onClick={() => setOpen(!open)}>
            {words.ties.because} ({goal.because.length})
          </button>
          {goal.event && (
            <button
              type="button"
              className="link soft"
              onClick={() => store.getState().open({ kind: "why", id: goal.event })}
            >
              <Icon name="why" /> {words.goals.moved}
            </button>
          )}
        </span>
        {open && <Evidence agent={agent} ids={goal.because} depth={2} />}
      </div>
    </li>
  );
}
