"""Whether the gate changes what a town does: as many runs with it as without it.

    python benchmarks/gate.py [--scenario latticeville] [--ticks 288] [--seeds 10] [--json]

The mind is an imitation of a model: it answers from the offline mind's rules, but makes every draw of its own anew, so
that it wants to talk, to go and to stay at other moments than the rules of the gate expect, and after a talk it likes
the other by up to two more or less than they do. What it shares with them is whose turn it is to open a talk. A row of
the table is a figure of a character-day: its mean without the gate and with it, the mean of the difference of two runs
of one seed, and the standard error of that mean.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import statistics
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from commonplace import create_run, open_run, rng
from commonplace.analysis.diffusion import diffusion
from commonplace.minds.mind import Ask, Reply, RequestKey
from commonplace.minds.offline.mind import OfflineMind
from commonplace.minds.tasks import RelateOutput
from commonplace.scenario.compiling import load

Figures = Mapping[str, float]
DAY = 24 * 60


class Imitation:
    """The offline mind's rules with draws of its own, at a price."""

    name = "imitation"
    paid = True
    max_attempts = 1

    def __init__(self, language: str) -> None:
        self._mind = OfflineMind(language)

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        """The rules' answer to somebody whose draws are others."""
        reply = self._mind.answer(ask, replace(request_key, agent=f"{request_key.agent}, imitated"))
        if isinstance(reply.value, RelateOutput):
            tone = rng.below(5, request_key.seed, request_key.agent, request_key.tick, request_key.number, "tone") - 2
            warmth = min(20, max(-20, reply.value.warmth_change + tone))
            reply = replace(reply, value=reply.value.model_copy(update={"warmth_change": warmth}))
        return replace(reply, calls=1)

    async def close(self) -> None:
        """Nothing to close."""


def scenario_with(folder: Path, name: str, *, gate: bool) -> Path:
    """A copy of a scenario whose requests are merged, with the gate or without it."""
    loaded = load(name)
    path = folder / f"{loaded.part.name}-{gate}.yaml"
    setting = f"cognition:\n  requests: merged\n  gate: {str(gate).lower()}\n"
    path.write_text(loaded.text.replace("cognition:\n", setting, 1), encoding="utf-8")
    return path


async def lived(path: Path, scenario: Path, seed: int, ticks: int) -> None:
    """A run by the imitation."""
    with create_run(path, str(scenario), seed=seed, mind=Imitation(load(str(scenario)).language)) as run:
        async for _ in run.play(ticks):
            pass


def figures(path: Path) -> Figures:
    """What happened, and what it took to ask, a character-day; of facts, how many of all characters know each."""
    with open_run(path) as run:
        days = run.last_tick * run.scenario.clock.tick_minutes / DAY * len(run.scenario.personas)
        asked, facts = run.usage(), diffusion(run)
        questions = Counter(row.task for row in run.answers() if not row.usage.get("needless"))
        warmth = [one.warmth for state in run.states_at().values() for one in state.relations.values()]
        return {
            "requests": asked[-1]["calls"] / days,
            "reactions": questions["react"] / days,
            "views after a talk": questions["relate"] / days,
            "kept without asking": asked[-1]["needless"] / days,
            "lines of talk": len(run.events(0, None, type="SAY")) / days,
            "talks": len(run.events(0, None, type="CONVERSATION_ENDED")) / days,
            "changes of plans": len(run.events(0, None, type="PLAN_CHANGED")) / days,
            "warmth": statistics.fmean(warmth),
            "spread of warmth": statistics.pstdev(warmth),
            "share who know a fact": statistics.fmean(fact["share"] for fact in facts) if facts else 0.0,
        }


def compared(scenario: str, seeds: range, ticks: int) -> list[tuple[Figures, Figures]]:
    """For each seed, what happened without the gate and with it."""
    pairs: list[tuple[Figures, Figures]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in seeds:
            found: list[Figures] = []
            for gate in (False, True):
                path = folder / f"{seed}-{gate}.run"
                asyncio.run(lived(path, scenario_with(folder, scenario, gate=gate), seed, ticks))
                found.append(figures(path))
            pairs.append((found[0], found[1]))
    return pairs


def rows(pairs: list[tuple[Figures, Figures]]) -> dict[str, tuple[float, float, float, float]]:
    """Figure → its means without the gate and with it, the mean difference, its standard error."""
    found: dict[str, tuple[float, float, float, float]] = {}
    for name in pairs[0][0]:
        differences = [gated[name] - asked[name] for asked, gated in pairs]
        error = statistics.stdev(differences) / math.sqrt(len(differences)) if len(differences) > 1 else math.nan
        without, with_ = (statistics.fmean(pair[which][name] for pair in pairs) for which in (0, 1))
        found[name] = (without, with_, statistics.fmean(differences), error)
    return found


def main() -> None:
    """Print a table, or JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenario", default="latticeville")
    parser.add_argument("--ticks", type=int, default=288)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = rows(compared(given.scenario, range(1, given.seeds + 1), given.ticks))
    if not given.json:
        print(f"{'a character-day':<24}{'without':>10}{'with':>10}{'difference':>12}{'error':>8}")
    for name, (without, with_, difference, error) in found.items():
        if given.json:
            row = {"name": name, "without": without, "with": with_, "difference": difference, "standard error": error}
            print(json.dumps(row))
        else:
            print(f"{name:<24}{without:>10.2f}{with_:>10.2f}{difference:>+12.2f}{error:>8.2f}")


if __name__ == "__main__":
    main()
