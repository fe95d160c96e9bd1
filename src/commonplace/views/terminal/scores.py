"""Bars for numbers: one value, or the weighted parts of a score side by side."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

EIGHTHS = " ▏▎▍▌▋▊▉█"


def bar(share: float, cells: int, colour: str, ground: str) -> Text:
    """A bar of `cells`, filled by a share of 0 … 1 to an eighth of a cell."""
    share = min(max(share, 0.0), 1.0)
    full, part = divmod(round(share * cells * 8), 8)
    filled = "█" * full + (EIGHTHS[part] if part else "")
    return Text(filled.ljust(cells), f"{colour} on {ground}")


def stacked(parts: Sequence[tuple[float, str]], cells: int, most: float, ground: str) -> Text:
    """Parts (amount, colour) one after another; `most` fills all cells. Negative parts are left out."""
    line = Text()
    reached, drawn = 0.0, 0
    for amount, colour in parts:
        reached += max(0.0, amount)
        end = min(cells, round(reached / most * cells)) if most > 0 else 0
        line.append("█" * (end - drawn), colour)
        drawn = max(drawn, end)
    return line.append("░" * (cells - drawn), ground)
