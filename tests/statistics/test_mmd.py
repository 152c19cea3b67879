"""MMD² and its variance from Gram matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import pairs
from tellapart.errors import InputError
from tellapart.kernels import GaussianScalar
from tellapart.statistics.mmd import effective_size, mmd2, variance


def grams(m, n, seed):
    rng = np.random.default_rng(seed)
    return pairs(GaussianScalar(1.0), rng.normal(size=m), rng.normal(1, 2, size=n))


@given(st.integers(2, 7), st.integers(2, 7), st.integers(0, 99))
def test_the_formulas_term_by_term(m, n, seed):
    kxx, kyy, kxy = grams(m, n, seed)
    within_x = np.mean([kxx[i, j] for i in range(m) for j in range(m) if i != j])
    within_y = np.mean([kyy[i, j] for i in range(n) for j in range(n) if i != j])
    assert mmd2(kxx, kyy, kxy) == pytest.approx(within_x + within_y - 2 * kxy.mean(), abs=1e-14)
    p = [kxx[i].mean() - kxy[i].mean() for i in range(m)]
    q = [kyy[j].mean() - kxy[:, j].mean() for j in range(n)]
    expected = 4 * effective_size(m, n) * (np.var(p) / m + np.var(q) / n)
    assert variance(kxx, kyy, kxy) == pytest.approx(expected, abs=1e-14)
    # Swapped samples differ as much.
    assert mmd2(kyy, kxx, kxy.T) == pytest.approx(mmd2(kxx, kyy, kxy), abs=1e-14)
    assert variance(kyy, kxx, kxy.T) == pytest.approx(expected, abs=1e-14)


def test_dense_forms_are_those_of_the_paper():
    rng = np.random.default_rng(8)
    x, y = rng.normal(size=12), rng.normal(1, 1, size=12)
    kxx, kyy, kxy = pairs(GaussianScalar(1.1), x, y)
    h = kxx + kyy - kxy - kxy.T
    off_diagonal = h[~np.eye(12, dtype=bool)]
    assert mmd2(kxx, kyy, kxy, "paired") == pytest.approx(off_diagonal.mean(), abs=1e-14)
    printed = 4 / 12**3 * (h.sum(1) ** 2).sum() - 4 / 12**4 * h.sum() ** 2
    assert variance(kxx, kyy, kxy, "paired") == pytest.approx(printed, abs=1e-14)


def test_both_variances_estimate_the_same():
    # With the chance covariance of p and q taken out, the paired form equals the other.
    rng = np.random.default_rng(9)
    kxx, kyy, kxy = pairs(GaussianScalar(1.0), rng.normal(size=50), rng.normal(1, 2, size=50))
    p, q = kxx.mean(1) - kxy.mean(1), kyy.mean(1) - kxy.mean(0)
    chance = 8 * np.cov(p, q, ddof=0)[0, 1]
    assert variance(kxx, kyy, kxy) == pytest.approx(
        variance(kxx, kyy, kxy, "paired") - chance, abs=1e-14
    )


def test_samples_that_are_too_small_or_unequal_are_refused():
    for function in (mmd2, variance):
        with pytest.raises(InputError, match="at least 2 rows; got 1 and 2"):
            function(np.ones((1, 1)), np.ones((2, 2)), np.ones((1, 2)))
        with pytest.raises(InputError, match="same size; got 3 and 4 rows"):
            function(*grams(3, 4, 0), "paired")
        with pytest.raises(InputError, match="'unbiased', 'paired'"):
            function(*grams(3, 4, 0), "biased")
