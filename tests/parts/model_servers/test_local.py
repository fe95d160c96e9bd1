"""`local:`: a file is looked at before anything is loaded, and what is wrong with it is said in a line."""

from __future__ import annotations

import sys

import pytest

from commonplace.api import mind_named
from commonplace.errors import UsageError
from commonplace.scenario.compiling import load


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
