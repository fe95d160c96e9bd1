"""Reading a ledger: its entries, those that a filter accepts, and whether all of it is as it was written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from commonplace.clock import parse_iso, utc
from commonplace.errors import CommonplaceError, WrongUse
from commonplace.ledger.days import GENESIS, Entry, days, folder_of, lines, sealed, written


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a ledger that is not as it was written."""

    where: str
    """`ledger-20251012.jsonl:7`."""
    what: str


@dataclass(frozen=True, slots=True)
class Verification:
    """What looking through a ledger found."""

    days: int
    entries: int
    head: str
    """Hash of the last entry."""
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Nothing was found."""
        return not self.findings


def read(path: str | Path) -> Iterator[Entry]:
    """The entries of a ledger, oldest first. Raises WrongUse where there is none, CommonplaceError for a bad line."""
    for where, line in lines(folder_of(path)):
        try:
            entry: Entry = json.loads(line)
            _ = parse_iso(entry["timestamp"]), entry["event_type"], entry["hash"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            todo = "`commonplace ledger verify` lists everything that is wrong"
            raise CommonplaceError("the line is no entry", where=where, todo=todo) from error
        yield entry


def show(
    path: str | Path,
    *,
    session_id: str | None = None,
    event_type: str | None = None,
    persona_id: str | None = None,
    memory_id: str | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
) -> Iterator[Entry]:
    """The entries that all given filters accept, oldest first. `memory_id`: named alone or among `memory_refs`."""
    first, last = (utc(at) if at else None for at in (start, end))
    for entry in read(path):
        moment = parse_iso(entry["timestamp"])
        if (
            (session_id is None or entry.get("session_id") == session_id)
            and (event_type is None or entry.get("event_type") == event_type)
            and (persona_id is None or entry.get("persona_id") == persona_id)
            and (memory_id is None or memory_id in (entry.get("memory_id"), *entry.get("memory_refs", ())))
            and (first is None or moment >= first)
            and (last is None or moment <= last)
        ):
            yield entry


def verify(path: str | Path) -> Verification:
    """Looks through the whole chain: edits, gaps, another order, missing days, a torn end. Changes nothing.

    Raises WrongUse where there is no ledger.
    """
    folder = folder_of(path)
    findings: list[Finding] = []
    prev, count, hashes = GENESIS, 0, set[str]()
    for where, line in lines(folder):
        entry, wrong = checked(line)
        if wrong:
            findings.append(Finding(where, wrong))
        if entry is None:
            continue
        count += 1
        if entry.get("prev") != prev:
            findings.append(Finding(where, _break(entry, hashes)))
        if wrong := _misplaced(entry, where):
            findings.append(Finding(where, wrong))
        prev = str(entry.get("hash"))
        hashes.add(prev)
    findings += _end(folder, prev, hashes)
    return Verification(len(days(folder)), count, prev, tuple(findings))


def checked(line: bytes) -> tuple[Entry | None, str]:
    """(the entry of a line if it is one, what is wrong with it)."""
    if not line.endswith(b"\n"):
        return None, "torn: an entry was being written when its process died; opening the ledger takes it off"
    try:
        entry: Any = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        return None, "no entry: the line was damaged"
    return cast(Entry, entry), _edited(cast(Entry, entry), line)


def _edited(entry: Entry, line: bytes) -> str:
    """What is wrong with an entry by itself. Its bytes count, too: of a name that stands twice JSON shows only one."""
    try:
        if entry.get("hash") != sealed(entry):
            return "edited: its hash is not that of what it says"
        return "" if line == written(entry) else "edited: it says the same in other characters than were written"
    except WrongUse:
        return "edited: it says what no entry can"


def _break(entry: Entry, seen: set[str]) -> str:
    if entry.get("prev") in seen:
        return "out of order: it was written after an entry further up"
    if entry.get("prev") == GENESIS:
        return "a beginning in the middle: it was written as a first entry"
    return "a gap: the entry before it is missing, or was edited"


def _misplaced(entry: Entry, where: str) -> str:
    stamp = str(entry.get("timestamp"))[:10].replace("-", "")
    return "" if f"ledger-{stamp}." in where else "in the file of another day"


def _end(folder: Path, prev: str, hashes: set[str]) -> list[Finding]:
    path = folder / "head.json"
    if not path.exists():
        return [Finding("head.json", "missing: entries gone from the end could not be noticed")] if hashes else []
    try:
        head = json.loads(path.read_bytes())["hash"]
    except (ValueError, KeyError, TypeError):
        return [Finding("head.json", "damaged")]
    if head in hashes or head == prev:
        return []
    return [Finding("head.json", "entries are missing at the end: the last one that was written is not there")]
