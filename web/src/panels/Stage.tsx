// The scene in the page: built once, told what to show, asked what was clicked.

import { type ReactElement, useEffect, useRef, useState } from "react";
import type { BuildVillage, Village } from "../scene/village";
import { useView, useViewStore } from "../view/context";
import { usePreferences } from "../view/preferences";
import type { View } from "../view/store";
import { useWords } from "../words";
import { Places } from "./Places";
import { portraits } from "./portraits";
import { stage } from "./stage-handle";

export function Stage({ scene }: { scene?(): Promise<BuildVillage> }): ReactElement {
  const store = useViewStore();
  const words = useWords();
  const parent = useRef<HTMLDivElement>(null);
  const [village, setVillage] = useState<Village | null>(null);
  /** What was clicked last in the scene: it is in sight already. */
  const clicked = useRef<string | null>(null);
  const [failed, setFailed] = useState(!scene);
  const reducedMotion = usePreferences((preferences) => preferences.reducedMotion);

  useEffect(() => {
    if (!scene) return undefined;
    let over = false;
    let built: Village | null = null;
    const element = document.createElement("div");
    element.className = "scene";
    parent.current?.append(element);
    const { town } = store.getState();
    scene()
      .then((build) =>
        build(element, {
          town,
          theme: town.theme,
          reducedMotion,
          onPick: (picked) => {
            const { open, closeCards } = store.getState();
            clicked.current = picked && `${picked.kind} ${picked.id}`;
            if (picked) open({ kind: picked.kind, id: picked.id });
            else closeCards();
          },
          onPan: () => {
            store.getState().follow(null);
            store.getState().setDirector(false);
          },
        }),
      )
      .then((made) => {
        if (over) return made.destroy();
        built = made;
        stage.stands(made);
        portraits.drawnBy((agent) => made.portrait(agent));
        setVillage(made);
      })
      .catch((thrown: unknown) => {
        console.warn("the scene cannot be drawn", thrown);
        if (!over) setFailed(true);
      });
    return () => {
      over = true;
      stage.stands(null);
      portraits.drawnBy(null);
      setVillage(null);
      built?.destroy();
      element.remove();
    };
  }, [store, scene, reducedMotion]);

  useEffect(() => {
    if (!village) return undefined;
    const show = ({ frame, jump, playing, rate, status }: View, first: boolean): void =>
      village.show(frame, { jump: jump || first, rate: playing ? rate : status?.playing ? status.rate || 16 : 2 });
    show(store.getState(), true);
    return store.subscribe((view, before) => {
      if (view.frame !== before.frame) show(view, false);
    });
  }, [village, store]);

  const selected = useView((view) => view.cards.findLast((card) => card.kind === "agent")?.id ?? null);
  const shown = useView((view) => view.cards.length > 0);
  const kind = useView((view) => view.cards.at(-1)?.kind);
  const id = useView((view) => view.cards.at(-1)?.id);
  useEffect(() => {
    const { followed: kept, director, follow } = store.getState();
    const known = clicked.current === `${kind} ${id}`;
    clicked.current = null;
    if (!village || id === undefined || known || director || id === kept) return;
    if (kind !== "agent" && kind !== "area" && kind !== "object") return;
    follow(null);
    village.visit({ kind, id });
  }, [village, kind, id, store]);
  const followed = useView((view) => view.followed);
  useEffect(() => village?.select(shown ? selected : null), [village, selected, shown]);
  const shotKind = useView((view) => (view.director ? view.shot?.target.kind : undefined));
  const shotId = useView((view) => (view.director ? view.shot?.target.id : undefined));
  const watched = followed ?? (shotKind === "agent" ? (shotId ?? null) : null);
  useEffect(() => village?.follow(watched), [village, watched]);
  useEffect(() => {
    if (village && shotKind && shotKind !== "agent" && shotId) village.visit({ kind: shotKind, id: shotId });
  }, [village, shotKind, shotId]);
  useInset(village);

  return (
    <main className="stage" aria-label={words.app.village}>
      <div className="canvas" ref={parent} aria-hidden={!failed} />
      {failed && <Places note={words.app.noScene} />}
    </main>
  );
}

/** Tells the scene what the panels cover, whenever one of them opens, closes or grows. */
function useInset(village: Village | null): void {
  const tab = useView((view) => view.tab);
  const cards = useView((view) => view.cards.length > 0);
  // biome-ignore lint/correctness/useExhaustiveDependencies(tab): other panels are in the page
  // biome-ignore lint/correctness/useExhaustiveDependencies(cards): other panels are in the page
  useEffect(() => {
    if (!village) return undefined;
    const measure = (): void => {
      const covered = { left: 0, right: 0, top: 0, bottom: 0 };
      for (const element of document.querySelectorAll<HTMLElement>("[data-cover]")) {
        const box = element.getBoundingClientRect();
        const side = element.dataset.cover;
        if (box.width === 0 || box.height === 0) continue;
        // On a narrow page all but the bar lies at the bottom.
        const sheet = innerWidth <= 760;
        if (side === "top") covered.top = Math.max(covered.top, box.bottom);
        else if (side === "bottom" || sheet) covered.bottom = Math.max(covered.bottom, innerHeight - box.top);
        // Closed, it is a strip of tabs, and beside it is room for the scene.
        else if (element.classList.contains("closed")) covered.top = Math.max(covered.top, box.bottom);
        else if (side === "left") covered.left = Math.max(covered.left, box.right);
        else if (side === "right") covered.right = Math.max(covered.right, innerWidth - box.left);
      }
      village.inset(covered);
    };
    measure();
    const observer = new ResizeObserver(measure);
    for (const element of document.querySelectorAll("[data-cover]")) observer.observe(element);
    addEventListener("resize", measure);
    return () => {
      observer.disconnect();
      removeEventListener("resize", measure);
    };
  }, [village, tab, cards]);
}
