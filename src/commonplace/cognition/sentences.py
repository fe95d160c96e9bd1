"""How the simulator words what becomes a memory: one template for each percept and kind of plan, in each language.

Memories of what happened are made of these sentences and never of a model's claims. Third person; what others do in
the present tense, what one did oneself in the past.
"""

from __future__ import annotations

from collections.abc import Mapping

from commonplace.josa import ongoing, planned, resolved
from commonplace.languages import phrases

Frame = Mapping[str, str]


def wished(language: str, kind: str, **slots: str) -> str:
    """The words of a goal."""
    plain = f"{kind}_plain"
    said = phrases(language, "wishes")
    kind = plain if not slots.get("topic", "-") and plain in said else kind
    return resolved(said[kind].format_map(slots))


def _decided(doing: str) -> str:
    """An activity as what one decides on: `국물을 내기`, also of `국물을 내는 중`."""
    if ongoing(doing) != doing:  # it ends in 기
        return doing
    decided = planned(doing)
    return decided if decided != doing else f"{doing}이기"


def sentence(language: str, kind: str, **slots: str) -> str:
    """The sentence for one kind of percept or plan."""
    if language == "ko" and "doing" in slots:
        slots["to_do"] = f"{_decided(slots['doing'])}로"
        slots["doing"] = ongoing(slots["doing"])
    return resolved(phrases(language, "memories")[kind].format_map(slots))


def doing(language: str, kind: str, name: str = "") -> str:
    """The words for somebody who does nothing in particular."""
    return resolved(phrases(language, "doing")[kind].format(name=name))


def verb_word(language: str, verb: str) -> str:
    """`USE` as it reads in a sentence."""
    return phrases(language, "verbs").get(verb, verb.lower())


def the(name: str) -> str:
    """`stock pot` → `the stock pot`; names that begin with a capital, an article or Hangul stay as they are."""
    first = name[:1]
    return name if first.isupper() or not first.isascii() or name.startswith(("the ", "a ", "an ")) else f"the {name}"


def the_thing(language: str, name: str) -> str:
    """`Moon Courier machine` → `the Moon Courier machine`: an object is no person, whatever it is called."""
    has_owner = name.partition(" ")[0].endswith("'s")
    return (
        f"the {name}" if language == "en" and not has_owner and the(name) == name and name[:1].isupper() else the(name)
    )


def ended(text: str) -> str:
    """The text with a full stop where it has no end of its own."""
    return text if text.endswith((".", "!", "?", "…", "”", '"')) else f"{text}."


def capital(text: str) -> str:
    """The text with its first letter raised."""
    return text[:1].upper() + text[1:]


LOWERED = {
    "A", "An", "All", "Every", "It", "Its", "Nobody", "Nothing", "No", "None", "Somebody", "Someone",
    "That", "The", "There", "These", "They", "This", "You", "Your",
}  # fmt: skip


def lowered(text: str) -> str:
    """A refusal's sentence as the end of another: its first letter in lower case, unless a name begins with it."""
    return text[:1].lower() + text[1:] if text.split(" ", 1)[0] in LOWERED else text
