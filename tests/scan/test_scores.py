"""Scores: standardised, blind to units and to labels, and empty where a column has no shape."""

import numpy as np
import pandas as pd
import pytest

from tellapart.data.reader import read_samples
from tellapart.scan.scores import make_scores
from tellapart.scan.tables import MOST_LEVELS

SHAPES = ("spread", "squared", "wave 2", "wave 3", "wave 4", "skew", "fourth", "atom")


def _samples(values):
    return read_samples(values[: len(values) // 2], values[len(values) // 2 :])


def test_scores_have_mean_0_and_variance_1_or_are_0():
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.normal(size=90), rng.poisson(1, 90), rng.random(90) < 0.3])
    scores = make_scores(_samples(values))
    for name in ("normal", "clipped", *SHAPES):
        part = scores.of(name).astype(float)
        np.testing.assert_allclose(part.mean(axis=0), 0, atol=1e-5)
        variance = part.var(axis=0)
        assert all(abs(v - 1) < 1e-4 or v == 0 for v in variance), name


def test_a_column_of_two_values_has_no_shape():
    rng = np.random.default_rng(0)
    scores = make_scores(_samples((rng.random((80, 1)) < 0.2).astype(float)))
    assert all(not scores.of(name).any() for name in SHAPES)


@pytest.mark.parametrize("change", [lambda v: 3 * v + 7, lambda v: 1e100 * v, lambda v: 1e-100 * v])
def test_units_do_not_matter(change):
    values = np.random.default_rng(0).normal(size=(60, 2))
    one, other = make_scores(_samples(values)), make_scores(_samples(change(values)))
    for name in ("normal", "clipped", *SHAPES):
        np.testing.assert_allclose(one.of(name), other.of(name), atol=2e-3)


def test_the_order_of_the_rows_is_all_that_labels_could_change():
    values = np.random.default_rng(0).normal(size=(60, 2))
    order = np.random.default_rng(1).permutation(60)
    one, other = make_scores(_samples(values)), make_scores(_samples(values[order]))
    np.testing.assert_allclose(one.normal[order], other.normal, atol=1e-6)


def test_levels_of_a_category_are_indicators_and_rare_ones_share_one():
    rng = np.random.default_rng(0)
    common = rng.choice(list("abc"), 100)
    rare = [f"r{i % 40}" for i in range(100)]
    table = pd.DataFrame({"v": rng.normal(size=100), "c": common, "r": rare})
    scores = make_scores(read_samples(table[:50], table[50:]))
    assert scores.column.tolist() == [0] + [1] * 3 + [2] * (MOST_LEVELS + 1)
    assert scores.level[0] is None
    assert set(scores.level[1:4]) == {"a", "b", "c"}
    assert scores.level[-1] == f"{40 - MOST_LEVELS} rare levels"


def test_constant_columns_have_no_scores():
    values = np.column_stack([np.ones(20), np.arange(20.0)])
    scores = make_scores(_samples(values))
    assert scores.constant.tolist() == [0]
    assert scores.column.tolist() == [1]
