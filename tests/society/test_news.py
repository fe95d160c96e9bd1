"""News travels by words alone, and brings people to where they would not have gone."""

from __future__ import annotations

import json
from copy import deepcopy
from datetime import timedelta
from functools import cache
from typing import Any

from cognition.hamlet import Town
from commonplace.analysis.diffusion import diffusion
from commonplace.api import OpenedRun
from commonplace.character.plan import PlanItem
from commonplace.minds.offline import OfflineMind
from commonplace.run.reading import Reading
from commonplace.scenario.compiling import compiled_from_text
from commonplace.scenario.loading import find
from commonplace.scenario.scenario import Scenario
from sizes import PROVE
from society.village import CARRIES, FESTIVAL, days, memories, says

SEVEN, EIGHT = 19 * 60, 20 * 60
ATTENDING = 4
"""Ticks at the plaza that are more than passing through."""


@cache
def _document() -> dict[str, Any]:
    data: dict[str, Any] = find("latticeville").data
    return data


def _scenario(document: dict[str, Any]) -> Scenario:
    return compiled_from_text(json.dumps(document, ensure_ascii=False), "latticeville")


def _attendees(run: Reading) -> dict[str, PlanItem]:
    """Who was at the plaza between seven and eight because the plan had them there, and the stroke that had."""
    clock = run.scenario.clock
    seven = clock.start.replace(hour=19, minute=0)
    there: dict[str, PlanItem] = {}
    for agent, moments in days(run).items():
        inside = [m.time for m in moments if m.place == "plaza" and seven <= m.time <= seven + timedelta(hours=1)]
        strokes = [run.state_at(agent, clock.tick(time)).plan.at(time, "day") for time in inside]
        planned = [stroke for stroke in strokes if stroke is not None and stroke.location == "plaza"]
        if len(planned) >= ATTENDING:
            there[agent] = planned[-1]
    return there


def test_the_festival_is_known_to_its_originator_only_at_first(run: OpenedRun) -> None:
    knowing = [
        agent
        for agent in run.agent_ids
        if any(CARRIES.search(memory.text) for memory in memories(run, agent).values() if memory.tick == 0)
    ]
    assert knowing == ["odalys"]


def in_a_routine(scenario: Scenario) -> list[tuple[str, str]]:
    """Whose usual day names the festival or leads to where it is while it lasts: news would not be needed."""
    (fact,) = [fact for fact in scenario.facts if fact.id == FESTIVAL]
    found: list[tuple[str, str]] = []
    for agent, persona in scenario.personas.items():
        for item, following in zip(persona.routine, [*persona.routine[1:], None], strict=True):
            texts = [item.do, *(p.do for p in item.phases), *(s.do for p in item.phases for s in p.steps)]
            ends = following.at if following else 24 * 60
            named = any("festival" in text.lower() for text in texts)
            if named or (item.place == fact.place and item.at < EIGHT and ends > SEVEN):
                found.append((agent, item.do))
    return found


def test_nobodys_routine_knows_of_the_festival() -> None:
    assert in_a_routine(_scenario(_document())) == []


def test_a_festival_written_into_a_routine_is_noticed() -> None:
    named, placed = deepcopy(_document()), deepcopy(_document())
    named["characters"][0]["routine"][2]["do"] = "cooking for the festival"
    evening = max((item for item in placed["characters"][0]["routine"] if item["at"] < "19:30"), key=_at)
    evening.update(place="plaza", phases=[])
    assert [agent for agent, _ in in_a_routine(_scenario(named))] == ["mira"]
    assert [agent for agent, _ in in_a_routine(_scenario(placed))] == ["mira"]


def _at(item: dict[str, Any]) -> str:
    return str(item["at"])


def test_by_seven_at_least_five_others_have_heard_of_it(run: OpenedRun) -> None:
    seven = run.scenario.clock.tick(run.scenario.clock.start.replace(hour=19))
    (line,) = [line for line in diffusion(run, seven) if line["fact"] == FESTIVAL]
    assert line["originators"] == ["odalys"]
    assert len(line["knowers"]) >= 6
    assert line["made_up"] == 0


def test_at_least_three_come_and_each_because_of_a_memory_that_carries_the_news(run: OpenedRun) -> None:
    """Most have been told; somebody may have seen the others go there. Nobody just happens to be there."""
    attendees = _attendees(run)
    told = set[str]()
    for agent, stroke in attendees.items():
        because = [memories(run, agent)[id_] for id_ in stroke.because]
        carrying = [memory for memory in because if CARRIES.search(memory.text)]
        assert carrying, (agent, stroke)
        sources = [run.event(*_parts(memory.event)) for memory in carrying if memory.event]
        if any(said is not None and said.type == "SAY" and said.agent_id != agent for said in sources):
            told.add(agent)
    assert len(attendees) >= 3 and 2 * len(told) > len(attendees), attendees


def _parts(event_id: str) -> tuple[int, str, int]:
    tick, agent, ordinal = event_id[1:].split(".")
    return int(tick), agent, int(ordinal)


def _transmissions(run: Reading) -> list[tuple[str, str, int, str]]:
    """Recomputed from events and memories alone: (from, to, tick, event) of every first hearing."""
    knowers = {"odalys"}
    told: list[tuple[str, str, int, str]] = []
    heard = {
        (memory.event, agent)
        for agent in run.agent_ids
        for memory in memories(run, agent).values()
        if memory.kind == "observation" and memory.event
    }
    for said in says(run):
        if not CARRIES.search(said.body.utterance):
            continue
        speaker = memories(run, said.agent_id).values()
        assert any(CARRIES.search(memory.text) and memory.tick <= said.tick for memory in speaker), said.id
        for hearer in run.agent_ids:
            if hearer not in knowers and hearer != said.agent_id and (said.id, hearer) in heard:
                knowers.add(hearer)
                told.append((said.agent_id, hearer, said.tick, said.id))
    return told


def test_the_way_of_the_news_is_what_events_and_memories_say(run: OpenedRun) -> None:
    (line,) = [line for line in diffusion(run) if line["fact"] == FESTIVAL]
    told = _transmissions(run)
    assert len(told) >= 5
    assert [(edge["from"], edge["to"], edge["tick"], edge["event_id"]) for edge in line["tree"]] == told
    assert line["knowers"] == sorted({"odalys", *(hearer for _, hearer, _, _ in told)})


def test_every_mention_is_spoken_from_a_memory_that_carries_it(run: OpenedRun) -> None:
    mentions = [said for said in says(run) if CARRIES.search(said.body.utterance)]
    for said in mentions:
        assert FESTIVAL in said.body.facts, said.id
        carrier = said.body.carriers[list(said.body.facts).index(FESTIVAL)]
        memory = memories(run, said.agent_id)[carrier]
        assert CARRIES.search(memory.text), said.id
        assert memory.tick <= said.tick
    assert mentions


def test_news_spreads_whatever_a_retrieval_weighs() -> None:
    """The policy `recall` goes by words alone, and no word of a greeting is in the news."""
    document = deepcopy(_document())
    document.setdefault("cognition", {})["policy"] = "recall"
    town = Town(_scenario(document), OfflineMind(), seed=1).until("19:00")
    knowing = [agent for agent in town.scenario.personas if any(map(CARRIES.search, town.texts(agent)))]
    assert len(knowing) > len(town.scenario.personas) / 2, knowing


def test_where_nobody_can_meet_nothing_spreads() -> None:
    """The doors of all homes are open for five minutes at night: ten people at home, one of them with news."""
    document = deepcopy(_document())
    homes = {character["home"] for character in document["characters"]}
    ways = [way for way in document["world"]["ways"] if not homes & set(way["between"])]
    declared = [way["between"] for way in document["world"]["ways"] if homes & set(way["between"])]
    inside = _between(document["world"]["root"])
    ways += [{"between": pair, "open": "03:00-03:05"} for pair in [*declared, *inside] if homes & set(pair)]
    document["world"]["ways"] = ways
    town = Town(_scenario(document), OfflineMind(), seed=1).until("13:00" if PROVE else "10:00")
    assert not town.events("MOVE")
    assert town.events("ACTION_REJECTED")
    for agent in town.scenario.personas:
        knows = any(CARRIES.search(text) for text in town.texts(agent))
        assert knows == (agent == "odalys"), agent
    assert not [event for event in town.events("SAY") if event.agent_id == "odalys"]


def _between(area: dict[str, Any]) -> list[list[str]]:
    pairs = [[area["id"], inner["id"]] for inner in area.get("areas", ())]
    return pairs + [pair for inner in area.get("areas", ()) for pair in _between(inner)]
