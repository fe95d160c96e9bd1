// Memories one by one: what is remembered, how it was ranked, and what it rests on.

import { type ReactElement, type ReactNode, useState } from "react";
import type { FoundMemory, PartJson } from "../api";
import { useAsked } from "../view/asked";
import { useView, useViewStore } from "../view/context";
import { named, useWords } from "../words";
import { Icon } from "./icons";
import { ProblemNote, StackedBar, useMoment } from "./parts";
import { Rating, Stars } from "./Stars";

const KIND_ICONS = {
  reflection: "moon",
  plan: "list",
  action: "pin",
  dialogue: "talk",
  chat: "talk",
  observation: "eye",
} as const;

interface ScorePart extends PartJson {
  readonly name: string;
  /** What it adds to the score. */
  readonly amount: number;
}

interface MemoryRowProps {
  readonly agent: string;
  readonly hit: FoundMemory;
  /** The highest score of the list: the length of a whole bar. */
  readonly most: number;
  readonly aside?: ReactNode;
}

/** A memory with the bar of its score; opened, its figures and the memories it cites. */
export function MemoryRow({ agent, hit, most, aside }: MemoryRowProps): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const moment = useMoment();
  const language = useView((view) => view.town.language);
  const [open, setOpen] = useState(false);
  const { memory } = hit;
  // Stars belong to the memory itself, if an earlier run brought it along, else to the event it is of.
  const rated = String(memory.details.memory_id || memory.event);
  const parts = Object.entries(hit.parts ?? {}).map(
    ([name, part]): ScorePart => ({ name, ...part, amount: part.normalised * part.weight }),
  );
  const kind = named(words.memory.kinds, memory.kind);
  return (
    <li className={`memory kind-${memory.kind}`}>
      <button type="button" className="memory-text" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className="kind-icon" title={kind}>
          <Icon
            name={
              (KIND_ICONS as Readonly<Record<string, (typeof KIND_ICONS)[keyof typeof KIND_ICONS]>>)[memory.kind] ??
              "eye"
            }
          />
          <span className="unseen">{kind}</span>
        </span>
        <span lang={language}>{memory.text}</span>
        <span className="aside">
          <Rating id={rated} /> {moment(memory.created_at)}
        </span>
      </button>
      {parts.length > 0 ? (
        <ScoreBar parts={parts} most={most} score={hit.score ?? 0} />
      ) : (
        <span
          className="bar thin"
          role="img"
          aria-label={words.memory.importanceOf(memory.importance)}
          title={words.memory.importanceOf(memory.importance)}
        >
          <i className="part part-importance" style={{ width: `${memory.importance * 10}%` }} />
        </span>
      )}
      {aside}
      {open && (
        <div className="memory-more">
          {parts.length > 0 && <Figures hit={hit} parts={parts} />}
          <p className="soft">
            #{memory.id} · {kind} · {words.memory.importanceOf(memory.importance)}
            {memory.place.length > 0 && <> · {memory.place.at(-1)}</>}
            {memory.emotion && memory.emotion.keywords.length > 0 && <> · {memory.emotion.keywords.join(", ")}</>}
          </p>
          <Stars id={rated} />
          {memory.event && (
            <button
              type="button"
              className="link"
              onClick={() => store.getState().open({ kind: "why", id: memory.event })}
            >
              <Icon name="why" /> {words.memory.whyOf}
            </button>
          )}
          {memory.citations.length > 0 && <Evidence agent={agent} ids={memory.citations} depth={1} />}
        </div>
      )}
    </li>
  );
}

function ScoreBar({
  parts,
  most,
  score,
}: {
  readonly parts: readonly ScorePart[];
  readonly most: number;
  readonly score: number;
}): ReactElement {
  const words = useWords();
  const said = parts.map((part) => ({
    name: part.name,
    amount: part.amount,
    label: `${named(words.memory.parts, part.name)} ${part.amount.toFixed(2)}`,
  }));
  return (
    <StackedBar
      parts={said}
      most={most}
      label={`${words.memory.score} ${score.toFixed(2)}: ${said.map((part) => part.label).join(", ")}`}
    />
  );
}

function Figures({ hit, parts }: { readonly hit: FoundMemory; readonly parts: readonly ScorePart[] }): ReactElement {
  const words = useWords();
  return (
    <table className="figures">
      <tbody>
        {parts.map((part) => (
          <tr key={part.name}>
            <th scope="row">
              <i className={`dot part-${part.name}`} />
              {named(words.memory.parts, part.name)}
            </th>
            <td>
              {words.memory.figures(
                part.raw.toFixed(2),
                part.normalised.toFixed(2),
                String(Math.round(part.weight * 100) / 100),
              )}
            </td>
            <td>{part.amount.toFixed(2)}</td>
          </tr>
        ))}
        <tr>
          <th scope="row">{words.memory.score}</th>
          <td>{hit.rank && words.memory.rank(hit.rank)}</td>
          <td>
            <b>{(hit.score ?? 0).toFixed(2)}</b>
          </td>
        </tr>
      </tbody>
    </table>
  );
}

/** Colours of the parts of a score. */
export function ScoreLegend({ hits }: { readonly hits: readonly Pick<FoundMemory, "parts">[] }): ReactElement | null {
  const words = useWords();
  const names = [...new Set(hits.flatMap((hit) => Object.keys(hit.parts ?? {})))];
  if (names.length === 0) return null;
  return (
    <p className="legend">
      {names.map((name) => (
        <span key={name}>
          <i className={`dot part-${name}`} /> {named(words.memory.parts, name)}
        </span>
      ))}
    </p>
  );
}

/** How deep evidence is opened by itself; deeper, a click opens it. */
const DEEPEST = 6;

/** The memories that another one cites, and those that they cite. */
export function Evidence({
  agent,
  ids,
  depth,
  at,
}: {
  readonly agent: string;
  readonly ids: readonly number[];
  readonly depth: number;
  readonly at?: number;
}): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const moment = useMoment();
  const language = useView((view) => view.town.language);
  const tick = useView((view) => at ?? view.frame.tick);
  const wanted = ids.slice(0, 40);
  const found = useAsked(
    () => store.getState().source.memories(agent, { at: tick, ids: wanted, limit: 40 }),
    `evidence ${agent} ${wanted.join()}`,
    `${tick}`,
  );
  const memories = found.value?.found.map((one) => one.memory) ?? [];
  return (
    <div className="evidence">
      {depth === 1 && <h4>{words.memory.evidence}</h4>}
      {found.problem && <ProblemNote problem={found.problem} />}
      <ul>
        {memories.map((memory) => (
          <li key={memory.id} className={`kind-${memory.kind}`}>
            <span lang={language}>{memory.text}</span>{" "}
            <button
              type="button"
              className="link when"
              disabled={!memory.event}
              onClick={() => store.getState().open({ kind: "why", id: memory.event })}
            >
              {moment(memory.created_at)}
            </button>
            {memory.citations.length > 0 && depth < DEEPEST && (
              <Evidence agent={agent} ids={memory.citations} depth={depth + 1} at={tick} />
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
