"""Mistakes of a scenario outside its world and characters: clock, stage, minds, facts, occasions, script, weather."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from commonplace.character.fact import Fact
from commonplace.clock import Clock, iso, parse_iso
from commonplace.conditions import Condition, Misread, condition, contradiction, examine
from commonplace.errors import UsageError
from commonplace.languages import LANGUAGES
from commonplace.memory import policies
from commonplace.scenario.circumstances import kinds_of
from commonplace.scenario.findings import Findings, minutes, shown
from commonplace.scenario.loading import KeyPath, choice, nearest
from commonplace.scenario.model import (
    CircumstancePart,
    FactPart,
    OccasionPart,
    ReplyPart,
    ScriptPart,
    TellPart,
)
from commonplace.scenario.telling import Telling, Terms, lines_of, ruled
from commonplace.servers import request_faults
from commonplace.text import words
from commonplace.world.circumstances import TOWN, Kinds, Subject, subject_of
from commonplace.world.happenings import ACTS
from commonplace.world.weather import SKIES

STAGES = ("town", "duet", "panel")
_ELSEWHERE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
"""A stage from elsewhere, `package.module:NAME`."""
YEARS = (1000, 9000)
"""Simulated time must not run out of the calendar Python has."""
HEAVIEST = 1_000_000
"""Largest weight of a sky."""


def story_rules(found: Findings) -> None:
    """Finds every mistake outside `world`, `layout` and `characters`."""
    _settings(found)
    start = _moment(found, ("clock", "start"), found.part.clock.start)
    clock = Clock(start, found.part.clock.tick_minutes) if start else None
    found.repeated(((one.id, ("facts", number, "id")) for number, one in enumerate(found.part.facts)), "the fact")
    found.repeated(((one.id, ("script", number, "id")) for number, one in enumerate(found.part.script)), "the event")
    for number, fact in enumerate(found.part.facts):
        _fact(found, ("facts", number), fact, clock)
    for number, event in enumerate(found.part.script):
        _consequences(found, ("script", number), event)
        midnight = clock.start.replace(hour=0, minute=0, second=0, microsecond=0) if clock else None
        if clock and midnight and midnight + timedelta(days=event.day, minutes=minutes(event.at)) <= clock.start:
            what = f"day {event.day} at {event.at} is not after the run begins"
            found.add(("script", number, "at"), what, f"a moment after {iso(clock.start)}")
    names = [one.id for one in found.part.occasions]
    found.repeated(((name, ("occasions", number, "id")) for number, name in enumerate(names)), "the occasion")
    for number, occasion in enumerate(found.part.occasions):
        _occasion(found, ("occasions", number), occasion, names)
    kinds = kinds_of(found.part)
    for name, own in found.part.circumstances.items():
        _circumstance(found, ("circumstances", name), own, kinds)
    for table, events in (("script", found.part.script), ("occasions", found.part.occasions)):
        for number, event in enumerate(events):
            _turns(found, (table, number), event, kinds)
    ruled_lines(found)
    said_elsewhere(found)
    _climate(found)


def usable(groups: tuple[tuple[str, ...], ...]) -> bool:
    return bool(groups) and all(group and all(words(word) for word in group) for group in groups)


def _settings(found: Findings) -> None:
    stage = found.part.stage
    if stage not in STAGES and not _ELSEWHERE.fullmatch(stage):
        expected = f"{choice(STAGES)}, or package.module:NAME for a stage from elsewhere"
        found.add(("stage",), f"there is no stage {shown(stage)}", expected, nearest(stage, STAGES))
    if stage == "duet" and len(found.part.characters) != 2:
        number = len(found.part.characters)
        found.add(("characters",), f"the stage duet needs two characters; the scenario has {number}", "two")
    if stage == "town" and found.part.cognition.reflection.every_turns:
        what = "every_turns has no effect on the stage town"
        found.add(("cognition", "reflection", "every_turns"), what, "`threshold`; it counts turns of the stage duet")
    if stage == "panel":
        _panel(found)
    _minds(found)
    own = found.part.policies
    for name, changes in own.items():
        try:
            policies.from_mapping(name, changes)
        except UsageError as error:
            found.add(("policies", name), error.what, error.hint)
    found.known(("cognition", "policy"), "policy", found.part.cognition.policy, (*policies.NAMES, *own))


def _minds(found: Findings) -> None:
    part = found.part
    if "default" in part.minds and part.minds["default"].mind and "mind" in part.model_fields_set:
        found.add(("minds", "default"), "the common mind is named twice, here and by `mind`", "only one of them")
    for name, one in part.minds.items():
        for key in ("headers", "body"):
            if getattr(one, key) and not one.mind:
                what = f"{key} belong to a mind, and none is named beside them"
                found.add(("minds", name, key), what, "`mind` in the same part")
        for fault in request_faults(one.headers, one.body):
            found.add(("minds", name, *fault.where), fault.what, fault.expected)


def _panel(found: Findings) -> None:
    panel, characters = found.part.panel, {character.id: character for character in found.part.characters}
    cycle = panel.cycle or tuple(characters)
    if len(cycle) < 2:
        found.add(("characters",), "a panel needs two personas or more", "two or more")
    for number, persona in enumerate(cycle):
        path: KeyPath = ("panel", "cycle", number)
        found.known(path, "character", persona, tuple(characters))
        if persona in cycle[:number]:
            found.add(path, f"{shown(persona)} is in the cycle twice", "each persona once")
    if panel.calm >= panel.tense:
        found.add(("panel", "calm"), f"calm is {panel.calm:g} and tense {panel.tense:g}", "a calm below tense")
    places = {one.starts_at or one.home for one in characters.values() if one.id in cycle and not one.absent}
    if len(places) > 1:
        found.add(("characters",), "the personas of a panel start in different places", "one place for all")


def _moment(found: Findings, path: KeyPath, text: str) -> datetime | None:
    try:
        moment = parse_iso(text)
        if YEARS[0] <= moment.year <= YEARS[1]:
            return moment
    except (ValueError, OverflowError):
        pass
    found.add(path, f"{shown(text)} is not a date and time", "one such as 2031-10-04T06:00:00")
    return None


def _fact(found: Findings, path: KeyPath, fact: FactPart, clock: Clock | None) -> None:
    _languages(found, path, fact)
    for language, groups in fact.groups.items():
        _groups(found, (*path, "groups", language), groups)
    for language, text in fact.text.items():
        _carries_itself(found, (*path, "text", language), fact, language, text)
    for language, lines in fact.tell.items():
        for number, line in enumerate(lines):
            _carries_itself(found, (*path, "tell", language, number), fact, language, line.say)
        _told(found, (*path, "tell", language), lines)
    for number, character in enumerate(fact.originators):
        found.node((*path, "originators", number), "character", character)
    _gathering(found, path, fact, clock)


def _languages(found: Findings, path: KeyPath, fact: FactPart) -> None:
    for key, by_language in (("text", fact.text), ("groups", fact.groups), ("tell", fact.tell)):
        for language in by_language:
            found.known((*path, key, language), "language", language, LANGUAGES)
        if key != "tell" and found.part.language not in by_language:
            what = f"there is nothing for the scenario's language, {shown(found.part.language)}"
            found.add((*path, key), what, f"the key {found.part.language}")


def _groups(found: Findings, path: KeyPath, groups: tuple[tuple[str, ...], ...]) -> None:
    if not groups:
        found.add(path, "without groups of words every text would carry the fact", "one group or more")
    for number, group in enumerate(groups):
        if not group:
            found.add((*path, number), "the group is empty, so no text can carry the fact", "one word or more")
        for index, word in enumerate(group):
            if not words(word):
                found.add((*path, number, index), f"{shown(word)} has no letters to match", "a word")


def _carries_itself(found: Findings, path: KeyPath, fact: FactPart, language: str, text: str) -> None:
    """Ways to tell a fact must hold a word of each of its groups; otherwise the hearer does not learn the fact."""
    groups = fact.groups.get(language, ())
    if not usable(groups):
        return
    missing = [group for group in groups if not Fact(fact.id, {}, {language: (group,)}).carried_by(text)]
    for group in missing:
        what = f'{shown(text)} does not carry the fact "{fact.id}"'
        found.add(path, what, f"one of its words {', '.join(map(shown, group))} in it")


def _gathering(found: Findings, path: KeyPath, fact: FactPart, clock: Clock | None) -> None:
    """Requires place, beginning and length together: only all three make something one can go to."""
    if fact.place:
        found.node((*path, "place"), "area", fact.place)
    starts = _moment(found, (*path, "starts"), fact.starts) if fact.starts else None
    if fact.starts and not fact.place:
        found.add(path, "it has a beginning but no place", "`place:` with `starts:`")
    if fact.starts and not fact.minutes:
        found.add(path, "it has a beginning but no length", "`minutes:` with `starts:`")
    if fact.minutes and not fact.starts:
        found.add((*path, "minutes"), "it has a length but no beginning", "`starts:` with `minutes:`")
    if starts and clock and starts <= clock.start:
        found.add((*path, "starts"), "it begins before the run does", f"a moment after {iso(clock.start)}")


GONE = "gone"
"""The place of what an occasion takes out of the world."""


def told(found: Findings, path: KeyPath, tell: Sequence[TellPart], replies: Sequence[ReplyPart]) -> None:
    """Mistakes in what is told, and in what may be said to it."""
    _told(found, (*path, "tell"), tell)
    _sentences(found, (*path, "replies"), [reply.say for reply in replies])
    for number, reply in enumerate(replies):
        here: KeyPath = (*path, "replies", number)
        _numbers(found, (*here, "to"), reply.to, len(tell))
        _terms(found, here, reply.when, reply.who, "who")
        _sets(found, here, reply.sets, [reply.say])
        if reply.answer and not reply.say.rstrip().endswith("?"):
            found.add((*here, "answer"), "what is said is not a question", "an `answer` only to a question")


def _told(found: Findings, path: KeyPath, tell: Sequence[TellPart]) -> None:
    _sentences(found, path, [line.say for line in tell])
    for number, line in enumerate(tell):
        here: KeyPath = (*path, number)
        _terms(found, here, line.when, line.only_to, "only_to")
        _sets(found, here, line.sets, [line.say])
        _numbers(found, (*here, "after"), line.after, len(tell))
        if number + 1 in _before(tell, line.after):
            found.add((*here, "after"), "the line would have to be heard before itself", "an order without a circle")
        if line.after or line.once == "ever":
            _in_town(found, here)


def ruled_lines(found: Findings) -> None:
    """Mistakes in the rules of what is said to lines."""
    for number, rule in enumerate(found.part.rules):
        path: KeyPath = ("rules", number)
        _sentences(found, (*path, "says"), rule.says)
        _terms(found, path, rule.when, rule.who, "who")
        _sets(found, path, rule.sets, rule.says)


def _sets(found: Findings, path: KeyPath, marks: Sequence[str], lines: Iterable[str]) -> None:
    """Requires the words that set a mark to be the author's: whoever says them sets it."""
    short = next((line for line in lines if marks and len(words(line)) < 2), None)
    if short is not None:
        found.add((*path, "sets"), f"anybody may say {shown(short)} and set the mark", "a line of two words or more")
    if marks:
        _in_town(found, path)


def _numbers(found: Findings, path: KeyPath, numbers: Sequence[int], lines: int) -> None:
    beyond = [one for one in numbers if one > lines]
    if beyond:
        found.add(path, f"there is no line {beyond[0]} under `tell`", f"numbers from 1 to {lines}")


def _before(tell: Sequence[TellPart], after: Iterable[int]) -> set[int]:
    """Returns the lines, by number, that must have been heard before one that comes after these."""
    before, waiting = set[int](), list(after)
    while waiting:
        number = waiting.pop()
        if number not in before and number <= len(tell):
            before.add(number)
            waiting += tell[number - 1].after
    return before


def _terms(found: Findings, path: KeyPath, when: Sequence[str], people: Sequence[str], key: str) -> None:
    """Mistakes in when a line may be said, and by or to whom."""
    for number, one in enumerate(people):
        found.node((*path, key, number), "character", one)
    if people:
        _in_town(found, path)
    conditions(found, path, when, Telling, "the line can never be said")


def conditions(found: Findings, path: KeyPath, when: Sequence[str], of: type, never: str) -> None:
    """Mistakes in conditions; `never`: what follows if they cannot hold together."""
    if when:
        _in_town(found, path)
    ids = _nameable(found) if when else {}
    read = [
        one for number, text in enumerate(when) if (one := _condition(found, (*path, "when", number), text, of, ids))
    ]
    if why := contradiction(read, of):
        found.add((*path, "when"), f"{never}: {why}", "conditions that can hold together")


def _in_town(found: Findings, path: KeyPath) -> None:
    if found.part.stage in ("duet", "panel"):
        found.add(path, f"the stage {found.part.stage} looks at no conditions and sets no marks", "its words alone")


def _nameable(found: Findings) -> dict[str, Collection[str]]:
    """Returns what may stand at a place of a condition, by the names that lead there."""
    people, things = found.names.characters, found.names.objects
    states = {f"things.{one}.state": kind.states for one in things if (kind := found.names.kind_of(one))}
    called = {"hearer.called": [one.called or one.name.split()[0] for one in people.values()]}
    return {
        "people": people, "things": things, "hearer.id": people, "place.id": found.names.areas, "act": ACTS,
        "marks": found.marks, **called,
        **states,
    }  # fmt: skip


def _condition(
    found: Findings, path: KeyPath, text: str, of: type, ids: Mapping[str, Collection[str]]
) -> Condition | None:
    try:
        read = condition(text, of)
        examine(read, of, ids)
    except Misread as misread:
        if misread.name:
            found.known(path, "", misread.name, misread.known, what=str(misread))
        else:
            found.add(path, str(misread), "`alone`, `not alone` or `hour >= 18`, with blanks around the sign")
        return None
    return read


def said_elsewhere(found: Findings) -> None:
    """Words that stand in two places under different conditions: only one of the two would count."""
    part = found.part
    places: list[tuple[str, KeyPath, str, Terms]] = [
        (character.id, ("characters", number, "memories", memory, *key), said, terms)
        for number, character in enumerate(part.characters)
        for memory, told in enumerate(character.memories)
        for key, said, terms in lines_of(told.tell, told.replies)
    ]
    places += [
        (one.id, ("occasions", number, *key), said, terms)
        for number, one in enumerate(part.occasions)
        for key, said, terms in lines_of(one.tell, one.replies)
    ]
    places += [
        (one.id, ("facts", number, "tell", part.language, line), said, terms)
        for number, one in enumerate(part.facts)
        for (_, line), said, terms in lines_of(one.tell.get(part.language, ()))
    ]
    known = {words: (terms, "rules") for _, words, terms in ruled(part.rules)}
    for owner, path, said, terms in reversed(places):  # somebody who comes later stands first
        others, where = known.setdefault(said, (terms, owner))
        if others != terms or where == "rules":
            what = f"the same words stand under other conditions at {shown(where)}"
            found.add(path, what, "other words, or the same conditions in both places")


def _sentences(found: Findings, path: KeyPath, lines: Sequence[str]) -> None:
    for number, line in enumerate(lines):
        if not line.strip():
            found.add((*path, number), "the line is empty", "a sentence")


def _occasion(found: Findings, path: KeyPath, occasion: OccasionPart, names: Sequence[str]) -> None:
    """Checks an occasion's consequences, and its conditions."""
    _consequences(found, path, occasion)
    told(found, path, occasion.tell, occasion.replies)
    _sentences(found, (*path, "at_once"), occasion.at_once)
    for thing, area in occasion.moves.items():
        known = found.node((*path, "moves", thing), "object", thing)
        if known and area != GONE:
            found.node((*path, "moves", thing), "area", area)
    if occasion.far and not occasion.to.areas:
        found.add((*path, "far"), "there is no area next to which one notices it", "`areas:` in `to`")
    _conditions(found, (*path, "when"), occasion, names)


def _conditions(found: Findings, path: KeyPath, occasion: OccasionPart, names: Sequence[str]) -> None:
    when = occasion.when
    first, _, last = when.at.partition("-")
    if last and last < first:
        found.add((*path, "at"), f"{when.at} ends before it begins", "hours such as 08:00-12:00")
    for number, day in enumerate(when.season):
        try:
            datetime.fromisoformat(f"2032-{day}")  # a leap year
        except ValueError:
            expected = "month and day, such as 10-15"
            found.add((*path, "season", number), f"{shown(day)} is not a day of the year", expected)
    for thing, state in when.states.items():
        _set(found, (*path, "states", thing), thing, state)
    for key, given in (("so", when.so), ("not_so", when.not_so)):
        for number, one in enumerate(given):
            here = (*path, key, number)
            _may_be(found, here, here, *subject_of(one), kinds_of(found.part))
    if when.of:
        found.known((*path, "of"), "fact", when.of, [fact.id for fact in found.part.facts])
    for number, agent in enumerate(when.present):
        found.node((*path, "present", number), "character", agent)
    if (when.present or when.witnessed) and not occasion.to.areas:
        found.add(path, "there is no area in which somebody could be", "`areas:` in `to`")
    if when.after:
        others = [name for name in names if name != occasion.id]
        found.known((*path, "after"), "occasion", when.after, others)
    elif when.days_after or when.minutes_after:
        found.add(path, "it follows nothing", "`after:` with the id of an occasion")


def _consequences(found: Findings, path: KeyPath, event: ScriptPart | OccasionPart) -> None:
    for number, area in enumerate(event.to.areas):
        found.node((*path, "to", "areas", number), "area", area)
    for number, character in enumerate(event.to.agents):
        found.node((*path, "to", "agents", number), "character", character)
    if not event.text and event.message is None:
        found.add((*path, "text"), "it says nothing", "a sentence, or a `message`")
    if event.message and event.message.to:
        readers = (*found.names.characters, *found.names.areas)
        found.known((*path, "message", "to"), "character or area", event.message.to, readers)
    if not (event.to.everybody or event.to.areas or event.to.agents):
        found.add((*path, "to"), "it reaches nobody", "`everybody: true`, `areas:` or `agents:`")
    for thing, state in event.sets.items():
        _set(found, (*path, "sets", thing), thing, state)
    for key, pairs in (("opens", event.opens), ("closes", event.closes)):
        for number, pair in enumerate(pairs):
            _scripted_way(found, (*path, key, number), pair)


def _circumstance(found: Findings, path: KeyPath, own: CircumstancePart, kinds: Kinds) -> None:
    """Checks a kind of its own: what follows it, what it ends, and the words by which a line that tells of it is
    known."""
    for key, names in (("then", own.then), ("ends", own.ends.split())):
        for name in names:
            found.known((*path, key), "kind of circumstance", name, kinds)
    language, said = found.part.language, own.words
    named = tuple(one.strip() for one in said.names.split("|"))
    if not usable((named,)):
        what = f"{shown(said.names)} has no words to match"
        found.add((*path, "words", "names"), what, "words such as haunted | ghost")
        return
    after: KeyPath = ("was",) if said.was else ("over",)
    lines: list[tuple[KeyPath, str]] = [(("now",), said.now), (after, said.was or said.over)]
    lines += [(("tell", number), line) for number, line in enumerate(said.tell)]
    lines += [(("told", number), line) for number, line in enumerate(said.told)]
    for key, line in (*lines, (("over",), said.over), *((("at_once", n), line) for n, line in enumerate(said.at_once))):
        try:
            line.format(x="", X="", y="")
        except (KeyError, IndexError, ValueError, AttributeError):  # it would end a run
            what = f"{shown(line)} has a slot that nothing fills"
            found.add((*path, "words", *key), what, "no others than {x}, {X} and {y}")
    for key, line in lines:
        here = (*path, "words", *key)
        if not Fact("", {}, {language: (named,)}).carried_by(line):
            found.add(here, f"{shown(line)} has none of the `names`", f"one of {', '.join(map(shown, named))} in it")
        if own.of != "town" and not re.search(r"\{[xX]\}", line):
            found.add(here, f"{shown(line)} does not say what it is of", "{x} or {X} in it")


def _turns(found: Findings, path: KeyPath, event: ScriptPart | OccasionPart, kinds: Kinds) -> None:
    """Checks what an event lets begin and end."""
    for number, one in enumerate(event.raises):
        here: KeyPath = (*path, "raises", number)
        _may_be(found, (*here, "kind"), (*here, "of"), one.kind, one.of, kinds)
        if one.by:
            found.node((*here, "by"), "character", one.by)
    for number, key in enumerate(event.ends):
        here = (*path, "ends", number)
        _may_be(found, here, here, *subject_of(key), kinds)


def _may_be(found: Findings, kind_at: KeyPath, of_at: KeyPath, kind: str, of: str, kinds: Kinds) -> None:
    if not found.known(kind_at, "kind of circumstance", kind, kinds):
        return
    names, facts = found.names, [fact.id for fact in found.part.facts]
    sorts: dict[Subject, Collection[str]] = {
        "person": names.characters, "place": names.areas, "thing": names.objects, "fact": facts, "town": (TOWN,),
    }  # fmt: skip
    valid = [id for sort, ids in sorts.items() if kinds[kind].may_be_of(sort) for id in ids]
    other = next((sort for sort, ids in sorts.items() if of in ids), "")
    what = f"{shown(of)} is a {other} and cannot be {shown(kind)}" if other else ""
    found.known(of_at, kinds[kind].of.replace(" ", " or "), of, valid, what=what)


def _set(found: Findings, path: KeyPath, thing: str, state: str) -> None:
    if found.node(path, "object", thing):
        kind = found.names.kind_of(thing)
        if kind:
            found.known(path, "state", state, kind.states, f'of "{thing}"')


def _scripted_way(found: Findings, path: KeyPath, pair: tuple[str, str]) -> None:
    known = [found.node((*path, number), "area", area) for number, area in enumerate(pair)]
    if not all(known):
        return
    a, b = pair
    parents = found.names.parents
    declared = {frozenset(way.between) for way in found.part.world.ways}
    if frozenset(pair) not in declared and parents.get(a) != b and parents.get(b) != a:
        what = f"there is no way between {shown(a)} and {shown(b)}"
        found.add(path, what, "areas of a way, or an area and the one around it", scope=("world", "ways"))


def _climate(found: Findings) -> None:
    for sky, following in found.part.climate.weights.items():
        path: KeyPath = ("climate", "weights", sky)
        found.known(path, "sky", sky, SKIES)
        for after, weight in following.items():
            found.known((*path, after), "sky", after, SKIES)
            if not 0 <= weight <= HEAVIEST:
                found.add((*path, after), f"{weight} is not a weight", f"0 to {HEAVIEST:,}")
        if sum(following.values()) <= 0:
            found.add(path, "no sky can follow", "a weight above 0")
