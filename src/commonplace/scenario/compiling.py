"""From a scenario file to the values a run starts from. The same text gives the same values everywhere.

A newcomer is a character whom the scenario does not know, described in a file of its own or by an input. The keys are
those of an entry under `characters` of a scenario, and mistakes are reported as `check` reports them.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, TypedDict, get_args

from commonplace.canon import canonical, parsed
from commonplace.character.fact import Fact
from commonplace.character.persona import Persona, RoutineItem, RoutinePhase, RoutineStep
from commonplace.character.state import UNKNOWN, Belief, CharacterState, KnownNode, Relation
from commonplace.clock import Clock, parse_iso
from commonplace.errors import UsageError
from commonplace.paths import text_of
from commonplace.scenario.circumstances import kinds_of
from commonplace.scenario.findings import Findings, Names, hours, minutes, shaped, walked
from commonplace.scenario.loading import KeyPath, Mistake, Source, find, is_list, is_mapping, located, read, refusal
from commonplace.scenario.model import (
    CharacterPart,
    FactPart,
    KindPart,
    MemoryPart,
    OccasionPart,
    RoutinePart,
    ScenarioPart,
    ScriptPart,
    WayPart,
    Weekday,
    WhenPart,
)
from commonplace.scenario.rules import examined, newcomer_rules
from commonplace.scenario.scenario import Scenario, Session, Tell
from commonplace.scenario.story_rules import GONE
from commonplace.scenario.telling import Terms, lines_of, ruled, terms_of
from commonplace.text import clean, sentences, words
from commonplace.world.circumstances import CALLED_OFF, Raise
from commonplace.world.events import Post
from commonplace.world.geography import Geography
from commonplace.world.inputs import next_areas
from commonplace.world.script import Audience, Occasion, Occasions, Scripted, When
from commonplace.world.state import NOWHERE, Body, World, opening
from commonplace.world.tree import ANY, Node, ObjectKind, Transition, Way
from commonplace.world.weather import NEXT_SKY, SKIES, Climate

PROMPT = "prompt"
"""The scripted event that puts the question of a panel to it."""
SEEDED_IMPORTANCE = 8
"""Of a seed fact in its originators' memory, on the scale of 1 to 10."""
PERSONA = ("name", "called", "age", "pronoun", "work", "traits", "background", "goals", "home", "routine")
"""The keys of a character that make its persona, besides its id."""
DEGREES = {"cold": (-6, 2), "cool": (4, 11), "mild": (10, 18), "warm": (17, 26), "hot": (24, 33)}
"""Usual low and high in °C of a day, by the word for its middle: all year alike, a scenario covers days."""


def load(name_or_path: str) -> Scenario:
    """Loads a shipped scenario by name, or any file by path. Raises UsageError with every mistake found in it."""
    text, origin = located(name_or_path)
    return _sound(text) or _of_source(find(name_or_path), origin)


def compiled_from_text(text: str, origin: str = "scenario") -> Scenario:
    """Compiles a text kept elsewhere, such as a run's manifest. `origin` is what mistakes call it."""
    return _sound(text) or _of_source(read(text, origin), origin)


def _of_source(source: Source, origin: str) -> Scenario:
    """Compiles a document. Raises UsageError with every mistake found in it."""
    part, mistakes = examined(source)
    if part is None or mistakes:
        raise refusal(origin, mistakes, "docs/scenarios.md explains every key.")
    return compiled(part, source.text)


@lru_cache(maxsize=4)
def _sound(text: str) -> Scenario | None:
    """Compiles a text; returns None when there are mistakes in it.

    The latest few are kept: making a run and reading it want the same one, and a large file takes 0.3 s to read.
    """
    running = gc.isenabled()
    gc.disable()  # all that is made stays: looking for garbage among it is half of the time
    try:
        part, mistakes = examined(read(text, ""))
        return compiled(part, text) if part is not None and not mistakes else None
    finally:
        if running:
            gc.enable()


def compiled(part: ScenarioPart, text: str) -> Scenario:
    """Compiles a scenario without mistakes (see `check`)."""
    clock = Clock(parse_iso(part.clock.start), part.clock.tick_minutes)
    names = Names.of(part)
    world = geography(part)
    facts = tuple(_fact(fact) for fact in part.facts)
    characters = sorted(part.characters, key=lambda character: character.id)
    start = _opening(part, clock, world)
    return Scenario(
        part=part,
        text=text,
        clock=clock,
        geography=world,
        personas={character.id: _persona(character, part.language) for character in characters},
        opening=start,
        states={character.id: opening_state(character, names, start) for character in characters},
        memories={character.id: _memories(character, part) for character in characters},
        facts=facts,
        script=_script(part.script, clock, world),
        climate=_climate(part),
        kinds=kinds_of(part),
        occasions=_occasions(part, world),
        tells={
            one.id: Tell(one.lines, one.topic, one.sort, one.at_once)
            for one in part.occasions
            if one.tell or one.at_once
        },
        terms=terms_of(part),
        rules=tuple(words for _, words, _ in ruled(part.rules)),
        **_replies(part),
    )


class _Replies(TypedDict):
    replies: dict[str, tuple[str, ...]]
    answers: dict[tuple[str, str], str]


OF_ITS_OWN = 12
"""Letters from which a sentence is its author's and not anybody's (`Good.`)."""


def _replies(part: ScenarioPart) -> _Replies:
    """Returns what may be said to each sentence that an author has given to tell, and the answers to questions there.

    A reply without numbers is for the lines that it shares most words with; one that shares words with none is for all.
    To what is said at once of an occasion one says what else is said of it at once.
    """
    memories = (memory for character in part.characters for memory in character.memories)
    replies: dict[str, tuple[str, ...]] = {}
    answers: dict[tuple[str, str], str] = {}
    for told in (*memories, *part.occasions):
        lines = [_telling_words(line) for line in told.lines]
        marks = {reply: _telling_words(reply.say) for reply in told.replies}
        most = {reply: max((len(shared & own) for own in lines), default=0) for reply, shared in marks.items()}
        for number, (line, own) in enumerate(zip(told.lines, lines, strict=True), 1):
            fitting = [
                reply for reply, shared in marks.items()
                if (number in reply.to if reply.to else len(shared & own) == most[reply])
            ]  # fmt: skip
            for sentence in (one for one in sentences(line) if fitting and len(one) >= OF_ITS_OWN):
                replies[sentence] = tuple(reply.say for reply in fitting)
                answers |= {(sentence, sentences(reply.say)[-1]): reply.answer for reply in fitting if reply.answer}
    for occasion in part.occasions:
        for line in occasion.at_once:
            others = tuple(other for other in occasion.at_once if other is not line)
            replies |= {sentence: others for sentence in sentences(line) if len(sentence) >= OF_ITS_OWN}
    return {"replies": replies, "answers": answers}


def _telling_words(text: str) -> frozenset[str]:
    telling = (one for one in words(text) if (len(one) > 3 and "'" not in one) or not one.isascii())
    return frozenset(one.removesuffix("s") for one in telling) - _SMALL


_SMALL = frozenset(
    words(
        "that this with have from they them been were what when where just about there here your would could should "
        "into then than some more very much know like really think come back well good time only never alway again "
        "after before said anything something nothing everything somebody nobody anybody everybody people thing long "
        "ever last make made take keep kept look want once doe does done same first next most many even other will "
        "their which while because still such"
    )
)


def in_session(scenario: Scenario, given: Mapping[str, Any] | None) -> Scenario:
    """Returns the scenario with the question, opening time and past answers of a panel; unchanged without any.

    `given`: as the manifest of the run has it. Raises ValueError for what is not a session.
    """
    if given is None:
        return scenario
    session = Session.model_validate(given)
    part = scenario.part
    part = part.model_copy(
        update={
            "panel": part.panel.model_copy(update={"prompt": session.prompt}),
            "clock": part.clock.model_copy(update={"start": session.start}),
        }
    )
    made = compiled(part, scenario.text)
    asked = Scripted(PROMPT, 1, session.prompt, Audience(everybody=True))
    return replace(made, script=(asked, *made.script), session=session)


# ── the world ────────────────────────────────────────────────────────────────────────────────────────────────────────


def geography(part: ScenarioPart) -> Geography:
    """Builds the static world, with the characters where they are at tick 0. Raises UsageError for what cannot be
    built."""
    kinds = {id: _kind(id, kind) for id, kind in part.world.kinds.items()}
    return Geography.build(_nodes(part), kinds, ways(part.world.ways), part.world.edge_cost, language=part.language)


def ways(parts: tuple[WayPart, ...]) -> tuple[Way, ...]:
    """Returns the declared ways; the id of each names its ends."""
    made: dict[str, Way] = {}
    for part in parts:
        a, b = part.between
        way_id = f"{a}-{b}"
        while way_id in made:  # areas `a-b` and `c`, `a` and `b-c`
            way_id += "_"
        made[way_id] = Way(way_id, a, b, hours(part.open), part.closed)
    return tuple(made.values())


def _nodes(part: ScenarioPart) -> list[Node]:
    names = Names.of(part)
    nodes: list[Node] = []
    for area, parent, _ in walked(part.world.root):
        public = names.public(area.id)
        nodes.append(Node(area.id, area.name, "area", parent, outdoor=area.outdoor, public=public))
        for thing in area.objects:
            holder = names.carriers.get(thing.id, area.id)
            nodes.append(Node(thing.id, thing.name, "object", holder, kind=thing.kind, state=thing.state))
    for character in part.characters:
        nodes.append(Node(character.id, character.name, "agent", character.starts_at or character.home))
    return nodes


def _kind(kind_id: str, part: KindPart) -> ObjectKind:
    transitions = tuple(
        Transition(
            verb,
            one.source,
            one.target,
            one.seen,
            tuple(sorted(one.also.items())),
            one.times,
            one.steps,
            tuple(sorted(one.needs.items())),
            one.people,
        )
        for verb, alternatives in part.verbs.items()
        for one in alternatives
    )
    refusals = {tuple((*key.split(maxsplit=1), "")[:2]): text for key, text in part.refusals.items()}
    return ObjectKind(
        id=kind_id,
        states=part.states,
        initial=part.states[0],
        transitions=transitions,
        refusals={(verb, state or ANY): text for (verb, state), text in refusals.items()},
        portable=part.portable,
        words=part.words,
    )


def _opening(part: ScenarioPart, clock: Clock, world: Geography) -> World:
    """Returns the world with everybody who is there at tick 0, asleep unless the routine says otherwise."""
    present = {character.id: character for character in part.characters if not character.absent}
    start = opening(world, present)
    minute = clock.start.hour * 60 + clock.start.minute
    bodies = {id: _awake_or_asleep(body, present[id], minute) for id, body in start.bodies.items()}
    return replace(start, bodies=dict(sorted(bodies.items())))


def _awake_or_asleep(body: Body, character: CharacterPart, minute: int) -> Body:
    """Lets a body do what its routine says. What begins at the very minute of tick 0 is left to tick 1."""
    if not character.routine:
        return body
    begun = [item for item in character.routine if minutes(item.at) < minute]
    item = begun[-1] if begun else character.routine[-1]
    return replace(body, doing=item.do, emoji=item.emoji, asleep=item is character.routine[-1])


# ── characters ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _persona(character: CharacterPart, language: str) -> Persona:
    return Persona(
        id=character.id,
        name=character.name,
        called=character.short_name,
        age=character.age,
        pronoun=character.pronoun,
        work=character.work,
        traits=character.traits,
        background=character.background,
        goals=tuple(goal.want for goal in character.goals),
        home=character.home,
        routine=tuple(_routine(item) for item in character.routine),
        language=language,
        goals_when={goal.want: goal.when for goal in character.goals if goal.when},
    )


def _routine(item: RoutinePart) -> RoutineItem:
    phases = tuple(
        RoutinePhase(phase.do, tuple(RoutineStep(step.do, step.object, step.verb, step.emoji) for step in phase.steps))
        for phase in item.phases
    )
    return RoutineItem(minutes(item.at), item.do, item.place, phases, item.emoji, item.outdoor)


def opening_state(character: CharacterPart, names: Names, start: World) -> CharacterState:
    """Returns what a character knows of the world as it was at tick 0, and how it sees others."""
    relations = {
        relation.to: Relation(relation.to, relation.label, relation.warmth, summary=relation.summary)
        for relation in sorted(character.relations, key=lambda relation: relation.to)
    }
    return CharacterState(belief=_belief(character, names, start), relations=relations)


def _belief(character: CharacterPart, names: Names, start: World) -> Belief:
    """Returns public areas, the own home and what the character `knows`; objects there and those it carries;
    acquaintances."""
    areas = names.known_areas(character)
    nodes = {area: KnownNode(names.parents.get(area, ""), "open", 0) for area in areas}
    for holder in (*areas, character.id):
        for object_id in start.contents.get(holder, ()):
            nodes[object_id] = KnownNode(holder, start.things[object_id].state, 0)
    nodes |= {relation.to: KnownNode(UNKNOWN, "", 0) for relation in character.relations}
    return Belief(dict(sorted(nodes.items())))


def _memories(character: CharacterPart, part: ScenarioPart) -> tuple[MemoryPart, ...]:
    """Returns the character's own memories, then the facts it starts: it must remember a fact to be able to tell it."""
    seeded = tuple(
        MemoryPart(
            text=fact.text[part.language],
            importance=SEEDED_IMPORTANCE,
            topic=fact.id,
            tell=fact.tell.get(part.language, ()),
            sort=fact.sort,
        )
        for fact in part.facts
        if character.id in fact.originators
    )
    return (*character.memories, *seeded)


# ── facts, script, weather ───────────────────────────────────────────────────────────────────────────────────────────


def _fact(fact: FactPart) -> Fact:
    return Fact(
        id=fact.id,
        text=fact.text,
        groups=fact.groups,
        originators=tuple(sorted(fact.originators)),
        place=fact.place,
        starts=parse_iso(fact.starts) if fact.starts else None,
        minutes=fact.minutes,
        emoji=fact.emoji,
        tell={language: tuple(line.say for line in lines) for language, lines in fact.tell.items()},
    )


def _script(script: Sequence[ScriptPart], clock: Clock, world: Geography) -> tuple[Scripted, ...]:
    ways, midnight = _way_ids(world), clock.start.replace(hour=0, minute=0, second=0, microsecond=0)
    moments = ((one, midnight + timedelta(days=one.day, minutes=minutes(one.at))) for one in script)
    events = [replace(_happening(one, ways), tick=clock.tick(moment)) for one, moment in moments]
    return tuple(sorted(events, key=lambda one: (one.tick, one.id)))


def _way_ids(world: Geography) -> dict[frozenset[str], str]:
    return {frozenset((way.a, way.b)): way.id for way in world.ways.values()}


def _happening(one: ScriptPart | OccasionPart, ways: Mapping[frozenset[str], str]) -> Scripted:
    return Scripted(
        id=one.id,
        tick=0,
        text=one.text,
        to=Audience(one.to.everybody, one.to.areas, one.to.agents),
        sets=tuple(sorted(one.sets.items())),
        opens=tuple(ways[frozenset(pair)] for pair in one.opens),
        closes=tuple(ways[frozenset(pair)] for pair in one.closes),
        raises=tuple(Raise(raised.kind, raised.of, raised.by, raised.hours) for raised in one.raises),
        ends=one.ends,
        message=Post(**one.message.model_dump()) if one.message else None,
    )


WEEKDAYS = get_args(Weekday)


def _occasions(part: ScenarioPart, world: Geography) -> Occasions:
    ways = _way_ids(world)
    made = [_occasion(one, world, ways) for one in part.occasions]
    return Occasions(tuple(sorted(made, key=lambda one: one.id)))


def _occasion(one: OccasionPart, world: Geography, ways: Mapping[frozenset[str], str]) -> Occasion:
    event = replace(
        _happening(one, ways),
        moves=tuple((thing, NOWHERE if area == GONE else area) for thing, area in sorted(one.moves.items())),
        far=one.far,
        near=tuple(sorted(next_areas(world, one.to.areas))) if one.far else (),
        recurs=True,
    )
    return Occasion(event, _when(one.when))


def _when(when: WhenPart) -> When:
    first, _, last = when.at.partition("-")
    season = [day.split("-") for day in when.season]
    ends = [(int(month), int(day)) for month, day in season]
    return When(
        at=(minutes(first), minutes(last or first)),
        weekdays=frozenset(map(WEEKDAYS.index, when.weekdays)),
        season=(ends[0], ends[-1]) if ends else None,
        days=(when.days[0], when.days[-1]) if when.days else None,
        skies=frozenset(when.sky),
        temperatures=frozenset(when.temperature),
        states=tuple(sorted(when.states.items())),
        so=frozenset(when.so),
        not_so=frozenset(when.not_so).union(f"{kind}.{when.of}" for kind in CALLED_OFF if when.of),
        present=when.present,
        witnessed=when.witnessed,
        chance=when.chance,
        apart=when.apart,
        after=when.after,
        days_after=when.days_after,
        minutes_after=when.minutes_after,
    )


def _climate(part: ScenarioPart) -> Climate:
    climate = part.climate
    skies = {
        sky: tuple((after, following[after]) for after in SKIES if following.get(after))
        for sky, following in climate.weights.items()
    }
    return Climate(climate.sky, climate.hours_per_step, {**NEXT_SKY, **skies}, (DEGREES[climate.temperature],))


# ── as inputs have changed it ────────────────────────────────────────────────────────────────────────────────────────


def as_changed(
    scenario: Scenario, cards: Mapping[str, Mapping[str, Any]], settings: Mapping[str, Any] | None = None
) -> Scenario:
    """Returns the scenario with other cards of characters, and other settings; unchanged when nothing changes.

    A card that holds the name is that of somebody who came later, and holds the whole persona (see `card_of`). Raises
    ValueError for one that nobody can have.
    """
    cards = {me: card for me, card in cards.items() if card}
    for me, card in cards.items():
        if me not in scenario.personas:
            scenario = with_character(scenario, CharacterPart.model_validate({"id": me, **card}))
    if cards:
        new: dict[str, Persona] = {}
        for me, persona in scenario.personas.items():
            card = cards.get(me, {})
            whole = CharacterPart.model_validate({"id": me, **card}) if "name" in card else None
            new[me] = _persona(whole, scenario.language) if whole else persona.changed(card)
        scenario = replace(scenario, personas=new)
    if settings and settings.get("policy"):
        cognition = scenario.cognition.model_copy(update={"policy": settings["policy"]})
        scenario = replace(scenario, part=scenario.part.model_copy(update={"cognition": cognition}))
    return scenario


def card_of(character: CharacterPart) -> dict[str, Any]:
    """Returns a whole persona as a card: the keys of `PERSONA` as JSON, without those left out of the file; sorted."""
    card = character.model_dump(mode="json", include=set(PERSONA), exclude_defaults=True)
    return dict(sorted(card.items()))


def with_character(scenario: Scenario, character: CharacterPart) -> Scenario:
    """Adds a character who is not in the world at tick 0. Raises ValueError for an id in use."""
    personas = {**scenario.personas, character.id: _persona(character, scenario.language)}
    return replace(
        scenario,
        part=scenario.part.model_copy(update={"characters": (*scenario.part.characters, character)}),
        geography=scenario.geography.with_agent(Node(character.id, character.name, "agent", character.home)),
        personas=dict(sorted(personas.items())),
    )


SUFFIXES = (".yaml", ".yml", ".json")
"""Of files that describe a character."""
LARGEST = 256_000
"""Bytes, of the file and of the character as JSON."""
HERE: KeyPath = ("characters", 0)
"""Where the newcomer is in the document that its rules look at: before everybody else."""


def may_come(scenario: Scenario) -> bool:
    """Returns whether anybody can come into a run: not into a dialogue of two, nor into a panel."""
    return scenario.part.stage not in ("duet", "panel")


def newcomer_from_file(path: str | Path, scenario: Scenario) -> CharacterPart:
    """Reads the character that a YAML or JSON file describes. Raises UsageError with every mistake found in it."""
    path = Path(path).expanduser()
    return _without_mistakes(read(text_of(path, "a character", LARGEST), str(path)), scenario)


def newcomer(given: Mapping[str, Any], scenario: Scenario) -> CharacterPart:
    """Reads the character that an input describes. Raises UsageError with every mistake found in it."""
    try:
        data = _cleaned(parsed(canonical(given)))
    except (TypeError, ValueError) as error:
        raise UsageError(f"the character is not JSON: {error}", hint=_HINT) from error
    return _without_mistakes(Source("", "the newcomer", data, {(): 0}), scenario)


def character_json(character: CharacterPart) -> dict[str, Any]:
    """Returns a character as an input holds it, the inverse of `newcomer`: JSON, without what was left out."""
    return character.model_dump(mode="json", by_alias=True, exclude_defaults=True)


_HINT = "a character has the keys of an entry under `characters` (docs/scenarios.md)"


def _cleaned(value: Any) -> Any:
    """Cleans every text of a value, as the reader of files does it."""
    if is_mapping(value):
        return {clean(key): _cleaned(inner) for key, inner in value.items()}
    if is_list(value):
        return [_cleaned(inner) for inner in value]
    return clean(value) if isinstance(value, str) else value


def _without_mistakes(source: Source, scenario: Scenario) -> CharacterPart:
    if scenario.part.stage == "panel":
        raise UsageError("a panel has the personas it began with, so nobody else can come in")
    if scenario.part.stage == "duet":
        what = "the stage duet is a dialogue of two characters, so nobody else can come in"
        raise UsageError(what, where=source.origin, hint="--join with somebody new needs a run of another stage")
    character, mistakes = _examined(source, scenario.part)
    if character is None or mistakes:
        raise refusal(source.origin, mistakes, _HINT)
    if len(canonical(character_json(character))) > LARGEST:
        raise UsageError(f"{source.origin} is larger than {LARGEST // 1000} kB, too large for a character", hint=_HINT)
    return character


def _examined(source: Source, town: ScenarioPart) -> tuple[CharacterPart | None, list[Mistake]]:
    """Returns the character with its mistakes in the order of lines; None instead of it when too little is
    well-formed."""
    if not is_mapping(source.data):
        nothing = source.mistake((), "it does not describe a character", "the keys id, name, age, traits, home …")
        return None, list(source.faults) or [nothing]
    whole = {"name": "town", "world": {"root": {"id": "town", "name": "town"}}, "characters": [source.data]}
    lines = {(): source.line(()), **{(*HERE, *path): line for path, line in source.lines.items()}}
    around = Source(source.text, source.origin, whole, lines)
    part, cut, faults = shaped(whole)
    mistakes = [around.mistake(fault.path, fault.what, fault.expected, fault.nearest) for fault in faults]
    if part is not None:
        everybody = (*part.characters, *town.characters)
        findings = Findings(around, town.model_copy(update={"characters": everybody}), cut, faults)
        newcomer_rules(findings)
        for number, memory in enumerate(part.characters[0].memories):
            for place, _, terms in lines_of(memory.tell, memory.replies):
                if terms != Terms():  # a run keeps the conditions of lines with the scenario it began with
                    what = "the lines of somebody who comes later have no conditions and set no marks"
                    findings.add((*HERE, "memories", number, *place), what, "its words alone")
        mistakes += findings.mistakes
    found = (replace(mistake, where=mistake.where.removeprefix("characters › ")) for mistake in mistakes)
    ordered = sorted(dict.fromkeys((*source.faults, *found)), key=lambda mistake: mistake.line)
    return (part.characters[0] if part is not None else None), ordered
