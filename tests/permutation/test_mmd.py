"""The p-value against brute force, and the promises that make it valid."""

import itertools
import math

import numpy as np
import pytest

from each import each
from tellapart.data.samples import Samples
from tellapart.kernels import Linear
from tellapart.permutation.labels import draw_permutations, least_pvalue
from tellapart.permutation.mmd import (
    _feature_forms,
    _gram_forms,
    _mmd2,
    permutation_test,
)

BUDGET = 10**9


def make_samples(m, n, columns=3, seed=0, shift=0.0, discrete=False, kinds=None):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(m, columns)), rng.normal(size=(n, columns)) + shift
    if discrete:
        x, y = np.round(x), np.round(y)
    names = tuple(f"v{s}" for s in range(columns))
    kinds = kinds or ("numeric",) * columns
    categories = {
        name: tuple("abcdefghijkl")
        for name, kind in zip(names, kinds, strict=True)
        if kind == "categorical"
    }
    for s, kind in enumerate(kinds):
        if kind == "categorical":
            x[:, s], y[:, s] = rng.integers(3, size=m), rng.integers(3, size=n)
    return Samples(x, y, names, kinds, categories)


def weights(columns=3):
    z = np.arange(1.0, columns + 1) * np.where(np.arange(columns) % 2, -1, 1)
    return z / np.linalg.norm(z)


def slow_mmd2(samples, kernel, z):
    kxx = kernel.gram(samples.x, samples.x, z)
    kyy = kernel.gram(samples.y, samples.y, z)
    kxy = kernel.gram(samples.x, samples.y, z)
    m, n = kxy.shape
    within = (kxx.sum() - np.trace(kxx)) / (m * (m - 1)) + (kyy.sum() - np.trace(kyy)) / (
        n * (n - 1)
    )
    return within - 2 * kxy.mean()


def permuted_statistics(samples, rows):
    pooled = np.concatenate([samples.x, samples.y])
    chosen = np.zeros(len(pooled), dtype=bool)
    chosen[list(rows)] = True
    return Samples(pooled[chosen], pooled[~chosen], samples.names, samples.kinds)


def run(samples, z=None, n_permutations=199, alpha=0.05, seed=1, budget=BUDGET):
    kernel = Linear().fit(samples)
    return permutation_test(
        samples,
        kernel,
        weights(samples.n_columns) if z is None else z,
        n_permutations=n_permutations,
        alpha=alpha,
        rng=np.random.default_rng(seed),
        memory_budget=budget,
    )


@each("m, n", [(4, 3), (2, 5), (4, 4), (5, 2)])
@each("discrete", [False, True])
def test_exact_pvalue_equals_brute_force(m, n, discrete):
    samples = make_samples(m, n, discrete=discrete)
    kernel, z = Linear().fit(samples), weights()
    slow = np.array(
        [
            slow_mmd2(permuted_statistics(samples, rows), kernel, z)
            for rows in itertools.combinations(range(m + n), m)
        ]
    )
    null = run(samples, n_permutations=math.comb(m + n, m))
    assert null.exact
    assert null.n_permutations == math.comb(m + n, m)
    np.testing.assert_allclose(null.null_distribution, slow, atol=1e-13)
    assert null.pvalue == np.mean(slow >= slow[0] - 1e-10)


def test_random_permutations_give_the_formula():
    null = run(make_samples(30, 20, shift=0.3))
    assert not null.exact
    assert null.n_permutations == 199
    above = np.count_nonzero(null.null_distribution >= null.statistic - 1e-12)
    assert null.pvalue == (1 + above) / 200


@each("m, n", [(30, 20), (9, 41)])
def test_statistic_is_the_unbiased_mmd2(m, n):
    samples = make_samples(m, n, shift=0.5)
    kernel = Linear().fit(samples)
    assert run(samples).statistic == pytest.approx(slow_mmd2(samples, kernel, weights()), abs=1e-13)


def test_five_against_five_has_252_permutations():
    null = run(make_samples(5, 5, shift=8.0), z=np.ones(3) / math.sqrt(3), n_permutations=999)
    assert null.exact
    assert null.n_permutations == 252
    # The swap of both labels has the same statistic, so the least p-value is 2/252.
    assert null.pvalue == 2 / 252 == least_pvalue(5, 5, 999)


def test_threshold_is_infinite_where_nothing_is_rejected():
    assert run(make_samples(20, 20), n_permutations=9, alpha=0.05).threshold == math.inf


@each("budget", [1_000, 50_000, 10**7])
@each("scale", [1.0, 1e3])
def test_blocks_change_nothing(budget, scale):
    samples = make_samples(70, 60, shift=0.1)
    # Far values leave the short features out, so that both ways are taken.
    samples.x[0] *= scale
    whole = run(samples)
    blocked = run(samples, budget=budget)
    assert blocked.pvalue == whole.pvalue
    np.testing.assert_allclose(blocked.null_distribution, whole.null_distribution, atol=1e-14)


@each("kinds", [None, ("categorical", "numeric", "categorical")])
def test_features_equal_gram(kinds):
    samples = make_samples(250, 300, shift=0.1, kinds=kinds)
    kernel, z = Linear().fit(samples), weights()
    labels = draw_permutations(250, 300, 99, np.random.default_rng(0))
    pooled = np.concatenate([samples.x, samples.y])
    fast = _feature_forms(pooled, kernel, z, labels, BUDGET)
    slow = _gram_forms(pooled, kernel, z, labels, BUDGET)
    assert fast is not None
    np.testing.assert_allclose(_mmd2(fast, 250, 300), _mmd2(slow, 250, 300), atol=1e-11)
    assert fast.total == pytest.approx(slow.total, rel=1e-11)
    assert slow.magnitude <= fast.magnitude * (1 + 1e-9)


def test_features_are_left_where_the_gram_matrix_is_cheaper():
    samples = make_samples(10, 10)
    labels = draw_permutations(10, 10, 9, np.random.default_rng(0))
    pooled = np.concatenate([samples.x, samples.y])
    assert _feature_forms(pooled, Linear().fit(samples), weights(), labels, BUDGET) is None
    laplace = Linear(scalar="laplace").fit(samples)
    assert _feature_forms(np.tile(pooled, (40, 1)), laplace, weights(), labels, BUDGET) is None


@each("m, n", [(5, 5), (3, 6)])
def test_swapping_the_samples_changes_nothing(m, n):
    samples = make_samples(m, n, shift=1.0)
    swapped = Samples(samples.y, samples.x, samples.names, samples.kinds)
    one, other = run(samples, n_permutations=999), run(swapped, n_permutations=999)
    assert one.exact
    assert one.pvalue == other.pvalue
    assert one.statistic == pytest.approx(other.statistic, abs=1e-14)
    assert one.threshold == pytest.approx(other.threshold, abs=1e-14)


def test_rows_all_alike_are_all_ties():
    samples = make_samples(20, 30)
    kernel = Linear().fit(samples)
    alike = Samples(np.ones((20, 3)), np.ones((30, 3)), samples.names, samples.kinds)
    null = permutation_test(
        alike, kernel, weights(), n_permutations=99, alpha=0.05, rng=np.random.default_rng(0)
    )
    assert null.pvalue == 1.0
    assert null.statistic == pytest.approx(0.0, abs=1e-12)


def test_ties_of_a_rare_flag_are_counted():
    """One 1 among 40 flags: the statistic takes two values only, by the sample that has it."""
    x, y = np.zeros((20, 1)), np.zeros((20, 1))
    x[0] = 1.0
    null = run(Samples(x, y, ("flag",), ("numeric",)), z=np.ones(1))
    assert null.pvalue == 1.0


def test_strong_signal_reaches_the_least_pvalue():
    samples = make_samples(20, 20, shift=4.0)
    assert run(samples, z=np.ones(3) / math.sqrt(3)).pvalue == least_pvalue(20, 20, 199) == 1 / 200
