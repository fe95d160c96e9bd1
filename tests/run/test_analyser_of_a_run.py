"""A scenario chooses the analyser of its run, and the run holds on to it and its versions."""

from __future__ import annotations

import asyncio
from importlib.metadata import PackageNotFoundError
from importlib.resources import files

import pytest

import commonplace
from commonplace.cli import main
from commonplace.errors import UsageError, install
from commonplace.memory import kiwi
from commonplace.memory.analyser import Analyser, made_analyser
from commonplace.run.manifest import ANALYSER_VERSIONS


class Words(Analyser):
    """Kiwi's place is taken by rules: loading Kiwi takes seconds."""

    kind = "kiwi"


@pytest.fixture
def installed(monkeypatch):
    """Which version of Kiwi there is; None for none."""
    there = {"version": "0.23.1"}

    def version(package):
        if there["version"] is None:
            raise PackageNotFoundError(package)
        return there["version"]

    monkeypatch.setattr(kiwi, "version", version)
    monkeypatch.setattr(kiwi, "KiwiAnalyser", Words)
    made_analyser.cache_clear()
    yield there
    made_analyser.cache_clear()


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "town.yaml"
    text = (files("commonplace") / "scenarios" / "plaza.yaml").read_text(encoding="utf-8")
    path.write_text(text.replace("cognition:\n", "cognition:\n  analyser: kiwi\n  policy: lexical\n"), encoding="utf-8")
    return path


def play(run: commonplace.Run, count: int) -> None:
    async def ticks() -> None:
        async for _ in run.play(count):
            pass

    with run:
        asyncio.run(ticks())


def test_a_run_goes_on_with_the_analyser_it_was_made_with(installed, scenario, tmp_path):
    path, whole = tmp_path / "a.run", tmp_path / "whole.run"
    play(commonplace.create_run(path, scenario), 3)
    play(commonplace.resume_run(path), 3)
    play(commonplace.create_run(whole, scenario), 6)
    with commonplace.open_run(path) as reading, commonplace.open_run(whole) as other:
        assert reading.manifest.analyser == "kiwi"
        assert reading.manifest.settings[ANALYSER_VERSIONS] == "0.23.1-0.23.1"
        assert reading.digest() == other.digest()
        assert isinstance(reading.stream_at("ines").table.analyser, Words)
    assert main(["verify", str(path)]) == 0


@pytest.mark.parametrize(
    ("there", "what", "hint"),
    [
        (
            "0.24.0",
            "0.23.1-0.23.1; 0.24.0-0.24.0 is installed",
            "pip install kiwipiepy==0.23.1 kiwipiepy_model==0.23.1",
        ),
        (None, "the analyser kiwi needs kiwipiepy", install("korean")),
    ],
)
def test_it_does_not_go_on_with_another_version_or_without(there, what, hint, installed, scenario, tmp_path, capsys):
    path = tmp_path / "a.run"
    play(commonplace.create_run(path, scenario), 1)
    installed["version"] = there
    before = path.read_bytes()
    for command in (["resume", str(path), "--ticks", "1", "--view", "none"], ["verify", str(path)]):
        assert main(command) == 2
        said = capsys.readouterr().err
        assert what in said and hint in said
    assert path.read_bytes() == before


def test_no_run_is_made_where_the_package_is_missing(installed, scenario, tmp_path):
    installed["version"] = None
    with pytest.raises(UsageError, match="needs kiwipiepy"):
        commonplace.create_run(tmp_path / "a.run", scenario)
    assert not (tmp_path / "a.run").exists()


def test_other_runs_say_nothing_of_versions(tmp_path):
    commonplace.create_run(tmp_path / "a.run", "plaza").close()
    with commonplace.open_run(tmp_path / "a.run") as reading:
        assert (reading.manifest.analyser, ANALYSER_VERSIONS in reading.manifest.settings) == ("plain", False)


@pytest.mark.slow
def test_a_korean_town_with_kiwi_itself(scenario, tmp_path):
    pytest.importorskip("kiwipiepy", reason="kiwipiepy is not installed")
    made_analyser.cache_clear()
    path = tmp_path / "a.run"
    text = scenario.read_text(encoding="utf-8").replace("language: en", "language: ko")
    scenario.write_text(text.replace("sleeping", "잠을 잔다"), encoding="utf-8")
    play(commonplace.create_run(path, scenario), 5)
    play(commonplace.resume_run(path), 5)
    assert main(["verify", str(path)]) == 0
