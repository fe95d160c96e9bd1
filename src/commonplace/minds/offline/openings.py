"""Lines that open a talk or carry one on: a greeting, something remembered, what one has come to say.

`rules/openings.txt` lists the cases of a greeting and of what comes after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from commonplace.minds.notes import AT_ONCE, COLD, Recalled
from commonplace.minds.offline.answers import is_on_topic
from commonplace.minds.offline.favours import looked_for
from commonplace.minds.offline.gatherings import event_name, goes_to, has_said_yes
from commonplace.minds.offline.hear import remembered
from commonplace.minds.offline.incidents import befallen
from commonplace.minds.offline.perceive_event import EVENTS, FAR, event_kind
from commonplace.minds.offline.replies import IN_PASSING, after_nod, authors_words, first_worded
from commonplace.minds.offline.rule_tables import RuleTable, read_table
from commonplace.minds.offline.sayings import WEIGHTS, Saying, worded
from commonplace.minds.offline.scene import DraftLine, TalkScene, open_debt, open_hurt
from commonplace.minds.offline.speech_facts import Speaking
from commonplace.world.circumstances import subject_of
from commonplace.world.happenings import Befell, Said

OF_THEIRS = frozenset({"ask.was", "ask.topic", "ask.goal"})
"""Rules for a question about what the hearer has told or been at."""
NODS = frozenset({"acknowledge", "thank", "forgive", "apologise"})
"""What a line does that needs no word more."""


# ── greetings ────────────────────────────────────────────────────────────────────────────────────────────────────────


class Hello(Speaking):
    """The character greets: by the hour, the time since the last talk, and what the two are to each other."""

    @cached_property
    def hour(self) -> DraftLine | None:
        """Returns a greeting by the hour."""
        part = self._scene.talk.situation.part_of_day
        line = self._scene.line(f"greet.{'morning' if part == 'dawn' else part}")
        return line if line.text else None


def _greeting(scene: TalkScene) -> DraftLine:
    return Hello(scene).said(OPENINGS) or DraftLine("")


class Opening(Speaking):
    """The character opens a talk or carries it on."""

    @cached_property
    def _chosen(self) -> tuple[Saying | None, DraftLine | None]:
        return _first_choice(self._scene, self._options)

    @property
    def body(self) -> DraftLine | None:
        """Returns something remembered: about the hearer rather than about others."""
        return self._chosen[1]

    @property
    def grave(self) -> bool:
        """Tells whether it is grave news, which nobody begins with a good morning."""
        saying, body = self._chosen
        return saying is not None and saying.rule == "core.so" and body is not None and body.act != "rejoice"

    @property
    def greeted(self) -> DraftLine:
        """Returns the body after a greeting, and with an invitation."""
        invitation = _invitation(self._scene, self._chosen[0]) if self._chosen[0] else None
        return _greeting(self._scene).then(self.body).then(invitation)

    @property
    def turn(self) -> DraftLine | None:
        """Returns the body after words that lead up to it."""
        saying, body = self._chosen
        return self._scene.led(body, "turn", saying.ids[0]) if saying and body else None

    @property
    def aside(self) -> DraftLine | None:
        """Returns the body after the few words that a language needs."""
        return self._scene.aside(self.body)

    @cached_property
    def met(self) -> tuple[int, ...]:
        """Returns the memories of what the hearer said or was told."""
        you, recalled = self._scene.you.id, self._scene.talk.recalled
        return tuple(one.id for one in recalled if you in (one.happening.who, one.happening.to))

    @cached_property
    def greeting(self) -> DraftLine:
        """Returns a greeting that rests on these memories."""
        return DraftLine("", self.met).then(_greeting(self._scene))

    @property
    def asking(self) -> bool:
        """Tells whether the greeting asks something."""
        return "?" in self.greeting.text

    @property
    def well(self) -> DraftLine:
        """Returns the greeting, and asks how the hearer is."""
        return self.greeting.then(self._scene.line("ask.well"))

    @property
    def doing(self) -> DraftLine:
        """Returns the greeting, and asks for the hearer's doing."""
        return self.greeting.then(self._scene.line("ask.doing"))


def opening(scene: TalkScene, options: Sequence[Saying]) -> DraftLine | None:
    """Returns a greeting and something remembered; with nothing to tell, a question, if the speaker remembers the
    hearer."""
    return Opening(scene, options).said(OPENINGS)


def _invitation(scene: TalkScene, saying: Saying) -> DraftLine | None:
    """Returns the news of an event the speaker goes to, with an invitation for somebody the speaker likes."""
    note = next((scene.notes[name] for name in saying.facts), None)
    if note is None or not goes_to(scene.talk, note) or has_said_yes(scene.talk, note) or scene.you.warmth < 0:
        return None
    return DraftLine(scene.say("invite.tail", note.id), act="invite")


def _first_choice(scene: TalkScene, options: Sequence[Saying]) -> tuple[Saying | None, DraftLine | None]:
    """Returns the saying to open with and its words: a draw with weights that depend on purpose and relation."""
    return first_worded(scene, options, [_pull(scene, saying) + scene.spread(30, saying.ids[0]) for saying in options])


def _pull(scene: TalkScene, saying: Saying) -> int:
    pull, purpose = saying.weight, scene.talk.purpose
    if saying.asks and saying.rule not in IN_PASSING and purpose in {"greet", "ask"}:
        pull += 25 if not scene.mine else 0
    if purpose in {"tell", "invite"} and saying.facts:
        pull += 100
    if scene.with_stranger and saying.rule in {"core.tell", "core.insight"}:
        pull -= 30
    return pull


# ── what one has come to say ─────────────────────────────────────────────────────────────────────────────────────────


def breaking(scene: TalkScene, options: Sequence[Saying]) -> DraftLine | None:
    """Returns a word about what has just happened, unless the two are speaking about it already."""
    for memory in scene.talk.recalled:
        befell = memory.happening
        so = befallen(befell)
        if not isinstance(befell, Befell) or memory.minutes_ago > AT_ONCE or (memory.facts and not so):
            continue
        if so:
            return _at_once(scene, memory, so)
        text, author = befell.text, befell.topic
        topic = scene.language.with_article(author) or scene.language.noun_phrase(text)
        if topic in (scene.my_topic, scene.heard.topic) or scene.you.warmth < COLD:
            return None
        here = scene.talk.situation.place.id
        text = authors_words(scene, memory.tell, f"{memory.text} {here}") if _saw_it_too(scene, befell) else ""
        if text:
            return DraftLine(text, (memory.id,), "tell.noticed", topic)
        rule = scene.suited("now", event_kind(scene.rules, text, (*FAR, *EVENTS)))
        if author and rule in {"now", "now.wonder", "now.bright"}:
            rule = "now.topic"
            own = next((option for option in options if memory.id in option.ids), None)
            if own is not None and (told := worded(scene, own)) is not None:
                return told
        line = scene.line(rule, memory.id, about=topic, topic=topic, x=memory.happening.place_name)
        return replace(line, topic=topic) if line.text else None
    return None


def _at_once(scene: TalkScene, memory: Recalled, so: str) -> DraftLine | None:
    """Returns the words said at once about something that has begun or ended: by its subject, to its subject, or by
    somebody who noticed it to somebody else."""
    kind, of = subject_of(so)
    topic = scene.language.noun_phrase(memory.text)
    part = "struck" if scene.me.id == of else "over" if not memory.tell else "to" if scene.you.id == of else ""
    part = "did" if part == "to" and scene.me.called in memory.text else part
    given = {"topic": topic, "x": scene.you.called}
    line = scene.line(f"now.so.{part}.{kind}", memory.id, about=topic, **given) if part else DraftLine("")
    if line.text or part in ("struck", "over"):
        return line if line.text else None
    did = scene.me.called in memory.text and scene.me.id != of
    text = "" if did else authors_words(scene, memory.tell, f"{memory.text} {scene.talk.situation.place.id}")
    return DraftLine(text, (memory.id,), "tell.noticed", topic) if text else None


def _saw_it_too(scene: TalkScene, befell: Befell) -> bool:
    """Tells whether the hearer noticed what I remember of an event."""
    return not befell.areas or scene.you.id in befell.there.split()


def meant(scene: TalkScene, options: Sequence[Saying]) -> DraftLine | None:
    """Returns what the speaker has come to say to the hearer."""
    body = next((worded(scene, option) for option in options if option.weight >= WEIGHTS["goal"]), None)
    if body is None:
        return None
    if scene.last and scene.heard.act in NODS:
        return after_nod(scene, body)
    return scene.aside(body) if scene.last or scene.mine else _greeting(scene).then(body)


def turned(scene: TalkScene, options: Sequence[Saying]) -> DraftLine | None:
    """Returns a word to a silent member of the talk, once it has come to rest: a question about something of theirs, or
    something to tell that fits the subject; None without either."""
    asking = _first_choice(scene, [option for option in options if option.asks and option.rule in OF_THEIRS])[1]
    if asking is not None:
        return asking.led_by(scene.say("turn.ask"))
    return _first_choice(scene, [option for option in options if not option.asks and is_on_topic(scene, option)])[1]


def comfort(scene: TalkScene) -> DraftLine | None:
    """Returns a word about the hearer's trouble, as the hearer told it."""
    for memory in scene.talk.recalled:
        if isinstance(memory.happening, Said) and memory.happening.who == scene.you.id:
            line = remembered(memory.happening, scene.me.language)
            if line.act == "complain":
                topic = line.topic if scene.language.may_be_yours(line.topic) else ""
                return scene.line("comfort", memory.id, about=line.topic, topic=topic, when=scene.as_told(memory).when)
    return None


def sought(scene: TalkScene) -> DraftLine | None:
    """Returns a question about the person whom the speaker has come to see and who is not here."""
    talk = scene.talk
    goal = looked_for(talk.goals, talk.now, talk.situation.place.id, talk.situation.people)
    if goal is None:
        return None
    return _greeting(scene).then(scene.line("ask.seen", *goal.because[-1:], about=goal.called, x=goal.called))


def reproach(scene: TalkScene) -> DraftLine | None:
    """Returns a word about what the hearer did to me."""
    hurt = open_hurt(scene.talk.past, scene.you.id)
    if hurt is None:
        return None
    rule, event = f"reproach.{hurt.act}", _event_of(scene, hurt.topic)
    if hurt.named and hurt.act == "broke_word":
        rule = "reproach.word"
    about = "" if subject_of(hurt.topic)[0] else hurt.topic
    line = scene.line(rule, *hurt.because, about=about, event=event, topic=hurt.named)
    return _greeting(scene).then(line)


def apology(scene: TalkScene) -> DraftLine | None:
    """Returns an apology for a word I broke to the hearer."""
    broke = open_debt(scene.talk.past, scene.you.id)
    if broke is None:
        return None
    rule, event = "apology.word" if broke.named else "apology", _event_of(scene, broke.topic)
    line = scene.line(rule, *broke.because, about=broke.topic, event=event, topic=broke.named)
    return _greeting(scene).then(line)


def _event_of(scene: TalkScene, fact: str) -> str:
    note = scene.notes.get(fact)
    return event_name(note, scene.language) if note else ""


OPENINGS: RuleTable[Any] = read_table("openings", Hello, Opening)
