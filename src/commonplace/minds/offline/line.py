"""A line in the making: words, and the memories they rest on."""

from __future__ import annotations

from dataclasses import dataclass, replace

from commonplace.minds.offline.saying import Saying
from commonplace.minds.offline.scene import Scene

LONGEST = 380
"""Characters of a spoken line; the task's own limit is a little higher."""


@dataclass(frozen=True, slots=True)
class Line:
    """What will be said."""

    text: str
    ids: tuple[int, ...]
    facts: tuple[str, ...] = ()
    topic: str = ""
    ends: bool = False

    def after(self, words: str) -> Line:
        """With something said before it."""
        return replace(self, text=f"{words} {self.text}".strip())

    def before(self, words: str) -> Line:
        """With something said after it."""
        return replace(self, text=f"{self.text} {words}".strip())

    def joined(self, other: Line | None) -> Line:
        """With another line after it: both their memories are cited."""
        if other is None:
            return self
        ids = (*self.ids, *(one for one in other.ids if one not in self.ids))
        facts = (*self.facts, *(one for one in other.facts if one not in self.facts))
        return Line(f"{self.text} {other.text}".strip(), ids, facts, other.topic or self.topic, self.ends or other.ends)


def line_of(scene: Scene, saying: Saying) -> Line | None:
    """A saying worded; None when the grammar has no words for it."""
    slots = {"you": scene.you.called, "me": scene.me.called, **saying.slots}
    text = scene.say(saying.rule, slots, saying.ids[0])
    return Line(text, saying.ids, saying.facts, saying.slots.get("topic", "")) if text else None


def trimmed(text: str) -> str:
    """Within the limit, cut after a sentence."""
    while len(text) > LONGEST:
        cut = max(text.rfind(mark, 0, len(text) - 1) for mark in (". ", "! ", "? "))
        text = text[: cut + 1] if cut > 0 else text[:LONGEST]
    return text
