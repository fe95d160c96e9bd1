"""Answering questions: each kind of question looks for its answer among what is remembered."""

from __future__ import annotations

from collections.abc import Callable

from commonplace.minds.notes import FactNote, Item, Recalled
from commonplace.minds.offline.gatherings import event_name, goes_to
from commonplace.minds.offline.grammar import english
from commonplace.minds.offline.hear import Heard, content, heard
from commonplace.minds.offline.sayings import Line, Saying, line_of, own_doing
from commonplace.minds.offline.scene import Scene

# ── news ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# Replying to news: somebody has just told a seed fact, perhaps with an invitation.


HEARD = frozenset({"said", "seed", "insight", None})
"""Kinds of memory one knows news from."""
LATELY = 10
"""Minutes for which what one hears is still news."""


def news_reply(scene: Scene, memory: Recalled, options: list[Saying]) -> Line | None:  # noqa: ARG001
    """A reaction to the news, and to the invitation that comes with an event; None for a fact not noted."""
    note = next((scene.notes[name] for name in memory.facts if name in scene.notes), None)
    if note is None or heard(scene.last, scene.me.language).act in {"accepts", "declines"}:
        return None
    if note.starts and note.starts <= scene.moment:
        return _of_what_is(scene, memory)
    if scene.last.endswith("?") and not any(text in scene.last for text in note.tell):
        return Line("", (memory.id,)).joined(going(scene, note, asked=True))
    before = _source(scene, memory, note)
    first = _surprise(scene, memory, before)
    if note.starts > scene.moment and note.place:
        return first.joined(going(scene, note, asked=scene.last.endswith("?")))
    ask = scene.say("follow.news", {}) if before is None and scene.dice.chance(60, "who") else ""
    return first.before(ask)


def _of_what_is(scene: Scene, memory: Recalled) -> Line | None:
    """A word about an event that has begun, to one who speaks of it; a question about it is answered elsewhere."""
    if "?" in scene.last:
        return None
    return Line(scene.say("react.occasion", {"you": scene.you.called}, memory.id), (memory.id,))


def _surprise(scene: Scene, memory: Recalled, before: Recalled | None) -> Line:
    slots = {"you": scene.you.called}
    if before is None:
        return Line(scene.say("react.news", slots, memory.id), (memory.id,))
    teller = before.frame.get("called", "") if before.frame.get("to_me") else ""
    if teller == scene.you.called:
        teller = ""
    rule = "react.known" if teller else "react.known_plain"
    return Line(scene.say(rule, {**slots, "x": teller}, memory.id), (memory.id, before.id))


def _source(scene: Scene, memory: Recalled, note: FactNote) -> Recalled | None:
    """An earlier memory of mine of hearing the same fact: not what I said or planned, nor what I heard just now."""
    return next(
        (
            one
            for one in scene.given.recalled
            if one.id != memory.id and note.id in one.facts and one.frame.get("what") in HEARD
            and one.minutes_ago > memory.minutes_ago + LATELY
        ),
        None,
    )  # fmt: skip


def going(scene: Scene, note: FactNote, asked: bool) -> Line | None:
    """Yes when it stands in the plan, no when something else does, else a maybe."""
    slots = {"event": event_name(note), "time": english.clock(note.starts[11:16]), "you": scene.you.called}
    if goes_to(scene, note):
        return Line(scene.say("accept", slots), ())
    clash = _clash(scene, note)
    made_up = scene.dice.steady()
    if clash is not None and made_up.chance(60, "clash", note.id):
        return Line(scene.say("decline", {**slots, "do": own_doing(scene, clash.do)}), ())
    if asked or made_up.chance(60, "maybe", note.id):
        return Line(scene.say("maybe", slots), ())
    return Line(scene.say("follow.event", slots), ())


def _clash(scene: Scene, note: FactNote) -> Item | None:
    """What the plan holds for the time of the event."""
    if note.starts[:10] != scene.moment[:10]:
        return None
    start = note.starts[11:16]
    items = [item for item in scene.given.later if item.start <= start and not item.asleep]
    do = items[-1].do if items else ""
    return items[-1] if do.split(" ", 1)[0].endswith("ing") and " you" not in do else None


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


TOLD = 4
"""Words two lines share when they tell the same."""
Answerer = Callable[[Scene, Recalled, Heard, list[Saying]], Line]


def answer_question(scene: Scene, memory: Recalled, line: Heard, options: list[Saying]) -> Line:
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
