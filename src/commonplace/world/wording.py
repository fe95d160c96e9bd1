"""The few words the simulator itself says: what a body is seen doing, and why something did not work.

They are history (a body's `doing` is stored), so they come from this table and never from a locale. The Korean phrases
are made so that no particle depends on the last sound of a name.
"""

from __future__ import annotations

from typing import Literal

Phrase = Literal[
    "walking", "arriving", "leaving", "waiting", "closed", "talking", "trying", "refused", "passage",
    "USE", "OPEN", "CLOSE", "TAKE", "DROP",
]  # fmt: skip

WORDS: dict[str, dict[Phrase, str]] = {
    "en": {
        "walking": "walking to {name}",
        "arriving": "just arriving",
        "leaving": "getting ready to leave for {name}",
        "waiting": "standing at the closed way to {name}",
        "closed": "the way to {name} is closed",
        "talking": "talking with {name}",
        "trying": "having no luck with the {name}",
        "refused": "that does not work now",
        "passage": "the way from {start} to {end}",
        "USE": "using the {name}",
        "OPEN": "opening the {name}",
        "CLOSE": "closing the {name}",
        "TAKE": "taking the {name}",
        "DROP": "putting down the {name}",
    },
    "ko": {
        "walking": "{name} 쪽으로 걸어가는 중",
        "arriving": "막 도착하는 중",
        "leaving": "{name} 쪽으로 나설 준비를 하는 중",
        "waiting": "{name} 쪽으로 가는 막힌 길 앞에 서 있는 중",
        "closed": "{name} 쪽으로 가는 길이 막혀 있다",
        "talking": "{name} 님과 이야기하는 중",
        "trying": "{name} 앞에서 애쓰는 중",
        "refused": "지금은 되지 않는다",
        "passage": "{start}에서 {end} 쪽으로 가는 길",
        "USE": "{name} 사용하는 중",
        "OPEN": "{name} 여는 중",
        "CLOSE": "{name} 닫는 중",
        "TAKE": "{name} 집어 드는 중",
        "DROP": "{name} 내려놓는 중",
    },
}

HANDLING: dict[str, Phrase] = {"USE": "USE", "OPEN": "OPEN", "CLOSE": "CLOSE", "TAKE": "TAKE", "DROP": "DROP"}
"""Verb → the phrase for somebody doing it."""


def say(language: str, phrase: Phrase, **names: str) -> str:
    """The phrase in `en` or `ko`. Raises KeyError for another language."""
    return WORDS[language][phrase].format(**names)
