"""Ranks within samples by one order of all rows are those that each sample's own order gives."""

import numpy as np
import pytest

from tellapart.evidence.dependence import mid_ranks
from tellapart.evidence.evidence import _share_off_median
from tellapart.evidence.shared_scores import PooledRanks


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_x", [1, 20, 57])
def test_ranks_and_medians_are_those_of_the_samples(n_x, n_jobs):
    rng = np.random.default_rng(n_x)
    values = rng.normal(size=(60, 130))
    values[:, ::3] = rng.poisson(0.4, size=(60, 44))
    values[:, 1] = -values[:, 0]
    columns = np.arange(5, 135)
    order = rng.permutation(60)
    asked = np.array([5, 6, 8, 70, 134])
    found = PooledRanks(values, columns, n_jobs).within(asked, order, n_x)
    samples = values[order[:n_x]][:, asked - 5], values[order[n_x:]][:, asked - 5]
    for own, ranks, off_median in zip(samples, (found.x, found.y), found.off_median, strict=True):
        np.testing.assert_array_equal(ranks, mid_ranks(own))
        np.testing.assert_allclose(off_median, _share_off_median(own))
