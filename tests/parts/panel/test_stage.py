"""A panel keeps what it says, learns from it, and can be resumed, forked and verified like any run."""

from __future__ import annotations

import asyncio
import json
import shutil

import pytest

import commonplace
from commonplace.errors import CommonplaceError, UsageError
from commonplace.ledger import Ledger, verify
from commonplace.parts.coordinates.document import MemoryCoordinate
from commonplace.parts.panel import store
from commonplace.parts.panel.task import PanelOutput
from commonplace.scenario.compiling import load
from commonplace.scenario.model import MindPart
from commonplace.testing import ScriptedMind
from commonplace.trust import named_by_scenario
from e2e.command import command, tables
from parts.panel.panels import CARS, TREES, answers, ledger, memories, played, resumed, variant


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two panels on related questions, the second after the first."""
    path = tmp_path_factory.mktemp("panels")
    played(path / "first.run", CARS)
    played(path / "second.run", TREES)
    return path


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy")


# ── what the founding document asks for ──────────────────────────────────────────────────────────────────────────────


def test_criterion_5_a_panel_stores_its_answers_by_itself_and_uses_them(folder):
    """Of two panels the second quotes the first, and `why` shows which memories it had."""
    first, second = answers(folder / "first.run"), answers(folder / "second.run")
    stored = {one["memory_id"]: one for one in memories(folder / "outputs")}
    assert len(stored) == 2 * (9 + 1)
    with commonplace.open_run(folder / "second.run") as run:
        reasons = run.why(second[1]["id"])
        shown = [hit["memory"] for found in reasons["retrievals"] for hit in found["hits"]]
    assert {(found["purpose"], found["policy"]) for found in reasons["retrievals"]} == {("examples", "lexical")}
    assert len(shown) == 2
    assert [one["id"] for one in shown] == reasons["panel"]["examples"] == reasons["panel"]["below"]
    assert all(stored[one["details"]["memory_id"]]["agent"]["persona_id"] == "thesis" for one in shown)
    assert {one["text"] for one in shown} <= {said["utterance"] for said in first.values()}
    assert CARS in second[1]["utterance"]
    assert second[1]["because"] == (shown[0]["id"],)
    assert stored[_memory_at(folder, 11)]["relations"]["related_memory_ids"] == [shown[0]["details"]["memory_id"]]


def _memory_at(folder, place):
    return memories(folder / "outputs")[place]["memory_id"]


def test_each_answer_has_all_coordinates(folder):
    for place, (tick, said) in enumerate(answers(folder / "first.run").items(), start=1):
        document = memories(folder / "outputs")[place]
        sections = MemoryCoordinate(timestamp="2031-10-04").to_dict()
        assert {key: set(document[key]) for key in sections if isinstance(sections[key], dict)} == {
            key: set(value) for key, value in sections.items() if isinstance(value, dict)
        }
        assert document["timestamp"] == f"2031-10-04T09:0{tick}:00Z"
        assert document["time"]["sequence"] == document["time"]["relative_time_minutes"] == tick
        assert document["space"] == {
            "project": "dialectic",
            "domain": "panel",
            "file_context": ["first.run"],
            "depth_index": (tick - 1) // 3 + 1,
        }
        assert document["agent"]["persona_id"] == said["who"]
        assert document["agent"]["backend"] == "offline"
        assert document["agent"]["role"].startswith(said["who"])
        assert document["content"]["response_full"] == said["utterance"]
        assert document["content"]["prompt_digest"] == CARS
        assert document["content"]["token_count"] > 20
        assert document["metadata"]["tags"] == [said["who"], "panel", "dialectic"]
        assert document["metadata"]["bqi_snapshot"]["agent"] == said["who"]
        assert document["relations"]["parent_memory_id"] == _memory_at(folder, place - 1)
        assert document["relations"]["child_memory_ids"] == ([_memory_at(folder, place + 1)] if tick < 9 else [])
        assert 0 < document["emotion"]["affect_amplitude"] < 1


def test_the_ledger_has_everything_of_a_panel(folder):
    entries = [entry for entry in ledger(folder / "outputs") if entry["session_id"].startswith("sess_20311004_")]
    assert [entry["event_type"] for entry in entries] == [
        "user_input", *["persona_response"] * 9, *["evaluation"] * 9, "synthesis_report",
    ]  # fmt: skip
    for entry in entries:
        assert set(entry["bqi_coordinate"]) == {"time", "space", "agent", "emotion", "rhythm_phase"}
        assert set(entry["bqi_coordinate"]["emotion"]) == {"affect", "keywords"}
        assert entry["bqi_coordinate"]["rhythm_phase"] in {"exploration", "tension", "integration", "rest"}
        assert entry["memory_refs"]
    figures = ("transparency", "reproducibility", "verifiability")
    for entry in entries[1:]:
        assert all(0 <= entry[name] <= 1 and entry[name] == entry["evaluation"][name] for name in figures)
    assert all(0 <= entry["impact_score"] <= 1 for entry in entries[10:])
    assert entries[10]["impact_score"] > 0.5  # others took up what was said first
    assert entries[-2]["impact_score"] == 0  # nobody came after the last answer
    assert all(entry["reproducibility"] == entry["verifiability"] == 1 for entry in entries[1:])


def test_an_edited_line_of_the_ledger_is_found(copy):
    path = copy / "outputs" / "resonance_ledger"
    assert verify(path).sound
    assert command("ledger", "verify", path).lines[0].startswith("days 2  entries 40")
    day = path / "ledger-20311004.jsonl"
    lines = day.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[3] = lines[3].replace('"transparency": ', '"transparency": 0')
    day.write_text("".join(lines), encoding="utf-8")
    assert [one.where for one in verify(path).findings] == ["ledger-20311004.jsonl:4", "ledger-20311004.jsonl:5"]
    assert "ledger-20311004.jsonl:4" in command("ledger", "verify", path, status=1).out


def test_what_is_rated_well_is_preferred_by_the_next_panel(copy):
    said = answers(copy / "first.run")[7]
    done = command("rate", copy / "first.run", said["id"], 5)
    assert "5 of 5 stars  importance 0." in done.out
    entry = ledger(copy / "outputs")[-1]
    assert (entry["event_type"], entry["persona_id"], entry["evaluation"]["user_rating"]) == (
        "user_rating",
        "thesis",
        5,
    )
    assert entry["evaluation"]["importance"] >= 0.6
    assert verify(copy / "outputs" / "resonance_ledger").sound
    played(copy / "third.run", TREES, ticks=1)
    with commonplace.open_run(copy / "third.run") as run:
        reasons = run.why("t1.thesis.0")
        first = reasons["retrievals"][0]["hits"][0]["memory"]
    assert first["text"] == said["utterance"]
    assert first["id"] not in reasons["panel"]["below"]
    assert first["details"]["user_rating"] == 5


def test_what_is_rated_badly_changes_the_next_panel_and_the_ledger_says_how(copy):
    first = answers(copy / "first.run")
    for tick, stars in ((1, 1), (2, 5), (4, 2)):
        command("rate", copy / "first.run", first[tick]["id"], stars)
    played(copy / "third.run", TREES, ticks=2)
    resumed(copy / "third.run", ticks=1)
    third = answers(copy / "third.run")
    assert [third[tick]["who"] for tick in (1, 2, 3)] == ["antithesis", "thesis", "synthesis"]
    noted = [entry["plan_adjustment"] for entry in ledger(copy / "outputs") if entry["event_type"] == "rune_report"]
    assert [(one["action"], one["details"]["persona"], one["details"]["mean_rating"]) for one in noted] == [
        ("leave_out_examples", "thesis", 1.5),
        ("revise_prompt", "thesis", 1.5),
        ("reorder_persona_cycle", "antithesis", 5.0),
    ]
    with commonplace.open_run(copy / "third.run") as run:
        remembered = {one.details["memory_id"] for one in run.memories("thesis", 0)}
        assert '"rated":1.5' in run.why("t2.thesis.0")["asked"][0]["prompt"]
        assert "rated" not in run.why("t3.synthesis.0")["asked"][0]["prompt"]
    command("verify", copy / "third.run")
    assert remembered.isdisjoint(noted[0]["details"]["memory_ids"])
    assert len(noted[0]["details"]["memory_ids"]) == 2


def test_a_past_answer_to_something_else_is_not_shown(copy):
    played(copy / "third.run", "Who discovered mathematics?", ticks=1)
    with commonplace.open_run(copy / "third.run") as run:
        reasons = run.why("t1.thesis.0")
        assert len(run.memories("thesis", 0)) == 6
    assert (reasons["retrievals"], reasons["panel"]["examples"]) == ([], [])
    assert "because" not in answers(copy / "third.run")[1]


@pytest.mark.parametrize(
    ("event", "stars", "says"),
    [
        ("t1.antithesis.0", 3, "not an answer"),
        ("t99.thesis.0", 3, "no event"),
        ("t1.thesis.0", 6, "less than or equal"),
    ],
)
def test_only_answers_can_be_rated(folder, event, stars, says):
    assert says in command("rate", folder / "first.run", event, stars, status=2).err


def test_search_finds_the_answers_in_the_store(folder):
    found = command("search", folder / "outputs" / "memory", "synthesis", "--text", "ban cars", "--json").rows
    assert found
    assert {row["agent"] for row in found} == {"synthesis"}


def test_a_persona_can_be_asked_about_it(folder):
    said = command("talk", folder / "first.run", "synthesis", "--ask", "What did Anton say to you?").out
    assert answers(folder / "first.run")[8]["utterance"][:60] in said


def test_the_retention_policy_is_applied_when_a_panel_begins(copy):
    path = copy / "outputs" / "memory" / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    config["retention_policy"]["max_sessions"] = 1
    path.write_text(json.dumps(config), encoding="utf-8")
    entries = len(ledger(copy / "outputs"))
    played(copy / "third.run", TREES, ticks=0)
    sessions = {one["time"]["session_id"][:13] for one in memories(copy / "outputs")}
    assert len(sessions) == 1
    forgotten = [entry for entry in ledger(copy / "outputs")[entries:] if entry["event_type"] == "forgetting"]
    assert forgotten
    with commonplace.open_run(copy / "third.run") as run:
        past = run.manifest.settings["session"]["past"]["thesis"]
    assert {one["session_id"][:13] for one in past} == {"sess_20311005"}


# ── a run like any other ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_panel_ends_by_itself(folder):
    done = command("resume", folder / "first.run", "--ticks", 5)
    assert done.lines[-1].startswith("tick 10  digest ")
    assert "the panel ends here" in done.err
    assert len(answers(folder / "first.run")) == 9


def test_the_run_does_not_need_the_store_any_more(copy):
    whole = commonplace.open_run(copy / "second.run").digest()
    played(copy / "part.run", TREES, ticks=4, memory=copy / "outputs")  # a third session
    shutil.rmtree(copy / "outputs")
    assert "re-executed 10 ticks" in command("verify", copy / "second.run").err
    command("fork", copy / "second.run", "--at", 4, "-o", copy / "fork.run")
    resumed(copy / "fork.run")
    assert commonplace.open_run(copy / "fork.run").digest() == whole
    resumed(copy / "part.run", memory=copy / "outputs")
    assert len(answers(copy / "part.run")) == 9
    assert command("replay", copy / "part.run", "--view", "plain").out.count("→") >= 9


def test_the_digest_depends_on_question_and_seed_not_on_names_and_folders(tmp_path):
    def digest(name, **more):
        with commonplace.open_run(played(tmp_path / name / f"{name}.run", ticks=2, **more)) as run:
            return run.digest(), run.digest(state=True)

    assert digest("a") == digest("b", memory=tmp_path / "elsewhere")
    assert len({digest("d"), digest("e", seed=8), digest("f", prompt=TREES)}) == 3


@pytest.mark.parametrize("at", [1, 5])
def test_each_answer_is_kept_once_wherever_the_process_dies(tmp_path, monkeypatch, at):
    """It dies between storing the memory and logging it, the worst moment; then it is resumed, twice."""
    logged = []
    original = Ledger.log_event

    def dying(self, session, type_, *arguments, **more):
        logged.append(type_)
        if logged.count("persona_response") == at and type_ == "persona_response":
            raise KeyboardInterrupt
        return original(self, session, type_, *arguments, **more)

    monkeypatch.setattr(Ledger, "log_event", dying)
    with pytest.raises(KeyboardInterrupt):
        played(tmp_path / "a.run")
    monkeypatch.undo()
    resumed(tmp_path / "a.run", ticks=1)
    resumed(tmp_path / "a.run")
    texts = [one["content"]["response_full"] for one in memories(tmp_path / "outputs")]
    assert texts == [CARS, *(said["utterance"] for said in answers(tmp_path / "a.run").values())]
    types = [entry["event_type"] for entry in ledger(tmp_path / "outputs")]
    assert (types.count("persona_response"), types.count("evaluation"), types.count("synthesis_report")) == (9, 9, 1)
    assert verify(tmp_path / "outputs" / "resonance_ledger").sound


def test_what_a_person_deleted_does_not_come_back(tmp_path):
    played(tmp_path / "a.run", ticks=5)
    command(
        "forget",
        tmp_path / "outputs" / "memory",
        "--agent",
        "thesis",
        "--session",
        memories(tmp_path / "outputs")[0]["time"]["session_id"],
    )
    before = len(memories(tmp_path / "outputs"))
    resumed(tmp_path / "a.run", ticks=1)
    assert len(memories(tmp_path / "outputs")) == before + 1


def test_a_fork_keeps_its_own_answers_and_names_those_before_it(copy):
    before = memories(copy / "outputs")
    command("fork", copy / "first.run", "--at", 4, "-o", copy / "fork.run", "--inject", "Think of the winter!")
    resumed(copy / "fork.run")
    ids = {one["memory_id"] for one in before}
    new = [one for one in memories(copy / "outputs") if one["memory_id"] not in ids]
    assert [one["time"]["sequence"] for one in new] == [5, 5, 6, 7, 8, 9]
    said = new.pop(next(place for place, one in enumerate(new) if one["content"]["type"] == "system_event"))
    assert (said["content"]["response_full"], said["agent"]["persona_id"]) == ("Think of the winter!", "system")
    (entry,) = (entry for entry in ledger(copy / "outputs") if entry["event_type"] == "system_event")
    assert (entry["memory_id"], entry["session_id"]) == (said["memory_id"], said["time"]["session_id"])
    assert new[0]["relations"]["parent_memory_id"] == before[4]["memory_id"]
    assert len({one["time"]["session_id"] for one in new}) == 1
    assert new[0]["time"]["session_id"] != before[4]["time"]["session_id"]
    assert any("Think of the winter!" in one["content"]["response_full"] for one in new)
    assert "re-executed 10 ticks" in command("verify", copy / "fork.run").err


def test_two_panels_at_once_share_a_folder(tmp_path):
    """Both begin on the same day: the ledger's time goes on, the coordinates have the exact times."""
    played(tmp_path / "a.run", ticks=0)
    shutil.rmtree(tmp_path / "outputs")
    played(tmp_path / "b.run", TREES, ticks=0)
    for _ in range(2):
        resumed(tmp_path / "a.run", ticks=2)
        resumed(tmp_path / "b.run", ticks=2)
    assert len(memories(tmp_path / "outputs")) == 2 * 5
    assert verify(tmp_path / "outputs" / "resonance_ledger").sound


def test_a_folder_that_is_slow_to_read_stays_open_until_the_panel_has_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "SLOW", -1.0)
    lock, held = tmp_path / "outputs" / "memory" / "lock", []

    async def play():
        with commonplace.create_run(tmp_path / "a.run", "dialectic", prompt=CARS) as run:
            async for _ in run.play(ticks=100):
                held.append(lock.exists())

    asyncio.run(play())
    assert held == [*[True] * 9, False]
    assert len(memories(tmp_path / "outputs")) == 10
    played(tmp_path / "b.run", TREES, ticks=1)
    assert not lock.exists()


# ── use and misuse ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_question_is_needed_and_only_a_panel_takes_one(tmp_path):
    assert '--prompt "…"' in command("run", "dialectic", "-o", tmp_path / "a.run", status=2).err
    assert "for panels" in command("run", "plaza", "--prompt", "x", "-o", tmp_path / "a.run", status=2).err
    assert not (tmp_path / "a.run").exists()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"cycle": ["thesis", "nobody"]}, "nobody"),
        ({"cycle": ["thesis", "thesis"]}, "in the cycle twice"),
        ({"cycle": ["thesis"]}, "two personas or more"),
        ({"calm": 0.6}, "calm is 0.6 and tense 0.45"),
        ({"depth": 0}, "depth"),
    ],
)
def test_a_scenario_of_a_panel_is_checked(tmp_path, changes, says):
    assert says in command("check", variant(tmp_path / "panel.json", panel=changes), status=2).err


def test_nobody_comes_into_a_panel(folder, tmp_path):
    (tmp_path / "zola.json").write_text('{"id": "zola", "name": "Zola", "age": 3, "traits": ["x"], "home": "study"}')
    wish = ("--join", tmp_path / "zola.json")
    done = command("fork", folder / "first.run", "--at", 3, "-o", tmp_path / "f.run", *wish, status=2)
    assert "nobody else can come in" in done.err


def test_a_session_that_was_damaged_is_told(copy):
    with tables(copy / "first.run") as connection:
        (text,) = connection.execute("SELECT value FROM meta WHERE key = 'manifest'").fetchone()
        manifest = json.loads(text)
        manifest["settings"]["session"]["start"] = "yesterday"
        connection.execute("UPDATE meta SET value = ? WHERE key = 'manifest'", (json.dumps(manifest),))
    for name in ("events", "resume"):
        assert "session of the panel" in command(name, copy / "first.run", status=1).err


def test_a_run_does_not_decide_where_to_write(tmp_path):
    played(tmp_path / "a.run", ticks=1, memory=tmp_path / "mine")
    with pytest.raises(UsageError, match="--memory"):
        resumed(tmp_path / "a.run")
    resumed(tmp_path / "a.run", memory=tmp_path / "mine", ticks=1)
    assert len(memories(tmp_path / "mine")) == 3
    assert not (tmp_path / "outputs").exists()


def test_a_folder_that_cannot_be_used_is_told_before_there_is_a_run(tmp_path):
    (tmp_path / "file").touch()
    memory = ("--memory", tmp_path / "file")
    done = command("run", "dialectic", "--prompt", CARS, "-o", tmp_path / "a.run", *memory, status=2)
    assert "a file, not a folder" in done.err
    store = tmp_path / "outputs" / "memory"
    store.mkdir(parents=True)
    (store / "config.json").write_text('{"retention_policy": 3}')
    done = command("run", "dialectic", "--prompt", CARS, "-o", tmp_path / "a.run", status=None)
    assert done.status in (1, 2)
    assert "config.json" in done.err
    assert not (tmp_path / "a.run").exists()


def test_a_ledger_that_cannot_be_written_leaves_the_run_as_it_is(tmp_path):
    played(tmp_path / "a.run", ticks=2)
    day = tmp_path / "outputs" / "resonance_ledger" / "ledger-20311004.jsonl"
    good = day.read_bytes()
    day.write_bytes(b"nonsense\n")
    with pytest.raises(CommonplaceError, match="ledger verify"):
        resumed(tmp_path / "a.run", ticks=1)
    day.write_bytes(good)
    resumed(tmp_path / "a.run", ticks=1)
    assert verify(tmp_path / "outputs" / "resonance_ledger").sound
    assert [one["time"]["sequence"] for one in memories(tmp_path / "outputs")] == [0, 1, 2, 3]


def test_a_model_that_fails_is_seen_in_the_figures(tmp_path):
    """The first answer is a fallback; the panel goes on."""
    mind = ScriptedMind({"panel_turn": lambda _, key: PanelOutput(answer="Trees first.") if key.tick > 1 else None})
    played(tmp_path / "a.run", ticks=3, mind=mind)
    first, second = ledger(tmp_path / "outputs")[1:3]
    assert (first["reproducibility"], second["reproducibility"]) == (0, 1)
    assert second["verifiability"] == 0  # it cites nothing
    stored = memories(tmp_path / "outputs")
    assert [one["metadata"]["error_occurred"] for one in stored] == [False, True, False, False]


def test_each_persona_may_have_a_mind_of_its_own(tmp_path):
    """The second persona repeats what a recording of it said; the file names that mind, so it needs a word."""
    source = played(tmp_path / "source.run", ticks=3, seed=1, memory=tmp_path / "other")
    people = [one.model_dump(mode="json", exclude_defaults=True) for one in load("dialectic").part.characters]
    people[1]["mind"] = f"journal:{source}"
    path = variant(tmp_path / "mixed.yaml", characters=people)
    assert [one.kind for one in named_by_scenario(load(str(path)))] == ["mind"]
    assert named_by_scenario(load(str(path)), {"default": MindPart(mind="offline")}) == []
    with pytest.raises(UsageError, match="--trust"):
        played(tmp_path / "a.run", scenario=path, ticks=3, seed=1)
    played(tmp_path / "a.run", scenario=path, ticks=3, seed=1, trust=True)
    assert answers(tmp_path / "a.run")[2]["utterance"] == answers(source)[2]["utterance"]
    stored = memories(tmp_path / "outputs")
    assert [one["agent"]["backend"] for one in stored] == ["", "offline", f"journal:{source}", "offline"]
    resumed(tmp_path / "a.run", ticks=1)
    assert "re-executed 4 ticks" in command("verify", tmp_path / "a.run").err
