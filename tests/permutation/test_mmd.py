"""The p-value against brute force, and the promises that make it valid."""

import itertools
import math
from functools import cache

import numpy as np
import pytest

from tellapart.budget import Budget, using_budget
from tellapart.data.samples import Samples
from tellapart.kernels import AdditiveIndex, Gaussian, Linear, Quadratic
from tellapart.permutation.draws import draw_permutations, least_pvalue
from tellapart.permutation.forms import permute_rows
from tellapart.permutation.mmd import permutation_test

BUDGET = 10**9


@cache
def scaled():
    """Return a Gaussian kernel of bandwidth 1, made when it is used: that compiles."""
    return Linear().fit(Samples(np.zeros((2, 1)), np.ones((2, 1)), ("u",), ("numeric",)))


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


@pytest.mark.parametrize(("m", "n"), [(4, 3), (2, 5), (4, 4), (5, 2)])
@pytest.mark.parametrize("discrete", [False, True])
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


@pytest.mark.parametrize(("m", "n"), [(30, 20), (9, 41)])
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


@pytest.mark.parametrize("budget", [1_000, 50_000, 10**7])
@pytest.mark.parametrize("scale", [1.0, 1e3])
def test_blocks_change_nothing(budget, scale):
    samples = make_samples(70, 60, shift=0.1)
    # Far values leave the short features out, so that both ways are taken.
    samples.x[0] *= scale
    whole = run(samples)
    blocked = run(samples, budget=budget)
    assert blocked.pvalue == whole.pvalue
    np.testing.assert_allclose(blocked.null_distribution, whole.null_distribution, atol=1e-14)


def dense_null(samples, kernel, z, n_permutations, seed):
    """Return all statistics by the Gram matrix of all rows and the labels of each."""
    bins = permute_rows(samples.n_x, samples.n_y, n_permutations, np.random.default_rng(seed))
    pooled = np.concatenate([samples.x, samples.y])
    gram = kernel.gram(pooled, pooled, z)
    np.fill_diagonal(gram, 0.0)
    labels = np.concatenate([bins.of_rows(some) for _, some in bins.blocks()])
    m, n = samples.n_x, samples.n_y
    weights = labels / math.sqrt(m * (m - 1)), (1 - labels) / math.sqrt(n * (n - 1))
    within = sum(np.einsum("ij,ij->i", part @ gram, part) for part in weights)
    return within - 2 * np.einsum("ij,ij->i", labels @ gram, 1 - labels) / (m * n), bins


@pytest.mark.parametrize(
    ("m", "n", "rows"), [(140, 200, 1), (30, 900, 1), (760, 803, 3), (510, 1_200, 2)]
)
@pytest.mark.parametrize(
    "kernel",
    [Linear(), Linear(scalar="laplace"), Linear(bandwidth="mixed"), Gaussian(), Quadratic()],
)
def test_every_way_is_the_dense_formula_for_labels_of_bins(m, n, rows, kernel):
    """Light and heavy tails, one value far out; few rows, many rows, unequal numbers of them."""
    samples = make_samples(m, n, columns=4, shift=0.1)
    for values in (samples.x, samples.y):
        values[:, 3] = np.exp(3 * values[:, 3])
    samples.y[0, 2] = 1e6
    fitted, z = kernel.fit(samples), weights(4)
    with using_budget(Budget(gram_rows=500)):
        null = permutation_test(
            samples, fitted, z, n_permutations=19, alpha=0.05, rng=np.random.default_rng(1)
        )
    expected, bins = dense_null(samples, fitted, z, 19, 1)
    assert null.rows_per_bin == bins.rows_per_bin == rows
    found = np.concatenate([[null.statistic], null.null_distribution])
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_bins_of_one_row_are_the_permutations_of_all_rows():
    samples = make_samples(200, 230, shift=0.1)
    bins = permute_rows(200, 230, 99, np.random.default_rng(3))
    drawn = draw_permutations(200, 230, 99, np.random.default_rng(3))
    labels = np.concatenate([bins.of_rows(some) for _, some in bins.blocks()])
    np.testing.assert_array_equal(labels, drawn.labels(430))
    expected, _ = dense_null(samples, Linear().fit(samples), weights(), 99, 3)
    null = run(samples, n_permutations=99, seed=3)
    np.testing.assert_allclose(null.null_distribution, expected[1:], atol=1e-13)


@pytest.mark.parametrize("kinds", [None, ("categorical", "numeric", "categorical")])
@pytest.mark.parametrize("kernel", [Gaussian(bandwidth="median"), Quadratic()])
def test_random_features_approximate_the_kernel_and_the_result_says_so(kinds, kernel):
    samples = make_samples(300, 300, shift=0.2, kinds=kinds)
    fitted, z = kernel.fit(samples), np.abs(weights())

    def test():
        rng = np.random.default_rng(0)
        return permutation_test(samples, fitted, z, n_permutations=99, alpha=0.05, rng=rng)

    exact = test()
    with using_budget(Budget(paired_rows=500, random_frequencies=4_000)):
        random = test()
    assert exact.note == ""
    assert random.note == "with 4,000 random frequencies for the kernel"
    assert random.statistic == pytest.approx(exact.statistic, rel=0.2)
    assert random.null_distribution.std() == pytest.approx(exact.null_distribution.std(), rel=0.4)


def test_a_kernel_without_features_is_tested_on_rows_drawn_at_random():
    samples = make_samples(300, 90, shift=3.0)
    own = AdditiveIndex(
        value=lambda t: 1 / (1 + t),
        slope=lambda t: -1 / (1 + t) ** 2,
        curvature=lambda t: 2 / (1 + t) ** 3,
    ).fit(samples)
    with using_budget(Budget(paired_rows=200)):
        null = permutation_test(
            samples, own, weights(), n_permutations=99, alpha=0.05, rng=np.random.default_rng(0)
        )
    assert null.note == "on 100 of 300 and 90 of 90 rows, drawn at random"
    assert null.pvalue == 0.01


@pytest.mark.parametrize("scale", [1e-290, 1e-9, 1.0, 1e9, 1e290])
@pytest.mark.parametrize(("m", "n"), [(40, 50), (600, 700)])
def test_values_of_every_scale(scale, m, n):
    """The unit of a column changes nothing, heavy tails or not."""
    samples = make_samples(m, n, shift=0.1)
    samples.x[:, 1], samples.y[:, 1] = np.exp(2 * samples.x[:, 1]), np.exp(2 * samples.y[:, 1])
    scaled = Samples(samples.x * scale, samples.y * scale, samples.names, samples.kinds)
    one, other = run(samples), run(scaled)
    assert one.pvalue == other.pvalue
    assert one.statistic == pytest.approx(other.statistic, rel=1e-6)


@pytest.mark.parametrize(("m", "n"), [(12, 14), (520, 540)])
def test_pvalues_of_equal_distributions_are_as_uniform_as_can_be(m, n):
    """With 19 permutations P(p ≤ k/20) = k/20 exactly; 400 pairs, four standard errors."""
    pvalues = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        x, y = rng.standard_t(2, size=(m, 1)), rng.standard_t(2, size=(n, 1))
        samples = Samples(x, y, ("u",), ("numeric",))
        null = permutation_test(
            samples, scaled(), np.ones(1), n_permutations=19, alpha=0.05, rng=rng
        )
        pvalues.append(null.pvalue)
    for k in (1, 4, 10):
        share = np.mean(np.array(pvalues) <= k / 20 + 1e-9)
        assert abs(share - k / 20) < 4 * math.sqrt(k / 20 * (1 - k / 20) / 400)


@pytest.mark.parametrize(("m", "n"), [(5, 5), (3, 6)])
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
