"""Messages before they are sent: what they say is so in plain words, and who will read them when."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from commonplace.clock import hhmm
from commonplace.engine.driver import Driver
from commonplace.languages import phrases
from commonplace.languages.language import said
from commonplace.minds.mind import Ask
from commonplace.minds.tasks import PERCEIVE_EVENT, PerceiveEventInput
from commonplace.scenario.circumstances import carrying
from commonplace.scenario.scenario import Scenario
from commonplace.world.circumstances import Raise, subject_of
from commonplace.world.deeds import HouseRules
from commonplace.world.events import NOBODY, Post
from commonplace.world.messages import form_of, playing, readers_of
from commonplace.world.state import World


async def stated(
    post: Post, question: PerceiveEventInput, scenario: Scenario, world: World, driver: Driver
) -> dict[str, Any]:
    """The message, which also says in plain words what it says is so, where its own words do not carry that; as JSON.
    `question`: its words, as a mind is asked about them. Raises Paused when the mind is unavailable."""
    answer = await driver.answer(NOBODY, world.tick + 1, Ask(PERCEIVE_EVENT, question))
    raises = [Raise(*subject_of(key)) for key in answer.value.begins]
    return to_builtins(replace(post, words=carrying(post.words, raises, scenario, world.tick)))


def foreseen(post: Post, scenario: Scenario, world: World) -> str:
    """Who will read a message, and when, as things are now."""
    geography, words = scenario.geography, phrases(scenario.language, "god_mode")
    rules = HouseRules(0, scenario.language, scenario.kinds, {me: one.home for me, one in scenario.personas.items()})
    form, time = form_of(geography, post.to), hhmm(scenario.clock.time(world.tick + 2))
    readers = [geography.name(me) for found in readers_of(geography, world, post, rules).values() for me in found]
    names = words["now"].format(names=", ".join(readers)) if readers else words["none"]
    slots = {"name": geography.name(post.to) if post.to else "", "time": time, "text": post.words, "names": names}
    if form == "letter":
        home = geography.name(rules.homes[post.to])
        return said(scenario.language, "god_mode", "handed" if post.handed else "letter", place=home, **slots)
    places = [geography.name(area) for area in ((post.to,) if post.to else playing(geography, world, rules))]
    return said(scenario.language, "god_mode", form if places else "silent", place=", ".join(places), **slots)
