"""Vectors that are the same everywhere, and near where texts are."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import UsageError
from commonplace.memory import HashedEmbedder, lattice, packed, unpacked
from commonplace.memory.embedding import LATTICE_NORM
from sizes import examples

sentences = st.text(st.sampled_from("abc demnorst 가나다민수 '1"), min_size=1, max_size=60)


@examples(60)
@given(left=sentences, right=sentences, seed=st.integers(0, 2**32 - 1))
def test_dot_products_are_exact_in_any_order(left, right, seed):
    a, b = HashedEmbedder().embed([left, right])
    if a is None or b is None:
        return
    exact = int(a.astype(np.int64) @ b.astype(np.int64))
    order = np.argsort(np.frombuffer(blake2b(str(seed).encode(), digest_size=48).digest() * 8, dtype=np.uint8))
    running = np.float32(0)
    for product in (a * b)[order]:
        running += product
    assert int(running) == int(np.dot(a, b)) == int(np.vecdot(a, b)) == int((a * b).sum()) == exact


@examples(60)
@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=500))
def test_a_lattice_vector_is_whole_and_within_the_norm(values):
    vector = lattice(values)
    if vector is None:
        assert not np.square(np.array(values)).sum() > 0
        return
    assert np.array_equal(vector, np.rint(vector))
    assert int((vector.astype(np.int64) ** 2).sum()) <= LATTICE_NORM**2
    assert np.array_equal(unpacked(packed(vector)), vector)


def test_the_lattice_moves_the_cosine_by_about_1e_4():
    rows = np.stack([np.sin(np.arange(384) * (k + 1.0)) + k % 3 for k in range(40)])
    exact = rows @ rows.T / np.linalg.norm(rows, axis=1) / np.linalg.norm(rows, axis=1)[:, None]
    whole = np.stack([lattice(row) for row in rows]).astype(np.float64)
    near = whole @ whole.T / np.linalg.norm(whole, axis=1) / np.linalg.norm(whole, axis=1)[:, None]
    assert np.abs(exact - near).mean() < 1e-4
    assert np.abs(exact - near).max() < 1e-3


@pytest.mark.parametrize("values", [[0.0, 0.0], [np.nan, 1.0], [np.inf, 1.0]])
def test_a_vector_without_a_direction_has_no_place_on_the_lattice(values):
    assert lattice(values) is None


def test_packing_refuses_what_it_cannot_hold():
    with pytest.raises(UsageError, match="lattice"):
        packed(np.array([0.5, 1.0], dtype=np.float32))


def test_the_vectors_of_this_version_are_these():
    vectors = HashedEmbedder().embed(["Klaus is reading a book", "민수는 카페에서 커피를 마신다", "축제 festival 2031"])
    digests = [blake2b(packed(vector), digest_size=8).hexdigest() for vector in vectors]
    assert (HashedEmbedder.name, digests) == ("hashed-384-v2", GOLDEN)


GOLDEN = ["c49cb28affda71f3", "dccc614b20dce26e", "0a359790dc28bdb3"]


def cosine(left: str, right: str) -> float:
    a, b = (vector.astype(np.float64) for vector in HashedEmbedder().embed([left, right]))
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("민수는 카페에서 커피를 마신다", "민수가 카페에서 커피를 마셨다"),
        ("회의실 예약은 어떻게 하나요", "회의실예약은 어떻게하나요"),
        ("내일 광장에서 축제가 열린다", "내일 광장의 축제를 연다"),
        ("Klaus is reading about gentrification", "Klaus reads on gentrification"),
        ("the lantern festival at the plaza", "Lantern festivals on the plaza"),
        ("the coffee shop", "the coffeeshop"),
    ],
)
def test_spacing_particles_and_endings_change_little(text, variant):
    unrelated = ["지하철이 갑자기 멈추었다", "어제 눈이 많이 내렸다", "The stove is burning", "a quarrel over rent"]
    assert cosine(text, variant) > 0.35
    assert max(cosine(text, other) for other in unrelated) < 0.25


@pytest.mark.parametrize("text", ["", " ", "?!…", "🙂"])
def test_a_text_without_a_word_cannot_be_embedded(text):
    assert HashedEmbedder().embed([text]) == [None]


def test_vectors_do_not_depend_on_what_was_embedded_before(monkeypatch):
    fresh = HashedEmbedder().embed(["Klaus is reading a book"])[0]
    used = HashedEmbedder()
    for number in range(5_000):
        used.embed_one(f"word{number} 민수{number}")
    assert len(used._vectors) < 5_000
    assert np.array_equal(used.embed(["Klaus is reading a book"])[0], fresh)
    used._rows = {str(number): number for number in range(32_768)}
    assert np.array_equal(used._embed("Klaus is reading a book"), fresh)


def test_a_kept_vector_cannot_be_changed_by_who_got_it():
    vector = HashedEmbedder().embed(["Klaus"])[0]
    with pytest.raises(ValueError, match="read-only"):
        vector[0] = 1
