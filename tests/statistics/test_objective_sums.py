"""Which way to sum is taken, and that each gives the numbers of the others."""

import numpy as np
import pytest

from reference import make_samples, mixed_samples
from tellapart.kernels import Gaussian, Linear, Quadratic
from tellapart.statistics.coefficients import linear_coefficients
from tellapart.statistics.objective import LinearSums, sums_of
from tellapart.statistics.pair_sums import PairSums, SquaredSums
from tellapart.statistics.quadratic_moments import RowMoments, fits


def samples(rows=(31, 44)):
    rng = np.random.default_rng(0)
    return make_samples(*(rng.normal(0.1, 1.2, size=(n, 5)) for n in rows))


def test_what_does_not_fit_is_summed_over_pairs():
    data = samples()
    fitted = Quadratic().fit(data)
    needed = 2 * 8 * 75 * 25
    assert fits(data, fitted, needed)
    assert not fits(data, fitted, needed - 2)
    assert type(sums_of(data, fitted, 0.1, needed)) is RowMoments
    assert type(sums_of(data, fitted, 0.1, needed - 2)) is PairSums


def test_squares_that_open_up_are_the_first_choice():
    data = samples()
    assert type(sums_of(data, Gaussian("median").fit(data), 0.1, 10**9)) is SquaredSums


def test_a_factor_of_the_variance_gives_the_derivatives_of_its_matrix(set_budget):
    data = mixed_samples(45, 60)
    kernel = Linear().fit(data)
    dense = LinearSums(linear_coefficients(data, kernel), 0.0).at(0.7)
    set_budget(dense_variance_columns=1)
    set_budget(factor_rows_per_column=110)
    factored = LinearSums(linear_coefficients(data, kernel), 0.7)
    assert factored.coefficients.B is not None
    z, chosen = np.linspace(-1, 1, data.n_columns), np.array([5, 0, 1])
    for way in ("local", "in_weights"):
        first, second = getattr(dense, way)(z, chosen), getattr(factored, way)(z, chosen)
        assert second.value == pytest.approx(first.value, abs=1e-13)
        np.testing.assert_allclose(second.gradient, first.gradient, atol=1e-13)
        np.testing.assert_allclose(second.hessian, first.hessian, atol=1e-13)
