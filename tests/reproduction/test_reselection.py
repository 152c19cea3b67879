"""The best choice of all rows, reselected under every permutation: its maximum, and its level."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

import tellapart as ta
from reproduction import reselection
from reproduction.reselection import against_others, best_values, reselection_test
from tellapart.data.reader import read_samples
from tellapart.kernels import Linear
from tellapart.permutation.draws import draw_permutations
from tellapart.selection.choose import choose_nonnegative
from tellapart.statistics.mmd import mmd2


def samples_of(m=9, n=12, D=5, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(n, D))
    y[:, 0] += shift
    return read_samples(rng.normal(size=(m, D)), y)


def fit(samples):
    return Linear().fit(samples, n_jobs=1)


def found_in(x, y, size=None, n_permutations=999, seed=0):
    """Return what the test finds in two samples, and the choice that goes with it."""
    samples = read_samples(x, y)
    kernel, rng = fit(samples), np.random.default_rng(seed)
    found = reselection_test(
        samples, kernel, size, n_permutations=n_permutations, alpha=0.05, rng=rng
    )
    return found, choose_nonnegative(samples, kernel, found.n_variables, 1)


def column_mmd(samples, kernel, labels):
    pooled = np.concatenate([samples.x, samples.y])
    x, y = pooled[labels == 1], pooled[labels == 0]
    return np.array(
        [
            mmd2(k.gram(x[:, s], x[:, s]), k.gram(y[:, s], y[:, s]), k.gram(x[:, s], y[:, s]))
            for s, k in enumerate(kernel.scalars)
        ]
    )


def test_the_maximum_is_that_of_all_choices_under_every_permutation():
    samples = samples_of()
    kernel = fit(samples)
    found = best_values(
        samples, kernel, np.arange(5), [1, 2, 3], 30, np.random.default_rng(4), 1, lambda *_: None
    )
    permutations = draw_permutations(9, 12, 30, np.random.default_rng(4)).labels(21)
    for labels, values in zip(permutations, found.values, strict=True):
        a = column_mmd(samples, kernel, labels)
        for d, value in zip((1, 2, 3), values, strict=True):
            # max aᵀz over z ≥ 0 on one support is the length of the positive part of a there.
            supports = [list(S) for S in itertools.combinations(range(5), d)]
            lengths = [np.linalg.norm(np.maximum(a[S], 0)) for S in supports]
            best = max(lengths) if a.max() > 0 else a.max()
            assert value == pytest.approx(best, abs=1e-11)


def test_blocks_of_columns_change_nothing(monkeypatch):
    samples = samples_of(20, 25, 11)
    settings = {"n_permutations": 99, "alpha": 0.05}
    for size in (3, None):
        one, other = [], []
        for answers, entries in ((one, 16_000_000), (other, 250)):
            monkeypatch.setattr(reselection, "TABLE_ENTRIES", entries)
            answers.append(
                reselection_test(
                    samples, fit(samples), size, rng=np.random.default_rng(0), **settings
                )
            )
        assert one[0].null.null_distribution == pytest.approx(other[0].null.null_distribution)
        assert (one[0].null.pvalue, one[0].n_variables) == (
            other[0].null.pvalue,
            other[0].n_variables,
        )


@pytest.mark.parametrize("size", [1, None])
def test_few_rows_are_enumerated_and_swapped_labels_tie(size):
    samples = samples_of(3, 3, 1, shift=50.0)
    found = reselection_test(
        samples, fit(samples), size, n_permutations=99, alpha=0.1, rng=np.random.default_rng(0)
    )
    assert found.null.exact
    assert found.null.n_permutations == 20
    # Complementary labels give the same value, so 2 of 20 is the least there is.
    assert found.null.pvalue == 0.1


def test_statistic_is_the_certified_value_of_the_selection():
    X, Y, _ = ta.datasets.make_case("covariance-shift", 60, 45, random_state=3)
    found, chosen = found_in(X, Y, 7)
    assert found.null.statistic == pytest.approx(chosen.value, rel=1e-10)
    assert chosen.status == "optimal"
    assert chosen.upper_bound >= found.null.statistic * (1 - 1e-12)
    assert chosen.support.size == 7
    assert "with non-negative weights" in chosen.certificate
    signed = ta.select_variables(X, Y, 7, regularization=0.0)
    assert signed.support.tolist() == chosen.support.tolist()


def test_samples_more_alike_than_chance_are_not_called_different():
    x = np.random.default_rng(0).normal(size=(40, 5))
    for size in (3, None):
        found, chosen = found_in(x, x[::-1], size)
        assert found.null.pvalue > 0.9
        assert chosen.support.size == 1
        assert chosen.z.max() == 1
        assert chosen.value < 0
        assert found.null.statistic == pytest.approx(chosen.value) or size is None


def test_weights_are_never_negative():
    rng = np.random.default_rng(3)
    found, chosen = found_in(rng.normal(size=(30, 20)), rng.normal(size=(25, 20)), 20)
    assert (chosen.z >= 0).all()
    assert 1 < chosen.support.size < 20
    assert found.null.statistic == pytest.approx(chosen.value, rel=1e-9)


def test_number_of_variables_is_the_smallest_nearly_as_good_as_the_best():
    X, Y, _ = ta.datasets.make_case("covariance-shift", 100, 80, random_state=1)
    found, chosen = found_in(X, Y)
    scores = {score.n_variables: score.ratios[0] for score in found.numbers}
    assert list(scores) == [1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 39, 50]
    best = max(scores.values())
    assert found.null.statistic == best
    d = found.n_variables
    assert scores[d] >= 0.95 * best > max(scores[e] for e in scores if e < d)
    assert chosen.support.size == d


def test_number_of_variables_is_found_where_it_is_plain():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 50)), rng.normal(size=(300, 50))
    Y[:, [3, 8, 20]] += 1
    assert found_in(X, Y)[1].variables == ("x3", "x8", "x20")


def test_scores_leave_each_value_out_of_its_own_scale():
    values = np.random.default_rng(0).normal(size=(30, 3))
    values[:, 2] = 1.0
    values[0, 1] = 1e6
    found = against_others(values)
    for i in range(30):
        others = np.delete(values, i, axis=0)[:, :2]
        expected = (values[i, :2] - others.mean(axis=0)) / others.std(axis=0)
        assert found[i, :2] == pytest.approx(expected, rel=1e-6)
    assert (found[:, 2] == 0).all()


def rejections(size, runs, seed):
    """Count p ≤ 0.2 of null samples of mixed kinds: normal, heavy-tailed, coarse, correlated."""
    rng = np.random.default_rng(seed)
    hits = 0
    for _ in range(runs):
        rows = rng.normal(size=(30, 8))
        rows[:, 1] = rng.standard_cauchy(30)
        rows[:, 2] = rng.integers(0, 3, 30)
        rows[:, 3] = rows[:, 4] + 0.1 * rows[:, 3]
        samples = read_samples(rows[:13], rows[13:])
        found = reselection_test(samples, fit(samples), size, n_permutations=19, alpha=0.2, rng=rng)
        hits += found.null.pvalue <= 0.2
    return hits


@pytest.mark.parametrize("nulls", [100, pytest.param(2000, marks=pytest.mark.long)])
@pytest.mark.parametrize("size", [1, 3, None])
def test_the_level_is_kept(size, nulls):
    # 19 permutations: p is uniform on 0.05, …, 1, and P(p ≤ 0.2) = 0.2 but for ties.
    hits = rejections(size, nulls, 7)
    low, high = binom.ppf([5e-4, 1 - 5e-4], nulls, 0.2)
    assert low <= hits <= high


@pytest.mark.long
def test_more_powerful_than_a_split_with_few_rows():
    split = all_rows = 0
    for seed in range(20):
        X, Y, _ = ta.datasets.make_case("laplace", 60, random_state=seed)
        given = {"n_variables": 20, "regularization": 0.0, "n_permutations": 199}
        split += ta.two_sample_test(X, Y, method="split", random_state=seed, **given).reject
        all_rows += found_in(X, Y, 20, 199, seed)[0].null.pvalue <= 0.05
    assert all_rows >= split + 3


def test_constant_columns_categories_and_more_variables_than_vary():
    rng = np.random.default_rng(0)
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame({"flat": 1.0, "arm": list("ab") * 20, "u": rng.normal(size=40)})
    y = pandas.DataFrame({"flat": 1.0, "arm": ["b"] * 30, "u": rng.normal(size=30)})
    with pytest.warns(UserWarning, match="flat") as told:
        found, chosen = found_in(x, y, 3)
    assert len(told) == 1
    assert found.null.pvalue <= 0.05
    assert set(chosen.variables) <= {"arm", "u"}
    assert chosen.weights["arm"] > 0.9


def test_sparse_samples_give_the_dense_answer():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(1)
    x, y = rng.poisson(0.3, size=(50, 30)), rng.poisson(0.3, size=(40, 30))
    y[:, 4] += 1
    (dense, one), (sparse, other) = (
        found_in(*pair) for pair in ((x, y), (scipy_sparse.csr_array(x), scipy_sparse.csr_array(y)))
    )
    assert sparse.null.pvalue == dense.null.pvalue
    assert other.support.tolist() == one.support.tolist() == [4]
