"""Play: while a person decides for a character, its own mind remembers and plans, and does not act."""

from __future__ import annotations

from pydantic import ValidationError

from commonplace.cognition.act import chosen
from commonplace.cognition.notebook import Notebook
from commonplace.cognition.turn import TurnView
from commonplace.minds.tasks import ActOutput
from commonplace.world.actions import Action, Idle, Move


def played(view: TurnView, notebook: Notebook) -> Action | None:
    """What the person has it do in this tick, or that it waits; None while it decides for itself."""
    wanted: ActOutput | None = None
    for event in view.world.news:
        if event.type in {"TAKEN_OVER", "GIVEN_BACK"}:
            notebook.played = event.type == "TAKEN_OVER"
            wanted = _wanted(event.body.get("action") or {})
    if not notebook.played:
        return None
    notebook.trace["reaction"] = {"decision": "keep", "reason": "a person decides"}
    body = view.world.body
    going_on = Move(to_location_id=body.goal) if body.goal else Idle(doing=body.doing, asleep=body.asleep)
    return chosen(view, wanted, Idle(doing=body.doing)) if wanted else going_on


def _wanted(action: dict[str, object]) -> ActOutput | None:
    """The action as the `act` tool words it; one that does not fit is none."""
    try:
        return ActOutput.model_validate(action) if action else None
    except ValidationError:
        return None
