"""The languages that ship say the same things: no table, key, slot or file of English is missing in another."""

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
OTHERS = [one for one in LANGUAGES if one != "en"]
NOT_ENGLISH = {"complaints", "ambient"}
"""Tables of what stands in English in the code, or is an English word already."""


def _tables(language: str) -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((FOLDER / language / "phrases.toml").read_text(encoding="utf-8"))


def _files(language: str) -> set[str]:
    folder = FOLDER / language
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.suffix in (".txt", ".json")}


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_the_same_files(language: str) -> None:
    assert _files(language) == _files("en")


@pytest.mark.parametrize("language", OTHERS)
def test_every_phrase_has_the_same_slots_in_each_language(language: str) -> None:
    english, theirs = _tables("en"), _tables(language)
    assert set(theirs) - NOT_ENGLISH == set(english) - NOT_ENGLISH
    for name in set(english) - NOT_ENGLISH - {"prompts", "patterns"}:
        assert set(english[name]) == set(theirs[name]), name
        for key, text in english[name].items():
            other = theirs[name][key]
            assert len(text.splitlines()) == len(other.splitlines()) or key == "ahead", (name, key)
            may_differ = {"{to_do", "{doing", "{root"} if name == "memories" else set[str]()
            assert set(SLOT.findall(text)) - may_differ == set(SLOT.findall(other)) - may_differ, (name, key)


def test_skies_and_parts_of_a_day_have_korean_words() -> None:
    assert {"clear", "rain", "dawn", "night", "mild"} <= phrases("ko", "ambient").keys()


@pytest.mark.parametrize("name", ["eo", "../ko", ""])
def test_what_is_no_language_reads_as_english(name: str) -> None:
    assert weekdays(name)[0] == "Monday"
    assert file_text(name, "answers.txt") == file_text("en", "answers.txt")
