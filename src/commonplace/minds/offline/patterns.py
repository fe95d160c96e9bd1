"""Patterns in remembered evidence: each generalises over two memories or more and cites them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from commonplace.minds.notes import Person, Recalled, Who
from commonplace.minds.offline.grammar import english, speech
from commonplace.minds.offline.grammar.grammar import Grammar
from commonplace.minds.offline.hear import heard
from commonplace.text import words

MOST_CITED = 6


@dataclass(frozen=True, slots=True)
class Pattern:
    """Something that holds over several memories."""

    kind: str
    """haunt, craft, friend, worry, thing, thing_rain, news, shared, habit, undone, pair or place."""
    ids: tuple[int, ...]
    slots: Mapping[str, str]
    about: str
    strength: int
    place: str = ""
    """Area id, where acting on it leads to."""
    extra: Mapping[str, str] = field(default_factory=dict[str, str])


def patterns(who: Who, memories: Sequence[Recalled], known: Iterable[Person], rules: Grammar) -> list[Pattern]:
    """All patterns, strongest first."""
    people = {person.id: person for person in known}
    found = [
        *_haunts(who, memories, people),
        *_friends(who, memories, people),
        *_worries(who, memories, people),
        *_things(memories, rules),
        *_news(memories),
        *_shared(who, memories),
        *_habits(who, memories, rules),
        *_pairs(who, memories),
        *_places(who, memories),
        *_crossings(who, memories, people),
        *_minds(memories),
        *_busy(memories),
    ]
    return sorted(found, key=lambda pattern: (-pattern.strength, pattern.kind, pattern.about, pattern.ids))


def _grouped(memories: Sequence[Recalled], what: frozenset[str], key: str) -> dict[str, list[Recalled]]:
    groups: dict[str, list[Recalled]] = defaultdict(list)
    for memory in memories:
        if memory.frame.get("what") in what and memory.frame.get(key):
            groups[memory.frame[key]].append(memory)
    return groups


def _ids(memories: Iterable[Recalled]) -> tuple[int, ...]:
    return tuple(sorted(dict.fromkeys(memory.id for memory in memories)))[:MOST_CITED]


def _person(frame: Mapping[str, str], people: Mapping[str, Person]) -> dict[str, str]:
    person = people.get(frame.get("who", ""))
    pronoun = frame.get("pronoun", "") or (person.pronoun if person else "")
    pronoun = pronoun if pronoun in {"she", "he"} else ""
    slots = {"x": frame.get("called", "")}
    if pronoun:
        slots |= {"he": pronoun, "him": speech.OBJECT[pronoun], "his": speech.POSSESSIVE[pronoun]}
    return slots


def _haunts(who: Who, memories: Sequence[Recalled], people: Mapping[str, Person]) -> Iterator[Pattern]:
    """Somebody seen again and again in one place, or at one thing."""
    for other, seen in _grouped(memories, frozenset({"doing"}), "who").items():
        if other == who.id:
            continue
        by_place: dict[str, list[Recalled]] = defaultdict(list)
        for memory in seen:
            by_place[memory.frame.get("place_name", "")].append(memory)
        name, there = max(by_place.items(), key=lambda entry: (len(entry[1]), entry[0]))
        slots = _person(there[0].frame, people)
        place = there[-1].frame.get("place", "")
        if len(there) >= 2 and name and other not in name.lower():
            yield Pattern("haunt", _ids(there), {**slots, "at": english.at(name)}, other, len(there) + 1, place)
        yield from _crafts(other, seen, slots, place)


def _crafts(other: str, seen: Sequence[Recalled], slots: Mapping[str, str], place: str) -> Iterator[Pattern]:
    by_topic: dict[str, list[Recalled]] = defaultdict(list)
    for memory in seen:
        topic = speech.topic(memory.frame.get("doing", ""))
        if topic and not topic.startswith(("your", "my", "his", "her", "their")):
            by_topic[topic].append(memory)
    for topic, about in sorted(by_topic.items()):
        if len(about) >= 2:
            yield Pattern("craft", _ids(about), {**slots, "topic": topic}, other, len(about) + 2, place)


def _friends(who: Who, memories: Sequence[Recalled], people: Mapping[str, Person]) -> Iterator[Pattern]:
    """Somebody one talks with often."""
    mine = [memory for memory in memories if memory.frame.get("to_me")]
    for other, lines in _grouped(mine, frozenset({"said"}), "who").items():
        person = people.get(other)
        if len(lines) >= 3 and other != who.id and (person is None or person.warmth >= 0):
            yield Pattern("friend", _ids(lines), _person(lines[0].frame, people), other, min(6, len(lines)))


def _worries(who: Who, memories: Sequence[Recalled], people: Mapping[str, Person]) -> Iterator[Pattern]:
    """Somebody who speaks of troubles more than once."""
    for other, lines in _grouped(memories, frozenset({"said"}), "who").items():
        sad = [one for one in lines if heard(one.frame.get("quote", ""), who.language).act == "trouble"]
        person = people.get(other)
        if len(sad) >= 2 and other != who.id and (person is None or person.warmth >= 0):
            yield Pattern("worry", _ids(sad), _person(sad[0].frame, people), other, len(sad) + 3)


def _things(memories: Sequence[Recalled], rules: Grammar) -> Iterator[Pattern]:
    """A thing that fails again and again, in wet weather above all."""
    faulty = rules.words("faulty")
    wet = [one for one in memories if one.frame.get("what") == "weather" and one.frame.get("sky") in {"rain", "storm"}]
    for thing, seen in _grouped(memories, frozenset({"thing", "refused", "acted"}), "object").items():
        bad = [
            one for one in seen
            if any(word in faulty for word in words(f"{one.frame.get('words', '')} {one.frame.get('why', '')}"))
        ]  # fmt: skip
        if len(bad) < 2:
            continue
        slots = {"thing": english.named(bad[0].frame.get("object_name", thing))}
        yield Pattern("thing", _ids(bad), slots, thing, len(bad) + 2, bad[-1].frame.get("place", ""))
        if wet:
            yield Pattern("thing_rain", _ids([*bad[:4], *wet[:2]]), slots, thing, len(bad) + 3)


def _news(memories: Sequence[Recalled]) -> Iterator[Pattern]:
    """A seed fact that has come up more than once."""
    carried: dict[str, list[Recalled]] = defaultdict(list)
    for memory in memories:
        for fact in memory.facts:
            carried[fact].append(memory)
    for fact, about in sorted(carried.items()):
        names = [speech.topic(one.frame.get("quote", "") or one.text) for one in about]
        topic = next((name for name in names if " " in name[4:]), "")
        if len(about) >= 2 and topic.startswith("the ") and " " in topic[4:]:
            yield Pattern("news", _ids(about), {"topic": topic}, fact, len(about) + 3)


def _shared(who: Who, memories: Sequence[Recalled]) -> Iterator[Pattern]:
    """A subject on which two people or more have spoken."""
    said: dict[str, dict[str, Recalled]] = defaultdict(dict)
    for memory in memories:
        frame = memory.frame
        if frame.get("what") == "said" and frame.get("who") != who.id and not memory.facts:
            topic = heard(frame.get("quote", ""), who.language).topic
            if topic.startswith("the "):
                said[topic].setdefault(frame["who"], memory)
    for topic, speakers in sorted(said.items()):
        if len(speakers) >= 2:
            yield Pattern("shared", _ids(speakers.values()), {"topic": topic}, topic[4:], len(speakers) + 3)


def _habits(who: Who, memories: Sequence[Recalled], rules: Grammar) -> Iterator[Pattern]:
    """What one spends one's own days with."""
    groups = _grouped(memories, frozenset({"did"}), "doing")
    worth = {
        doing: seen for doing, seen in groups.items()
        if doing.split(" ")[0].endswith("ing") and doing.split(" ")[0] not in rules.words("faint")
        and not doing.startswith("talking")
    }  # fmt: skip
    if worth:
        doing, seen = max(worth.items(), key=lambda entry: (len(entry[1]), entry[0]))
        if len(seen) >= 2:
            slots = {"doing": speech.taken(doing, who.pronoun, "my")}
            yield Pattern("habit", _ids(seen), slots, who.id, len(seen), extra={"doing": doing})


def _pairs(who: Who, memories: Sequence[Recalled]) -> Iterator[Pattern]:
    """Two others who are often heard talking."""
    pairs: dict[tuple[str, str], list[Recalled]] = defaultdict(list)
    for memory in memories:
        frame = memory.frame
        if (
            frame.get("what") in {"said", "talk"}
            and not frame.get("to_me")
            and who.id not in (frame.get("to"), frame.get("who"))
        ):
            ends = sorted((frame.get("called", ""), frame.get("to_called", "")))
            if all(ends):
                pairs[ends[0], ends[1]].append(memory)
    for (first, second), lines in sorted(pairs.items()):
        if len(lines) >= 2:
            yield Pattern("pair", _ids(lines), {"x": first, "y": second}, lines[0].frame["who"], min(5, len(lines)))


def _places(who: Who, memories: Sequence[Recalled]) -> Iterator[Pattern]:
    """A place where several different people were seen."""
    seen: dict[str, dict[str, Recalled]] = defaultdict(dict)
    for memory in memories:
        frame = memory.frame
        if frame.get("what") in {"doing", "arrived"} and frame.get("who") != who.id and frame.get("place_name"):
            seen[frame["place_name"]].setdefault(frame["who"], memory)
    for name, people in sorted(seen.items()):
        if len(people) >= 3:
            place = next((one.frame.get("place", "") for one in people.values() if one.frame.get("place")), "")
            yield Pattern("place", _ids(people.values()), {"at": english.at(name)}, name.lower(), len(people), place)


def _crossings(who: Who, memories: Sequence[Recalled], people: Mapping[str, Person]) -> Iterator[Pattern]:
    """Somebody who turns up in several memories of any kind."""
    met: dict[str, list[Recalled]] = defaultdict(list)
    for memory in memories:
        other = memory.frame.get("who", "")
        if other and other != who.id and memory.frame.get("called"):
            met[other].append(memory)
    for other, seen in sorted(met.items()):
        person = people.get(other)
        if len(seen) >= 2:
            kind = "cross" if person is None or person.warmth >= 0 else "cross_cold"
            place = next((one.frame["place"] for one in reversed(seen) if one.frame.get("place")), "")
            yield Pattern(kind, _ids(seen), _person(seen[0].frame, people), other, min(2, len(seen)), place)


def _minds(memories: Sequence[Recalled]) -> Iterator[Pattern]:
    """What one has carried about for long: starting memories on one subject, or about one person."""
    for key in ("topic", "about"):
        for subject, about in sorted(_grouped(memories, frozenset({"seed"}), key).items()):
            if len(about) >= 2 and key == "topic":
                yield Pattern("mind", _ids(about), {"topic": _article(subject)}, subject, len(about))


def _busy(memories: Sequence[Recalled]) -> Iterator[Pattern]:
    """A day full of small things, when nothing else can be said of it."""
    mine = [memory for memory in memories if memory.frame.get("what") == "did"]
    if len({memory.frame.get("doing") for memory in mine}) >= 3:
        yield Pattern("busy", _ids(mine), {"busy": "1"}, "busy", 1)
    seeds = [memory for memory in memories if memory.frame.get("what") == "seed"]
    if len(seeds) >= 2:
        yield Pattern("past", _ids(seeds), {"busy": "1"}, "past", 1)


def _article(subject: str) -> str:
    """`flood` → `the flood`; a name stays as it is."""
    return subject if subject[:1].isupper() or subject.startswith(("the ", "my ", "her ", "his ")) else f"the {subject}"
