"""The programs of the page run."""

from __future__ import annotations

import re
from pathlib import Path

from commonplace.memory.stores.opening import FORMS

PAGE = (Path(__file__).parents[3] / "docs" / "stores.md").read_text(encoding="utf-8")


def test_the_programs_of_the_page_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for program in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(program, "docs/stores.md", "exec"), names)  # noqa: S102 - our own page
    assert capsys.readouterr().out == "Klaus is reading about gentrification\n"
    assert names["klaus"].last_id == 1


def test_the_page_names_every_form():
    for form in re.findall(r"(\w+:)\w*", FORMS):
        assert form in PAGE
