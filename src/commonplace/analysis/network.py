"""The network of those who have spoken with each other, and how it and what is known spread as time goes by."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from commonplace.analysis.diffusion import diffusion
from commonplace.clock import iso
from commonplace.errors import UsageError
from commonplace.run.reading import Reading
from commonplace.world.events import Spoke, of_kind

Pair = tuple[str, str]


def network_density(people: Collection[str] | int, edges: Iterable[Collection[str]]) -> float:
    """Returns η = 2 |E| / (|V| (|V| − 1)), 0–1: the share of all pairs that are linked; 0 for fewer than two people.

    `people`: the people, or how many they are. `edges`: pairs without direction. A pair given twice or the other way
    round counts once; a pair of one person, or with somebody who is not among the people, does not count.
    """
    count = people if isinstance(people, int) else len(set(people))
    pairs = {frozenset(edge) for edge in edges}
    linked = [pair for pair in pairs if len(pair) == 2 and (isinstance(people, int) or pair <= set(people))]
    return 2 * len(linked) / (count * (count - 1)) if count > 1 else 0.0


def spoken(reading: Reading, last: int) -> dict[Pair, list[int]]:
    """Returns pair of characters, in the order of ids → the ticks of the lines between them, up to a tick."""
    said: dict[Pair, list[int]] = {}
    for event, spoke in of_kind(reading.events(0, last, type="SAY"), Spoke):
        if spoke.to_agent_id:
            first, second = sorted((event.agent_id, spoke.to_agent_id))
            said.setdefault((first, second), []).append(event.tick)
    return said


def emergence(reading: Reading, every: int | None = None, last: int | None = None) -> Iterator[dict[str, Any]]:
    """Yields a row for each `every` ticks of a run, an hour if None, up to the tick `last`, by default its last one.

    `{tick, time, density, pairs, lines, known: {fact: share}}`: `density` of the pairs that have spoken with each
    other, `lines` between them so far, and the share of the characters that know each seed fact. Raises UsageError
    unless `every` is at least 1.
    """
    every = reading.scenario.clock.ticks(60) or 1 if every is None else every
    if every < 1:
        raise UsageError(f"every {every} ticks is too often", hint="give at least 1")
    last = reading.tick(last)
    said, known = spoken(reading, last), _learnt(reading, last)
    for tick in [*range(0, last, every), last]:
        there = len(reading.scenario_at(tick).personas)
        pairs = [pair for pair, ticks in said.items() if ticks[0] <= tick]
        yield {
            "tick": tick,
            "time": iso(reading.time(tick)),
            "density": network_density(there, pairs),
            "pairs": len(pairs),
            "lines": sum(at <= tick for pair in pairs for at in said[pair]),
            "known": {fact: sum(at <= tick for at in ticks) / there for fact, ticks in known.items()},
        }


def _learnt(reading: Reading, last: int) -> dict[str, list[int]]:
    """Returns fact → the ticks at which somebody came to know it: 0 for somebody who knew it from the start; for
    somebody who learnt it otherwise than from words, the tick at which they first passed it on."""
    began = {fact.id: fact.originators for fact in reading.facts(last)}
    found: dict[str, list[int]] = {}
    for row in diffusion(reading, last):
        passed: dict[str, int] = {}
        for edge in row["tree"]:
            passed.setdefault(edge["from"], edge["tick"])
        starts = [0 if one in began[row["fact"]] else passed.get(one, last) for one in row["originators"]]
        found[row["fact"]] = [*starts, *(edge["tick"] for edge in row["tree"])]
    return found
