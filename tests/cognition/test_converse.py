"""Who may speak, and what may be said."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest

from cognition.hamlet import Town, go, hamlet, person, puppets, standing, talking, tell
from commonplace.minds.mind import RequestKey
from commonplace.minds.notes import as_data, from_data
from commonplace.minds.offline import OfflineMind
from commonplace.minds.tasks import ConverseInput, ConverseOutput, ReactInput, ReactOutput, RelateInput, RelateOutput
from commonplace.testing import ScriptedMind
from commonplace.world.actions import MOST_MEMBERS
from commonplace.world.happenings import Speech


def _chatty(given: ReactInput, _: Any) -> ReactOutput:
    """Talks to whoever is there at every chance."""
    free = [other.id for other in given.situation.people if other.can_be_spoken_to]
    return talking(free[0]) if free else ReactOutput(decision="keep")


def _together(document: dict[str, Any]) -> None:
    """All three live, work and sleep in the barn: nothing keeps them from talking all day."""
    for character in document["characters"]:
        character["home"] = character["starts_at"] = "barn"
        for item in character["routine"]:
            item["place"] = "barn"


def _with_something_to_say(document: dict[str, Any]) -> None:
    """All three in the barn, each with three things to tell."""
    _together(document)
    for character in document["characters"]:
        character["memories"] = [
            {"text": f"{topic} {number}.", "tell": [f"I know {number} of {topic.lower()}."], "topic": topic.lower()}
            for number, topic in enumerate(("Kites", "Ladders", "Bees"), 2)
        ]


def _live_watching_the_floor(town: Town, ticks: int) -> int:
    """Live; of a talk going on only who has the floor speaks, or anybody after a silence; bystanders join up to four.

    How many lines were answers.
    """
    answers = 0
    for _ in range(ticks):
        talks = [talk for here in town.engine.live_state.world.conversations.values() for talk in here]
        for event in town.live().ticks[-1].events:
            if event.type == "SAY":
                mine = [talk for talk in talks if event.agent_id in talk.members]
                assert all(talk.floor == event.agent_id or talk.lines[-1].tick < event.tick - 1 for talk in mine)
                joined = [talk for talk in talks if event.body.to_agent_id in talk.members]
                assert mine or all(len(talk.members) < MOST_MEMBERS for talk in joined)
                answers += len(mine)
    return answers


def test_of_those_in_a_talk_only_who_is_addressed_last_may_answer() -> None:
    acts = {
        ("ben", 1): tell("cora", "Look!"),
        ("anna", 2): tell("cora", "I see it."),
        ("cora", 2): tell("ben", "Oh!"),
    }
    acts |= {("ben", 3): tell("cora", "A kite."), ("cora", 3): tell("ben", "It is mine.")}
    town, _ = puppets(hamlet(standing(anna="barn"), fidelity="every_tick"), acts)
    town.live(3)
    assert [event.id for event in town.events("SAY")] == ["t1.ben.0", "t2.anna.0", "t2.cora.0", "t3.ben.0"]
    assert [event.id for event in town.events("ACTION_REJECTED")] == ["t3.cora.0"]


def test_in_talks_all_day_long_the_floor_is_kept() -> None:
    numbered = iter(range(10_000))
    mind = ScriptedMind(
        {"react": _chatty, "converse": lambda given, request_key: ConverseOutput(utterance=f"Line {next(numbered)}.")}
    )
    assert _live_watching_the_floor(Town(hamlet(_together), mind), 140) > 100


def test_the_act_and_the_topic_of_a_line_reach_its_hearer_and_stay_with_its_speaker() -> None:
    def meant(given: ConverseInput, request_key: Any) -> ConverseOutput:
        return ConverseOutput(utterance=f"Line {request_key.tick}.", speech_act="complain", topic="my roof")

    mind = ScriptedMind({"react": _chatty, "converse": meant})
    town = Town(hamlet(_together), mind).live(40)
    first = town.events("SAY")[0]
    assert (first.body.speech_act, first.body.topic) == ("complain", "my roof")
    answered = [ask.input for _, ask in mind.asked if ask.task.name == "converse" and ask.input.lines]
    assert answered
    for given in answered:
        assert {(line.speech_act, line.topic) for line in given.lines} == {("complain", "my roof")}
        assert from_data(type(given), as_data(given)) == given
        lines = [line for line in (one.happening for one in given.recalled) if isinstance(line, Speech)]
        assert all((line.speech_act, line.topic) == ("complain", "my roof") for line in lines)
    related = [ask.input for _, ask in mind.asked if ask.task.name == "relate"]
    assert all(line.topic == "my roof" for given in related for line in given.lines)


def test_a_line_whose_mind_does_not_say_what_it_means_has_neither() -> None:
    mind = ScriptedMind({"react": _chatty, "converse": lambda _, key: ConverseOutput(utterance=f"Line {key.tick}.")})
    town = Town(hamlet(_together), mind).live(40)
    assert town.events("SAY")
    assert not any(event.body.speech_act or event.body.topic for event in town.events("SAY"))


def test_an_insistent_mind_says_a_sentence_to_a_hearer_once_a_day() -> None:
    def insist(given: ConverseInput, request_key: Any) -> ConverseOutput:
        again = "Nice\u200b weather,\x07 isn't it? "
        return ConverseOutput(utterance=again if request_key.tick % 2 else "Nice weather, isn't it?")

    mind = ScriptedMind({"react": _chatty, "converse": insist})
    town = Town(hamlet(_together), mind)
    for hour in range(36):
        town.live(1, {"kind": "god_event", "text": f"The clock strikes {hour}.", "to": {"everybody": True}}).live(11)
    said: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for event in town.events("SAY"):
        day = town.scenario.clock.time(event.tick).date()
        assert event.body.utterance == "Nice weather, isn't it?"
        said[event.agent_id, event.body.to_agent_id, f"{day}"].append(event.tick)
    assert {len(ticks) for ticks in said.values()} == {1}
    days = Counter(pair[:2] for pair in said)
    assert max(days.values()) == 2
    assert sum(ask.task.name == "converse" for _, ask in mind.asked) > 3 * len(town.events("SAY"))


def test_what_was_said_today_is_shown_to_the_mind() -> None:
    lines = iter(["One.", "Two.", "Three."] * 100)
    mind = ScriptedMind(
        {"react": _chatty, "converse": lambda given, request_key: ConverseOutput(utterance=next(lines, "No more."))}
    )
    town = Town(hamlet(_together), mind).live(40)
    shown = [(request_key, ask.input) for request_key, ask in mind.asked if ask.task.name == "converse"]
    for request_key, given in shown:
        earlier = [
            event.body.utterance
            for event in town.events("SAY", request_key.agent)
            if event.tick < request_key.tick and event.body.to_agent_id == given.hearer.id
        ]
        assert list(given.said) == earlier
    assert any(given.said for _, given in shown)


def test_utterances_lose_control_characters_and_end_at_four_hundred() -> None:
    long = "word " * 200

    def converse(given: ConverseInput, request_key: Any) -> ConverseOutput:
        text = long if request_key.agent == "ben" else "\u202eOh,\n\tthat\x00 \u200bis\u2028 new."
        return ConverseOutput.model_construct(utterance=text)

    town = Town(hamlet(_together), ScriptedMind({"react": _chatty, "converse": converse})).live(4)
    said = {event.agent_id: event.body.utterance for event in town.events("SAY")}
    assert said["anna"] == "Oh, that is new."
    assert 380 <= len(said["ben"]) <= 400
    assert said["ben"].endswith("…")


def test_with_nothing_to_say_the_plan_goes_on() -> None:
    mind = ScriptedMind({"react": _chatty, "converse": lambda given, request_key: ConverseOutput(utterance=" \n")})
    town = Town(hamlet(_together), mind).live(20)
    assert town.events("SAY") == []
    assert town.body("ben").doing == "mending the roof"


def test_a_talk_changes_how_the_other_is_seen_once_and_resting_on_what_was_recalled() -> None:
    def relate(given: RelateInput, _: Any) -> RelateOutput:
        shown = tuple(note.id for note in given.recalled)
        return RelateOutput(warmth_change=20, summary="Ben brings news.", because=(*shown[:1], 4711))

    acts = {("ben", 2): tell("anna", "The roof is done."), ("anna", 3): tell("ben", "At last!")}
    town, mind = puppets(hamlet(standing(ben="bakery"), fidelity="every_tick"), acts, relate=relate)
    before = town.state("anna").relations["ben"]
    town.live(16)
    after = town.state("anna").relations["ben"]
    (given,) = mind.inputs("relate", "anna")
    assert [(line.speaker, line.text) for line in given.lines] == [("ben", "The roof is done."), ("anna", "At last!")]
    assert (before.warmth, after.warmth, after.talks) == (40, 60, 1)
    assert after.summary == "Ben brings news."
    assert after.because == (given.recalled[0].id,)
    assert after.last_talk == 3


def test_meeting_makes_an_acquaintance_and_talking_past_somebody_does_not_make_a_talk() -> None:
    acts = {("ben", 4): go("green"), ("ben", 5): go("bakery")}
    town, _ = puppets(
        hamlet(lambda document: person(document, "anna").update(relations=[]), fidelity="every_tick"), acts
    )
    town.live(3)
    assert "ben" not in town.state("anna").relations
    town.live(4)
    assert town.state("anna").relations["ben"].known_since == 6
    assert town.state("anna").relations["ben"].last_talk == -1


def test_the_offline_mind_keeps_the_floor_and_never_repeats_itself() -> None:
    town = Town(hamlet(_with_something_to_say), OfflineMind())
    assert _live_watching_the_floor(town, 280) >= 3
    said = Counter(
        (event.agent_id, event.body.to_agent_id, event.body.utterance, town.scenario.clock.day(event.tick))
        for event in town.events("SAY")
    )
    assert max(said.values()) == 1


def test_who_joins_a_talk_is_reminded_of_what_they_have_on_its_subject() -> None:
    def change(document: dict[str, Any]) -> None:
        standing(anna="barn")(document)
        own = {"text": "The kite is Anna's.", "tell": ["I sewed it."], "topic": "kite", "importance": 1}
        person(document, "anna")["memories"] = [own]

    def joins(given: Any, key: RequestKey) -> ReactOutput | None:
        return talking("ben", "join") if (key.agent, key.tick) == ("anna", 2) else None

    acts = {("ben", 1): tell("cora", "A kite!")}
    town, mind = puppets(hamlet(change, fidelity="every_tick"), acts, react=joins)
    town.live(3)
    (told,) = mind.inputs("converse", "anna")
    assert [line.text for line in told.lines] == ["A kite!"]
    (found,) = [one for one in town.turn("anna", 2).trace["retrievals"] if one["purpose"] == "subject"]
    texts = {memory.id: memory.text for memory in town.memories("anna")}
    assert [texts[memory] for (memory,) in found["hits"]] == ["The kite is Anna's."]


@pytest.mark.parametrize(("act", "comes"), [("ask.topic", True), ("tell", False)])
def test_who_is_asked_about_a_subject_remembers_what_they_have_lived_with_it(act: str, comes: bool) -> None:
    lines = {
        ("cora", 3): ConverseOutput(utterance="Anything new?", speech_act=act, topic="the mill"),
        ("ben", 4): ConverseOutput(utterance="Well."),
    }
    other = {"ben": "cora", "cora": "ben"}
    town, mind = puppets(
        hamlet(fidelity="every_tick", k=2),
        {},
        react=lambda given, key: talking(other[key.agent]) if (key.agent, key.tick) in lines else None,
        converse=lambda given, key: lines[key.agent, key.tick],
    )
    for text in ("The mill is on fire.", "A heron lands on the barn.", "Cora waves a flag at Ben."):
        town.live(1, {"kind": "god_event", "text": text, "to": {"everybody": True}})
    town.live(2)
    (told,) = mind.inputs("converse", "ben")
    assert ("The mill is on fire." in [memory.text for memory in told.recalled]) == comes


def test_what_an_author_gave_to_say_to_a_line_and_to_a_question_about_it_is_shown_to_who_may_say_it() -> None:
    def change(document: dict[str, Any]) -> None:
        replies = [{"say": "Poor kite!"}, {"say": "What did it cost?", "answer": "Nine coins."}]
        torn = {"text": "Ben Cole tore the kite.", "tell": ["I tore the kite."], "replies": replies, "importance": 4}
        person(document, "ben")["memories"] = [torn]

    lines = {
        ("ben", 1): ConverseOutput(utterance="I tore the kite.", speech_act="tell"),
        ("cora", 2): ConverseOutput(utterance="What did it cost?", speech_act="ask.more"),
        ("ben", 3): ConverseOutput(utterance="Nine coins.", speech_act="answer"),
    }
    other = {"ben": "cora", "cora": "ben"}
    town, mind = puppets(
        hamlet(change, fidelity="every_tick"), {},
        react=lambda given, key: talking(other[key.agent]) if (key.agent, key.tick) in lines else None,
        converse=lambda given, key: lines[key.agent, key.tick],
    )  # fmt: skip
    town.live(4)
    (heard,), (_, asked) = mind.inputs("converse", "cora"), mind.inputs("converse", "ben")
    assert heard.lines[-1].replies == ("Poor kite!", "What did it cost?")
    assert asked.lines[-1].replies == ("Nine coins.",)


@pytest.mark.parametrize(("speaker", "other"), [("ben", "cora"), ("cora", "ben")])
def test_who_sees_a_talk_begin_remembers_who_began_it(speaker: str, other: str) -> None:
    town, _ = puppets(hamlet(standing(anna="barn"), fidelity="every_tick"), {(speaker, 1): tell(other, "Hello.")})
    names = [town.scenario.personas[one].name for one in (speaker, other)]
    assert f"{names[0]} is starting a conversation with {names[1]}." in town.live(2).texts("anna")
