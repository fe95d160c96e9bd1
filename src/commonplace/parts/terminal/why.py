"""Why: everything that led to one event, as a page over the town."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from commonplace.memory.shapes import PartJSON
from commonplace.parts.terminal.canvas import padded, stacked
from commonplace.parts.terminal.palette import Palette
from commonplace.run.explained import AskedRow, AuthorLine, Hit, PlannedItem, Reacted, Reasons, Retrieved, StoredRow
from commonplace.run.why import heard_text
from commonplace.text import clean, shortened
from commonplace.views.words import Key, word

_TRANSLATED = ("recency", "importance", "relevance")
"""Parts of a score with a word in `views.words` and a colour in the palette; others keep their name and share one."""


class WhyScreen(ModalScreen[None]):
    """An explanation over the town; Esc, `w` or `q` closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,w,enter", "app.pop_screen", "close")]

    def __init__(self, heading: Text, text: Text, language: str) -> None:
        super().__init__()
        self.heading = heading
        self.text = text
        self.language = language

    def compose(self) -> ComposeResult:
        """Builds a scrolling page."""
        with VerticalScroll(id="why") as page:
            page.border_title = word(self.language, "why")
            page.border_subtitle = "esc"
            yield Static(Text.assemble(self.heading, "\n"), markup=False)
            yield Static(self.text, markup=False)


def why_text(why: Reasons, palette: Palette, language: str) -> Text:
    """Writes plan, decision, what was remembered, asked and kept, and where it was heard.

    Missing parts are left out.
    """
    writer = _Why(palette, language)
    if item := why["plan"]["item"]:
        writer.plan(item)
    if why["reaction"]:
        writer.reaction(why["reaction"])
    writer.rules(why["asked"], why["lines"])
    if why["heard_from"]:
        writer.title("heard from")
    for row in why["heard_from"]:
        writer.line(clean(heard_text(row)))
    for retrieved in why["retrievals"]:
        writer.retrieval(retrieved)
    writer.asked(why["asked"])
    writer.stored(why["stored"])
    return writer.text if writer.text else Text(word(language, "no reason"), palette.muted)


def retrievals_text(retrievals: Sequence[Retrieved], palette: Palette, language: str) -> Text:
    """Writes each search with every part of every score."""
    writer = _Why(palette, language)
    for retrieved in retrievals:
        writer.retrieval(retrieved)
    return writer.text if writer.text else Text(word(language, "no reason"), palette.muted)


class _Why:
    """A writer of the explanation, part by part."""

    def __init__(self, palette: Palette, language: str) -> None:
        self.text = Text()
        self.palette = palette
        self.language = language

    def title(self, key: Key, rest: str = "") -> None:
        """Writes the title of the following lines."""
        self.text.append("\n" if self.text else "")
        self.text.append(f"{word(self.language, key)} ", f"bold {self.palette.accent}")
        self.text.append(f"{rest}\n", self.palette.muted)

    def line(self, text: str, style: str = "") -> None:
        """Writes a line below a title."""
        self.text.append(f"  {text}\n", style or self.palette.text)

    def plan(self, item: PlannedItem) -> None:
        """Writes the plan item in force."""
        self.title("plan")
        self.line(f"{item['start_time'][11:16]} {clean(item['action_description'])}")

    def reaction(self, reaction: Reacted) -> None:
        """Writes what was decided, and the reason given."""
        about = reaction.get("target") or reaction.get("purpose", "")
        self.title("reaction", clean(f"{reaction['decision']} {about}"))
        if reaction["reason"]:
            self.line(clean(reaction["reason"]))
        if because := reaction.get("because"):
            ids = ", ".join(f"#{memory}" for memory in because)
            self.line(f"{word(self.language, 'evidence')} {ids}", self.palette.muted)

    def rules(self, asked: Sequence[AskedRow], lines: Sequence[AuthorLine]) -> None:
        """Writes the table rows that decided or nearly did, and the lines with conditions, said or held back."""
        for row in (one["row"] for one in asked if one["row"]):
            self.title("rule", clean(row["row"]))
            if row["when"]:
                self.line(" · ".join(map(clean, row["when"])))
            for name, failed in row["nearly"]:
                self.line(f"✗ {clean(name)}  {clean(failed)}", self.palette.muted)
        for line in lines:
            self.title("line", f"✗ {clean(line['failed'])}" if line["failed"] else "")
            self.line(clean(line["say"]))

    def retrieval(self, retrieved: Retrieved) -> None:
        """Writes the memories found, each with a bar of its weighted parts and the figures below."""
        purpose = " · ".join(clean(name) for name in (retrieved["purpose"], retrieved["policy"]) if name)
        self.title("retrieved", purpose)
        if retrieved["query"]:
            self.line(f"? {clean(retrieved['query'])}", self.palette.muted)
        hits = retrieved["hits"]
        most = max((hit["score"] for hit in hits), default=0.0)
        for hit in hits:
            self._hit(hit, most)
        if hits:
            self._legend(hits[0]["parts"])

    def _hit(self, hit: Hit, most: float) -> None:
        palette, memory, parts = self.palette, hit["memory"], hit["parts"]
        amounts = [(part["normalised"] * part["weight"], palette.bar(name)) for name, part in parts.items()]
        self.text.append(f"{hit['rank']:>3} ", palette.faint)
        self.text.append(f"{hit['score']:5.2f} ", f"bold {palette.text}")
        self.text.append_text(stacked(amounts, 12, most, palette.wall))
        self.text.append(f" #{memory['id'] if memory else '?'} ", palette.faint)
        self.text.append(f"{clean(memory['text']) if memory else ''}\n", palette.text)
        self.text.append(" " * 10)
        for name, part in parts.items():
            figures = f"{part['raw']:.2f}→{part['normalised']:.2f}×{part['weight']:g}"
            self.text.append(f"{padded(self._part(name), 10).rstrip()} ", palette.bar(name))
            self.text.append(f"{figures}  ", palette.muted)
        self.text.append("\n")

    def _legend(self, parts: Mapping[str, PartJSON]) -> None:
        self.text.append("          ")
        for name in parts:
            self.text.append("█ ", self.palette.bar(name))
            self.text.append(f"{self._part(name)}  ", self.palette.muted)
        self.text.append("raw→normalised×weight\n", self.palette.faint)

    def _part(self, name: str) -> str:
        return word(self.language, cast("Key", name)) if name in _TRANSLATED else clean(name)

    def asked(self, asked: Sequence[AskedRow]) -> None:
        """Questions to the mind, and what came back."""
        for one in asked:
            self.title("asked", f"{one['task']} · {one['outcome']}")
            if one["prompt"]:
                self.line(shortened(clean(one["prompt"]), 600), self.palette.muted)
            if one["answer"] is not None:
                self.line(f"→ {_sentence(one['answer'])}")

    def stored(self, stored: Sequence[StoredRow]) -> None:
        """Writes what was kept of it, and why or why not."""
        for one in stored:
            weight = f"{word(self.language, 'importance')} {one['importance']:g}"
            self.title("stored" if one["stored"] else "not stored", f"{one['kind']} · {weight}")
            self.line(clean(one["text"]) + (f" – {clean(one['reason'])}" if one["reason"] else ""))


def _sentence(value: Any) -> str:
    """Returns a text as it is, a mapping as `key: value · …`, anything else as JSON."""
    if isinstance(value, Mapping):
        pairs = cast("Mapping[str, Any]", value).items()
        return " · ".join(f"{clean(key)}: {_sentence(inner)}" for key, inner in pairs if inner not in (None, "", []))
    return clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
