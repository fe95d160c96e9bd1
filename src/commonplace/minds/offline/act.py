"""Act, when asked at every tick: the plan's next step where the tick allows it."""

from __future__ import annotations

from commonplace.minds.offline.dice import Dice
from commonplace.minds.tasks import ActInput, ActOutput


def act(given: ActInput, dice: Dice) -> ActOutput:  # noqa: ARG001 – the plan decides
    """The step among the valid targets; otherwise staying with what one is at."""
    doing = given.item.do if given.item else ""
    because = given.item.because if given.item else ()
    if given.step == "MOVE" and given.step_target in given.areas:
        return ActOutput(kind="MOVE", to_location_id=given.step_target, because=because)
    if given.step == "INTERACT" and given.step_verb in given.objects.get(given.step_target, ()):
        return ActOutput(
            kind="INTERACT", object_id=given.step_target, verb=given.step_verb, doing=doing, because=because
        )
    return ActOutput(kind="IDLE", doing="" if given.step == "IDLE" else doing, because=because)
