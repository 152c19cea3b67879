from itertools import permutations

import numpy as np
import pytest

from each import each
from reference import coefficients, make_samples, pairs
from tellapart.errors import InputError
from tellapart.kernels import FittedKernel, GaussianScalar, Linear
from tellapart.search.linear import linear_problem
from tellapart.statistics import coefficients as coefficients_module
from tellapart.statistics.coefficients import linear_coefficients
from tellapart.statistics.mmd import mmd2, variance


def mixed_samples(m, n, seed=0):
    """Every awkward kind of column at once."""
    rng = np.random.default_rng(seed)

    def draw(size, shift):
        return np.column_stack(
            [
                rng.normal(shift, 1, size=size),
                rng.normal(0, 1 + shift, size=size),
                rng.standard_cauchy(size),
                np.r_[rng.normal(size=size - 2), 1e6, 1e15 + shift],
                rng.uniform(size=size) * 1e-9,
                rng.poisson(1 + shift, size=size),
                np.where(rng.random(size) < 0.8, 0.0, rng.exponential(size=size)),
                np.full(size, 3.0),
                rng.integers(0, 4, size=size),
            ]
        )

    kinds = ["numeric"] * 8 + ["categorical"]
    return make_samples(draw(m, 0.0), draw(n, 0.5), kinds)


CASES = [(60, 60, "unbiased"), (60, 60, "paired"), (45, 200, "unbiased"), (2, 2, "paired")]


@each("few_pairs", [0, coefficients_module.FEW_PAIRS])
@each("scalar", ["gaussian", "laplace"])
@each("m, n, estimator", CASES)
def test_coefficients_equal_the_dense_formulas(m, n, estimator, scalar, few_pairs, monkeypatch):
    monkeypatch.setattr(coefficients_module, "FEW_PAIRS", few_pairs)
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


@each("estimator", ["unbiased", "paired"])
@each("n_jobs", [1, 3])
def test_blocks_and_threads_change_nothing(estimator, n_jobs, monkeypatch):
    samples = mixed_samples(83, 83)
    for scalar in ("gaussian", "laplace"):
        kernel = Linear(scalar).fit(samples)
        whole = linear_coefficients(samples, kernel, estimator=estimator)
        monkeypatch.setattr(coefficients_module, "BLOCK_ENTRIES", 90)
        blocks = linear_coefficients(samples, kernel, estimator=estimator, n_jobs=n_jobs)
        monkeypatch.undo()
        np.testing.assert_allclose(blocks.a, whole.a, rtol=0, atol=1e-15)
        np.testing.assert_allclose(blocks.V, whole.V, rtol=0, atol=1e-14)


@each("m, n, estimator", CASES)
def test_the_factor_stands_for_the_matrix(m, n, estimator, monkeypatch):
    samples = mixed_samples(m, n)
    kernel = Linear().fit(samples)
    dense = linear_coefficients(samples, kernel, estimator=estimator)
    with monkeypatch.context() as patch:
        patch.setattr(coefficients_module, "DENSE_COLUMNS", 1)
        patch.setattr(coefficients_module, "MOST_FACTOR_ROWS", 100)
        factored = linear_coefficients(samples, kernel, estimator=estimator)
    assert factored.V is None
    rows = m if estimator == "paired" else m + n
    assert factored.B.shape == (rows, samples.n_columns)
    np.testing.assert_allclose(factored.variance_matrix(), dense.V, rtol=0, atol=1e-14)
    z = np.linspace(-1, 1, samples.n_columns)
    assert factored.variance_at(z) == pytest.approx(dense.variance_at(z), abs=1e-13)
    first, second = linear_problem(dense, 0.3, 2), linear_problem(factored, 0.3, 2)
    assert second.factor is not None
    assert first.value(z) == pytest.approx(second.value(z), abs=1e-13)


def test_many_columns_get_a_factor_and_many_rows_a_matrix(monkeypatch):
    rng = np.random.default_rng(0)
    wide = make_samples(rng.normal(size=(6, 2100)), rng.normal(size=(5, 2100)))
    found = linear_coefficients(wide, Linear().fit(wide))
    assert found.V is None
    assert found.B.shape == (11, 2100)
    monkeypatch.setattr(coefficients_module, "DENSE_COLUMNS", 1)
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


@each("estimator", ["unbiased", "paired"])
def test_the_variance_is_a_cost_unlike_the_printed_sign(estimator):
    samples = mixed_samples(40, 40, seed=5)
    kernel = Linear().fit(samples)
    found = linear_coefficients(samples, kernel, estimator=estimator)
    z = np.random.default_rng(6).normal(size=samples.n_columns)
    z[kernel.constant] = 0
    z /= np.linalg.norm(z)
    grams = [
        kernel.gram(u, v, z)
        for u, v in (
            (samples.x, samples.x),
            (samples.y, samples.y),
            (samples.x, samples.y),
        )
    ]
    strength = 0.7
    cost = strength * variance(*grams, estimator)
    objective = mmd2(*grams, estimator) - cost
    problem = linear_problem(found, strength, samples.n_columns)
    assert problem.value(z) == pytest.approx(objective, abs=1e-12)
    assert found.statistic(z) == pytest.approx(mmd2(*grams, estimator), abs=1e-12)
    assert found.variance_at(z) == pytest.approx(variance(*grams, estimator), abs=1e-12)
    assert cost > 1e-4
    assert -z @ problem.A @ z + problem.a @ z == pytest.approx(objective + 2 * cost, abs=1e-12)


@each("m, estimator", [(2, "unbiased"), (3, "paired")])
def test_a_is_unbiased_under_the_null(m, estimator):
    # Over all orders of a fixed pooled sample the mean is 0: exactly, whatever the sample.
    pooled = np.random.default_rng(7).normal(size=(6, 2))
    kernel = FittedKernel("linear", (GaussianScalar(0.9),) * 2, np.zeros(2, dtype=bool))
    total, spread = np.zeros(2), 0.0
    for order in permutations(range(6)):
        samples = make_samples(pooled[list(order[:m])], pooled[list(order[m:])])
        a = linear_coefficients(samples, kernel, estimator=estimator).a
        total += a
        spread = max(spread, np.abs(a).max())
    assert spread > 0.1
    np.testing.assert_allclose(total / 720, 0, atol=1e-14)


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


def test_bad_arguments_are_refused():
    samples = mixed_samples(10, 12)
    kernel = Linear().fit(samples)
    with pytest.raises(InputError, match="same size; got 10 and 12"):
        linear_coefficients(samples, kernel, estimator="paired")
    with pytest.raises(InputError, match="'unbiased', 'paired'"):
        linear_coefficients(samples, kernel, estimator="biased")
    with pytest.raises(InputError, match="at least 2 rows; got 1 and 2"):
        mmd2(np.ones((1, 1)), np.ones((2, 2)), np.ones((1, 2)))
    with pytest.raises(InputError, match="linear kernel; got 'cubic'"):
        linear_coefficients(samples, FittedKernel("cubic", kernel.scalars, kernel.constant))
