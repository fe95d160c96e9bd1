"""A ledger to write into."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import NoneType
from typing import Any, cast

from commonplace.canon import canonical
from commonplace.clock import iso, parse_iso, utc
from commonplace.errors import CommonplaceError, WrongUse
from commonplace.ledger.days import GENESIS, Entry, alone, content, day, days, explained, replace, sealed, written
from commonplace.ledger.reading import checked

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
        `forgetting`, or one of your own. Raises WrongUse for a moment before the last entry and for values JSON
        cannot hold.
        """
        if not isinstance(at, datetime):  # pyright: ignore[reportUnnecessaryIsInstance] - strings are passed now and then
            raise WrongUse(f"the time {at!r:.60}", todo="give a datetime; a naive one is taken as UTC")
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
                todo = "log in the order of time; `latest` says how far it is"
                raise WrongUse(
                    f"an entry of {iso(at)} after one of {last['timestamp']}", where=str(self.path), todo=todo
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
            raise WrongUse(f"{name} {entry[name]!r:.60}", todo=f"give {words}")
    if not all(isinstance(one, str) for one in entry["memory_refs"]):
        raise WrongUse(f"memory_refs {entry['memory_refs']!r:.60}", todo="give a list of names")


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
        todo = "`commonplace ledger verify` says what else is wrong; mend the line from a copy"
        raise CommonplaceError("the last entry is damaged", where=str(path), todo=todo) from error
