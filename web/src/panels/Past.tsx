// What somebody knows of their own past, the latest first: each row leads to the memories it rests on and to its reasons.

import { type ReactElement, useState } from "react";
import type { PastRow } from "../api";
import { instant, tickOf } from "../view/clock";
import { useView, useViewStore } from "../view/context";
import { named, useWords } from "../words";
import { Icon, type IconName } from "./icons";
import { Evidence } from "./Memories";
import { Button, Name, useMoment, When } from "./parts";

const FIRST = 30;
const ICONS: Readonly<Record<string, IconName>> = {
  attended: "pin",
  did: "spark",
  promised: "list",
  kept: "list",
  broke: "list",
};

export function Past({ agent, past }: { readonly agent: string; readonly past: readonly PastRow[] }): ReactElement {
  const words = useWords();
  const [all, setAll] = useState(false);
  if (past.length === 0) return <p className="soft">{words.past.none}</p>;
  const shown = all ? past : past.slice(0, FIRST);
  return (
    <>
      <ul className="past">
        {shown.map((row) => (
          <Row key={`${row.kind} ${row.other} ${row.act} ${row.topic} ${row.since}`} agent={agent} row={row} />
        ))}
      </ul>
      {shown.length < past.length && <Button label={words.app.more} text onClick={() => setAll(true)} />}
    </>
  );
}

function Row({ agent, row }: { readonly agent: string; readonly row: PastRow }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const moment = useMoment();
  const language = useView((view) => view.town.language);
  const tick = useView((view) => tickOf(instant(row.time), view.town.start, view.town.tick_minutes));
  const [open, setOpen] = useState(false);
  const [before, after = ""] = named(words.past.kinds, row.kind).split("{other}");
  const about = row.text || row.topic;
  return (
    <li>
      <Icon name={ICONS[row.kind] ?? "talk"} />
      <div>
        <span className="row spread">
          <span>
            {before}
            {row.other && <Name agent={row.other} />}
            {after}
            {row.times > 1 && <span className="soft"> {words.past.times(row.times)}</span>}
          </span>
          <span className="aside">
            <When tick={tick} iso={row.time} />
          </span>
        </span>
        {about && (
          <p lang={language} title={row.memory}>
            {about}
          </p>
        )}
        {row.due && <p className="soft">{words.past.due(moment(row.due))}</p>}
        <span className="row">
          <button type="button" className="link soft" aria-expanded={open} onClick={() => setOpen(!open)}>
            {words.ties.because} ({row.because.length})
          </button>
          {row.event && (
            <button
              type="button"
              className="link soft"
              onClick={() => store.getState().open({ kind: "why", id: row.event })}
            >
              <Icon name="why" /> {words.who.why}
            </button>
          )}
        </span>
        {open && <Evidence agent={agent} ids={row.because} depth={2} />}
      </div>
    </li>
  );
}
