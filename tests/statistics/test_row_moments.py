"""The quadratic kernel from sums that are gathered once: the same numbers as pair by pair."""

import numpy as np
import pytest

from reference import make_samples
from tellapart.kernels import Gaussian, Quadratic
from tellapart.statistics.mmd import mmd2
from tellapart.statistics.objective import FittedObjective, Objective
from tellapart.statistics.pair_sums import PairSums
from tellapart.statistics.quadratic_moments import RowMoments, fits

KERNELS = [Quadratic(), Quadratic(0.3, ["laplace", "gaussian", "gaussian", "laplace", "gaussian"])]
EVERYTHING = np.arange(5)


def samples(rows=(31, 44), kinds=None, seed=0):
    rng = np.random.default_rng(seed)
    x, y = (rng.normal(0.1, 1.2, size=(n, 5)) for n in rows)
    if kinds:
        x[:, 0], y[:, 0] = (rng.integers(0, 3, len(part)) for part in (x, y))
    return make_samples(x, y, kinds)


def agree(slow, fast, z, variables):
    first, second = slow.first_order(z, variables), fast.first_order(z, variables)
    assert second.value == pytest.approx(first.value, abs=1e-12)
    np.testing.assert_allclose(second.slopes, first.slopes, atol=1e-12)
    np.testing.assert_allclose(second.jacobian, first.jacobian, atol=1e-12)
    np.testing.assert_allclose(
        fast.second_order(z, variables, second),
        slow.second_order(z, variables, first),
        atol=1e-12,
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("regularization", [0.0, 0.8])
@pytest.mark.parametrize("rows", [(31, 44), (2, 7)])
def test_value_slopes_and_curvature_agree_with_the_sums_over_pairs(kernel, regularization, rows):
    data = samples(rows)
    fitted = kernel.fit(data)
    slow, fast = (way(data, fitted, regularization, 10**9) for way in (PairSums, RowMoments))
    for z in (np.array([0.1, 0.7, -0.4, 0.0, 0.5]), np.eye(5)[2]):
        for variables in (EVERYTHING, np.array([1, 4]), np.array([], dtype=np.intp)):
            agree(slow, fast, z, variables)


def test_categorical_and_constant_columns():
    data = samples(kinds=["categorical", *["numeric"] * 4])
    x, y = data.x.copy(), data.y.copy()
    x[:, 3] = y[:, 3] = 1.0
    data = make_samples(x, y, data.kinds)
    fitted = Quadratic().fit(data)
    slow, fast = (way(data, fitted, 0.5, 10**9) for way in (PairSums, RowMoments))
    agree(slow, fast, np.array([0.5, 0.5, -0.5, 0.5, 0.0]), np.arange(4))


def test_blocks_of_rows_change_nothing(set_budget):
    data = samples()
    fitted = Quadratic().fit(data)
    whole = RowMoments(data, fitted, 0.5, 10**9).moments
    set_budget(pair_block_entries=5 * 75 * 7)
    parts = RowMoments(data, fitted, 0.5, 10**9).moments
    np.testing.assert_allclose(parts.matrix, whole.matrix, atol=1e-14)
    np.testing.assert_allclose(parts.vector, whole.vector, atol=1e-14)
    np.testing.assert_allclose(parts.row_matrices, whole.row_matrices, atol=1e-14)


@pytest.mark.parametrize("budget", [10**6, 10**9])
def test_the_statistic_is_a_quadratic_form(budget):
    """MMD²(z) = zᵀ𝒜z + 𝒯ᵀz exactly, whichever way the sums are taken."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 30)), rng.normal(0.2, 1.1, size=(45, 30))
    x[:, 4] = y[:, 4] = 2.0
    objective = Objective(x, y, Quadratic(), 0.7, memory_budget=budget)
    assert fits(objective.samples, objective.kernel, budget) == (budget == 10**9)
    matrix, vector = objective.quadratic_form()
    np.testing.assert_array_equal(matrix, matrix.T)
    assert not matrix[4].any()
    assert vector[4] == 0
    for seed in range(3):
        z = np.random.default_rng(seed).normal(size=30)
        z /= np.linalg.norm(z)
        grams = [objective.kernel.gram(u, v, z) for u, v in ((x, x), (y, y), (x, y))]
        assert z @ matrix @ z + vector @ z == pytest.approx(mmd2(*grams), rel=1e-12, abs=1e-12)


def test_other_kernels_have_no_such_form():
    data = samples()
    assert FittedObjective(data, Gaussian().fit(data), 0.1).quadratic_form() is None
    assert not fits(data, Gaussian().fit(data), 10**9)


def test_another_regularization_shares_what_was_gathered():
    data = samples()
    fitted = Quadratic().fit(data)
    cheap = RowMoments(data, fitted, 0.0, 10**9)
    cheap.prepare()
    dear, direct = cheap.at(0.7), RowMoments(data, fitted, 0.7, 10**9)
    z = np.full(5, 5**-0.5)
    assert dear.moments is cheap.moments
    agree(direct, dear, z, EVERYTHING)
