"""What is being said, taken out of an answer that is still being written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.minds.mind import words_in
from commonplace.minds.notes import changed
from commonplace.minds.tasks import REACT
from commonplace.text import clean
from minds.tasks.asked import merged

LINE = 'He said "hm", then: 비가 온다 😀 – a\\b'


@pytest.mark.parametrize("ascii", [True, False])
def test_the_words_grow_and_nothing_else_is_shown(ascii):
    written = json.dumps({"because": [1], "plan": "say nothing", "say": LINE, "mood": "glad"}, ensure_ascii=ascii)
    shown = [words_in(written[:end], "say") for end in range(len(written) + 1)]
    assert shown[-1] == clean(LINE)
    assert all(clean(LINE).startswith(words) for words in shown)
    assert len(set(shown)) > 20


@given(st.text(st.characters(exclude_categories=["Cs"])), st.booleans())
def test_any_line_is_the_one_that_is_read_in_the_end(line, ascii):
    written = json.dumps({"talk": {"say": line, "ends": False}}, ensure_ascii=ascii)
    for end in range(len(written)):
        words_in(written[:end], "say")
    assert words_in(written, "say") == clean(line)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "Sure! ",
        '{"say"',
        '{"say": {"to": "ben"',
        '{"plan": "\\"say\\": \\"hello',
        '{"say": null, "plan": "x"}',
        '{"say": "\\',
        '{"say": "\\u00',
        '{"say": "\\ud83d',
    ],
)
def test_no_words_yet(written):
    assert words_in(written, "say") == ""


def test_what_steers_a_terminal_is_left_out():
    assert words_in('{"say": "a\\u001b[31m\\u202eb\\nc', "say") == "a[31mb c"


@pytest.mark.parametrize("decision", ["talk", "Talk", "keep", "wait", "tal"])
def test_words_beside_another_decision_are_not_said(decision):
    written = f'{{"decision": "{decision}", "target": "Ben", "talk": {{"say": "Well, he'
    assert REACT.aloud is not None
    assert REACT.aloud(merged(), written) == ("Well, he" if decision.lower() == "talk" else "")
    assert REACT.aloud(changed(merged(), speaks=False), written) == "", "no words were asked for"
    assert REACT.aloud(merged(), written.partition('"target"')[2]) == "", "not decided yet"
