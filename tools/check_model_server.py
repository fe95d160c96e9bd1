"""Proof against a real model server: llama.cpp with a tiny model lives a run, dies with it, and is not asked twice.

    python tools/check_model_server.py [--ticks 24] [--python-server]

Installs the server into an environment in .cache/ the first time. The tiny model's weights are random and it talks
nonsense; what is proved is the whole path to it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from llama_server import llama_server, python_server
from recorder import Recorder, recording

from commonplace import open_run

_SEEN_BY_NOBODY = 0.3
"""Seconds before a kill in which an answer may have arrived without having been kept."""


def commonplace(*arguments: object) -> list[str]:
    """The command."""
    return [sys.executable, "-m", "commonplace", *map(str, arguments)]


def done(*arguments: object) -> str:
    """The output of a command that must succeed."""
    ended = subprocess.run(commonplace(*arguments), capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{' '.join(map(str, arguments))} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}")
    return ended.stdout


def start(url: str, path: Path, ticks: int) -> list[str | Path]:
    """The arguments of the run that is lived."""
    return ["run", "plaza", "--mind", f"llamacpp:@{url}", "--ticks", str(ticks), "--view", "none", "-o", path]


def lived(recorder: Recorder, path: Path, ticks: int) -> None:
    """A run from beginning to end."""
    began = time.monotonic()
    done(*start(recorder.url, path, ticks))
    seconds = time.monotonic() - began
    settled(path, ticks)
    questions = recorder.questions()
    statuses = Counter(call.status for call in recorder.calls)
    print(f"{ticks} ticks in {seconds:.1f} s: {len(questions)} questions, statuses {dict(statuses)}")
    print(done("usage", path))


def settled(path: Path, ticks: int) -> None:
    """The run is whole: at its last tick, and verified; says what happened in it."""
    print(done("verify", path).strip())
    with open_run(path) as run:
        assert run.last_tick == ticks, f"the run ends at tick {run.last_tick}"
        kinds = Counter(event.type for event in run.events())
    print(f"tick {ticks}: {', '.join(f'{count} {kind}' for kind, count in sorted(kinds.items()))}")


def killed_and_resumed(recorder: Recorder, path: Path, ticks: int, after: int) -> None:
    """Kill the run after so many answers, go on with it, and find no answered question asked again."""
    recorder.calls.clear()
    with subprocess.Popen(commonplace(*start(recorder.url, path, ticks)), stdout=subprocess.DEVNULL) as process:
        while sum(call.status == 200 for call in recorder.questions()) < after and process.poll() is None:
            time.sleep(0.01)
        if process.poll() is not None:
            sys.exit("the run ended before it was killed")
        process.kill()
    died = time.monotonic()
    first = len(recorder.calls)
    done("resume", path, "--view", "none")
    settled(path, ticks)
    before, later = recorder.calls[:first], {call.body for call in recorder.calls[first:] if call.is_question}
    answered = [call for call in before if call.is_question and call.status == 200]
    again = [call for call in answered if call.body in later]
    paid = [call for call in again if call.ended < died - _SEEN_BY_NOBODY]
    print(f"killed after {len(answered)} answers; {len(later)} questions after resuming, {len(again)} of them again")
    if paid:
        sys.exit(f"{len(paid)} answers were had and asked for again")


def main() -> None:
    """Install, start, live, kill, go on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ticks", type=int, default=24)
    parser.add_argument("--python-server", action="store_true", help="llama-cpp-python's own server as well")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with llama_server(folder / "llama.log") as url, recording(url) as recorder:
            lived(recorder, folder / "whole.run", given.ticks)
            half = sum(call.status == 200 for call in recorder.questions()) // 2
            killed_and_resumed(recorder, folder / "killed.run", given.ticks, half)
        if given.python_server:
            with python_server(folder / "python.log") as url, recording(url) as recorder:
                lived(recorder, folder / "python.run", given.ticks)
    print("all sound")


if __name__ == "__main__":
    main()
