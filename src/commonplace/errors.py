"""The one family of errors a user meets: what is wrong, where, and what to do about it."""

from __future__ import annotations

import errno
import shlex
import sys
from pathlib import Path

DISTRIBUTION = "commonplace-society"
"""What pip calls Commonplace, whose package and command are `commonplace`: docs/decisions/distribution-name.md."""
UPGRADE = "use a newer Commonplace: `git pull` in a clone, otherwise install a newer wheel"


class CommonplaceError(Exception):
    """An error that a person can fix. `str()` is one paragraph; the command line prints it without a traceback.

    `what` names the thing and the value, `where` the file, line or tick, `hint` the next step. `status` is the exit
    status of a command that ends with this error.
    """

    status = 1

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        step = f"\n  {self.hint}" if self.hint else ""
        return f"{place}{self.what}{step}"


class UsageError(CommonplaceError):
    """A command, option, scenario or argument that cannot be used as given."""

    status = 2


class Paused(CommonplaceError):
    """A run that stopped at a tick boundary and can be resumed: a budget is used up, or a server does not answer."""

    status = 3


class DiskFull(CommonplaceError):
    """An error: something could not be written for want of space. What was there is unchanged."""

    def __init__(self, where: str, folder: Path | str, then: str) -> None:
        """`folder`: where to free space; `then`: what to do once there is some."""
        super().__init__("the disk is full", where=where, hint=f"free some space in {folder}, then {then}")
        self.folder = folder

    @staticmethod
    def explains(error: OSError) -> bool:
        """Tells whether this is why the operating system refused."""
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class RunDamaged(CommonplaceError):
    """A run file that cannot be read, or whose content does not match its digests."""


def program() -> str:
    """Returns what to type for `commonplace` here: the name, if the shell finds it; else its path or Python's way."""
    from shutil import which  # noqa: PLC0415 – start-up speed

    if which("commonplace"):
        return "commonplace"
    script = Path(sys.executable).with_name("commonplace")
    if not script.is_file():
        return f"{shlex.quote(sys.executable or 'python')} -m commonplace"
    here = Path.cwd()
    return shlex.quote(str(script.relative_to(here) if script.is_relative_to(here) else script))


def command(*words: object) -> str:
    """Returns `commonplace …`, quoted so that it can be pasted into a shell: for hints that name the next command."""
    return f"{program()} {shlex.join(map(str, words))}"


def install(extra: str = "") -> str:
    """Returns the command that installs what Commonplace requires, or an extra of it, where this process runs.

    pip takes the Commonplace that is installed there, from a clone or a wheel, and adds the packages it lacks.
    """
    wanted = f"{DISTRIBUTION}[{extra}]" if extra else DISTRIBUTION
    return f'{shlex.quote(sys.executable or "python")} -m pip install "{wanted}"'


def refuse_newer(what: str, number: int, newest: int, where: str) -> None:
    """Raises UsageError when the format `number` of `what` ("a run", "a store") is above `newest`."""
    if number > newest:
        raise UsageError(
            f"{what} of format {number}, made by a newer Commonplace; this one reads formats up to {newest}",
            where=where,
            hint=UPGRADE,
        )
