"""`index.json` of the JSONL store: all of it can be derived from the sessions; it is written for those who read it."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from datetime import datetime
from typing import Any, NamedTuple

from commonplace.clock import iso
from commonplace.memory.coordinates.table import unscaled
from commonplace.memory.record import Memory
from commonplace.memory.words import word_list
from commonplace.text import words

VERSION = "1.0"
MOST_IMPORTANT = 100
_WORDS = 12
"""Words of its text a memory is listed under, beside its tags and the keywords of its emotion."""

Key = tuple[str, int]


class Entry(NamedTuple):
    """What the index says of a memory."""

    at: str
    memory_id: str
    persona: str
    importance: float
    """0–1."""
    keywords: tuple[str, ...]


class MemoryIndex:
    """By keyword, day, persona and importance; kept up in RAM."""

    def __init__(self) -> None:
        self.entries: dict[Key, Entry] = {}

    def put(self, key: Key, name: str, memory: Memory) -> None:
        """Lists a memory under its name."""
        self.entries[key] = Entry(
            iso(memory.created_at), name, memory.agent, unscaled(memory.importance), keywords(memory)
        )

    def drop(self, key: Key) -> None:
        """Lists it no more."""
        self.entries.pop(key, None)

    def due(self) -> bool:
        """Whether the file should be written after this change: each time while it is small, then every hundredth,
        thousandth … time, so that it costs each memory the same."""
        size = len(self.entries)
        return size <= 100 or size % max(100, 10 ** (len(str(size)) - 2)) == 0

    def document(self, updated: datetime | None) -> bytes:
        """The file. `updated`: simulated time of the latest record."""
        by_word: dict[str, list[str]] = defaultdict(list)
        by_day: dict[str, list[str]] = defaultdict(list)
        by_persona: dict[str, list[str]] = defaultdict(list)
        for _, entry in sorted(self.entries.items(), key=lambda one: (one[1].at, one[0])):
            by_day[entry.at[:10]].append(entry.memory_id)
            by_persona[entry.persona].append(entry.memory_id)
            for word in entry.keywords:
                by_word[word].append(entry.memory_id)
        top = sorted(self.entries.values(), key=lambda entry: (-entry.importance, entry.memory_id))[:MOST_IMPORTANT]
        whole: dict[str, Any] = {
            "index_version": VERSION,
            "last_updated": iso(updated) if updated else None,
            "total_memories": len(self.entries),
            "keyword_index": dict(sorted(by_word.items())),
            "time_index": dict(sorted(by_day.items())),
            "persona_index": dict(sorted(by_persona.items())),
            "importance_index": [{"memory_id": one.memory_id, "importance": one.importance} for one in top],
        }
        return json.dumps(whole, ensure_ascii=not _encodable(by_word, by_persona), indent=None).encode() + b"\n"


def keywords(memory: Memory) -> tuple[str, ...]:
    """Tags and keywords of the emotion as they are, and the words of the text that occur most, in small letters."""
    function = word_list("en").function
    counted = Counter(word for word in words(memory.full_text[:4000]) if len(word) > 1 and word not in function)
    felt = memory.emotion.keywords if memory.emotion else ()
    return tuple(dict.fromkeys((*memory.tags, *felt, *(word for word, _ in counted.most_common(_WORDS)))))


def _encodable(*keyed: dict[str, list[str]]) -> bool:
    try:
        for mapping in keyed:
            "".join([*mapping, *(name for names in mapping.values() for name in names)]).encode()
    except UnicodeEncodeError:
        return False
    return True
