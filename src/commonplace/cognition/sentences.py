"""How the simulator words what happened: one template per kind of percept and language.

Memories are made of these sentences and never of a model's claims. Third person; what others do in the present tense,
what one did oneself in the past.
"""

from __future__ import annotations

from collections.abc import Mapping

Frame = Mapping[str, str]

_ENGLISH = {
    "doing": "{name} is {doing}.",
    "asleep": "{name} is asleep.",
    "arrived": "{name} comes in from {other_name}.",
    "left": "{name} leaves for {other_name}.",
    "joined": "{name} has come to {place_name}.",
    "gone": "{name} is gone from {place_name}.",
    "said": "{name} says to {to_name}: “{quote}”",
    "talk": "{name} is starting a conversation with {to_name}.",
    "acted": "{name} tries to {verb_word} {the_object}, but {why}",
    "thing": "{The_object} {words}.",
    "here": "{The_object} is at {place_name}.",
    "seen": "{seen}",
    "weather.rain": "It begins to rain.",
    "weather.storm": "A storm breaks over {root}.",
    "weather.snow": "It begins to snow.",
    "weather.fog": "Fog comes down over {root}.",
    "weather.cloudy": "Clouds cover the sky.",
    "weather.clear": "The sky clears.",
    "weather.over": "The rain stops.",
    "time.dawn": "Dawn comes to {root}.",
    "time.morning": "It is morning in {root}.",
    "time.midday": "It is midday in {root}.",
    "time.afternoon": "It is afternoon in {root}.",
    "time.evening": "Evening falls on {root}.",
    "time.night": "It is night in {root}.",
    "event": "{text}",
    "voice": "{name} has a thought that will not go away: {text}",
    "i_said": "{name} said to {to_name}: “{quote}”",
    "did": "{name} was {doing}.",
    "walked": "{name} walked to {to_place}.",
    "lost": "{name} reached for {the_object}, but {other_name} has it now.",
    "refused": "{name} tried to {verb_word} {the_object}, but {why}",
    "absent": "{name} looked for {the_object} at {place_name}, but it is not there.",
    "closed": "{name} wanted to go to {to_place}, but {why}.",
    "rejected": "{name} wanted to do something that could not be done: {why}.",
    "plan": "{name} plans to be {doing} at {place_name} from {start} to {end} on {weekday}.",
    "hour": "{name} means to spend {start} to {end} {doing}.",
    "new_plan": "{name} decides on {doing} at {place_name} at {start} on {weekday}.",
}

_ENGLISH_VERBS = {"USE": "use", "OPEN": "open", "CLOSE": "close", "TAKE": "take", "DROP": "put down"}

SENTENCES: Mapping[str, Mapping[str, str]] = {"en": _ENGLISH}
VERBS: Mapping[str, Mapping[str, str]] = {"en": _ENGLISH_VERBS}


def sentence(language: str, kind: str, **slots: str) -> str:
    """The sentence for one kind of percept. A language without a table of its own is worded in English."""
    return SENTENCES.get(language, _ENGLISH)[kind].format_map(slots)


def verb_word(language: str, verb: str) -> str:
    """`USE` as it reads in a sentence."""
    return VERBS.get(language, _ENGLISH_VERBS).get(verb, verb.lower())


def the(name: str) -> str:
    """`stock pot` → `the stock pot`; names that begin with a capital or an article stay as they are."""
    return name if name[:1].isupper() or name.startswith(("the ", "a ", "an ")) else f"the {name}"


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
    """A refusal's sentence as the end of another: its first letter lowered where it is no name's."""
    return text[:1].lower() + text[1:] if text.split(" ", 1)[0] in LOWERED else text
