"""Rules in a file beside the scenario: read as if they were written in it, and kept by the run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.scenario.compiling import compiled_from_text, load
from commonplace.scenario.loading import Mistake, find, read, report
from commonplace.scenario.rules import check
from scenario.drafts import DRAFT
from sizes import examples

RAIN = """# for wet days
- when: [sky = rain, hour >= 6]
  says:
    - "비가 오네요, 그렇죠? \U0001f327"
    - It rains, "they say".
- {when: [sky = storm], says: [Hold on to the roof.], who: [jonas]}
"""
OWN = "{when: [act = complain], says: [That is no way to spend a day.]}"
NAMED: dict[str, Callable[[str], str]] = {
    "block": lambda name: f"rules:\n  - {OWN}\n  - {name}\n  - {{when: [hour > 1], says: [Late again, it seems.]}}\n",
    "indentless": lambda name: f"rules:\n- {name}\n- {OWN}\n",
    "flow": lambda name: f"rules: [{OWN}, '{name}']\n",
    "folded": lambda name: f"rules:\n  - >\n    {name}\n  - {OWN}\n",
}


def _town(folder: Path, rules: str, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.rules.yaml").write_text(text, encoding="utf-8")
    path = folder / "town.yaml"
    path.write_text(f"title: 비 오는 날 \U0001f327\n{DRAFT}\n{rules}", encoding="utf-8")
    return path


def _mistakes(path: Path) -> list[Mistake]:
    return check(find(str(path)))


@pytest.mark.parametrize("form", NAMED)
def test_rules_of_a_file_are_as_if_they_were_written_in_the_scenario(form: str, tmp_path: Path) -> None:
    path = _town(tmp_path, NAMED[form]("rain.rules.yaml"), rain=RAIN)
    assert _mistakes(path) == []
    scenario = load(str(path))
    assert 'It rains, "they say".' in scenario.rules and "That is no way to spend a day." in scenario.rules
    for file in tmp_path.iterdir():
        file.unlink()
    again = compiled_from_text(scenario.text)
    assert again.part == scenario.part
    inline = _town(tmp_path, "", rain="")
    inline.write_text(scenario.text, encoding="utf-8")
    assert load(str(inline)).text == scenario.text


def test_a_mistake_in_a_file_of_rules_is_told_with_its_name_and_line(tmp_path: Path) -> None:
    wrong = RAIN.replace("hour >= 6", "hours >= 6").replace("who: [jonas]", "whom: [jonas]")
    path = _town(tmp_path, f"rules: [{OWN}, rain.rules.yaml, {{when: [nothing], says: [a b]}}]", rain=wrong)
    found = _mistakes(path)
    lines = [(Path(one.file).name, one.line, one.where) for one in found]
    last = path.read_text(encoding="utf-8").count("\n") + 1
    assert lines == [
        ("town.yaml", last, "rules › 3 › when › 1"),
        ("rain.rules.yaml", 2, "rules › 1 › when › 2"),
        ("rain.rules.yaml", 6, "rules › 2 › whom"),
    ]
    assert [one.nearest for one in found] == ["things", "hour", "who"]
    with pytest.raises(UsageError, match=r"rain\.rules\.yaml:2: rules › 1 › when › 2"):
        load(str(path))


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ("", 1, "no list of rules"),
        ("[]", 1, "no list of rules"),
        ("when: [home]", 1, "no list of rules"),
        ("- {when: [home], says: [a b]\n", 1, "not closed"),
        ("- {when: [home], when: [home], says: [a b]}", 1, "a second time"),
        ("- other.rules.yaml", 1, "is not valid here"),
        ("- {when: [home], says: [a b]}\n- 3", 2, "is not valid here"),
    ],
)
def test_a_file_that_holds_no_rules_is_told(text: str, line: int, what: str, tmp_path: Path) -> None:
    found = _mistakes(_town(tmp_path, "rules: [rain.rules.yaml]", rain=text))
    assert [(Path(one.file).name, one.line) for one in found] == [("rain.rules.yaml", line)], report(found)
    assert what in found[0].what


@pytest.mark.parametrize(
    "name",
    ["../rain.rules.yaml", "/etc/passwd", "/etc/x.rules.yaml", "secret.yaml", "a/../../x.rules.yaml", "link.rules.yaml",
     "folder.rules.yaml", "rian.rules.yaml"],
)  # fmt: skip
def test_nothing_but_a_file_of_rules_in_the_folder_of_the_scenario_is_read(name: str, tmp_path: Path) -> None:
    inside = tmp_path / "town"
    (inside / "folder.rules.yaml").mkdir(parents=True)
    for path in (tmp_path / "rain.rules.yaml", inside / "secret.yaml", inside / "rain.rules.yaml"):
        path.write_text(RAIN, encoding="utf-8")
    (inside / "link.rules.yaml").symlink_to(tmp_path / "rain.rules.yaml")
    found = _mistakes(_town(inside, f"rules: [{name}]"))
    assert len(found) == 1 and Path(found[0].file).name == "town.yaml" and found[0].where == "rules › 1", report(found)
    assert found[0].nearest == ("rain.rules.yaml" if name == "rian.rules.yaml" else "")


PIECES = re.findall(r"[\w.]+|[^\w\s]|\s+", RAIN)
OTHERS = ["", " ", "\n", "- ", "{", "]", "&x", "*x", "!!str", "null", "---", "|", ">", "'", "\t", "12", "sets: [wet]"]


@given(st.lists(st.tuples(st.integers(0, len(PIECES) - 1), st.sampled_from([*OTHERS, *PIECES])), max_size=3),
       st.sampled_from(sorted(NAMED)))  # fmt: skip
@examples(500)
def test_whatever_a_file_of_rules_holds_it_is_read_or_told_by_its_line(
    changes: list[tuple[int, str]], form: str
) -> None:
    pieces = [*PIECES]
    for at, other in changes:
        pieces[at] = other
    with TemporaryDirectory() as folder:
        path = _town(Path(folder), NAMED[form]("rain.rules.yaml"), rain="".join(pieces))
        found = _mistakes(path)
        for one in found:
            assert one.what and 1 <= one.line <= 1 + Path(one.file).read_text(encoding="utf-8").count("\n")
        if not found:
            scenario = load(str(path))
            assert compiled_from_text(scenario.text).part == scenario.part


def test_a_file_of_rules_by_itself_is_checked_with_its_scenario(tmp_path: Path) -> None:
    _town(tmp_path, "", rain=RAIN)
    found = _mistakes(tmp_path / "rain.rules.yaml")
    assert [one.expected for one in found] == ["a scenario; rules are checked with the scenario that names their file"]


def test_a_text_that_is_no_file_can_name_no_file_of_rules(tmp_path: Path) -> None:
    path = _town(tmp_path, "rules: [rain.rules.yaml]", rain=RAIN)
    found = check(read(path.read_text(encoding="utf-8"), "page"))
    assert [one.where for one in found] == ["rules › 1"]
    assert "can only be named by a scenario that is a file" in found[0].expected
