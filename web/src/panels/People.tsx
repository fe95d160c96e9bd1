// Everybody, to be found by name, place or what they do; and the places they are in.

import { type ReactElement, useState } from "react";
import { useView, useViewStore } from "../view/context";
import { useWords } from "../words";
import { Places } from "./Places";
import { Fold, Portrait } from "./parts";

export function People(): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const town = useView((view) => view.town);
  const agents = useView((view) => view.frame.agents);
  const [text, setText] = useState("");
  const sought = text.trim().toLowerCase();
  const areas = new Map(town.areas.map((area) => [area.id, area.name]));
  const found = town.characters.filter((one) => {
    const state = agents.get(one.id);
    const about = [one.name, one.called, one.work, state?.current_action, areas.get(state?.position ?? "")];
    return state !== undefined && (!sought || about.some((field) => field?.toLowerCase().includes(sought)));
  });
  return (
    <div className="everybody">
      <div className="pad">
        <input
          type="search"
          aria-label={words.people.search}
          placeholder={words.people.search}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </div>
      <div className="scroll">
        <ul className="present" lang={town.language}>
          {found.map((one) => {
            const state = agents.get(one.id);
            return (
              <li key={one.id}>
                <button
                  type="button"
                  className="person"
                  onClick={() => store.getState().open({ kind: "agent", id: one.id })}
                >
                  <Portrait agent={one.id} />
                  <span>
                    <b>{one.called}</b> <span aria-hidden="true">{state?.emoji}</span>
                    <br />
                    <span className="soft">
                      {state?.current_action} @ {areas.get(state?.position ?? "") ?? state?.position}
                    </span>
                  </span>
                </button>
              </li>
            );
          })}
        </ul>
        <div className="pad">
          <Fold summary={words.people.places}>
            <Places />
          </Fold>
        </div>
      </div>
    </div>
  );
}
