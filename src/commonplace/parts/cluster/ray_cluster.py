"""Ray starts the workers of a run, on this machine or on a cluster, and tells when one has died.

On this machine it is a Ray of its own: nobody else's is looked for or used, it listens on 127.0.0.1 only, wants a token
that only this process and its workers know, and ends with the run.
"""

from __future__ import annotations

import logging
import os
import re
import secrets
import shutil
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from commonplace.engine.workers import WorkerLost
from commonplace.errors import CommonplaceError, UsageError, install
from commonplace.parts.cluster.ray_worker import RayWorker
from commonplace.run.manifest import Manifest, package_version
from commonplace.run.place import Address, Place

SCHEME = "ray://"
STORE = 256_000_000
"""Bytes of memory that messages on their way may take on this machine."""
MOST_WORKERS = 1000
_log = logging.getLogger(__name__)
ALONE = {
    "RAY_AUTH_MODE": "token",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # one machine only, so that every port is bound to 127.0.0.1
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # it would print advice
    "AUTOSCALER_METRIC_PORT": "0",
}
"""How a Ray of this machine is started."""


class RayCluster:
    """The workers of a run as actors of Ray."""

    def __init__(self, workers: int | str, manifest: Manifest, where: Place, *, answers: bool) -> None:
        """`workers`: how many on this machine, or the address of a cluster. Nothing is started before the first worker.

        Raises UsageError for another number or address, for a cluster that could not read the run, and without Ray.
        """
        self._address = _address(workers)
        if self._address and (not isinstance(where, Address) or where.is_embedded):
            hint = "keep the run in a database that the cluster can reach, or give a number of workers on this machine"
            raise UsageError("the workers of a cluster cannot read a file of this machine", where=str(where), hint=hint)
        self._number = 0 if self._address else int(workers)
        self._arguments = {"manifest": manifest.to_json(), "answers": answers, "version": package_version()}
        self._actors: list[Any] = []
        self._closed = False
        self._ray: Any = None
        if find_spec("ray") is None:
            raise UsageError("workers need Ray, which is not installed", hint=install("cluster"))

    @property
    def count(self) -> int:
        """How many workers there are to be: on a cluster as many as it has free CPUs."""
        if self._number == 0:
            self._number = int(self._joined().available_resources().get("CPU", 0))
            if self._number == 0:
                hint = "start nodes with CPUs (`ray status` lists them), or wait until other programs have ended"
                raise UsageError("the cluster has no free CPUs", where=self._address, hint=hint)
        return self._number

    def start(self) -> RayLink:
        """Starts a worker."""
        ray = self._joined()
        # a successor takes no CPU of its own: those of a node that is lost would be waited for
        cpus = 1 if self._address and len(self._actors) < self.count else 0
        options = {"num_cpus": cpus, "scheduling_strategy": "SPREAD" if self._address else "DEFAULT"}
        actor = ray.remote(RayWorker).options(**options, max_restarts=0).remote(**self._arguments)
        self._actors.append(actor)
        return RayLink(ray, actor)

    def close(self) -> None:
        """Ends all workers and, with the last run that uses it, Ray."""
        if self._closed:
            return
        self._closed = True
        if self._ray is not None:
            for actor in self._actors:
                with suppress(Exception):  # it is gone, or the cluster is
                    self._ray.kill(actor)
            _leave(self._ray)

    def _joined(self) -> Any:
        if self._ray is None:
            self._ray = _join(self._address)
        return self._ray


class RayLink:
    """A worker that is an actor of Ray."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray = ray
        self._actor = actor

    def send(self, data: bytes) -> Future[bytes]:
        """Sends a message; gives its reply."""
        reply: Future[bytes] = Future()
        reply.set_running_or_notify_cancel()
        try:
            done: Future[bytes] = self._actor.handle.remote(data).future()
            done.add_done_callback(partial(_settle, reply))
        except Exception as error:
            reply.set_exception(WorkerLost(_words(error)))
        return reply

    def end(self) -> None:
        """Ends the worker."""
        with suppress(Exception):  # it is gone
            self._ray.kill(self._actor)


def _settle(reply: Future[bytes], done: Future[Any]) -> None:
    error = done.exception()
    if error is None:
        reply.set_result(done.result())
    elif "No module named 'commonplace" in str(error):
        hint = "install the same version of it on all machines of the cluster"
        reply.set_exception(UsageError("Commonplace is not installed on the cluster", hint=hint))
    else:
        reply.set_exception(WorkerLost(_words(error)))


def _words(error: BaseException) -> str:
    """Returns the first sentence of what Ray says."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].strip().rstrip(".:")


def _address(workers: int | str) -> str:
    """Returns the address of a cluster, empty for a number. Raises UsageError for anything else."""
    text = str(workers)
    if re.fullmatch(rf"{SCHEME}[^\s/:@]+:\d+", text) or re.fullmatch(rf"{SCHEME}\[[0-9a-fA-F:]+\]:\d+", text):
        return text
    if not text.isdecimal() or not 1 <= int(text) <= MOST_WORKERS:
        hint = f"expected a number from 1 to {MOST_WORKERS:,}, or the address of a Ray cluster: {SCHEME}HOST:10001"
        raise UsageError(f"{text!r} is not a number of workers", hint=hint)
    return ""


# ── one Ray a process ────────────────────────────────────────────────────────────────────────────────────────────────


class _Joined:
    """The Ray of this process, and how many runs use it."""

    lock = threading.Lock()
    runs = 0
    ours = False
    """Whether it was started or joined here; a program may have done that itself."""
    folder = ""
    address = ""


def _join(address: str) -> Any:
    """Returns Ray, joined to a cluster, or started on this machine if `address` is empty."""
    with _Joined.lock:
        ray: Any = import_module("ray") if address else _imported()
        if not ray.is_initialized():
            _Joined.folder, _Joined.address = "", address
            with _undisturbed():
                _connect(ray, address) if address else _begin(ray)
            _Joined.ours = True
        elif _Joined.ours and _Joined.address != address:
            hint = "one process can have its workers in one place only: end the other run first"
            raise UsageError("another run of this process has its workers elsewhere", where=address, hint=hint)
        _Joined.runs += 1
        return ray


def _leave(ray: Any) -> None:
    with _Joined.lock:
        _Joined.runs -= 1
        if _Joined.runs == 0 and _Joined.ours:
            _Joined.ours = False
            with _undisturbed():
                ray.shutdown()
            if _Joined.folder:
                shutil.rmtree(_Joined.folder, ignore_errors=True)


def _imported() -> Any:
    """Imports Ray for this machine alone. A program that has imported it before has decided how it listens."""
    if "ray" not in sys.modules:
        os.environ.update({**ALONE, "RAY_AUTH_TOKEN": secrets.token_hex(32)})
    return import_module("ray")


def _begin(ray: Any) -> None:
    # Ray prints on standard output what becomes of its processes; the driver says what matters of it.
    vars(import_module("ray._private.worker"))["print_to_stdstream"] = _noted
    short = "/tmp" if Path("/tmp").is_dir() else None  # the names of sockets in it may have 107 characters, or 103
    _Joined.folder = tempfile.mkdtemp(prefix="commonplace-", dir=short)
    try:
        ray.init(
            address="local",
            num_cpus=1,
            include_dashboard=False,
            object_store_memory=STORE,
            log_to_driver=False,
            logging_level=logging.ERROR,
            _node_ip_address="127.0.0.1",
            _temp_dir=_Joined.folder,
        )
    except Exception as error:
        logs = f"its logs are in {_Joined.folder}"
        what = f"Ray could not be started on this machine: {_words(error)}"
        raise CommonplaceError(what, hint=f"{logs}; without --workers none is needed") from error


def _connect(ray: Any, address: str) -> None:
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
    except Exception as error:
        words = str(error)
        if "ersion mismatch" in words or "Python version" in words:
            hint = "install the versions of Ray and Python that the cluster has, here or there"
            raise UsageError(f"another version is on the cluster: {_words(error)}", where=address, hint=hint) from error
        hint = (
            "check host and port, which is 10001 at the head of a cluster that `ray start --head` has started; where "
            "the cluster wants a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
        )
        raise CommonplaceError(f"the cluster does not answer ({_words(error)})", where=address, hint=hint) from error


def _noted(*data: object, **how: object) -> None:
    _log.debug("%s %s", data, how)


@contextmanager
def _undisturbed() -> Generator[None]:
    """Keeps what Ray would change of this process: what a signal does, and what is told of Ray's own code."""
    here = threading.current_thread() is threading.main_thread()
    before = signal.getsignal(signal.SIGTERM) if here else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        finally:
            if before is not None:
                signal.signal(signal.SIGTERM, before)
