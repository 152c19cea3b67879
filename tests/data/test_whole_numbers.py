"""Sums over chunks tell consecutive numbers from others, however they are cut and merged."""

import numpy as np
import pytest

from tellapart.data.identifiers import WholeNumbers

RNG = np.random.default_rng(0)


def consecutive(values, cuts=(10, 700)) -> bool:
    parts = np.split(np.asarray(values, dtype=np.float64), cuts)
    left, right = WholeNumbers(), WholeNumbers()
    for k, part in enumerate(parts):
        (left, right)[k % 2].add(part)
    left.merge(right)
    return left.are_consecutive(np.nanmin(values), np.nanmax(values))


RUN = RNG.permutation(1000) - 300


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (RUN, True),
        (np.concatenate([RUN, RUN]), True),
        (np.concatenate([RUN, [np.nan] * 5]), True),
        (np.concatenate([RUN, RUN, RUN]), False),
        (np.where(RUN == 7, 8, RUN), False),
        (np.concatenate([RUN, [5000]]), False),
        (RNG.integers(1000, size=1000), False),
        (RUN + 0.5, False),
        (RUN[:15], False),
        (np.arange(1000) + 2.0**60, False),
    ],
)
def test_what_counts_as_consecutive(values, expected):
    assert consecutive(values) is expected
    assert consecutive(values, ()) is expected


def test_large_numbers_wrap_around_without_harm():
    first = float(2**52)
    assert consecutive(RNG.permutation(2000) + first)
