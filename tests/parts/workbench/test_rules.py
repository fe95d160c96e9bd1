"""A small town in each language with lines that have conditions: who says them when; what `rules` and `why` show."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cognition.hamlet import BASE, person
from commonplace.api import create_run
from commonplace.cognition.authors_lines import lines_in
from commonplace.minds.offline.react import WISHES
from commonplace.minds.offline.sayings import WEIGHTS
from commonplace.parts.workbench.rules import TABLES
from commonplace.run.reading import Reading
from commonplace.world.events import Spoke
from e2e.command import command
from sizes import PROVE

GOLMOK = Path(__file__).parents[2] / "minds" / "offline" / "golmok.yaml"
DAYS = {"en": 2, "ko": 2 if PROVE else 1}
"""Of each town."""


class Lines(NamedTuple):
    """A story of a character that is told in the evening, to one other, and the part that comes after it; what only one
    of all hears; what never can be said here."""

    teller: str
    hearer: str
    first: str
    after: str
    once: str
    never: str


ENGLISH = Lines("anna", "ben", "Otto is a sourdough.", "Otto fell off the shelf.", "I sing to the oven.", "Snow again.")
KOREAN = Lines(
    "younghee", "cheolsu", "바늘을 하나 잃어버렸어요.", "그 바늘을 신발 안에서 찾았어요.", "저는 재봉틀한테 말해요.",
    "눈이 오네요.",
)  # fmt: skip


def _memories(lines: Lines, texts: tuple[str, str, str]) -> list[dict[str, Any]]:
    told = [
        [
            {"say": lines.first, "only_to": [lines.hearer], "when": ["hour >= 12"]},
            {"say": lines.after, "after": [1], "when": ["hearer.warmth > 0"]},
        ],
        [{"say": lines.once, "once": "ever"}],
        [{"say": lines.never, "when": ["sky = snow"]}],
    ]
    return [{"text": text, "importance": 10, "tell": tell} for text, tell in zip(texts, told, strict=True)]


def _english() -> str:
    document = deepcopy(BASE)
    texts = ("Anna Berg keeps a sourdough.", "Anna Berg sings at work.", "Anna Berg likes snow.")
    person(document, "anna")["memories"] = _memories(ENGLISH, texts)
    for one in document["characters"]:
        one["routine"][1:5] = [
            {"at": "08:00", "do": "mending things", "place": "barn"},
            {"at": "12:00", "do": "having lunch", "place": "green"},
            {"at": "14:00", "do": "sitting in the sun", "place": "green"},
            {"at": "18:00", "do": "sitting together", "place": "barn"},
        ]
    return json.dumps(document, ensure_ascii=False)


def _korean() -> str:
    texts = ("이영희는 바늘을 잃어버렸다.", "이영희는 재봉틀에게 말을 건다.", "이영희는 눈을 좋아한다.")
    given = "".join(f"      - {json.dumps(one, ensure_ascii=False)}\n" for one in _memories(KOREAN, texts))
    text = GOLMOK.read_text(encoding="utf-8")
    at = text.index("    memories:\n", text.index("  - id: younghee")) + len("    memories:\n")
    return text[:at] + given + text[at:]


class Lived(NamedTuple):
    path: Path
    lines: Lines
    said: list[tuple[str, int, str, str, str]]
    """Each saying of a line with conditions: the line, its hour, the hearer, the event, the words as they were said."""


@pytest.fixture(scope="module", params=["en", "ko"])
def lived(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Lived:
    """Some days of a town."""
    text, lines = (_english(), ENGLISH) if request.param == "en" else (_korean(), KOREAN)
    path = tmp_path_factory.mktemp("rules") / f"{request.param}.run"
    written = path.with_suffix(".json" if request.param == "en" else ".yaml")
    written.write_text(text, encoding="utf-8")
    with create_run(path, str(written), seed=3) as run:

        async def live() -> None:
            async for _ in run.play(until=DAYS[request.param] * 288):
                pass

        asyncio.run(live())
    said: list[tuple[str, int, str, str, str]] = []
    with Reading.open(path) as reading:
        for event in reading.events(type="SAY"):
            if isinstance(event.body, Spoke):
                hour = reading.scenario.clock.time(event.tick).hour
                said += [
                    (line, hour, event.body.to_agent_id, event.id, event.body.utterance)
                    for line in lines_in(event.body.utterance, reading.scenario)
                ]
    return Lived(path, lines, said)


def _counted(lived: Lived) -> dict[str, Mapping[str, Any]]:
    done = command("rules", str(lived.path), "--json")
    return {row["line"]: row for row in map(json.loads, done.out.splitlines()) if "line" in row}


def test_a_line_is_said_when_and_to_whom_it_may_be(lived: Lived) -> None:
    first = [one for one in lived.said if one[0] == lived.lines.first]
    assert first
    assert all(hour >= 12 and hearer == lived.lines.hearer for _, hour, hearer, *_ in first)


def test_a_line_is_said_to_those_who_have_heard_the_one_before(lived: Lived) -> None:
    order = [line for line, _, hearer, *_ in lived.said if hearer == lived.lines.hearer]
    assert order.index(lived.lines.first) < order.index(lived.lines.after)
    assert {hearer for line, _, hearer, *_ in lived.said if line == lived.lines.after} == {lived.lines.hearer}


def test_a_line_for_one_is_heard_by_one_and_one_that_cannot_be_said_by_nobody(lived: Lived) -> None:
    said = [line for line, *_ in lived.said]
    assert said.count(lived.lines.once) == 1
    assert lived.lines.never not in said


def test_friends_say_a_korean_line_in_their_own_words(lived: Lived) -> None:
    words = {line: words for line, *_, words in lived.said}
    if lived.lines is KOREAN:
        assert KOREAN.first not in words[KOREAN.first]
        assert "바늘을 하나 잃어버렸어." in words[KOREAN.first]


def test_rules_counts_how_often_each_line_was_said_allowed_and_held_back(lived: Lived) -> None:
    counted, lines = _counted(lived), lived.lines
    assert set(counted) == {lines.first, lines.after, lines.once, lines.never}
    for line, row in counted.items():
        assert row["said"] == [said for said, *_ in lived.said].count(line)
        assert row["said"] <= row["allowed"]
    assert set(counted[lines.never]["held_back"]) == {"sky = snow"}
    assert counted[lines.never]["allowed"] == 0
    assert set(counted[lines.first]["held_back"]) <= {"only_to", "hour >= 12"}
    assert "after" in counted[lines.after]["held_back"]
    assert counted[lines.once]["held_back"].keys() == {"once"}


def test_rules_shows_the_conditions_as_they_are_written(lived: Lived) -> None:
    shown = command("rules", str(lived.path)).out
    assert f"after “{lived.lines.first}" in shown
    assert "once ever" in shown
    assert "hour >= 12, only_to " in shown


def test_rules_counts_every_row_that_decided_and_names_those_that_never_did(lived: Lived) -> None:
    done = command("rules", str(lived.path), "--json")
    rows = [row for row in map(json.loads, done.out.splitlines()) if "row" in row]
    with Reading.open(lived.path) as reading:
        answers = [(row.task, row.usage["row"]) for row in reading.answers() if "row" in row.usage]
    decided = Counter((task, one) for task, row in answers for one in row.split(" + "))
    assert {(row["task"], row["row"]): row["times"] for row in rows if row["times"]} == decided
    known = {(task, row.name.partition(".")[0]) for task, of in TABLES.items() for table in of for row in table.rows}
    known |= {("converse", kind.partition(".")[0]) for kind in WEIGHTS}
    assert known == {(row["task"], row["row"].partition(".")[0]) for row in rows}
    assert {f"meeting.{row.name}" for row in WISHES.rows if row.cells["purpose"]} <= {row["row"] for row in rows}
    never = command("rules", str(lived.path)).out.partition("never: ")[2].partition("\n\n")[0].split(",")
    assert [" ".join(one.split()) for one in never] == [
        f"{row['task']} {row['row']}" for row in rows if not row["times"]
    ]


def test_why_shows_each_line_that_came_to_mind_and_the_condition_that_failed(lived: Lived) -> None:
    event = next(id_ for line, *_, id_, _ in lived.said if line == lived.lines.first)
    shown = command("why", str(lived.path), event).out
    block = shown.partition("Lines with conditions")[2]
    assert f"“{lived.lines.first}”  hour >= 12 (" in block
    with Reading.open(lived.path) as reading:
        explained = [one for *_, id_, _ in lived.said for one in reading.trace(lived.lines.teller, _tick(id_))["lines"]]
    failed = [one["failed"] for one in explained if one["say"] == lived.lines.never]
    assert all(one.startswith("sky = snow (") for one in failed)


def test_why_names_the_rows_of_a_line_down_to_what_was_told(lived: Lived) -> None:
    event = next(id_ for line, *_, id_, _ in lived.said if line == lived.lines.first)
    shown = command("why", str(lived.path), event).out
    row = shown.partition("\n  converse\n")[2].partition("by the row ")[2].partition(";")[0]
    assert {"core.tell", "core.tell.rest"} & {*row.split(" + ")}, shown


@pytest.mark.parametrize("question", ["Tell me about the snow.", "눈 이야기 좀 해 주세요."])
def test_a_person_who_asks_is_not_told_a_line_that_has_conditions(lived: Lived, question: str) -> None:
    done = command("talk", str(lived.path), lived.lines.teller, "--ask", question)
    assert done.status == 0
    assert lived.lines.never not in done.out


def _tick(event: str) -> int:
    return int(event.partition(".")[0].removeprefix("t"))
