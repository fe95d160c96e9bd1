// One to five stars that a person gives an answer of a panel, or a memory of one.

import { type KeyboardEvent, type ReactElement, useEffect } from "react";
import { useView, useViewStore } from "../view/context";
import { useWords } from "../words";
import { Icon } from "./icons";

const EVERY = [1, 2, 3, 4, 5] as const;

/** The stars of an id, 0 for none; undefined for what cannot be rated. They are read when it is first shown. */
function useStars(id: string): number | undefined {
  const store = useViewStore();
  // biome-ignore lint/correctness/useExhaustiveDependencies(id): a line that is new has a rating that is not known
  useEffect(() => void store.getState().readRatings(), [store, id]);
  return useView((view) => (Object.hasOwn(view.ratings, id) ? view.ratings[id] : undefined));
}

/** The stars of an id, to be looked at; nothing where there are none. */
export function Rating({ id }: { readonly id: string }): ReactElement | null {
  const words = useWords();
  const stars = useStars(id);
  if (!stars) return null;
  return (
    <span className="stars" role="img" aria-label={words.rating.of(stars)}>
      {EVERY.map((one) => (
        <Star key={one} on={one <= stars} />
      ))}
    </span>
  );
}

/** The stars of an id, to be given: the arrow keys move along them, Enter or the space bar chooses. */
export function Stars({ id }: { readonly id: string }): ReactElement | null {
  const words = useWords();
  const store = useViewStore();
  const stars = useStars(id);
  if (stars === undefined) return null;
  const chosen = Math.round(stars);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const all = [...event.currentTarget.querySelectorAll("button")];
    all[(all.indexOf(event.target as HTMLButtonElement) + by + all.length) % all.length]?.focus();
  };
  return (
    <div className="row rating">
      <span className="stars" role="radiogroup" aria-label={words.rating.title} onKeyDown={onKeyDown}>
        {EVERY.map((one) => (
          <button
            key={one}
            type="button"
            role="radio"
            className="star"
            aria-checked={one === chosen}
            aria-label={words.rating.of(one)}
            title={words.rating.of(one)}
            tabIndex={one === (chosen || 1) ? 0 : -1}
            onClick={() => void store.getState().giveStars(id, one)}
          >
            <Star on={one <= stars} />
          </button>
        ))}
      </span>
      <span className="soft" role="status">
        {stars ? words.rating.of(stars) : words.rating.none}
      </span>
    </div>
  );
}

function Star({ on }: { readonly on: boolean }): ReactElement {
  return <Icon name={on ? "star" : "noStar"} />;
}
