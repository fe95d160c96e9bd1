// What somebody believes of the world, beside what is true; what is out of date first.

import { type ReactElement, useState } from "react";
import type { Believed } from "../api";
import { useView } from "../view/context";
import { useWords } from "../words";
import { Icon } from "./icons";
import { Button, When } from "./parts";

const FIRST = 30;

export function Beliefs({ beliefs }: { readonly beliefs: readonly Believed[] }): ReactElement {
  const words = useWords();
  const [staleOnly, setStaleOnly] = useState(false);
  const [all, setAll] = useState(false);
  const stale = beliefs.filter((one) => one.stale);
  const sorted = staleOnly ? stale : [...stale, ...beliefs.filter((one) => !one.stale)];
  const shown = all ? sorted : sorted.slice(0, FIRST);
  if (beliefs.length === 0) return <p className="soft">{words.belief.none}</p>;
  return (
    <>
      <div className="row spread">
        <span className="soft">{words.belief.staleCount(stale.length)}</span>
        <Button
          label={words.belief.stale}
          text
          kind="quiet"
          pressed={staleOnly}
          onClick={() => setStaleOnly(!staleOnly)}
        />
      </div>
      <ul className="beliefs">
        {shown.map((belief) => (
          <Row key={belief.node_id} belief={belief} />
        ))}
      </ul>
      {shown.length < sorted.length && <Button label={words.app.more} text onClick={() => setAll(true)} />}
    </>
  );
}

function Row({ belief }: { readonly belief: Believed }): ReactElement {
  const words = useWords();
  const language = useView((view) => view.town.language);
  const areas = useView((view) => view.town.areas);
  const characters = useView((view) => view.town.characters);
  const nameOf = (id: string): string =>
    areas.find((area) => area.id === id)?.name ?? characters.find((one) => one.id === id)?.called ?? id;
  const say = (place: string, state: string): string => {
    // Where a place lies is no news.
    const where = belief.kind === "area" ? "" : place ? nameOf(place) : words.belief.nowhere;
    return [state, where].filter(Boolean).join(" · ") || "–";
  };
  return (
    <li className={belief.stale ? "belief stale" : "belief"}>
      <span className="row spread">
        <b lang={language}>
          <Icon name={belief.kind === "agent" ? "people" : belief.kind === "area" ? "pin" : "spark"} /> {belief.name}
        </b>
        {belief.stale && <span className="chip warn">{words.belief.outdated}</span>}
        <span className="aside">
          <When tick={belief.seen} />
        </span>
      </span>
      <span className="two" lang={language}>
        <span>
          <span className="soft">{words.belief.believes}</span> {say(belief.place, belief.state)}
        </span>
        {belief.stale && (
          <span>
            <span className="soft">{words.belief.truth}</span> {say(belief.true_place, belief.true_state)}
          </span>
        )}
      </span>
    </li>
  );
}
