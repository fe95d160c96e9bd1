"""The ledger: what was done and why, for audits. Entries are only ever added, each sealed with the one before it.

A file of JSON lines per UTC day, `ledger-20251012.jsonl`; of an older year compressed, `.jsonl.gz`. Every entry holds
the hash of its predecessor (`prev`) and its own (`hash`): SHA-256 of the canonical bytes of everything else in it. The
chain crosses days. `head.json` holds the last hash, so that entries missing at the end are noticed, too.
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
from datetime import date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from types import NoneType
from typing import Any, cast

from commonplace.canon import canonical
from commonplace.clock import iso, parse_iso, utc
from commonplace.errors import CommonplaceError, UsageError

__all__ = [
    "ARCHIVE_AFTER_DAYS",
    "GENESIS",
    "Entry",
    "Finding",
    "Ledger",
    "Verification",
    "read",
    "show",
    "verify",
]


# ── days ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# The files of a ledger: one a day, in order, plain or compressed; and what seals an entry.


GENESIS = "0" * 64
"""`prev` of the first entry."""
Entry = dict[str, Any]


def sealed(entry: Mapping[str, Any]) -> str:
    """The hash of everything in an entry but its hash. Raises UsageError for values JSON cannot hold."""
    try:
        return sha256(canonical({key: value for key, value in entry.items() if key != "hash"})).hexdigest()
    except (TypeError, ValueError) as error:
        hint = "keep strings, finite numbers, true, false, null, lists and mappings"
        raise UsageError(f"an entry that cannot be written ({error})", hint=hint) from error


def written(entry: Mapping[str, Any]) -> bytes:
    """The line of an entry."""
    return json.dumps(entry, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def folder_of(path: str | Path) -> Path:
    """The folder of a ledger. Raises UsageError where there is none."""
    folder = Path(path)
    if not days(folder) and not (folder / "head.json").exists():
        raise UsageError(
            "there is no ledger", where=str(path), hint="give the folder that holds its ledger-….jsonl files"
        )
    return folder


def days(folder: Path) -> list[Path]:
    """A file per day, in order; of a day that is there twice, the plain one."""
    found = {path.name.removesuffix(".gz"): path for path in sorted(folder.glob("ledger-*.jsonl.gz"))}
    found |= {path.name: path for path in folder.glob("ledger-*.jsonl")}
    return [found[name] for name in sorted(found)]


def day(path: Path) -> date:
    """The day a file is of."""
    stamp = path.name.removeprefix("ledger-")[:8]
    return date(int(stamp[:4]), int(stamp[4:6]), int(stamp[6:]))


def content(path: Path) -> bytes:
    """What a file says, unpacked."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def lines(folder: Path) -> Iterator[tuple[str, bytes]]:
    """(file and line number, the line with its end)."""
    for path in days(folder):
        try:
            text = content(path)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            text = b"\0\n"  # damaged as a whole: one line that is no entry
        for number, line in enumerate(text.splitlines(keepends=True), start=1):
            yield f"{path.name}:{number}", line


def replace(path: Path, data: bytes) -> None:
    """Puts new content in a file's place, at once."""
    aside = path.with_name(f"{path.name}.new")
    aside.write_bytes(data)
    aside.replace(path)


@contextmanager
def alone(folder: Path) -> Generator[None]:
    """Waits until nobody else writes into the folder."""
    descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        _wait_for(descriptor)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def explained(folder: Path) -> Generator[None]:
    """Turns the file system's errors into ours."""
    try:
        yield
    except OSError as error:
        what = f"the ledger cannot be read or written ({error.strerror or error})"
        hint = "look at the folder's permissions and the room on the disk; what was logged before is there"
        raise CommonplaceError(what, where=str(error.filename or folder), hint=hint) from error


if sys.platform == "win32":
    import msvcrt

    def _wait_for(descriptor: int) -> None:
        cast(Any, msvcrt).locking(descriptor, cast(Any, msvcrt).LK_LOCK, 1)
else:
    import fcntl

    def _wait_for(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# Reading a ledger: its entries, those that a filter accepts, and whether all of it is as it was written.


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
    """The entries of a ledger, oldest first. Raises UsageError where there is none, CommonplaceError for a bad line."""
    for where, line in lines(folder_of(path)):
        try:
            entry: Entry = json.loads(line)
            _ = parse_iso(entry["timestamp"]), entry["event_type"], entry["hash"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            hint = "`commonplace ledger verify` lists everything that is wrong"
            raise CommonplaceError("the line is no entry", where=where, hint=hint) from error
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

    Raises UsageError where there is no ledger.
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
    except UsageError:
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


# ── book ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
# A ledger to write into.


ARCHIVE_AFTER_DAYS = 365


class Ledger:
    """A ledger to write into. Several may write into one folder; each entry is sealed to the last, whoever wrote it.

    An entry is on the disk when `log_event` returns. A line cut off by a dying process is taken off on opening, and
    said in `repairs`.
    """

    def __init__(self, path: str | Path) -> None:
        """Opens or makes the folder. Raises CommonplaceError where that cannot be done."""
        self.path = Path(path)
        self.repairs: tuple[str, ...] = ()
        self._seen: Entry | None = None
        with explained(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            with alone(self.path):
                self._mend()

    @property
    def latest(self) -> datetime | None:
        """When the last entry was made; None before the first."""
        with explained(self.path):
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
        at: datetime,
        memory_refs: Sequence[str] = (),
        impact_score: float | None = None,
        transparency: float | None = None,
        reproducibility: float | None = None,
        verifiability: float | None = None,
    ) -> Entry:
        """Adds an entry made at a simulated moment and gives it back, sealed.

        `event_type`: `user_input`, `persona_response`, `tool_call`, `evaluation`, `synthesis_report`, `rune_report`,
        `forgetting`, or one of your own. Raises UsageError for a moment before the last entry and for values JSON
        cannot hold.
        """
        if not isinstance(at, datetime):  # pyright: ignore[reportUnnecessaryIsInstance] - strings are passed now and then
            raise UsageError(f"the time {at!r:.60}", hint="give a datetime; a naive one is taken as UTC")
        entry: Entry = {
            "timestamp": iso(at),
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
        _refuse_unusable(entry)
        with explained(self.path), alone(self.path):
            last = self._last()
            if last is not None and utc(at) < parse_iso(last["timestamp"]):
                hint = "log in the order of time; `latest` says how far it is"
                raise UsageError(
                    f"an entry of {iso(at)} after one of {last['timestamp']}", where=str(self.path), hint=hint
                )
            entry["prev"] = self._sealed_to(last)
            entry["hash"] = sealed(entry)
            self._write(entry)
        return entry

    def archive(self, now: datetime, after_days: int = ARCHIVE_AFTER_DAYS) -> tuple[str, ...]:
        """Compresses the days that are older; gives their files. They are read and verified like the others."""
        before = utc(now).date() - timedelta(days=after_days)
        made: list[str] = []
        with explained(self.path), alone(self.path):
            for path in days(self.path):
                if path.suffix == ".jsonl" and day(path) < before:
                    target = path.with_name(f"{path.name}.gz")
                    replace(target, gzip.compress(path.read_bytes(), mtime=0))
                    path.unlink()
                    made.append(target.name)
        return tuple(made)

    def _last(self) -> Entry | None:
        """The last entry, of this or another writer."""
        if self._seen is not None and self._is_last(self._seen["hash"]):
            return self._seen
        for path in reversed(days(self.path)):
            written = content(path).splitlines()
            if written:
                self._seen = _parsed(written[-1], path)
                return self._seen
        return None

    def _is_last(self, hash: str) -> bool:
        """Whether the head names this entry, and nobody died between writing another and saying so."""
        head, there = self._head(), days(self.path)
        if not there:
            return False
        last = there[-1]
        return (head.get("hash"), head.get("file"), head.get("size")) == (hash, last.name, last.stat().st_size)

    def _sealed_to(self, last: Entry | None) -> str:
        """The hash of the entry before the next: the last one's. Where the entry that the head names is gone, the
        head's, so that the gap is found for good."""
        own = last["hash"] if last else GENESIS
        head = self._head().get("hash")
        if not isinstance(head, str) or head == own or self._holds(head):
            return own
        return head

    def _holds(self, hash: str) -> bool:
        """Whether there is an entry of this hash."""
        wanted = f'"hash": "{hash}"'.encode()
        return any(wanted in content(path) for path in reversed(days(self.path)))

    def _head(self) -> dict[str, Any]:
        """What `head.json` says; nothing if it is missing or damaged."""
        try:
            head = json.loads((self.path / "head.json").read_bytes())
        except (FileNotFoundError, ValueError):
            return {}
        return cast("dict[str, Any]", head) if isinstance(head, dict) else {}

    def _write(self, entry: Entry) -> None:
        stamp = entry["timestamp"][:10].replace("-", "")
        path = self.path / f"ledger-{stamp}.jsonl"
        packed = path.with_name(f"{path.name}.gz")
        if packed.exists():  # archived, and written on: it is unpacked again
            replace(path, content(packed))
            packed.unlink()
        size = _added(path, written(entry))
        replace(self.path / "head.json", canonical({"hash": entry["hash"], "file": path.name, "size": size}))
        self._seen = entry

    def _mend(self) -> None:
        """Takes a torn line off the last day; one that lacks nothing but its end is given that."""
        for left in self.path.glob("*.new"):
            left.unlink()
        plain = [path for path in days(self.path) if path.suffix == ".jsonl"]
        if not plain:
            return
        data = plain[-1].read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        entry, wrong = checked(data[len(whole) :] + b"\n")
        if entry and not wrong:
            _added(plain[-1], b"\n")
            self.repairs = (f"{plain[-1].name}: the last line had no end, it is given one",)
        elif whole != data:
            os.truncate(plain[-1], len(whole))
            self.repairs = (
                f"{plain[-1].name}: the last line was torn ({len(data) - len(whole)} bytes), it is taken off",
            )


_FITTING: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    **dict.fromkeys(("session_id", "event_type", "persona_id"), (str, "a string")),
    "memory_id": ((str, NoneType), "a name, or None"),
    "memory_refs": (list, "a list of names"),
    **dict.fromkeys(("bqi_coordinate", "evaluation", "plan_adjustment"), ((Mapping, NoneType), "a mapping, or None")),
    **dict.fromkeys(
        ("impact_score", "transparency", "reproducibility", "verifiability"),
        ((int, float, NoneType), "a number, or None"),
    ),
}
"""Field → (what it is, in words)."""


def _refuse_unusable(entry: Entry) -> None:
    for name, (kinds, words) in _FITTING.items():
        if not isinstance(entry[name], kinds):
            raise UsageError(f"{name} {entry[name]!r:.60}", hint=f"give {words}")
    if not all(isinstance(one, str) for one in entry["memory_refs"]):
        raise UsageError(f"memory_refs {entry['memory_refs']!r:.60}", hint="give a list of names")


def _added(path: Path, line: bytes) -> int:
    """Adds a line, for good, or nothing of it; gives the size of the file."""
    with path.open("ab") as file:
        before = file.tell()
        try:
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            os.truncate(path, before)
            raise
        return file.tell()


def _parsed(line: bytes, path: Path) -> Entry:
    try:
        return json.loads(line)
    except ValueError as error:
        hint = "`commonplace ledger verify` says what else is wrong; mend the line from a copy"
        raise CommonplaceError("the last entry is damaged", where=str(path), hint=hint) from error
