"""The max_t of columns that come in blocks is that of all of them."""

import itertools

import numpy as np
import pytest

from tellapart.budget import Budget, using_budget
from tellapart.scan.adjusted import step_down
from tellapart.scan.blocks import column_blocks
from tellapart.scan.column_changes import MaxTScores
from tellapart.scan.column_tests import Unadjusted

COUNT, SIZE = 199, 60


def scores(seed=0):
    table = np.random.default_rng(seed).exponential(size=(COUNT, SIZE))
    table[0, [4, 17, 33, 50]] = [20.0, 12.0, 15.0, 9.0]
    return table


def max_t(table, first=0):
    places = np.arange(table.shape[1])
    unadjusted = Unadjusted.of(table, 100.0, exact=False)
    return MaxTScores(first + places, table[0], places, table, unadjusted)


def in_blocks(table, sizes=(7, 1, 20, 32)):
    parts, start, joined = [], 0, []
    for size in sizes:
        parts.append(max_t(table[:, start : start + size], start))
        start += size
        joined = [MaxTScores.joined([*joined, parts[-1]])]
    return joined[0]


def adjusted(own):
    units = own.units()
    return own.adjusted(units, step_down({"columns": units}, 0.05)["columns"])


@pytest.mark.parametrize("kept", [5, 8, 100])
def test_blocks_keep_the_strongest_and_the_largest_of_the_others(kept):
    table = scores()
    with using_budget(Budget(max_t_entries=0, max_t_columns=kept)):
        whole, found = max_t(table), in_blocks(table)
    strongest = np.sort(np.argsort(-table[0])[:kept])
    np.testing.assert_array_equal(found.kept, strongest)
    np.testing.assert_array_equal(found.table, table[:, strongest])
    np.testing.assert_array_equal(found.own, table[0])
    np.testing.assert_array_equal(found.units().maxima(), whole.units().maxima())
    left = np.setdiff1d(np.arange(SIZE), strongest)
    if left.size:
        np.testing.assert_array_equal(found.others, table[:, left].max(axis=1))
    own, theirs = adjusted(found), adjusted(whole)
    np.testing.assert_array_equal(own, theirs)
    assert np.argsort(-found.own)[:3].tolist() == [4, 33, 17]


def test_with_fewer_kept_than_named_pvalues_are_no_smaller():
    table = scores()
    with using_budget(Budget(max_t_entries=0, max_t_columns=2)):
        whole, found = max_t(table), in_blocks(table)
    own, theirs = adjusted(found), adjusted(whole)
    assert (own >= theirs).all()
    np.testing.assert_array_equal(own[[4, 33]], theirs[[4, 33]])
    order = np.argsort(-table[0])
    assert (np.diff(own[order]) >= 0).all()


def test_levels_of_one_column_stay_in_one_block():
    parent = np.repeat(np.arange(30), np.random.default_rng(1).integers(1, 6, size=30))
    blocks = column_blocks(parent, 8)
    assert [b.start for b in blocks] == [0, *(b.stop for b in blocks[:-1])]
    assert blocks[-1].stop == parent.size
    assert all(parent[a.stop - 1] != parent[b.start] for a, b in itertools.pairwise(blocks))
