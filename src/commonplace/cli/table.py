"""Tables as aligned text: words to the left, figures to the right, no frame, as wide as they need to be."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from commonplace.text import clean

GAP = "  "


def table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """Lines of text: the head, then the rows. The first `words` columns are words, the others figures."""
    cells = [list(head), *([clean(cell) for cell in row] for row in rows)]
    widths = [max(cell_len(row[column]) for row in cells) for column in range(len(head))]
    return "\n".join(_line(row, widths, words) for row in cells)


def _line(row: Sequence[str], widths: Sequence[int], words: int) -> str:
    padded: list[str] = []
    for column, (cell, width) in enumerate(zip(row, widths, strict=True)):
        space = " " * (width - cell_len(cell))
        padded.append(cell + space if column < words else space + cell)
    return GAP.join(padded).rstrip()


def count(number: int) -> str:
    """`12,345`; nothing for 0, so that a table shows what there is."""
    return f"{number:,}" if number else ""


def share(part: int, whole: int) -> str:
    """`72%`; nothing where there is no whole."""
    return f"{part / whole:.0%}" if whole else ""


def money(cost: float | None) -> str:
    """`$1.24`, to a hundredth of a cent where it is less than a dollar; a dash where it is not known."""
    if cost is None:
        return "–"
    return f"${cost:,.2f}" if cost >= 1 or not cost else f"${cost:.4f}"
