"""Diffusion: how far each seed fact has come, by words that carry it and the memories they were spoken from.

A *transmission* is a SAY whose words carry the fact, by a speaker who holds a memory that carries it, first heard by
that hearer; or a message with such words, first read by that reader. Exact with the offline mind; with a model a lower
bound, since paraphrases without the words are missed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from commonplace.character.fact import Fact
from commonplace.run.reading import Reading
from commonplace.run.why import read_in, spoken_from, written_from
from commonplace.world.events import NOBODY, Event, Received, Spoke, parse_id

__all__ = ["diffusion"]


@dataclass(slots=True)
class _Spread:
    """One fact on its way."""

    fact: Fact
    originators: list[str]
    """Who knew it from the start, then those who learnt it otherwise than from somebody's words."""
    knowers: list[str]
    """In the order in which they came to know."""
    tree: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    made_up: int = 0
    claimed: int = 0


def diffusion(reading: Reading, at: int | str | None = None) -> list[dict[str, Any]]:
    """Returns a line per seed fact, in the scenario's order, up to a tick (the last one if None).

    `{fact, text, originators, knowers, share, tree: [{from, to, tick, event_id, words, memory}], made_up, claimed}`:
    `knowers` include originators, `share` is knowers over all characters, `memory` is the speaker's. `made_up` counts
    SAYs whose words carry the fact without knowledge behind them, `claimed` those that were to mention it and whose
    words do not. What is said in a tick is heard, and counts, in the next. What was read has `read`, in what; `from` is
    who wrote it, `-` where that is nobody of the town.
    """
    tick = reading.tick(at)
    scenario = reading.scenario_at(tick)
    spreads = [_Spread(fact, list(fact.originators), list(fact.originators)) for fact in reading.facts(tick)]
    heard = reading.witnesses(tick)
    passed = (*reading.events(0, tick, type="SAY"), *reading.events(0, tick, type="RECEIVED"))
    for event in sorted(passed, key=lambda event: event.order):
        hearers = [agent for agent, _ in heard.get(event.id, ()) if agent != event.agent_id]
        for spread in spreads:
            if isinstance(event.body, Spoke):
                _follow(reading, spread, event, event.body, hearers)
            elif isinstance(event.body, Received):
                _read(reading, spread, event, event.body, hearers)
    return [_line(spread, scenario.language, len(scenario.personas)) for spread in spreads]


def _follow(reading: Reading, spread: _Spread, said: Event, spoke: Spoke, hearers: Iterable[str]) -> None:
    fact = spread.fact
    spread.claimed += fact.id in spoke.claimed
    words = fact.carrying_words(spoke.utterance)
    if not words:
        return
    memory = spoken_from(spoke, fact.id)
    if not _knows(reading, spread, said.agent_id, memory):
        spread.made_up += 1
        return
    _reached(spread, said.agent_id, said, hearers, words=list(words), memory=memory)


def _read(reading: Reading, spread: _Spread, event: Event, received: Received, readers: Iterable[str]) -> None:
    """Spreads a fact by reading: a message of the town passes on what its writer knows; any other message begins the
    fact anew, once it exists."""
    fact, by = spread.fact, received.by
    words = fact.carrying_words(received.words)
    if not words or all(fact.id != one.id for one in reading.facts(event.tick)):
        return
    is_ours = by in reading.agent_ids
    memory = written_from(reading, fact, received) if is_ours else 0
    if not is_ours or _knows(reading, spread, by, memory):
        source = by if is_ours else NOBODY
        _reached(spread, source, event, readers, words=list(words), memory=memory, read=read_in(received))


def _reached(spread: _Spread, source: str, event: Event, to: Iterable[str], **how: Any) -> None:
    for one in dict.fromkeys(to):
        if one not in spread.knowers:
            spread.knowers.append(one)
            edge = {"from": source, "to": one, "tick": event.tick, "event_id": event.id}
            spread.tree.append({**edge, **how})


def _knows(reading: Reading, spread: _Spread, speaker: str, memory_id: int) -> bool:
    """Tells whether the speaker has the fact from somewhere, and not from made-up words, its own among them."""
    if not memory_id:
        return False
    if speaker in spread.knowers:
        return True
    memory = reading.memory(speaker, memory_id)
    if memory is None or memory.citations:
        return False
    source = reading.event(*parse_id(memory.event)) if memory.event else None
    if source is not None and isinstance(source.body, Spoke | Received):
        return False
    # seen, scripted, or told by a voice from outside: it begins anew here
    spread.originators.append(speaker)
    spread.knowers.append(speaker)
    return True


def _line(spread: _Spread, language: str, characters: int) -> dict[str, Any]:
    texts = spread.fact.text
    return {
        "fact": spread.fact.id,
        "text": texts.get(language) or next(iter(texts.values()), ""),
        "originators": sorted(spread.originators),
        "knowers": sorted(spread.knowers),
        "share": len(spread.knowers) / characters,
        "tree": spread.tree,
        "made_up": spread.made_up,
        "claimed": spread.claimed,
    }
