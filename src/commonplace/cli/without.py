"""A counterfactual for people and as JSON: what was done, and what would be done without a memory, side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from io import StringIO
from shutil import get_terminal_size
from typing import Any, cast

from rich.console import Console
from rich.table import Table
from rich.text import Text

from commonplace.clock import hhmm
from commonplace.engine.counterfactual import Counterfactual, Relived, changed_answers, tally
from commonplace.memory.record import Memory
from commonplace.run.record import AnswerRow
from commonplace.run.shown import item_json
from commonplace.text import clean, shortened
from commonplace.world.actions import Idle, Interact, Say, as_dict

SHOWN = 160
"""Characters of a field of an answer."""
WIDTH = 110
"""Columns where the output is no terminal."""


def as_json(found: Counterfactual) -> dict[str, Any]:
    """`{event, hidden, strokes, then, without, answers, times, rates}`; no `rates` where each arm was asked once."""
    now = found.without[0]
    answers = changed_answers(found.then, now)
    return {
        "event": found.event.id,
        "hidden": [{"id": one.id, "kind": one.kind, "text": one.text} for one in found.hidden],
        "strokes": [item_json(stroke) for stroke in found.strokes],
        "then": _action(found.then),
        "without": _action(now),
        "answers": [{"task": task, "then": value(one), "without": value(other)} for task, one, other in answers],
        "times": len(found.without),
        "rates": rates(found),
    }


def rates(found: Counterfactual) -> list[dict[str, Any]]:
    """`{does, with, without}`: how often each deed came out in each arm, what was done most with the memory first."""
    if not found.again:
        return []
    kept, lost = tally(found.again), tally(found.without)
    deeds = sorted({*kept, *lost}, key=lambda deed: (-kept.get(deed, 0), -lost.get(deed, 0), deed))
    return [{"does": deed, "with": kept.get(deed, 0), "without": lost.get(deed, 0)} for deed in deeds]


def value(row: AnswerRow | None) -> Any:
    """The answer as JSON; null where the question was not asked or the fallback was used."""
    return json.loads(row.body) if row is not None and row.body else None


def _action(relived: Relived) -> dict[str, Any]:
    action = relived.turn.action
    return {"does": relived.deed, **as_dict(action), "because": list(action.because)}


def as_text(found: Counterfactual) -> str:
    """What is taken away, both turns side by side, the answers that changed, and the rates."""
    console = Console(highlight=False, width=get_terminal_size((WIDTH, 0)).columns, file=StringIO(), color_system=None)
    console.print(Text(f"{found.event.id}, and the same turn without"))
    for memory in found.hidden:
        console.print(Text(f"  {_memory(memory)}"))
    for stroke in found.strokes:
        console.print(Text(f"  planned {hhmm(stroke.start_time)} {clean(stroke.action_description)}"))
    console.print(_sides(found))
    for line in _rates(found):
        console.print(Text(line))
    written = cast(StringIO, console.file).getvalue()
    return "\n".join(line.rstrip() for line in written.splitlines())


def _memory(memory: Memory) -> str:
    return f"#{memory.id} {memory.kind}  {shortened(clean(memory.text), SHOWN)}"


def _sides(found: Counterfactual) -> Table:
    now = found.without[0]
    sides = Table(box=None, padding=(0, 2, 0, 0), expand=True, show_edge=False)
    sides.add_column("", no_wrap=True)
    sides.add_column("then", ratio=1)
    sides.add_column("without", ratio=1)
    sides.add_row(Text("does"), Text(_deed(found.then)), Text(_deed(now)))
    answers = changed_answers(found.then, now)
    for task, one, other in answers:
        sides.add_row(Text(task), Text(_answer(one)), Text(_answer(other)))
    if not answers:
        sides.add_row(Text("asked"), Text("the same questions, with the same answers"), Text(""))
    return sides


def _deed(relived: Relived) -> str:
    match relived.turn.action:
        case Say(utterance=utterance):
            return f"{relived.deed}\n“{clean(utterance)}”"
        case Idle(doing=doing) | Interact(doing=doing):
            return f"{relived.deed}\n{clean(doing)}".rstrip()
        case _:
            return relived.deed


def _answer(row: AnswerRow | None) -> str:
    if row is None:
        return "not asked"
    if row.outcome != "value":
        return f"no usable answer ({row.outcome})"
    return "\n".join(_fields(value(row)))


def _fields(answer: Mapping[str, Any]) -> Iterator[str]:
    for name, content in answer.items():
        if content not in ("", None, []):
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            yield f"{name}: {shortened(clean(text), SHOWN)}"


def _rates(found: Counterfactual) -> Iterator[str]:
    for row in rates(found):
        times = len(found.without)
        yield f"{row['with']:>4} of {times} with it, {row['without']:>4} of {times} without: {row['does']}"
