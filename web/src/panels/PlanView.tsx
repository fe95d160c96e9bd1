// A day in strokes, the stroke of now in hours, the hour of now in actions.

import type { ReactElement } from "react";
import type { DayPlan, PlanRow } from "../api";
import { useView } from "../view/context";
import { useWords } from "../words";
import { Place, Section } from "./parts";

export function PlanView({ plan }: { readonly plan: DayPlan }): ReactElement {
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

function Items({ title, items }: { readonly title: string; readonly items: readonly PlanRow[] }): ReactElement {
  const language = useView((view) => view.town.language);
  return (
    <Section title={title}>
      <ol className="plan" lang={language}>
        {items.map((item) => (
          <li
            key={`${item.start} ${item.text}`}
            className={item.now ? "now" : item.over ? "done" : ""}
            aria-current={item.now ? "time" : undefined}
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
