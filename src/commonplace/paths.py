"""What a path leads to, told before anything opens it: a file, a folder, or nothing.

Opening a pipe waits for somebody else, a device may have no end, and a file that takes the place of a device destroys
it. So each path that a person or a file names is looked at here first, and what is read whole has a largest size.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import Literal

from commonplace.errors import CommonplaceError, UsageError

Kind = Literal["file", "folder", "nothing"]
LARGEST = 4 << 30
"""Bytes of a file that is read whole."""
LARGEST_TEXT = 64_000_000
"""Bytes of a text that is read whole and taken apart: a scenario of 10,000 characters has 52 MB, which take 3 GB of
memory; what somebody names by mistake shall not take much more."""
_NOTHING = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
_GROWN = 1 << 20
"""Bytes by which a file may grow while it is read."""


def kind_of(path: str | Path, where: str = "") -> Kind:
    """Returns what a path leads to. A link is what it leads to, and nothing if that does not exist.

    `where` names it in messages. Raises UsageError for a pipe, a socket, a device, and a link that leads back to
    itself; CommonplaceError where the operating system does not tell.
    """
    where = where or os.fspath(path)
    try:
        mode = Path(path).stat().st_mode
    except ValueError:  # a name with a zero byte
        return "nothing"
    except OSError as error:
        if error.errno in _NOTHING:
            return "nothing"
        if error.errno == errno.ELOOP:
            hint = "remove the link, or name what is meant"
            raise UsageError("a symbolic link that leads back to itself", where=where, hint=hint) from error
        hint = "check the permissions of the folders that it is in"
        raise CommonplaceError(f"cannot be looked at ({error.strerror})", where=where, hint=hint) from error
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISFIFO(mode):
        hint = "write what comes out of it to a file first, and name that"
        raise UsageError("a pipe, not a file or folder", where=where, hint=hint)
    what = "a socket" if stat.S_ISSOCK(mode) else "a device"
    raise UsageError(f"{what}, not a file or folder", where=where, hint="give the name of a file or folder")


def is_inside(path: str | Path, folder: Path) -> bool:
    """Tells whether a path in a file stays in its folder: it is relative, without `..` and links that lead out."""
    path = Path(path)
    stays = not path.is_absolute() and not path.drive and ".." not in path.parts
    return stays and Path(os.path.realpath(folder / path)).is_relative_to(os.path.realpath(folder))


def checked_folder(path: Path, where: str = "") -> Path:
    """Returns the path of a folder that is there or can be made. Raises UsageError for anything else."""
    kind, where = kind_of(path, where), where or str(path)
    if kind == "file":
        raise UsageError("a file, not a folder", where=where, hint="give the name of a folder")
    if kind == "nothing" and path.is_symlink():
        hint = "make the folder that it leads to, or name another"
        raise UsageError("a symbolic link to a folder that does not exist", where=where, hint=hint)
    return path


def bytes_of(path: Path, what: str, most: int = LARGEST) -> bytes:
    """Returns the content of a file, which should be `what`: "a scenario".

    Raises UsageError when it is larger than `most` bytes, is no file, or cannot be read.
    """
    where = str(path)
    if kind_of(path) == "folder":
        raise UsageError("a folder, not a file", where=where, hint="give the name of a file")
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            limit = min(most, size + _GROWN)
            data = file.read(limit + 1) if size <= most else b""
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot be read ({why})", where=where, hint="check its name and permissions") from error
    if max(size, len(data)) > limit:
        large = f"is larger than {most // 1000:,} kB, too large for {what}"
        raise UsageError(large, where=where, hint="name the file that is meant, or make it smaller")
    return data


def text_of(path: Path, what: str, most: int = LARGEST_TEXT) -> str:
    """Returns the content as text with `\\n` at the end of lines. Raises UsageError also when it is not UTF-8."""
    raw = bytes_of(path, what, most)
    try:
        return re.sub("\r\n?", "\n", raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        hint = "Save it as UTF-8, in the editor's “save with encoding”."
        raise UsageError("is not UTF-8 text", where=f"{path}:{line}", hint=hint) from error
