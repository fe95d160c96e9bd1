"""God mode: a line to type in. What it will do is previewed before it is applied."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from commonplace.errors import CommonplaceError
from commonplace.languages import phrases
from commonplace.minds.tasks.act import OFFERED
from commonplace.parts.live.source import Source
from commonplace.scenario.compiling import SUFFIXES
from commonplace.text import clean
from commonplace.views.town_names import TownNames
from commonplace.world.actions import ACTIONS
from commonplace.world.tree import VERBS


class CommandScreen(ModalScreen[str]):
    """A line at the bottom. Its result is the confirmation; empty when cancelled."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", "cancel")]

    def __init__(self, source: Source, town: TownNames, muted: str) -> None:
        super().__init__()
        self.source = source
        self.town = town
        self.muted = muted
        self.previewed = ""
        self.busy = False

    def compose(self) -> ComposeResult:
        """Builds the line and its preview."""
        with Vertical(id="command"):
            yield Static(
                Text(phrases(self.town.language, "terminal")["god_mode"], self.muted), id="preview", markup=False
            )
            yield Input(placeholder="…", id="sentence", select_on_focus=False)

    def on_mount(self) -> None:
        """Puts the cursor into the line."""
        line = self.query_one(Input)
        line.cursor_blink = False  # twice a second it would paint a view in which nothing changes
        line.focus()

    def on_input_changed(self) -> None:
        """Drops the preview of another text."""
        self.previewed = ""

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Previews at the first Enter and applies at the second."""
        event.stop()
        intent = parsed(event.value, self.town)
        if self.busy or not clean(event.value):
            return
        if intent is None:
            self._say(phrases(self.town.language, "terminal")["no_name"])
            return
        self.busy = True
        text = event.value
        apply = self.previewed == text
        self.run_worker(lambda: self._work(intent, text, apply=apply), thread=True, exit_on_error=False)

    def action_cancel(self) -> None:
        """Closes without a change."""
        self.dismiss("")

    def _work(self, intent: TypedInput, text: str, *, apply: bool) -> None:
        """Runs in a worker thread: a mind may have to be asked."""
        try:
            if apply:
                confirmation = self.source.submit(intent.body)
                self.app.call_from_thread(self._applied, confirmation or "✓")
            else:
                preview = intent.preview or self.source.preview(
                    str(intent.body["text"]), str(intent.body.get("agent_id", ""))
                )
                self.app.call_from_thread(self._previewed, text, preview)
        except CommonplaceError as error:
            self.app.call_from_thread(self._failed, str(error))

    def _applied(self, confirmation: str) -> None:
        if self.is_current:  # else it was left while the input was on its way
            self.dismiss(confirmation)

    def _previewed(self, text: str, preview: str) -> None:
        self.busy = False
        self.previewed = text
        self._say(preview, phrases(self.town.language, "terminal")["again"])

    def _failed(self, why: str) -> None:
        self.busy = False
        self._say(why)

    def _say(self, text: str, hint: str = "") -> None:
        lines = Text("\n").join(Text(clean(line)) for line in text.splitlines())
        self.query_one("#preview", Static).update(Text.assemble(lines, "\n" if hint else "", (hint, self.muted)))


# ── what a typed line means: a sentence that happens, or a command that begins with `/` ───────────────────────────────


@dataclass(frozen=True, slots=True)
class TypedInput:
    """An input as typed: its body, and its preview where none has to be asked for."""

    body: Mapping[str, Any]
    preview: str = ""


def parsed(text: str, town: TownNames) -> TypedInput | None:
    """Reads a line. Returns None when a command names nobody or cannot be understood."""
    text = clean(text)
    command, _, rest = text.partition(" ")
    if not command.startswith("/"):
        return TypedInput({"kind": "god", "text": text})
    agent, words = _named(rest, _known("to_agent_id", town))
    if command == "/join" and not agent:
        return _newcomer(rest, town)
    maker = _COMMANDS.get(command)
    return maker(agent, words, town) if maker and agent else None


def _voice(agent: str, words: str, town: TownNames) -> TypedInput | None:
    if not words:
        return None
    return TypedInput({"kind": "voice", "agent_id": agent, "text": words}, f"{town.names[agent]}: “{words}”")


def _do(agent: str, words: str, town: TownNames) -> TypedInput | None:
    """Reads `/do mira go plaza`, `/do mira say Odalys: hello`, `/do mira use stock pot` or `/do mira wait`.

    Anything else is an attempt: `/do mira I tear up everybody's tabs`.
    """
    action = _action(words, town)
    if action is None:
        typed = {kind.typed for kind in ACTIONS.values()}
        tries = bool(words) and words.partition(" ")[0].lower() not in typed
        return TypedInput({"kind": "attempt", "agent_id": agent, "text": words}) if tries else None
    return TypedInput({"kind": "take_over", "agent_id": agent, "action": action}, f"{town.names[agent]}: {words}")


def _action(words: str, town: TownNames) -> dict[str, str] | None:
    typed, _, rest = words.partition(" ")
    is_verb = typed.upper() in VERBS
    kind = next((kind for kind in ACTIONS.values() if kind.typed == ("" if is_verb else typed.lower())), None)
    if kind is None or not typed:
        return None
    action = {"kind": kind.name} | ({"verb": typed.upper()} if is_verb else {})
    for target in kind.targets:
        if target not in action:
            action[target], rest = _named(rest, _known(target, town))
    if kind.words:
        action[kind.words] = rest.lstrip(": ") or ("" if kind.targets else "waiting")
    return action if all(action.values()) else None


def _known(target: str, town: TownNames) -> Mapping[str, tuple[str, ...]]:
    """Maps the id of each possible target to its names."""
    match OFFERED[target]:
        case "people":
            return {id: (name, town.short(id)) for id, name in town.names.items()}
        case "places":
            return {id: (room.name,) for id, room in town.rooms.items()}
        case "things":
            return {id: (name,) for id, name in town.objects.items()}


def _release(agent: str, words: str, town: TownNames) -> TypedInput | None:
    del words
    return TypedInput({"kind": "give_back", "agent_id": agent}, f"{town.names[agent]} ↺")


def _leave(agent: str, words: str, town: TownNames) -> TypedInput | None:
    del words
    return TypedInput({"kind": "leave", "agent_id": agent}, f"{town.names[agent]} ←")


def _join(agent: str, words: str, town: TownNames) -> TypedInput | None:
    area, _ = _named(words, _known("to_location_id", town))
    body = {"kind": "join", "agent_id": agent, "area": area}
    return TypedInput(body, f"{town.names[agent]} → {words}") if area else None


def _newcomer(words: str, town: TownNames) -> TypedInput | None:
    """Reads `/join zola.yaml Lattice Plaza`: a file that describes somebody new. The place may be left out."""
    found = _FILE.fullmatch(words)
    if found is None:
        return None
    file, place = found[1], found[2] or ""
    area, _ = _named(place, _known("to_location_id", town))
    if place and not area:
        return None
    return TypedInput({"kind": "join", "newcomer": file, "area": area}, f"{file} → {place or '⌂'}")


_FILE = re.compile(rf"(.+?(?:{'|'.join(map(re.escape, SUFFIXES))}))(?: (.+))?")


def _set(agent: str, words: str, town: TownNames) -> TypedInput | None:
    """Reads `/set mira place Lattice Plaza` or `/set mira relation.jun.warmth -40`."""
    field, _, value = words.partition(" ")
    if not value:
        return None
    body = {"kind": "set", "agent_id": agent, "field": field, "value": value}
    return TypedInput(body, f"{town.names[agent]}: {field} → {value}")


_COMMANDS: Mapping[str, Callable[[str, str, TownNames], TypedInput | None]] = {
    "/voice": _voice,
    "/do": _do,
    "/release": _release,
    "/leave": _leave,
    "/join": _join,
    "/set": _set,
}


def _named(text: str, known: Mapping[str, tuple[str, ...]]) -> tuple[str, str]:
    """Returns (id, what follows) of the longest id or name the text begins with, in any case; empty for none."""
    folded = text.lower()
    found = ("", "")
    longest = 0
    for id, names in known.items():
        for name in (id, *names):
            after = folded[len(name) : len(name) + 1]
            if len(name) > longest and folded.startswith(name.lower()) and not after.isalnum():
                found, longest = (id, text[len(name) :].strip()), len(name)
    return found
