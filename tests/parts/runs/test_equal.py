"""A run is the same in a file and in a database: every row, all that is read of it, and what becomes of its forks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import commonplace
from commonplace.api import mind_named, open_run, resume_run
from commonplace.engine.verify import verify
from commonplace.errors import UsageError
from commonplace.parts.runs.store import Database as Runs
from commonplace.run import integrity
from commonplace.run.fork import written_fork
from commonplace.run.opening import create_store, open_store
from commonplace.run.place import Place
from commonplace.run.why import why
from commonplace.scenario.compiling import load
from commonplace.stages.town import TOWN
from commonplace.testing import SlowMind
from e2e.lived import _interfered
from run.databases import Database, Home, fresh, rows_of
from run.small_runs import PAID, Village, answer, fork, make, plot


@pytest.fixture(scope="module")
def lived(postgres_url: str) -> Iterator[Place]:
    """The plaza with somebody outside putting in every kind of input, in a database. Not to be written to."""
    with fresh(postgres_url) as database:
        asyncio.run(_interfered(database / "eventful"))
        yield database / "eventful"


def test_every_table_has_the_same_rows(eventful: Path, lived: Place) -> None:
    one, other = rows_of(eventful), rows_of(lived)
    assert one == other
    empty = {"offered", "primer", "model_call"}
    assert {table for table, rows in one.items() if not rows} == empty


READS = {
    "agents": lambda run, at, who: run.agents(at),
    "agent_ids": lambda run, at, who: run.agent_ids,
    "answers": lambda run, at, who: (run.answers(0, at), run.answers(agent=who), run.answers(used=False)),
    "cards_at": lambda run, at, who: run.cards_at(at),
    "circumstances_at": lambda run, at, who: run.circumstances_at(at),
    "counts": lambda run, at, who: run.counts(0, at),
    "digests": lambda run, at, who: (run.digests(at), run.digest(at), run.digest(at, state=True)),
    "emotions": lambda run, at, who: run.emotions(who, at, 20),
    "event": lambda run, at, who: [run.event(at, who, ordinal) for ordinal in range(3)],
    "events": lambda run, at, who: (run.events(0, at), run.events(agent=who), run.events(type="SAY"), run.events(at)),
    "facts": lambda run, at, who: run.facts(at),
    "frame": lambda run, at, who: run.frame(at),
    "frames": lambda run, at, who: list(run.frames(at)),
    "goals_at": lambda run, at, who: run.goals_at(who, at),
    "histories": lambda run, at, who: run.histories(0, at),
    "inputs": lambda run, at, who: run.inputs(0, at),
    "last_event": lambda run, at, who: run.last_event(who, at, ("SAY", "MOVE")),
    "last_tick": lambda run, at, who: run.last_tick,
    "manifest": lambda run, at, who: run.manifest,
    "memories": lambda run, at, who: (run.memories(who, at), run.memories(who, at, forgotten=True)),
    "memory": lambda run, at, who: [run.memory(who, number) for number in range(9)],
    "meta": lambda run, at, who: [run.meta(name) for name in ("semantics", "synchronous", "parent")],
    "model_call": lambda run, at, who: [run.model_call(row) for row in run.answers(at, at)],
    "moods_at": lambda run, at, who: run.moods_at(at),
    "newcomers": lambda run, at, who: run.newcomers,
    "queued": lambda run, at, who: run.queued(),
    "scenario": lambda run, at, who: (run.scenario.text, run.scenario_at(at).personas),
    "seeds": lambda run, at, who: run.seeds.at(at) if hasattr(run.seeds, "at") else repr(run.seeds),
    "settings_at": lambda run, at, who: run.settings_at(at),
    "shown_at": lambda run, at, who: run.shown_at(at),
    "state_at": lambda run, at, who: (run.state_at(who, at), run.states_at(at)),
    "stream_at": lambda run, at, who: [
        (hit.memory.id, hit.score) for hit in run.stream_at(who, at).recall("the café", at=run.time(at), touch=False)
    ],
    "table": lambda run, at, who: [list(run.table(name).rows()) for name in ("events", "memories", "agents", "ticks")],
    "tick": lambda run, at, who: (run.tick(str(at)), run.tick(run.time(at).isoformat())),
    "trace": lambda run, at, who: run.trace(who, at),
    "usage": lambda run, at, who: (run.usage(), run.usage(at)),
    "versions": lambda run, at, who: (run.versions(0, at), run.versions(0, at, ("body", "plan"))),
    "why": lambda run, at, who: [why(run, event.id) for event in run.events(at, at)],
    "witnesses": lambda run, at, who: run.witnesses(at),
    "world_at": lambda run, at, who: run.world_at(at),
}


@pytest.mark.parametrize("name", READS)
def test_all_that_is_read_is_the_same(eventful: Path, lived: Place, name: str) -> None:
    with open_run(eventful) as one, open_run(lived) as other:
        for at in (0, 9, 43, 60):
            for who in ("bruno", "ines") if at else ("ines",):
                assert READS[name](one, at, who) == READS[name](other, at, who), (at, who)


def test_it_is_sound_and_can_be_lived_again(lived: Place) -> None:
    with open_run(lived) as run:
        assert integrity.check(run) == 60
        assert asyncio.run(verify(run, run.scenario, TOWN)) == 60


# ── forks ───────────────────────────────────────────────────────────────────────────────────────────────────────────


class Town:
    """A run of the plaza with a mind that costs something, and its forks."""

    def __init__(self, home: Home) -> None:
        self.home = home

    @staticmethod
    def mind() -> SlowMind:
        return SlowMind(mind_named("offline", load("plaza")), salt=1, longest=0.0)

    def begin(self, name: str, ticks: int) -> None:
        with commonplace.create_run(self.home / name, "plaza", 7, self.mind()) as run:
            for _ in run.play_sync(ticks=ticks):
                pass

    def fork(self, name: str, at: int, new: str, *wishes: dict[str, Any], **options: Any) -> None:
        with written_fork(self.home / name, at, self.home / new, **options) as part, open_store(part) as file:
            if wishes:
                file.queue(*wishes)

    def go_on(self, name: str, ticks: int) -> None:
        with resume_run(self.home / name, self.mind()) as run:
            for _ in run.play_sync(ticks=ticks):
                pass

    def god(self, name: str, text: str) -> None:
        """A sentence whose effect the mind is asked for; the question is nobody's."""
        with resume_run(self.home / name, self.mind()) as run:
            wish = asyncio.run(run.preview(text))
            assert run.file.journal.attempts("-", run.file.last_tick, 0) or run.file.journal.attempts(
                "-", run.file.last_tick + 1, 0
            )
            run.submit(wish)

    def rows(self, name: str) -> dict[str, list[Any]]:
        with open_run(self.home / name) as run:
            assert integrity.check(run) == run.last_tick
        return rows_of(self.home / name)


FOG = {
    "kind": "god_event", "text": "A thick fog rolls in.", "to": {"everybody": True, "areas": [], "agents": []},
}  # fmt: skip
FORGET = {"kind": "forget", "agent_id": "ines", "memory_ids": [1, 2]}


def story(town: Town) -> Iterator[str]:
    """Forks and what becomes of them; yields the name of a run that has changed."""
    town.begin("parent", 12)
    yield "parent"
    town.fork("parent", 6, "unchanged")
    yield "unchanged"
    town.go_on("unchanged", 6)
    yield "unchanged"
    town.fork("parent", 6, "foggy", FOG)
    town.go_on("foggy", 4)
    yield "foggy"
    town.go_on("parent", 3)  # it goes on after it was forked
    yield "parent"
    yield "foggy"
    town.fork("foggy", 8, "child", FORGET)
    town.go_on("child", 3)
    yield "child"
    town.fork("child", 10, "grandchild", fresh=True)
    town.go_on("grandchild", 2)
    yield "grandchild"
    town.fork("child", 5, "before")  # from the past that it shares with its grandparent
    town.go_on("before", 3)
    yield "before"
    with open_store(town.home / "parent") as file:
        file.queue({**FORGET, "memory_ids": [3]})
    town.go_on("parent", 2)
    yield "parent"
    yield "child"
    yield "grandchild"
    town.fork("parent", 15, "late")
    yield "late"
    town.god("late", "A thick fog rolls in.")
    yield "late"
    town.fork("late", 15, "asked")  # with the question that no tick has used
    yield "asked"
    town.go_on("late", 2)
    town.fork("late", 16, "foggy too")
    town.go_on("foggy too", 2)
    yield "foggy too"


def test_forks_have_the_rows_that_forks_of_a_file_have(tmp_path: Path, database: Database) -> None:
    one, other = Town(tmp_path), Town(database)
    for name, again in zip(story(one), story(other), strict=True):
        assert name == again
        first, second = one.rows(name), other.rows(name)
        for table in first:
            assert first[table] == second[table], (name, table)
    with open_run(database / "unchanged") as fork, open_run(database / "parent") as parent:
        assert fork.digests(12) == parent.digests(12)
    # they were not copied
    assert database.execute("SELECT count(*) FROM tick t JOIN run r ON r.id = t.run WHERE name = 'unchanged'") == [(6,)]


def test_a_fork_of_a_run_in_a_database_into_a_file_is_a_copy(tmp_path: Path, database: Database) -> None:
    for home in (tmp_path, database):
        make(home / "a.run", 6, PAID)
        with written_fork(home / "a.run", 3, tmp_path / f"of-{type(home).__name__}.run"):
            pass
    one, other = (rows_of(tmp_path / f"of-{type(home).__name__}.run") for home in (tmp_path, database))
    assert one == other


def test_a_fork_that_was_killed_is_not_seen_and_is_replaced(database: Database) -> None:
    make(database / "a.run", 6, PAID)
    forking = written_fork(database / "a.run", 3, database / "b.run")
    part = forking.__enter__()  # as if killed: it is never left
    with open_store(part) as file:
        file.queue({"kind": "inner_voice"})
    with closing(Runs(database / "a.run")) as runs:
        assert runs.names() == ["a.run"]
    assert database.execute("SELECT name FROM runs") == [("a.run",)]
    with open_run(database / "") as run:
        assert run.path == database / "a.run"
    with pytest.raises(UsageError, match=r"there is no run 'b\.run'"):
        open_run(database / "b.run")
    with written_fork(database / "a.run", 4, database / "b.run"):
        pass
    with open_run(database / "b.run") as run:
        assert (run.last_tick, run.queued()) == (4, ())
        assert integrity.check(run) == 4


@pytest.mark.parametrize("force", [False, True])
def test_two_that_make_the_same_fork_at_once_do_not_mix(database: Database, force: bool) -> None:
    make(database / "a.run", 6, PAID)
    first = written_fork(database / "a.run", 4, database / "b.run", force=force)
    with pytest.raises(UsageError, match=r"already exists|the same fork"), first:
        fork(database / "a.run", 3, database / "b.run").close()
    assert database.execute("SELECT name FROM run ORDER BY name") == [("a.run",), ("b.run",)]
    with open_run(database / "b.run") as run:
        assert integrity.check(run) == run.last_tick == 3


def test_what_is_left_of_a_fork_does_not_keep_its_parent(database: Database) -> None:
    make(database / "a.run", 2)
    written_fork(database / "a.run", 1, database / "b.run").__enter__()
    with closing(Runs(database / "a.run")) as runs:
        runs.delete(runs.found("a.run"))
    assert database.execute("SELECT name FROM run") == []


# ── odd texts ───────────────────────────────────────────────────────────────────────────────────────────────────────


ODD = {
    "emoji": "😀 안녕, 종",
    "NUL": "a\0b",
    "NUL, escaped": "\\u0000 and \\\\u0000",
    "long": "x" * 3_000_000,
    "steering": "\u202e\x1b[31m",
    "placeholders": "%s ? :name",
}


@pytest.mark.parametrize("text", ODD.values(), ids=ODD)
def test_odd_texts_are_kept_as_a_file_keeps_them(text: str, tmp_path: Path, database: Database) -> None:
    for home in (tmp_path, database):
        life = Village()
        with create_store(home / "a.run", PAID, life.opening()) as run:
            run.queue({"kind": "inner_voice", "agent_id": "ann", "text": text})
            run.journal.keep(answer("ann", 1, ordinal=1, body={"decision": text}))
            run.commit(life.tick(plot(1)))
            run.note("control:note", text.replace("\0", ""))
    assert rows_of(tmp_path / "a.run") == rows_of(database / "a.run")
    # and the views read them
    said = database.execute("SELECT answer ->> 'decision' FROM answers WHERE ordinal = 1")
    assert said == [(text.replace("\0", "\ufffd"),)]


def test_half_a_surrogate_pair_is_refused_by_both(tmp_path: Path, database: Database) -> None:
    for home in (tmp_path, database):
        with create_store(home / "a.run", PAID, Village().opening()) as run:
            with pytest.raises(UnicodeEncodeError):
                run.queue({"kind": "inner_voice", "text": "\ud83d"})
            assert run.queued() == ()
            run.queue({"kind": "inner_voice", "text": "whole"})
            assert len(run.queued()) == 1
