// What emerged up to the tick shown: news and its ways, who talks with whom, warmth, and what it cost.

import { type ReactElement, useMemo, useState } from "react";
import type { Metrics as Measured, Spread } from "../api";
import { useAsked } from "../view/asked";
import { useView, useViewStore } from "../view/context";
import { layout } from "../view/network";
import { type Branch, branches, curve } from "../view/spread";
import { summed, sums } from "../view/usage";
import { useWords } from "../words";
import { Curves } from "./Curves";
import { Button, Name, ProblemNote, Section, When } from "./parts";

/** People in the matrix and the network; of more, those who talk most. */
const MOST_PEOPLE = 40;

/** The tick shown; while ticks fly past, one every few seconds. */
function useMeasuredTick(): number {
  return useView((view) => {
    const every = view.playing
      ? Math.ceil(view.rate * 3)
      : view.status?.playing && view.live
        ? Math.max(1, Math.ceil(view.status.rate * 3))
        : 1;
    return view.frame.tick - (view.frame.tick % every);
  });
}

/** The measures at the tick shown. */
export function useMetrics(wanted = true): ReturnType<typeof useAsked<Measured | null>> {
  const store = useViewStore();
  const tick = useMeasuredTick();
  return useAsked(
    async () => (wanted ? store.getState().source.metrics(tick) : null),
    wanted ? "metrics" : "none",
    wanted ? `${tick}` : "",
    250,
  );
}

export function MetricsPanel(): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const tick = useMeasuredTick();
  const metrics = useMetrics();
  const hours = useAsked(() => store.getState().source.hours(tick), "hours", `${tick}`, 250);
  if (metrics.problem) return <ProblemNote problem={metrics.problem} retry={metrics.again} />;
  if (!metrics.value) return <p className="soft pad">{words.app.loadingPart}</p>;
  return (
    <div className="metrics scroll">
      {hours.problem && <ProblemNote problem={hours.problem} retry={hours.again} />}
      {hours.value && <Curves hours={hours.value} />}
      <Section title={words.metrics.facts}>
        {metrics.value.spreads.length === 0 && <p className="soft">{words.metrics.noFacts}</p>}
        {metrics.value.spreads.map((spread) => (
          <News key={spread.fact} spread={spread} />
        ))}
      </Section>
      <Network metrics={metrics.value} />
      <Warmth metrics={metrics.value} />
      <Usage metrics={metrics.value} />
    </div>
  );
}

function News({ spread }: { readonly spread: Spread }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const town = useView((view) => view.town);
  const head = useView((view) => view.head);
  const tick = useView((view) => view.frame.tick);
  const lens = useView((view) => view.lens?.kind === "fact" && view.lens.id === spread.fact);
  const points = useMemo(() => curve(spread), [spread]);
  const tree = useMemo(() => branches(spread), [spread]);
  const people = Math.max(1, town.characters.length);
  const share = `${Math.round(spread.share * 100)}%`;
  let path = "";
  let last = 0;
  for (const [at, known] of points) {
    path += path ? `H${at}V${people - known}` : `M${at} ${people - known}`;
    last = known;
  }
  path += `H${tick}`;
  return (
    <article className="news">
      <header className="row spread">
        <p lang={town.language}>{spread.text}</p>
        <Button
          label={words.top.lens}
          icon="waves"
          pressed={lens}
          onClick={() => store.getState().setLens(lens ? null : { kind: "fact", id: spread.fact })}
        />
      </header>
      <svg
        className="curve"
        viewBox={`0 0 ${Math.max(1, head)} ${people}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={words.metrics.known(share)}
      >
        <path className="area" d={`${path}V${people}H0Z`} />
        <path className="edge" d={path} />
      </svg>
      <p className="row spread">
        <b>{words.lens.knowing(last, people)}</b>
        <span className="aside">{words.metrics.known(share)}</span>
      </p>
      <h4>{words.metrics.tree}</h4>
      <ul className="told">
        {tree.map((branch) => (
          <Told key={branch.id} branch={branch} />
        ))}
      </ul>
    </article>
  );
}

function Told({ branch }: { readonly branch: Branch }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const language = useView((view) => view.town.language);
  const { step } = branch;
  return (
    <li>
      <Name agent={branch.id} />{" "}
      {step ? (
        <>
          <When tick={step.tick} />{" "}
          <button
            type="button"
            className="link soft"
            lang={language}
            title={words.talk.why}
            onClick={() => store.getState().open({ kind: "why", id: step.event_id })}
          >
            “{step.words}”
          </button>
        </>
      ) : (
        <span className="soft">{words.why.origin}</span>
      )}
      {branch.told.length > 0 && (
        <ul className="told">
          {branch.told.map((one) => (
            <Told key={one.id} branch={one} />
          ))}
        </ul>
      )}
    </li>
  );
}

/** Ids of the people to draw: all, or those who talk most. */
function useDrawn(metrics: Measured): readonly string[] {
  const characters = useView((view) => view.town.characters);
  return useMemo(() => {
    const lines = new Map<string, number>();
    for (const { between, lines: count } of metrics.network) {
      for (const id of between) lines.set(id, (lines.get(id) ?? 0) + count);
    }
    const ids = characters.map((one) => one.id);
    if (ids.length <= MOST_PEOPLE) return ids;
    return [...ids].sort((one, other) => (lines.get(other) ?? 0) - (lines.get(one) ?? 0)).slice(0, MOST_PEOPLE);
  }, [characters, metrics.network]);
}

function Network({ metrics }: { readonly metrics: Measured }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const characters = useView((view) => view.town.characters);
  const chosen = useView((view) => view.cards.findLast((card) => card.kind === "agent")?.id);
  const ids = useDrawn(metrics);
  const names = new Map(characters.map((one) => [one.id, one.called]));
  const drawn = new Set(ids);
  const edges = metrics.network.filter(({ between }) => between.every((id) => drawn.has(id)));
  // The layout costs some milliseconds: again only when somebody has talked.
  const talked = JSON.stringify([ids, edges.map((edge) => ({ between: edge.between, weight: edge.lines }))]);
  const nodes = useMemo(() => layout(...(JSON.parse(talked) as Parameters<typeof layout>)), [talked]);
  const at = new Map(nodes.map((node) => [node.id, { x: 34 + node.x * 352, y: 18 + node.y * 196 }]));
  const most = Math.max(1, ...edges.map((edge) => edge.lines));
  return (
    <Section title={words.metrics.network} aside={words.metrics.density(metrics.density.toFixed(2))}>
      <svg className="network" viewBox="0 0 420 240" role="group" aria-label={words.metrics.network}>
        {edges.map(({ between: [one, other], lines }) => {
          const [a, b] = [at.get(one), at.get(other)];
          return a && b ? (
            <line
              key={one + other}
              className={chosen === one || chosen === other ? "edge chosen" : "edge"}
              x1={a.x}
              y1={a.y}
              x2={b.x}
              y2={b.y}
              strokeWidth={1 + (4 * lines) / most}
            >
              <title>{`${names.get(one)} – ${names.get(other)}: ${lines}`}</title>
            </line>
          ) : null;
        })}
        {nodes.map((node) => {
          const point = at.get(node.id)!;
          const open = (): void => store.getState().open({ kind: "agent", id: node.id });
          return (
            <g
              key={node.id}
              className={node.id === chosen ? "node chosen" : "node"}
              transform={`translate(${point.x} ${point.y})`}
              role="button"
              tabIndex={0}
              aria-label={names.get(node.id)}
              onClick={open}
              onKeyDown={(event) => {
                if (event.key !== "Enter" && event.key !== " ") return;
                event.preventDefault(); // Space would scroll
                open();
              }}
            >
              <rect x={-5} y={-5} width={10} height={10} rx={2} />
              <text y={17}>{names.get(node.id)}</text>
            </g>
          );
        })}
      </svg>
    </Section>
  );
}

function Warmth({ metrics }: { readonly metrics: Measured }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const characters = useView((view) => view.town.characters);
  const ids = useDrawn(metrics);
  const names = new Map(characters.map((one) => [one.id, one.called]));
  const felt = new Map(metrics.warmth.map((one) => [`${one.source} ${one.target}`, one]));
  return (
    <Section title={words.metrics.warmth}>
      <p className="soft">{words.metrics.warmthHint}</p>
      <div className="matrix-box">
        <table className="matrix">
          <thead>
            <tr>
              <td />
              {ids.map((id) => (
                <th key={id} scope="col">
                  <span>{names.get(id)}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {ids.map((row) => (
              <tr key={row}>
                <th scope="row">
                  <button
                    type="button"
                    className="link"
                    onClick={() => store.getState().open({ kind: "agent", id: row })}
                  >
                    {names.get(row)}
                  </button>
                </th>
                {ids.map((column) => {
                  const one = felt.get(`${row} ${column}`);
                  const title = one && `${names.get(row)} → ${names.get(column)}: ${one.warmth} (${one.label})`;
                  return (
                    <td key={column} title={title} style={one ? { backgroundColor: heat(one.warmth) } : {}}>
                      {one ? one.warmth : row === column ? "·" : ""}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Section>
  );
}

function heat(warmth: number): string {
  const share = Math.min(100, Math.abs(warmth));
  return `color-mix(in srgb, ${warmth < 0 ? "#4f7fc4" : "#dd7a45"} ${share}%, transparent)`;
}

function Usage({ metrics }: { readonly metrics: Measured }): ReactElement {
  const words = useWords();
  const characters = useView((view) => view.town.characters);
  const [by, setBy] = useState<"task" | "agent_id">("task");
  const rows = sums(metrics.usage, by);
  const whole = summed("", metrics.usage);
  const names = new Map(characters.map((one) => [one.id, one.called]));
  const figure = (value: number): string => value.toLocaleString("en");
  const cost = (value: number): string => (value === 0 ? "0" : value.toFixed(4));
  return (
    <Section title={words.metrics.usage} aside={cost(whole.cost)}>
      <div className="row">
        <Button label={words.metrics.byTask} text kind="quiet" pressed={by === "task"} onClick={() => setBy("task")} />
        <Button
          label={words.metrics.byPerson}
          text
          kind="quiet"
          pressed={by === "agent_id"}
          onClick={() => setBy("agent_id")}
        />
      </div>
      {metrics.verdicts.map((verdict) => (
        <p key={verdict}>{verdict}</p>
      ))}
      <table className="usage">
        <thead>
          <tr>
            {[
              by === "task" ? words.metrics.task : words.metrics.who,
              words.metrics.asked,
              words.metrics.cached,
              words.metrics.fallbacks,
              words.metrics.lost,
              words.metrics.tokensIn,
              words.metrics.tokensOut,
              words.metrics.cost,
            ].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {[...rows, whole].map((row, index) => (
            <tr key={row.name || "total"} className={index === rows.length ? "total" : ""}>
              <th scope="row">{index === rows.length ? words.metrics.total : (names.get(row.name) ?? row.name)}</th>
              <td>{figure(row.asked)}</td>
              <td>{figure(row.cached)}</td>
              <td>{figure(row.fallbacks)}</td>
              <td>{figure(row.lost)}</td>
              <td>{figure(row.tokensIn)}</td>
              <td>{figure(row.tokensOut)}</td>
              <td>{cost(row.cost)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
