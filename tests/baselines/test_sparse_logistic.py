"""Sparse logistic regression as a two-sample test."""

import numpy as np
import pandas as pd
import pytest

from tellapart.baselines.base import Generators
from tellapart.baselines.sparse_logistic import SparseLogisticRegression
from tellapart.data.reader import read_samples
from tellapart.data.row_order import split_by_content
from tellapart.datasets import make_case
from tellapart.errors import ConstantColumnWarning, InputError, MissingDependencyError
from tellapart.permutation.draws import draw_permutations
from tellapart.strs import contract


def shifted(seed=0, n_x=40, n_y=60, shift=(0, 2, 0, -2, 0)):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_x, len(shift))) + shift, rng.normal(size=(n_y, len(shift)))


def test_selection_tells_of_the_objective_it_maximised():
    X, Y = shifted()
    selection = SparseLogisticRegression(n_variables=2, gamma=0.05, time_limit=None).select(X, Y)
    assert selection.support.tolist() == [1, 3]
    # X is the positive side.
    assert selection.z[1] > 0 > selection.z[3]
    assert selection.regularization == pytest.approx(20)
    assert selection.status == "optimal"
    assert selection.solver == "SparseLogisticRegression"
    assert selection.value <= selection.upper_bound < 0
    assert selection.gap <= 1e-3
    pooled = np.concatenate([X, Y])
    scores = (pooled - pooled.mean(axis=0)) / pooled.std(axis=0) @ selection.z
    signs = np.repeat([1.0, -1.0], [40, 60])
    grid = np.linspace(-3, 3, 2001)
    loss = min(np.log1p(np.exp(-signs * (scores + b))).sum() for b in grid)
    ridge = selection.z @ selection.z / (2 * 0.05)
    assert selection.value == pytest.approx(-loss - ridge, rel=1e-4)


def test_unit_and_place_of_columns_do_not_matter():
    X, Y = shifted()
    baseline = SparseLogisticRegression(n_variables=2, gamma=0.05, time_limit=None)
    scale, place = np.array([1e-200, 1e3, 1.0, 1e140, 5.0]), np.array([0, 1e6, -4, 0, 1])
    one, other = baseline.select(X, Y), baseline.select(X * scale + place, Y * scale + place)
    np.testing.assert_allclose(one.z, other.z, rtol=1e-6, atol=1e-9)


def test_names_are_kept_and_columns_matched():
    X, Y = shifted()
    names = list("abcde")
    left, right = pd.DataFrame(X, columns=names), pd.DataFrame(Y, columns=names)[names[::-1]]
    result = SparseLogisticRegression(n_variables=2, random_state=0, time_limit=None).test(
        left, right
    )
    assert result.variables == ("b", "d")
    assert result.reject
    assert result.n_train == (20, 30)
    assert result.n_test == (20, 30)
    assert "sparse logistic regression" in result.summary()


def test_statistic_is_the_difference_of_mean_scores():
    X, Y = shifted()
    baseline = SparseLogisticRegression(
        n_variables=2, random_state=3, n_permutations=99, time_limit=None
    )
    result = baseline.test(X, Y)
    rngs = Generators.of(3)
    train, held_out = split_by_content(read_samples(X, Y), 0.5, rngs.split)
    pooled = np.concatenate([train.x, train.y])
    scale = pooled.std(axis=0)
    scores = np.concatenate([held_out.x, held_out.y]) / scale @ result.selection.z
    labels = draw_permutations(20, 30, 99, rngs.permute).labels(50).astype(bool)
    expected = [scores[side].mean() - scores[~side].mean() for side in labels]
    assert result.statistic == pytest.approx(expected[0])
    assert result.statistic > 0
    np.testing.assert_allclose(result.null_distribution, expected[1:], atol=1e-12)


def test_same_seed_same_answer():
    X, Y = shifted(shift=(0.3,) * 5)
    baseline = SparseLogisticRegression(n_variables=2, random_state=7, time_limit=None)
    one, other = baseline.test(X, Y), baseline.test(X, Y)
    assert one.pvalue == other.pvalue
    assert np.array_equal(one.selection.z, other.selection.z)
    assert one.regularization == other.regularization


def test_two_categories_count_as_numbers_and_more_are_refused():
    X, Y = shifted()
    left, right = pd.DataFrame(X).add_prefix("x"), pd.DataFrame(Y).add_prefix("x")
    left["sex"], right["sex"] = ["f"] * 38 + ["m"] * 2, ["m"] * 57 + ["f"] * 3
    selection = SparseLogisticRegression(n_variables=1, random_state=0, time_limit=None).select(
        left, right
    )
    assert selection.variables == ("sex",)
    left["town"], right["town"] = ["a", "b", "c", "d"] * 10, ["a", "b", "c"] * 20
    with pytest.raises(InputError, match="'town' has 4 categories"):
        SparseLogisticRegression(n_variables=1).select(left, right)


def test_constant_columns_get_no_weight():
    X, Y = shifted()
    X[:, 0] = Y[:, 0] = 0.1
    with pytest.warns(ConstantColumnWarning, match="'x0'"):
        selection = SparseLogisticRegression(n_variables=5, random_state=0, time_limit=None).select(
            X, Y
        )
    assert selection.support.tolist() == [1, 2, 3, 4]
    assert selection.constant == ("x0",)
    with pytest.raises(InputError, match="all 2 are constant"):
        SparseLogisticRegression(n_variables=1).select(np.ones((5, 2)), np.ones((6, 2)))


def test_tiny_samples_work():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    selection = SparseLogisticRegression(n_variables=2, random_state=0, time_limit=None).select(
        X, Y
    )
    assert selection.support.size == 2
    assert np.isfinite(selection.z).all()


def test_bad_settings_are_named():
    for settings, message in (
        ({"n_variables": None}, "n_variables must be an integer of at least 1; got None"),
        ({"n_variables": 0}, "n_variables must be an integer of at least 1; got 0"),
        ({"gamma": 0}, "gamma must be a finite number"),
        ({"gamma": "auto"}, "gamma must be 'cv' or a number above 0; got 'auto'"),
        ({"gap": 1.5}, "gap must be"),
        ({"time_limit": 0}, "time_limit must be"),
        ({"max_cuts": 0}, "max_cuts must be"),
    ):
        with pytest.raises(InputError, match=message):
            SparseLogisticRegression(**{"n_variables": 2, **settings})


def test_bad_data_are_named():
    X, Y = shifted()
    with pytest.raises(InputError, match=r"n_variables must be an integer in 1\.\.5; got 6"):
        SparseLogisticRegression(n_variables=6).test(X, Y)
    X[0, 0] = np.nan
    with pytest.raises(InputError, match="missing"):
        SparseLogisticRegression(n_variables=1).test(X, Y)


def test_absent_solver_gives_a_hint(monkeypatch):
    def absent(module):
        raise ImportError(module)

    monkeypatch.setattr(contract, "import_module", absent)
    with pytest.raises(MissingDependencyError, match=r"tellapart\[solvers\]"):
        SparseLogisticRegression(n_variables=1).select(*shifted())


def rejections(shift, trials, **settings):
    count = 0
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        X, Y = rng.normal(size=(30, 6)), rng.normal(size=(20, 6)) + shift
        baseline = SparseLogisticRegression(
            n_variables=2, random_state=seed, n_permutations=39, **settings
        )
        count += baseline.test(X, Y).reject
    return count


def test_level_and_power():
    # Binomial(100, 0.05) exceeds 13 with probability 0.05 %.
    assert rejections(0.0, 100, gamma=0.05) <= 13
    assert rejections(np.array([2.0, 0, 0, 0, 0, 0]), 10) == 10


def test_blind_to_a_difference_of_shape():
    X, Y, _ = make_case("laplace", 400, n_features=5, n_informative=5, random_state=0)
    assert (
        SparseLogisticRegression(n_variables=2, random_state=0, time_limit=None)
        .test(X, 3 * Y)
        .pvalue
        > 0.05
    )
