"""Document and record: two ways to write the same memory."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.parts.coordinates.document import MemoryCoordinate, from_memory, to_memory
from parts.coordinates.documents import document, documents, records
from sizes import examples

SCHEMA = {
    "time": {"session_id", "sequence", "relative_time_minutes"},
    "space": {"project", "domain", "file_context", "depth_index"},
    "agent": {"persona_id", "persona_name", "role", "backend"},
    "emotion": {"affect_amplitude", "sentiment_score", "confidence", "keywords"},
    "content": {"type", "prompt_digest", "response_full", "response_summary", "token_count"},
    "metadata": {"importance", "tags", "user_rating", "phase_injection_applied", "error_occurred", "bqi_snapshot"},
    "relations": {"parent_memory_id", "child_memory_ids", "related_memory_ids"},
}


@examples(100)
@given(documents(), st.integers(0, 9))
def test_a_document_comes_back_from_its_record(given_document, id):
    memory = to_memory(given_document, id)
    back = from_memory(memory, given_document.memory_id)
    back.memory.pop("id", None)
    if not given_document.memory_id:
        back.memory_id = ""
        back.memory.pop("without", None)
    assert back == given_document
    assert json.loads(json.dumps(back.to_dict())) == back.to_dict()


@examples(100)
@given(records())
def test_a_record_comes_back_from_its_document(memory):
    plain = json.loads(json.dumps(from_memory(memory).to_dict()))
    back = to_memory(MemoryCoordinate.from_dict(plain))
    assert back == memory
    assert {key: repr(value) for key, value in back.details.items()} == {
        key: repr(value) for key, value in memory.details.items()
    }


def test_the_document_has_every_field_of_the_schema():
    plain = document(importance=0.7).to_dict()
    assert {section: set(plain[section]) for section in SCHEMA} == SCHEMA
    assert set(plain) == {"memory_id", "timestamp", *SCHEMA}


def test_a_plain_document_needs_nothing_beside_it():
    """What people write by hand stays what they wrote."""
    memory = to_memory(document(importance=0.5, tags=["AGI"]), 3)
    assert "coordinate" not in memory.details
    assert set(from_memory(memory).memory) <= {"id", "without"}


def test_coordinates_go_where_they_belong():
    memory = to_memory(
        document(
            session="s1",
            memory_id="mem_1",
            emotion={"affect_amplitude": 0.65, "sentiment_score": 0.12, "confidence": 0.8, "keywords": ["hope"]},
            importance=0.7,
            tags=["AGI"],
        )
    )
    assert (memory.agent, memory.session, memory.kind, memory.tags) == ("synthesis", "s1", "action", ("AGI",))
    assert memory.importance == pytest.approx(7.3)
    assert (memory.emotion.valence, memory.emotion.arousal, memory.emotion.keywords) == (0.12, 0.65, ("hope",))
    assert memory.details["memory_id"] == "mem_1"


def test_importance_computed_anew_is_not_overruled_by_what_was_written():
    memory = replace(to_memory(document(importance=0.1)), importance=5.5)
    assert from_memory(memory).metadata.importance == 0.5


@pytest.mark.parametrize(
    "wrong",
    [
        {"timestamp": "yesterday"},
        {"timestamp": None},
        {"metadata": {"importance": float("nan")}},
        {"metadata": {"importance": 7}},
        {"metadata": {"tags": "AGI"}},
        {"metadata": {"user_rating": 6}},
        {"emotion": {"sentiment_score": -2}},
        {"emotion": {"keywords": [1]}},
        {"time": {"session_id": None}},
        {"time": "now"},
        {"memory": []},
    ],
    ids=str,
)
def test_a_document_of_another_shape_is_refused_with_the_field_named(wrong):
    with pytest.raises(UsageError) as refused:
        MemoryCoordinate.from_dict({"timestamp": "2025-10-12T09:30:22Z", **wrong})
    section, value = next(iter(wrong.items()))
    assert section in str(refused.value)
    assert not isinstance(value, dict) or next(iter(value)) in str(refused.value)


@pytest.mark.parametrize("empty", ["", "  \n", "\u200b"])
def test_a_document_without_a_text_is_no_memory(empty):
    with pytest.raises(UsageError, match="visible character"):
        to_memory(document(empty))


def test_binary_looking_text_is_data():
    memory = to_memory(document("\x00\x01\ud800PNG\x7f"))
    assert memory.text == "\ufffdPNG"
    assert from_memory(memory).content.response_full == "\x00\x01\ud800PNG\x7f"


def test_every_section_can_hold_keys_of_its_own():
    kept = {name: {"mine": [1, {"x": None}]} for name in SCHEMA}
    written = MemoryCoordinate.from_dict(
        {"timestamp": "2025-10-12T09:30:22Z", "user_id": "b", **kept, "content": {"response_full": "x", "mine": 1}}
    )
    assert from_memory(to_memory(written)).to_dict()["user_id"] == "b"
    assert all(from_memory(to_memory(written)).to_dict()[name]["mine"] for name in SCHEMA)
    assert written.content.model_extra == {"mine": 1}
