// A run that is open: the scene, and everything around it.

import { type ReactElement, useEffect } from "react";
import type { BuildVillage } from "../scene/village";
import { useView, useViewStore } from "../view/context";
import { addressOf, hashOf, routeOf } from "../view/route";
import type { Opening } from "../view/store";
import { useWords } from "../words";
import { Captions } from "./Captions";
import { Cards } from "./Cards";
import { Dock } from "./Dock";
import { useKeys } from "./keys";
import { Button, ProblemNote } from "./parts";
import { Stage } from "./Stage";
import { unquoted } from "./TalkList";
import { TimeLine } from "./TimeLine";
import { Top } from "./Top";

export interface RoomProps {
  scene?(): Promise<BuildVillage>;
  /** Absent where there is no other run to go to. */
  toLibrary?(): void;
  visit(run: string, opening?: Opening): void;
}

export function Room({ scene, toLibrary, visit }: RoomProps): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const problem = useView((view) => view.problem);
  useKeys();
  useAddress();
  useTitle();
  return (
    <div className="room">
      <button type="button" className="skip" onClick={skip}>
        {words.app.skip}
      </button>
      <Stage {...(scene ? { scene } : {})} />
      <Top {...(toLibrary ? { toLibrary } : {})} visit={visit} />
      <Captions />
      <Dock />
      <Cards />
      <TimeLine />
      <Speech />
      {problem && (
        <div className="toast panel">
          <ProblemNote problem={problem} />
          <Button label={words.app.close} icon="close" onClick={() => store.getState().dismiss()} />
        </div>
      )}
    </div>
  );
}

function skip(): void {
  document.getElementById("panels")?.querySelector<HTMLElement>("[role=tab][tabindex='0']")?.focus();
}

/** What is said, for those who hear the page. */
function Speech(): ReactElement {
  const lines = useView((view) => view.frame.lines);
  const language = useView((view) => view.town.language);
  const characters = useView((view) => view.town.characters);
  const jumped = useView((view) => view.jump);
  const names = new Map(characters.map((one) => [one.id, one.called]));
  const said = jumped ? [] : lines.filter((line) => line.type === "SAY").slice(0, 4);
  return (
    <div className="unseen" role="log" aria-live="polite" lang={language}>
      {said.map((line) => (
        <p key={line.event_id}>
          {names.get(line.agent_id) ?? line.agent_id}: {unquoted(line.text)}
        </p>
      ))}
    </div>
  );
}

/** The address follows what is shown, so that it can be sent to somebody. */
function useAddress(): void {
  const store = useViewStore();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const write = (): void => {
      const { source, tick, live, cards } = store.getState();
      const agent = cards.findLast((card) => card.kind === "agent")?.id;
      const top = cards.at(-1);
      const route = {
        run: source.run,
        ...(live ? {} : { tick }),
        ...(agent ? { agent } : {}),
        ...(top?.kind === "why" ? { event: top.id } : {}),
      };
      if (hashOf(route) !== location.hash) history.replaceState(null, "", addressOf(route));
    };
    // A link to another moment of the same run, or the way back to one.
    const read = (): void => {
      const { source, goTo, open } = store.getState();
      const { run, tick, agent, event } = routeOf(location.hash);
      if (run !== source.run) return;
      if (tick !== undefined && tick !== store.getState().tick) goTo(tick);
      if (agent) open({ kind: "agent", id: agent });
      if (event) open({ kind: "why", id: event });
    };
    addEventListener("hashchange", read);
    const unsubscribe = store.subscribe(() => {
      clearTimeout(timer);
      timer = setTimeout(write, 400);
    });
    return () => {
      clearTimeout(timer);
      removeEventListener("hashchange", read);
      unsubscribe();
    };
  }, [store]);
}

function useTitle(): void {
  const title = useView((view) => view.town.title);
  useEffect(() => {
    document.title = `${title} · Commonplace`;
  }, [title]);
}
