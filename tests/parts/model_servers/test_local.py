"""`local:`: a file is looked at before anything is loaded, and what is wrong with it is said in a line."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from unittest.mock import MagicMock

import pytest

from commonplace.api import mind_named
from commonplace.errors import UsageError
from commonplace.memory import FactsByMind, MemoryStream
from commonplace.scenario.compiling import load
from commonplace.testing.server import ModelServer


def test_a_file_that_is_missing_or_no_gguf_is_named(tmp_path) -> None:
    wrong = tmp_path / "wrong.gguf"
    wrong.write_bytes(b"PK\3\4 something else")
    for path, what in ((tmp_path / "none.gguf", "cannot be read"), (wrong, "not a GGUF"), (tmp_path, "cannot be read")):
        with pytest.raises(UsageError, match=what):
            mind_named(f"local:{path}", load("plaza"))


def test_without_the_library_the_extra_is_named(tmp_path, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    with pytest.raises(UsageError, match="xllamacpp") as raised:
        mind_named(f"local:{model}", load("plaza"))
    assert "[local]" in raised.value.hint


def test_a_model_that_finds_facts_is_loaded_once(tmp_path, monkeypatch) -> None:
    model = tmp_path / "model.gguf"
    model.write_bytes(b"GGUF")
    with ModelServer() as server:
        library = MagicMock()
        library.Server.return_value.listening_address = server.url.removesuffix("/v1")
        monkeypatch.setitem(sys.modules, "xllamacpp", library)
        stream = MemoryStream("maria", facts=FactsByMind(f"local:{model}"))
        for text in ("I moved to Lyon", "나는 부산으로 이사했다"):
            stream.remember(text, at=datetime(2031, 10, 4, tzinfo=UTC))
    assert [memory.text for memory in stream.search(tags=["fact"])] == ["나는 부산으로 이사했다", "I moved to Lyon"]
    assert library.Server.call_count == 1
