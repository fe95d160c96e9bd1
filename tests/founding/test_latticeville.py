"""Latticeville, section by section."""

from __future__ import annotations

import asyncio
import json
import math
import re
import socket
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cognition.hamlet import Puppets, Town, go, hamlet, idle, person, puppets, same_past, standing, tell, use
from commonplace.api import create_run, prepared
from commonplace.cli import main
from commonplace.errors import UsageError
from commonplace.founding.latticeville import (
    ACT_SCHEMA,
    MemoryRecord,
    Simulation,
    Targets,
    WorldNode,
    normalized_importance,
    retrieval_score,
    retrieve,
    validated,
)
from commonplace.memory import Analyser, ReflectionTrigger
from commonplace.memory.policies import LEXICAL
from commonplace.minds.mind import Ask, RequestKey
from commonplace.minds.prompts.book import PromptBook
from commonplace.minds.tasks import RATE, ActOutput, Insight, InsightsOutput, RateOutput, ReactOutput, Stroke
from commonplace.minds.tasks.wire import offers_of, written
from commonplace.parts.model_servers.chat_mind import ChatMind
from commonplace.run.rows import event_json
from commonplace.scenario.compiling import load
from commonplace.scenario.model import MindPart
from commonplace.testing import ScriptedMind
from commonplace.testing.server import ModelServer
from commonplace.views.lines import LineView
from commonplace.world.tree import VERBS
from engine.paid_minds import PaidMind, offline, virtually
from minds.tasks.asked import SETTING, every_ask
from parts.model_servers.local_server import LocalServer, Sent, called

PROJECT = Path(__file__).parents[2]
HERE, TURN, PERCEIVE = "founding/latticeville.py", "cognition/town_turn.py", "cognition/perceive.py"
ACTS, AREA, EXECUTOR, DEEDS = "minds/tasks/act.py", "world/area.py", "world/executor.py", "world/deeds.py"
SCORING, STATE, WEATHER = "memory/scoring.py", "views/state_lines.py", "world/weather.py"
requirement = pytest.mark.requirement


@pytest.fixture(scope="module")
def village() -> Iterator[Simulation]:
    """The ten of Latticeville from six to eight in the morning."""
    with Simulation() as simulation:
        simulation.step(24)
        yield simulation


def doing(*actions: tuple[str, int, ActOutput], change: Any = None, **cognition: Any) -> Town:
    """Anna, Ben and Cora, who do what is laid down and else stay."""
    acts = {(agent, tick): action for agent, tick, action in actions}
    return puppets(hamlet(change, fidelity="every_tick", **cognition), acts)[0]


# ── goals ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("Goals", "A small loop: perceive, remember, retrieve, act", "Simulation.step", TURN)
@requirement(
    "Goals", "Ten characters, each with its memories", "Simulation('latticeville')", "scenarios/latticeville.yaml"
)
@requirement("Goals", "Discrete ticks", "Simulation.step", "engine/lockstep.py")
def test_ten_characters_live_tick_by_tick(village):
    assert len(village.brains) == 10
    assert village.run.tick == 24
    for agent in village.brains:
        kinds = Counter(one.type for one in village.memories(agent))
        assert kinds["observation"] and kinds["plan"], agent
    trace = village.run.reading.trace("mira", 24)
    assert trace["retrievals"]


@requirement(
    "Goals",
    "Nothing but this machine: no network, no telemetry",
    "commonplace run latticeville",
    "minds/offline/mind.py",
)
@requirement("Non-goals", "No web page is needed", "commonplace run latticeville", "cli/play.py")
def test_nothing_leaves_the_machine(tmp_path, monkeypatch):
    def refused(*_: Any, **__: Any) -> None:
        raise AssertionError("somebody wants to talk to the outside")

    for name in ("connect", "connect_ex", "sendto", "bind"):
        monkeypatch.setattr(socket.socket, name, refused)
    with Simulation("plaza", path=tmp_path / "a.run") as simulation:
        simulation.step(6)
    assert main(["replay", str(tmp_path / "a.run"), "--view", "plain"]) == 0


@requirement("Goals", "In a terminal, with plain characters", "commonplace run --view tui|plain", "views/lines.py")
@requirement(
    "Goals", "A viewer for debugging prints the state", "Simulation.state, commonplace watch --view state", STATE
)
@requirement("Rendering", "A simple state debugger as a viewer of its own", "commonplace replay --view state", STATE)
def test_the_state_of_a_tick_is_printed(tmp_path, capsys):
    path = tmp_path / "a.run"
    assert main(["run", "plaza", "-o", str(path), "--ticks", "12", "--view", "state"]) == 0
    live = capsys.readouterr().out
    assert main(["replay", str(path), "--view", "state"]) == 0
    assert capsys.readouterr().out.split("tick 12  digest")[0] == live.split("tick 12  digest")[0]
    blocks = live.split("\n\n")
    assert [block.split("  ")[0] for block in blocks[:13]] == [f"tick {tick}" for tick in range(13)]
    last = blocks[12].splitlines()
    assert last[0] == "tick 12  07:00  dawn, clear, cool"
    assert "Linden Square" in last
    assert "  fountain [fountain]: running" in last, "objects, below their place"
    assert any(line.startswith("    Ines Okafor [ines]: ") for line in last), "characters, below theirs"
    assert any(line.startswith("Ines Okafor: 06:") for line in last), "the plan for now"
    assert any(line.startswith("  plans: 07:30–") for line in last)
    assert any(re.fullmatch(r"  knows \d+ of 22 nodes.*", line) for line in last), "what is believed"


@requirement("World", "Belief views may be stale and partial", "Simulation.state", STATE)
def test_the_state_shows_what_is_believed_otherwise(tmp_path):
    with Simulation("plaza", path=tmp_path / "a.run") as simulation:
        simulation.step(2)
        simulation.run.submit(
            {
                "kind": "god_event",
                "text": "The fountain runs dry.",
                "to": {"areas": ["square"]},
                "sets": [["fountain", "dry"]],
            }
        )
        simulation.step(2)
        assert "    fountain: running; it is dry" in simulation.state().splitlines()


@requirement("Goals", "Simulation and rendering are apart", "make lint", "pyproject.toml")
@requirement("Architecture", "A view gets state and changes nothing", "print_state, LineView", "views/lines.py")
def test_views_read_and_change_nothing(village, capsys):
    before = village.run.reading.digest(state=True)
    view = LineView(village.run.scenario.part, "plain")
    for tick in range(25):
        view.show(village.run.reading.frame(tick))
        village.state(tick)
    capsys.readouterr()
    assert village.run.reading.digest(state=True) == before
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = next(one["layers"] for one in project["tool"]["importlinter"]["contracts"] if "layers" in one)
    order = {name.strip(): place for place, layer in enumerate(layers) for name in layer.split("|")}
    views, *below = (order[f"commonplace.{name}"] for name in ("views", "run", "cognition", "world", "memory"))
    assert all(views < place for place in below)


@requirement(
    "Architecture",
    "World and loop; views; files; model adapters and prompts",
    "commonplace.world, .views, .run, .minds",
    "world/__init__.py",
)
def test_each_part_of_the_architecture_has_its_place():
    source = PROJECT / "src" / "commonplace"
    for part in ("world", "engine", "cognition", "views", "parts/terminal", "run", "minds", "parts/model_servers"):
        assert (source / part / "__init__.py").exists(), part


@requirement("Goals", "Replay", "commonplace replay, verify", "cli/watch.py")
@requirement("World", "The same actions give the same state", "commonplace verify", "engine/verify.py")
@requirement(
    "Rendering", "Whole frames for each tick are kept and can be read again", "Reading.frames", "run/frames.py"
)
def test_a_run_is_replayed_and_verified(tmp_path, capsys):
    digests = []
    for name in ("a.run", "b.run"):
        with Simulation("plaza", path=tmp_path / name) as simulation:
            simulation.step(12)
            digests.append(simulation.run.reading.digest(state=True))
            frames = [frame.as_dict() for frame in simulation.run.reading.frames()]
    assert digests[0] == digests[1]
    assert [frame["tick"] for frame in frames] == list(range(13))
    assert main(["verify", str(tmp_path / "a.run")]) == 0
    assert main(["replay", str(tmp_path / "a.run"), "--from", "6", "--view", "json"]) == 0
    out = capsys.readouterr().out
    events = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert {event["tick"] for event in events} == set(range(6, 13))


# ── the world ────────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "World",
    "A tree of areas and objects: the root is the world, objects are leaves",
    "Simulation.world",
    "world/tree.py",
)
@requirement("World", "Nodes have `id name type parent_id` and ordered `children`", "WorldNode", "world/tree.py")
@requirement("World", "Characters are leaves below where they are", "Simulation.world", STATE)
def test_the_world_is_a_tree(village):
    tree = village.world()
    root = next(node for node in tree.values() if not node.parent_id)
    assert (root.id, root.type) == ("latticeville", "area")
    assert {node.type for node in tree.values()} == {"area", "object", "agent"}
    assert {"id", "name", "type", "parent_id", "children"} <= {*WorldNode.__dataclass_fields__}
    for node in tree.values():
        assert isinstance(node.children, tuple)
        assert all(tree[child].parent_id == node.id for child in node.children)
        if node.type == "object":
            assert node.children == ()
        if node.type == "agent":
            assert tree[node.parent_id].type == "area"
            assert all(tree[child].type == "object" for child in node.children), "only what it carries"
    path = [node := tree["stove"]]
    while node.parent_id:
        path.append(node := tree[node.parent_id])
    assert [one.name for one in reversed(path)] == [
        "Latticeville",
        "Lattice Plaza",
        "Mira's Noodle Bar",
        "Mira's Kitchen",
        "stove",
    ]
    frame = village.run.reading.frame()
    assert all(tree[agent].parent_id == there.position for agent, there in frame.agents.items())


@requirement(
    "World", "Each character has a tree of its own of what it knows", "Simulation.belief", "character/state.py"
)
@requirement("World", "Belief views have the same shape, and may differ from the world", "Simulation.belief", STATE)
def test_everybody_has_a_view_of_its_own(village):
    tree, beliefs = village.world(), {agent: village.belief(agent) for agent in village.brains}
    assert len({frozenset(belief) for belief in beliefs.values()}) > 1
    for agent, belief in beliefs.items():
        assert all(isinstance(node, WorldNode) for node in belief.values())
        assert set(belief) < set(tree), "nobody knows everything"
        assert all(child in belief for node in belief.values() for child in node.children)
        assert not any(
            tree[id].type == "area" and tree[id].parent_id != node.parent_id for id, node in belief.items()
        ), agent
    assert "mira-loft" in beliefs["mira"]
    assert not all("mira-loft" in belief for belief in beliefs.values()), "it is private"
    wrong = [id for id, node in beliefs["mira"].items() if node.parent_id != tree[id].parent_id]
    assert wrong, "somebody has gone since she saw them"


@requirement("World", "One perceives one's area and the objects in it", "WorldView", "world/view.py")
@requirement("Memory", "One perceives nothing elsewhere", "WorldView", "world/view.py")
def test_only_the_area_is_perceived():
    town = doing(("ben", 2, use("kite", "TAKE")), ("cora", 3, idle("singing loudly")))
    town.live(5)
    assert any("singing loudly" in text for text in town.texts("ben"))
    assert not any("singing" in text or "kite" in text.lower() for text in town.texts("anna"))


# ── the loop ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("Loop 1", "Perceive objects and characters near", "perceive", PERCEIVE)
@requirement(
    "Loop 2",
    "Own actions, those of others, changes of objects and encounters become observations",
    "store_percepts",
    "cognition/remember.py",
)
@requirement(
    "Memory",
    "Own actions: in the third person, after they are done",
    "MemoryRecord.type == 'action'",
    "cognition/sentences.py",
)
@requirement("Memory", "What others in the area do", "MemoryRecord", PERCEIVE)
@requirement("Memory", "States of objects in the area", "MemoryRecord", PERCEIVE)
def test_what_happens_near_becomes_memories():
    town = doing(("anna", 2, use("kettle")), ("ben", 2, idle("mending a ladder")), change=standing(ben="bakery"))
    town.live(4)
    own = [memory for memory in town.memories("anna", "action") if "kettle" in memory.text]
    assert own
    assert own[0].text.startswith("Anna Berg ")
    assert own[0].created_at == town.scenario.clock.time(2)
    ben = town.texts("ben", "observation")
    assert any(text.startswith("Anna Berg") and "kettle" in text for text in ben)
    assert any(("kettle" in text and "hot" in text) or "begins to sing" in text for text in ben)
    assert any("mending a ladder" in text for text in town.texts("anna", "observation"))


@requirement("Loop 2", "What others did is of the tick before", "WorldView.events", "world/view.py")
@requirement("Consistency", "One perceives the end of the tick before", "look", "world/view.py")
@requirement(
    "Objects",
    "Others perceive a new state in the next tick; who acted knows it at once",
    "WorldView.outcome",
    "world/view.py",
)
def test_others_perceive_in_the_next_tick():
    stays = [("ben", tick, idle("waiting for bread")) for tick in range(1, 5)]
    town = doing(("anna", 3, use("kettle")), *stays, change=standing(ben="bakery"))
    town.live(4)
    assert not any("kettle" in memory.text.lower() for memory in town.remembered("ben", 3))
    assert any("kettle" in memory.text.lower() for memory in town.remembered("ben", 4))
    assert town.engine.live_state.world.things["kettle"].state == "hot"
    mine = next(memory for memory in town.remembered("anna", 4) if memory.kind == "action")
    assert mine.created_at == town.scenario.clock.time(3), "it is remembered as of when it was done"


@requirement(
    "Loop 3",
    "Retrieve a scored part of the memories, plans and reflections among them",
    "Simulation.step",
    "cognition/retrieve.py",
)
def test_all_kinds_of_memories_are_retrieved(village):
    reading = village.run.reading
    found: set[str] = set()
    for agent in village.brains:
        kinds = {memory.id: memory.kind for memory in reading.memories(agent)}
        for tick in range(1, 25):
            entries = reading.trace(agent, tick).get("retrievals", ())
            assert all(entry["policy"] in ("lexical", "chosen") for entry in entries)
            found |= {kinds[hit[0]] for entry in entries for hit in entry["hits"]}
    assert {"observation", "plan", "action"} <= found


@requirement(
    "Loop 4",
    "A day in 5–8 strokes where there is no plan; then hours; then actions of 5–15 minutes",
    "AgentBrain.plan",
    "cognition/plan.py",
)
@requirement(
    "Loop 4", "Plans have time and place, and are memories", "MemoryRecord.type == 'plan'", "cognition/plan.py"
)
@requirement("Planning", "Day, hours and minutes, opened when their time comes", "AgentBrain.plan", "character/plan.py")
@requirement(
    "Planning", "Plans are retrieved like other memories", "MemoryRecord.type == 'plan'", "cognition/retrieve.py"
)
def test_plans_have_three_levels_and_are_remembered(village):
    awake = {agent: brain for agent, brain in village.brains.items() if brain.plan.level("day")}
    assert set(village.brains) - set(awake) == {"wren"}, "who still sleeps"
    for agent, brain in awake.items():
        strokes = brain.plan.level("day")
        plans = (village.run.reading.state_at(agent, tick).plan.level("day") for tick in range(25))
        assert 5 <= len(next(filter(None, plans))) <= 8, agent
        assert all(a.end_time == b.start_time for a, b in pairwise(strokes))
        for item in brain.plan.level("action"):
            assert item.duration_minutes <= 15
            assert item.location in village.world()
        told = [one.description for one in village.memories(agent) if one.type == "plan"]
        assert len(told) >= 5
        assert sum(re.search(r"\d\d:\d\d", text) is not None for text in told) >= 5, "with time and place"
    assert village.brains["mira"].plan.level("hour")


@requirement("Loop 5", "React to what is new, or follow the plan", "ReactOutput", "cognition/react.py")
@requirement("Planning", "A reaction changes the plan from that point on", "with_stroke", "character/plan.py")
def test_a_reaction_changes_the_rest_of_the_plan():
    stroke = Stroke(start="11:00", minutes=30, location="green", do="dancing in the rain")
    mind = ScriptedMind({"react": lambda given, _: ReactOutput(decision="go", reason="rain", stroke=stroke)})
    town = Town(hamlet(), mind).until("10:55")
    before = town.plan("anna")
    town.live(1, {"kind": "god_event", "text": "It begins to rain.", "to": {"areas": ["bakery"]}}).live(1)
    after = town.plan("anna")
    assert same_past(before, after, town.scenario.clock.time(town.engine.live_state.tick))
    assert "dancing in the rain" in [item.action_description for item in after.level("day")]
    assert (
        before.level("day")[-1] == after.level("day")[-1]
        or after.level("day")[-1].end_time == before.level("day")[-1].end_time
    )


@requirement("Loop 6", "Exactly one action each tick, which may be IDLE", "Simulation.happened", DEEDS)
@requirement("Loop 7", "Actions are applied by rules and give events", "Simulation.happened", EXECUTOR)
@requirement("Act tool", "`act` is answered once a tick", "fidelity: every_tick", "cognition/act.py")
def test_everybody_acts_once_a_tick(village):
    for tick in range(1, 25):
        acted = Counter(
            event.agent_id
            for event in village.run.reading.events(tick, tick)
            if event.type in ("IDLE", "MOVE", "INTERACT", "SAY", "ACTION_REJECTED")
        )
        assert acted == dict.fromkeys(village.brains, 1)
    asked = Counter((row.agent, row.tick) for row in village.run.reading.answers(1, 24) if row.task == "act")
    assert set(asked.values()) == {1}


@requirement(
    "Loop 8",
    "What was done is worded by templates from the event, in agreement with the world",
    "MemoryRecord",
    "cognition/sentences.py",
)
def test_what_is_remembered_is_what_happened(village):
    reading, tree = village.run.reading, village.world()
    done: set[str] = set()
    for memory in (one for agent in village.brains for one in reading.memories(agent) if one.kind == "action"):
        event = reading.event(*_id(memory.event))
        assert (event.agent_id, event.tick) == (memory.agent, memory.tick - 1)
        row = event_json(event, reading.time(event.tick))
        if event.type == "INTERACT":
            frame = memory.details["frame"]
            assert (frame["object"], frame["verb"]) == (row["object_id"], row["verb"])
        elif event.type in ("IDLE", "SAY", "MOVE"):
            words = row["utterance"] if "utterance" in row else tree[row["to"]].name if "to" in row else row["doing"]
            assert words in memory.text
        done.add(event.type)
    assert done >= {"IDLE", "SAY", "MOVE", "INTERACT"}


def _id(event: str) -> tuple[int, str, int]:
    head, agent, ordinal = event.split(".")
    return int(head[1:]), agent, int(ordinal)


# ── the act tool ─────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("Act tool", "`kind`, and `move`, `interact` or `say` with its arguments", "ACT_SCHEMA", ACTS)
def test_the_schema_is_the_documents():
    properties = ACT_SCHEMA["properties"]
    assert list(properties) == ["kind", "move", "interact", "say"]
    assert properties["kind"]["enum"] == ["IDLE", "MOVE", "INTERACT", "SAY"]
    nested = {name: properties[name]["anyOf"][0]["properties"] for name in ("move", "interact", "say")}
    assert {name: list(fields) for name, fields in nested.items()} == {
        "move": ["to_location_id"],
        "interact": ["object_id", "verb"],
        "say": ["to_agent_id", "utterance"],
    }
    assert nested["interact"]["verb"]["enum"] == ["USE", "OPEN", "CLOSE", "TAKE", "DROP"] == list(VERBS)


@requirement(
    "Act tool",
    "A setting forces the model to call the tool `act`",
    "minds: {act: {structured: tool}}",
    "parts/model_servers/request.py",
)
def test_a_setting_forces_the_tool():
    ask = every_ask()["act"]
    call = {"kind": "MOVE", "move": {"to_location_id": ask.input.areas[0]}, "interact": None, "say": None}
    with LocalServer(lambda *_: Sent(called(json.dumps(call))), forms=("json_schema", "tool")) as server:
        mind = ChatMind(server.url, PromptBook("en", SETTING), tasks={"act": MindPart(structured="tool")})

        async def answered() -> Any:
            reply = await mind.answer(ask, RequestKey(7, "mira", 1, 0))
            await mind.close()
            return reply

        reply = asyncio.run(answered())
        (body,) = server.asked
    assert reply.outcome == "value"
    assert reply.value == ActOutput(kind="MOVE", to_location_id=ask.input.areas[0])
    assert body["tool_choice"] == {"type": "function", "function": {"name": "act"}}
    assert body["tools"][0]["function"] == {"name": "act", "description": "The answer.", "parameters": ACT_SCHEMA}
    asked = body["messages"][0]["content"]
    assert "move: for MOVE" in asked
    assert "target:" not in asked
    for language in ("en", "ko"):
        assert "to_location_id" in PromptBook(language, SETTING).prompt(ask, tool=True).text
        assert "to_location_id" not in PromptBook(language, SETTING).prompt(ask).text


@requirement("Act tool", "The village forces it", "Simulation(mind='vllm:…')", HERE)
def test_the_village_forces_the_tool():
    with ModelServer() as server, Simulation("plaza", mind=server.url) as simulation:
        simulation.step(6)
        reading = simulation.run.reading
        calls = [reading.model_call(row) for row in reading.answers(1, 6) if row.task == "act"]
        assert calls
        assert all(call and '"to_location_id"' in call.raw + call.prompt for call in calls)


@requirement("Act tool", "What a model writes so is read", "PromptBook.read", "minds/tasks/wire.py")
@pytest.mark.parametrize("tool", [True, False])
def test_calls_of_the_tool_are_read(tool):
    ask, book = every_ask()["act"], PromptBook("en", SETTING)
    thing, verbs = next(iter(ask.input.objects.items()))
    for action in (
        ActOutput(kind="IDLE"),
        ActOutput(kind="MOVE", to_location_id=ask.input.areas[0]),
        ActOutput(kind="INTERACT", object_id=thing, verb=verbs[0]),
        ActOutput(kind="SAY", to_agent_id=ask.input.agents[0], utterance="Good morning to you."),
    ):
        data = written(ask, action, tool=tool)
        assert ("move" in data) == tool
        assert book.read(ask, data) == action
    if tool:
        said = {"kind": "move", "move": {"to_location_id": ask.input.areas[0]}}
        assert book.read(ask, said).to_location_id == ask.input.areas[0], "ids do as well, what is null may be left out"
        assert offers_of(ask).places.labels


@requirement(
    "Act tool", "Each tick has its valid locations, objects with verbs, and characters", "Simulation.targets", DEEDS
)
def test_targets_are_those_of_the_place(village):
    tree = village.world()
    for agent in village.brains:
        here, valid = tree[agent].parent_id, village.targets(agent)
        assert isinstance(valid, Targets)
        assert all(tree[area].type == "area" for area in valid.areas)
        assert here not in valid.areas
        assert all(tree[thing].parent_id in (here, agent) for thing in valid.objects)
        assert all({*verbs} <= {*VERBS} for verbs in valid.objects.values())
        assert all(tree[other].parent_id == here for other in valid.agents)


@requirement("Loop 6", "What is not valid is IDLE", "validated", HERE)
@requirement("Act tool", "The executor validates the arguments and uses IDLE instead", "Simulation.happened", DEEDS)
def test_an_invalid_action_is_idle(tmp_path):
    valid = Targets({"MOVE": {"barn": ()}, "INTERACT": {"kettle": ("USE",)}, "SAY": {"ben": ()}})
    nothing = Targets({"MOVE": {}, "INTERACT": {}, "SAY": {}})
    kept = {
        "MOVE": {"kind": "MOVE", "move": {"to_location_id": "barn"}},
        "INTERACT": {"kind": "INTERACT", "interact": {"object_id": "kettle", "verb": "USE"}},
        "SAY": {"kind": "SAY", "say": {"to_agent_id": "ben", "utterance": "Hello."}},
    }
    for kind, call in kept.items():
        assert validated(call, valid).kind == kind
        assert validated(call, nothing).kind == "IDLE"
        assert validated({"kind": kind}, valid).kind == "IDLE"
    for call in (
        {},
        {"kind": "FLY"},
        {"kind": "MOVE", "move": "barn"},
        {"kind": "INTERACT", "interact": {"object_id": "kettle", "verb": "EAT"}},
    ):
        assert validated(call, valid).kind == "IDLE"
    mind = Puppets({("anna", 1): go("atlantis"), ("ben", 1): use("kettle"), ("cora", 1): tell("anna", "Hello!")})
    with _society(tmp_path, mind) as simulation:
        rows = {row["agent_id"]: row for row in simulation.step()}
        assert {row["type"] for row in rows.values()} == {"IDLE"}
        assert rows["anna"]["proposed"] == {"kind": "MOVE", "to_location_id": "atlantis"}
        assert rows["anna"]["why"]
        assert simulation.world()["anna"].parent_id == "bakery"


def _society(folder: Path, mind: Any, change: Any = None) -> Simulation:
    path = folder / "hamlet.yaml"
    path.write_text(hamlet(change).text, encoding="utf-8")
    return Simulation(path, mind=mind)


# ── ticks, objects ───────────────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "Consistency", "All act on the same state; the order of characters changes nothing", "step(intents)", EXECUTOR
)
@requirement("Consistency", "Changes are applied at the end of the tick", "step(intents)", EXECUTOR)
def test_the_order_of_characters_changes_nothing():
    acts = (("anna", 2, go("barn")), ("ben", 2, go("bakery")), ("cora", 2, use("kite", "TAKE")))
    one, other = doing(*acts), doing(*acts)
    other.engine._cast._stage = replace(other.engine._cast._stage, acts=lambda scenario, tick: ("cora", "ben", "anna"))
    for town in (one, other):
        town.live(2)
    assert one.engine.live_state.world == other.engine.live_state.world
    assert [tick.events for tick in one.ticks] == [tick.events for tick in other.ticks]
    assert (one.body("anna").area, one.body("ben").area) == ("green", "green"), "they cross, and neither waits"


@requirement("Objects", "A verb leads from state to state by the object's rules", "ObjectKind", "world/tree.py")
@requirement("Objects", "`OBJECT_STATE_CHANGED` says what changed", "Simulation.happened", AREA)
@requirement("Objects", "It can fail, and is remembered as tried", "Interacted.outcome", DEEDS)
def test_objects_are_state_machines():
    town = doing(("anna", 2, use("kettle")), ("anna", 3, use("kettle")))
    town.live(4)
    (changed,) = town.events("OBJECT_STATE_CHANGED")
    assert changed.tick == 2
    assert changed.body.plain() == {"object_id": "kettle", "from": "cold", "to": "hot", "by": "anna"}
    done, refused = town.events("INTERACT", "anna")
    assert (done.body.outcome, refused.body.outcome) == ("done", "refused")
    assert refused.body.why == "The kettle is hot already."
    tried = [text for text in (memory.text for memory in town.remembered("anna", 4)) if "kettle" in text]
    assert any("tried to use" in text and "hot already" in text for text in tried)


@requirement(
    "Objects", "Two who act on one object in one tick both succeed; the outcome is the same every time", "Fold", AREA
)
def test_two_may_take_the_same_thing():
    outcomes = []
    for _ in range(2):
        town = doing(("ben", 2, use("kite", "TAKE")), ("cora", 2, use("kite", "TAKE")))
        town.live(2)
        outcomes.append([event.body.outcome for event in town.events("INTERACT")])
        outcomes.append(town.engine.live_state.world.things["kite"].parent)
    assert outcomes == [["done", "done"], "cora"] * 2


# ── memories ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("Memory", "`description created_at last_accessed_at importance type links`", "MemoryRecord", HERE)
@requirement("Memory", "Times are ticks", "MemoryRecord.last_accessed_at", HERE)
@requirement("Memory", "Records are only appended", "Simulation.memories", "memory/draft.py")
def test_a_record_has_the_documents_fields(village):
    assert list(MemoryRecord.__dataclass_fields__)[:6] == [
        "description",
        "created_at",
        "last_accessed_at",
        "importance",
        "type",
        "links",
    ]
    records = village.memories("mira")
    assert [one.id for one in records] == list(range(1, len(records) + 1))
    for one in records:
        assert 0 <= one.created_at <= one.last_accessed_at <= 24
        assert 1 <= one.importance <= 10
        assert one.type in ("observation", "plan", "reflection", "action")
    found = {hit[0] for entry in village.run.reading.trace("mira", 24)["retrievals"] for hit in entry["hits"]}
    assert any(records[id - 1].created_at < 24 for id in found)
    assert {records[id - 1].last_accessed_at for id in found} == {24}, "retrieved in the last tick"
    with village.run.reading.stream_at("mira", 12) as earlier:
        assert [memory.text for memory in earlier] == [one.description for one in records[: len(earlier)]]
    with pytest.raises(UsageError):
        MemoryRecord("x", 0, 0, 5, "dream")  # pyright: ignore[reportArgumentType]
    assert [MemoryRecord("x", 0, 0, given).importance for given in (-3, 4, 11)] == [1, 4, 10]


@requirement("Memory", "Who talks and who hears it both remember", "MemoryRecord", PERCEIVE)
@requirement("Memory", "The beginning of a talk is noticed", "CONVERSATION_STARTED", AREA)
@requirement("Memory", "Only those in one place can talk", "Targets.agents", DEEDS)
@requirement("Memory", "One turn a tick for each who speaks", "SAY", DEEDS)
def test_talk_is_remembered_by_all_who_are_there():
    acts = [("ben", 2, tell("anna", "Good morning, Anna.")), ("anna", 3, tell("ben", "Morning, Ben."))]
    acts.append(("cora", 4, tell("ben", "What a day.")))
    town = doing(*acts, change=standing(anna="barn"))
    town.live(6)
    assert {event.tick for event in town.events("SAY")} <= {2, 3, 4, 5}
    assert all(count == 1 for count in Counter((event.tick, event.agent_id) for event in town.events("SAY")).values())
    for agent in ("anna", "ben", "cora"):
        assert any("Good morning, Anna." in text for text in town.texts(agent)), agent
    assert town.events("CONVERSATION_STARTED")
    assert any("Ben Cole" in text and "Anna" in text and "Good morning" in text for text in town.texts("cora"))
    assert "Ben Cole is starting a conversation with Anna Berg." in town.texts("cora")
    apart = doing(("ben", 2, tell("anna", "Can you hear me?")))
    apart.live(3)
    assert not apart.events("SAY")
    assert apart.events("ACTION_REJECTED", "ben")


def naive(records: list[MemoryRecord], query: str, now: int, decay: float = 0.995) -> list[float]:
    """The document's formula, with BM25 written out (Lucene's, k1 0.9, b 0.4)."""
    analyser = Analyser()
    texts = [analyser.query(one.description) for one in records]
    average = sum(map(len, texts)) / len(texts)

    def bm25(terms: Any) -> float:
        total = 0.0
        for word in set(analyser.query(query)):
            holding = sum(word in other for other in texts)
            if not holding:
                continue
            times = list(terms).count(word)
            rarity = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            total += rarity * times / (times + 0.9 * (1 - 0.4 + 0.4 * len(terms) / average))
        return total

    parts = [
        [decay ** ((now - one.last_accessed_at) * 5 / 60) for one in records],
        [bm25(terms) for terms in texts],
        [(one.importance - 1) / 9 for one in records],
    ]
    norm = [
        [(value - min(part)) / (max(part) - min(part)) if max(part) > min(part) else 0.0 for value in part]
        for part in parts
    ]
    return [sum(values) for values in zip(*norm, strict=True)]


WORDS = ("kettle", "stove", "bread", "rain", "cat", "lantern", "boat", "drone", "noodle", "canal", "song", "letter")


def records(count: int, seed: int) -> list[MemoryRecord]:
    dice = np.random.default_rng(seed)
    return [
        MemoryRecord(
            " ".join(dice.choice(WORDS, size=int(dice.integers(3, 9)))),
            tick,
            tick + int(dice.integers(0, 50)),
            float(dice.integers(1, 11)),
        )
        for tick in range(count)
    ]


@requirement(
    "Retrieval",
    "score = recency + relevance + importance, each min-max normalised over all candidates",
    "retrieval_score",
    SCORING,
)
@requirement(
    "Retrieval", "Recency decays exponentially since the last access", "retrieval_score(decay=…)", "memory/scoring.py"
)
@requirement("Retrieval", "Relevance: BM25 over the description", "retrieval_score", "memory/bm25.py")
@requirement("Importance", "(importance − 1) / 9", "normalized_importance", "memory/importance.py")
def test_the_score_is_the_documents_formula():
    for seed in range(6):
        some = records(25, seed)
        for query in ("the kettle and the boat", "rain"):
            assert retrieval_score(some, query, 100) == pytest.approx(naive(some, query, 100), abs=1e-5)
    assert [normalized_importance(one) for one in (1, 5.5, 10)] == [0, 0.5, 1]


@requirement("Retrieval", "A part that is the same for all is 0", "retrieval_score", "memory/policies.py")
def test_a_part_that_is_the_same_for_all_is_zero():
    same = [MemoryRecord("the kettle", 3, 5, 4), MemoryRecord("the kettle", 3, 5, 4)]
    assert retrieval_score(same, "kettle", 9) == [0, 0]
    assert retrieval_score([replace(same[0], importance=5), same[1]], "kettle", 9) == [1, 0]
    assert retrieval_score([], "kettle", 9) == []


@requirement(
    "Retrieval",
    "The top k, as many as fit into the context window; k can be chosen",
    "retrieve(k, max_tokens=…)",
    "memory/retrieval.py",
)
def test_the_best_k_that_fit():
    some = records(30, 3)
    scores = retrieval_score(some, "cat lantern", 99)
    best = sorted(range(30), key=lambda index: (-scores[index], -index))
    found = retrieve(some, "cat lantern", 99, 5)
    assert [one.description for one in found] == [some[index].description for index in best[:5]]
    assert {one.last_accessed_at for one in found} == {99}
    assert 0 < len(retrieve(some, "cat lantern", 99, 30, max_tokens=40)) < 10
    with pytest.raises(UsageError, match="k 0"):
        retrieve(some, "cat", 99, 0)


@requirement(
    "Retrieval", "The village on BM25", "Simulation(), commonplace run latticeville --policy lexical", "api.py"
)
def test_the_village_runs_on_bm25(village, tmp_path):
    assert village.run.scenario.policy == LEXICAL
    assert village.run.reading.scenario.policy == LEXICAL
    assert load("latticeville").policy.name == "park", "the shipped scenario keeps what its author chose"
    path = tmp_path / "a.run"
    with create_run(path, "plaza", policy="lexical") as run:
        assert run.scenario.policy == LEXICAL
    assert main(["resume", str(path), "--until", "3", "--view", "none"]) == 0
    assert main(["verify", str(path)]) == 0
    with pytest.raises(UsageError, match="no policy 'lexicl'"):
        prepared("plaza", policy="lexicl")


@requirement(
    "Importance",
    "The model rates memories of all types, from 1 to 10, when they are made",
    "cognition: {importance: mind}",
    "cognition/remember.py",
)
@requirement(
    "Importance",
    "Higher for what may change what one does; lower for routine",
    "prompts/rate.txt",
    "minds/tasks/rate.py",
)
def test_the_mind_rates_memories_of_all_types():
    mind = ScriptedMind({"rate": lambda given, _: RateOutput(ratings=tuple({"importance": 9} for _ in given.texts))})  # pyright: ignore[reportArgumentType]
    mind.scripts["insights"] = lambda given, _: InsightsOutput(
        insights=(Insight(text="Bread is all there is.", because=(given.recent[0].id,)),)
    )
    change = standing(ben="bakery")
    town = Town(hamlet(change, importance="mind", reflection={"threshold": 20}), mind).until("12:10")
    rated = {text for key, ask in mind.asked if ask.task is RATE and key.agent == "anna" for text in ask.input.texts}
    kinds = {memory.kind for memory in town.memories("anna") if memory.text in rated}
    assert kinds == {"observation", "plan", "action", "reflection"}
    first = {memory.text: memory.importance for memory in reversed(town.memories("anna")) if memory.text in rated}
    assert set(first.values()) == {9}, "one gets used to what was rated before: it is not asked about again"
    prompt = PromptBook("en", SETTING).prompt(Ask(RATE, every_ask()["rate"].input)).text
    assert "1 routine" in prompt
    assert "10 life-changing" in prompt


# ── reflection ───────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "Reflection",
    "It begins when the importance since the last one exceeds a threshold",
    "cognition: {reflection: {threshold, strict}}",
    "memory/reflection.py",
)
@requirement(
    "Reflection",
    "3–5 insights, stored as reflections with links to what supports them",
    "MemoryRecord.links",
    "cognition/deferred.py",
)
def test_reflections_link_to_what_supports_them(tmp_path):
    trigger = ReflectionTrigger(150, strict=True)
    assert not trigger.reached(150)
    assert trigger.reached(150.5)
    assert load("latticeville").cognition.reflection.strict

    def insights(given: Any, _: Any) -> InsightsOutput:
        ids = [note.id for note in given.recent]
        return InsightsOutput(
            insights=tuple(
                Insight(text=f"Thought {word} comes to mind.", because=(ids[0], ids[-1]), importance=10)
                for word in WORDS[:4]
            )
        )

    def past(document: dict[str, Any]) -> None:
        person(document, "anna")["memories"] += [
            {"text": f"Anna Berg lost loaf {number}.", "importance": 10} for number in range(15)
        ]
        document["cognition"]["reflection"] = {"threshold": 150, "strict": True}

    with _society(tmp_path, ScriptedMind({"insights": insights}), past) as simulation:
        simulation.step(5)
        made = [one for one in simulation.memories("anna") if one.type == "reflection"]
        simulation.step()
        trace = simulation.run.reading.trace("anna", 6)
        found = {hit[0] for entry in trace["retrievals"] for hit in entry["hits"]}
        assert found & {one.id for one in made}, "they are retrieved like others"
    assert len(made) == 4
    assert all(one.links for one in made)
    assert all(link < one.id for one in made for link in one.links)


# ── models ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("LLM", "A local model through vLLM, by its address", "--mind vllm:Qwen/Qwen3-8B", "servers.py")
def test_a_local_server_is_named(monkeypatch):
    from commonplace.servers import SERVERS, server_named

    server = server_named("vllm:Qwen/Qwen3-8B", SERVERS)
    assert server.urls == ("http://127.0.0.1:8000/v1",)
    assert server.model == "Qwen/Qwen3-8B"


@requirement(
    "LLM", "Prompts are short and the same for the same question", "PromptBook.prompt", "minds/prompts/book.py"
)
def test_prompts_are_short_and_the_same_each_time():
    books = [PromptBook("en", SETTING) for _ in range(2)]
    for name, ask in every_ask().items():
        if ask.task.scene is not None:
            first, second = (book.prompt(ask).text for book in books)
            assert first == second
            assert len(first) < 9000, name


class Measured(PaidMind):
    """Notes how many questions are in flight, weighed by how long."""

    area = busy = since = 0.0

    async def travel(self, request_key: RequestKey) -> None:
        """Counted at both ends."""
        self.count(self.flying - 1)
        await super().travel(request_key)
        self.count(self.flying)

    def count(self, flying: int) -> None:
        now = asyncio.get_running_loop().time()
        if flying:
            self.area += flying * (now - self.since)
            self.busy += now - self.since
        self.since = now


@requirement(
    "LLM",
    "Questions of many characters are put together: on average half of them or more at once",
    "--concurrency 32",
    "engine/lockstep.py",
)
def test_questions_are_put_together(tmp_path):
    mind = Measured(offline(), slips=0.0, delay=1.0)
    with create_run(tmp_path / "a.run", "latticeville", mind=mind, fidelity="every_tick") as run:

        async def play() -> None:
            async for _ in run.play(ticks=24):
                pass

        virtually(play())
    assert mind.most >= 10
    assert mind.area / mind.busy >= 5


# ── walking ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "Movement",
    "Ticks of a walk = edges × `edge_cost`, which is 1 and can be set",
    "world: {edge_cost: 1}",
    "world/geography.py",
)
@requirement("Movement", "An edge a tick; the areas between are walked through, and seen", "MOVE", DEEDS)
@requirement(
    "Movement",
    "`MOVE(agent_id, from_location, to_location)` when the walk is over",
    "Simulation.happened, commonplace events --walks",
    "analysis/walks.py",
)
@pytest.mark.parametrize("cost", [1, 3])
def test_a_walk_takes_its_edges(cost, tmp_path, capsys):
    mind = Puppets({("anna", tick): go("barn") for tick in range(1, 2 * cost + 1)})
    with _society(tmp_path, mind, lambda document: document["world"].update(edge_cost=cost)) as simulation:
        seen: list[str] = []
        for _ in range(2 * cost):
            rows = simulation.step()
            seen.append(simulation.world()["anna"].parent_id)
        assert seen[-1] == "barn"
        assert seen[cost - 1] == "green", "half way"
        assert len({*seen}) == 2 * cost
        (moved,) = [row for row in rows if row["type"] == "MOVE"]
        assert (moved["agent_id"], moved["from_location"], moved["to_location"]) == ("anna", "bakery", "barn")
        assert moved["edges"] == moved["tick"] == 2 * cost
        assert not [row for tick in range(1, 2 * cost) for row in simulation.happened(tick) if row["type"] == "MOVE"]
        path = simulation.run.file.path
        assert main(["events", str(path), "--walks", "--json"]) == 0
        assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [moved]


@requirement("Movement", "Who is on the way is perceived, and may plan anew", "WorldView.bodies", "world/view.py")
def test_a_walk_that_is_turned_is_one_walk(tmp_path):
    mind = Puppets(
        {("anna", 1): go("barn"), ("anna", 2): go("cabin"), ("ben", 1): go("green"), ("ben", 2): idle("waiting")}
    )
    with _society(tmp_path, mind) as simulation:
        simulation.step()
        simulation.step()
        (moved,) = [row for row in simulation.happened() if row["type"] == "MOVE"]
        assert (moved["from_location"], moved["to_location"], moved["edges"]) == ("bakery", "cabin", 2)
        assert any("Anna" in one.description for one in simulation.memories("ben") if one.created_at >= 1)


# ── what the world does ──────────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "Ambient",
    "Time of day and weather change by themselves: `TIME_ADVANCED`, `WEATHER_CHANGED(old, new)`",
    "Simulation.happened",
    WEATHER,
)
@requirement("Ambient", "They follow from seed and configuration", "climate", WEATHER)
@requirement("Ambient", "Characters perceive them in the next tick", "WorldView.news", "world/view.py")
@requirement(
    "Ambient",
    "The simulator owns the weather: sky, wind, temperature",
    "Frame.sky, .wind, .temperature",
    "run/frames.py",
)
def test_the_weather_changes_by_itself(tmp_path):
    def stormy(document: dict[str, Any]) -> None:
        document["climate"] = {
            "sky": "clear",
            "hours_per_step": 1,
            "weights": {"clear": {"rain": 1}, "rain": {"clear": 1}},
        }
        person(document, "anna")["starts_at"] = "green"

    with _society(tmp_path, ScriptedMind(), stormy) as simulation:
        rows = [row for _ in range(24) for row in simulation.step() if row["type"] == "WEATHER_CHANGED"]
        assert [(row["old"], row["new"]) for row in rows] == [("clear", "rain"), ("rain", "clear")]
        for row in rows:
            frame = simulation.run.reading.frame(row["tick"])
            assert (frame.sky, frame.wind, frame.temperature) == (row["new"], row["wind"], row["temperature"])
    runs = [Town(hamlet(stormy), ScriptedMind(), seed=seed).live(40) for seed in (7, 7)]
    changes = [[(event.tick, event.body.plain()) for event in town.events("WEATHER_CHANGED")] for town in runs]
    assert changes[0] == changes[1]
    tick, body = changes[0][0]
    assert (body["from"], body["to"]) == ("clear", "rain")
    assert {"wind", "temperature"} <= body.keys()
    assert not any("rain" in memory.text for memory in runs[0].remembered("anna", tick))
    assert any("rain" in memory.text for memory in runs[0].remembered("anna", tick + 1))
    assert [event.body.part_of_day for event in runs[0].events("TIME_ADVANCED")] == ["midday"]


@requirement("Ambient", "Objects change by themselves, too, and are perceived in the next tick", "script, occasions",
             "world/script.py")  # fmt: skip
def test_objects_change_by_themselves(tmp_path):
    def boils(document: dict[str, Any]) -> None:
        document["script"] = [{"id": "boil", "at": "10:10", "text": "The kettle boils over.", "sets": {"kettle": "hot"},
                               "to": {"areas": ["bakery"]}}]  # fmt: skip

    with _society(tmp_path, ScriptedMind(), boils) as simulation:
        rows = [row for _ in range(4) for row in simulation.step() if row["type"] == "SCRIPTED"]
        assert [(row["sets"], row["tick"]) for row in rows] == [((("kettle", "hot"),), 2)]
        assert simulation.world(1)["kettle"].state == "cold"
        assert simulation.world(2)["kettle"].state == "hot"
        (seen,) = [one for one in simulation.memories("anna") if "boils over" in one.description]
        assert seen.created_at == 3


# ── viewers, time ────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "Rendering",
    "Several viewers of one run: lines, JSON, a map, at the same time",
    "commonplace watch, replay, serve",
    "run/reading.py",
)
@requirement("Rendering", "Viewers see whole ticks only", "Reading.frame", "run/file.py")
def test_several_viewers_watch_one_run(tmp_path, capsys):
    from commonplace import open_run

    with Simulation("plaza", path=tmp_path / "a.run") as simulation:
        viewers = [open_run(tmp_path / "a.run") for _ in range(3)]
        for tick in range(1, 6):
            simulation.step()
            assert [viewer.last_tick for viewer in viewers] == [tick] * 3
            frames = [viewer.frame().as_dict() for viewer in viewers]
            assert frames[0] == frames[1] == frames[2]
            assert len(frames[0]["agents"]) == 2
        for view, last in (("plain", "\ntick 5  digest "), ("json", '"tick":5,'), ("state", "tick 5  06:25")):
            assert main(["replay", str(tmp_path / "a.run"), "--view", view]) == 0
            assert last in capsys.readouterr().out.replace('"tick": ', '"tick":'), view
        for viewer in viewers:
            viewer.close()


@requirement(
    "Rendering", "What comes from outside is an input, applied at the end of a tick", "Run.submit", "world/inputs.py"
)
def test_inputs_wait_for_the_end_of_a_tick(tmp_path):
    with Simulation("plaza", path=tmp_path / "a.run") as simulation:
        simulation.step()
        before = simulation.run.reading.digest(state=True)
        simulation.run.submit({"kind": "god_event", "text": "A bell rings.", "to": {"everybody": True}})
        assert simulation.run.reading.digest(state=True) == before
        assert [row["tick"] for row in simulation.step() if row["type"] == "GOD_EVENT"] == [2]


@requirement(
    "Time", "A tick is a fixed stretch of simulated time, which can be set", "clock: {tick_minutes: 5}", "clock.py"
)
@pytest.mark.parametrize("minutes", [5, 15])
def test_a_tick_is_a_fixed_stretch_of_time(minutes):
    town = Town(hamlet(lambda document: document["clock"].update(tick_minutes=minutes)), ScriptedMind()).live(4)
    times = [tick.time for tick in town.ticks]
    assert {(b - a).total_seconds() / 60 for a, b in pairwise(times)} == {minutes}
