"""Trees of reflections, down to what was seen."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from commonplace.errors import UsageError
from commonplace.memory import MemoryStream
from commonplace.memory.explain import tree

NOW = datetime(2031, 10, 4, 12, tzinfo=UTC)


@pytest.fixture
def stream() -> MemoryStream:
    stream = MemoryStream("maria")
    for text in ("Klaus reads about rent.", "Klaus maps empty shops.", "Ana bakes bread."):
        stream.remember(text, at=NOW, importance=4)
    stream.remember("Klaus studies gentrification.", at=NOW, importance=7, kind="reflection", citations=[1, 2])
    stream.remember("The street is changing.", at=NOW, importance=8, kind="reflection", citations=[4, 3, 2])
    return stream


def test_a_reflection_is_opened_down_to_what_was_seen(stream: MemoryStream) -> None:
    assert tree(stream, 5).splitlines() == [
        "#5 reflection 8  The street is changing.",
        "  #4 reflection 7  Klaus studies gentrification.",
        "    #1 observation 4  Klaus reads about rent.",
        "    #2 observation 4  Klaus maps empty shops.",
        "  #3 observation 4  Ana bakes bread.",
        "  #2 observation 4  Klaus maps empty shops.",
    ]


def test_a_reflection_met_twice_is_opened_once(stream: MemoryStream) -> None:
    stream.remember("It is all one.", at=NOW, kind="reflection", importance=9, citations=[4, 5])
    lines = tree(stream, 6).splitlines()
    assert sum("Klaus reads about rent." in line for line in lines) == 1
    assert "    #4 reflection 7  Klaus studies gentrification. (above)" in lines


def test_what_was_forgotten_is_named_as_such(stream: MemoryStream) -> None:
    stream.forget([1])
    assert "    #1 (forgotten)" in tree(stream, 5).splitlines()


def test_there_is_no_tree_of_nothing(stream: MemoryStream) -> None:
    with pytest.raises(UsageError):
        tree(stream, 99)
