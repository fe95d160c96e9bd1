"""One question to a character: what it may answer from, as slots of templates and as memories found by rules.

`tell()` gives a memory in the character's own words, by what the simulator knows of its making.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice
from types import UnionType

from commonplace.languages import DEFAULT, file_text
from commonplace.languages.ko import morphology as korean
from commonplace.languages.language import Language, language
from commonplace.languages.language import language as spoken
from commonplace.memory.analyser import analyser_of_run
from commonplace.minds.notes import FactNote, ItemNote, Person, Recalled
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.moment import temper
from commonplace.minds.offline.template_grammar import Grammar, parsed_rules
from commonplace.minds.offline.told import Filling, Pair, Tellable, Told, ended, told
from commonplace.minds.question import DaySpan, ParsedQuestion
from commonplace.minds.question_rules import alike, has, light_words, rules_of
from commonplace.minds.tasks import Acquaintance, AnswerInput
from commonplace.world.happenings import (
    Absent,
    Befell,
    Came,
    Changed,
    Concluded,
    Did,
    Failed,
    Happening,
    Hour,
    ISaid,
    Left,
    Planned,
    Said,
    Seed,
    Seen,
    Sky,
    Speech,
    Talked,
    Tried,
    Voiced,
    Walked,
)

FOND, WARM, COOL, COLD = 45, 12, -12, -30
"""Warmth from which somebody is dear, liked; below which disliked, hated."""
SHORTEST = 12
"""Characters from which saying the same words again, where they tell no memory, is a repetition."""
ENOUGH = 0.7
"""Share of a question's words, by their weight, that a memory must have to be about it."""
ALIKE = 0.85
"""How much a word that means nearly the same counts, against the word itself."""
HEAD, LIGHT = 2.0, 0.25
"""How much a word counts that names a thing of the question, and one that says little; any other counts 1."""
DAY = 24 * 60
SMALL_HOURS = 4
"""Before this hour `today` is the day before."""
EMPTY_ACTS = frozenset({"farewell", "greet", "acknowledge", "snub", "thank"})
"""What a line does that says nothing."""
_TELLING = frozenset({"tell", "report", "complain", "rejoice", "invite", "intend", "praise"})
SIGHTING = Seen | Came | Left | Said
"""That by which one knows where somebody was."""
_WEIGHT: Mapping[type[Happening], int] = {
    Seed: 0, Concluded: 1, Befell: 1, Said: 2, Did: 2, Sky: 4, Seen: 4, Planned: 6
}  # fmt: skip
"""By what a memory is, 3 for any other: what an author wrote comes before what was seen."""

PASSING = Said | ISaid | Seen | Tried | Changed
"""What may have a word without being about it."""
ASIDE = Seen | Came | Left | Planned | Walked | ISaid
"""What is no answer where a question is only touched."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer."""

    text: str
    ids: tuple[int, ...] = ()
    """The memories it rests on; none for what card, plan or relations say."""
    mark: str = ""
    """The words of the memory in it: what would make saying it again a repetition."""
    lead: str = ""
    """The time it begins with, in words."""


Pieces = Iterable[Piece | None]


@cache
def phrases(name: str) -> Grammar:
    """Returns the templates of answers in a language; the English ones if it has none."""
    every = (parsed_rules(file_text(one, "answers.txt")) for one in dict.fromkeys((DEFAULT, name)))
    return Grammar({rule: templates for rules in every for rule, templates in rules.items()}, {}, language(name))


@dataclass(slots=True)
class Interview:
    """One question, and what the character may answer from."""

    given: AnswerInput
    dice: Dice
    rules: Grammar = field(init=False)
    language: Language = field(init=False)
    pair: Pair = field(init=False)
    voice: str = field(init=False)
    asked: ParsedQuestion = field(init=False)
    said: str = field(init=False)
    """What the character has said in this talk, lower case."""
    everything: tuple[Recalled, ...] = field(init=False)
    """All memories of the input, each once, best first."""
    known: Mapping[str, Acquaintance] = field(init=False)
    last: tuple[Recalled, ...] = field(init=False)
    """What the last answer rests on, where the question asks about that."""

    def __post_init__(self) -> None:
        given = self.given
        self.rules, self.language = phrases(given.who.language), language(given.who.language)
        self.pair = Pair(given.who, given.situation.moment)
        self.voice, self.asked = temper(given.who).voice, given.asked
        self.said = "\n".join(line.text for line in given.lines if line.speaker == given.who.id).lower()
        notes = {note.id: note for note in (*given.recalled, *given.thoughts, *given.day)}
        self.everything = tuple(notes.values())
        self.known = {one.id: one for one in given.known}
        ids = given.lines[-1].because if given.lines and self.asked.back else ()
        self.last = tuple(notes[one] for one in ids if one in notes)

    def say(self, rule: str, *of: int | Tellable, mark: str = "", **given: str) -> Piece | None:
        """Returns a wording of a rule in the character's voice, else in plain form; None if each has an empty slot.

        The things in `of` fill the slots that are not given; the piece rests on the memories in it, which may be given
        by their ids.
        """
        ids = tuple(one if isinstance(one, int) else one.id for one in of if isinstance(one, int | Recalled))
        slots = Filling(given, tuple(told(self.pair, one) for one in of if not isinstance(one, int)))
        dice = self.dice.with_(*ids[:1])
        words = (self.rules.word(one, self.voice, slots, dice).text for one in (rule, f"{rule}.plain"))
        if not (text := next(filter(None, words), "")):
            return None
        times = (time for name in ("when", "part") if (time := slots.get(name)))
        lead = next((time for time in times if re.match(rf"{re.escape(time)}[ ,]", text, re.IGNORECASE)), "")
        marks = (said for one in slots.told for said in one.marks if said.lower() in text.lower())
        return Piece(text, ids, mark or next(marks, ""), lead)

    def as_told(self, of: Tellable) -> Told:
        """Returns something remembered, planned or seen, as the character tells it."""
        return told(self.pair, of)

    def was_said(self, piece: Piece) -> bool:
        """Tells whether a piece was said in this talk."""
        by_words = bool(self.asked.then) or not has(self.asked.kind, "daily")
        sought = piece.mark if piece.mark and by_words else piece.text
        sought = sought.lower().strip(" .!?“”")
        return (bool(piece.mark) or len(sought) >= SHORTEST) and sought in self.said

    def unknown(self) -> Piece | None:
        """Returns an admission that nothing is known. It names the subject, and the thing in question if one stands
        out."""
        is_named = has(self.asked.kind, "named") and bool(self.asked.words)
        named = self.asked.subject or (self.asked.topic if is_named else "")
        named = " ".join(self.asked.heads) if self.asked.people else named
        topic = "" if self.rule("nothing").fullmatch(named) else self.topic(named)
        when = self.asked.when
        if when is not None and when.days < 0:
            return self.say("dunno.future")
        if self.asked.kind in {"why", "whom", "howlong"} or self.asked.then == "whyso":
            return self.say("dunno.why" if self.asked.then else f"dunno.{self.asked.kind}")
        if topic and len(topic.split()) <= 5 and (self.asked.wants or len(self.asked.words) <= 2):
            return self.say("dunno.own" if self.asked.own else "dunno.topic", topic=topic)
        if when is not None and self.asked.wants in {"what", "who"}:
            return self.say("dunno.day", daypart=self.daypart)
        if self.asked.wants:
            return self.say(f"dunno.{self.asked.wants}") or self.say("dunno")
        puzzled = has(self.asked.kind, "follows") or not self.asked.kind
        return self.say("dunno.puzzled" if puzzled else "dunno")

    def rule(self, name: str) -> re.Pattern[str]:
        """Returns a pattern of the language spoken: `lasts`, `nothing`."""
        return rules_of(self.given.who.language).patterns[name]

    def topic(self, named: str) -> str:
        """Returns the subject of a question as an answer names it: with the capitals that were typed."""
        typed = {word.lower(): word for word in re.findall(r"[^\W\d_][\w'-]*", self.given.question)[1:]}
        return " ".join(typed.get(word, word) for word in self.language.topic(named).split())

    def person(self, other: str) -> Person | None:
        """Returns somebody whom the question names."""
        return self.known.get(other) or next((one for one in self.given.others if one.id == other), None)

    def moment(self, note: Recalled) -> tuple[int, int]:
        """Returns (days ago, minutes after midnight) of a memory."""
        return self.as_told(note).then

    @property
    def today(self) -> DaySpan:
        """Returns the span of the question; today if it names no time."""
        return self.asked.when or DaySpan(days=1 if int(self.given.situation.time[:2]) < SMALL_HOURS else 0)

    @property
    def work(self) -> ItemNote | None:
        """Returns the longest stroke of a usual day that is not at home."""
        away = [item for item in self.given.usual if not item.asleep and item.location != self.given.who.home]
        return max(away, key=lambda item: item.minutes, default=None)

    @property
    def daypart(self) -> str:
        """Returns the span of the question in words."""
        span = self.today
        return self.language.span(span.days, span.start, span.end, self.given.situation.moment)

    def in_span(self, note: Recalled, span: DaySpan) -> bool:
        """Tells whether a memory belongs to that span."""
        days, minute = self.moment(note)
        if days == span.days - 1 and span.end > DAY:
            return minute < span.end - DAY
        return days == span.days and span.start <= minute < span.end

    def at_event(self, note: Recalled, event: FactNote) -> bool:
        """Tells whether a memory belongs to the place and hours of an event."""
        minutes = self.as_told(event).minutes_ago - note.minutes_ago
        return note.happening.place == event.place and 0 <= minutes <= (event.minutes or 60)

    def relevant(self, words: Sequence[str], notes: Iterable[Recalled] | None = None) -> list[Recalled]:
        """Returns the memories about the words: those with most words first, and what an author wrote before sights.

        A line or a passing deed is about a word only if the word is its subject, or if it has all of them.
        """
        return self._ranked(words, self.everything if notes is None else notes, ENOUGH)

    def touching(self, words: Sequence[str]) -> list[Recalled]:
        """Returns the memories that name the things of the question, whatever else it asks about them; one if a thing
        is a topic."""
        heads = [word for word in words if word in self.asked.heads]
        aside = ASIDE if self.asked.when else ASIDE | Did
        notes = [note for note in self.everything if not isinstance(note.happening, aside)]
        span = self.asked.when
        if span is not None and span.days >= 0:  # what was lived through at another time is beside the question
            notes = [note for note in notes if isinstance(note.happening, Seed | Concluded) or self.in_span(note, span)]
        found = self._ranked(heads or words, notes, ENOUGH)
        topical = [note for note in notes if any(self.has(word, note.happening.topic) for word in heads)]
        return [*found, *(note for note in self._ranked(heads, topical, 0.3) if note not in found)] if heads else found

    def _ranked(self, words: Sequence[str], notes: Iterable[Recalled], enough: float) -> list[Recalled]:
        if all(word in self.light for word in words):  # so it is where there are none
            return []
        # A single word that is no thing's name says too little.
        is_loose = bool(self.asked.wants) and not self.asked.heads and len(set(words) - self.light) == 1
        ranked: list[tuple[float, int, bool, int, int, Recalled]] = []
        for rank, note in enumerate(notes):
            it, (share, is_subject) = note.happening, self._share(words, note)
            if share < enough or not self.language.speaks(note.text):
                continue
            is_all = share > 0.99 and ((len(words) > 1 and is_to_me(note)) or isinstance(it, Seen))
            if isinstance(it, PASSING) and not is_subject and not is_all:
                continue
            if isinstance(it, Said) and not tells(note):
                continue
            if is_loose and not is_subject and not isinstance(it, Did | Befell):
                continue
            weight = _WEIGHT.get(type(it), 3)
            ranked.append((-round(share, 1), weight, not is_subject, -note.importance, rank, note))
        return [one[-1] for one in sorted(ranked, key=lambda one: one[:-1])]

    @property
    def light(self) -> frozenset[str]:
        """Returns words that say little about the subject of a question."""
        return light_words(self.asked.language)

    def has(self, word: str, text: str) -> bool:
        """Tells whether a text has the word, or one of nearly the same meaning."""
        return any(occurs(one, text, self.given.who.language) for one in alike(word, self.asked.language))

    def echoes(self, text: str) -> bool:
        """Tells whether a text has the verb at the end of a Korean question. A search in Korean uses only the nouns."""
        verb = re.search(r"([가-힣]{2,})\W*$", self.given.question) if self.language.has_particles else None
        if verb is None or (korean.is_grammar(verb[1]) and korean.final(verb[1][0]) != korean.RIEUL):
            return False  # `열었` looks like a form of 이다
        return korean.is_akin(re.sub("(?<=.)으?셨", "었", verb[1]), text)

    def tells_of(self, note: Recalled) -> bool:
        """Tells whether a memory has the verb of a question whose nouns alone were searched; in English it always
        has."""
        return not self.language.has_particles or self.echoes(" ".join((note.text, *note.tell)))

    def is_firm(self, words: Sequence[str], note: Recalled) -> bool:
        """Tells whether a memory is about the words, and does not only have the one word with content."""
        telling = [word for word in words if word not in self.light]
        is_own = isinstance(note.happening, Did | Befell | Changed)
        return is_own or len(telling) > 1 or any(self.has(word, subject_of(note)) for word in telling)

    def has_all(self, words: Sequence[str], note: Recalled) -> bool:
        """Tells whether a memory has every word with content."""
        texts = " ".join((note.text, *note.tell, note.happening.topic))
        return all(self.has(word, texts) for word in words if word not in self.light)

    def _share(self, words: Sequence[str], note: Recalled) -> tuple[float, bool]:
        """Returns the share of the words that a memory, or a way to tell it, has, and whether one of them is its
        subject."""
        subject = subject_of(note)
        texts = " ".join((note.text, *note.tell, subject))
        weights = {word: LIGHT if word in self.light else HEAD if word in self.asked.heads else 1.0 for word in words}
        share = sum(weight * self._hit(word, texts) for word, weight in weights.items()) / sum(weights.values())
        if isinstance(note.happening, Speech):
            # `the flight school` is not `school`.
            return share, bool(subject.strip()) and all(self._is_of(part, words) for part in subject.lower().split())
        return share, any(self.has(word, subject) for word in words if word not in self.light)

    def _is_of(self, part: str, words: Sequence[str]) -> bool:
        return len(part) < 4 or part.endswith("'s") or part == "your" or any(self.has(word, part) for word in words)

    def _hit(self, word: str, text: str) -> float:
        return 1.0 if occurs(word, text, self.given.who.language) else ALIKE if self.has(word, text) else 0.0

    def between(self, other: str) -> list[Recalled]:
        """Returns the lines between the two, latest first."""
        lines = [note for note in self.everything if spoken_with(note) == other]
        return sorted(lines, key=lambda note: (note.minutes_ago, -note.id))

    def of(self, kinds: type[Happening] | UnionType) -> list[Recalled]:
        """Returns the memories of a kind of happening, or of several."""
        return [note for note in self.everything if isinstance(note.happening, kinds)]

    def seeds(self) -> list[Recalled]:
        """Returns the memories from the start, the weightiest first."""
        return sorted(self.of(Seed), key=lambda note: (-note.importance, note.id))

    def note_of(self, fact: str) -> FactNote | None:
        """Returns a fact, if a memory carries it."""
        return next((note for note in self.given.facts if note.id == fact), None)

    @property
    def event(self) -> FactNote | None:
        """Returns the event that the question names, if a memory carries it."""
        return next((note for fact in self.asked.facts if (note := self.note_of(fact)) and note.starts), None)

    def carriers(self, fact: str, kind: type[Happening]) -> list[Recalled]:
        """Returns the memories of a kind that carry a fact, the earliest first."""
        found = [note for note in self.of(kind) if fact in note.facts]
        return sorted(found, key=lambda note: (-note.minutes_ago, note.id))

    def sources(self, fact: str) -> list[Recalled]:
        """Returns the sources of a fact: the lines heard, then the memories from the start."""
        return [*self.carriers(fact, Said), *self.carriers(fact, Seed)]

    def about_person(self, other: str) -> list[Recalled]:
        """Returns what an author wrote and the character thought about somebody, the weightiest first."""
        mine = [note for note in self.of(Seed | Concluded) if note.happening.about == other]
        return sorted(mine, key=lambda note: (isinstance(note.happening, Concluded), -note.importance, -note.id))

    def planned(self, item: ItemNote) -> tuple[int, ...]:
        """Returns the memory of having planned a stretch of today's plan; none if it was never noted."""
        for note in reversed(self.given.day):
            it = note.happening
            if isinstance(it, Planned) and (it.do, it.start) == (item.do, item.start):
                return (note.id,) if self.moment(note)[0] == 0 else ()
        return ()


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def tells(note: Recalled) -> bool:
    """Tells whether a memory is of a line that was heard and is worth repeating."""
    it = note.happening
    return isinstance(it, Said) and (it.speech_act or "tell").partition(".")[0] in _TELLING


def is_to_me(note: Recalled) -> bool:
    """Tells whether a memory is of a line to the character."""
    return isinstance(note.happening, Said) and bool(note.happening.to_me)


def says_something(note: Recalled) -> bool:
    """Tells whether a memory is of a line that was heard and is more than a greeting."""
    return isinstance(note.happening, Said) and note.happening.speech_act not in EMPTY_ACTS


def spoken_with(note: Recalled) -> str:
    """Returns the person with whom a line was exchanged; empty if there is none."""
    match note.happening:
        case ISaid(to=other) | Said(who=other, to_me="1"):
            return other
        case _:
            return ""


def by_weight(deed: Recalled) -> tuple[int, int]:
    """Returns the sort key of deeds: the weightiest first, then those with most words."""
    return -deed.importance, -len(deed.happening.doing)


def subject_of(note: Recalled) -> str:
    """Returns the subject that a memory names."""
    return f"{note.happening.topic} {note.happening.object_name}"


def minute_of(time: str) -> int:
    return int(time[:2]) * 60 + int(time[3:5])


def covers(item: ItemNote, time: str) -> bool:
    """Tells whether a stretch of plan covers a time of day, also across midnight."""
    begin, at = minute_of(item.start), minute_of(time)
    return begin <= at < begin + item.minutes or begin <= at + DAY < begin + item.minutes


def occurs(word: str, text: str, language: str) -> bool:
    """Tells whether a text has the word: in English by stems, in Korean by its beginning."""
    if spoken(language).has_particles or not word.isascii():
        stem = word if len(word) < 3 else word[:-1]
        return word in text or (len(stem) >= 2 and stem in text)
    return bool(_stems(word, language) & _stems(text, language))


@lru_cache(maxsize=8192)
def _stems(text: str, language: str) -> frozenset[str]:
    return frozenset(analyser_of_run(language).query(text))


_RULES: Mapping[type[Happening], tuple[str, ...]] = {
    Talked: (), Hour: (), Planned: (), Said: ("tell.said", "tell.overheard"), ISaid: ("tell.i_said",),
    Did: ("tell.did",), Seen: ("tell.doing",), Walked: ("tell.walked",), Came: ("tell.arrived",), Left: ("tell.left",),
    Befell: ("tell.event",), Voiced: ("tell.voice",), Sky: ("weather.was",), Changed: ("thing",),
    Absent: ("thing.absent",), Failed: ("thing.refused",),
}  # fmt: skip
"""Kind of memory → the rules that word it, the first that can; none for what nobody would mention."""


def tell(talk: Interview, note: Recalled) -> Piece | None:
    """Returns a memory in the character's own words; None if nobody would mention it, or if it is in another
    language."""
    it = note.happening
    if not talk.language.speaks(it.quote or " ".join((*note.tell, note.text))):
        return None
    rules = _RULES.get(type(it))
    if rules is not None:
        return next(filter(None, (talk.say(rule, note) for rule in rules)), None)
    if isinstance(it, Concluded):
        # What the simulator worded for saying is in the first person already: `her` in it is somebody else.
        text = dated(talk, note, it.say or " ".join(talk.language.first_person(talk.given.who, note.text)))
        return Piece(ended(text), (note.id,), text.rstrip("."))
    return _text(talk, note)


def dated(talk: Interview, note: Recalled, text: str) -> str:
    """Returns a text of an earlier day with its days as they are called now: its `today` becomes `yesterday`."""
    days, moment = talk.moment(note)[0], talk.given.situation.moment
    for ago, start, end, pattern in rules_of(talk.given.who.language).days if days else ():
        hit = pattern.search(text) if ago is not None else None
        if ago is not None and ago >= 0 and hit and talk.rule("day_words").search(hit.group()):
            day = talk.language.span(days + ago, start, end, moment)
            day = day[:1].upper() + day[1:] if hit.group()[:1].isupper() else day
            after = re.sub("^[은는](?= )", "은(는)", text[hit.end() :])
            return f"{text[: hit.start()]}{day}{after}"
    return text


def _text(talk: Interview, note: Recalled) -> Piece | None:
    """Returns the author's words for a memory, else the sentence itself in the first person."""
    if any(
        fact.starts and fact.starts <= talk.given.situation.moment for fact in talk.given.facts if fact.id in note.facts
    ):
        return None  # nobody is invited to what is over
    lines = [line for line in note.tell if line.lower() not in talk.said] or list(note.tell)
    most_of = max((named(talk, line) for line in lines), default=0)
    lines = [line for line in lines if named(talk, line) == most_of]
    most = any(map(talk.echoes, lines))
    lines = [line for line in lines if talk.echoes(line) == most]
    text = " ".join(talk.language.first_person(talk.given.who, note.text))
    if lines and (talk.echoes(text) <= most or talk.rule("third").search(text)):
        line = lines[talk.dice.with_(note.id).below(len(lines), "tell")]
        line = line if note.kind == "plan" else dated(talk, note, line)
        return Piece(line, (note.id,), line)
    return Piece(text, (note.id,), text) if text else None


def named(talk: Interview, text: str) -> int:
    """Returns how many words of the question a text has."""
    return sum(talk.has(word, text) for word in talk.asked.words)


def some(talk: Interview, notes: Iterable[Recalled], most: int) -> list[Piece]:
    """Returns the first memories that can be told, in the character's own words."""
    return list(islice((piece for note in notes if (piece := tell(talk, note))), most))
