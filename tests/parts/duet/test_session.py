"""A dialogue behind the page: what goes wrong beside it never ends it (sitcom document §10, §11, §13)."""

from __future__ import annotations

import logging
import logging.handlers
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

from commonplace import open_run
from commonplace.errors import UsageError
from commonplace.languages import phrases
from commonplace.lock import ProcessLock
from commonplace.memory.stores.store import load
from commonplace.parts.duet.sitcom.casting import Config, config_of, edited, short_name
from commonplace.parts.duet.sitcom.dialogue import Dialogue, begin, catch_up, end, exported, log, play
from commonplace.parts.duet.tasks import LOST_THREAD
from commonplace.parts.stores.chroma import collection_name
from commonplace.testing.server import Faults, ModelServer

pytest.importorskip("chromadb")


@contextmanager
def dialogue(folder: Path, turns: int = 0, config: Config | None = None) -> Generator[Dialogue]:
    """A dialogue of so many turns."""
    session = begin(config or config_of("sitcom"), folder)
    try:
        for _ in range(turns):
            play(session)
        yield session
    finally:
        end(session)


# ── models ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_model_that_answers_nonsense_costs_a_line_and_the_page_knows_why(tmp_path: Path) -> None:
    server = ModelServer(faults=Faults(1.0, kinds=("wrong_schema",)))
    with server, dialogue(tmp_path, 2, replace(config_of("sitcom"), mind=server.url)) as session:
        assert [record.utterance for record in session.transcript] == [phrases("ko", "lines")[LOST_THREAD]] * 2
        (problem,) = session.transcript[1].problems
        assert (problem.task, problem.kind, problem.used) == ("duet_turn", "schema", True)
        assert not any(event.stored for record in session.transcript for event in record.store_events)


@pytest.mark.slow  # it is tried again for some seconds
def test_a_server_that_is_away_costs_a_line(tmp_path: Path) -> None:
    with dialogue(tmp_path, 1, replace(config_of("sitcom"), mind="http://127.0.0.1:9/v1#m")) as session:
        assert session.transcript[0].utterance == phrases("ko", "lines")[LOST_THREAD]
        assert [problem.kind for problem in session.transcript[0].problems] == ["outage"]


def test_a_model_that_answers_is_counted(tmp_path: Path) -> None:
    with ModelServer() as server, dialogue(tmp_path, 1, replace(config_of("sitcom"), mind=server.url)) as session:
        tokens = session.transcript[0].tokens
    assert tokens["prompt"] > 100
    assert tokens["calls"] >= 1


# ── Chroma ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_mirror_is_in_step_with_the_run_and_names_a_collection_for_each(tmp_path: Path) -> None:
    with dialogue(tmp_path, 4) as session, open_run(session.path) as run:
        assert session.mirror is not None
        store: Any = session.mirror._store
        assert store.agents() == ("김철수", "이영희")
        for agent, name in (("cheolsu", "김철수"), ("younghee", "이영희")):
            mirrored = load(store, name)
            assert [(one.id, one.text, one.accessed_at) for one in mirrored.memories] == [
                (one.id, one.text, one.accessed_at) for one in run.memories(agent)
            ]
            assert all(vector is not None for vector in mirrored.vectors)
            (found,) = [one for one in store._client.list_collections() if one.name == collection_name(name)]
            metadata = found.get(include=["metadatas"])["metadatas"][0]
            assert {"memory_type", "created_at", "importance", "source"} <= set(metadata)
        assert all(one.shared == one.wanted > 0 for one in session.agreements.values())
        assert set(session.agreements) == set(range(1, 5))
        end(session)
        catch_up(session)
        assert session.notices == []


def _missing(folder: Path, patch: pytest.MonkeyPatch) -> None:
    del folder
    patch.setitem(sys.modules, "chromadb", None)


def _damaged(folder: Path, patch: pytest.MonkeyPatch) -> None:
    del patch
    folder.mkdir(parents=True)
    (folder / "chroma.sqlite3").write_bytes(b"not a database" * 100)


def _locked(folder: Path, patch: pytest.MonkeyPatch) -> None:
    folder.mkdir(parents=True)
    held = ProcessLock(folder / "commonplace.lock", "a test")
    patch.setattr(ProcessLock, "held_by_test", held, raising=False)


@pytest.mark.parametrize("broken", [_missing, _damaged, _locked])
def test_without_chroma_the_dialogue_goes_on_from_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: Any
) -> None:
    broken(tmp_path / "page-1.chroma", monkeypatch)
    monkeypatch.setattr("commonplace.parts.duet.sitcom.dialogue._free", lambda folder: folder / "page-1.run")
    with dialogue(tmp_path, 1) as session:
        (notice,) = session.notices
        assert notice.startswith("Chroma: ")
        assert len(session.transcript[0].retrieved) == 5
        assert exported(session)["notices"] == [notice]


# ── logging ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_turns_are_logged_and_both_stages_of_a_retrieval_with_debug(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = logging.handlers.QueueHandler(SimpleQueue())
    monkeypatch.setattr(log, "handlers", [kept])
    monkeypatch.setattr(log, "propagate", False)
    before = log.level
    log.setLevel(logging.DEBUG)
    with dialogue(tmp_path, 1) as session:
        ranked = session.transcript[0].retrieved
    log.setLevel(before)
    said = [kept.queue.get() for _ in range(kept.queue.qsize())]
    assert [(one.levelname, one.getMessage().split(":")[0]) for one in said] == [
        ("INFO", "turn 1 begins"),
        ("DEBUG", "turn 1 top 16"),
        ("DEBUG", "turn 1 re-ranked"),
        ("INFO", "turn 1 ends"),
    ]
    assert f"({ranked[0].memory['id']}, " in said[2].getMessage()
    assert "of 1 lines stored, 0 tokens, " in said[3].getMessage()


# ── what the sidebar makes of a scenario ────────────────────────────────────────────────────────────────────────────


def test_settings_left_as_they_are_leave_the_scenario_as_it_is() -> None:
    config = config_of("sitcom")
    assert edited(config) is None
    assert edited(replace(config, seed=8, mind="ollama:x")) is None


def test_memory_settings_become_a_policy_of_the_scenario(tmp_path: Path) -> None:
    config = replace(config_of("sitcom-en"), k=2, top_n=6, w_sim=1.0, w_rec=0.0, w_imp=0.0, reflection_period=2)
    with dialogue(tmp_path, 4, config) as session:
        last = session.transcript[-1]
        assert (last.policy, len(last.retrieved)) == ("page", 2)
        assert last.retrieved[0].final_score == pytest.approx(last.retrieved[0].similarity)
        assert [record.turn for record in session.transcript if record.reflection] == [3, 4]
        with open_run(session.path) as run:
            assert (run.scenario.policy.nearest, run.scenario.cognition.k) == (6, 2)


@pytest.mark.parametrize(
    ("name", "called", "sentence"),
    [
        ("박민준", "민준", "박민준은 어머니에게서"),
        ("Ada Lovelace", "Ada", "Ada Lovelace"),
        ("보라", "보라", "보라는 어머니에게서"),
    ],
)
def test_a_new_name_stands_everywhere_with_the_right_particles(name: str, called: str, sentence: str) -> None:
    config = config_of("sitcom")
    text = edited(replace(config, profiles=(replace(config.profiles[0], name=name), config.profiles[1])))
    assert text is not None
    assert sentence in text
    assert "철수" not in text
    assert short_name(name) == called


def test_a_character_without_a_name_or_traits_and_a_town_are_refused() -> None:
    config = config_of("sitcom")
    with pytest.raises(UsageError, match="김철수 has no traits"):
        edited(replace(config, profiles=(replace(config.profiles[0], traits=" , "), config.profiles[1])))
    with pytest.raises(UsageError, match="has no name"):
        edited(replace(config, profiles=(replace(config.profiles[0], name=" "), config.profiles[1])))
    with pytest.raises(UsageError, match="the page is for the stage duet"):
        config_of("plaza")
