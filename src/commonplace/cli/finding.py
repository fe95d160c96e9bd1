"""A finding: one line of what was looked at, and what to do about it."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.errors import CommonplaceError

FINE, NOTE, BROKEN = "fine", "note", "BROKEN"
INDENT = " " * 8


@dataclass(frozen=True, slots=True)
class Finding:
    """`state`: fine, worth knowing, or in the way of something that is needed."""

    state: str
    what: str
    todo: str = ""
    """The next step; empty where none is needed."""

    def __str__(self) -> str:
        return f"{self.state:<7} {self.what}" + (f"\n{INDENT}{self.todo}" if self.todo else "")


def broken_by(error: CommonplaceError) -> Finding:
    """What an error stops."""
    where = f"{error.where}: " if error.where else ""
    return Finding(BROKEN, f"{where}{error.what}", error.todo)
