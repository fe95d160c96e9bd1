"""Memories of runs and stores on the command line: listed, searched, asked, copied."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.cli import main
from commonplace.errors import UsageError
from commonplace.lookup import character
from commonplace.memory import Emotion, MemoryStream
from commonplace.memory.stores import open_store
from commonplace.memory.stores.store import load
from commonplace.run.reading import Reading
from commonplace.testing.stores import START, WordCounts


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """Sixty ticks of the plaza."""
    path = tmp_path_factory.mktemp("runs") / "plaza.run"
    assert main(["run", "plaza", "--ticks", "60", "--view", "none", "-o", str(path)]) == 0
    return path


@pytest.fixture
def store(tmp_path) -> Path:
    path = tmp_path / "town.db"
    with MemoryStream.open(path, "maria", rater=lambda _: 3) as stream:
        stream.remember(
            "Klaus reads in the library",
            at=START,
            importance=6,
            place=("Town", "Library"),
            tags=("study",),
            session="s1",
            emotion=Emotion(-0.5, 0.8, keywords=("worry",)),
            details={"frame": {"what": "talk"}, "rating": 5},
        )
        stream.remember("the stove is burning", at=START + timedelta(hours=2), place=("Town", "House"))
        stream.remember("a lantern", at=START + timedelta(hours=3), kind="action")
        stream.forget([3])
    with MemoryStream.open(path, "지우 / x") as stream:
        stream.remember("축제 준비", at=START + timedelta(hours=1), importance=8)
    return path


@pytest.fixture
def said(capsys):
    """What a command prints on standard output."""

    def ran(*arguments: object) -> str:
        capsys.readouterr()
        assert main([str(one) for one in arguments]) == 0
        return capsys.readouterr().out

    return ran


@pytest.fixture
def rows(said):
    """The JSON lines that a command prints."""
    return lambda *arguments: [json.loads(line) for line in said(*arguments, "--json").splitlines()]


@pytest.fixture
def refused(capsys):
    """What a command that is used wrongly is told; the second line is what to do."""

    def ran(*arguments: object) -> str:
        capsys.readouterr()
        assert main([str(one) for one in arguments]) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert "\n  " in told.err
        return told.err

    return ran


def test_a_store_is_listed_like_a_run(store, run, said, rows):
    assert [row["text"] for row in rows("memories", store, "maria")] == [
        "Klaus reads in the library",
        "the stove is burning",
    ]
    assert said("memories", store, "지우 / x") == "    1  2031-10-04T07:00     8  축제 준비\n"
    with Reading.open(run) as reading:
        agent = reading.agent_ids[0]
        wanted = [memory.id for memory in reading.memories(agent, 30)]
    assert [row["id"] for row in rows("memories", run, agent, "--at", 30)] == wanted


def test_a_store_can_be_asked(store, said, rows):
    (hit,) = rows("memories", store, "maria", "--query", "what does Klaus do?", "-k", 1)
    assert (hit["id"], hit["rank"]) == (1, 1)
    assert hit["score"] == pytest.approx(
        sum(part["weight"] * part["normalised"] for part in hit["parts"].values()), abs=1e-6
    )
    (hit,) = rows("memories", store, "maria", "--query", "Klaus", "--policy", "park", "-k", 1)
    assert set(hit["parts"]) == {"recency", "importance", "relevance"}
    assert "stove" in said("memories", store, "maria", "--query", "stove", "--at", "2031-10-05")


def test_asking_touches_nothing(store, said, rows):
    before = rows("memories", store, "maria")
    said("memories", store, "maria", "--query", "Klaus", "--at", "2040-01-01")
    assert rows("memories", store, "maria") == before


def test_a_store_is_shown_as_it_was_filled_up_to_a_time(store, rows):
    assert [row["id"] for row in rows("memories", store, "maria", "--at", "2031-10-04T06:30")] == [1]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ([], ["maria 2", "지우 / x 1", "maria 1"]),
        (["--text", "STOVE"], ["maria 2"]),
        (["--kind", "observation", "--kind", "action"], ["maria 2", "지우 / x 1", "maria 1"]),
        (["--kind", "plan"], []),
        (["--since", "2031-10-04T06:30"], ["maria 2", "지우 / x 1"]),
        (["--until", "2031-10-04T06:30"], ["maria 1"]),
        (["--place", "Town > Library"], ["maria 1"]),
        (["--place", "Town"], ["maria 2", "maria 1"]),
        (["--tag", "study"], ["maria 1"]),
        (["--session", "s1"], ["maria 1"]),
        (["--min-importance", "6"], ["지우 / x 1", "maria 1"]),
        (["--valence", ":-0.2"], ["maria 1"]),
        (["--valence", "0:1"], []),
        (["--arousal", "0.5:1", "--keyword", "worry"], ["maria 1"]),
        (["--detail", "frame.what=talk"], ["maria 1"]),
        (["--detail", "rating=5", "--detail", "frame.what=talk"], ["maria 1"]),
        (["--detail", "rating=4"], []),
        (["--limit", "1"], ["maria 2"]),
    ],
    ids=str,
)
def test_every_filter_of_search(filters, found, store, rows):
    assert [f"{row['agent']} {row['id']}" for row in rows("search", store, *filters)] == found


def test_one_character_of_a_run_can_be_searched(run, rows):
    with Reading.open(run) as reading:
        agent = reading.agent_ids[0]
        wanted = [memory.id for memory in reading.stream_at(agent).search(kinds=("reflection", "plan"))]
    assert [row["id"] for row in rows("search", run, agent, "--kind", "reflection", "--kind", "plan")] == wanted


def test_filters_that_make_no_sense_are_refused(store, refused):
    for wrong in (
        ["--since", "yesterday"],
        ["--valence", "high"],
        ["--detail", "rating"],
        ["--kind", "dream"],
        ["--at", "noon"],
    ):
        refused("search", store, *wrong)


def test_what_is_not_there_is_named(store, tmp_path, refused):
    assert "maria" in refused("memories", store, "nobody")
    assert "no store here" in refused("search", tmp_path / "none.db")
    assert "no such run" in (refused("search", tmp_path / "none.run"))
    assert not (tmp_path / "none.db").exists()


def test_a_scenario_is_answered_with_how_to_run_it(tmp_path, refused):
    scenario = tmp_path / "mine.yaml"
    assert main(["new", str(scenario)]) == 0
    told = refused("copy-memories", scenario, tmp_path / "mine.db")
    assert "run it first" in told
    assert f"run {scenario}" in told
    assert not (tmp_path / "mine.db").exists()


def test_equal_texts_are_shown_once(tmp_path, said, rows):
    path = tmp_path / "s.db"
    with MemoryStream.open(path, "maria") as stream:
        for day in (0, 5, 9):
            stream.remember("the stove is burning", at=START + timedelta(days=day))
        stream.remember("the stove is cold", at=START + timedelta(days=3))
    asked = ("memories", path, "maria", "--query", "stove", "--policy", "park")
    assert len(rows(*asked)) == 4
    shown = said(*asked)
    assert shown.count("the stove is burning") == 1
    assert shown.splitlines()[-1] == "#2, #1: the same words as #3"


def test_vectors_of_another_embedder_are_not_compared(tmp_path, rows, refused):
    path = tmp_path / "s.db"
    with MemoryStream.open(path, "maria", embedder=WordCounts()) as stream:
        stream.remember("a lantern", at=START)
    assert rows("memories", path, "maria", "--query", "lantern")[0]["id"] == 1
    assert "word-counts" in (refused("memories", path, "maria", "--query", "lantern", "--policy", "park"))


@pytest.mark.parametrize("target", ["copy.db", "jsonl:copy"])
def test_a_run_is_copied_whole(target, run, tmp_path, monkeypatch, said, rows):
    monkeypatch.chdir(tmp_path)
    before = run.read_bytes()
    assert said("copy-memories", run, target).startswith("copied ")
    assert run.read_bytes() == before
    store = open_store(target, create=False)
    with Reading.open(run) as reading:
        assert store.agents() == tuple(sorted(reading.agent_ids))
        for agent in reading.agent_ids:
            found, stream = load(store, agent), reading.stream_at(agent)
            assert list(found.memories) == reading.memories(agent)
            assert [vector.tolist() for vector in found.vectors] == [
                stream.vector(memory.id).tolist() for memory in stream
            ]
    store.close()
    with Reading.open(run) as reading:
        agent = reading.agent_ids[0]
        policy = reading.manifest.policy
    asked = ("--query", "who was where?", "--policy", policy, "--json")
    at = rows("memories", run, agent)[-1]["created_at"]
    there = [json.loads(line) for line in said("memories", target, agent, *asked, "--at", at).splitlines()]
    assert [row["id"] for row in there] == [row["id"] for row in rows("memories", run, agent, *asked[:-1])]


def test_a_copy_is_of_the_characters_named_and_overwrites_nothing(store, tmp_path, said, refused, capsys):
    target = tmp_path / "copy.db"
    assert main(["copy-memories", str(store), str(target), "--agent", "maria"]) == 0
    told = capsys.readouterr()
    assert told.out == f"copied 2 memories of 1 character to {target}\n"
    assert "maria: 3 of 3" in told.err
    assert said("copy-memories", store, target, "--agent", "maria") == told.out  # there already: nothing is written
    said("copy-memories", store, target)
    copied, source = open_store(target), open_store(store)
    assert copied.agents() == source.agents()
    assert load(copied, "maria").forgotten == {3}
    copied.delete("maria")
    with MemoryStream.open(copied, "maria", embedder=WordCounts()) as stream:
        stream.remember("her own", at=START)
    copied.close()
    source.close()
    assert "other memories of maria already" in (refused("copy-memories", store, target))


def test_a_copy_on_to_a_run_or_of_a_stranger_is_refused(store, run, tmp_path, refused):
    assert "of a run: `copy-memories" in (refused("copy-memories", store, run))
    refused("copy-memories", store, tmp_path / "copy.db", "--agent", "nobody")
    assert not (tmp_path / "copy.db").exists()


@pytest.mark.parametrize("name", ["Ines", "INES", "ines okafor", "Ines Okafor"])
def test_a_character_goes_by_its_id_its_name_and_its_short_name(name, run, rows):
    assert rows("memories", run, name) == rows("memories", run, "ines")


def test_a_character_of_a_store_goes_by_its_id_in_any_case(store, rows):
    assert rows("search", store, "Maria") == rows("search", store, "maria")


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(run, store, refused):
    assert "did you mean ines?" in refused("memories", run, "Inez")
    assert "did you mean maria?" in refused("search", store, "marya")
    assert "did you mean" not in refused("memories", run, "zebra")


def test_a_name_of_several_characters_is_refused():
    names = {"ann_a": ("Ann Abel", "Ann"), "ann_b": ("Ann Bell", "Ann"), "ann": ("Anna", "Annie")}
    assert character("ANN_A", names, "x.run") == "ann_a"
    assert character("ann", names, "x.run") == "ann"
    with pytest.raises(UsageError, match="ann_a, ann_b, ann") as raised:
        character("Ann", names, "x.run")
    assert "id" in raised.value.hint
