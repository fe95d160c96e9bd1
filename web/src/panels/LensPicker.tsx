// Which lens lies over the map: who knows a piece of news, or who likes whom.

import type { ReactElement } from "react";
import { useView, useViewStore } from "../view/context";
import type { LensChoice } from "../view/store";
import { useWords } from "../words";
import { stage } from "./stage-handle";

export function LensPicker({ done }: { done(): void }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const town = useView((view) => view.town);
  const lens = useView((view) => view.lens);
  const choose = (choice: LensChoice | null): void => {
    store.getState().setLens(choice);
    if (choice?.kind === "person") stage.visit({ kind: "agent", id: choice.id });
    if (choice === null || choice.kind === "fact") done();
  };
  return (
    <div className="stack">
      {town.facts.length > 0 && (
        <>
          <h3>{words.lens.facts}</h3>
          {town.facts.map((fact) => (
            <button
              key={fact.id}
              type="button"
              className="option"
              lang={town.language}
              aria-pressed={lens?.kind === "fact" && lens.id === fact.id}
              onClick={() => choose({ kind: "fact", id: fact.id })}
            >
              {fact.text}
            </button>
          ))}
        </>
      )}
      <h3>{words.lens.persons}</h3>
      <select
        aria-label={words.lens.choose}
        lang={town.language}
        value={lens?.kind === "person" ? lens.id : ""}
        onChange={(event) => event.target.value && choose({ kind: "person", id: event.target.value })}
      >
        <option value="">{words.lens.choose}</option>
        {town.characters.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </select>
      {lens && (
        <button type="button" className="button plain" onClick={() => choose(null)}>
          {words.lens.off}
        </button>
      )}
    </div>
  );
}
