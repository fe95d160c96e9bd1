from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from commonplace.errors import UsageError
from commonplace.run import integrity
from commonplace.run.manifest import MIND_OBJECT
from commonplace.run.opening import create_store
from commonplace.run.reading import Reading
from run.databases import Home
from run.small_runs import MANIFEST, PAID, Village, answer, fork, make, plot


def life_at(tick: int) -> Village:
    live_state = Village()
    live_state.opening()
    for number in range(1, tick + 1):
        live_state.tick(plot(number))
    return live_state


def test_an_unchanged_fork_keeps_its_parents_digests(home: Home) -> None:
    parent = make(home / "a.run", 12)
    with fork(parent, 7, home / "b.run") as run:
        live_state = life_at(7)
        assert run.last_tick == 7
        for number in range(8, 13):
            run.commit(live_state.tick(plot(number)))
        forked = run.digests
        assert integrity.check(run.reading) == 12
    with Reading.open(parent) as reading:
        assert reading.digests() == forked


def test_a_fork_needs_no_parent_and_says_whose_it_is(tmp_path: Path) -> None:
    parent = make(tmp_path / "a.run", 6)
    fork(parent, 3, tmp_path / "b.run").close()
    shutil.move(parent, tmp_path / "gone.run")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["b.run", "gone.run"]
    with Reading.open(tmp_path / "b.run") as reading, Reading.open(tmp_path / "gone.run") as old:
        assert integrity.check(reading) == 3
        origin = json.loads(reading.meta("parent") or "")
        assert (origin["name"], origin["tick"], origin["history"]) == ("a.run", 3, old.digest(3))
        assert reading.world_at() == old.world_at(3)
        assert reading.states_at() == old.states_at(3)
        assert list(reading.stream_at("ann")) == list(old.stream_at("ann", 3))


def test_later_answers_are_offered_to_the_same_question_only(home: Home) -> None:
    parent = make(home / "a.run", 6, PAID)
    with fork(parent, 3, home / "b.run") as run:
        kept = answer("ann", 5)
        assert run.journal.find("ann", 5, 0, b"another") == ()
        assert run.journal.find("ann", 5, 0, kept.request) == (replace(kept, usage={"from_cache": True}),)
        other = answer("ann", 6)
        run.journal.keep(replace(other, request=b"another"))
        assert run.journal.find("ann", 6, 0, b"another") != ()
    with fork(parent, 3, home / "c.run", manifest=replace(MANIFEST, mind="local:model")) as run:
        assert run.journal.find("ann", 5, 0, kept.request) == ()
        assert run.manifest.mind == "local:model"


@pytest.mark.parametrize("mind", ["offline", "journal:other.run", "local:village"])
@pytest.mark.parametrize("given", [False, True], ids=["by its name", "as an object"])
def test_answers_that_cost_nothing_are_not_copied_to_a_fork(home: Home, mind: str, given: bool) -> None:
    """Such a mind is asked again: nobody would ever read them. What an object costs is not known."""
    settings = {MIND_OBJECT: True} if given else None
    parent = make(home / "a.run", 6, replace(MANIFEST, mind=mind, settings=settings))
    with fork(parent, 3, home / "b.run") as run:
        (offered,) = run.reading.one("SELECT count(*) FROM offered")
        assert bool(offered) == (given or mind == "local:village")
        assert integrity.check(run.reading) == 3


def test_a_fork_of_a_run_that_is_being_lived(home: Home) -> None:
    live_state = Village()
    with create_store(home / "a.run", MANIFEST) as run:
        run.commit(live_state.opening())
        run.commit(live_state.tick(plot(1)))
        run.queue({"kind": "leave"})
        with fork(home / "a.run", 1, home / "b.run") as other:
            assert other.digests == run.digests
            assert other.queued() == ()
        run.commit(live_state.tick(plot(2)))


def test_what_cannot_be_forked_is_refused(tmp_path: Path) -> None:
    parent = make(tmp_path / "a.run", 2)
    with pytest.raises(UsageError, match="0 to 2"):
        fork(parent, 9, tmp_path / "b.run")
    assert not (tmp_path / "b.run").exists()
    with pytest.raises(UsageError, match="place"):
        fork(parent, 1, parent, force=True)
    make(tmp_path / "b.run", 1)
    with pytest.raises(UsageError, match="already"):
        fork(parent, 1, tmp_path / "b.run")
    with Reading.open(parent) as reading:
        assert integrity.check(reading) == 2


def test_a_memory_forgotten_later_is_remembered_in_the_fork(home: Home) -> None:
    live_state = Village()
    with create_store(home / "a.run", MANIFEST) as run:
        run.commit(live_state.opening())
        run.commit(replace(live_state.tick(plot(1)), removed={"ann": (1,)}))
    with fork(home / "a.run", 0, home / "b.run") as run:
        assert [memory.id for memory in run.reading.memories("ann")] == [1]
        assert integrity.check(run.reading) == 0
