// The right-hand side: who or what was clicked, and why something happened. Cards lie on each other; the top one shows.

import { type ReactElement, useEffect, useRef } from "react";
import { useView, useViewStore } from "../view/context";
import type { Card } from "../view/store";
import { useWords } from "../words";
import { AgentCard } from "./AgentCard";
import { AskCard } from "./AskCard";
import { Guard } from "./Guard";
import { AreaCard, ObjectCard } from "./PlaceCard";
import { Button } from "./parts";
import { WhyCard } from "./WhyCard";

export function Cards(): ReactElement | null {
  const words = useWords();
  const store = useViewStore();
  const cards = useView((view) => view.cards);
  const element = useRef<HTMLElement>(null);
  const card = cards.at(-1);
  const key = card ? `${card.kind} ${card.id}` : "";

  const opener = useRef<HTMLElement | null>(null);

  // The keyboard goes where the eye goes, and back to what opened the first card; a click into the scene keeps the focus
  // on the page.
  useEffect(() => {
    const focused = document.activeElement;
    if (!key) {
      if (focused === document.body) opener.current?.focus({ preventScroll: true });
      return;
    }
    if (focused instanceof HTMLElement && !element.current?.contains(focused)) opener.current = focused;
    if (focused !== document.body) element.current?.focus({ preventScroll: true });
    element.current?.scrollTo(0, 0);
  }, [key]);

  if (!card) return null;
  return (
    <aside className="cards panel" data-cover="right" ref={element} tabIndex={-1} aria-label={titleOf(card, words)}>
      <div className="corner">
        {cards.length > 1 && (
          <Button label={words.app.back} icon="left" kind="quiet" onClick={() => store.getState().back()} />
        )}
        <Button
          label={words.app.close}
          icon="close"
          kind="quiet"
          keys="Esc"
          onClick={() => store.getState().closeCards()}
        />
      </div>
      <Guard key={key}>
        <Shown card={card} />
      </Guard>
    </aside>
  );
}

function Shown({ card }: { readonly card: Card }): ReactElement {
  switch (card.kind) {
    case "agent":
      return <AgentCard id={card.id} />;
    case "area":
      return <AreaCard id={card.id} />;
    case "object":
      return <ObjectCard id={card.id} />;
    case "why":
      return <WhyCard id={card.id} />;
    case "talk":
      return <AskCard id={card.id} />;
  }
}

function titleOf(card: Card, words: ReturnType<typeof useWords>): string {
  if (card.kind === "agent") return words.who.title;
  if (card.kind === "area") return words.place.area;
  if (card.kind === "object") return words.place.object;
  return card.kind === "why" ? words.why.title : words.who.ask;
}
