"""The plan's next step: the action it comes to at this place and tick, and what an action may be directed at."""

from __future__ import annotations

from datetime import timedelta

from commonplace.character.plan import PlanItem
from commonplace.cognition.notebook import Notebook
from commonplace.cognition.sentences import doing
from commonplace.cognition.talk import my_talk
from commonplace.cognition.turn import TurnView
from commonplace.minds.tasks import Targets
from commonplace.world.actions import Action, Idle, Interact, Move, as_dict

REFUSED_FOR = timedelta(hours=1)
"""What was refused is not tried again so soon, unless the object is seen to change."""


def plan_step(view: TurnView, notebook: Notebook, item: PlanItem | None) -> Action:
    """What the plan comes to at this place and tick."""
    language = view.scenario.language
    partner = _awaited(view)
    if partner:
        return Idle(doing=doing(language, "talking", view.scenario.personas[partner].name), emoji="💬")
    if item is None:
        return Idle(doing=view.world.body.doing or doing(language, "resting"), asleep=view.world.body.asleep)
    goal = _goal(view, notebook, item)
    if goal != view.world.area:
        return Move(to_location_id=goal, emoji=item.emoji, because=item.because)
    if item.object_id and not _attempted(view, item):
        return Interact(
            object_id=item.object_id,
            verb=item.verb,
            doing=item.action_description,
            emoji=item.emoji,
            because=item.because,
        )
    return Idle(doing=item.action_description, asleep=item.asleep, emoji=item.emoji, because=item.because)


def _goal(view: TurnView, notebook: Notebook, item: PlanItem) -> str:
    """Where the item is to be done: at its place, or where the object it needs is believed to be."""
    if item.object_id and not _attempted(view, item):
        believed = notebook.belief.place_of(item.object_id)
        if believed and believed != view.persona.id and believed in view.scenario.geography.edges:
            return believed
    return item.location


def _attempted(view: TurnView, item: PlanItem) -> bool:
    """Whether this item's verb was tried since the item began, or refused a while ago by an object unchanged since.

    The simulator says so.
    """
    for event in view.world.outcome:
        if event.type == "INTERACT" and event.body["object_id"] == item.object_id and event.body["verb"] == item.verb:
            return True
    for memory in view.draft.backwards():
        if memory.created_at < item.start_time - REFUSED_FOR:
            return False
        frame = memory.details.get("frame", {})
        if frame.get("object") != item.object_id:
            continue
        mine = memory.kind == "action" and frame.get("verb") == item.verb
        if mine and (memory.created_at >= item.start_time or frame["what"] == "refused"):
            return True
        if memory.created_at < item.start_time:
            return False
    return False


def _awaited(view: TurnView) -> str:
    """Whom I have just spoken to and who may answer now; empty when nobody is to be waited for."""
    talk = my_talk(view)
    if talk is None or talk.floor == view.persona.id or talk.floor not in view.world.bodies:
        return ""
    last = talk.lines[-1]
    mine = next((event for event in view.world.outcome if event.type == "SAY"), None)
    fresh = last.speaker == view.persona.id and last.tick == view.tick - 1
    return talk.floor if fresh and mine is not None and not mine.body.get("ends") else ""


def targets(view: TurnView, notebook: Notebook, step: Action) -> Targets:
    """This tick's valid targets as the character knows them, beside what the plan comes to."""
    proposed = as_dict(step)
    valid = view.world.targets
    return Targets(
        areas=tuple(area for area in valid.areas if notebook.belief.knows(area)),
        objects=valid.objects,
        agents=valid.agents,
        step=proposed["kind"],
        step_target=proposed.get("to_location_id", proposed.get("object_id", "")),
        step_verb=proposed.get("verb", ""),
        step_doing=step.doing if isinstance(step, Idle | Interact) else "",
    )
