"""Whom, where and which news a question names, in full, in part, by a role or misspelt."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from commonplace.languages import DEFAULT, phrases
from commonplace.languages.language import language as spoken
from commonplace.minds.notes import Spoken
from commonplace.minds.question_rules import HANGUL, alike, rules_of, spoken_in

LONGEST = 600
"""Characters of a question that are looked at; its end, where it is longer."""
EARLIER = 8
"""Questions of the talk that a follow-up may go back to."""


@dataclass(frozen=True, slots=True)
class QuestionNames:
    """What a question may name."""

    people: Sequence[tuple[str, str, str, str]]
    """(id, name, called, pronoun)."""
    places: Sequence[tuple[str, str]]
    """(id, name)."""
    facts: Mapping[str, Sequence[Sequence[str]]]
    """Fact → its groups of words, of all languages together."""
    late: bool = False
    """Whether it is after midnight, when `today` is still the day before."""
    minute: int = 48 * 60
    """Of the day, now: what is later is to come. By default, nothing of today is."""
    weekday: int = 0
    """Of today, Monday 0."""
    weekdays: tuple[str, ...] = ()
    """In the question's language."""
    me: tuple[str, ...] = ()
    """What the one who is asked is called."""
    roles: Mapping[str, str] = field(default_factory=dict[str, str])
    """What only one person is, to the character or by trade → who: `grandfather`, `doctor`."""
    events: Mapping[str, str] = field(default_factory=dict[str, str])
    """Facts that are events → the area they are held in."""


PARTICLES = (
    "(?:이라는|라는|이는|이가|이를|이와|이랑|이한테|이의|이도|이|가|은|는|을|를|과|와|의|에게|한테|께|께서|랑|도|만|야|아|씨|님|네|"
    "에서|에|로|으로|부터|까지|하고|에는|에선)*"
)


def placed(
    text: str, names: QuestionNames, language: str
) -> tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Returns the text with @p and @l, the people, the places, and words that name a place but may mean something
    else."""
    # A place may have its owner's name in it, so places come first.
    text, places, parts = _located(text, names, language)
    text, roles = _in_role(text, names, language)
    patterns = people_patterns(tuple((one[0], one[1], one[2]) for one in names.people), language)
    people = sorted((hit.start(), person) for person, pattern in patterns if (hit := pattern.search(text)))
    for person, pattern in patterns:
        if any(one == person for _, one in people):
            text = pattern.sub("@p", text)
    people = tuple(dict.fromkeys((*(person for _, person in people), *roles)))
    return " ".join(text.split()), people, places, parts


def _in_role(text: str, names: QuestionNames, language: str) -> tuple[str, tuple[str, ...]]:
    """Replaces `your grandfather`, `the doctor` by @p if only one person can be meant. Returns the text and the
    people."""
    if spoken(language).has_particles or not names.roles:
        return text, ()
    found: list[str] = []
    kin = rules_of(language).words["kin"]
    for role, person in sorted(names.roles.items(), key=lambda pair: (-len(pair[0]), pair[0])):
        forms = "|".join(re.escape(word) for word in sorted(alike(role, language) & kin | {role}))
        pattern = re.compile(rf"\b(?:your|the) (?:{forms})(?:'s)?(?![\w'])", re.IGNORECASE)
        hit = pattern.search(text)
        if hit and _stands_alone(text, hit):
            text = pattern.sub("@p", text)
            found.append(person)
    return text, tuple(dict.fromkeys(found))


def _stands_alone(text: str, hit: re.Match[str]) -> bool:
    """Tells whether a role names a person and is not the first half of a thing: `the doctor` but not `the courier
    drone`."""
    before, after = text[: hit.start()].lower().split(), text[hit.end() :].lower().split()
    words = rules_of(DEFAULT).words
    is_asked_of = bool(before) and before[-1] in words["asks"] | _IS
    return is_asked_of or not after or hit.group().endswith("'s") or after[0] in words["stop"]


_IS = frozenset({"is", "was"})


@lru_cache(maxsize=64)
def people_patterns(people: tuple[tuple[str, str, str], ...], language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    made: list[tuple[str, re.Pattern[str]]] = []
    titles = "|".join(sorted(rules_of(language).words["titles"], key=len, reverse=True))
    for id_, name, called in people:
        forms = "|".join(re.escape(one) for one in sorted({name, called}, key=len, reverse=True) if one)
        if not spoken(language).has_particles:
            form = rf"(?<![\w'])(?:(?:dr|mr|mrs|miss|ms) )?(?:{forms})(?:'s)?(?!\w)"
        else:
            whole = rf"(?:{forms})(?:이(?=[가는를와랑한의도네]))?(?:\s?(?:{titles}))?"
            form = rf"(?<![가-힣\w]){whole}(?={PARTICLES}(?![가-힣]))"
        made.append((id_, re.compile(form, re.IGNORECASE)))
    return tuple(made)


def _located(text: str, names: QuestionNames, language: str) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    found: dict[int, str] = {}
    parts: list[str] = []
    whole = {name.lower() for _, name in names.places}
    called = {one[2].lower() for one in names.people}  # of `만호 헌책방` 만호 is a person
    for place, pattern in _place_patterns(tuple(names.places), language):
        hit = pattern.search(text)
        if hit and hit.start() not in found and hit.group().lower() not in called:
            found[hit.start()] = place
            word = re.sub(r"^(?:the|your|my|our) ", "", hit.group().lower())
            parts += [word] if " " not in word and word not in whole else []
            text = text[: hit.start()] + "@l" + " " * (len(hit.group()) - 2) + text[hit.end() :]
    return text, tuple(found[at] for at in sorted(found)), tuple(parts)


@lru_cache(maxsize=64)
def _place_patterns(places: tuple[tuple[str, str], ...], language: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Returns the patterns of places: full names first, then the words that only one place has."""
    whole: list[tuple[str, re.Pattern[str]]] = []
    parts: dict[str, list[str]] = {}
    for id_, name in sorted(places, key=lambda place: (-len(place[1]), place[0])):
        bare = re.sub(r"^(?:the )?(?:\w+(?:'s|’s|의) )?", "", name.replace("’", "'"), flags=re.IGNORECASE) or name
        forms = "|".join(re.escape(one.replace("’", "'")) for one in dict.fromkeys((name, bare)))
        whole.append((id_, _name_pattern(forms, language)))
        for word in bare.split():
            if len(word) >= spoken(language).shortest_word and word not in rules_of(language).words["light"]:
                parts.setdefault(word.lower(), []).append(id_)
    single = [
        (ids[0], _name_pattern(re.escape(word), language)) for word, ids in sorted(parts.items()) if len(set(ids)) == 1
    ]
    return (*whole, *single)


def _name_pattern(forms: str, language: str) -> re.Pattern[str]:
    if not spoken(language).has_particles:
        return re.compile(rf"(?<![\w'])(?:(?:the|your|my|our) )?(?:{forms})(?!\w)", re.IGNORECASE)
    return re.compile(rf"(?<![가-힣\w])(?:{forms})(?={PARTICLES}(?![가-힣]))")


def mentioned_in(lines: Sequence[Spoken], names: QuestionNames) -> Iterable[str]:
    """Yields the people named in the talk, the latest line first, within a line in order."""
    for line in reversed(lines[-2 * EARLIER :]):
        language = spoken_in(line.text)
        patterns = people_patterns(tuple((one[0], one[1], one[2]) for one in names.people), language)
        hits = [(hit.start(), person) for person, pattern in patterns if (hit := pattern.search(line.text))]
        yield from (person for _, person in sorted(hits))


def facts_in(question: str, names: QuestionNames) -> tuple[str, ...]:
    """Returns the facts for which the question has words of at least half the groups."""
    text = f" {' '.join(re.findall(r'[a-z가-힣]+', question.lower()[-LONGEST:]))} "
    named: list[str] = []
    for fact, groups in names.facts.items():
        hits = sum(any(_has(text, word) for word in group) for group in groups)
        if hits and 2 * hits >= len(groups):
            named.append(fact)
    return tuple(named)


def event_in(question: str, names: QuestionNames, places: Collection[str], language: str) -> tuple[str, ...]:
    """Returns the one event that a general word can mean: `the party` if there is only one, or one at the place
    named."""
    words = alike(phrases(language, "patterns")["festival"], language)
    text = f" {' '.join(re.findall(r'[a-z가-힣]+', question.lower()[-LONGEST:]))} "
    if not any(_has(text, word) for word in words):
        return ()
    fitting = [fact for fact, place in names.events.items() if not places or place in places]
    return tuple(fitting) if len(fitting) == 1 else ()


def _has(text: str, word: str) -> bool:
    korean = bool(HANGUL.search(word))
    return f" {word.lower()}" in text if korean else f" {word.lower()} " in text or f" {word.lower()}s " in text
