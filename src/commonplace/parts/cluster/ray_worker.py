"""A worker as an actor of Ray has it. This module imports no Ray: an actor is made of a plain class."""

from __future__ import annotations

import platform
from functools import cached_property

from commonplace.api import scenario_of
from commonplace.cli import expect_many_objects
from commonplace.engine.worker import Failure, Worker, packed
from commonplace.errors import UsageError
from commonplace.run.manifest import Manifest, package_version
from commonplace.stages import by_name


class RayWorker:
    """Makes a worker from the manifest of a run, and hands it its messages."""

    def __init__(self, manifest: str, *, answers: bool, version: str) -> None:
        """`manifest`: JSON. `version`: of the Commonplace that drives the run."""
        self._manifest = manifest
        self._answers = answers
        self._version = version
        expect_many_objects()

    def handle(self, data: bytes) -> bytes:
        """Handles a message; see `Worker.handle`."""
        try:
            worker = self._worker
        except UsageError as error:
            return packed(Failure(error))
        return worker.handle(data)

    @cached_property
    def _worker(self) -> Worker:
        if (here := package_version()) != self._version:
            what = f"the worker on {platform.node()} has Commonplace {here}, and the run is driven by {self._version}"
            raise UsageError(what, hint="install the same version on all machines of the cluster")
        manifest = Manifest.from_json(self._manifest)
        return Worker(scenario_of(manifest), by_name(manifest.stage), answers=self._answers)
