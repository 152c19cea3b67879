"""Groups of rows: every row once, labels as many as they were, sums as one would add by hand."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tellapart.permutation.draws import FEWEST_BINS, LARGER_SHARE, rows_per_bin
from tellapart.permutation.forms import permute_rows


@given(st.integers(2, 200_000), st.integers(2, 200_000))
def test_bins_are_one_row_where_rows_are_few_and_many_enough_where_they_are_not(n_x, n_y):
    size, smaller = rows_per_bin(n_x, n_y), min(n_x, n_y)
    assert size == 1 or smaller // size >= FEWEST_BINS
    assert smaller // size <= 1_000


def test_few_of_the_larger_sample_take_part_where_it_is_much_larger():
    groups = permute_rows(50, 100_000, 19, np.random.default_rng(0))
    assert groups.rows_per_bin == 1
    assert groups.n_bins == 50 + LARGER_SHARE * 50
    assert groups.n_groups == groups.n_bins + 1
    assert groups.rows[-1] == 100_000 - LARGER_SHARE * 50


def test_few_rows_are_enumerated():
    groups = permute_rows(3, 3, 999, np.random.default_rng(0))
    assert groups.exact
    assert groups.count == 20


@given(st.integers(2, 3000), st.integers(2, 3000), st.integers(0, 99))
def test_labels_and_sums_are_those_of_rows_in_one_group_each(n_x, n_y, seed):
    groups = permute_rows(n_x, n_y, 19, np.random.default_rng(seed))
    np.testing.assert_array_equal(np.sort(groups.order), np.arange(n_x + n_y))
    assert groups.starts[-1] == n_x + n_y
    assert (groups.rows > 0).all()
    of_groups = groups.labels(slice(0, groups.count))
    labels = groups.of_rows(of_groups)
    # The true labels come first, and every permutation has as many of each.
    np.testing.assert_array_equal(labels[0], np.arange(n_x + n_y) < n_x)
    np.testing.assert_array_equal(labels.sum(axis=1), n_x)
    values = np.random.default_rng(seed).normal(size=n_x + n_y)
    np.testing.assert_allclose(of_groups @ groups.sums(values), labels @ values, atol=1e-9)
