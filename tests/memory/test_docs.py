"""The page for users runs, and shows what it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from commonplace.memory import policies

PAGE = (Path(__file__).parents[2] / "docs" / "memory.md").read_text(encoding="utf-8")


def test_the_programs_of_the_page_run_and_print_what_it_shows(capsys):
    programs = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    shown = "".join(re.findall(r"```(?:text)?\n((?:rank|\[|It is).*?)```", PAGE, re.DOTALL))
    names: dict = {}
    for program in programs:
        exec(compile(program, "docs/memory.md", "exec"), names)  # noqa: S102 - our own page
    assert capsys.readouterr().out == shown
    assert [memory.text for memory in names["stream"]][1:] == ["Klaus drops a cup", "Klaus is clumsy"]


def test_the_page_names_every_policy():
    assert all(f"policies.{name.upper()}" in PAGE for name in policies.NAMES)


@pytest.mark.parametrize("name", policies.TYPES)
def test_the_page_has_a_row_for_every_field_of_a_policy(name):
    (rows,) = re.findall(r"The fields:\n\n(.*?)\n\n", PAGE, re.DOTALL)
    assert f"`{name}`" in "".join(row.split("|")[1] for row in rows.splitlines())
