"""Marks depend on seed, sample and row number alone; draws keep the smallest of them."""

import numpy as np
import pytest
from scipy import stats

from tellapart.data.row_draws import Sketch, draw_pooled, drawn_places, marks


def sketch_of(values, seed, sample, most, cuts):
    parts = []
    for start, stop in zip((0, *cuts), (*cuts, values.shape[0]), strict=True):
        part = Sketch.empty(most, values.shape[1])
        part.add(start, marks(seed, sample, start, stop - start), list(values[start:stop].T))
        parts.append(part)
    total = parts[-1]  # merged in an odd order, on purpose
    for part in parts[:-1]:
        total.merge(part)
    return total.smallest()


def test_marks_are_distinct_and_uniform():
    found = marks(0, 0, 0, 200_000)
    assert np.unique(found).size == found.size
    assert stats.kstest(found / 2.0**64, "uniform").pvalue > 1e-4
    bits = (found[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    assert np.all(np.abs(bits.mean(axis=0) - 0.5) < 0.006)


def test_seeds_samples_and_rows_give_other_marks():
    keys = [(0, 0), (0, 1), (1, 0), (1, 1), (2**64, 0), (2**32, 0)]
    every = np.concatenate([marks(seed, sample, 0, 1000) for seed, sample in keys])
    assert np.unique(every).size == every.size


@pytest.mark.parametrize("cuts", [(), (1,), (500,), (3, 4, 100, 999), tuple(range(10, 1000, 10))])
def test_draws_do_not_depend_on_chunks(cuts):
    values = np.random.default_rng(0).normal(size=(1000, 3))
    found = sketch_of(values, 7, 1, 50, cuts)
    every = marks(7, 1, 0, 1000)
    smallest = np.sort(np.argsort(every)[:50])
    assert np.array_equal(found.rows, smallest)
    assert np.array_equal(found.values, values[smallest])
    places, found_marks = drawn_places(7, 1, 1000, 50)
    assert np.array_equal(places, smallest)
    assert np.array_equal(found_marks, found.marks)


def test_fewer_rows_than_wanted_are_all_there():
    values = np.arange(10.0).reshape(5, 2)
    found = sketch_of(values, 0, 0, 50, (2,))
    assert np.array_equal(found.values, values)
    assert np.array_equal(drawn_places(0, 0, 5, 50)[0], np.arange(5))


def test_the_pooled_draw_has_the_smallest_marks_of_both():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(300, 2)), rng.normal(size=(700, 2))
    pooled, (of_x, of_y) = draw_pooled(
        sketch_of(x, 3, 0, 100, (50,)), sketch_of(y, 3, 1, 100, (600, 601)), most=100
    )
    every = np.concatenate((marks(3, 0, 0, 300), marks(3, 1, 0, 700)))
    smallest = np.sort(np.argsort(every)[:100])
    assert np.array_equal(of_x, smallest[smallest < 300])
    assert np.array_equal(of_y, smallest[smallest >= 300] - 300)
    assert np.array_equal(pooled, np.concatenate((x, y))[smallest])


def test_shares_of_the_samples_are_those_of_the_rows():
    shares = []
    for seed in range(200):
        x = sketch_of(np.zeros((100, 1)), seed, 0, 60, ())
        y = sketch_of(np.zeros((300, 1)), seed, 1, 60, ())
        shares.append(draw_pooled(x, y, 60)[1][1].size / 60)
    assert abs(np.mean(shares) - 0.75) < 4 * np.std(shares) / 200**0.5
