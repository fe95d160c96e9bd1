"""The merged reaction: what is asked for besides comes along, and nothing else changes."""

from __future__ import annotations

from typing import Any

from commonplace.minds.notes import ItemNote, Spoken, changed
from commonplace.minds.offline.converse import converse
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.rate import rate
from commonplace.minds.offline.react import react
from commonplace.minds.tasks import ConverseInput, KnownTargets, RateInput, ReactInput, ReactOutput
from commonplace.world.happenings import Befell, Seen, Sky
from minds.offline import sample

DICE = Dice((7, "mira", 12, 0))
ADDED = {"ratings", "utterance", "ends", "facts", "speech_act", "topic", "act", "because"}
TARGETS = KnownTargets(
    areas=("canal", "plaza"), objects={"pot": ("USE",)}, step="INTERACT", step_target="pot", step_verb="USE"
)


def heard(**more: Any) -> ReactInput:
    """Jun has said something to Mira."""
    line = sample.said(50, "My rotor is bent again.")
    entry = sample.news("said", line.text, 50, line.happening, who="jun", to_me=True)
    lines = (Spoken(speaker="jun", called="Jun", text="My rotor is bent again."),)
    memories = (line, sample.doing(3, "jun", "repairing a drone"))
    return sample.reaction(entry, **({"recalled": memories, "lines": lines, "floor": True} | more))


def weather(**more: Any) -> ReactInput:
    """Mira is caught by the rain on the plaza."""
    entry = sample.news("weather", "It begins to rain.", 61, Sky(sky="rain", old="cloudy"))
    out = ItemNote(
        start="09:00", minutes=60, location="plaza", location_name="Lattice Plaza", do="playing chess", outdoor=True
    )
    here = sample.here(sky="rain", place=sample.PLACES[2])
    return sample.reaction(entry, situation=here, now=out, **more)


def bare(answer: ReactOutput) -> dict[str, Any]:
    """What a reaction is without its additions."""
    return answer.model_dump(exclude=ADDED)


def test_a_reaction_asked_for_more_decides_the_same() -> None:
    for given in (heard(), weather()):
        more = changed(given, speaks=True, targets=TARGETS, unrated=("It begins to rain.",))
        plain, full = react(given, DICE), react(more, DICE)
        assert bare(full) == bare(plain)
        assert not any((plain.ratings, plain.utterance, plain.ends, plain.facts, plain.act))


def test_ratings_are_those_of_the_single_question() -> None:
    texts = ("Jun Park is reading.", "The power goes out in the noodle bar.")
    happenings = (Seen(who="jun", doing="reading"), Befell(text=texts[1]))
    given = heard(unrated=texts, unrated_happenings=happenings)
    single = RateInput(who=given.who, texts=texts, happenings=happenings)
    assert react(given, DICE).ratings == rate(single, DICE).ratings


def test_words_rest_on_memories_and_are_those_of_a_talk() -> None:
    given = heard(speaks=True)
    answer = react(given, DICE)
    assert answer.decision == "talk" and answer.utterance
    assert set(answer.because) <= {memory.id for memory in given.recalled}
    talk = ConverseInput(
        who=given.who, situation=given.situation, hearer=given.situation.people[0], purpose=answer.purpose,
        lines=given.lines, recalled=given.recalled, now=given.now,
    )  # fmt: skip
    line = converse(talk, DICE.with_("words"))
    assert (answer.utterance, answer.ends, answer.because) == (line.utterance, line.ends, line.because)


def test_a_line_said_today_is_not_said_again() -> None:
    first = react(heard(speaks=True), DICE)
    again = react(heard(speaks=True, said={"jun": (first.utterance,)}), DICE)
    assert again.utterance != first.utterance


def test_words_are_left_open_when_no_memory_gives_any() -> None:
    given = heard(speaks=True, recalled=(), lines=())
    answer = react(given, DICE)
    assert answer.utterance == "" and answer == react(changed(given, speaks=False), DICE)


def test_the_action_is_the_plans_next_step() -> None:
    act = react(heard(targets=TARGETS), DICE).act
    assert act is not None and (act.kind, act.object_id, act.verb) == ("INTERACT", "pot", "USE")
    gone = react(heard(targets=changed(TARGETS, objects={})), DICE).act
    assert gone is not None and gone.kind == "IDLE"


def test_what_one_decides_to_do_at_once_is_the_action() -> None:
    areas = tuple(spot.id for spot in sample.PLACES)
    answer = react(weather(targets=changed(TARGETS, areas=areas)), DICE)
    assert answer.stroke is not None and answer.act is not None
    assert (answer.act.kind, answer.act.to_location_id) == ("MOVE", answer.stroke.location)
    assert answer.act.because == answer.stroke.because
