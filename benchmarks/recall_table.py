"""How much of what a question asks for comes back, on published conversations, side by side with BM25 and libraries.

    python benchmarks/recall_table.py [--locomo F] [--realtalk F] [--friendsqa F] [--qmsum F] [--memsim F]
        [--longmemeval F] [--limit N] [--json | --markdown]

F is a folder with the files as their authors publish them, or one of the files. docs/benchmarks.md says where the sets
are, and what counts as evidence in each. A turn is remembered as `Speaker: text [caption]`, whole. A cell is R@5 and
R@10: the share of a question's evidence among the first five and ten memories, averaged over the questions. `most` is
what is possible: evidence of 20 turns does not fit among ten. `random` is what comes back by chance.

No way asks a model that generates, and none the network. Rows with E5 need the extra `meaning`; mem0 and LangMem take
the same embedder, or the built-in one where it is missing. With --limit, N questions of each set, evenly spread.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from _conversations import (
    BESIDE,
    RELEVANCE,
    TERMS,
    Asked,
    Dialogue,
    K,
    Recalled,
    Way,
    averages,
    lower_words,
    pairs,
    plain_bm25,
    sentence_embedder,
    stems,
    through,
)
from _published import MEMSIM, PUBLISHED
from _rivals import WAYS, missing

from commonplace.memory import HashedEmbedder, policies


class Figure(NamedTuple):
    of: str
    """The set."""
    what: str
    """The way to recall."""
    dialogues: int
    turns: int
    questions: int
    first_five: float
    first_ten: float

    def __str__(self) -> str:
        return f"{self.first_five:.3f} / {self.first_ten:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for published in PUBLISHED:
        parser.add_argument(f"--{published.name.lower()}", type=Path, metavar="F", help=" or ".join(published.files))
    parser.add_argument("--limit", type=int, metavar="N", help="questions of each set")
    parser.add_argument("--json", action="store_true", help="a JSON object per figure")
    parser.add_argument("--markdown", action="store_true", help="a table for a page")
    options = parser.parse_args()
    if options.limit is not None and options.limit < 1:
        parser.error("--limit must be at least 1")
    named = [(published, getattr(options, published.name.lower())) for published in PUBLISHED]
    if not any(path for _, path in named) and BESIDE.is_dir():
        named = [(PUBLISHED[0], BESIDE)]
    sets = {one.name: limited(one.dialogues(path), options.limit) for one, path in named if path}
    if not sets:
        parser.print_help()
        return
    found: list[Figure] = []
    for figure in figures(sets):
        found.append(figure)
        if options.json:
            print(json.dumps(figure._asdict()), flush=True)
        print(f"{figure.of}: {figure.what} {figure}", file=sys.stderr, flush=True)
    if not options.json:
        print(table(found, markdown=options.markdown))


def limited(dialogues: list[Dialogue], limit: int | None) -> list[Dialogue]:
    """Leaves so many questions, evenly spread, and the dialogues that have any."""
    asked = [(place, entry) for place, dialogue in enumerate(dialogues) for entry in dialogue.asked]
    if limit is not None and limit < len(asked):
        asked = [asked[number * len(asked) // limit] for number in range(limit)]
    left = [
        dialogue._replace(asked=[entry for of, entry in asked if of == place])
        for place, dialogue in enumerate(dialogues)
    ]
    return [dialogue for dialogue in left if dialogue.asked]


def figures(sets: dict[str, list[Dialogue]]) -> Iterator[Figure]:
    embedder = sentence_embedder(None)
    ways: dict[str, Way] = {"most": most, "random": at_random, "BM25, words": plain_bm25(lower_words)}
    libraries: dict[str, Way] = {}
    for name, (packages, make) in WAYS.items():
        if absent := missing(packages):
            print(f"{name} is left out: {', '.join(absent)} not installed", file=sys.stderr)
            continue
        kind = "" if "bm25" in name else ", E5" if embedder else ", built-in embedder"
        libraries[name + kind] = make(embedder or HashedEmbedder())
    ways |= {name: way for name, way in libraries.items() if "bm25" in name}
    ways |= {"BM25, stems": most, "BM25, ours": through(TERMS), "lexical": through(policies.LEXICAL)}
    ways |= {name: way for name, way in libraries.items() if "bm25" not in name}
    if embedder:
        ways["cosine, E5"] = through(RELEVANCE, embedder)
    ways["recall"] = through(policies.RECALL)
    if embedder:
        ways["recall, E5"] = through(policies.RECALL, embedder)
    else:
        print("rows with E5 are left out: the extra [meaning] is not installed", file=sys.stderr)
    for name, dialogues in sets.items():
        ways["BM25, stems"] = plain_bm25(pairs if name == MEMSIM.name else stems)
        questions, turns = sum(len(one.asked) for one in dialogues), sum(len(one.texts) for one in dialogues)
        for what, way in ways.items():
            yield Figure(name, what, len(dialogues), turns, questions, *averages(dialogues, way)[:2])


def most(_: Dialogue) -> Recalled:
    return lambda entry: sorted(entry.evidence)[:K]


def at_random(dialogue: Dialogue) -> Recalled:
    places = range(len(dialogue.texts))

    def recalled(entry: Asked) -> list[int]:
        return Random(f"{dialogue.name} {entry.question}").sample(places, min(K, len(places)))

    return recalled


def table(figures: list[Figure], *, markdown: bool) -> str:
    """Returns the ways as rows and the sets as columns."""
    cells = {(figure.what, figure.of): figure for figure in figures}
    sets = {figure.of: figure for figure in figures}
    rows = [["R@5 / R@10", *sets]]
    for field in ("dialogues", "turns", "questions"):
        rows.append([field, *(f"{getattr(figure, field):,}" for figure in sets.values())])
    for what in dict.fromkeys(figure.what for figure in figures):
        rows.append([what, *(str(cells[what, of]) for of in sets)])
    if markdown:
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]])
    return "\n".join(row[0].ljust(26) + "".join(cell.rjust(16) for cell in row[1:]) for row in rows)


if __name__ == "__main__":
    main()
