from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from reference import coefficients, make_samples, mixed_samples
from tellapart.budget import Budget, using_budget
from tellapart.kernels import GaussianScalar, Linear
from tellapart.statistics.coefficients import linear_coefficients

CASES = [(60, 60, "unbiased"), (60, 60, "paired"), (45, 200, "unbiased"), (2, 2, "paired")]


@pytest.mark.parametrize("few_pairs", [0, Budget().gram_pairs])
@pytest.mark.parametrize("scalar", ["gaussian", "laplace"])
@pytest.mark.parametrize(("m", "n", "estimator"), CASES)
def test_coefficients_equal_the_dense_formulas(m, n, estimator, scalar, few_pairs, set_budget):
    set_budget(gram_pairs=few_pairs)
    samples = mixed_samples(m, n)
    kernel = Linear(scalar).fit(samples)
    found = linear_coefficients(samples, kernel, estimator=estimator)
    a, V = coefficients(samples, kernel, estimator)
    np.testing.assert_allclose(found.a, a, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.V, V, rtol=0, atol=1e-12)
    assert (found.n_x, found.n_y) == (m, n)


def test_constant_columns_are_exactly_zero():
    samples = mixed_samples(30, 40)
    found = linear_coefficients(samples, Linear().fit(samples))
    assert found.a[7] == 0
    np.testing.assert_array_equal(found.V[7], 0)
    np.testing.assert_array_equal(found.V[:, 7], 0)


@pytest.mark.parametrize("estimator", ["unbiased", "paired"])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_and_threads_change_nothing(estimator, n_jobs):
    samples = mixed_samples(83, 83)
    for scalar in ("gaussian", "laplace"):
        kernel = Linear(scalar).fit(samples)
        whole = linear_coefficients(samples, kernel, estimator=estimator)
        with using_budget(Budget(coefficient_block_entries=90)):
            blocks = linear_coefficients(samples, kernel, estimator=estimator, n_jobs=n_jobs)
        np.testing.assert_allclose(blocks.a, whole.a, rtol=0, atol=1e-15)
        np.testing.assert_allclose(blocks.V, whole.V, rtol=0, atol=1e-14)


@pytest.mark.parametrize(("m", "n", "estimator"), CASES)
def test_the_factor_stands_for_the_matrix(m, n, estimator):
    samples = mixed_samples(m, n)
    kernel = Linear().fit(samples)
    dense = linear_coefficients(samples, kernel, estimator=estimator)
    with using_budget(Budget(dense_variance_columns=1, factor_rows_per_column=100)):
        factored = linear_coefficients(samples, kernel, estimator=estimator)
    assert factored.V is None
    rows = m if estimator == "paired" else m + n
    assert factored.B.shape == (rows, samples.n_columns)
    np.testing.assert_allclose(factored.variance_matrix(), dense.V, rtol=0, atol=1e-14)
    z = np.linspace(-1, 1, samples.n_columns)
    assert factored.variance_at(z) == pytest.approx(dense.variance_at(z), abs=1e-13)


def test_many_columns_get_a_factor_and_many_rows_a_matrix(set_budget):
    rng = np.random.default_rng(0)
    wide = make_samples(rng.normal(size=(6, 2100)), rng.normal(size=(5, 2100)))
    found = linear_coefficients(wide, Linear().fit(wide))
    assert found.V is None
    assert found.B.shape == (11, 2100)
    set_budget(dense_variance_columns=1)
    long = make_samples(rng.normal(size=(5, 4)), rng.normal(size=(4, 4)))
    assert linear_coefficients(long, Linear().fit(long)).B is None


def test_bandwidths_make_the_coefficients_free_of_units_unlike_the_printed_rule():
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(50, 3)), rng.normal(0.4, 1, size=(70, 3))
    units = np.array([1e-4, 60.0, 1e6])
    plain, scaled = make_samples(x, y), make_samples(x * units, y * units)

    def both(rule):
        kernel = Linear(bandwidth=rule)
        return [linear_coefficients(s, kernel.fit(s)) for s in (plain, scaled)]

    first, second = both("median")
    np.testing.assert_allclose(second.a, first.a, rtol=0, atol=1e-12)
    np.testing.assert_allclose(second.V, first.V, rtol=0, atol=1e-12)
    first, second = both("paper")
    assert np.abs(second.a - first.a).max() > 1e-2


@pytest.mark.parametrize(("m", "estimator"), [(2, "unbiased"), (3, "paired")])
def test_a_is_unbiased_under_the_null(m, estimator):
    # Over all orders of a fixed pooled sample the mean is 0: exactly, whatever the sample.
    pooled = np.random.default_rng(7).normal(size=(6, 2))
    fitted = Linear().fit(make_samples(pooled[:3], pooled[3:]))
    kernel = replace(fitted, scalars=(GaussianScalar(0.9),) * 2)
    total, spread = np.zeros(2), 0.0
    for order in permutations(range(6)):
        samples = make_samples(pooled[list(order[:m])], pooled[list(order[m:])])
        a = linear_coefficients(samples, kernel, estimator=estimator).a
        total += a
        spread = max(spread, np.abs(a).max())
    assert spread > 0.1
    np.testing.assert_allclose(total / 720, 0, atol=1e-14)
