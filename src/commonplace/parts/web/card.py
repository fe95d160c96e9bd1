"""A run's entry in the library: what it is and how far it has come, without compiling its scenario."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from commonplace.clock import Clock, iso, parse_iso
from commonplace.languages import DEFAULT, known
from commonplace.parts.web import model as wire
from commonplace.run.manifest import other_minds
from commonplace.run.reading import Reading
from commonplace.scenario.loading import read
from commonplace.scenario.model import ScenarioPart
from commonplace.scenario.rules import examined
from commonplace.text import clean


def run_card(name: str, reading: Reading, part: ScenarioPart | None = None, **running: Any) -> wire.RunCard:
    """Returns the card of a run. `running`: `live`, `playing` and the like, which the file cannot say.

    `part`: its scenario, for a caller that has it; reading that of a large town takes a second. Raises ValueError for a
    scenario that cannot be read.
    """
    manifest, last = reading.manifest, max(0, reading.last_tick)
    part = part or _part(manifest.text)
    clock = Clock(parse_iso(part.clock.start), part.clock.tick_minutes)
    return wire.RunCard(
        run=name,
        title=clean(part.title or part.name),
        scenario=clean(manifest.scenario),
        language=known(manifest.language),
        stage=clean(manifest.stage),
        mind=without_credentials(manifest.mind) + other_minds(manifest),
        seed=manifest.seed,
        people=len({who.id for who in part.characters}.union(who for who, _ in reading.newcomers)),
        last_tick=last,
        final_tick=max(last, manifest.ticks),
        time=iso(clock.time(last)),
        changed=iso(reading.written()),
        live=False,
        playing=False,
    ).model_copy(update=running)


def broken_card(name: str, problem: str) -> wire.RunCard:
    """Returns the card of a file that cannot be opened."""
    return wire.RunCard(
        run=name,
        title=name,
        scenario="",
        language=DEFAULT,
        stage="",
        mind="",
        seed=0,
        people=0,
        last_tick=0,
        final_tick=0,
        time="",
        changed="",
        live=False,
        playing=False,
        problem=problem or "it cannot be read",
    )


def without_credentials(mind: str) -> str:
    """Returns the name of a mind without user and password, in case it is a URL that holds them."""
    scheme, dashes, rest = mind.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{dashes}{host.rpartition('@')[2]}{slash}{path}" if dashes else clean(mind)


@lru_cache(maxsize=64)
def _part(text: str) -> ScenarioPart:
    part = examined(read(text, ""))[0]
    if part is None:
        raise ValueError("the scenario in it cannot be read")
    return part
