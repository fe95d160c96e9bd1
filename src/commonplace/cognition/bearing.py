"""What a new memory has to do with the one who remembers it: the weight of what is so, whose it is, and how often the
like of it was perceived lately."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from commonplace.character.fact import carried
from commonplace.character.persona import Persona
from commonplace.cognition.situation import CLOSE
from commonplace.cognition.turn import TurnView
from commonplace.languages.word_lists import word_list
from commonplace.memory.importance import forms, stems
from commonplace.minds.notes import Bearing, changed
from commonplace.minds.weights import weight
from commonplace.scenario.scenario import Scenario, derived
from commonplace.text import is_named, words
from commonplace.world.circumstances import TOWN, subject_of
from commonplace.world.happenings import (
    Befell,
    Came,
    Changed,
    Concluded,
    Did,
    Failed,
    Happening,
    Left,
    Planned,
    Read,
    Said,
    Seen,
    Speech,
    Voiced,
    as_frame,
)

LATELY = 2
"""Days over which one gets used to things."""
WORKDAY = 300
"""Minutes a day from which a place that is not one's home counts as one's own."""
NEWS = 8
"""Weight of a seed fact: as its author wants it followed, it is news to everybody."""
_ALIKE = ("what", "who", "object", "doing", "verb", "state", "sky", "event", "do", "why")
"""What two happenings have in common that are the same kind of thing about the same subject."""
_NO_FRAME: Mapping[str, Any] = {}


def bearing(view: TurnView, text: str, happening: Happening) -> Bearing:
    """Returns the bearing of a sentence about to be remembered. Repetitions are counted only if they matter."""
    told = _told(view, text, happening)
    concerns = tuple(_subjects(view, happening, told))
    found = Bearing(
        weight=max((_weight(view.scenario, id) for id in told), default=0),
        mine=_names_me(view, happening) or any(_is_mine(view, one) for one in concerns),
        dear=any(_is_dear(view, one) for one in concerns),
        spoilt=isinstance(happening, Changed) and _is_spoilt(view, happening),
        occasion=isinstance(happening, Did | Seen) and _goes_on(view, happening),
    )
    is_routine = weight(happening, found) in {None, 1}
    return found if is_routine else changed(found, times=times(view, text, happening))


def times(view: TurnView, text: str, happening: Happening) -> int:
    """Returns how often the same was perceived lately: the same kind of thing about the same subject, news of the same,
    or the same sentence."""
    since = view.tick - view.scenario.clock.ticks(LATELY * 24 * 60)
    facts = [fact for id in _told(view, text, happening) if (fact := view.scenario.fact(id)) is not None]
    alike = _alike(as_frame(happening)) if _recurs(happening) else ()
    found = 0
    for memory in view.draft.backwards():  # a loop: it goes through hundreds for each memory that is not routine
        if memory.tick < since:
            break
        if memory.tick < view.tick:
            frame = memory.details.get("frame", _NO_FRAME) if alike else _NO_FRAME
            is_alike = bool(alike) and frame.get("what") == alike[0] and _alike(frame) == alike
            found += memory.text == text or is_alike or any(fact.carried_by(memory.text) for fact in facts)
    return found


def _recurs(happening: Happening) -> bool:
    """Tells whether its type and ids identify it; a line, a thought and a step of longer work are new each time."""
    if isinstance(happening, Befell | Did):
        return bool(happening.event if isinstance(happening, Befell) else not happening.progress)
    return not isinstance(happening, Speech | Voiced | Concluded)


def _alike(frame: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(map(frame.get, _ALIKE))


# ── what it is about ─────────────────────────────────────────────────────────────────────────────────────────────────


def _told(view: TurnView, text: str, happening: Happening) -> tuple[str, ...]:
    """Returns the ids of the circumstances and seed facts that it tells of."""
    if isinstance(happening, Befell) and happening.event:
        return (happening.event,)
    if isinstance(happening, Befell | Speech | Planned | Read):
        return carried(view.scenario.facts, happening.quote if isinstance(happening, Speech | Read) else text)
    return ()


def sort_of_news(view: TurnView, text: str, happening: Happening) -> str:
    """Returns the sort of the circumstance that it tells of, if that is the character's own or of somebody dear; else
    empty."""
    for id in _told(view, text, happening) if view.scenario.circumstances else ():
        kind, of = subject_of(id)
        if id in view.scenario.circumstances and (_is_mine(view, of) or _is_dear(view, of)):
            return view.scenario.kinds[kind].sort
    return ""


def _weight(scenario: Scenario, id: str) -> int:
    kind = scenario.kinds.get(subject_of(id)[0])
    return kind.weight if kind else NEWS if scenario.fact(id) else 0


def _subjects(view: TurnView, happening: Happening, told: Iterable[str]) -> Iterator[str]:
    """Yields the ids of the characters, things and places that it concerns."""
    for id in told:
        fact = view.scenario.fact(id)
        yield subject_of(id)[1] or (fact.place if fact else "")
    match happening:
        case Befell():
            is_so = bool(subject_of(happening.event)[1])  # then its areas are where it is noticed
            yield from () if is_so or happening.far else happening.areas.split()
        case Came() | Left():
            yield happening.who
        case Failed(object=""):
            yield happening.place
        case _:
            yield happening.object


def _names_me(view: TurnView, happening: Happening) -> bool:
    """Tells whether others speak of me, or do something to me."""
    me, called = view.persona.id, view.persona.called
    if isinstance(happening, Said):
        return not happening.to_me and is_named(called, happening.quote)
    return isinstance(happening, Seen) and (happening.to == me or is_named(called, happening.doing))


def _is_mine(view: TurnView, of: str) -> bool:
    """Tells whether it is the character itself, its home, work place or thing, or the whole town."""
    if of in {view.persona.id, TOWN}:
        return True
    held = view.world.things.get(of)
    if held is not None and held.parent == view.persona.id:
        return True
    return not _own(view.persona).isdisjoint(_places(view.scenario, of))


def _is_dear(view: TurnView, of: str) -> bool:
    """Tells whether it is somebody dear, or their home or place of work."""
    others = [of] if of in view.scenario.personas else _owners(view, of)
    return any(_holds_dear(view, other) for other in others)


def _holds_dear(view: TurnView, other: str) -> bool:
    relation = view.state.relations.get(other)
    return relation is not None and (relation.warmth >= CLOSE or _is_kin(relation.label, view.scenario.language))


@lru_cache(maxsize=4096)
def _is_kin(label: str, language: str) -> bool:
    """Tells whether a label names a relative."""
    kin = stems(word_list(language).kin)
    return any(not kin.isdisjoint(forms(word)) for word in words(label))


def _owners(view: TurnView, of: str) -> Iterable[str]:
    places = view.scenario.geography.inside(of)
    return [id for id, one in view.scenario.personas.items() if not _own(one).isdisjoint(places)]


@derived
def _places(scenario: Scenario, of: str) -> frozenset[str]:
    """Returns the areas that a place is or holds, or the area where a thing belongs."""
    node = scenario.geography.nodes.get(of)
    if node is None or of in scenario.personas:
        return frozenset()
    return scenario.geography.inside(of) if node.type == "area" else frozenset({node.parent_id})


@lru_cache(maxsize=1024)
def _own(persona: Persona) -> frozenset[str]:
    """Returns the home and the place of work, where the routine spends most of the rest of the day."""
    spent = Counter[str]()
    for item, following in pairwise((*persona.routine, *persona.routine[:1])):
        spent[item.place] += (following.at - item.at) % (24 * 60)
    del spent[persona.home]
    work = [place for place, minutes in spent.most_common(1) if minutes >= WORKDAY]
    return frozenset({persona.home, *work})


def _is_spoilt(view: TurnView, seen: Changed) -> bool:
    """Tells whether the thing is in a state that needs a repair."""
    geography = view.scenario.geography
    return any(one.source == seen.state for one in geography.kinds[geography.nodes[seen.object].kind].repairs)


def _goes_on(view: TurnView, happening: Did | Seen) -> bool:
    """Tells whether it was done at an event: one that the plan has led to, or one of a fact that goes on there."""
    at = view.scenario.clock.time(view.tick - 1)
    stroke = view.state.plan.at(at, "day") if isinstance(happening, Did) else None
    if stroke is not None and stroke.event and stroke.location == happening.place:
        return True
    return any(fact.place == happening.place and fact.goes_on(at) for fact in view.scenario.facts)
