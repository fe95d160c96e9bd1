"""The pages run, and print what they show."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from commonplace.parts.coordinates.document import SECTIONS
from commonplace.parts.coordinates.retention import RetentionPolicy

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("name", ["coordinates", "forgetting", "ledger"])
def test_the_programs_of_a_page_print_what_it_shows(name, tmp_path, monkeypatch, capsys):
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for program in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(program, f"docs/{name}.md", "exec"), {})  # noqa: S102 - our own page
    assert capsys.readouterr().out == "".join(
        re.findall(r"```\n(.*?)```", re.sub(r"```python.*?```", "", page, flags=re.DOTALL), re.DOTALL)
    )


def test_every_limit_of_a_policy_is_explained_with_its_default():
    page = (DOCS / "forgetting.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `?([\d.]+|\"\w+\")`? \|", page, re.MULTILINE)
    assert {name: json.loads(value) for name, value in rows} == RetentionPolicy().to_mapping()


def test_the_schema_has_seven_sections():
    assert [kind.path for kind in SECTIONS] == [
        "time",
        "space",
        "agent",
        "emotion",
        "content",
        "metadata",
        "relations",
    ]
