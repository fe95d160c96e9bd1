"""Where the parts are joined: making a run, going on with one, reading one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from commonplace.engine.run import Run
from commonplace.errors import WrongUse
from commonplace.minds.mind import Mind
from commonplace.minds.offline.mind import OfflineMind
from commonplace.run.file import RunFile, Synchronous
from commonplace.run.manifest import Manifest
from commonplace.run.reading import Reading
from commonplace.run.why import why
from commonplace.scenario.compiling import compiled_from_text, load
from commonplace.scenario.scenario import Scenario
from commonplace.stages import by_name

DEFAULT_SEED = 7


def mind_named(name: str, scenario: Scenario) -> Mind:
    """The mind a name stands for. Raises WrongUse for one there is not."""
    if name == "offline":
        return OfflineMind(scenario.language)
    raise WrongUse(f"there is no mind {name!r}", todo="this version has one mind: offline")


def create_run(
    path: str | Path,
    scenario: str,
    seed: int = DEFAULT_SEED,
    mind: str = "",
    *,
    fidelity: str = "",
    ticks: int = 0,
    force: bool = False,
    synchronous: Synchronous = "NORMAL",
    concurrency: int = 32,
) -> Run:
    """A new run of a shipped scenario or a scenario file, at tick 0.

    `mind` and `fidelity` are the scenario's own when empty; `ticks` is the tick `resume` goes to when it is told
    nothing else. Raises WrongUse for a scenario with mistakes, an unknown mind, or a file that exists.
    """
    loaded = with_fidelity(load(scenario), fidelity)
    name = mind or loaded.part.mind
    manifest = Manifest(
        scenario=loaded.part.name,
        text=loaded.text,
        seed=seed,
        mind=name,
        language=loaded.language,
        fidelity=loaded.cognition.fidelity,
        policy=loaded.cognition.policy,
        stage=loaded.part.stage,
        ticks=ticks,
    )
    return Run.start(
        path,
        manifest,
        loaded,
        stage=by_name(loaded.part.stage),
        mind=mind_named(name, loaded),
        force=force,
        synchronous=synchronous,
        concurrency=concurrency,
    )


def resume_run(path: str | Path, *, concurrency: int = 32) -> Run:
    """An existing run from its last committed tick on, as its manifest says. Raises WrongUse, RunDamaged."""
    file = RunFile.open(path)
    try:
        scenario = scenario_of(file.manifest)
        stage, mind = by_name(file.manifest.stage), mind_named(file.manifest.mind, scenario)
        return Run.go_on(file, scenario, stage=stage, mind=mind, concurrency=concurrency)
    except BaseException:
        file.close()
        raise


class OpenedRun(Reading):
    """A run to look into: ticks, events, memories and reasons."""

    def why(self, event_id: str) -> dict[str, Any]:
        """The reasons of an event, from its committed turn. Raises WrongUse for an unknown id."""
        return why(self, event_id)


def open_run(path: str | Path) -> OpenedRun:
    """A run to look into; nothing in it is changed. Raises WrongUse for something that is no run."""
    return OpenedRun.open(path)


def scenario_of(manifest: Manifest) -> Scenario:
    """The scenario as the run was made from it."""
    return with_fidelity(compiled_from_text(manifest.text, manifest.scenario), manifest.fidelity)


def with_fidelity(scenario: Scenario, fidelity: str) -> Scenario:
    """The scenario with another fidelity; as it is when none is given."""
    if not fidelity or fidelity == scenario.cognition.fidelity:
        return scenario
    part = scenario.part.model_copy(update={"cognition": scenario.cognition.model_copy(update={"fidelity": fidelity})})
    return replace(scenario, part=part)
