"""What a town costs, what it asks, and what survives: the figures of Commonplace in docs/compared.md.

    python benchmarks/compared.py [--hours 12] [--json]

Three characters are a town of `commonplace new --size 3`, ten are `latticeville`, both from six in the morning on. Each
is run by `commonplace run` in a process of its own: with the offline mind, and with a model that is asked when needed
(the default) or at every tick. The model is the test server, which answers at once and runs in this process. Processor
time is that of the command with its children, without what a run of a single tick needs; RAM is the most it had.
Requests and prompt tokens are those that `commonplace usage` counts. Then a run of `latticeville` is made again, killed
and resumed, and answered badly.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from age import used_by

from commonplace import open_run
from commonplace.parts.new_town.scaffold import new
from commonplace.testing.server import Faults, ModelServer

TICKS_AN_HOUR = 12
KILLED, LAST = 32, 92
"""Ticks: when the run is killed at the earliest, and when it ends after it was resumed."""
SHARE = 0.3
"""Of the answers are bad."""
BAD = {"server_error": "HTTP 500", "empty_content": "empty answers", "prose": "JSON within prose"}

Figure = tuple[str, float | bool, str]
"""(name, value, unit)."""


@dataclass(frozen=True)
class Town:
    """A run that can be made again."""

    path: Path
    scenario: str
    ticks: int
    options: tuple[str, ...] = ()

    @property
    def command(self) -> tuple[str, ...]:
        """What starts it."""
        return ("run", self.scenario, "-o", str(self.path), "--ticks", str(self.ticks), "--view", "none", *self.options)

    def run(self, seed_of_hashes: str = "0") -> float:
        """Make it; returns the seconds of wall time."""
        began = time.monotonic()
        asked(*self.command, PYTHONHASHSEED=seed_of_hashes)
        return time.monotonic() - began

    @property
    def digest(self) -> str:
        """Of its history."""
        return asked("digest", str(self.path))

    @property
    def usage(self) -> dict[str, Any]:
        """The sums of `commonplace usage`."""
        return json.loads(asked("usage", str(self.path), "--json").splitlines()[-1])


def asked(*arguments: str, **environment: str) -> str:
    """What a command of the program prints."""
    command = [sys.executable, "-m", "commonplace", *arguments]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}
    ).stdout


def costs(folder: Path, scenario: str, size: int, fidelity: str, hours: int) -> Iterator[Figure]:
    """Processor time, RAM and requests of one town and one way of asking; `fidelity` is empty for the offline mind."""
    who = f"{fidelity.replace('_', ' ') or 'offline'}, {size} characters"
    with ModelServer() as server:
        options = ("--mind", server.url, "--fidelity", fidelity) if fidelity else ()
        town = Town(folder / f"{fidelity}-{size}.run", scenario, hours * TICKS_AN_HOUR, options)
        at_start, _ = used_by(*replace(town, path=folder / f"start-{fidelity}-{size}.run", ticks=1).command)
        seconds, most = used_by(*town.command)
    agent_hours = size * hours
    after_start = agent_hours - size / TICKS_AN_HOUR
    yield f"{who}: processor time per agent-hour", 1000 * (seconds - at_start) / after_start, "ms"
    yield f"{who}: processor time of the first tick, with the start", at_start, "s"
    yield f"{who}: RAM", most / 1e6, "MB"
    if fidelity:
        usage = town.usage
        yield f"{who}: requests per agent-hour", usage["calls"] / agent_hours, ""
        yield f"{who}: prompt tokens per agent-hour", usage["prompt_tokens"] / agent_hours, ""
        yield f"{who}: prompt tokens in a known prefix", 100 * usage["cached_tokens"] / usage["prompt_tokens"], "%"


def survival(folder: Path) -> Iterator[Figure]:
    """Kill -9 and resume, and the same seed twice."""
    with ModelServer() as server:
        unbroken = Town(
            folder / "unbroken.run", "latticeville", LAST, ("--mind", server.url, "--fidelity", "every_tick")
        )
        again, broken = replace(unbroken, path=folder / "again.run"), replace(unbroken, path=folder / "broken.run")
        unbroken.run()
        again.run(seed_of_hashes="5")
        yield "the same seed twice: same digest", again.digest == unbroken.digest, ""
        before = len(server.log.entries)
        reached = killed(broken)
        asked("resume", str(broken.path), "--ticks", str(LAST - reached), "--view", "none")
        yield f"killed at tick {reached} and resumed: same digest", broken.digest == unbroken.digest, ""
        more = len(server.log.entries) - before - before // 2
        yield "– requests to the server beyond those of an unbroken run", more, f"of {before // 2}"


def killed(town: Town) -> int:
    """Start a run and kill it once a tick is on disk; returns the last tick that is."""
    command = [sys.executable, "-m", "commonplace", *town.command, "--view", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if json.loads(line).get("tick", 0) >= KILLED:
                break
        process.send_signal(signal.SIGKILL)
    with open_run(town.path) as run:
        return run.last_tick


def bad_answers(folder: Path) -> Iterator[Figure]:
    """What becomes of a town when many answers are bad, against one with none."""
    with ModelServer() as server:
        sound = Town(folder / "sound.run", "latticeville", 60, ("--mind", server.url))
        undisturbed = sound.run()
        for kind, words in BAD.items():
            server.faults = Faults(SHARE, (kind,), seed=1)
            town = replace(sound, path=folder / f"{kind}.run")
            seconds, what = town.run(), f"{SHARE:.0%} {words}"
            usage = town.usage
            yield f"{what}: same digest as without", town.digest == sound.digest, ""
            yield f"{what}: questions that fall back", usage["fallbacks"], f"of {usage['asked']}"
            yield f"{what}: wall time, as a multiple of that without", seconds / undisturbed, ""


def figures(folder: Path, hours: int) -> Iterator[Figure]:
    """All of them."""
    scenarios = {3: str(new(folder / "three.yaml", 3)), 10: "latticeville"}
    for fidelity in ("", "when_needed", "every_tick"):
        for size, scenario in scenarios.items():
            yield from costs(folder, scenario, size, fidelity, hours)
    yield from survival(folder)
    yield from bad_answers(folder)


def main() -> None:
    """Print a table, or JSON lines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hours", type=int, default=12, help="simulated hours of each town")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name, value, unit in figures(Path(folder), given.hours):
            if given.json:
                print(
                    json.dumps(
                        {"name": name, "value": value if isinstance(value, bool) else round(value, 2), "unit": unit}
                    ),
                    flush=True,
                )
            else:
                shown = f"{value:,.1f}" if not isinstance(value, bool) else "yes" if value else "no"
                print(f"{name:<66} {shown:>10} {unit}", flush=True)


if __name__ == "__main__":
    main()
