"""Replies that need an answer: to news, and to questions, each kind of which is looked for among what is remembered.

`rules/answers.txt` lists the cases; the classes here say what its conditions name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from commonplace.character.account import as_topic
from commonplace.minds.notes import FactNote, PastNote, Recalled
from commonplace.minds.offline.dice import CHANCES
from commonplace.minds.offline.gatherings import event_name, goes_to
from commonplace.minds.offline.hear import content
from commonplace.minds.offline.moment import Draws
from commonplace.minds.offline.rule_tables import RuleTable, read_table
from commonplace.minds.offline.sayings import (
    Saying,
    if_asked,
    is_worth_telling,
    occasion_word,
    worded,
)
from commonplace.minds.offline.scene import DraftLine, TalkScene, attended, heard_of, told_others
from commonplace.minds.offline.speech_facts import Speaking
from commonplace.minds.offline.told import Told, minutes_since
from commonplace.world.circumstances import subject_of
from commonplace.world.happenings import NOTHING_KNOWN, Concluded, Did, ISaid, Said, Seed

HEARD_OF = Said | Seed | Concluded
"""Kinds of memory that count as having heard the news."""
LATELY = 10
"""Minutes after which something heard is no longer news."""
SHARES = 2
"""Words that a memory must share with what was told to be more of it."""
A_WORD = 8
"""Weight of a word that two lines share."""
SAME_TOLD = 4
"""Words that two lines must share to count as telling the same."""
PLAIN = frozenset(f"ask.{kind}" for kind in ("help", "since", "what", "think", "then", "why", "feel"))
"""Questions answered in words of their own, and with a memory that shares words with them where there is one."""


# ── news ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def news_reply(scene: TalkScene, memory: Recalled) -> DraftLine | None:
    """Returns a reaction to a seed fact just told, and to the invitation that comes with an event; None if the fact is
    not noted."""
    note = next((scene.notes[name] for name in memory.facts if name in scene.notes), None)
    if note is None or scene.heard.act in {"accept", "decline"}:
        return None
    if note.starts and note.starts <= scene.moment:
        is_over = minutes_since(scene.moment, note) > (note.minutes or 60)
        if is_over or scene.heard.asks or "?" in scene.last:
            return None
    return Announced(scene, memory, note).said(ANSWERS)


class OfEvent(Speaking):
    """The line is about a fact that may be an event."""

    def __init__(self, scene: TalkScene, memory: Recalled | None, note: FactNote) -> None:
        super().__init__(scene, memory=memory)
        self._note = note

    @property
    def going(self) -> DraftLine | None:
        """Returns a line that says whether I go, and why not."""
        return Going(self._scene, None, self._note).said(ANSWERS)


class Announced(OfEvent):
    """A seed fact has just been told."""

    def __init__(self, scene: TalkScene, memory: Recalled, note: FactNote) -> None:
        super().__init__(scene, memory, note)
        self._told = memory

    @property
    def started(self) -> bool:
        """Tells whether it is an event that has begun."""
        return bool(self._note.starts) and self._note.starts <= self._scene.moment

    @property
    def ahead(self) -> bool:
        """Tells whether it is an event that is still to come."""
        return self._note.starts > self._scene.moment and bool(self._note.place)

    @property
    def so(self) -> bool:
        """Tells whether it is about a circumstance, which is no small talk."""
        return bool(subject_of(self._note.id)[0])

    @cached_property
    def known(self) -> Recalled | PastNote | None:
        """Returns an earlier memory of it, else a note that I have heard it; neither a plan of mine nor what this
        hearer has just told."""
        scene, told, fact = self._scene, self._told, self._note.id
        for one in scene.talk.recalled:
            is_news = isinstance(one.happening, HEARD_OF) or one.happening == NOTHING_KNOWN
            if one.id == told.id or fact not in one.facts or not is_news:
                continue
            if one.minutes_ago > told.minutes_ago + LATELY or one.happening.who not in {"", scene.you.id}:
                return one
        return next(iter(self._notes), None)

    @cached_property
    def _notes(self) -> list[PastNote]:
        """Returns the notes that I have heard it."""
        heard = heard_of(self._scene.talk.past, {self._note.id})
        return [one for one in heard if one.times > 1 or one.minutes_ago > LATELY]

    @property
    def teller(self) -> str:
        """Returns who else told me of it; empty if I do not remember."""
        if not isinstance(self.known, Recalled):
            return next((one.called for one in self._notes if one.other != self._scene.you.id), "")
        said = self.known.happening
        return said.called if isinstance(said, Said) and said.to_me and said.called != self._scene.you.called else ""

    @property
    def follows(self) -> DraftLine | None:
        """Returns the line after the first words."""
        return Follow(self._scene, self._told, self._note).said(ANSWERS)


class Follow(Announced):
    """Something has been said to a seed fact, and something may follow."""

    @property
    def ids(self) -> tuple[int, ...]:
        """Returns no memories: the words before cite them."""
        return ()

    @property
    def sourced(self) -> str:
        """Returns `sourced` if the line says who told it."""
        return "sourced" if self._scene.rules.has("sourced", self._scene.last) else ""


class Going(OfEvent):
    """One says whether one goes to an event."""

    @property
    def event(self) -> str:
        """Returns the name of the event."""
        return event_name(self._note, self._scene.language)

    @property
    def time(self) -> str:
        """Returns when the event begins."""
        return self._scene.language.clock(self._note.starts[11:16])

    @property
    def whim(self) -> Draws:
        """Returns a number of 0 … 99 that stays the same for this event."""
        return Draws(self._scene.dice.steady(), self._note.id)

    @cached_property
    def goes(self) -> bool:
        """Tells whether the plan includes the event."""
        return goes_to(self._scene.talk, self._note)

    @cached_property
    def clash(self) -> Told | None:
        """Returns what else the plan has at the time of the event."""
        scene, starts = self._scene, self._note.starts
        if starts[:10] != scene.moment[:10]:
            return None
        items = [item for item in scene.talk.later if item.start <= starts[11:16] and not item.asleep]
        do = items[-1].do if items else ""
        is_told = scene.language.is_doing(do) and not scene.language.addresses(do)
        return scene.as_told(Did(doing=do)) if is_told else None


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────────


def answer_question(scene: TalkScene, memory: Recalled, options: Sequence[Saying]) -> DraftLine | None:
    """Returns the answer to a question, resting on the memory of hearing it and on those that answer it."""
    return Questioned(scene, options, memory).said(ANSWERS)


class Questioned(Speaking):
    """The hearer has asked something."""

    # something of my own

    @cached_property
    def own(self) -> Saying | None:
        """Returns what I would most like to tell."""
        pulls = [
            (option.weight + self._scene.spread(40, option.ids[0]), -index)
            for index, option in enumerate(self._options)
            if not option.asks
        ]
        return self._options[-max(pulls)[1]] if pulls else None

    @cached_property
    def own_words(self) -> DraftLine | None:
        """Returns what I would most like to tell, in words."""
        return worded(self._scene, self.own) if self.own is not None else None

    # how I am, what I do

    @cached_property
    def trouble(self) -> Saying | None:
        """Returns a saying about something that was not to be had, does not work or is gone."""
        rules = {"core.refused", "core.thing", "core.absent"}
        return next((one for one in self._options if one.rule in rules), None)

    @cached_property
    def doing(self) -> Told | None:
        """Returns what I am doing, if it reads well."""
        scene, now = self._scene, self._scene.talk.now
        if now is None or now.because or not is_worth_telling(scene, now.do):
            return None
        did = scene.as_told(Did(doing=now.do))
        return did if did.doing and scene.language.head(did.doing) not in scene.rules.words("talk") else None

    @property
    def back(self) -> DraftLine:
        """Returns the same question to the other."""
        return self._scene.line("back")

    # whether I go, whom I have seen, how it was

    @cached_property
    def named(self) -> FactNote | None:
        """Returns the event ahead that is asked about."""
        topic, ahead = self.heard.topic, (one for one in self._scene.talk.facts if one.starts > self._scene.moment)
        return next((one for one in ahead if self._scene.language.bare(topic) in one.text.lower()), None)

    @property
    def going(self) -> DraftLine | None:
        """Returns a line that says whether I go to it."""
        return Going(self._scene, None, self.named).said(ANSWERS) if self.named is not None else None

    @cached_property
    def sight(self) -> DraftLine | None:
        """Returns where I saw the person who is asked about, and their doing."""
        for option in self._options:
            if option.rule == "core.saw" and any(
                one.it.called and one.it.called in self._scene.last for one in option.of
            ):
                return self._scene.line("answer.seen", *option.ids, *option.of, about=option.topic)
        return None

    @cached_property
    def seen(self) -> PastNote | None:
        """Returns the note that I have seen them."""
        notes, last = self._scene.talk.past.notes, self._scene.last
        return next((note for note in notes if note.kind == "saw" and note.called in last), None)

    @property
    def seen_at(self) -> str:
        """Returns where I saw them."""
        scene = self._scene
        return scene.language.at_place(self.seen.text, scene.me, scene.you) if self.seen else ""

    @property
    def seen_when(self) -> str:
        """Returns when I saw them."""
        return self._scene.language.when(self._scene.moment, self.seen.minutes_ago) if self.seen else ""

    @cached_property
    def lost(self) -> Saying | None:
        """Returns what I have to say about its absence."""
        gone = (one for one in self._options if one.rule in {"core.absent", "core.thing"})
        return next((one for one in gone if self.heard.words & one.words), None)

    @cached_property
    def attended(self) -> PastNote | None:
        """Returns the note that I was at the occasion."""
        past, spoken, named = self._scene.talk.past, self._scene.language, self._scene.last
        word = occasion_word(self._scene.rules, named)
        return attended(past, self.heard.topic, spoken) or attended(past, word, spoken)

    @property
    def event(self) -> DraftLine | None:
        """Returns how it was, from memories of being there."""
        own = next((one for one in self._options if one.rule == "core.was"), None)
        body = worded(self._scene, own) if own is not None else None
        because = self.attended.because if self.attended is not None else ()
        return body or self._scene.line("answer.event_went", *because)

    # what I know of a subject

    @property
    def occasion(self) -> bool:
        """Tells whether it is an event that has begun, and I was there."""
        scene, bare = self._scene, self._scene.language.bare
        begun = (one for one in scene.talk.facts if one.starts and one.starts <= scene.moment)
        is_event = any(bare(event_name(one, scene.language)) == bare(self.heard.topic) for one in begun)
        return is_event and attended(scene.talk.past, self.heard.topic, scene.language) is not None

    @cached_property
    def did(self) -> DraftLine | None:
        """Returns how a doing of mine went."""
        did = self._scene.talk.past.spoken_of
        if did is None:
            return None
        told = self._scene.as_told(Did(doing=did.named))
        line = self._scene.line("answer.asked_doing", *self.ids, *did.because, told)
        return line if line.text else None

    @property
    def doing_it(self) -> bool:
        """Tells whether the question is about my present doing."""
        is_asked = self.doing is not None and not self.begun
        return is_asked and bool(content(self.heard.topic) & content(self.doing.doing if self.doing else ""))

    @cached_property
    def rest(self) -> Saying | None:
        """Returns what there is to tell on the subject that was asked about, or on the subject of my last line."""
        scene, options = self._scene, self._options
        if self.heard.act == "ask.topic" and self.heard.topic:
            pulls = [
                (option.weight, -index)
                for index, option in enumerate(options)
                if _is_about(scene, option, self.heard.topic)
            ]
            return options[-max(pulls)[1]] if pulls else None
        asked = self.heard.words | (content(scene.mine[-1]) if scene.mine else frozenset[str]())
        shared = [(len(asked & option.words), index) for index, option in enumerate(options) if _tells(option)]
        fitting = [
            (options[index].weight + A_WORD * words, -index)
            for words, index in shared
            if words >= SHARES or is_on_topic(scene, options[index])
        ]
        return options[-max(fitting)[1]] if fitting else None

    @cached_property
    def rest_words(self) -> DraftLine | None:
        """Returns the rest in words, else what I know or overheard of the subject."""
        left = (self.rest, *self._if_asked())
        return next((line for one in left if one is not None and (line := worded(self._scene, one)) is not None), None)

    def _if_asked(self) -> Iterator[Saying]:
        """Yields what others were heard to say on the subject, then what I concluded, saw happen or did."""
        scene, asked = self._scene, content(self.heard.topic)
        found = (if_asked(scene, one) for one in scene.talk.recalled) if asked else ()
        fitting = [
            one
            for one in found
            if one and _tells(one) and asked <= one.words and not scene.known(one.mark) and not scene.has_told(one.mark)
        ]
        yield from sorted(fitting, key=lambda one: one.rule != "core.heard")

    @property
    def owned(self) -> str:
        """Returns the subject as I name it."""
        return self._scene.language.owned(self.heard.topic, self._scene.me, self._scene.you)

    # who told me, whether others know

    @cached_property
    def source(self) -> PastNote | None:
        """Returns the note that I heard from somebody else what I have just told."""
        notes = reversed(heard_of(self._scene.talk.past, self._subjects))
        return next((one for one in notes if one.other != self._scene.you.id), None)

    @cached_property
    def said_it(self) -> Recalled | None:
        """Returns the memory of hearing it from somebody else."""
        return next((one for one in self._carrying(Said) if one.happening.who != self._scene.you.id), None)

    @property
    def witness(self) -> str:
        """Returns `witness` if nobody told me."""
        return "witness" if any(self._carrying(Seed)) else ""

    def _carrying(self, what: type[Said | Seed]) -> Iterator[Recalled]:
        """Yields memories of a type that carry the fact."""
        recalled = self._scene.talk.recalled
        yield from (one for one in recalled if self._subjects & {*one.facts} and isinstance(one.happening, what))

    @cached_property
    def _others(self) -> list[PastNote]:
        return told_others(self._scene.talk.past, self._scene.you.id, self._subjects)

    @property
    def others(self) -> PastNote | None:
        """Returns the note that I told others what I have just said."""
        return next(iter(self._others), None)

    @property
    def xs(self) -> str:
        """Returns the names of the others whom I told, two at most."""
        return self._scene.language.both(list(dict.fromkeys(one.called for one in self._others))[:2])

    @property
    def has_said_it(self) -> bool:
        """Tells whether I remember telling anybody else, and know nothing of my own past."""
        if self._scene.talk.past.notes:
            return False
        said = [one for one in self._scene.talk.recalled if isinstance(one.happening, ISaid)]
        mine = self._scene.mine
        before = [one for one in said if one.happening.quote not in mine]
        words = content(mine[-1]) if mine else frozenset[str]()
        facts = {fact for one in said if one.happening.quote in mine[-1:] for fact in one.facts}
        return any(len(words & content(one.happening.quote)) >= SAME_TOLD or facts & {*one.facts} for one in before)

    @cached_property
    def _subjects(self) -> frozenset[str]:
        """Returns the subjects of what I have just told and of the question: facts by their ids, other subjects by
        their words."""
        scene = self._scene
        facts = {note.id for note in scene.talk.facts if any(text in line for line in scene.mine for text in note.tell)}
        topics = {as_topic(topic) for topic in (scene.my_topic, scene.heard.topic) if topic}
        named = {
            note.topic for topic in topics for note in scene.talk.past.notes if topic and topic in note.text.lower()
        }
        return frozenset(facts | topics | named)

    # any other question

    @property
    def plain(self) -> str:
        """Returns the kind of a question that has words of its own: `help`, `why` …; empty for any other."""
        return self.heard.act.removeprefix("ask.") if self.heard.act in PLAIN else ""

    @cached_property
    def fitting(self) -> Saying | None:
        """Returns the rest of what I have told, else what shares most words with the question, or with what I said that
        it asks about."""
        return self.rest or self._matching

    @cached_property
    def _matching(self) -> Saying | None:
        scene, options = self._scene, self._options
        mine = content(scene.mine[-1]) if scene.mine and not self.heard.topic else frozenset[str]()
        asked = self.heard.words | mine
        shared = [(len(asked & option.words), -index) for index, option in enumerate(options) if not option.asks]
        top = max(shared, default=(0, 0))
        return options[-top[1]] if top[0] else None

    @property
    def fitting_words(self) -> DraftLine | None:
        """Returns the fitting saying in words; if its topic is not that of the question, after words that lead up to
        it."""
        return _on(self._scene, self.fitting) if self.fitting is not None else None

    @property
    def now_and_then(self) -> DraftLine | None:
        """Returns, now and then, what shares most words with the question."""
        own = self._matching
        adds = self._scene.dice.chance(CHANCES["talk.adds"], "more")
        return _on(self._scene, own) if own is not None and adds else None


def _on(scene: TalkScene, own: Saying) -> DraftLine | None:
    """Returns the saying after an answer; if its topic is another one, after words that lead up to it."""
    line = worded(scene, own)
    return line if is_on_topic(scene, own) else scene.aside(line)


def is_on_topic(scene: TalkScene, own: Saying) -> bool:
    """Tells whether the saying is about what either of us has just said."""
    if own.subject and scene.language.occurs(own.names, f"{scene.last} {scene.heard.topic} {scene.my_topic}".lower()):
        return True
    bare, topics = scene.language.bare, (scene.heard.topic, scene.my_topic)
    return any(one and (bare(one) == bare(own.topic) or content(one) & content(own.topic)) for one in topics)


def _tells(option: Saying) -> bool:
    """Tells whether a saying tells something new to somebody who asks: it is not what the other asks or said
    themselves."""
    return not option.asks and option.rule != "core.insight_you"


def _is_about(scene: TalkScene, option: Saying, topic: str) -> bool:
    """Tells whether a saying tells something about a subject."""
    if not _tells(option):
        return False
    named, bare = content(topic), scene.language.bare
    if (option.subject and scene.language.occurs(option.names, topic.lower())) or bare(topic) == bare(option.topic):
        return True
    return bool(named & content(option.topic)) or (bool(named) and named <= option.words)


ANSWERS: RuleTable[Any] = read_table("answers", Announced, Follow, Going, Questioned)
