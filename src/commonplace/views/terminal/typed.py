"""What a line typed in god mode means: a sentence that happens, or a command that begins with `/`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from commonplace.text import clean
from commonplace.views.town import Town

VERBS = ("use", "open", "close", "take", "drop")


@dataclass(frozen=True, slots=True)
class Intent:
    """An input as typed: its body, and its preview where none has to be asked for."""

    body: Mapping[str, Any]
    preview: str = ""


def parsed(text: str, town: Town) -> Intent | None:
    """What a line means; None when a command names nobody or cannot be understood."""
    text = clean(text)
    command, _, rest = text.partition(" ")
    if not command.startswith("/"):
        return Intent({"kind": "god", "text": text})
    agent, words = _named(rest, {id: (name, town.short(id)) for id, name in town.names.items()})
    maker = _COMMANDS.get(command)
    return maker(agent, words, town) if maker and agent else None


def _voice(agent: str, words: str, town: Town) -> Intent | None:
    if not words:
        return None
    return Intent({"kind": "voice", "agent_id": agent, "text": words}, f"{town.names[agent]}: “{words}”")


def _do(agent: str, words: str, town: Town) -> Intent | None:
    """`/do mira go plaza`, `/do mira say Odalys: hello`, `/do mira use stock pot`, `/do mira wait`."""
    action = _action(words, town)
    if action is None:
        return None
    return Intent({"kind": "take_over", "agent_id": agent, "action": action}, f"{town.names[agent]}: {words}")


def _action(words: str, town: Town) -> dict[str, str] | None:
    verb, _, rest = words.partition(" ")
    verb = verb.lower()
    if verb == "go":
        area, _ = _named(rest, {id: (room.name,) for id, room in town.rooms.items()})
        return {"kind": "MOVE", "to_location_id": area} if area else None
    if verb == "say":
        hearer, said = _named(rest, {id: (name, town.short(id)) for id, name in town.names.items()})
        said = said.lstrip(": ")
        return {"kind": "SAY", "to_agent_id": hearer, "utterance": said} if hearer and said else None
    if verb in VERBS:
        thing, _ = _named(rest, {id: (name,) for id, name in town.objects.items()})
        return {"kind": "INTERACT", "object_id": thing, "verb": verb.upper()} if thing else None
    return {"kind": "IDLE", "doing": rest or "waiting"} if verb == "wait" else None


def _release(agent: str, words: str, town: Town) -> Intent | None:
    del words
    return Intent({"kind": "give_back", "agent_id": agent}, f"{town.names[agent]} ↺")


def _leave(agent: str, words: str, town: Town) -> Intent | None:
    del words
    return Intent({"kind": "leave", "agent_id": agent}, f"{town.names[agent]} ←")


def _join(agent: str, words: str, town: Town) -> Intent | None:
    area, _ = _named(words, {id: (room.name,) for id, room in town.rooms.items()})
    return Intent({"kind": "join", "agent_id": agent, "area": area}, f"{town.names[agent]} → {words}") if area else None


_COMMANDS: Mapping[str, Callable[[str, str, Town], Intent | None]] = {
    "/voice": _voice,
    "/do": _do,
    "/release": _release,
    "/leave": _leave,
    "/join": _join,
}


def _named(text: str, known: Mapping[str, tuple[str, ...]]) -> tuple[str, str]:
    """(id, what follows) of the longest id or name the text begins with, whatever the case; empty for none."""
    folded = text.lower()
    found = ("", "")
    longest = 0
    for id, names in known.items():
        for name in (id, *names):
            after = folded[len(name) : len(name) + 1]
            if len(name) > longest and folded.startswith(name.lower()) and not after.isalnum():
                found, longest = (id, text[len(name) :].strip()), len(name)
    return found
