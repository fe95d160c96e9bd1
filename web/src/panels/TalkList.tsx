// The talk as it happens, conversation by conversation, the latest at the bottom.

import { type ReactElement, useLayoutEffect, useMemo, useRef } from "react";
import { useView, useViewStore } from "../view/context";
import { useRecent } from "../view/recent";
import { type Talk, talksOf } from "../view/talks";
import { useWords } from "../words";
import { Name, Place, Portrait, When } from "./parts";

/** Conversations drawn at once. */
const SHOWN = 24;
const NOBODY: Readonly<Record<string, string>> = {};
const SPOKEN = { category: "talk" } as const;

export function TalkList(): ReactElement {
  const words = useWords();
  const lines = useRecent(SPOKEN);
  const talks = useMemo(() => talksOf(lines ?? []).slice(-SHOWN), [lines]);
  const speaking = useView((view) => (view.live ? view.speaking : NOBODY));
  const list = useBottom();
  if (!lines) return <p className="soft pad">{words.app.loadingPart}</p>;
  if (talks.length === 0 && Object.keys(speaking).length === 0) return <p className="soft pad">{words.talk.silence}</p>;
  return (
    <div className="talks scroll" ref={list}>
      {talks.map((talk) => (
        <Conversation key={talk.id} talk={talk} />
      ))}
      {Object.entries(speaking).map(([id, said]) => (
        <Unsaid key={id} speaker={id} text={said} />
      ))}
    </div>
  );
}

function Conversation({ talk }: { readonly talk: Talk }): ReactElement {
  const words = useWords();
  const language = useView((view) => view.town.language);
  const tick = useView((view) => view.frame.tick);
  const first = talk.lines[0];
  return (
    <article className={talk.ended || tick - talk.last > 6 ? "talk over" : "talk"}>
      <header>
        <span className="who">
          {talk.members.map((id, index) => (
            <span key={id}>
              {index > 0 && " · "}
              <Name agent={id} />
            </span>
          ))}
        </span>
        <span className="aside">
          {talk.place && <Place area={talk.place} />} {first && <When tick={first.tick} iso={first.time} />}
        </span>
      </header>
      <ol aria-label={words.talk.title}>
        {talk.lines.map((line) => (
          <li key={line.event_id} className={line.tick === tick ? "said now" : "said"}>
            <Portrait agent={line.agent_id} />
            <Said id={line.event_id} speaker={line.agent_id} text={line.text} language={language} />
          </li>
        ))}
      </ol>
    </article>
  );
}

/** A line that is still being written: nobody has heard it yet. */
function Unsaid({ speaker, text }: { readonly speaker: string; readonly text: string }): ReactElement {
  const language = useView((view) => view.town.language);
  const called = useCalled(speaker);
  return (
    <p className="said soft" aria-busy="true">
      <Portrait agent={speaker} />
      <span className="growing">
        <strong>{called}</strong> <span lang={language}>{text}…</span>
      </span>
    </p>
  );
}

/** A spoken line; a click shows why it was said. */
function Said({
  id,
  speaker,
  text,
  language,
}: {
  readonly id: string;
  readonly speaker: string;
  readonly text: string;
  readonly language: string;
}): ReactElement {
  const store = useViewStore();
  const words = useWords();
  const called = useCalled(speaker);
  return (
    <button
      type="button"
      className="speech"
      title={words.talk.why}
      onClick={() => store.getState().open({ kind: "why", id })}
    >
      <strong>{called}</strong> <span lang={language}>{unquoted(text)}</span>
    </button>
  );
}

function useCalled(agent: string): string {
  return useView((view) => view.town.characters.find((one) => one.id === agent)?.called ?? agent);
}

/** What was said, without the quotation marks around it: the bubble stands for them. */
export function unquoted(text: string): string {
  return /^“[^“”]*”$/.test(text) ? text.slice(1, -1) : text;
}

/** A list that stays at its end while it grows, unless somebody has scrolled up. */
export function useBottom(): (element: HTMLElement | null) => void {
  const element = useRef<HTMLElement | null>(null);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    if (element.current && atEnd.current) element.current.scrollTop = element.current.scrollHeight;
  });
  return (found) => {
    element.current = found;
    if (!found) return;
    found.onscroll = () => {
      atEnd.current = found.scrollHeight - found.scrollTop - found.clientHeight < 40;
    };
  };
}
