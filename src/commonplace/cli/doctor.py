"""`doctor`: what this machine, its packages, the terminal and a mind can do, and what to do about what is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import typer

from commonplace.cli.finding import BROKEN, Finding
from commonplace.cli.machine import machine
from commonplace.cli.mind import examined
from commonplace.cli.options import TIMEOUT


def add_to(app: typer.Typer) -> None:
    """Add the command."""
    app.command("doctor", epilog="Example: commonplace doctor --mind ollama:qwen3:8b")(doctor)


def doctor(
    mind: str = typer.Option("", "--mind", help="Ask this mind something small, and tell what its server can do."),
    timeout: float = TIMEOUT,
) -> None:
    """Check the machine, the packages, the terminal and, if it is named, a mind."""
    broken = _told(machine())
    if mind:
        broken += _told(asyncio.run(examined(mind, timeout)))
    if broken:
        raise typer.Exit(1)


def _told(findings: Iterable[Finding]) -> int:
    """Print findings as they come; returns how many of them stop something that is needed."""
    broken = 0
    for finding in findings:
        print(finding, flush=True)
        broken += finding.state == BROKEN
    return broken
