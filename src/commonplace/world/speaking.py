"""SAY: words to somebody, which everybody in the area hears."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.world.deeds import Action, Actor, Deed
from commonplace.world.events import Spoke
from commonplace.world.state import AreaScene


@dataclass(frozen=True, slots=True, kw_only=True)
class Say(Action):
    """Speak to one character here; everybody in the area hears it.

    `facts` are the seed facts whose words the utterance carries, `claimed` those the mind says it mentioned,
    `carriers` the ids of the memories each fact was spoken from, in the order of `facts`. `ends` marks a farewell.
    `speech_act` says what the utterance does (`tell`, `ask.well`, `invite` …) and `topic` what it is about; both are
    empty where the mind did not say so.
    """

    to_agent_id: str
    utterance: str
    facts: tuple[str, ...] = ()
    claimed: tuple[str, ...] = ()
    carriers: tuple[int, ...] = ()
    ends: bool = False
    speech_act: str = ""
    topic: str = ""


def speak(one: Actor, action: Say) -> Deed:
    """Returns the deed of saying a line, which always succeeds; `area.fold_area` decides who hears it and which talk it
    belongs to."""
    spoke = Spoke(
        to_agent_id=action.to_agent_id,
        utterance=action.utterance,
        facts=action.facts,
        claimed=action.claimed,
        carriers=action.carriers,
        ends=action.ends,
        speech_act=action.speech_act,
        topic=action.topic,
        emoji=action.emoji,
        because=action.because,
    )
    return Deed(one.me, one.event(spoke), one.stays(one.doing), action)


MOST_MEMBERS = 4
"""Members of a conversation from which on nobody else may join it."""


def partners(scene: AreaScene, me: str) -> tuple[str, ...]:
    """Returns the characters that `me` may speak to: somebody awake here, in the same talk, free, or in a talk that
    still has a place.

    In a talk only the character who has the floor speaks; if nobody spoke in it last tick, every member may.
    """
    awake = scene.awake(me)
    if not scene.conversations:
        return awake
    circles = {member: talk.members for talk in scene.conversations for member in talk.members}
    mine = next((talk for talk in scene.conversations if me in talk.members), None)
    if mine is None:
        return tuple(other for other in awake if len(circles.get(other, ())) < MOST_MEMBERS)
    if mine.floor != me and any(one.type == "SAY" and one.agent_id in mine.members for one in scene.happened):
        return ()
    full = len(mine.members) >= MOST_MEMBERS
    return tuple(other for other in awake if other in mine.members or not (full or other in circles))
