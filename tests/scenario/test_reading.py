"""Files that are missing, unreadable, broken or hostile give a plain message with a line, never a traceback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.paths import LARGEST_TEXT
from commonplace.scenario import loading
from commonplace.scenario.compiling import load
from commonplace.scenario.loading import DEEPEST, Source, find, read, shipped
from commonplace.scenario.rules import check
from scenario.drafts import DRAFT
from sizes import examples

BROKEN = {
    "a: b: c\n": (1, "put the text in quotes"),
    "a: 1\n b: 2\n": (2, "indentation"),
    "a: [1, 2\nb: 3\n": (2, "not closed"),
    "a: {b: 1\n": (1, "not closed"),
    "a: 'x\nb: 2\n": (1, "never closed"),
    "a:\n\t- b\n": (2, "tab"),
    "a: @x\n": (1, 'cannot begin with "@"'),
    "a: `x`\n": (1, "cannot begin with"),
    "- a\nb: 1\n": (2, "indentation"),
    "a: 1\nb: *gone\n": (2, "*gone"),
    "a: &a {b: *a}\n": (1, "not complete"),
    "name: &a [*a]\n": (1, "not complete"),
    "a: 1\n---\nb: 2\n": (2, "second document"),
    "? [a]\n: b\n": (1, "expected a key"),
    'a: "\\q"\n': (1, "double quotes"),
    "a: 1\nb: \x01\n": (2, "U+0001"),
    "a: ]\n": (1, "bracket"),
    "a: " + "[" * 300 + "]" * 300: (1, "nested more than"),
}


@pytest.mark.parametrize("text", BROKEN)
def test_broken_yaml_has_a_line_and_plain_words(text: str) -> None:
    line, words = BROKEN[text]
    (fault,) = read(text, "f.yaml").faults
    assert (fault.file, fault.line) == ("f.yaml", line)
    assert words in fault.what


def test_duplicate_keys_are_mistakes_and_the_first_holds() -> None:
    source = read("a: 1\nb:\n  c: 1\n  c: {d: 2}\na: 2\n", "f.yaml")
    assert source.data == {"a": 1, "b": {"c": 1}}
    assert [str(fault) for fault in source.faults] == [
        'f.yaml:4: b › c: the key "c" is here a second time; the first is on line 3',
        'f.yaml:5: a: the key "a" is here a second time; the first is on line 1',
    ]


def test_every_part_has_a_line() -> None:
    source = read("a: 1\nb:\n  - x\n  - c: 2\n    d: [3,\n        4]\n", "f.yaml")
    assert source.line(("b", 1)) == 4
    assert source.line(("b", 1, "d")) == 5
    assert source.line(("b", 1, "d", 1)) == 6
    assert source.line(("b", 1, "gone", "deeper")) == 4


def test_scalars_are_those_of_yaml_1_2() -> None:
    text = "{a: 06:00, b: no, c: 2031-10-04, d: true, e: 12, f: -1.5, g: '7', h: , i: ~, j: 0x, k: 1e3}"
    wanted = {"a": "06:00", "b": "no", "c": "2031-10-04", "d": True, "e": 12, "f": -1.5, "g": "7", "h": None, "i": None}
    assert read(text, "f").data == {**wanted, "j": "0x", "k": 1000.0}


def test_texts_are_cleaned() -> None:
    data = read('a: "x\\u001b[31m  y "\nb: >-\n  one\n  two\nc: cafe\u0301\n', "f").data
    assert data == {"a": "x[31m y", "b": "one two", "c": "café"}


def test_anchors_and_merge_keys_work() -> None:
    source = read("a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\nc: *a\nd: {<<: [*a, {z: 9}]}\n", "f")
    assert source.data["b"] == {"x": 3, "y": 2}
    assert source.data["c"] == {"x": 1, "y": 2}
    assert source.data["d"] == {"x": 1, "y": 2, "z": 9}
    assert source.faults == ()


def test_a_document_that_unfolds_without_end_is_refused() -> None:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x,x]"]
    lines += [f"{b}: &{b} [{','.join([f'*{a}'] * 10)}]" for a, b in zip("abcdefgh", "bcdefghi", strict=True)]
    (fault,) = read("\n".join(lines), "f").faults
    assert "unfolds into more than" in fault.what


def test_an_empty_file_and_a_file_without_keys() -> None:
    assert "empty" in check(read("# nothing yet\n", "f"))[0].what
    assert "no keys" in check(read("- a\n", "f"))[0].what


def test_an_unknown_name_lists_the_shipped_and_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="there is no scenario 'plazza'") as caught:
        find("plazza")
    assert "Did you mean plaza?" in str(caught.value)
    assert caught.value.status == 2


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000, "no/such/file.yaml"])
def test_impossible_names_are_unknown(name: str) -> None:
    with pytest.raises(UsageError):
        find(name)


def test_a_folder_is_no_scenario(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("name: x", encoding="utf-8")
    with pytest.raises(UsageError, match=r"is a folder.*\n.*mine\.yaml"):
        find(str(tmp_path))


def test_text_must_be_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "old.yaml"
    path.write_bytes("a: 1\nb: café\n".encode("latin-1"))
    with pytest.raises(UsageError, match=r"old\.yaml:2: is not UTF-8"):
        find(str(path))


def test_a_huge_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    path.write_bytes(b"#" * (LARGEST_TEXT + 1))
    with pytest.raises(UsageError, match="too large"):
        find(str(path))


def test_an_unreadable_file_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "secret.yaml"
    path.write_text("name: x", encoding="utf-8")

    def refuse(*_: object) -> None:  # root may read every file, so permissions alone do not show it everywhere
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError, match=r"secret\.yaml: cannot be read \(Permission denied\)"):
        find(str(path))


def test_a_byte_order_mark_and_windows_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "windows.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + DRAFT.replace("\n", "\r\n").encode())
    assert check(find(str(path))) == []


def test_broken_files_are_refused_with_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text("name: x\nworld: [\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"broken\.yaml:"):
        load(str(path))


def test_shipped_scenarios_are_listed_by_name() -> None:
    listed = shipped()
    assert [name for name, _, _ in listed] == sorted(name for name, _, _ in listed)
    assert ("plaza", "Linden Square") in [(name, title) for name, title, _ in listed]
    assert all(title and summary for _, title, summary in listed)


@examples(150)
@given(st.text(alphabet=" \n\t:-[]{},&*!|>'\"%@`#?ab1é가\x00\ud800", max_size=60))
def test_no_text_is_ever_a_traceback(text: str) -> None:
    check(read(text, "f"))


@examples(300)
@given(st.text(alphabet=" \n\t:-[]{},&*!|>'\"%@`#?ab1é가", max_size=30))
def test_both_parsers_of_the_library_read_the_same_document(text: str) -> None:
    read_by: list[Source] = []
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        with patch.object(loading, "LOADER", loader):
            read_by.append(read(text, "f"))
    assert any(source.faults for source in read_by) or read_by[0] == read_by[1]


def test_half_a_surrogate_pair_is_a_character_that_is_not_allowed() -> None:
    (fault,) = read("a: 1\nb: \ud800\n", "f.yaml").faults
    assert (fault.line, fault.what) == (2, "the character U+D800 is not allowed in a YAML file")


def test_reading_stops_where_the_nesting_gets_too_deep() -> None:
    taken: list[object] = []

    def parse(*args: Any, **kwargs: Any) -> Iterator[object]:
        for event in parsed(*args, **kwargs):
            taken.append(event)
            yield event

    parsed = cast("Any", yaml.parse)
    with patch.object(yaml, "parse", parse):
        assert read("[" * 32_000, "f.yaml").faults
    assert len(taken) < 2 * DEEPEST


@pytest.mark.parametrize("form", ["[*{}]", "{{a: *{}}}", "{{<<: *{}, b{}: 1}}"])
def test_a_document_that_gets_deep_by_aliases_is_read_or_refused(form: str) -> None:
    lines = ["a0: &a0 {x: 1}", *(f"a{n}: &a{n} {form.format(f'a{n - 1}', n)}" for n in range(1, 700))]
    source = read("\n".join(lines), "f")
    check(source)
    assert ["nested more than" in fault.what for fault in source.faults] == ([] if "<<" in form else [True])
