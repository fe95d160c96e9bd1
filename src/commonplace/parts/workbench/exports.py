"""What a run holds as texts for other programs and for reading: JSON lines, a transcript, a network."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from commonplace.analysis.network import spoken
from commonplace.analysis.tables import TABLES
from commonplace.clock import hhmm, iso
from commonplace.graphml import graphml
from commonplace.run.reading import Reading
from commonplace.text import clean
from commonplace.views.town_names import TownNames
from commonplace.world.events import ConversationStarted, Event, Spoke, of_kind

PAUSE = 3
"""Ticks without a line after which two who speak again begin another talk."""


def _json_lines(reading: Reading, name: str) -> Iterator[bytes]:
    for row in TABLES[name](reading):
        yield json.dumps(row, ensure_ascii=False).encode(errors="replace") + b"\n"


def _transcript(reading: Reading) -> Iterator[bytes]:
    """Yields all that was said as Markdown, talk by talk, each under the time and place at which it began."""
    town = TownNames.of(reading.scenario.part)
    yield f"# {town.title}\n".encode()
    day = ""
    for talk in _talks(reading):
        first = talk[0][0]
        time = reading.time(first.tick)
        if iso(time)[:10] != day:
            day = iso(time)[:10]
            yield f"\n## {day}\n".encode()
        heading = " · ".join(filter(None, (hhmm(time), town.where(first.place) if first.place else "")))
        yield f"\n### {heading}\n\n".encode()
        for event, spoke in talk:
            to = f" → {town.short(spoke.to_agent_id)}" if spoke.to_agent_id else ""
            yield f"**{town.short(event.agent_id)}**{to}: {clean(spoke.utterance)}  \n".encode()


def _talks(reading: Reading) -> list[list[tuple[Event, Spoke]]]:
    """Groups the lines by talk of two, in the order in which talks began."""
    talks: list[list[tuple[Event, Spoke]]] = []
    latest: dict[tuple[str, frozenset[str]], list[tuple[Event, Spoke]]] = {}
    for event, spoke in _said(reading):
        key = event.place, frozenset((event.agent_id, spoke.to_agent_id))
        talk = latest.get(key)
        if talk is None or event.tick - talk[-1][0].tick > PAUSE:
            talk = latest[key] = []
            talks.append(talk)
        talk.append((event, spoke))
    return talks


def _said(reading: Reading) -> Iterator[tuple[Event, Spoke]]:
    return of_kind(reading.events(type="SAY"), Spoke)


def _network(reading: Reading) -> Iterator[bytes]:
    """Yields who has spoken with whom, and how each sees the other, as GraphML with directed edges.

    An edge is there from everybody who has spoken with, or thinks anything of, somebody: `lines` it said to them,
    `conversations` of both, `warmth` from −100 to 100 and `label`.
    """
    last = reading.last_tick
    lines, talks = Counter[tuple[str, str]](), Counter[frozenset[str]]()
    for event, spoke in _said(reading):
        lines[event.agent_id, spoke.to_agent_id] += 1
    for _, talk in of_kind(reading.events(type="CONVERSATION_STARTED"), ConversationStarted):
        talks[frozenset(talk.members[:2])] += 1
    people, states = reading.scenario_at(last).personas, reading.states_at(last)
    ties = {(me, tie.other): tie for me, state in states.items() for tie in state.relations.values()}
    pairs = {pair for both in spoken(reading, last) for pair in (both, both[::-1])}
    edges = sorted((one, other) for one, other in pairs | ties.keys() if one in people and other in people)
    yield graphml(
        ((id, {"name": clean(who.name), "age": who.age, "work": clean(who.work)}) for id, who in people.items()),
        (
            (
                *pair,
                {
                    "lines": lines[pair],
                    "conversations": talks[frozenset(pair)],
                    "warmth": ties[pair].warmth if pair in ties else 0,
                    "label": clean(ties[pair].label) if pair in ties else "",
                },
            )
            for pair in edges
        ),
        directed=True,
    )


TEXTS: Mapping[str, tuple[str, Callable[[Reading], Iterator[bytes]]]] = {
    "events": (".events.jsonl", lambda reading: _json_lines(reading, "events")),
    "memories": (".memories.jsonl", lambda reading: _json_lines(reading, "memories")),
    "network": (".graphml", _network),
    "transcript": (".md", _transcript),
}
"""Form → the ending of its file, what the file holds."""
