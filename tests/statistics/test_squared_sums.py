"""Squares that open up: the same numbers as pair by pair, by matrix products alone."""

import numpy as np
import pytest

from reference import make_samples
from tellapart.kernels import AdditiveIndex, Gaussian, Quadratic
from tellapart.statistics.pair_sums import FARTHEST, PairSums, SquaredSums, opens_up

RATIONAL = AdditiveIndex(
    value=lambda t: 1 / (1 + t / 2),
    slope=lambda t: -0.5 / (1 + t / 2) ** 2,
    curvature=lambda t: 0.5 / (1 + t / 2) ** 3,
)
SIGNED = AdditiveIndex(
    value=np.cos,
    slope=lambda t: -np.sin(t),
    curvature=lambda t: -np.cos(t),
    weight="linear",
    name="cosine",
)
EVERYTHING = np.arange(5)


def samples(seed=0, rows=(31, 44), constant=False):
    rng = np.random.default_rng(seed)
    x, y = (rng.normal(0.1, 1.2, size=(n, 5)) for n in rows)
    if constant:
        x[:, 2] = y[:, 2] = 4.0
    return make_samples(x, y)


def both(data, kernel, regularization, budget=10**9):
    fitted = kernel.fit(data)
    return [way(data, fitted, regularization, budget) for way in (PairSums, SquaredSums)]


@pytest.mark.parametrize("kernel", [Gaussian(), Gaussian(0.3), RATIONAL, SIGNED])
@pytest.mark.parametrize("regularization", [0.0, 0.8])
@pytest.mark.parametrize("variables", [EVERYTHING, np.array([1, 4]), np.array([], dtype=np.intp)])
def test_value_slopes_and_curvature_agree_with_the_sums_over_pairs(
    kernel, regularization, variables
):
    slow, fast = both(samples(), kernel, regularization)
    for z in (np.array([0.1, 0.7, -0.4, 0.0, 0.5]), np.eye(5)[2]):
        first, second = slow.first_order(z, variables), fast.first_order(z, variables)
        assert second.value == pytest.approx(first.value, abs=1e-12)
        np.testing.assert_allclose(second.slopes, first.slopes, atol=1e-12)
        np.testing.assert_allclose(second.jacobian, first.jacobian, atol=1e-12)
        np.testing.assert_allclose(second.pulls, first.pulls, atol=1e-12)
        np.testing.assert_allclose(
            fast.second_order(z, variables, second),
            slow.second_order(z, variables, first),
            atol=1e-12,
        )


@pytest.mark.parametrize("budget", [10**6, 10**9])
def test_blocks_of_rows_and_of_products_change_nothing(budget):
    rng = np.random.default_rng(1)
    data = make_samples(rng.normal(size=(150, 40)), rng.normal(size=(110, 40)))
    slow, fast = both(data, Gaussian(), 0.5, budget)
    z, every = np.full(40, 40**-0.5), np.arange(40)
    first, second = slow.first_order(z, every), fast.first_order(z, every)
    assert (len(fast._blocks) > 1) == (budget == 10**6)
    np.testing.assert_allclose(second.slopes, first.slopes, atol=1e-13)
    np.testing.assert_allclose(
        fast.second_order(z, every, second), slow.second_order(z, every, first), atol=1e-12
    )


def test_constant_columns_take_no_part():
    slow, fast = both(samples(constant=True), Gaussian(), 0.5)
    assert fast.varying.tolist() == [0, 1, 3, 4]
    z, four = np.full(5, 5**-0.5), np.arange(4)
    assert fast.first_order(z, four).value == pytest.approx(slow.first_order(z, four).value)


@pytest.mark.parametrize("far", [10.0, 100.0, 900.0])
def test_a_cluster_far_out_costs_digits_but_not_many(far):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), rng.normal(size=(60, 3))
    x[:6, 0] += far
    y[:8, 0] += far
    data = make_samples(x, y)
    assert opens_up(data, Gaussian().fit(data))
    slow, fast = both(data, Gaussian(), 0.5)
    z, every = np.array([0.6, 0.8, 0.0]), np.arange(3)
    first, second = slow.first_order(z, every), fast.first_order(z, every)
    assert second.value == pytest.approx(first.value, abs=1e-11)
    np.testing.assert_allclose(second.slopes, first.slopes, rtol=1e-8)
    curvature = slow.second_order(z, every, first)
    error = np.abs(fast.second_order(z, every, second) - curvature).max()
    assert error < 1e-4 * np.abs(curvature).max()


def test_squares_open_up_where_they_may():
    data = samples()
    assert opens_up(data, Gaussian().fit(data))
    assert opens_up(data, RATIONAL.fit(data))
    assert not opens_up(data, Quadratic().fit(data))
    mixed = make_samples(data.x, data.y, ["categorical", *["numeric"] * 4])
    assert not opens_up(mixed, Gaussian().fit(mixed))


@pytest.mark.parametrize("far", [2 * FARTHEST, 1e150])
def test_rows_too_far_out_are_left_to_the_sums_over_pairs(far):
    data = samples()
    x = data.x.copy()
    x[0, 0] = far
    data = make_samples(x, data.y)
    assert not opens_up(data, Gaussian().fit(data))


def test_another_regularization_shares_what_is_there():
    data = samples()
    fitted = Gaussian().fit(data)
    cheap = SquaredSums(data, fitted, 0.0, 10**9)
    dear, direct = cheap.at(0.7), SquaredSums(data, fitted, 0.7, 10**9)
    z = np.full(5, 5**-0.5)
    assert dear._scaled is cheap._scaled
    assert dear.first_order(z, EVERYTHING).value == direct.first_order(z, EVERYTHING).value
    assert cheap.first_order(z, EVERYTHING).value > dear.first_order(z, EVERYTHING).value
