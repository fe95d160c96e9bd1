"""How commands print: JSON lines, plain lines, and tables."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from commonplace.text import clean
from commonplace.views.lines import json_line

UNLIMITED = 10_000
"""Columns of an output that is not a terminal: a program that reads it wants whole lines."""


def print_json(rows: Iterable[Mapping[str, Any]]) -> None:
    """Print each row as a line of JSON."""
    for row in rows:
        print(json_line(row))


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, words: int) -> None:
    """Print rows below a head. The first `words` columns hold words, to the left; the others figures, to the right."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, title in enumerate(head):
        table.add_column(title, justify="left" if number < words else "right", no_wrap=number >= words)
    for row in rows:
        table.add_row(*(Text(clean(cell)) for cell in row))
    print_rich(table)


def print_rich(*parts: RenderableType, width: int = UNLIMITED) -> None:
    """Print with Rich: as wide as the terminal, or `width` columns of plain text elsewhere."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else width)
    with console.capture() as capture:
        console.print(*parts, sep="\n")
    for line in capture.get().splitlines():
        print(line.rstrip())
