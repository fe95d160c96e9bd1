"""Scenes in which something is to be done: what is new, who is here, the plan, and what one may do."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.minds.notes import Recalled, Spoken
from commonplace.minds.prompts.prompt import Setting
from commonplace.minds.prompts.scenes.recalling import Values, facts, own_places, recalling, spoken_lines, unsaid
from commonplace.minds.prompts.telling import Teller, Told, kept, plain, teller_of
from commonplace.minds.prompts.wire.act import areas, hearers, objects
from commonplace.minds.tasks import ActInput, ReactInput, Targets

REACTING = 4
"""Memories shown when reacting: the talk so far, the plan and the news stand beside them."""
LONGEST_BESIDE, LONGEST_EARLIER = 100, 64
"""Characters when reacting: of a memory, so that a sentence mostly keeps its end, and of an earlier line of the talk.

The line to answer is among the news, in full.
"""
LATEST_LINES = 2
"""Earlier lines of the talk when reacting; what went before is remembered."""
FEW = 2
"""As many people as one notices what they are at."""


def react(given: ReactInput, setting: Setting, drop: int) -> Values:
    teller = teller_of(given, setting)
    shown = kept(teller.memories(_unseen(given), LONGEST_BESIDE), REACTING, drop)
    memories = sorted(shown, key=lambda told: told.id)
    return {
        "memories": memories,
        "lines": spoken_lines(_earlier(given), LONGEST_EARLIER),
        "partners": [line.speaker for line in given.lines],
        "news": _news(given, teller),
        "facts": facts(given, {told.id for told in memories}),
        "own_places": own_places(given.places, setting),
        "doing": _doing(given),
        "targets": _targets(given, given.targets) if given.targets else None,
    }


def _unseen(given: ReactInput) -> list[Recalled]:
    """Retrieved memories that do not stand in the prompt already: as news, as a line of the talk, as the plan."""
    news = {entry.text for entry in given.news}
    plans = {item.do for item in (given.now, *given.later) if item is not None}
    return [
        note
        for note in unsaid(given.recalled, given.lines)
        if note.text not in news and not (note.frame.get("what") == "plan" and note.frame.get("do") in plans)
    ]


def _earlier(given: ReactInput) -> Sequence[Spoken]:
    """The latest lines of the talk, without the last one where it is among the news and stands there in full."""
    quotes = [entry.frame.get("quote") for entry in given.news if entry.kind == "said"]
    heard = bool(given.lines) and given.lines[-1].text in quotes
    return (given.lines[:-1] if heard else given.lines)[-LATEST_LINES:]


def _news(given: ReactInput, teller: Teller) -> list[Values]:
    """What is to be rated in the order of the ratings, `marked`; then what else is new. `id` 0: not to be cited."""
    by_text = {entry.text: entry for entry in reversed(given.news)}
    marked = [
        teller.news(by_text[text]) if text in by_text else Told(0, "", teller.bare(text)) for text in given.unrated
    ]
    rest = [teller.news(entry) for entry in given.news if entry.text not in given.unrated]
    return [{"told": told, "marked": index < len(marked)} for index, told in enumerate((*marked, *rest))]


def _doing(given: ReactInput) -> list[Values]:
    """What the few in sight are seen doing, where the news does not tell it; nothing while talking."""
    if given.lines or len(given.situation.people) > FEW:
        return []
    told = {entry.who for entry in given.news}
    return [
        {"called": plain(person.called), "doing": plain(person.doing)}
        for person in given.situation.people
        if person.doing and person.id not in told and not person.asleep
    ]


def act(given: ActInput, setting: Setting, drop: int) -> Values:
    return recalling(given, setting, drop) | {"targets": _targets(given, given)}


def _targets(given: ReactInput | ActInput, targets: Targets) -> Values:
    here = given.situation
    known = given.places if isinstance(given, ReactInput) else (here.place,)
    return {
        "areas": areas(targets, known).labels,
        "objects": objects(targets, here.things).labels,
        "agents": hearers(targets, here.people).labels,
        "step": targets.step,
        "step_target": _step_target(targets, given),
    }


def _step_target(targets: Targets, given: ReactInput | ActInput) -> str:
    here = given.situation
    known = given.places if isinstance(given, ReactInput) else (here.place,)
    if targets.step == "INTERACT":
        return objects(targets, here.things).label(f"{targets.step_target} {targets.step_verb}")
    return areas(targets, known).label(targets.step_target)
