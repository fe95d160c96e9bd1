"""Reflections say something new about what they cite; explanations are the numbers that were used."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import sqrt
from typing import Any

import pytest

from commonplace.api import OpenedRun
from commonplace.memory import default_embedder
from society.village import content_words, memories, says

COPIED = 0.75
"""Largest share of an insight's words that may come from any one memory it cites."""


def test_insights_cite_earlier_memories(run: OpenedRun) -> None:
    count = 0
    for agent in run.agent_ids:
        for thought in memories(run, agent).values():
            if thought.kind == "reflection":
                count += 1
                assert thought.citations
                assert all(1 <= cited < thought.id for cited in thought.citations)
    assert count >= 20


def test_an_insight_restates_no_memory_it_cites(run: OpenedRun) -> None:
    for agent in run.agent_ids:
        known = memories(run, agent)
        for thought in known.values():
            if thought.kind != "reflection":
                continue
            said = content_words(thought.text)
            for cited in thought.citations:
                shared = said & content_words(known[cited].text)
                assert len(shared) <= COPIED * len(said), (agent, thought.text, known[cited].text)


def test_no_insight_is_had_twice(run: OpenedRun) -> None:
    for agent in run.agent_ids:
        thoughts = [memory.text for memory in memories(run, agent).values() if memory.kind == "reflection"]
        assert len(thoughts) == len(set(thoughts)), agent


def _hours_parts(run: OpenedRun, agent: str, tick: int, count: int) -> dict[str, list[float]]:
    """Raw parts of the first `count` memories, computed the plain way from the record."""
    now = run.scenario.clock.time(tick)
    accessed = run.accesses(agent, tick - 1)
    stream = memories(run, agent)
    recency, importance = [], []
    for id_ in range(1, count + 1):
        memory = stream[id_]
        last = memory.created_at
        if id_ in accessed:
            last = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=accessed[id_])
        recency.append(0.995 ** ((now - last).total_seconds() / 3600))
        importance.append(memory.importance)
    return {"recency": recency, "importance": importance}


def _cosines(run: OpenedRun, agent: str, tick: int, query: str, count: int) -> list[float]:
    stream = run.stream_at(agent, tick)
    (asked,) = default_embedder().embed([query])
    assert asked is not None
    cosines = []
    for id_ in range(1, count + 1):
        vector = stream.vector(id_)
        dot = sum(float(a) * float(b) for a, b in zip(asked, vector, strict=True)) if vector is not None else 0.0
        norms = sqrt(sum(float(a) ** 2 for a in asked)) * (
            sqrt(sum(float(a) ** 2 for a in vector)) if vector is not None else 1.0
        )
        cosines.append(dot / norms)
    return cosines


def _min_max(values: list[float]) -> list[float]:
    low, high = min(values), max(values)
    return [0.5 if high == low else (value - low) / (high - low) for value in values]


def test_why_gives_the_numbers_that_anybody_can_compute_again(run: OpenedRun) -> None:
    """Park's score, from the record alone: 0.995 per hour since the last access, importance, cosine; min-max; sum."""
    checked = 0
    for said in says(run)[5::40]:
        for retrieval in run.why(said.id)["retrievals"]:
            if retrieval["purpose"] not in {"react", "talk"}:
                continue
            count = retrieval["candidates"]
            raw = _hours_parts(run, said.agent_id, said.tick, count)
            raw["relevance"] = _cosines(run, said.agent_id, said.tick, retrieval["query"], count)
            normalised = {name: _min_max(values) for name, values in raw.items()}
            totals = [sum(normalised[name][index] for name in normalised) for index in range(count)]
            _agrees(retrieval, raw, normalised, totals)
            checked += 1
    assert checked >= 3


def _agrees(
    retrieval: dict[str, Any], raw: dict[str, list[float]], normalised: dict[str, list[float]], totals: list[float]
) -> None:
    for hit in retrieval["hits"]:
        index = hit["memory"]["id"] - 1
        for name, part in hit["parts"].items():
            assert part["weight"] == 1
            assert part["raw"] == pytest.approx(raw[name][index], abs=1e-6), (name, hit["memory"]["id"])
            assert part["normalised"] == pytest.approx(normalised[name][index], abs=1e-6)
        assert hit["score"] == pytest.approx(totals[index], abs=1e-6)
    best = sorted(totals, reverse=True)[: len(retrieval["hits"])]
    assert [hit["score"] for hit in retrieval["hits"]] == pytest.approx(best, abs=1e-6)


def test_what_a_line_cites_was_retrieved_for_it_or_perceived_or_is_in_the_account(run: OpenedRun) -> None:
    for said in says(run)[::25]:
        why = run.why(said.id)
        shown = {hit["memory"]["id"] for found in why["retrievals"] for hit in found["hits"]}
        shown |= {entry["memory"] for entry in why["stored"]}
        account = run.state_at(said.agent_id, said.tick - 1).account
        shown |= {memory for entry in account.all() for memory in entry.because}
        assert set(said.body.because) <= shown, said.id
