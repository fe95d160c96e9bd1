"""What a run would ask of a model server: lived with the offline mind, every prompt sized and thrown away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from commonplace.engine.driver import JOB_ORDINALS
from commonplace.engine.run import Run
from commonplace.engine.stage import Stage
from commonplace.minds.mind import Mind
from commonplace.run.manifest import Manifest
from commonplace.run.record import AnswerRow
from commonplace.scenario.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for one task."""

    task: str
    calls: int
    prompt: int
    """Tokens."""
    cached: int
    """Those of the prompt's tokens that begin as an earlier prompt did."""
    answer: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would ask, if it went as it goes with the offline mind."""

    ticks: int
    characters: int
    days: float
    """Simulated days."""
    tasks: tuple[Asked, ...]
    """By name; those that nothing is asked for are left out."""
    rounds: int
    """Requests that have to wait for one another, summed over the ticks: what the run takes at least."""

    @property
    def total(self) -> Asked:
        """All tasks together."""
        return summed("total", self.tasks)


async def estimate(scenario: Scenario, manifest: Manifest, stage: Stage, mind: Mind, concurrency: int) -> Estimate:
    """Live `manifest.ticks` ticks in a temporary file. `mind`: one that sizes what it is asked (`minds.sized`)."""
    with TemporaryDirectory(prefix="commonplace-") as folder:
        path = Path(folder) / "estimate.run"
        with Run.start(path, manifest, scenario, stage=stage, mind=mind) as run:
            async for _ in run.play(until=manifest.ticks):
                pass
            answers = [row for row in run.reading.answers() if row.usage.get("prompt_tokens")]
    return Estimate(
        ticks=manifest.ticks,
        characters=len(scenario.personas),
        days=manifest.ticks * scenario.clock.tick_minutes / 1440,
        tasks=_tasks(answers),
        rounds=_rounds(answers, concurrency),
    )


def _tasks(answers: Iterable[AnswerRow]) -> tuple[Asked, ...]:
    tasks: dict[str, list[Asked]] = {}
    for row in answers:
        tokens = (row.usage.get(name, 0) for name in ("prompt_tokens", "cached_tokens", "answer_tokens"))
        tasks.setdefault(row.task, []).append(Asked(row.task, 1, *tokens))
    return tuple(summed(task, rows) for task, rows in sorted(tasks.items()))


def summed(name: str, rows: Iterable[Asked]) -> Asked:
    """The sum of some rows under one name."""
    rows = tuple(rows)
    sums = (sum(getattr(row, part) for row in rows) for part in ("calls", "prompt", "cached", "answer"))
    return Asked(name, *sums)


def _rounds(answers: Iterable[AnswerRow], concurrency: int) -> int:
    """Per tick the longest chain of one character's questions, or what so many at once take; deferred thoughts are
    asked meanwhile and only count towards the second."""
    asked: Counter[int] = Counter()
    chains: dict[int, Counter[str]] = {}
    for row in answers:
        asked[row.tick] += 1
        if row.ordinal < JOB_ORDINALS:
            chains.setdefault(row.tick, Counter())[row.agent] += 1
    longest = {tick: max(chains.get(tick, Counter({"": 0})).values()) for tick in asked}
    return sum(max(longest[tick], -(-count // concurrency)) for tick, count in asked.items())
