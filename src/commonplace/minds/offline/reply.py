"""Replying: what was said is understood, then reacted to, answered, passed by or met with something of one's own."""

from __future__ import annotations

import re

from commonplace.minds.notes import Recalled
from commonplace.minds.offline.answers import answer
from commonplace.minds.offline.hear import Heard, content, has_any, heard, is_nod
from commonplace.minds.offline.leave import leaving
from commonplace.minds.offline.line import Line, line_of
from commonplace.minds.offline.news import news_reply
from commonplace.minds.offline.occasions import event_name
from commonplace.minds.offline.saying import Saying
from commonplace.minds.offline.scene import COLD, Scene
from commonplace.text import words

ASKED_BACK = frozenset({"statement", "trouble", "joy", "intend"})
REPORT = "report"
"""The act of telling what happened."""
_GOSSIP = frozenset({"statement", "trouble", "joy", "intend", "kind"})
_OWN = re.compile(r"\b(I|I've|I'm|I'd|my|me)\b")
ACK = 46
"""A statement shorter than this, about nothing that can be named, only keeps a talk going."""


def replying(scene: Scene, options: list[Saying]) -> Line | None:
    """The reply to the last line, if one remembers hearing it; otherwise one has missed it."""
    memory = heard_memory(scene)
    if memory is None:
        return _missed(scene, options)
    line = heard(scene.last, scene.me.language)
    if line.act == "bye" or scene.given.purpose == "farewell":
        return leaving(scene, memory)
    return _minded(scene, memory, line, options)


def _minded(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line | None:
    """The reply to a line that is no farewell: by what the two are to each other, and by what it does."""
    if scene.you.warmth < COLD:
        return _cold(scene, memory, line)
    if _answers_me(scene, line):
        return _rsvp(scene, memory, line, options)
    if memory.facts:
        told = news_reply(scene, memory, options)
        if told is not None:
            return told
    if line.asks and line.act != REPORT:
        return answer(scene, memory, line, options)
    return _met(scene, memory, line, options)


def _answers_me(scene: Scene, line: Heard) -> bool:
    """Whether the line answers the news of an event that I have just told, or my asking along."""
    if not scene.mine or line.asks or "?" in scene.last:
        return False
    notes = [note for note in scene.given.facts if note.starts > scene.moment]
    return any(text in scene.mine[-1] for note in notes for text in (*note.tell, event_name(note)) if text)


def _rsvp(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line | None:
    """A word about the yes, the no or the perhaps, and something else while the talk is young."""
    act = "declines" if has_any(scene.rules, "declines.more", scene.last) else line.act
    rule = f"react.{act}" if act in {"accepts", "declines"} else "react.perhaps"
    first = Line(scene.say(rule, {"you": scene.you.called}, memory.id), (memory.id,))
    own = _own(scene, options, "turn", 0) if len(scene.given.lines) < 5 and scene.dice.chance(60, "rsvp") else None
    return first.joined(own)


def heard_memory(scene: Scene) -> Recalled | None:
    """The memory of the line just heard."""
    for memory in scene.given.recalled:
        frame = memory.frame
        if frame.get("what") == "said" and frame.get("who") == scene.you.id and frame.get("quote") == scene.last:
            return memory
    return next(
        (one for one in scene.given.recalled if scene.last in one.text and not one.frame.get("what")),
        None,
    )


def _missed(scene: Scene, options: list[Saying]) -> Line | None:
    body = line_of(scene, options[0]) if options else None
    return body.after(scene.say("lost", {})) if body else None


def _cold(scene: Scene, memory: Recalled, line: Heard) -> Line:
    rule = "cold.topic" if line.topic and scene.dice.chance(40, "cold") else "cold"
    ends = len(scene.given.lines) >= 2
    return Line(scene.say(rule, {"topic": line.topic}, memory.id), (memory.id,), topic=line.topic, ends=ends)


def _met(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line | None:
    """A statement: a reaction, and sometimes a question or something of one's own that goes with it."""
    if line.act == "hello":
        return _hello(scene, memory, options)
    is_ack = (len(scene.last) < ACK and line.act == "statement") or is_nod(scene.last, scene.me.language)
    is_ack = is_ack and len(scene.given.lines) > 1
    own = related(line, options)
    if is_ack and own is None:
        return _carry_on(scene, memory, options)
    reaction = Line(_reaction(scene, memory, line), (memory.id,), topic=line.topic)
    return reaction.joined(_follow_up(scene, line, own, options))


def _hello(scene: Scene, memory: Recalled, options: list[Saying]) -> Line:
    you = scene.you
    stranger = not you.label and not you.talks and you.warmth < 10
    rule = "react.hello_stranger" if stranger else "react.hello"
    opener = Line(scene.say(rule, {"you": you.called, "me": scene.me.called}), (memory.id,))
    return opener.joined(_own(scene, options, "turn", 0))


def _reaction(scene: Scene, memory: Recalled, line: Heard) -> str:
    """The first words of a reply: about the third person spoken of, or by what the line did."""
    slots = {"topic": line.topic if not scene_mentions(scene, line.topic) else "", "you": scene.you.called}
    person = _third(scene) if line.act in _GOSSIP else None
    if person and scene.dice.chance(60, "gossip"):
        rule = "react.gossip_cold" if person[1] < COLD else "react.gossip"
        return scene.say(rule, {"x": person[0]}, memory.id)
    rule = "react.own" if line.act == "statement" and _OWN.search(scene.last) else f"react.{line.act}"
    if rule == "react.own" and scene.dice.chance(45, "plain"):
        rule = "react.statement"
    return scene.say(rule, slots, memory.id) or scene.say("react.statement", slots, memory.id)


def scene_mentions(scene: Scene, topic: str) -> bool:
    """Whether I have named the topic already in this talk: one does not name it in every line."""
    return bool(topic) and any(topic.partition(" ")[2] in mine.lower() for mine in scene.mine)


def _third(scene: Scene) -> tuple[str, int] | None:
    """Somebody else named in the last line whom I know: short name and warmth as far as I see them here."""
    warmth = {person.called: person.warmth for person in scene.given.situation.people}
    spoken = scene.last
    for memory in scene.given.recalled:
        called = memory.frame.get("called", "")
        if called and called not in (scene.you.called, scene.me.called) and called in spoken:
            return called, warmth.get(called, 0)
    return None


def related(line: Heard, options: list[Saying]) -> Saying | None:
    """The saying of mine that shares most with what was said."""
    shared = [(len(line.words & option.words), option.weight, -index) for index, option in enumerate(options)]
    top = max(shared, default=(0, 0, 0))
    return options[-top[2]] if top[0] else None


def _follow_up(scene: Scene, line: Heard, own: Saying | None, options: list[Saying]) -> Line | None:
    """News of what is ahead, a question back, something of one's own that goes with it, something new, or nothing."""
    news = _coming(scene, options)
    if news is not None and scene.dice.chance(50, "news", len(scene.given.lines)):
        body = line_of(scene, news)
        return body.after(scene.say("turn", {})) if body else None
    roll = scene.dice.below(100, "follow", len(scene.given.lines))
    if own is not None and not own.asks and roll < 65:
        body = line_of(scene, own)
        lead = "reminds" if _goes_with(line, own) else "turn"
        return body.after(scene.say(lead, {})) if body and roll < 40 else body
    if roll < 70 and line.act in ASKED_BACK and not _asked_lately(scene):
        slots = {"topic": "" if scene_mentions(scene, line.topic) else line.topic}
        return Line(scene.say(_question(scene, line), slots), ())
    if roll < 84 and len(scene.given.lines) < 5:
        return _own(scene, options, "turn", 0)
    return None


def _coming(scene: Scene, options: list[Saying]) -> Saying | None:
    """What there is to tell of an event that is still ahead."""
    ahead = {note.id for note in scene.given.facts if note.starts > scene.moment}
    return next((option for option in options if ahead & set(option.facts)), None)


def _goes_with(line: Heard, own: Saying) -> bool:
    """Whether what the two share is a thing, not some word."""
    named = content(line.topic) | content(own.slots.get("topic", ""))
    return bool(line.words & own.words & named)


def _question(scene: Scene, line: Heard) -> str:
    """The kind of question that fits what was said: a secret, something of long ago, a feeling, anything else."""
    if line.act != "statement":
        return f"follow.{line.act}"
    spoken = frozenset(words(scene.last))
    kinds = ("secret", "long_ago", "feeling")
    return next((f"follow.{kind}" for kind in kinds if spoken & scene.rules.words(kind)), "follow.statement")


def _asked_lately(scene: Scene) -> bool:
    return bool(scene.mine) and scene.mine[-1].endswith("?")


def _own(scene: Scene, options: list[Saying], lead: str, asks: int) -> Line | None:
    """Something of mine, by weight and a draw; `asks` is added to the weight of questions."""
    if not options:
        return None
    pulls = [
        (option.weight + (asks if option.asks else 0) + scene.spread(40, option.ids[0]), -index)
        for index, option in enumerate(options)
    ]
    body = line_of(scene, options[-max(pulls)[1]])
    return body.after(scene.say(lead, {})) if body and lead and scene.dice.chance(40, "lead") else body


def _carry_on(scene: Scene, memory: Recalled, options: list[Saying]) -> Line | None:
    """After a mere nod: something new while the talk is young, leave otherwise."""
    if len(scene.given.lines) < 5:
        body = _own(scene, options, "turn", 10)
        if body is not None:
            return body
    return leaving(scene, memory)
