"""What a prompt of Python and a notebook show, and runs without an event loop."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

import commonplace
from commonplace.memory import MemoryStream

NOON = datetime(2031, 10, 4, 12, tzinfo=UTC)


@pytest.fixture
def stream() -> MemoryStream:
    stream = MemoryStream("maria")
    for number in range(12):
        stream.remember(f"a <b>heron</b>, number {number}", at=NOON, importance=5)
    return stream


def test_a_stream_says_whose_it_is_and_shows_its_latest_memories(stream):
    assert repr(stream) == "<MemoryStream of maria: 12 memories>"
    shown = stream._repr_html_()
    assert "a &lt;b&gt;heron&lt;/b&gt;, number 11" in shown
    assert "number 1<" not in shown
    assert "the latest 10 of 12 memories of maria" in shown


def test_an_explanation_of_a_retrieval_is_text_and_keeps_its_lines_in_a_notebook(stream):
    explained = stream.explain(stream.recall("heron", at=NOON, k=2))
    assert explained.splitlines()[0].split()[:2] == ["rank", "score"]
    assert explained._repr_html_().startswith("<pre>rank")
    assert "&lt;b&gt;" in explained._repr_html_()


def test_a_run_is_played_without_a_loop_and_left_at_any_tick(tmp_path):
    with commonplace.create_run(tmp_path / "a.run", "plaza") as run:
        assert repr(run) == f"<Run {tmp_path / 'a.run'}: {run.scenario.part.title}, tick 0>"
        assert [tick.number for tick in run.play_sync(ticks=3)] == [1, 2, 3]
        for tick in run.play_sync(until=9):
            if tick.number == 5:
                break
        assert run.tick == 5
    with commonplace.create_run(tmp_path / "b.run", "plaza") as run:

        async def play() -> None:
            async for _ in run.play(ticks=5):
                pass

        asyncio.run(play())
    with commonplace.open_run(tmp_path / "a.run") as one, commonplace.open_run(tmp_path / "b.run") as other:
        assert one.digest(state=True) == other.digest(state=True)
        assert repr(one).endswith("a.run: plaza, tick 5>")


def test_where_a_loop_runs_already_the_other_way_is_named(tmp_path):
    async def wrong(run: commonplace.Run) -> None:
        next(run.play_sync(ticks=1))

    with (
        commonplace.create_run(tmp_path / "a.run", "plaza") as run,
        pytest.raises(commonplace.UsageError, match="event loop"),
    ):
        asyncio.run(wrong(run))


def test_an_explanation_of_an_event_is_a_mapping_and_prints_as_text(tmp_path):
    with commonplace.create_run(tmp_path / "a.run", "plaza") as run:
        list(run.play_sync(ticks=2))
        event = run.reading.events(2, 2)[-1]
        explained = run.why(event.id)
    assert explained["event"]["id"] == event.id
    assert event.id in str(explained)
    assert explained._repr_html_().startswith("<pre>")
