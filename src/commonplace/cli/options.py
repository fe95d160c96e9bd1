"""Options that several commands share, and what can be chosen in them."""

from __future__ import annotations

from enum import StrEnum

import typer

from commonplace import api


class View(StrEnum):
    """How a run is shown."""

    TUI = "tui"
    PLAIN = "plain"
    JSON = "json"
    NONE = "none"


class Fidelity(StrEnum):
    """How often the mind is asked."""

    EVERY_TICK = "every_tick"
    WHEN_NEEDED = "when_needed"


class OnOutage(StrEnum):
    """What to do when a model server stays away."""

    PAUSE = "pause"
    FALLBACK = "fallback"


class Durability(StrEnum):
    """What a commit waits for."""

    NORMAL = "NORMAL"
    FULL = "FULL"


CONCURRENCY = typer.Option(32, "--concurrency", min=1, help="Questions in flight at once.")
ON_OUTAGE = typer.Option(
    OnOutage.PAUSE, "--on-outage", help="A model server stays away: pause, or go on with fallback answers."
)
TIMEOUT = typer.Option(api.TIMEOUT, "--timeout", min=0.1, help="Seconds a model server has for an answer.")
MAX_CALLS = typer.Option(0, "--max-calls", min=0, help="Pause before more calls than this; 0 for no limit.")
MAX_TOKENS = typer.Option(0, "--max-tokens", min=0, help="Pause when so many tokens are used; 0 for no limit.")
MAX_COST = typer.Option(0.0, "--max-cost", min=0.0, help="Pause when so many dollars are spent; 0 for no limit.")
VIEW = typer.Option(None, "--view", help="tui in a terminal and plain elsewhere, if left out.")
