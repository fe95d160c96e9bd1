"""Every command explains itself, and running without one says what to do next."""

from __future__ import annotations

import re
import shlex

import pytest
import typer.main

from commonplace.cli import app, main
from e2e.command import command

COMMANDS = sorted(typer.main.get_command(app).commands)
NAMED = ("agents", "check", "diffusion", "digest", "events", "memories", "new", "replay", "resume", "run", "scenarios")


def test_the_commands_are_those_of_the_contract():
    assert set(NAMED) | {"usage", "verify", "why"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_has_help_and_an_example_of_itself(name, capsys):
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    explanation = shown.split("\n\n")[1].strip()
    assert explanation[0].isupper()
    assert explanation.endswith(".")
    assert re.search(rf"Example: commonplace {name}\b", shown)
    assert main([name, "-h"]) == 0
    assert capsys.readouterr().out == shown


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_explained(name):
    bare = [one.name for one in typer.main.get_command(app).commands[name].params if not getattr(one, "help", "")]
    assert bare == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_can_be_typed_as_it_stands(name, capsys):
    """Every option in it exists, and no argument is missing."""
    described = typer.main.get_command(app).commands[name]
    words = shlex.split(re.search(r"Example: commonplace (.*)", described.epilog)[1])
    described.make_context(name, words[1:])


def test_help_lists_every_command(capsys):
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert [name for name in COMMANDS if not re.search(rf"^  {name} ", shown, re.MULTILINE)] == []


def test_without_a_command_it_says_what_to_do_next(tmp_path):
    done = command(cwd=tmp_path)
    for step in ("commonplace run latticeville", "commonplace scenarios", "commonplace new", "commonplace --help"):
        assert step in done.out
    assert done.err == ""
    assert not list(tmp_path.iterdir())


def test_what_it_says_to_do_next_can_be_done(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main([])
    steps = re.findall(r"^  commonplace (\S.*?)  ", capsys.readouterr().out, re.MULTILINE)
    assert "new my-town.yaml" in steps
    for step in steps:
        assert main([*step.split(), *(["--ticks", "1"] if step.startswith("run") else [])]) == 0
    capsys.readouterr()
    assert main(["run", "my-town.yaml", "--ticks", "3"]) == 0


def test_the_shipped_scenarios_are_listed_and_fine(capsys):
    assert main(["scenarios"]) == 0
    names = re.findall(r"^(\S+)", capsys.readouterr().out, re.MULTILINE)
    assert {"latticeville", "plaza"} <= set(names)
    assert main(["check", *names]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{name}: fine" for name in names]
