"""Runs whose mind is a model: the offline mind's answers, as a server would give them, some of them with a fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from commonplace.api import book, create_run
from commonplace.minds.mind import Ask, Reply, RequestKey
from commonplace.minds.offline import OfflineMind
from commonplace.minds.tasks import ConverseOutput
from commonplace.minds.tasks.wire import written
from commonplace.rng import below
from commonplace.scenario.compiling import load

FAULTS = ("none", "mended", "mended", "unusable at first", "unusable")
"""Lines alone are mended."""


class Written:
    """Writes JSON, reads it as a model's answer is read, and has `FAULTS` by the key of the question."""

    paid = True
    max_attempts = 2

    def __init__(self, scenario: str) -> None:
        self.name = "written"
        self._book = book(load(scenario))
        self._mind = OfflineMind()

    def answer(self, ask: Ask[Any, Any], request_key: RequestKey) -> Reply:
        key = request_key
        prompt = self._book.prompt(ask)
        fault = FAULTS[below(len(FAULTS), "fault", key.agent, key.tick, key.number)]
        words = {"prompt": prompt.text, "prompt_tokens": 1000, "answer_tokens": 10, "calls": 1}
        if fault == "unusable" or (fault == "unusable at first" and key.attempt == 0):
            return Reply(None, "malformed", "cut off", "json", raw='{"decision": "ke', **words)
        answer = self._mind.answer(ask, key)
        assert isinstance(answer, Reply) and answer.value is not None
        data = written(ask, answer.value)
        if isinstance(answer.value, ConverseOutput) and fault == "mended":
            data["say"] = f"“{data['say']}”"
        raw = f"```json\n{json.dumps(data, ensure_ascii=False)}\n```"
        return Reply(self._book.read(ask, data, prompt.citable), raw=raw, **words)

    async def close(self) -> None:
        pass


def make(path: Path) -> None:
    """Sixty ticks of the plaza."""
    with create_run(path, "plaza", mind=Written("plaza"), force=True) as run:
        for _ in run.play_sync(ticks=60):
            pass
