// Lines up to the tick shown. While ticks follow each other their lines are appended; a jump asks the source again.

import { useEffect, useMemo, useRef, useState } from "react";
import type { EventLine } from "../api";
import type { Frame } from "../run/frame";
import type { LineQuery } from "../run/source";
import { useView, useViewStore } from "./context";

const MOST = 400;
/** With fewer lines than this before the tick, earlier ones are asked for. */
const ENOUGH = 30;

export type Filter = Omit<LineQuery, "to" | "limit">;

/** Lines of consecutive ticks, `from` and `to` included. */
export interface Recent {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly EventLine[];
}

/** Whether a line passes a filter; the same rule as the server's. */
export function passes(line: EventLine, filter: Filter): boolean {
  return (
    (!filter.category || line.category === filter.category) &&
    (!filter.agent || line.agent_id === filter.agent || line.to === filter.agent) &&
    (!filter.place || line.place === filter.place) &&
    (!filter.text || line.text.toLowerCase().includes(filter.text.toLowerCase()))
  );
}

/** The lines of a query as read: complete from the earliest one on, or from the opening if all fit. */
export function gathered(lines: readonly EventLine[], to: number, limit: number): Recent {
  const from = lines.length < limit ? 0 : (lines[0]?.tick ?? to);
  return { from, to, lines };
}

/** With the lines of the next tick. */
export function extended(recent: Recent, tick: number, lines: readonly EventLine[], filter: Filter): Recent {
  const all = [...recent.lines, ...lines.filter((line) => passes(line, filter))];
  const lost = all.length - MOST;
  if (lost <= 0) return { ...recent, to: tick, lines: all };
  return { from: all[lost]?.tick ?? tick, to: tick, lines: all.slice(lost) };
}

/** What is to be done to show a tick: nothing, append it, or ask. */
export function need(recent: Recent | null, tick: number): "nothing" | "append" | "ask" {
  if (!recent) return "ask";
  if (tick === recent.to + 1) return "append";
  if (tick > recent.to || tick < recent.from) return "ask";
  const before = recent.lines.findLastIndex((line) => line.tick <= tick) + 1;
  return before < ENOUGH && recent.from > 0 ? "ask" : "nothing";
}

/** A question that is not answered yet, and the ticks that followed meanwhile: a run may be faster than its server. */
export interface Pending {
  readonly of: Filter;
  readonly to: number;
  readonly passed: Pick<Frame, "tick" | "lines">[];
}

/** An answer with the lines of the ticks that followed while it was waited for. */
export function caughtUp(recent: Recent, asked: Pending): Recent {
  return asked.passed.reduce((all, one) => extended(all, one.tick, one.lines, asked.of), recent);
}

/** Lines that pass the filter up to the tick shown, earliest first; null while the first ones are read. */
export function useRecent(filter: Filter): readonly EventLine[] | null {
  const store = useViewStore();
  const frame = useView((view) => view.frame);
  const { category = "", agent = "", text = "", place = "" } = filter;
  const wanted = useMemo(() => ({ category, agent, text, place }), [category, agent, text, place]);
  const [recent, setRecent] = useState<{ readonly of: Filter; readonly lines: Recent } | null>(null);
  const known = recent?.of === wanted ? recent.lines : null;
  const pending = useRef<Pending | null>(null);

  useEffect(() => {
    const todo = need(known, frame.tick);
    if (todo === "append" && known) {
      setRecent({ of: wanted, lines: extended(known, frame.tick, frame.lines, wanted) });
    } else if (todo === "ask") {
      const before = pending.current;
      if (before?.of === wanted && frame.tick === before.to + before.passed.length + 1) {
        before.passed.push(frame);
        return undefined;
      }
      // Scrubbing passes many ticks: only where it rests is asked for.
      const timer = setTimeout(
        () => {
          const asked: Pending = { of: wanted, to: frame.tick, passed: [] };
          pending.current = asked;
          store
            .getState()
            .source.lines({ ...wanted, to: frame.tick, limit: MOST })
            .then(
              (lines) => {
                if (pending.current !== asked) return;
                pending.current = null;
                setRecent({ of: wanted, lines: caughtUp(gathered(lines, asked.to, MOST), asked) });
              },
              (thrown: unknown) => {
                if (pending.current !== asked) return;
                pending.current = null;
                store.getState().report(thrown);
              },
            );
        },
        known ? 120 : 0,
      );
      return () => clearTimeout(timer);
    }
    return undefined;
  }, [known, frame, wanted, store]);

  return useMemo(() => known?.lines.filter((line) => line.tick <= frame.tick) ?? null, [known, frame.tick]);
}
