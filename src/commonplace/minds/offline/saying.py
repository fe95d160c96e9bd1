"""Something that could be said, and how the two who talk call what it is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from commonplace.minds.offline.grammar import english, speech
from commonplace.minds.offline.grammar.grammar import grammar
from commonplace.minds.offline.scene import Scene


@dataclass(slots=True)
class Saying:
    """Something that could be said. Weighed, and joined with its twins, while it is collected; not changed later."""

    ids: tuple[int, ...]
    """The memories it rests on; twins share a saying."""
    rule: str
    slots: Mapping[str, str]
    weight: int
    mark: str
    """Its own words, lower case: what would make saying it again a repetition."""
    words: frozenset[str]
    facts: tuple[str, ...] = ()
    asks: bool = False
    """Whether it is put to the hearer about themselves."""


def own_doing(scene: Scene, doing: str) -> str:
    """What I did in my own words to this hearer."""
    return speech.addressed(speech.taken(doing, scene.me.pronoun, "my"), scene.you.name, scene.you.called)


_LONG = frozenset({"which", "that", "who", "until", "as", "while", "when", "before", "after", "he", "she", "they", "I"})


def brief(doing: str) -> str:
    """A doing short enough to have words after it; empty for a longer one."""
    parts = doing.split(" ")
    return doing if len(parts) <= 5 and not _LONG & set(parts) else ""


def speech_place(scene: Scene, name: str) -> str:
    """A place as these two call it: `my flat`, `your flat`, `the workshop`."""
    place = english.named(name)
    for called, own in ((scene.me.called, "my"), (scene.you.called, "your")):
        if place.startswith(f"{called}'s "):
            return f"{own} {place[len(called) + 3 :]}"
    return place


def whereabouts(scene: Scene, frame: Mapping[str, str]) -> dict[str, str]:
    name = frame.get("place_name", "")
    place = speech_place(scene, name)
    return {"at": f"{english.at(name).split(' ', 1)[0]} {place}" if place else "", "place": place}


def pronouns(frame: Mapping[str, str]) -> dict[str, str]:
    pronoun = frame.get("pronoun", "")
    return {"he": pronoun, "him": speech.OBJECT[pronoun]} if pronoun in {"she", "he"} else {}


def is_worth_telling(scene: Scene, doing: str) -> bool:
    """Not sleeping, not walking somewhere, and in the -ing form that fits the templates."""
    first = doing.split(" ", 1)[0]
    if doing.startswith((*fillers(scene.me.language), *_SIMULATED)):
        return False
    return first.endswith("ing") and first not in scene.rules.words("faint") and "talking" not in first


_SIMULATED = (
    "saying ",
    "getting ready to leave",
    "just arriving",
    "having no luck",
    "talking with",
    "going to ",
    "looking over",
    "carrying on",
)
"""How doings begin that nobody would speak of."""


@lru_cache(maxsize=4)
def fillers(language: str) -> tuple[str, ...]:
    """How those things begin that one does to fill the time: nobody speaks of them."""
    found: set[str] = set()
    for name, lines in grammar(language).rules.items():
        if name.startswith(("part.", "hours.", "rest.short")) and not name.endswith(".event"):
            found.update(line.pieces[0] for line in lines if len(line.pieces[0]) > 6)
    return tuple(sorted(found))
