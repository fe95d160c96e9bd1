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

from commonplace.parts.terminal.canvas import padded, stacked
from commonplace.parts.terminal.palette import Palette
from commonplace.text import clean, shortened
from commonplace.views.words import Key, word

Json = Mapping[str, Any]
_TRANSLATED = ("recency", "importance", "relevance")
"""Parts of a score with a word in `views.words` and a colour in the palette; others keep their name and share one."""


class WhyScreen(ModalScreen[None]):
    """The explanation over the town; Esc, `w` or `q` closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,w,enter", "app.pop_screen", "close")]

    def __init__(self, heading: Text, explanation: Json, palette: Palette, language: str) -> None:
        super().__init__()
        self.heading = heading
        self.text = why_text(explanation, palette, language)
        self.language = language

    def compose(self) -> ComposeResult:
        """A scrolling page."""
        with VerticalScroll(id="why") as page:
            page.border_title = word(self.language, "why")
            page.border_subtitle = "esc"
            yield Static(Text.assemble(self.heading, "\n"), markup=False)
            yield Static(self.text, markup=False)


def why_text(explanation: Json, palette: Palette, language: str) -> Text:
    """Plan, decision, what was remembered, asked and kept, and where it was heard; what is missing is left out."""
    writer = _Why(palette, language)
    writer.plan(_mapping(explanation.get("plan")))
    writer.reaction(_mapping(explanation.get("reaction")))
    writer.rules(_list(explanation.get("asked")), _list(explanation.get("lines")))
    writer.heard(explanation.get("heard_from"))
    for retrieval in _list(explanation.get("retrievals")):
        writer.retrieval(retrieval)
    writer.asked(_list(explanation.get("asked")))
    writer.stored(_list(explanation.get("stored")))
    return writer.text if writer.text else Text(word(language, "no reason"), palette.muted)


class _Why:
    """Writes the explanation part by part."""

    def __init__(self, palette: Palette, language: str) -> None:
        self.text = Text()
        self.palette = palette
        self.language = language

    def _title(self, key: Key, rest: str = "") -> None:
        self.text.append("\n" if self.text else "")
        self.text.append(f"{word(self.language, key)} ", f"bold {self.palette.accent}")
        self.text.append(f"{rest}\n", self.palette.muted)

    def _line(self, text: str, style: str = "") -> None:
        self.text.append(f"  {text}\n", style or self.palette.text)

    def plan(self, plan: Json) -> None:
        """The plan item in force."""
        item = _mapping(plan.get("item"))
        if item:
            start = _text(item.get("start_time"))[11:16]
            self._title("plan")
            self._line(f"{start} {_text(item.get('action_description'))}".strip())

    def reaction(self, reaction: Json) -> None:
        """What was decided, and the reason given."""
        if reaction:
            about = _text(reaction.get("target") or reaction.get("purpose"))
            self._title("reaction", " ".join([_text(reaction.get("decision")), about]).strip())
            if reaction.get("reason"):
                self._line(_text(reaction["reason"]))
            self._evidence(reaction.get("because"))

    def rules(self, asked: Sequence[Json], lines: Sequence[Json]) -> None:
        """The rows of tables that decided, with those that nearly did; lines with conditions, said or held back."""
        rows = [_mapping(one.get("row")) for one in asked if one.get("row")]
        for row in rows:
            self._title("rule", _text(row.get("row")))
            if held := " · ".join(map(_text, _items(row.get("when")))):
                self._line(held)
            for name, failed in row.get("nearly", ()):
                self._line(f"✗ {_text(name)}  {_text(failed)}", self.palette.muted)
        for line in lines:
            self._title("line", f"✗ {_text(line['failed'])}" if line.get("failed") else "")
            self._line(_text(line.get("say")))

    def _evidence(self, because: Any) -> None:
        ids = [f"#{_text(one)}" for one in _items(because)]
        if ids:
            self._line(f"{word(self.language, 'evidence')} {', '.join(ids)}", self.palette.muted)

    def heard(self, heard: Any) -> None:
        """Who told it first, as far as the run knows."""
        if heard:
            self._title("heard from")
            for one in _items(heard):
                self._line(_sentence(one))

    def retrieval(self, retrieval: Json) -> None:
        """The memories found, each with a bar of its weighted parts and the figures below."""
        purpose = " · ".join(_text(retrieval[key]) for key in ("purpose", "policy") if retrieval.get(key))
        self._title("retrieved", purpose)
        if retrieval.get("query"):
            self._line(f"? {_text(retrieval['query'])}", self.palette.muted)
        hits = _list(retrieval.get("hits"))
        most = max((_number(hit.get("score")) for hit in hits), default=0.0)
        for number, hit in enumerate(hits, 1):
            self._hit(number, hit, most)
        if hits:
            self._legend(hits[0])

    def _hit(self, number: int, hit: Json, most: float) -> None:
        palette, memory = self.palette, _mapping(hit.get("memory"))
        parts = {name: _mapping(part) for name, part in _mapping(hit.get("parts")).items()}
        amounts = [(_weighted(part), palette.bar(name)) for name, part in parts.items()]
        self.text.append(f"{_text(hit.get('rank') or number):>3} ", palette.faint)
        self.text.append(f"{_number(hit.get('score')):5.2f} ", f"bold {palette.text}")
        self.text.append_text(stacked(amounts, 12, most, palette.wall))
        self.text.append(f" #{_text(memory.get('id'))} ", palette.faint)
        self.text.append(f"{_text(memory.get('text')) or _text(hit.get('memory'))}\n", palette.text)
        self.text.append(" " * 10)
        for name, part in parts.items():
            raw, normalised, weight = (_number(part.get(key)) for key in ("raw", "normalised", "weight"))
            figures = f"{raw:.2f}→{normalised:.2f}×{weight:g}"
            self.text.append(f"{padded(self._part(name), 10).rstrip()} ", palette.bar(name))
            self.text.append(f"{figures}  ", palette.muted)
        self.text.append("\n")

    def _legend(self, hit: Json) -> None:
        names = list(_mapping(hit.get("parts")))
        self.text.append("          ")
        for name in names:
            self.text.append("█ ", self.palette.bar(name))
            self.text.append(f"{self._part(name)}  ", self.palette.muted)
        self.text.append("raw→normalised×weight\n", self.palette.faint)

    def _part(self, name: str) -> str:
        return word(self.language, cast("Key", name)) if name in _TRANSLATED else clean(name)

    def asked(self, asked: Sequence[Json]) -> None:
        """Questions to the mind, and what came back."""
        for one in asked:
            self._title("asked", f"{_text(one.get('task'))} · {_text(one.get('outcome'))}")
            if one.get("prompt"):
                self._line(shortened(_text(one["prompt"]), 600), self.palette.muted)
            if one.get("answer") is not None:
                self._line(f"→ {_sentence(one['answer'])}")

    def stored(self, stored: Sequence[Json]) -> None:
        """What was kept of it, and why or why not."""
        for one in stored:
            kept = one.get("stored", True)
            weight = f"{word(self.language, 'importance')} {_number(one.get('importance')):g}"
            self._title("stored" if kept else "not stored", f"{_text(one.get('kind'))} · {weight}")
            reason = f" – {_text(one['reason'])}" if one.get("reason") else ""
            self._line(_text(one.get("text")) + reason)


def _weighted(part: Json) -> float:
    return _number(part.get("normalised")) * _number(part.get("weight"))


def _mapping(value: Any) -> Json:
    return cast("Json", value) if isinstance(value, Mapping) else {}


def _items(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return list(cast("Sequence[Any]", value))
    return [] if value is None else [value]


def _list(value: Any) -> list[Json]:
    return [_mapping(one) for one in _items(value) if isinstance(one, Mapping)]


def _number(value: Any) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0


def _text(value: Any) -> str:
    return "" if value is None else clean(str(value))


def _sentence(value: Any) -> str:
    """A text as it is, a mapping as `key: value · …`, anything else as JSON."""
    if isinstance(value, Mapping):
        pairs = cast("Json", value).items()
        return " · ".join(f"{_text(key)}: {_sentence(inner)}" for key, inner in pairs if inner not in (None, "", []))
    return clean(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
