"""Taking leave: with what comes next, a good wish, and the memory of what was last said."""

from __future__ import annotations

from commonplace.minds.notes import FactNote, Item, Recalled
from commonplace.minds.offline.grammar import english, speech
from commonplace.minds.offline.hear import heard
from commonplace.minds.offline.line import Line
from commonplace.minds.offline.occasions import event_name, goes_to, has_said_yes
from commonplace.minds.offline.saying import brief, fillers, own_doing, speech_place
from commonplace.minds.offline.scene import COLD, Scene

DUE = 25
"""Minutes before something elsewhere from which one speaks of having to be there."""


def leaving(scene: Scene, last: Recalled | None) -> Line | None:
    """A farewell that names what calls; answers one with a short one. None when nothing remembered carries it."""
    plan = _plan_memory(scene)
    ids = tuple(memory.id for memory in (last, plan) if memory is not None)
    if not ids:
        return None
    slots = {"you": scene.you.called}
    if scene.last and heard(scene.last, scene.me.language).act == "bye":
        return Line(_good_night(scene, slots) or scene.say("bye.back", slots), ids[:1], ends=True)
    reason = scene.say(*_reason(scene))
    return Line(f"{reason} {_wish(scene, slots)}", ids, ends=True)


def _good_night(scene: Scene, slots: dict[str, str]) -> str:
    hour = int(scene.given.situation.time[:2])
    return scene.say("bye.night", slots) if hour >= 22 or hour < 4 else ""


def _wish(scene: Scene, slots: dict[str, str]) -> str:
    """The last words: until the event both go to, luck with what was spoken of, or plain ones."""
    if scene.you.warmth < COLD:
        return ""
    for note in scene.given.facts:
        if _both_go(scene, note) and scene.dice.chance(50, "until"):
            return scene.say("bye.event", {"event": event_name(note)})
    line = heard(scene.last, scene.me.language)
    if line.topic and line.act in {"trouble", "intend"} and scene.dice.chance(60, "luck"):
        return scene.say("bye.topic", {"topic": line.topic})
    return _good_night(scene, slots) or scene.say("bye.tail", slots)


def _both_go(scene: Scene, note: FactNote) -> bool:
    """Whether both are known to go, it is still to come and somewhere else, and one has not parted until it before."""
    name = event_name(note)
    if not name or not goes_to(scene, note) or note.place == scene.given.situation.place.id:
        return False
    return has_said_yes(scene, note) and not _parted_with(scene, name)


def _parted_with(scene: Scene, event: str) -> bool:
    """Whether one has parted until this event before."""
    return any(scene.known(f"{word} {event}") for word in ("at", "until"))


def _reason(scene: Scene) -> tuple[str, dict[str, str]]:
    """Why one goes: what comes within the hour, else what one is at, else nothing in particular."""
    following = next((item for item in scene.given.later if not item.asleep), None)
    elsewhere = following is not None and following.location != scene.given.situation.place.id
    if following is not None and elsewhere and 0 < _minutes_until(scene, following) <= DUE:
        place = speech_place(scene, following.location_name)
        spot = f"{english.at(following.location_name).split(' ', 1)[0]} {place}" if place else ""
        if place:
            return "bye.later", {"at": spot, "place": place, "time": english.clock(following.start)}
    now = scene.given.now
    if now is not None and now.do.split(" ", 1)[0].endswith("ing") and not now.asleep:
        do = own_doing(scene, now.do)
        if not speech.mentions(do, scene.me.name, scene.me.called) and " you" not in f" {do}" and _is_work(scene, do):
            return "bye.plan", {"do": do, "short": brief(do)}
    return "bye.plain", {}


def _is_work(scene: Scene, do: str) -> bool:
    first = do.split(" ", 1)[0]
    if do.startswith(fillers(scene.me.language)):
        return False
    return first not in scene.rules.words("faint") and first not in {"going", "walking", "chatting", "talking"}


def _minutes_until(scene: Scene, item: Item) -> int:
    now = scene.given.situation.time
    return int(item.start[:2]) * 60 + int(item.start[3:5]) - int(now[:2]) * 60 - int(now[3:5])


def _plan_memory(scene: Scene) -> Recalled | None:
    """The memory of the plan that calls, if it was recalled."""
    dos = {item.do for item in (*([scene.given.now] if scene.given.now else ()), *scene.given.later[:1])}
    return next(
        (
            memory
            for memory in scene.given.recalled
            if memory.frame.get("what") == "plan" and memory.frame.get("do") in dos
        ),
        None,
    )
