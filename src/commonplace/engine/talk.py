"""Talk with a character of a stored run, as it was at a tick: read-only, so that history stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from commonplace.cognition.interview import Answered, interview
from commonplace.cognition.turn import TalkView
from commonplace.engine.driver import Drive, Driver, NoJournal
from commonplace.engine.live_state import scenario_at, seen_at
from commonplace.errors import UsageError
from commonplace.minds.mind import Mind
from commonplace.minds.notes import Spoken
from commonplace.minds.tasks import Earlier
from commonplace.run.reading import Reading


def view_at(reading: Reading, agent: str, at: int | str | None = None) -> TalkView:
    """What a character knew at the end of a tick, and nothing later; None is the last tick.

    Raises UsageError for a tick that the run does not have and for somebody who was not in the world then.
    """
    tick = reading.tick(at)
    state = reading.state_at(agent, tick)
    scenario = scenario_at(reading, reading.scenario, tick)
    try:
        world = seen_at(reading, scenario, agent, tick)
    except KeyError as error:
        raise UsageError(
            f"{agent} was not in the world at tick {tick}", where=str(reading.path), hint="ask at another tick"
        ) from error
    past = reading.stream_at(agent, tick).snapshot()
    return TalkView(scenario, scenario.personas[agent], state, replace(world, tick=tick), past)


async def ask_character(
    view: TalkView,
    question: str,
    mind: Mind,
    *,
    seed: int = 0,
    number: int = 0,
    lines: Sequence[Spoken] = (),
    before: Earlier | None = None,
) -> Answered:
    """One answer of a mind. Nothing is journaled: the same mind is asked again for the same question.

    `lines`: the talk so far, oldest first; the person's lines have the speaker `-`. `number`: how many questions were
    asked before in the talk, so that an offline mind words its answers differently. Raises Paused if the mind is
    unavailable.
    """
    driver = Driver(mind, NoJournal(), seed, durable=False)
    asking = interview(view, question, lines=lines, before=before)
    drive = Drive(view.persona.id, view.world.tick, asking, first=number)
    await driver.run([drive])
    return drive.result
