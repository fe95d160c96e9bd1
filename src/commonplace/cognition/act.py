"""Act: one action, from the reaction or the plan.

The plan's step is proposed even if it is not a valid target: the simulator accepts or rejects it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from pydantic import ValidationError

from commonplace.character.plan import PlanItem
from commonplace.cognition.converse import LONGEST_LINE, converse, line, said_today
from commonplace.cognition.retrieve import retrieve
from commonplace.cognition.sentences import doing
from commonplace.cognition.situation import item_note, places, recalled, situation, who
from commonplace.cognition.turn import Notebook, TurnView
from commonplace.minds.notes import News, Recalled, fields_of
from commonplace.minds.tasks import ACT, ActInput, ActOutput, ConverseOutput, KnownTargets, ReactOutput
from commonplace.text import clean, shortened
from commonplace.world.actions import ACTIONS, Action, Idle, Interact, Move, objection, proposed
from commonplace.world.events import GivenBack, Interacted, Spoke, TakenOver
from commonplace.world.happenings import TALKS, Absent, Did, Failed, happening_of
from commonplace.world.tree import attempt

LONGEST_DOING = 120
WALKS, USES, RESTS, SLEEPS = "🚶", "✋", "🙂", "😴"
"""What is shown over the head of somebody whose plan names no emoji."""
REFUSED_FOR = timedelta(hours=1)
"""What was refused is not tried again so soon, unless the object is seen to change; nor is a way that was closed."""


async def act(
    view: TurnView, notebook: Notebook, reaction: ReactOutput, news: Sequence[News], item: PlanItem | None
) -> Action:
    """Returns the one action of this tick."""
    if reaction.decision == "talk":
        said = await converse(view, notebook, reaction, news, item)
        if said is not None:
            return said
    step = plan_step(view, notebook, item)
    if reaction.decision == "wait" and isinstance(step, Move):
        step = Idle(doing=view.world.body.doing, emoji=view.world.body.emoji, because=reaction.because)
    if reaction.act is not None:
        return _unless_in_vain(view, chosen(view, reaction.act, step), step)
    if view.scenario.cognition.asks_each_tick and not view.world.body.asleep:
        return await _ask_mind(view, notebook, reaction, step, item)
    return step


async def _ask_mind(
    view: TurnView, notebook: Notebook, reaction: ReactOutput, step: Action, item: PlanItem | None
) -> Action:
    """Asks the mind for the action, for `every_tick` and `full`; the plan's next step is the fallback."""
    in_mind = await _in_mind(view, notebook, item)
    inputs = ActInput(
        who=who(view.persona),
        situation=situation(view),
        item=item_note(view.scenario, item) if item else None,
        reaction=reaction.reason if reaction.decision != "keep" else "",
        places=places(view.scenario, notebook.belief),
        recalled=in_mind,
        **dict(fields_of(targets(view, notebook, step))),
    )
    answer = await notebook.ask(ACT, inputs)
    return _unless_in_vain(view, chosen(view, answer.value, step), step)


async def _in_mind(view: TurnView, notebook: Notebook, item: PlanItem | None) -> tuple[Recalled, ...]:
    """Returns the memories used to choose an action: the latest ones or, in fidelity `full`, the best for the
    situation."""
    if view.scenario.cognition.fidelity != "full":
        return recalled(view.scenario, view.draft.recent(5), view.now)
    called = [view.scenario.personas[other].called for other in sorted(view.world.bodies)]
    doing = item.action_description if item else view.world.body.doing
    return await retrieve(view, notebook, "act", [*called, doing, view.world.path[-1]])


def chosen(view: TurnView, output: ActOutput, step: Action) -> Action:
    """Returns an answer of the `act` tool as an action; `step` if its words cannot be said."""
    because = tuple(memory for memory in output.because if memory in view.draft) or step.because
    words = shortened(clean(output.doing), LONGEST_DOING)
    match output.kind:
        case "SAY":
            said = ConverseOutput(utterance=shortened(clean(output.utterance), LONGEST_LINE), because=output.because)
            return line(view, output.to_agent_id, said, said_today(view, output.to_agent_id), output.emoji) or step
        case "IDLE":
            if isinstance(step, Idle):
                return replace(step, doing=words or step.doing, emoji=output.emoji or step.emoji, because=because)
            return Idle(doing=words or doing(view.scenario.language, "waiting"), emoji=output.emoji, because=because)
        case name:
            kind = ACTIONS[name]
            said = {target: getattr(output, target) for target in kind.targets}
            if "doing" in kind.fields:
                said["doing"] = words
            return kind.action(**said, emoji=output.emoji, because=because)


def plan_step(view: TurnView, notebook: Notebook, item: PlanItem | None) -> Action:
    """Returns the plan's next step as an action at this place and tick."""
    language = view.scenario.language
    partner = _awaited(view)
    if partner:
        return Idle(doing=doing(language, "talking", view.scenario.personas[partner].name), emoji=TALKS)
    if item is None:
        asleep = view.world.body.asleep
        return Idle(
            doing=view.world.body.doing or doing(language, "resting"), asleep=asleep, emoji=_seen_at(asleep=asleep)
        )
    uses_object = item.object_id != "" and not _attempted(view, item)
    goal = (uses_object and _place_of(view, notebook, item.object_id)) or item.location
    if goal != view.world.area and _is_closed(view, goal):
        return Idle(doing=doing(language, "waiting"), emoji=RESTS, because=item.because)
    if goal != view.world.area:
        return Move(to_location_id=goal, emoji=item.emoji or WALKS, because=item.because)
    if uses_object:
        return Interact(
            object_id=item.object_id,
            verb=item.verb,
            doing=item.action_description,
            emoji=item.emoji or USES,
            because=item.because,
        )
    emoji = item.emoji or _seen_at(asleep=item.asleep)
    return Idle(doing=item.action_description, asleep=item.asleep, emoji=emoji, because=item.because)


def _seen_at(*, asleep: bool) -> str:
    return SLEEPS if asleep else RESTS


def _is_closed(view: TurnView, goal: str) -> bool:
    """Tells whether the way to an area was found closed within the hour, as the character remembers it."""
    for memory in view.draft.backwards():
        if memory.created_at <= view.now - REFUSED_FOR:
            return False
        happened = happening_of(memory.details)
        if isinstance(happened, Failed) and happened.place == goal and not happened.object:
            return True
    return False


def _place_of(view: TurnView, notebook: Notebook, thing: str) -> str:
    """Returns the area an object is believed to be in; empty if it is carried or unknown."""
    believed = notebook.belief.place_of(thing)
    return believed if believed != view.persona.id and believed in view.scenario.geography.edges else ""


def _attempted(view: TurnView, item: PlanItem) -> bool:
    """Tells whether this item's verb was tried since the item began, or refused within the hour by an object unchanged
    since.

    It uses the simulator's account: this tick's outcome, then the memories of earlier ones.
    """
    for event in view.world.outcome:
        match event.body:
            case Interacted(object_id=thing, verb=verb) if (thing, verb) == (item.object_id, item.verb):
                return True
            case _:
                pass
    for memory in view.draft.backwards():
        if memory.created_at < item.start_time - REFUSED_FOR:
            return False
        done = happening_of(memory.details)
        if done.object != item.object_id:
            continue
        mine = isinstance(done, Did | Failed) and done.verb == item.verb
        if mine and (memory.created_at >= item.start_time or isinstance(done, Failed)):
            return True
        if memory.created_at < item.start_time:
            return False
    return False


def _awaited(view: TurnView) -> str:
    """Returns the character who may answer now: the one I have just spoken to, or the one somebody else of a larger
    talk has spoken to.

    Empty if there is nobody to wait for.
    """
    talk = view.world.talk
    if talk is None or talk.floor == view.persona.id or talk.floor not in view.world.bodies:
        return ""
    last = talk.lines[-1]
    if len(talk.members) > 2 and last.tick == view.tick - 1 and last.speaker != view.persona.id:
        return last.speaker
    mine = next((event.body for event in view.world.outcome if isinstance(event.body, Spoke)), None)
    fresh = last.speaker == view.persona.id and last.tick == view.tick - 1
    return talk.floor if fresh and mine is not None and not mine.ends else ""


def _unless_in_vain(view: TurnView, action: Action, step: Action) -> Action:
    """Returns the action; `step` if the action cannot be done, as the character has found out within the hour."""
    why = objection(action, view.world.targets)
    tried = (action.object_id, action.verb) if isinstance(action, Interact) else ("", "")
    if not why and (not tried[0] or _works(view, *tried)):
        return action
    for memory in view.draft.backwards():
        if memory.created_at < view.now - REFUSED_FOR:
            break
        match happening_of(memory.details):
            case Failed(object="", why=reason) if reason == why:
                return step
            case Failed(object=thing, verb=verb) if thing and (thing, verb) == tried:
                return step
            case Absent(object=thing) if thing == tried[0]:
                return step
            case _:
                pass
    return action


def targets(view: TurnView, notebook: Notebook, step: Action) -> KnownTargets:
    """Returns this tick's valid targets as the character knows them, and the plan's next step.

    Of an object's verbs, only those that its state allows are valid.
    """
    next_one, valid = proposed(step), view.world.targets
    objects = {
        thing: tuple(verb for verb in verbs if _works(view, thing, verb)) for thing, verbs in valid.objects.items()
    }
    return KnownTargets(
        areas=tuple(area for area in valid.areas if notebook.belief.knows(area)),
        objects={thing: verbs for thing, verbs in objects.items() if verbs},
        agents=valid.agents,
        step=next_one.kind,
        step_target=next_one.to_location_id or next_one.object_id,
        step_verb=next_one.verb,
        step_doing=step.doing if isinstance(step, Idle | Interact) else "",
        others=valid.others,
    )


def _works(view: TurnView, thing: str, verb: str) -> bool:
    """Tells whether an object in sight or in hand allows a verb in its state."""
    geography = view.scenario.geography
    kind = geography.kinds[geography.nodes[thing].kind]
    at_hand = {id: seen.state for id, seen in view.world.things.items()}
    people = 1 + sum(not body.asleep for body in view.world.bodies.values())
    return attempt(kind, at_hand[thing], verb, at_hand=at_hand, people=people).done


def played(view: TurnView, notebook: Notebook) -> Action | None:
    """Returns the action that a person wants, or waiting, while the person plays the character; None while it decides
    for itself.

    Its own mind goes on remembering and planning, so that it knows its past when it is given back.
    """
    wanted: ActOutput | None = None
    for event in view.world.news:
        match event.body:
            case TakenOver(action=action):
                notebook.played, wanted = True, _wanted(action)
            case GivenBack():
                notebook.played, wanted = False, None
            case _:
                pass
    if not notebook.played:
        return None
    notebook.trace["reaction"] = {"decision": "keep", "reason": "a person decides"}
    body = view.world.body
    going_on = Move(to_location_id=body.goal) if body.goal else Idle(doing=body.doing, asleep=body.asleep)
    return chosen(view, wanted, Idle(doing=body.doing)) if wanted else going_on


def _wanted(action: Mapping[str, object]) -> ActOutput | None:
    """Returns the action as the `act` tool words it; None if it does not validate."""
    try:
        return ActOutput.model_validate(action) if action else None
    except ValidationError:
        return None
