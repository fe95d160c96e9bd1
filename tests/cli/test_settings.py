"""What is set once: variables, a file of settings, and what a shell completes."""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.api import open_run
from commonplace.cli.settings import SETTINGS
from e2e.command import command, environment


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of the file; what it sets is unset afterwards."""
    file = tmp_path / "settings.toml"
    monkeypatch.setenv("COMMONPLACE_SETTINGS", str(file))
    for variable in SETTINGS.values():
        monkeypatch.setenv(variable, "")
        monkeypatch.delenv(variable)
    return file


def made(folder: Path, *options: object) -> Path:
    """The only run in a folder, after `run plaza` without a path."""
    command("run", "plaza", "--ticks", 0, *options)
    (run,) = folder.glob("*.run")
    return run


def test_the_file_names_the_folder_of_runs_and_the_mind(settings, tmp_path):
    other = made(tmp_path, "-o", tmp_path / "other.run")
    folder = tmp_path / "towns"
    settings.write_text(f'runs = "{folder.as_posix()}"\nmind = ["journal:{other.as_posix()}", "talk=offline"]\n')
    with open_run(made(folder)) as run:
        assert run.manifest.mind.startswith("journal:")


def test_the_environment_comes_before_the_file_and_what_is_typed_before_both(settings, tmp_path, monkeypatch):
    settings.write_text(f'runs = "{(tmp_path / "file").as_posix()}"\nview = "json"\n')
    monkeypatch.setenv("COMMONPLACE_RUNS", str(tmp_path / "environment"))
    assert '"tick"' in command("run", "plaza", "--ticks", 1).out
    assert command("run", "plaza", "--ticks", 0, "--view", "none", "--force").lines[-1].startswith("tick 0  digest")
    assert [path.parent.name for path in tmp_path.glob("*/*.run")] == ["environment"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("minds = 'offline'", "there is no setting 'minds'"),
        ("mind = true", "the setting mind is True"),
        ("mind = [1]", "expected a text, a number or a list of texts"),
        ("mind = ", "the settings cannot be read"),
        ("api_key = 'x'", "there is no setting 'api_key'"),
    ],
)
def test_a_mistake_in_the_file_is_told_with_its_place(settings, text, said):
    settings.write_text(text)
    done = command("scenarios", status=2)
    assert said in done.err
    assert str(settings) in done.err


def test_without_a_file_there_are_no_settings(settings):
    assert "latticeville" in command("scenarios").out


def completed(*words: str) -> list[str]:
    """What bash is told to complete the last word to."""
    variables = {
        "_COMMONPLACE_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(("commonplace", *words)),
        "COMP_CWORD": str(len(words)),
    }
    return command(env=environment(**variables)).lines


def test_a_shell_completes_commands_options_and_scenarios():
    assert completed("res") == ["resume", "rescue"]
    assert completed("run", "latt") == ["latticeville"]
    assert "--view" in completed("run", "--v")
    script = command(env=environment(_COMMONPLACE_COMPLETE="source_bash")).out
    assert "_COMMONPLACE_COMPLETE=complete_bash" in script
    assert completed("events", "mon") == completed("ledger", "show", "mon") == [""]
    assert "complete -o default" in script, "a shell completes files by itself"
