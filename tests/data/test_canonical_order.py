"""The order that the content gives: the same rows, columns and samples, however they came."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tellapart.data.column_store import SparseColumns
from tellapart.data.design import Design
from tellapart.data.row_order import (
    MOST_SORTED,
    by_content,
    canonical_order,
    in_order,
    split_by_content,
)
from tellapart.data.samples import Samples


def numbered(x, y):
    names = tuple(f"x{s}" for s in range(x.shape[1]))
    return Samples(x, y, names, ("numeric",) * x.shape[1])


def some(seed, n_x=12, n_y=9, n_columns=4, values=None):
    rng = np.random.default_rng(seed)
    draw = rng.normal if values is None else lambda size: rng.integers(values, size=size) * 1.0
    return numbered(draw(size=(n_x, n_columns)), draw(size=(n_y, n_columns)))


def sorted_all(samples):
    order = canonical_order(samples)
    return in_order(samples, order).columns(order.columns)


def same(one, other):
    return np.array_equal(one.x, other.x) and np.array_equal(one.y, other.y)


@given(
    st.integers(0, 10**6),
    st.sampled_from([None, 2, 5]),
    st.booleans(),
    st.sampled_from([(12, 9), (9, 12), (10, 10)]),
)
def test_any_order_gives_one_order(seed, values, swap, sizes):
    samples = some(seed, *sizes, values=values)
    rng = np.random.default_rng(seed + 1)
    order = rng.permutation(samples.n_columns)
    other = samples.rows(rng.permutation(samples.n_x), rng.permutation(samples.n_y)).columns(order)
    if swap:
        other = replace(other, x=other.y, y=other.x)
    first, second = sorted_all(samples), sorted_all(other)
    assert same(first, second)
    # Copies of a column, which few values often make, go by their names.
    assert first.names == second.names
    assert canonical_order(samples).digest == canonical_order(other).digest


@given(st.integers(0, 10**6), st.sampled_from([None, 4]))
def test_units_and_offsets_of_columns_do_not_count(seed, values):
    samples = some(seed, values=values)
    rng = np.random.default_rng(seed + 1)
    by, plus = np.exp(rng.normal(size=4)), rng.integers(-9, 10, 4)
    moved = numbered(samples.x * by + plus, samples.y * by + plus)
    one, other = canonical_order(samples), canonical_order(moved)
    assert np.array_equal(one.of_x, other.of_x)
    assert np.array_equal(one.of_y, other.of_y)
    assert np.array_equal(one.columns, other.columns)
    assert one.swapped == other.swapped


def test_columns_with_the_same_ranks_are_told_apart_by_their_values():
    base = some(3, n_columns=1)
    columns = [np.exp, lambda v: v, np.arctan]
    x, y = (np.hstack([f(side) for f in columns]) for side in (base.x, base.y))
    order = [2, 0, 1]
    assert same(sorted_all(numbered(x, y)), sorted_all(numbered(x[:, order], y[:, order])))


def test_separated_columns_are_told_apart_by_their_rows():
    # All of X lies below all of Y in every column: the columns' own values say nothing.
    rng = np.random.default_rng(5)
    x = np.argsort(rng.normal(size=(8, 3)), axis=0) * 1.0
    y = 100 + np.argsort(rng.normal(size=(6, 3)), axis=0) * 1.0
    for order in ([1, 2, 0], [2, 1, 0]):
        assert same(sorted_all(numbered(x, y)), sorted_all(numbered(x[:, order], y[:, order])))


def test_sparse_samples_are_sorted_alike():
    from scipy import sparse

    dense = some(8, values=3)
    held = replace(
        dense,
        x=SparseColumns.from_scipy(sparse.csr_array(dense.x)),
        y=SparseColumns.from_scipy(sparse.csr_array(dense.y)),
    )
    one, other = canonical_order(dense), canonical_order(held)
    assert np.array_equal(one.of_x, other.of_x)
    assert np.array_equal(one.columns, other.columns)


def test_designs_and_large_samples_keep_their_order():
    samples = some(1)
    assert canonical_order(samples, most_entries=10) is None
    strata = np.arange(12) % 3, np.arange(9) % 3
    design = Design(strata, (np.arange(12), np.arange(9)), strata="ward")
    assert canonical_order(replace(samples, design=design)) is None
    rows = MOST_SORTED // 8 + 1
    many = some(1, n_x=rows, n_y=rows)
    assert by_content(many) is many


@pytest.mark.parametrize("seed", range(5))
def test_a_split_has_the_same_rows_in_its_parts(seed):
    samples = some(seed, n_x=20, n_y=15)
    rng = np.random.default_rng(seed)
    other = samples.rows(rng.permutation(20), rng.permutation(15))
    other = replace(other, x=other.y, y=other.x)
    halves = split_by_content(samples, 0.4, np.random.default_rng(7))
    again = split_by_content(other, 0.4, np.random.default_rng(7))
    for part, swapped in zip(halves, again, strict=True):
        assert np.array_equal(np.sort(part.x, axis=0), np.sort(swapped.y, axis=0))
        assert np.array_equal(np.sort(part.y, axis=0), np.sort(swapped.x, axis=0))
    assert (halves[1].n_x, halves[1].n_y) == (8, 6)


def test_one_seed_has_no_favourites_among_contents():
    """Of tables of zeros and ones, the first part has as many ones as chance gives, seed or not."""
    extra = []
    for table in range(300):
        rng = np.random.default_rng(table)
        ones = rng.integers(2, size=(40, 1)) * 1.0
        train, _ = split_by_content(numbered(ones, ones[:30]), 0.5, np.random.default_rng(0))
        extra.append(train.x.sum() - ones.sum() / 2)
    # The deviation of a hypergeometric count is at most √(40/16): five standard errors of a mean.
    assert abs(np.mean(extra)) < 5 * np.sqrt(40 / 16 / 300)
    assert np.std(extra) > 1.0
