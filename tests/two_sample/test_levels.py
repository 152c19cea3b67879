"""The promise of a p-value: under H₀ it is at most α with probability at most α."""

import numpy as np
import pytest
from scipy import stats

import tellapart as ta

ALPHA = 0.05
ROWS = (24, 24)


def gaussian(rng):
    return rng.normal(size=(sum(ROWS), 5)), ROWS


def heavy_tailed(rng):
    return rng.standard_cauchy(size=(sum(ROWS), 5)), ROWS


def discrete(rng):
    """Counts, flags and rare flags: ties everywhere, columns that happen to be constant."""
    counts = rng.poisson(0.7, size=(sum(ROWS), 3))
    flags = rng.random((sum(ROWS), 2)) < [0.5, 0.06]
    return np.column_stack([counts, flags]).astype(float), ROWS


def unequal(rng):
    return rng.normal(size=(72, 5)), (60, 12)


def rejections(draw, runs, seed, **settings):
    rng = np.random.default_rng(seed)
    count = 0
    for _ in range(runs):
        pooled, (m, _) = draw(rng)
        result = ta.two_sample_test(
            pooled[:m],
            pooled[m:],
            method="split",
            n_permutations=99,
            alpha=ALPHA,
            random_state=rng,
            **settings,
        )
        count += result.reject
    return count


@pytest.mark.parametrize("runs", [80, pytest.param(500, marks=pytest.mark.long)])
@pytest.mark.filterwarnings("ignore::tellapart.errors.ConstantColumnWarning")
@pytest.mark.parametrize("draw", [gaussian, heavy_tailed, discrete, unequal])
def test_level_of_nulls(draw, runs):
    count = rejections(draw, runs, seed=1, n_variables=2, regularization=0.1)
    low, high = stats.binom.ppf([0.0005, 0.9995], runs, ALPHA)
    assert min(low, 1) <= count <= high


@pytest.mark.long
def test_level_with_everything_tuned():
    count = rejections(gaussian, 100, seed=2)
    assert count <= stats.binom.ppf(0.9995, 100, ALPHA)
