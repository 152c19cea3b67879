"""Sums over the bins of the rarer label are those of a product with the labels."""

import numpy as np
import pytest

from tellapart.permutation.labels import MinorityBins, TwoSampleSums, draw_bins


@pytest.mark.parametrize(("n_x", "n_y"), [(7, 60), (60, 7), (3, 9), (40, 200)])
def test_sums_are_those_of_the_labels(n_x, n_y):
    rng = np.random.default_rng(0)
    bins = draw_bins(n_x, n_y, 50, rng)
    assert bins.minority is not None
    assert bins.minority.of_x == (n_x < n_y)
    x, y = (rng.normal(size=(n + 1, 300)).astype(np.float32) for n in (n_x, n_y))
    pooled = np.concatenate([x[:-1], y[:-1]]).astype(np.float64)[bins.order]
    expected = bins.labels.astype(np.float64) @ pooled + x[-1]
    sums = TwoSampleSums(x, y)
    np.testing.assert_allclose(bins.sums_over_x(sums)(slice(None)), expected, atol=1e-4)
    some = bins.sums_over_x(sums, slice(5, 290))(slice(10, 30))
    np.testing.assert_array_equal(some, bins.sums_over_x(sums)(slice(None))[10:30, 5:290])


def test_labels_of_like_number_are_multiplied():
    rng = np.random.default_rng(0)
    assert draw_bins(30, 40, 50, rng).minority is None
    assert MinorityBins.of(np.empty((0, 5), dtype=np.float32)) is None
