"""The examples are programs with stored output. `python tests/test_examples.py` stores what they print now."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from e2e.lived import once
from sizes import PROVE

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


def printed(example: Path, folder: Path) -> str:
    """What an example prints, run by itself in an empty folder with warnings as errors."""
    return _ended([str(example)], folder)


def _ended(given: list[str], folder: Path) -> str:
    paths = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-W", "error", *given],
        cwd=folder,
        # OpenBLAS would start threads, and a process with threads should not fork
        env={**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8", "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


IN_CHILDREN = """
import os, runpy, sys
import commonplace.api, commonplace.minds.offline.mind
for example in sys.argv[1:]:
    name = os.path.basename(example)
    os.mkdir(name)
    if not os.fork():
        os.dup2(os.open(name + ".printed", os.O_WRONLY | os.O_CREAT, 0o600), 1)
        os.chdir(name)
        runpy.run_path(example, run_name="__main__")
        sys.stdout.flush()
        os._exit(0)  # to take apart what was imported takes longer than most, too
    assert os.wait()[1] == 0, example
"""
"""Runs each example in a child of a process that has imported the program: to import it takes longer than most."""


def all_printed(folder: Path) -> None:
    """What each example prints in `NAME.printed`, what it leaves behind in `NAME`; in `make prove` each by itself."""
    folder.mkdir()
    if not PROVE:
        _ended(["-c", IN_CHILDREN, *map(str, EXAMPLES)], folder)
        return
    for example in EXAMPLES:
        (folder / example.name).mkdir()
        told = printed(example, folder / example.name)
        (folder / f"{example.name}.printed").write_text(told, encoding="utf-8")


def test_there_are_examples_each_with_its_output() -> None:
    assert len(EXAMPLES) >= 4
    assert {example.stem for example in EXAMPLES} == {out.stem for out in (ROOT / "examples").glob("*.out")}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_prints_what_is_stored_and_leaves_nothing_behind(
    example: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = once(tmp_path_factory, "examples", all_printed)
    told = (folder / f"{example.name}.printed").read_text(encoding="utf-8")
    assert told == example.with_suffix(".out").read_text(encoding="utf-8")
    assert list((folder / example.name).iterdir()) == []


FIRST_HOUR = [example for example in EXAMPLES if "The first hour" in example.read_text(encoding="utf-8")]


def test_what_a_newcomer_does_in_the_first_hour_is_five_things() -> None:
    assert len(FIRST_HOUR) == 5


@pytest.mark.parametrize("example", FIRST_HOUR, ids=lambda example: example.stem)
def test_each_of_them_takes_at_most_five_lines(example: Path) -> None:
    tree = ast.parse(example.read_text(encoding="utf-8"))
    code = [node for node in tree.body[1:] if not isinstance(node, ast.Import | ast.ImportFrom)]
    assert code[-1].end_lineno is not None
    assert code[-1].end_lineno - code[0].lineno < 5


def test_without_the_reflection_the_later_decision_is_another() -> None:
    """What the fourth example is for: its stored output is not about two equal days."""
    told = (ROOT / "examples" / "04_reflection_matters.out").read_text(encoding="utf-8").splitlines()
    with_it, without = (
        told[number + 1] for number, line in enumerate(told) if line.endswith(("with it:", "without it:"))
    )
    assert with_it != without


if __name__ == "__main__":
    for each in EXAMPLES:
        each.with_suffix(".out").write_text(printed(each, ROOT), encoding="utf-8")
        print(f"stored {each.with_suffix('.out').relative_to(ROOT)}")
