"""Answering questions: each kind of question looks for its answer among what is remembered."""

from __future__ import annotations

from collections.abc import Callable

from commonplace.minds.notes import Recalled
from commonplace.minds.offline.hear import Heard, content
from commonplace.minds.offline.line import Line, line_of
from commonplace.minds.offline.news import going
from commonplace.minds.offline.saying import Saying, own_doing
from commonplace.minds.offline.scene import Scene

TOLD = 4
"""Words two lines share when they tell the same."""
Answerer = Callable[[Scene, Recalled, Heard, list[Saying]], Line]


def answer(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line:
    """The answer to a question, resting on the memory of hearing it and on those that answer it."""
    return _ANSWERERS.get(line.act, _other)(scene, memory, line, options)


def _said(scene: Scene, rule: str, memory: Recalled, **slots: str) -> Line:
    return Line(scene.say(rule, {"you": scene.you.called, **slots}, memory.id), (memory.id,))


def _matching(scene: Scene, line: Heard, options: list[Saying]) -> Saying | None:
    """The saying that shares most words with the question, or with what I said that it asks about."""
    mine = content(scene.mine[-1]) if scene.mine and not line.topic else frozenset[str]()
    asked = line.words | mine
    shared = [(len(asked & option.words), -index) for index, option in enumerate(options) if not option.asks]
    top = max(shared, default=(0, 0))
    return options[-top[1]] if top[0] else None


def _well(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line:  # noqa: ARG001
    trouble = next((one for one in options if one.rule in {"core.refused", "core.thing", "core.absent"}), None)
    if trouble is not None and scene.dice.chance(45, "moan"):
        return _said(scene, "answer.badly", memory).joined(line_of(scene, trouble))
    first = _said(scene, "answer.well", memory)
    own = _best(scene, options)
    if own is not None and scene.dice.chance(60, "own"):
        return first.joined(line_of(scene, own))
    return first.before(scene.say("back", {}))


def _best(scene: Scene, options: list[Saying]) -> Saying | None:
    pulls = [
        (option.weight + scene.spread(40, option.ids[0]), -index)
        for index, option in enumerate(options)
        if not option.asks
    ]
    return options[-max(pulls)[1]] if pulls else None


def _doing(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line:  # noqa: ARG001
    doing = _current(scene)
    if not doing:
        own = _best(scene, options)
        return (
            _said(scene, "answer.voiced", memory).joined(line_of(scene, own))
            if own
            else _said(scene, "answer.plain", memory)
        )
    first = _said(scene, "answer.doing", memory, doing=doing)
    return first.before(scene.say("back", {})) if scene.dice.chance(40, "back") else first.joined(_more(scene, options))


def _more(scene: Scene, options: list[Saying]) -> Line | None:
    own = _best(scene, options)
    return line_of(scene, own) if own is not None and scene.dice.chance(50, "more") else None


def _current(scene: Scene) -> str:
    """What I am at, in my own words to this hearer; empty when it would not read well."""
    now = scene.given.now
    if now is None or not now.do.split(" ", 1)[0].endswith("ing"):
        return ""
    do = own_doing(scene, now.do)
    return "" if " you" in f" {do}" or do.startswith("talking") else do


def _going(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line:  # noqa: ARG001
    notes = [note for note in scene.given.facts if note.starts > scene.moment]
    named = [note for note in notes if line.topic and line.topic.partition(" ")[2] in note.text.lower()] or notes
    if not named:
        return _said(scene, "maybe", memory)
    reply = going(scene, named[0], asked=True)
    return Line("", (memory.id,)).joined(reply)


def _seen(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line:
    for option in options:
        if option.rule == "core.saw" and option.slots["x"] and option.slots["x"] in scene.last:
            text = scene.say("answer.seen", option.slots, option.ids[0])
            return Line(text, (memory.id, *option.ids))
    thing = next((one for one in options if one.rule in {"core.absent", "core.thing"} and line.words & one.words), None)
    if thing is not None:
        return _said(scene, "answer.voiced", memory).joined(line_of(scene, thing))
    return _said(scene, "answer.unseen", memory)


def _event(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line:  # noqa: ARG001
    """How an occasion was: what I remember of being there."""
    own = next((one for one in options if one.rule == "core.was"), None)
    if own is not None:
        return Line("", (memory.id,)).joined(line_of(scene, own))
    went = next(
        (one for one in scene.given.recalled if one.facts and one.frame.get("what") in {"plan", "i_said"}), None
    )
    if went is None:
        return _said(scene, "answer.event", memory)
    return Line(scene.say("answer.event_went", {"you": scene.you.called}, went.id), (memory.id, went.id))


def _topic(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line:
    own = _matching(scene, line, options)
    if own is not None:
        return (
            _said(scene, "answer.topic", memory, topic=line.topic).joined(line_of(scene, own))
            if line.topic
            else _said(scene, "answer.asked_doing", memory).joined(line_of(scene, own))
        )
    rule = (
        "answer.asked_doing" if _is_about_doing(scene, line) else "answer.topic_none" if line.topic else "answer.plain"
    )
    first = _said(scene, rule, memory)
    return first.joined(_more(scene, options))


def _is_about_doing(scene: Scene, line: Heard) -> bool:
    """Whether the question is about something I do or did."""
    dids = " ".join(
        memory.frame.get("doing", "") for memory in scene.given.recalled if memory.frame.get("what") == "did"
    )
    doing = f"{dids} {scene.given.now.do if scene.given.now else ''}".lower()
    return any(word in doing for word in line.words)


def _who(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line:  # noqa: ARG001
    """Who told me: the speaker of the memory that carries the fact I have just passed on."""
    told = next(
        (note.id for note in scene.given.facts if any(text in mine for mine in scene.mine for text in note.tell)), ""
    )
    for one in scene.given.recalled:
        if told in one.facts and one.frame.get("what") == "said" and one.frame.get("who") != scene.you.id:
            return Line(scene.say("answer.who", {"x": one.frame.get("called", "")}, one.id), (memory.id, one.id))
    return _said(scene, "answer.who_self", memory)


def _else(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line:
    """Whether others know: by whether I remember telling anybody what I have just said."""
    before = {one.frame.get("quote", "") for one in scene.given.recalled if one.frame.get("what") == "i_said"}
    words = content(scene.mine[-1]) if scene.mine else frozenset[str]()
    told = any(len(words & content(quote)) >= TOLD for quote in before if quote not in scene.mine)
    own = _matching(scene, line, options)
    first = _said(scene, "answer.else_told" if told else "answer.else", memory)
    return first.joined(line_of(scene, own)) if own is not None and scene.dice.chance(50, "more") else first


def _plainly(rule: str) -> Answerer:
    def answered(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line:
        own = _matching(scene, line, options)
        first = _said(scene, rule, memory)
        return first.joined(line_of(scene, own)) if own is not None else first.joined(_more(scene, options))

    return answered


def _other(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line:
    own = _matching(scene, line, options)
    if own is not None:
        return _said(scene, "answer.voiced", memory).joined(line_of(scene, own))
    return _said(scene, "answer.plain", memory).joined(_more(scene, options))


_ANSWERERS: dict[str, Answerer] = {
    "ask.well": _well,
    "ask.doing": _doing,
    "ask.going": _going,
    "ask.seen": _seen,
    "ask.event": _event,
    "ask.else": _else,
    "ask.topic": _topic,
    "ask.who": _who,
    "ask.help": _plainly("answer.help"),
    "ask.since": _plainly("answer.since"),
    "ask.what": _plainly("answer.what"),
    "ask.think": _plainly("answer.think"),
    "ask.then": _plainly("answer.then"),
    "ask.why": _plainly("answer.why"),
    "ask.feel": _plainly("answer.feel"),
}
