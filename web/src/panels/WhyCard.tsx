// Why something was said or done: what tipped the choice, then all that led to it.

import { type ReactElement, useMemo } from "react";
import { useAsked } from "../view/asked";
import { hourOf, instant } from "../view/clock";
import { useView, useViewStore } from "../view/context";
import { hitOf, numberOf } from "../view/memory";
import { citedMemory, type Reasons, reasonsOf, type Tipping } from "../view/why";
import { named, useWords } from "../words";
import { Evidence, MemoryRow, ScoreLegend } from "./Memories";
import { Fold, Name, Place, Portrait, ProblemNote, Section, When } from "./parts";
import { Stars } from "./Stars";

export function WhyCard({ id }: { readonly id: string }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const asked = useAsked(() => store.getState().source.why(id), `why ${id}`, "");
  const reasons = useMemo(() => (asked.value ? reasonsOf(asked.value) : null), [asked.value]);
  return (
    <article className="why scroll">
      <h2 className="unseen">{words.why.title}</h2>
      {asked.problem && (
        <div className="pad">
          <ProblemNote problem={asked.problem} retry={asked.again} />
        </div>
      )}
      {!asked.problem && !reasons && <p className="soft pad">{words.app.loadingPart}</p>}
      {reasons && <Explained reasons={reasons} />}
    </article>
  );
}

function Explained({ reasons }: { readonly reasons: Reasons }): ReactElement {
  const words = useWords();
  const language = useView((view) => view.town.language);
  const { event } = reasons;
  const bare =
    reasons.tipping.length +
      reasons.retrievals.length +
      reasons.asked.length +
      reasons.stored.length +
      reasons.heard.length ===
      0 &&
    !reasons.plan &&
    !reasons.reaction;
  return (
    <>
      <Deed reasons={reasons} />
      <div className="pad">
        {reasons.explanation && (
          <p className="prose" lang="en">
            {reasons.explanation}
          </p>
        )}
        {bare && !reasons.explanation && <p className="soft">{words.why.none}</p>}
        <Tipped reasons={reasons} />
        {reasons.reaction && (
          <Section title={words.why.reaction}>
            <p lang={language}>
              <span className="chip is">{reasons.reaction.decision}</span>{" "}
              {reasons.reaction.target && <Name agent={reasons.reaction.target} />} {reasons.reaction.purpose}
            </p>
            {reasons.reaction.reason && (
              <p className="quote" lang={language}>
                {reasons.reaction.reason}
              </p>
            )}
          </Section>
        )}
        {reasons.rows.length > 0 && (
          <Section title={words.why.rows}>
            <ul className="stored" lang="en">
              {reasons.rows.map((row, index) => (
                <li key={`${row.name} ${index}`}>
                  <b>{row.name}</b> <span className="soft">{row.when.join(" · ")}</span>
                  {row.nearly.map((other) => (
                    <div key={other.name} className="soft">
                      {words.why.nearly(other.name, other.failed)}
                    </div>
                  ))}
                </li>
              ))}
            </ul>
          </Section>
        )}
        {reasons.lines.length > 0 && (
          <Section title={words.why.lines}>
            <ul className="stored">
              {reasons.lines.map((line) => (
                <li key={line.name} className={line.failed ? "not-kept" : ""}>
                  <span lang={language}>{line.name}</span>{" "}
                  <span className="soft" lang="en">
                    {line.failed ? words.why.heldBack(line.failed) : line.when.join(" · ")}
                  </span>
                </li>
              ))}
            </ul>
          </Section>
        )}
        {reasons.plan && (
          <Section title={words.why.plan}>
            <p lang={language}>
              <time className="pixel">{hourOf(instant(reasons.plan.start))}</time> {reasons.plan.text}{" "}
              <span className="soft">
                @ <Place area={reasons.plan.place} />
              </span>
            </p>
            {reasons.day.length > 0 && (
              <Fold summary={words.why.planDay}>
                <ol className="plan" lang={language}>
                  {reasons.day.map((stroke) => (
                    <li key={stroke.start + stroke.text}>
                      <time>{hourOf(instant(stroke.start))}</time>
                      <span>{stroke.text}</span>
                    </li>
                  ))}
                </ol>
              </Fold>
            )}
          </Section>
        )}
        {reasons.heard.length > 0 && <HeardFrom reasons={reasons} />}
        {reasons.retrievals.length > 0 && (
          <Section title={words.why.retrievals}>
            {reasons.retrievals.map((retrieval, index) => (
              <Fold
                key={`${retrieval.purpose} ${index}`}
                summary={
                  <>
                    <b>{retrieval.purpose}</b>{" "}
                    <span className="soft">
                      {retrieval.policy} · {words.why.searched(retrieval.hits.length, retrieval.candidates)}
                    </span>
                  </>
                }
              >
                <p className="quote" lang={language}>
                  {retrieval.query}
                </p>
                <ul className="memory-list">
                  {retrieval.hits.map((hit) => (
                    <MemoryRow key={hit.memory.id} agent={event.agent} hit={hit} most={retrieval.hits[0]?.score ?? 0} />
                  ))}
                </ul>
                <ScoreLegend hits={retrieval.hits} />
              </Fold>
            ))}
          </Section>
        )}
        {reasons.asked.length > 0 && (
          <Section title={words.why.asked}>
            {reasons.asked.map((question, index) => (
              <Fold
                key={`${question.task} ${index}`}
                summary={
                  <>
                    <b>{question.task}</b> <span className="soft">{question.outcome}</span>
                  </>
                }
              >
                {question.prompt && question.prompt !== "{}" && (
                  <>
                    <h4>{words.why.question}</h4>
                    <pre lang={language}>{question.prompt}</pre>
                  </>
                )}
                <h4>{words.why.answer}</h4>
                <pre lang={language}>{question.answer || "–"}</pre>
              </Fold>
            ))}
          </Section>
        )}
        {reasons.stored.length > 0 && (
          <Section title={words.why.stored}>
            <ul className="stored" lang={language}>
              {reasons.stored.map((one, index) => (
                <li key={index} className={one.stored ? `kind-${one.kind}` : "not-kept"}>
                  {one.text}{" "}
                  <span className="soft">
                    {named(words.memory.kinds, one.kind)} · {words.memory.importanceOf(one.importance)} ·{" "}
                    {one.stored ? words.why.kept : words.why.notKept}
                    {one.reason && ` (${one.reason})`}
                  </span>
                </li>
              ))}
            </ul>
          </Section>
        )}
      </div>
    </>
  );
}

/** What is explained: who, when, where, and what was said or done. */
function Deed({ reasons }: { readonly reasons: Reasons }): ReactElement {
  const words = useWords();
  const { event } = reasons;
  const language = useView((view) => view.town.language);
  const line = useView((view) => view.frame.lines.find((one) => one.event_id === event.id)?.text ?? "");
  const text = event.utterance
    ? `“${event.utterance}”`
    : line || event.doing || event.type.toLowerCase().replaceAll("_", " ");
  return (
    <header className="head deed">
      <p className="pixel why-title">{words.why.title}</p>
      <div className="identity">
        {event.agent && <Portrait agent={event.agent} />}
        <div>
          <p>
            {event.agent && <Name agent={event.agent} />}
            {event.to && (
              <>
                {" → "}
                <Name agent={event.to} />
              </>
            )}{" "}
            <span className="soft">
              <When tick={event.tick} iso={event.time} /> <Place area={event.place} />
            </span>
          </p>
          <p className="deed-text" lang={language}>
            {text}
          </p>
        </div>
      </div>
      <Stars id={event.id} />
    </header>
  );
}

/** The memories that decided; those that were cited without having been ranked are read besides. */
function Tipped({ reasons }: { readonly reasons: Reasons }): ReactElement | null {
  const words = useWords();
  const store = useViewStore();
  const { agent, tick } = reasons.event;
  const missing = useAsked(
    async () =>
      reasons.missing.length > 0 && agent
        ? (await store.getState().source.memories(agent, { at: tick, ids: [...reasons.missing], limit: 40 })).found
        : [],
    `missing ${reasons.event.id}`,
    "",
  );
  const tipping: readonly Tipping[] = [
    ...(missing.value ?? []).map((one) => citedMemory(hitOf(one).memory)),
    ...reasons.tipping,
  ];
  if (tipping.length === 0) return null;
  const most = Math.max(...tipping.map((one) => numberOf(one.score)), 0.001);
  return (
    <Section title={words.why.tipped}>
      <ul className="memory-list tipping">
        {tipping.map((one) => (
          <MemoryRow
            key={one.memory.id}
            agent={agent}
            hit={one}
            most={most}
            aside={
              <>
                <span className="row tip">
                  {one.cited && <span className="chip is">{words.why.cited}</span>}
                  {one.lead !== null && one.lead >= 0.01 && (
                    <span className="soft">{words.why.lead(one.lead.toFixed(2))}</span>
                  )}
                </span>
                {one.cited && one.memory.citations.length > 0 && (
                  <Evidence agent={agent} ids={one.memory.citations} depth={1} at={tick} />
                )}
              </>
            }
          />
        ))}
      </ul>
      <ScoreLegend hits={tipping} />
    </Section>
  );
}

/** From mouth to mouth, back to who knew it first. */
function HeardFrom({ reasons }: { readonly reasons: Reasons }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const town = useView((view) => view.town);
  return (
    <Section title={words.why.heard}>
      {reasons.heard.map((heard) => (
        <div key={heard.fact}>
          <p lang={town.language}>{town.facts.find((fact) => fact.id === heard.fact)?.text ?? heard.fact}</p>
          {heard.links.length === 0 && <p className="soft">{words.why.madeUp}</p>}
          <ol className="chain">
            {heard.links.map((link) => (
              <li key={link.agent + link.tick}>
                <Name agent={link.agent} />{" "}
                {link.from ? (
                  <>
                    ← <Name agent={link.from} />{" "}
                    <button
                      type="button"
                      className="link when"
                      onClick={() => store.getState().open({ kind: "why", id: link.event })}
                    >
                      {hourOf(instant(town.start) + link.tick * town.tick_minutes * 60_000)}
                    </button>
                  </>
                ) : (
                  <span className="soft">{words.why.origin}</span>
                )}
              </li>
            ))}
          </ol>
        </div>
      ))}
    </Section>
  );
}
