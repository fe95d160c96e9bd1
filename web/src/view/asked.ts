// Something asked of the source, for as long as a panel shows it.

import { useEffect, useEffectEvent, useState } from "react";
import type { Problem } from "../api";
import { problemOf } from "../run/problem";

export interface Asked<T> {
  /** What came last; it stays while the next is asked for. */
  readonly value: T | null;
  readonly problem: Problem | null;
  readonly waiting: boolean;
  again(): void;
}

/**
 * Asks when `key` changes, after `pause` milliseconds without another change. With another `about` what came before is
 * dropped; with the same one it stays until the new answer is there, so that nothing flickers.
 */
export function useAsked<T>(ask: () => Promise<T>, about: string, key: string, pause = 0): Asked<T> {
  const [state, setState] = useState<{ about: string; key: string; value: T | null; problem: Problem | null } | null>(
    null,
  );
  const [turn, setTurn] = useState(0);
  // `about` and `key` say what `ask` asks: they are when to ask again, not the function, which is new in every render
  const asking = useEffectEvent(ask);
  const wait = useEffectEvent(() => (state?.about === about ? pause : 0));
  // biome-ignore lint/correctness/useExhaustiveDependencies(turn): `again` asks the same once more
  useEffect(() => {
    let current = true;
    const timer = setTimeout(() => {
      asking().then(
        (value) => current && setState({ about, key, value, problem: null }),
        (thrown: unknown) => current && setState({ about, key, value: null, problem: problemOf(thrown) }),
      );
    }, wait());
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [about, key, turn]);
  const mine = state?.about === about ? state : null;
  return {
    value: mine?.value ?? null,
    problem: mine?.problem ?? null,
    waiting: mine?.key !== key,
    again: () => setTurn(turn + 1),
  };
}
