// What somebody remembers: the latest, those that pass the filters, or those that a question brings to mind.

import { type FormEvent, type ReactElement, useDeferredValue, useState } from "react";
import { useAsked } from "../view/asked";
import { useView, useViewStore } from "../view/context";
import { named, useWords } from "../words";
import { useReadingTick } from "./AgentCard";
import { MemoryRow, ScoreLegend } from "./Memories";
import { Button, Fold, ProblemNote } from "./parts";

const PAGE = 40;
const KINDS = ["observation", "action", "dialogue", "plan", "reflection"] as const;
const FEELINGS = ["pleasant", "unpleasant", "stirred"] as const;

interface Filters {
  readonly kind: string;
  readonly place: string;
  readonly emotion: string;
  readonly min_importance: number;
  readonly since: string;
  readonly until: string;
}

const NO_FILTERS: Filters = { kind: "", place: "", emotion: "", min_importance: 0, since: "", until: "" };

export function MemoryView({ agent }: { readonly agent: string }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const tick = useReadingTick();
  const policies = useView((view) => view.town.policies);
  const ranks = useView((view) => view.source.ranks ?? true);
  const doing = useView((view) => view.frame.agents.get(agent)?.current_action ?? "");
  const [draft, setDraft] = useState("");
  const [query, setQuery] = useState("");
  const [policy, setPolicy] = useState(policies[0] ?? "");
  const [filters, setFilters] = useState(NO_FILTERS);
  const [shown, setShown] = useState(PAGE);
  const wanted = useDeferredValue(filters);

  const key = JSON.stringify([query, policy, wanted, shown]);
  const found = useAsked(
    () =>
      store.getState().source.memories(agent, {
        at: tick,
        ...wanted,
        ...(query ? { query, policy, k: 12 } : { limit: shown }),
      }),
    `memories ${agent}`,
    `${tick} ${key}`,
    150,
  );
  const question = ranks ? words.memory.query : words.memory.find;
  const hits = found.value?.found ?? [];
  const most = Math.max(...hits.map((hit) => hit.score ?? 0), 0);

  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setQuery(draft.trim());
  };
  const ask = (text: string): void => {
    setDraft(text);
    setQuery(text);
  };

  return (
    <div className="memories">
      <form className="ask-box" role="search" onSubmit={submit}>
        <input
          aria-label={question}
          placeholder={question}
          value={draft}
          maxLength={400}
          onChange={(event) => setDraft(event.target.value)}
        />
        <Button label={words.memory.ask} icon="lens" onClick={() => setQuery(draft.trim())} />
      </form>
      <div className="row">
        <Button label={words.memory.latest} text kind="quiet" pressed={query === ""} onClick={() => ask("")} />
        {ranks && (
          <Button
            label={words.memory.mind}
            text
            kind="quiet"
            pressed={query !== "" && query === doing}
            disabled={!doing}
            onClick={() => ask(doing)}
          />
        )}
        {query && ranks && policies.length > 1 && (
          <label className="row policy">
            <span className="soft">{words.memory.policy}</span>
            <select value={policy} onChange={(event) => setPolicy(event.target.value)}>
              {policies.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      <Fold summary={words.memory.filters}>
        <FilterFields filters={filters} change={(change) => setFilters({ ...filters, ...change })} />
      </Fold>
      {found.problem && <ProblemNote problem={found.problem} retry={found.again} />}
      {found.value && <p className="soft count">{words.memory.total(found.value.total)}</p>}
      <ul className="memory-list">
        {hits.map((hit) => (
          <MemoryRow key={hit.memory.id} agent={agent} hit={hit} most={most} />
        ))}
      </ul>
      {found.value && hits.length === 0 && <p className="soft">{words.memory.none}</p>}
      <ScoreLegend hits={hits} />
      {query === "" && found.value && hits.length < found.value.total && shown < 200 && (
        <Button label={words.app.more} text onClick={() => setShown(Math.min(200, shown + PAGE))} />
      )}
    </div>
  );
}

function FilterFields({
  filters,
  change,
}: {
  readonly filters: Filters;
  change(change: Partial<Filters>): void;
}): ReactElement {
  const words = useWords();
  const areas = useView((view) => view.town.areas);
  const language = useView((view) => view.town.language);
  return (
    <div className="filters">
      <label>
        <span>{words.memory.kind}</span>
        <select value={filters.kind} onChange={(event) => change({ kind: event.target.value })}>
          <option value="">{words.memory.any}</option>
          {KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {named(words.memory.kinds, kind)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{words.memory.place}</span>
        <select value={filters.place} lang={language} onChange={(event) => change({ place: event.target.value })}>
          <option value="">{words.memory.any}</option>
          {areas.map((area) => (
            <option key={area.id} value={area.id}>
              {area.name}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{words.memory.emotion}</span>
        <select value={filters.emotion} onChange={(event) => change({ emotion: event.target.value })}>
          <option value="">{words.memory.any}</option>
          {FEELINGS.map((feeling) => (
            <option key={feeling} value={feeling}>
              {words.memory.feelings[feeling]}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>
          {words.memory.importance} {filters.min_importance}
        </span>
        <input
          type="range"
          min={0}
          max={10}
          value={filters.min_importance}
          onChange={(event) => change({ min_importance: Number(event.target.value) })}
        />
      </label>
      <label>
        <span>{words.memory.since}</span>
        <input
          type="datetime-local"
          value={filters.since}
          onChange={(event) => change({ since: event.target.value })}
        />
      </label>
      <label>
        <span>{words.memory.until}</span>
        <input
          type="datetime-local"
          value={filters.until}
          onChange={(event) => change({ until: event.target.value })}
        />
      </label>
    </div>
  );
}
