"""Views, plans and memories as task inputs: what a mind is told of the here and now."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache

from commonplace import rng
from commonplace.character.fact import Fact, carried
from commonplace.character.persona import Persona
from commonplace.character.plan import Plan, PlanItem
from commonplace.character.state import Belief, Relation
from commonplace.clock import hhmm, iso
from commonplace.cognition.turn import View
from commonplace.languages import weekdays
from commonplace.languages.language import Manner, language
from commonplace.memory.record import Memory
from commonplace.minds.notes import (
    AT_ONCE,
    FactNote,
    ItemNote,
    Person,
    Recalled,
    SeenSo,
    Situation,
    Spot,
    ThingHere,
    Who,
    changed,
)
from commonplace.scenario.circumstances import now_sentence, subject_name
from commonplace.scenario.scenario import Scenario, Tell, derived
from commonplace.world.circumstances import Circumstance
from commonplace.world.geography import Geography
from commonplace.world.happenings import Befell, Came, Happening, Left, happening_of
from commonplace.world.tree import CARRYING, leads_on

MINUTE = timedelta(minutes=1)
CLOSE = 40
"""Warmth of both from which two count as close."""


def situation(view: View) -> Situation:
    """Returns time, weather, place, people and things in sight."""
    world, now, clock = view.world, view.now, view.scenario.clock
    return Situation(
        moment=iso(now),
        time=hhmm(now),
        day=clock.day(world.tick),
        weekday=weekdays(view.scenario.language)[now.weekday()],
        part_of_day=world.ambient.part_of_day,
        sky=world.ambient.sky,
        wind=world.ambient.wind,
        temperature=world.ambient.temperature,
        place=spot(view.scenario, world.area),
        people=tuple(person(view, other) for other in sorted(world.bodies)),
        things=things_here(view),
        circumstances=tuple(_so(view, one) for one in world.circumstances),
    )


def _so(view: View, one: Circumstance) -> SeenSo:
    scenario, kind = view.scenario, view.scenario.kinds[one.kind]
    leaves = kind.clears and view.world.area in scenario.geography.inside(one.of)
    rests = kind.rests != "" and one.of == view.persona.id
    text = now_sentence(scenario, one.kind, one.of, one.by)
    duty = "leave" if leaves else "rest" if rests else ""
    return SeenSo(kind=one.kind, name=subject_name(scenario, one.of), text=text, duty=duty)


@lru_cache(maxsize=1 << 14)
def who(persona: Persona) -> Who:
    """Returns the character itself."""
    return Who(
        id=persona.id,
        name=persona.name,
        called=persona.called,
        age=persona.age,
        pronoun=persona.pronoun,
        work=persona.work,
        traits=persona.traits,
        background=persona.background,
        goals=persona.goals,
        home=persona.home,
        language=persona.language,
    )


def person(view: View, other: str, relations: Mapping[str, Relation] | None = None) -> Person:
    """Returns another character as this one knows it; its doing and whether it sleeps are known only in sight."""
    persona = view.scenario.personas[other]
    relation = (view.state.relations if relations is None else relations).get(other)
    body = view.world.bodies.get(other)
    minutes, how = view.scenario.clock.tick_minutes, _manner(view.scenario, view.persona, persona)
    return Person(
        id=other,
        name=persona.name,
        called=persona.called,
        work=persona.work if relation else "",
        pronoun=persona.pronoun,
        label=relation.label if relation else "",
        warmth=relation.warmth if relation else 0,
        talks=relation.talks if relation else 0,
        minutes_since_talk=(view.world.tick - relation.last_talk) * minutes
        if relation and relation.last_talk >= 0
        else -1,
        doing=body.doing if body else "",
        asleep=body.asleep if body else False,
        walking=bool(body and body.goal),
        can_be_spoken_to=other in view.world.targets.agents,
        summary=relation.summary if relation else "",
        level=how.level,
        address=how.address,
        talk=_circle(view, other),
    )


def _circle(view: View, other: str) -> str:
    """Returns whose conversation somebody is in: `mine`, an `other`, or none."""
    for talk in view.world.conversations:
        if other in talk.members:
            return "mine" if view.persona.id in talk.members else "other"
    return ""


def _manner(scenario: Scenario, me: Persona, you: Persona) -> Manner:
    """Returns how one speaks to and of the other, by their relation at the start of the run."""
    mine, theirs = _at_first(scenario, me, you), _at_first(scenario, you, me)
    close = min(mine.warmth, theirs.warmth) >= CLOSE
    return language(scenario.language).manner(me, you, mine.label, theirs.label, close=close)


def _at_first(scenario: Scenario, me: Persona, you: Persona) -> Relation:
    """Returns what the other is to a character at the start of the run; a newcomer is nothing in particular."""
    state = scenario.states.get(me.id)
    return (state.relations.get(you.id) if state else None) or Relation(you.id)


def acquaintances(view: View) -> tuple[Person, ...]:
    """Returns everybody the character knows, nearest first."""
    relations = sorted(view.state.relations.values(), key=lambda relation: (-relation.warmth, relation.other))
    return tuple(person(view, relation.other) for relation in relations)


def spot(scenario: Scenario, area: str) -> Spot:
    """Returns an area by its id."""
    node = scenario.geography.nodes[area]
    return _spot(node.id, node.name, node.outdoor)


@lru_cache(maxsize=1 << 14)
def _spot(node: str, name: str, outdoor: bool) -> Spot:
    return Spot(id=node, name=name, outdoor=outdoor)


def places(scenario: Scenario, belief: Belief) -> tuple[Spot, ...]:
    """Returns the areas a character knows, without passages, sorted by id."""
    return _places(scenario, frozenset(belief.nodes))


@derived
def _places(scenario: Scenario, known: frozenset[str]) -> tuple[Spot, ...]:
    nodes = scenario.geography.nodes
    return tuple(
        spot(scenario, node)
        for node in sorted(known)
        if node in nodes and nodes[node].type == "area" and not nodes[node].passage and nodes[node].parent_id
    )


def things_here(view: View) -> tuple[ThingHere, ...]:
    """Returns the objects in sight and in hand."""
    nodes = view.scenario.geography.nodes
    targets = view.world.targets.objects
    return tuple(
        _thing(thing, nodes[thing].name, seen.state, targets.get(thing, ()), seen.parent == view.persona.id)
        for thing, seen in sorted(view.world.things.items())
    )


@lru_cache(maxsize=16384)
def _thing(
    id: str, name: str, state: str, verbs: tuple[str, ...], carried: bool, leads: tuple[str, ...] = ()
) -> ThingHere:
    return ThingHere(id=id, name=name, state=state, verbs=verbs, carried=carried, leads=leads)


def things_believed(scenario: Scenario, belief: Belief, area: str, me: str) -> tuple[ThingHere, ...]:
    """Returns the objects believed to be in an area or in the character's own hands, as last seen."""
    nodes = scenario.geography.nodes
    return tuple(
        _thing(
            node,
            nodes[node].name,
            known.state,
            verbs_of(scenario.geography, node),
            known.parent == me,
            leads_on(scenario.geography.kinds[nodes[node].kind], known.state),
        )
        for node, known in sorted(belief.nodes.items())
        if known.parent in {area, me} and node in nodes and nodes[node].type == "object"
    )


def verbs_of(geography: Geography, thing: str) -> tuple[str, ...]:
    """Returns all verbs that an object's kind knows."""
    kind = geography.kinds[geography.nodes[thing].kind]
    return (*kind.verbs, *CARRYING) if kind.portable else kind.verbs


def item_note(scenario: Scenario, item: PlanItem) -> ItemNote:
    """Returns a plan item as a mind is told it."""
    node = scenario.geography.nodes[item.location]
    return ItemNote(
        start=hhmm(item.start_time),
        minutes=item.duration_minutes,
        location=item.location,
        location_name=node.name,
        do=item.action_description,
        object_id=item.object_id,
        verb=item.verb,
        outdoor=node.outdoor,
        asleep=item.asleep,
        because=item.because,
        event=item.event,
    )


def later_strokes(scenario: Scenario, plan: Plan, now: datetime) -> tuple[ItemNote, ...]:
    """Returns the strokes of the day that have not begun."""
    return tuple(item_note(scenario, item) for item in plan.level("day") if item.start_time > now)


def recalled(scenario: Scenario, memories: Iterable[Memory], now: datetime) -> tuple[Recalled, ...]:
    """Returns memories as a mind is told them, in the order given."""
    return tuple([_recalled(scenario, memory, now) for memory in memories])


def _recalled(scenario: Scenario, memory: Memory, now: datetime) -> Recalled:
    told, minutes = _told(scenario, memory), max(0, (now - memory.created_at) // MINUTE)
    if minutes <= AT_ONCE and (of := _tell(scenario, told.happening)) and of.at_once and _is_fresh(scenario, told, now):
        told = changed(told, tell=of.at_once)
    return changed(told, importance=round(memory.importance), minutes_ago=minutes)


def _is_fresh(scenario: Scenario, told: Recalled, now: datetime) -> bool:
    """Tells whether there is still something to say there and then: a wrong is over when it is done."""
    one = scenario.circumstances.get(told.happening.event) if isinstance(told.happening, Befell) else None
    is_wrong = one is not None and scenario.kinds[one.kind].warmth < 0
    return one is None or not is_wrong or now - scenario.clock.time(one.since) <= AT_ONCE * MINUTE


_TOLD = OrderedDict[tuple[str, int], tuple[Scenario, Memory, Recalled]]()
"""By character and id: the memories that were told last. The same few are recalled again and again."""
MOST_TOLD = 4096


def _told(scenario: Scenario, memory: Memory) -> Recalled:
    """Returns a memory as a mind is told it, except what changes with time."""
    key = memory.agent, memory.id
    known = _TOLD.pop(key, None)
    if known is not None and known[0] is scenario and (known[1] is memory or _same(known[1], memory)):
        _TOLD[key] = known
        return known[2]
    details, happening = memory.details, happening_of(memory.details)
    told = Recalled(
        id=memory.id,
        text=memory.text,
        kind=memory.kind,
        importance=0,
        minutes_ago=0,
        happening=_referred(scenario, memory.agent, named(scenario, happening)),
        tell=tuple(details.get("tell", ())) or _share(scenario, memory, happening),
        facts=carried(scenario.facts, memory.text),
    )
    if len(_TOLD) >= max(MOST_TOLD, 4 * len(scenario.personas)):
        _TOLD.popitem(last=False)
    _TOLD[key] = scenario, memory, told
    return told


TELLERS = 12
"""Of so many people who were at an occasion, one tells of it as their own."""


def _tell(scenario: Scenario, happening: Happening) -> Tell | None:
    """Returns the lines that the author of an occasion wrote to tell of it."""
    return scenario.tells.get(happening.event) if isinstance(happening, Befell) else None


def _share(scenario: Scenario, memory: Memory, happening: Happening) -> tuple[str, ...]:
    """Returns the lines that one of those who were at an occasion can tell, and nothing for anybody else. So no two
    people tell the same as their own, and everybody has something to tell."""
    if not isinstance(happening, Befell) or (of := _tell(scenario, happening)) is None:
        return ()
    if (one := scenario.circumstances.get(happening.event)) is not None and memory.agent in (one.of, one.by):
        return of.mine if memory.agent == one.of else ()
    here = happening.there.split() if happening.areas else scenario.personas
    order = rng.shuffled(sorted({memory.agent, *here}), "tells", happening.event, memory.created_at.date().isoformat())
    return () if order.index(memory.agent) % TELLERS else of.lines


def _referred(scenario: Scenario, agent: str, happening: Happening) -> Happening:
    """Returns a happening with what its rememberer calls the people in it, in a language that needs more than their
    names."""
    me = scenario.personas.get(agent)
    if me is None or not language(scenario.language).has_levels:
        return happening
    others = {key: scenario.personas.get(id) for key, id in (("refer", happening.who), ("to_refer", happening.to))}
    refer = {key: _manner(scenario, me, other).reference for key, other in others.items() if other and other is not me}
    return changed(happening, **refer)


def _same(one: Memory, other: Memory) -> bool:
    return one.text == other.text and one.kind == other.kind and one.details is other.details


def named(scenario: Scenario, happening: Happening) -> Happening:
    """Returns a happening with the names of its ids, and with the topic that the author of an occasion gave it: a mind
    uses them in its sentences."""
    name, who = scenario.geography.name, scenario.personas.get(happening.who)
    names = {
        "called": _called(scenario, happening.who),
        "pronoun": who.pronoun if who else "",
        "to_called": _called(scenario, happening.to),
        "object_name": name(happening.object) if happening.object else "",
        "place_name": name(happening.place) if happening.place else "",
    }
    if isinstance(happening, Came | Left) and happening.other:
        names["other_name"] = name(happening.other)
    if (of := _tell(scenario, happening)) is not None:
        names |= {"topic": of.topic, "sort": of.sort}
    return changed(happening, **names)


def _called(scenario: Scenario, agent: str) -> str:
    """Returns somebody's short name; for somebody without a persona, the name in the geography."""
    persona = scenario.personas.get(agent)
    return persona.called if persona else scenario.geography.name(agent) if agent else ""


def fact_notes(
    scenario: Scenario, notes: Sequence[Recalled], off: frozenset[str] = frozenset()
) -> tuple[FactNote, ...]:  # fmt: skip
    """Returns the seed facts that any of the memories carries: knowledge enters a mind only through a memory. `off` are
    facts that are not news, because what they announce does not take place."""
    known = {fact for note in notes for fact in note.facts} - off
    return tuple(fact_note(scenario, fact) for fact in scenario.facts if fact.id in known)


def fact_note(scenario: Scenario, fact: Fact) -> FactNote:
    """Returns a seed fact as a mind is told it."""
    return FactNote(
        id=fact.id,
        text=fact.said_in(scenario.language),
        tell=fact.tell.get(scenario.language, ()),
        place=fact.place,
        place_name=scenario.geography.nodes[fact.place].name if fact.place else "",
        starts=iso(fact.starts) if fact.starts else "",
        minutes=fact.minutes,
        emoji=fact.emoji,
    )
