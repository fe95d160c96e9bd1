"""INTERACT: a verb tried on an object that is here or carried."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial

from commonplace.languages import phrases
from commonplace.languages.language import language
from commonplace.world.deeds import Action, Actor, Deed, Standing
from commonplace.world.events import Interacted
from commonplace.world.geography import Geography
from commonplace.world.state import AreaScene, ThingState
from commonplace.world.tree import CARRYING, PEOPLE, AttemptResult, attempt, verb_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Interact(Action):
    """Try a verb on an object here or carried. `doing` is what others see when it works."""

    object_id: str
    verb: str
    doing: str = ""


def handle(one: Actor, action: Interact) -> Deed:
    """Returns the deed of trying a verb, in the words of the object's kind."""
    object_id = action.object_id
    tried = tried_by(one.setting.geography, one.scene, one.me, object_id, action.verb)
    event = partial(Interacted, object_id=object_id, verb=action.verb, emoji=action.emoji, because=action.because)
    if tried.done and _lacks_power(one, object_id):
        doing = one.doing
        did = event(outcome="refused", why=one.say("power", object_id))
        return Deed(one.me, one.event(did), one.stays(doing), action)
    if tried.done:
        name = one.setting.geography.name(object_id)
        doing = action.doing or verb_words(one.setting.rules.language, action.verb, name).doing
        progress = (tried.progress or tried.times, tried.times) if tried.times > 1 else None
        did = event(outcome="done", doing=doing, seen=tried.seen, progress=progress)
    else:
        doing = one.doing
        did = event(outcome="refused", why=tried.why or _why(one, tried, object_id), lacks=tried.lacks)
    hands = {object_id: one.me if action.verb == "TAKE" else one.scene.area} if _carries(one, action, tried) else {}
    return Deed(one.me, one.event(did), one.stays(doing), action, attempt=tried, hands=hands)


def _lacks_power(one: Actor, object_id: str) -> bool:
    """Tells whether the verb would switch something on where there is no power."""
    if one.scene.area not in one.setting.duties.powerless:
        return False
    words = phrases(one.setting.rules.language, "circumstances")
    name, state = one.setting.geography.name(object_id), one.scene.things[object_id].state
    electric = language(one.setting.rules.language).occurs(words["electric"].split(" | "), name)
    return electric and state in words["off"].split(" | ")


def _carries(one: Actor, action: Interact, tried: AttemptResult) -> bool:
    geography = one.setting.geography
    portable = geography.kinds[geography.nodes[action.object_id].kind].portable
    return tried.done and action.verb in CARRYING and portable


def _why(one: Actor, tried: AttemptResult, object_id: str) -> str:
    """Returns why something does not work, in the simulator's words."""
    if not tried.lacks:
        return one.say("refused", object_id)
    return one.say("hands" if tried.lacks == PEOPLE else "lacks", tried.lacks)


def tried_by(geography: Geography, scene: AreaScene, me: str, object_id: str, verb: str) -> AttemptResult:
    """Returns the result of `me` trying a verb on an object of the scene."""
    thing = scene.things[object_id]
    kind = geography.kinds[geography.nodes[object_id].kind]
    if all(not one.needs and one.people == 1 for one in kind.transitions):
        return attempt(kind, thing.state, verb, progress=thing.progress)
    at_hand = {id: one.state for id, one in scene.things.items() if one.parent in (scene.area, me)}
    people = sum(not body.asleep for body in scene.bodies.values())
    return attempt(kind, thing.state, verb, progress=thing.progress, at_hand=at_hand, people=people)


def object_verbs(one: Standing) -> dict[str, tuple[str, ...]]:
    """Returns each object here or carried, with the verbs that may be tried on it."""
    return {id: verbs for id, thing in one.scene.things.items() if (verbs := _verbs(one, id, thing))}


def _verbs(one: Standing, id: str, thing: ThingState) -> tuple[str, ...]:
    if thing.parent not in (one.scene.area, one.me):
        return ()
    kind = one.geography.kinds[one.geography.nodes[id].kind]
    return _with_handling(kind.verbs, "DROP" if thing.parent == one.me else "TAKE") if kind.portable else kind.verbs


@cache
def _with_handling(verbs: tuple[str, ...], handling: str) -> tuple[str, ...]:
    return (*(verb for verb in verbs if verb not in CARRYING), handling)
