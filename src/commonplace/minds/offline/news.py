"""Replying to news: somebody has just told a seed fact, perhaps with an invitation."""

from __future__ import annotations

from commonplace.minds.offline.grammar import english
from commonplace.minds.offline.hear import heard
from commonplace.minds.offline.line import Line
from commonplace.minds.offline.saying import Saying, own_doing
from commonplace.minds.offline.sayings import event_name, goes_to
from commonplace.minds.offline.scene import Scene
from commonplace.minds.tasks import FactNote, Item, Recalled


def news_reply(scene: Scene, memory: Recalled, options: list[Saying]) -> Line | None:  # noqa: ARG001
    """A reaction to the news, and to the invitation that comes with an event; None for a fact not noted."""
    note = next((scene.notes[name] for name in memory.facts if name in scene.notes), None)
    if note is None or heard(scene.last, scene.me.language).act in {"accepts", "declines"}:
        return None
    if scene.last.endswith("?") and not any(text in scene.last for text in note.tell):
        return Line("", (memory.id,)).joined(going(scene, note, asked=True))
    before = _source(scene, memory, note)
    first = _surprise(scene, memory, before)
    if note.starts > scene.moment and note.place:
        return first.joined(going(scene, note, asked=scene.last.endswith("?")))
    ask = scene.say("follow.news", {}) if before is None and scene.dice.chance(60, "who") else ""
    return first.before(ask)


def _surprise(scene: Scene, memory: Recalled, before: Recalled | None) -> Line:
    slots = {"you": scene.you.called}
    if before is None:
        return Line(scene.say("react.news", slots, memory.id), (memory.id,))
    teller = before.frame.get("called", "") if before.frame.get("what") == "said" else ""
    if teller == scene.you.called:
        teller = ""
    rule = "react.known" if teller else "react.known_plain"
    return Line(scene.say(rule, {**slots, "x": teller}, memory.id), (memory.id, before.id))


def _source(scene: Scene, memory: Recalled, note: FactNote) -> Recalled | None:
    """An earlier memory of mine that carries the same fact."""
    return next(
        (
            one
            for one in scene.given.recalled
            if one.id != memory.id and note.id in one.facts and one.frame.get("what") != "i_said"
            and (one.frame.get("who") != scene.you.id or one.minutes_ago > memory.minutes_ago)
        ),
        None,
    )  # fmt: skip


def going(scene: Scene, note: FactNote, asked: bool) -> Line | None:
    """Yes when it stands in the plan, no when something else does, else a maybe."""
    slots = {"event": event_name(note), "time": english.clock(note.starts[11:16]), "you": scene.you.called}
    if goes_to(scene, note):
        return Line(scene.say("accept", slots), ())
    clash = _clash(scene, note)
    if clash is not None and scene.dice.chance(60, "clash"):
        return Line(scene.say("decline", {**slots, "do": own_doing(scene, clash.do)}), ())
    if asked or scene.dice.chance(60, "maybe"):
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
