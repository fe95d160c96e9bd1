// A place or a thing: its state, who is there, and what happened.

import { type ReactElement, type ReactNode, useMemo } from "react";
import type { Picked } from "../scene/village";
import { useView, useViewStore } from "../view/context";
import { type Filter, useRecent } from "../view/recent";
import { useWords } from "../words";
import { LogLines } from "./Log";
import { Button, Name, Place, Portrait, Section, So } from "./parts";
import { stage } from "./stage-handle";

export function AreaCard({ id }: { readonly id: string }): ReactElement {
  const words = useWords();
  const store = useViewStore();
  const town = useView((view) => view.town);
  const frame = useView((view) => view.frame);
  const area = town.areas.find((one) => one.id === id);
  const here = [...frame.agents.values()].filter((agent) => agent.position === id);
  const things = [...frame.objects.values()].filter((thing) => thing.parent === id);
  const rooms = town.areas.filter((one) => one.parent === id);
  const names = new Map(town.things.map((thing) => [thing.id, thing.name]));
  const filter = useMemo(() => ({ place: id }), [id]);
  return (
    <Frame
      title={area?.name ?? id}
      target={{ kind: "area", id }}
      about={
        <>
          {area?.parent && (
            <>
              {words.place.in} <Place area={area.parent} />
            </>
          )}
          {area?.outdoor && ` · ${words.place.outdoor}`}
          {area?.private && ` · ${words.place.private}`}
        </>
      }
    >
      <Section title={words.place.here} aside={here.length > 0 ? words.people.count(here.length) : undefined}>
        {here.length === 0 && <p className="soft">{words.place.nobody}</p>}
        <ul className="present">
          {here.map((agent) => (
            <li key={agent.agent_id}>
              <Portrait agent={agent.agent_id} />
              <span>
                <Name agent={agent.agent_id} />{" "}
                <span className="soft" lang={town.language}>
                  {agent.current_action}
                </span>
              </span>
            </li>
          ))}
        </ul>
      </Section>
      {rooms.length > 0 && (
        <Section title={words.place.rooms}>
          <p className="chips">
            {rooms.map((room) => (
              <span key={room.id} className="chip">
                <Place area={room.id} />
              </span>
            ))}
          </p>
        </Section>
      )}
      {things.length > 0 && (
        <Section title={words.place.things}>
          <ul className="things" lang={town.language}>
            {things.map((thing) => (
              <li key={thing.object_id}>
                <button
                  type="button"
                  className="link"
                  onClick={() => store.getState().open({ kind: "object", id: thing.object_id })}
                >
                  {names.get(thing.object_id) ?? thing.object_id}
                </button>{" "}
                <span className="soft">{thing.state}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <History filter={filter} />
    </Frame>
  );
}

export function ObjectCard({ id }: { readonly id: string }): ReactElement {
  const words = useWords();
  const town = useView((view) => view.town);
  const state = useView((view) => view.frame.objects.get(id));
  const thing = town.things.find((one) => one.id === id);
  const carrier = town.characters.find((one) => one.id === state?.parent);
  const filter = useMemo(() => ({ text: thing?.name ?? id }), [thing, id]);
  return (
    <Frame
      title={thing?.name ?? id}
      target={{ kind: "object", id }}
      about={
        carrier ? (
          <>
            {words.place.carried} <Name agent={carrier.id} />
          </>
        ) : (
          <>
            {words.place.in} <Place area={state?.parent ?? thing?.area ?? ""} />
          </>
        )
      }
    >
      <Section title={words.place.state}>
        <p className="chips" lang={town.language}>
          {(thing?.states ?? []).map((one) => (
            <span
              key={one}
              className={one === state?.state ? "chip is" : "chip"}
              aria-current={one === state?.state || undefined}
            >
              {one}
            </span>
          ))}
          {!thing?.states.includes(state?.state ?? "") && <span className="chip is">{state?.state}</span>}
        </p>
      </Section>
      {thing?.portable && <p className="soft">{words.place.portable}</p>}
      <History filter={filter} />
    </Frame>
  );
}

function Frame({
  title,
  target,
  about,
  children,
}: {
  readonly title: string;
  readonly target: Picked;
  readonly about: ReactNode;
  readonly children: ReactNode;
}): ReactElement {
  const words = useWords();
  const language = useView((view) => view.town.language);
  return (
    <article className="place scroll">
      <header className="head">
        <h2 lang={language}>{title}</h2>
        <p className="soft">{about}</p>
        <div className="row">
          <Button label={words.place.show} icon="pin" text onClick={() => stage.visit(target)} />
        </div>
      </header>
      <div className="pad">
        <So of={target.id} />
        {children}
      </div>
    </article>
  );
}

/** What happened there of late, the latest first. */
function History({ filter }: { readonly filter: Filter }): ReactElement {
  const words = useWords();
  const lines = useRecent(filter);
  return (
    <Section title={words.place.history}>
      {lines?.length ? (
        <LogLines lines={lines.slice(-30).reverse()} />
      ) : (
        <p className="soft">{lines ? words.app.nothing : words.app.loadingPart}</p>
      )}
    </Section>
  );
}
