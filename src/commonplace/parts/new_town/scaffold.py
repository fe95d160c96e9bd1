"""`new`: a commented scenario that passes `check` and runs, to be written over: a hamlet, or a town."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from string import Template

from commonplace.errors import UsageError
from commonplace.parts.new_town.census import town_words
from commonplace.parts.new_town.town import city_text, town_text
from commonplace.parts.new_town.town_parts import quoted
from commonplace.scenario.loading import SUFFIX
from commonplace.whole_file import written_whole

_LAST = """
whole: true             # the last line: without it, `check` says that the file was cut off
"""

SIZES = (1, 10_000)
"""Fewest and most characters."""
TOWN, CITY = 10, 201
"""Characters from which on it is a town, with districts, households and histories, and a city of several towns."""


def new(path: str | Path, size: int = 2, *, force: bool = False) -> Path:
    """Writes a scenario of `size` characters (1 … 10,000) and returns its path, `.yaml` added where there is no suffix.

    The file appears whole or not at all. Raises UsageError for another size, a folder and, unless `force`, a file that
    exists; CommonplaceError for a full disk and a place that cannot be written to.
    """
    fewest, most = SIZES
    if not fewest <= size <= most:
        raise UsageError(f"a new scenario can have {fewest} to {most:,} characters, not {size}")
    target = Path(path).expanduser()
    if not target.suffix and not target.is_dir():
        target = target.with_name(f"{target.name}{SUFFIX}")
    with written_whole(target, force=force, instead="give another name") as part:
        part.write_text(text(target.stem, size), encoding="utf-8")
    return target


def text(name: str, size: int) -> str:
    """Writes the scenario as YAML. Another name for the same size changes the name only."""
    name = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")[:64] or "scenario"
    written = city_text if size >= CITY else town_text if size >= TOWN else _hamlet_text
    return written(quoted(name), size) + _LAST


def _hamlet_text(name: str, size: int) -> str:
    words, forms = town_words("hamlet"), _forms()
    trades = words["occupations"]
    people = [
        {"id": full.split()[0].lower(), "name": full, "called": full.split()[0], **trades[number % len(trades)]}
        for number, full in enumerate(words["names"][:size])
    ]
    return forms["file"].substitute(
        name=name,
        people=f"{size:<15}",
        homes="".join(forms["home"].substitute(one) for one in people),
        characters="".join(_character(number, people) for number in range(size)),
        originator=people[0]["id"],
    )


def _forms() -> dict[str, Template]:
    """Returns the templates of `hamlet.txt` by name."""
    text = files("commonplace.parts.new_town").joinpath("words", "hamlet.txt").read_text(encoding="utf-8")
    return {head: Template(body) for head, body in (one.split("\n", 1) for one in re.split("(?m)^== ", text)[1:])}


def _character(number: int, people: list[dict[str, str]]) -> str:
    """Writes one character; everybody knows the next one, the last knows the first."""
    forms, one, next_one = _forms(), people[number], people[(number + 1) % len(people)]
    knows = {**one, "neighbour": next_one["id"], "neighbour_name": next_one["name"], "called": next_one["called"]}
    text = forms["character"].substitute(
        one,
        age=24 + number * 13 % 50,
        background=f"{one['called']} {one['background']}.",
        memory=f"{one['name']} {one['memory']}.",
        wakes=_time(6 * 60 + 10 + number * 25 % 60),
        breakfast=_time(7 * 60 + 30 + number * 10 % 30),
        sleeps=_time(22 * 60 + number * 15 % 60),
        place=f"{one['id']}_home" if one["place"] == "home" else one["place"],
        outdoor="\n        outdoor: true" if one["place"] == "square" else "",
        relations=f"\n{forms['relation'].substitute(knows)}".removesuffix("\n") if len(people) > 1 else "[]",
    )
    return text + (forms["neighbourly"].substitute(knows) if len(people) > 1 else "")


def _time(minutes: int) -> str:
    return f"{minutes // 60:02d}:{minutes % 60:02d}"
