"""The offline mind knows English and no town: what a scenario is about stands in the scenario alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import commonplace.minds.offline
from commonplace.languages import listed
from commonplace.scenario.loading import find

PACKAGE = Path(commonplace.minds.offline.__file__).parent
SHIPPED = sorted((PACKAGE.parents[1] / "scenarios").glob("*.yaml"))
EVERYDAY = listed(
    # Places with the preposition English has them with, and what one does there.
    "attic bar bridge clinic flat garden house kitchen park plaza room row shed square walk workshop "
    "drinks gossip reading sleep work "
    # Things of any household and street.
    "band bed bell bench board counter fridge kettle lamp letter light machine money music note oven piano pot radio "
    "ship shift show shutters sign stove "
    "table toolbox tree umbrella window "
    # Weather, hours, calamities and occasions.
    "contest dancing drummer evening festival flood fuses moon night rain singing song stage storm tonight "
    # People, and words that are nouns only sometimes or stand in a name made of common words.
    "big blue caf cat cross father goodbye grey her jobs knees miles notice poet rest rings salt set six tea the this "
    "favours mother neighbour under watch "
    # A prefix, which is also the plural of a name.
    "trans"
)
"""Nouns of shipped scenarios that any English has."""


def _nouns(scenario: dict[str, Any]) -> Iterator[str]:
    """The words of its names, topics and facts."""
    texts: list[str] = []

    def area(part: dict[str, Any]) -> None:
        texts.append(part["name"])
        texts.extend(thing["name"] for thing in part.get("objects", ()))
        for inner in part.get("areas", ()):
            area(inner)

    area(scenario["world"]["root"])
    for character in scenario["characters"]:
        texts += [character["name"], character.get("called", "")]
        texts += [memory.get("topic", "") for memory in character.get("memories", ())]
    for fact in scenario.get("facts", ()):
        texts += [word for group in fact["groups"].get("en", ()) for word in group]
    for text in texts:
        yield from (word for word in re.findall(r"[a-z]+", text.lower()) if len(word) > 2)


def _constants(path: Path) -> Iterator[str]:
    """The strings of a module that are no docstrings, or the lines of a file of grammar."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from (line for line in text.splitlines() if not line.startswith(("#", "==")))
        return
    tree = ast.parse(text)
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            yield node.value


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_no_noun_of_a_shipped_scenario_is_in_the_program(path: Path) -> None:
    scenario = find(path.stem).data
    nouns = {noun for noun in _nouns(scenario) if noun not in EVERYDAY}
    assert nouns or scenario["language"] != "en"
    found = {
        (module.relative_to(PACKAGE).as_posix(), word)
        for module in sorted(PACKAGE.rglob("*"))
        if module.suffix in {".py", ".txt"}
        for text in _constants(module)
        for word in re.findall(r"[a-z]+", text.lower())
        if word not in EVERYDAY and (word in nouns or word.removesuffix("s") in nouns)
    }
    assert not found
