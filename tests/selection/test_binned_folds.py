"""Splits of bins: the scores are those of the rows in the bins."""

import numpy as np
import pytest

from reference import coefficients, make_samples
from tellapart.kernels import Linear
from tellapart.selection.folds import BinnedRows, split_bins
from tellapart.selection.tuning import N_SPLITS, Prepared, tune


@pytest.fixture(scope="module")
def prepared():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(760, 4)), rng.normal(size=(810, 4))
    y[:, 1] += 0.5
    x[:, 3], y[:, 3] = np.exp(3 * x[:, 3]), np.exp(3 * y[:, 3])
    return Prepared(make_samples(x, y), Linear(), 1)


@pytest.fixture(scope="module")
def rows(prepared):
    rng = np.random.default_rng(1)
    fitted, found = prepared.fitted(1.0), prepared.coefficients(1.0)
    return BinnedRows.of(prepared.samples, fitted, found, rng, 1)


def rows_of(rows, part):
    samples, size = rows.samples, rows.sizes[2]
    pooled = np.concatenate([samples.x, samples.y])[rows.order]
    places = [(side[:, None] * size + np.arange(size)).ravel() for side in part]
    return make_samples(pooled[places[0]], pooled[places[1]])


def test_coefficients_of_a_part_are_those_of_its_rows(rows):
    assert rows.sizes[2] > 1
    for fold in split_bins(rows, 2, np.random.default_rng(2), nonnegative=False):
        second = rows_of(rows, fold.second)
        assert (fold.scored_by.n_x, fold.scored_by.n_y) == (second.n_x, second.n_y)
        expected, _ = coefficients(second, rows.kernel)
        np.testing.assert_allclose(fold.scored_by.a, expected, atol=1e-10)
        # The parts share no row.
        assert fold.chosen_by.n_x + second.n_x <= rows.samples.n_x


def test_the_pvalue_is_that_of_permuted_bins(rows):
    fold = split_bins(rows, 1, np.random.default_rng(2), nonnegative=False)[0]
    strong, none = np.array([0.0, 1.0, 0.0, 0.0]), np.array([0.6, 0.0, 0.0, 0.8])
    assert fold.pvalue(strong, 3) == 1 / 200
    assert fold.pvalue(none, 3) > 0.01
    assert fold.pvalue(none, 3) == fold.pvalue(none, 3)


def test_weights_prefer_the_column_that_differs(rows):
    fold = split_bins(rows, 1, np.random.default_rng(2), nonnegative=True)[0]
    for regularization in (0.0, 0.1):
        z = fold.weights(1, regularization)
        assert np.flatnonzero(z).tolist() == [1]
    assert fold.ratios([z, -z])[0] > 0


def test_many_rows_are_tuned_by_bins_and_the_final_choice_reuses_the_coefficients(prepared):
    tuning = tune(
        prepared,
        n_variables=None,
        regularization=None,
        rng=np.random.default_rng(0),
        progress=lambda *_: None,
    )
    assert all(len(score.ratios) == N_SPLITS for score in tuning.regularizations)
    assert prepared.known(tuning.multiplier) is not None
    assert tuning.n_variables <= 4
