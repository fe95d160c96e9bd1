"""The ledger: an append-only record of what was done and why, for audits.

A ledger is a folder with one file of JSON lines per UTC day, `ledger-20251012.jsonl`; old days may be compressed,
`.jsonl.gz`. The entries form one chain across all days: `hash` is the SHA-256 of the canonical JSON of everything else
in the entry, and `prev`, which it covers, is the hash of the entry before. `head.json` names the last hash, so that
entries missing at the end are found as well.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import zlib
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from types import NoneType
from typing import Any, cast

from commonplace import log
from commonplace.canon import canonical, most_inflated, parsed
from commonplace.clock import iso, parse_iso, utc
from commonplace.errors import CommonplaceError, UsageError
from commonplace.paths import bytes_of, checked_folder, kind_of

__all__ = [
    "ARCHIVE_AFTER_DAYS",
    "GENESIS",
    "Entry",
    "Finding",
    "Ledger",
    "Verification",
    "hash_of",
    "read",
    "show",
    "verify",
]

# ── Entries ──────────────────────────────────────────────────────────────────────────────────────────────────────────


Entry = dict[str, Any]
_STRING = (str, "a string")
_OBJECT = ((Mapping, NoneType), "a mapping or None")
_NUMBER = ((int, float, NoneType), "a number or None")
_FIELDS: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "session_id": _STRING,
    "event_type": _STRING,
    "persona_id": _STRING,
    "memory_id": ((str, NoneType), "a string or None"),
    "bqi_coordinate": _OBJECT,
    "evaluation": _OBJECT,
    "impact_score": _NUMBER,
    "transparency": _NUMBER,
    "reproducibility": _NUMBER,
    "verifiability": _NUMBER,
    "memory_refs": (list, "a list of strings"),
    "plan_adjustment": _OBJECT,
}
"""Field of an entry, beside `timestamp`, `prev` and `hash` → (its types, the same in words)."""


def _checked(entry: Entry) -> Entry:
    for name, (types, expected) in _FIELDS.items():
        if not isinstance(entry[name], types):
            raise UsageError(f"{name} is {entry[name]!r:.60}", hint=f"expected {expected}")
    if not all(isinstance(one, str) for one in entry["memory_refs"]):
        raise UsageError(f"memory_refs is {entry['memory_refs']!r:.60}", hint="expected a list of strings")
    return entry


# ── The chain ────────────────────────────────────────────────────────────────────────────────────────────────────────


GENESIS = "0" * 64
"""`prev` of the first entry."""


def hash_of(entry: Mapping[str, Any]) -> str:
    """Returns the hash of an entry. Raises UsageError for values that JSON cannot hold."""
    try:
        return sha256(canonical({key: value for key, value in entry.items() if key != "hash"})).hexdigest()
    except (TypeError, ValueError) as error:
        hint = "expected strings, finite numbers, true, false, null, lists and mappings"
        raise UsageError(f"the entry cannot be written as JSON ({error})", hint=hint) from error


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _examine(line: bytes) -> tuple[Entry | None, str]:
    """Returns (the entry of a line, None if it is not one; what is wrong with the line, regardless of the chain)."""
    if not line.endswith(b"\n"):
        return None, "torn: the process died while it wrote an entry; opening the ledger removes the line"
    try:
        value: Any = parsed(line)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        return None, "not an entry: the line was damaged"
    entry = cast(Entry, value)
    try:
        if entry.get("hash") != hash_of(entry):
            return entry, "edited: its hash is not the hash of its content"
        # The bytes are compared too: if a key occurs twice, JSON shows only one of the values.
        return entry, "" if line == _line(entry) else "edited: the same content was written in another form"
    except UsageError:
        return entry, "edited: its content does not fit the fields of an entry"


# ── Writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


ARCHIVE_AFTER_DAYS = 365


class Ledger:
    """A ledger to write to. Several processes may write to one folder; the chain goes through the entries of all.

    An entry is on the disk when `log_event` returns. Opening removes a line that a dying process left unfinished, and
    reports it in `repairs`.
    """

    def __init__(self, path: str | Path) -> None:
        """Open the folder, made if missing. Raises CommonplaceError if that fails."""
        self.path = checked_folder(Path(path))
        self.repairs: tuple[str, ...] = ()
        self._cached: Entry | None = None
        with _alone(self.path):
            self._repair()

    @property
    def latest(self) -> datetime | None:
        """The time of the last entry; None if there is none."""
        with _explained(self.path):
            last = self._last()
        return parse_iso(last["timestamp"]) if last else None

    def log_event(
        self,
        session_id: str,
        event_type: str,
        persona_id: str = "",
        memory_id: str | None = None,
        bqi_coordinate: Mapping[str, Any] | None = None,
        evaluation: Mapping[str, Any] | None = None,
        plan_adjustment: Mapping[str, Any] | None = None,
        *,
        at: datetime | None = None,
        memory_refs: Sequence[str] = (),
        impact_score: float | None = None,
        transparency: float | None = None,
        reproducibility: float | None = None,
        verifiability: float | None = None,
    ) -> Entry:
        """Append an entry made at the moment `at`, and return it with `prev` and `hash`.

        `at`: simulated time, or None for now; where the last entry is later than now, its time is taken.

        `event_type`: `user_input`, `persona_response`, `tool_call`, `evaluation`, `synthesis_report`, `rune_report`,
        `forgetting`, or one of your own. Raises UsageError for a time before the last entry, and for a value that does
        not fit its field or that JSON cannot hold.
        """
        if not isinstance(at, datetime | None):  # pyright: ignore[reportUnnecessaryIsInstance] - callers pass strings
            raise UsageError(f"at is {at!r:.60}", hint="expected a datetime or None; a naive one is taken as UTC")
        entry = _checked(
            {
                "timestamp": "",
                "session_id": session_id,
                "event_type": event_type,
                "persona_id": persona_id,
                "memory_id": memory_id,
                "bqi_coordinate": bqi_coordinate,
                "evaluation": evaluation,
                "impact_score": impact_score,
                "transparency": transparency,
                "reproducibility": reproducibility,
                "verifiability": verifiability,
                "memory_refs": memory_refs if isinstance(memory_refs, str) else list(memory_refs),
                "plan_adjustment": plan_adjustment,
            }
        )
        with _alone(self.path):
            last = self._last()
            if at is None:
                now = datetime.now(UTC)
                at = max(now, parse_iso(last["timestamp"])) if last is not None else now
            elif last is not None and utc(at) < parse_iso(last["timestamp"]):
                what = f"at is {iso(at)}, before the last entry of {last['timestamp']}"
                raise UsageError(what, where=str(self.path), hint="log in order of time; see `latest`")
            entry["timestamp"] = iso(at)
            entry["prev"] = self._prev(last)
            entry["hash"] = hash_of(entry)
            self._write(entry)
        return entry

    def archive(self, now: datetime, after_days: int = ARCHIVE_AFTER_DAYS) -> tuple[str, ...]:
        """Compress the days older than that and return their file names. They can still be read and verified."""
        before = utc(now).date() - timedelta(days=after_days)
        made: list[str] = []
        with _alone(self.path):
            for path in _days(self.path):
                if path.suffix == ".jsonl" and date.fromisoformat(path.name[len("ledger-") : -len(".jsonl")]) < before:
                    target = path.with_name(f"{path.name}.gz")
                    log.replace(target, gzip.compress(path.read_bytes(), mtime=0))
                    path.unlink()
                    made.append(target.name)
        return tuple(made)

    def _last(self) -> Entry | None:
        """Returns the last entry, of this or another writer; None for an empty ledger."""
        days, head = _days(self.path), self._head()
        if self._cached is not None and days:
            # The size shows that no writer died between appending another entry and naming it in the head.
            current = {"hash": self._cached["hash"], "file": days[-1].name, "size": days[-1].stat().st_size}
            if head == current:
                return self._cached
        for path in reversed(days):
            lines = _content(path).splitlines()
            if lines:
                self._cached = _parsed(lines[-1], path)
                return self._cached
        return None

    def _prev(self, last: Entry | None) -> str:
        """Returns the hash of the entry before the next one.

        If the entry that the head names has been removed, it is still that one, so that `verify` finds the gap.
        """
        own, head = last["hash"] if last else GENESIS, self._head().get("hash")
        if not isinstance(head, str) or head == own:
            return own
        wanted = f'"hash": "{head}"'.encode()
        return own if any(wanted in _content(path) for path in reversed(_days(self.path))) else head

    def _head(self) -> dict[str, Any]:
        """Returns the content of `head.json`; empty if it is missing or damaged."""
        try:
            head = parsed((self.path / "head.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        return cast("dict[str, Any]", head) if isinstance(head, dict) else {}

    def _write(self, entry: Entry) -> None:
        path = self.path / _file_of(entry)
        packed = path.with_name(f"{path.name}.gz")
        if packed.exists():  # the day was archived, and gets another entry
            log.replace(path, _content(packed))
            packed.unlink()
        line = _line(entry)
        size = log.append(path, line) + len(line)
        head = {"hash": entry["hash"], "file": path.name, "size": size}
        log.replace(self.path / "head.json", canonical(head), sync=False)
        self._cached = entry

    def _repair(self) -> None:
        """Remove a torn line at the end; complete one that only lacks its line break."""
        for leftover in self.path.glob(f"*{log.UNFINISHED}"):
            leftover.unlink()
        plain = [path for path in _days(self.path) if path.suffix == ".jsonl"]
        done = log.mend(plain[-1], "a day of a ledger", lambda line: not _examine(line + b"\n")[1]) if plain else ""
        self.repairs = (done,) if done else ()


def _parsed(line: bytes, path: Path) -> Entry:
    try:
        return parsed(line)
    except ValueError as error:
        hint = "`commonplace ledger verify` lists what is wrong; restore the line from a copy"
        raise CommonplaceError("the last entry is damaged", where=str(path), hint=hint) from error


# ── Reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def read(path: str | Path) -> Iterator[Entry]:
    """Yields the entries of a ledger, oldest first.

    Raises UsageError if there is no ledger, CommonplaceError for a line that is not an entry.
    """
    for where, line in _lines(_existing(path)):
        try:
            entry: Entry = parsed(line)
            _ = parse_iso(entry["timestamp"]), entry["event_type"], entry["hash"]
        except (ValueError, KeyError, TypeError) as error:
            hint = "`commonplace ledger verify` lists everything that is wrong"
            raise CommonplaceError("the line is not an entry", where=where, hint=hint) from error
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
    """Yields the entries that pass all filters, oldest first. `memory_id` also finds `memory_refs`; `start` and `end`
    are included."""
    wanted = {"session_id": session_id, "event_type": event_type, "persona_id": persona_id}
    first, last = (utc(at) if at else None for at in (start, end))
    for entry in read(path):
        moment = parse_iso(entry["timestamp"])
        if (
            all(value is None or entry.get(name) == value for name, value in wanted.items())
            and (memory_id is None or memory_id in (entry.get("memory_id"), *entry.get("memory_refs", ())))
            and (first is None or moment >= first)
            and (last is None or moment <= last)
        ):
            yield entry


# ── Verifying ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a ledger that has changed since it was written."""

    where: str
    """`ledger-20251012.jsonl:7`."""
    what: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of `verify`."""

    days: int
    entries: int
    head: str
    """Hash of the last entry."""
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


def verify(path: str | Path) -> Verification:
    """Check the whole chain for edits, gaps, another order, missing days and a torn end. Changes nothing.

    Raises UsageError if there is no ledger.
    """
    folder = _existing(path)
    findings: list[Finding] = []
    prev, count, hashes = GENESIS, 0, set[str]()
    for where, line in _lines(folder):
        entry, wrong = _examine(line)
        if wrong:
            findings.append(Finding(where, wrong))
        if entry is None:
            continue
        count += 1
        if entry.get("prev") != prev:
            findings.append(Finding(where, _break(entry, hashes)))
        if not where.startswith(_file_of(entry)):
            findings.append(Finding(where, "in the file of another day"))
        prev = str(entry.get("hash"))
        hashes.add(prev)
    findings += _check_head(folder, hashes)
    return Verification(len(_days(folder)), count, prev, tuple(findings))


def _break(entry: Entry, seen: set[str]) -> str:
    if entry.get("prev") in seen:
        return "out of order: it was written after an earlier entry"
    if entry.get("prev") == GENESIS:
        return "a second beginning: it was written as the first entry"
    return "a gap: the entry before it is missing or was edited"


def _check_head(folder: Path, hashes: set[str]) -> list[Finding]:
    try:
        head = str(parsed((folder / "head.json").read_bytes())["hash"])
    except FileNotFoundError:
        what = "missing: whether entries are missing at the end cannot be checked"
        return [Finding("head.json", what)] if hashes else []
    except (ValueError, KeyError, TypeError):
        return [Finding("head.json", "damaged")]
    if head in hashes:
        return []
    return [Finding("head.json", "entries are missing at the end: the last entry written is not there")]


# ── Files ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _existing(path: str | Path) -> Path:
    folder = checked_folder(Path(path))
    if not _days(folder) and not (folder / "head.json").exists():
        hint = "expected the folder with the ledger-….jsonl files"
        raise UsageError("there is no ledger here", where=str(path), hint=hint)
    return folder


def _days(folder: Path) -> list[Path]:
    """Lists the files in the order of their days; of a day that has two, the plain one."""
    found = {path.name.removesuffix(".gz"): path for path in folder.glob("ledger-*.jsonl.gz")}
    found |= {path.name: path for path in folder.glob("ledger-*.jsonl")}
    return [found[name] for name in sorted(found)]


def _file_of(entry: Entry) -> str:
    return f"ledger-{str(entry.get('timestamp'))[:10].replace('-', '')}.jsonl"


def _content(path: Path) -> bytes:
    if path.suffix != ".gz":
        return bytes_of(path, "a day of a ledger")
    kind_of(path)
    most = most_inflated(path.stat().st_size)
    with gzip.open(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise gzip.BadGzipFile(f"it inflates to more than {most} bytes")
    return data


def _lines(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yields (file and line number, line with its line break)."""
    for path in _days(folder):
        try:
            text = _content(path)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            text = b"\0\n"  # the whole file is damaged: one line that is not an entry
        for number, line in enumerate(text.splitlines(keepends=True), start=1):
            yield f"{path.name}:{number}", line


@contextmanager
def _alone(folder: Path) -> Generator[None]:
    """Wait until nobody else writes to the folder."""
    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _wait_for(descriptor)
            yield
        finally:
            os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _wait_for(descriptor: int) -> None:
        cast(Any, msvcrt).locking(descriptor, cast(Any, msvcrt).LK_LOCK, 1)
else:
    import fcntl

    def _wait_for(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextmanager
def _explained(folder: Path) -> Generator[None]:
    """Raise the file system's errors as CommonplaceError."""
    try:
        yield
    except OSError as error:
        what = f"the ledger cannot be read or written ({error.strerror or error})"
        hint = "check the folder's permissions and the free disk space; every entry logged before is still there"
        raise CommonplaceError(what, where=str(error.filename or folder), hint=hint) from error
