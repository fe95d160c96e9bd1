// Talk with a character, as of the tick at which the talk began. Nothing of it reaches the village.

import { type FormEvent, type ReactElement, useState } from "react";
import type { Answer, Problem } from "../api";
import { problemOf } from "../run/problem";
import { useView, useViewStore } from "../view/context";
import { useWords } from "../words";
import { MemoryRow, ScoreLegend } from "./Memories";
import { Button, Fold, Portrait, ProblemNote, useMoment } from "./parts";

interface Turn {
  readonly answer: Answer;
  readonly thumb: "up" | "down" | null;
}

export function AskCard({ id }: { readonly id: string }): ReactElement | null {
  const words = useWords();
  const store = useViewStore();
  const moment = useMoment();
  const actions = useView((view) => view.source.actions);
  const character = useView((view) => view.town.characters.find((one) => one.id === id));
  const language = useView((view) => view.town.language);
  const [begun] = useState(() => ({ tick: store.getState().frame.tick, time: store.getState().frame.time }));
  const [turns, setTurns] = useState<readonly Turn[]>([]);
  const [question, setQuestion] = useState("");
  const [waiting, setWaiting] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  if (!actions || !character) return null;

  const told = async (
    about: string,
    ask: () => Promise<Answer>,
    put: (answer: Answer) => readonly Turn[],
  ): Promise<void> => {
    setWaiting(about);
    setProblem(null);
    try {
      const answer = await ask();
      setTurns(put(answer));
    } catch (thrown) {
      setProblem(problemOf(thrown));
      if (!question) setQuestion(about);
    } finally {
      setWaiting("");
    }
  };
  const send = (event: FormEvent): void => {
    event.preventDefault();
    const asked = question.trim();
    if (!asked || waiting) return;
    setQuestion("");
    void told(
      asked,
      () => actions.ask(id, begun.tick, asked),
      (answer) => [...turns, { answer, thumb: null }],
    );
  };
  const last = turns.length - 1;
  const again = (): void => {
    const asked = turns[last]?.answer.question ?? "";
    void told(
      asked,
      () => actions.retry(id, begun.tick),
      (answer) => [...turns.slice(0, last), { answer, thumb: null }],
    );
  };
  const rate = (thumb: "up" | "down"): void => {
    actions.thumb(id, begun.tick, thumb).then(
      () => setTurns(turns.map((turn, index) => (index === last ? { ...turn, thumb } : turn))),
      (thrown: unknown) => setProblem(problemOf(thrown)),
    );
  };

  return (
    <article className="asking">
      <header className="head">
        <div className="identity">
          <Portrait agent={id} size="large" />
          <div>
            <h2 lang={language}>{words.ask.title(character.called)}</h2>
            <p className="soft">{words.ask.hint(moment(begun.time))}</p>
          </div>
        </div>
      </header>
      <div className="scroll exchange" role="log" aria-live="polite" lang={language}>
        {turns.map((turn, index) => (
          <Exchange key={index} agent={id} turn={turn} last={index === last && !waiting} again={again} rate={rate} />
        ))}
        {waiting && (
          <>
            <p className="mine">{waiting}</p>
            <p className="theirs soft">{words.ask.thinking}</p>
          </>
        )}
        {problem && <ProblemNote problem={problem} />}
        <div key={`${turns.length} ${waiting}`} ref={intoView} />
      </div>
      <form className="ask-box pad" onSubmit={send}>
        <input
          aria-label={words.ask.question}
          placeholder={words.ask.question}
          value={question}
          maxLength={2000}
          // biome-ignore lint/a11y/noAutofocus: the card was opened to write in it
          autoFocus
          onChange={(event) => setQuestion(event.target.value)}
        />
        <button type="submit" className="button main" disabled={!question.trim() || waiting !== ""}>
          {words.ask.send}
        </button>
      </form>
    </article>
  );
}

function intoView(end: HTMLElement | null): void {
  end?.scrollIntoView?.({ block: "nearest" });
}

interface ExchangeProps {
  readonly agent: string;
  readonly turn: Turn;
  readonly last: boolean;
  again(): void;
  rate(thumb: "up" | "down"): void;
}

function Exchange({ agent, turn, last, again, rate }: ExchangeProps): ReactElement {
  const words = useWords();
  const { answer, thumb } = turn;
  const hits = answer.rests;
  const most = Math.max(...hits.map((hit) => hit.score ?? 0), 0);
  const before = answer.asked_before;
  return (
    <>
      <p className="mine">{answer.question}</p>
      <div className="theirs">
        <p>{answer.outcome === "value" ? answer.answer : `(${words.ask.unusable})`}</p>
        {last && (
          <div className="row">
            <Button
              label={words.ask.good}
              icon="thumbUp"
              kind="quiet"
              pressed={thumb === "up"}
              onClick={() => rate("up")}
            />
            <Button
              label={words.ask.bad}
              icon="thumbDown"
              kind="quiet"
              pressed={thumb === "down"}
              onClick={() => rate("down")}
            />
            <Button label={words.ask.again} icon="again" kind="quiet" onClick={again} />
            <span className="soft">{answer.mind}</span>
          </div>
        )}
      </div>
      {before && (
        <Fold summary={<span className="soft">{words.ask.before}</span>}>
          <p className="soft">{String(before.question)}</p>
          <p>{String(before.answer)}</p>
        </Fold>
      )}
      {hits.length > 0 && (
        <Fold
          summary={
            <span className="soft">
              {words.ask.rests} ({hits.length})
            </span>
          }
        >
          <ul className="memory-list">
            {hits.map((hit) => (
              <MemoryRow key={hit.memory.id} agent={agent} hit={hit} most={most} />
            ))}
          </ul>
          <ScoreLegend hits={hits} />
        </Fold>
      )}
    </>
  );
}
