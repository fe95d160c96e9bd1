"""Runs as texts: JSON lines, a transcript, a network."""

from __future__ import annotations

import json

import networkx
import pytest

from commonplace.api import open_run
from commonplace.world.events import Spoke, of_kind
from e2e.command import command


def exported(run, form, folder):
    target = folder / f"out.{form}"
    command("export", run, form, "-o", target)
    return target


@pytest.mark.parametrize("form", ["events", "memories"])
def test_json_lines_hold_what_the_run_does(town, tmp_path, form):
    rows = [json.loads(line) for line in exported(town, form, tmp_path).read_text(encoding="utf-8").splitlines()]
    with open_run(town) as run:
        there = run.events() if form == "events" else [one for me in run.agent_ids for one in run.memories(me)]
        assert [row["id"] for row in rows] == [one.id for one in there]


def test_a_transcript_has_every_line_once_and_talks_stay_together(town, tmp_path):
    lines = exported(town, "transcript", tmp_path).read_text(encoding="utf-8").splitlines()
    with open_run(town) as run:
        said = [spoke.utterance for _, spoke in of_kind(run.events(type="SAY"), Spoke)]
    spoken = [line.partition(": ")[2].strip() for line in lines if line.startswith("**")]
    assert sorted(spoken) == sorted(said)
    talks = "\n".join(lines).split("### ")[1:]
    assert talks
    for talk in talks:
        speakers = {line.split("**")[1] for line in talk.splitlines() if line.startswith("**")}
        assert len(speakers) <= 2


def test_a_network_is_read_by_another_library(town, tmp_path):
    graph = networkx.read_graphml(exported(town, "network", tmp_path))
    with open_run(town) as run:
        assert set(graph.nodes) == set(run.agent_ids)
        said = list(of_kind(run.events(type="SAY"), Spoke))
        assert sum(edge["lines"] for _, _, edge in graph.edges(data=True)) == len(said)
        for me, state in run.states_at().items():
            for other, tie in state.relations.items():
                assert graph.edges[me, other]["warmth"] == tie.warmth
    assert graph.is_directed()


def test_an_existing_file_stays_without_force(town, tmp_path):
    target = exported(town, "network", tmp_path)
    before = target.read_bytes()
    done = command("export", town, "network", "-o", target, status=2)
    assert "already exists" in done.err
    assert target.read_bytes() == before
