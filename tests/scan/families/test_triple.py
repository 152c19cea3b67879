"""Triples: their cumulants by hand, all of them once, and those that stand out without labels."""

import math

import numpy as np
from pools import is_x, make_pool

from tellapart.scan.families.triple import (
    all_triples,
    rank_scores,
    screened_triples,
    signs,
    triple_statistics,
)


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


def test_the_largest_change_is_that_of_the_third_cumulant():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, 4)) + 0.5, rng.normal(size=(50, 4))
    pool = make_pool(x, y, n_permutations=6)
    triples = all_triples(np.arange(4), np.arange(4))
    found = triple_statistics(pool, triples, np.arange(4))
    values = signs(pool.scores.normal).astype(float)
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
    scores = signs(values.astype(np.float32))
    found = screened_triples(scores, np.arange(30), np.arange(30))
    assert (found.s[0], found.t[0], found.u[0]) == (3, 7, 20)


def test_scores_of_lopsided_columns_are_left_out():
    normal = np.zeros((100, 1), dtype=np.float32)
    normal[:3] = 5
    assert not signs(normal).any() and not rank_scores(normal).any()
