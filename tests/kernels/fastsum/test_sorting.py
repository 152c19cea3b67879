import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tellapart.kernels.fastsum import LevelCounts, SortedExpansion


def gram(u, v, tau):
    return np.exp(-np.abs(np.subtract.outer(u, v)) / tau)


def check(x, y, tau, points):
    sums = SortedExpansion(LevelCounts.of(x), LevelCounts.of(y), tau)
    assert sums.mean_xx == pytest.approx(gram(x, x, tau).mean(), abs=1e-13)
    assert sums.mean_yy == pytest.approx(gram(y, y, tau).mean(), abs=1e-13)
    assert sums.mean_xy == pytest.approx(gram(x, y, tau).mean(), abs=1e-13)
    expected = gram(x, points, tau).mean(0) - gram(y, points, tau).mean(0)
    np.testing.assert_allclose(sums.witness(points), expected, rtol=0, atol=1e-13)


@given(
    arrays(float, st.integers(1, 12), elements=st.floats(-1e3, 1e3)),
    arrays(float, st.integers(1, 12), elements=st.integers(-5, 5).map(float)),
    st.floats(1e-2, 1e2),
)
def test_sums_equal_the_dense_ones(x, y, tau):
    check(x, y, tau, np.r_[x, y, x[0] + 1e-3, -2e3, 2e3, 0.0])


def test_heavy_tails_and_many_rows():
    rng = np.random.default_rng(0)
    x, y = rng.standard_cauchy(900) ** 3, np.r_[rng.standard_cauchy(700), 1e6, 1e15, -1e300]
    check(x, y, 0.7, np.r_[x, y, np.linspace(-9, 9, 50)])
