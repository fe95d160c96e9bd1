"""The manifest: everything a run was resolved to when it was made. Written once, read by `resume` and `verify`."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from commonplace.canon import canonical, digest, parsed
from commonplace.errors import DISTRIBUTION, RunDamaged, UsageError, command
from commonplace.languages import DEFAULT
from commonplace.run.schema import FORMAT, SEMANTICS

OFFLINE = "offline"
JOURNAL = "journal:"
"""Begins the name of a mind that repeats the answers of a run; the path of the run follows."""
MIND_OBJECT = "mind_object"
"""The setting of a manifest whose mind was given as an object, not by name."""
ANALYSER_VERSIONS = "analyser_versions"
"""The setting of a manifest whose analyser is a package: the versions that found the run's words."""

OWN_MINDS = "minds"
"""The setting with the minds that some characters have of their own: character → name."""
TASK_MINDS = "task_minds"
"""The setting that says who answers the questions of some tasks, and how: task or group → `MindPart`."""
APART = "apart"
"""The setting with what merged reactions leave to questions of their own."""

POLICY = "policy"
"""The setting with the policy that was named instead of the scenario's."""


def package_version() -> str:
    """Returns the version of the installed package; `0` when it runs from a source tree that is not installed."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """All choices of a run. A seal covers them; both digests cover only the history they led to."""

    scenario: str
    """Name."""
    text: str = field(repr=False)
    """The scenario file as text, so that a run needs nothing else."""
    seed: int
    mind: str
    """As named on the command line: `offline`, `SERVER:MODEL`, a URL …"""
    embedder: str = "hashed-384-v2"
    """`Embedder.name`: vectors of different names are never compared."""
    analyser: str = "plain"
    """Who finds the words of a text for the lexical part of retrieval."""
    language: str = DEFAULT
    fidelity: str = "when_needed"
    policy: str = "park"
    stage: str = "town"
    ticks: int = 0
    """The tick first asked for; 0 when none was."""
    settings: dict[str, Any] | None = None
    """What else was resolved: request shapes, attempts, a person's prompt …; JSON."""
    format: int = FORMAT
    semantics: int = SEMANTICS
    version: str = ""
    """Package version that made the run; filled in by `RunFile.create` when empty."""

    @property
    def is_free(self) -> bool:
        """Whether its mind is known to cost nothing: it is asked again, instead of looking for an earlier answer."""
        by_name = all(name == OFFLINE or name.startswith(JOURNAL) for name in minds_of(self))
        return by_name and not (self.settings or {}).get(MIND_OBJECT)

    @property
    def scenario_digest(self) -> str:
        """Of the scenario's text, hexadecimal."""
        return digest(self.text.encode()).hex()

    def to_json(self) -> str:
        """Returns canonical JSON, with the digest of the scenario's text."""
        return canonical({**asdict(self), "scenario_digest": self.scenario_digest}).decode()

    @classmethod
    def from_json(cls, text: str, where: str = "") -> Manifest:
        """Reverses `to_json`, without what a newer version added. Raises RunDamaged when text and digest differ."""
        try:
            given = parsed(text.encode())
            known = {one.name for one in fields(cls)}
            manifest = cls(**{key: value for key, value in given.items() if key in known})
            for one in fields(cls):
                if not isinstance(getattr(manifest, one.name), _TYPES[str(one.type)]):
                    raise ValueError(f"{one.name} is not {one.type}")
            same = given.get("scenario_digest") == manifest.scenario_digest
        except UnicodeError as error:
            raise RunDamaged("the manifest is not UTF-8", where=where) from error
        except (ValueError, TypeError, AttributeError) as error:
            raise RunDamaged(f"the manifest cannot be read ({error})", where=where) from error
        if not same:
            raise RunDamaged("the scenario in it is not the one the run was made from", where=where)
        return manifest

    def refuse_other_rules(self, where: str) -> None:
        """Raises UsageError for a run made under other rules than those of this version, or with other versions of its
        analyser."""
        if self.semantics != SEMANTICS:
            raise UsageError(
                f"the run was made under semantics {self.semantics}, this version has {SEMANTICS}: it would not give"
                " the same history",
                where=where,
                hint=f"Commonplace {self.version} can; {command('verify', where, '--integrity-only')} checks it",
            )
        made_with = (self.settings or {}).get(ANALYSER_VERSIONS)
        if made_with is not None:
            from commonplace.memory.kiwi import refuse_other_versions  # noqa: PLC0415 – `--version` is quick

            refuse_other_versions(str(made_with), where)


def own_minds(manifest: Manifest) -> dict[str, str]:
    """Returns the minds that characters have of their own, by character."""
    given: Any = (manifest.settings or {}).get(OWN_MINDS, {})
    return {str(agent): str(name) for agent, name in sorted(given.items())}


def task_settings(manifest: Manifest) -> dict[str, dict[str, Any]]:
    """Returns who answers the questions of some tasks or groups, and how: their names → `MindPart` as JSON."""
    given: Any = (manifest.settings or {}).get(TASK_MINDS, {})
    return dict(sorted(given.items()))


def minds_of(manifest: Manifest) -> list[str]:
    """Returns the names of all minds of a run, the common one first."""
    tasks = [str(part["mind"]) for part in task_settings(manifest).values() if part.get("mind")]
    return list(dict.fromkeys((manifest.mind, *own_minds(manifest).values(), *tasks)))


def other_minds(manifest: Manifest) -> str:
    """Returns ` +2` where two minds are asked besides the common one, to follow its name; else an empty string."""
    others = len(minds_of(manifest)) - 1
    return f" +{others}" if others else ""


def templates_of(manifest: Manifest) -> dict[str, str]:
    """Returns a scenario's own prompts, as they were when the run was made: file name → template."""
    return (manifest.settings or {}).get("prompts", {})


def asks_the_same(one: Manifest, other: Manifest) -> bool:
    """Tells whether two runs ask the same minds the same way."""
    first, second = ((run.mind, own_minds(run), task_settings(run)) for run in (one, other))
    return first == second


_TYPES: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "dict[str, Any] | None": (dict, type(None)),
}
"""Type of a field, as it is written → what its value must be."""
