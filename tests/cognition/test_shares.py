"""What there is to tell of an occasion is told by one of those who were there."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cognition.hamlet import hamlet
from commonplace.cognition.situation import recalled
from commonplace.memory.record import Memory
from commonplace.scenario.scenario import Tell
from commonplace.world.happenings import Befell
from sizes import examples

NOON = datetime(2031, 10, 4, 12, tzinfo=UTC)
LINES = ("The well sang.", "It sang in F.", "I sang along.")
NOW = ("Hush. It sings.", "That's an F, that is.")
TOWN = replace(hamlet(), tells={"well-sings": Tell(LINES, "well", "joke")})


def _noticed(agent: str, beside: tuple[str, ...], areas: str) -> Memory:
    frame = {"what": "event", "text": "The well sings.", "event": "well-sings", "with": " ".join(beside)}
    frame |= {"areas": areas} if areas else {}
    return Memory(
        id=1, agent=agent, tick=1, created_at=NOON, accessed_at=NOON, kind="observation", text="The well sings.",
        importance=5, details={"frame": frame},
    )  # fmt: skip


def _told(agent: str, here: tuple[str, ...], areas: str) -> tuple[str, ...]:
    others = tuple(one for one in here if one != agent)
    return recalled(TOWN, [_noticed(agent, others, areas)], NOON)[0].tell


@examples(20)
@given(st.sets(st.sampled_from(sorted(TOWN.personas)), min_size=1))
def test_one_of_those_who_were_there_tells_of_an_occasion(here: set[str]) -> None:
    told = [_told(agent, tuple(sorted(here)), "green") for agent in sorted(here)]
    assert sorted(told) == sorted([LINES, *[()] * (len(here) - 1)])


def test_of_what_the_whole_town_notices_one_tells_wherever_people_are() -> None:
    told = [line for agent in TOWN.personas for line in _told(agent, (agent,), "")]
    assert told == list(LINES)


@pytest.mark.parametrize(("minutes", "told"), [(0, NOW), (10, NOW), (11, LINES)])
def test_there_and_then_everybody_has_the_words_for_that(minutes: int, told: tuple[str, ...]) -> None:
    town = replace(TOWN, tells={"well-sings": Tell(LINES, "well", "joke", NOW)})
    notes = [
        recalled(town, [_noticed(agent, (), "green")], NOON + timedelta(minutes=minutes))[0] for agent in town.personas
    ]
    assert all(note.tell == told for note in notes)


@pytest.mark.parametrize("agent", sorted(TOWN.personas))
def test_what_an_occasion_is_about_is_known_to_all_who_noticed_it(agent: str) -> None:
    (note,) = recalled(TOWN, [_noticed(agent, tuple(TOWN.personas), "green")], NOON)
    assert isinstance(note.happening, Befell) and (note.happening.topic, note.happening.sort) == ("well", "joke")
