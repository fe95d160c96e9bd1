"""Replying to news: somebody has just told a seed fact, perhaps with an invitation."""

from __future__ import annotations

from commonplace.minds.notes import FactNote, Item, Recalled
from commonplace.minds.offline.grammar import english
from commonplace.minds.offline.hear import heard
from commonplace.minds.offline.line import Line
from commonplace.minds.offline.occasions import event_name, goes_to
from commonplace.minds.offline.saying import Saying, own_doing
from commonplace.minds.offline.scene import Scene

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
