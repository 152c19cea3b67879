"""Forms of all permutations: features, whole sums and bands say the same."""

import numpy as np
import pytest

from tellapart.budget import Budget, using_budget
from tellapart.data.design import Design
from tellapart.data.samples import Samples
from tellapart.permutation.forms import (
    Forms,
    mmd2_of_columns,
    permute_rows,
    permute_samples,
)


@pytest.mark.parametrize("sizes", [(30, 40), (1_010, 700), (9, 300), (300, 9)])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("cost", [0, 20, 10**9])
def test_every_way_to_add_the_same_sums_agrees(sizes, n_jobs, cost):
    rng = np.random.default_rng(0)
    bins = permute_rows(*sizes, 49, rng)
    features, weights = rng.normal(size=(bins.n_groups, 5)), rng.normal(size=5)
    sums = (features * weights) @ features.T
    expected = Forms(bins, n_jobs)
    expected.add_features(features, weights)
    whole = Forms(bins, n_jobs, cost)
    whole.add_sums(sums)
    banded = Forms(bins, n_jobs)
    middle = bins.n_groups // 3
    banded.add_band(0, sums[:middle])
    banded.add_band(middle, sums[middle:, middle:])
    for found in (whole, banded):
        found.leave_out_diagonal(np.diag(sums))
        np.testing.assert_allclose(found.mmd2(), _mmd2(bins, sums), rtol=1e-9, atol=1e-12)
    expected.leave_out_diagonal(np.diag(sums))
    np.testing.assert_allclose(expected.mmd2(), _mmd2(bins, sums), rtol=1e-9, atol=1e-12)


def _mmd2(bins, sums):
    sums = sums - np.diag(np.diag(sums))
    m, n = bins.n_x, bins.n_y
    x = np.concatenate([labels for _, labels in bins.blocks()])
    y = 1 - x
    within = [np.einsum("ij,ij->i", side @ sums, side) for side in (x, y)]
    across = np.einsum("ij,ij->i", x @ sums, y)
    return within[0] / (m * (m - 1)) + within[1] / (n * (n - 1)) - 2 * across / (m * n)


@pytest.mark.parametrize("sizes", [(30, 40), (1_010, 700), (9, 300)])
def test_columns_together_are_columns_one_by_one(sizes):
    rng = np.random.default_rng(0)
    bins = permute_rows(*sizes, 49, rng)
    features = [rng.normal(size=(bins.n_groups, width)) for width in (3, 1, 4)]
    found = mmd2_of_columns(features, bins)
    for own, row in zip(features, found, strict=True):
        forms_of_one = Forms(bins)
        forms_of_one.add_features(own, np.ones(own.shape[1]))
        forms_of_one.leave_out_diagonal(bins.rows.astype(float))
        np.testing.assert_allclose(row, forms_of_one.mmd2(), rtol=1e-9, atol=1e-12)


def test_units_that_keep_their_labels_count_in_mmd2():
    """It is (mean_x − mean_y)² less the pairs of rows with themselves, of one block."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=66)
    labels = (np.zeros(6, dtype=int), np.zeros(60, dtype=int))
    design = Design(labels, (np.arange(6), np.arange(60)), strata="")
    samples = Samples(values[:6, None], values[6:, None], ("v",), ("numeric",), design=design)
    with using_budget(Budget(permuted_units=30)):
        bins = permute_samples(samples, 50, rng)
    assert bins.n_groups <= 30
    assert not bins.units.moved.all()
    designed = bins.forms()
    designed.add_features(bins.sums(values[:, np.newaxis]), np.ones(1))
    designed.leave_out_diagonal(bins.sums(values**2))
    for found, groups in zip(designed.mmd2(), bins.labels(slice(None)), strict=True):
        of_x = bins.of_rows(groups[np.newaxis])[0] > 0
        assert of_x.sum() == 6
        weights = np.where(of_x, 1 / 6, -1 / 60)
        assert found == pytest.approx((weights @ values) ** 2 - weights**2 @ values**2)
