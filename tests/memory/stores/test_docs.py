"""The programs of the page run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from commonplace.memory.stores.opening import FORMS

PAGE = (Path(__file__).parents[3] / "docs" / "stores.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_programs_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = run(*(program for program in PROGRAMS if "embedded:" not in program))
    assert capsys.readouterr().out == "Klaus is reading about gentrification\nShe is allergic to peanuts\n"
    assert names["klaus"].last_id == 1


def test_the_program_with_a_database_runs(tmp_path, monkeypatch):
    for package in ("psycopg", "pgvector", "psutil"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    monkeypatch.chdir(tmp_path)
    [program] = [program for program in PROGRAMS if "embedded:" in program]
    names = run("from datetime import datetime", program)
    assert [hit.memory.text for hit in names["hits"]] == ["Maria lent Klaus her umbrella"]


def run(*programs: str) -> dict[str, Any]:
    """Runs programs one after the other; the names they leave."""
    names: dict[str, Any] = {}
    for program in programs:
        exec(compile(program, "docs/stores.md", "exec"), names)  # noqa: S102 - our own page
    return names


def test_the_page_names_every_form():
    for form in re.findall(r"(\w+:)\w*", FORMS):
        assert form in PAGE
