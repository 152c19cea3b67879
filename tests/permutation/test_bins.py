"""Bins of rows: every row once, labels as many as they were, sums as one would add them by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tellapart.permutation.labels import (
    FEWEST_BINS,
    LARGER_SHARE,
    draw_bins,
    permute_bins,
    rows_per_bin,
)


@given(st.integers(2, 3000), st.integers(2, 3000), st.integers(0, 99))
def test_every_row_is_in_one_bin_or_keeps_its_label(n_x, n_y, seed):
    drawn = draw_bins(n_x, n_y, 19, np.random.default_rng(seed))
    every = np.concatenate([drawn.rows.ravel(), drawn.fixed_x, drawn.fixed_y])
    np.testing.assert_array_equal(np.sort(every), np.arange(n_x + n_y))
    assert (drawn.fixed_x < n_x).all()
    assert (drawn.fixed_y >= n_x).all()
    # A bin never mixes the samples, and the first labels are the true ones.
    of_x = drawn.rows < n_x
    assert (of_x.all(axis=1) | ~of_x.any(axis=1)).all()
    np.testing.assert_array_equal(drawn.labels[0], of_x[:, 0])
    np.testing.assert_array_equal(drawn.labels.sum(axis=1), drawn.labels[0].sum())


@given(st.integers(2, 200_000), st.integers(2, 200_000))
def test_bins_are_one_row_where_rows_are_few_and_many_enough_where_they_are_not(n_x, n_y):
    size, smaller = rows_per_bin(n_x, n_y), min(n_x, n_y)
    assert size == 1 or smaller // size >= FEWEST_BINS
    assert smaller // size <= 1_000


def test_few_of_the_larger_sample_take_part_where_it_is_much_larger():
    drawn = draw_bins(50, 100_000, 19, np.random.default_rng(0))
    assert drawn.rows_per_bin == 1
    assert drawn.n_bins == 50 + LARGER_SHARE * 50
    assert drawn.fixed_y.size == 100_000 - LARGER_SHARE * 50


def test_means_are_those_of_the_rows_that_carry_each_label():
    rng = np.random.default_rng(1)
    drawn = draw_bins(1201, 1703, 9, rng)
    assert drawn.rows_per_bin > 1
    assert drawn.fixed_x.size + drawn.fixed_y.size > 0
    values = rng.normal(size=(2904, 3)).astype(np.float32)
    of_x, of_y = drawn.means(values)
    for e in range(drawn.count):
        labels = np.zeros(2904, dtype=bool)
        labels[drawn.rows[drawn.labels[e] > 0].ravel()] = True
        labels[drawn.fixed_x] = True
        np.testing.assert_allclose(of_x[e], values[labels].mean(axis=0), atol=1e-4)
        np.testing.assert_allclose(of_y[e], values[~labels].mean(axis=0), atol=1e-4)


def test_few_rows_are_enumerated():
    drawn = draw_bins(3, 3, 999, np.random.default_rng(0))
    assert drawn.exact
    assert drawn.count == 20


@given(st.integers(2, 3000), st.integers(2, 3000), st.integers(0, 99))
def test_packed_bins_are_the_same_bins(n_x, n_y, seed):
    packed = permute_bins(n_x, n_y, 19, np.random.default_rng(seed))
    drawn = draw_bins(n_x, n_y, 19, np.random.default_rng(seed))
    np.testing.assert_array_equal(np.sort(packed.order), np.arange(n_x + n_y))
    assert packed.starts[-1] == n_x + n_y
    assert (packed.rows > 0).all()
    labels = packed.of_rows(packed.labels(slice(0, packed.count)))
    # The true labels come first, and every permutation has as many of each.
    np.testing.assert_array_equal(labels[0], np.arange(n_x + n_y) < n_x)
    np.testing.assert_array_equal(labels.sum(axis=1), n_x)
    np.testing.assert_array_equal(labels[:, drawn.rows[:, 0]], drawn.labels)
    assert (packed.rows_per_bin, packed.exact) == (drawn.rows_per_bin, drawn.exact)
    values = np.random.default_rng(seed).normal(size=n_x + n_y)
    sums = packed.labels(slice(0, packed.count)) @ packed.sums(values)
    np.testing.assert_allclose(sums, labels @ values, atol=1e-9)
