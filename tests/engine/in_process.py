"""Workers in this process: what they are told and give back are the same bytes, and they die when a test wants it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, Literal

import pytest

from commonplace.api import scenario_of
from commonplace.engine.worker import Message, Worker, unpacked
from commonplace.engine.workers import WorkerLost
from commonplace.parts.cluster import ray_cluster
from commonplace.run.manifest import Manifest
from commonplace.stages import by_name

Death = Literal["", "before", "after"]
"""Whether a worker dies of a message, and if so, before or after it has handled it."""


class InProcess:
    """Starts workers that are called directly. Made like `RayCluster`."""

    def __init__(
        self,
        workers: int | str,
        manifest: Manifest,
        where: str | Path = "",
        *,
        answers: bool,
        dies: Callable[[Message], Death] = lambda message: "",
    ) -> None:
        self.count = int(workers)
        self.sent: list[Message] = []
        self.bytes = [0, 0]
        """Sent to workers, and received from them."""
        self.started = 0
        self.closed = False
        self.dies = dies
        self._make = lambda: Worker(scenario_of(manifest), by_name(manifest.stage), answers=answers)

    def start(self) -> InProcessLink:
        """A worker more."""
        self.started += 1
        return InProcessLink(self, self._make())

    def close(self) -> None:
        """Noted."""
        self.closed = True


class InProcessLink:
    """A worker, called directly."""

    def __init__(self, cluster: InProcess, worker: Worker) -> None:
        self._cluster = cluster
        self._worker: Worker | None = worker

    def send(self, data: bytes) -> Future[bytes]:
        """The reply is there at once."""
        reply: Future[bytes] = Future()
        message = unpacked(data)
        self._cluster.sent.append(message)
        dies = self._cluster.dies(message) if self._worker else "before"
        done = self._worker.handle(data) if self._worker and dies != "before" else b""
        if dies:
            self._worker = None
            reply.set_exception(WorkerLost("killed"))
        else:
            self._cluster.bytes[0] += len(data)
            self._cluster.bytes[1] += len(done)
            reply.set_result(done)
        return reply

    def end(self) -> None:
        """It is gone."""
        self._worker = None


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> list[InProcess]:
    """The clusters that runs have started their workers in, all in this process."""
    made: list[InProcess] = []

    def make(*arguments: Any, **settings: Any) -> InProcess:
        made.append(InProcess(*arguments, **settings))
        return made[-1]

    monkeypatch.setattr(ray_cluster, "RayCluster", make)
    return made
