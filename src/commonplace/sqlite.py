"""SQLite files: how they are opened, written and closed, and SQLite's errors in plain words.

Run files and SQLite stores share this; each is one `FileKind`. Nothing in this process may open such a file by other
means than SQLite: closing any descriptor of a file drops the POSIX locks that SQLite holds on it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Literal, Protocol, TypeVar

from commonplace.errors import CommonplaceError, DiskFull, UsageError, refuse_newer
from commonplace.paths import kind_of


class _Closable(Protocol):
    def close(self) -> None: ...


class _Transactional(Protocol):
    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statement: str, /) -> object: ...


C = TypeVar("C", bound=_Closable)

Synchronous = Literal["NORMAL", "FULL"]
"""What a commit waits for. NORMAL survives the process being killed; FULL the machine losing power, too.

After a power cut under NORMAL the file is sound but may lack its last commits. Neither helps if the disk
reports writes that it has not made.
"""

BUSY_SECONDS = 5.0
"""How long a statement waits for another process that writes or checkpoints."""

LONGEST_VALUE = 1 << 26
"""Bytes of a row that is read or written; no file makes us hold more for one."""

KEPT = 4
"""Connections that stay open for the next who reads the file."""

JOURNALS = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a file that is in use, or was when its process was killed."""

SAFE = "everything committed is safe"
_LITTLE = 1 << 20
"""A disk with fewer bytes free counts as full once a write to it has failed."""
_NO_INDEX = (sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_IOERR_SHMOPEN, sqlite3.SQLITE_IOERR_SHMMAP)
"""SQLite's error codes for a write-ahead journal whose index cannot be made, for whatever reason."""
_UNWRITABLE = (
    "the file or its folder cannot be written",
    "copy the file to a folder that can be written, or make it writable",
)
_LOCKED = ("the file is locked by another process", "wait for that process, or end it")
_MEANINGS = {
    sqlite3.SQLITE_IOERR: (
        "the disk failed ({error})",
        "check the disk and your quota, then save what is left: {inspect}",
    ),
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_READONLY: _UNWRITABLE,
    sqlite3.SQLITE_PERM: _UNWRITABLE,
    sqlite3.SQLITE_TOOBIG: (f"a row is larger than {LONGEST_VALUE >> 20} MB", "{inspect}"),
    sqlite3.SQLITE_CANTOPEN: ("the file cannot be opened", "check its permissions and those of its folder"),
}
"""SQLite's primary error code → (what it means, what to do)."""


@dataclass(frozen=True, slots=True)
class FileKind:
    """One kind of SQLite file: how it is recognised, and what its errors recommend. `{where}` stands for its path."""

    name: str
    """With its article: `a run`."""
    application_id: int
    format: int
    """Newest table layout that can be read, kept in SQLite's `user_version`."""
    expected: str
    """Hint for a file of another kind."""
    again: str
    """What to do once there is space again."""
    inspect: str
    """How to save what is left of a damaged file."""
    damage: type[CommonplaceError] = CommonplaceError

    @contextmanager
    def errors(self, where: str, *, writes: str = "") -> Generator[None]:
        """Turns SQLite's errors into CommonplaceErrors. Other errors pass unchanged.

        `writes`: the file that is written where `where` is only read; a full disk is that file's.
        """
        try:
            yield
        except (sqlite3.IntegrityError, sqlite3.InterfaceError):
            raise
        except sqlite3.ProgrammingError as error:
            if "closed" not in str(error):
                raise
            raise UsageError("the file is closed", where=where, hint="open it again") from error
        except sqlite3.Error as error:
            if writes and is_full(error, Path(writes)):
                where = writes
            raise self._explained(error, where) from error
        except UnicodeDecodeError as error:  # a message of SQLite that quotes damaged bytes
            raise self.damaged(where, "it holds text that is not UTF-8") from error

    def damaged(self, where: str, why: str) -> CommonplaceError:
        """Returns the error for a damaged file."""
        hint = f"go back to a copy, or save what is left: {self.inspect.format(where=where)}"
        return self.damage(f"the file is damaged ({why})", where=where, hint=hint)

    def other(self, where: str) -> UsageError:
        """Returns the error for a file of another kind."""
        return UsageError(f"not {self.name}", where=where, hint=self.expected.format(where=where))

    def format_of(self, connection: sqlite3.Connection, where: str) -> int:
        """Returns the file's format. Raises UsageError for another kind of file or a newer format."""
        if application_id(connection) != self.application_id:
            raise self.other(where)
        (number,) = connection.execute("PRAGMA user_version").fetchone()
        refuse_newer(self.name, number, self.format, where)
        return number

    def mark(self, connection: sqlite3.Connection) -> None:
        """Makes the file one of this kind and format. Runs in the caller's transaction."""
        connection.execute(f"PRAGMA application_id = {self.application_id}")
        connection.execute(f"PRAGMA user_version = {self.format}")

    def _explained(self, error: sqlite3.Error, where: str) -> CommonplaceError:
        code = _code(error)
        said = str(error)
        if code == sqlite3.SQLITE_NOTADB:
            return self.other(where)
        if code == sqlite3.SQLITE_CORRUPT or "decode to UTF-8" in said or "no such table" in said:
            return self.damaged(where, said)
        if is_full(error, Path(where)):
            return DiskFull(where, _full_folders(Path(where)), f"{self.again}; {SAFE}")
        if _needs_journal(error, Path(where)):
            what = "a process that was killed left a journal, which can be read only where its folder can be written"
            files = f"{where} and the files beside it whose names begin so"
            return CommonplaceError(what, where=where, hint=f"copy {files} to a folder that can be written")
        what, hint = _MEANINGS.get(code, ("SQLite says: {error}", "{inspect}"))
        inspect = self.inspect.format(where=where)
        return CommonplaceError(what.format(error=error), where=where, hint=hint.format(inspect=inspect))


def is_full(error: sqlite3.Error, path: Path) -> bool:
    """Tells whether the statement failed because a disk is full: that of the file or of SQLite's temporary files."""
    if getattr(error, "sqlite_errorcode", 0) in _NO_INDEX or _code(error) == sqlite3.SQLITE_CANTOPEN:
        folder = path.absolute().parent  # one that may not be written has no room, either
        return _free(folder) < _LITTLE and os.access(folder, os.W_OK)
    return _code(error) == sqlite3.SQLITE_FULL


def _needs_journal(error: sqlite3.Error, path: Path) -> bool:
    """Tells whether the file cannot be read because a journal cannot be undone, or its index cannot be made."""
    code = getattr(error, "sqlite_errorcode", 0)
    return code == sqlite3.SQLITE_READONLY_ROLLBACK or (_code(error) == sqlite3.SQLITE_CANTOPEN and has_journal(path))


def _full_folders(path: Path) -> str:
    """Returns where space is missing: SQLite sorts and rebuilds in temporary files, which may be on another disk.

    Both folders if neither is full any more: what was written before the failure has been given back.
    """
    folders = {_device(folder): folder for folder in (_temporary_folder(), path.absolute().parent)}.values()
    full = [folder for folder in folders if _free(folder) < _LITTLE]
    return " or ".join(map(str, full or folders))


def _device(folder: Path) -> int:
    try:
        return folder.stat().st_dev
    except OSError:
        return 0


def _temporary_folder() -> Path:
    """Returns where SQLite puts its temporary files: the first of these that can be written."""
    named = [os.environ.get(name) for name in ("SQLITE_TMPDIR", "TMPDIR")]
    folders = [*filter(None, named), "/var/tmp", "/usr/tmp", "/tmp"]
    usable = (Path(folder) for folder in folders if os.access(folder, os.W_OK | os.X_OK))
    return next(usable, Path.cwd())


def _free(folder: Path) -> int:
    """Bytes that can be written there."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return _LITTLE


def _code(error: sqlite3.Error) -> int:
    """Returns SQLite's primary error code."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def application_id(connection: sqlite3.Connection) -> int:
    """Returns the number that says which kind of file it is; 0 for a new or unmarked one."""
    return connection.execute("PRAGMA application_id").fetchone()[0]


def connect(path: Path, *, read_only: bool = False) -> sqlite3.Connection:
    """Opens a connection that has read the file once, and begins no transaction by itself. Raises sqlite3.Error.

    A writable connection makes a missing file. What a killed process had begun and not committed is undone. Either kind
    falls back to reading a finished file as it is where its folder cannot be written. Refuses as `kind_of` does.
    """
    kind_of(path)
    address = f"{path.absolute().as_uri()}?mode="
    try:
        return _probed(address + ("ro" if read_only else "rwc"))
    except sqlite3.OperationalError as error:
        if read_only and error.sqlite_errorcode == sqlite3.SQLITE_READONLY_ROLLBACK:
            connect(path).close()
            return _probed(address + "ro")
        unwritable = _code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
        if not unwritable or not path.exists() or has_journal(path):
            raise
    # Left in WAL mode with nothing pending, where no index can be made: nobody can be writing it.
    return _probed(address + "ro&immutable=1")


def write_ahead(connection: sqlite3.Connection, synchronous: Synchronous) -> None:
    """Switches to WAL mode, so that readers and the writer do not wait for each other."""
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(f"PRAGMA synchronous = {synchronous}")
    connection.execute("PRAGMA cache_size = -4096")


@contextmanager
def transaction(connection: _Transactional) -> Generator[None]:
    """Commits all of it or nothing, also when the COMMIT fails."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has already rolled back after some errors
            connection.execute("ROLLBACK")
        raise


def copy_into(connection: sqlite3.Connection, target: Path) -> None:
    """Copies all that is committed to another file, which is left in DELETE mode."""
    with closing(sqlite3.connect(target)) as copy:
        connection.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")


def close(connection: sqlite3.Connection) -> str:
    """Leaves one file that can be copied, unless somebody else has it open. May be called twice.

    Returns why not all of the journal could be brought into the file; empty if it could.
    """
    why = ""
    try:
        connection.execute("PRAGMA busy_timeout = 0")
        busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        why = "somebody is reading it" if busy else ""
        connection.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        why = why or str(error)
    connection.close()
    return why


def beside(path: Path, ending: str) -> Path:
    """Returns the file in the same folder whose name is that of `path` with an ending added."""
    return path.with_name(path.name + ending)


class Identity:
    """The file that a path leads to. SQLite would go on writing into a file that was deleted or moved away."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._found = self._file()

    def is_unchanged(self) -> bool:
        """Tells whether the path still leads to the same file."""
        return self._file() == self._found

    def _file(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino


class Readers(Generic[C]):
    """The connections with which threads read one file or database: at most one thread uses a connection at a time.

    A statement that is not read to its end holds its connection to what was committed when it began. A thread that
    shared the connection would miss what was committed since. So each borrows one while it reads: there are as many as
    read at the same moment, and `KEPT` of them stay open. A connection for each thread would stay open until the thread
    ends, with its page cache and descriptors; one connection under a lock would let a long query hold up all others.
    """

    def __init__(self, connected: Callable[[], C]) -> None:
        """`connected` gives another connection."""
        self._connected = connected
        self._free = [connected()]
        self._lock = threading.Lock()
        self._closed = False
        self._mine = threading.local()

    @property
    def mine(self) -> C | None:
        """The connection that is lent to this thread."""
        return getattr(self._mine, "connection", None)

    @contextmanager
    def lent(self) -> Generator[C]:
        """Lends a connection to this thread; the same one inside another `lent`. Raises UsageError once closed."""
        mine = self.mine
        if mine is not None:
            yield mine
            return
        connection = self._mine.connection = self._taken()
        try:
            yield connection
        finally:
            self._mine.connection = None
            self._give_back(connection)

    def close(self) -> None:
        """Closes all connections; a lent one when it is given back. May be called twice."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
        for connection in free:
            connection.close()

    def _taken(self) -> C:
        with self._lock:
            if self._closed:
                raise sqlite3.ProgrammingError("the file is closed")
            if self._free:
                return self._free.pop()
        return self._connected()

    def _give_back(self, connection: C) -> None:
        with self._lock:
            if not self._closed and len(self._free) < KEPT:
                self._free.append(connection)
                return
        connection.close()


def has_journal(path: Path) -> bool:
    """Tells whether the file has a journal, of either kind, that is not empty.

    SQLite keeps it beside the file itself.
    """
    real = Path(os.path.realpath(path))
    return any(_size(beside(real, ending)) > 0 for ending in ("-wal", "-journal"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _probed(address: str) -> sqlite3.Connection:
    connection = sqlite3.connect(address, uri=True, isolation_level=None, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.execute("PRAGMA cache_size = -512")  # the system keeps the file, too: more makes no reader faster
        connection.execute("PRAGMA trusted_schema = OFF")  # whoever made the file: nothing in its schema is called
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection
