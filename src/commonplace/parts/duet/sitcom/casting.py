"""What the page's sidebar sets, and the scenario that comes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, cast

import yaml

from commonplace.errors import UsageError
from commonplace.languages import LANGUAGES, phrases
from commonplace.languages.ko.josa import resolved
from commonplace.memory.policies import TWO_STAGE
from commonplace.scenario.compiling import load
from commonplace.scenario.loading import find
from commonplace.scenario.scenario import Scenario

SHIPPED = {one: phrases(one, "sitcom")["scenario"] for one in LANGUAGES}
POLICY = "page"
"""Name of the policy in a scenario whose memory settings were changed."""
TRAITS = 20
"""Characters of traits from which on a character has a voice."""
_PARTICLES = {"은": "은(는)", "는": "은(는)", "이": "이(가)", "가": "이(가)", "을": "을(를)", "를": "을(를)",
              "과": "과(와)", "와": "과(와)"}  # fmt: skip

_PARTICLE = f"([{''.join(_PARTICLES)}](?![가-힣]))?"


@dataclass(frozen=True, slots=True)
class Profile:
    """One of the two characters, as the sidebar shows it."""

    id: str
    name: str
    traits: str
    goal: str


@dataclass(frozen=True, slots=True)
class Config:
    """All settings of the sidebar."""

    scenario: str
    """A shipped name or a file."""
    language: str
    profiles: tuple[Profile, Profile]
    seed: int = 7
    mind: str = "offline"
    temperature: float = 0.9
    k: int = 5
    top_n: int = 20
    w_sim: float = 0.5
    w_rec: float = 0.25
    w_imp: float = 0.25
    reflection_period: int = 6

    def as_dict(self) -> dict[str, Any]:
        """Returns the settings as JSON."""
        return asdict(self)


def config_of(scenario: str, seed: int = 7) -> Config:
    """Returns the settings a scenario comes with.

    Raises UsageError for a scenario with mistakes or of another stage.
    """
    loaded = load(scenario)
    if loaded.part.stage != "duet":
        raise UsageError(
            f"the page is for the stage duet; {scenario} has the stage {loaded.part.stage}",
            hint=f"try one of {', '.join(SHIPPED.values())}",
        )
    return settings_of(loaded, scenario, seed, loaded.part.mind)


def settings_of(loaded: Scenario, scenario: str, seed: int, mind: str) -> Config:
    """Returns the settings of a duet as it was compiled; `scenario` is the name or file that it was made from."""
    policy, cognition = loaded.policy, loaded.cognition
    return Config(
        scenario=scenario,
        language=loaded.language,
        profiles=_profiles(loaded),
        seed=seed,
        mind=mind,
        temperature=loaded.part.duet.temperature,
        k=cognition.k,
        top_n=policy.nearest or TWO_STAGE.nearest,
        w_sim=policy.relevance_weight,
        w_rec=policy.recency_weight,
        w_imp=policy.importance_weight,
        reflection_period=cognition.reflection.every_turns,
    )


def _profiles(loaded: Scenario) -> tuple[Profile, Profile]:
    one, other = (
        Profile(one.id, one.name, ", ".join(one.traits), one.goals[0].want if one.goals else "")
        for one in loaded.part.characters
    )
    return one, other


def edited(config: Config) -> str | None:
    """Returns the scenario with the sidebar's changes as YAML; None where nothing was changed.

    Seed and mind are not part of a scenario. Raises UsageError for what no scenario can have.
    """
    original = config_of(config.scenario, config.seed)
    if config == replace(original, mind=config.mind):
        return None
    document = cast("dict[str, Any]", deepcopy(find(config.scenario).data))
    for profile, before in zip(config.profiles, original.profiles, strict=True):
        _recast(document, profile, before)
    cognition: dict[str, Any] = document.setdefault("cognition", {})
    cognition["k"] = config.k
    cognition["reflection"] = {"every_turns": config.reflection_period}
    document.setdefault("duet", {})["temperature"] = config.temperature
    if replace(config, mind="", profiles=original.profiles) != replace(original, mind=""):
        cognition["policy"] = POLICY
        document["policies"] = {
            **document.get("policies", {}),
            POLICY: {
                "base": "two_stage",
                "nearest": config.top_n,
                "relevance_weight": config.w_sim,
                "recency_weight": config.w_rec,
                "importance_weight": config.w_imp,
            },
        }
    return yaml.safe_dump(document, allow_unicode=True, sort_keys=False)


def _recast(document: dict[str, Any], profile: Profile, before: Profile) -> None:
    """Gives one character another name, traits and goal. The new name replaces the old one everywhere."""
    if not profile.name.strip():
        raise UsageError("a character has no name", hint="give each of the two a name")
    if not profile.traits.strip(" ,\n\t"):
        raise UsageError(
            f"{profile.name} has no traits", hint=f"describe each of the two in {TRAITS} characters or more"
        )
    part = next(one for one in document["characters"] if one["id"] == profile.id)
    if profile.traits != before.traits:
        part["traits"] = [trait for trait in re.split(r"\s*[,\n]\s*", profile.traits.strip()) if trait]
    if profile.goal != before.goal:
        part["goals"] = [profile.goal.strip(), *part.get("goals", [])[1:]] if profile.goal.strip() else []
    if profile.name != before.name:
        name = " ".join(profile.name.split())
        called = short_name(name)
        renaming = {before.name: name, part.get("called") or short_name(before.name): called}
        texts = ("title", "summary", "duet", "characters")
        document |= {key: _renamed(document[key], renaming) for key in texts if key in document}
        part = next(one for one in document["characters"] if one["id"] == profile.id)
        part |= {"name": name, "called": called}


def short_name(name: str) -> str:
    """Returns what others call somebody: the first word, or the last two syllables of a Korean name of three."""
    return name[1:] if re.fullmatch("[가-힣]{3}", name) else name.split(maxsplit=1)[0]


def _renamed(value: Any, renaming: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        for old, new in renaming.items():
            value = re.sub(f"{re.escape(old)}{_PARTICLE}", partial(_with, new), value)
        return resolved(value)
    if isinstance(value, list):
        return [_renamed(one, renaming) for one in cast("list[Any]", value)]
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        return {key: one if key in {"id", "to", "about"} else _renamed(one, renaming) for key, one in fields.items()}
    return value


def _with(name: str, found: re.Match[str]) -> str:
    return name + _PARTICLES.get(found[1] or "", "")
