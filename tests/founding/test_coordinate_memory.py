"""The coordinate memory, section by section."""

# ruff: noqa: DTZ001 - the document gives moments without a zone

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from commonplace.cli import main
from commonplace.errors import CommonplaceError, UsageError
from commonplace.founding.coordinate_memory import (
    MemoryCoordinate,
    MemoryIndex,
    MemoryStore,
    Persona,
    PersonaOrchestrator,
    PersonaRegistry,
    PhaseController,
    ResonanceLedger,
    RetentionPolicy,
    StoreConfig,
    auto_forget,
    calculate_importance,
    compose_prompt_with_memory,
    estimate_sentiment,
    extract_emotion_keywords,
)
from commonplace.ledger import show, verify
from commonplace.memory.stores.sqlite import SQLiteStore
from commonplace.memory.stores.store import Add
from commonplace.parts.coordinates.document import to_memory
from commonplace.parts.coordinates.upkeep import Upkeep, tend, until_midnight
from commonplace.testing.stores import write
from parts.coordinates.documents import DAY, document

requirement = pytest.mark.requirement
MODULE = "founding/coordinate_memory.py"
DOCUMENT = "parts/coordinates/document.py"
STORE = "parts/coordinates/memory_store.py"
FOLDER = "parts/coordinates/jsonl.py"
FILES = "parts/coordinates/jsonl_files.py"
RETENTION = "parts/coordinates/retention.py"
LEDGER = "ledger.py"
PERSONAS = (
    Persona("thesis", "Theo", "Proposer", "You propose.", "local_lmstudio"),
    Persona("antithesis", "Anti", "Critic", "You object.", "local_lmstudio"),
    Persona("synthesis", "Fractal Synthesiser", "Integrator", "You reconcile both sides.", "local_lmstudio"),
)
UNLIMITED = RetentionPolicy(
    max_sessions=None,
    max_memories_per_session=None,
    max_total_size_mb=None,
    archive_after_days=None,
    delete_after_days=None,
)
WHOLE: dict[str, Any] = {
    "memory_id": "mem_20251012_093022_a4f3",
    "timestamp": "2025-10-12T09:30:22.123456Z",
    "time": {"session_id": "sess_20251012_090000", "sequence": 15, "relative_time_minutes": 3.5},
    "space": {
        "project": "persona_orchestration",
        "domain": "AGI_prototype",
        "file_context": ["orchestration/persona_orchestrator.py"],
        "depth_index": 1,
    },
    "agent": {
        "persona_id": "synthesis",
        "persona_name": "Fractal Synthesiser",
        "role": "Integrator",
        "backend": "local_lmstudio",
    },
    "emotion": {
        "affect_amplitude": 0.65,
        "sentiment_score": 0.12,
        "confidence": 0.8,
        "keywords": ["hope", "growth", "opportunity"],
    },
    "content": {
        "type": "persona_response",
        "prompt_digest": "System instruction: You reconcile...",
        "response_full": "Based on the thesis...",
        "response_summary": None,
        "token_count": 342,
    },
    "metadata": {
        "importance": 0.7,
        "tags": ["synthesis", "AGI_design", "memory_system"],
        "user_rating": None,
        "phase_injection_applied": False,
        "error_occurred": False,
        "bqi_snapshot": None,
    },
    "relations": {
        "parent_memory_id": "mem_20251012_092800_x7b2",
        "child_memory_ids": ["mem_20251012_093145_c9k1"],
        "related_memory_ids": [],
    },
}
"""The example of §3.1, and `metadata.bqi_snapshot` of §5.2."""


class Clock:
    """A minute passes with each look."""

    def __init__(self) -> None:
        self.now = DAY.replace(microsecond=0)

    def __call__(self) -> datetime:
        self.now += timedelta(minutes=1)
        return self.now


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with MemoryStore(base_path=tmp_path / "outputs" / "memory") as opened:
        yield opened


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    """5,000 memories in 10 sessions."""
    below, ids = (
        SQLiteStore(tmp_path_factory.mktemp("many") / "m.db"),
        dict.fromkeys((persona.identifier for persona in PERSONAS), 0),
    )
    for persona in ids:
        records = []
        for number in range(5000):
            if list(ids)[number % 3] != persona:
                continue
            text = f"answer {number} on memory systems of session {number // 500}"
            made = document(
                text, number, session=f"sess_{number // 500}", persona=persona, importance=(number % 10) / 10
            )
            made.memory_id = f"mem_{number}"
            records.append(to_memory(made, len(records) + 1))
        write(below, persona, Add(records, [None] * len(records)))
    yield MemoryStore(store=below, retention=UNLIMITED)
    below.close()


def texts(found: list[MemoryCoordinate]) -> list[str]:
    return [one.content.response_full for one in found]


def said(persona: Persona) -> Callable[[str], str]:
    """What a persona answers to any prompt: the same words, so that others can take them up."""
    lines = {
        "thesis": "I hope for a memory system that lasts.",
        "antithesis": "But a memory system that lasts costs money, and I fear that.",
        "synthesis": "A memory system that lasts and whose money somebody counts brings hope.",
    }
    return lambda prompt: lines.get(persona.identifier, f"{persona.name} agrees.")


def orchestrator(folder: Path, backend: Any = said, **more: Any) -> PersonaOrchestrator:
    given = {
        "memory_store": MemoryStore(base_path=folder / "memory"),
        "resonance_ledger": ResonanceLedger(folder / "resonance_ledger"),
        "clock": Clock(),
    }
    return PersonaOrchestrator(PersonaRegistry(PERSONAS), backend, folder / "log.jsonl", **{**given, **more})


def entries(folder: Path, kind: str | None = None) -> list[dict[str, Any]]:
    return list(show(folder / "resonance_ledger", event_type=kind))


# ── 1, 2: aim and scope ──────────────────────────────────────────────────────────────────────────────────────────────


@requirement("1.1", "What earlier sessions said is used again", "PersonaOrchestrator.run", MODULE)
def test_a_session_is_shown_what_an_earlier_one_said_to_such_a_question(tmp_path):
    first = orchestrator(tmp_path)
    first.run("How should a memory system last?")
    for memory in first.memory_store.get_by_session(first.session_id):
        first.memory_store.rate(memory.memory_id, 5)
    prompts: list[str] = []
    second = orchestrator(tmp_path, lambda persona: lambda prompt: prompts.append(prompt) or "Yes.")
    second.run("Which memory systems are there?")
    assert "Relevant past examples:" in prompts[0]
    assert "Your response: I hope for a memory system that lasts." in prompts[0]
    assert "Your response: A memory system that lasts and whose money" in prompts[2]


@requirement(
    "1.1",
    "Ratings change the prompt and the order of the next session; each change is in the ledger",
    "rune_report",
    "parts/panel/ratings.py",
)
@requirement(
    "3.3", "`rune_report` with `plan_adjustment`: trigger, action, details", "ResonanceLedger", "parts/panel/ratings.py"
)
def test_ratings_change_what_a_session_asks_and_in_which_order(tmp_path):
    first = orchestrator(tmp_path)
    first.run("How should a memory system last?")
    for memory, stars in zip(first.memory_store.get_by_session(first.session_id), (1, 5, 2), strict=True):
        first.memory_store.rate(memory.memory_id, stars)
    poor = [one.memory_id for one in first.memory_store.get_by_session(first.session_id)][::2]
    prompts: list[str] = []
    second = orchestrator(tmp_path, lambda persona: lambda prompt: prompts.append(prompt) or "Yes.")
    second.run("Which memory systems are there?")
    assert [one["persona"] for one in second.history] == ["antithesis", "thesis", "synthesis"]
    assert ["another way" in prompt for prompt in prompts] == [False, True, True]
    assert "earlier answers 1 of 5 stars" in prompts[1]
    assert ["Relevant past" in prompt for prompt in prompts] == [True, False, False]
    noted = [entry["plan_adjustment"] for entry in entries(tmp_path, "rune_report")]
    assert [(one["trigger"], one["action"], one["details"]["persona"]) for one in noted] == [
        ("ratings", "leave_out_examples", "thesis"),
        ("ratings", "revise_prompt", "thesis"),
        ("ratings", "leave_out_examples", "synthesis"),
        ("ratings", "revise_prompt", "synthesis"),
        ("ratings", "reorder_persona_cycle", "antithesis"),
    ]
    assert [name for one in noted for name in one["details"].get("memory_ids", ())] == poor
    assert noted[-1]["details"]["new_order"] == ["antithesis", "thesis", "synthesis"]


@requirement(
    "7.2",
    "Past answers of importance 0.6 first; where there are none, others: no formula reaches 0.6 without a rating",
    "PersonaOrchestrator.run",
    MODULE,
)
def test_important_past_answers_come_first_and_others_where_there_are_none(tmp_path):
    def backend(persona: Persona) -> Callable[[str], str]:
        said = "[error: no memory systems]" if persona.identifier == "antithesis" else "Memory systems last."
        return lambda prompt: prompts.append(prompt) or said

    prompts: list[str] = []
    first = orchestrator(tmp_path, backend)
    first.run("Which memory systems last?", depth=2)
    assert not any("Relevant past" in prompt for prompt in prompts), "its own session is in the history"
    first.memory_store.add(document("The best memory systems are written.", 90, persona="thesis"))
    second = orchestrator(tmp_path, backend)
    second.run("Which memory systems last?")
    shown = [prompt.count("  Your response: ") for prompt in prompts[-3:]]
    assert shown[0] == 2
    assert [bool(count) for count in shown] == [True, False, True], "errors are no examples"
    best = first.memory_store.search("best memory", persona_id="thesis")[0]
    first.memory_store.rate(best.memory_id, 5)
    third = orchestrator(tmp_path, backend)
    third.run("Which memory systems last?")
    assert re.findall("  Your response: (.*)", prompts[-3]) == ["The best memory systems are written."]


@requirement("1.2", "Memory = f(Time, Space, Agent, Emotion, Content)", "MemoryCoordinate", DOCUMENT)
def test_a_memory_is_its_coordinates(store):
    kept = store.add(MemoryCoordinate(**WHOLE))
    assert store.get_by_id(kept.memory_id).to_dict() == WHOLE


@requirement("2.1", "Stored as JSON lines, without a vector database", "MemoryStore(base_path=…)", FOLDER)
def test_a_session_is_a_file_of_json_lines(store, tmp_path):
    store.add(MemoryCoordinate(**WHOLE))
    lines = (tmp_path / "outputs" / "memory" / "sessions" / "sess_20251012_090000.jsonl").read_text(encoding="utf-8")
    written = json.loads(lines)
    assert {key: written[key] for key in WHOLE} == WHOLE


@requirement("2.1", "The latest ten sessions are kept", "RetentionPolicy.max_sessions", RETENTION)
def test_ten_sessions_are_kept_unless_told_otherwise(store):
    for session in range(12):
        store.add(document("x", session, session=f"sess_{session}"))
    assert store.get_all_session_ids() == [f"sess_{session}" for session in range(2, 12)]


@requirement("2.2", "Another store: SQLite, PostgreSQL, Chroma", "MemoryStore(store=…)", STORE)
def test_a_memory_store_works_over_any_store(tmp_path):
    below = SQLiteStore(tmp_path / "m.db")
    kept = MemoryStore(store=below).add(MemoryCoordinate(**WHOLE))
    assert MemoryStore(store=below).get_by_id(kept.memory_id).to_dict() == WHOLE
    below.close()


# ── 3: data ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("3.1", "Every field of the schema, by its name", "MemoryCoordinate(…)", DOCUMENT)
def test_the_schema_has_every_field():
    made = MemoryCoordinate(**WHOLE)
    assert made.to_dict() == WHOLE
    assert (made.time.sequence, made.space.file_context[0][:13], made.agent.backend) == (
        15,
        "orchestration",
        "local_lmstudio",
    )
    assert (made.emotion.keywords, made.content.token_count) == (["hope", "growth", "opportunity"], 342)
    assert (made.metadata.tags[1], made.relations.parent_memory_id[-4:]) == ("AGI_design", "x7b2")
    assert made.at == datetime(2025, 10, 12, 9, 30, 22, 123456, tzinfo=UTC)


@requirement("3.1", "Ids as `mem_20251012_093022_a4f3`, each once", "MemoryStore.add", DOCUMENT)
def test_ids_are_made_and_each_is_used_once(store):
    names = [store.add(document("x")).memory_id for _ in range(50)]
    assert len(set(names)) == 50
    assert all(re.fullmatch(r"mem_20251012_093022_[0-9a-f]{4}", name) for name in names)
    with pytest.raises(UsageError, match="taken"):
        store.add(MemoryCoordinate(**{**WHOLE, "memory_id": names[0]}))


@requirement(
    "3.1", "Ranges: sentiment −1–1; affect, confidence, importance 0–1; rating 1–5", "MemoryCoordinate(…)", DOCUMENT
)
@pytest.mark.parametrize(
    ("section", "field", "bad", "good"),
    [
        ("emotion", "sentiment_score", (-1.01, 1.01), (-1.0, 1.0)),
        ("emotion", "affect_amplitude", (-0.01, 1.01), (0.0, 1.0)),
        ("emotion", "confidence", (-0.01, 1.01), (0.0, 1.0)),
        ("metadata", "importance", (-0.01, 1.01), (0.0, 1.0)),
        ("metadata", "user_rating", (0, 6), (1, 5)),
    ],
)
def test_a_value_out_of_its_range_is_refused_by_name(section, field, bad, good):
    for value in bad:
        with pytest.raises(UsageError, match=f"{section}.{field}"):
            MemoryCoordinate(**{**WHOLE, section: {**WHOLE[section], field: value}})
    for value in good:
        assert getattr(getattr(MemoryCoordinate(**{**WHOLE, section: {field: value}}), section), field) == value


@requirement("3.1", "`user_input`, `persona_response`, `system_event`", "content.type", DOCUMENT)
def test_the_three_types_of_content_are_kept(store):
    for kind in ("user_input", "persona_response", "system_event"):
        kept = store.add(document("x", content={"type": kind, "response_full": "x"}))
        assert store.get_by_id(kept.memory_id).content.type == kind


@requirement("3.1", "The digest of a prompt has at most 500 characters", "content.prompt_digest", DOCUMENT)
def test_a_long_prompt_is_cut(store):
    kept = store.add(document("x", content={"response_full": "x", "prompt_digest": "word " * 200}))
    digest = store.get_by_id(kept.memory_id).content.prompt_digest
    assert len(digest) <= 500
    assert digest.endswith("…")
    assert MemoryCoordinate(**{**WHOLE, "content": {"prompt_digest": "p" * 500}}).content.prompt_digest == "p" * 500


@requirement("3.1", "The whole response is stored, as it is", "content.response_full", DOCUMENT)
def test_a_response_is_stored_whole(store):
    whole = "First line.\n\n  " + "가나다 word " * 2000
    kept = store.add(document(whole))
    assert store.get_by_id(kept.memory_id).content.response_full == whole


@requirement("3.1", "Children are derived from the memories that name a parent", "relations.child_memory_ids", STORE)
def test_relations_lead_both_ways(store):
    parent = store.add(document("asked"))
    child = store.add(document("answered", 1, relations={"parent_memory_id": parent.memory_id}))
    assert store.get_by_id(parent.memory_id).relations.child_memory_ids == [child.memory_id]
    assert store.get_by_id(child.memory_id).relations.parent_memory_id == parent.memory_id


@requirement("3.2", "The index by keyword, day, persona and importance", "MemoryIndex.of(store)", FOLDER)
def test_the_index_has_all_its_parts(store):
    for number in range(110):
        store.add(
            document(
                f"memory {number}",
                number * 30,
                persona=("thesis", "synthesis")[number % 2],
                importance=number / 110,
                tags=["AGI", "memory_system"][: number % 3],
            )
        )
    index = MemoryIndex.of(store)
    assert (index.index_version, index.total_memories) == ("1.0", 110)
    assert index.last_updated == store.get_recent(1)[0].timestamp
    assert len(index.keyword_index["AGI"]) == 73
    assert len(index.keyword_index["memory_system"]) == 36
    assert set(index.time_index) == {"2025-10-12", "2025-10-13", "2025-10-14"}
    assert {persona: len(names) for persona, names in index.persona_index.items()} == {"thesis": 55, "synthesis": 55}
    assert len(index.importance_index) == 100
    shares = [one["importance"] for one in index.importance_index]
    assert shares == sorted(shares, reverse=True)
    assert index.importance_index[0]["memory_id"] == store.get_recent(1)[0].memory_id
    with pytest.raises(CommonplaceError, match="index"):
        MemoryIndex.read("nowhere")


@requirement("3.3", "Every field of an entry", "ResonanceLedger.log_event", LEDGER)
def test_an_entry_of_the_ledger_has_every_field(tmp_path):
    bqi = {
        "time": "2025-10-12T10:30:00Z",
        "space": "AGI_prototype",
        "agent": "synthesis",
        "emotion": {"affect": 0.68, "keywords": ["clarity", "risk"]},
        "rhythm_phase": "integration",
    }
    adjustment = {
        "trigger": "rune_feedback",
        "action": "reorder_persona_cycle",
        "details": {"new_order": ["thesis", "synthesis", "antithesis"]},
    }
    refs = ["mem_20251012_093022_a4f3", "mem_20251012_093145_c9k1"]
    ResonanceLedger(tmp_path / "resonance_ledger").log_event(
        "sess_20251012_090000",
        "synthesis_report",
        "synthesis",
        None,
        bqi,
        {"rune": 0.7},
        adjustment,
        at=datetime(2025, 10, 12, 10, 31, 45, 124000),
        impact_score=0.74,
        transparency=0.9,
        reproducibility=0.85,
        verifiability=0.8,
        memory_refs=refs,
    )
    (line,) = (tmp_path / "resonance_ledger" / "ledger-20251012.jsonl").read_text(encoding="utf-8").splitlines()
    entry = json.loads(line)
    assert entry == {
        "timestamp": "2025-10-12T10:31:45.124000Z",
        "session_id": "sess_20251012_090000",
        "event_type": "synthesis_report",
        "persona_id": "synthesis",
        "memory_id": None,
        "bqi_coordinate": bqi,
        "evaluation": {"rune": 0.7},
        "impact_score": 0.74,
        "transparency": 0.9,
        "reproducibility": 0.85,
        "verifiability": 0.8,
        "memory_refs": refs,
        "plan_adjustment": adjustment,
        "prev": entry["prev"],
        "hash": entry["hash"],
    }


@requirement(
    "3.3",
    "`user_input`, `persona_response`, `tool_call`, `system_event`, `evaluation`, `synthesis_report`",
    "PersonaOrchestrator.run, .tool_call, .system_event",
    MODULE,
)
def test_everything_that_happens_is_in_the_ledger(tmp_path):
    made = orchestrator(tmp_path)
    assert made.system_event("The budget is cut.").content.type == "system_event"
    made.tool_call("synthesis", "search", {"query": "memory"}, ["mem_1"])
    made.run("How should a memory system last?")
    types = [entry["event_type"] for entry in entries(tmp_path)]
    assert types[:3] == ["system_event", "tool_call", "user_input"]
    assert types[3:] == ["persona_response"] * 3 + ["evaluation"] * 3 + ["synthesis_report"]
    assert {entry["session_id"] for entry in entries(tmp_path)} == {made.session_id}
    (tool,) = entries(tmp_path, "tool_call")
    assert (tool["persona_id"], tool["evaluation"]["tool"], tool["evaluation"]["result"]) == (
        "synthesis",
        "search",
        ["mem_1"],
    )
    assert verify(tmp_path / "resonance_ledger").sound


@requirement("3.3", "Impact, transparency, reproducibility, verifiability, 0–1", "PersonaOrchestrator.run", MODULE)
def test_answers_are_rated_by_what_can_be_counted(tmp_path):
    orchestrator(tmp_path).run("How should a memory system last?")
    for entry in entries(tmp_path, "evaluation"):
        assert all(0 <= entry[name] <= 1 for name in ("transparency", "reproducibility", "verifiability"))
        assert 0 <= entry["impact_score"] <= 1
    (report,) = entries(tmp_path, "synthesis_report")
    assert report["impact_score"] > 0  # "money" was taken up
    assert len(report["memory_refs"]) == 3


# ── 4: files ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@requirement("4.1", "`sessions/`, `index.json`, `config.json`, `ledger-20251012.jsonl`", "MemoryStore, …", FOLDER)
def test_the_folders_are_those_of_the_document(tmp_path):
    outputs = tmp_path / "outputs"
    made = orchestrator(outputs)
    made.run("How should a memory system last?")
    assert (outputs / "memory" / "sessions" / f"{made.session_id}.jsonl").read_text(encoding="utf-8").count("\n") == 3
    assert (outputs / "memory" / "index.json").is_file()
    assert (outputs / "memory" / "config.json").is_file()
    assert (outputs / "resonance_ledger" / "ledger-20251012.jsonl").is_file()


@requirement("4.1", "Sessions are append-only", "MemoryStore.add", FOLDER)
def test_a_session_is_appended_to(store, tmp_path):
    path = tmp_path / "outputs" / "memory" / "sessions" / "s.jsonl"
    store.add(document("one", session="s"))
    before = path.read_bytes()
    store.add(document("two", 1, session="s"))
    assert path.read_bytes().startswith(before)


CONFIG: dict[str, Any] = {
    "retention_policy": {
        "max_sessions": 10,
        "max_memories_per_session": 500,
        "max_total_size_mb": 100,
        "archive_after_days": 30,
        "delete_after_days": 180,
    },
    "storage": {
        "format": "jsonl",
        "compression": "none",
        "backup_enabled": True,
        "backup_path": "D:/nas_backup/memory_backup",
    },
}


@requirement("8", "The settings are a file of JSON", "MemoryStore(config=StoreConfig.read(…))", FILES)
@requirement("4.2", "The configuration of the document, key by key; its limits are the defaults", "StoreConfig", FILES)
def test_the_configuration_is_read(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    with MemoryStore(base_path=tmp_path) as store:
        assert store.policy == RetentionPolicy() == RetentionPolicy(**CONFIG["retention_policy"])
    config = StoreConfig.read(tmp_path / "config.json")
    with MemoryStore(base_path=tmp_path / "other", config=config) as store:
        assert store.policy == config.retention_policy
    assert StoreConfig.read(tmp_path / "other" / "config.json") == config
    assert config.storage.backup_path == "D:/nas_backup/memory_backup"
    assert config.storage.model_dump(exclude={"layout"}) == CONFIG["storage"]


@requirement("4.2", "Closing makes a copy at `backup_path`", "storage.backup_path", FILES)
def test_a_backup_is_made(tmp_path):
    config = StoreConfig.model_validate({"storage": {"backup_path": str(tmp_path / "copy")}})
    with MemoryStore(base_path=tmp_path / "memory", config=config) as store:
        store.add(document("kept twice", session="s"))
    with MemoryStore(base_path=tmp_path / "copy") as copy:
        assert texts(copy.get_recent()) == ["kept twice"]
    with MemoryStore(base_path=tmp_path / "memory", config=config) as store:
        store.add(document("instead", 1, session="t"))
        store.delete_by_session("s")
    assert [path.name for path in (tmp_path / "copy" / "sessions").iterdir()] == ["t.jsonl"], "forgotten there, too"


@requirement("4.2", "Compressed sessions, if wanted", "storage.compression = gzip", FILES)
def test_sessions_can_be_compressed(tmp_path):
    config = StoreConfig.model_validate({"storage": {"compression": "gzip"}})
    with MemoryStore(base_path=tmp_path, config=config) as store:
        store.add(document("small", session="s"))
    with gzip.open(tmp_path / "sessions" / "s.jsonl.gz", "rt") as file:
        assert json.loads(file.readline())["content"]["response_full"] == "small"


@requirement("4.2", "A bad setting is refused: what, where, what to do", "RetentionPolicy, StoreConfig.read", RETENTION)
@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        ({"max_sessions": 0}, "greater than or equal to 1"),
        ({"max_sessions": -1}, "null in a file"),
        ({"max_sessions": "ten"}, "integer"),
        ({"max_memories_per_session": 1.5}, "integer"),
        ({"max_total_size_mb": -1}, "no limit"),
        ({"archive_after_days": "30"}, "number"),
        ({"delete_after_days": -1}, "greater than or equal to 0"),
        ({"importance_floor": 3}, "less than or equal to 1"),
        ({"session_overflow": "all"}, "'session' or 'unimportant'"),
        ({"max_session": 3}, "max_sessions"),
    ],
)
def test_a_bad_retention_setting_is_refused(tmp_path, bad, expected):
    (name,) = bad
    with pytest.raises(UsageError, match=name) as refused:
        RetentionPolicy(**bad)
    assert expected in str(refused.value)
    with pytest.raises(UsageError, match=name):
        MemoryStore(base_path=tmp_path / "never", retention=bad)
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"retention_policy": bad}), encoding="utf-8")
    with pytest.raises(UsageError, match=name) as refused:
        MemoryStore(base_path=tmp_path)
    assert refused.value.where == str(path)
    assert expected in refused.value.hint


# ── 5: searching ─────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def answers(store: MemoryStore) -> MemoryStore:
    """Twelve answers an hour apart."""
    for number in range(12):
        store.add(
            document(
                ("AGI memory matters", "the memory of a dog", "number plain")[number % 3],
                number * 60,
                session=f"s{number // 6}",
                persona=("thesis", "synthesis")[number % 2],
                importance=number / 20,
                tags=["AGI_design"] if number % 4 == 0 else [],
                space={"domain": "AGI_prototype" if number < 6 else "UI"},
                bqi_snapshot={"rhythm_phase": ("integration", "tension")[number % 2], "emotion": {"keywords": ["joy"]}},
            )
        )
    return store


@requirement("5.1", "Search by all filters at once", "MemoryStore.search", STORE)
def test_all_filters_are_combined_and_each_counts(store):
    bqi = {"rhythm_phase": "integration", "emotion": {"keywords": ["clarity"]}}
    whole: dict[str, Any] = {"text": "About AGI memory", "importance": 0.8, "tags": ["AGI_design"], "bqi_snapshot": bqi,
                             "space": {"domain": "UI"}, "minutes": 0}  # fmt: skip
    others: dict[str, dict[str, Any]] = {
        "query": {"text": "About lunch"},
        "time_range": {"minutes": 3 * 1440},
        "persona_id": {"persona": "thesis"},
        "domain": {"space": {"domain": "AGI_prototype"}},
        "min_importance": {"importance": 0.4},
        "tags": {"tags": ["lunch"]},
        "bqi_filters": {"bqi_snapshot": {**bqi, "rhythm_phase": "tension"}},
    }
    wanted = store.add(document(**whole)).memory_id
    other = {name: store.add(document(**{**whole, **change})).memory_id for name, change in others.items()}
    filters: dict[str, Any] = {
        "query": "agi MEMORY",
        "time_range": (datetime(2025, 10, 10), datetime(2025, 10, 13)),
        "persona_id": "synthesis",
        "domain": "UI",
        "min_importance": 0.5,
        "tags": ["AGI_design", "temporary"],
        "bqi_filters": {"rhythm_phase": "integration", "emotion": "clarity"},
    }
    assert [one.memory_id for one in store.search(**filters)] == [wanted]
    for name in filters:
        found = store.search(**{key: value for key, value in filters.items() if key != name})
        assert {one.memory_id for one in found} == {wanted, other[name]}, name


@requirement("5.1", "The newest; a session's; one by its id", "get_recent, get_by_session, get_by_id", STORE)
def test_memories_are_listed(answers):
    assert [one.timestamp[11:13] for one in answers.get_recent(3)] == ["20", "19", "18"]
    assert len(answers.get_recent()) == 10
    assert [one.timestamp[11:13] for one in answers.get_by_session("s0")] == ["09", "10", "11", "12", "13", "14"]
    assert answers.get_by_session("unknown") == []
    assert answers.get_by_id("unknown") is None


@requirement("5.2", "1: a query is contained in response or tags, in any case", "MemoryStore.search(query=…)", STORE)
def test_a_query_is_found_where_it_is_contained(answers):
    assert set(texts(answers.search("agi MEMORY", limit=None))) == {"AGI memory matters"}
    assert len(answers.search("agi_des", limit=None)) == 3
    assert answers.search("plain number") == []
    assert set(texts(answers.search("plain number", rank="relevance", limit=None))) == {"number plain"}
    with pytest.raises(UsageError, match="rank"):
        answers.search("x", rank="oldest")


@requirement("5.2", "2: the timestamp is within the range, its ends included", "search(time_range=…)", STORE)
def test_a_time_range_includes_its_ends(answers):
    start, end = answers.get_recent(5)[4].at, answers.get_recent(1)[0].at
    assert len(answers.search(time_range=(start, end), limit=None)) == 5
    assert len(answers.search(time_range=(start, None), limit=None)) == 5


@requirement("5.2", "3: the persona is the same", "search(persona_id=…)", STORE)
def test_a_persona_is_found_by_its_whole_id(answers):
    assert {one.agent.persona_id for one in answers.search(persona_id="thesis", limit=None)} == {"thesis"}
    assert answers.search(persona_id="the") == []


@requirement("5.2", "4: importance ≥ `min_importance`", "search(min_importance=…)", STORE)
def test_the_least_importance_is_included(answers):
    assert [one.metadata.importance for one in answers.search(min_importance=0.45, limit=None)] == [0.55, 0.5, 0.45]


@requirement("5.2", "5: BQI filters against `metadata.bqi_snapshot`, else the ledger", "search(bqi_filters=…)", STORE)
def test_bqi_filters_are_compared_with_the_snapshot_and_with_the_ledger(tmp_path):
    ledger = ResonanceLedger(tmp_path / "ledger")
    with MemoryStore(base_path=tmp_path / "memory", ledger=ledger) as store:
        snapshot = {"rhythm_phase": "integration", "emotion": {"affect": 0.6, "keywords": ["clarity"]}}
        store.add(document("by its snapshot", bqi_snapshot=snapshot))
        logged = store.add(document("by the ledger", 1))
        store.add(document("by nothing", 2))
        ledger.log_event("s", "persona_response", "synthesis", logged.memory_id, snapshot, None, None)
        both = ["by the ledger", "by its snapshot"]
        assert texts(store.search(bqi_filters={"rhythm_phase": "integration", "emotion": "clarity"})) == both
        assert texts(store.search(bqi_filters={"emotion": ["risk", "clarity"], "rhythm_phase": None})) == both
        assert store.search(bqi_filters={"rhythm_phase": "rest"}) == []


@requirement("5.2", "6, 7: the newest first, at most `limit`", "search(limit=…)", STORE)
def test_the_newest_come_first_with_and_without_a_query(answers):
    for query in (None, "memory"):
        times = [one.timestamp for one in answers.search(query, limit=None)]
        assert times == sorted(times, reverse=True)
        assert [one.timestamp for one in answers.search(query, limit=2)] == times[:2]
    assert len(answers.search()) == 10


# ── 6: forgetting ────────────────────────────────────────────────────────────────────────────────────────────────────


def sessions(store: MemoryStore, count: int, importance: tuple[float, ...] = (0.1, 0.5)) -> None:
    for session in range(count):
        for number, share in enumerate(importance):
            store.add(document(f"{session}.{number}", session * 60 + number, session=f"s{session}", importance=share))


@requirement(
    "6.1",
    "1: of the oldest sessions, memories below 0.3 go",
    'RetentionPolicy(session_overflow="unimportant")',
    RETENTION,
)
def test_only_what_is_unimportant_of_the_oldest_sessions_can_go(tmp_path):
    policy = RetentionPolicy(max_sessions=2, session_overflow="unimportant")
    with MemoryStore(base_path=tmp_path, retention=policy) as store:
        sessions(store, 4)
        auto_forget(store)
        assert texts(store.get_recent(10)) == ["3.1", "3.0", "2.1", "2.0", "1.1", "0.1"]


@requirement(
    "6.1", "1: or the whole oldest session goes, as §9.1 has it", "RetentionPolicy.session_overflow", RETENTION
)
def test_the_whole_oldest_session_goes_by_default(tmp_path):
    with MemoryStore(base_path=tmp_path, retention={"max_sessions": 2}) as store:
        sessions(store, 4)
        assert texts(store.get_recent(10)) == ["3.1", "3.0", "2.1", "2.0"]


@requirement("6.1", "2: above the size the least important go; seven days are protected", "auto_forget", RETENTION)
def test_above_the_size_the_least_important_go_but_not_the_latest(tmp_path):
    limits = {**UNLIMITED.to_mapping(), "max_total_size_mb": 0.004}
    with MemoryStore(base_path=tmp_path, retention=limits) as store:
        for day, share in enumerate((0.9, 0.1, 0.5, 0.2, 0.0, 0.0)):
            store.add(document(f"day {day} " + "x" * 200, day * 5 * 1440, importance=share))
        gone = auto_forget(store)
        assert [one.memory.text[:5] for one in gone.remove] == ["day 1", "day 3"]
        assert all("MB" in one.reason for one in gone.remove)
        size = sum(path.stat().st_size for path in (tmp_path / "sessions").iterdir())
        assert size <= 4_000
        assert texts(store.get_recent(10))[:2] == ["day 5 " + "x" * 200, "day 4 " + "x" * 200]


@requirement("6.1", "2: also where one session has too many", "RetentionPolicy.max_memories_per_session", RETENTION)
def test_too_full_a_session_loses_the_least_important(tmp_path):
    with MemoryStore(base_path=tmp_path, retention={"max_memories_per_session": 3}) as store:
        for number, share in enumerate((0.9, 0.1, 0.5, 0.2, 0.8)):
            store.add(document(f"m{number}", number, session="s", importance=share))
        auto_forget(store)
        assert texts(store.get_recent()) == ["m4", "m2", "m0"]


@requirement("6.1", "3: after 30 days into a compressed archive; after 180 gone", "auto_forget", RETENTION)
def test_a_year_is_archived_and_forgotten_by_age(tmp_path):
    with MemoryStore(base_path=tmp_path, retention={"max_sessions": None}) as store:
        for week in range(53):
            store.add(document(f"week {week}", week * 7 * 1440, session=f"s{week}"))
        done = auto_forget(store)
        assert texts(store.get_recent(100)) == [f"week {week}" for week in range(52, 47, -1)]
        assert texts(store.archived()) == [f"week {week}" for week in range(27, 48)]
        assert (len(done.archive), len(done.remove)) == (21, 27)
        assert len(list((tmp_path / "archive").glob("*.jsonl.gz"))) == 21
        assert store.search("week 30") == []
        assert store.unarchive([store.archived()[3].memory_id]) == 1
        assert texts(store.search("week 30")) == ["week 30"]


@requirement(
    "6.1",
    "3: ages are counted from now: that of the orchestrator's clock, or of `auto_forget(store, now)`",
    "PersonaOrchestrator.run, auto_forget, Upkeep(clock=…)",
    RETENTION,
)
def test_ages_are_counted_from_now_and_not_from_the_latest_memory(tmp_path):
    made = orchestrator(tmp_path)
    made.run("Why?")
    store, later = made.memory_store, DAY + timedelta(days=31)
    assert auto_forget(store).archive == [], "nothing is older than the latest memory"
    again = orchestrator(tmp_path, memory_store=store, clock=lambda: later)
    again.run("Why?")
    assert len(store.archived()) == 3
    assert {one.time.session_id for one in store.get_recent(10)} == {again.session_id}
    assert len(auto_forget(store, later + timedelta(days=31)).archive) == 3
    with Upkeep(store, every=timedelta(milliseconds=5), clock=lambda: later + timedelta(days=200)):
        wait_until(lambda: not store.archived())


def wait_until(done: Callable[[], bool]) -> None:
    """Half a minute at most."""
    ends = time.monotonic() + 30
    while not done():
        assert time.monotonic() < ends
        time.sleep(0.01)


@requirement(
    "6.1",
    "A ledger's days older than a year are compressed once a day",
    "commonplace upkeep --ledger",
    "parts/coordinates/upkeep.py",
)
def test_upkeep_compresses_the_ledger(tmp_path, capsys):
    ledger = ResonanceLedger(tmp_path / "resonance_ledger")
    for year in (2025, 2026, 2027):
        ledger.log_event("s", "evaluation", at=datetime(year, 3, 1))
    with MemoryStore(tmp_path / "memory") as store:
        store.add(document("x"))
    given = ["upkeep", str(tmp_path / "memory"), "--ledger", str(ledger.path)]
    assert main([*given, "--now", "2026-06-01"]) == 0
    assert "1 days of the ledger compressed" in capsys.readouterr().err
    assert main(given) == 0
    assert sorted(path.name for path in ledger.path.glob("ledger-*")) == [
        "ledger-20250301.jsonl.gz",
        "ledger-20260301.jsonl",
        "ledger-20270301.jsonl",
    ]
    assert len(entries(tmp_path, "evaluation")) == 3
    assert verify(ledger.path).sound


@requirement("6.1", "The ledger is never forgotten; days older than a year are compressed", "Ledger.archive", LEDGER)
def test_a_year_of_the_ledger_stays_and_is_compressed(tmp_path):
    ledger = ResonanceLedger(tmp_path / "resonance_ledger")
    with MemoryStore(base_path=tmp_path / "memory", ledger=ledger, retention={"max_sessions": 2}) as store:
        for month in range(14):
            at = DAY + timedelta(days=30 * month)
            kept = store.add(document(f"month {month}", month * 30 * 1440, session=f"s{month}"))
            ledger.log_event(f"s{month}", "persona_response", "synthesis", kept.memory_id, None, None, None, at=at)
        auto_forget(store)
        assert len(store) < 3
    written = entries(tmp_path, "persona_response")
    assert len(ledger.archive(DAY + timedelta(days=400))) == 2
    assert sorted(path.suffix for path in ledger.base_path.glob("ledger-*")) == [".gz"] * 2 + [".jsonl"] * 12
    assert entries(tmp_path, "persona_response") == written
    assert len(written) == 14
    assert verify(ledger.base_path).sound


@requirement("6.1", "What is forgotten, and why, is in the ledger", "MemoryStore(ledger=…)", RETENTION)
def test_forgetting_is_logged(tmp_path):
    ledger = ResonanceLedger(tmp_path / "resonance_ledger")
    with MemoryStore(base_path=tmp_path / "memory", ledger=ledger, retention={"max_sessions": 1}) as store:
        sessions(store, 2)
    (entry,) = entries(tmp_path, "forgetting")
    assert entry["plan_adjustment"]["action"] == "remove"
    assert len(entry["memory_refs"]) == 2


@requirement("6.1", "Forgetting by hand", "delete_by_id, delete_by_session, delete_by_query", STORE)
def test_memories_can_be_deleted_by_hand(answers):
    last = answers.get_recent(1)[0].memory_id
    assert (answers.delete_by_id(last), answers.get_by_id(last)) == (1, None)
    assert answers.delete_by_session("s0") == 6
    assert answers.delete_by_query(tags=["AGI_design", "temporary"]) == 1
    assert len(answers) == 4
    with pytest.raises(UsageError, match="everything"):
        answers.delete_by_query()


@requirement(
    "6.2", "0.3 + rating / 5 · 0.3 + min(references · 0.05, 0.2) + |sentiment| · 0.2", "calculate_importance", STORE
)
def test_the_importance_is_the_formula(store):
    first = store.add(document("plain"))
    assert calculate_importance(first) == pytest.approx(0.3)
    felt = document("felt", emotion={"sentiment_score": -0.5}, user_rating=4)
    assert calculate_importance(felt) == pytest.approx(0.3 + 0.24 + 0.1)
    assert calculate_importance(felt, 3) == pytest.approx(0.3 + 0.24 + 0.15 + 0.1)
    best = document("best", emotion={"sentiment_score": 1.0}, user_rating=5)
    assert calculate_importance(best, 99) == pytest.approx(1.0)
    for number in range(6):
        store.add(document(f"child {number}", number + 1, relations={"parent_memory_id": first.memory_id}))
    assert store.get_reference_count(first.memory_id) == 6
    assert calculate_importance(store.get_by_id(first.memory_id), store) == pytest.approx(0.3 + 0.2)


# ── 7: the orchestrator ──────────────────────────────────────────────────────────────────────────────────────────────


@requirement("7.1 (1)", "Registry, backends, log, store, ledger", "PersonaOrchestrator(…)", MODULE)
def test_an_orchestrator_is_made_of_what_the_document_says(tmp_path):
    made = orchestrator(tmp_path)
    assert re.fullmatch(r"sess_20251012_\d{6}", made.session_id)
    assert (made.history, made.log_entries, made.phase.affect) == ([], [], 0.3)
    assert made.log_path == tmp_path / "log.jsonl"
    assert len(made.memory_store) == 0
    assert made.resonance_ledger.base_path == tmp_path / "resonance_ledger"


@requirement("7.1 (1)", "Store and ledger may be left out", "PersonaOrchestrator(registry, factory)", MODULE)
def test_an_orchestrator_works_without_store_and_ledger():
    made = PersonaOrchestrator(PersonaRegistry(PERSONAS), said)
    assert made.run("How should a memory system last?", 2).startswith("A memory system")
    assert [entry["persona"] for entry in made.history] == ["thesis", "antithesis", "synthesis"] * 2
    assert made.system_event("Rain.") is None
    assert made.tool_call("thesis", "search", {}) is None


@requirement("7.1 (1)", "Any number of personas with any identifiers", "PersonaRegistry([Persona…])", MODULE)
@pytest.mark.parametrize("names", [["나"], ["Persona A", "비노체님"]])
def test_any_personas_work(tmp_path, names):
    store, ledger = MemoryStore(tmp_path / "memory"), ResonanceLedger(tmp_path / "resonance_ledger")
    registry = PersonaRegistry([Persona(name, name) for name in names])
    for hours in (0, 1):
        made = PersonaOrchestrator(
            registry, lambda persona: lambda prompt: "두렵고 화가 난다! I fear panic!", None, store, ledger,
            clock=lambda: datetime(2025, 10, 12, 9 + hours),  # noqa: B023
        )  # fmt: skip
        made.run("무엇을 기억할까?", depth=4)
        for memory in store.get_by_session(made.session_id):
            store.rate(memory.memory_id, 1)
    assert len(store) == 8 * len(names)
    assert len(entries(tmp_path, "rune_report")) == 2 * len(names)
    assert verify(ledger.base_path).sound


@requirement("7.1 (1)", "A backend is a callable, or has `generate`", "backend_factory(persona)", MODULE)
def test_any_backend_answers(tmp_path):
    class Model:
        def generate(self, prompt: str) -> str:
            return f"generated from {len(prompt)} characters"

    asked: list[Persona] = []
    made = orchestrator(tmp_path, lambda persona: asked.append(persona) or Model())
    assert made.run("Why?").startswith("generated from")
    assert asked == list(PERSONAS)


@requirement("7.1 (1)", "Sessions that begin in one second are two", "PersonaOrchestrator.session_id", MODULE)
def test_two_sessions_of_one_second_are_told_apart(tmp_path):
    names = []
    for _ in range(3):
        made = orchestrator(tmp_path, clock=lambda: DAY)
        made.run("Why?")
        names.append(made.session_id)
    assert names == ["sess_20251012_093022", "sess_20251012_093022_2", "sess_20251012_093022_3"]


@requirement("7.1", "Personas in the order of the registry, each identifier once", "PersonaRegistry, Persona", MODULE)
def test_a_registry_is_checked():
    registry = PersonaRegistry(PERSONAS)
    assert registry.personas_in_cycle() == list(PERSONAS)
    assert registry.get("synthesis").name == "Fractal Synthesiser"
    for wrong in ([], [PERSONAS[0], PERSONAS[0]], [Persona("", "x")]):
        with pytest.raises(UsageError):
            PersonaRegistry(wrong)
    with pytest.raises(UsageError, match="thesis, antithesis, synthesis"):
        registry.get("nobody")


@requirement("7.1 (2)", "Each answer is stored and logged as it comes, in cycles of the given depth", "run", MODULE)
def test_answers_are_stored_and_logged_one_by_one(tmp_path):
    seen: list[tuple[int, int]] = []

    def backend(persona: Persona) -> Callable[[str], str]:
        seen.append((len(made.memory_store), len(entries(tmp_path, "persona_response"))))
        return said(persona)

    made = orchestrator(tmp_path, backend)
    made.run("How should a memory system last?", depth=2)
    assert seen == [(number, number) for number in range(6)]
    logged = entries(tmp_path, "persona_response")
    memories = made.memory_store.get_by_session(made.session_id)
    assert [entry["memory_id"] for entry in logged] == [one.memory_id for one in memories]
    assert [entry["persona_id"] for entry in logged] == [one.agent.persona_id for one in memories]
    assert [entry["bqi_coordinate"] for entry in logged] == [one.metadata.bqi_snapshot for one in memories]
    assert all(entry["evaluation"]["transparency"] >= 0 for entry in logged)
    assert [one["prompt"] for one in made.log_entries] == [
        json.loads(line)["prompt"] for line in (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines()
    ]


@requirement(
    "7.1 (2)", "A changed order of the personas is logged", "log_event(plan_adjustment=…)", "parts/panel/rhythm.py"
)
def test_a_heated_cycle_changes_the_order_of_the_next(tmp_path):
    made = orchestrator(tmp_path, lambda persona: lambda prompt: "I fear panic, terror and rage! I am furious.")
    made.run("Why?", depth=3)
    (changed,) = filter(None, (entry["plan_adjustment"] for entry in entries(tmp_path, "persona_response")))
    assert changed["action"] == "reorder_persona_cycle"
    order = changed["details"]["new_order"]
    assert order == ["thesis", "synthesis", "antithesis"]
    assert [one["persona"] for one in made.history] == [*(one.identifier for one in PERSONAS), *order,
                                                        *(one.identifier for one in PERSONAS)]  # fmt: skip


@requirement(
    "7.1 (3)",
    "Every field of an answer's memory; confidence and importance are computed, not 0.7 and 0.5",
    "_create_memory_coordinate",
    MODULE,
)
def test_an_answer_has_all_its_coordinates(tmp_path):
    made = orchestrator(tmp_path)
    made.run("How should a memory system last?", depth=2)
    memories = made.memory_store.get_by_session(made.session_id)
    last = memories[-1]
    assert re.fullmatch(r"mem_20251012_\d{6}_[0-9a-f]{4}", last.memory_id)
    assert [one.time.sequence for one in memories] == [1, 2, 3, 4, 5, 6]
    minutes = [one.time.relative_time_minutes for one in memories]
    assert all(one < two for one, two in pairwise(minutes))
    assert minutes[0] > 0
    assert last.space.to_dict() == {
        "project": "persona_orchestration",
        "domain": "AGI_prototype",
        "file_context": [],
        "depth_index": 2,
    }
    assert last.agent.to_dict() == {
        "persona_id": "synthesis",
        "persona_name": "Fractal Synthesiser",
        "role": "Integrator",
        "backend": "local_lmstudio",
    }
    text = last.content.response_full
    assert last.emotion.affect_amplitude == made.phase.affect
    assert last.emotion.sentiment_score == estimate_sentiment(text) > 0
    assert last.emotion.keywords == extract_emotion_keywords(text) == ["hope"]
    assert last.content.type == "persona_response"
    assert last.content.prompt_digest.startswith("System instruction: You reconcile both sides.")
    assert (last.content.response_summary, last.content.token_count) == (None, len(text.split()))
    assert last.metadata.tags == ["synthesis", "orchestration"]
    assert (last.metadata.user_rating, last.metadata.error_occurred) == (None, False)
    assert last.metadata.bqi_snapshot["agent"] == "synthesis"
    assert [one.relations.parent_memory_id for one in memories] == [None, *(one.memory_id for one in memories[:-1])]
    assert memories[0].relations.child_memory_ids == [memories[1].memory_id]


@requirement("3.1", "`time.sequence`: the place in the session, also over several runs", "run, system_event", MODULE)
def test_the_sequence_counts_on_in_a_session(tmp_path):
    made = orchestrator(tmp_path)
    made.system_event("The budget is cut.")
    made.run("How should a memory system last?")
    made.system_event("It rains.")
    made.run("And why?", depth=2)
    memories = made.memory_store.get_by_session(made.session_id)
    assert [one.time.sequence for one in memories] == list(range(1, 12))
    assert [one.content.response_full for one in memories] == [one["content"] for one in made.history]


@requirement(
    "7.1 (3)", "`phase_injection_applied`: the answer was asked for livelier or calmer", "PhaseController", MODULE
)
def test_a_heated_answer_makes_the_next_one_be_asked_for_calmly(tmp_path):
    prompts: list[str] = []
    heated = lambda persona: lambda prompt: prompts.append(prompt) or "I fear panic, terror and rage!"  # noqa: E731
    made = orchestrator(tmp_path, heated)
    made.run("Why?")
    applied = [one.metadata.phase_injection_applied for one in made.memory_store.get_by_session(made.session_id)]
    assert applied == [False, False, True]
    assert ["heated" in prompt for prompt in prompts] == [False, False, True]


@requirement("7.1 (3)", "`[error: …]` in an answer: `error_occurred`, and the others go on", "run", MODULE)
def test_a_backend_that_fails_stops_nobody(tmp_path):
    def backend(persona: Persona) -> Callable[[str], str]:
        if persona.identifier == "thesis":
            raise ConnectionError("no server")
        return lambda prompt: "[error: overloaded]" if persona.identifier == "antithesis" else ""

    made = orchestrator(tmp_path, backend)
    made.run("Why?")
    memories = made.memory_store.get_by_session(made.session_id)
    assert texts(memories) == ["[error: ConnectionError: no server]", "[error: overloaded]", "[error: an empty answer]"]
    assert all(one.metadata.error_occurred for one in memories)
    assert all(entry["reproducibility"] == 0 for entry in entries(tmp_path, "persona_response"))


@requirement(
    "7.1", "Affect, phase and injection of each answer", "PhaseController.integrate_response", "parts/panel/rhythm.py"
)
def test_the_phase_controller_follows_what_is_said():
    phase = PhaseController(["thesis", "antithesis"], prompt="Why?")
    first = phase.integrate_response("thesis", "I fear it.")
    assert (first["affect_before"], first["injection_applied"]) == (0.3, False)
    assert first["affect_after"] == phase.affect == pytest.approx(0.5 * 0.3 + 0.5 * (0.5 * 0.8 + 0.5 * 0.3))
    second = phase.integrate_response("antithesis", "But fear is good.")
    assert second["rhythm_phase"] == phase.rhythm_phase == "tension"
    assert phase.order == ["thesis", "antithesis"]
    alone = PhaseController()
    assert alone.integrate_response("anybody", "Hello.")["phase_before"] == "exploration"


@requirement(
    "7.1 (4)", "`log_event` with the seven arguments; the moment is now; one file a day", "ResonanceLedger", LEDGER
)
def test_an_event_is_logged_now(tmp_path):
    ledger = ResonanceLedger(base_path=tmp_path / "resonance_ledger")
    before = datetime.now(UTC)
    ledger.log_event(
        session_id="sess_20251012_090000",
        event_type="rune_report",
        persona_id="synthesis",
        memory_id=None,
        bqi_coordinate=None,
        evaluation={"impact": 0.7},
        plan_adjustment=None,
    )
    (entry,) = entries(tmp_path)
    assert before <= datetime.fromisoformat(entry["timestamp"]) <= datetime.now(UTC)
    assert ledger.current_file.name == f"ledger-{entry['timestamp'][:10].replace('-', '')}.jsonl"
    assert json.loads(ledger.current_file.read_text(encoding="utf-8")) == entry
    ledger.log_event("s", "evaluation", at=datetime(2400, 1, 1))
    assert ledger.log_event("s", "later than the clock")["timestamp"] == "2400-01-01T00:00:00Z"


@requirement(
    "7.2",
    "The prompt, line by line; past answers by relevance, none rated 2 stars or less",
    "compose_prompt_with_memory",
    MODULE,
)
def test_a_prompt_is_composed_as_the_document_says(store):
    question = "How should AGI memory work?"
    for number, share in enumerate((0.9, 0.7, 0.65, 0.5)):
        content = {
            "prompt_digest": f"question {number}",
            "response_full": f"AGI memory should forget {number}. " + "x" * 300,
            "response_summary": "Forget." if number == 1 else None,
        }
        store.add(document(minutes=number, content=content, importance=share))
    store.add(document("AGI memory should work", 9, persona="thesis", importance=0.9))
    history = [{"persona": "thesis", "content": "Keep all."}, {"role": "user", "content": "Go on."}, {"content": "?"}]
    prompt = compose_prompt_with_memory(PERSONAS[2], question, history, 1, 3, store)
    shown = "AGI memory should forget 2. " + "x" * 172
    assert prompt.splitlines() == [
        "System instruction: You reconcile both sides.",
        "",
        "Relevant past examples:",
        "- Previous input: question 2",
        f"  Your response: {shown}",
        "- Previous input: question 1",
        "  Your response: Forget.",
        "Current recursion depth: 1",
        "Conversation history:",
        "- thesis: Keep all.",
        "- user: Go on.",
        "- unknown: ?",
        "",
        "Seed focus: How should AGI memory work?",
        "Respond as persona 'Fractal Synthesiser' (Integrator). This is cycle step 3.",
    ]
    late = compose_prompt_with_memory(PERSONAS[2], f"{'Well, ' * 17}{question}", history, 1, 3, store)
    assert "Relevant past" not in late, "the first 100 characters are looked for"
    plain = compose_prompt_with_memory(Persona("synthesis", "S"), question, [], 1, 1)
    assert plain.splitlines()[0] == "Current recursion depth: 1"


@requirement("7.2", "Past answers of the same phase and emotion", "compose_prompt_with_memory(bqi_snapshot=…)", MODULE)
def test_a_snapshot_narrows_the_past_answers(store):
    for number, phase in enumerate(("integration", "tension")):
        bqi = {"rhythm_phase": phase, "emotion": {"keywords": ["hope"]}}
        store.add(document(f"memory {phase}", number, importance=0.8, bqi_snapshot=bqi))

    def shown(bqi: dict[str, Any] | None) -> list[str]:
        prompt = compose_prompt_with_memory(PERSONAS[2], "Which memory?", [], 1, 1, store, bqi)
        return re.findall(r"Your response: memory (\w+)", prompt)

    assert sorted(shown(None)) == ["integration", "tension"]
    assert shown({"rhythm_phase": "tension"}) == ["tension"]
    assert shown({"rhythm_phase": "integration", "emotion": {"keywords": ["hope"]}}) == ["integration"]
    assert shown({"rhythm_phase": "integration", "emotion": {"keywords": ["fear"]}}) == []


# ── 9: criteria and scenarios ────────────────────────────────────────────────────────────────────────────────────────


@requirement("9.1", "1: after a thousand memories the index is up to date", "MemoryStore.add", FOLDER)
def test_after_a_thousand_memories_the_index_is_up_to_date(store, tmp_path):
    for number in range(1000):
        store.add(document(f"memory {number}", number, session=f"s{number // 200}", tags=[f"t{number % 7}"]))
    index = MemoryIndex.read(tmp_path / "outputs" / "memory")
    assert index.total_memories == len(index.persona_index["synthesis"]) == 1000
    assert len(index.keyword_index["t0"]) == 143
    assert sum(len(names) for names in index.time_index.values()) == 1000
    assert all(store.get_by_id(name) for name in index.keyword_index["t3"])


@requirement("9.1", "2: `synthesis` finds that persona's memories only", "search(query, personas_by_name=True)", STORE)
def test_a_personas_name_can_find_its_memories_only(store):
    for number, persona in enumerate(PERSONAS):
        store.add(document("no synthesis yet", number, persona=persona.identifier, tags=[persona.identifier]))
    assert len(store.search(query="synthesis")) == 3
    for query in ("synthesis", "SYNTHESIS"):
        (found,) = store.search(query=query, personas_by_name=True)
        assert found.agent.persona_id == "synthesis"
    (found,) = store.search(query="thesis", personas_by_name=True)
    assert found.agent.persona_id == "thesis"
    assert store.search("thesis", persona_id="synthesis", personas_by_name=True) == []
    assert len(store.search("yet", personas_by_name=True)) == 3


@requirement("9.1", "2: and its tag finds it by containment", "search(query)", STORE)
def test_a_tag_of_the_persona_finds_it(tmp_path):
    made = orchestrator(tmp_path)
    made.run("How should a memory last?", 2)
    assert {one.agent.persona_id for one in made.memory_store.search("SYNTHESIS", limit=100)} == {"synthesis"}


@requirement("9.1", "3: `max_sessions` = 5; when a sixth begins the oldest is gone", "MemoryStore.add", RETENTION)
def test_when_a_sixth_session_begins_the_oldest_is_gone(tmp_path):
    names = []
    for _ in range(6):
        made = orchestrator(tmp_path, memory_store=MemoryStore(tmp_path / "memory", retention={"max_sessions": 5}),
                            clock=lambda: DAY + timedelta(hours=len(names)))  # fmt: skip
        made.run("Why?")
        names.append(made.session_id)
    assert made.memory_store.get_all_session_ids() == names[1:]
    assert made.memory_store.get_by_session(names[0]) == []


@requirement("9.1", "4: a search in 5,000 memories takes less than 100 ms", "MemoryStore.search", STORE)
@pytest.mark.parametrize(
    "filters",
    [
        {"query": "session 3"},
        {"query": "nowhere to be found"},
        {"persona_id": "synthesis", "min_importance": 0.5, "time_range": (DAY, DAY + timedelta(days=2))},
        {"query": "memory systems", "rank": "relevance"},
    ],
    ids=["words", "nothing", "filters", "relevance"],
)
def test_a_search_in_five_thousand_memories_is_quick(many, filters):
    assert len(many) == 5000
    many.search(**filters)
    took = []
    for _ in range(5):
        began = time.thread_time()
        many.search(**filters)
        took.append(time.thread_time() - began)
    assert min(took) < 0.1


@requirement(
    "9.1", "5: a run of the orchestrator stores and uses memories by itself", "PersonaOrchestrator.run", MODULE
)
def test_ten_runs_store_what_they_say_and_use_it(tmp_path):
    used = 0
    for number in range(10):
        prompts: list[str] = []
        made = orchestrator(tmp_path, lambda persona: lambda prompt: prompts.append(prompt) or said(persona)(prompt),  # noqa: B023
                            clock=lambda: DAY + timedelta(hours=number))  # noqa: B023  # fmt: skip
        made.run("How should a memory system last?")
        used += sum("Relevant past examples" in prompt for prompt in prompts)
    assert len(made.memory_store) == 30
    assert used == 27
    assert len(entries(tmp_path, "synthesis_report")) == 10


@requirement("9.2", "Scenario 1: stored and found by id", "MemoryStore.add, .get_by_id", STORE)
def test_scenario_1(tmp_path):
    memory = MemoryCoordinate(**WHOLE)
    with MemoryStore(base_path=tmp_path / "outputs" / "memory") as store:
        store.add(memory)
    with MemoryStore(base_path=tmp_path / "outputs" / "memory") as store:
        retrieved = store.get_by_id(memory.memory_id)
        assert retrieved.memory_id == memory.memory_id


@requirement("9.2", "Scenario 2: a compound search", "MemoryStore.search", STORE)
def test_scenario_2(store):
    for number in range(60):
        store.add(
            document(
                ("about AGI memory systems", "about lunch")[number % 3 == 0],
                (number - 30) * 120,
                persona=("thesis", "synthesis")[number % 2],
                importance=(number % 10) / 10,
            )
        )
    results = store.search(
        query="AGI memory",
        persona_id="synthesis",
        time_range=(datetime(2025, 10, 10), datetime(2025, 10, 12)),
        min_importance=0.5,
        limit=3,
    )
    assert len(results) == 3
    assert all(one.agent.persona_id == "synthesis" for one in results)
    assert all("AGI memory" in one.content.response_full and one.metadata.importance >= 0.5 for one in results)


@requirement("9.2", "Scenario 3: with `max_sessions` = 3, at most three are left", "apply_retention_policy", RETENTION)
@pytest.mark.parametrize("apart", [0, 60], ids=["at once", "one after another"])
def test_scenario_3(tmp_path, apart):
    with MemoryStore(base_path=tmp_path, retention={"max_sessions": 3}) as store:
        for i in range(5):
            for j in range(10):
                store.add(document(f"memory {j}", i * apart, session=f"sess_test_{i}"))
        store.apply_retention_policy()
        assert store.get_all_session_ids() == ["sess_test_2", "sess_test_3", "sess_test_4"]


# ── 10: what was left open ───────────────────────────────────────────────────────────────────────────────────────────


@requirement(
    "10.1",
    "JSONL first, SQLite later: a folder moves into a database and back",
    "commonplace copy-memories",
    "cli/memories.py",
)
def test_a_folder_can_be_copied_into_a_database(store, tmp_path):
    store.add(MemoryCoordinate(**WHOLE))
    store.add(document("another", 1))
    store.close()
    folder, back = tmp_path / "outputs" / "memory", tmp_path / "back"
    assert main(["copy-memories", str(folder), str(tmp_path / "m.db")]) == 0
    assert main(["copy-memories", str(tmp_path / "m.db"), f"jsonl:{back}"]) == 0
    below = SQLiteStore(tmp_path / "m.db")
    assert MemoryStore(store=below).get_by_id(WHOLE["memory_id"]).to_dict() == WHOLE
    below.close()
    with MemoryStore(back) as again:
        assert [one.to_dict() for one in again.get_recent()] == [one.to_dict() for one in store.get_recent()]
    store.close()
    assert MemoryIndex.read(back) == MemoryIndex.read(folder)


@requirement("10.2", "Importance is computed when a memory is stored", "MemoryStore.add", STORE)
def test_the_importance_is_computed_at_once(store):
    kept = store.add(document("x", emotion={"sentiment_score": -0.5}))
    assert kept.metadata.importance == pytest.approx(0.4)
    assert store.add(document("given", importance=0.95)).metadata.importance == 0.95


@requirement("10.2", "And again when a session closes, with the references since", "PersonaOrchestrator.run", MODULE)
def test_the_importance_is_computed_again_at_the_end(tmp_path):
    made = orchestrator(tmp_path, lambda persona: lambda prompt: "Yes.")
    made.run("Why?")
    shares = [one.metadata.importance for one in made.memory_store.get_by_session(made.session_id)]
    assert shares == pytest.approx([0.35, 0.35, 0.3])


@requirement(
    "10.2", "Every midnight all are computed again", "Upkeep(store), commonplace upkeep", "parts/coordinates/upkeep.py"
)
def test_importances_are_computed_every_day(tmp_path, capsys):
    assert until_midnight(datetime(2025, 10, 12, 22, 30, tzinfo=UTC)) == timedelta(hours=1, minutes=30)
    with MemoryStore(base_path=tmp_path) as store:
        first = store.add(document("asked"))
        store.add(document("answered", 1, relations={"parent_memory_id": first.memory_id}))
        with Upkeep(store, every=timedelta(milliseconds=10)):
            ends = time.monotonic() + 10
            while store.get_by_id(first.memory_id).metadata.importance < 0.34 and time.monotonic() < ends:
                time.sleep(0.01)
        assert store.get_by_id(first.memory_id).metadata.importance == pytest.approx(0.35)
        store.add(document("answered twice", 2, relations={"parent_memory_id": first.memory_id}))
    assert main(["upkeep", str(tmp_path)]) == 0
    assert "1 importances" in capsys.readouterr().err
    with MemoryStore(base_path=tmp_path) as store:
        assert store.get_by_id(first.memory_id).metadata.importance == pytest.approx(0.4)


@requirement(
    "10.3", "A person rates an answer, 1 to 5 stars, on the command line", "commonplace rate", "parts/panel/command.py"
)
@requirement("3.1", "`user_rating`, by hand", "MemoryStore.rate", STORE)
def test_a_person_rates_an_answer(tmp_path, capsys):
    made = orchestrator(tmp_path, lambda persona: lambda prompt: "Yes.")
    made.run("Why?")
    last = made.memory_store.get_recent(1)[0]
    made.memory_store.close()
    where, ledger = str(tmp_path / "memory"), str(tmp_path / "resonance_ledger")
    assert main(["rate", where, last.memory_id, "4", "--ledger", ledger]) == 0
    assert capsys.readouterr().out == f"{last.memory_id}  4 of 5 stars  importance 0.54\n"
    with MemoryStore(base_path=tmp_path / "memory") as store:
        assert store.get_by_id(last.memory_id).metadata.user_rating == 4
        assert store.rate(last.memory_id, 1).metadata.importance == pytest.approx(0.36)
        for stars in (0, 6, "5"):
            with pytest.raises(UsageError, match="stars"):
                store.rate(last.memory_id, stars)
    (noted,) = entries(tmp_path, "user_rating")
    assert (noted["memory_id"], noted["evaluation"]["user_rating"]) == (last.memory_id, 4)
    assert main(["rate", where, "nobody", "4"]) == 2
    assert "no memory" in capsys.readouterr().err


@requirement("10.3", "A rating written into the file by hand counts", "sessions/….jsonl, commonplace upkeep", FILES)
def test_a_rating_can_be_written_into_the_file(tmp_path):
    made = orchestrator(tmp_path)
    made.run("Why?")
    last = made.memory_store.get_recent(1)[0]
    made.memory_store.close()
    path = tmp_path / "memory" / "sessions" / f"{made.session_id}.jsonl"
    *others, line = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join((*others, line.replace('"user_rating":null', '"user_rating":4'))), encoding="utf-8")
    assert main(["upkeep", str(tmp_path / "memory")]) == 0
    with MemoryStore(tmp_path / "memory") as store:
        rated = store.get_by_id(last.memory_id)
        assert rated.metadata.user_rating == 4
        assert rated.metadata.importance == pytest.approx(last.metadata.importance + 0.24)
        assert store.ratings("synthesis") == [(last.memory_id, 4)]


@requirement(
    "3.1",
    "`response_summary`, written by a task; prompts show it",
    "tend(store, summarize=…)",
    "parts/coordinates/upkeep.py",
)
@requirement("2.2", "Summaries and compression", "commonplace upkeep", "parts/coordinates/upkeep.py")
def test_summaries_are_written_and_shown(store):
    long = "Lunch was late. " + " ".join(f"A memory system keeps note {number} of a day." for number in range(9))
    kept = store.add(document(long, importance=0.9))
    short = store.add(document("Short.", 1))
    assert (tend(store).summarized, tend(store).summarized) == (1, 0)
    summary = store.get_by_id(kept.memory_id).content.response_summary
    assert len(summary) <= 200
    assert "memory system" in summary
    assert "Lunch" not in summary
    assert store.get_by_id(short.memory_id).content.response_summary is None
    assert f"Your response: {summary}" in compose_prompt_with_memory(PERSONAS[2], "memory system", [], 1, 1, store)
    other = store.add(document(long, 2))
    tend(store, summarize=lambda text: f"{len(text)} characters, says a model")
    assert store.get_by_id(other.memory_id).content.response_summary == f"{len(long)} characters, says a model"
    assert store.get_by_id(other.memory_id).content.response_full == long
    store.close()
    assert store.get_by_id(kept.memory_id).content.response_summary == summary


@requirement("10.4", "`user_id` says whose memory it is", "agent.user_id, search(user_id=…)", DOCUMENT)
def test_memories_of_several_users_are_told_apart(tmp_path):
    for name in ("binoche", "sena"):
        made = orchestrator(tmp_path, user_id=name, clock=lambda: DAY + timedelta(hours=len(name)))  # noqa: B023
        made.run("Why?")
    found = made.memory_store.search(user_id="sena")
    assert {(one.agent.user_id, one.time.session_id) for one in found} == {("sena", made.session_id)}
    assert len(found) == 3
    assert len(made.memory_store.search(user_id=["sena", "binoche"])) == 6
    assert made.memory_store.search(user_id="nobody") == []
    assert "user_id" not in made.memory_store.add(MemoryCoordinate(**WHOLE)).to_dict()["agent"]
