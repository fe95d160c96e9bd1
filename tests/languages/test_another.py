"""A language is a folder: one that is put into the package speaks, and says in English what it lacks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE.parents[1] / "src" / "commonplace"
TICKS = 60
A_MORNING = f"""
import json, sys
from commonplace import languages
from commonplace.cli import main
scenario = sys.argv[1]
assert languages.LANGUAGES == ("en", "eo", "ko")
assert languages.phrases("eo", "views")["people"] == "People"
for command in (
    ["check", scenario],
    ["run", scenario, "-o", "placo.run", "--ticks", "{TICKS}"],
    ["verify", "placo.run"],
    ["memories", "placo.run", "ana", "--json"],
    ["events", "placo.run", "--type", "SAY", "--json"],
):
    assert main(command) == 0, command
"""


@pytest.fixture(scope="module")
def morning(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What `commonplace` says of a morning in Esperanto, line by line."""
    folder = tmp_path_factory.mktemp("another")
    shutil.copytree(PACKAGE, folder / "commonplace", ignore=shutil.ignore_patterns("web", "scenarios"))
    shutil.copytree(HERE / "eo", folder / "commonplace" / "languages" / "eo")
    program = [sys.executable, "-c", A_MORNING, str(HERE / "placo.yaml")]
    environment = os.environ | {"PYTHONPATH": str(folder), "NO_COLOR": "1"}
    done = subprocess.run(program, env=environment, cwd=folder, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_the_screen_is_in_the_language(morning: list[str]) -> None:
    assert any(line.startswith("06:00 ── sabato, klare") for line in morning)
    assert any("Ana Lumo uzas la puton" in line for line in morning)


def test_memories_are_sentences_of_the_language(morning: list[str]) -> None:
    texts = [json.loads(line)["text"] for line in morning if line.startswith("{") and '"text"' in line]
    assert "Ana Lumo iris al Placo." in texts
    of_people = [text.partition("“")[0].split() for text in texts if text.startswith(("Ana Lumo ", "Jano Rivero "))]
    known = "planas intencas estis estas iris diris diras envenas foriras ekparolas"
    assert {words[2] for words in of_people} <= set(known.split())


def test_what_is_said_is_in_the_language_where_it_has_templates(morning: list[str]) -> None:
    said = [json.loads(line)["utterance"] for line in morning if '"utterance"' in line]
    assert any(line.startswith(("Jam mateno", "Bonan", "Saluton")) for line in said), said
    assert any(" mi estos" in line for line in said), said
