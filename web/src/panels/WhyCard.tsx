// Why something was said or done: what tipped the choice, then all that led to it.

import type { ReactElement } from "react";
import type { Reasons } from "../api";
import { useAsked } from "../view/asked";
import { hourOf, instant } from "../view/clock";
import { useView, useViewStore } from "../view/context";
import { missingOf, type Tipping, tippingOf } from "../view/why";
import { named, useWords } from "../words";
import { Evidence, MemoryRow, ScoreLegend } from "./Memories";
import { Fold, Name, Place, Portrait, ProblemNote, Section, When } from "./parts";
import { Stars } from "./Stars";

export function WhyCard({ id }: { readonly id: string }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const asked = useAsked(() => store.getState().source.why(id), `why ${id}`, "");
  return (
    <article className="why scroll">
      <h2 className="unseen">{words.why.title}</h2>
      {asked.problem && (
        <div className="pad">
          <ProblemNote problem={asked.problem} retry={asked.again} />
        </div>
      )}
      {!asked.problem && !asked.value && <p className="soft pad">{words.app.loadingPart}</p>}
      {asked.value && <Explained reasons={asked.value} />}
    </article>
  );
}

function Explained({ reasons }: { readonly reasons: Reasons }): ReactElement {
  const words = useWords();
  const language = useView((view) => view.town.language);
  const { event, plan, reaction, retrievals, asked, lines, stored } = reasons;
  const rows = asked.map((question) => question.row).filter((row) => row !== null);
  const bare =
    retrievals.length + asked.length + stored.length + reasons.heard_from.length === 0 && !plan.item && !reaction;
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
        {reaction && (
          <Section title={words.why.reaction}>
            <p lang={language}>
              <span className="chip is">{reaction.decision}</span> {reaction.target && <Name agent={reaction.target} />}{" "}
              {reaction.purpose}
            </p>
            {reaction.reason && (
              <p className="quote" lang={language}>
                {reaction.reason}
              </p>
            )}
          </Section>
        )}
        {rows.length > 0 && (
          <Section title={words.why.rows}>
            <ul className="stored" lang="en">
              {rows.map((row, index) => (
                <li key={`${row.row} ${index}`}>
                  <b>{row.row}</b> <span className="soft">{row.when.join(" · ")}</span>
                  {row.nearly.map(([name, failed]) => (
                    <div key={name} className="soft">
                      {words.why.nearly(name, failed)}
                    </div>
                  ))}
                </li>
              ))}
            </ul>
          </Section>
        )}
        {lines.length > 0 && (
          <Section title={words.why.lines}>
            <ul className="stored">
              {lines.map((line) => (
                <li key={line.say} className={line.failed ? "not-kept" : ""}>
                  <span lang={language}>{line.say}</span>{" "}
                  <span className="soft" lang="en">
                    {line.failed ? words.why.heldBack(line.failed) : line.when.join(" · ")}
                  </span>
                </li>
              ))}
            </ul>
          </Section>
        )}
        {plan.item && (
          <Section title={words.why.plan}>
            <p lang={language}>
              <time className="pixel">{hourOf(instant(plan.item.start_time))}</time> {plan.item.action_description}{" "}
              <span className="soft">
                @ <Place area={plan.item.location} />
              </span>
            </p>
            {plan.day.length > 0 && (
              <Fold summary={words.why.planDay}>
                <ol className="plan" lang={language}>
                  {plan.day.map((stroke) => (
                    <li key={stroke.id}>
                      <time>{hourOf(instant(stroke.start_time))}</time>
                      <span>{stroke.action_description}</span>
                    </li>
                  ))}
                </ol>
              </Fold>
            )}
          </Section>
        )}
        {reasons.heard_from.length > 0 && <HeardFrom reasons={reasons} />}
        {retrievals.length > 0 && (
          <Section title={words.why.retrievals}>
            {retrievals.map((retrieval, index) => (
              <Fold
                key={`${retrieval.purpose} ${index}`}
                summary={
                  <>
                    <b>{retrieval.purpose}</b>{" "}
                    <span className="soft">
                      {retrieval.policy} · {words.why.searched(retrieval.hits.length, retrieval.candidates ?? 0)}
                    </span>
                  </>
                }
              >
                <p className="quote" lang={language}>
                  {retrieval.query}
                </p>
                <ul className="memory-list">
                  {retrieval.hits.map(
                    ({ memory, ...hit }) =>
                      memory && (
                        <MemoryRow
                          key={memory.id}
                          agent={event.agent_id}
                          hit={{ ...hit, memory }}
                          most={retrieval.hits[0]!.score}
                        />
                      ),
                  )}
                </ul>
                <ScoreLegend hits={retrieval.hits} />
              </Fold>
            ))}
          </Section>
        )}
        {asked.length > 0 && (
          <Section title={words.why.asked}>
            {asked.map((question, index) => (
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
                <pre lang={language}>{question.answer === null ? "–" : JSON.stringify(question.answer, null, 2)}</pre>
              </Fold>
            ))}
          </Section>
        )}
        {stored.length > 0 && (
          <Section title={words.why.stored}>
            <ul className="stored" lang={language}>
              {stored.map((one, index) => (
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
        {event.agent_id && <Portrait agent={event.agent_id} />}
        <div>
          <p>
            {event.agent_id && <Name agent={event.agent_id} />}
            {event.to_agent_id && (
              <>
                {" → "}
                <Name agent={event.to_agent_id} />
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
  const { agent_id: agent, tick } = reasons.event;
  const ids = missingOf(reasons);
  const missing = useAsked(
    async () =>
      ids.length > 0 && agent
        ? (await store.getState().source.memories(agent, { at: tick, ids: [...ids], limit: 40 })).found
        : [],
    `missing ${reasons.event.id}`,
    "",
  );
  const tipping: readonly Tipping[] = [
    ...(missing.value ?? []).map((one) => ({ ...one, cited: true, lead: 0 })),
    ...tippingOf(reasons),
  ];
  if (tipping.length === 0) return null;
  const most = Math.max(...tipping.map((one) => one.score ?? 0), 0.001);
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
                  {one.lead >= 0.01 && <span className="soft">{words.why.lead(one.lead.toFixed(2))}</span>}
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
      {reasons.heard_from.map((heard) => (
        <div key={heard.fact}>
          <p lang={town.language}>{town.facts.find((fact) => fact.id === heard.fact)?.text ?? heard.fact}</p>
          {heard.memory === null ? (
            <p className="soft">{words.why.madeUp}</p>
          ) : (
            <ol className="chain">
              {[heard, ...heard.chain].map((link) => (
                <li key={link.agent + link.tick}>
                  <Name agent={link.agent} />{" "}
                  {link.from ? (
                    <>
                      ← <Name agent={link.from} />{" "}
                      <button
                        type="button"
                        className="link when"
                        onClick={() => store.getState().open({ kind: "why", id: link.event_id })}
                      >
                        {hourOf(instant(town.start) + (link.tick ?? 0) * town.tick_minutes * 60_000)}
                      </button>
                    </>
                  ) : (
                    <span className="soft">{words.why.origin}</span>
                  )}
                </li>
              ))}
            </ol>
          )}
        </div>
      ))}
    </Section>
  );
}
