"""Every command explains itself, quickly, and running without one says what to do next."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys

import pytest
import typer.main

from commonplace.cli import app, main
from commonplace.registry import COMMANDS
from e2e.command import environment

GROUP = typer.main.get_command(app)
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
    bare = [one.name for one in GROUP.get_command(None, name).params if not getattr(one, "help", "")]
    assert bare == []


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_can_be_typed_as_it_stands(name, capsys):
    """Every option in it exists, and no argument is missing."""
    described = GROUP.get_command(None, name)
    words = shlex.split(re.search(r"Example: commonplace (.*)", described.epilog)[1])
    described.make_context(name, words[1:])


@pytest.mark.parametrize("name", COMMANDS)
def test_who_types_it_wrong_is_shown_the_example(name, capsys):
    assert main([name, "--no-such-option"]) == 2
    shown = capsys.readouterr().err
    assert "--no-such-option" in shown
    assert shown.endswith(f"Example: commonplace {COMMANDS[name].example}\n")


def test_help_lists_every_command_on_a_line_of_its_own(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, entry in COMMANDS.items():
        assert re.search(rf"^  {name} +{re.escape(entry.summary)}$", shown, re.MULTILINE)


def imported(*arguments: str) -> set[str]:
    """The modules that a command imports, in a process of its own."""
    program = (
        "import contextlib, io, json, sys; from commonplace.cli import main\n"
        f"with contextlib.redirect_stdout(io.StringIO()): status = main({list(arguments)!r})\n"
        "print(json.dumps(sorted(sys.modules))); sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment(), check=True, capture_output=True, encoding="utf-8"
    )
    return set(json.loads(done.stdout))


HEAVY = {"numpy", "pydantic", "textual", "openai", "rich", "asyncio"}


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_imports_no_command_and_nothing_heavy(option):
    modules = imported(option)
    assert {name for name in modules if name.startswith("commonplace")} == {
        "commonplace",
        "commonplace.cli",
        "commonplace.cli.settings",
        "commonplace.errors",
        "commonplace.registry",
        "commonplace.text",
    }
    assert modules & HEAVY == set()


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (("--version",), {"numpy", "pydantic", "textual", "openai", "rich"}),
        (("scenarios",), {"numpy", "textual", "openai", "commonplace.engine"}),
        (("ledger", "--help"), {"numpy", "textual", "openai", "rich"}),
        (("events", "--help"), {"textual", "openai", "commonplace.engine", "commonplace.minds.offline"}),
        (("memories", "--help"), {"textual", "openai", "commonplace.engine", "commonplace.minds.offline"}),
        (("run", "--help"), {"textual", "openai"}),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_imports_only_what_it_needs(arguments, absent):
    assert imported(*arguments) & absent == set()


def test_the_version_is_that_of_the_package(capsys):
    assert main(["--version"]) == 0
    assert re.fullmatch(r"commonplace \d+(\.\w+)*\n", capsys.readouterr().out)


def test_a_misspelt_command_is_told_the_nearest(capsys):
    assert main(["verfy", "x.run"]) == 2
    assert "did you mean verify?" in capsys.readouterr().err


def test_without_a_command_it_says_what_to_do_next(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main([]) == 0
    said = capsys.readouterr()
    for step in ("commonplace run latticeville", "commonplace scenarios", "commonplace new", "commonplace --help"):
        assert step in said.out
    assert said.err == ""
    assert not list(tmp_path.iterdir())


def test_what_it_says_to_do_next_can_be_done(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main([])
    steps = re.findall(r"^  commonplace (\S.*?)  ", capsys.readouterr().out, re.MULTILINE)
    assert "new my-town.yaml" in steps
    for step in steps:
        if step.startswith("serve"):  # until it is interrupted
            continue
        assert main([*step.split(), *(["--ticks", "1"] if step.startswith("run") else [])]) == 0
    capsys.readouterr()
    assert main(["run", "my-town.yaml", "--ticks", "3"]) == 0


def test_the_shipped_scenarios_are_listed_and_fine(capsys):
    assert main(["scenarios"]) == 0
    names = re.findall(r"^(\S+)", capsys.readouterr().out, re.MULTILINE)
    assert {"latticeville", "plaza"} <= set(names)
    assert main(["check", *names]) == 0
    assert capsys.readouterr().out.splitlines() == [f"{name}: fine" for name in names]


def test_without_a_command_a_link_that_leads_nowhere_is_passed_over(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "gone.run").symlink_to(tmp_path / "moved.run")
    assert main([]) == 0
    assert "gone.run" not in capsys.readouterr().out
    (tmp_path / "runs" / "here.run").touch()
    assert main([]) == 0
    assert "here.run" in capsys.readouterr().out
