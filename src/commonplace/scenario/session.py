"""A session: what one run of a panel is asked, when it begins, and the past answers its personas remember.

It is resolved when the run is made and kept in its manifest, so that the run does not depend on the store afterwards:
resume, fork, verify and replay give the same history whatever becomes of the store.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from commonplace.scenario.model import Id, Words


class PastAnswer(BaseModel):
    """An answer that a persona gave in an earlier run, from the store of coordinates."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    memory_id: str
    """In the store."""
    session_id: str = ""
    text: Words
    prompt: str = ""
    """What the panel was asked then."""
    at: str
    """ISO, simulated time."""
    importance: float = Field(ge=0, le=1)
    """In the store, when this run was made: a person's rating counts."""
    user_rating: float | None = None
    rhythm_phase: str = ""
    valence: float = Field(default=0, ge=-1, le=1)
    arousal: float = Field(default=0, ge=0, le=1)
    confidence: float = Field(default=0, ge=0, le=1)
    keywords: tuple[str, ...] = ()


class Session(BaseModel):
    """One run of a panel. JSON, as `Manifest.settings["session"]` has it."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    prompt: Words
    start: str
    """ISO simulated time of tick 0: after everything that the store holds."""
    folder: str = ""
    """Folder of store and ledger as the person named it; empty for the one beside the run."""
    past: dict[Id, tuple[PastAnswer, ...]] = Field(default_factory=dict[str, tuple[PastAnswer, ...]])
    """Persona → what it remembers of earlier runs, oldest first."""
