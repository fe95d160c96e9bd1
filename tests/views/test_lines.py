"""The plain view and the JSON lines."""

from __future__ import annotations

import io
import json

import pytest

from commonplace.cognition.relations import CHANGES
from commonplace.views.lines import LineView, PlainLines, json_line, json_lines, wants_colour
from commonplace.views.words import event_template
from views.canned import NASTY, CannedSource, scenario


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


def lines(source: CannedSource, first: int, last: int) -> list[str]:
    view = PlainLines(source.scenario)
    return [line.plain for tick in range(first, last + 1) for line in view.lines(source.frame(tick))]


def test_a_tick_reads_like_a_transcript() -> None:
    found = lines(CannedSource(), 16, 17)
    assert found[0] == "08:40 ── Saturday, clear, mild"
    said = "“Did you hear? There is a lantern night on the plaza on Sunday at seven.”"
    assert f"08:40  Mira Sato → Jun Park: {said}" in found


def test_korean_names_and_words() -> None:
    found = lines(CannedSource(language="ko"), 6, 7)
    assert found[0] == "07:00 ── 토요일, 맑음, 온화함"
    assert any(line.startswith("07:00  한지우 → 이서연: “일요일 저녁에") for line in found)


def test_an_idle_is_told_only_when_it_changes() -> None:
    found = lines(CannedSource(), 1, 7)
    assert sum("Ada Okoye is reading on the balcony" in line for line in found) == 1
    assert sum("Ada Okoye is cooking rice" in line for line in found) == 1


def test_the_heading_comes_with_the_hour_and_the_part_of_day() -> None:
    headings = [line[:5] for line in lines(CannedSource(), 0, 13) if "──" in line]
    assert headings == ["06:00", "07:00", "08:00"]


def test_moves_weather_objects_and_interventions_are_told() -> None:
    text = "\n".join(lines(CannedSource(), 1, 60))
    assert "Theo Marsh goes to Noodle Bar" in text
    assert "clear → cloudy" in text
    assert "courier drone: broken → mended" in text
    assert "✦ The power goes out in the noodle bar." in text


@pytest.mark.parametrize("language", ["en", "ko"])
def test_whatever_changes_a_relation_has_a_sentence(language: str) -> None:
    assert all(event_template(language, f"RELATION_CHANGED {why}") for why in CHANGES)


def test_nothing_a_model_wrote_reaches_the_terminal_as_an_escape() -> None:
    source, out = CannedSource(nasty=True), Terminal()
    view = LineView(source.scenario, "plain", out)
    for tick in range(70):
        view.show(source.frame(tick))
    text = out.getvalue()
    assert "RED" in text
    assert "[bold red]" in text, "markup is text"
    assert "\x1b[31m" not in text
    assert not any(bad in text for bad in ("\x9b", "\x07", "\u202e", "\x1b]"))


@pytest.mark.parametrize("form", ["plain", "json"])
def test_without_a_terminal_there_is_no_escape_at_all(form: str) -> None:
    source, out = CannedSource(nasty=True), io.StringIO()
    view = LineView(source.scenario, form, out)
    for tick in range(70):
        view.show(source.frame(tick))
    assert not any((ord(letter) < 32 and letter != "\n") or 0x7F <= ord(letter) <= 0x9F for letter in out.getvalue())


def test_colour_needs_a_terminal_and_is_refused_by_no_color() -> None:
    assert wants_colour(Terminal(), {"TERM": "xterm"})
    assert not wants_colour(Terminal(), {"TERM": "xterm", "NO_COLOR": "1"})
    assert not wants_colour(Terminal(), {"TERM": "dumb"})
    assert not wants_colour(Terminal(), {})
    assert not wants_colour(io.StringIO(), {"TERM": "xterm"})


def test_json_lines_have_the_fields_of_the_contract_and_lose_nothing() -> None:
    found = [json.loads(line) for line in json_lines(CannedSource(nasty=True).frame(16))]
    said = next(event for event in found if event["type"] == "SAY")
    assert list(said)[:6] == ["id", "tick", "time", "type", "agent_id", "place"]
    assert said["id"] == "t16.mira.0"
    assert said["time"] == "2031-10-04T08:40:00Z"
    assert said["utterance"] == NASTY


def test_json_keeps_control_characters_as_escapes() -> None:
    line = json_line({"a": "\x1b\x9b\u202e\u2028가"})
    assert line == '{"a":"\\u001b\\u009b\\u202e\\u2028가"}'
    assert json.loads(line) == {"a": "\x1b\x9b\u202e\u2028가"}


def test_no_view_prints_nothing() -> None:
    out = io.StringIO()
    LineView(scenario(), "none", out).show(CannedSource().frame(16))
    assert out.getvalue() == ""
