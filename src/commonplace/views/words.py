"""What views say themselves; everything else on a screen is data."""

from __future__ import annotations

from typing import Literal

from commonplace.languages import phrases

Key = Literal[
    "talk", "people", "inspector", "log", "why", "nobody", "somebody", "silence", "on the way", "asleep", "who", "plan",
    "memory", "past", "belief", "ties", "all", "moves", "plans", "world", "LIVE", "PAUSED", "REPLAY", "PAST", "END",
    "tick", "offline mind", "no plan", "goals", "wants", "home", "now", "jobs", "nothing yet", "seen", "talks",
    "retrieved", "reaction", "rule", "line", "asked", "stored", "not stored", "heard from", "evidence", "until", "open",
    "done", "given_up", "overtaken", "no reason", "k play", "k pause", "k time", "k hour", "k live", "k panel", "k why",
    "k god", "k ask", "k help", "k quit", "k who", "recency", "importance", "relevance", "unknown",
]  # fmt: skip


def word(language: str, key: Key) -> str:
    """Returns a word of the screens."""
    return phrases(language, "views")[key]


def ambient(language: str, name: str) -> str:
    """Returns a sky, wind, temperature or part of day in words."""
    return phrases(language, "ambient").get(name, name)


def past_template(language: str, kind: str) -> str:
    """Returns the sentence for a row of a character's past, with the other one's name to fill in; the kind itself if it
    is unknown."""
    return phrases(language, "past").get(kind, kind)


def event_template(language: str, key: str) -> str:
    """Returns the sentence for an event, with fields to fill in; empty for an unknown event."""
    return phrases(language, "events").get(key, "")
