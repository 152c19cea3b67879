"""Stores give out columns and rows like a matrix, and never all of it."""

import numpy as np
import pytest
from scipy import sparse

from tellapart.data.column_store import ChosenColumns, MappedColumns, PickedRows, SparseColumns
from tellapart.errors import InputError

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


def dense(seed=0, shape=(7, 5)):
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) * (rng.random(shape) < 0.4)


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_columns_and_rows_are_those_of_the_matrix(form, kind):
    values = dense()
    held = SparseColumns.from_scipy(kind(values).asformat(form))
    assert held.shape == (7, 5)
    np.testing.assert_array_equal(held[:, 3], values[:, 3])
    np.testing.assert_array_equal(held[:, [4, 0]], values[:, [4, 0]])
    np.testing.assert_array_equal(held[2:6, np.array([1, 2])], values[2:6, [1, 2]])
    np.testing.assert_array_equal(held.transposed(np.arange(5), slice(1, 3)), values[1:3].T)
    rows = np.array([5, 0, 3])
    np.testing.assert_array_equal(held[rows][:, np.arange(5)], values[rows])
    np.testing.assert_array_equal(
        held[rows].transposed(np.arange(5), slice(1, 3)), values[[0, 3]].T
    )
    np.testing.assert_array_equal(held[values[:, 0] != 0][:, 0], values[values[:, 0] != 0, 0])
    np.testing.assert_array_equal(held.columns(np.array([3, 1]))[:, [0, 1]], values[:, [3, 1]])


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.bool_, np.float32, np.longdouble])
def test_any_real_dtype_becomes_float64(dtype):
    values = (dense() > 0).astype(dtype)
    held = SparseColumns.from_scipy(sparse.csr_array(values))
    assert held[:, 0].dtype == np.float64
    np.testing.assert_array_equal(held[:, np.arange(5)], values.astype(float))


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_duplicates_are_added_up_and_the_input_is_left_alone(index):
    data = np.array([1.0, 2.0, 0.0, 5.0])
    rows, pointers = np.array([2, 2, 0, 1], dtype=index), np.array([0, 3, 4], dtype=index)
    given = sparse.csc_array((data, rows, pointers), shape=(3, 2))
    held = SparseColumns.from_scipy(given)
    np.testing.assert_array_equal(held[:, [0, 1]], [[0, 0], [0, 5], [3, 0]])
    assert given.data.tolist() == [1.0, 2.0, 0.0, 5.0]
    assert given.indices.tolist() == [2, 2, 0, 1]


def test_small_integers_do_not_overflow_when_added_up():
    twice = sparse.coo_array((np.array([100, 100], dtype=np.int8), ([0, 0], [0, 0])), shape=(2, 1))
    assert SparseColumns.from_scipy(twice)[:, 0].tolist() == [200.0, 0.0]


def test_a_canonical_matrix_is_not_copied():
    given = sparse.csc_array(dense())
    assert np.shares_memory(SparseColumns.from_scipy(given).matrix.data, given.data)


def test_columns_of_entries():
    held = SparseColumns.from_scipy(sparse.csc_array(np.array([[0.0, 1, 0, np.nan], [2, 3, 0, 4]])))
    assert held.columns_where(np.isnan(held.matrix.data)).tolist() == [3]
    assert held.columns_where(held.matrix.data > 1).tolist() == [0, 1, 3]


def test_no_store_becomes_an_array_as_a_whole():
    held = SparseColumns.from_scipy(sparse.csc_array(dense()))
    for attempt in (np.asarray, lambda s: np.concatenate([s, s]), np.sum):
        with pytest.raises(InputError, match="all 7 × 5 numbers of a sample as one dense array"):
            attempt(held)


def test_rows_go_one_by_one():
    held = SparseColumns.from_scipy(sparse.csc_array(dense()))
    with pytest.raises(InputError, match="without a step"):
        held.transposed(np.arange(5), slice(0, 6, 2))


def test_chosen_columns_stand_where_they_stood():
    values = dense()
    held = ChosenColumns(values[:, [4, 1]], np.array([4, 1]), 5)
    assert held.shape == (7, 5)
    np.testing.assert_array_equal(held[:, 1], values[:, 1])
    np.testing.assert_array_equal(held[:, [1, 4]], values[:, [1, 4]])
    np.testing.assert_array_equal(held[np.array([2, 0])][:, 4], values[[2, 0], 4])
    np.testing.assert_array_equal(held.columns(np.array([1]))[:, 0], values[:, 1])
    with pytest.raises(InputError, match="column 3 must be one of the chosen variables"):
        held[:, [1, 3]]


def test_mapped_columns_are_float64_when_asked_for():
    values = (np.arange(12).reshape(4, 3) / 4).astype(np.float32)
    held = MappedColumns(values)
    assert held.shape == (4, 3)
    assert held[:, [2, 0]].dtype == np.float64
    np.testing.assert_array_equal(held[:, [2, 0]], values[:, [2, 0]])
    np.testing.assert_array_equal(held.rows(np.array([3, 1]))[:, 1], values[[3, 1], 1])
    np.testing.assert_array_equal(held.columns(np.array([2]))[:, 0], values[:, 2])
    np.testing.assert_array_equal(held.transposed(np.array([1]), slice(1, 3)), values[1:3, [1]].T)


def test_extremes_of_every_store():
    values = dense()
    places = np.arange(5)
    stores = (
        SparseColumns.from_scipy(sparse.csc_array(values)),
        MappedColumns(values),
        ChosenColumns(values, places, 5),
    )
    for held in stores:
        low, high = held.extremes()
        np.testing.assert_array_equal(low, values.min(axis=0))
        np.testing.assert_array_equal(high, values.max(axis=0))


@pytest.mark.parametrize("stored", [True, False])
def test_picked_rows_are_those_of_the_matrix(stored):
    values = np.random.default_rng(0).poisson(1.0, size=(7, 5)).astype(float)
    index = np.array([6, 2, 2, 0])
    held = SparseColumns.from_scipy(sparse.csr_array(values)) if stored else values
    picked = PickedRows(held, index)
    assert picked.shape == (4, 5)
    np.testing.assert_array_equal(picked[:, [4, 1]], values[index][:, [4, 1]])
    np.testing.assert_array_equal(
        picked.transposed(np.array([3]), slice(1, 3)), values[index][1:3, [3]].T
    )
    np.testing.assert_array_equal(picked.rows(np.array([3, 1]))[:, 2], values[[0, 2], 2])
    np.testing.assert_array_equal(picked.columns(np.array([4, 0]))[:, 1], values[index, 0])
    low, high = picked.extremes()
    np.testing.assert_array_equal(low, values[index].min(axis=0))
    np.testing.assert_array_equal(high, values[index].max(axis=0))
