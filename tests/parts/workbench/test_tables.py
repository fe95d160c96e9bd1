"""Tables of a run: in Python, in a notebook, as files."""

from __future__ import annotations

import csv
import json
import sys

import pandas
import pyarrow.parquet
import pytest

from commonplace.analysis.tables import TABLES, Table
from commonplace.api import open_run
from commonplace.errors import UsageError
from e2e.command import command


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_columns_of_one_length_that_a_data_frame_takes(town, name):
    with open_run(town) as run:
        table = run.table(name)
        frame = pandas.DataFrame(table)
    assert len(frame) > 0
    assert list(frame.columns) == list(table)
    for column in table.values():
        assert {type(value) for value in column} <= {str, int, float, bool, type(None)}


def test_the_tables_say_what_the_run_says(town):
    with open_run(town) as run:
        events, memories, agents = run.table("events"), run.table("memories"), run.table("agents")
        assert events["id"] == [event.id for event in run.events()]
        said = [text for text in events["utterance"] if text is not None]
        assert said == [event.body.utterance for event in run.events(type="SAY")]
        assert len(memories["id"]) == sum(len(run.memories(agent)) for agent in run.agent_ids)
        assert json.loads(memories["place"][0]) == list(run.memories(run.agent_ids[0])[0].place)
        assert len(agents["tick"]) == (run.last_tick + 1) * len(run.agent_ids)
        assert run.table("ticks")["digest"][-1] == run.digest()
        with pytest.raises(UsageError, match="there is no table 'lines'"):
            run.table("lines")


def test_a_column_that_only_some_rows_have_is_empty_elsewhere():
    from commonplace.analysis.tables import _columns

    assert _columns([{"a": 1}, {"b": [2]}, {"a": "x", "b": None}]) == {"a": [1, None, "x"], "b": [None, "[2]", None]}


def test_a_notebook_sees_the_first_rows_and_how_many_there_are():
    shown = Table(name=["<b>Mira</b>"] * 30, tick=[None] * 30)._repr_html_()
    assert shown.count("<tr>") == 21
    assert "&lt;b&gt;Mira" in shown
    assert "<td></td>" in shown
    assert "30 rows" in shown


def test_csv_and_parquet_hold_the_table(town, tmp_path):
    with open_run(town) as run:
        events = run.table("events")
    done = command("export", town, "csv", "-o", tmp_path / "a.csv")
    assert f"{len(events['id']):,} rows of events" in done.out
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == list(events)
    assert [row[0] for row in rows] == events["id"]
    command("export", town, "parquet", "--table", "memories", "-o", tmp_path / "a.parquet")
    with open_run(town) as run:
        assert pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pydict() == run.table("memories")


def test_what_cannot_be_exported_is_told(town, tmp_path, monkeypatch):
    for options in (("csv", "--table", "lines"), ("csv", "--from", "3"), ("bundle", "--table", "events")):
        command("export", town, *options, "-o", tmp_path / "a", status=2)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    done = command("export", town, "parquet", "-o", tmp_path / "a", status=2)
    assert "needs pyarrow" in done.err
    assert "[parquet]" in done.err
    assert list(tmp_path.iterdir()) == []
