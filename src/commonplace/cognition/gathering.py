"""An event that goes on where the character is: who gave it, who is missing, and whose turn it is to speak there.

Where people stand about at an event nothing need be new for somebody to say something. Each has a turn now and then;
that the event goes on is what is new to them then.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from commonplace.character.fact import Fact
from commonplace.cognition.known_circumstances import known, off
from commonplace.cognition.past import notes_of
from commonplace.cognition.remember import ACTION, OBSERVATION
from commonplace.cognition.sentences import sentence
from commonplace.cognition.situation import fact_note
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.languages.language import language
from commonplace.minds.notes import TABLE, Gathering, News, PastNote, changed
from commonplace.minds.offline.hear import digests_to_a_friend
from commonplace.scenario.scenario import Scenario, derived

BEFORE, AFTER = timedelta(minutes=20), timedelta(minutes=30)
"""How long before it begins, and after it ends, people are at an event."""
LAST = timedelta(minutes=10)
"""How long before the end people begin to take leave."""
MOST_MISSING = 3
QUOTE = "“"


def gathering(view: TurnView, notebook: Notebook, *, speaks: bool) -> Gathering | None:
    """Returns the event that the character is at and knows of, or None. A character that `speaks` is also told what has
    been said there."""
    at = _here(view)
    memory = view.draft.earliest(at.fact.carried_by) if at is not None else None
    if at is None or memory is None:
        return None
    return Gathering(
        note=changed(fact_note(view.scenario, at.fact), tell=()),
        because=(memory,),
        host=next(iter(at.fact.originators), ""),
        heard=tuple(sorted(_heard(view, at.begins - BEFORE))) if speaks else (),
        just_come=view.world.body.came_from != view.world.area,
        missing=tuple(_missing(view, notebook, at))[:MOST_MISSING],
    )


def lull(view: TurnView) -> tuple[News, ...]:
    """Returns news that the event goes on, for a character who is in no talk there and whose turn it is to say
    something."""
    at = _here(view)
    memory = view.draft.earliest(at.fact.carried_by) if at is not None and _has_turn(view, at) else None
    if at is None or memory is None:
        return ()
    name = language(view.scenario.language).noun_phrase(at.fact.said_in(view.scenario.language))
    text = sentence(view.scenario.language, "underway", event=name)
    return (News(memory_id=memory, kind="gathering", text=text),) if name else ()


class At(NamedTuple):
    """An event at a place, with its beginning and end."""

    fact: Fact
    begins: datetime
    ends: datetime


def _here(view: TurnView) -> At | None:
    """Returns the event that goes on here, whether the character knows of it or not; None if it knows that the event is
    cancelled."""
    now = (at for at in _events(view.scenario, view.world.area) if at.begins - BEFORE <= view.now < at.ends + AFTER)
    at = next(now, None)
    return None if at is None or at.fact.id in off(known(view), view.persona.id) else at


@derived
def _events(scenario: Scenario, area: str) -> tuple[At, ...]:
    return tuple(
        At(fact, fact.starts, fact.starts + timedelta(minutes=fact.minutes or 60))
        for fact in scenario.facts
        if fact.place == area and fact.starts is not None
    )


def _heard(view: TurnView, since: datetime) -> set[str]:
    """Returns the digests of the sentences I have said and heard since then, which memories have in quotation marks."""
    kept = (
        one.text
        for kind in (OBSERVATION, ACTION)
        for one in view.draft.since(since, kind, says=lambda text: QUOTE in text)
    )
    lines = (text.partition(QUOTE)[2].rstrip("”") for text in kept)
    return {one for line in lines for one in digests_to_a_friend(line, view.scenario.language)}


def _missing(view: TurnView, notebook: Notebook, at: At) -> Iterator[PastNote]:
    """Yields those who said they would come, then those I told of it, if I have not seen them since it was about to
    begin."""
    clock, belief = view.scenario.clock, notebook.belief
    for kind in ("agreed", "told"):
        for other in sorted(notebook.relations):
            row = notebook.account.find(kind, other, topic=at.fact.id)
            seen = belief.nodes.get(other)
            if row is None or other in view.world.bodies:
                continue
            if seen is None or clock.time(seen.seen) < at.begins - BEFORE:
                yield from notes_of(view, (row,))


def _has_turn(view: TurnView, at: At) -> bool:
    """Tells whether it is my turn in this tick among all who are awake and in no talk here. One of each `TABLE` people
    has it, one after the other; towards the end every second one."""
    talking = {member for talk in view.world.conversations for member in talk.members}
    bodies = {**view.world.bodies, view.persona.id: view.world.body}
    free = sorted(one for one, body in bodies.items() if one not in talking and not body.asleep and not body.goal)
    if len(free) < 2 or view.persona.id not in free:
        return False
    every = 2 if at.ends - view.now <= LAST else -(-len(free) // -(-len(free) // TABLE))
    return (free.index(view.persona.id) + view.tick) % every == 0
