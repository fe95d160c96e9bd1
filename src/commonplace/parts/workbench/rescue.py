"""Rescue: what can be saved of a damaged run. The longest past whose chains are intact, in a new file that is whole.

The damaged file is copied and never written to. Each table is read as far as its pages allow; then the chains say up
to which tick what was read is what was committed. A tick is not given up for a trace or a prompt: those that cannot be
read are left out, and the new file says so.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from commonplace.canon import canonical, parsed
from commonplace.errors import CommonplaceError, RunDamaged, UsageError
from commonplace.lock import LOCK, ProcessLock, held_by
from commonplace.memory.stores.codec import UNREADABLE
from commonplace.run import digest as chain
from commonplace.run import integrity, schema, seals
from commonplace.run.digest import START
from commonplace.run.file import written_run
from commonplace.run.fork import cut
from commonplace.run.integrity import CHUNK, QUERIES, TRIMMED
from commonplace.run.journal import model_call_from
from commonplace.run.manifest import Manifest
from commonplace.run.reading import Reading
from commonplace.run.schema import FORMAT, OLDEST, RUN
from commonplace.run.tables import refuse_missing
from commonplace.scenario.compiling import compiled_from_text, load
from commonplace.scenario.loading import located
from commonplace.sqlite import JOURNALS, beside, has_journal, transaction
from commonplace.world.events import NOBODY

MAGIC = b"SQLite format 3\x00"
PAGE_SIZES = (1, *(1 << power for power in range(9, 16)))
"""As the header has them: 1 stands for 65,536."""
USUAL_PAGE = 4096
NOTES = ("manifest", "parent", "parent_manifest", "synchronous", TRIMMED)
"""Notes that are taken over. `semantics` follows from the manifest."""
STREAMS = {
    "tick": ("", "n"),
    "event": ("", "tick, phase, agent, ordinal"),
    "version": ("", "tick, owner, kind, key"),
    "memory": ("agent", "id"),
    "touch": ("agent", "tick"),
    "answer": ("", "tick, agent, ordinal, attempt"),
    "offered": ("agent", "tick, ordinal, attempt"),
    "input": ("", "seq"),
}
"""Table → the column by which it is read for each character, and the order. A row that cannot be read ends it."""
SCATTERED = {
    "vector": ("id", "SELECT DISTINCT vector FROM memory WHERE vector IS NOT NULL"),
    "primer": ("id", "SELECT DISTINCT primer FROM model_call"),
    "trace": ("agent, tick", "SELECT DISTINCT agent, tick FROM event WHERE agent != '-'"),
    "model_call": ("agent, tick, ordinal, attempt", "SELECT agent, tick, ordinal, attempt FROM answer"),
}
"""Table → its key, and where the keys are found of rows that are looked up one by one when some cannot be read."""


@dataclass(slots=True)
class Rescued:
    """The results of a rescue: what was saved, and what was not."""

    tick: int
    """The last tick that is whole."""
    last: int
    """The last tick that the damaged file still names; −1 for none."""
    lost: list[str] = field(default_factory=list[str])
    """What is missing or was left out, as sentences."""


def rescue(source: str | Path, target: str | Path, *, scenario: str | Path = "", force: bool = False) -> Rescued:
    """Writes what can be saved of a run to a new one, which verifies and can be resumed.

    It appears whole or not at all.

    `scenario`: the name or file that the run was made from, in case its text in the run is damaged. A shipped one is
    found by itself. It is used only if it has the digest of the text that the run was made from.

    Raises RunDamaged when the manifest or tick 0 is lost, and UsageError for a run that is in use, a `scenario` that is
    not there and, unless `force`, an existing target.
    """
    source, target = Path(source), Path(target)
    refuse_missing(source)
    if scenario:
        located(str(scenario))  # raises for what cannot be read, also where the text in the run will do
    if os.path.realpath(source) == os.path.realpath(target):
        raise UsageError("a rescued run cannot replace the damaged one", where=str(target), hint="give another name")
    with _held(source), written_run(target, force=force) as part, _copied(source, part) as damaged:
        return _saved(source, damaged, part, str(scenario))


def _saved(source: Path, damaged: sqlite3.Connection, part: Path, scenario: str) -> Rescued:
    manifest, notes, problems = _notes(source, damaged, scenario)
    with RUN.errors(str(part)), closing(sqlite3.connect(part, isolation_level=None)) as new, transaction(new):
        schema.create(new)
        new.executemany("INSERT INTO meta VALUES (?, ?)", notes.items())
        _read_tables(damaged, new, manifest)
        problems += _sealed_rows(damaged, new)
        seals.renew(new)
    with Reading.open(part, lenient=True) as reading, reading.snapshot():
        found = _examined(reading)
    if found.tick < 0:
        what = f"its scenario is {manifest.scenario!r}, its seed {manifest.seed}, its mind {manifest.mind!r}"
        hint = f"make it again: {what}"
        raise RunDamaged(f"not even tick 0 can be saved ({found.lost[0]})", where=str(source), hint=hint)
    found.lost = [*problems, *found.lost]
    _finish(part, found, source.name, manifest)
    with Reading.open(part) as reading:
        integrity.check(reading)
    return found.rescued


# ── the damaged file ─────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _held(source: Path) -> Generator[None]:
    """Keeps others from writing the damaged file, as far as its folder lets: one that cannot be written has no lock."""
    place = beside(source.resolve(), LOCK)
    lock = None
    try:
        lock = ProcessLock(place, str(source))
    except UsageError:
        raise
    except CommonplaceError:
        if held_by(place):
            raise
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


@contextmanager
def _copied(source: Path, part: Path) -> Generator[sqlite3.Connection]:
    """Opens a copy of the damaged file, with what its journals hold and a header that SQLite accepts."""
    with source.open("rb") as file:
        start = file.read(101)
    if len(start) > 100 and start[100] not in TREES and not has_journal(source):  # however large the rest is
        raise RunDamaged("nothing in it can be read", where=str(source), hint=NO_WAY)
    copy = beside(part, "-damaged")
    copies = [beside(copy, ending) for ending in ("", *JOURNALS)]
    try:
        for path in copies:
            path.unlink(missing_ok=True)
        for ending in ("", "-wal", "-journal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(beside(source.resolve(), ending), beside(copy, ending))
        with closing(_connected(copy, source)) as connection:
            yield connection
    finally:
        for path in copies:
            path.unlink(missing_ok=True)


TREES = (5, 13)
"""How SQLite's list of tables may begin, after the header of the file."""
NO_WAY = "go back to a copy; the page that says where its tables are is lost"


def _connected(copy: Path, source: Path) -> sqlite3.Connection:
    """Opens a connection to the copy, with the page size under which it is a run."""
    with copy.open("rb") as file:
        header = file.read(100)
    if len(header) < 100:
        raise RunDamaged("the file is empty, or only its first bytes are left", where=str(source), hint=NO_WAY)
    said = int.from_bytes(header[16:18], "big")
    for size in dict.fromkeys(
        (1 if said == 1 else said if said in PAGE_SIZES else USUAL_PAGE, USUAL_PAGE, *PAGE_SIZES)
    ):
        _mend_header(copy, header, size)
        connection = sqlite3.connect(copy, isolation_level=None)
        connection.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
        with _tolerated():
            connection.execute("PRAGMA trusted_schema = OFF")
            if connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'tick'").fetchone() == (1,):
                return connection
        connection.close()
    raise RunDamaged("nothing in it can be read", where=str(source), hint=NO_WAY)


def _mend_header(path: Path, old: bytes, page_size: int) -> None:
    """Writes the fields of SQLite's header that a run always has the same; the rest of the page stays."""
    header = bytearray(old)
    number = int.from_bytes(header[60:64], "big")
    mode = 2 if header[18] == header[19] == 2 or beside(path, "-wal").exists() else 1
    header[:16] = MAGIC
    header[16:18] = page_size.to_bytes(2, "big")
    header[18:24] = bytes((mode, mode, 0, 64, 32, 32))
    header[28:40] = bytes(12)  # SQLite takes the size of the file; a reader has no use for the list of free pages
    header[44:48] = (4).to_bytes(4, "big")
    header[52:60] = (1).to_bytes(8, "big")
    header[60:64] = (number if OLDEST <= number <= FORMAT else FORMAT).to_bytes(4, "big")
    header[64:72] = RUN.application_id.to_bytes(8, "big")
    with path.open("r+b") as file:
        file.write(header)


def _notes(source: Path, damaged: sqlite3.Connection, scenario: str) -> tuple[Manifest, dict[str, str], list[str]]:
    """Returns the manifest, the notes to take over, and what was lost of them.

    Raises RunDamaged for a lost manifest.
    """
    found: dict[str, str] = {}
    problems: list[str] = []
    manifest_as_stored = ""
    for key in NOTES:
        row = None
        with _tolerated() as damage:
            row = damaged.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        if damage:
            problems.append(f"the note {key!r}")
        elif row is not None and key == "manifest":
            manifest_as_stored = str(row[0]).encode(errors="replace").decode()
        elif row is not None and _storable(row):
            found[key] = row[0]
    for key in set(found) - {"synchronous"}:
        if integrity.digest_or_none(_json_object, found[key]) is None:
            problems.append(f"the note {key!r}")
            del found[key]
    manifest, text_from = _manifest(manifest_as_stored, source, scenario)
    found["manifest"] = manifest.to_json()
    if text_from:
        problems.append(f"the scenario's text in the file; it is now that of {text_from}")
    with _tolerated(), suppress(*UNREADABLE):
        if _seal(damaged, "meta") not in (None, seals.summed(damaged.execute(seals.SEALED["meta"]))):
            problems.append(
                f"a note or the manifest has changed: check the seed ({manifest.seed}) and the mind ({manifest.mind})"
            )
    found["semantics"] = str(manifest.semantics)
    found.setdefault("synchronous", "NORMAL")
    return manifest, found, problems


def _manifest(stored: str, source: Path, scenario: str) -> tuple[Manifest, str]:
    """Returns the manifest and, unless the file has it, the source of the scenario's text. Raises RunDamaged."""
    try:
        manifest = Manifest.from_json(stored, str(source))
        compiled_from_text(manifest.text, manifest.scenario)
        return manifest, ""
    except (*UNREADABLE, RunDamaged, UsageError) as error:
        around = AROUND_TEXT.fullmatch(stored)
        with suppress(*UNREADABLE, RunDamaged):
            given: dict[str, Any] = parsed("".join(around.groups())) if around else {}
            for name in filter(None, (scenario, str(given.get("scenario", "")))):
                with suppress(UsageError, RunDamaged):
                    text = load(name).text
                    return Manifest.from_json(canonical({**given, "text": text}).decode()), name
        hint = "give the scenario that the run was made from with --scenario; if that does not help, go back to a copy"
        raise RunDamaged("its manifest is lost", where=str(source), hint=hint) from error


AROUND_TEXT = re.compile(r'(.*?"text":").*(","ticks":\d+,.*)', re.DOTALL)
"""The manifest without the scenario's text, which is most of it."""


def _json_object(text: str) -> bytes | None:
    return canonical(parsed(text)) if isinstance(parsed(text), dict) else None


def _seal(damaged: sqlite3.Connection, kind: str) -> bytes | None:
    """Returns a seal as stored, empty if it cannot be read; None in a file that has no seals."""
    if not _columns(damaged, "seal"):
        return None
    with _tolerated():
        row = damaged.execute("SELECT digest FROM seal WHERE kind = ?", (kind,)).fetchone()
        return row[0] if row else b""
    return b""


# ── reading what can be read ─────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _tolerated() -> Generator[list[Exception]]:
    """Skips what cannot be read and yields the damage. A full disk and other troubles of this machine are raised."""
    damage: list[Exception] = []
    try:
        yield damage
    except UnicodeDecodeError as error:  # a message of SQLite that quotes damaged bytes
        damage.append(error)
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in OF_THIS_MACHINE:
            raise
        damage.append(error)


OF_THIS_MACHINE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)


def _read_tables(damaged: sqlite3.Connection, new: sqlite3.Connection, manifest: Manifest) -> None:
    personas = compiled_from_text(manifest.text, manifest.scenario).personas
    for table, (column, order) in STREAMS.items():
        columns = _columns(new, table)
        named = [agent for (agent,) in new.execute("SELECT agent FROM event UNION SELECT owner FROM version")]
        for agent in sorted({*personas, *named, NOBODY}) if column else ("",):
            where = f"WHERE {column} = ?" if column else ""
            query = f"SELECT {_from(damaged, table, columns)} FROM {table} {where} ORDER BY {order}"
            rows = _until_damage(damaged, query, (agent,) if column else ())
            for row in rows:
                if not _stored(new, table, _readable(row, columns)):
                    break
    for table, (key, wanted) in SCATTERED.items():
        columns = _columns(new, table)
        complete = _scan(damaged, new, table, columns)
        if not complete:
            _look_up(damaged, new, table, columns, key, wanted)


def _readable(row: tuple[Any, ...], columns: Sequence[str]) -> tuple[Any, ...]:
    """Returns the row, without what an answer cost if that cannot be read."""
    if "usage" not in columns:
        return row
    place = columns.index("usage")
    usage = row[place] if not row[place] or integrity.digest_or_none(_json_object, row[place]) else ""
    return (*row[:place], usage, *row[place + 1 :])


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def _from(damaged: sqlite3.Connection, table: str, columns: Sequence[str]) -> str:
    """Returns the columns as the damaged file has them; a column that an older format lacks is empty."""
    there = set(_columns(damaged, table))
    return ", ".join(name if name in there else "x''" for name in columns)


def _until_damage(damaged: sqlite3.Connection, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
    """Yields the rows up to the first that cannot be read."""
    with _tolerated():
        yield from damaged.execute(query, values)


def _stored(new: sqlite3.Connection, table: str, row: Sequence[Any]) -> bool:
    """Tells whether the row could be added. Text that is not UTF-8 and a second row of one key are refused."""
    if not _storable(row):
        return False
    try:
        new.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    except sqlite3.IntegrityError:
        return False
    return True


def _storable(row: Sequence[Any]) -> bool:
    try:
        for cell in row:
            if isinstance(cell, str):
                cell.encode()
    except UnicodeEncodeError:
        return False
    return True


def _scan(damaged: sqlite3.Connection, new: sqlite3.Connection, table: str, columns: Sequence[str]) -> bool:
    """Takes over a table in the order of its pages and returns whether all of it could be read."""
    complete = True
    with _tolerated() as damage:
        for row in damaged.execute(f"SELECT {', '.join(columns)} FROM {table} NOT INDEXED"):
            complete = _stored(new, table, row) and complete
    return complete and not damage


def _look_up(
    damaged: sqlite3.Connection, new: sqlite3.Connection, table: str, columns: Sequence[str], key: str, wanted: str
) -> None:
    """Takes over the rows behind damaged pages, one by one."""
    where = " AND ".join(f"{name} = ?" for name in key.split(", "))
    for values in new.execute(wanted).fetchall():
        if new.execute(f"SELECT 1 FROM {table} WHERE {where}", values).fetchone() is None:
            query = f"SELECT {', '.join(columns)} FROM {table} WHERE {where}"
            for row in _until_damage(damaged, query, values):
                _stored(new, table, row)


def _sealed_rows(damaged: sqlite3.Connection, new: sqlite3.Connection) -> list[str]:
    """Leaves out rows that wait for a tick and whose seal does not fit; returns what was left out."""
    left_out: list[str] = []
    for kind, (what, delete) in WAITING.items():
        seal = _seal(damaged, kind)
        if seal is not None and seal != integrity.digest_or_none(seals.summed, new.execute(seals.SEALED[kind])):
            count = new.execute(delete).rowcount
            if count:
                left_out.append(f"{what} ({count}): what is there does not match its seal")
    return left_out


WAITING = {
    "waiting": ("answers that no tick had used", "DELETE FROM answer WHERE used IS NULL"),
    "offered": ("answers of the parent run", "DELETE FROM offered"),
    "queued": ("queued inputs", "DELETE FROM input WHERE tick IS NULL"),
}


# ── what of it is what was committed ─────────────────────────────────────────────────────────────────────────────────


@dataclass(slots=True)
class _Found:
    """The findings of the chains about the rows that were read."""

    tick: int
    last: int
    lost: list[str]
    ticks: list[tuple[bytes, bytes, int]]
    """The record chain and the digests by kind that belong to what is kept, by tick."""
    untraced: list[int]
    """Ticks whose traces are left out."""
    unanswered: list[int]
    """Later ticks whose answers are not those that were given."""
    calls: list[tuple[str, int, int, int]]
    """Model calls that cannot be read, because they or the primers of their series are damaged."""
    keys: list[tuple[bytes, int]]
    """Vectors under a wrong key: (the right one, number)."""

    @property
    def rescued(self) -> Rescued:
        return Rescued(self.tick, self.last, self.lost)


def _examined(reading: Reading) -> _Found:
    """Follows the chains from tick 0 on, up to the first tick that is not as it was committed."""
    (last,) = reading.one("SELECT coalesce(max(n), -1) FROM tick WHERE typeof(n) = 'integer'")
    vectors = integrity.vectors_by_number(reading)
    found = _Found(-1, last, [], [], [], [], list(_unreadable_calls(reading)), [])
    found.keys = [
        (expected, number)
        for number, expected, raw in integrity.misplaced_vectors(reading, vectors)
        if expected and raw
    ]
    gone = integrity.trimmed(reading)
    previous, repaired = chain.BEGINNING, Counter[str]()
    why = "its first tick is lost" if last < 0 else ""
    for begin in range(0, last + 1, CHUNK):
        rows = {kind: integrity.rows_by_tick(reading, kind, begin, vectors) for kind in QUERIES}
        query = "SELECT n, history, state, record, parts FROM tick WHERE n BETWEEN ? AND ?"
        stored = {number: kept for number, *kept in reading.all(query, begin, begin + CHUNK - 1)}
        for tick in range(begin, min(begin + CHUNK, last + 1)):
            here: dict[str, list[Any]] = {kind: groups.get(tick, []) for kind, groups in rows.items()}
            kept = stored.get(tick)
            if why:
                if kept is None or _part(here, "answer") != chain.unpacked_parts(kept[3]).get("answer"):
                    found.unanswered.append(tick)
                continue
            what = "" if kept is None else integrity.difference(here, previous, kept, chain.STATE_KINDS)
            if what or kept is None:
                why = f"{what} has changed or is lost" if what else "the tick is missing"
                found.lost.append(f"everything from tick {tick} on: {why}")
                continue
            parts = _recorded(here, chain.unpacked_parts(kept[3]), tick, found, repaired, gone)
            packed = chain.packed_parts(parts)
            previous = chain.Chains(kept[0], kept[1], chain.record_digest(previous.record, packed))
            found.ticks.append((previous.record, packed, tick))
            found.tick = tick
    if last < 0:
        found.lost.append(why)
    found.lost += [f"{what} of {count} ticks" for what, count in sorted(repaired.items())]
    return found


def _part(rows: Mapping[str, list[Any]], kind: str) -> bytes | None:
    return integrity.digest_or_none(chain.part_digest, kind, rows[kind])


def _recorded(
    rows: Mapping[str, list[Any]],
    parts: dict[str, bytes],
    tick: int,
    found: _Found,
    repaired: Counter[str],
    gone: Mapping[str, int],
) -> dict[str, bytes]:
    """Returns the digests by kind for the new file. Those of traces stay although traces are left out."""
    for kind in chain.RECORD_KINDS:
        actual = _part(rows, kind)
        if kind not in parts:  # an older format has none
            parts[kind] = actual or bytes(len(START))
        elif tick <= gone.get(kind, -1) and not rows[kind]:
            continue
        elif actual != parts[kind] and kind == "trace":
            found.untraced.append(tick)
            repaired["the traces"] += 1
        elif actual != parts[kind]:
            parts[kind] = actual or bytes(len(START))
            repaired["what the answers cost is not certain: that"] += 1
    return parts


# ── the new file ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _finish(part: Path, found: _Found, name: str, manifest: Manifest) -> None:
    """Leaves out what is not as it was committed, and notes what was saved."""
    with RUN.errors(str(part)), closing(sqlite3.connect(part, isolation_level=None)) as new:
        with transaction(new):
            new.executemany("UPDATE tick SET record = ?, parts = ? WHERE n = ?", found.ticks)
            new.executemany("DELETE FROM trace WHERE tick = ?", [(tick,) for tick in found.untraced])
            new.executemany("DELETE FROM answer WHERE used = ?", [(tick,) for tick in found.unanswered])
            new.executemany("UPDATE OR REPLACE vector SET digest = ? WHERE id = ?", found.keys)
            of_call = "agent = ? AND tick = ? AND ordinal = ? AND attempt = ?"
            new.executemany(f"DELETE FROM model_call WHERE {of_call}", found.calls)
            queued = new.execute("SELECT seq, body FROM input WHERE tick IS NULL").fetchall()
        if found.calls:
            found.lost.append(f"the prompts of {len(found.calls)} questions")
        notes = {"rescued": canonical({"from": name, "tick": found.tick, "lost": found.lost}).decode()}
        if found.untraced:
            with Reading.open(part) as reading:
                gone = integrity.trimmed(reading)
            notes[TRIMMED] = canonical({**gone, "trace": max(*found.untraced, gone.get("trace", -1))}).decode()
    cut(part, found.tick, notes, offering=not manifest.is_free)
    with RUN.errors(str(part)), closing(sqlite3.connect(part, isolation_level=None)) as new, transaction(new):
        new.executemany("INSERT INTO input(seq, body) VALUES (?, ?)", queued)
        seals.renew(new, "queued")


def _unreadable_calls(reading: Reading) -> Iterator[tuple[str, int, int, int]]:
    for (agent,) in reading.all("SELECT DISTINCT agent FROM model_call"):
        series = integrity.series_of(reading, agent)
        query = "SELECT tick, ordinal, attempt, primer, body FROM model_call WHERE agent = ?"
        for tick, ordinal, attempt, primer, body in reading.each(query, agent):
            if integrity.digest_or_none(_called, body, series.get(primer)) is None:
                yield agent, tick, ordinal, attempt


def _called(body: bytes, series: bytes | None) -> bytes | None:
    """Returns some bytes if the model call can be read. Raises what reading a damaged one may raise."""
    return None if series is None else model_call_from(body, series).prompt.encode() or b"-"
