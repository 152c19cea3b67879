"""Sums over the bins of a label are those of a product with the labels."""

import numpy as np
import pytest

from tellapart.permutation.label_sums import LabelCodes, MinorityBins
from tellapart.permutation.labels import TwoSampleSums, draw_bins

RARE = [(7, 60), (60, 7), (3, 9), (40, 200)]
ALIKE = [(2, 3), (8, 8), (30, 40), (70, 60), (100, 101)]


@pytest.mark.parametrize(("n_x", "n_y"), RARE + ALIKE)
def test_sums_are_those_of_the_labels(n_x, n_y):
    rng = np.random.default_rng(0)
    bins = draw_bins(n_x, n_y, 50, rng)
    assert (bins.minority is not None) == ((n_x, n_y) in RARE)
    if bins.minority is not None:
        assert bins.minority.of_x == (n_x < n_y)
    x, y = (rng.normal(size=(n + 1, 300)).astype(np.float32) for n in (n_x, n_y))
    pooled = np.concatenate([x[:-1], y[:-1]]).astype(np.float64)[bins.order]
    expected = bins.labels.astype(np.float64) @ pooled + x[-1]
    sums = TwoSampleSums(x, y)
    np.testing.assert_allclose(bins.sums_over_x(sums)(slice(None)), expected, atol=1e-4)
    some = bins.sums_over_x(sums, slice(5, 290))(slice(1, 9))
    np.testing.assert_array_equal(some, bins.sums_over_x(sums)(slice(None))[1:9, 5:290])


def test_without_permutations_no_label_is_rare():
    assert MinorityBins.of(np.empty((0, 5), dtype=np.float32)) is None


@pytest.mark.parametrize("n_features", [0, 1, 255, 256, 257, 600])
def test_whole_numbers_are_summed_exactly(n_features):
    rng = np.random.default_rng(1)
    labels = rng.integers(2, size=(130, 37)).astype(np.float32)
    features = rng.integers(-1_000, 1_000, size=(37, n_features)).astype(np.float32)
    sums = LabelCodes.of(labels).sums(features, slice(None))
    np.testing.assert_array_equal(sums, labels @ features)
