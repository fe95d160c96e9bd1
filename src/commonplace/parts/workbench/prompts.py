"""`prompts`: what a model was sent and what it answered, as a person reads it, and the same asked again."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import typer

from commonplace.api import book, book_of, mind_to_ask, scenario_of
from commonplace.canon import parsed
from commonplace.cli.consent import agreed
from commonplace.cli.options import CONCURRENCY, JSON, RUN, TIMEOUT, TRUST
from commonplace.cli.output import print_json, print_table
from commonplace.clock import hhmm, iso
from commonplace.errors import UsageError, command
from commonplace.minds.mind import Ask, Mind
from commonplace.minds.prompts.templates import load_overrides
from commonplace.minds.tasks import TASKS
from commonplace.parts.workbench.bench import Figures, Variant, answered, figures
from commonplace.parts.workbench.estimate import common
from commonplace.parts.workbench.questions import (
    AskedQuestion,
    Key,
    PromptAttempt,
    asked_again,
    attempts_at,
    event_of,
    messages_in,
    questions,
    spread,
)
from commonplace.run.manifest import templates_of
from commonplace.run.minds import mind_by_question
from commonplace.run.place import Place
from commonplace.run.reading import Reading
from commonplace.run.why import event_named
from commonplace.scenario.loading import nearest
from commonplace.stages import by_name
from commonplace.text import clean, shortened
from commonplace.trust import Reference, named_by_run, settle, stage_named_by_run

BRIEF = 60
"""Characters of an answer in the list."""
KEPT = "the run"
"""The variant whose answers the run has."""
FIGURES = ("variant", "questions", "usable", "again", "replaced", "lines", "twice", "voices", "prompt", "answer")


def prompts(
    run: Place = RUN,
    event: str | None = typer.Argument(None, help="An event id such as t31.mira.0: what was asked before it."),
    task: str = typer.Option("", "--task", help="Only questions of this task, such as react."),
    templates: Path | None = typer.Option(
        None, "--templates", help="Ask again with the templates in this folder in place of the shipped ones."
    ),
    mind: list[str] = typer.Option([], "--mind", help="Ask this mind again; give it again for another one."),
    limit: int = typer.Option(10, "--limit", min=1, help="At most so many questions, evenly over the run."),
    concurrency: int = CONCURRENCY,
    timeout: float = TIMEOUT,
    as_json: bool = JSON,
    trust: bool = TRUST,
) -> None:
    """Show what a model was sent, word by word, and what it answered; nothing is written to the run.

    Without an event or a task it lists the tasks. With `--mind` or `--templates` the same questions are asked again,
    and a table compares the answers.
    """
    with Reading.open(run) as reading:
        found = _wanted(reading, event, task)
        again = bool(mind or templates)
        if not (event or task or again):
            _list(reading, found, as_json, trust)
            return
        found = [one for one in found if one.turn is not None and not one.needless] if again else found
        if not found:
            raise UsageError("no turn put these to the mind", where=str(run), hint="choose another event or task")
        chosen = spread(found, limit)
        if len(chosen) < len(found):
            print(f"{len(chosen)} of {len(found):,} questions; --limit shows more", file=sys.stderr)
        own = load_overrides(templates) if templates else None
        asks = _asks(reading, chosen, trust, every=again)
        words = book_of(reading.manifest, reading.scenario)
        kept = {one.key: attempts_at(reading, one, asks.get(one.key), words) for one in chosen}
        variants = [Variant(KEPT, kept)]
        for name in mind or [""] * again:  # with templates alone the run's own mind
            asked = _mind(reading, name, own, trust, timeout)
            title = f"{name or reading.manifest.mind}{f', {templates}' if templates else ''}"
            words = book_of(reading.manifest, reading.scenario) if own is None else book(reading.scenario, own)
            variants.append(asyncio.run(answered(title, asked, asks, reading.seeds, words, concurrency)))
        if as_json:
            print_json(_as_json(reading, one, variants) for one in chosen)
            print_json(asdict(figures(variant, asks)) for variant in (variants if again else ()))
            return
        for one in chosen:
            _print(reading, one, variants, whole=own is not None)
        if again:
            _print_figures([figures(variant, asks) for variant in variants])


def _wanted(reading: Reading, event: str | None, task: str) -> list[AskedQuestion]:
    """Returns the questions of a task, or those behind an event. Raises UsageError where there are none."""
    if task and task not in TASKS:
        near = nearest(task, TASKS)
        hint = f"did you mean {near}?" if near else f"expected one of {', '.join(TASKS)}"
        raise UsageError(f"there is no task {task!r}", where="--task", hint=hint)
    found = [one for one in questions(reading) if not task or one.task == task]
    if event:
        made = event_named(reading, event)
        found = [one for one in found if (one.key[0], one.turn) == (made.agent_id, made.tick)]
    if not found:
        what = f"no {task} question" if task else "no question"
        before = f" led to {event}" if event else " was put to the mind"
        raise UsageError(
            f"{what}{before}", where=str(reading.path), hint=f"{command('prompts', reading.path)} lists all"
        )
    return found


# ── questions and variants ───────────────────────────────────────────────────────────────────────────────────────────


def _asks(reading: Reading, chosen: Iterable[AskedQuestion], trust: bool, *, every: bool) -> dict[Key, Ask[Any, Any]]:
    """Makes the typed questions again: all of them, or those whose prompts are not kept."""
    lacking = [one for one in chosen if one.turn is not None and (every or not _is_kept(reading, one))]
    if not lacking:
        return {}
    _settle(stage_named_by_run(reading.manifest), reading, trust)
    turns = [one.turn for one in lacking if one.turn is not None]
    heard = asyncio.run(_heard(reading, turns))
    return {one.key: heard[one.key] for one in lacking}


def _is_kept(reading: Reading, question: AskedQuestion) -> bool:
    return all((call := reading.model_call(row)) is not None and call.prompt for row in question.rows)


async def _heard(reading: Reading, turns: Iterable[int]) -> dict[Key, Ask[Any, Any]]:
    scenario, stage = scenario_of(reading.manifest), by_name(reading.manifest.stage)
    return {
        key: ask
        async for _, asks in asked_again(reading, scenario, stage, turns)
        for key, ask in asks.items()
    }  # fmt: skip


def _settle(named: Sequence[Reference], reading: Reading, trust: bool) -> None:
    settle(named, reading.path, trust=agreed(named, reading.path, trust=trust))


def _mind(reading: Reading, name: str, own: Mapping[str, str] | None, trust: bool, timeout: float) -> Mind:
    """Returns a mind to ask again, with the person's own templates or with those of the run, if they are trusted."""
    texts = templates_of(reading.manifest) if own is None else own
    if name and own is None:
        named = named_by_run(replace(reading.manifest, mind=name))
        _settle([one for one in named if one.kind == "prompts"], reading, trust)
    return mind_to_ask(reading, name, trust=trust, templates=texts, timeout=timeout)


# ── the list of tasks ────────────────────────────────────────────────────────────────────────────────────────────────


def _list(reading: Reading, found: Sequence[AskedQuestion], as_json: bool, trust: bool) -> None:
    """Prints a row for each task, with an example of it."""
    tasks = {name: [one for one in found if one.task == name] for name in TASKS}
    examples = {name: _example(all_of_it) for name, all_of_it in tasks.items() if all_of_it}
    asks = _asks(reading, examples.values(), trust, every=False)
    words = book_of(reading.manifest, reading.scenario)
    rows = [
        _row(reading, tasks[name], example, attempts_at(reading, example, asks.get(example.key), words))
        for name, example in examples.items()
    ]
    if as_json:
        print_json(rows)
        return
    cells = [[*(_count(row[name]) for name in ("asked", "needless", "prompt_tokens", "answer_tokens"))] for row in rows]
    print_table(
        ("task", "example", "its answer", "asked", "needless", "prompt", "answer"),
        [[row["task"], row["event_id"], shortened(clean(row["answer"]), BRIEF), *cell]
         for row, cell in zip(rows, cells, strict=True)],
        words=3,
    )  # fmt: skip
    if any(row["made"] for row in rows):
        print("No model was asked, or its prompts are not kept: prompts are made again, and tokens are of the example.")
    if last := next((row["event_id"] for row in rows if row["event_id"]), ""):
        print(f"read one of them: {command('prompts', reading.path, last)}", file=sys.stderr)


def _example(found: Sequence[AskedQuestion]) -> AskedQuestion:
    """Chooses one from the middle of the run that was put to the mind and led to something."""
    best = [one for one in found if one.turn is not None and not one.needless]
    return (best or found)[len(best or found) // 2]


def _row(
    reading: Reading, found: Sequence[AskedQuestion], example: AskedQuestion, shown: Sequence[PromptAttempt]
) -> dict[str, Any]:
    """Returns a row of the table. Its tokens are per question that a model was asked, or those of the example."""
    asked = [one for one in found if not one.needless]
    counted = [row for one in asked for row in one.rows if row.usage.get("prompt_tokens")]
    counted = counted or [attempt.row for attempt in shown]
    tokens = {name: sum(row.usage.get(name, 0) for row in counted) for name in ("prompt_tokens", "answer_tokens")}
    return {
        "task": example.task,
        "asked": len(asked),
        "needless": len(found) - len(asked),
        **{name: round(count / len(counted)) for name, count in tokens.items()},
        "event_id": event_of(reading, example),
        "answer": shown[-1].call.raw,
        "made": shown[-1].made,
    }


def _count(number: int) -> str:
    return f"{number:,}" if number else ""


# ── a question ───────────────────────────────────────────────────────────────────────────────────────────────────────


def _as_json(reading: Reading, question: AskedQuestion, variants: Sequence[Variant]) -> dict[str, Any]:
    agent, tick, ordinal = question.key
    return {
        "task": question.task,
        "agent_id": agent,
        "tick": tick,
        "ordinal": ordinal,
        "time": iso(reading.time(tick)),
        "event_id": event_of(reading, question),
        "needless": question.needless,
        "variants": [
            {"variant": variant.name, "attempts": [_attempt_json(one) for one in variant.attempts[question.key]]}
            for variant in variants
        ],
    }


def _attempt_json(attempt: PromptAttempt) -> dict[str, Any]:
    row, call = attempt.row, attempt.call
    return {
        "messages": messages_in(call.prompt),
        "made": attempt.made,
        "raw": call.raw,
        "outcome": row.outcome,
        "kind": row.usage.get("kind", ""),
        "error": call.error,
        "read": parsed(row.body) if row.body else None,
        "prompt_tokens": row.usage.get("prompt_tokens", 0),
        "answer_tokens": row.usage.get("answer_tokens", 0),
    }


def _print(reading: Reading, question: AskedQuestion, variants: Sequence[Variant], *, whole: bool) -> None:
    """Prints the prompt and the answer of the run, then the other answers. `whole` adds their prompts."""
    agent, tick, _ = question.key
    event = f" before {named}" if (named := event_of(reading, question)) else ""
    print(f"═══ {question.task} of {agent} at tick {tick}, {hhmm(reading.time(tick))}{event}")
    kept, *others = variants
    title = mind_by_question(reading.manifest)(agent, question.task)
    print("\n".join(_lines(kept.attempts[question.key], title, prompt=True, needless=question.needless)))
    for variant in others:
        print("\n".join(_lines(variant.attempts[question.key], variant.name, prompt=whole, needless=False)))
    print()


def _lines(attempts: Sequence[PromptAttempt], title: str, *, prompt: bool, needless: bool) -> Iterator[str]:
    """Yields a prompt with its messages, then each answer as it was read. Of a repeated prompt only what was added."""
    before = ""
    for attempt in attempts:
        if prompt and not before:
            note = " (made again from the typed question)" if attempt.made else ""
            for message in messages_in(attempt.call.prompt):
                yield f"─── {message['role']}{note}\n{message['content']}"
        elif before:
            yield f"─── asked again\n{attempt.call.prompt[common(before, attempt.call.prompt) :].strip()}"
        before = attempt.call.prompt or " "
        yield from _answer_lines(attempt, title, needless=needless)
    if attempts[-1].row.outcome != "value":
        yield "─── no usable answer: the fallback is used"


def _answer_lines(attempt: PromptAttempt, title: str, *, needless: bool) -> Iterator[str]:
    rules = "answered by rules, which found nothing to decide" if needless else title
    form = ", in the form that a model writes" if attempt.made and attempt.call.raw else ""
    yield f"─── {rules}{form}\n{attempt.call.raw}".rstrip()
    if attempt.row.outcome != "value":
        yield f"─── refused ({attempt.row.usage.get('kind') or attempt.row.outcome})\n{attempt.call.error}".rstrip()
    else:
        yield f"─── read\n{json.dumps(parsed(attempt.row.body), ensure_ascii=False)}"


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _print_figures(rows: Iterable[Figures]) -> None:
    print_table(FIGURES, map(_cells, rows), words=1)
    print(
        "twice: lines that repeat an earlier one or one of their talk\n"
        "voices: mean Jensen–Shannon distance of the speakers' words, from 0 (the same) to 1 (none in common)"
    )


def _cells(row: Figures) -> list[str]:
    counts = (row.questions, row.usable, row.asked_again, row.replaced, row.lines)
    twice = "–" if row.said_twice is None else f"{row.said_twice:.0%}"
    voices = "–" if row.voices is None else f"{row.voices:.2f}"
    return [row.variant, *map(_count, counts), twice, voices, _count(row.prompt_tokens), _count(row.answer_tokens)]
