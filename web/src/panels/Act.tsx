// God mode, the inner voice and what a character does: a sentence, what will come of it, and then it happens.

import { type FormEvent, type ReactElement, useState } from "react";
import type { Problem } from "../api";
import { problemOf } from "../run/problem";
import { useView } from "../view/context";
import { useWords } from "../words";
import { Button, ProblemNote, Section } from "./parts";
import { Choice } from "./Settings";

type Kind = "god" | "voice" | "attempt";

export function Act(): ReactElement | null {
  const words = useWords();
  const actions = useView((view) => view.source.actions);
  const { town, tick, head, live, status, cards, backToNow } = useView((view) => view);
  const chosen = cards.findLast((card) => card.kind === "agent")?.id;
  const [kind, setKind] = useState<Kind>("god");
  const [text, setText] = useState("");
  const [hearer, setHearer] = useState(chosen ?? town.characters[0]?.id ?? "");
  const [preview, setPreview] = useState("");
  const [accepted, setAccepted] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  if (!actions) return null;
  const asked = { god: words.act.text, voice: words.act.voiceText, attempt: words.act.attemptText }[kind];

  const send = async (how: "preview" | "submit"): Promise<void> => {
    if (!text.trim()) return;
    setBusy(true);
    setProblem(null);
    try {
      const said = await actions[how](kind, text.trim(), kind === "god" ? "" : hearer);
      if (how === "preview") setPreview(said);
      else {
        setAccepted([said, ...accepted].slice(0, 20));
        setText("");
        setPreview("");
        if (!live) backToNow();
      }
    } catch (thrown) {
      setProblem(problemOf(thrown));
    } finally {
      setBusy(false);
    }
  };
  const change = (then: () => void): void => {
    setPreview("");
    setProblem(null);
    then();
  };

  return (
    <form
      className="act pad scroll"
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        void send("submit");
      }}
    >
      <Choice
        label={words.act.title}
        options={{ god: words.act.god, voice: words.act.voice, attempt: words.act.attempt }}
        value={kind}
        choose={(one) => change(() => setKind(one))}
      />
      <p className="soft">
        {{ god: words.act.hint, voice: words.act.voiceHint, attempt: words.act.attemptHint }[kind]}
      </p>
      {kind !== "god" && (
        <label>
          <span className="soft">{kind === "voice" ? words.act.to : words.act.doer}</span>
          <select value={hearer} lang={town.language} onChange={(event) => change(() => setHearer(event.target.value))}>
            {town.characters.map((one) => (
              <option key={one.id} value={one.id}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        <span className="unseen">{asked}</span>
        <textarea
          rows={3}
          maxLength={2000}
          lang={town.language}
          placeholder={asked}
          value={text}
          onChange={(event) => change(() => setText(event.target.value))}
          onKeyDown={(event) => {
            if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send("submit");
          }}
        />
      </label>
      {kind === "god" && !text && (
        <p className="chips">
          {words.act.examples.map((example) => (
            <button key={example} type="button" className="chip link" onClick={() => change(() => setText(example))}>
              {example}
            </button>
          ))}
        </p>
      )}
      {tick < head ? (
        <p className="soft">{words.act.past}</p>
      ) : (
        !status?.playing && <p className="soft">{words.act.paused}</p>
      )}
      <div className="row">
        <Button
          label={words.act.preview}
          icon="eye"
          text
          disabled={busy || !text.trim()}
          onClick={() => void send("preview")}
        />
        <Button
          label={kind === "voice" ? words.act.whisper : words.act.submit}
          icon="storm"
          text
          kind="main"
          disabled={busy || !text.trim()}
          onClick={() => void send("submit")}
        />
      </div>
      {problem && <ProblemNote problem={problem} />}
      <div role="status">
        {preview && (
          <Section title={words.act.willHappen}>
            <p className="quote" lang={town.language}>
              {preview}
            </p>
          </Section>
        )}
        {accepted.length > 0 && (
          <Section title={words.act.done}>
            <ul className="plain" lang={town.language}>
              {accepted.map((one, index) => (
                <li key={accepted.length - index}>{one}</li>
              ))}
            </ul>
          </Section>
        )}
      </div>
    </form>
  );
}
