"""What a file names that reaches beyond it – code, servers, other files – and whether the person has agreed to it.

A scenario or a run may come from a stranger. What it names is used only after the person has agreed, once for each
scenario; what was agreed to is kept in a small file of the person's own, never in the run. What the person names on
the command line or as an argument needs no question.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from urllib.parse import urlsplit

from platformdirs import user_state_path

from commonplace.canon import digest
from commonplace.errors import UsageError
from commonplace.minds.several import DEFAULT, replaced
from commonplace.paths import kind_of
from commonplace.run.manifest import JOURNAL, MIND_OBJECT, Manifest, minds_of, own_minds, templates_of
from commonplace.run.minds import task_minds
from commonplace.scenario.model import MindPart
from commonplace.scenario.scenario import Scenario
from commonplace.servers import LOCAL, is_loopback, is_server, server_named, variables
from commonplace.stages import code_of, is_imported
from commonplace.text import clean, shortened

FOLDER_VARIABLE = "COMMONPLACE_STATE"
"""Environment variable with the folder of the file below; the platform's folder for state if not set."""
FILE = "trusted.txt"
"""One line for each thing agreed to: a digest, the date, and what it was. Removing a line withdraws it."""
LONGEST = 200
"""Characters of a name shown or kept."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Named:
    """One thing that a file names."""

    kind: str
    """`stage`, `mind` or `prompts`."""
    value: str
    """As the file has it."""
    effect: str
    """What using it does."""
    scenario: str
    """Digest of the scenario's text: what is agreed to for one scenario is not for another."""
    content: str = ""
    """What else must stay the same: the file a stage's code is in, the templates of a run."""
    asks: bool = True
    """Whether it must be agreed to before it is used. Code that this process has imported already may be used; a server
    of this machine, too, but it gets no key."""

    @property
    def digest(self) -> str:
        """What is kept when it is agreed to."""
        return digest(json.dumps([self.kind, self.value, self.scenario, self.content]).encode()).hex()

    def __str__(self) -> str:
        return f"{self.kind} {shortened(clean(self.value), LONGEST)} – {self.effect}"


# ── what a file names ────────────────────────────────────────────────────────────────────────────────────────────────


def named_by_scenario(
    scenario: Scenario, named: Mapping[str, MindPart] | None = None, *, prompts: bool = False
) -> list[Named]:
    """What using a scenario file would use. `named`: the minds that the person names instead, by task.

    `prompts`: its prompts are used whoever answers; otherwise only a model server uses them.
    """
    part, text, named = scenario.part, digest(scenario.text.encode()).hex(), named or {}
    found = _stage(part.stage, text)
    minds = [one for one in named.values() if one.mind]
    if not named.get(DEFAULT, MindPart()).mind:
        tasks = {name: one for name, one in replaced(part.minds, named).items() if name not in named}
        common = [] if tasks.get(DEFAULT, MindPart()).mind else [part.mind]
        own = [MindPart(mind=name) for name in (*common, *(one.mind for one in part.characters)) if name]
        theirs = [*own, *(one for one in tasks.values() if one.mind)]
        found += list(dict.fromkeys(entry for one in theirs for entry in _mind(one, text)))
        minds += theirs
    if part.prompts and (prompts or any(is_server(one.mind) for one in minds)):
        found.append(Named("prompts", part.prompts, "puts templates of its own into what a model is asked", text))
    return found


def named_by_run(manifest: Manifest, minds: Collection[str] = ()) -> list[Named]:
    """What resuming a run would use. `minds`: those of the run's own that the person names as well."""
    text = manifest.scenario_digest
    found = _stage(manifest.stage, text)
    found += [one for one in mind_named_by_run(manifest) if one.content or one.value not in minds]
    templates = templates_of(manifest)
    if templates and any(map(is_server, minds_of(manifest))):
        effect = "puts templates of its own into what a model is asked"
        content = digest(json.dumps(templates, sort_keys=True).encode()).hex()
        found.append(Named("prompts", "in the file", effect, text, content))
    return found


def mind_named_by_run(manifest: Manifest) -> list[Named]:
    """The minds that are a server or another file. The name of a Mind object names nothing."""
    if (manifest.settings or {}).get(MIND_OBJECT):
        return []
    tasks = task_minds(manifest)
    common = tasks.pop(DEFAULT, MindPart()).model_copy(update={"mind": manifest.mind})
    own = (MindPart(mind=name) for name in own_minds(manifest).values())
    parts = (common, *own, *(part for part in tasks.values() if part.mind))
    return list(dict.fromkeys(one for part in parts for one in _mind(part, manifest.scenario_digest)))


def stage_named_by_run(manifest: Manifest) -> list[Named]:
    """The stage, if code must be imported for it; at most one."""
    return _stage(manifest.stage, manifest.scenario_digest)


def _stage(name: str, scenario: str) -> list[Named]:
    code = code_of(name)
    if not code:
        return []
    effect = f"runs the Python code in {clean(code)}"
    return [Named("stage", name, effect, scenario, code, asks=not is_imported(name))]


def _mind(part: MindPart, scenario: str) -> list[Named]:
    name = part.mind
    if name.startswith(JOURNAL):
        effect = f"reads the answers in {shortened(clean(name.removeprefix(JOURNAL)), LONGEST)}"
        return [Named("mind", name, effect, scenario)]
    if not is_server(name):
        return []
    server = server_named(name)
    if server.kind == LOCAL:
        return [Named("mind", name, f"loads the model {shortened(clean(server.model), LONGEST)}", scenario)]
    hosts = ", ".join(dict.fromkeys(urlsplit(url).netloc for url in server.urls))
    secrets = [*([server.variable] if os.environ.get(server.variable) else []), *variables(part.headers.values())]
    key = f" and your key, {', '.join(secrets)}," if secrets else ""
    effect = f"sends what the characters see and remember{key} to {clean(hosts)}"
    more = part.model_dump(mode="json", include={"headers", "body"}, exclude_defaults=True)
    content = digest(json.dumps(more, sort_keys=True).encode()).hex() if more else ""
    asks = not all(map(is_loopback, server.urls)) or bool(variables(part.headers.values()))
    return [Named("mind", name, effect, scenario, content, asks=asks)]


# ── what the person has agreed to ────────────────────────────────────────────────────────────────────────────────────


def settle(named: Sequence[Named], where: object, *, trust: bool) -> None:
    """Raises UsageError for what has not been agreed to. `trust`: all of it is agreed to, now and later."""
    if trust:
        remember(named)
        return
    missing = unsettled(named)
    if missing:
        raise UsageError(
            f"the file names what is not used before you agree to it:\n{listed(missing)}",
            where=str(where),
            hint=_hint(missing),
        )


def unsettled(named: Iterable[Named]) -> list[Named]:
    """What must be agreed to first."""
    return [one for one in named if one.asks and not is_agreed(one)]


def is_agreed(one: Named) -> bool:
    """Whether the person has agreed to it, now or earlier."""
    return one.digest in _kept()


def may_have_key(manifest: Manifest, mind: str) -> bool:
    """Whether the person has agreed to a mind of a run, so that its server gets a key."""
    return all(is_agreed(one) for one in mind_named_by_run(manifest) if one.value == mind)


def remember(named: Iterable[Named]) -> None:
    """Remember that the person agreed to these. If the folder cannot be written to, they are asked again."""
    kept = _kept()
    lines = [
        f"{one.digest}  {date.today().isoformat()}  {one.kind} {shortened(clean(one.value), LONGEST)}\n"  # noqa: DTZ011
        for one in named
        if one.digest not in kept
    ]
    if not lines:
        return
    path = _path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(lines))
    except OSError as error:
        _log.warning("%s cannot be written (%s): what you agreed to is not remembered", path, error.strerror)


def listed(named: Iterable[Named]) -> str:
    """One indented line for each."""
    return "\n".join(f"    {one}" for one in named)


def _hint(missing: Iterable[Named]) -> str:
    mind = next((one for one in missing if one.kind == "mind"), None)
    instead = f", or name the mind yourself: --mind {shortened(clean(mind.value), LONGEST)}" if mind else ""
    return f"if you trust the file, add --trust (in Python trust=True); it is remembered{instead}"


def _kept() -> frozenset[str]:
    """The digests of what was agreed to; none where the file cannot be read."""
    try:
        text = _path().read_text(encoding="utf-8", errors="replace")
    except OSError:
        return frozenset()
    return frozenset(line.split(maxsplit=1)[0] for line in text.split("\n") if line.strip())


def state_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder with what is remembered for the person."""
    own = environment.get(FOLDER_VARIABLE)
    return Path(own) if own else user_state_path("commonplace", appauthor=False)


def _path() -> Path:
    path = state_folder() / FILE
    kind_of(path)
    return path
