"""`new`: a scenario to start from."""

from __future__ import annotations

from pathlib import Path

import typer

from commonplace.cli.options import FORCE
from commonplace.errors import command
from commonplace.parts.new_town.scaffold import new as write_new


def new(
    path: Path = typer.Argument(help="The file to write."),
    size: int = typer.Option(2, "--size", min=1, max=10_000, help="How many characters."),
    force: bool = FORCE,
) -> None:
    """Write a small scenario that runs as it is, to start your own from."""
    path = write_new(path, size, force=force)
    print(f"wrote {path}; run it with: {command('run', path)}")
