// Small pieces that every panel is made of.

import { type KeyboardEvent, type ReactElement, type ReactNode, useId, useState } from "react";
import type { Problem } from "../api";
import { dayOf, hourOf, instant, momentOf } from "../view/clock";
import { useView, useViewStore } from "../view/context";
import { useWords } from "../words";
import { Icon, type IconName } from "./icons";
import { usePortrait } from "./portraits";

interface ButtonProps {
  readonly label: string;
  readonly icon?: IconName;
  readonly text?: boolean;
  readonly pressed?: boolean;
  readonly disabled?: boolean;
  readonly kind?: "plain" | "main" | "quiet";
  readonly keys?: string;
  onClick(): void;
}

/** A button with an icon, a label, or both (`text`). */
export function Button({
  label,
  icon,
  text,
  pressed,
  disabled,
  kind = "plain",
  keys,
  onClick,
}: ButtonProps): ReactElement {
  const shows = text || !icon;
  return (
    <button
      type="button"
      className={`button ${kind}${shows ? "" : " square"}`}
      aria-label={shows ? undefined : label}
      title={shows && !keys ? undefined : keys ? `${label} (${keys})` : label}
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
    >
      {icon && <Icon name={icon} />}
      {shows && <span>{label}</span>}
    </button>
  );
}

/** Somebody's head and shoulders; before the scene can draw it, a letter. */
export function Portrait({
  agent,
  size = "small",
}: {
  readonly agent: string;
  readonly size?: "small" | "large";
}): ReactElement {
  const picture = usePortrait(agent);
  const name = useView((view) => view.town.characters.find((one) => one.id === agent)?.called ?? agent);
  if (picture) return <img className={`portrait ${size}`} src={picture} alt="" draggable={false} />;
  return (
    <span className={`portrait letter ${size} hue-${hueOf(agent)}`} aria-hidden="true">
      {[...name][0]}
    </span>
  );
}

function hueOf(id: string): number {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + (letter.codePointAt(0) ?? 0)) >>> 0;
  return sum % 8;
}

/** A person's name that opens their card. */
export function Name({ agent }: { readonly agent: string }): ReactElement {
  const store = useViewStore();
  const name = useView((view) => view.town.characters.find((one) => one.id === agent)?.called ?? agent);
  return (
    <button type="button" className="link name" onClick={() => store.getState().open({ kind: "agent", id: agent })}>
      {name}
    </button>
  );
}

/** A place's name that opens its card. */
export function Place({ area }: { readonly area: string }): ReactElement | null {
  const store = useViewStore();
  const name = useView((view) => view.town.areas.find((one) => one.id === area)?.name);
  if (!name) return area ? <span>{area}</span> : null;
  return (
    <button type="button" className="link" onClick={() => store.getState().open({ kind: "area", id: area })}>
      {name}
    </button>
  );
}

/** A simulated moment that the view goes to when it is clicked. */
export function When({ tick, iso }: { readonly tick: number; readonly iso?: string }): ReactElement {
  const store = useViewStore();
  const words = useWords();
  const start = useView((view) => view.town.start);
  const minutes = useView((view) => view.town.tick_minutes);
  const today = useView((view) => dayOf(instant(view.frame.time), start));
  const moment = iso ? instant(iso) : momentOf(tick, start, minutes);
  const day = dayOf(moment, start);
  const text = day === today ? hourOf(moment) : words.time.at(day, hourOf(moment));
  return (
    <button type="button" className="link when" onClick={() => store.getState().goTo(tick)}>
      {text}
    </button>
  );
}

/** Says a moment: the hour, and the day where it is another one than the one shown. */
export function useMoment(): (iso: string) => string {
  const words = useWords();
  const start = useView((view) => view.town.start);
  const today = useView((view) => dayOf(instant(view.frame.time), start));
  return (iso) => {
    const moment = instant(iso);
    const day = dayOf(moment, start);
    return day === today ? hourOf(moment) : words.time.at(day, hourOf(moment));
  };
}

export interface TabItem<T extends string> {
  readonly id: T;
  readonly label: string;
  readonly icon?: IconName;
}

interface TabsProps<T extends string> {
  readonly label: string;
  readonly tabs: readonly TabItem<T>[];
  readonly chosen: T | null;
  readonly children?: ReactNode;
  readonly panelClass?: string;
  choose(tab: T): void;
}

/** Tabs with the arrow keys, and the panel of the chosen one. */
export function Tabs<T extends string>({
  label,
  tabs,
  chosen,
  choose,
  children,
  panelClass,
}: TabsProps<T>): ReactElement {
  const base = useId();
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const at = tabs.findIndex((tab) => tab.id === chosen);
    const next = tabs[(at + by + tabs.length) % tabs.length];
    if (!next) return;
    choose(next.id);
    document.getElementById(`${base}-${next.id}`)?.focus();
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab, index) => (
          <button
            key={tab.id}
            id={`${base}-${tab.id}`}
            type="button"
            role="tab"
            className="tab"
            aria-selected={tab.id === chosen}
            title={tab.icon ? tab.label : undefined}
            aria-controls={chosen ? `${base}-panel` : undefined}
            tabIndex={tab.id === chosen || (chosen === null && index === 0) ? 0 : -1}
            onClick={() => choose(tab.id)}
          >
            {tab.icon && <Icon name={tab.icon} />}
            <span>{tab.label}</span>
          </button>
        ))}
      </div>
      {chosen !== null && (
        <div
          id={`${base}-panel`}
          role="tabpanel"
          aria-labelledby={`${base}-${chosen}`}
          className={panelClass}
          tabIndex={-1}
        >
          {children}
        </div>
      )}
    </>
  );
}

/** A heading with what belongs to it. */
export function Section({
  title,
  aside,
  children,
}: {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}): ReactElement {
  const id = useId();
  return (
    <section className="section" aria-labelledby={id}>
      <h3 id={id}>
        <span>{title}</span>
        {aside !== undefined && <span className="aside">{aside}</span>}
      </h3>
      {children}
    </section>
  );
}

/** What is behind a summary is made only when it is opened. */
export function Fold({
  summary,
  children,
  open = false,
}: {
  readonly summary: ReactNode;
  readonly children: ReactNode;
  readonly open?: boolean;
}): ReactElement {
  const [shown, setShown] = useState(open);
  return (
    <details className="fold" open={shown} onToggle={(event) => setShown(event.currentTarget.open)}>
      <summary>{summary}</summary>
      {shown && children}
    </details>
  );
}

export interface BarPart {
  readonly name: string;
  readonly label: string;
  readonly amount: number;
}

/** Parts of a score side by side, as long as they weigh; `most` is the length of the whole bar. */
export function StackedBar({
  parts,
  most,
  label,
}: {
  readonly parts: readonly BarPart[];
  readonly most: number;
  readonly label: string;
}): ReactElement {
  return (
    <span className="bar" role="img" aria-label={label}>
      {parts.map((part) => (
        <i
          key={part.name}
          className={`part part-${part.name}`}
          style={{ width: `${most > 0 ? Math.max(0, (part.amount / most) * 100) : 0}%` }}
          title={part.label}
        />
      ))}
    </span>
  );
}

/** What went wrong, in its words and with what to do. */
export function ProblemNote({ problem, retry }: { readonly problem: Problem; retry?(): void }): ReactElement {
  const words = useWords();
  const unreachable = problem.title === "unreachable";
  return (
    <div className="problem" role="alert">
      <strong>{unreachable ? words.app.unreachable : problem.detail || problem.title}</strong>
      {(problem.hint || unreachable) && (
        <p className="soft">{unreachable ? words.app.unreachableHint : problem.hint}</p>
      )}
      {retry && <Button label={words.app.retry} onClick={retry} />}
    </div>
  );
}

/** What is so of somebody, a place, a thing or, as `-`, the town. */
export function So({ of }: { readonly of: string }): ReactElement {
  const language = useView((view) => view.town.language);
  const all = useView((view) => view.frame.circumstances);
  const mine = all.filter((one) => one.of === of);
  return (
    <>
      {mine.map((one) => (
        <p key={one.key} className="so" lang={language}>
          <span aria-hidden="true">{one.emoji}</span> {one.text}
        </p>
      ))}
    </>
  );
}
