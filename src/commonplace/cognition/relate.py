"""Acquaint: what perceiving somebody changes in how they are known; the view itself is made by `relate`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from commonplace.character.fact import carried
from commonplace.character.state import Relation
from commonplace.cognition.converse import my_talk
from commonplace.cognition.perceive import Percept
from commonplace.cognition.turn import Notebook, TurnView

SILENT_TICKS = 2
"""A talk is over when nobody has spoken for so long."""


def acquaint(view: TurnView, notebook: Notebook, percepts: Iterable[Percept]) -> None:
    """Meeting somebody makes an acquaintance; lines exchanged set the last talk; facts spoken are shared."""
    for percept in percepts:
        frame = percept.frame
        if frame.get("what") == "i_said":
            _line(view, notebook, frame["to"], frame["quote"])
        elif frame.get("what") == "said":
            _line(view, notebook, frame["who"], frame["quote"], exchanged=bool(frame["to_me"]))
        elif frame.get("who"):
            _met(view, notebook, frame["who"])


def _met(view: TurnView, notebook: Notebook, other: str) -> Relation:
    relation = notebook.relations.get(other)
    if relation is None:
        relation = Relation(other, known_since=view.tick)
        notebook.relations[other] = relation
    return relation


def _line(view: TurnView, notebook: Notebook, other: str, quote: str, *, exchanged: bool = True) -> None:
    relation = _met(view, notebook, other)
    facts = tuple(fact for fact in carried(view.scenario.facts, quote) if fact not in relation.shared)
    last_talk = view.tick - 1 if exchanged else relation.last_talk
    if facts or last_talk != relation.last_talk:
        notebook.relations[other] = replace(relation, last_talk=last_talk, shared=(*relation.shared, *facts))


def request_relate(view: TurnView, notebook: Notebook) -> None:
    """When a talk is over, ask for a new view of those it was with."""
    talk = my_talk(view)
    delay = max(1, view.scenario.clock.ticks(view.scenario.cognition.deferred_minutes))
    for other, relation in notebook.relations.items():
        talking = talk is not None and other in talk.members
        if talking or relation.last_talk <= relation.weighed or view.tick - relation.last_talk <= SILENT_TICKS:
            continue
        notebook.relations[other] = replace(relation, weighed=view.tick, talks=relation.talks + 1)
        notebook.request("relate", view.tick, view.tick + delay, other)
