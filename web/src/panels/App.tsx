// The page: a run around its scene, or the library while none is open.

import { type ReactElement, useCallback, useEffect, useEffectEvent, useState } from "react";
import type { Problem } from "../api";
import { problemOf } from "../run/problem";
import type { Library as RunLibrary, Source } from "../run/source";
import type { BuildVillage } from "../scene/village";
import { ViewContext } from "../view/context";
import { usePreferences } from "../view/preferences";
import { addressOf, type Route, routeOf } from "../view/route";
import { type Opening, openView, type ViewStore } from "../view/store";
import { useWords } from "../words";
import { Library } from "./Library";
import { ProblemNote } from "./parts";
import { Room } from "./Room";

interface AppProps {
  /** Brings the drawn village; without it the village is shown in words. */
  scene?(): Promise<BuildVillage>;
  /** The runs to choose from; none in a one-file replay. */
  readonly library?: RunLibrary;
  /** The only run there is. */
  readonly source?: Source;
}

export function App({ scene, library, source }: AppProps): ReactElement {
  const [route, setRoute] = useState<Route>(() => routeOf(location.hash, location.search));
  const [browsing, setBrowsing] = useState(false);
  usePageLook();

  useEffect(() => {
    const changed = (): void => setRoute(routeOf(location.hash));
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);

  const visit = useCallback((run: string, opening: Opening = {}) => {
    history.pushState(null, "", addressOf({ run, ...opening }));
    setRoute({ run, ...opening });
    setBrowsing(false);
  }, []);

  const run = source?.run ?? route.run;
  const opened = useOpened(run, route, source ?? library);
  const showsLibrary = library !== undefined && (run === "" || browsing);

  return (
    <>
      {run !== "" && opened.store && (
        <ViewContext.Provider value={opened.store}>
          <Room
            key={run}
            {...(scene ? { scene } : {})}
            {...(library ? { toLibrary: () => setBrowsing(true) } : {})}
            visit={visit}
          />
        </ViewContext.Provider>
      )}
      {run !== "" && !opened.store && (
        <Waiting problem={opened.problem} again={opened.again} leave={library && (() => visit(""))} />
      )}
      {showsLibrary && (
        <Library library={library} current={run} visit={visit} {...(run ? { close: () => setBrowsing(false) } : {})} />
      )}
    </>
  );
}

function Waiting({
  problem,
  again,
  leave,
}: {
  problem: Problem | null;
  again(): void;
  leave: (() => void) | undefined;
}): ReactElement {
  const words = useWords();
  return (
    <main className="waiting">
      {problem ? (
        <div className="panel pad">
          <ProblemNote problem={problem} retry={again} />
          {leave && (
            <button type="button" className="link" onClick={leave}>
              {words.top.library}
            </button>
          )}
        </div>
      ) : (
        <p role="status">{words.app.loading}</p>
      )}
    </main>
  );
}

interface Opened {
  readonly store: ViewStore | null;
  readonly problem: Problem | null;
  again(): void;
}

/** The store of a run; it closes when another run is opened. */
function useOpened(run: string, route: Route, from: Source | RunLibrary | undefined): Opened {
  const [state, setState] = useState<{ run: string; store: ViewStore | null; problem: Problem | null }>();
  const [turn, setTurn] = useState(0);
  // the rest of the route is where the run opens, not when
  const opening = useEffectEvent((source: Source) => openView(source, route));
  // biome-ignore lint/correctness/useExhaustiveDependencies(turn): `again` opens the same once more
  useEffect(() => {
    if (!run || !from) return;
    let current = true;
    let store: ViewStore | null = null;
    opening("town" in from ? from : from.open(run)).then(
      (opened) => {
        store = opened;
        if (current) setState({ run, store: opened, problem: null });
        else opened.getState().close();
      },
      (thrown: unknown) => current && setState({ run, store: null, problem: problemOf(thrown) }),
    );
    return () => {
      current = false;
      store?.getState().close();
    };
  }, [run, from, turn]);
  const mine = state?.run === run ? state : undefined;
  return { store: mine?.store ?? null, problem: mine?.problem ?? null, again: () => setTurn(turn + 1) };
}

/** Language, theme and motion on the root element, where the styles look for them. */
function usePageLook(): void {
  const { language, theme, reducedMotion } = usePreferences();
  useEffect(() => {
    const root = document.documentElement;
    root.lang = language;
    root.dataset.motion = reducedMotion ? "less" : "full";
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const apply = (): void => {
      root.dataset.theme = theme === "auto" ? (dark.matches ? "dark" : "light") : theme;
    };
    apply();
    dark.addEventListener("change", apply);
    return () => dark.removeEventListener("change", apply);
  }, [language, theme, reducedMotion]);
}
