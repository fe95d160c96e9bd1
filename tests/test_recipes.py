"""The recipes of CONTRIBUTING.md bring what they say when they are followed to the letter."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

PROJECT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^( *)```python\n *# (\S+), (before|after): ([^\n]+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)

A_PART_OF_A_SCORE = """
from dataclasses import replace
from datetime import UTC, datetime

from commonplace.memory import MemoryStream, policies

at = datetime(2031, 10, 4, tzinfo=UTC)
stream = MemoryStream("maria", policies.LEXICAL)
for text in ("Soup with bread for lunch, and an hour of talk about the old mill", "Soup"):
    stream.remember(text, at=at, importance=5)
detailed = replace(policies.LEXICAL, name="detailed", detail_weight=2.0)
for touch in (False, True, False):
    plain = stream.retrieve("soup", at=at, touch=touch)
    found = stream.retrieve("soup", at=at, policy=detailed, touch=touch)
    assert plain.ids == (2, 1) and "detail" not in plain[0].parts, plain.ids
    assert found.ids == (1, 2), found.ids
    for hit, tokens, share in zip(found, (17.0, 1.0), (1.0, 0.0), strict=True):
        assert hit.parts["detail"] == (tokens, share, 2.0), hit.parts
        assert abs(hit.score - sum(part.weight * part.normalised for part in hit.parts.values())) <= 2**-30
assert "17.0000 → 1.0000 × 2" in stream.explain(found)
assert "detail 1.0000 → 0.0000 × 2" in str(stream.why_not(2, stream.retrieve("soup", at=at, policy=detailed, k=1)))
"""
PROOFS = {"A part of a score": A_PART_OF_A_SCORE}
"""Recipe → a program that fails unless it has been followed."""
WITHOUT = {
    "A part of a score": (
        "the part 'detail' of a score has a function and no weight",
        "name '_detail' is not defined",
        "the part 'detail' of a score has a weight and no function",
    )
}
"""Recipe → what is said if one of its steps is left out."""


class Step(NamedTuple):
    """Lines to add to a file of the package."""

    file: str
    side: str
    """Of the anchor: before or after."""
    anchor: str
    lines: str


def steps(recipe: str) -> list[Step]:
    """The blocks of a recipe."""
    page = (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (text,) = re.findall(rf"^\*\*{recipe}\.\*\*(.*?)(?=^\*\*)", page, re.MULTILINE | re.DOTALL)
    return [
        Step(file, side, anchor, _outdented(lines, margin))
        for margin, file, side, anchor, lines in _BLOCK.findall(text)
    ]


def _outdented(lines: str, margin: str) -> str:
    return "".join(line.removeprefix(margin) for line in lines.splitlines(keepends=True))


def follow(step: Step, package: Path) -> None:
    path = package / step.file
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    (at,) = [number for number, line in enumerate(lines) if line.strip() == step.anchor]
    lines.insert(at + (step.side == "after"), step.lines)
    path.write_text("".join(lines), encoding="utf-8")


def proved(recipe: str, done: list[Step], folder: Path) -> subprocess.CompletedProcess[str]:
    """What the proof of a recipe says of a copy of the package after these steps."""
    package = folder / "commonplace"
    shutil.copytree(PROJECT / "src" / "commonplace", package, ignore=shutil.ignore_patterns("parts", "scenarios"))
    for step in done:
        follow(step, package)
    environment = os.environ | {"PYTHONPATH": str(folder)}
    return subprocess.run(
        [sys.executable, "-c", PROOFS[recipe]], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("recipe", PROOFS)
def test_a_recipe_that_is_followed_to_the_letter_brings_what_it_says(recipe: str, tmp_path: Path) -> None:
    done = proved(recipe, steps(recipe), tmp_path)
    assert not done.returncode, done.stderr


@pytest.mark.parametrize("recipe", PROOFS)
def test_a_step_that_is_left_out_is_named(recipe: str, tmp_path: Path) -> None:
    every = steps(recipe)
    for number, said in zip(range(len(every)), WITHOUT[recipe], strict=True):
        done = proved(recipe, every[:number] + every[number + 1 :], tmp_path / str(number))
        assert done.returncode and said in done.stderr
