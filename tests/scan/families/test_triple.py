"""Triples: their cumulants by hand, all of them once, and those that stand out without labels."""

import math

import numpy as np
import pytest
from pools import is_x, plan_pool, run_family

from tellapart.data.reader import read_samples
from tellapart.scan.families.triple import (
    all_triples,
    screened_triples,
    usable_scores,
)
from tellapart.scan.scores import make_scores, score_rows


def _cumulant(a, b, c):
    a, b, c = (v - v.mean() for v in (a, b, c))
    return np.mean(a * b * c)


def test_all_triples_are_there_once():
    found = all_triples(np.arange(7), np.arange(7))
    rows = np.column_stack([found.s, found.t, found.u])
    assert len(rows) == math.comb(7, 3) == len(np.unique(rows, axis=0))
    assert (np.diff(rows, axis=1) > 0).all()


def test_levels_of_one_column_are_no_triple():
    found = all_triples(np.arange(4), np.array([0, 1, 1, 2]))
    assert np.column_stack([found.s, found.t, found.u]).tolist() == [[0, 1, 3], [0, 2, 3]]


@pytest.mark.parametrize(("n_x", "n_y"), [(40, 50), (2600, 2800)])
def test_the_largest_change_is_that_of_the_third_cumulant(n_x, n_y):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(n_x, 4)) + 0.5, rng.normal(size=(n_y, 4))
    pool, planned = plan_pool(x, y, n_permutations=6)
    found = run_family(pool, planned, "triple")
    scores = score_rows(pool.tables, np.asfortranarray(np.vstack([x, y])))
    values = scores.of("sign").astype(float)
    triples = planned.plans["triple"].groups[0].triples
    for e in range(pool.count):
        own = []
        for s, t, u in zip(triples.s, triples.t, triples.u, strict=True):
            product = values[:, s] * values[:, t] * values[:, u]
            x_side = is_x(pool, e)
            change = _cumulant(*values[x_side][:, [s, t, u]].T)
            change -= _cumulant(*values[~x_side][:, [s, t, u]].T)
            own.append((change / product.std()) ** 2)
        assert abs(found.statistics[e, 0] - max(own)) < 1e-3 * max(own) + 1e-5


def test_a_product_in_the_pooled_rows_stands_out():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(300, 30))
    values[:, 7] = np.abs(values[:, 7]) * np.sign(values[:, 3] * values[:, 20])
    scores = make_scores(read_samples(values[:150], values[150:])).of("sign")
    found = screened_triples(scores, np.arange(30), np.arange(30))
    assert (found.s[0], found.t[0], found.u[0]) == (3, 7, 20)


def test_scores_of_lopsided_columns_are_left_out():
    values = np.zeros((100, 1))
    values[:3] = 5
    scores = make_scores(read_samples(values[::2], values[1::2]))
    assert not usable_scores(scores, "signs").any()
    assert not usable_scores(scores, "ranks").any()
