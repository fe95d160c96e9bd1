"""How commands print: lines of JSON, and tables.

Whatever a command prints is made printable by the streams that `main` sets up, so `print` can be used anywhere. Only
`print_rich` and `LineView` write to the streams below those, because they write styles; they clean the text in between.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from threading import Event, Thread
from time import monotonic
from typing import Any

from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from commonplace.text import clean
from commonplace.views.lines import Printable, is_dumb, json_line, wants_colour

UNLIMITED = 10_000
"""Columns of an output that is not a terminal: a program that reads it wants whole lines."""
NARROWEST = 20
"""Columns below which words are not wrapped on a narrow terminal."""
EVERY = 1.0
"""Seconds between two words about work that takes long."""
ERASED = "\r\x1b[K"


def print_json(rows: Iterable[Mapping[str, Any]]) -> None:
    """Prints each row as a line of JSON."""
    for row in rows:
        print(json_line(row))


def print_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, words: int) -> None:
    """Prints rows below a head. The first `words` columns hold words, to the left; the others figures, to the right."""
    cells = [[clean(cell) for cell in row] for row in rows]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, title in enumerate(head):
        if number < words:
            longest = max(cell_len(text) for text in (title, *(row[number] for row in cells)))
            table.add_column(title, min_width=min(longest, NARROWEST))
        else:
            table.add_column(title, justify="right", no_wrap=True)
    for row in cells:
        table.add_row(*map(Text, row))
    print_rich(table)


def print_rich(part: RenderableType, width: int = UNLIMITED) -> None:
    """Prints with Rich: as wide as the terminal, or `width` columns of plain text elsewhere. Nothing is cut off."""
    console = Console(
        force_terminal=wants_colour(sys.stdout), highlight=False, width=None if sys.stdout.isatty() else width
    )
    needed = Measurement.get(console, console.options.update(max_width=UNLIMITED), part).minimum
    console.width = max(console.width, needed)
    with console.capture() as capture:
        console.print(Printable(part))
    file = getattr(sys.stdout, "styled", sys.stdout)
    for line in capture.get().splitlines():
        print(line.rstrip(), file=file)


@contextmanager
def working(said: Callable[[], str]) -> Generator[None]:
    """Says on a terminal what is being done, once it takes longer than a second; the line is gone afterwards.

    `said` is called each second, from another thread. Without a terminal on standard error nothing is written.
    """
    stream = getattr(sys.stderr, "styled", sys.stderr)
    if stream is None or not stream.isatty() or is_dumb():
        yield
        return
    done, began = Event(), monotonic()

    def say() -> None:
        while not done.wait(EVERY):
            line = f"{clean(said())} ({monotonic() - began:.0f} s)"
            print(ERASED + line[: get_terminal_size().columns - 1], end="", file=stream, flush=True)

    teller = Thread(target=say, name="progress", daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()
        if monotonic() - began > EVERY:
            print(ERASED, end="", file=stream, flush=True)
