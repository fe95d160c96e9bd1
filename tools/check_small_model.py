"""Proof that a model which is far too small does no harm: what it answers is read, or replaced and counted.

    python tools/check_small_model.py [--keep FOLDER]

SmolLM2-135M-Instruct (93 MB, downloaded into .cache/ the first time) answers six kinds of questions, each in another
form: from llama.cpp's server text, a JSON object with a schema and without one, a grammar and a forced tool call; in
this process, as `local:FILE`, a grammar. Some minutes on two cores. No answer is expected to make sense.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from check_model_server import done
from environment import ROOT
from llama_server import small_model, small_server
from recorder import recording

from commonplace import create_run, open_run
from commonplace.run.reading import Reading
from commonplace.text import shortened

FORMS = {"perceive_event": "json_mode", "converse": "text", "relate": "json_object", "answer": "json_schema"}
"""Task → how the server is asked for it in a town; a duet has a forced tool call."""
TALK, PARTING, EVENING = (19, 1), (28, 5), (92, 5)
"""Parts of `plaza`: the tick before them, and how many it takes until the first line of its first talk is said, until
what the two think of each other afterwards is in force, and until what somebody concludes is.
"""
GOD = "A red kite lands in the square."
LONGEST = 500
"""Characters of any text that a character says, does or thinks."""
ECHO = 9
"""Words in a row that only instructions have."""
ENDLESS = re.compile(r"(\b\w.{5,60}?\b)(?:\W*\1){3}")
"""The same words four times in a row."""
SPOKEN = frozenset({"utterance", "doing", "reason", "text"})
"""Fields of events that hold a model's words."""


def a_day(path: Path, folder: Path) -> None:
    """A day of the offline mind, from which the others go on."""
    scenario = folder / "plaza.yaml"
    shipped = (ROOT / "src" / "commonplace" / "scenarios" / "plaza.yaml").read_text(encoding="utf-8")
    minds = {task: {"structured": form} for task, form in FORMS.items()}
    scenario.write_text(f"{shipped}\nminds: {json.dumps(minds)}\n", encoding="utf-8")
    done("run", scenario, "--ticks", EVENING[0], "--view", "none", "-o", path)


def a_part(day: Path, part: tuple[int, int], path: Path, minds: Mapping[str, str], *options: str) -> None:
    """A part of the day again, with other minds for some tasks."""
    at, ticks = part
    named = [word for task, mind in minds.items() for word in ("--mind", f"{task}={mind}")]
    done("fork", day, "--at", at, "-o", path, *named, "--mind", "offline", *options)
    done("resume", path, "--ticks", ticks, "--view", "none", "--timeout", 600)


def a_duet(mind: str, path: Path) -> None:
    """The first line of a duet."""
    minds = {"default": "offline", "duet_turn": {"mind": mind, "structured": "tool"}}
    with create_run(path, "sitcom-en", mind=minds, timeout=600) as run:
        list(run.play_sync(1))


def texts(run: Reading) -> Iterator[str]:
    """What history holds of a model's words: of events, of what characters remember."""
    for event in run.events():
        for name in SPOKEN & set(event.body.__struct_fields__):
            yield getattr(event.body, name) or ""
    for agent in run.scenario.personas:
        yield from (memory.text for memory in run.stream_at(agent, run.last_tick).snapshot())


def instructions(run: Reading) -> frozenset[str]:
    """Runs of words that are in the prompts' templates and not in the scenario."""
    folder = ROOT / "src" / "commonplace" / "languages" / run.scenario.language / "prompts"
    return frozenset(run for path in sorted(folder.glob("*.txt")) for run in _runs(path.read_text(encoding="utf-8")))


def _runs(text: str) -> Iterator[str]:
    words = re.findall(r"\w+", text.casefold())
    yield from (" ".join(words[at : at + ECHO]) for at in range(len(words) - ECHO + 1))


def refuse(texts: Iterator[str], names: frozenset[str], told: frozenset[str]) -> None:
    """End the program if a text is no words of a person."""
    for text in texts:
        faults = {
            "a field name": any(re.search(rf'"{name}"|\b{name}\s*[:=]', text) for name in names),
            "text of a prompt": not told.isdisjoint(_runs(text)),
            "a line without end": len(text) > LONGEST or ENDLESS.search(text),
        }
        if found := [name for name, is_so in faults.items() if is_so]:
            sys.exit(f"history has {', '.join(found)}: {text!r}")


def checked(path: Path, names: frozenset[str]) -> list[str]:
    """The tasks that a model was asked in a run, which is whole: its words are those of a person, its citations were
    shown, what could not be used is counted.
    """
    print(done("verify", path).strip())
    with open_run(path) as run:
        rows = [row for row in run.answers(used=False) if "answer_tokens" in row.usage]
        refuse(texts(run), names, instructions(run))
        for row in rows:
            call = run.model_call(row)
            assert call is not None
            print(f"  {row.task:<15} {row.outcome:<10} {call.kind:<12} {shortened(call.raw, 100)!r}")
            if row.task == "insights" and row.outcome == "value":
                cited = {id for one in json.loads(row.body)["insights"] for id in one["because"]}
                unseen = cited - {int(id) for id in re.findall(r"\[(\d+)[ \]]", call.prompt)}
                assert not unseen, f"cited without being shown: {sorted(unseen)}"
        questions = {(row.agent, row.tick, row.ordinal) for row in rows}
        usable = sum(row.outcome == "value" for row in rows)
        counted = run.usage()[-1]["fallbacks"]
        assert counted == len(questions) - usable, f"{len(questions)} questions, {usable} usable, {counted} fallbacks"
    return [row.task for row in rows]


def _properties(schema: Any) -> Iterator[str]:
    """The names of the properties of a JSON Schema, at any depth."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
        for inner in schema.values():
            yield from _properties(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _properties(inner)


def main() -> None:
    """Live, read, check."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", type=Path, help="the folder to keep the runs in")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor() as threads:
        folder = given.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        began, day = time.monotonic(), folder / "day.run"
        runs = [folder / f"{part}.run" for part in ("reflection", "talk", "parting", "duet")]
        a_day(day, folder)
        with small_server(folder / "server.log") as url, recording(url) as recorder:
            mind = f"llamacpp:@{recorder.url}"
            reflecting = threads.submit(a_part, day, EVENING, runs[0], {"insights": f"local:{small_model()}"})
            a_part(day, TALK, runs[1], {"perceive_event": mind, "converse": mind}, "--inject", GOD)
            a_part(day, PARTING, runs[2], {"relate": mind})
            a_duet(mind, runs[3])
            said = done("talk", day, "ines", "--ask", "What is your work?", "--mind", mind, "--no-keep")
            reflecting.result()
        names = frozenset(name for call in recorder.questions() for name in _properties(json.loads(call.body)))
        asked = Counter(task for run in runs for task in checked(run, names))
        refuse(iter((said,)), names, frozenset())
        print(said)
        missing = {*FORMS, "insights", "duet_turn"} - {*asked, "answer"}
        assert not missing, f"nobody was asked: {', '.join(sorted(missing))}"
        print(f"all sound in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
