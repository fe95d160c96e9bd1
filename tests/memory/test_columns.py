"""Recency from tables is what the power function gives, and does not depend on the reference it is kept at."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.memory.columns import RecencyColumn, micros, moment
from sizes import examples

HOUR = 3_600_000_000
NOW = micros(datetime(2031, 10, 4, tzinfo=UTC))
moments = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31), timezones=st.just(UTC))  # noqa: DTZ001


@given(moments)
def test_moments_come_back_from_microseconds(at):
    assert moment(micros(at)) == at


@examples(150)
@given(
    ages=st.lists(st.integers(-HOUR, 4_000 * HOUR), min_size=1, max_size=8),
    rate=st.sampled_from((0.995, 0.99, 0.5, 1.0, 0.959)),
)
def test_a_recency_is_the_rate_to_the_power_of_the_hours(ages, rate):
    column = RecencyColumn(rate)
    values = column.values(np.array([NOW - age for age in ages])) * column.scale(NOW)
    assert values.tolist() == pytest.approx([rate ** (age / HOUR) for age in ages], rel=1e-12, abs=1e-100)


@examples(100)
@given(
    first=st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=6),
    more=st.lists(st.integers(-(10**6), 10**6), max_size=6),
    touches=st.lists(st.tuples(st.integers(0, 11), st.integers(-(10**6), 10**6)), max_size=6),
)
def test_min_max_is_the_same_to_the_bit_whatever_came_before(first, more, touches):
    accessed = np.array([NOW + hour * HOUR for hour in [*first, *more]])
    column = RecencyColumn(0.995)
    column.values(accessed[: len(first)])
    for row, hour in touches:
        if row < len(accessed):
            accessed[row] = NOW + hour * HOUR
            column.touch(np.array([row]), int(accessed[row]))
            column.values(accessed[: len(first)])
    assert minmax(column.values(accessed)) == minmax(RecencyColumn(0.995).values(accessed))


def minmax(values):
    low, high = values.min(), values.max()
    return None if low == high else np.rint((values - low) / ((high - low) * 2.0**-30)).tolist()
