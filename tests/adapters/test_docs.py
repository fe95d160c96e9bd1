"""The pages for newcomers run, block by block, and print what they show."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
STEP = re.compile(r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("page", "needs"),
    [("from-mem0.md", "numpy"), ("from-langchain.md", "langchain_core"), ("web-service.md", "httpx2")],
)
def test_the_programs_of_a_page_run_and_print_what_it_shows(page, needs, tmp_path, monkeypatch, capsys):
    pytest.importorskip(needs, reason=f"{needs} is not installed")
    monkeypatch.chdir(tmp_path)
    steps = STEP.findall((DOCS / page).read_text(encoding="utf-8"))
    assert steps
    names: dict[str, object] = {}
    for program, shown in steps:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(compile(program, page, "exec"), names)  # noqa: S102 – our own page
        assert capsys.readouterr().out == shown
