"""`verify`: whatever is changed in a file is found, by its digests or by living it again."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from commonplace.api import create_run, open_run, scenario_of
from commonplace.canon import digest
from commonplace.cli import main
from commonplace.cognition import deferred
from commonplace.engine import lockstep
from commonplace.engine.verify import verify
from commonplace.run import digest as chain
from commonplace.run import integrity, seals
from commonplace.run.reading import Reading
from commonplace.run.rows import packed_trace, unpacked_trace, vector_digest
from commonplace.run.schema import SEMANTICS
from commonplace.stages import by_name
from e2e.command import command, copied, ends, tables


@pytest.mark.parametrize("name", ["plaza", "town", "eventful"])
def test_a_run_that_was_lived_verifies(name, request):
    run = request.getfixturevalue(name)
    done = command("verify", run)
    assert done.lines == [f"tick {ends(run).tick}  digest {ends(run).history}"]
    assert command("verify", run, "--integrity-only").lines == done.lines


def test_verifying_changes_nothing(plaza, tmp_path):
    run = copied(plaza, tmp_path)
    before = run.read_bytes()
    command("verify", run)
    assert run.read_bytes() == before
    assert list(tmp_path.iterdir()) == [run]


# ── a changed byte ──────────────────────────────────────────────────────────────────────────────────────────────────

FLIPPED = "CAST(substr(value, 1, 5) || CAST(x'7f' AS BLOB) || substr(value, 7) AS BLOB)"
FIRST = "(SELECT vector FROM memory GROUP BY vector HAVING min(tick) = {tick})"
"""The vectors of words first remembered in a tick: the same words have the same vector."""
CHANGES = {
    "an answer": "UPDATE answer SET body = replace(body, 'talk', 'keep') WHERE used = {tick}",
    "the question of an answer": "UPDATE answer SET request = zeroblob(16) WHERE used = {tick}",
    "the outcome of an answer": "UPDATE answer SET outcome = 'fault' WHERE used = {tick}",
    "an answer taken away": "DELETE FROM answer WHERE used = {tick} AND agent = 'ines'",
    "an event": "UPDATE event SET body = replace(body, 'e', 'a') WHERE tick = {tick}",
    "an event's type": "UPDATE event SET type = 'IDLE' WHERE tick = {tick} AND type = 'SAY'",
    "an event taken away": "DELETE FROM event WHERE tick = {tick} AND agent = 'ines'",
    "an event added": (
        "INSERT INTO event SELECT tick, phase, agent, ordinal + 9, type, body FROM event WHERE tick = {tick} LIMIT 1"
    ),
    "a memory's words": "UPDATE memory SET text = text || '.' WHERE tick = {tick}",
    "a memory's weight": "UPDATE memory SET importance = importance + 1 WHERE tick = {tick}",
    "a memory forgotten": "UPDATE memory SET removed = {tick} WHERE tick = {tick}",
    "a vector": f"UPDATE vector SET value = {FLIPPED} WHERE id IN {FIRST}",
    "a vector taken away": "UPDATE memory SET vector = NULL WHERE tick = {tick}",
    "a plan": "UPDATE version SET value = replace(value, '1', '2') WHERE tick = {tick} AND kind = 'plan'",
    "a place": "UPDATE version SET value = replace(value, 'e', 'a') WHERE tick = {tick} AND kind = 'body'",
    "an access": "UPDATE touch SET at = at + 1 WHERE tick = {tick}",
    "an input": "UPDATE input SET body = replace(body, 'e', 'a') WHERE tick = {tick}",
    "an input taken away": "DELETE FROM input WHERE tick = {tick}",
    "an input at another time": "UPDATE input SET tick = tick - 1 WHERE tick = {tick}",
    "a digest": "UPDATE tick SET history = zeroblob(16) WHERE n = {tick}",
    "the state's digest": "UPDATE tick SET state = zeroblob(16) WHERE n = {tick}",
    "a tick taken away": "DELETE FROM tick WHERE n = {tick}",
}
WHERE = {
    "answer": "SELECT min(used) FROM answer WHERE used > 10 AND body LIKE '%talk%'",
    "event": "SELECT min(tick) FROM event WHERE tick > 10 AND type = 'SAY'",
    "plan": "SELECT min(tick) FROM version WHERE tick > 10 AND kind = 'plan'",
    "vector": "SELECT min(first) FROM (SELECT min(tick) AS first FROM memory GROUP BY vector) WHERE first > 10",
    "touch": "SELECT min(tick) FROM touch WHERE tick > 10",
    "input": "SELECT min(tick) FROM input",
}
"""Table or kind → a query for a tick in which it has rows to change."""


def tick_for(run: Path, change: str) -> int:
    """A tick that the change would hit."""
    query = next((query for kind, query in WHERE.items() if re.search(rf"\b{kind}\b", change)), WHERE["event"])
    with tables(run) as connection:
        return connection.execute(query).fetchone()[0]


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_is_found_where_it_was_made(change, eventful, tmp_path, capsys):
    run = copied(eventful, tmp_path)
    tick = tick_for(run, change)
    with tables(run) as connection:
        assert connection.execute(change.format(tick=tick)).rowcount > 0
    for arguments in (["verify", str(run)], ["verify", str(run), "--integrity-only"]):
        assert main(arguments) == 1
        said = capsys.readouterr()
        found = int(re.search(r"tick (\d+)", said.err)[1])
        assert found == (tick - 1 if "tick = tick - 1" in change else tick), said.err
        assert str(run) in said.err
        assert not said.out


def test_a_change_of_any_byte_of_a_page_is_found(plaza, tmp_path, capsys):
    """Bytes in the middle of every tenth page. What belongs to no row, and the trace, may change unnoticed."""
    pages = plaza.stat().st_size // 4096
    for page in range(1, pages, 10):
        run = copied(plaza, tmp_path)
        content = bytearray(run.read_bytes())
        content[page * 4096 + 2048] ^= 0x20
        run.write_bytes(content)
        status = main(["verify", str(run), "--integrity-only"])
        said = capsys.readouterr()
        if status == 0:
            assert sound(plaza, run), f"page {page}"
        else:
            assert status == 1
            assert str(run) in said.err
            assert "Traceback" not in said.err


def sound(run: Path, other: Path) -> bool:
    """Whether everything the digests cover is the same in both files."""
    queries = [f"SELECT * FROM {table}" for table in ("event", "memory", "vector", "touch", "version", "input", "tick")]
    with tables(run) as one, tables(other) as two:
        return all(one.execute(query).fetchall() == two.execute(query).fetchall() for query in queries)


# ── a change that was covered up ────────────────────────────────────────────────────────────────────────────────────

REWORDED = """replace(body, '"utterance":"', '"utterance":"Mind you, ')"""
LIES = {
    "what was said": f"UPDATE event SET body = {REWORDED} WHERE tick = {{tick}} AND type = 'SAY'",
    "what was answered": f"UPDATE answer SET body = {REWORDED} WHERE used = {{tick}} AND task = 'converse'",
    "a fault that was none": "UPDATE answer SET outcome = 'fault', body = '' WHERE used = {tick} AND task = 'converse'",
    "what is remembered": "UPDATE memory SET text = text || ' Or so they say.' WHERE tick = {tick}",
    "how much it weighs": "UPDATE memory SET importance = 10 WHERE tick = {tick}",
    "a vector": f"UPDATE vector SET value = {FLIPPED} WHERE id IN {FIRST}",
    "what was thought of": "UPDATE touch SET at = at + 1 WHERE tick = {tick}",
    "who was where": "UPDATE version SET value = replace(value, 'square', 'cafe') WHERE kind = 'body'",
    "what was put in": "UPDATE input SET body = replace(body, 'thick', 'faint') WHERE tick = {tick}",
    "who wrote the scenario": "UPDATE meta SET value = replace(value, '\"seed\":7,', '\"seed\":8,')",
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_change_that_was_covered_up_is_found_by_living_it_again(lie, eventful, tmp_path, capsys):
    run = copied(eventful, tmp_path)
    tick = tick_for(run, "converse" if "converse" in lie else lie)
    if "answer" in lie:
        with tables(run) as connection:
            query = "SELECT min(used) FROM answer WHERE task = 'converse' AND used > 10"
            (tick,) = connection.execute(query).fetchone()
    with tables(run) as connection:
        assert connection.execute(lie.format(tick=tick)).rowcount > 0
    sealed_again(run)
    assert "meta" in lie or ends(run) != ends(eventful)
    assert main(["verify", str(run), "--integrity-only"]) == 0, capsys.readouterr().err
    capsys.readouterr()

    assert main(["verify", str(run)]) == 1
    said = capsys.readouterr()
    found = int(re.search(r"tick (\d+)", said.err)[1])
    if "meta" not in lie and "kind = 'body'" not in lie:
        assert found == tick, said.err
    assert not said.out


@pytest.mark.parametrize("body", ["", "{", "[]", '{"decision":"fly"}', '{"decision":"keep","extra":1}', "null"])
def test_an_answer_that_is_none_is_found_where_it_stands(body, plaza, tmp_path, capsys):
    """Covered up as well: the digests are those of the nonsense."""
    run = copied(plaza, tmp_path)
    with tables(run) as connection:
        (tick,) = connection.execute("SELECT min(used) FROM answer WHERE task = 'react' AND used > 10").fetchone()
        connection.execute("UPDATE answer SET body = ? WHERE task = 'react' AND used = ?", (body, tick))
    sealed_again(run)
    assert main(["verify", str(run)]) == 1
    said = capsys.readouterr().err
    assert f"tick {tick}" in said, said
    assert "a bug in Commonplace" not in said


def test_an_answer_is_checked_against_its_question(town, tmp_path, capsys):
    """Answers of two characters swapped, digests and all."""
    run = copied(town, tmp_path)
    with tables(run) as connection:
        rows = connection.execute(
            "SELECT tick, agent, ordinal, body FROM answer WHERE task = 'react' AND used = tick ORDER BY tick, agent"
        ).fetchall()
        one = next(row for row in rows if json.loads(row[3])["decision"] == "talk")
        other = next(row for row in rows if row[0] == one[0] and json.loads(row[3])["decision"] != "talk")
        for (tick, agent, ordinal, _), body in ((one, other[3]), (other, one[3])):
            connection.execute(
                "UPDATE answer SET body = ? WHERE tick = ? AND agent = ? AND ordinal = ?", (body, tick, agent, ordinal)
            )
    sealed_again(run)
    assert main(["verify", str(run), "--integrity-only"]) == 0
    assert main(["verify", str(run)]) == 1
    assert f"tick {one[0]}" in capsys.readouterr().err


def sealed_again(run: Path) -> None:
    """All digests made anew over the rows as they are now: what somebody would do who wants no one to notice."""
    with open_run(run) as reading, reading.snapshot():
        vectors = integrity.vectors_by_number(reading)
        last, embedder = reading.last_tick, reading.manifest.embedder
        texts = reading.all("SELECT DISTINCT vector, text FROM memory WHERE vector IS NOT NULL")
        remembered = [(number, text, vectors[number]) for number, text in texts]
        rows = {
            kind: {tick: found for begin in range(0, last + 1, integrity.CHUNK) for tick, found in
                   integrity.rows_by_tick(reading, kind, begin, vectors).items()}
            for kind in integrity.QUERIES
        }  # fmt: skip
    history = state = record = chain.START
    with tables(run) as connection:
        for tick in range(last + 1):
            history = chain.history_digest(history, rows["event"].get(tick, []))
            parts = chain.packed_parts(
                {kind: chain.part_digest(kind, rows[kind].get(tick, [])) for kind in chain.KINDS}
            )
            state, record = chain.state_digest(state, parts), chain.record_digest(record, parts)
            connection.execute(
                "UPDATE tick SET history = ?, state = ?, record = ?, parts = ? WHERE n = ?",
                (history, state, record, parts, tick),
            )
        vectors = [(digest(vector_digest(embedder, text), raw), number) for number, text, raw in remembered]
        connection.executemany("UPDATE vector SET digest = ? WHERE id = ?", vectors)
        seals.renew(connection)


def retold(run: Path, tick: int, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the traces of a tick that retrieved something, and cover it up."""
    with tables(run) as connection:
        rows = connection.execute("SELECT agent, body FROM trace WHERE tick = ?", (tick,)).fetchall()
        for agent, body in rows:
            trace = unpacked_trace(body)
            if trace["retrievals"] and len(trace["retrievals"][0]["hits"]) > 1:
                change(trace)
                connection.execute(
                    "UPDATE trace SET body = ? WHERE tick = ? AND agent = ?", (packed_trace(trace), tick, agent)
                )
    sealed_again(run)


RETOLD: dict[str, Callable[[dict[str, Any]], object]] = {
    "hits in another order": lambda trace: trace["retrievals"][0]["hits"].reverse(),
    "another score": lambda trace: trace["retrievals"][0]["hits"][0].__setitem__(1, 7),
    "another query": lambda trace: trace["retrievals"][0].update(query="what to have for dinner"),
    "a hit taken away": lambda trace: trace["retrievals"][0]["hits"].pop(),
    "all of it": lambda trace: trace.clear(),
}


@pytest.mark.parametrize("change", RETOLD.values(), ids=RETOLD)
def test_other_reasons_are_found_by_living_it_again(change, eventful, tmp_path, capsys):
    run = copied(eventful, tmp_path)
    with open_run(run) as reading:
        found = (
            (event.agent_id, event.tick)
            for event in reading.events(11)
            for retrieval in reading.trace(event.agent_id, event.tick).get("retrievals", ())
            if len(retrieval["hits"]) > 1
        )
        agent, tick = next(found)
    retold(run, tick, change)
    assert ends(run) == ends(eventful)
    assert main(["verify", str(run), "--integrity-only"]) == 0, capsys.readouterr().err
    assert main(["verify", str(run)]) == 1
    assert f"tick {tick}: re-execution gives another trace of" in capsys.readouterr().err
    assert agent


# ── rules that are not ours ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("covered", [True, False])
def test_unknown_semantics_are_refused(covered, eventful, tmp_path, capsys):
    run = copied(eventful, tmp_path)
    before = ends(run)
    with tables(run) as connection:
        other = f"replace(value, '\"semantics\":{SEMANTICS}', '\"semantics\":99')"
        connection.execute(f"UPDATE meta SET value = {other} WHERE key = 'manifest'")
        if covered:
            connection.execute("UPDATE meta SET value = '99' WHERE key = 'semantics'")
    sealed_again(run)
    assert main(["verify", str(run)]) == (2 if covered else 1)
    said = capsys.readouterr()
    assert ("semantics 99" if covered else "the semantics in the manifest") in said.err
    assert "the same history," not in said.err
    assert not said.out
    assert main(["verify", str(run), "--integrity-only"]) == (0 if covered else 1)
    assert main(["resume", str(run), "--ticks", "1", "--view", "none"]) == 2
    assert ends(run) == before


def test_sealing_again_by_itself_changes_nothing(eventful, tmp_path):
    run = copied(eventful, tmp_path)
    sealed_again(run)
    assert ends(run) == ends(eventful)
    with sqlite3.connect(run) as one, sqlite3.connect(eventful) as other:
        query = "SELECT * FROM tick ORDER BY n"
        assert one.execute(query).fetchall() == other.execute(query).fetchall()
    one.close()
    other.close()


# ── other rules ─────────────────────────────────────────────────────────────────────────────────────────────────────


RULES = {
    "the weather": (lockstep, "ambient_events", lambda *given, **named: ()),
    "the script": (lockstep, "due", lambda *given, **named: ()),
    "what a reflection looks at": (deferred, "LATEST", 5),
}


@pytest.mark.parametrize(("module", "name", "rule"), RULES.values(), ids=RULES)
def test_other_rules_are_noticed(module, name, rule, town, monkeypatch, capsys):
    monkeypatch.setattr(module, name, rule)
    assert main(["verify", str(town)]) == 1
    assert re.search(r"tick \d+", capsys.readouterr().err)
    assert main(["verify", str(town), "--integrity-only"]) == 0


def test_a_run_that_goes_on_meanwhile_is_verified_as_it_was_at_one_moment(tmp_path):
    with create_run(tmp_path / "a.run", "plaza") as run, ThreadPoolExecutor(1) as elsewhere:

        async def run_tick():
            async with aclosing(run.play(1)) as ticks:
                await anext(ticks)

        class Overtaken(Reading):
            def one(self, query, *values):
                elsewhere.submit(asyncio.run, run_tick()).result()
                return super().one(query, *values)

        for _ in range(3):
            elsewhere.submit(asyncio.run, run_tick()).result()
        with Overtaken.open(tmp_path / "a.run") as reading:
            scenario = scenario_of(run.file.manifest)
            verified = asyncio.run(verify(reading, scenario, by_name(scenario.part.stage)))
        assert run.tick > verified + 10
