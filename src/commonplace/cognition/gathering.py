"""An event that goes on where the character is: who gave it, who is missing, and whose turn it is to speak there.

Where people stand about at an event nothing need be new for somebody to say something. Each has a turn now and then;
that the event goes on is what is new to them then.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from commonplace.character.fact import Fact
from commonplace.clock import parse_iso
from commonplace.cognition.past import notes_of
from commonplace.cognition.remember import ACTION, OBSERVATION
from commonplace.cognition.sentences import sentence
from commonplace.cognition.situation import fact_note
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.languages.language import language
from commonplace.minds.notes import TABLE, Gathering, News, PastNote, changed
from commonplace.minds.offline.hear import digests_to_a_friend
from commonplace.scenario.scenario import Scenario, derived
from commonplace.world.happenings import Speech, happening_of

BEFORE, AFTER = timedelta(minutes=20), timedelta(minutes=30)
"""How long before it begins, and after it ends, people are at an event."""
LAST = timedelta(minutes=10)
"""How long before the end people begin to take leave."""
MOST_MISSING = 3


def gathering(view: TurnView, notebook: Notebook) -> Gathering | None:
    """The event that the character is at and knows of; None where there is none."""
    for fact, begins, ends in _events(view.scenario, view.world.area):
        if begins - BEFORE <= view.now < ends + AFTER:
            memory = view.draft.earliest(fact.carried_by)
            if memory is not None:
                return Gathering(
                    note=changed(fact_note(view.scenario, fact), tell=()),
                    because=memory,
                    host=next(iter(fact.originators), ""),
                    heard=tuple(sorted(_heard(view, begins - BEFORE))),
                    just_come=view.world.body.came_from != view.world.area,
                    missing=tuple(_missing(view, notebook, fact, begins))[:MOST_MISSING],
                )
    return None


def lull(view: TurnView, at: Gathering | None) -> tuple[News, ...]:
    """That the event goes on, for one who has its turn to say something."""
    if at is None or not _has_turn(view, at):
        return ()
    name = language(view.scenario.language).noun_phrase(at.note.text)
    text = sentence(view.scenario.language, "underway", event=name)
    return (News(memory_id=at.because, kind="gathering", text=text),) if name else ()


@derived
def _events(scenario: Scenario, area: str) -> tuple[tuple[Fact, datetime, datetime], ...]:
    """The events at a place, with their beginnings and ends."""
    return tuple(
        (fact, fact.starts, fact.starts + timedelta(minutes=fact.minutes or 60))
        for fact in scenario.facts
        if fact.place == area and fact.starts is not None
    )


def _heard(view: TurnView, since: datetime) -> set[str]:
    """The digests of the sentences I have said and heard since then."""
    kept = (memory for kind in (OBSERVATION, ACTION) for memory in view.draft.since(since, kind))
    said = (one for one in (happening_of(memory.details) for memory in kept) if isinstance(one, Speech))
    return {one for line in said for one in digests_to_a_friend(line.quote, view.scenario.language)}


def _missing(view: TurnView, notebook: Notebook, fact: Fact, begins: datetime) -> Iterator[PastNote]:
    """Those who said they would come, then those I told of it, whom I have not seen since it was about to begin."""
    belief, minutes = notebook.belief, timedelta(minutes=view.scenario.clock.tick_minutes)
    for kind in ("agreed", "told"):
        for other in sorted(notebook.relations):
            row = notebook.account.find(kind, other, topic=fact.id)
            seen = belief.nodes.get(other)
            since = view.now - (view.tick - seen.seen) * minutes if seen else None
            if row is not None and other not in view.world.bodies and (since is None or since < begins - BEFORE):
                yield from notes_of(view, (row,))


def _has_turn(view: TurnView, at: Gathering) -> bool:
    """Whether I am one of those, of all who are awake and in no talk here, whose turn it is in this tick: one for each
    `TABLE` people, one after the other; towards the end each second one."""
    talking = {member for talk in view.world.conversations for member in talk.members}
    bodies = {**view.world.bodies, view.persona.id: view.world.body}
    free = sorted(one for one, body in bodies.items() if one not in talking and not body.asleep and not body.goal)
    if len(free) < 2 or view.persona.id not in free:
        return False
    left = parse_iso(at.note.starts) + timedelta(minutes=at.note.minutes or 60) - view.now
    every = 2 if left <= LAST else -(-len(free) // -(-len(free) // TABLE))
    return (free.index(view.persona.id) + view.tick) % every == 0
