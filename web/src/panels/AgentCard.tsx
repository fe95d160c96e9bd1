// Who somebody is: what they do and plan, remember, believe, and think of others, as of the tick shown.

import { type ReactElement, type ReactNode, useState } from "react";
import type { AgentDetail, Character, EventLine, Thought } from "../api";
import { useAsked } from "../view/asked";
import { useView, useViewStore } from "../view/context";
import type { View } from "../view/store";
import { useWords } from "../words";
import { Beliefs } from "./Beliefs";
import { Goals } from "./Goals";
import { MemoryView } from "./MemoryView";
import { Past } from "./Past";
import { PlanView } from "./PlanView";
import { Button, Place, Portrait, ProblemNote, Section, So, Tabs } from "./parts";
import { Ties } from "./Ties";

type Part = "about" | "plan" | "memory" | "past" | "belief" | "ties";

export function AgentCard({ id }: { readonly id: string }): ReactElement {
  const words = useWords();
  const character = useView((view) => view.town.characters.find((one) => one.id === id));
  if (character) return <Known character={character} />;
  return (
    <div className="pad">
      <p>{words.who.unknown(id)}</p>
      <p className="soft">{words.who.unknownHint}</p>
    </div>
  );
}

function Known({ character }: { readonly character: Character }): ReactElement {
  const words = useWords();
  const id = character.id;
  const [part, setPart] = useState<Part>("about");
  const detail = useDetail(id);
  const shown = (then: (detail: AgentDetail) => ReactNode): ReactNode => {
    if (detail.problem) return <ProblemNote problem={detail.problem} retry={detail.again} />;
    return detail.value ? then(detail.value) : <p className="soft">{words.app.loadingPart}</p>;
  };
  return (
    <article className="agent">
      <Head character={character} detail={detail.value} />
      <Tabs<Part>
        label={words.who.parts}
        tabs={[
          { id: "about", label: words.who.about },
          { id: "plan", label: words.who.plan },
          { id: "memory", label: words.who.memory },
          { id: "past", label: words.who.past },
          { id: "belief", label: words.who.belief },
          { id: "ties", label: words.who.ties },
        ]}
        chosen={part}
        choose={setPart}
        panelClass="tabpanel scroll"
      >
        {part === "about" && <About character={character} detail={detail.value} />}
        {part === "plan" &&
          shown((read) => (
            <>
              <Goals agent={id} title={words.goals.title} goals={read.goals.filter((goal) => goal.status === "open")} />
              <PlanView plan={read.plan} />
              <Goals agent={id} title={words.goals.over} goals={read.goals.filter((goal) => goal.status !== "open")} />
            </>
          ))}
        {part === "memory" && <MemoryView agent={id} />}
        {part === "past" && shown((read) => <Past agent={id} past={read.past} />)}
        {part === "belief" && shown((read) => <Beliefs beliefs={read.beliefs} />)}
        {part === "ties" && shown((read) => <Ties agent={id} ties={read.ties} />)}
      </Tabs>
    </article>
  );
}

/** The tick that panels read at: the one shown, or while ticks fly past, one a second. */
export function useReadingTick(): number {
  const tick = useView((view) => view.frame.tick);
  const rate = useView((view) => (view.playing ? view.rate : (view.status?.rate ?? 1)));
  return rate > 2 ? tick - (tick % Math.round(rate)) : tick;
}

function useDetail(id: string): ReturnType<typeof useAsked<AgentDetail>> {
  const store = useViewStore();
  const tick = useReadingTick();
  return useAsked(() => store.getState().source.agent(id, tick), `agent ${id}`, `${tick}`, 120);
}

function Head({
  character,
  detail,
}: {
  readonly character: Character;
  readonly detail: AgentDetail | null;
}): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const language = useView((view) => view.town.language);
  const followed = useView((view) => view.followed === character.id);
  const state = useView((view) => view.frame.agents.get(character.id));
  const talks = useView((view) => view.source.actions !== undefined && view.town.may.includes("talk"));
  return (
    <header className="head">
      <div className="identity">
        <Portrait agent={character.id} size="large" />
        <div lang={language}>
          <h2>{character.name}</h2>
          <p className="soft">
            {character.work} · {words.who.years(character.age)}
          </p>
          <p className="chips">
            {character.traits.map((trait) => (
              <span key={trait} className="chip">
                {trait}
              </span>
            ))}
          </p>
        </div>
      </div>
      {state ? (
        <p className="doing" lang={language}>
          <span className="emoji" aria-hidden="true">
            {state.emoji}
          </span>
          <span>
            {state.current_action}{" "}
            <span className="soft">
              @ <Place area={state.position} />
            </span>
            {detail?.mood && <span className="mood soft"> · {words.who.mood[detail.mood] ?? detail.mood}</span>}
          </span>
        </p>
      ) : (
        <p className="soft">{words.who.gone}</p>
      )}
      <So of={character.id} />
      <div className="row">
        <Button
          label={followed ? words.who.following : words.who.follow}
          icon="eye"
          text
          pressed={followed}
          keys="F"
          onClick={() => store.getState().follow(followed ? null : character.id)}
        />
        {talks && (
          <Button
            label={words.who.ask}
            icon="talk"
            text
            onClick={() => store.getState().open({ kind: "talk", id: character.id })}
          />
        )}
        <Button
          label={words.who.whyLast}
          icon="why"
          onClick={() => void openLastDeed(store.getState(), character.id)}
        />
      </div>
    </header>
  );
}

/** Opens the reasons of what somebody last said or did: in the tick shown, else before. */
async function openLastDeed({ source, frame, open, report }: View, id: string): Promise<void> {
  const own = (line: EventLine): boolean => line.agent_id === id;
  try {
    const line =
      frame.lines.findLast(own) ?? (await source.lines({ to: frame.tick, agent: id, limit: 40 })).findLast(own);
    if (line) open({ kind: "why", id: line.event_id });
  } catch (thrown) {
    report(thrown);
  }
}

function About({
  character,
  detail,
}: {
  readonly character: Character;
  readonly detail: AgentDetail | null;
}): ReactElement {
  const words = useWords();
  const town = useView((view) => view.town);
  const thought = ({ kind, about }: Thought): string =>
    words.who.thoughts[kind] ?? town.characters.find((one) => one.id === about)?.called ?? about;
  const objects = useView((view) => view.frame.objects);
  const things = new Map(town.things.map((thing) => [thing.id, thing.name]));
  const carries = [...objects.values()].filter((thing) => thing.parent === character.id);
  return (
    <div lang={town.language}>
      <p className="prose">{character.background}</p>
      <Section title={words.who.goals}>
        <ul className="plain">
          {character.goals.map((goal) => (
            <li key={goal}>{goal}</li>
          ))}
        </ul>
      </Section>
      <dl className="facts">
        <dt>{words.who.home}</dt>
        <dd>
          <Place area={character.home} />
        </dd>
        {carries.length > 0 && (
          <>
            <dt>{words.who.carries}</dt>
            <dd>{carries.map((thing) => things.get(thing.object_id) ?? thing.object_id).join(", ")}</dd>
          </>
        )}
        {detail && detail.knows.length > 0 && (
          <>
            <dt>{words.who.knows}</dt>
            <dd>{detail.knows.map((fact) => town.facts.find((one) => one.id === fact)?.text ?? fact).join(" ")}</dd>
          </>
        )}
        {detail && detail.thinking.length > 0 && (
          <>
            <dt>{words.who.thinking}</dt>
            <dd>{detail.thinking.map(thought).join(", ")}</dd>
          </>
        )}
      </dl>
    </div>
  );
}
