"""Why a memory was retrieved, and why another was not, in words and figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from commonplace.clock import iso
from commonplace.memory.columns import UNIT, micros
from commonplace.memory.policies import ALWAYS
from commonplace.memory.record import Memory
from commonplace.memory.retrieval import Retrieval, candidates, scored
from commonplace.memory.scoring import Part, ScoredMemory
from commonplace.memory.search import matching
from commonplace.memory.table import View
from commonplace.memory.truth import Truth
from commonplace.text import NotebookText, clean, shortened

NO_NOTES: Mapping[int, str] = {}

Reason = Literal[
    "retrieved",
    "unknown",
    "later",
    "expired",
    "forgotten",
    "excluded",
    "filtered",
    "barred",
    "older",
    "distant",
    "irrelevant",
    "repeated",
    "too_long",
    "outscored",
]


def explain(hits: Iterable[ScoredMemory], notes: Mapping[int, str] = NO_NOTES) -> NotebookText:
    """Returns a table with a line per hit: rank, score, each part as `raw → normalised × weight`, memory, and after it
    its note, by id.

    A fact is followed by the words it was made of. A part that is not normalised is shown once, and a weight of 1 not
    at all. Of a `Retrieval`, lines below say what
    made its vectors, that its question could not be embedded, and that nothing seems to fit.
    """
    below = list(_below(hits)) if isinstance(hits, Retrieval) else []
    notes = hits.notes if isinstance(hits, Retrieval) and hits.current else notes
    hits = list(hits)
    names = list(dict.fromkeys(name for hit in hits for name in hit.parts)) or ALWAYS
    lines = [["rank", "score", *names, "memory"]]
    for hit in hits:
        parts = [_shown(hit.parts.get(name)) for name in names]
        note = f" ({notes[hit.memory.id]})" if hit.memory.id in notes else ""
        if quote := hit.memory.quotes:
            source = f"#{quote.id}" if quote.id else "elsewhere"
            note += f" (from {source}: “{shortened(clean(quote.words), 80)}”)"
        text = f"#{hit.memory.id} {shortened(clean(hit.memory.text), 80)}{note}"
        lines.append([str(hit.rank), f"{hit.score:.4f}", *parts, text])
    if len(lines) == 1:
        return NotebookText("no memories")
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]) - 1)]
    rows = [
        "  ".join([*(cell.rjust(width) for cell, width in zip(line, widths, strict=False)), line[-1]]) for line in lines
    ]
    return NotebookText("\n".join([*rows, *below]))


def _below(found: Retrieval) -> Iterator[str]:
    if found.query_error:
        yield f"the question has no vector ({clean(found.query_error)}): every cosine is 0"
    elif found.measure and "cosine" in found.spreads:
        yield f"cosine by {found.measure.embedder}"
    if not found.fits:
        yield f"nothing here seems to be about the question (confidence {found.confidence:.2f})"


@dataclass(frozen=True, slots=True)
class WhyNot:
    """Why a memory is not among the hits of a retrieval; `str()` is the answer as a sentence."""

    id: int
    reason: Reason
    score: float | None = None
    """None if it did not compete."""
    cutoff: float | None = None
    """The score of the last hit; None without hits."""
    parts: dict[str, Part] | None = None
    note: str = ""
    nearest: int = 0
    """How many candidates the policy scores."""

    def __str__(self) -> str:
        sentence = _SENTENCES[self.reason].format(id=self.id, nearest=self.nearest)
        if self.score is not None and self.cutoff is not None:
            sentence += f": it scored {self.score:.4f}, the last one in {self.cutoff:.4f}"
        if self.parts:
            sentence += " (" + ", ".join(f"{name} {_shown(part)}" for name, part in self.parts.items()) + ")"
        return f"{sentence}. {self.note}".rstrip()


_SENTENCES: dict[Reason, str] = {
    "retrieved": "Memory {id} was retrieved",
    "unknown": "There is no memory {id}",
    "later": "Memory {id} was made after the question",
    "expired": "Memory {id} had expired at the time of the question",
    "forgotten": "Memory {id} is forgotten",
    "excluded": "Memory {id} was excluded by the caller",
    "filtered": "Memory {id} does not pass the filters",
    "barred": "Memory {id} has a tag or a word that the policy leaves out",
    "older": "The query was empty and memory {id} is not among the newest",
    "distant": "Memory {id} is not among the {nearest} nearest",
    "irrelevant": "Memory {id} is less relevant than the caller wanted",
    "repeated": "Memory {id} was left out because a hit says the same",
    "too_long": "Memory {id} scored high enough but did not fit into the token budget",
    "outscored": "Others scored higher than memory {id}",
}


def why_not(view: View, id: int, retrieval: Retrieval) -> WhyNot:
    """Returns the reason, found by scoring again as the retrieval did, but with the access times of now."""
    said = next((hit for hit, others in retrieval.repeats.items() if id in others), 0)
    if said:
        return WhyNot(id, "repeated", note=f"The hit is memory {said}.")
    reason = _absent(view, id, retrieval)
    return WhyNot(id, reason) if reason else _outscored(view, id, retrieval)


def _absent(view: View, id: int, retrieval: Retrieval) -> Reason | None:
    """Returns the reason, if it can be told without scoring."""
    policy = retrieval.policy
    reason: Reason | None = None
    if id in retrieval.ids:
        reason = "retrieved"
    elif not 1 <= id <= view.length:
        reason = "unknown"
    elif id > retrieval.length:
        reason = "later"
    elif not view.alive[id - 1]:
        reason = "forgotten"
    elif id in retrieval.excluded:
        reason = "excluded"
    elif view.table.created[id - 1] > micros(retrieval.at):
        reason = "later"
    elif (lasting := view.lasting(micros(retrieval.at))) is not None and not lasting[id - 1]:
        reason = "expired"
    elif retrieval.filters and not _passes(view, id, retrieval):
        reason = "filtered"
    elif (policy.without_tags or policy.without_words) and not view.table.competing(policy, view.length)[id - 1]:
        reason = "barred"
    elif not retrieval.spreads:
        reason = "older"
    return reason


def _passes(view: View, id: int, retrieval: Retrieval) -> bool:
    rows, tests = matching(view, retrieval.filters)
    return bool(rows[id - 1]) and all(test(view.table.record(id - 1)) for test in tests)


def _outscored(view: View, id: int, retrieval: Retrieval) -> WhyNot:
    policy = retrieval.policy
    then = View(view.table, retrieval.length, view.accessed[: retrieval.length])
    competing = candidates(then, policy, frozenset(retrieval.excluded), retrieval.at, retrieval.filters)
    truth = Truth(then, retrieval.at) if retrieval.current else None
    scores = scored(competing, retrieval.query, retrieval.vector, retrieval.spreads, None, truth)
    rows = scores.of.rows
    position = np.array([id - 1]) if rows is None else np.flatnonzero(rows == id - 1)
    if not len(position):
        return WhyNot(id, "distant", nearest=policy.nearest)
    (parts,) = scores.breakdown(position).parts()
    total = float(scores.totals[position[0]]) * UNIT
    last = retrieval.scores[-1] if retrieval.scores else None
    memory = then.memory(id - 1)
    since = memory.accessed_at >= retrieval.at and memory.accessed_at > memory.created_at
    note = f"It has been accessed since, at {iso(memory.accessed_at)}." if since else ""
    if truth and (untrue := truth.note(id)):
        note = f"It is {untrue}. {note}".rstrip()
    if retrieval.measure and retrieval.measure.of(parts) < retrieval.min_relevance:
        return WhyNot(id, "irrelevant", total, last, parts, note)
    fits = last is None or total > last + UNIT
    return WhyNot(id, "too_long" if fits and not since else "outscored", total, last, parts, note)


def _shown(part: Part | None) -> str:
    if part is None:
        return "–"
    weight = "" if part.weight == 1 else f" × {part.weight:g}"
    normalised = "" if part.raw == part.normalised else f" → {part.normalised:.4f}"
    return f"{part.raw:.4f}{normalised}{weight}"


class Citing(Protocol):
    """A stream, a draft, a snapshot, or anything else that finds memories by id."""

    def get(self, id: int) -> Memory: ...
    def __contains__(self, id: object) -> bool: ...


def tree(stream: Citing, id: int) -> str:
    """Returns the memory and, indented under it, the memories it cites or quotes, down to what was observed or done.

    A memory cited twice is expanded the first time. Raises UsageError for an unknown id; a forgotten memory is marked.
    """
    return "\n".join(_lines(stream, id, "", set()))


def _lines(stream: Citing, id: int, indent: str, opened: set[int]) -> Iterator[str]:
    if indent and id not in stream:
        yield f"{indent}#{id} (forgotten)"
        return
    memory = stream.get(id)
    cites = memory.citations or ((memory.quotes.id,) if memory.quotes else ())
    again = " (above)" if id in opened and cites else ""
    yield f"{indent}#{id} {clean(memory.kind)} {memory.importance:g}  {clean(memory.text)}{again}"
    if id in opened:
        return
    opened.add(id)
    for cited in cites:
        yield from _lines(stream, cited, f"{indent}  ", opened)
