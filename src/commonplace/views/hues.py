"""A colour and two letters for every character, told apart by anybody: Okabe and Ito's hues, and never colour alone.

M. Okabe and K. Ito, "Color Universal Design", 2008. For text each hue has a lighter and a darker neighbour, so that it
reads on a dark and on a light ground.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size


@dataclass(frozen=True, slots=True)
class Hue:
    """One hue: as a ground under `ink`, as text on dark, as text on light."""

    ground: str
    ink: str
    on_dark: str
    on_light: str


HUES = (
    Hue("#E69F00", "#000000", "#F2B134", "#8A5A00"),  # orange
    Hue("#56B4E9", "#000000", "#6FC3F2", "#0A6496"),  # sky blue
    Hue("#009E73", "#000000", "#2CCB9B", "#00684C"),  # bluish green
    Hue("#F0E442", "#000000", "#F0E442", "#6B6300"),  # yellow
    Hue("#D55E00", "#000000", "#FF8A3D", "#A04400"),  # vermillion
    Hue("#CC79A7", "#000000", "#EAA0C8", "#94386B"),  # reddish purple
    Hue("#0072B2", "#FFFFFF", "#5FA8FF", "#00507D"),  # blue
    Hue("#E4E7F0", "#000000", "#E4E7F0", "#333A47"),  # white
    Hue("#8F99B3", "#000000", "#A9B4CE", "#5A6275"),  # grey
    Hue("#A48BFF", "#000000", "#B9A6FF", "#5B3FB5"),  # violet: an eighth hue for large casts
)


@dataclass(frozen=True, slots=True)
class Badge:
    """How a character is marked: letters two cells wide, and a hue."""

    letters: str
    hue: Hue


def badges(called: Mapping[str, str]) -> dict[str, Badge]:
    """Returns a badge for each character (id → short name), letters all different where the names allow it."""
    taken: set[str] = set()
    marks: dict[str, Badge] = {}
    for number, (agent, name) in enumerate(called.items()):
        letters = next((mark for mark in _candidates(name, number) if mark not in taken), "??")
        taken.add(letters)
        marks[agent] = Badge(letters, HUES[number % len(HUES)])
    return marks


def _candidates(name: str, number: int) -> Iterable[str]:
    """Yields marks of two cells: one wide letter or two narrow ones, first letters first."""
    letters = [letter for letter in name if letter.isalnum()]
    for letter in letters:
        if cell_len(letter) == 2:
            yield letter
    narrow = [letter for letter in letters if cell_len(letter) == 1]
    for second in narrow[1:]:
        yield narrow[0].upper() + second
    yield set_cell_size((narrow[0].upper() if narrow else "") + str(number % 100), 2)
    yield f"{number % 100:02d}"
