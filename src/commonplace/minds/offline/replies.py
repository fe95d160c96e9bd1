"""Replies to what is told: a word on it, something of one's own, a question about it; and the end of a talk.

`rules/replies.txt` lists the cases; the classes here say what its conditions name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from commonplace import rng
from commonplace.minds.notes import AT_ONCE, COLD, FactNote, Recalled
from commonplace.minds.offline.answers import A_WORD, is_on_topic
from commonplace.minds.offline.dice import CHANCES
from commonplace.minds.offline.gatherings import event_name, goes_to, has_said_yes, moment_minutes
from commonplace.minds.offline.hear import refuses
from commonplace.minds.offline.moment import Draws
from commonplace.minds.offline.perceive_event import EVENTS, FAR, event_kind
from commonplace.minds.offline.rule_tables import RuleTable, read_table
from commonplace.minds.offline.sayings import Saying, worded
from commonplace.minds.offline.scene import DraftLine, TalkScene, has_asked, times_heard
from commonplace.minds.offline.speech_facts import Speaking
from commonplace.text import is_named
from commonplace.world.happenings import Befell, Planned

IN_PASSING = frozenset({"ask.now", "ask.saw"})
"""Rules for a question about what the hearer was seen doing."""
ASKED_BACK = frozenset({"tell", "complain", "rejoice", "intend"})
"""What a line must do to be asked about."""
GOSSIP = ASKED_BACK | {"praise"}
"""What a line must do for a third person in it to be worth a word."""
ON_TOPIC = 50
"""Weight of what goes on with the topic of the talk."""
DUE = 25
"""Minutes ahead from which an appointment elsewhere is a reason to leave."""


class Replying(Speaking):
    """There is a line to answer."""

    def __init__(self, scene: TalkScene, options: Sequence[Saying], memory: Recalled) -> None:
        super().__init__(scene, options, memory)
        self._hearing = memory

    def reaction(self, *, asks: bool = True) -> DraftLine:
        """Returns the first words of a reply, with a question among them if it may find something."""
        return Reaction(self._scene, self._options, self._hearing, asks=asks).said(REPLIES) or DraftLine("")


# ── something of one's own ───────────────────────────────────────────────────────────────────────────────────────────


def first_worded(
    scene: TalkScene, options: Sequence[Saying], pulls: Sequence[int]
) -> tuple[Saying | None, DraftLine | None]:
    """Returns the saying with the strongest pull for which there are words that the hearer has not heard yet, with
    these words."""
    for _, index in sorted((-pull, index) for index, pull in enumerate(pulls)):
        body = worded(scene, options[index])
        if body is not None:
            return options[index], body
    return None, None


def _own(scene: TalkScene, options: Iterable[Saying], asks: int = 0) -> tuple[DraftLine | None, bool]:
    """Returns something of mine, by weight and a draw, preferably on the topic, and whether it is on the topic; `asks`
    is added to the weight of questions."""
    options = [option for option in options if option.weight >= 0 and option.rule not in IN_PASSING]
    pulls = [
        option.weight
        + (asks if option.asks else ON_TOPIC if is_on_topic(scene, option) else 0)
        + scene.spread(40, option.ids[0])
        for option in options
    ]
    saying, body = first_worded(scene, options, pulls)
    return body, saying is not None and is_on_topic(scene, saying)


def _more(scene: TalkScene, options: Sequence[Saying]) -> DraftLine | None:
    """Returns something of mine after a word on what was said; if its subject is another one, after words that lead up
    to it."""
    body, is_on_it = _own(scene, options)
    return body if is_on_it or body is None else scene.led(body, "turn")


def after_nod(scene: TalkScene, body: DraftLine) -> DraftLine:
    """Returns words on another subject, after a nod to the last line and some that lead up to them."""
    return scene.led(body, "turn").led_by(scene.say(scene.suited("nod", scene.heard.act)))


def _on_subject(scene: TalkScene, options: Sequence[Saying]) -> Saying | None:
    """Returns what I have to tell on the subject of the last line: the weightiest, by its words in common with the
    line."""
    said = scene.heard.words
    fitting = [
        (option.weight + A_WORD * len(said & option.words), -index)
        for index, option in enumerate(options)
        if not option.asks and is_on_topic(scene, option)
    ]
    return options[-max(fitting)[1]] if fitting else None


class Bystander(Replying):
    """The character has overheard the line."""

    @property
    def named(self) -> bool:
        """Tells whether the character is named in it."""
        return is_named(self._scene.me.called, self._scene.last)

    @cached_property
    def told(self) -> DraftLine | None:
        """Returns what the character has to tell on the subject."""
        own = _on_subject(self._scene, self._options)
        return worded(self._scene, own) if own is not None else None


class Greet(Replying):
    """The line is a greeting."""

    @property
    def own(self) -> DraftLine | None:
        """Returns something of the speaker's own."""
        return _own(self._scene, self._options)[0]


class Snub(Replying):
    """The line is that of somebody disliked."""

    @property
    def enough(self) -> DraftLine:
        """Returns an empty line; after two lines it ends the talk."""
        return DraftLine("", ends=len(self._scene.talk.lines) >= 2)


class Rsvp(Replying):
    """The line is a yes, a no or a maybe to an invitation."""

    @property
    def answer(self) -> str:
        """Returns the kind of answer: `accept`, `decline` or `hesitate`."""
        scene, act = self._scene, self.heard.act
        if not scene.talk.lines[-1].speech_act and refuses(scene.last, scene.me.language):
            return "decline"
        return act if act in {"accept", "decline"} else "hesitate"

    @property
    def more(self) -> DraftLine | None:
        """Returns something else of mine."""
        return _more(self._scene, self._options)


class Nod(Replying):
    """The line is hardly more than a nod."""

    @cached_property
    def _mine(self) -> tuple[DraftLine | None, bool]:
        return _own(self._scene, self._options, asks=10) if self.young else (None, False)

    @property
    def on_topic(self) -> DraftLine | None:
        """Returns something on the subject, while the talk is young."""
        return self._mine[0] if self._mine[1] else None

    @property
    def other(self) -> DraftLine | None:
        """Returns something on another subject, while the talk is young."""
        return after_nod(self._scene, self._mine[0]) if self._mine[0] is not None else None

    @property
    def leave(self) -> DraftLine | None:
        """Returns the end of the talk."""
        return leave(self._scene, self._memory)


# ── what was told ────────────────────────────────────────────────────────────────────────────────────────────────────


class Taken(Replying):
    """Something was told."""

    @property
    def draw(self) -> Draws:
        """Returns a number of 0 … 99, anew for each line: `draw.news < 50` holds half of the time."""
        return Draws(self._scene.dice, len(self._scene.talk.lines))

    @cached_property
    def coming(self) -> Saying | None:
        """Returns what there is to tell about an event that is still ahead."""
        ahead = {note.id for note in self._scene.talk.facts if note.starts > self._scene.moment}
        return next((option for option in self._options if ahead & set(option.facts)), None)

    @property
    def coming_told(self) -> DraftLine:
        """Returns that in words, after a word on what was told."""
        body = worded(self._scene, self.coming) if self.coming is not None else None
        return self.first.then(self._scene.led(body, "turn") if body else None)

    @cached_property
    def own(self) -> Saying | None:
        """Returns what I have to tell on the subject; if both have just noticed it, only what an author wrote about
        it."""
        own, bare = _on_subject(self._scene, self._options), self._scene.language.bare
        if own is None or self.heard.kind != "noticed":
            return own
        is_written = own.rule == "core.tell" and bare(self.heard.topic) in (bare(own.subject), bare(own.topic))
        return own if is_written else None

    @cached_property
    def own_words(self) -> DraftLine | None:
        """Returns what I have to tell in words."""
        return worded(self._scene, self.own) if self.own is not None else None

    @property
    def tender(self) -> bool:
        """Tells whether the line itself wants a word first."""
        return self.heard.kind in self._scene.rules.words("tender")

    @property
    def at_once(self) -> DraftLine | None:
        """Returns my own without a word on the line; now and then after words that lead up to it."""
        is_led = self.own_words is not None and self._scene.dice.chance(CHANCES["talk.reminds"], "reminds")
        return self._scene.led(self.own_words, "reminds") if self.own_words and is_led else self.own_words

    @property
    def own_after(self) -> DraftLine:
        """Returns my own after a word on the line that asks nothing."""
        return self.reaction(asks=False).then(self.own_words)

    @cached_property
    def first(self) -> DraftLine:
        """Returns a word on the line."""
        return self.reaction()

    @property
    def first_and_more(self) -> DraftLine:
        """Returns a word on the line, and something of my own."""
        return self.first.then(_more(self._scene, self._options))

    @property
    def closed(self) -> bool:
        """Tells whether the word on the line asks something or is its author's."""
        replies = map(self._scene.voiced, self._scene.talk.lines[-1].replies)
        return self.first.act.startswith("ask") or self.first.text in replies

    @cached_property
    def question(self) -> DraftLine | None:
        """Returns a question about what was just told, by its kind; none if I asked just now, or have asked it
        before."""
        scene, line = self._scene, self.heard
        if line.act not in ASKED_BACK or not _may_go_on(scene):
            return None
        is_silent = bool(line.sort) and scene.language.bare(line.topic) not in scene.last
        topic = "" if is_silent else _unnamed(scene, line.topic)
        person = _third(scene)
        # To what an author has written the author's replies fit, and no offer of help does.
        kind = line.kind if line.sort or not scene.talk.lines[-1].replies else "tell"
        question = scene.line(f"follow.{kind}", about=line.topic, topic=topic, x=person.called if person else "")
        if not question.text or has_asked(scene.talk.past, scene.you.id, question.act, line.topic, scene.language):
            return None
        return question

    @property
    def first_and_question(self) -> DraftLine:
        """Returns a word on the line, and a question about it."""
        return self.first.then(self.question)


class Third(NamedTuple):
    """Somebody else who is spoken of."""

    called: str
    warmth: int

    @property
    def cold(self) -> bool:
        """Tells whether I dislike them."""
        return self.warmth < COLD


class Reaction(Replying):
    """The first words of a reply."""

    def __init__(self, scene: TalkScene, options: Sequence[Saying], memory: Recalled, *, asks: bool) -> None:
        super().__init__(scene, options, memory)
        self._asks = asks

    @cached_property
    def authors(self) -> DraftLine | None:
        """Returns the author's reply to the line, unless the hearer has heard it from me."""
        given, asks = self._scene.talk.lines[-1].replies, self._asks and _may_go_on(self._scene)
        text = authors_words(self._scene, [one for one in given if asks or not one.endswith("?")], self._scene.last)
        act = "ask.more" if text.endswith("?") else "acknowledge"
        return DraftLine(text, self.ids, act, self.heard.topic) if text else None

    @cached_property
    def told(self) -> DraftLine | None:
        """Returns a word on having got an answer."""
        return self._reaction("react.told")

    @cached_property
    def third(self) -> Third | None:
        """Returns the other person who is spoken about."""
        return _third(self._scene) if self.heard.act in GOSSIP else None

    @cached_property
    def by_sort(self) -> DraftLine | None:
        """Returns a word on a loss, a joke or another sort of thing that is told."""
        scene, person = self._scene, self.third
        rule = scene.suited("react", self.heard.sort)
        if self.heard.sort == "noticed":
            rule = scene.suited(rule, _just_noticed(scene))
        return self._reaction(rule, topic=self._topic, x=person.called if person else "") if rule != "react" else None

    @property
    def of_theirs(self) -> bool:
        """Tells whether the line is about the speaker."""
        return self._scene.language.is_own(self._scene.last)

    @cached_property
    def own(self) -> DraftLine | None:
        """Returns a word on something about the speaker."""
        return self._reaction("react.own", topic=self._topic)

    @property
    def written(self) -> bool:
        """Tells whether the author of the line wrote a reply to it."""
        return bool(self._scene.talk.lines[-1].replies)

    @property
    def by_act(self) -> DraftLine | None:
        """Returns a word by the act of the line. No consolation fits a line to which the author wrote a reply."""
        scene, act = self._scene, self.heard.act
        act = "tell" if act == "complain" and self.written else act
        rule = scene.suited("react.answer", self.my_kind) if act == "answer" else f"react.{act}"
        return self._reaction(rule, topic=self._topic) or self._reaction("react.tell", topic=self._topic)

    @cached_property
    def _topic(self) -> str:
        return _unnamed(self._scene, self.heard.topic)

    def _reaction(self, rule: str, **slots: str) -> DraftLine | None:
        line = self._scene.line(rule, *self.ids, about=self.heard.topic, **slots)
        return line if line.text else None


def _may_go_on(scene: TalkScene) -> bool:
    """Tells whether a question about the subject may find something: after two lines on it there is seldom more."""
    if scene.my_kind == "ask.more" or (scene.mine and scene.mine[-1].endswith("?")):
        return False
    line = scene.talk.lines[-1]
    told = sum(1 for one in scene.talk.lines if one.speaker == line.speaker and one.topic == line.topic)
    told = max(told, times_heard(scene.talk.past, scene.you.id, line.topic))
    return told < 2 or (told < 3 and scene.dice.chance(CHANCES["talk.asks_again"], "more of it"))


def authors_words(scene: TalkScene, lines: Iterable[str], key: str) -> str:
    """Returns one of the author's sentences that nobody has said in this talk and that the hearer has not heard from
    me."""
    own, you, me = scene.language, scene.you, scene.me
    said = "\n".join(line.text for line in scene.talk.lines)
    left = [
        one
        for one in map(scene.voiced, lines)
        if one not in said and not scene.known(one) and not scene.has_told(one)
        and not own.mentions(one, you.name, you.called) and not own.mentions(one, me.name, me.called)
    ]  # fmt: skip
    left = [one for one in left if not scene.has_said(one)] or left
    if not left:
        return ""
    # Of several who speak at once in a place, each takes another.
    here, place = sorted({*scene.present, me.id}).index(me.id), scene.talk.situation.place.id
    return left[(here + rng.below(len(left), scene.dice.key[0], place, "reply", key)) % len(left)]


def authors_answer(scene: TalkScene, memory: Recalled) -> DraftLine | None:
    """Returns the author's answer to a question about what I told, unless I have said it to the hearer."""
    if scene.heard.act != "ask.more":
        return None
    given = map(scene.voiced, scene.talk.lines[-1].replies)
    unsaid = (one for one in given if not scene.known(one) and not scene.has_told(one))
    answer = next((one for one in unsaid if not scene.language.mentions(one, scene.you.name, scene.you.called)), None)
    if answer is None:
        return None
    mine = scene.mine[-1] if scene.mine else ""
    told = tuple(one.id for one in scene.talk.recalled if any(words in mine for words in one.tell))
    return DraftLine(answer, (memory.id, *told), "tell", scene.heard.topic)


def _just_noticed(scene: TalkScene) -> str:
    """Returns the kind of event that I have just noticed myself; empty if there is none."""
    events = ((one.happening, one.minutes_ago) for one in scene.talk.recalled)
    found = next((one for one, ago in events if isinstance(one, Befell) and ago <= AT_ONCE), None)
    return event_kind(scene.rules, found.text, (*FAR, *EVENTS)) if found is not None else ""


def _unnamed(scene: TalkScene, topic: str) -> str:
    """Returns the topic, unless I have named it in this talk already, since nobody names it in every line."""
    have_named = bool(topic) and any(scene.language.bare(topic) in mine.lower() for mine in scene.mine)
    return "" if have_named else topic


def _third(scene: TalkScene) -> Third | None:
    """Returns the short name of somebody else whom the last line names and I know, and how warm I am to them if I see
    them here."""
    warmth = {person.called: person.warmth for person in scene.talk.situation.people}
    for memory in scene.talk.recalled:
        called = memory.happening.called
        if called and called not in (scene.you.called, scene.me.called) and called in scene.last:
            return Third(called, warmth.get(called, 0))
    return None


# ── taking leave ─────────────────────────────────────────────────────────────────────────────────────────────────────


def leave(scene: TalkScene, last: Recalled | None) -> DraftLine | None:
    """Returns the end of a talk: a last word on what was said. After a mere nod, a farewell if there is a reason to go
    or something ahead of both; None if nothing more need be said, or no memory supports it."""
    plan = _plan_memory(scene)
    cited = tuple(memory.id for memory in (last, plan) if memory is not None)
    return Farewell(scene, last, cited).said(REPLIES) if cited else None


class Farewell(Speaking):
    """The character takes leave."""

    def __init__(self, scene: TalkScene, last: Recalled | None, cited: tuple[int, ...]) -> None:
        super().__init__(scene, memory=last)
        self._cited = cited

    @property
    def ids(self) -> tuple[int, ...]:
        """Returns no memories: each line cites its own."""
        return ()

    @property
    def memory(self) -> Recalled | None:
        """Returns the memory of hearing a line to answer."""
        return self._memory

    @cached_property
    def night(self) -> str:
        """Returns a good night, late in the day."""
        hour = int(self._scene.talk.situation.time[:2])
        return self._scene.say("bye.night") if hour >= 22 or hour < 4 else ""

    @property
    def back(self) -> DraftLine:
        """Returns a farewell in return."""
        return DraftLine(self.night or self._scene.say("bye.back"), self._cited[:1], "farewell", ends=True)

    @property
    def last_word(self) -> DraftLine | None:
        """Returns a word on what was said that asks nothing."""
        if self._memory is None:
            return None
        line = Reaction(self._scene, (), self._memory, asks=False).said(REPLIES) or DraftLine("")
        return replace(line, act="acknowledge", ends=True)

    @cached_property
    def due(self) -> str:
        """Returns words on the next thing in the plan, if it is within the hour and somewhere else."""
        here = self._scene.talk.situation
        following = next((item for item in self._scene.talk.later if not item.asleep), None)
        if following is None or not following.location_name or following.location == here.place.id:
            return ""
        minutes = moment_minutes(following.start) - moment_minutes(here.time)
        if not 0 < minutes <= DUE:
            return ""
        return self._scene.line("bye.later", self._scene.as_told(following)).text

    @cached_property
    def until(self) -> str:
        """Returns words on the event that both go to."""
        if self._scene.you.warmth < COLD:
            return ""
        note = next((note for note in self._scene.talk.facts if _both_go(self._scene, note)), None)
        return self._scene.say("bye.event", event=event_name(note, self._scene.language)) if note else ""

    @property
    def farewell(self) -> DraftLine:
        """Returns a farewell with the reason to go and what both go to, else a good night."""
        words = f"{self.due} {self.until}".strip() or self.night
        return DraftLine(words, self._cited, "farewell", ends=True)


def _both_go(scene: TalkScene, note: FactNote) -> bool:
    """Tells whether both are known to go, the event is ahead and elsewhere, and no earlier farewell has named it."""
    name = event_name(note, scene.language)
    if not name or not goes_to(scene.talk, note) or note.place == scene.talk.situation.place.id:
        return False
    have_parted = any(scene.known(words.format(event=name)) for words in scene.rules.every("meeting"))
    return has_said_yes(scene.talk, note) and not have_parted


def _plan_memory(scene: TalkScene) -> Recalled | None:
    """Returns the memory of the plan that is the reason to leave, if it was recalled."""
    called = {item.do for item in (*([scene.talk.now] if scene.talk.now else ()), *scene.talk.later[:1])}
    plans = ((memory, memory.happening) for memory in scene.talk.recalled)
    return next((memory for memory, plan in plans if isinstance(plan, Planned) and plan.do in called), None)


REPLIES: RuleTable[Any] = read_table("replies", Greet, Bystander, Farewell, Nod, Reaction, Rsvp, Snub, Taken)
