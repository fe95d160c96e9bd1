"""Whatever is damaged, what is saved is a past as it was committed, whole, and as long as it can be."""

from __future__ import annotations

import json
import lzma
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.api import open_run
from commonplace.errors import CommonplaceError, RunDamaged, UsageError
from commonplace.parts.workbench.rescue import Rescued, _tolerated, rescue
from commonplace.run import integrity
from commonplace.run.file import RunFile
from commonplace.run.reading import Reading
from e2e.command import command, copied, ends, tables
from engine.paid_minds import PaidMind, lived, offline
from run.formats.make import FOLDER
from run.small_runs import MANIFEST, Village, make, plot
from sizes import examples

TICKS = 12


@pytest.fixture(scope="module")
def village(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("rescue") / "village.run", TICKS)


@pytest.fixture(scope="module")
def paid_for(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with prompts."""
    path = tmp_path_factory.mktemp("rescue") / "paid.run"
    lived(path, PaidMind(offline("plaza")), 30, "plaza")
    return path


def saved(damaged: Path, whole: Path) -> Rescued:
    """What is saved of a run; it is whole, and what the run was."""
    new = damaged.with_name("saved.run")
    before = damaged.read_bytes()
    done = rescue(damaged, new, force=True)
    assert damaged.read_bytes() == before
    with Reading.open(new) as reading, Reading.open(whole) as parent:
        assert integrity.check(reading) == reading.last_tick == done.tick
        assert reading.digests() == parent.digests(done.tick)
        assert reading.manifest.text == parent.manifest.text
        assert reading.events() == parent.events(0, done.tick)
        for agent in reading.agent_ids:
            assert reading.memories(agent) == parent.memories(agent, done.tick)
            for tick in range(done.tick + 1):
                assert reading.trace(agent, tick) in ({}, parent.trace(agent, tick))
        for row in reading.answers():
            assert reading.model_call(row) in (None, parent.model_call(row))
        note = json.loads(reading.meta("rescued") or "{}")
        assert note["lost"] == done.lost
    assert {path.name for path in damaged.parent.iterdir() if ".lock" not in path.name} <= {damaged.name, "saved.run"}
    return done


def first_damage(path: Path) -> int | None:
    """The tick that the check names; None for damage of no tick."""
    try:
        with Reading.open(path) as reading:
            integrity.check(reading)
    except CommonplaceError as error:
        place, _, tick = error.where.rpartition(", tick ")
        return int(tick) if place else None
    return None


def test_of_a_sound_run_nothing_is_lost(village: Path, tmp_path: Path) -> None:
    done = saved(copied(village, tmp_path), village)
    assert (done.tick, done.last, done.lost) == (TICKS, TICKS, [])


@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("UPDATE event SET body = replace(body, '}', ',\"x\":1}') WHERE tick = 7", "an event"),
        ("UPDATE memory SET text = 'nothing' WHERE tick = 7", "a memory"),
        ("DELETE FROM version WHERE tick = 7", "a plan, place"),
        ("DELETE FROM touch WHERE tick = 7", "an access"),
        ("UPDATE answer SET body = '{}' WHERE used = 7", "an answer"),
        ("DELETE FROM tick WHERE n = 7", "the tick is missing"),
        ("UPDATE tick SET history = x'00' WHERE n = 7", "an event"),
        ("UPDATE tick SET state = x'00' WHERE n = 7", "the digest of the state"),
        ("UPDATE tick SET parts = x'00' WHERE n = 7", "a memory"),
        ("UPDATE event SET ordinal = ordinal + 50 WHERE tick = 7 AND agent = 'ann'", "an event"),
    ],
)
def test_the_past_before_the_first_damage_is_saved(village: Path, tmp_path: Path, statement: str, kind: str) -> None:
    damaged = copied(village, tmp_path)
    with tables(damaged) as connection:
        connection.execute(statement)
    done = saved(damaged, village)
    assert (done.tick, done.last) == (6, TICKS)
    assert done.lost[0].startswith(f"everything from tick 7 on: {kind}")


def test_a_trace_is_no_reason_to_give_up_a_tick(village: Path, tmp_path: Path) -> None:
    damaged = copied(village, tmp_path)
    with tables(damaged) as connection:
        connection.execute("UPDATE trace SET body = x'00' WHERE tick = 5 AND agent = 'ann'")
        connection.execute("DELETE FROM trace WHERE tick = 3 AND agent = 'bob'")
    done = saved(damaged, village)
    assert (done.tick, done.lost) == (TICKS, ["the traces of 2 ticks"])
    with open_run(damaged.with_name("saved.run")) as reading:
        assert integrity.trimmed(reading) == {"trace": 5}
        assert reading.one("SELECT count(*) FROM trace WHERE tick IN (3, 5)")[0] == 0
        assert reading.one("SELECT count(*) FROM trace WHERE tick = 4")[0] > 0


@pytest.mark.parametrize("usage", ['{"prompt_tokens":1}', '{"prompt', "7", "\x01"])
def test_what_an_answer_cost_is_no_reason_either(village: Path, tmp_path: Path, usage: str) -> None:
    damaged = copied(village, tmp_path)
    with tables(damaged) as connection:
        connection.execute("UPDATE answer SET usage = ? WHERE used = 5", (usage,))
    done = saved(damaged, village)
    assert done.tick == TICKS
    assert "cost" in done.lost[0]


def test_prompts_that_can_be_read_are_saved(paid_for: Path, tmp_path: Path) -> None:
    damaged = copied(paid_for, tmp_path)
    with tables(damaged) as connection:
        connection.execute("UPDATE model_call SET body = x'00' WHERE rowid = 4")
        connection.execute(
            "UPDATE primer SET body = x'00' WHERE id = (SELECT max(id) FROM primer WHERE agent = 'ines')"
        )
    done = saved(damaged, paid_for)
    assert done.tick == 30
    [lost] = done.lost
    assert lost.startswith("the prompts of ")
    with open_run(damaged.with_name("saved.run")) as reading:
        kept = sum(reading.model_call(row) is not None for row in reading.answers())
        assert 0 < kept < len(reading.answers())


def test_what_waits_is_saved_unless_it_has_changed(tmp_path: Path) -> None:
    path = make(tmp_path / "a.run", 3)
    with RunFile.open(path) as run:
        run.queue({"kind": "inner_voice", "agent_id": "ann", "text": "Hm."})
    done = saved(path, path)
    assert done.lost == []
    with open_run(tmp_path / "saved.run") as reading:
        assert [row.body["text"] for row in reading.queued()] == ["Hm."]
    with tables(path) as connection:
        connection.execute("UPDATE input SET body = replace(body, 'Hm', 'Ah')")
    done = saved(path, path)
    assert done.lost == ["queued inputs (1): what is there does not match its seal"]


def test_later_answers_of_a_paid_mind_are_kept_for_the_same_questions(tmp_path: Path) -> None:
    live_state, whole = Village(), tmp_path / "whole.run"
    with RunFile.create(whole, replace(MANIFEST, mind="ollama:tiny")) as run:
        run.commit(live_state.opening())
        for number in range(1, TICKS + 1):
            run.commit(live_state.tick(plot(number)))
    (tmp_path / "in").mkdir()
    damaged = copied(whole, tmp_path / "in")
    with tables(damaged) as connection:
        connection.execute("DELETE FROM event WHERE tick = 7")
        connection.execute("UPDATE answer SET body = '{}' WHERE tick = 10 AND agent = 'bob'")
    saved(damaged, whole)
    with open_run(damaged.with_name("saved.run")) as reading:
        kept = {tick for (tick,) in reading.all("SELECT DISTINCT tick FROM offered")}
    assert kept == {7, 8, 9, 11, 12}


def test_a_rescued_run_goes_on_as_it_did(plaza: Path, tmp_path: Path) -> None:
    damaged = copied(plaza, tmp_path)
    with tables(damaged) as connection:
        connection.execute("DELETE FROM memory WHERE tick = 40 AND agent = 'ines'")
    done = command("rescue", damaged, "-o", tmp_path / "saved.run")
    assert "of 60 are as they were committed" in done.lines[0]
    assert done.lines[1].startswith("lost: everything from tick ")
    command("resume", tmp_path / "saved.run", "--until", 60, "--view", "none")
    assert ends(tmp_path / "saved.run") == ends(plaza)
    command("verify", tmp_path / "saved.run")


def test_a_run_of_an_older_format_is_saved_as_one_of_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "older.run"
    path.write_bytes(lzma.decompress((FOLDER / "format-3.run.xz").read_bytes()))
    notes = json.loads((FOLDER / "format-3.json").read_text(encoding="utf-8"))
    whole = Path(shutil.copy(path, tmp_path / "whole.run"))
    shutil.copy(path, tmp_path / "in" / "older.run") if (tmp_path / "in").mkdir() else None
    damaged = Path(shutil.copy(path, tmp_path / "in" / "older.run"))
    assert saved(damaged, whole).lost == []
    with open_run(damaged.with_name("saved.run")) as reading:
        assert (reading.digest(), reading.digest(state=True)) == (notes["history"], notes["state"])
        assert [dict(row.body) for row in reading.queued()] == notes["queued"]
    with tables(damaged) as connection:
        connection.execute("UPDATE version SET value = '1' WHERE tick = 20")
    assert saved(damaged, whole).tick == 19


# ── bytes ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_lost_header_is_mended(village: Path, tmp_path: Path) -> None:
    damaged = copied(village, tmp_path)
    raw = bytearray(damaged.read_bytes())
    raw[:100] = bytes(100)
    damaged.write_bytes(raw)
    assert saved(damaged, village).tick == TICKS


@given(st.data())
@examples(60)
def test_flipped_bytes_cost_no_more_than_they_must(
    village: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("flips")
    damaged = copied(village, folder)
    raw = bytearray(damaged.read_bytes())
    for place in data.draw(st.lists(st.integers(0, len(raw) - 1), min_size=1, max_size=3)):
        raw[place] ^= data.draw(st.integers(1, 255))
    damaged.write_bytes(raw)
    named = first_damage(damaged)
    try:
        done = saved(damaged, village)
    except RunDamaged as error:
        assert "lost" in error.what or "nothing in it can be read" in error.what or "tick 0" in error.what
    else:
        if named is not None:
            assert done.tick >= named - 1
    shutil.rmtree(folder)


@given(st.data())
@examples(40)
def test_lost_pages_are_read_around(plaza: Path, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("pages")
    damaged = copied(plaza, folder)
    raw = bytearray(damaged.read_bytes())
    pages = len(raw) // 4096
    page = data.draw(st.integers(1, pages - 1))
    junk = data.draw(st.sampled_from([bytes(4096), b"\xff" * 4096, raw[4096 : 2 * 4096]]))
    raw[page * 4096 : (page + 1) * 4096] = junk
    damaged.write_bytes(raw)
    try:
        saved(damaged, plaza)
    except RunDamaged as error:
        assert "lost" in error.what or "tick 0" in error.what
    shutil.rmtree(folder)


def test_a_file_that_was_cut_off(plaza: Path, tmp_path: Path) -> None:
    raw = plaza.read_bytes()
    for number, share in enumerate((0.95, 0.5, 0.1, 0.0)):
        damaged = tmp_path / f"{number}" / "cut.run"
        damaged.parent.mkdir()
        damaged.write_bytes(raw[: int(len(raw) * share)])
        try:
            saved(damaged, plaza)
        except RunDamaged:
            assert [path.name for path in damaged.parent.iterdir()] == ["cut.run"]


def test_a_huge_file_without_tables_is_not_copied_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "copyfile", None)
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(20 << 30)
    with pytest.raises(RunDamaged, match="nothing in it can be read"):
        rescue(tmp_path / "huge", tmp_path / "new.run")
    assert [path.name for path in tmp_path.iterdir()] == ["huge"]


def test_what_a_killed_process_left_in_the_journal_is_saved(tmp_path: Path) -> None:
    live_state = Village()
    folder = tmp_path / "killed"
    folder.mkdir()
    with RunFile.create(tmp_path / "a.run", MANIFEST) as run:
        run.commit(live_state.opening())
        for number in range(1, 5):
            run.commit(live_state.tick(plot(number)))
        for ending in ("", "-wal"):
            shutil.copyfile(tmp_path / f"a.run{ending}", folder / f"a.run{ending}")
    rescue(folder / "a.run", tmp_path / "saved.run")
    assert ends(tmp_path / "saved.run") == ends(tmp_path / "a.run")


def test_a_full_disk_is_not_taken_for_damage() -> None:
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    with pytest.raises(sqlite3.OperationalError), _tolerated():
        raise full
    torn = sqlite3.DatabaseError("database disk image is malformed")
    torn.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    with _tolerated() as damage:
        raise torn
    assert damage == [torn]


# ── what cannot be rescued ───────────────────────────────────────────────────────────────────────────────────────────


def test_without_its_manifest_nothing_is_saved(village: Path, tmp_path: Path) -> None:
    damaged = copied(village, tmp_path)
    with tables(damaged) as connection:
        connection.execute("UPDATE meta SET value = replace(value, 'seed', 'sead') WHERE key = 'manifest'")
    with pytest.raises(RunDamaged, match="manifest is lost"):
        rescue(damaged, tmp_path / "saved.run")
    with tables(damaged) as connection:
        connection.execute("DELETE FROM meta")
    with pytest.raises(RunDamaged, match="manifest is lost"):
        rescue(damaged, tmp_path / "saved.run")
    assert not (tmp_path / "saved.run").exists()


@pytest.mark.parametrize("flip", ["0xff", '"', "x"])
def test_the_text_of_the_scenario_is_found_elsewhere(plaza: Path, tmp_path: Path, flip: str) -> None:
    damaged = copied(plaza, tmp_path)
    raw = bytearray(damaged.read_bytes())
    raw[raw.index(b"characters:")] = 0xFF if flip == "0xff" else ord(flip)
    damaged.write_bytes(raw)
    done = saved(damaged, plaza)
    assert (done.tick, done.lost[0]) == (60, "the scenario's text in the file; it is now that of plaza")


def test_the_text_of_a_scenario_can_be_given(village: Path, tmp_path: Path) -> None:
    damaged = copied(village, tmp_path)
    raw = bytearray(damaged.read_bytes())
    raw[raw.index(b"characters:")] = ord("k")
    damaged.write_bytes(raw)
    scenario = tmp_path / "village.yaml"
    scenario.write_text(MANIFEST.text + "\n", encoding="utf-8")
    with pytest.raises(RunDamaged, match="--scenario"):
        rescue(damaged, tmp_path / "saved.run", scenario=scenario)
    scenario.write_text(MANIFEST.text, encoding="utf-8")
    done = command("rescue", damaged, "-o", tmp_path / "saved.run", "--scenario", scenario)
    assert done.lines[0].endswith("ticks 0 to 12 of 12 are as they were committed")
    assert ends(tmp_path / "saved.run") == ends(village)


def test_a_manifest_that_has_changed_is_told(village: Path, tmp_path: Path) -> None:
    damaged = copied(village, tmp_path)
    with tables(damaged) as connection:
        connection.execute("UPDATE meta SET value = replace(value, '\"seed\":3', '\"seed\":4') WHERE key = 'manifest'")
    done = rescue(damaged, tmp_path / "saved.run")
    assert done.lost == ["a note or the manifest has changed: check the seed (4) and the mind (offline)"]


def test_a_run_whose_first_tick_is_lost_says_how_to_make_it_again(village: Path, tmp_path: Path) -> None:
    damaged = copied(village, tmp_path)
    with tables(damaged) as connection:
        connection.execute("DELETE FROM memory WHERE tick = 0")
    with pytest.raises(RunDamaged, match="its seed 3"):
        rescue(damaged, tmp_path / "saved.run")


def test_wrong_use_is_refused(village: Path, tmp_path: Path) -> None:
    damaged = copied(village, tmp_path)
    with pytest.raises(UsageError, match="cannot replace"):
        rescue(damaged, damaged, force=True)
    with pytest.raises(UsageError, match="no such run"):
        rescue(tmp_path / "none.run", tmp_path / "saved.run")
    (tmp_path / "saved.run").write_text("mine")
    with pytest.raises(UsageError, match="exists"):
        rescue(damaged, tmp_path / "saved.run")
    with resume_free(damaged), pytest.raises(UsageError):
        rescue(damaged, tmp_path / "other.run")
    (tmp_path / "text.run").write_text("this is not a run " * 100)
    with pytest.raises(CommonplaceError):
        rescue(tmp_path / "text.run", tmp_path / "other.run")
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE t(x)")
    with pytest.raises(CommonplaceError):
        rescue(tmp_path / "other.db", tmp_path / "other.run")


def resume_free(path: Path) -> RunFile:
    """The run, in use."""
    return RunFile.open(path)


def test_a_manifest_with_a_byte_that_is_no_text_is_saved_and_named(village: Path, tmp_path: Path) -> None:
    damaged = copied(village, tmp_path)
    with tables(damaged) as connection:
        (text,) = connection.execute("SELECT value FROM meta WHERE key = 'manifest'").fetchone()
        raw = text.encode().replace(b'"language":"en"', b'"language":"en","note":"\xf0"')
        connection.execute("UPDATE meta SET value = CAST(? AS TEXT) WHERE key = 'manifest'", (raw,))
    done = saved(damaged, village)
    assert done.tick == TICKS
    assert any("manifest has changed" in problem for problem in done.lost)
