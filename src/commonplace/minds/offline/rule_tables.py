"""Rows: which case holds, chosen by conditions that stand in a table.

A table is a text file. Its first row names the columns; every other row is a case:

```
name      | of    | when                                      | weight | does
bye.nod   | floor | heard.act = farewell, whim.bye < 80       | 905    | keep
bye       | floor | heard.act = farewell                      | 900    | talk person farewell
```

`of` says what a row is about: a class of `Facts`, whose properties the conditions name. All conditions of a row have
to hold; an *or* is two rows. Of the rows that hold the heaviest decides; where two weigh the same, the one with more
conditions, then the earlier. There is no expression language: a table computes nothing and can do no harm.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import groupby, islice
from typing import Any, Generic, NamedTuple, Self, TypeVar

from commonplace.conditions import Condition, condition
from commonplace.errors import CommonplaceError

F = TypeVar("F", bound="Facts")
T = TypeVar("T")
JOINED = " + "
"""Between the names of two rows that both hold."""
NEARLY = 2
"""Rows kept of those that nearly decided."""
_SLOT = re.compile(r"\{([a-z_.]+)\}")


class Facts:
    """What the conditions of a kind of rows are about; each property of a subclass is one that a row may name."""

    by: ChosenRow[Any] | None = None
    """The choice of another table that this one goes on from."""

    @classmethod
    def found(cls, *given: Any, **more: Any) -> Iterator[Self]:
        """Yields what a row of this kind may be about here and now, in the order in which the rows are tried on it."""
        raise NotImplementedError

    def get(self, path: str, /) -> str:
        """Returns the value of a name in a template, or of `name.name`; empty for nothing."""
        value: Any = self
        for name in path.split("."):
            value = getattr(value, name, "")
        return str(value or "")

    def filled(self, text: str) -> str:
        """Returns a cell in which the names in braces are replaced by their values."""
        return _SLOT.sub(lambda slot: self.get(slot[1]), text) if "{" in text else text


class Filled(NamedTuple):
    """What fills a template: words that are given for it, else what the facts have."""

    facts: Facts
    given: Mapping[str, str]

    def get(self, name: str, /) -> str:
        """Returns the value of a name; empty for nothing."""
        return self.given[name] if name in self.given else self.facts.get(name)


class RuleRow(NamedTuple, Generic[F]):
    """A case."""

    name: str
    of: type[F]
    when: tuple[Condition, ...]
    weight: int
    cells: Mapping[str, str]
    """What else the table says of it, by column."""
    at: str = ""
    """File and line."""

    def met(self, facts: F) -> int:
        """Returns how many of its conditions hold before the first that does not."""
        for number, one in enumerate(self.when):
            if not one.is_met(facts):
                return number
        return len(self.when)


class ChosenRow(NamedTuple, Generic[F]):
    """The row that decides, what it is about, and what would have decided instead."""

    row: RuleRow[F]
    facts: F
    passed: tuple[tuple[RuleRow[F], F, int], ...]
    """The heavier rows with what they would have been about and how many of their conditions held."""

    def account(self, after: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Returns the name of the row, its conditions with what they found, and the heavier rows that nearly decided;
        `after` is the account of a row that was chosen before and holds, too."""
        if after is not None:
            mine = self.account()
            return {**after, "row": f"{after['row']}{JOINED}{mine['row']}", "when": [*after["when"], *mine["when"]]}
        account: dict[str, Any] = {"row": self.row.name, "when": self._found(), "nearly": self._nearly()}
        if self.facts.by is None:
            return account
        by = self.facts.by.account()
        return {"row": f"{self.row.name}.{by['row']}", "when": account["when"] + by["when"], "nearly": by["nearly"]}

    def _found(self) -> list[str]:
        return [one.explained(self.facts) for one in self.row.when]

    def _nearly(self) -> list[list[str]]:
        nearly = sorted(self.passed, key=lambda one: (one[0].of is not self.row.of, -one[2]))[:NEARLY]
        return [[row.name, row.when[met].explained(facts)] for row, facts, met in nearly]

    @classmethod
    def accounts(cls, choices: Sequence[ChosenRow[Any]]) -> dict[str, Any]:
        """Returns rows that led to one another: their names, their conditions with what they found, and what nearly
        decided in the last of them before those in the others."""
        nearly = (row for one in reversed(choices) for row in one._nearly())
        return {
            "row": JOINED.join(one.row.name for one in choices),
            "when": [found for one in choices for found in one._found()],
            "nearly": list(islice(nearly, NEARLY)),
        }


class RuleTable(Generic[F]):
    """Rows, the heaviest first."""

    def __init__(self, rows: Iterable[RuleRow[F]]) -> None:
        self.rows = sorted(rows, key=lambda row: (-row.weight, -len(row.when)))
        self._runs = [(of, list(run)) for of, run in groupby(self.rows, key=lambda row: row.of)]
        self._by_kind = {of: [row for row in self.rows if row.of is of] for of, _ in self._runs}

    def choose(self, *given: Any) -> ChosenRow[F] | None:
        """Returns the row that decides. Neighbouring rows of one kind are tried together, on one thing after
        another."""
        passed: list[tuple[RuleRow[F], F, int]] = []
        every = ((rows, facts) for of, rows in self._runs for facts in of.found(*given))
        return next((choice for rows, facts in every if (choice := _decided(rows, facts, passed))), None)

    def decide(self, facts: F) -> ChosenRow[F] | None:
        """Returns the row that decides, among the rows about such facts."""
        return _decided(self._by_kind[type(facts)], facts, [])


def _decided(rows: Iterable[RuleRow[F]], facts: F, passed: list[tuple[RuleRow[F], F, int]]) -> ChosenRow[F] | None:
    """Returns the first row that holds; the rows that do not hold are added to `passed`."""
    for row in rows:
        met = row.met(facts)
        if met == len(row.when):
            return ChosenRow(row, facts, tuple(passed))
        passed.append((row, facts, met))
    return None


def read_table(name: str, *kinds: type[F]) -> RuleTable[F]:
    """Returns a table of the offline mind. Raises CommonplaceError with the file and the line of a mistake."""
    return parsed(f"{name}.txt", _text(name), {one.__name__.lower(): one for one in kinds})


def parsed(name: str, text: str, kinds: Mapping[str, type[F]]) -> RuleTable[F]:
    """Returns the table of a text."""

    def row(at: str, cells: dict[str, str]) -> RuleRow[F]:
        of = kinds[cells.pop("of")]
        when = tuple(condition(one.strip(), of) for one in cells.pop("when").split(",") if one.strip())
        return RuleRow(cells.pop("name"), of, when, int(cells.pop("weight")), cells, at)

    return RuleTable(_each(name, text, row))


def read_numbers(name: str) -> Mapping[str, int]:
    """Returns a table of the offline mind that has a number for each name. Raises as `read_table` does."""
    return numbers(f"{name}.txt", _text(name))


def numbers(name: str, text: str) -> Mapping[str, int]:
    """Returns the numbers of a text by their names; each line ends with what the number is for."""

    def named(_: str, cells: Mapping[str, str]) -> tuple[str, int]:
        number, value, _ = cells.values()
        return number, int(value)

    return dict(_each(name, text, named))


def _text(name: str) -> str:
    return files("commonplace.minds.offline").joinpath("rules", f"{name}.txt").read_text(encoding="utf-8")


def _each(name: str, text: str, made: Callable[[str, dict[str, str]], T]) -> Iterator[T]:
    """Yields what `made` returns for each line of a table, given its position and its cells by column."""
    columns = list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        cells = [cell.strip() for cell in line.split("|")]
        if not columns:
            columns = cells
            continue
        try:
            yield made(f"{name}:{number}", dict(zip(columns, cells, strict=True)))
        except (ValueError, KeyError) as problem:
            raise CommonplaceError(f"{name}:{number}: {problem}") from problem
