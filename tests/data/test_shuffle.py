"""The shuffle is a bijection that depends on seed and sample, and looks random."""

import numpy as np
import pytest
from scipy import stats

from tellapart.data.row_draws import shuffled


@pytest.mark.parametrize(
    "n", [1, 2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 63, 64, 65, 100, 1000, 12_345, 10**6]
)
def test_every_place_is_taken_once(n):
    for seed in range(3):
        places = shuffled(seed, 0, n, 0, n)
        assert np.array_equal(np.sort(places), np.arange(n))


def test_all_small_sizes():
    for n in range(1, 300):
        assert np.unique(shuffled(5, 1, n, 0, n)).size == n


def test_chunks_of_rows_get_the_same_places():
    whole = shuffled(3, 1, 1001, 0, 1001)
    parts = [shuffled(3, 1, 1001, first, min(77, 1001 - first)) for first in range(0, 1001, 77)]
    assert np.array_equal(np.concatenate(parts), whole)


def test_seeds_and_samples_give_other_orders():
    orders = [shuffled(seed, sample, 1000, 0, 1000) for seed in (0, 1, 2**70) for sample in (0, 1)]
    agree = [np.mean(a == b) for i, a in enumerate(orders) for b in orders[:i]]
    assert max(agree) < 0.02


def test_places_of_neighbours_are_unrelated():
    places = shuffled(0, 0, 100_000, 0, 100_000).astype(float)
    for lag in (1, 2, 16, 316, 317):
        assert abs(np.corrcoef(places[lag:], places[:-lag])[0, 1]) < 0.02
    table = np.histogram2d(np.arange(100_000), places, bins=20)[0]
    assert stats.chisquare(table.ravel()).pvalue > 1e-4


def test_every_order_of_three_rows_occurs():
    orders = np.array([shuffled(seed, 0, 3, 0, 3) for seed in range(3000)])
    codes, counts = np.unique(orders @ (9, 3, 1), return_counts=True)
    assert codes.size == 6
    assert counts.min() > 300
