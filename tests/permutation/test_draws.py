"""Labels: the true ones first, then every other or as many as were asked for."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellapart.errors import InputError
from tellapart.permutation.draws import (
    check_attainable,
    check_memory,
    count_permutations,
    draw_permutations,
    least_pvalue,
)


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 300), st.integers(0, 99))
def test_every_row_is_a_permutation_of_the_true_labels(n_x, n_y, wanted, seed):
    drawn = draw_permutations(n_x, n_y, wanted, np.random.default_rng(seed))
    labels, count = drawn.labels(n_x + n_y), math.comb(n_x + n_y, n_x)
    assert drawn.exact == (count <= wanted)
    assert len(labels) == (count if drawn.exact else wanted + 1)
    np.testing.assert_array_equal(labels[0], np.arange(n_x + n_y) < n_x)
    np.testing.assert_array_equal(labels.sum(axis=1), n_x)
    if drawn.exact:
        assert len(np.unique(labels, axis=0)) == count


def test_the_same_seed_gives_the_same_labels():
    one = draw_permutations(20, 30, 50, np.random.default_rng(4))
    other = draw_permutations(20, 30, 50, np.random.default_rng(4), memory_budget=1)
    np.testing.assert_array_equal(one.bits, other.bits)
    labels = one.labels(50)
    np.testing.assert_array_equal(labels.sum(axis=1), 20)
    np.testing.assert_array_equal(labels[0], np.arange(50) < 20)
    np.testing.assert_array_equal(one.labels(50, slice(16, 37)), labels[16:37])


def test_count_of_permutations_stops_at_the_limit():
    assert count_permutations(5, 5, 252) == 252
    assert count_permutations(5, 5, 251) is None
    assert count_permutations(10**6, 10**6, 10**9) is None


def test_the_least_pvalue_counts_the_swap_of_equal_samples():
    assert least_pvalue(3, 4, 999) == 1 / 35
    assert least_pvalue(4, 4, 999) == 2 / 70
    assert least_pvalue(50, 60, 999) == 1 / 1000


def test_too_few_permutations_to_reach_the_level_are_refused():
    check_attainable(19, 0.05)
    with pytest.raises(InputError, match=r"at least 19 for alpha = 0.05 .*; got 18"):
        check_attainable(18, 0.05)


def test_more_permutations_than_memory_holds_are_refused_before_any_are_drawn():
    for rows, count in ((50, 10**11), (4_000_000, 10_000), (16, 10**9)):
        with pytest.raises(InputError, match=f"n_permutations must be at most .*; got {count:,}"):
            draw_permutations(rows, rows, count, np.random.default_rng(0))
    check_memory(50, 50, 10**6)
    check_memory(1_000_000, 1_000_000, 9_999)
    check_memory(5, 5, 10**11)  # there are 252
