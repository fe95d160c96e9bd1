"""A run copied from wherever to wherever is the same run; it appears whole or not at all."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.errors import RunDamaged, UsageError
from commonplace.run import copying, integrity
from commonplace.run.copying import copy_run
from commonplace.run.journal import ModelCall
from commonplace.run.listing import Listed, delete_run, runs_in
from commonplace.run.opening import create_store, open_store
from commonplace.run.place import Address, Place
from commonplace.run.reading import Reading
from commonplace.run.rows import InputRow
from run.databases import Database, Home, fresh, rows_of
from run.small_runs import PAID, Village, answer, downgraded, fork, make, plot, tampering


def told(place: Place) -> Place:
    """A run with rows of every kind: what was forgotten, calls, an answer that waits, inputs used, queued and gone."""
    life = Village()
    with create_store(place, PAID, life.opening()) as run:
        for tick in range(1, 7):
            record = life.tick(plot(tick), (InputRow(1, tick, {"kind": "inner_voice"}),) if tick == 2 else ())
            if tick == 1:
                run.queue({"kind": "inner_voice"})
            for row in record.answers:
                run.journal.keep(row, ModelCall(f"What does {row.agent} do?" * 9, "keep"))
            run.commit(replace(record, removed={"ann": (1, 2)}) if tick == 4 else record)
        run.queue({"kind": "leave"}, {"kind": "leave"})
        run.journal.keep(answer("bob", 9), ModelCall("And now?", "wait"))
        run.note("control:speed", "fast")
    return place


@pytest.fixture(params=["file", "database"])
def other(request: pytest.FixtureRequest, tmp_path: Path):
    """Where a copy goes."""
    if request.param == "file":
        (tmp_path / "copies").mkdir()
        yield tmp_path / "copies"
        return
    with fresh(request.getfixturevalue("postgres_url")) as made:
        yield made


def test_it_has_every_row_and_both_go_on_alike(home: Home, other: Home) -> None:
    told(home / "a.run")
    copy = copy_run(home / "a.run", other / "b.run")
    assert copy == other / "b.run"
    rows = rows_of(home / "a.run")
    assert rows == rows_of(copy)
    assert not [table for table, found in rows.items() if not found and table != "offered"]
    ends = []
    for place in (home / "a.run", copy):
        life = Village()
        life.opening()
        with open_store(place) as run:
            record = [life.tick(plot(tick)) for tick in range(1, 8)][-1]
            ends.append((run.commit(record), run.queue({"kind": "leave"})))
            assert integrity.check(run.reading) == 7
    assert ends[0] == ends[1]


def test_a_copy_of_a_fork_needs_no_other_run(home: Home, other: Home) -> None:
    told(home / "a.run")
    fork(home / "a.run", 4, home / "b.run").close()
    fork(home / "b.run", 3, home / "c.run").close()
    rows = rows_of(home / "c.run")
    assert rows["offered"]
    copy_run(home / "c.run", other / "copy.run")
    for name in ("c.run", "b.run", "a.run"):
        delete_run(home / name)
    assert rows_of(other / "copy.run") == rows
    with Reading.open(other / "copy.run") as run:
        assert integrity.check(run) == 3


def test_an_existing_run_is_replaced_only_when_that_is_meant(home: Home, other: Home) -> None:
    make(home / "a.run", 3)
    make(other / "b.run", 5)
    with pytest.raises(UsageError, match=r"exists|there is"):
        copy_run(home / "a.run", other / "b.run")
    with Reading.open(other / "b.run") as run:
        assert run.last_tick == 5
    copy_run(home / "a.run", other / "b.run", force=True)
    assert rows_of(home / "a.run") == rows_of(other / "b.run")


def test_what_fails_on_the_way_leaves_what_was_there(home: Home, other: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    make(home / "a.run", 3)
    make(other / "b.run", 5)
    kept = rows_of(other / "b.run")

    inserting = copying.inserting

    def failing(*given: object) -> str:
        if given[0] not in ("meta", "tick"):
            raise OSError(os.strerror(28))
        return inserting(str(given[0]))

    with monkeypatch.context() as patched:
        patched.setattr(copying, "inserting", failing)
        patched.setattr(copying, "copy_into", failing)
        for force, name in ((True, "b.run"), (False, "new.run")):
            with pytest.raises(OSError, match="space"):
                copy_run(home / "a.run", other / name, force=force)
    assert rows_of(other / "b.run") == kept
    assert [one.run.removesuffix(".run") for one in runs_in(_whole(other))] == ["b"]


def _whole(home: Home) -> Place:
    return Address(home.url) if isinstance(home, Database) else home


def test_a_run_that_goes_on_is_copied_as_of_one_tick(home: Home, other: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    life = Village()
    with create_store(home / "a.run", PAID, life.opening()) as run:
        run.commit(life.tick(plot(1)))
        inserting, insert = copying.inserting, iter(range(99))

        def overtaken(table: str) -> str:
            run.commit(life.tick(plot(2 + next(insert))))
            return inserting(table)

        monkeypatch.setattr(copying, "inserting", overtaken)
        copy_run(home / "a.run", other / "b.run")
        assert run.last_tick > 1 or isinstance(home, Path) is isinstance(other, Path)
    with Reading.open(other / "b.run") as copy:
        assert integrity.check(copy) == copy.last_tick == 1


def test_a_damaged_run_is_not_copied(tmp_path: Path, other: Home) -> None:
    make(tmp_path / "a.run", 6)
    with tampering(tmp_path / "a.run") as connection:
        connection.execute("UPDATE event SET body = replace(body, 'rung', 'sung')")
    with pytest.raises(RunDamaged, match="event"):
        copy_run(tmp_path / "a.run", other / "b.run")
    with pytest.raises(UsageError, match=r"no such run|there are no runs"):
        Reading.open(other / "b.run")


@pytest.mark.parametrize("number", [3, 4])
def test_a_file_of_an_older_format_is_copied_as_one_of_today(tmp_path: Path, database: Database, number: int) -> None:
    make(tmp_path / "new.run", 4)
    downgraded(make(tmp_path / "old.run", 4), number)
    before = (tmp_path / "old.run").read_bytes()
    copy_run(tmp_path / "old.run", database / "old")
    assert rows_of(database / "old") == rows_of(tmp_path / "new.run")
    assert (tmp_path / "old.run").read_bytes() == before


def test_a_database_without_a_name_takes_the_one_of_the_run(home: Home, database: Database) -> None:
    make(home / "monday.run", 1)
    copy = copy_run(home / "monday.run", Address(database.url) if isinstance(home, Path) else database / "tuesday")
    assert copy == (database / "monday" if isinstance(home, Path) else database / "tuesday")


def test_a_run_is_not_copied_onto_itself(home: Home) -> None:
    make(home / "a.run", 1)
    with pytest.raises(UsageError, match="cannot replace its run"):
        copy_run(home / "a.run", home / "a.run", force=True)


# ── lists ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_runs_are_listed_and_deleted(home: Home) -> None:
    make(home / "a.run", 3)
    fork(home / "a.run", 2, home / "b.run").close()
    with open_store(home / "a.run"):
        one, other = runs_in(_whole(home))
        assert (one.run.removesuffix(".run"), one.ticks, one.live, one.parent) == ("a", 3, True, "")
        assert (other.parent.removesuffix(".run"), other.parent_tick, other.live) == ("a", 2, False)
        assert {one.scenario, other.scenario} == {"village"}
        assert one.size > 10_000
        with pytest.raises(UsageError, match=r"in use|has it open"):
            delete_run(home / "a.run")
    delete_run(home / "b.run")
    delete_run(home / "a.run")
    assert runs_in(_whole(home)) == []
    with pytest.raises(UsageError, match=r"no such run|there is no run"):
        delete_run(home / "a.run")


def test_a_run_that_forks_share_is_not_deleted(database: Database) -> None:
    make(database / "a", 3)
    fork(database / "a", 2, database / "b").close()
    for act in (lambda: delete_run(database / "a"), lambda: copy_run(database / "b", database / "a", force=True)):
        with pytest.raises(UsageError, match="its past is also that of b"):
            act()
    with Reading.open(database / "b") as run:
        assert integrity.check(run) == 2
    delete_run(database / "b")
    delete_run(database / "a")
    left = [database.execute(f"SELECT count(*) FROM {table}") for table in ("run", "event", "removal", "vector")]
    assert left == [[(0,)]] * 4


def test_a_folder_that_is_missing_is_not_listed_and_a_damaged_file_says_why(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such folder"):
        runs_in(tmp_path / "nowhere")
    (tmp_path / "bad.run").write_text("Dear Klaus,\n")
    assert runs_in(tmp_path) == [Listed("bad", size=12, problem="not a Commonplace run")]
