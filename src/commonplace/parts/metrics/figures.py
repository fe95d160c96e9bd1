"""The figures of one run, counted by a meter as the run goes on. `METRICS` is the whole list of what is exposed.

A new metric is a row of `METRICS`, the line that counts it, and a row of the table in docs/operating.md. No label holds
the id of a character: each distinct value of a label is a time series of its own.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Literal, NamedTuple, Self

from commonplace.engine.budget import Price, Spending
from commonplace.engine.meter import Asking, Meter, Phase
from commonplace.errors import CommonplaceError
from commonplace.registry import MINDS, found
from commonplace.run.place import Place
from commonplace.run.rows import AnswerRow, TickRecord
from commonplace.sqlite import beside

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Upper bounds of the histograms, in seconds: from a commit to the slowest model."""


class Metric(NamedTuple):
    """A row of `METRICS`."""

    kind: Literal["counter", "gauge", "histogram"]
    labels: tuple[str, ...]
    help: str


RUN = ("run",)
METRICS: Mapping[str, Metric] = {
    # of a run
    "commonplace_ticks_total": Metric("counter", RUN, "Ticks committed by this process."),
    "commonplace_tick": Metric("gauge", RUN, "The last committed tick."),
    "commonplace_tick_seconds": Metric("histogram", (*RUN, "phase"), "Seconds of each part of a tick."),
    "commonplace_last_commit_timestamp_seconds": Metric("gauge", RUN, "When the last tick was committed, Unix time."),
    "commonplace_agent_turns_total": Metric("counter", RUN, "Turns that characters have taken."),
    "commonplace_events_total": Metric("counter", RUN, "Events committed."),
    "commonplace_characters": Metric("gauge", RUN, "Characters at the start of the session."),
    "commonplace_memories": Metric("gauge", RUN, "Memories of all characters, without forgotten ones."),
    "commonplace_inputs_total": Metric("counter", (*RUN, "kind"), "Inputs from outside that were applied."),
    "commonplace_inputs_waiting": Metric("gauge", RUN, "Inputs queued for later ticks."),
    "commonplace_run_bytes": Metric("gauge", RUN, "Size of the run file and its journal."),
    # of what it asks
    "commonplace_questions_total": Metric(
        "counter", (*RUN, "task", "source", "outcome"), "Questions answered; any outcome but value is a fallback."
    ),
    "commonplace_questions_waiting": Metric("gauge", (*RUN, "task"), "Questions that wait for their turn."),
    "commonplace_questions_in_flight": Metric("gauge", (*RUN, "task"), "Questions that the mind is answering."),
    "commonplace_question_seconds": Metric("histogram", (*RUN, "task"), "Seconds of an attempt of a paid mind."),
    "commonplace_unusable_answers_total": Metric(
        "counter", (*RUN, "task", "kind"), "Attempts without a usable answer."
    ),
    "commonplace_tokens_total": Metric("counter", (*RUN, "mind", "kind"), "Tokens of prompts and answers."),
    "commonplace_cost_dollars_total": Metric("counter", (*RUN, "mind"), "US dollars, where the price is known."),
    "commonplace_budget_remaining": Metric("gauge", (*RUN, "unit"), "What is left of a limited budget."),
    # of model servers
    "commonplace_model_server_requests_total": Metric(
        "counter", (*RUN, "server", "outcome"), "Requests by the status of their page, or what happened instead."
    ),
    "commonplace_model_server_request_seconds": Metric("histogram", (*RUN, "server"), "Seconds of a request."),
    "commonplace_model_server_retries_total": Metric("counter", (*RUN, "server"), "Requests that were sent again."),
    # of the server of pages (`parts/web/app.py`)
    "commonplace_runs": Metric("gauge", ("state",), "Runs that are open, and those whose ticks are made here."),
    "commonplace_live_views": Metric("gauge", (), "Pages that watch a run."),
    "commonplace_sockets": Metric("gauge", (), "Live connections."),
    "commonplace_talks": Metric("gauge", (), "Talks with characters that are open."),
    "commonplace_info": Metric("gauge", ("version", "python"), "1, with the versions."),
}

Labels = tuple[str, ...]
Samples = Mapping[str, Sequence[tuple[Sequence[str], float | Sequence[float]]]]
"""Metric → the values of its labels, without the run, and a number; of a histogram a count for each bucket and one
above them, then the sum. Tuples become lists where it passes as JSON."""


class Figures(Meter):
    """Counts for one run; any thread may read `samples`."""

    def __init__(self) -> None:
        self._values: defaultdict[str, dict[Labels, float]] = defaultdict(dict)
        self._times: defaultdict[str, dict[Labels, list[float]]] = defaultdict(dict)
        self._lock = Lock()
        self._path: Place | None = None
        self._phases: list[tuple[Phase, float]] = []
        """The parts of the tick under way, and when each began."""

    def samples(self) -> Samples:
        """Returns everything counted so far."""
        if isinstance(self._path, Path) and self._path.is_file():
            self._set("commonplace_run_bytes", _size(self._path))
        with self._lock:
            return {
                **{name: list(values.items()) for name, values in self._values.items()},
                **{name: [(key, [*row]) for key, row in rows.items()] for name, rows in self._times.items()},
            }

    def started(self, path: Place, tick: int, characters: int, memories: int) -> None:
        """Begins with what is there."""
        self._path = path
        self._set("commonplace_tick", tick)
        self._set("commonplace_characters", characters)
        self._set("commonplace_memories", memories)

    def entered(self, phase: Phase) -> None:
        """Notes when a part of the tick begins; a tick that was broken off is forgotten."""
        if phase == "cognition":
            self._phases.clear()
        self._phases.append((phase, time.perf_counter()))

    def committed(self, record: TickRecord, waiting: int) -> None:
        """Counts a tick."""
        ends = [began for _, began in self._phases[1:]] + [time.perf_counter()]
        for (phase, began), ended in zip(self._phases, ends, strict=True):
            self._time("commonplace_tick_seconds", ended - began, phase)
        self._phases.clear()
        self.add("commonplace_ticks_total", 1)
        self._set("commonplace_tick", record.tick)
        self._set("commonplace_last_commit_timestamp_seconds", time.time())
        self.add("commonplace_agent_turns_total", sum(len(rows.traces) for rows in record.made))
        self.add("commonplace_events_total", len(record.events))
        added = sum(len(rows.memories) for rows in record.made)
        self.add("commonplace_memories", added - sum(map(len, record.removed.values())))
        for row in record.inputs:
            self.add("commonplace_inputs_total", 1, row.body["kind"])
        self._set("commonplace_inputs_waiting", waiting)

    def asking(self, task: str) -> Asking:
        """Counts an attempt among those that wait, and then among those in flight."""
        return _Counted(self, task)

    def attempted(self, row: AnswerRow, mind: str, seconds: float) -> None:
        """Counts what an attempt took, and what was wrong with it."""
        if row.outcome != "value":
            kind = row.usage.get("kind", "") or row.outcome
            self.add("commonplace_unusable_answers_total", 1, row.task, kind)
        if seconds:
            self._time("commonplace_question_seconds", seconds, row.task)
        prompt, cached, answer = (row.usage.get(f"{kind}_tokens", 0) for kind in ("prompt", "cached", "answer"))
        if prompt or answer:
            for kind, tokens in (("prompt", prompt), ("cached", cached), ("answer", answer)):
                self.add("commonplace_tokens_total", tokens, mind, kind)
            if price := _price(mind):
                self.add("commonplace_cost_dollars_total", price.cost(prompt, cached, answer), mind)

    def settled(self, row: AnswerRow, *, journaled: bool) -> None:
        """Counts a question by who answered it."""
        made = "rules" if row.usage.get("needless") else "cache" if row.usage.get("reused") else "mind"
        self.add("commonplace_questions_total", 1, row.task, "journal" if journaled else made, row.outcome)

    def spent(self, spending: Spending) -> None:
        """Notes what is left of the limits there are."""
        limits = spending.budget
        for unit, limit, used in (
            ("calls", limits.calls, spending.calls),
            ("tokens", limits.tokens, spending.tokens),
            ("dollars", limits.cost, spending.cost if limits.cost else 0),
        ):
            if limit:
                self._set("commonplace_budget_remaining", max(0, limit - used), unit)

    def requested(self, server: str, outcome: str, seconds: float, *, repeats: bool) -> None:
        """Counts a request to a model server."""
        self.add("commonplace_model_server_requests_total", 1, server, outcome)
        self._time("commonplace_model_server_request_seconds", seconds, server)
        self.add("commonplace_model_server_retries_total", repeats, server)

    def add(self, name: str, amount: float, *labels: str) -> None:
        """Adds to a counter or a gauge."""
        with self._lock:
            values = self._values[name]
            values[labels] = values.get(labels, 0) + amount

    def _set(self, name: str, value: float, *labels: str) -> None:
        with self._lock:
            self._values[name][labels] = value

    def _time(self, name: str, seconds: float, *labels: str) -> None:
        with self._lock:
            row = self._times[name].setdefault(labels, [0.0] * (len(BUCKETS) + 2))
            row[bisect_left(BUCKETS, seconds)] += 1
            row[-1] += seconds


class _Counted(Asking):
    """An attempt: a question that waits, and is then in flight."""

    def __init__(self, figures: Figures, task: str) -> None:
        self._figures, self._task = figures, task
        self._where = "commonplace_questions_waiting"

    def __enter__(self) -> Self:
        self._figures.add(self._where, 1, self._task)
        return self

    def sent(self) -> None:
        self._figures.add(self._where, -1, self._task)
        self._where = "commonplace_questions_in_flight"
        self._figures.add(self._where, 1, self._task)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._figures.add(self._where, -1, self._task)


@cache
def _price(mind: str) -> Price | None:
    try:
        return found(MINDS["price"])(mind)
    except CommonplaceError:
        return None


def _size(path: Path) -> int:
    return sum(file.stat().st_size for file in (path, beside(path, "-wal")) if file.is_file())
