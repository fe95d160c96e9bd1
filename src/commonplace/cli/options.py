"""Arguments and options that several commands share, and what can be chosen in them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import typer

from commonplace.cli import settings
from commonplace.errors import UsageError
from commonplace.run.place import Address, place

_FOR_A_TASK = re.compile(r"([a-z_]+)=(.*)")


def minds_given(given: Sequence[str]) -> dict[str, str]:
    """Reads the values of `--mind`, each NAME or TASK=NAME: task or group → name. Raises UsageError for one given
    twice."""
    minds: dict[str, str] = {}
    for text in given:
        found = _FOR_A_TASK.fullmatch(text)
        group, name = (found[1], found[2]) if found else ("default", text)
        if group in minds:
            what = f"--mind is given twice for {group}" if found else "--mind is given twice"
            raise UsageError(what, hint="give one name for all, and others as --mind TASK=NAME, such as talk=…")
        if name or found:
            minds[group] = name
    return minds


class View(StrEnum):
    """How a run is shown."""

    TUI = "tui"
    PLAIN = "plain"
    JSON = "json"
    STATE = "state"
    NONE = "none"


class Fidelity(StrEnum):
    """How often the mind is asked."""

    EVERY_TICK = "every_tick"
    FULL = "full"
    WHEN_NEEDED = "when_needed"


class Form(StrEnum):
    """How models are asked."""

    FULL = "full"
    SMALL = "small"


class OnOutage(StrEnum):
    """What to do when a model server does not answer."""

    PAUSE = "pause"
    FALLBACK = "fallback"


class Durability(StrEnum):
    """What a commit waits for."""

    NORMAL = "NORMAL"
    FULL = "FULL"


def shipped_like(incomplete: str) -> list[str]:
    """Returns the names of shipped scenarios that a shell may complete this to; files it completes by itself."""
    from commonplace.scenario.loading import shipped  # noqa: PLC0415 – start-up speed

    return [name for name, _, _ in shipped() if name.startswith(incomplete)]


def file(text: str) -> Path:
    """Reads the path of a file. Raises UsageError for the address of a database."""
    found = place(text)
    if isinstance(found, Address):
        hint = "give a file; `commonplace copy` takes a run from one to the other"
        raise UsageError("this is done with files only", where=str(found), hint=hint)
    return found


SCENARIO = typer.Argument(help="A shipped scenario or a file.", autocompletion=shipped_like)
RUN = typer.Argument(parser=place, metavar="RUN", help="The run: a file, postgresql://…#NAME, or embedded:FOLDER#NAME.")
RUN_OR_STORE = typer.Argument(
    metavar="RUN|STORE",
    help="A run: FILE, postgresql://…#NAME or embedded:FOLDER#NAME; or a store: the same without #NAME, FOLDER or "
    "chroma:FOLDER.",
)
FORCE = typer.Option(False, "--force", help="Replace an existing file.")
JSON = typer.Option(False, "--json", help="Print one JSON value per line.")
AT = typer.Option(None, "--at", help="A tick or an ISO simulated time; the latest if left out.")
VIEW = typer.Option(
    None, "--view", envvar=settings.VIEW, help="How to show it; tui in a terminal and plain elsewhere, if left out."
)
FIDELITY = typer.Option(
    None, "--fidelity", help="Ask for each action, or only when needed; the scenario's if left out."
)
TRUST = typer.Option(
    False, "--trust", help="Use the stage, mind and prompts that the file names; remembered for this file."
)
MEMORY = typer.Option("", "--memory", help="The folder of a panel's memories and ledger; `outputs` beside the run.")
CACHE = typer.Option(
    None,
    "--cache",
    envvar=settings.CACHE,
    help="Keep a model's answers in this file, and use them again for the very same requests.",
)
CONCURRENCY = typer.Option(32, "--concurrency", envvar=settings.CONCURRENCY, min=1, help="Questions in flight at once.")
WORKERS = typer.Option(
    "", "--workers", help="Processes that have the characters: how many, or ray://HOST:PORT; none if left out."
)
ON_OUTAGE = typer.Option(
    OnOutage.PAUSE, "--on-outage", help="When a model server does not answer: pause, or use fallback answers."
)
TIMEOUT = typer.Option(
    120.0, "--timeout", envvar=settings.TIMEOUT, min=0.1, help="Seconds a model server has for an answer."
)
METRICS = typer.Option(
    None, "--metrics", min=1, max=65535, help="Show metrics for Prometheus at http://127.0.0.1:PORT/metrics."
)
MAX_CALLS = typer.Option(0, "--max-calls", min=0, help="Pause before more calls than this; 0 for no limit.")
MAX_TOKENS = typer.Option(0, "--max-tokens", min=0, help="Pause once this many tokens are used; 0 for no limit.")
MAX_COST = typer.Option(0.0, "--max-cost", min=0.0, help="Pause once this many dollars are spent; 0 for no limit.")
