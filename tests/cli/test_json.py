"""What `--json` prints: a JSON value a line, with the fields of the public contract."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

import pytest

from commonplace.api import open_run
from commonplace.cli import main

HEAD = ["id", "tick", "time", "type", "agent_id", "place"]
FIELDS = {
    "IDLE": {"doing"},
    "MOVE": {"from", "to", "goal"},
    "INTERACT": {"object_id", "verb", "outcome"},
    "SAY": {"to_agent_id", "utterance", "facts"},
    "ACTION_REJECTED": {"proposed", "why"},
    "OBJECT_STATE_CHANGED": {"object_id", "from", "to", "by"},
    "CONVERSATION_STARTED": {"conversation_id", "members"},
    "CONVERSATION_ENDED": {"conversation_id", "members", "lines"},
    "PLAN_CHANGED": {"reason", "from_time"},
    "REFLECTED": {"memory_ids"},
    "RELATION_CHANGED": {"other", "change", "warmth", "why", "because"},
    "VOICE_ANSWERED": {"follows", "reason"},
    "TIME_ADVANCED": {"part_of_day"},
    "WEATHER_CHANGED": {"from", "to"},
    "SCRIPTED": {"text"},
    "GOD_EVENT": {"text", "percepts"},
    "BEGAN": {"circumstance"},
    "ENDED": {"circumstance"},
    "INNER_VOICE": {"text"},
    "JOINED": set(),
    "LEFT": set(),
}
MEMORY = {
    "id", "agent", "kind", "text", "created_at", "accessed_at", "tick", "importance", "citations", "place", "emotion",
    "source", "session", "tags", "details",
}  # fmt: skip
RETRIEVAL = {"purpose", "query", "policy", "k", "hits"}
PART = {"raw", "normalised", "weight"}


@pytest.fixture
def rows(capsys):
    """The values that a command prints."""

    def printed(*arguments: object) -> list[dict]:
        assert main([*map(str, arguments), "--json"]) == 0
        said = capsys.readouterr()
        assert said.err == ""
        assert said.out.endswith("\n")
        return [json.loads(line) for line in said.out.splitlines()]

    return printed


@pytest.fixture
def all_events(rows, town, eventful):
    """Of two runs, so that every type occurs that can."""
    return [*rows("events", town), *rows("events", eventful)]


def test_every_event_has_its_head_and_the_fields_of_its_type(all_events):
    for event in all_events:
        assert list(event)[:6] == HEAD
        assert FIELDS[event["type"]] <= set(event), event
        assert re.fullmatch(r"t\d+\.([a-z0-9_-]+)\.\d+", event["id"])
        assert event["id"].startswith(f"t{event['tick']}.{event['agent_id']}.")
        assert event["time"].endswith("Z")
        datetime.fromisoformat(event["time"])
    assert {event["type"] for event in all_events} >= set(FIELDS) - {"ACTION_REJECTED", "RELATION_CHANGED"}


def test_no_number_in_an_event_is_a_float(all_events):
    def floats(value: object) -> bool:
        if isinstance(value, dict | list):
            return any(map(floats, value.values() if isinstance(value, dict) else value))
        return isinstance(value, float)

    assert not [event for event in all_events if floats(event)]


def test_events_come_in_canonical_order_and_ids_are_never_given_twice(rows, town):
    events = rows("events", town)
    ids = [event["id"] for event in events]
    assert len(ids) == len(set(ids))
    assert [event["tick"] for event in events] == sorted(event["tick"] for event in events)
    with open_run(town) as reading:
        assert ids == [event.id for event in reading.events()]


def test_events_of_a_character_a_type_and_a_stretch_of_time(rows, town):
    def chosen(*options: object) -> list[dict[str, Any]]:
        return rows("events", town, *options)

    events = chosen()
    assert chosen("--agent", "Mira", "--type", "say") == [
        event for event in events if event["agent_id"] == "mira" and event["type"] == "SAY"
    ]
    middle = [event for event in events if 12 <= event["tick"] <= 24]
    assert chosen("--since", 12, "--until", 24) == middle
    assert chosen("--since", events[-1]["time"]) == [event for event in events if event["tick"] == events[-1]["tick"]]


def test_a_type_that_does_not_exist_is_refused_with_those_there_are(town, capsys):
    assert main(["events", str(town), "--type", "SAYS"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "no type of event 'SAYS'" in said.err
    assert "SAY, " in said.err


def test_a_type_that_did_not_happen_is_an_empty_list_and_a_word(town, capsys):
    assert main(["events", str(town), "--type", "god_event", "--json"]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "no event of type GOD_EVENT among these\n"


def test_a_refused_interaction_says_why(all_events):
    outcomes = [event for event in all_events if event["type"] == "INTERACT"]
    assert {event["outcome"] for event in outcomes} <= {"done", "refused"}
    assert all(event["why"] for event in outcomes if event["outcome"] == "refused")


def test_a_move_is_one_edge(all_events):
    assert all(event["from"] != event["to"] for event in all_events if event["type"] == "MOVE")


def test_because_names_memories_of_the_character(rows, town):
    events = rows("events", town)
    known = {}
    for event in events:
        if event.get("because"):
            agent = event["agent_id"]
            if agent not in known:
                known[agent] = {memory["id"]: memory["tick"] for memory in rows("memories", town, agent)}
            assert all(known[agent][memory] <= event["tick"] for memory in event["because"])
    assert known


def test_agents(rows, town):
    found = rows("agents", town)
    assert [set(row) for row in found] == [{"id", "name", "place", "doing", "plan_item", "mood"}] * 10
    assert [row["id"] for row in found] == sorted(row["id"] for row in found)
    earlier = rows("agents", town, "--at", 0)
    assert [row["place"] for row in earlier] != [row["place"] for row in found]
    assert rows("agents", town, "--at", "2031-10-04T06:00:00") == earlier


def test_memories(rows, town):
    memories = rows("memories", town, "mira")
    assert all(set(memory) >= MEMORY for memory in memories)
    assert [memory["id"] for memory in memories] == list(range(1, len(memories) + 1))
    assert {memory["kind"] for memory in memories} == {"observation", "action", "plan", "reflection"}
    assert all(1 <= memory["importance"] <= 10 for memory in memories)
    for memory in memories:
        if memory["kind"] == "reflection":
            assert memory["citations"]
            assert max(memory["citations"]) < memory["id"]
        if memory["kind"] in ("observation", "action"):
            assert memory["citations"] == []
    earlier = rows("memories", town, "mira", "--at", 20)
    assert [(m["id"], m["text"]) for m in earlier] == [(m["id"], m["text"]) for m in memories if m["tick"] <= 20]


def test_memories_found_by_a_question_carry_each_part_of_their_score(rows, town):
    found = rows("memories", town, "mira", "--query", "lantern festival", "-k", 4)
    assert [row["rank"] for row in found] == [1, 2, 3, 4]
    assert "lantern" in found[0]["text"]
    for row in found:
        assert set(row) >= MEMORY | {"rank", "score", "parts"}
        assert {"recency", "importance", "relevance"} <= set(row["parts"])
        assert all(set(part) == PART for part in row["parts"].values())
        total = sum(part["normalised"] * part["weight"] for part in row["parts"].values())
        assert row["score"] == pytest.approx(total)
    assert rows("memories", town, "mira", "--query", "lantern festival", "-k", 4) == found  # looking touches nothing
    assert rows("memories", town, "mira", "--query", "lantern festival", "-k", 4, "--policy", "lexical") != found


def test_why_answers_for_every_event(rows, town, eventful):
    for run in (town, eventful):
        seen = set()
        for event in rows("events", run):
            if (kind := (event["type"], event["agent_id"] == "-", len(seen) % 3)) in seen:
                continue
            seen.add(kind)
            [why] = rows("why", run, event["id"])
            assert set(why) >= {"event", "retrievals", "plan", "reaction", "asked", "stored", "heard_from"}
            assert why["event"] == event
            assert set(why["plan"]) >= {"item", "day"}


def test_why_opens_a_line_down_to_scores_prompt_and_answer(rows, town):
    said = [event for event in rows("events", town) if event["type"] == "SAY" and event["because"]]
    [why] = rows("why", town, said[0]["id"])
    assert why["retrievals"]
    for retrieval in why["retrievals"]:
        assert set(retrieval) >= RETRIEVAL
        assert [hit["rank"] for hit in retrieval["hits"]] == list(range(1, len(retrieval["hits"]) + 1))
        for hit in retrieval["hits"]:
            assert set(hit) == {"memory", "rank", "score", "parts"}
            assert set(hit["memory"]) >= MEMORY
            assert all(set(part) == PART for part in hit["parts"].values())
            total = sum(part["normalised"] * part["weight"] for part in hit["parts"].values())
            assert hit["score"] == pytest.approx(total)
    answer = next(asked for asked in why["asked"] if asked["task"] == "converse")
    assert set(answer) >= {"task", "prompt", "answer", "outcome"}
    assert answer["outcome"] == "value"
    assert said[0]["utterance"] in json.dumps(answer["answer"], ensure_ascii=False)
    for stored in why["stored"]:
        assert set(stored) >= {"kind", "text", "importance", "stored", "reason"}
    retrieved = {hit["memory"]["id"] for retrieval in why["retrievals"] for hit in retrieval["hits"]}
    assert set(said[0]["because"]) <= retrieved


def test_why_says_from_whom_news_was_heard(rows, town):
    events = {event["id"]: event for event in rows("events", town)}
    told = [event for event in events.values() if event["type"] == "SAY" and event["facts"]]
    links = [link for event in told for link in rows("why", town, event["id"])[0]["heard_from"] if link["from"]]
    assert links
    for link in links:
        assert events[link["event_id"]]["agent_id"] == link["from"]
        assert link["fact"] in events[link["event_id"]]["facts"]


def test_diffusion(rows, town):
    found = rows("diffusion", town)
    assert found[0]["fact"] == "lantern_festival"
    for row in found:
        assert set(row) >= {"fact", "text", "originators", "knowers", "share", "tree", "made_up", "claimed"}
        assert set(row["originators"]) <= set(row["knowers"])
        assert row["share"] == pytest.approx(len(row["knowers"]) / 10)
        told = {edge["to"] for edge in row["tree"]}
        assert told == set(row["knowers"]) - set(row["originators"])
        for edge in row["tree"]:
            assert set(edge) >= {"from", "to", "tick", "event_id", "words", "memory"}
    assert found[0]["tree"]


def test_usage_adds_up(rows, town):
    *lines, total = rows("usage", town)
    counts = ("asked", "from_cache", "fallbacks", "prompt_tokens", "cached_tokens", "answer_tokens", "cost")
    for line in (*lines, total):
        assert set(line) >= {"agent_id", "task", *counts}
    assert {name: sum(line[name] for line in lines) for name in counts} == {name: total[name] for name in counts}
    assert total["asked"] > 100
    assert total["fallbacks"] == 0
    assert len({(line["agent_id"], line["task"]) for line in lines}) == len(lines)


def test_text_that_could_steer_a_terminal_is_spelt_out(rows, eventful, capsys):
    main(["events", str(eventful), "--json"])
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", capsys.readouterr().out)


def test_scenarios_and_what_is_wrong_with_one(rows, capsys):
    assert {row["name"] for row in rows("scenarios")} >= {"latticeville", "plaza"}
    assert all(set(row) == {"name", "title", "summary"} for row in rows("scenarios"))
    assert rows("check", "plaza") == [{"scenario": "plaza", "mistakes": []}]
    assert main(["check", "plaza", "nowhere.yaml", "--json"]) == 2
    fine, wrong = map(json.loads, capsys.readouterr().out.splitlines())
    assert (fine["mistakes"], wrong["scenario"]) == ([], "nowhere.yaml")
    assert set(wrong["mistakes"][0]) == {"file", "line", "where", "what", "expected", "nearest"}


def test_the_digest_and_what_was_verified(rows, town, capsys):
    with open_run(town) as reading:
        last, history, state = reading.last_tick, reading.digest(), reading.digest(state=True)
    assert rows("digest", town) == [{"tick": last, "of": "history", "digest": history}]
    assert rows("digest", town, "--state") == [{"tick": last, "of": "state", "digest": state}]
    assert main(["verify", str(town), "--integrity-only", "--json"]) == 0
    verified = {"tick": last, "digest": history, "re_executed": False, "not_checked": []}
    assert json.loads(capsys.readouterr().out) == verified


def test_what_the_doctor_finds(rows):
    found = rows("doctor", "--mind", "offline")
    assert all(set(row) == {"state", "what", "hint"} for row in found)
    assert found[-1]["what"] == "costs nothing"
