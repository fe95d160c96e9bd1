"""What a check of `doctor` finds."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from commonplace.errors import CommonplaceError

FINE, NOTE, BROKEN = "fine", "note", "BROKEN"
INDENT = " " * 8


@dataclass(frozen=True, slots=True)
class Check:
    """One check and its result. `state` is FINE, NOTE (worth knowing) or BROKEN."""

    state: str
    what: str
    hint: str = ""
    """The next step; empty where none is needed."""

    def __str__(self) -> str:
        return f"{self.state:<7} {self.what}" + (f"\n{INDENT}{self.hint}" if self.hint else "")


def broken_by(error: CommonplaceError) -> Check:
    """Turns an error into a finding."""
    where = f"{error.where}: " if error.where else ""
    return Check(BROKEN, f"{where}{error.what}", error.hint)


def installed(name: str) -> str:
    """Returns the version of a package; empty if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
