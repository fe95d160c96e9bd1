"""Tables of rows: which row decides, what nearly did, what is refused; the shipped tables name only what exists."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self

import pytest

from commonplace.conditions import contradiction, examine, names
from commonplace.errors import CommonplaceError
from commonplace.minds import offline
from commonplace.minds.offline.dice import CHANCES
from commonplace.minds.offline.plan import ORDER
from commonplace.minds.offline.react import WISHES
from commonplace.minds.offline.rule_tables import ChosenRow, Facts, RuleRow, RuleTable, numbers, parsed
from commonplace.minds.offline.sayings import WEIGHTS
from commonplace.minds.offline.speech_facts import Speaking
from commonplace.minds.offline.template_grammar import grammar
from commonplace.parts.workbench.rules import TABLES

HEAD = "name | of | when | weight | does\n"


class Guest(NamedTuple):
    called: str
    warmth: int


class Door(Facts):
    """A guest at the door."""

    def __init__(self, guest: Guest) -> None:
        self._guest = guest

    @classmethod
    def found(cls, *guests: Guest) -> Iterator[Self]:  # type: ignore[override]
        yield from map(cls, guests)

    @property
    def guest(self) -> Guest:
        """Who it is."""
        return self._guest

    @cached_property
    def late(self) -> bool:
        """Whether they come late."""
        return self._guest.called == "Lou"


class Night(Facts):
    """The night."""

    @classmethod
    def found(cls, *_: Guest) -> Iterator[Self]:
        yield cls()

    @property
    def dark(self) -> bool:
        """Always."""
        return True


ANN, LOU = Guest("Ann", 30), Guest("Lou", -5)
KINDS: dict[str, type[Any]] = {"door": Door, "night": Night}


def _table(*rows: str) -> RuleTable[Any]:
    return parsed("doors.txt", HEAD + "\n".join(rows), KINDS)


def _chosen(table: RuleTable[Any], *guests: Guest) -> str:
    choice = table.choose(*guests)
    return choice.row.name if choice else ""


def test_of_the_rows_that_hold_the_heaviest_decides() -> None:
    table = _table(
        "wave | door | guest.warmth > 0 | 10 | wave",
        "embrace | door | guest.warmth > 20 | 30 | embrace",
        "sigh | night | | 20 | sigh",
    )
    assert _chosen(table, ANN) == "embrace"
    assert _chosen(table, Guest("Bo", 5)) == "sigh"


def test_of_rows_of_one_weight_the_one_with_more_conditions_decides_then_the_earlier() -> None:
    table = _table(
        "plain | door | | 10 | a",
        "first | door | guest.warmth > 0, not late | 10 | a",
        "second | door | guest.warmth > 1, not late | 10 | a",
    )
    assert _chosen(table, ANN) == "first"
    assert _chosen(table, LOU) == "plain"


def test_rows_of_a_kind_are_tried_for_one_thing_after_the_other() -> None:
    table = _table("warm | door | guest.warmth > 0 | 10 | {guest.called}", "late | door | late | 9 | {guest.called}")
    choice = table.choose(LOU, ANN)
    assert choice is not None
    assert (choice.row.name, choice.facts.filled(choice.row.cells["does"])) == ("late", "Lou")


def test_where_no_row_holds_nothing_decides() -> None:
    assert _table("warm | door | guest.warmth > 0 | 10 | a").choose(LOU) is None


def test_the_account_names_the_row_and_those_of_its_kind_that_came_nearest() -> None:
    table = _table(
        "moon | night | not dark | 50 | a",
        "far | door | late, guest.warmth > 90 | 40 | a",
        "near | door | guest.warmth > 10, late | 30 | a",
        "nearer | door | guest.warmth > 10, guest.warmth > 20, guest.warmth > 40 | 20 | a",
        "wave | door | guest.warmth > 0 | 10 | a",
    )
    choice = table.choose(ANN)
    assert choice is not None
    assert choice.account() == {
        "row": "wave",
        "when": ["guest.warmth > 0 (30)"],
        "nearly": [["nearer", "guest.warmth > 40 (30)"], ["near", "late"]],
    }


def test_a_choice_that_goes_on_from_another_table_is_accounted_for_with_it() -> None:
    first = _table("meet | night | dark | 5 | a").choose()
    other = _table("gift | door | late | 9 | a", "wave | door | guest.warmth > 0 | 5 | a").choose(ANN)
    assert first is not None
    first.facts.by = other
    assert first.account() == {
        "row": "meet.wave",
        "when": ["dark", "guest.warmth > 0 (30)"],
        "nearly": [["gift", "late"]],
    }


def test_rows_that_lead_to_one_another_are_accounted_for_together() -> None:
    talk = _table("news | night | not dark | 9 | a", "answer | night | dark | 5 | a").decide(Night())
    answer = _table("late | door | late | 9 | a", "warm | door | guest.warmth > 0 | 5 | a").decide(Door(ANN))
    assert talk is not None
    assert answer is not None
    assert ChosenRow.accounts([talk, answer]) == {
        "row": "answer + warm",
        "when": ["dark", "guest.warmth > 0 (30)"],
        "nearly": [["late", "late"], ["news", "not dark"]],
    }


def test_rows_about_other_things_do_not_decide_about_these() -> None:
    table = _table("moon | night | dark | 50 | a", "wave | door | guest.warmth > 0 | 10 | a")
    choice = table.decide(Door(ANN))
    assert choice is not None
    assert (choice.row.name, choice.passed) == ("wave", ())


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("wave | door | guest.warmth > 0 | 10", "doors.txt:3: "),
        ("wave | door | guest.warmth > 0 | 10 | a | b", "doors.txt:3: "),
        ("wave | door | guests | 10 | a", "doors.txt:3: there is no 'guests'"),
        ("wave | door | late=yes | 10 | a", "doors.txt:3: 'late=yes' is not a condition"),
        ("wave | window | late | 10 | a", "doors.txt:3: 'window'"),
        ("wave | door | late | heavy | a", "doors.txt:3: "),
    ],
)
def test_a_row_that_cannot_be_read_is_refused_with_file_and_line(row: str, what: str) -> None:
    with pytest.raises(CommonplaceError, match="^" + what):
        _table("# a comment", row)


# ── the tables that ship ─────────────────────────────────────────────────────────────────────────────────────────────

SHIPPED: dict[str, RuleTable[Any]] = {
    table.rows[0].at.partition(".")[0]: table for table in (WISHES, *(one for of in TABLES.values() for one in of))
}
ROWS: list[RuleRow[Any]] = [row for table in SHIPPED.values() for row in table.rows]
EVERY = sorted({row.of for row in ROWS}, key=lambda kind: kind.__name__)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_condition_of_a_shipped_row_names_what_exists_to_its_end(row: RuleRow[Any]) -> None:
    for one in row.when:
        examine(one, row.of)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_no_shipped_row_contradicts_itself(row: RuleRow[Any]) -> None:
    assert contradiction(row.when, row.of) == ""


@pytest.mark.parametrize("of", EVERY, ids=lambda kind: kind.__name__)
def test_what_a_condition_can_name_says_what_it_means(of: type[Facts]) -> None:
    assert of.__doc__
    found = {name: inspect.getattr_static(of, name, None) for name in names(of)}
    made = [name for name, one in found.items() if isinstance(one, property | cached_property)]
    assert made
    assert [name for name in made if not found[name].__doc__] == []


@pytest.mark.parametrize("table", SHIPPED.values(), ids=list(SHIPPED))
def test_no_shipped_row_stands_behind_one_that_always_wins(table: RuleTable[Any]) -> None:
    """A row is tried for the same thing right after a heavier one of its kind; the weights of the two are compared."""
    for number, row in enumerate(table.rows):
        before = (one for one in table.rows[:number] if one.of is row.of)
        hidden = [one.name for one in before if {c.written for c in one.when} <= {c.written for c in row.when}]
        assert hidden == [], f"{row.name} ({row.at}) never decides"


def test_names_of_the_rows_that_decide_an_answer_are_unique() -> None:
    for tables in ([WISHES], *TABLES.values()):
        named = [row.name for table in tables for row in table.rows]
        assert len(named) == len(set(named))


@pytest.mark.parametrize("row", [row for row in ROWS if issubclass(row.of, Speaking)], ids=lambda row: row.name)
def test_what_a_shipped_row_of_talk_names_exists(row: RuleRow[Any]) -> None:
    known = {name for name in dir(row.of) if not name.startswith("_")}
    cells = row.cells
    rule, *pairs = (cells.get("words") or "-").split()
    fills = {one.partition("=")[2].partition(".")[0] for one in pairs} | set(re.findall(r"{([a-z_]+)", rule))
    comes = (cells["then"] if "then" in cells else cells["says"]).split()[:1]
    assert {*fills, *comes} <= known
    assert comes or rule != "-"


WORDS = [row for row in ROWS if row.cells.get("words", "-").strip("-")]


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("row", WORDS, ids=lambda row: row.name)
def test_the_template_of_a_shipped_row_exists_in_each_language(row: RuleRow[Any], language: str) -> None:
    rule = row.cells["words"].split()[0]
    pattern = re.compile("[a-z_.]+".join(map(re.escape, re.split(r"{[a-z_.]+}", rule))))
    assert any(map(pattern.fullmatch, grammar(language).rules))


def test_each_chance_and_each_weight_is_named_by_the_code_and_by_nothing_else() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in Path(offline.__file__).parent.glob("*.py"))
    inside = re.findall(r"CHANCES\[(\"[^]]+)\]", code)
    named = {name for one in inside for name in re.findall(r'"([a-z_.]+)"', one)}
    assert named | {f"plan.{kind}" for kind in ORDER} == CHANCES.keys()
    assert all(f'"{kind}"' in code for kind in WEIGHTS)


def test_a_number_that_cannot_be_read_is_refused_with_file_and_line() -> None:
    with pytest.raises(CommonplaceError, match=r"^odds\.txt:3: "):
        numbers("odds.txt", "# how often\nname | percent | what\nrain | often | it rains")
