"""Conditions in words: what is read, what holds, what is refused, and what can never hold together."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from commonplace.conditions import LONGEST, Condition, Misread, condition, contradiction, examine, names
from sizes import examples


class Cat(Struct, frozen=True):
    called: str
    lives: Annotated[int, Meta(ge=0, le=9)] = 9


class Yard(Struct, frozen=True):
    hour: Annotated[int, Meta(ge=0, le=4)] = 2
    debts: int = 0
    sky: Literal["sun", "rain", "snow"] = "sun"
    word: str = ""
    locked: bool = False
    cat: Cat | None = None
    cats: Mapping[str, Cat] = {}

    @property
    def wet(self) -> bool:
        return self.sky == "rain"


CAT = Cat("Tom", 3)
IDS = {"cats": ["tom", "old-tom"], "word": ["a", "b"]}


def _read(text: str) -> Condition:
    found = condition(text, Yard)
    examine(found, Yard, IDS)
    return found


@pytest.mark.parametrize(
    ("text", "yard", "holds"),
    [
        ("locked", Yard(locked=True), True),
        ("locked", Yard(), False),
        ("not locked", Yard(), True),
        ("not locked", Yard(locked=True), False),
        ("wet", Yard(sky="rain"), True),
        ("sky = rain snow", Yard(sky="snow"), True),
        ("sky = rain snow", Yard(), False),
        ("sky != rain snow", Yard(), True),
        ("sky != rain snow", Yard(sky="snow"), False),
        ("hour = 2", Yard(), True),
        ("hour = 1 2", Yard(), True),
        ("hour != 2", Yard(), False),
        ("hour < 2", Yard(), False),
        ("hour < 3", Yard(), True),
        ("hour <= 2", Yard(), True),
        ("hour <= 1", Yard(), False),
        ("hour > 2", Yard(), False),
        ("hour > 1", Yard(), True),
        ("hour >= 2", Yard(), True),
        ("hour >= 3", Yard(), False),
        ("debts > -5", Yard(debts=-4), True),
        ("cat", Yard(cat=CAT), True),
        ("cat", Yard(), False),
        ("cat.lives < 4", Yard(cat=CAT), True),
        ("cats.old-tom", Yard(cats={"old-tom": CAT}), True),
        ("cats.old-tom", Yard(cats={"tom": CAT}), False),
        ("not cats.tom", Yard(), True),
        ("cats.tom.lives >= 3", Yard(cats={"tom": CAT}), True),
    ],
)
def test_a_condition_holds_as_it_reads(text: str, yard: Yard, holds: bool) -> None:
    assert _read(text).is_met(yard) is holds


@pytest.mark.parametrize("text", ["cats.tom.lives < 5", "cats.tom.lives > 0", "cats.tom.lives = 3", "cat.lives <= 9"])
def test_of_what_is_not_there_nothing_is_less_more_or_equal(text: str) -> None:
    assert not _read(text).is_met(Yard())


def test_what_is_not_there_differs_from_every_word() -> None:
    assert _read("cats.tom.called != Tom").is_met(Yard())


@pytest.mark.parametrize(
    ("text", "yard", "explained"),
    [
        ("hour > 1", Yard(), "hour > 1 (2)"),
        ("hour = 0", Yard(hour=0), "hour = 0 (0)"),
        ("sky = rain", Yard(), "sky = rain (sun)"),
        ("not cat", Yard(cat=CAT), "not cat (Tom)"),
        ("locked", Yard(), "locked"),
        ("cats.tom.lives > 1", Yard(), "cats.tom.lives > 1"),
        ("word = a", Yard(), "word = a"),
    ],
)
def test_an_explanation_shows_what_was_found_unless_that_is_yes_no_or_nothing(
    text: str, yard: Yard, explained: str
) -> None:
    assert _read(text).explained(yard) == explained


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "not a condition"),
        ("hour>1", "not a condition"),
        ("hour > ", "not a condition"),
        ("hour => 1", "not a condition"),
        ("not hour > 1", "not a condition"),
        ("Hour > 1", "not a condition"),
        ("hour > 1 or locked", "not a whole number"),
        ("hour > 1 2", "not a whole number"),
        ("hour > one", "not a whole number"),
        ("hour > 1.5", "not a whole number"),
        ("hour > 01", "not a whole number"),
        ("hour = two", "not a whole number"),
        ("hour = 02", "not a whole number"),
        ("x" * (LONGEST + 1), "not a condition"),
        ("hours > 1", "there is no 'hours'"),
        ("__class__", "there is no '__class__'"),
        ("cat.colour", "there is no 'colour'"),
        ("cats.felix", "there is no 'felix'"),
        ("cats.tom.colour", "there is no 'colour'"),
        ("sky.colour", "has nothing below it"),
        ("hour.minute", "has nothing below it"),
        ("sky > 1", "compares what is not a number"),
        ("cat > 1", "compares what is not a number"),
        ("cat = Tom", "compares what is not a word"),
        ("cats = tom", "compares what is not a word"),
        ("locked = true", "it is so or not"),
        ("locked > 0", "it is so or not"),
        ("sky = fog", "is never 'fog'"),
        ("word = c", "is never 'c'"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_reason(text: str, what: str) -> None:
    with pytest.raises(Misread, match=what):
        _read(text)


def test_of_an_unknown_name_the_known_ones_are_given() -> None:
    with pytest.raises(Misread) as refused:
        _read("cats.tom.live > 1")
    assert (refused.value.name, refused.value.known) == ("live", names(Cat))
    assert names(Yard) == ("cat", "cats", "debts", "hour", "locked", "sky", "wet", "word")


@given(st.text(alphabet="nothourcatslv .=<>!-019", max_size=40))
@examples(600)
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = _read(text)
    except Misread:
        return
    assert found.is_met(Yard()) in (True, False)


# ── what cannot hold together ────────────────────────────────────────────────────────────────────────────────────────

TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
YARDS: dict[str, list[Yard]] = {
    "hour": [Yard(hour=hour) for hour in range(5)],
    "sky": [Yard(sky="sun"), Yard(sky="rain"), Yard(sky="snow")],
    "word": [Yard(word=word) for word in ("", "a", "b", "other")],
    "locked": [Yard(), Yard(locked=True)],
    "debts": [Yard(debts=debts) for debts in range(-9, 10)],
    "cat.lives": [Yard(), *(Yard(cat=Cat("Tom", lives)) for lives in range(10))],
    "cats.tom": [Yard(), Yard(cats={"tom": CAT})],
    "cats.tom.lives": [Yard(), *(Yard(cats={"tom": Cat("Tom", lives)}) for lives in range(10))],
}
"""By name: yards with everything that it can be, as far as conditions on small numbers can tell it apart."""


def _conditions(name: str) -> st.SearchStrategy[str]:
    bare = st.sampled_from([name, f"not {name}"])
    if name in {"locked", "cats.tom"}:
        return bare
    values = {"sky": ["sun", "rain", "snow"], "word": ["a", "b"]}.get(name)
    numbers = st.integers(0, 10).map(str) if name != "debts" else st.integers(-6, 6).map(str)
    words = st.sampled_from(values) if values else numbers
    equal = st.builds("{} {} {}".format, st.just(name), st.sampled_from(["=", "!="]),
                      st.lists(words, min_size=1, max_size=3).map(" ".join))  # fmt: skip
    return bare | equal if values else bare | equal | st.builds(
        "{} {} {}".format, st.just(name), st.sampled_from(sorted(TESTS)), numbers
    )  # fmt: skip


@given(st.data())
@examples(1500)
def test_a_contradiction_is_found_exactly_where_nothing_fulfils_the_conditions(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(YARDS)))
    found = [_read(text) for text in data.draw(st.lists(_conditions(name), min_size=1, max_size=4))]
    possible = any(all(one.is_met(yard) for one in found) for yard in YARDS[name])
    assert (contradiction(found, Yard) == "") is possible, [one.written for one in found]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (["locked", "hour > 2", "hour < 2"], "'hour > 2' and 'hour < 2' never hold together"),
        (["hour = 7"], "'hour = 7' never holds"),
        (["sky != sun", "sky != rain", "sky != snow"],
         "'sky != sun' and 'sky != rain' and 'sky != snow' never hold together"),
        (["hour > 1", "hour > 2", "hour < 2"], "'hour > 1' and 'hour < 2' never hold together"),
        (["hour > 1", "debts < 1", "sky = rain", "wet"], ""),
        (["debts", "debts < 1"], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_as_few_conditions_are_named_as_contradict_each_other(written: list[str], message: str) -> None:
    assert contradiction(map(_read, written), Yard) == message
