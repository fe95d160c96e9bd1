"""From memories to what could be said of them: each recalled memory becomes a saying, or nothing.

A saying names the rule that words it, fills its slots from the memory's frame, and carries the `mark` that must not
have fallen before. What the hearer did, said or knows is never told to them as news.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from commonplace.minds.notes import FactNote, Recalled
from commonplace.minds.offline import makers
from commonplace.minds.offline.grammar import english, speech
from commonplace.minds.offline.hear import content
from commonplace.minds.offline.occasions import event_name, goes_to, has_said_yes, minutes_since
from commonplace.minds.offline.saying import Saying
from commonplace.minds.offline.scene import COLD, Scene

SEEN = frozenset({"did", "doing", "acted", "plan", "i_said", "event", "thing"})
"""Kinds of memory that are spoken of as what they are, also where their words carry a fact."""
TOLD_ONCE = 60
"""How much less one likes to tell what one remembers telling somebody."""
Maker = Callable[[Scene, Recalled, Mapping[str, str]], Saying | None]


def sayings(scene: Scene) -> list[Saying]:
    """What the recalled memories give to say to this hearer now, in order of recall."""
    found: dict[str, Saying] = {}
    for rank, memory in enumerate(scene.given.recalled):
        saying = _saying(scene, memory)
        if saying is None or not saying.mark or scene.known(saying.mark):
            continue
        twin = found.get(saying.mark)
        if twin is None:
            saying.weight += 2 * memory.importance - rank
            found[saying.mark] = saying
        else:
            twin.ids = (*twin.ids, *saying.ids)
    return list(found.values())


def _saying(scene: Scene, memory: Recalled) -> Saying | None:
    if memory.facts and (memory.frame.get("what") not in SEEN or _is_past_plan(scene, memory)):
        return _fact(scene, memory)
    if memory.tell:
        return _tell(scene, memory)
    maker = _MAKERS.get(memory.frame.get("what", ""))
    return maker(scene, memory, memory.frame) if maker else None


def _is_past_plan(scene: Scene, memory: Recalled) -> bool:
    """Whether one meant to go to an event that has begun."""
    begun = any(scene.notes[name].starts <= scene.moment for name in memory.facts if name in scene.notes)
    return memory.frame.get("what") == "plan" and begun


def _fact(scene: Scene, memory: Recalled) -> Saying | None:
    """News, in the words that carry it; about an event both know of, whether the hearer goes."""
    frame = memory.frame
    note = next((scene.notes[name] for name in memory.facts if name in scene.notes), None)
    if note is None:
        return None
    source = frame.get("who", "") if frame.get("what") == "said" else ""
    if note.starts and note.starts <= scene.moment:
        return _event_come(scene, memory, note)
    if note.id in scene.given.told or scene.you.id in (source, frame.get("to", "")):
        return _event_again(scene, memory, note)
    tells = [text for text in note.tell or (note.text,) if not scene.known(text)]
    tells = [text for text in tells if not speech.mentions(text, scene.you.name, scene.you.called)] or tells
    if not tells or any(scene.known(text) for text in note.tell):
        return None
    text = tells[scene.spread(len(tells), memory.id)]
    led = text.startswith(("Have you heard", "I'm told", "Pass it on", "Tell "))
    slots = {"tell": text, "news": "" if led else text, "x": frame.get("called", "") if source and not led else ""}
    return Saying((memory.id,), "core.fact", slots, 130, text.lower(), content(note.text), (note.id,))


def _event_again(scene: Scene, memory: Recalled, note: FactNote) -> Saying | None:
    """Whether the hearer goes, too; never asked of one who has said so."""
    event = event_name(note)
    if not event or not note.starts or scene.known(event.partition(" ")[2]):
        return None
    slots = {"event": event, "time": english.clock(note.starts[11:16])}
    if not goes_to(scene, note) or has_said_yes(scene, note) or any(scene.known(text) for text in note.tell):
        return None
    return Saying((memory.id,), "invite.again", slots, 10, event.partition(" ")[2], content(event), (), True)


def _event_come(scene: Scene, memory: Recalled, note: FactNote) -> Saying | None:
    """An event that has begun: spoken of where it is, and looked back on when it is over."""
    event, name = event_name(note), event_name(note).partition(" ")[2]
    if not name or any(name in line.text.lower() for line in scene.given.lines):
        return None
    minutes = minutes_since(scene, note)
    if minutes < (note.minutes or 60):
        return _event_here(scene, memory, note, event)
    when = english.when(scene.moment, minutes - (note.minutes or 60) // 2)
    slots, ids, words = {"event": event, "when": when}, (memory.id,), content(event)
    if memory.frame.get("what") == "plan":
        return Saying(ids, "core.went", slots, 44, f"went to {name}", words)
    return Saying(ids, "core.wonder", slots, 20 if name in scene.aired else 34, f"{name} {when}", words, (), True)


def _event_here(scene: Scene, memory: Recalled, note: FactNote, event: str) -> Saying | None:
    """A word on an event one is at, once or twice in an evening."""
    spoken = [one for one in scene.given.recalled if one.frame.get("what") == "i_said" and note.id in one.facts]
    if scene.given.situation.place.id != note.place or any(
        one.minutes_ago <= minutes_since(scene, note) for one in spoken
    ):
        return None
    frame = memory.frame
    told = frame.get("called", "") if frame.get("what") == "said" and frame.get("who") != scene.you.id else ""
    return Saying((memory.id,), "core.here", {"event": event, "x": told}, 120, f"here at {event}", content(event))


def _tell(scene: Scene, memory: Recalled) -> Saying | None:
    you = scene.you
    about_you = memory.frame.get("about", "") == you.id
    lines = [
        line
        for line in memory.tell
        if not scene.known(line)
        and not speech.mentions(line, you.name, you.called)
        and (not about_you or " you" in line)
    ]
    if not lines or scene.you.warmth < COLD:
        return None
    unworn = [line for line in lines if line not in scene.aired] or lines
    text = unworn[scene.spread(len(unworn), memory.id)]
    topic = memory.frame.get("topic", "")
    weight = 40 if len(lines) == len(memory.tell) else 12
    if _told_before(scene, text):
        return None
    weight -= 14 * len(scene.mine) + (TOLD_ONCE if text in scene.aired else 0)
    words = content(text) | content(topic)
    return Saying((memory.id,), "core.tell", {"tell": text, "topic": topic}, weight, text.lower(), words)


def _told_before(scene: Scene, text: str) -> bool:
    """Whether I remember telling this hearer these very words, on whatever day."""
    return any(
        one.frame.get("what") == "i_said" and one.frame.get("to") == scene.you.id and text in one.frame.get("quote", "")
        for one in scene.given.recalled
    )


_MAKERS: Mapping[str, Maker] = {
    "doing": makers.seen,
    "acted": makers.seen,
    "said": makers.said,
    "did": makers.did,
    "thing": makers.thing,
    "absent": makers.absent,
    "refused": makers.refused,
    "event": makers.event,
    "weather": makers.weather,
    "plan": makers.plan,
    "insight": makers.insight,
}
