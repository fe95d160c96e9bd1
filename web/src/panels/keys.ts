// Keys that work wherever no text is being written.

import { useEffect } from "react";
import { nextMark } from "../view/band";
import { useViewStore } from "../view/context";
import { stage } from "./stage-handle";
import { togglePlay } from "./TimeLine";

export function useKeys(): void {
  const store = useViewStore();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
      const target = event.target instanceof Element ? event.target : null;
      if (target?.closest("input, textarea, select, dialog, [popover], [contenteditable]")) {
        // Leaving a field is the first Esc; the next one closes the panel.
        if (event.key === "Escape" && target instanceof HTMLElement && !target.closest("dialog, [popover]"))
          target.blur();
        return;
      }
      const view = store.getState();
      const hour = Math.max(1, Math.round(60 / view.town.tick_minutes));
      const mark = (by: 1 | -1): void => {
        const tick = nextMark(view.timeline.marks, view.tick, by);
        if (tick !== null) view.goTo(tick);
      };
      const agent = view.cards.findLast((card) => card.kind === "agent")?.id;
      const actions = new Map([
        ["ArrowLeft", () => view.step(event.shiftKey ? -hour : -1)],
        ["ArrowRight", () => view.step(event.shiftKey ? hour : 1)],
        [",", () => mark(-1)],
        [".", () => mark(1)],
        ["l", () => view.backToNow()],
        ["d", () => view.setDirector(!view.director)],
        ["f", () => view.follow(view.followed ? null : (agent ?? null))],
        ["+", () => stage.zoom(1)],
        ["=", () => stage.zoom(1)],
        ["-", () => stage.zoom(-1)],
        [
          "Escape",
          () => (view.cards.length > 0 ? view.closeCards() : view.lens ? view.setLens(null) : view.follow(null)),
        ],
      ]);
      if (event.key === " ") {
        // On a button the space bar presses the button.
        if (target?.closest("button, summary, a, [role=tab]")) return;
        event.preventDefault();
        togglePlay(store.getState);
        return;
      }
      const action = actions.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
      if (!action) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [store]);
}
