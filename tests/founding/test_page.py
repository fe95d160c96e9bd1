"""The page of the founding documents says what their tests say, and each test says which requirement it shows."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

PROJECT = Path(__file__).parents[2]


def _tool() -> ModuleType:
    spec = spec_from_file_location("founding_page", PROJECT / "tools" / "founding_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOL = _tool()


def test_the_page_is_what_the_tests_say():
    assert TOOL.PAGE.read_text(encoding="utf-8") == TOOL.page(), "python tools/founding_page.py"


@pytest.mark.parametrize("document", TOOL.DOCUMENTS)
def test_every_test_shows_a_requirement(document):
    text = (PROJECT / "tests" / "founding" / f"test_{document}.py").read_text(encoding="utf-8")
    tests = {line.split("(")[0].removeprefix("def ") for line in text.splitlines() if line.startswith("def test_")}
    assert {row.test for row in TOOL.rows(document)} == tests
