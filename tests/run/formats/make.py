"""Makes the stored run of the present format: `PYTHONPATH=src:tests python -m run.formats.make`.

Run it with the last commit of a format, before the next one begins. It writes `format-N.run.xz` and `format-N.json`
beside itself; both stay as they are from then on. The run has rows of every kind: it is a fork of a run that was lived
with a paid mind and inputs of every kind, has itself gone on, and has an input waiting.
"""

from __future__ import annotations

import asyncio
import json
import lzma
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from commonplace.api import resume_run
from commonplace.engine.run import Run
from commonplace.errors import Paused
from commonplace.minds.mind import Mind
from commonplace.run.reading import Reading
from commonplace.run.schema import FORMAT, SEMANTICS
from engine.paid_minds import FarMind, PaidMind, offline, opened, virtually
from run.small_runs import fork

FOLDER = Path(__file__).parent
SCENARIO = "plaza"
FORKED, ENDED, LIVED, MORE = 16, 24, 28, 6
"""The tick of the fork; up to where it went on undisturbed; where its parent ended; how far the tests continue it."""
EVERYBODY = {"everybody": True, "areas": [], "agents": []}
WISHES: dict[int, list[dict[str, Any]]] = {
    1: [{"kind": "god_event", "text": "A thick fog rolls in.", "to": EVERYBODY, "sets": [["fountain", "dry"]]}],
    2: [{"kind": "inner_voice", "agent_id": "ines", "text": "Somebody should oil the café door."}],
    3: [{"kind": "leave", "agent_id": "bruno"}, {"kind": "forget", "agent_id": "ines", "memory_ids": [2]}],
    5: [{"kind": "join", "agent_id": "bruno", "area": "cafe"}],
    4: [
        {"kind": "set", "agent_id": "ines", "field": "goals", "value": ["to mend the tower clock"]},
        {"kind": "set", "agent_id": "-", "field": "seed", "value": 8},
    ],
    6: [{"kind": "take_over", "agent_id": "ines", "action": {}}],
    18: [{"kind": "give_back", "agent_id": "ines"}],
}
COUNTED = (
    "event", "memory", "memory WHERE removed", "vector", "touch", "version", "answer", "answer WHERE used IS NULL",
    "offered", "primer", "model_call", "input", "trace",
)  # fmt: skip


async def lived(run: Run, until: int) -> None:
    for body in WISHES.get(run.tick, ()):
        run.submit(body)
    async for tick in run.play(until=until):
        for body in WISHES.get(tick.number, ()):
            run.submit(body)


def made(path: Path) -> None:
    parent = path.with_name("parent.run")
    with opened(parent, PaidMind(answering()), SCENARIO) as run:
        virtually(lived(run, LIVED))
    fork(parent, FORKED, path).close()
    with opened(path, PaidMind(answering()), SCENARIO) as run:
        virtually(lived(run, ENDED))
    with opened(path, FarMind(answering(), 8), SCENARIO) as run:  # leaves an answer that no tick has used
        with suppress(Paused):
            virtually(lived(run, LIVED * 2))
        run.submit({"kind": "inner_voice", "agent_id": "bruno", "text": "It is time to count the till."})


def described(path: Path) -> dict[str, Any]:
    """What the tests compare with: counted and computed by the code that wrote the file."""
    with Reading.open(path) as reading:
        return {
            "format": FORMAT,
            "semantics": SEMANTICS,
            "version": reading.manifest.version,
            "tick": reading.last_tick,
            "history": reading.digest(),
            "state": reading.digest(state=True),
            "at": {"tick": FORKED, "history": reading.digest(FORKED), "state": reading.digest(FORKED, state=True)},
            "rows": counted(reading, COUNTED),
            "queued": [dict(row.body) for row in reading.queued()],
        }


def counted(reading: Reading, tables: Iterable[str]) -> dict[str, int]:
    return {rows: reading.one(f"SELECT count(*) FROM {rows}")[0] for rows in tables}


def answering(name: str = "ollama:tiny") -> Mind:
    """The offline mind under the name of one that costs something, whose answers are offered to forks."""
    mind = offline(SCENARIO)
    mind.name = name
    return mind


def continued(path: Path) -> dict[str, Any]:
    """Where the run gets to with the offline mind."""
    with Reading.open(path) as reading:
        name = reading.manifest.mind
    with resume_run(path, answering(name)) as run:
        asyncio.run(lived_on(run))
        return {"tick": run.tick, "history": run.reading.digest(), "state": run.reading.digest(state=True)}


async def lived_on(run: Run) -> None:
    async for _ in run.play(MORE):
        pass


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stored.run"
        made(path)
        notes = described(path)
        assert all(notes["rows"].values()), notes["rows"]
        packed = lzma.compress(path.read_bytes(), preset=9 | lzma.PRESET_EXTREME)
        notes["continued"] = continued(path)
    (FOLDER / f"format-{FORMAT}.run.xz").write_bytes(packed)
    text = json.dumps(notes, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    (FOLDER / f"format-{FORMAT}.json").write_text(text, encoding="utf-8")
    print(f"format {FORMAT}: {len(packed)} bytes, {notes['rows']}", file=sys.stderr)


if __name__ == "__main__":
    main()
