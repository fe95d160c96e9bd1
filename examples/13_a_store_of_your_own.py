"""A store of your own: a file of JSON lines per character, which `tests/memory/stores/test_example.py` puts through the
contract of all stores.

A line is one `write`: the operations as JSON. What they mean is not the store's business. `docs/stores.md` explains it.
"""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock

from filelock import FileLock, Timeout

from commonplace import UsageError
from commonplace.memory import MemoryStream, stores


class Journals:
    """A folder of journals. One process has it open at a time; a mark is (how often it was compacted, lines)."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.where = str(folder)
        self.repairs: tuple[str, ...] = ()
        self._folder = folder
        self._lock = FileLock(folder / "lock")
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise UsageError("the store is in use", where=self.where, hint="close it there first") from error
        self._guard = RLock()
        self._closed = False
        self._compacted: dict[str, int] = {}
        for path in folder.glob("*.jsonl"):
            data = path.read_bytes()
            whole = data[: data.rfind(b"\n") + 1]
            if whole != data:  # the process died while it wrote the last line
                path.write_bytes(whole)
                self.repairs += (f"{path.name}: the last line was torn and was removed",)

    def agents(self) -> tuple[str, ...]:
        """Characters that have anything here, sorted."""
        with self._guard:
            return tuple(sorted(json.loads(self._lines(one)[0])["agent"] for one in self._folder.glob("*.jsonl")))

    def read(self, agent: str, since: tuple[int, int] | None = None) -> stores.Log:
        """What has become of a character since a mark."""
        with self._guard:
            lines = self._lines(self._path(agent))
            mark = self._compacted.get(agent, 0), len(lines)
        whole = since is None or since[0] != mark[0]
        new = lines if whole or since is None else lines[since[1] :]
        operations = [stores.operation_of(agent, one) for line in new for one in json.loads(line)["operations"]]
        return stores.Log(operations, mark, whole)

    def write(self, agent: str, operations: Sequence[stores.Operation], mark: tuple[int, int]) -> tuple[int, int]:
        """Makes the operations, unless anybody has written since the mark."""
        with self._guard:
            path, times = self._path(agent), self._compacted.get(agent, 0)
            before = self._lines(path)
            if mark != (times, len(before)):
                raise stores.overtaken(agent, self.where)
            if not any(isinstance(operation, stores.Forget) for operation in operations):
                line, size = _line(agent, operations), path.stat().st_size if before else 0
                try:
                    with path.open("ab") as file:
                        file.write(line)
                except OSError:  # the disk is full: all or nothing
                    os.truncate(path, size)
                    raise
                return times, len(before) + 1
            aside = path.with_suffix(".new")  # what is forgotten is in no line any more
            aside.write_bytes(_line(agent, stores.compacted(agent, [*self.read(agent).operations, *operations])))
            aside.replace(path)
            self._compacted[agent] = times + 1
            return times + 1, 1

    def delete(self, agent: str) -> int:
        """Deletes everything of a character; returns how many memories it had."""
        with self._guard:
            stored = stores.load(self, agent)
            self._path(agent).unlink(missing_ok=True)
            self._compacted[agent] = self._compacted.get(agent, 0) + 1
        return len(stored.memories) - len(stored.forgotten)

    def close(self) -> None:
        """Lets other processes open the folder. May be called twice."""
        if not self._closed:
            self._lock.release()
        self._closed = True

    def _path(self, agent: str) -> Path:
        return self._folder / f"{sha256(stores.checked_agent(agent).encode()).hexdigest()}.jsonl"  # it may be anything

    def _lines(self, path: Path) -> list[bytes]:
        if self._closed:
            raise UsageError("the store is closed", where=self.where, hint="open it again")
        return path.read_bytes().splitlines() if path.exists() else []


def _line(agent: str, operations: Sequence[stores.Operation]) -> bytes:
    return json.dumps({"agent": agent, "operations": [*map(stores.operation_json, operations)]}).encode() + b"\n"


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        folder = Path(name) / "journals"
        store = Journals(folder)
        with MemoryStream.open(store, agent="maria") as stream:
            for text in ("Klaus lent me his umbrella", "the door code is 4711"):
                stream.remember(text, at=datetime(2031, 10, 6, 9, tzinfo=UTC))
            stream.forget([2])
        store.close()

        store = Journals(folder)
        print([memory.text for memory in stores.load(store, "maria").memories if memory.text])
        store.close()
        print("4711 is", "there" if any(b"4711" in path.read_bytes() for path in folder.glob("*.jsonl")) else "gone")
