"""Columns on one scale."""

import numpy as np
import pytest

from tellapart.baselines.standardised import standardise
from tellapart.data.reader import read_samples
from tellapart.errors import ConstantColumnWarning


def test_pooled_columns_have_mean_0_and_variance_1():
    rng = np.random.default_rng(0)
    X, Y = 5 + 3 * rng.normal(size=(20, 3)), rng.normal(size=(33, 3))
    both = standardise(read_samples(X, Y), "Method")
    pooled = np.concatenate([both.x, both.y])
    np.testing.assert_allclose(pooled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(pooled.var(axis=0), 1)
    direction = both.direction(np.array([1.0, 0.0, -2.0]))
    np.testing.assert_allclose(direction.scores(X), both.x[:, 0] - 2 * both.x[:, 2])


def test_numbers_of_any_size():
    values = np.array([[1.0], [2.0], [4.0]])
    for size in (1e-300, 1e149):
        both = standardise(read_samples(size * values, -size * values), "Method")
        assert both.x.ravel() == pytest.approx(values.ravel() / np.sqrt(7))


def test_constant_columns_are_left_out_and_score_nothing():
    X, Y = np.array([[1.0, 2.0], [1.0, 3.0]]), np.array([[1.0, 4.0], [1.0, 9.0]])
    with pytest.warns(ConstantColumnWarning, match="'x0'"):
        both = standardise(read_samples(X, Y), "Method")
    assert both.keep.tolist() == [1]
    assert both.constant.tolist() == [True, False]
    scores = both.direction(np.array([2.0])).scores(np.array([[77.0, 4.5]]))
    assert scores.tolist() == [0.0]
