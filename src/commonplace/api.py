"""Where the parts are joined: making a run, going on with one, reading one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from commonplace.engine.other_journal import RecordedMind
from commonplace.engine.run import Run
from commonplace.errors import UsageError
from commonplace.minds.chat.servers import is_server
from commonplace.minds.mind import Mind
from commonplace.minds.offline.mind import OfflineMind
from commonplace.run.file import RunFile
from commonplace.run.manifest import Manifest
from commonplace.run.reading import Reading
from commonplace.run.why import why
from commonplace.scenario.compiling import compiled_from_text, load
from commonplace.scenario.scenario import Scenario
from commonplace.sqlite import Synchronous
from commonplace.stages import by_name

if TYPE_CHECKING:
    from commonplace.minds.prompts.book import PromptBook

DEFAULT_SEED = 7
TIMEOUT = 120.0
"""Seconds a model server has for an answer."""
JOURNAL = "journal:"
MINDS = (
    "a mind is `offline`, `journal:RUN`, SERVER:MODEL (`ollama:qwen3:8b`, `lmstudio:…`, `llamacpp:`, `vllm:…`, "
    "`openai:gpt-5-mini`), or the URL of a server that speaks the OpenAI protocol (`http://127.0.0.1:8000/v1#MODEL`)"
)
OnOutage = Literal["pause", "fallback"]


def mind_named(
    name: str,
    scenario: Scenario,
    *,
    timeout: float = TIMEOUT,
    on_outage: OnOutage = "pause",
    templates: Mapping[str, str] | None = None,
) -> Mind:
    """The mind a name stands for. Raises UsageError for one there is not.

    `timeout` (seconds for an answer), `on_outage` (what to do when a server stays away) and `templates` (prompts in
    place of the shipped ones) are for model servers. None of them is asked before the first question.
    """
    if name == "offline":
        return OfflineMind(scenario.language)
    if name.startswith(JOURNAL):
        return RecordedMind.of(name, name.removeprefix(JOURNAL))
    if is_server(name):
        from commonplace.minds.chat.chat_mind import ChatMind  # noqa: PLC0415 – a client nobody else needs to wait for

        return ChatMind(name, book(scenario, templates), timeout=timeout, on_outage=on_outage)
    raise UsageError(f"there is no mind {name!r}", hint=MINDS)


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
    timeout: float = TIMEOUT,
    on_outage: OnOutage = "pause",
) -> Run:
    """A new run of a shipped scenario or a scenario file, at tick 0.

    `mind` and `fidelity` are the scenario's own when empty; `ticks` is the tick `resume` goes to when it is told
    nothing else; `timeout` and `on_outage` as of `mind_named`. Raises UsageError for a scenario with mistakes, an
    unknown mind, or a file that exists.
    """
    loaded, manifest = prepared(scenario, seed, mind, fidelity=fidelity, ticks=ticks)
    _refuse_itself(manifest.mind, path)
    return Run.start(
        path,
        manifest,
        loaded,
        stage=by_name(loaded.part.stage),
        mind=mind_of(manifest, loaded, timeout=timeout, on_outage=on_outage),
        force=force,
        synchronous=synchronous,
        concurrency=concurrency,
    )


def prepared(
    scenario: str, seed: int = DEFAULT_SEED, mind: str = "", *, fidelity: str = "", ticks: int = 0
) -> tuple[Scenario, Manifest]:
    """A scenario with everything resolved, and the manifest that says so. Arguments and errors as of `create_run`."""
    loaded = resolved(load(scenario), fidelity=fidelity)
    name = mind or loaded.part.mind
    loaded = resolved(loaded, requests=request_shape(name, loaded))
    settings: dict[str, Any] = {"requests": loaded.cognition.requests}
    if loaded.part.prompts:
        settings["prompts"] = dict(_overrides(Path(scenario).expanduser().parent / loaded.part.prompts))
    manifest = Manifest(
        scenario=loaded.part.name,
        text=loaded.text,
        seed=seed,
        mind=name,
        language=loaded.language,
        fidelity=loaded.cognition.fidelity,
        embedder=loaded.embedder.name,
        policy=loaded.cognition.policy,
        stage=loaded.part.stage,
        ticks=ticks,
        settings=settings,
    )
    return loaded, manifest


def resume_run(
    path: str | Path, *, concurrency: int = 32, timeout: float = TIMEOUT, on_outage: OnOutage = "pause"
) -> Run:
    """An existing run from its last committed tick on, as its manifest says. Raises UsageError, RunDamaged."""
    file = RunFile.open(path)
    try:
        scenario = scenario_of(file.manifest)
        mind = mind_of(file.manifest, scenario, timeout=timeout, on_outage=on_outage)
        return Run.resume(file, scenario, stage=by_name(file.manifest.stage), mind=mind, concurrency=concurrency)
    except BaseException:
        file.close()
        raise


def mind_of(manifest: Manifest, scenario: Scenario, *, timeout: float = TIMEOUT, on_outage: OnOutage = "pause") -> Mind:
    """The mind a run was made with."""
    return mind_named(manifest.mind, scenario, timeout=timeout, on_outage=on_outage, templates=templates_of(manifest))


def templates_of(manifest: Manifest) -> Mapping[str, str]:
    """A scenario's own prompts, as they were when the run was made: file name → template."""
    return (manifest.settings or {}).get("prompts", {})


def book(scenario: Scenario, templates: Mapping[str, str] | None = None) -> PromptBook:
    """The prompts of a scenario."""
    from commonplace.minds.prompts.book import PromptBook  # noqa: PLC0415 – templates only where they are filled in
    from commonplace.minds.prompts.prompt import setting_of  # noqa: PLC0415

    return PromptBook(scenario.language, setting_of(scenario), templates or {})


def _overrides(folder: Path) -> Mapping[str, str]:
    from commonplace.minds.prompts.templates import load_overrides  # noqa: PLC0415 – templates only where there are any

    return load_overrides(folder)


def request_shape(mind: str, scenario: Scenario) -> str:
    """`single` or `merged`: as the scenario has it, as the run whose answers are used had it, or as fits the mind."""
    if scenario.cognition.requests != "auto":
        return scenario.cognition.requests
    if mind.startswith(JOURNAL):
        with Reading.open(mind.removeprefix(JOURNAL)) as source:
            return scenario_of(source.manifest).cognition.requests
    return "merged" if is_server(mind) else "single"


def _refuse_itself(mind: str, path: str | Path) -> None:
    if mind.startswith(JOURNAL) and Path(mind.removeprefix(JOURNAL)).resolve() == Path(path).resolve():
        raise UsageError(
            "a run cannot be made from its own answers", where=str(path), hint="give another name for it with -o"
        )


class OpenedRun(Reading):
    """A run to look into: ticks, events, memories and reasons."""

    def why(self, event_id: str) -> dict[str, Any]:
        """The reasons of an event, from its committed turn. Raises UsageError for an unknown id."""
        return why(self, event_id)


def open_run(path: str | Path) -> OpenedRun:
    """A run to look into; nothing in it is changed. Raises UsageError for something that is no run."""
    return OpenedRun.open(path)


def scenario_of(manifest: Manifest) -> Scenario:
    """The scenario as the run was made from it."""
    requests = (manifest.settings or {}).get("requests", "single")
    loaded = compiled_from_text(manifest.text, manifest.scenario)
    return resolved(loaded, fidelity=manifest.fidelity, requests=requests)


def resolved(scenario: Scenario, **settings: str) -> Scenario:
    """The scenario with some settings of cognition put in place of its own; those that are empty stay."""
    cognition = scenario.cognition.model_copy(update={name: value for name, value in settings.items() if value})
    if cognition == scenario.cognition:
        return scenario
    return replace(scenario, part=scenario.part.model_copy(update={"cognition": cognition}))
