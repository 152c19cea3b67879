"""Tails: ranks in the bulk, an exponential beyond, and every permutation treated alike."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tellapart.scan.tails import rank_pvalues, tail_pvalue_of, tail_pvalues

values = arrays(np.float64, st.tuples(st.integers(2, 120), st.integers(1, 3)),
                elements=st.floats(0, 100, width=32))  # fmt: skip


@given(values)
def test_pvalues_fall_as_statistics_grow_and_lie_in_0_to_1(table):
    for make in (rank_pvalues, tail_pvalues):
        pvalues = make(table)
        assert ((pvalues > 0) & (pvalues <= 1)).all()
        for s in range(table.shape[1]):
            order = np.argsort(table[:, s], kind="stable")
            assert (np.diff(pvalues[order, s]) <= 1e-12).all()


@given(values, st.integers(0, 1000))
def test_every_permutation_is_treated_alike(table, seed):
    order = np.random.default_rng(seed).permutation(len(table))
    for make in (rank_pvalues, tail_pvalues):
        np.testing.assert_allclose(make(table)[order], make(table[order]), atol=1e-12)


def test_ranks_count_ties_against_rejection():
    assert rank_pvalues(np.array([[2.0], [2.0], [1.0]])).ravel().tolist() == [2 / 3, 2 / 3, 1]


def test_the_tail_is_right_for_exponential_statistics():
    drawn = np.random.default_rng(0).exponential(size=(20_000, 1))
    pvalues = tail_pvalues(drawn)
    np.testing.assert_allclose(np.log(pvalues), -drawn, atol=0.35)


def test_the_place_of_a_value_among_others_agrees_with_its_own():
    drawn = np.random.default_rng(0).normal(size=500)
    own, theirs = tail_pvalue_of(drawn, drawn), tail_pvalues(drawn[:, None])[:, 0]
    inside = np.sort(drawn)[-51]
    np.testing.assert_allclose(own[drawn <= inside], theirs[drawn <= inside])
    # Beyond, only the size of the largest is left out.
    np.testing.assert_allclose(np.log(own), np.log(theirs), atol=0.4)


def test_how_far_off_the_largest_is_changes_the_place_of_no_other():
    drawn = np.random.default_rng(1).exponential(size=200)
    drawn[0] = drawn.max() + 0.1
    before = tail_pvalue_of(drawn[1:], drawn)
    drawn[0] = 1e3
    np.testing.assert_array_equal(tail_pvalue_of(drawn[1:], drawn), before)


def test_statistics_that_are_all_tied_say_nothing():
    tied = np.ones((200, 1))
    assert (tail_pvalues(tied) == 1).all()
