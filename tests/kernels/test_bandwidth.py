import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from reference import make_samples
from reference import median_distance as direct
from tellapart.budget import Budget
from tellapart.errors import InputError
from tellapart.kernels.bandwidth import median_bandwidths, median_distance


@given(
    arrays(
        float,
        st.integers(2, 40),
        elements=st.one_of(st.integers(-3, 3).map(float), st.floats(-1e100, 1e100)),
    )
)
def test_median_distance_is_the_median_of_all_pairs(values):
    assume(values.min() < values.max())
    assert median_distance(np.sort(values)) == pytest.approx(direct(values), rel=1e-15)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=1500),
        lambda rng: rng.standard_cauchy(1501) ** 3,
        lambda rng: rng.integers(0, 700, size=1500).astype(float),
        lambda rng: rng.permutation(1400).astype(float),
        lambda rng: np.where(rng.random(1500) < 0.8, 0.0, rng.exponential(size=1500)),
        lambda rng: 1e9 + np.round(rng.normal(size=1500), 3),
    ],
)
def test_median_distance_at_sizes_where_the_search_starts_from_a_hint(draw):
    values = draw(np.random.default_rng(0))
    assert median_distance(np.sort(values)) == pytest.approx(direct(values), rel=1e-15)


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, n: rng.normal(size=n),
        lambda rng, n: rng.standard_cauchy(n),
        lambda rng, n: rng.poisson(3, n).astype(float),
        lambda rng, n: np.where(rng.random(n) < 0.7, 0.0, rng.exponential(size=n)),
        lambda rng, n: np.where(rng.random(n) < 0.75, 0.0, rng.exponential(size=n)),
    ],
)
def test_large_samples_lose_almost_nothing(draw, set_budget):
    ordered = np.sort(draw(np.random.default_rng(1), 6 * Budget().exact_median_rows + 1))
    fast = median_distance(ordered)
    set_budget(exact_median_rows=ordered.shape[0])
    assert fast == pytest.approx(median_distance(ordered), rel=1e-4, abs=1e-4)


def test_rare_values_of_a_large_column_are_not_thinned_away():
    values = np.zeros(3 * Budget().exact_median_rows)
    values[:3] = [1.0, 2.0, 3.0]
    assert median_distance(np.sort(values)) == 2.0


@pytest.mark.parametrize("n", [50, 2 * Budget().exact_median_rows])
def test_neither_the_order_of_rows_nor_the_labels_matter(n):
    rng = np.random.default_rng(2)
    pooled = np.column_stack([rng.normal(size=n), rng.poisson(1, n), rng.random(n) < 0.1])
    shuffled = rng.permutation(pooled)
    first, _ = median_bandwidths(make_samples(pooled[: n // 2], pooled[n // 2 :]))
    second, _ = median_bandwidths(make_samples(shuffled[: n // 3], shuffled[n // 3 :]))
    np.testing.assert_array_equal(first, second)


def test_bandwidths_follow_the_unit_of_measurement_and_the_printed_rule_does_not():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(30, 2)), rng.normal(size=(40, 2))
    before, after = make_samples(x, y), make_samples(1000 * x, 1000 * y)
    np.testing.assert_allclose(
        median_bandwidths(after)[0], 1000 * median_bandwidths(before)[0], rtol=1e-13
    )
    literal = median_bandwidths(after, "paper")[0] / median_bandwidths(before, "paper")[0]
    np.testing.assert_allclose(literal, np.sqrt(1000), rtol=1e-13)


def test_zero_median_takes_the_positive_distances():
    x, y = np.r_[np.zeros(8), 2.0], np.r_[np.zeros(8), 6.0]
    tau, constant = median_bandwidths(make_samples(x, y))
    assert tau[0] == 4.0
    assert not constant[0]


def test_constant_and_categorical_columns():
    x = np.array([[5.0, 0.0, 3.0], [5.0, 1.0, 3.0]])
    tau, constant = median_bandwidths(
        make_samples(x, x, ["numeric", "categorical", "categorical"]), n_jobs=2
    )
    np.testing.assert_array_equal(tau, 1.0)
    np.testing.assert_array_equal(constant, [True, False, True])


@pytest.mark.parametrize(
    "column",
    [
        [0.0, -1.7e308, 1.7e308, 1.0],
        [0.0, 1e-290, 2e-290, 3e-290, 4e-290, 1e300],
        [0.0, 1e-310, 2e-310, 3e-310],
    ],
)
def test_overflow_names_the_column(column):
    with pytest.raises(InputError, match="'v0'"):
        median_bandwidths(make_samples(column[:2], column[2:]))
