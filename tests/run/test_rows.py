from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.canon import canonical
from commonplace.run.rows import (
    deflated,
    inflated,
    is_trace,
    packed_ids,
    packed_trace,
    packed_vector,
    unpacked_ids,
    unpacked_trace,
    unpacked_vector,
)
from sizes import examples

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner)
    ),
)


@given(JSON | st.floats(allow_nan=False, allow_infinity=False))
def test_canonical_bytes_are_those_of_the_standard_library(value: object) -> None:
    expected = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert canonical(value) == expected.encode()


@pytest.mark.parametrize(
    ("value", "error"), [(float("nan"), ValueError), ([float("inf")], ValueError), ({"a": object()}, TypeError)]
)
def test_what_json_cannot_hold_has_no_canonical_bytes(value: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        canonical(value)


@given(st.sets(st.integers(1, 2**40)))
def test_ids_round_trip(ids: set[int]) -> None:
    assert unpacked_ids(packed_ids(ids)) == tuple(sorted(ids))


@given(st.integers(1, 800), st.integers(0, 2**32 - 1))
def test_vectors_round_trip(dimensions: int, seed: int) -> None:
    raw = np.random.default_rng(seed).normal(0, 200, dimensions).astype("<i2").tobytes()
    assert unpacked_vector(packed_vector(raw)) == raw


@given(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 200, 4095, 4096, 4097, 20_000]))
def test_bytes_round_trip_at_every_size(seed: int, size: int) -> None:
    """Small ones are compressed with a small window."""
    data = np.random.default_rng(seed).integers(97, 101, size, dtype=np.uint8).tobytes()
    assert inflated(deflated(data)) == data


@examples(40)
@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON))
def test_traces_round_trip(trace: dict[str, object]) -> None:
    packed = packed_trace(trace)
    assert unpacked_trace(packed) == trace
    assert is_trace(packed, packed)
    assert is_trace(deflated(canonical(trace)), packed)
    assert not is_trace(packed, packed_trace({"another": trace}))


def test_what_was_not_packed_is_an_error_one_can_catch() -> None:
    for wrong in (b"", b"\x05", b"nonsense" * 20, packed_trace({}) + b"\x00", packed_trace({})[:-1]):
        with pytest.raises(ValueError):
            unpacked_trace(wrong)
    with pytest.raises(ValueError):
        unpacked_vector(b"\x05\x00abcde\xff\xff")
