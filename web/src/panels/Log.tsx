// Everything that happens, line by line, with filters and search.

import { type ReactElement, useDeferredValue, useMemo, useState } from "react";
import type { EventLine } from "../api";
import { useView, useViewStore } from "../view/context";
import { useRecent } from "../view/recent";
import { useWords } from "../words";
import { When } from "./parts";
import { useBottom } from "./TalkList";

const CATEGORIES = ["talk", "moves", "plans", "world", "doing"] as const;

export function Log(): ReactElement {
  const words = useWords();
  const characters = useView((view) => view.town.characters);
  const language = useView((view) => view.town.language);
  const [text, setText] = useState("");
  const [agent, setAgent] = useState("");
  const [category, setCategory] = useState("");
  const sought = useDeferredValue(text.trim());
  const filter = useMemo(() => ({ text: sought, agent, category }), [sought, agent, category]);
  const lines = useRecent(filter);
  const list = useBottom();
  return (
    <div className="log">
      <div className="log-filters" role="search">
        <input
          type="search"
          aria-label={words.log.search}
          placeholder={words.log.search}
          value={text}
          maxLength={200}
          onChange={(event) => setText(event.target.value)}
        />
        <select aria-label={words.log.category} value={category} onChange={(event) => setCategory(event.target.value)}>
          <option value="">{words.log.all}</option>
          {CATEGORIES.map((one) => (
            <option key={one} value={one}>
              {words.log[one]}
            </option>
          ))}
        </select>
        <select
          aria-label={words.log.everybody}
          value={agent}
          lang={language}
          onChange={(event) => setAgent(event.target.value)}
        >
          <option value="">{words.log.everybody}</option>
          {characters.map((one) => (
            <option key={one.id} value={one.id}>
              {one.called}
            </option>
          ))}
        </select>
      </div>
      <div className="scroll log-lines" ref={list}>
        {lines === null ? (
          <p className="soft">{words.app.loadingPart}</p>
        ) : lines.length === 0 ? (
          <p className="soft">{words.log.none}</p>
        ) : (
          <LogLines lines={lines.slice(-200)} />
        )}
      </div>
    </div>
  );
}

/** Lines of the log; a click on one shows why. */
export function LogLines({ lines }: { readonly lines: readonly EventLine[] }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const language = useView((view) => view.town.language);
  const characters = useView((view) => view.town.characters);
  const names = useMemo(() => new Map(characters.map((one) => [one.id, one.called])), [characters]);
  return (
    <ol className="lines" lang={language}>
      {lines.map((line) => (
        <li key={line.event_id} className={`line line-${line.category}`}>
          <When tick={line.tick} iso={line.time} />
          <button
            type="button"
            className="line-text"
            title={words.talk.why}
            onClick={() => store.getState().open({ kind: "why", id: line.event_id })}
          >
            {line.agent_id && <b>{names.get(line.agent_id) ?? line.agent_id} </b>}
            {line.text}
          </button>
        </li>
      ))}
    </ol>
  );
}
