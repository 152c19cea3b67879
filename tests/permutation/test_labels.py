"""Bins by a keyed shuffle: equal sizes, known from row numbers alone, true labels first."""

import numpy as np
import pytest

from tellapart.permutation.draws import LARGER_SHARE
from tellapart.permutation.labels import draw_bins


def _drawn(n_x, n_y, n_permutations=19, seed=0):
    return draw_bins(n_x, n_y, n_permutations, np.random.default_rng(seed))


@pytest.mark.parametrize(("n_x", "n_y"), [(1201, 1703), (5000, 700), (30, 40), (50, 100_000)])
def test_bins_are_of_one_size_and_places_in_them_are_all_there(n_x, n_y):
    drawn = _drawn(n_x, n_y)
    for sample, count in enumerate((n_x, n_y)):
        bins, place = drawn.of_rows(sample, 0, count)
        sizes = np.bincount(bins, minlength=drawn.n_bins_of[sample] + 1)
        assert (sizes[:-1] == drawn.rows_per_bin).all()
        assert sizes.sum() == count
        kept = bins < drawn.n_bins_of[sample]
        whole = bins[kept] * drawn.rows_per_bin + place[kept]
        np.testing.assert_array_equal(np.sort(whole), np.arange(whole.size))


def test_any_rows_tell_the_same_bins():
    drawn = _drawn(4000, 3000)
    bins, place = drawn.of_rows(1, 0, 3000)
    again, places = drawn.without_labels().of_rows(1, 1234, 500)
    np.testing.assert_array_equal(again, bins[1234:1734])
    np.testing.assert_array_equal(places, place[1234:1734])


def test_neighbours_are_not_in_one_bin():
    """A file that is sorted must not give bins that are."""
    bins, _ = _drawn(100_000, 100_000).of_rows(0, 0, 100_000)
    assert abs(np.corrcoef(bins, np.arange(bins.size))[0, 1]) < 0.02


def test_the_true_labels_come_first_and_every_permutation_keeps_the_numbers():
    drawn = _drawn(1201, 1703, 99)
    x, y = drawn.n_bins_of
    np.testing.assert_array_equal(drawn.labels[0], np.repeat([1, 0], [x, y])[drawn.order])
    assert not np.array_equal(drawn.order, np.arange(x + y))
    assert (drawn.labels.sum(axis=1) == x).all()
    assert drawn.count == 100


def test_few_rows_are_permuted_one_by_one_and_all_permutations_listed_where_few():
    drawn = _drawn(3, 3, 999)
    assert drawn.exact
    assert drawn.count == 20
    assert drawn.rows_per_bin == 1


def test_a_small_batch_against_a_large_reference_is_permuted_row_by_row():
    drawn = _drawn(200, 10**6)
    assert drawn.rows_per_bin == 1
    assert drawn.n_bins_of == (200, LARGER_SHARE * 200)
