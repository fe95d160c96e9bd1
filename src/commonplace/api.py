"""Where the parts are joined: `create_run`, `resume_run`, `open_run`."""

from __future__ import annotations

from collections.abc import Callable, Container, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import ValidationError

from commonplace import registry
from commonplace.engine.changes import with_queued
from commonplace.engine.driver import RecordedMind
from commonplace.engine.run import Run
from commonplace.engine.stage import Keeper, Ratings, Stage
from commonplace.engine.workers import Cluster
from commonplace.errors import RunDamaged, UsageError, command
from commonplace.memory.analyser import Analyser
from commonplace.memory.kiwi import versions
from commonplace.minds.mind import Mind
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.several import (
    DEFAULT,
    GROUPS,
    OF_A_REACTION,
    SeveralMinds,
    as_json,
    by_task,
    chosen,
    covered,
    in_small_form,
)
from commonplace.paths import checked_folder
from commonplace.run.manifest import (
    ANALYSER_VERSIONS,
    APART,
    JOURNAL,
    MIND_OBJECT,
    OFFLINE,
    OWN_MINDS,
    POLICY,
    TASK_MINDS,
    Manifest,
    minds_of,
    own_minds,
    templates_of,
)
from commonplace.run.minds import mind_by_question, task_minds
from commonplace.run.opening import open_store
from commonplace.run.place import Address, Place, is_same, place
from commonplace.run.reading import Reading
from commonplace.run.why import why
from commonplace.scenario.compiling import compiled_from_text, in_session, load
from commonplace.scenario.loading import nearest
from commonplace.scenario.model import MindPart
from commonplace.scenario.scenario import Scenario
from commonplace.servers import LOCAL, SERVERS, is_server, request_faults, server_named
from commonplace.sqlite import Synchronous
from commonplace.stages import by_name
from commonplace.text import clean, shortened, without_password
from commonplace.trust import may_have_key, mind_named_by_run, named_by_run, named_by_scenario, remember, settle

if TYPE_CHECKING:
    from commonplace.analysis.tables import Table
    from commonplace.minds.prompts.book import PromptBook
    from commonplace.talk import Talk

DEFAULT_SEED = 7
NO_WORKERS = (0, "", "0")
"""All characters in this process."""
TIMEOUT = 120.0
"""Seconds a model server has for an answer."""
MINDS = (
    "a mind is `offline`, `journal:RUN`, SERVER:MODEL (`ollama:qwen3:8b`, `lmstudio:…`, `llamacpp:`, `vllm:…`, "
    "`openai:gpt-5-mini`), `local:FILE.gguf`, or the URL of a server that speaks the OpenAI protocol "
    "(`http://127.0.0.1:8000/v1#MODEL`)"
)
OnOutage = Literal["pause", "fallback"]


def create_run(
    path: str | Place,
    scenario: str | Path,
    seed: int = DEFAULT_SEED,
    mind: str | Mind | Minds = "",
    *,
    fidelity: str = "",
    policy: str = "",
    ticks: int = 0,
    force: bool = False,
    synchronous: Synchronous = "NORMAL",
    concurrency: int = 32,
    timeout: float = TIMEOUT,
    on_outage: OnOutage = "pause",
    trust: bool = False,
    prompt: str = "",
    memory: str | Path = "",
    cache: str | Path = "",
    workers: int | str = 0,
) -> Run:
    """Makes a new run of a shipped scenario or a scenario file, at tick 0.

    `mind` is a name (see `mind_named`) or a Mind of your own, whose `name` goes into the run; a run made with an
    object needs it again in `resume_run`. It may also be a mapping: `{"default": "ollama:qwen3:8b", "talk": {"mind":
    "openai:gpt-5-mini", "temperature": 0.9}}` – a task or group (docs/minds.md), and the name of its mind or its
    settings. `mind`, `fidelity` and `policy` (how memories are retrieved) are the scenario's own when empty. `ticks` is
    the tick that `resume` goes to by default. `timeout`, `on_outage` and `cache` are for model servers, see
    `mind_named`. `trust`: the scenario's own stage, mind and prompts may be used (docs/trust.md); what you name here
    needs no word.

    `workers`: how many processes have the characters, or the address of a Ray cluster, `ray://HOST:PORT`, whose CPUs
    have them; 0 for this process. The history is the same (docs/workers.md).

    `prompt` and `memory` are for a panel: what it is asked, the scenario's own question if empty, and the folder of its
    memories and ledger, `outputs` beside the run if empty.

    Raises UsageError for a scenario with mistakes, an unknown mind, what is not trusted, or a file that exists (unless
    `force`).
    """
    loaded, manifest = prepared(scenario, seed, mind, fidelity=fidelity, policy=policy, ticks=ticks, trust=trust)
    for name in minds_of(manifest):
        if name.startswith(JOURNAL) and is_same(place(name.removeprefix(JOURNAL)), place(path)):
            hint = "give another output file with -o"
            raise UsageError("a run cannot be made from its own answers", where=str(path), hint=hint)
    stage = by_name(loaded.part.stage)
    if stage.begin is not None:
        session = stage.begin(loaded, prompt, memory_folder(path, memory), str(memory))
        manifest = replace(manifest, settings={**(manifest.settings or {}), "session": session})
        loaded = scenario_of(manifest)
        length = stage.length(loaded) if stage.length else ticks
        manifest = replace(manifest, ticks=min(ticks or length, length))
    elif prompt or memory:
        option = "--prompt" if prompt else "--memory"
        raise UsageError(f"{option} is for panels; the stage of {loaded.part.name} is {loaded.part.stage}")
    keyed = _keyed(manifest, named_minds(mind), trust=trust)
    if isinstance(mind, str | Mapping):
        mind = mind_of(manifest, loaded, timeout=timeout, on_outage=on_outage, keyed=keyed, cache=cache)
    with _workers(workers, manifest, mind, path) as cluster:
        run = Run.start(
            path,
            manifest,
            loaded,
            stage=stage,
            mind=mind,
            force=force,
            synchronous=synchronous,
            concurrency=concurrency,
            keep=_keep(stage, memory_folder(path, memory)),
            cluster=cluster,
        )
    remember(one for one in named_by_run(manifest) if one.kind != "mind" or keyed(one.value))
    return run


def resume_run(
    path: str | Place,
    mind: str | Mind | Minds = "",
    *,
    concurrency: int = 32,
    timeout: float = TIMEOUT,
    on_outage: OnOutage = "pause",
    trust: bool = False,
    memory: str | Path = "",
    cache: str | Path = "",
    workers: int | str = 0,
) -> Run:
    """Continues an existing run after its last committed tick.

    `mind` is needed for a run that was made with a Mind object; otherwise the run knows its mind by name. `trust`: the
    stage, mind and prompts that the run names may be used, although somebody else made it (docs/trust.md). `memory`:
    the folder of a panel, given again if it was given when the run was made: a file does not say where to write.
    `workers`: see `create_run`; it may be another number than before. Raises
    UsageError for another mind than the run's, what is not trusted, or a run that is in use; RunDamaged for a damaged
    file.
    """
    with Reading.open(path) as reading:  # what is refused here leaves a file of an older format as it is
        manifest, last = reading.manifest, reading.last_tick
    manifest.refuse_other_rules(str(path))
    named = named_minds(mind)
    for group, part in named.items():
        _refuse_other_mind(manifest, group, part.mind, path, last)
    settle(named_by_run(manifest, _names(named)), path, trust=trust)
    stage = by_name(manifest.stage)
    keep = _keep(stage, folder_of(manifest, path, memory))
    file = open_store(path)
    try:
        remember(one for one in mind_named_by_run(manifest) if one.value in _names(named) and not one.content)
        scenario = scenario_of(manifest)
        if isinstance(mind, str | Mapping):
            keyed = _keyed(manifest, named, trust=trust)
            known = with_queued(file.reading.scenario, file.queued())  # whom its prompts may name
            mind = mind_of(manifest, known, timeout=timeout, on_outage=on_outage, where=path, keyed=keyed, cache=cache)
        with _workers(workers, manifest, mind, path) as cluster:
            return Run.resume(
                file, scenario, stage=stage, mind=mind, concurrency=concurrency, keep=keep, cluster=cluster
            )
    except BaseException as error:
        file.__exit__(type(error), error, error.__traceback__)
        raise


@contextmanager
def _workers(workers: int | str, manifest: Manifest, mind: Mind, where: str | Place) -> Generator[Cluster | None]:
    """Gives what starts the workers of a run; None without any. They are ended if the run does not begin."""
    if workers in NO_WORKERS:
        yield None
        return
    make: Callable[..., Cluster] = registry.found(registry.CLUSTERS["ray"])
    cluster = make(workers, manifest, place(where), answers=isinstance(mind, OfflineMind))
    try:
        yield cluster
    except BaseException:
        cluster.close()
        raise


def _refuse_other_mind(manifest: Manifest, group: str, name: str, path: str | Place, last: int) -> None:
    """Raises UsageError where a run is to be continued with another mind than it was made with."""
    asked = mind_by_question(manifest)
    made_with = [manifest.mind] if group == DEFAULT else list(dict.fromkeys(asked("", task) for task in covered(group)))
    if [name] == made_with:
        return
    minds = ", ".join(map(repr, made_with))
    what = f"the run was made with the mind {minds}{f' for {group}' if group != DEFAULT else ''}, not {name!r}"
    fork = command("fork", path, "--at", last)
    raise UsageError(what, where=str(path), hint=f"a fork can have another mind: {fork} -o NEW --mind NAME")


async def inject(path: str | Place, text: str, mind: str | Mind | Minds = "", *, trust: bool = False) -> str:
    """Queues a god-mode sentence for the next tick of a run; returns what it will do. Takes the arguments of
    `resume_run`."""
    with resume_run(path, mind, trust=trust) as run:
        event = await run.preview(text)
        run.submit(event)
        return run.described(event)


def memory_folder(path: str | Place, memory: str | Path = "") -> Path:
    """Returns the folder of a panel's memories and ledger: the one given, or `outputs` beside the run.

    For a run in a database it is in the current folder.
    """
    if memory:
        return Path(memory).expanduser()
    where = place(path)
    return Path("outputs") if isinstance(where, Address) else where.parent / "outputs"


def folder_of(manifest: Manifest, path: str | Place, memory: str | Path = "") -> Path:
    """Returns the same for a run that exists. Raises UsageError if it was made with a folder that is not given
    again."""
    named = (manifest.settings or {}).get("session", {}).get("folder", "")
    if named and not memory:
        named = shortened(clean(named), 200)
        what, hint = f"the panel keeps its memories in {named}", f"a file does not decide that; add --memory {named}"
        raise UsageError(what, where=str(path), hint=hint)
    return memory_folder(path, memory)


def ratings_of(reading: Reading, memory: str | Path = "") -> Ratings:
    """Returns a person's stars for what a run has kept, to read and to set. `memory` as of `resume_run`.

    Raises UsageError for a run that keeps nothing to rate, or that was made with a folder that is not given again.
    """
    manifest = reading.manifest
    if "session" in (manifest.settings or {}) and manifest.stage in registry.STAGES:
        make = by_name(manifest.stage).ratings
        if make is not None:
            return make(reading, folder_of(manifest, reading.path, memory))
    raise UsageError("not a panel", where=str(reading.path), hint="only the answers of a panel can be rated")


def _keep(stage: Stage, folder: Path) -> Keeper | None:
    return stage.keep(checked_folder(folder)) if stage.keep is not None else None


class OpenedRun(Reading):
    """A run to read: ticks, events, memories and reasons, and how it differs from another."""

    def why(self, event_id: str) -> dict[str, Any]:
        """Returns the reasons for an event, from its committed turn. Raises UsageError for an unknown id."""
        return why(self, event_id)

    def talk(
        self, agent: str, *, at: int | str | None = None, mind: str | Mind = "", keep: bool = True, trust: bool = False
    ) -> Talk:
        """Begins a talk with a character as it was at a tick or ISO simulated time, the last tick if None.

        `mind`: who answers; the run's own if empty. `keep`: False writes nothing beside the run. `trust`: use the mind
        and prompts that the run's file names. Raises UsageError for an unknown character, tick or mind.
        """
        from commonplace.talk import Talk  # noqa: PLC0415 – start-up speed

        return Talk(self, agent, mind_to_ask(self, mind, trust=trust), at=at, keep=keep)

    def table(self, name: str) -> Table:
        """Returns `events`, `memories`, `agents` (tick by tick), `ticks` or `usage` as columns, ready for a data
        frame."""
        from commonplace.analysis.tables import table  # noqa: PLC0415 – start-up speed

        return table(self, name)

    def diff(self, other: Reading, at: int | str | None = None) -> dict[str, Any]:
        """Returns where this run and another one part, and what differs since. The keys: `parts.workbench.diff`."""
        return registry.found(registry.TOOLS["diff"])(self, other, at)


def open_run(path: str | Place) -> OpenedRun:
    """Opens a run to read; nothing in it is changed. Raises UsageError for a missing file or one that is not a run."""
    return OpenedRun.open(path)


# ── what a run is made from ──────────────────────────────────────────────────────────────────────────────────────────


def prepared(
    scenario: str | Path,
    seed: int = DEFAULT_SEED,
    mind: str | Mind | Minds = "",
    *,
    fidelity: str = "",
    policy: str = "",
    ticks: int = 0,
    trust: bool = False,
    prompts: bool = False,
) -> tuple[Scenario, Manifest]:
    """Returns a scenario with everything resolved, and the manifest that records it. For arguments and errors see
    `create_run`.

    `prompts`: they will be used whoever answers.
    """
    loaded = resolved(load(str(scenario)), fidelity=fidelity, policy=policy)
    named = named_minds(mind)
    settle(named_by_scenario(loaded, named, prompts=prompts), scenario, trust=trust)
    name, tasks = chosen_minds(loaded, named)
    tasks = formed(name, tasks)
    loaded = resolved(loaded, requests=request_shape(name, loaded))
    settings: dict[str, Any] = {"requests": loaded.cognition.requests}
    if policy:
        settings[POLICY] = loaded.policy.name
    if not isinstance(mind, str | Mapping):
        settings[MIND_OBJECT] = True
    elif tasks:
        settings[TASK_MINDS] = as_json(tasks)
        apart = _apart(name, tasks, loaded)
        if apart:
            settings[APART], loaded = list(apart), resolved(loaded, apart=apart)
    if own := own_named(loaded, name, named):
        settings[OWN_MINDS] = own
    if loaded.part.prompts:
        from commonplace.minds.prompts.templates import load_overrides  # noqa: PLC0415 – only where there are any

        settings["prompts"] = dict(load_overrides(loaded.part.prompts, beside=Path(scenario).expanduser().parent))
    if loaded.cognition.analyser != Analyser.kind:
        settings[ANALYSER_VERSIONS] = versions()
    manifest = Manifest(
        scenario=loaded.part.name,
        text=loaded.text,
        seed=seed,
        mind=name,
        language=loaded.language,
        fidelity=loaded.cognition.fidelity,
        embedder=loaded.embedder.name,
        analyser=loaded.cognition.analyser,
        policy=loaded.cognition.policy,
        stage=loaded.part.stage,
        ticks=ticks,
        settings=settings,
    )
    return loaded, manifest


def scenario_of(manifest: Manifest) -> Scenario:
    """Returns the scenario as the run was made from it."""
    settings = manifest.settings or {}
    requests = settings.get("requests", "single")
    try:
        loaded = in_session(compiled_from_text(manifest.text, manifest.scenario), settings.get("session"))
    except ValueError as error:
        raise RunDamaged("the session of the panel cannot be read", where=manifest.scenario) from error
    chosen = {"fidelity": manifest.fidelity, "policy": settings.get(POLICY, ""), "requests": requests}
    return resolved(loaded, **chosen, apart=tuple(settings.get(APART, ())))


def resolved(scenario: Scenario, **settings: str | tuple[str, ...]) -> Scenario:
    """Replaces settings of the scenario's cognition; empty ones are left as they are."""
    cognition = scenario.cognition.model_copy(update={name: value for name, value in settings.items() if value})
    if cognition == scenario.cognition:
        return scenario
    return replace(scenario, part=scenario.part.model_copy(update={"cognition": cognition}))


def request_shape(mind: str, scenario: Scenario) -> str:
    """Returns `single` or `merged`: the scenario's choice, that of the run whose answers are used, or what fits the
    mind."""
    if scenario.cognition.requests != "auto":
        return scenario.cognition.requests
    if mind.startswith(JOURNAL):
        with Reading.open(_recorded_in(mind)) as source:
            return scenario_of(source.manifest).cognition.requests
    return "merged" if is_server(mind) else "single"


def _apart(common: str, tasks: Mapping[str, MindPart], scenario: Scenario) -> tuple[str, ...]:
    """Returns what a merged reaction leaves to questions of their own: what the scenario says, what another mind
    answers, and the words where it is a letter."""
    parts = by_task(tasks)
    minds = {task: part.mind or common for task, part in parts.items()}
    other = {task for task in OF_A_REACTION if minds.get(task, common) != minds.get("react", common)}
    other |= {"converse"} if "react" in in_small_form(parts) else set()
    return tuple(task for task in OF_A_REACTION if task in other or task in scenario.cognition.apart)


# ── minds ────────────────────────────────────────────────────────────────────────────────────────────────────────────


Minds = Mapping[str, str | MindPart | Mapping[str, Any]]
"""Task or group → the name of its mind, or its settings; `default` is everything else."""


def named_minds(mind: str | Mind | Minds) -> dict[str, MindPart]:
    """Returns what a person names, by task or group; nothing for an empty name. Raises UsageError for what cannot
    be."""
    name = mind if isinstance(mind, str) else "" if isinstance(mind, Mapping) else mind.name
    given: Minds = mind if isinstance(mind, Mapping) else {DEFAULT: name} if name else {}
    found: dict[str, MindPart] = {}
    for name, value in given.items():
        if name not in GROUPS and name not in GROUPS[DEFAULT]:
            near = nearest(name, [*GROUPS, *GROUPS[DEFAULT]])
            hint = f"did you mean {near}?" if near else f"expected one of {', '.join([*GROUPS, *GROUPS[DEFAULT]])}"
            raise UsageError(f"no question is called {name!r}", where="mind", hint=hint)
        try:
            part = MindPart(mind=value) if isinstance(value, str) else MindPart.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            what = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
            raise UsageError(what, where=f"mind, {name}", hint="the settings are listed in docs/scenarios.md") from None
        for fault in request_faults(part.headers, part.body):
            raise UsageError(fault.what, where=f"mind, {name}", hint=f"expected {fault.expected}")
        found[name] = part
    return found


def chosen_minds(scenario: Scenario, named: Mapping[str, MindPart]) -> tuple[str, dict[str, MindPart]]:
    """Returns the common mind, and the settings by task or group: the person's choice, else the scenario's."""
    return chosen(scenario.part.mind, scenario.part.minds, named)


def formed(common: str, tasks: Mapping[str, MindPart]) -> dict[str, MindPart]:
    """Returns the settings by task or group, with the small form for each model that `doctor` has found too small for
    the full one. A form that they name stays."""
    found = dict(tasks)
    for group in (DEFAULT, *tasks):
        part = found.get(group, MindPart())
        mind = part.mind or (common if group == DEFAULT else "")
        if not part.form and is_server(mind) and registry.found(registry.MINDS["form"])(mind) == "small":
            found[group] = part.model_copy(update={"form": "small"})
    return found


def own_named(scenario: Scenario, common: str, named: Mapping[str, MindPart]) -> dict[str, str]:
    """Returns the minds of their own that characters keep, by character: none where the person names a mind for all."""
    if named.get(DEFAULT, MindPart()).mind:
        return {}
    return {one.id: one.mind for one in scenario.part.characters if one.mind and one.mind != common}


def _names(named: Mapping[str, MindPart]) -> frozenset[str]:
    return frozenset(part.mind for part in named.values() if part.mind)


def _keyed(manifest: Manifest, named: Mapping[str, MindPart], *, trust: bool) -> Callable[[str], bool]:
    """Returns whether a mind of this name may have a key: the person has named it, or agreed to the file that does."""
    return lambda name: trust or name in _names(named) or may_have_key(manifest, name)


def _recorded_in(mind: str) -> str:
    """Returns which run `journal:RUN` names. Raises UsageError for a password, which the new run would keep."""
    run = mind.removeprefix(JOURNAL)
    if without_password(run) != run:
        hint = "leave it out, and give it in PGPASSWORD or ~/.pgpass"
        raise UsageError("a run keeps the name of its mind, which cannot hold a password", hint=hint)
    return run


def mind_named(
    name: str,
    scenario: Scenario,
    *,
    timeout: float = TIMEOUT,
    on_outage: OnOutage = "pause",
    templates: Mapping[str, str] | None = None,
    with_key: bool = True,
    tasks: Mapping[str, MindPart] | None = None,
    cache: str | Path = "",
) -> Mind:
    """Returns the mind a name stands for: `offline`, `journal:RUN`, SERVER:MODEL or a URL. Raises UsageError for other
    names.

    The rest is for model servers: `timeout` in seconds for an answer, `on_outage`, what to do when the server does not
    answer, `templates`, prompts that replace the shipped ones, and `with_key`, whether it may get a key, which is for
    you to say and not for a file; `tasks`, settings by task, and `cache`, a file that keeps answers to be used again
    for the very same request. No server is contacted before the first question.
    """
    if name == OFFLINE:
        return registry.found(registry.MINDS["offline"])(scenario.language)
    if name.startswith(JOURNAL):
        return RecordedMind.of(name, _recorded_in(name))
    if is_server(name):
        return registry.found(registry.MINDS[LOCAL if server_named(name).kind == LOCAL else "server"])(
            name,
            book(scenario, templates, in_small_form(tasks or {})),
            timeout=timeout,
            on_outage=on_outage,
            with_key=with_key,
            tasks=tasks or {},
            cache=registry.found(registry.MINDS["cache"])(cache) if cache else None,
        )
    kind, colon, model = name.partition(":")
    near = [f"did you mean {one}:{model}? " for one in get_close_matches(kind, SERVERS, n=1) if colon]
    raise UsageError(f"there is no mind {name!r}", hint="".join(near) + MINDS)


def mind_to_ask(
    reading: Reading,
    mind: str | Mind = "",
    *,
    trust: bool = False,
    templates: Mapping[str, str] | None = None,
    timeout: float = TIMEOUT,
) -> Mind:
    """Returns who answers questions about a stored run: the mind given, or the run's own if none is.

    `trust`: use what the run's file names. `templates`: prompts of your own instead of those in the file. `timeout`:
    seconds a model server has for an answer. Raises UsageError for an unknown name, and where a word is needed first.
    """
    if not isinstance(mind, str):
        return mind
    if mind:
        tasks = by_task(formed(mind, {}))
        return mind_named(mind, reading.scenario, templates=templates, timeout=timeout, tasks=tasks)
    manifest = reading.manifest
    named = (one for one in named_by_run(manifest) if templates is None or one.kind != "prompts")
    settle(tuple(named), reading.path, trust=trust)
    keyed = _keyed(manifest, {}, trust=trust)
    if templates is not None:
        manifest = replace(manifest, settings={**(manifest.settings or {}), "prompts": dict(templates)})
    return mind_of(manifest, reading.scenario, where=reading.path, keyed=keyed, timeout=timeout)


def mind_of(
    manifest: Manifest,
    scenario: Scenario,
    *,
    timeout: float = TIMEOUT,
    on_outage: OnOutage = "pause",
    where: str | Place = "",
    keyed: Callable[[str], bool] = lambda _: False,
    cache: str | Path = "",
) -> Mind:
    """Returns the mind a run was made with. Raises UsageError, naming `where`, when that was an object and not a name.

    `keyed`: whether a mind of this name may have a key. Tasks of the same mind and headers share its connections.
    """
    if (manifest.settings or {}).get(MIND_OBJECT):
        what = f"the run was made with a Mind object named {manifest.mind!r}, which a run file cannot hold"
        hint = "give that object again, in Python: commonplace.resume_run(path, mind=THE_OBJECT)"
        raise UsageError(what, where=str(where), hint=hint)
    parts = by_task(task_minds(manifest))
    connections = {task: _connection(part, manifest.mind) for task, part in parts.items()}
    common = _connection(task_minds(manifest).get(DEFAULT, MindPart()), manifest.mind)
    own = {agent: _connection(MindPart(mind=name)) for agent, name in own_minds(manifest).items()}
    minds = {
        connection: mind_named(
            connection[0],
            scenario,
            timeout=timeout,
            on_outage=on_outage,
            templates=templates_of(manifest),
            with_key=keyed(connection[0]),
            tasks={task: part for task, part in parts.items() if connections[task] == connection},
            cache=cache,
        )
        for connection in sorted({common, *connections.values(), *own.values()})
    }
    if len(minds) == 1:
        return minds[common]
    tasks = {task: minds[connection] for task, connection in connections.items() if connection != common}
    return SeveralMinds(minds[common], {agent: minds[connection] for agent, connection in own.items()}, tasks)


def _connection(part: MindPart, common: str = "") -> tuple[str, tuple[tuple[str, str], ...]]:
    """Returns what requests have in common that can share connections: the mind's name and the headers."""
    return part.mind or common, tuple(sorted(part.headers.items()))


def book(scenario: Scenario, templates: Mapping[str, str] | None = None, small: Container[str] = ()) -> PromptBook:
    """Returns the prompts of a scenario. `small`: the tasks asked in the small form."""
    from commonplace.minds.prompts.book import PromptBook  # noqa: PLC0415 – imports Jinja
    from commonplace.minds.prompts.prompt import setting_of  # noqa: PLC0415

    return PromptBook(scenario.language, setting_of(scenario), templates or {}, small)


def book_of(manifest: Manifest, scenario: Scenario) -> PromptBook:
    """Returns the prompts of a run, each in the form in which it asks."""
    return book(scenario, templates_of(manifest), in_small_form(by_task(task_minds(manifest))))
