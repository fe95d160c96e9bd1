"""A talk at the moment one has to speak: who is who, what was said, what must not be said again, and how to word it.

The functions over `Past` find what the speaker was told, heard, asked and attended before, by subject.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from commonplace import rng
from commonplace.character.account import as_topic, digests_of
from commonplace.languages.language import Language, language
from commonplace.minds.notes import FactNote, Past, PastNote, Person, Who
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.hear import NOTHING, Heard, digests_to_a_friend, heard
from commonplace.minds.offline.moment import temper
from commonplace.minds.offline.rule_tables import ChosenRow
from commonplace.minds.offline.template_grammar import Grammar, Wording, grammar
from commonplace.minds.offline.told import Filling, Pair, Tellable, Told, told
from commonplace.minds.tasks import ConverseInput
from commonplace.world.happenings import ISaid, Said, Speech

CLOSE = 30
"""Warmth from which a character is glad to meet the other."""
ONCE = ("event.", "core.here")
"""Rules whose words nobody says twice at an event, or repeats after somebody else."""
REPEATED = ("greet.", "react.greet", "bye.back", "bye.night", "answer.fine")
"""Rules whose words may be said to the same hearer again: greetings and farewells."""
JUST = 80
"""Latest sentences that count as said a moment ago."""
_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class DraftLine:
    """A line being made: words, the memories they rest on, what they do and what they are about."""

    text: str
    ids: tuple[int, ...] = ()
    act: str = ""
    topic: str = ""
    facts: tuple[str, ...] = ()
    ends: bool = False
    rows: tuple[ChosenRow[Any], ...] = ()
    """The rows of tables that made it."""

    def led_by(self, words: str) -> DraftLine:
        """Returns the line after words that only lead up to it."""
        return replace(self, text=f"{words} {self.text}".strip())

    def then(self, other: DraftLine | None) -> DraftLine:
        """Returns the line with another one after it. The hearer responds to the last one."""
        if other is None:
            return self
        return DraftLine(
            text=f"{self.text} {other.text}".strip(),
            ids=tuple(dict.fromkeys((*self.ids, *other.ids))),
            act=other.act or self.act,
            topic=other.topic or self.topic,
            facts=tuple(dict.fromkeys((*self.facts, *other.facts))),
            ends=self.ends or other.ends,
            rows=(*self.rows, *other.rows),
        )


@dataclass(frozen=True, slots=True)
class TalkScene:
    """What a speaker has in mind while wording a line."""

    talk: ConverseInput
    dice: Dice
    rules: Grammar
    voice: str
    past: str
    """Everything said between the two today, in lower case: nothing in it is said again."""
    spoken: frozenset[str]
    """The lines of today, mine and theirs."""
    mine: tuple[str, ...]
    """My lines of this talk."""
    my_topic: str
    """What my last line of this talk was about."""
    my_kind: str
    """What kind of line that was: a sort of what is told, or an act."""
    last: str
    """The hearer's line that asks for a reply; empty when I open or carry on."""
    heard: Heard
    """That line understood."""
    present: frozenset[str]
    aired: str
    """What I remember telling anybody: less likely to be told again."""
    told: str
    """What of it I told the hearer, on whatever day: not told again."""
    worn: str
    """What I remember others saying: not echoed."""
    salt: int
    """The request's draw for everything that is weighed per memory."""
    heard_before: frozenset[str] = frozenset()
    """Digests of the sentences I have said to this hearer in the last thirty days."""
    lately: frozenset[str] = frozenset()
    """Digests of the sentences I have said lately, to anybody."""
    just: frozenset[str] = frozenset()
    """The latest of them."""
    notes: Mapping[str, FactNote] = field(default_factory=dict[str, FactNote])
    refers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Short name → what I call that person to others, where it is more than the name."""

    @property
    def me(self) -> Who:
        """Returns the speaker."""
        return self.talk.who

    @property
    def you(self) -> Person:
        """Returns the hearer."""
        return self.talk.hearer

    @property
    def language(self) -> Language:
        """Returns the language both speak."""
        return self.rules.language

    @property
    def moment(self) -> str:
        """Returns the present moment, ISO."""
        return self.talk.situation.moment

    @property
    def is_young(self) -> bool:
        """Tells whether the talk is still short enough to bring up something new."""
        return len(self.talk.lines) < 6

    @property
    def with_stranger(self) -> bool:
        """Tells whether the two have nothing to do with each other yet."""
        return not self.you.label and not self.you.talks and self.you.warmth < 10

    def spread(self, n: int, memory: int) -> int:
        """Returns a number in 0 … n − 1 for one memory: the request's one draw mixed with the id, far cheaper than
        many."""
        mixed = ((self.salt ^ (memory * 0x9E3779B97F4A7C15)) * 0xBF58476D1CE4E5B9) & _MASK
        return (mixed * n) >> 64

    @property
    def pair(self) -> Pair:
        """Returns the speaker, the hearer and the moment."""
        return Pair(self.me, self.moment, self.you)

    def as_told(self, of: Tellable) -> Told:
        """Returns a memory, or something that goes on, as I tell the hearer."""
        return told(self.pair, of)

    def known(self, text: str) -> bool:
        """Tells whether these words were said between the two today."""
        return text.lower() in self.past

    def voiced(self, text: str) -> str:
        """Returns an author's sentence as I say it to this hearer."""
        return self.language.said(text, self.language.level(self.you))

    def fresh(self, text: str) -> bool:
        """Tells whether a line may be said: it was not said today, and does not begin like my last one."""
        if not text or text in self.spoken:
            return False
        return not self.mine or _opening(text) != _opening(self.mine[-1])

    def say(self, rule: str, *key: str | int, **slots: str) -> str:
        """Returns a wording of a rule in my voice; empty if the rule has none for these slots."""
        return self._wording(rule, key, slots).text

    def line(self, rule: str, *of: int | Told, about: str = "", **given: str) -> DraftLine:
        """Returns a wording of a rule as a line with the act of the rule. It rests on memories, named by their ids, and
        what is told fills the slots that are not given."""
        ids = tuple(one for one in of if isinstance(one, int))
        text, act = self._wording(rule, ids[:1], given, *(one for one in of if isinstance(one, Told)))
        return DraftLine(text, ids, act, about or given.get("topic", ""))

    def suited(self, rule: str, kind: str) -> str:
        """Returns the rule for this kind of line, or the rule itself if the grammar has none for the kind."""
        return own if (own := f"{rule}.{kind}") in self.rules.rules else rule

    def led(self, line: DraftLine, rule: str, *key: int) -> DraftLine:
        """Returns the line after words of a rule that lead up to it, unless it has such words itself."""
        return line if self.language.leads_in(line.text) else line.led_by(self.say(rule, *key))

    def aside(self, line: DraftLine | None) -> DraftLine | None:
        """Returns the line after the few words that a language needs when another subject comes up."""
        return self.led(line, "aside", *line.ids[:1]) if line else None

    def _wording(self, rule: str, key: tuple[str | int, ...], given: Mapping[str, str], *of: Told) -> Wording:
        """Returns a wording, preferably one that was not used in this talk and that I do not remember using or
        hearing."""
        dice, spoken = self.dice.with_(*key), self.language
        given = {"you": spoken.vocative(self.you), "me": self.me.called, **given}
        filled = Filling(given, of)
        if x := filled.get("x"):
            given["x"] = self.refers.get(x) or spoken.third(x, spoken.level(self.you))
        at_event = (self._is_fresh_here,) if self.talk.gathering is not None else ()
        others = () if at_event and rule.startswith(ONCE) else (self._is_unworn, self._is_rested, self._is_unheard)
        for accept in (*at_event, *others):
            found = self.rules.word(rule, self.voice, filled, dice, accept)
            if found.text:
                return found
        return self.rules.word(rule, self.voice, filled, dice) if rule.startswith(REPEATED) else Wording()

    def has_told(self, text: str) -> bool:
        """Tells whether this hearer has heard a sentence of a text from me in the last thirty days."""
        return bool(self.heard_before) and not self.heard_before.isdisjoint(digests_of(text))

    def has_said(self, text: str) -> bool:
        """Tells whether I have said a sentence of a text lately, to anybody."""
        return bool(self.lately) and not self.lately.isdisjoint(digests_of(text))

    def _is_unworn(self, text: str) -> bool:
        if text in self.aired or text.lower() in self.past or text in self.worn:
            return False
        return not self.has_said(text) and not self.has_told(text)

    def is_new_here(self, text: str) -> bool:
        """Tells whether nobody has said a sentence of a text at the event that the two are at, if they are at one."""
        event = self.talk.gathering
        return event is None or digests_to_a_friend(text, self.me.language).isdisjoint(event.heard)

    def _is_fresh_here(self, text: str) -> bool:
        return self._is_unworn(text) and self.is_new_here(text)

    def _is_rested(self, text: str) -> bool:
        return self.just.isdisjoint(digests_of(text)) and not self.has_told(text)

    def _is_unheard(self, text: str) -> bool:
        return not self.has_told(text)

    def again(self, attempt: int) -> TalkScene:
        """Returns the scene with other draws; the first attempt is the scene itself."""
        if not attempt:
            return self
        dice = self.dice.with_("again", attempt)
        return replace(self, dice=dice, salt=rng.draw(*dice.key, "salt"))


def _opening(text: str) -> str:
    return " ".join(text.split(" ", 2)[:2]).lower()


def _quotes(talk: ConverseInput, what: type[Speech], to: str = "") -> str:
    lines = (one.happening for one in talk.recalled if isinstance(one.happening, what))
    return "\n".join(line.quote for line in lines if to in ("", line.to))


def _refers(talk: ConverseInput) -> dict[str, str]:
    known = [one.happening for one in talk.recalled]
    pairs = (pair for one in known for pair in ((one.called, one.refer), (one.to_called, one.to_refer)))
    return {called: refer for called, refer in pairs if refer}


def scene_of(talk: ConverseInput, dice: Dice) -> TalkScene:
    """Returns the scene of a request."""
    lines, name = talk.lines, talk.who.language
    mine = [line for line in lines if line.speaker == talk.who.id]
    my_last = heard(mine[-1], name) if mine else NOTHING
    said = (*talk.said, *(line.text for line in lines))
    is_asked = bool(lines) and lines[-1].speaker != talk.who.id
    return TalkScene(
        talk=talk,
        dice=dice,
        rules=grammar(name, language(name).level(talk.hearer)),
        voice=temper(talk.who).voice,
        past="\n".join(said).lower(),
        spoken=frozenset(said),
        mine=tuple(line.text for line in mine),
        my_topic=(mine[-1].topic or my_last.topic) if mine else "",
        my_kind=my_last.kind,
        last=lines[-1].text if is_asked else "",
        heard=heard(lines[-1], name) if is_asked else NOTHING,
        present=frozenset(person.id for person in talk.situation.people),
        aired=_quotes(talk, ISaid),
        told=_quotes(talk, ISaid, talk.hearer.id),
        worn=_quotes(talk, Said),
        salt=rng.draw(*dice.key, "salt"),
        notes={note.id: note for note in talk.facts},
        refers=_refers(talk),
        heard_before=frozenset(talk.past.said),
        lately=frozenset(talk.past.lately),
        just=frozenset(talk.past.lately[-JUST:]),
    )


DAY = 24 * 60
QUESTIONS = frozenset({"asked", "was_asked"})


def notes_on(past: Past, kinds: Collection[str], topic: str, spoken: Language) -> Iterator[PastNote]:
    """Yields the rows of these kinds on a subject, which may be named or be the id of a fact; latest first."""
    bare, name = spoken.bare(topic).lower(), as_topic(topic)
    if not bare:
        return
    for note in past.notes:
        if note.kind in kinds and (note.topic in (topic, name) or bare in note.text.lower()):
            yield note


def attended(past: Past, topic: str, spoken: Language) -> PastNote | None:
    """Returns the row that says I was at an occasion; None if I was not."""
    return next(notes_on(past, {"attended"}, topic, spoken), None)


def has_asked(past: Past, you: str, act: str, topic: str, spoken: Language) -> bool:
    """Tells whether I have put this question to somebody before, or any question on the subject within a day."""
    asked = (note for note in notes_on(past, {"asked"}, topic, spoken) if note.other == you)
    return any(note.act == act or note.minutes_ago < DAY for note in asked)


def was_spoken_of(past: Past, you: str, fact: str) -> bool:
    """Tells whether one of us has asked the other how an event was."""
    return any(
        note.kind in QUESTIONS and note.other == you and note.act == "ask.event" and note.topic == fact
        for note in past.notes
    )


def told_others(past: Past, you: str, topics: Collection[str]) -> list[PastNote]:
    """Returns the rows of others whom I have told of any of these subjects, latest first."""
    return [note for note in past.notes if note.kind == "told" and note.other != you and note.topic in topics]


def heard_of(past: Past, topics: Collection[str]) -> list[PastNote]:
    """Returns the rows of people from whom I have heard of any of these subjects, latest first."""
    return [note for note in past.notes if note.kind == "heard" and note.topic in topics]


def times_heard(past: Past, you: str, topic: str) -> int:
    """Returns how often somebody has told me of a subject."""
    name = as_topic(topic)
    return next((one.times for one in past.notes if one.kind == "heard" and one.other == you and one.topic == name), 0)


def spoke_of(past: Past, you: str, topic: str, spoken: Language, within: int) -> bool:
    """Tells whether one of us has told the other of a subject in these last minutes."""
    told = notes_on(past, {"told", "heard"}, topic, spoken)
    return any(note.other == you and note.minutes_ago < within for note in told)


HURTS = frozenset({"broke_word", "spoke_ill", "told_secret"})
"""What is worth a word of reproach."""


def open_hurt(past: Past, you: str) -> PastNote | None:
    """Returns the row of a hurt within three days for which I have not reproached somebody."""
    hurt = next((one for one in past.notes if one.kind == "hurt" and one.other == you and one.act in HURTS), None)
    if hurt is None or hurt.minutes_ago > 3 * DAY:
        return None
    since = (one for one in past.notes if one.other == you and one.minutes_ago <= hurt.minutes_ago)
    spoken = any(one.act in {"reproach", "apologised"} for one in since)
    return None if spoken else hurt


def open_debt(past: Past, you: str) -> PastNote | None:
    """Returns the row of a word that I broke to somebody within three days and have not apologised for."""
    broke = next((one for one in past.notes if one.kind == "broke" and one.other == you), None)
    if broke is None or broke.minutes_ago > 3 * DAY:
        return None
    since = (one for one in past.notes if one.kind == "told" and one.other == you)
    spoken = any(one.act == "apologise" and one.minutes_ago <= broke.minutes_ago for one in since)
    return None if spoken else broke
