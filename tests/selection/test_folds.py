"""Splits of the training half: weights from one part, scores from the other."""

import numpy as np
import pytest

from reference import make_samples
from tellapart.kernels import Gaussian, Linear, Quadratic
from tellapart.selection.folds import (
    FEWEST_ROWS,
    LinearFold,
    ObjectiveMoments,
    SearchFold,
    make_folds,
    ratio,
    split_in_halves,
)
from tellapart.statistics.mmd import mmd2, variance
from tellapart.statistics.objective import FittedObjective

KERNELS = [Linear(), Quadratic(), Gaussian("median")]


def samples(rows=(40, 60), n_columns=6, seed=0):
    rng = np.random.default_rng(seed)
    x, y = (rng.normal(size=(n, n_columns)) for n in rows)
    y[:, 1] += 2.0
    return make_samples(x, y)


def folds_of(kernel, data, count=2):
    return make_folds(kernel, split_in_halves(data, count, np.random.default_rng(0)), 1)


@pytest.mark.parametrize("kernel", KERNELS)
def test_folds_are_of_the_kind_of_the_kernel_and_fitted_on_their_first_part(kernel):
    folds = folds_of(kernel, samples())
    assert len(folds) == 2
    for fold in folds:
        assert isinstance(fold, LinearFold if kernel.name == "linear" else SearchFold)
        assert fold.kernel.scalars == kernel.fit(fold.train).scalars
        assert (fold.train.n_x, fold.held_out.n_x) == (20, 20)
        assert (fold.train.n_y, fold.held_out.n_y) == (30, 30)


@pytest.mark.parametrize("kernel", KERNELS)
def test_weights_are_of_the_number_asked_for_and_scores_are_those_of_the_held_out_part(kernel):
    fold = folds_of(kernel, samples())[0]
    for n_variables in (1, 3, 6):
        z = fold.weights(n_variables, 0.1)
        assert np.linalg.norm(z) == pytest.approx(1.0)
        assert 1 <= np.count_nonzero(z) <= n_variables
        x, y = fold.held_out.x, fold.held_out.y
        grams = [fold.kernel.gram(u, v, z) for u, v in ((x, x), (y, y), (x, y))]
        expected = np.sqrt(2 * 20 * 30 / 50) * mmd2(*grams) / np.sqrt(variance(*grams) + 1e-8)
        assert fold.ratios([z]) == pytest.approx([expected], rel=1e-6)
    assert np.flatnonzero(fold.weights(1, 0.1)).tolist() == [1]
    assert fold.pvalue(fold.weights(1, 0.1), 3) == fold.pvalue(fold.weights(1, 0.1), 3) == 1 / 200


@pytest.mark.parametrize("kernel", KERNELS)
def test_columns_that_are_constant_in_a_part_get_no_weight(kernel):
    data = samples()
    x, y = data.x.copy(), data.y.copy()
    x[:, 4] = y[:, 4] = 0.0
    fold = folds_of(kernel, make_samples(x, y))[0]
    assert fold.keep.tolist() == [0, 1, 2, 3, 5]
    assert fold.weights(6, 0.0)[4] == 0
    constant = make_samples(np.ones((20, 2)), np.ones((20, 2)))
    assert folds_of(kernel, constant) == []


def test_moments_by_the_objective():
    data = samples()
    objective = FittedObjective(data, Gaussian("median").fit(data), 0.0)
    moments, z = ObjectiveMoments(objective), np.full(6, 6**-0.5)
    pairs = ((data.x, data.x), (data.y, data.y), (data.x, data.y))
    grams = [objective.kernel.gram(u, v, z) for u, v in pairs]
    assert moments.statistic(z) == pytest.approx(mmd2(*grams), abs=1e-13)
    assert moments.variance_at(z) == pytest.approx(variance(*grams), abs=1e-13)
    assert ratio(moments, z) == pytest.approx(mmd2(*grams) / np.sqrt(variance(*grams) + 1e-8))


def test_rows_of_large_samples_are_drawn():
    data = samples((90, 30))
    rng = np.random.default_rng(0)
    for one, other in split_in_halves(data, 3, rng, most_rows=20):
        assert (one.n_x, other.n_x, one.n_y, other.n_y) == (20, 20, 15, 15)
        rows = np.concatenate([one.x, other.x])
        assert len(np.unique(rows[:, 0])) == 40  # no row twice
    whole = split_in_halves(data, 1, rng, most_rows=45)[0]
    assert (whole[0].n_x, whole[1].n_x) == (45, 45)


def test_too_few_rows_are_not_split():
    rng = np.random.default_rng(0)
    assert split_in_halves(samples((FEWEST_ROWS - 1, 50)), 3, rng) == []
    assert len(split_in_halves(samples((FEWEST_ROWS, 50)), 3, rng)) == 3
