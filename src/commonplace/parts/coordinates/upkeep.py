"""What a `MemoryStore` needs once a day: importances with the references since, summaries, the retention policy; and
its ledger: old days compressed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from commonplace.clock import midnight
from commonplace.errors import UsageError
from commonplace.memory.analyser import content_words
from commonplace.parts.coordinates.memory_store import MemoryStore
from commonplace.repeating import Repeating
from commonplace.text import clean, sentences, shortened

LONGEST_SUMMARY = 200
"""Characters of a summary; what is not longer needs none."""
Summarize = Callable[[str], str]


def essence(text: str) -> str:
    """Returns the sentences of a text that share most words of content with the others, in their order.

    They have at most LONGEST_SUMMARY characters.
    """
    parts = list(dict.fromkeys(sentences(clean(text))))
    about = [content_words(part) for part in parts]
    often = Counter(word for words in about for word in words)
    weight = [sum(often[word] for word in words) / (len(words) or 1) for words in about]
    chosen: list[int] = []
    for place in sorted(range(len(parts)), key=lambda place: (-weight[place], place)):
        if len(" ".join(parts[one] for one in (*chosen, place))) > LONGEST_SUMMARY:
            break
        chosen.append(place)
    return " ".join(parts[place] for place in sorted(chosen)) or shortened(clean(text), LONGEST_SUMMARY)


@dataclass(frozen=True, slots=True)
class Tended:
    """What `tend` has done: how many memories each, and how many days of the ledger."""

    recomputed: int
    summarized: int
    archived: int
    removed: int
    compressed: int


def tend(
    store: MemoryStore, *, summarize: Summarize = essence, retention: bool = True, now: datetime | None = None
) -> Tended:
    """Compute importances again, summarize new answers, and, with `retention`, apply the policy of the store; compress
    the days of its ledger that are older than a year.

    `summarize`: from an answer to its summary, such as a call of a model. `now`: what ages are counted from; None for
    the time of the newest memory, and of the last entry. A second call does nothing.
    """
    summarized = store.summarize(summarize, longer_than=LONGEST_SUMMARY)  # with importances: each memory changes once
    recomputed = store.recompute()
    done = store.apply_retention_policy(now) if retention else None
    moment = now or (store.ledger.latest if store.ledger else None)
    days = store.ledger.archive(moment) if store.ledger and moment else ()
    return Tended(recomputed, summarized, len(done.archive) if done else 0, len(done.remove) if done else 0, len(days))


class Upkeep(Repeating):
    """A thread that tends a store at each midnight (UTC), or every so often, until the block ends.

    ```python
    with Upkeep(store, summarize=ask_a_model):
        ...
    ```

    An error of the thread ends it and is raised at the end of the block.
    """

    def __init__(
        self,
        store: MemoryStore,
        *,
        every: timedelta | None = None,
        summarize: Summarize = essence,
        clock: Callable[[], datetime | None] = lambda: None,
    ) -> None:
        """`every`: None for each midnight. `clock`: the time that ages are counted from, where it is not simulated,
        such as `lambda: datetime.now(UTC)`. Raises UsageError for an `every` that is not more than none."""
        if every is not None and every <= timedelta():
            raise UsageError(f"every is {every}; expected more than none")

        def seconds() -> float:
            return (every or until_midnight(datetime.now(UTC))).total_seconds()

        super().__init__(lambda: tend(store, summarize=summarize, now=clock()), seconds, "upkeep of memories")


def until_midnight(now: datetime) -> timedelta:
    """Returns how long it is to the next midnight."""
    return midnight(now) + timedelta(days=1) - now
