import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tellapart.kernels.fastsum import BoxExpansion, BoxGrid, BoxMoments

RNG = np.random.default_rng(0)
COLUMNS = {
    "normal": (RNG.normal(size=500), RNG.normal(0.5, 1, size=300)),
    "uniform": (RNG.uniform(-3, 3, size=400), RNG.uniform(size=400)),
    "cauchy": (RNG.standard_cauchy(500), RNG.standard_cauchy(700)),
    "cubed cauchy": (RNG.standard_cauchy(500) ** 3, RNG.standard_cauchy(500) ** 5),
    "outliers": (
        np.r_[RNG.normal(size=50), 1e6, 1e6 + 0.3, 1e15, -1e18, 1e300],
        np.r_[RNG.normal(size=50), 1e6 - 0.4, 1e15 + 0.5, -1e18, -1e300],
    ),
    "offset": (1e12 + RNG.normal(size=100), 1e12 + RNG.normal(size=120)),
    "ties": (RNG.integers(0, 3, 60) / 2, RNG.integers(0, 4, 70) / 2),
    "integers": (RNG.poisson(20, 60).astype(float), RNG.poisson(25, 70).astype(float)),
    "far groups": (RNG.integers(0, 9, 90) * 1e5 + RNG.normal(size=90), RNG.normal(size=90)),
    "tiny": (np.array([0.0, 1.0]), np.array([0.5, 0.5])),
    "constant": (np.full(5, 7.0), np.full(3, 7.0)),
}


def gram(u, v, tau):
    with np.errstate(over="ignore"):
        return np.exp(-0.5 * np.square(np.subtract.outer(u, v) / tau))


def expansion(x, y, tau):
    grid = BoxGrid(tau)
    return BoxExpansion(BoxMoments.of(grid, x), BoxMoments.of(grid, y))


@pytest.mark.parametrize("tau", [1.0, 0.51, 1.37, 1.999])
@pytest.mark.parametrize("name", COLUMNS)
def test_sums_equal_the_dense_ones(name, tau):
    x, y = COLUMNS[name]
    sums = expansion(x, y, tau)
    kxx, kyy, kxy = gram(x, x, tau), gram(y, y, tau), gram(x, y, tau)
    assert sums.mean_xx == pytest.approx(kxx.mean(), abs=1e-13)
    assert sums.mean_yy == pytest.approx(kyy.mean(), abs=1e-13)
    assert sums.mean_xy == pytest.approx(kxy.mean(), abs=1e-13)
    np.testing.assert_allclose(sums.witness(x), kxx.mean(1) - kxy.mean(1), rtol=0, atol=1e-13)
    np.testing.assert_allclose(sums.witness(y), kxy.mean(0) - kyy.mean(1), rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", COLUMNS)
def test_witness_where_there_is_no_data(name):
    x, y = COLUMNS[name]
    points = np.r_[np.linspace(-20, 20, 301), x.mean(), x[0] + 3.0, 1e6 + 5, 1e15 + 4, -1e307]
    expected = gram(x, points, 1.0).mean(0) - gram(y, points, 1.0).mean(0)
    np.testing.assert_allclose(expansion(x, y, 1.0).witness(points), expected, rtol=0, atol=1e-13)


def test_witness_far_beyond_any_box_and_at_nan():
    sums = expansion(np.array([0.0, 1e-6]), np.array([1e-6, 2e-6]), 1e-6)
    result = sums.witness(np.array([1e308, -1e308, np.inf, np.nan, 50.0]))
    np.testing.assert_array_equal(result, [0.0, 0.0, 0.0, np.nan, 0.0])
    assert sums.witness(np.empty(0)).shape == (0,)


@given(
    arrays(float, st.integers(1, 12), elements=st.floats(-1e7, 1e7)),
    arrays(float, st.integers(1, 12), elements=st.floats(-30, 30)),
    st.floats(1e-3, 1e3),
)
def test_sums_equal_the_dense_ones_on_any_values(x, y, tau):
    expected = gram(x, x, tau).mean(1) - gram(x, y, tau).mean(1)
    np.testing.assert_allclose(expansion(x, y, tau).witness(x), expected, rtol=0, atol=1e-13)


def test_small_sums_keep_their_digits():
    sums = expansion(np.zeros(3), np.full(2, 1e9), 1.0)
    points = np.linspace(0, 4, 50)
    np.testing.assert_allclose(sums.witness(points), np.exp(-(points**2) / 2), rtol=1e-10)


@pytest.mark.parametrize("name", ["normal", "cubed cauchy", "outliers"])
def test_moments_of_chunks_add_up(name):
    x, y = COLUMNS[name]
    grid = BoxGrid(0.8)
    whole = BoxMoments.of(grid, x)
    parts = [BoxMoments.of(grid, chunk) for chunk in np.array_split(x, 7)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    assert merged.count == x.shape[0]
    np.testing.assert_array_equal(merged.boxes, whole.boxes)
    np.testing.assert_allclose(merged.powers, whole.powers, rtol=0, atol=1e-12)
    other = BoxMoments.of(grid, y)
    np.testing.assert_allclose(
        BoxExpansion(merged, other).witness(x), BoxExpansion(whole, other).witness(x), atol=1e-14
    )


def test_a_power_of_two_width_suits_every_bandwidth():
    for tau in np.geomspace(1e-290, 1e290, 97):
        ratio = BoxGrid(tau).width / tau
        assert 0.25 < ratio <= 0.5
