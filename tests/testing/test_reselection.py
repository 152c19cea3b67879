"""The test without a split: its maximum by brute force, its level, and what it says of itself."""

import itertools
import json

import numpy as np
import pytest
from scipy.stats import binom

import tellapart as ta
from tellapart.data.tables import read_samples
from tellapart.errors import InputError
from tellapart.kernels import Linear
from tellapart.permutation.labels import draw_permutations
from tellapart.report.page import python_call
from tellapart.statistics.mmd import mmd2
from tellapart.testing import reselection
from tellapart.testing.reselection import against_others, best_values, reselection_test


def samples_of(m=9, n=12, D=5, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(n, D))
    y[:, 0] += shift
    return read_samples(rng.normal(size=(m, D)), y)


def fit(samples):
    return Linear().fit(samples, n_jobs=1)


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
    permutations = draw_permutations(9, 12, 30, np.random.default_rng(4)).block(0, 21)
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
    result = ta.two_sample_test(X, Y, n_variables=7, split=False, random_state=0)
    assert result.statistic == pytest.approx(result.selection.value, rel=1e-10)
    assert result.selection.status == "optimal"
    assert result.selection.upper_bound >= result.statistic * (1 - 1e-12)
    assert result.selection.support.size == 7
    assert result.regularization == 0
    assert result.reselected
    assert (result.n_train, result.n_test) == ((0, 0), (60, 45))
    assert "with weights of at least 0" in result.selection.certificate
    chosen = ta.select_variables(X, Y, 7, regularization=0.0)
    assert chosen.support.tolist() == result.selection.support.tolist()


def test_samples_more_alike_than_chance_are_not_called_different():
    x = np.random.default_rng(0).normal(size=(40, 5))
    for size in (3, None):
        result = ta.two_sample_test(x, x[::-1], n_variables=size, split=False, random_state=0)
        assert result.pvalue > 0.9
        assert result.selection.support.size == 1
        assert result.selection.z.max() == 1
        assert result.selection.value < 0
        assert result.statistic == pytest.approx(result.selection.value) or size is None


def test_weights_are_never_negative():
    rng = np.random.default_rng(3)
    result = ta.two_sample_test(
        rng.normal(size=(30, 20)), rng.normal(size=(25, 20)), n_variables=20, split=False
    )
    assert (result.selection.z >= 0).all()
    assert 1 < result.selection.support.size < 20
    assert result.statistic == pytest.approx(result.selection.value, rel=1e-9)


def test_number_of_variables_is_the_smallest_nearly_as_good_as_the_best():
    X, Y, _ = ta.datasets.make_case("covariance-shift", 100, 80, random_state=1)
    result = ta.two_sample_test(X, Y, split=False, random_state=0)
    scores = {score.n_variables: score.ratios[0] for score in result.tuning.numbers}
    assert list(scores) == [1, 2, 3, 4, 5, 7, 10, 14, 20, 28, 39, 50]
    best = max(scores.values())
    assert result.statistic == best
    d = result.tuning.n_variables
    assert scores[d] >= 0.95 * best > max(scores[e] for e in scores if e < d)
    assert len(result.variables) == d


def test_number_of_variables_is_found_where_it_is_plain():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(300, 50)), rng.normal(size=(300, 50))
    Y[:, [3, 8, 20]] += 1
    result = ta.two_sample_test(X, Y, split=False, random_state=0)
    assert result.variables == ("x3", "x8", "x20")


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


@pytest.mark.slow
@pytest.mark.parametrize("size", [1, 3, None])
def test_level_of_2000_nulls(size):
    # 19 permutations: p is uniform on 0.05, …, 1, and P(p ≤ 0.2) = 0.2 but for ties.
    hits = rejections(size, 2000, 7)
    low, high = binom.ppf([5e-4, 1 - 5e-4], 2000, 0.2)
    assert low <= hits <= high


@pytest.mark.slow
def test_more_powerful_than_a_split_with_few_rows():
    hits = {True: 0, False: 0}
    for seed in range(20):
        X, Y, _ = ta.datasets.make_case("laplace", 60, random_state=seed)
        for split in hits:
            result = ta.two_sample_test(
                X,
                Y,
                n_variables=20,
                regularization=0.0,
                split=split,
                n_permutations=199,
                random_state=seed,
            )
            hits[split] += result.reject
    assert hits[False] >= hits[True] + 3


def test_constant_columns_categories_and_more_variables_than_vary():
    rng = np.random.default_rng(0)
    pandas = pytest.importorskip("pandas")
    x = pandas.DataFrame({"flat": 1.0, "arm": list("ab") * 20, "u": rng.normal(size=40)})
    y = pandas.DataFrame({"flat": 1.0, "arm": ["b"] * 30, "u": rng.normal(size=30)})
    with pytest.warns(UserWarning, match="flat") as told:
        result = ta.two_sample_test(x, y, n_variables=3, split=False, random_state=0)
    assert len(told) == 1
    assert result.reject
    assert set(result.variables) <= {"arm", "u"}
    assert result.selection.weights["arm"] > 0.9


def test_sparse_samples_give_the_dense_answer():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(1)
    x, y = rng.poisson(0.3, size=(50, 30)), rng.poisson(0.3, size=(40, 30))
    y[:, 4] += 1
    dense, sparse = (
        ta.two_sample_test(*pair, split=False, random_state=0)
        for pair in ((x, y), (scipy_sparse.csr_array(x), scipy_sparse.csr_array(y)))
    )
    assert sparse.pvalue == dense.pvalue
    assert sparse.selection.support.tolist() == dense.selection.support.tolist() == [4]


@pytest.mark.parametrize(
    ("settings", "part"),
    [
        ({"kernel": "gaussian"}, "kernel must be 'linear' with split=False"),
        ({"kernel": "quadratic"}, "kernel must be 'linear' with split=False"),
        ({"regularization": 0.5}, "regularization must be 'cv' or 0 with split=False"),
        ({"solver": "misdp"}, "solver must be 'auto' with split=False"),
        ({"test_size": 0.3}, "test_size must be left out with split=False"),
        ({"split": "no"}, "split must be True or False; got 'no'"),
        ({"split": 0}, "split must be True or False; got 0"),
        ({"n_variables": 6}, "n_variables must be an integer in 1..5; got 6"),
    ],
)
def test_what_cannot_be_done_is_said(settings, part):
    samples = samples_of()
    with pytest.raises(InputError, match=part.replace("..", r"\.\.")):
        ta.two_sample_test(samples.x, samples.y, **{"split": False, **settings})


def test_two_rows_a_sample_are_enough_and_one_is_not():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="2 and 9 rows have so few permutations .* use more rows$"):
        ta.two_sample_test(
            rng.normal(size=(2, 3)), rng.normal(size=(9, 3)), alpha=0.01, split=False
        )
    with pytest.raises(InputError, match="X must have at least 2 rows"):
        ta.two_sample_test(rng.normal(size=(1, 3)), rng.normal(size=(9, 3)), split=False)


def test_result_tells_how_it_came_about(tmp_path):
    X, Y, _ = ta.datasets.make_case("mean-shift", 60, 50, random_state=0)
    asked = ta.two_sample_test(X, Y, n_variables=60, split=False, random_state=5)
    assert "Statistic (largest MMD²):" in asked.summary()
    assert (
        "The same rows chose the variables, which were reselected under every permutation."
        in asked.summary()
    )
    page = asked.to_html(tmp_path / "report.html", stability=2)
    assert "because the variables were reselected under every permutation" in page
    assert "0, as always without a split" in page
    assert "split=False" in python_call(asked)
    assert json.loads(asked.to_json())["settings"]["split"] is False
    auto = ta.two_sample_test(X, Y, split=False, random_state=5)
    assert "Statistic (largest MMD², standardised):" in auto.summary()
    assert "which the p-value allows for" in auto.to_html(stability=False)
    assert auto.stability(4).n_resamples == 4
    assert np.isfinite(auto.witness(X)).all()
