"""Lattice vectors are kept in two bytes a number, others in four, and nobody can tell."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory import lattice
from commonplace.memory.embedding import LATTICE_NORM, VectorRows, norm_of
from commonplace.memory.sayings import Sayings, by_block, by_row
from sizes import examples

seeds = st.integers(0, 2**32 - 1)
ways = st.sampled_from((by_row, by_block))
sizes = st.tuples(st.integers(1, 70), st.sampled_from((1, 7, 16, 384)))


def drawn(seed: int, count: int, dimensions: int) -> np.ndarray:
    """Vectors with a direction."""
    return np.random.default_rng(seed).normal(size=(count, dimensions)) + 0.01


def filled(vectors, *, at_once: bool) -> Sayings:
    sayings = Sayings(vectors[0].shape[0])
    texts = [str(number) for number in range(len(vectors))]
    if at_once:
        sayings.extend(texts, vectors)
    else:
        for text, vector in zip(texts, vectors, strict=True):
            sayings.add(text, vector)
    return sayings


def compared(sayings: Sayings, question: np.ndarray) -> tuple[bytes, bytes]:
    """(the products, the cosines in units) with a question."""
    norm, count = norm_of(question), len(sayings)
    products = sayings.products(question, norm).copy()
    cosines = np.empty(count)
    sayings.cosines(products, norm, None, cosines)
    return products.tobytes(), cosines.tobytes()


@examples(100)
@given(size=sizes, seed=seeds, whole=st.booleans(), way=ways)
def test_two_bytes_a_number_give_the_same_products_and_cosines_as_four(size, seed, whole, way):
    vectors = [lattice(row) for row in drawn(seed, *size)]
    [asked] = drawn(seed + 1, 1, size[1])
    question = lattice(asked) if whole else asked.astype(np.float32)
    wide = filled(vectors, at_once=True)
    with patch("commonplace.memory.sayings._FEW", 0):
        narrow = filled(vectors, at_once=True)
    assert (narrow.vectors.dtype, wide.vectors.dtype) == (np.int16, np.float32)
    with patch.multiple("commonplace.memory.sayings", _BLOCK=16 * size[1], _SHARED=8, exact=way):
        assert compared(narrow, question) == compared(wide, question)


def test_streams_of_some_size_and_long_ones_are_kept_as_differently_as_their_length_asks():
    vectors = [lattice(row) for row in drawn(1, 40, 8)]
    with patch.multiple("commonplace.memory.sayings", _FEW=8, _SHARED=16, _MANY=32):
        found = []
        for count in (8, 16, 32, 40):
            sayings = filled(vectors[:count], at_once=True)
            found.append(sayings.vectors.dtype)
            read = [sayings.vector(number).tolist() for number in range(count)]
            assert read == [row.tolist() for row in vectors[:count]]
    assert found == [np.float32, np.int16, np.float32, np.int16]


@examples(100)
@given(
    sorts=st.lists(st.sampled_from(("lattice", "zero", "fractions", "too long")), min_size=1, max_size=12),
    seed=seeds,
    at_once=st.booleans(),
    sizes=st.lists(st.integers(0, 12), min_size=3, max_size=3).map(sorted),
)
def test_vectors_of_any_sort_are_read_back_as_they_were(sorts, seed, at_once, sizes):
    made = {
        "lattice": lattice,
        "zero": np.zeros_like,
        "fractions": lambda row: row,
        "too long": lambda row: np.rint(row / np.linalg.norm(row) * (LATTICE_NORM + 10)),
    }
    rows = zip(sorts, drawn(seed, len(sorts), 8), strict=True)
    vectors = [made[sort](row).astype(np.float32) for sort, row in rows]
    with patch.multiple("commonplace.memory.sayings", **dict(zip(("_FEW", "_SHARED", "_MANY"), sizes, strict=True))):
        sayings = filled(vectors, at_once=at_once)
    if not {"lattice", "zero"}.issuperset(sorts):
        assert sayings.vectors.dtype == np.float32
    for number, vector in enumerate(vectors):
        found = sayings.vector(number)
        assert found.dtype == np.float32
        assert np.array_equal(found, vector)
        assert sayings.add(str(number), vector) == number
    question = lattice(np.ones(8))
    assert compared(sayings, question)[0] == np.vecdot(np.array(vectors), question).tobytes()


def test_after_one_vector_that_is_not_on_the_lattice_all_are_kept_as_they_are_however_many_follow():
    vectors = [row.astype(np.float32) for row in drawn(1, 40, 8)]
    with patch("commonplace.memory.sayings._FEW", 4):
        sayings = filled(vectors, at_once=False)
    assert [sayings.vector(number).tolist() for number in range(40)] == [vector.tolist() for vector in vectors]


@pytest.mark.parametrize("longest", [1, LATTICE_NORM + 1])
def test_what_a_store_holds_in_two_bytes_is_not_always_on_the_lattice(longest):
    stored = VectorRows(np.array([[longest, 0]], dtype=np.int16), np.array([True]))
    sayings = Sayings(2)
    with patch("commonplace.memory.sayings._FEW", 0):
        sayings.extend(["far"], stored)
    assert sayings.vectors.dtype == (np.int16 if longest == 1 else np.float32)
    assert sayings.vector(0).tolist() == [longest, 0]
