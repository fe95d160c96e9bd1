"""An author's line that has conditions: a character may say it exactly when they hold, and the trace says why not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from cognition.hamlet import Town, festival, hamlet, person, standing, talking
from commonplace.cognition.authors_lines import lines_in, marks_in, unconditional
from commonplace.minds.mind import RequestKey
from commonplace.minds.tasks import ConverseInput, ConverseOutput, ReactInput, ReactOutput
from commonplace.scenario.scenario import Scenario
from commonplace.testing import ScriptedMind
from commonplace.world.events import Spoke

OTTO, SOUR = "I have a sourdough called Otto.", "Otto is a little sour today."
LONG = "Anna Berg keeps a sourdough called Otto."


def _hamlet(
    *tell: Mapping[str, Any] | str,
    replies: Sequence[Mapping[str, Any]] = (),
    rules: Sequence[Mapping[str, Any]] = (),
    also: Callable[[dict[str, Any]], object] = dict,
    **cognition: Any,
) -> Scenario:
    """Everybody in the barn; Anna has lines about Otto, to which there are replies."""

    def change(document: dict[str, Any]) -> None:
        document["rules"] = list(rules)
        standing(anna="barn")(document)
        also(document)
        told = {"text": LONG, "importance": 9, "topic": "Otto", "tell": list(tell), "replies": list(replies)}
        person(document, "anna")["memories"] = [told]

    return hamlet(change, **cognition)


class Talkers(ScriptedMind):
    """Everybody who may speak says to somebody what an author gave to say; else good day."""

    def __init__(self, **hearers: str) -> None:
        super().__init__({"react": self._react, "converse": self._converse})
        self.hearers, self.offered = hearers, list[tuple[str, str, tuple[str, ...]]]()

    def _react(self, given: ReactInput, key: RequestKey) -> ReactOutput:
        hearer = self.hearers.get(key.agent, "")
        free = [one.id for one in given.situation.people if one.can_be_spoken_to]
        is_his_turn = given.floor or key.agent == "anna"
        return talking(hearer) if hearer in free and is_his_turn else ReactOutput(decision="keep")

    def _converse(self, given: ConverseInput, key: RequestKey) -> ConverseOutput:
        lines = [line for one in given.recalled for line in one.tell]
        if given.lines and given.lines[-1].speaker != key.agent:
            lines += (*given.lines[-1].replies, *given.lines[-1].rules)
        self.offered.append((key.agent, given.hearer.id, tuple(lines)))
        said = next((line for line in lines if line not in given.said), f"Good day, it is {given.situation.moment}.")
        return ConverseOutput(utterance=said)

    def to(self, hearer: str, speaker: str = "anna") -> set[str]:
        """What a speaker could have said to somebody, at any time."""
        return {line for who, whom, lines in self.offered if (who, whom) == (speaker, hearer) for line in lines}


def _lived(scenario: Scenario, mind: Talkers, ticks: int, town: Town | None = None) -> Town:
    """Some ticks, with something to notice in each of them."""
    town = town or Town(scenario, mind)
    for _ in range(ticks):
        text = f"A bell rings {town.engine.live_state.tick} times."
        town.live(1, {"kind": "god_event", "text": text, "to": {"everybody": True, "areas": [], "agents": []}})
    return town


def _told_ben(ticks: int = 6, **line: Any) -> tuple[set[str], Town]:
    mind = Talkers(anna="ben")
    town = Town(_hamlet({"say": OTTO, **line}), mind).live(ticks)
    assert any(hearer == "ben" for _, hearer, _ in mind.offered)
    return mind.to("ben"), town


@pytest.mark.parametrize(
    ("holds", "fails"),
    [
        ("sky = clear", "sky = rain storm"),
        ("sky != rain", "sky != clear"),
        ("weekday = sat sun", "weekday = mon"),
        ("day = 0", "day > 0"),
        ("hour >= 10", "hour > 12"),
        ("hour < 12", "hour < 10"),
        ("hours_ago >= 0", "hours_ago >= 20000"),
        ("not home", "home"),
        ("not alone", "alone"),
        ("place.id = barn", "place.id = bakery"),
        ("not place.outdoor", "place.outdoor"),
        ("hearer.id = ben", "hearer.id = cora"),
        ("hearer.called = Ben", "hearer.called = Cora"),
        ("hearer.warmth >= 40", "hearer.warmth > 60"),
        ("hearer.age > 40", "hearer.age < 41"),
        ("hearer.label = friend", "hearer.label = rival"),
        ("hearer.pronoun = he", "hearer.pronoun = she"),
        ("people.cora", "not people.cora"),
        ("people.ben.warmth > 0", "people.ben.warmth < 0"),
        ("people.cora.age < 10", "people.cora.age > 10"),
        ("things.kite.state = folded", "things.kite.state = flying"),
        ("not things.kite.carried", "things.kite.carried"),
        ("not things.kettle", "things.kettle"),
        ("act != ask", "act = ask"),
    ],
)
def test_a_line_may_be_said_exactly_when_its_condition_holds(holds: str, fails: str) -> None:
    assert _told_ben(2, when=[holds])[0] == {OTTO}
    assert _told_ben(2, when=[fails])[0] == set()


def test_all_conditions_must_hold() -> None:
    assert _told_ben(2, when=["sky = clear", "hour >= 10"])[0] == {OTTO}
    assert _told_ben(2, when=["sky = clear", "hour < 10"])[0] == set()


def test_a_line_is_only_for_those_it_names() -> None:
    assert _told_ben(2, only_to=["ben"])[0] == {OTTO}
    assert _told_ben(2, only_to=["cora"])[0] == set()


def test_a_line_waits_until_the_hearer_has_heard_the_one_before() -> None:
    mind = Talkers(anna="ben")
    town = _lived(_hamlet(OTTO, {"say": SOUR, "after": [1]}), mind, 8)
    offered = [lines for _, hearer, lines in mind.offered if hearer == "ben"]
    assert offered[0] == (OTTO,)
    assert SOUR in offered[-1]
    said = [event.body.utterance for event in town.events("SAY", "anna") if isinstance(event.body, Spoke)]
    assert said.index(OTTO) < said.index(SOUR)


def test_another_hearer_has_not_heard_the_one_before() -> None:
    mind = Talkers(anna="ben")
    scenario = _hamlet(OTTO, {"say": SOUR, "after": [1]})
    town = _lived(scenario, mind, 8)
    assert mind.to("ben") == {OTTO, SOUR}
    mind.hearers = {"anna": "cora"}
    before = len(mind.offered)
    _lived(scenario, mind, 12, town)
    to_cora = [lines for _, hearer, lines in mind.offered[before:] if hearer == "cora"]
    assert to_cora
    assert SOUR not in to_cora[0]


@pytest.mark.parametrize(("once", "left"), [("ever", set[str]()), ("hearer", {OTTO})])
def test_a_line_said_once_ever_is_for_nobody_else(once: str, left: set[str]) -> None:
    mind = Talkers(anna="ben")
    scenario = _hamlet({"say": OTTO, "once": once, "when": ["hour >= 1"]})
    town = _lived(scenario, mind, 4)
    assert mind.to("ben") == {OTTO}
    mind.hearers = {"anna": "cora"}
    _lived(scenario, mind, 12, town)
    assert any(hearer == "cora" for _, hearer, _ in mind.offered)
    assert mind.to("cora") == left


@pytest.mark.parametrize(
    ("terms", "may"),
    [
        ({"who": ["ben"]}, True),
        ({"who": ["cora"]}, False),
        ({"when": ["hearer.id = anna"]}, True),
        ({"when": ["hearer.warmth < 0"]}, False),
        ({"when": ["act = tell"]}, False),
    ],
)
def test_a_reply_may_be_said_exactly_by_whom_and_when_it_says(terms: dict[str, Any], may: bool) -> None:
    reply = "So that is what smells."
    mind = Talkers(anna="ben", ben="anna")
    Town(_hamlet(OTTO, replies=[{"say": reply, **terms}]), mind).live(12)
    assert (reply in mind.to("anna", speaker="ben")) is may


@pytest.mark.parametrize(
    ("rule", "may"),
    [
        ({"when": ["hearer.id = anna"]}, True),
        ({"when": ["hearer.id = anna", "act = complain"]}, False),
        ({"when": ["not home"], "who": ["cora"]}, False),
        ({"when": ["topic = kite"]}, False),
    ],
)
def test_a_rule_is_for_any_line_whose_conditions_hold(rule: dict[str, Any], may: bool) -> None:
    says = "Is that so?"
    mind = Talkers(anna="ben", ben="anna")
    town = Town(_hamlet(OTTO, rules=[{"says": [says], **rule}]), mind).live(12)
    assert (says in mind.to("anna", speaker="ben")) is may
    turns = (turn for tick in town.ticks for turn in tick.turns.values())
    assert (says in {line["say"] for turn in turns for line in turn.trace.get("lines", ())}) is may


SORRY = "Let us forget about the flour."


def _marked(town: Town, agent: str) -> list[str]:
    return [row.topic for row in town.state(agent).account.rows("marked")]


def test_a_mark_is_carried_by_who_says_the_line_and_by_all_who_hear_it() -> None:
    town = Town(_hamlet({"say": OTTO, "sets": ["told", "shown"]}), Talkers(anna="ben")).live(4)
    assert [_marked(town, one) for one in ("anna", "ben", "cora")] == [["shown", "told"]] * 3
    row = town.state("cora").account.rows("marked")[0]
    assert [memory.text for memory in town.memories("cora") if memory.id in row.because]
    away = Town(_hamlet({"say": OTTO, "sets": ["told"]}, also=standing(cora="loft")), Talkers(anna="ben")).live(4)
    assert [_marked(away, one) for one in ("anna", "ben", "cora")] == [["told"], ["told"], []]


def test_what_the_speaker_has_heard_decides_by_its_mark() -> None:
    complaint = {"say": SOUR, "when": ["not marks.forgiven"]}
    thanks = {"say": "Otto smells of roses.", "when": ["marks.forgiven"]}
    mind = Talkers(anna="ben", ben="anna")
    town = Town(_hamlet(complaint, thanks, replies=[{"say": SORRY, "sets": ["forgiven"]}]), mind).live(16)
    offered = [lines for who, _, lines in mind.offered if who == "anna"]
    assert offered[0] == (SOUR,)
    assert SOUR not in offered[-1]
    assert thanks["say"] in offered[-1]
    said = [event.body.utterance for event in town.events("SAY") if isinstance(event.body, Spoke)]
    assert said.index(SOUR) < said.index(SORRY) < said.index(thanks["say"])


def test_marks_are_found_in_whatever_words_lead_up_to_a_line() -> None:
    scenario = _hamlet({"say": OTTO, "sets": ["told"]}, {"say": SOUR, "when": ["marks.told"]})
    assert marks_in("You know, I have a sourdough called Otto!", scenario) == ("told",)
    assert marks_in(SOUR, scenario) == ()


def test_a_line_that_only_sets_a_mark_may_be_said_at_any_time() -> None:
    mind = Talkers(anna="ben")
    scenario = _hamlet({"say": OTTO, "sets": ["told"]})
    Town(scenario, mind).live(2)
    recalled = next(ask.input.recalled for _, ask in mind.asked if ask.task.name == "converse")
    assert [one.tell for one in unconditional(scenario, recalled) if one.tell] == [(OTTO,)]


def test_a_goal_counts_only_while_its_conditions_hold() -> None:
    goals = ["see the sea", {"want": "end the quarrel", "when": ["not marks.forgiven", "people.ben"]}]

    def want(document: dict[str, Any]) -> None:
        person(document, "anna")["goals"] = goals

    mind = Talkers(anna="ben", ben="anna")
    replies = [{"say": SORRY, "sets": ["forgiven"]}]
    _lived(_hamlet(SOUR, replies=replies, also=want), mind, 12)
    wanted = [ask.input.who.goals for key, ask in mind.asked if key.agent == "anna"]
    assert wanted[0] == ("see the sea", "end the quarrel")
    assert wanted[-1] == ("see the sea",)
    alone = Talkers()
    _lived(_hamlet(SOUR, replies=replies, also=lambda town: (want(town), standing(ben="loft")(town))), alone, 2)
    assert {ask.input.who.goals for key, ask in alone.asked if key.agent == "anna"} == {("see the sea",)}


def test_a_goal_set_anew_keeps_its_conditions_by_its_words() -> None:
    def want(document: dict[str, Any]) -> None:
        person(document, "anna")["goals"] = [{"want": "end the quarrel", "when": ["hour > 22"]}]

    mind = Talkers()
    change = {"kind": "set", "agent_id": "anna", "field": "goals", "value": ["end the quarrel", "see the sea"]}
    _lived(_hamlet(SOUR, also=want), mind, 3, Town(_hamlet(SOUR, also=want), mind).live(1, change))
    assert [ask.input.who.goals for key, ask in mind.asked if key.agent == "anna"][-1] == ("see the sea",)


BUNS = "There is a bun festival in the barn."


@pytest.mark.parametrize(("when", "told"), [("hearer.id = anna", {BUNS}), ("hearer.id = cora", set[str]())])
def test_a_way_to_tell_a_fact_is_used_when_its_conditions_hold(when: str, told: set[str]) -> None:
    def tell(document: dict[str, Any]) -> None:
        festival(document)
        document["facts"][0]["tell"] = {"en": [{"say": BUNS, "when": [when]}]}

    for requests, task in (("single", "converse"), ("merged", "react")):
        mind = Talkers(anna="ben", ben="anna")
        Town(_hamlet(SOUR, also=tell, requests=requests), mind).live(8)
        inputs = [ask.input for key, ask in mind.asked if key.agent == "ben" and ask.task.name == task]
        ways = {way for one in inputs for fact in one.facts for way in fact.tell}
        assert ways == (told if requests == "single" else set())
        assert any(fact.id == "buns" for one in inputs for fact in one.facts)


def test_the_trace_has_each_line_with_what_its_conditions_found_and_the_one_that_failed() -> None:
    _, town = _told_ben(2, when=["sky = clear", "hearer.warmth > 60"])
    traced = [line for tick in town.ticks for line in tick.turns["anna"].trace.get("lines", ())]
    found = {(line["say"], *line["when"], line["failed"]) for line in traced}
    assert found == {(OTTO, "sky = clear (clear)", "hearer.warmth > 60 (40)", "hearer.warmth > 60 (40)")}


def test_merged_requests_never_tell_a_line_that_has_conditions() -> None:
    mind = Talkers(anna="ben")
    Town(_hamlet({"say": OTTO, "when": ["hour >= 1"]}, SOUR, requests="merged"), mind).live(6)
    told = {
        line for key, ask in mind.asked if ask.task.name == "react" and key.agent == "anna"
        for one in ask.input.recalled for line in one.tell
    }  # fmt: skip
    assert told == {SOUR}


def test_without_a_hearer_only_lines_without_conditions_are_left() -> None:
    mind = Talkers(anna="ben")
    scenario = _hamlet({"say": OTTO, "when": ["hour >= 1"]}, SOUR)
    Town(scenario, mind).live(2)
    recalled = next(ask.input.recalled for _, ask in mind.asked if ask.task.name == "converse")
    assert [one.tell for one in unconditional(scenario, recalled) if one.tell] == [(SOUR,)]


def test_a_line_is_known_in_whatever_words_lead_up_to_it() -> None:
    scenario = _hamlet({"say": OTTO, "once": "ever"}, SOUR, {"say": "He needs flour.", "after": [2]})
    said = lines_in("By the way, I have a sourdough called Otto! And Otto is a little sour today.", scenario)
    assert set(said) == {OTTO, SOUR}
    assert lines_in("I have a sourdough.", scenario) == ()
    assert lines_in(OTTO, _hamlet(OTTO)) == ()


def test_nobody_remembers_for_a_hearer_what_is_not_for_that_hearer() -> None:
    mind = Talkers(anna="ben")
    Town(_hamlet({"say": OTTO, "only_to": ["cora"]}), mind).live(2)
    purposes = {
        memory for _, ask in mind.asked if ask.task.name == "converse" for memory in ask.input.recalled if memory.tell
    }
    assert purposes == set()
