"""A session: what one run of a panel is asked, when it begins, and the past answers its personas remember.

It is resolved when the run is made and kept in its manifest, so that the run does not depend on the store afterwards:
resume, fork, verify and replay give the same history whatever becomes of the store.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

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


class RatingChange(BaseModel):
    """Something that a run does differently because of how earlier answers were rated."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    action: Literal["leave_out_examples", "revise_prompt", "reorder_persona_cycle"]
    persona: str
    """Whom it concerns; of an order, who begins."""
    mean: float = Field(ge=1, le=5)
    """Mean of the persona's ratings, in stars."""
    order: tuple[str, ...] = ()
    memories: tuple[str, ...] = ()
    """Answers in the store that are no examples any more."""

    def as_json(self) -> dict[str, Any]:
        """Returns the change as the ledger has it."""
        details: dict[str, Any] = {"persona": self.persona, "mean_rating": self.mean}
        details |= {"new_order": list(self.order)} if self.order else {}
        details |= {"memory_ids": list(self.memories)} if self.memories else {}
        return {"trigger": "ratings", "action": self.action, "details": details}


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
    changes: tuple[RatingChange, ...] = ()
    """What the ratings of earlier runs change in this one."""

    @property
    def order(self) -> tuple[str, ...]:
        """The order in which the personas begin; empty for that of the scenario."""
        return next((change.order for change in self.changes if change.order), ())

    def rating_below(self, persona: str) -> float | None:
        """Stars on average of a persona that is to answer differently; None for the others."""
        told = (change for change in self.changes if change.action == "revise_prompt")
        return next((change.mean for change in told if change.persona == persona), None)

    @model_serializer(mode="wrap")
    def _without_no_changes(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # The names of sessions are made of this: those of runs without ratings stay what they were.
        written: dict[str, Any] = handler(self)
        return written if self.changes else {key: value for key, value in written.items() if key != "changes"}
