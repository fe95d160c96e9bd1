"""`talk`: ask characters of a run anything, as they were at a tick. The run is only read, except by --inner-voice."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from commonplace.api import mind_to_ask, open_run
from commonplace.cli.consent import agreed
from commonplace.cli.options import AT, JSON, RUN, TRUST
from commonplace.cli.output import print_json, print_rich, print_table
from commonplace.clock import hhmm
from commonplace.engine.run import queue_input
from commonplace.errors import CommonplaceError, UsageError, command
from commonplace.lookup import character, names_in
from commonplace.memory.explain import explain
from commonplace.minds.mind import listening
from commonplace.paths import text_of
from commonplace.run.opening import open_store
from commonplace.run.place import Place
from commonplace.run.reading import Reading
from commonplace.talk import Reply, Talk
from commonplace.text import clean, one_line, shortened
from commonplace.trust import named_by_run

SHOWN = 90
"""Characters shown of a memory."""
MOST = 5
"""Memories shown below an answer; /why shows all."""
COMMANDS = {
    "/up": "the answer was good",
    "/down": "the answer was bad",
    "/retry": "answer again",
    "/why": "all memories the answer rests on, with every part of every score",
    "/help": "this list",
    "/quit": "leave (so does Ctrl-D)",
}


def talk(
    run: Place = RUN,
    agent: str = typer.Argument("", help="The character: id, full name or short name."),
    at: str | None = AT,
    ask: list[str] = typer.Option([], "--ask", metavar="TEXT", help="Ask this and leave; repeat for another question."),
    questions: Path | None = typer.Option(None, "--questions", help="Ask every line of this file, in one talk."),
    everybody: bool = typer.Option(False, "--everybody", help="Ask every character, each in a talk of its own."),
    as_json: bool = JSON,
    mind: str = typer.Option("", "--mind", help="Who answers; the run's own mind if left out."),
    no_keep: bool = typer.Option(False, "--no-keep", help="Write nothing beside the run."),
    inner_voice: str = typer.Option(
        "",
        "--inner-voice",
        metavar="TEXT",
        help="Instead of asking: a thought that reaches the character at its next tick.",
    ),
    trust: bool = TRUST,
) -> None:
    """Talk with a character as it was at a tick. Its answers rest on its own memories; history stays as it is."""
    with open_run(run) as reading:
        names = names_in(reading)
        if everybody is bool(agent):
            hint = f"give one of {', '.join(sorted(names))}, or --everybody"
            raise UsageError("it is not clear whom to talk with", where=str(run), hint=hint)
        whom = sorted(reading.world_at(at).bodies) if everybody else [character(agent, names, run)]
        if inner_voice and (at is not None or ask or questions):
            hint = "it reaches the character at the next tick"
            raise UsageError("--inner-voice cannot be combined with --at or questions", hint=hint)
        if not inner_voice:
            lines = text_of(questions, "a list of questions").splitlines() if questions else ()
            listed = [line.strip() for line in lines if line.strip()]
            if questions and not listed:
                raise UsageError(
                    "there is no question in it", where=str(questions), hint="expected a question per line"
                )
            asked = [*ask, *listed]
            if everybody and not asked:
                raise UsageError("--everybody needs a question", hint="add --ask TEXT or --questions FILE")
            if not mind:
                trust = agreed(named_by_run(reading.manifest), run, trust=trust)
            answering = mind_to_ask(reading, mind, trust=trust)
            talks = partial(reading.talk, at=at, mind=answering, keep=not no_keep)
            if asked:
                _interview(talks, whom, asked, as_json=as_json)
            else:
                _converse(talks(whom[0]), reading, as_json=as_json)
            return
    _whisper(run, whom, inner_voice)


def _interview(talks: Callable[[str], Talk], whom: Sequence[str], asked: Sequence[str], *, as_json: bool) -> None:
    """Asks everybody the same questions: prints JSON lines, text for one character, a table for several."""
    rows: list[list[str]] = []
    for agent in whom:
        with talks(agent) as talk:
            for question in asked:
                reply = _asked(talk.ask(question), as_json=as_json)
                if as_json:
                    print_json([reply.as_dict()])
                elif len(whom) == 1:
                    _print(reply, len(asked) > 1)
                else:
                    because = ", ".join(f"#{rest.memory.id}" for rest in reply.rests)
                    rows.append([talk.view.persona.called, *([question] * (len(asked) > 1)), said_by(reply), because])
    if rows:
        head = ["who", *(["question"] * (len(asked) > 1)), "answer", "because"]
        print_table(head, rows, words=len(head))


def _asked(answering: Coroutine[Any, Any, Reply], *, as_json: bool) -> Reply:
    """Returns the answer. At a terminal it is shown while it is written, and makes room for itself when it is there."""
    if as_json or not sys.stdout.isatty():
        return asyncio.run(answering)
    console = Console(file=getattr(sys.stdout, "styled", sys.stdout), highlight=False)
    with (
        Live(auto_refresh=False, transient=True, console=console) as shown,
        listening(lambda _, words: shown.update(Text(words), refresh=True)),
    ):
        return asyncio.run(answering)


def said_by(reply: Reply) -> str:
    """Returns the answer, or that there is none: the words a character falls back on are nobody's answer."""
    return clean(reply.answer) or f"(the mind gave no usable answer: {reply.outcome})"


def _print(reply: Reply, with_question: bool = False) -> None:
    """Prints an answer, and the memories it rests on."""
    if with_question:
        print(f"> {one_line(reply.question)}")
    print_rich(Text(said_by(reply)))
    before = reply.asked_before
    if before is not None:
        how = "well received" if before.received > 0 else "badly received" if before.received < 0 else "not rated"
        print(f"  asked before: {one_line(before.question)} (similarity {before.similarity:.2f}, {how})")
    for rest in reply.rests[:MOST]:
        score = f"{rest.hit.score:.2f}" if rest.hit else "  – "
        print(f"  #{rest.memory.id:<5} {score}  {shortened(one_line(rest.memory.text), SHOWN)}")
    if len(reply.rests) > MOST:
        print(f"  … and {len(reply.rests) - MOST} more")


def _converse(talk: Talk, reading: Reading, *, as_json: bool) -> None:
    """Asks questions from standard input until it ends; with history, completion and commands at a terminal."""
    prompt = ""
    if sys.stdin.isatty():
        called = talk.view.persona.called
        print(
            f"You are talking with {clean(talk.view.persona.name)}, tick {talk.tick}, {hhmm(talk.time)}."
            " History does not change. /help lists commands.",
            file=sys.stderr,
        )
        town = reading.scenario
        places = (node.name for node in town.geography.nodes.values() if node.type == "area")
        _complete([*COMMANDS, *(one.called for one in town.personas.values()), *places])
        prompt = f"you → {clean(called)}: "
    last: Reply | None = None
    with talk:
        for line in _typed(prompt):
            if line == "/quit":
                return
            try:
                reply = _done(talk, line, last, as_json=as_json)
            except CommonplaceError as error:
                if not prompt:
                    raise
                print(error, file=sys.stderr)
                continue
            last = reply or last
            if reply is not None and as_json:
                print_json([reply.as_dict()])
            elif reply is not None:
                _print(reply)


def _done(talk: Talk, line: str, last: Reply | None, *, as_json: bool) -> Reply | None:
    """Carries out a command, or asks; returns the new answer, if there is one."""
    name, _, note = line.partition(" ")
    match name:
        case "/up" | "/down":
            talk.rate("up" if name == "/up" else "down", clean(note))
            print("noted", file=sys.stderr)
        case "/retry":
            return _asked(talk.retry(), as_json=as_json)
        case "/why":
            _print_reasons(last)
        case _ if name.startswith("/"):
            print("\n".join(f"{name:<8} {text}" for name, text in COMMANDS.items()), file=sys.stderr)
        case _:
            return _asked(talk.ask(line), as_json=as_json)
    return None


def _print_reasons(reply: Reply | None) -> None:
    hits = [rest.hit for rest in reply.rests if rest.hit] if reply else []
    if hits:
        print(explain(hits))
    for rest in reply.rests if reply else ():
        if rest.hit is None:
            print(f"#{rest.memory.id} {one_line(rest.memory.text)}  (found by whom, where or when it is about)")
    if reply is None or not reply.rests:
        print("the answer rests on no memory, only on what the character is, sees or plans", file=sys.stderr)


def _typed(prompt: str) -> Iterator[str]:
    """Yields the lines somebody types or pipes in, without empty ones."""
    while True:
        try:
            line = input(prompt)
        except EOFError:
            if prompt:
                print(file=sys.stderr)
            return
        if line.strip():
            yield line.strip()


def _complete(words: Sequence[str]) -> None:
    """Lets Tab complete these words, and the arrow keys bring back earlier lines, where Python has readline."""
    try:
        import readline  # noqa: PLC0415 – not on every platform
    except ImportError:
        return
    known = sorted(set(words))

    def completion(text: str, number: int) -> str | None:
        fitting = [word for word in known if word.casefold().startswith(text.casefold())]
        return fitting[number] if number < len(fitting) else None

    readline.set_completer(completion)
    readline.set_completer_delims(" \t\n?!,.;")
    readline.parse_and_bind("tab: complete")


def _whisper(run: Place, whom: Sequence[str], text: str) -> None:
    """Queues the inner voice as an input: history of the next tick, so that the run still verifies."""
    with open_store(run) as file:
        bodies = [{"kind": "inner_voice", "agent_id": agent, "text": text} for agent in whom]
        queue_input(file, file.reading.scenario, *bodies)
        tick = file.last_tick + 1
    print(f"{', '.join(whom)} will hear it at tick {tick}: {command('resume', run)}", file=sys.stderr)
