"""Coordinate documents and records to test with."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from commonplace.clock import iso
from commonplace.memory import KINDS, Emotion, Memory
from commonplace.parts.coordinates.document import MemoryCoordinate

DAY = datetime(2025, 10, 12, 9, 30, 22, 123456, tzinfo=UTC)


def document(
    text: str = "Based on the thesis, clarity grows.",
    minutes: float = 0,
    *,
    session: str = "",
    persona: str = "synthesis",
    **more: Any,
) -> MemoryCoordinate:
    """A document with the fields that tests vary; `more` are whole sections or fields of `metadata`."""
    sections = {
        key: more.pop(key) for key in list(more) if key in ("memory_id", "emotion", "relations", "space", "content")
    }
    return MemoryCoordinate(
        timestamp=iso(DAY + timedelta(minutes=minutes)),
        time={"session_id": session},
        agent={"persona_id": persona},
        metadata=more,
        **{"content": {"response_full": text}, **sections},
    )


texts = st.text(max_size=12)
names = st.lists(texts, max_size=3)
numbers = st.one_of(st.integers(-5, 400), st.floats(-100, 100))
shares = st.one_of(st.sampled_from((0, 0.0, 1, 1.0, 0.7, 0.1)), st.floats(0, 1))
json = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(1 << 63), (1 << 64) - 1),
        st.floats(allow_nan=False, allow_infinity=False),
        texts,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(texts, inner, max_size=2)),
    max_leaves=4,
)
extras = st.dictionaries(st.sampled_from(("gps", "extra", "사용자", "x.y")), json, max_size=2)
moments = st.one_of(
    st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - bounds are naive
    st.sampled_from((DAY, DAY.replace(microsecond=0))),
)
written_moments = st.one_of(
    moments.map(iso),
    moments.map(datetime.isoformat),
    st.sampled_from(("2025-10-12", "2025-10-12T18:30:22+09:00", "2025-10-12 09:30")),
)
visible = st.text(min_size=1, max_size=30).map(lambda text: text + "글")
long = st.sampled_from(("가" * 2_500, "word " * 600, " both \n sides "))


@st.composite
def documents(draw) -> MemoryCoordinate:
    """Any document of the schema, with keys it does not have."""
    return MemoryCoordinate.from_dict(
        {
            "memory_id": draw(st.one_of(st.just(""), texts)),
            "timestamp": draw(written_moments),
            "time": {
                "session_id": draw(texts),
                "sequence": draw(numbers),
                "relative_time_minutes": draw(numbers),
                **draw(extras),
            },
            "space": {
                "project": draw(texts),
                "domain": draw(texts),
                "file_context": draw(names),
                "depth_index": draw(numbers),
                **draw(extras),
            },
            "agent": {
                "persona_id": draw(texts),
                "persona_name": draw(texts),
                "role": draw(texts),
                "backend": draw(texts),
            },
            "emotion": {
                "affect_amplitude": draw(shares),
                "sentiment_score": draw(st.one_of(shares, st.floats(-1, 1))),
                "confidence": draw(shares),
                "keywords": draw(names),
                **draw(extras),
            },
            "content": {
                "type": draw(
                    st.one_of(st.sampled_from(("user_input", "persona_response", "system_event", *KINDS)), texts)
                ),
                "prompt_digest": draw(texts),
                "response_full": draw(st.one_of(visible, long)),
                "response_summary": draw(st.one_of(st.none(), texts)),
                "token_count": draw(numbers),
            },
            "metadata": {
                "importance": draw(st.one_of(st.none(), shares)),
                "tags": draw(names),
                "user_rating": draw(st.one_of(st.none(), st.integers(1, 5))),
                "phase_injection_applied": draw(st.booleans()),
                "error_occurred": draw(st.booleans()),
                "bqi_snapshot": draw(st.one_of(st.none(), extras)),
                **draw(extras),
            },
            "relations": {
                "parent_memory_id": draw(st.one_of(st.none(), texts)),
                "child_memory_ids": draw(names),
                "related_memory_ids": draw(names),
            },
            **draw(extras),
        }
    )


details = st.dictionaries(
    st.sampled_from(
        ("sequence", "user_rating", "memory_id", "content_type", "full_text", "response_full", "coordinate", "project",
         "file_context", "error_occurred", "bqi_snapshot", "parent_memory_id", "mood", "")
    ),
    st.one_of(
        json,
        st.sampled_from((0, 0.0, False, "", [], ["a"], {"timestamp": "x"}, {"metadata": {"importance": 0.2}})),
    ),
    max_size=4,
)  # fmt: skip


@st.composite
def records(draw) -> Memory:
    """Any record a stream may hold, and some that none would."""
    created = draw(moments)
    return Memory(
        id=draw(st.integers(1, 10**9)),
        agent=draw(texts),
        kind=draw(st.sampled_from(KINDS)),
        text=draw(st.one_of(visible, long, st.just(""))),
        created_at=created,
        accessed_at=draw(st.one_of(st.just(created), moments)),
        tick=draw(st.integers(0, 9)),
        importance=draw(st.one_of(st.integers(1, 10).map(float), st.floats(1, 10), st.integers(1, 10))),
        citations=tuple(draw(st.lists(st.integers(1, 99), max_size=2))),
        place=tuple(draw(names)),
        emotion=draw(
            st.one_of(
                st.none(),
                st.just(Emotion(0.0, 0.0, 0.0)),
                st.builds(Emotion, st.floats(-1, 1), shares, shares, names.map(tuple)),
            )
        ),
        source=draw(texts),
        session=draw(texts),
        tags=tuple(draw(names)),
        event=draw(texts),
        details=draw(details),
    )
