// What emerges as lines over time: the share of pairs that have spoken with each other (η), and of those who know each fact.

import type { ReactElement } from "react";
import type { Hour } from "../api";
import { dayOf, hourOf, tickOf } from "../view/clock";
import { useView } from "../view/context";
import { curvesOf, marksOf } from "../view/curves";
import { useWords } from "../words";
import { Section, useMoment } from "./parts";

const [WIDTH, HEIGHT] = [420, 200];
const [LEFT, RIGHT, TOP, BOTTOM] = [40, 10, 10, 28];
/** Styles of lines before they repeat. */
const LINES = 6;

const share = (value: number): string => `${Math.round(value * 100)}%`;
const lineOf = (index: number): string => `trace trace-${index === 0 ? "eta" : ((index - 1) % LINES) + 1}`;

export function Curves({ hours }: { readonly hours: readonly Hour[] }): ReactElement {
  const words = useWords();
  const moment = useMoment();
  const town = useView((view) => view.town);
  const head = useView((view) => view.head);
  const curves = curvesOf(
    hours,
    town.facts.map((fact) => fact.id),
  );
  const names = new Map(town.facts.map((fact) => [fact.id, fact.text]));
  const now = hours.at(-1);
  const x = (tick: number): number => LEFT + (tick / Math.max(1, head)) * (WIDTH - LEFT - RIGHT);
  const y = (part: number): number => HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
  if (!now || hours.length < 2) {
    return (
      <Section title={words.metrics.emerges}>
        <p className="soft">{words.metrics.noCurves}</p>
      </Section>
    );
  }
  return (
    <Section title={words.metrics.emerges} aside={`η ${now.density.toFixed(2)}`}>
      <svg
        className="curves"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        role="img"
        aria-label={words.metrics.curves(moment(now.time))}
      >
        {[0, 0.5, 1].map((part) => (
          <g key={part}>
            <path className="grid" d={`M${LEFT} ${y(part)}H${WIDTH - RIGHT}`} />
            <text className="rung" x={LEFT - 6} y={y(part) + 4}>
              {share(part)}
            </text>
          </g>
        ))}
        {marksOf(head, town.start, town.tick_minutes).map((mark) => {
          const at = x(tickOf(mark, town.start, town.tick_minutes));
          const hour = hourOf(mark);
          return (
            <g key={mark}>
              <path className="grid" d={`M${at} ${HEIGHT - BOTTOM}v4`} />
              <text x={Math.min(at, WIDTH - 24)} y={HEIGHT - 6}>
                {hour === "00:00" ? words.top.day(dayOf(mark, town.start)) : hour}
              </text>
            </g>
          );
        })}
        {now.tick < head && <path className="now" d={`M${x(now.tick)} ${TOP}V${HEIGHT - BOTTOM}`} />}
        {[...curves.entries()].reverse().map(([index, { fact, points }]) => (
          <g key={fact} className={lineOf(index)}>
            <path d={`M${points.map(([tick, part]) => `${x(tick)} ${y(part)}`).join("L")}`} />
            <circle cx={x(now.tick)} cy={y(points.at(-1)![1])} r={3} />
          </g>
        ))}
      </svg>
      <ul className="curve-names">
        {curves.map(({ fact, points }, index) => (
          <li key={fact}>
            <svg className={lineOf(index)} viewBox="0 0 28 10" aria-hidden="true">
              <path d="M1 5H27" />
            </svg>
            <span {...(fact ? { lang: town.language } : {})}>{names.get(fact) ?? words.metrics.acquainted}</span>
            <b>{share(points.at(-1)![1])}</b>
          </li>
        ))}
      </ul>
    </Section>
  );
}
