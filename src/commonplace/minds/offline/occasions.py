"""Events as the speaker knows of them: what they are called, whether one goes, whether the other does."""

from __future__ import annotations

from datetime import datetime

from commonplace.minds.notes import FactNote, Item
from commonplace.minds.offline.grammar import speech
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.offline.hear import heard
from commonplace.minds.offline.scene import Scene
from commonplace.text import words


def event_name(note: FactNote) -> str:
    """What an event is called: `the lantern festival`."""
    return speech.topic(note.text)


def minutes_since(scene: Scene, note: FactNote) -> int:
    """Minutes since the event began; negative before."""
    passed = datetime.fromisoformat(scene.moment) - datetime.fromisoformat(note.starts)
    return int(passed.total_seconds() // 60)


def goes_to(scene: Scene, note: FactNote) -> bool:
    """Whether an event of today, still to come or going on, stands in the plan."""
    if note.starts[:10] != scene.moment[:10] or minutes_since(scene, note) > (note.minutes or 60):
        return False
    now = (scene.given.now,) if scene.given.now else ()
    return any(_is_for(item, note) for item in (*now, *scene.given.later))


def _is_for(item: Item, note: FactNote) -> bool:
    """Whether a stretch of plan is for the event: named so, or at its place when it begins."""
    name = event_name(note).partition(" ")[2]
    if bool(name) and name in item.do:
        return True
    return bool(note.place) and item.location == note.place and (
        bool(item.because) or _spans(item.start, item.minutes, note.starts[11:16])
    )  # fmt: skip


def _spans(start: str, minutes: int, moment: str) -> bool:
    begun = int(start[:2]) * 60 + int(start[3:5])
    at = int(moment[:2]) * 60 + int(moment[3:5])
    return begun <= at < begun + minutes and at - begun <= 30


def has_said_yes(scene: Scene, note: FactNote) -> bool:
    """Whether the hearer is known to go: they have said so, or asked me along."""
    you = scene.you.id
    if any(line.speaker == you and says_yes(line.text, scene) for line in scene.given.lines):
        return True
    for memory in scene.given.recalled:
        frame = memory.frame
        if frame.get("what") == "said" and frame.get("who") == you:
            quote = frame.get("quote", "")
            if says_yes(quote, scene) or (note.id in memory.facts and asks_along(quote, scene)):
                return True
    return False


def says_yes(quote: str, scene: Scene) -> bool:
    """Whether a line accepts."""
    return heard(quote, scene.me.language).act == "accepts"


def asks_along(quote: str, scene: Scene) -> bool:
    """Whether a line ends by asking somebody along."""
    last = quote.replace("!", ".").rstrip().rpartition(". ")[2]
    spoken = f" {' '.join(words(last))} "
    return any(f" {phrase} " in spoken for phrase in grammar(scene.me.language).words("seek.going"))
