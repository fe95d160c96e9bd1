"""Act: one action, from the reaction or the plan. The world's valid targets are not consulted here to soften anything:
what the plan wants is proposed, and the simulator disposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from commonplace.character.plan import PlanItem
from commonplace.cognition.converse import LONGEST_LINE, converse, line
from commonplace.cognition.notebook import Notebook
from commonplace.cognition.sentences import doing
from commonplace.cognition.situation import item_note, recalled, situation, who
from commonplace.cognition.step import plan_step, targets
from commonplace.cognition.turn import TurnView
from commonplace.minds.notes import News
from commonplace.minds.tasks import ACT, ActInput, ActOutput, ConverseOutput, ReactOutput
from commonplace.text import clean, shortened
from commonplace.world.actions import Action, Idle, Interact, Move

LONGEST_DOING = 120


async def act(
    view: TurnView, notebook: Notebook, reaction: ReactOutput, news: Sequence[News], item: PlanItem | None
) -> Action:
    """The one action of this tick."""
    if reaction.decision == "talk":
        said = await converse(view, notebook, reaction, news, item)
        if said is not None:
            return said
    step = plan_step(view, notebook, item)
    if reaction.decision == "wait" and isinstance(step, Move):
        step = Idle(doing=view.world.body.doing, because=reaction.because)
    if reaction.act is not None:
        return chosen(view, reaction.act, step)
    if view.scenario.cognition.fidelity == "every_tick" and not view.world.body.asleep:
        return await _asked(view, notebook, reaction, step, item)
    return step


async def _asked(
    view: TurnView, notebook: Notebook, reaction: ReactOutput, step: Action, item: PlanItem | None
) -> Action:
    """`every_tick`: the mind makes the call itself, with the plan's next step as what it falls back to."""
    given = ActInput(
        who=who(view.persona),
        situation=situation(view),
        item=item_note(view.scenario, item) if item else None,
        reaction=reaction.reason if reaction.decision != "keep" else "",
        recalled=recalled(view.scenario, view.draft.recent(5), view.now),
        **dict(targets(view, notebook, step)),
    )
    answer = await notebook.ask(ACT, given)
    return chosen(view, answer.value, step)


def chosen(view: TurnView, output: ActOutput, step: Action) -> Action:
    """The action an answer of the `act` tool comes to; `step` where its words cannot be said."""
    because = tuple(memory for memory in output.because if memory in view.draft) or step.because
    words = shortened(clean(output.doing), LONGEST_DOING)
    match output.kind:
        case "MOVE":
            return Move(to_location_id=output.to_location_id, emoji=output.emoji, because=because)
        case "INTERACT":
            return Interact(
                object_id=output.object_id, verb=output.verb, doing=words, emoji=output.emoji, because=because
            )
        case "SAY":
            said = shortened(clean(output.utterance), LONGEST_LINE)
            return line(view, output.to_agent_id, ConverseOutput(utterance=said, because=output.because)) or step
        case "IDLE":
            if isinstance(step, Idle):
                return replace(step, doing=words or step.doing, emoji=output.emoji or step.emoji, because=because)
            return Idle(doing=words or doing(view.scenario.language, "waiting"), emoji=output.emoji, because=because)
