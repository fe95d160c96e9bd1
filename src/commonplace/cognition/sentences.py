"""How the simulator words what becomes a memory: one template for each percept and kind of plan, in each language.

Memories of what happened are made of these sentences and never of a model's claims. Third person; what others do in
the present tense, what one did oneself in the past.
"""

from __future__ import annotations

from commonplace.languages import phrases
from commonplace.languages.language import language as spoken
from commonplace.languages.language import said


def wished(language: str, kind: str, **slots: str) -> str:
    """Returns the words of a goal."""
    plain = f"{kind}_plain"
    is_plain = not slots.get("topic", "-") and plain in phrases(language, "wishes")
    return said(language, "wishes", plain if is_plain else kind, **slots)


def sentence(language: str, kind: str, **slots: str) -> str:
    """Returns the sentence for one kind of percept or plan."""
    return said(language, "memories", kind, **spoken(language).in_memory(slots))


def doing(language: str, kind: str, name: str = "") -> str:
    """Returns the words for somebody who does nothing in particular."""
    return said(language, "doing", kind, name=name)


def ended(text: str) -> str:
    """Returns the text with a full stop if it has no end mark."""
    return text if text.endswith((".", "!", "?", "…", "”", '"')) else f"{text}."


def capital(text: str) -> str:
    """Returns the text with a capital first letter."""
    return text[:1].upper() + text[1:]


LOWERED = {
    "A", "An", "All", "Every", "It", "Its", "Nobody", "Nothing", "No", "None", "Somebody", "Someone",
    "That", "The", "There", "These", "They", "This", "You", "Your",
}  # fmt: skip


def lowered(text: str) -> str:
    """Returns a refusal's sentence as the end of another one: it begins in lower case, unless it begins with a name."""
    return text[:1].lower() + text[1:] if text.split(" ", 1)[0] in LOWERED else text
