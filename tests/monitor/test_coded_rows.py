"""Rows put below others: columns by name, labels pooled, sparse stays sparse."""

import numpy as np
import pytest
from scipy import sparse

import tellapart as ta
from tellapart.data.column_store import MappedColumns, SparseColumns
from tellapart.data.samples import CodedRows
from tellapart.monitor.rows import stack_rows, with_shared_columns

COLOURS = CodedRows(
    np.array([[0.0, 1.5], [1.0, np.nan], [np.nan, 2.5]]),
    ("colour", "size"),
    ("categorical", "numeric"),
    {"colour": ("blue", "red")},
)


def test_labels_are_pooled_and_columns_found_by_name():
    other = CodedRows(
        np.array([[7.0, 0.0]]),
        ("size", "colour"),
        ("numeric", "categorical"),
        {"colour": ("pink",)},
    )
    first, second = with_shared_columns([COLOURS, other])
    assert first.categories == second.categories == {"colour": ("blue", "pink", "red")}
    np.testing.assert_array_equal(first.values[:, 0], [0.0, 2.0, np.nan])
    np.testing.assert_array_equal(second.values, [[1.0, 7.0]])
    whole = stack_rows([first, second])
    assert whole.n_rows == 4
    assert COLOURS.values[1, 0] == 1.0  # what was kept is not written to


def test_only_shared_columns_are_left():
    other = CodedRows(np.array([[7.0]]), ("size",), ("numeric",))
    first, second = with_shared_columns([COLOURS, other])
    assert first.names == second.names == ("size",)
    assert first.categories == {}
    with pytest.raises(ta.InputError, match="must share a column"):
        with_shared_columns([COLOURS, CodedRows(np.array([[1.0]]), ("age",), ("numeric",))])


def test_a_column_is_of_one_kind():
    other = CodedRows(np.array([[7.0, 1.0]]), ("colour", "size"), ("numeric", "numeric"))
    with pytest.raises(ta.InputError, match="column 'colour' must be of one kind"):
        with_shared_columns([COLOURS, other])


def test_sparse_rows_stay_sparse_and_mapped_rows_are_read():
    dense = np.array([[0.0, 2.0], [3.0, 0.0]])
    names, kinds = ("a", "b"), ("numeric", "numeric")
    thin = CodedRows(SparseColumns.from_scipy(sparse.csr_array(dense)), names, kinds)
    mapped = CodedRows(MappedColumns(dense.astype(np.float32)), names, kinds)
    whole = stack_rows([thin, CodedRows(dense, names, kinds), mapped])
    assert isinstance(whole.values, SparseColumns)
    np.testing.assert_array_equal(whole.values[:, [0, 1]], np.vstack([dense] * 3))
    np.testing.assert_array_equal(stack_rows([mapped, mapped]).values, np.vstack([dense] * 2))
    _, swapped = with_shared_columns([CodedRows(dense, ("b", "a"), kinds), thin])
    np.testing.assert_array_equal(swapped.values[:, [0, 1]], dense[:, ::-1])
