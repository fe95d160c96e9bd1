// Another history from the tick shown.

import { type FormEvent, type ReactElement, useState } from "react";
import type { Problem } from "../api";
import { problemOf } from "../run/problem";
import { useView } from "../view/context";
import type { Opening } from "../view/store";
import { useWords } from "../words";
import { ProblemNote, useMoment } from "./parts";

interface ForkProps {
  visit(run: string, opening?: Opening): void;
  done(): void;
}

export function Fork({ visit, done }: ForkProps): ReactElement | null {
  const words = useWords();
  const moment = useMoment();
  const actions = useView((view) => view.source.actions);
  const frame = useView((view) => view.frame);
  const [name, setName] = useState("");
  const [inject, setInject] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  if (!actions) return null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    actions.fork(frame.tick, name.trim(), inject.trim()).then(
      (card) => {
        done();
        visit(card.run);
      },
      (thrown: unknown) => {
        setBusy(false);
        setProblem(problemOf(thrown));
      },
    );
  };
  return (
    <form className="stack" onSubmit={submit}>
      <h3>{words.fork.title}</h3>
      <p className="soft">{words.fork.hint(moment(frame.time))}</p>
      <input
        aria-label={words.fork.name}
        placeholder={words.fork.name}
        value={name}
        maxLength={100}
        onChange={(event) => setName(event.target.value)}
      />
      <textarea
        aria-label={words.fork.inject}
        placeholder={words.fork.inject}
        value={inject}
        maxLength={2000}
        rows={2}
        onChange={(event) => setInject(event.target.value)}
      />
      <button type="submit" className="button main" disabled={busy}>
        {words.fork.submit}
      </button>
      {problem && <ProblemNote problem={problem} />}
    </form>
  );
}
