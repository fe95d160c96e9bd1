// A day in strokes, the stroke of now in hours, the hour of now in actions.

import type { ReactElement } from "react";
import type { AgentDetail, Item } from "../api";
import { useView } from "../view/context";
import { useWords } from "../words";
import { Place, Section } from "./parts";

export function PlanView({ plan }: { readonly plan: AgentDetail["plan"] }): ReactElement {
  const words = useWords();
  if (plan.day.length === 0) return <p className="soft">{words.plan.none}</p>;
  return (
    <>
      {plan.actions.length > 0 && <Items title={words.plan.actions} items={plan.actions} />}
      {plan.hours.length > 0 && <Items title={words.plan.hours} items={plan.hours} />}
      <Items title={words.plan.day} items={plan.day} />
    </>
  );
}

export function Items({ title, items }: { readonly title: string; readonly items: readonly Item[] }): ReactElement {
  const language = useView((view) => view.town.language);
  const now = items.findIndex((item) => item.now);
  return (
    <Section title={title}>
      <ol className="plan" lang={language}>
        {items.map((item, index) => (
          <li
            key={`${item.start} ${item.text}`}
            className={index === now ? "now" : index < now ? "done" : ""}
            aria-current={index === now ? "time" : undefined}
          >
            <time>{item.start}</time>
            <span>{item.text}</span>
            <span className="at soft">
              <Place area={item.place} />
            </span>
          </li>
        ))}
      </ol>
    </Section>
  );
}
