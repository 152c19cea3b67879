"""The quick search of tuning: the right number of variables, and not far from the whole search."""

import numpy as np
import pytest
from small_problems import joint, samples_of

from tellapart.kernels import Gaussian, Quadratic
from tellapart.search.solver import QuickSearch, quick_scores
from tellapart.search.starts import equal
from tellapart.selection.folds import make_folds

KERNELS = [Gaussian("median"), Quadratic()]


def quick(kernel, x, y):
    samples = samples_of(x, y)
    return make_folds(kernel, [(samples, samples)], 1)[0].search


def shifted(n_columns=30):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, n_columns)), rng.normal(size=(40, n_columns))
    y[:, :3] += 1.5
    return x, y


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("regularization", [0.0, 1.0])
def test_never_more_variables_than_asked_for(kernel, regularization):
    search = quick(kernel, *shifted())
    for n_variables in (1, 2, 3, 5, 30):
        z = search.weights(n_variables, regularization)
        assert z.shape == (30,)
        assert 1 <= np.count_nonzero(z) <= n_variables
        assert np.linalg.norm(z) == pytest.approx(1.0)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("regularization", [0.0, 0.5])
def test_it_is_repeatable_and_better_than_its_starts(kernel, regularization):
    search = quick(kernel, *shifted(10))
    z = search.weights(3, regularization)
    np.testing.assert_array_equal(z, search.weights(3, regularization))
    goal = search.screen.objective.at(regularization)
    steepest = equal(np.sort(np.argsort(-search.scores.single)[:3]), 10)
    assert goal.value(z) > goal.value(steepest)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_pair_is_found_where_no_single_variable_differs(kernel):
    x, y = (np.sign(part) + 0.1 * part for part in joint(20, (80, 80), (6, 13), seed=0))
    assert np.flatnonzero(quick(kernel, x, y).weights(2, 0.1)).tolist() == [6, 13]


@pytest.mark.parametrize("regularization", [0.0, 0.5])
def test_weights_within_the_orthant(regularization):
    samples = samples_of(*shifted(12))
    kernel = Quadratic().fit(samples)
    for scores in (quick_scores(samples, 1), quick_scores(samples, 1, nonnegative=True)):
        search = QuickSearch.of(samples, kernel, scores, nonnegative=True)
        for n_variables in (1, 3, 12):
            z = search.weights(n_variables, regularization)
            assert (z >= 0).all()
            assert 1 <= np.count_nonzero(z) <= n_variables
            assert np.linalg.norm(z) == pytest.approx(1.0)


def test_more_columns_than_candidates():
    x, y = shifted(150)
    search = quick(Gaussian("median"), x, y)
    assert search.screen.columns.shape[0] < 150
    z = search.weights(3, 0.1)
    assert z.shape == (150,)
    assert set(np.flatnonzero(z)) <= {0, 1, 2}
