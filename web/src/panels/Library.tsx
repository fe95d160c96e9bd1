// The runs there are, the scenarios to begin one from, and a scenario written here.

import { type FormEvent, type ReactElement, useEffect, useId, useRef, useState } from "react";
import type { Checked, Finding, NewRun, Problem, RunCard, ScenarioCard } from "../api";
import { problemOf } from "../run/problem";
import type { Library as RunLibrary } from "../run/source";
import { useAsked } from "../view/asked";
import type { Opening } from "../view/store";
import { useWords } from "../words";
import { Icon } from "./icons";
import { Popover } from "./Popover";
import { Button, ProblemNote, Tabs } from "./parts";
import { Settings } from "./Settings";

interface LibraryProps {
  readonly library: RunLibrary;
  /** The run that is open behind; empty for none. */
  readonly current: string;
  visit(run: string, opening?: Opening): void;
  close?(): void;
}

type Shelf = "runs" | "scenarios" | "write";

export function Library({ library, current, visit, close }: LibraryProps): ReactElement {
  const words = useWords();
  const [shelf, setShelf] = useState<Shelf>("runs");
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const started = (run: RunCard): void => visit(run.run);
  return (
    <dialog
      ref={dialog}
      className="library"
      aria-label={words.library.title}
      onCancel={(event) => {
        event.preventDefault();
        close?.();
      }}
    >
      <header className="library-head">
        <h1>{words.app.name}</h1>
        <span className="tools">
          <Popover label={words.top.settings} icon="gear">
            <Settings />
          </Popover>
          {close && <Button label={words.app.close} icon="close" keys="Esc" onClick={close} />}
        </span>
      </header>
      <Tabs<Shelf>
        label={words.library.title}
        tabs={[
          { id: "runs", label: words.library.runs, icon: "book" },
          { id: "scenarios", label: words.library.scenarios, icon: "spark" },
          { id: "write", label: words.library.write, icon: "list" },
        ]}
        chosen={shelf}
        choose={setShelf}
        panelClass="shelf scroll"
      >
        {shelf === "runs" && (
          <Runs library={library} current={current} open={visit} begin={() => setShelf("scenarios")} />
        )}
        {shelf === "scenarios" && <Scenarios library={library} started={started} />}
        {shelf === "write" && <Write library={library} started={started} />}
      </Tabs>
    </dialog>
  );
}

interface RunsProps {
  readonly library: RunLibrary;
  readonly current: string;
  open(run: string): void;
  begin(): void;
}

function Runs({ library, current, open, begin }: RunsProps): ReactElement {
  const words = useWords();
  const runs = useAsked(() => library.runs(), "runs", "");
  if (runs.problem) return <ProblemNote problem={runs.problem} retry={runs.again} />;
  if (!runs.value) return <p className="soft">{words.app.loadingPart}</p>;
  if (runs.value.length === 0) {
    return (
      <div className="row">
        <p className="soft">{words.library.noRuns}</p>
        <Button label={words.library.scenarios} text kind="main" onClick={begin} />
      </div>
    );
  }
  const sorted = [...runs.value].sort(
    (one, other) => Number(other.live) - Number(one.live) || other.changed.localeCompare(one.changed),
  );
  return (
    <ul className="shelf-cards">
      {sorted.map((run) => (
        <li key={run.run}>
          <button type="button" className="shelf-card" disabled={run.problem !== ""} onClick={() => open(run.run)}>
            <span className="row spread">
              <strong lang={run.language}>{run.title}</strong>
              <RunState run={run} current={run.run === current} />
            </span>
            <span className="soft">{run.run}</span>
            <span className="row">
              <span>
                <Icon name="people" /> {words.top.people(run.people)}
              </span>
              <span className="soft">
                {words.library.mind} {run.mind} · {words.library.seed} {run.seed}
              </span>
            </span>
            <span className="progress" role="img" aria-label={words.library.ticks(run.last_tick, run.final_tick)}>
              <i style={{ width: `${(run.last_tick / Math.max(1, run.final_tick)) * 100}%` }} />
            </span>
            <span className="row spread soft">
              <span>{words.library.ticks(run.last_tick, run.final_tick)}</span>
              <span>{words.library.changed(run.changed.slice(0, 16).replace("T", " "))}</span>
            </span>
            {run.problem && <span className="problem">{run.problem}</span>}
          </button>
        </li>
      ))}
    </ul>
  );
}

function RunState({ run, current }: { readonly run: RunCard; readonly current: boolean }): ReactElement | null {
  const words = useWords();
  if (current) return <span className="badge">{words.library.current}</span>;
  if (run.live)
    return (
      <span className={run.playing ? "badge live" : "badge"}>
        {run.playing ? words.library.live : words.library.paused}
      </span>
    );
  if (run.problem) return null;
  return (
    <span className="badge">{run.last_tick >= run.final_tick ? words.library.finished : words.library.stopped}</span>
  );
}

function Scenarios({ library, started }: { readonly library: RunLibrary; started(run: RunCard): void }): ReactElement {
  const words = useWords();
  const [chosen, setChosen] = useState("");
  const scenarios = useAsked(() => library.scenarios(), "scenarios", "");
  if (scenarios.problem) return <ProblemNote problem={scenarios.problem} retry={scenarios.again} />;
  if (!scenarios.value) return <p className="soft">{words.app.loadingPart}</p>;
  return (
    <ul className="shelf-cards">
      {scenarios.value.map((scenario) => (
        <li key={scenario.name} className={chosen === scenario.name ? "chosen" : ""}>
          <button
            type="button"
            className="shelf-card"
            aria-expanded={chosen === scenario.name}
            onClick={() => setChosen(chosen === scenario.name ? "" : scenario.name)}
          >
            <ScenarioHead scenario={scenario} />
          </button>
          {chosen === scenario.name && (
            <Start
              usual={scenario}
              start={(wanted) => library.start({ ...wanted, scenario: scenario.name, text: "" })}
              started={started}
            />
          )}
        </li>
      ))}
    </ul>
  );
}

function ScenarioHead({ scenario }: { readonly scenario: ScenarioCard }): ReactElement {
  const words = useWords();
  return (
    <>
      <span className="row spread">
        <strong lang={scenario.language}>{scenario.title}</strong>
        <span className="badge">{scenario.language === "ko" ? "한국어" : "English"}</span>
      </span>
      <span lang={scenario.language}>{scenario.summary}</span>
      <span className="soft">
        <Icon name="people" /> {words.top.people(scenario.people)} · {scenario.stage} · {scenario.name}
      </span>
    </>
  );
}

type Wanted = Pick<NewRun, "seed" | "ticks" | "run">;

interface StartProps {
  /** What is to be started, with its usual seed and length; none: nothing can be started yet. */
  readonly usual: ScenarioCard | null;
  start(wanted: Wanted): Promise<RunCard>;
  started(run: RunCard): void;
}

/** Seed, length and name, and off it goes. */
function Start({ usual, start, started }: StartProps): ReactElement {
  const words = useWords();
  const [ownSeed, setSeed] = useState<string | null>(null);
  const [ownTicks, setTicks] = useState<string | null>(null);
  const seed = ownSeed ?? String(usual?.seed ?? "");
  const ticks = ownTicks ?? String(usual?.ticks ?? "");
  const [name, setName] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    setProblem(null);
    const run = name.trim();
    start({ seed: Number(seed), ticks: Number(ticks), ...(run ? { run } : {}) }).then(started, (thrown: unknown) => {
      setBusy(false);
      setProblem(problemOf(thrown));
    });
  };
  return (
    <form className="start" onSubmit={submit}>
      <label>
        <span className="soft">{words.library.seed}</span>
        <input
          type="number"
          min={0}
          max={Number.MAX_SAFE_INTEGER}
          step={1}
          required
          value={seed}
          onChange={(event) => setSeed(event.target.value)}
        />
      </label>
      <label>
        <span className="soft">{words.library.length}</span>
        <input
          type="number"
          min={1}
          max={1_000_000}
          step={1}
          required
          value={ticks}
          onChange={(event) => setTicks(event.target.value)}
        />
      </label>
      <label className="wide">
        <span className="soft">{words.library.name}</span>
        <input value={name} maxLength={100} onChange={(event) => setName(event.target.value)} />
      </label>
      <button type="submit" className="button main" disabled={!usual || busy}>
        <Icon name="play" /> {words.library.start}
      </button>
      {problem && (
        <div className="wide">
          <ProblemNote problem={problem} />
        </div>
      )}
    </form>
  );
}

/** How long the text rests before it is checked, in milliseconds. */
const REST = 500;

function Write({ library, started }: { readonly library: RunLibrary; started(run: RunCard): void }): ReactElement {
  const words = useWords();
  const [text, setText] = useState("");
  const [lost, setLost] = useState<unknown>(null);
  const area = useRef<HTMLTextAreaElement>(null);
  const gutter = useRef<HTMLDivElement>(null);
  const id = useId();
  const check = useAsked<Checked>(
    () => (text.trim() ? library.check(text) : Promise.resolve({ findings: [], scenario: null })),
    "check",
    text,
    REST,
  );
  const scenarios = useAsked(() => library.scenarios(), "scenarios", "");
  const findings = check.value?.findings ?? [];
  const scenario = check.waiting ? null : (check.value?.scenario ?? null);
  const errors = findings.filter((finding) => finding.level === "error");
  const lines = text.split("\n").length;
  const marked = new Map(findings.map((finding) => [finding.line, finding.level]));

  const goTo = (finding: Finding): void => {
    const rows = text.split("\n");
    const start = rows.slice(0, Math.max(0, finding.line - 1)).reduce((sum, row) => sum + row.length + 1, 0);
    area.current?.focus();
    area.current?.setSelectionRange(start, start + (rows[finding.line - 1]?.length ?? 0));
    if (area.current) area.current.scrollTop = Math.max(0, (finding.line - 4) * 18);
  };

  return (
    <div className="write">
      <div className="row">
        <label htmlFor={id}>{words.library.text}</label>
        <select
          aria-label={words.library.from}
          value=""
          onChange={(event) => void library.scenario(event.target.value).then(setText, setLost)}
        >
          <option value="" disabled>
            {words.library.from} {words.library.choose}
          </option>
          {scenarios.value?.map((one) => (
            <option key={one.name} value={one.name} lang={one.language}>
              {one.title}
            </option>
          ))}
        </select>
        <label className="button plain">
          {words.library.file}
          <input
            type="file"
            className="unseen"
            accept=".yaml,.yml,.json,text/*"
            onChange={(event) => void event.target.files?.[0]?.text().then(setText)}
          />
        </label>
      </div>
      <div className="editor">
        <div className="gutter" ref={gutter} aria-hidden="true">
          {Array.from({ length: lines }, (_, index) => (
            <div key={index} className={marked.get(index + 1) ?? ""}>
              {index + 1}
            </div>
          ))}
        </div>
        <textarea
          id={id}
          ref={area}
          value={text}
          spellCheck={false}
          wrap="off"
          maxLength={400_000}
          aria-invalid={errors.length > 0}
          onChange={(event) => setText(event.target.value)}
          onScroll={(event) => {
            if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop;
          }}
        />
      </div>
      <div className="findings" role="status">
        {lost !== null && <ProblemNote problem={problemOf(lost)} />}
        {check.problem && <ProblemNote problem={check.problem} retry={check.again} />}
        {text.trim() && check.waiting && <p className="soft">{words.library.checking}</p>}
        {scenario && (
          <p className="fine">
            {words.library.fine} <strong lang={scenario.language}>{scenario.title}</strong>,{" "}
            {words.top.people(scenario.people)}
          </p>
        )}
        <ul>
          {findings.map((finding, index) => (
            <li key={index} className={finding.level}>
              <button type="button" className="link" onClick={() => goTo(finding)}>
                <b>{finding.level === "error" ? words.library.error : words.library.warning}</b>{" "}
                {words.library.line(finding.line)}: {finding.what}
              </button>
              {finding.hint && <p className="soft">{finding.hint}</p>}
            </li>
          ))}
        </ul>
      </div>
      <Start usual={scenario} start={(wanted) => library.start({ ...wanted, text, scenario: "" })} started={started} />
    </div>
  );
}
