// What the lens and the director say, above the scene. Here the lens is made and the director asked.

import { type ReactElement, useEffect, useMemo, useState } from "react";
import type { Metrics } from "../api";
import { type Direction, direct, START, WINDOW } from "../run/director";
import { afterDelta, type Frame, fromSnapshot } from "../run/frame";
import { factLens, personLens } from "../run/lens";
import type { Lens } from "../scene/village";
import { useAsked } from "../view/asked";
import { useView, useViewStore } from "../view/context";
import { usePreferences } from "../view/preferences";
import type { LensChoice } from "../view/store";
import { useWords } from "../words";
import { Icon } from "./icons";
import { useMetrics } from "./Metrics";
import { Button, Portrait } from "./parts";
import { stage } from "./stage-handle";

export function Captions(): ReactElement {
  return (
    <div className="captions">
      <LensCaption />
      <DirectorCaption />
    </div>
  );
}

function LensCaption(): ReactElement | null {
  const words = useWords();
  const store = useViewStore();
  const town = useView((view) => view.town);
  const choice = useView((view) => view.lens);
  const lens = useLens(choice);
  useEffect(() => {
    stage.lens(lens);
    return () => stage.lens(null);
  }, [lens]);
  useEffect(() => {
    // Threads lead to somebody: one wants to see whom. A camera that follows somebody is left alone.
    const { director, followed } = store.getState();
    if (choice?.kind === "person" && !director && !followed) stage.visit({ kind: "agent", id: choice.id });
  }, [choice, store]);
  if (!choice) return null;
  const fact = choice.kind === "fact" ? town.facts.find((one) => one.id === choice.id) : undefined;
  const person = choice.kind === "person" ? town.characters.find((one) => one.id === choice.id) : undefined;
  const about = lens && (fact ? words.lens.knowing(lens.lit.size, town.characters.length) : tiesOf(lens, words));
  return (
    <div className="caption panel" role="status">
      <Icon name="waves" />
      {person && <Portrait agent={person.id} />}
      <span lang={town.language}>{fact?.text ?? person?.name}</span>
      <b className="pixel">{about}</b>
      <Button label={words.lens.off} icon="close" kind="quiet" onClick={() => store.getState().setLens(null)} />
    </div>
  );
}

function tiesOf(lens: Lens, words: ReturnType<typeof useWords>): string {
  return words.lens.ties(
    lens.ties.filter((tie) => tie.strength > 0).length,
    lens.ties.filter((tie) => tie.strength < 0).length,
  );
}

/** The lens that was chosen, as of the frame shown. */
function useLens(choice: LensChoice | null): Lens | null {
  const store = useViewStore();
  const town = useView((view) => view.town);
  const frame = useView((view) => view.frame);
  const fact = choice?.kind === "fact" ? town.facts.find((one) => one.id === choice.id) : undefined;
  const upto = useToldUpTo(fact?.id);
  // News: the whole of its way is read once, so that every spark flies in its moment. Warmth is that of the tick.
  const whole = useAsked(
    async () => (fact ? store.getState().source.metrics(upto) : null),
    fact ? "spread" : "none",
    fact ? `${upto}` : "",
  );
  const now = useMetrics(choice?.kind === "person");
  return useMemo(() => {
    if (fact) return whole.value && factLens(whole.value, fact, frame.tick, frame.lines);
    return choice?.kind === "person" && now.value ? personLens(now.value, choice.id) : null;
  }, [choice, fact, whole.value, now.value, frame]);
}

/** The tick up to which the way of a fact has to be known: the end of a recording; in a live run, when it was last told. */
function useToldUpTo(fact: string | undefined): number {
  const store = useViewStore();
  const [upto, setUpto] = useState(() => store.getState().head);
  useEffect(() => {
    if (fact === undefined) return undefined;
    setUpto(store.getState().head);
    return store.subscribe(({ head }, before) => {
      // What is said in a tick is known in the next.
      if (head > before.head && before.frame.lines.some((line) => line.facts.includes(fact))) setUpto(head);
    });
  }, [fact, store]);
  return upto;
}

function DirectorCaption(): ReactElement | null {
  const words = useWords();
  const store = useViewStore();
  const on = useView((view) => view.director);
  const shot = useView((view) => view.shot);
  const language = usePreferences((preferences) => preferences.language);
  const townLanguage = useView((view) => view.town.language);
  useDirector(on);
  if (!on) return null;
  return (
    <div className="caption panel director" role="status">
      <Icon name="camera" />
      {shot?.people.slice(0, 3).map((id) => (
        <Portrait key={id} agent={id} />
      ))}
      <span>
        {shot ? shot.caption[language] : words.director.idle}
        {shot?.caption.text && (
          <q lang={townLanguage} className="soft">
            {shot.caption.text.replace(/^“|”$/g, "")}
          </q>
        )}
      </span>
      {shot?.eventId && (
        <Button
          label={words.talk.why}
          icon="why"
          kind="quiet"
          onClick={() => store.getState().open({ kind: "why", id: shot.eventId })}
        />
      )}
      <Button
        label={words.app.close}
        icon="close"
        kind="quiet"
        keys="D"
        onClick={() => store.getState().setDirector(false)}
      />
    </div>
  );
}

/** Ticks between the measures that show whether somebody has cooled towards somebody. */
const APART = 24;

/** Asks the director at every tick, and remembers what it was told. */
function useDirector(on: boolean): void {
  const store = useViewStore();
  useEffect(() => {
    if (!on) {
      store.getState().setShot(null);
      return undefined;
    }
    let over = false;
    let direction: Direction = START;
    let frames: readonly Frame[] = [];
    let measured: readonly Metrics[] = [];
    let measuring = false;

    const look = (): void => {
      const { frame, town, timeline, playing, rate, status } = store.getState();
      const last = frames.at(-1);
      if (last !== frame && last?.tick !== frame.tick - 1) {
        frames = [];
        void lookBack(frame);
      }
      if (last !== frame) frames = [...frames, frame].slice(-WINDOW);
      direction = direct(direction, {
        town,
        frames,
        marks: timeline.marks,
        rate: playing ? rate : status?.rate || 2,
        ...(measured.length === 2 ? { metrics: [measured[0]!, measured[1]!] as const } : {}),
      });
      store.getState().setShot(direction.shot);
      void measure(frame.tick);
    };

    /** After a jump: what happened just before is worth watching too. */
    const lookBack = async (from: Frame): Promise<void> => {
      const { source } = store.getState();
      const begin = Math.max(source.first ?? 0, from.tick - WINDOW + 1);
      if (begin === from.tick) return;
      const read = await source.frames(begin, from.tick - 1).catch(() => null);
      if (!read || over || frames[0] !== from) return;
      const earlier = [fromSnapshot(read.first)];
      for (const delta of read.rest) earlier.push(afterDelta(earlier.at(-1)!, delta));
      frames = [...earlier, ...frames].slice(-WINDOW);
      direction = START;
      look();
    };

    const measure = async (tick: number): Promise<void> => {
      const latest = measured.at(-1)?.tick ?? -Infinity;
      if (measuring || (tick >= latest && tick - latest < APART)) return;
      measuring = true;
      const read = await store
        .getState()
        .source.metrics(tick)
        .catch(() => null);
      measuring = false;
      if (read) measured = [...measured.filter((one) => one.tick < read.tick), read].slice(-2);
    };

    look();
    const leave = store.subscribe((view, before) => {
      if (view.frame !== before.frame) look();
    });
    return () => {
      over = true;
      leave();
    };
  }, [on, store]);
}
