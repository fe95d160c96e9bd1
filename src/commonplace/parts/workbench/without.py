"""`why --without`: what a character did, and what it would have done without a memory, side by side."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import to_builtins
from rich.table import Table
from rich.text import Text

from commonplace.api import mind_to_ask, scenario_of
from commonplace.canon import parsed
from commonplace.cli.consent import agreed
from commonplace.cli.output import print_rich
from commonplace.clock import hhmm
from commonplace.errors import UsageError
from commonplace.lookup import memory_reference, names_in
from commonplace.parts.workbench.counterfactual import Counterfactual, Rerun, changed_answers, counterfactual, tally
from commonplace.run.reading import Reading
from commonplace.run.rows import AnswerRow, item_json
from commonplace.stages import by_name
from commonplace.text import clean, shortened
from commonplace.trust import named_by_run
from commonplace.views.lines import json_line
from commonplace.world.actions import Say, proposed
from commonplace.world.events import Event

FIELD = 160
"""Characters shown of a field of an answer."""
WIDTH = 110
"""Columns of the comparison where the output is not a terminal."""


def print_counterfactual(
    reading: Reading, event: Event, reference: str, times: int, as_json: bool, trust: bool
) -> None:
    """Runs the turn again without the memory AGENT:ID, `times` times, and prints both.

    0 chooses the number of times.
    """
    memory = _own_memory(reading, event, reference)
    trust = agreed(named_by_run(reading.manifest), reading.path, trust=trust)
    found = asyncio.run(_counterfactual(reading, event, memory, times, trust))
    if as_json:
        print(json_line(_as_json(found)))
    else:
        _print_comparison(found)


def _own_memory(reading: Reading, event: Event, reference: str) -> int:
    """Returns the number of a memory of the event's character. Raises UsageError for anyone else's."""
    agent, number = memory_reference(reference, names_in(reading), reading.path)
    if agent != event.agent_id:
        what = f"{event.id} depends on what {event.agent_id} remembers, not on {agent}"
        hint = f"give {event.agent_id}:ID; a turn reads its own character's memories only"
        raise UsageError(what, where=str(reading.path), hint=hint)
    return number


async def _counterfactual(reading: Reading, event: Event, memory: int, times: int, trust: bool) -> Counterfactual:
    scenario = scenario_of(reading.manifest)
    mind = mind_to_ask(reading, trust=trust)
    stage = by_name(reading.manifest.stage)
    return await counterfactual(reading, event, memory, scenario=scenario, stage=stage, mind=mind, times=times)


def _as_json(found: Counterfactual) -> dict[str, Any]:
    """Returns `{event, hidden, strokes, then, without, answers, times, rates}`; no `rates` if each arm ran once."""
    now = found.without[0]
    changes = changed_answers(found.then, now)
    return {
        "event": found.event.id,
        "hidden": [{"id": one.id, "kind": one.kind, "text": one.text} for one in found.hidden],
        "strokes": [item_json(stroke) for stroke in found.strokes],
        "then": _action(found.then),
        "without": _action(now),
        "answers": [{"task": task, "then": _value(one), "without": _value(other)} for task, one, other in changes],
        "times": len(found.without),
        "rates": _rates(found),
    }


def _rates(found: Counterfactual) -> list[dict[str, Any]]:
    """Returns `{does, with, without}` rows: how often each action came out in each arm, the most frequent first."""
    if not found.again:
        return []
    kept, lost = tally(found.again), tally(found.without)
    deeds = sorted({*kept, *lost}, key=lambda deed: (-kept.get(deed, 0), -lost.get(deed, 0), deed))
    return [{"does": deed, "with": kept.get(deed, 0), "without": lost.get(deed, 0)} for deed in deeds]


def _value(row: AnswerRow | None) -> Any:
    """Returns the answer as JSON; None where the question was not asked or the fallback was used."""
    return parsed(row.body) if row is not None and row.body else None


def _action(rerun: Rerun) -> dict[str, Any]:
    action = rerun.turn.action
    return {"does": rerun.deed, **to_builtins(proposed(action)), "because": list(action.because)}


def _print_comparison(found: Counterfactual) -> None:
    """Prints what is left out, both turns side by side, the answers that changed, and the rates."""
    print(f"{found.event.id}, and the same turn without")
    for memory in found.hidden:
        print(f"  #{memory.id} {memory.kind}  {shortened(clean(memory.text), FIELD)}")
    for stroke in found.strokes:
        print(f"  planned {hhmm(stroke.start_time)} {clean(stroke.action_description)}")
    print_rich(_sides(found), width=WIDTH)
    times = len(found.without)
    for row in _rates(found):
        print(f"{row['with']:>4} of {times} with it, {row['without']:>4} of {times} without: {row['does']}")


def _sides(found: Counterfactual) -> Table:
    sides = Table(box=None, padding=(0, 2, 0, 0), expand=True, show_edge=False)
    sides.add_column("", no_wrap=True)
    sides.add_column("then", ratio=1)
    sides.add_column("without", ratio=1)
    sides.add_row(Text("does"), Text(_deed(found.then)), Text(_deed(found.without[0])))
    changes = changed_answers(found.then, found.without[0])
    for task, one, other in changes:
        sides.add_row(Text(task), Text(_answer(one)), Text(_answer(other)))
    if not changes:
        sides.add_row(Text("asked"), Text("the same questions, with the same answers"), Text(""))
    return sides


def _deed(rerun: Rerun) -> str:
    action = rerun.turn.action
    words = f"“{clean(action.utterance)}”" if isinstance(action, Say) else clean(getattr(action, "doing", ""))
    return f"{rerun.deed}\n{words}".rstrip()


def _answer(row: AnswerRow | None) -> str:
    if row is None:
        return "not asked"
    if row.outcome != "value":
        return f"no usable answer ({row.outcome})"
    return "\n".join(_fields(_value(row)))


def _fields(answer: Mapping[str, Any]) -> Iterator[str]:
    for name, content in answer.items():
        if content not in ("", None, []):
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            yield f"{name}: {shortened(clean(text), FIELD)}"
