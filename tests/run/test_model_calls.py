"""What was said to a mind is kept word for word, small, beside the answers, under seals of its own."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import RunDamaged
from commonplace.rng import below
from commonplace.run import integrity, schema, seals
from commonplace.run.journal import ModelCall, _ModelCalls, model_call_of
from commonplace.run.opening import create_store
from commonplace.run.place import Place
from commonplace.run.reading import Reading
from commonplace.run.store import RunStore
from run.databases import Home
from run.small_runs import MANIFEST, PAID, Village, answer, fork, make, plot, tampering
from sizes import examples


def said(agent: str, tick: int, attempt: int = 0) -> ModelCall:
    """A call of some length, much like others of the same character."""
    rules = "You are a neighbour in a small town. " * 20 + f"Your name is {agent}. "
    seen = " ".join(f"Memory {below(40, agent, tick, number)} is of a bell that rang." for number in range(12))
    return ModelCall(rules + seen, f"keep, {tick}", "" if attempt else "cut off", "" if attempt else "json", 1.25)


@pytest.fixture
def run(home: Home):
    live_state = Village()
    with create_store(home / "a.run", MANIFEST) as file:
        file.commit(live_state.opening())
        file.commit(live_state.tick(plot(1)))
        yield file


@pytest.fixture
def talkative(home: Home) -> Place:
    """A run of some ticks in which everything said was kept."""
    live_state, path = Village(), home / "talkative.run"
    with create_store(path, PAID) as file:
        file.commit(live_state.opening())
        for tick in range(1, 6):
            record = live_state.tick(plot(tick))
            for row in record.answers:
                file.journal.keep(row, said(row.agent, row.tick))
            file.commit(record)
    return path


def test_it_is_there_with_its_answer(run: RunStore) -> None:
    row = answer("ann", 2)
    assert run.journal.model_call(row) is None
    run.journal.keep(row, said("ann", 2))
    assert run.journal.model_call(row) == said("ann", 2) == run.reading.model_call(row)
    run.journal.keep(replace(row, attempt=1), said("ann", 2, 1))
    assert run.reading.model_call(replace(row, attempt=1)) == said("ann", 2, 1)


def test_what_is_kept_again_takes_the_place_of_what_was_kept(run: RunStore) -> None:
    row = answer("ann", 2)
    for number in range(3):
        run.journal.keep(row, said("ann", number))
    assert run.reading.model_call(row) == said("ann", 2)


CALLS = ("model_call", "primer")
TEXT = st.text(max_size=300) | st.sampled_from(["\ud800 alone", "안녕 " * 900, "x" * 40_000, "\n[user]\n"])


@examples(60)
@given(st.lists(st.tuples(TEXT, TEXT, st.sampled_from(["act", "react"])), min_size=1, max_size=8))
def test_any_words_come_back_as_they_were(words: list[tuple[str, str, str]]) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        schema.create(connection)
        calls = _ModelCalls(connection)
        rows = [replace(answer("ann", tick), task=task) for tick, (_, _, task) in enumerate(words)]
        for row, (prompt, raw, _) in zip(rows, words, strict=True):
            calls.put(row, ModelCall(prompt, raw, seconds=row.tick / 8))
        for row, (prompt, raw, _) in zip(rows, words, strict=True):
            assert model_call_of(connection, row) == ModelCall(prompt, raw, seconds=row.tick / 8)


def test_like_prompts_take_little_room(run: RunStore) -> None:
    before = stored(run)
    for tick in range(2, 102):
        run.journal.keep(answer("ann", tick), said("ann", tick))
    length = len(said("ann", 2).prompt)
    assert (stored(run) - before) / 100 < length / 10
    for tick in range(2, 102):
        assert run.reading.model_call(answer("ann", tick)) == said("ann", tick)


def stored(run: RunStore) -> int:
    return sum(run.reading.one(f"SELECT coalesce(sum(length(body)), 0) FROM {table}")[0] for table in CALLS)


def test_neither_digest_depends_on_it(talkative: Place, home: Home) -> None:
    make(home / "silent.run", 5)
    with Reading.open(talkative) as one, Reading.open(home / "silent.run") as other:
        assert one.digests() == other.digests()
        assert integrity.check(one) == 5


@pytest.mark.parametrize("home", ["file"], indirect=True)
@pytest.mark.parametrize("table", ["model_call", "primer"])
@pytest.mark.parametrize("change", ["UPDATE", "DELETE FROM"])
def test_damage_is_found(talkative: Path, table: str, change: str) -> None:
    with tampering(talkative) as connection:
        changed = "SET body = CAST(substr(body, 1, length(body) - 3) || x'000000' AS BLOB)"
        statement = f"{change} {table} {changed if change == 'UPDATE' else ''} WHERE agent = 'bob'"
        assert connection.execute(statement).rowcount
    with Reading.open(talkative) as reading:
        with pytest.raises(RunDamaged, match="said to and by a model"):
            integrity.check(reading)
        if change == "UPDATE":
            with pytest.raises(RunDamaged, match="bob at tick 1"):
                reading.model_call(answer("bob", 1))


@pytest.mark.parametrize("home", ["file"], indirect=True)
def test_what_was_said_can_be_trimmed(talkative: Path) -> None:
    with tampering(talkative) as connection:
        connection.execute("DELETE FROM model_call")
        connection.execute("DELETE FROM primer")
        seals.renew(connection, "call", "primer")
    with Reading.open(talkative) as reading:
        assert integrity.check(reading) == 5
        assert reading.model_call(reading.answers()[0]) is None


def test_a_fork_takes_along_what_belongs_to_its_answers(talkative: Place, home: Home) -> None:
    with fork(talkative, 3, home / "same.run") as run:
        assert run.reading.model_call(answer("ann", 2)) == said("ann", 2)
        [offered] = run.journal.find("ann", 5, 0, answer("ann", 5).request)
        assert run.journal.model_call(offered) == said("ann", 5)
    with fork(talkative, 3, home / "other.run", manifest=replace(MANIFEST, mind="local:model")) as run:
        assert run.reading.model_call(answer("ann", 3)) == said("ann", 3)
        assert run.reading.model_call(answer("ann", 5)) is None


@pytest.mark.parametrize("home", ["file"], indirect=True)
def test_a_primer_of_a_transaction_that_came_to_nothing_is_not_used(run: RunStore) -> None:

    broken = replace(answer("ann", 2), usage={"model": object()})
    with pytest.raises(TypeError):
        run.journal.keep(broken, said("ann", 2))
    run._connection.execute("CREATE TRIGGER full BEFORE INSERT ON model_call BEGIN SELECT RAISE(ABORT, 'full'); END")
    with pytest.raises(sqlite3.IntegrityError):
        run.journal.keep(answer("ann", 2), said("ann", 2))
    run._connection.execute("DROP TRIGGER full")
    for tick in (2, 3):
        run.journal.keep(answer("ann", tick), said("ann", tick))
        assert run.journal.model_call(answer("ann", tick)) == said("ann", tick)
