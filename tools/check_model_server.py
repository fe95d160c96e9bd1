"""Proof against a real model server: llama.cpp with a tiny model lives a run, dies with it, and is not asked twice.

    python tools/check_model_server.py [--ticks 24] [--python-server]
    python tools/check_model_server.py --small-model [--ticks 48] [--keep RUN]

Installs the server into an environment in .cache/ the first time. The tiny model's weights are random and it talks
nonsense; what is proved is the whole path to it. The small model, SmolLM2-135M-Instruct, has words and little sense:
what it answers shows what the reader of answers lets through.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from llama_server import llama_server, python_server, small_server
from recorder import Recorder, recording

from commonplace import open_run

_SEEN_BY_NOBODY = 0.3
"""Seconds before a kill in which an answer may have arrived without having been kept."""


def commonplace(*arguments: str | Path) -> list[str]:
    """The command."""
    return [sys.executable, "-m", "commonplace", *map(str, arguments)]


def done(*arguments: str | Path) -> str:
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


def lived_by_words(url: str, path: Path, ticks: int) -> None:
    """A run that asks for every action of a model with words of its own; says what was usable and prints the words."""
    began = time.monotonic()
    done(*start(url, path, ticks), "--fidelity", "every_tick", "--concurrency", "2", "--timeout", "600", "--force")
    seconds = time.monotonic() - began
    settled(path, ticks)
    with open_run(path) as run:
        rows, events = run.answers(used=False), run.events()
    questions = {(row.agent, row.tick, row.ordinal): row.outcome for row in rows}  # the last attempt counts
    fallbacks = sum(outcome != "value" for outcome in questions.values())
    kinds = Counter(row.usage["kind"] for row in rows if row.outcome != "value")
    rejected = sum(event.type == "ACTION_REJECTED" for event in events)
    share = fallbacks / max(1, len(questions))
    print(f"{ticks} ticks in {seconds:.0f} s: {len(questions)} questions, {fallbacks} fallbacks ({share:.0%})")
    print(f"{rejected} actions rejected; of {len(rows)} answers unusable: {dict(kinds)}")
    texts = Counter(getattr(event.body, name, "") for event in events for name in ("doing", "utterance", "reason"))
    for text, count in texts.most_common():
        print(f"{count:>4} {text!r}")


def main() -> None:
    """Install, start, live, kill, go on."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ticks", type=int, default=0, help="24, with the small model 48")
    parser.add_argument("--python-server", action="store_true", help="llama-cpp-python's own server as well")
    parser.add_argument("--small-model", action="store_true", help="a model of 93 MB with words instead")
    parser.add_argument("--keep", type=Path, help="where to keep the run of the small model")
    given = parser.parse_args()
    ticks = given.ticks or (48 if given.small_model else 24)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if given.small_model:
            with small_server(folder / "small.log") as url:
                lived_by_words(url, given.keep or folder / "small.run", ticks)
            return
        with llama_server(folder / "llama.log") as url, recording(url) as recorder:
            lived(recorder, folder / "whole.run", ticks)
            half = sum(call.status == 200 for call in recorder.questions()) // 2
            killed_and_resumed(recorder, folder / "killed.run", ticks, half)
        if given.python_server:
            with python_server(folder / "python.log") as url, recording(url) as recorder:
                lived(recorder, folder / "python.run", ticks)
    print("all sound")


if __name__ == "__main__":
    main()
