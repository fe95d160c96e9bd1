"""English and Korean say the same things: no table, key, slot or file of one is missing in the other."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

import commonplace.languages
from commonplace.languages import LANGUAGES, file_text, phrases, weekdays

FOLDER = Path(commonplace.languages.__file__).parent
SLOT = re.compile(r"\{[a-z_0-9]*")
KOREAN_ONLY = {"complaints", "ambient"}
"""Tables of what stands in English in the code, or is an English word already."""


def _tables(language: str) -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((FOLDER / language / "phrases.toml").read_text(encoding="utf-8"))


def test_every_language_has_the_same_files() -> None:
    found = [
        {str(path.relative_to(FOLDER / one)) for path in (FOLDER / one).rglob("*") if path.suffix in (".txt", ".json")}
        for one in LANGUAGES
    ]
    assert found[0] == found[1]


def test_every_phrase_of_one_language_is_in_the_other_with_the_same_slots() -> None:
    english, korean = _tables("en"), _tables("ko")
    assert set(korean) - KOREAN_ONLY == set(english) - KOREAN_ONLY
    for name in set(english) - KOREAN_ONLY - {"prompts"}:
        assert set(english[name]) == set(korean[name]), name
        for key, text in english[name].items():
            other = korean[name][key]
            assert len(text.splitlines()) == len(other.splitlines()) or key == "ahead", (name, key)
            may_differ = {"{to_do", "{doing", "{root"} if name == "memories" else set[str]()
            assert set(SLOT.findall(text)) - may_differ == set(SLOT.findall(other)) - may_differ, (name, key)


def test_skies_and_parts_of_a_day_have_korean_words() -> None:
    assert {"clear", "rain", "dawn", "night", "mild"} <= phrases("ko", "ambient").keys()


@pytest.mark.parametrize("name", ["eo", "../ko", ""])
def test_what_is_no_language_reads_as_english(name: str) -> None:
    assert weekdays(name)[0] == "Monday"
    assert file_text(name, "answers.txt") == file_text("en", "answers.txt")
