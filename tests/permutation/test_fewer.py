"""Sums over the bins of the rarer label are those of a product with the labels."""

import numpy as np
import pytest

from tellapart.permutation.keyed_bins import Fewer, draw_keyed_bins
from tellapart.scan.sums import Halves


@pytest.mark.parametrize(("n_x", "n_y"), [(7, 60), (60, 7), (3, 9), (40, 200)])
def test_sums_are_those_of_the_labels(n_x, n_y):
    rng = np.random.default_rng(0)
    bins = draw_keyed_bins(n_x, n_y, 50, rng)
    assert bins.fewer is not None
    assert bins.fewer.of_x == (n_x < n_y)
    x, y = (rng.normal(size=(n + 1, 300)).astype(np.float32) for n in (n_x, n_y))
    pooled = np.concatenate([x[:-1], y[:-1]]).astype(np.float64)[bins.order]
    expected = bins.labels.astype(np.float64) @ pooled + x[-1]
    halves = Halves(x, y)
    np.testing.assert_allclose(halves.of_x(bins), expected, atol=1e-4)
    some = halves.summing(bins, slice(5, 290))(slice(10, 30))
    np.testing.assert_array_equal(some, halves.of_x(bins)[10:30, 5:290])


def test_labels_of_like_number_are_multiplied():
    rng = np.random.default_rng(0)
    assert draw_keyed_bins(30, 40, 50, rng).fewer is None
    assert Fewer.of(np.empty((0, 5), dtype=np.float32)) is None
