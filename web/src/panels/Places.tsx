// The village in words: every place, and who is there. Reached by the keyboard, and shown where nothing can be drawn.

import { type ReactElement, useMemo } from "react";
import { useView } from "../view/context";
import { useWords } from "../words";
import { Name, Place } from "./parts";

export function Places({ note }: { readonly note?: string }): ReactElement {
  const words = useWords();
  const areas = useView((view) => view.town.areas);
  const agents = useView((view) => view.frame.agents);
  const here = useMemo(() => {
    const found = new Map<string, string[]>();
    for (const agent of agents.values()) {
      const list = found.get(agent.position);
      if (list) list.push(agent.agent_id);
      else found.set(agent.position, [agent.agent_id]);
    }
    return found;
  }, [agents]);
  const depth = useMemo(() => {
    const depths = new Map<string, number>();
    for (const area of areas) depths.set(area.id, area.parent ? (depths.get(area.parent) ?? 0) + 1 : 0);
    return depths;
  }, [areas]);
  return (
    <div className={note ? "places panel" : "places"}>
      {note && <p className="soft">{note}</p>}
      <ul aria-label={words.app.places}>
        {areas.map((area) => (
          <li key={area.id} className={`depth-${Math.min(4, depth.get(area.id) ?? 0)}`}>
            <Place area={area.id} />
            <span className="here">
              {here.get(area.id)?.map((id) => (
                <Name key={id} agent={id} />
              ))}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
