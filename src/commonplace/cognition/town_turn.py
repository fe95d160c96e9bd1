"""The town's turn: one character's tick, read from top to bottom."""

from __future__ import annotations

from commonplace.cognition.act import act, played
from commonplace.cognition.deferred import deliver, request_reflection, request_relate
from commonplace.cognition.goals import pursue
from commonplace.cognition.past import record_past
from commonplace.cognition.perceive import perceive
from commonplace.cognition.plan import current_item, request_day, struck
from commonplace.cognition.react import KEEP, react, reaction_entry, sleeps_on
from commonplace.cognition.relations import acquaint, feel
from commonplace.cognition.remember import rate, store_percepts
from commonplace.cognition.turn import Notebook, Turn, TurnView
from commonplace.world.actions import Action


async def town_turn(view: TurnView) -> Turn:
    """Runs the turn: perceive → remember → retrieve → plan → react → act → reflect. Returns it as one value."""
    notebook = Notebook(view.state)
    await deliver(view, notebook)
    perception = perceive(view)
    notebook.belief = perception.belief
    acquaint(view, notebook, perception.percepts)
    stored = await store_percepts(view, notebook, perception.percepts)
    record_past(view, notebook, stored.remembered)
    feel(view, notebook, stored.remembered)
    pursue(view, notebook, stored.remembered)
    news = stored.news
    await struck(view, notebook)
    item = await current_item(view, notebook)
    action = played(view, notebook)
    if action is None:
        asleep = view.world.body.asleep
        reaction = sleeps_on(view, notebook, news) if asleep else await react(view, notebook, news, item)
        if notebook.notes:  # the reaction changed the plan, so the current item may be another one
            item = await current_item(view, notebook)
        action = await act(view, notebook, reaction, news, item)
    await rate(view, notebook)  # what the reaction has not rated on the way; nothing is remembered after this
    request_day(view, notebook)
    request_relate(view, notebook)
    request_reflection(view, notebook)
    return _turn(view, notebook, action, perception.missed)


def _turn(view: TurnView, notebook: Notebook, action: Action, missed: int) -> Turn:
    item = notebook.plan.current(view.now)
    trace = notebook.trace
    trace.setdefault("reaction", reaction_entry(KEEP, None))
    trace["item"] = item.id if item else ""
    if missed:
        trace["missed"] = missed
    return notebook.turn(view, action)
