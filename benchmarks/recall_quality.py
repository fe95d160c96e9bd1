"""How much of what a question asks for comes back, per way of recalling and per set of conversations.

    python benchmarks/recall_quality.py [--data FOLDER] [--model FOLDER] [--quick] [--json] [--fits]

The sets are those of `benchmarks/data`, written for this, and LoCoMo's dialogues if `--data` names their folder. A turn
is remembered as `Speaker: text [caption]`. R@5 and R@10 are the share of a question's evidence among the first five and
ten memories, averaged over questions; `turns` is the share of all evidence among the first ten. `scripts` are facts in
26 languages of 18 scripts, all in one stream, each with a question that has a word of it, often inflected.

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
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import NamedTuple

import numpy as np
from _conversations import (
    BESIDE,
    RELEVANCE,
    TERMS,
    Asked,
    Dialogue,
    Way,
    asked_of,
    averages,
    lower_words,
    pairs,
    plain_bm25,
    remembered,
    sentence_embedder,
    share,
    stems,
    through,
)
from _published import LOCOMO

from commonplace.memory import Embedder, MemoryStream, Policy, policies

DATA = Path(__file__).parent / "data"
STEP = 4
"""Of the questions of other conversations, every fourth is asked."""
GRID = {
    "neighbours_weight": (0.3, 0.4, 0.5),
    "named_weight": (0.2, 0.3),
    "grammar": (0.3, 0.5),
}
"""Fields → values leave-one-out chooses from."""


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
    if not any(folder.glob("*.json")):
        return found
    locomo = LOCOMO.dialogues(folder)
    slowly = [hours_apart(dialogue) for dialogue in locomo]
    return {**found, "locomo": locomo, "locomo, slowly": slowly, "locomo, as notes": list(map(as_notes, locomo))}


def figures(of: str, dialogues: list[Dialogue], embedder: Embedder | None, *, held_out: bool) -> Iterator[Figure]:
    korean = "-ko" in of
    apart = replace(policies.RECALL, name="apart", neighbours_weight=0.0)
    ways: dict[str, Way] = {
        "park": through(policies.PARK),
        "cosine, hashed": through(RELEVANCE),
        "BM25, words": plain_bm25(lower_words),
        "BM25, pairs of syllables" if korean else "BM25, stems": plain_bm25(pairs if korean else stems),
        "BM25, ours": through(TERMS),
        "recall, no neighbours": through(apart),
        "recall": through(policies.RECALL),
    }
    if korean and find_spec("kiwipiepy") is not None:
        ways["BM25, kiwi"] = through(TERMS, analyser="kiwi")
        ways["recall, kiwi"] = through(policies.RECALL, analyser="kiwi")
    if embedder is not None:
        ways["cosine, sentence model"] = through(RELEVANCE, embedder)
        ways["recall, sentence model"] = through(policies.RECALL, embedder)
    for what, way in ways.items():
        fair = None
        if held_out and of == "locomo" and what in ("recall", "recall, sentence model"):
            fair = left_out(dialogues, embedder if what != "recall" else None)
        yield Figure(of, what, *averages(dialogues, way), held_out=fair)


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


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


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
    return sum(share(entry.evidence, asked_of(stream, dialogue, entry, policy)) for entry in dialogue.asked)


if __name__ == "__main__":
    main()
