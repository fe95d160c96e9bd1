"""Somebody whom the plaza does not know: a stranger with a secret, as a file describes her."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("zola.yaml")
ZOLA = FILE.read_text(encoding="utf-8")


def zola(**changes: Any) -> dict[str, Any]:
    """The same as JSON, with other values of some keys; those given as None are left out."""
    given: dict[str, Any] = {
        "id": "zola",
        "name": "Zola Brandt",
        "age": 34,
        "pronoun": "she",
        "work": "surveyor",
        "traits": ["talkative", "curious"],
        "background": "Zola has come with a suitcase of maps.",
        "goals": ["to find somebody who can keep a secret"],
        "home": "cafe",
        "routine": [
            {"at": "06:30", "do": "waking up", "place": "cafe"},
            {"at": "07:30", "do": "drinking coffee", "place": "cafe"},
            {"at": "12:00", "do": "measuring the square", "place": "square"},
            {"at": "18:00", "do": "walking about with a map", "place": "square"},
            {"at": "23:00", "do": "sleeping", "place": "cafe"},
        ],
        "relations": [
            {"to": "ines", "label": "old friend", "warmth": 60, "summary": "They learnt to read maps together."}
        ],
        "memories": [
            {
                "text": "Zola found an old tunnel under the fountain, and nobody else knows of it.",
                "importance": 9,
                "topic": "tunnel",
                "tell": ["There is an old tunnel under the fountain, and nobody knows of it."],
            },
            {"text": "Zola rents the room above the café.", "importance": 3},
        ],
        **changes,
    }
    return {key: value for key, value in given.items() if value is not None}
