"""Vectors of a model: asked for like any answer, used for memories and questions alike."""

from __future__ import annotations

import numpy as np

from cognition.hamlet import Town, hamlet
from commonplace.memory.embedding import default_embedder
from commonplace.minds.offline.dice import Dice
from commonplace.minds.offline.mind import embed
from commonplace.minds.tasks import EmbedOutput
from commonplace.testing import ScriptedMind

MODEL = {"model": "tiny-embedder", "dimensions": 384}
DICE = Dice((0, "", 0, 0))


def _mind() -> ScriptedMind:
    return ScriptedMind({"embed": lambda given, _: embed(given, DICE)})


def test_every_memory_of_the_run_has_the_vector_the_model_gave() -> None:
    town = Town(hamlet(embedder=MODEL), _mind()).live(6)
    for agent, stream in town.engine.live_state.streams.items():
        lived = [memory for memory in town.memories(agent) if memory.tick]
        assert lived
        for memory in lived:
            (expected,) = default_embedder().embed([memory.text])
            assert np.array_equal(stream.vector(memory.id), expected)


def test_the_queries_of_retrievals_are_embedded_too() -> None:
    mind = _mind()
    town = Town(hamlet(embedder=MODEL), mind).live(6)
    asked = {text for _, ask in mind.asked if ask.task.name == "embed" for text in ask.input.texts}
    queries = [
        entry["query"]
        for tick in town.ticks
        for turn in tick.turns.values()
        for entry in turn.trace.get("retrievals", [])
    ]
    assert queries
    assert asked.issuperset(queries)


def test_texts_of_one_step_are_embedded_in_one_request() -> None:
    mind = _mind()
    Town(hamlet(embedder=MODEL), mind).live(3)
    assert max(len(ask.input.texts) for _, ask in mind.asked if ask.task.name == "embed") > 3


def test_without_an_answer_memories_have_no_vector_and_life_goes_on() -> None:
    town = Town(hamlet(embedder=MODEL), ScriptedMind()).live(6)
    stream = town.engine.live_state.streams["cora"]
    lived = [memory for memory in town.memories("cora") if memory.tick]
    assert lived
    assert {stream.vector(memory.id) for memory in lived} == {None}


def test_too_few_vectors_are_no_vectors() -> None:
    short = ScriptedMind({"embed": lambda given, _: EmbedOutput(vectors=("",) * (len(given.texts) - 1))})
    town = Town(hamlet(embedder=MODEL), short).live(3)
    assert town.memories("cora")


def test_the_built_in_embedder_asks_nobody() -> None:
    mind = _mind()
    Town(hamlet(), mind).live(6)
    assert not any(ask.task.name == "embed" for _, ask in mind.asked)
