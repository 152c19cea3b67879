"""Sums over bins: against plain sums over rows, whatever the blocks, threads and products."""

from dataclasses import replace

import numpy as np
import pytest
from pools import plan_pool

from tellapart.data.reader import read_samples
from tellapart.permutation.labels import draw_bins
from tellapart.scan import scan
from tellapart.scan.features import (
    SINGLES,
    Pairs,
    Product,
    Segments,
    Triples,
    add_pairs,
    add_triples,
)
from tellapart.scan.scores import score_rows
from tellapart.scan.sums import BinSums


def _samples(n_x, n_y, columns=5):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n_x, columns)), rng.normal(size=(n_y, columns)) + 0.3


@pytest.mark.parametrize(("n_x", "n_y"), [(40, 30), (1300, 1100), (60, 3000)])
def test_singles_products_and_points_are_sums_over_the_rows_of_each_bin(n_x, n_y):
    x, y = _samples(n_x, n_y)
    pool, _ = plan_pool(x, y)
    scores = score_rows(pool.tables, np.asfortranarray(y))
    at, place = pool.labels.of_rows(1, 0, n_y)

    def by_bins(values):
        sums = np.zeros((pool.labels.n_bins_of[1] + 1, values.shape[1]))
        np.add.at(sums, at, values.astype(float))
        return sums

    for name in SINGLES:
        if name != "far":
            expected = by_bins(scores.of(name))
            np.testing.assert_allclose(pool.sums.of(name).y, expected, atol=2e-3, err_msg=name)
    far = np.maximum(np.abs(scores.clipped) - 1.8, 0)
    np.testing.assert_allclose(pool.sums.of("far").y, by_bins(far), atol=2e-3)
    v = scores.clipped.astype(float)
    np.testing.assert_allclose(pool.sums.squares("clipped").y, by_bins(v**2), atol=5e-3)
    np.testing.assert_allclose(pool.sums.power(4).y, by_bins(v**4), rtol=1e-4, atol=0.02)
    # Of rows in bins V is rounded for its waves, to 1/4,096 of a period.
    turn = 3 * 2 * np.pi / 10.5
    for halves, wave in zip(pool.sums.waves(3, turn), (np.cos, np.sin), strict=True):
        np.testing.assert_allclose(halves.y, by_bins(wave(turn * v)), rtol=1e-3, atol=0.2)
    products = [one for one in pool.requests.features if isinstance(one, Product)]
    assert {len(product.columns) for product in products} == {2, 3, 4}
    for product in products:
        members = zip(product.scores, product.columns, strict=True)
        values = np.prod([scores.of(name)[:, columns] for name, columns in members], axis=0)
        np.testing.assert_allclose(pool.sums.feature(product).y, by_bins(values), atol=5e-3)
    kept = place < pool.requests.points_per_bin
    kept &= at < pool.labels.n_bins_of[1]
    where = at[kept] * pool.requests.points_per_bin + place[kept]
    np.testing.assert_array_equal(pool.sums.y.points[where], scores.clipped[kept])


def test_blocks_may_split_bins():
    x, y = _samples(3000, 2500)
    samples = read_samples(x, y)
    rng = np.random.default_rng(0)
    labels = draw_bins(3000, 2500, 9, rng)
    pool, _ = scan.make_pool(samples, labels, rng)
    fold = BinSums(pool.tables, labels.without_labels(), pool.requests, 0)
    for step in (97, 1000):
        again = samples.stores[0].fold(fold, step)
        for one, other in zip(again.arrays(), pool.sums.x.arrays(), strict=True):
            np.testing.assert_allclose(one, other, atol=5e-3)


def test_threads_do_not_change_a_bit():
    x, y = _samples(3000, 2500)
    samples = read_samples(x, y)
    rng = np.random.default_rng(0)
    labels = draw_bins(3000, 2500, 9, rng)
    pool, _ = scan.make_pool(samples, labels, rng)
    fold = BinSums(pool.tables, labels.without_labels(), pool.requests, 1)
    one = samples.stores[1].fold(fold, 512)
    other = samples.stores[1].fold(replace(fold, n_jobs=3), 512)
    for a, b in zip(one.arrays(), other.arrays(), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("rows_per_bin", [1, 3, 40])
def test_matrix_products_and_loops_agree(rows_per_bin):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 10 * rows_per_bin)).astype(np.float32)
    segments = Segments(np.arange(0, values.shape[1] + 1, rows_per_bin), np.arange(10), 2)
    s, t = np.triu_indices(6, 1)
    for few in (slice(None), slice(0, 2)):  # many of the pairs, or so few that loops serve
        asked = Pairs(s[few], t[few])
        out = np.zeros((11, asked.size), dtype=np.float32)
        add_pairs(asked, values, values, segments, out)
        product = (values[asked.s] * values[asked.t]).reshape(asked.size, 10, rows_per_bin)
        np.testing.assert_allclose(out[:10], product.sum(axis=2).T, atol=1e-4)
    i, j, k = (np.array(v) for v in zip(*[(0, 1, 2), (0, 1, 5), (2, 3, 4)], strict=True))
    three = Triples(i, j, k)
    out = np.zeros((11, 3), dtype=np.float32)
    add_triples(three, values, segments, out)
    product = (values[i] * values[j] * values[k]).reshape(3, 10, rows_per_bin)
    np.testing.assert_allclose(out[:10], product.sum(axis=2).T, atol=1e-4)
