// The whole run along the bottom: light of day, how busy it was, what is marked; and the keys that move on it.

import { type KeyboardEvent, type PointerEvent, type ReactElement, useEffect, useMemo, useRef, useState } from "react";
import {
  clusters,
  daylight,
  histogram,
  KINDS,
  labels,
  type MarkKind,
  outline,
  spanOf,
  weatherBands,
} from "../view/band";
import { dayOf, hourOf, instant, momentOf } from "../view/clock";
import { useView, useViewStore } from "../view/context";
import { RATES } from "../view/store";
import { useWords } from "../words";
import { Icon, type IconName } from "./icons";
import { Button } from "./parts";

export const MARK_ICONS: Readonly<Record<MarkKind, IconName>> = {
  intervention: "storm",
  fact: "spark",
  scripted: "pin",
  arrival: "people",
  reflection: "moon",
  plan: "list",
  conversation: "talk",
};

/** Pixels between two marks drawn side by side. */
const MARK_ROOM = 15;

export function TimeLine(): ReactElement {
  return (
    <footer className="timeline panel" data-cover="bottom">
      <Transport />
      <Track />
    </footer>
  );
}

/** Play, pause, step, speed: of the run itself while it is watched live, else of what was recorded. */
function Transport(): ReactElement {
  const store = useViewStore();
  const words = useWords();
  const { live, playing, rate, tick, head, status, town, source, report } = useView((view) => view);
  const first = source.first ?? 0;
  const controls = live && source.actions !== undefined && town.may.includes("control");
  const grows = useView((view) => view.growing);
  const act = (change: Promise<unknown> | undefined): void => void change?.catch(report);
  const running = controls ? (status?.playing ?? town.playing) : playing;
  const shownRate = controls ? (status?.rate ?? rate) : rate;

  return (
    <div className="transport" role="group" aria-label={controls ? words.time.run : words.time.line}>
      <Button
        label={words.time.stepBack}
        icon="back"
        keys="←"
        disabled={tick === first}
        onClick={() => store.getState().step(-1)}
      />
      {live && !controls ? null : (
        <Button
          label={
            controls
              ? running
                ? words.time.runPause
                : words.time.runPlay
              : running
                ? words.time.pause
                : words.time.play
          }
          icon={running ? "pause" : "play"}
          kind="main"
          keys="Space"
          onClick={() => togglePlay(store.getState)}
        />
      )}
      {live && !controls ? null : (
        <Button
          label={controls ? words.time.runStep : words.time.stepOn}
          icon="on"
          keys="→"
          disabled={controls ? running : tick >= head}
          onClick={() => (controls ? act(source.actions?.step()) : store.getState().step(1))}
        />
      )}
      {live && !controls ? null : (
        <select
          className="rate"
          aria-label={words.time.speed}
          value={shownRate}
          onChange={(event) => {
            const wanted = Number(event.target.value);
            if (controls) act(source.actions?.speed(wanted));
            else store.getState().setRate(wanted);
          }}
        >
          {[...new Set<number>([...RATES, shownRate])]
            .sort((a, b) => (a || Infinity) - (b || Infinity))
            .map((one) => (
              <option key={one} value={one}>
                {one === 0 ? "max" : words.time.perSecond(one)}
              </option>
            ))}
        </select>
      )}
      {!grows && source.actions && town.may.includes("control") && (
        <Button
          label={words.time.goOn}
          icon="spark"
          keys={words.time.goOnHint}
          onClick={() => void store.getState().goOn()}
        />
      )}
      {grows && !live && (
        <Button
          label={words.time.now}
          icon="now"
          text
          kind="main"
          keys="L"
          onClick={() => store.getState().backToNow()}
        />
      )}
    </div>
  );
}

/** What the space bar does. */
export function togglePlay(get: ReturnType<typeof useViewStore>["getState"]): void {
  const { live, playing, status, town, source, report, play, pause } = get();
  if (live && source.actions && town.may.includes("control")) {
    const running = status?.playing ?? town.playing;
    (running ? source.actions.pause() : source.actions.play()).catch(report);
  } else if (playing) pause();
  else play();
}

function Track(): ReactElement {
  const store = useViewStore();
  const words = useWords();
  const timeline = useView((view) => view.timeline);
  const town = useView((view) => view.town);
  const first = useView((view) => view.source.first ?? 0);
  const head = useView((view) => view.head);
  const tick = useView((view) => view.tick);
  const status = useView((view) => view.status);
  const reading = useView((view) => view.tick !== view.frame.tick);
  const [track, width] = useWidth();
  const [hidden, setHidden] = useState<ReadonlySet<MarkKind>>(new Set());
  const [hover, setHover] = useState<number | null>(null);
  const dragging = useRef(false);

  const grows = useView((view) => view.growing);
  const span = Math.max(1, spanOf(head, status?.final_tick ?? town.final_tick, grows, town.tick_minutes) - first);
  const start = new Date(momentOf(first, town.start, town.tick_minutes)).toISOString();
  const daysBefore = dayOf(instant(start), town.start) - 1;
  const bins = Math.max(1, Math.min(span + 1, Math.floor(width / 3)));
  const shape = useMemo(
    () => outline(histogram(timeline.activity.slice(first), span, bins)),
    [timeline.activity, first, span, bins],
  );
  const light = useMemo(() => daylight(start, town.tick_minutes, span), [town, start, span]);
  const hours = useMemo(
    () => labels(start, town.tick_minutes, span, width, (day) => words.top.day(day + daysBefore)),
    [town, start, daysBefore, span, width, words],
  );
  const rains = useMemo(() => weatherBands(timeline.weather, span, first), [timeline.weather, span, first]);
  const groups = useMemo(
    () =>
      clusters(
        timeline.marks.filter((mark) => !hidden.has(mark.kind)),
        span,
        Math.floor(width / MARK_ROOM),
        first,
      ),
    [timeline.marks, hidden, span, width, first],
  );
  const present = useMemo(
    () => KINDS.filter((kind) => timeline.marks.some((mark) => mark.kind === kind)),
    [timeline.marks],
  );

  const share = (ticks: number): string => `${(Math.min(ticks, span) / span) * 100}%`;
  const left = (at: number): string => share(at - first);
  const tickAt = (event: PointerEvent<HTMLElement>): number => {
    const box = event.currentTarget.getBoundingClientRect();
    const at = first + Math.round(((event.clientX - box.left) / Math.max(1, box.width)) * span);
    return Math.max(first, Math.min(head, at));
  };
  const moment = momentOf(tick, town.start, town.tick_minutes);
  const hour = Math.max(1, Math.round(60 / town.tick_minutes));
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: hour, PageDown: -hour }[event.key];
    const to =
      by !== undefined
        ? tick + by * (event.shiftKey ? hour : 1)
        : event.key === "Home"
          ? first
          : event.key === "End"
            ? head
            : null;
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    store.getState().pause();
    store.getState().goTo(to);
  };

  return (
    <>
      <div className="track" ref={track}>
        <div
          className="rail"
          role="slider"
          tabIndex={0}
          aria-label={words.time.line}
          aria-valuemin={first}
          aria-valuemax={head}
          aria-valuenow={tick}
          aria-valuetext={`${words.time.at(dayOf(moment, town.start), hourOf(moment))}, ${words.time.tick(tick)}`}
          onKeyDown={onKeyDown}
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            dragging.current = true;
            event.currentTarget.setPointerCapture(event.pointerId);
            store.getState().goTo(tickAt(event));
          }}
          onPointerMove={(event) => {
            const at = tickAt(event);
            setHover(at);
            if (dragging.current && at !== store.getState().tick) store.getState().goTo(at);
          }}
          onPointerUp={() => (dragging.current = false)}
          onPointerCancel={() => (dragging.current = false)}
          onPointerLeave={() => setHover(null)}
        >
          <svg className="histogram" viewBox={`0 0 ${bins} 1`} preserveAspectRatio="none" aria-hidden="true">
            <path d={shape} />
          </svg>
          <div className="light" style={{ backgroundImage: light }} aria-hidden="true">
            {rains.map((rain) => (
              <i
                key={rain.from}
                className={`weather ${rain.sky}`}
                style={{ left: left(rain.from), width: share(rain.to - rain.from) }}
              />
            ))}
            {head < span && <i className="future" style={{ left: left(head) }} />}
          </div>
          {hours.map((label) => (
            <span
              key={label.tick}
              className={label.midnight ? "hour midnight" : "hour"}
              style={{ left: share(label.tick) }}
              aria-hidden="true"
            >
              {label.text}
            </span>
          ))}
          <i className={reading ? "playhead reading" : "playhead"} style={{ left: left(tick) }} aria-hidden="true">
            <b style={{ translate: `${-((tick - first) / span) * 100}% 0` }}>{hourOf(moment)}</b>
          </i>
        </div>
        <div className="marks" aria-hidden="true">
          {groups.map((group) => (
            <button
              key={group.tick}
              type="button"
              tabIndex={-1}
              className={`mark mark-${group.kind}`}
              style={{ left: left(group.tick) }}
              onMouseEnter={() => setHover(group.tick)}
              onMouseLeave={() => setHover(null)}
              onClick={() => {
                store.getState().pause();
                store.getState().goTo(group.tick);
                const event = group.marks.find((mark) => mark.tick === group.tick)?.event_id;
                if (event) store.getState().open({ kind: "why", id: event });
              }}
            >
              <Icon name={MARK_ICONS[group.kind]} />
            </button>
          ))}
        </div>
        {hover !== null && (
          <Hint
            tick={hover}
            left={left(hover)}
            edge={(hover - first) / span}
            near={Math.ceil((span / Math.max(1, width)) * 5)}
            hidden={hidden}
          />
        )}
      </div>
      {present.length > 0 && (
        <Kinds present={present} hidden={hidden} toggle={(kind) => setHidden(toggled(hidden, kind))} />
      )}
    </>
  );
}

interface KindsProps {
  readonly present: readonly MarkKind[];
  readonly hidden: ReadonlySet<MarkKind>;
  toggle(kind: MarkKind): void;
}

/** What the marks mean, and which of them are shown. */
function Kinds({ present, hidden, toggle }: KindsProps): ReactElement {
  const words = useWords();
  return (
    <div className="kinds" role="group" aria-label={words.time.shownMarks}>
      {present.map((kind) => (
        <button
          key={kind}
          type="button"
          className={`kind mark-${kind}`}
          aria-pressed={!hidden.has(kind)}
          title={words.time.marks[kind]}
          onClick={() => toggle(kind)}
        >
          <Icon name={MARK_ICONS[kind]} />
          <span className="unseen">{words.time.marks[kind]}</span>
        </button>
      ))}
    </div>
  );
}

function toggled(kinds: ReadonlySet<MarkKind>, kind: MarkKind): ReadonlySet<MarkKind> {
  const next = new Set(kinds);
  if (!next.delete(kind)) next.add(kind);
  return next;
}

interface HintProps {
  readonly tick: number;
  readonly left: string;
  /** 0 … 1: where on the line, so that the hint stays on the page. */
  readonly edge: number;
  readonly near: number;
  readonly hidden: ReadonlySet<MarkKind>;
}

function Hint({ tick, left, edge, near, hidden }: HintProps): ReactElement {
  const words = useWords();
  const town = useView((view) => view.town);
  const timeline = useView((view) => view.timeline);
  const marks = timeline.marks.filter((mark) => Math.abs(mark.tick - tick) <= near && !hidden.has(mark.kind));
  const moment = momentOf(tick, town.start, town.tick_minutes);
  const names = new Map(town.characters.map((one) => [one.id, one.called]));
  return (
    <div className="hint" style={{ left, transform: `translateX(${-edge * 100}%)` }}>
      <b>{words.time.at(dayOf(moment, town.start), hourOf(moment))}</b>
      <span className="soft"> · {words.time.lines(timeline.activity[tick] ?? 0)}</span>
      <ul lang={town.language}>
        {marks.slice(0, 6).map((mark) => (
          <li key={mark.event_id + mark.kind} className={`mark-${mark.kind}`}>
            <Icon name={MARK_ICONS[mark.kind]} />
            <span>
              {mark.agent_id && <strong>{names.get(mark.agent_id) ?? mark.agent_id} </strong>}
              {mark.text}
            </span>
          </li>
        ))}
      </ul>
      {marks.length > 6 && <span className="soft">{words.time.andMore(marks.length - 6)}</span>}
    </div>
  );
}

/** The width of an element, as it is and becomes. */
function useWidth(): [(element: HTMLElement | null) => void, number] {
  const [element, setElement] = useState<HTMLElement | null>(null);
  const [width, setWidth] = useState(800);
  useEffect(() => {
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth || 800));
    observer.observe(element);
    return () => observer.disconnect();
  }, [element]);
  return [setElement, width];
}
