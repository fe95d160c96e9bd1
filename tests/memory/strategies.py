"""Random streams for property tests: few words, few moments and few ratings, so that ties are common."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from commonplace.memory import Analyser, Draft, Memory, MemoryStream
from commonplace.memory.blend import subject
from memory.naive import WORDS, CountingEmbedder, NaiveStream, Question, Row, hours

ANALYSER = Analyser("en")

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join)
SPEAKERS = ("Klaus", "Maria", "민수")
spoken = st.tuples(
    st.sampled_from(("", *(f"{name}: " for name in SPEAKERS))), texts, st.sampled_from(("", "", "?", " idle"))
).map("".join)
"""What a dialogue is made of: who says it, what, and whether it is asked."""
questions = st.one_of(
    st.tuples(st.sampled_from(("What did Klaus", "who is at the", "festivall Librari", "민수", "")), texts).map(
        " ".join
    ),
    st.sampled_from(("", "nothing known", "?!")),
)
queries = st.one_of(texts, st.sampled_from(("", "  ", "nothing known", "?!")))
moments = st.one_of(st.integers(0, 30).map(float), st.floats(0, 20_000).map(lambda value: round(value, 2)))
importances = st.one_of(st.integers(1, 10).map(float), st.floats(1, 10))
vectors = st.one_of(
    st.none(),
    st.lists(st.integers(-3, 3), min_size=3, max_size=3),
    st.sampled_from(([1.0, math.nan, 0.0], [math.inf, 0.0, 0.0], [1.0, 2.0], [0.0, 0.0, 0.0])),
)
entries = st.tuples(texts, moments, importances, vectors)
close_moments = st.one_of(st.integers(0, 12).map(lambda quarter: quarter / 4), st.sampled_from((8.0, 9.5, 11.0)))
dialogues = st.lists(st.tuples(spoken, close_moments, importances, vectors), max_size=14)


def stream_of(policy, drawn=()) -> tuple[MemoryStream, NaiveStream]:
    """The same memories in a stream and in the plain model."""
    stream = MemoryStream("maria", policy, embedder=CountingEmbedder(), analyser=ANALYSER, rater=lambda _: 3)
    model = NaiveStream()
    for entry in drawn:
        remember(stream, model, entry)
    return stream, model


def put(writer, entry) -> Memory:
    """One of `entries` in a stream or draft. A stream refuses vectors that only an embedder, or a mind's answer in a
    draft, may bring."""
    text, at, importance, vector = entry
    bad = vector is not None and (len(vector) != CountingEmbedder.dimensions or not all(map(math.isfinite, vector)))
    through = Draft(writer) if bad and isinstance(writer, MemoryStream) else writer
    memory = through.remember(text, at=hours(at), importance=importance, embedding=vector)
    if through is not writer:
        writer.apply(through.delta)
    return memory


def remember(writer, model: NaiveStream, entry) -> None:
    memory = put(writer, entry)
    text, at, importance, vector = entry
    if vector is None:
        vector = embedded(text)
    tokens = ANALYSER.document(text, hours(at))
    row = Row(memory.id, text, hours(at), hours(at), importance, vector, tokens, subject=subject(memory))
    model.rows.append(row)


def embedded(text: str) -> list[float] | None:
    vector = CountingEmbedder().embed([text])[0]
    return None if vector is None else vector.tolist()


def asked(query: str) -> Question:
    """What the plain model needs to know of a query."""
    return Question(query, embedded(query), ANALYSER.query(query))


def shown(hits) -> list[tuple[int, float]]:
    return [(hit.memory.id, hit.score) for hit in hits]
