"""Ranks within one sample: SciPy's, and scores that no shift or stretch can change."""

import numpy as np
import pytest
from scipy import stats

from tellapart.evidence.dependence import CopulaScores, mid_ranks


@pytest.mark.parametrize("kind", ["normal", "counts", "constant"])
def test_ranks_are_those_of_scipy(kind):
    rng = np.random.default_rng(0)
    values = {
        "normal": rng.normal(size=(301, 3)),
        "counts": rng.poisson(2.0, (300, 3)).astype(float),
        "constant": np.zeros((7, 2)),
    }[kind]
    np.testing.assert_array_equal(mid_ranks(values), stats.rankdata(values, axis=0))


def test_units_do_not_enter():
    values = np.random.default_rng(0).normal(size=(80, 2))
    one, other = CopulaScores.of(values), CopulaScores.of(np.exp(3 * values) - 5)
    for name in ("normal", "spread", "wave"):
        np.testing.assert_array_equal(one.by_name(name), other.by_name(name))
