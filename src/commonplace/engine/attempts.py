"""Attempts: what a character tries beyond the known actions is judged, and shown before it is applied.

Rules judge first. What they do not understand is put to the mind; where nobody knows better, nothing comes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from commonplace.engine.driver import Driver
from commonplace.engine.god_mode import asked, doors, foreseen, is_state, stated
from commonplace.languages.language import language, said
from commonplace.minds.mind import Ask
from commonplace.minds.notes import Person, changed, fields_of
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.happens import SentMessage, message
from commonplace.minds.offline.judge import judge
from commonplace.minds.tasks import JUDGE, JudgeInput, JudgeOutput
from commonplace.scenario.circumstances import carrying, now_sentence, over_sentence
from commonplace.scenario.scenario import Scenario
from commonplace.text import words
from commonplace.world.actions import Action, Idle
from commonplace.world.circumstances import CircumstanceKind, Raise, subject_of
from commonplace.world.events import NOBODY
from commonplace.world.inputs import Attempt, as_dict, forbidden, from_dict, next_areas, within_reach
from commonplace.world.state import NOWHERE, World, scene


async def attempted(agent: str, text: str, scenario: Scenario, world: World, driver: Driver) -> dict[str, Any]:
    """Returns the input that a deed stands for. Raises Paused when the mind is unavailable.

    It holds what the deed would change out of reach, too: `described` says what is not here.
    """
    if forbidden(world, agent, scenario.kinds):
        return {"kind": "attempt", "agent_id": agent, "text": text}
    given = _input(agent, text, scenario, world)
    if written := _written(given):
        question = asked(written.post.words, scenario, world)
        post = await stated(written.post, question, scenario, world, driver)
        return {"kind": "attempt", "agent_id": agent, "text": written.sent, "message": post}
    output = judge(given, Dice(()))
    if not (output.sets or output.begins or output.ends or output.locked or output.unlocked):
        output = (await driver.answer(NOBODY, world.tick + 1, Ask(JUDGE, given))).value
    plain = as_dict(_attempt(agent, output, scenario, world, said_by_person=True))
    return {name: value for name, value in plain.items() if name != "seq"}


def _written(given: JudgeInput) -> SentMessage | None:
    """Returns the letter or the notice that a deed sends, told of the doer but for the words after a colon."""
    head, colon, words = given.text.partition(":")
    told = language(given.language).deed(head, given.doer) + colon + words
    found = message(changed(given, text=told), here=given.place)
    return found if found and found.post.by == given.doer.id and found.post.to else None


def attempt_of(agent: str, action: Action, scenario: Scenario, world: World) -> Attempt | None:
    """Returns the attempt that lies in what a character newly does in its own words; None for nothing."""
    doing = "" if not isinstance(action, Idle) or action.asleep else action.doing
    return meant(agent, doing, scenario, world) if doing and doing != world.bodies[agent].doing else None


def meant(agent: str, doing: str, scenario: Scenario, world: World) -> Attempt | None:
    """Returns what a free doing of a mind begins or ends of others and of things where it is, as rules read it; None
    for nothing."""
    area = world.bodies[agent].area
    here = (area, *world.occupants.get(area, ()), *world.contents.get(area, ()))
    named = (word for one in here if one != agent for word in words(scenario.geography.name(one)))
    if not any(len(word) > 1 and word in doing.lower() for word in named):
        return None
    given = _only_here(agent, doing, scenario, world)
    for sentence in language(scenario.language).sentences(doing, scenario.personas[agent].called):
        output = judge(changed(given, text=sentence), Dice(()))
        attempt = _attempt(agent, output, scenario, world, said_by_person=False)
        attempt = within_reach(scenario.geography, world, scenario.kinds, attempt)
        attempt = replace(attempt, raises=tuple(one for one in attempt.raises if one.key not in given.so))
        if attempt.raises or attempt.ends:
            return attempt
    return None


def _only_here(agent: str, text: str, scenario: Scenario, world: World) -> JudgeInput:
    """Returns `_input` without what is elsewhere: it is made for many characters a tick, and a city is large."""
    area = world.bodies[agent].area
    around = scene(world, area)
    near = replace(world, bodies=around.bodies, things=around.things)
    given = _input(agent, text, scenario, near, [area])
    return changed(given, so=tuple(key for key in given.so if subject_of(key)[1] in given.here))


def _attempt(agent: str, output: JudgeOutput, scenario: Scenario, world: World, *, said_by_person: bool) -> Attempt:
    raises = tuple(
        Raise(kind, of, agent if of != agent else output.by, output.hours)
        for kind, of in map(subject_of, output.begins)
        if _may(scenario.kinds[kind], own=of == agent, said_by_person=said_by_person)
    )
    changes = [change for change in output.sets if change[0] in world.things]
    return Attempt(
        seq=-1,
        agent_id=agent,
        text=carrying(output.percept, raises, scenario, world.tick),
        sets=tuple(change for change in changes if is_state(change, scenario)),
        opens=tuple(doors(scenario.geography, output.unlocked)),
        closes=tuple(doors(scenario.geography, output.locked)),
        moves=tuple((change[0], agent) for change in changes if not is_state(change, scenario)),
        far=output.far,
        raises=raises,
        ends=output.ends,
        why=output.why,
    )


def _may(kind: CircumstanceKind, *, own: bool, said_by_person: bool) -> bool:
    """Returns whether a deed may make something so."""
    match kind.deed:
        case "any":
            return said_by_person or not own
        case "none":
            return False
        case said_only:
            return said_by_person and (own or said_only == "said")


def _input(agent: str, text: str, scenario: Scenario, world: World, within: Sequence[str] | None = None) -> JudgeInput:
    """`within`: the areas that are named, if not all; then `world` holds what is in them."""
    geography, persona = scenario.geography, scenario.personas[agent]
    area = world.bodies[agent].area
    told = asked(text, scenario, world, within)
    here = [area, *(me for me, body in world.bodies.items() if body.area == area)]
    here += [thing for thing, place in told.located.items() if place == area]
    near = frozenset(here)
    can = [
        key for key in told.circumstances
        for kind, of in [subject_of(key)]
        if of in near and _may(scenario.kinds[kind], own=of == agent, said_by_person=True)
    ]  # fmt: skip
    if within is not None:
        told = changed(told, circumstances={key: told.circumstances[key] for key in can})
    return JudgeInput(
        **dict(fields_of(told)),
        doer=Person(id=agent, name=persona.name, called=persona.called, work=persona.work, pronoun=persona.pronoun),
        place=area,
        here=(*here, *sorted(next_areas(geography, [area]))),
        can=tuple(can),
    )


def described(body: Mapping[str, Any], scenario: Scenario, world: World) -> str:
    """Returns what an attempt will do, as things are now, in the scenario's language; also what of it is not
    possible."""
    item = cast(Attempt, from_dict({"seq": 0, **body}))
    me, name, kinds = item.agent_id, scenario.geography.name, scenario.kinds
    if why := forbidden(world, me, kinds):
        return said(scenario.language, "attempt", why, name=name(me))
    done = within_reach(scenario.geography, world, kinds, item)
    area = world.bodies[me].area
    others = [name(one) for one, body in world.bodies.items() if body.area == area and one != me and not body.asleep]
    lines = [_line(scenario, "seen" if others else "alone", names=", ".join(others), text=item.text)]
    lines += [_line(scenario, "far", text=item.far)] if item.far else []
    lines += [_line(scenario, "state", name=name(thing), state=state) for thing, state in done.sets]
    for thing, to in done.moves:
        slots = {"name": name(thing)} if to == NOWHERE else {"name": name(thing), "other": name(to)}
        lines.append(_line(scenario, "lost" if to == NOWHERE else "taken", **slots))
    for key, ids in (("shut", done.closes), ("open", done.opens)):
        ways = (scenario.geography.ways[way] for way in ids)
        names = ", ".join(f"{name(way.a)} – {name(way.b)}" for way in ways)
        lines += [_line(scenario, key, names=names)] if ids else []
    lines += [now_sentence(scenario, one.kind, one.of, one.by) for one in done.raises]
    lines += [over_sentence(scenario, key) for key in done.ends]
    lines += [foreseen(done.message, scenario, world)] if done.message else []
    if len(lines) == 1 + bool(item.far):
        lines.append(_line(scenario, "nothing"))
    lines += [_line(scenario, "absent", name=name(of)) for of in _absent(item, done)]
    return " ".join((*lines, item.why)).strip()


def _absent(item: Attempt, done: Attempt) -> Iterable[str]:
    """Returns whom and what an attempt would change that is out of reach."""

    def concerned(one: Attempt) -> dict[str, None]:
        ends = (subject_of(key)[1] for key in one.ends)
        sends = (one.message.to,) if one.message else ()
        named = (*(of for of, _ in (*one.sets, *one.moves)), *(raised.of for raised in one.raises), *ends, *sends)
        return dict.fromkeys(named)

    reached = concerned(done)
    return [of for of in concerned(item) if of not in reached]


def _line(scenario: Scenario, key: str, **slots: str) -> str:
    return said(scenario.language, "attempt", key, **slots)
