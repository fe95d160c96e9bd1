"""What a character knows to be so: whom it concerns, how near that is to the character, and where one would go.

It knows what a memory of its own carries. What it does about it is its mind's business.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise

from commonplace.character.persona import Persona
from commonplace.character.plan import PlanItem
from commonplace.character.state import AREA, KnownNode
from commonplace.clock import iso
from commonplace.cognition.remember import OBSERVATION
from commonplace.cognition.situation import CLOSE, person
from commonplace.cognition.turn import Notebook, TurnView, View
from commonplace.languages import phrases
from commonplace.languages.language import language
from commonplace.minds.notes import FactNote, Person, Recalled, So, changed
from commonplace.scenario.circumstances import subject, subject_name, subject_names
from commonplace.scenario.scenario import Scenario, derived
from commonplace.world.circumstances import TOWN, Circumstance, Duties, duties, refuge
from commonplace.world.happenings import Seed

GROWN = 14
"""Age from which one can be at home alone at night."""
_NAMES = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]+")
NOTICED, FOND, WAKING = 120, 30, (8, 21)
"""Minutes after which somebody is missed where one is used to meeting them, the warmth from which, and the hours."""
WORK = (8 * 60, 16 * 60)
"""Minutes of the day between which whoever keeps a place begins there."""
BY_THEN = 6 * 60
"""Minutes after which whoever lives with somebody knows what has become of them."""
KEEPS = 4 * 60
"""Minutes of a day from which whoever is at a place keeps it."""


def known(view: View) -> tuple[So, ...]:
    """Returns the circumstances that the character knows to hold, or to have held lately."""
    notes = (_note(view, one) for one in view.scenario.circumstances.values())
    return tuple(note for note in notes if note is not None)


def absent(view: TurnView, item: PlanItem | None) -> tuple[So, ...]:
    """Returns the people whom the character likes or lives with and who are missing where it usually meets them, or in
    what it meant to do with them, unless it knows that they lie ill or are gone."""
    scenario, area, hour = view.scenario, view.world.area, view.now.hour
    notes: list[So] = []
    for one in scenario.circumstances.values() if WAKING[0] <= hour < WAKING[1] else ():
        kind, relation, fact = scenario.kinds[one.kind], view.state.relations.get(one.of), scenario.fact(one.key)
        lasts = view.tick - one.since >= scenario.clock.ticks(NOTICED)
        if relation is None or fact is None or not (one.holds and lasts and (kind.gone or kind.rests)):
            continue
        persona, spoken = scenario.personas[one.of], language(scenario.language)
        is_used_to = one.of in concerning(scenario, area) or (
            item is not None and spoken.names(item.action_description, persona.name, persona.called)
        )
        is_fond = relation.warmth >= FOND or persona.home == view.persona.home
        if is_fond and is_used_to and one.of not in view.world.bodies and _note(view, one) is None:
            memory = view.draft.earliest(_naming(persona.called)) or 0
            notes.append(
                So(
                    id=f"absent.{one.of}", kind="absent", subject="person", of=one.of, called=persona.called, text="",
                    memory=memory, minutes_ago=0, days_ago=0, holds=False, person=person(view, one.of),
                    place=persona.home,
                )
            )  # fmt: skip
    return tuple(notes)


@cache  # a stream tests a text once for one and the same function
def _naming(called: str) -> Callable[[str], bool]:
    return lambda text: called in text


def off(notes: tuple[So, ...], me: str) -> frozenset[str]:
    """Returns the ids of what is not news: events that do not take place according to these notes, and wrongs that the
    character did to others."""
    events = (note.of for note in notes if note.subject == "fact" and note.holds)
    return frozenset((*events, *(note.id for note in notes if note.wrong and note.by == me)))


def in_own_words(view: View, facts: Iterable[FactNote]) -> tuple[FactNote, ...]:
    """Returns the facts as a character tells them: a circumstance of its own in the first person, and only while it
    holds; no fact in which it is named, and not that it asks for somebody."""
    return tuple(said for fact in facts if (said := _in_own_words(view, fact)) is not None)


def _in_own_words(view: View, fact: FactNote) -> FactNote | None:
    scenario, me = view.scenario, view.persona
    one = scenario.circumstances.get(fact.id)
    if one is None:
        return fact
    kind, spoken, mine = scenario.kinds[one.kind], language(scenario.language), scenario.tells[one.key].mine
    if one.of == me.id and kind.words.mine:
        return changed(fact, text=mine[0], tell=mine) if mine else None
    note = _note(view, one) if kind.unseen == "all" else None
    if note is not None and spoken.mentions(view.memories.get(note.memory).text, me.name, me.called):
        return None
    tell = tuple(line for line in fact.tell if not spoken.mentions(line, me.name, me.called))
    return changed(fact, tell=tell or fact.tell) if one.by == me.id else fact


def speakable(view: View, found: tuple[Recalled, ...]) -> tuple[Recalled, ...]:
    """Returns memories without riddles that have been solved, and without those from before about a relative for whom
    the character grieves: it does not speak of them."""
    found = _without_riddles(view, found)
    spoken, one = language(view.scenario.language), view.scenario.circumstances.get(f"grieving.{view.persona.id}")
    note = _note(view, one) if one is not None else None
    if note is None:
        return found
    kin, text = (
        phrases(view.scenario.language, "circumstances")["kin"].split(" | "),
        view.memories.get(note.memory).text,
    )
    lost = [word for word in kin if spoken.occurs([word], text)]
    return tuple(one for one in found if not (isinstance(one.happening, Seed) and spoken.occurs(lost, one.text)))


def _without_riddles(view: View, notes: tuple[Recalled, ...]) -> tuple[Recalled, ...]:
    """Returns the memories, except those whose author's lines reveal what came out when something befell the character,
    such as `he is Copper`: a name in the sentence that nobody and no place has."""
    scenario, me, out = view.scenario, view.persona.id, set[str]()
    for one in scenario.circumstances.values():
        fact, since = scenario.fact(one.key), scenario.clock.time(one.since)
        if fact is not None and me in (one.of, one.by):
            first = next(iter(view.memories.since(since, OBSERVATION, fact.carried_by)), None)
            out.update(_NAMES.findall(first.text) if first else ())
    out -= _name_words(scenario) if out else out
    return (
        tuple(note for note in notes if not any(name in line for name in out for line in note.tell)) if out else notes
    )


@derived
def _name_words(scenario: Scenario) -> set[str]:
    people = (persona.name for persona in scenario.personas.values())
    places = (node.name for node in scenario.geography.nodes.values())
    return {word for name in (*people, *places) for word in name.replace("'s", "").split()}


def aware(view: View, other: str, shared: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the facts that somebody has heard, as far as the character knows, with the circumstances that they must
    know: those of themselves and of what is theirs, and those they were seen next to."""
    scenario, seen = view.scenario, view.state.belief.nodes.get(other)
    found = list(shared)
    for one in scenario.circumstances.values():
        is_unseen = other == one.of and scenario.kinds[one.kind].unseen != ""
        involved = (other in (one.of, one.by) and not is_unseen) or one.of == TOWN
        concerns_them = involved or (not one.holds and other in concerning(scenario, one.of))
        near = {one.of, *(to for to, _ in scenario.geography.edges.get(one.of, ()))}
        was_there = seen is not None and seen.seen > one.since and seen.parent in near and one.holds
        lived_with = one.of in scenario.personas and scenario.personas[one.of].home == scenario.personas[other].home
        knows_by_now = lived_with and view.world.tick - one.since > scenario.clock.ticks(BY_THEN)
        if concerns_them or was_there or knows_by_now:
            found.append(one.key)
    return tuple(dict.fromkeys(found)) if len(found) > len(shared) else shared


def shown_the_way(view: TurnView, notebook: Notebook, notes: tuple[So, ...]) -> None:
    """Adds to the belief the places where the character would go because of these circumstances."""
    nodes, belief = view.scenario.geography.nodes, notebook.belief
    places = {place for note in notes for place in (note.place, note.near, note.home, note.bereaved_at, note.healer_at)}
    unknown = [place for place in sorted(places) if place in nodes and not belief.knows(place)]
    if unknown:
        notebook.belief = belief.updated({one: KnownNode(nodes[one].parent_id, AREA, view.tick) for one in unknown})


def _note(view: View, one: Circumstance) -> So | None:
    scenario, me, kind = view.scenario, view.persona, view.scenario.kinds[one.kind]
    fact, of = scenario.fact(one.key), subject(scenario, one.of)
    since = scenario.clock.time(one.since)
    if fact is None or of is None:
        return None
    first = next(iter(view.memories.since(since, OBSERVATION, fact.carried_by)), None)
    if first is None:
        return None
    concerned, by = concerning(scenario, one.of), (one.by,) if one.of == me.id and one.by else ()
    is_wronged = bool(by) and kind.warmth < 0
    others = [person(view, other) for other in (*concerned, *by) if other != me.id]
    nearest = max(others, key=lambda other: (other.warmth, other.id), default=None)
    held, lacks = _duties(scenario), kind.gone and one.holds
    inside = scenario.geography.inside(one.of) if one.holds and (kind.clears or kind.shut) else frozenset[str]()
    event = scenario.fact(one.of)
    bereaved = _housemate(view, one.of) if kind.gone else None
    healer = _healer(view, one.of)
    place = _place(view, one, event.place if event else "")
    return So(
        id=one.key, kind=one.kind, subject=of, of=one.of, called=subject_name(scenario, one.of),
        text=fact.said_in(scenario.language), memory=first.id,
        minutes_ago=int((view.now - first.created_at).total_seconds()) // 60,
        days_ago=(view.now.date() - since.date()).days,
        weight=kind.weight, sort=kind.sort, names=subject_names(scenario, one.of),
        holds=one.holds, gone=kind.gone, rests=bool(kind.rests), clears=kind.clears, wrong=kind.warmth < 0,
        barred=_avoided(scenario, me.id, one) if is_wronged
        else tuple(sorted(area for area in inside if not held.may_enter(area, me.home))),
        starts=iso(event.starts) if event is not None and event.starts else "",
        tie="own" if me.id in concerned else _tie(view, nearest), person=nearest, bereaved=bereaved, by=one.by,
        healer=healer, heals=is_healer(me), place=place,
        near=refuge(scenario.geography, held, place, me.home) if place in inside else place,
        home=_home(scenario, nearest),
        bereaved_at=view.world.area if bereaved and bereaved.id in view.world.bodies else _home(scenario, bereaved),
        bereaved_home=_home(scenario, bereaved), healer_at=_met_at(view, healer),
        square=scenario.geography.middle(), instead=_instead(view, held, alone=lacks and _left_alone(view, one.of)),
    )  # fmt: skip


# ── whom it concerns ─────────────────────────────────────────────────────────────────────────────────────────────────


@derived
def concerning(scenario: Scenario, of: str) -> tuple[str, ...]:
    """Returns the ids of the people that a subject concerns most: a person; those who live in or keep a place; those
    who own or use a thing, or, if it is nobody's, keep its place; those who spread a piece of news."""
    if of in scenario.personas:
        return (of,)
    fact = scenario.fact(of)
    if fact is not None:
        return fact.originators
    inside, name = scenario.geography.inside(of), scenario.geography.name(of)
    spoken, personas = language(scenario.language), scenario.personas.values()
    named = tuple(one.id for one in personas if spoken.mentions(name, one.name, one.called))
    if of == scenario.geography.root:
        return ()
    if not inside:
        parent = scenario.geography.nodes[of].parent_id if of in scenario.geography.nodes else ""
        theirs = named or tuple(one.id for one in personas if of in _used(one))
        return theirs or (concerning(scenario, parent) if parent else ())
    live = (one.id for one in personas if one.home in inside)
    return tuple(dict.fromkeys((*named, *live, *_keepers(scenario, of))))


def kept_alone(scenario: Scenario, who: str) -> tuple[str, ...]:
    """Returns the rooms, besides its home, that nobody else keeps, or that are named after the character."""
    nodes, persona = scenario.geography.nodes, scenario.personas[who]
    spoken = language(scenario.language)
    rooms = (one for one in scenario.geography.destinations if not nodes[one].outdoor and one != persona.home)
    works = {item.place for item in persona.routine if WORK[0] <= item.at < WORK[1]}
    rooms = (one for one in rooms if one in works and all(other.home != one for other in scenario.personas.values()))
    return tuple(
        room for room in rooms
        if who in (keepers := _keepers(scenario, room))
        and (keepers == (who,) or spoken.mentions(scenario.geography.name(room), persona.name, persona.called))
    )  # fmt: skip


def _avoided(scenario: Scenario, me: str, one: Circumstance) -> tuple[str, ...]:
    """Returns the rooms of whoever has wronged somebody, which the victim keeps away from while that holds."""
    nodes, rooms = scenario.geography.nodes, scenario.geography.destinations
    theirs = (area for area in rooms if one.holds and not nodes[area].outdoor and one.by in concerning(scenario, area))
    return tuple(sorted(area for area in theirs if me not in concerning(scenario, area)))


def _used(persona: Persona) -> frozenset[str]:
    return frozenset(step.object_id for item in persona.routine for phase in item.phases for step in phase.steps)


def _keepers(scenario: Scenario, area: str) -> tuple[str, ...]:
    """Returns the people who are there for most of the day."""
    return tuple(one.id for one in scenario.personas.values() if _spent(one, area) >= KEEPS)


def _spent(persona: Persona, area: str) -> int:
    """Returns the minutes of its usual day that it spends in an area."""
    return sum(
        later.at - item.at for item, later in pairwise(persona.routine) if item.place == area and later.at > item.at
    )


def _tie(view: View, nearest: Person | None) -> str:
    if nearest is None:
        return ""
    kin = phrases(view.scenario.language, "circumstances")["kin"].split(" | ")
    lives_there = view.scenario.personas[nearest.id].home == view.persona.home
    if lives_there or nearest.label.rpartition(" ")[2] in kin:
        return "kin"
    return "close" if nearest.warmth >= CLOSE else ""


def _housemate(view: View, of: str) -> Person | None:
    """Returns the person who lived with somebody; if there are several, the one whom the character likes best."""
    personas = view.scenario.personas
    home = personas[of].home if of in personas else ""
    others = [
        person(view, one.id) for one in personas.values() if one.home == home and one.id not in (of, view.persona.id)
    ]
    return max(others, key=lambda one: (one.warmth, one.id), default=None)


def is_healer(persona: Persona) -> bool:
    """Tells whether somebody works as a healer."""
    healers = phrases(persona.language, "circumstances")["healers"].split(" | ")
    return language(persona.language).occurs(healers, persona.work)


def _healer(view: View, of: str) -> Person | None:
    personas = view.scenario.personas
    found = [person(view, one) for one in view.state.relations if one in personas and is_healer(personas[one])]
    here = [one for one in found if one.id not in (of, view.persona.id)]
    return max(here, key=lambda one: (one.warmth, one.id), default=None)


# ── where ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@derived
def _duties(scenario: Scenario) -> Duties:
    return duties(scenario.geography, scenario.circumstances, scenario.kinds)


def _home(scenario: Scenario, one: Person | None) -> str:
    return scenario.personas[one.id].home if one is not None else ""


def _met_at(view: View, one: Person | None) -> str:
    """Returns where somebody was seen lately; else, as far as the character knows, where they mostly are by day, and
    their home by night."""
    if one is None:
        return ""
    if one.id in view.world.bodies:
        return view.world.area
    scenario, belief = view.scenario, view.state.belief
    seen, last, home = belief.nodes.get(one.id), belief.place_of(one.id), scenario.personas[one.id].home
    is_fresh = seen is not None and view.world.tick - seen.seen <= scenario.clock.ticks(NOTICED)
    if is_fresh and last in scenario.geography.edges:
        return last
    if not WAKING[0] <= view.now.hour < WAKING[1]:
        return home
    places = (area for area in scenario.geography.destinations if one.id in _keepers(scenario, area))
    return max(places, key=lambda area: (_spent(scenario.personas[one.id], area), area), default=home)


def _place(view: View, one: Circumstance, event: str) -> str:
    """Returns the place of a subject: a place itself; where somebody lies or is; where a thing is, or was at first;
    where an event was to be."""
    scenario, belief = view.scenario, view.state.belief
    edges, personas, bodies = scenario.geography.edges, scenario.personas, view.world.bodies
    if one.of in edges:
        return one.of
    if one.of in personas:
        is_at_home = scenario.kinds[one.kind].rests == "home" or scenario.kinds[one.kind].gone
        if one.of == view.persona.id or one.of in bodies:
            return view.world.area
        if scenario.kinds[one.kind].unseen == "all":
            return next(iter(kept_alone(scenario, one.of)), personas[one.of].home)
        last = "" if is_at_home else belief.place_of(one.of)
        return last if last in edges else personas[one.of].home
    if event:
        return event
    thing = (
        belief.place_of(one.of) or scenario.geography.nodes[one.of].parent_id
        if one.of in scenario.geography.nodes
        else ""
    )
    return thing if thing in edges else ""


def _left_alone(view: View, of: str) -> bool:
    """Tells whether the character is a child with whom nobody is at home without somebody."""
    personas, me = view.scenario.personas, view.persona
    lived_with = of in personas and personas[of].home == me.home
    others = (one for one in personas.values() if one.home == me.home and one.id not in (of, me.id))
    return lived_with and me.age < GROWN and not any(one.age >= GROWN for one in others)


def _instead(view: View, held: Duties, *, alone: bool) -> str:
    """Returns home, unless the character cannot be there: then the home of the person it likes best among those it may
    visit."""
    home, personas = view.persona.home, view.scenario.personas
    if held.may_enter(home, home) and not alone:
        return home
    liked = sorted(view.state.relations.values(), key=lambda one: (-one.warmth, one.other))
    homes = (
        personas[one.other].home
        for one in liked
        if one.other in personas and not (alone and personas[one.other].home == home)
    )
    return next((one for one in homes if held.may_enter(one, home)), refuge(view.scenario.geography, held, home, home))
