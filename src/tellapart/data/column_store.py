"""Columns held in other ways than a dense matrix, and made dense a few at a time.

A store stands where a matrix of shape (rows, columns) would: `store[:, columns]` are some of its
columns as a dense array, `store[rows]` is a store of some of its rows. It cannot be turned into
an array as a whole: that is refused, not done in silence.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Never, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.errors import InputError

RowIndex = slice | IntArray | NDArray[np.bool_]
ColumnIndex = int | np.integer[Any] | Sequence[int] | IntArray


class ColumnStore(ABC):
    """A matrix that gives out some columns, or some rows, at a time."""

    shape: tuple[int, int]

    @abstractmethod
    def transposed(self, columns: IntArray, rows: slice = slice(None)) -> FloatArray:
        """Return some columns of some rows as a dense array, one column per row of the result."""

    @abstractmethod
    def rows(self, rows: IntArray) -> ColumnStore:
        """Return a store of some rows."""

    @abstractmethod
    def columns(self, columns: IntArray) -> ColumnStore:
        """Return a store of some columns."""

    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value of every column."""
        columns = (self[:, s] for s in range(self.shape[1]))
        ends = np.array([(column.min(), column.max()) for column in columns])
        return ends[:, 0], ends[:, 1]

    @overload
    def __getitem__(self, key: RowIndex) -> ColumnStore: ...
    @overload
    def __getitem__(self, key: tuple[slice, ColumnIndex]) -> FloatArray: ...
    def __getitem__(self, key: RowIndex | tuple[slice, ColumnIndex]) -> FloatArray | ColumnStore:
        if not isinstance(key, tuple):
            return self.rows(np.arange(self.shape[0])[key])
        rows, columns = key
        if isinstance(columns, int | np.integer):
            return self.transposed(np.array([columns], dtype=np.intp), rows).reshape(-1)
        return self.transposed(np.asarray(columns, dtype=np.intp), rows).T

    def __array__(self, dtype: object = None, copy: object = None) -> Never:
        raise InputError(
            f"this step needs all {self.shape[0]} × {self.shape[1]} numbers of a sample as one "
            "dense array, and the sample is not held so; pass a dense array if it fits in memory"
        )


@dataclass(frozen=True, eq=False)
class SparseColumns(ColumnStore):
    """A sparse sample: what is not stored is 0.

    Memory is that of the entries; each request for dense columns costs these columns.

    Parameters
    ----------
    matrix : scipy csc_array
        Float64, with sorted row indices and no duplicates: see `from_scipy`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> held = SparseColumns.from_scipy(sparse.eye_array(3, format="csr"))
    >>> held[:, 1]
    array([0., 1., 0.])
    >>> held[np.array([0, 2])].shape
    (2, 3)
    """

    matrix: sparse.csc_array

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        rows, columns = self.matrix.shape
        return int(rows), int(columns)

    @classmethod
    def from_scipy(cls, matrix: Any) -> SparseColumns:
        """Return the store of a SciPy sparse matrix or array of real numbers; it is not changed.

        Entries given more than once are added up, in float64 whatever their dtype.
        """
        with np.errstate(over="ignore"):  # long doubles: infinite values are refused later
            floats = matrix.astype(np.float64, copy=False)
        held = sparse.csc_array(floats)
        held.prune()  # room that is not in use may hold anything
        if not held.has_canonical_format:
            if any(np.shares_memory(held.data, part) for part in _arrays_of(matrix)):
                held = held.copy()
            held.sum_duplicates()
        return cls(held)

    def transposed(self, columns: IntArray, rows: slice = slice(None)) -> FloatArray:
        """Return some columns of some rows as a dense array, one column per row of the result."""
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            raise InputError(f"rows must be a slice without a step; got {rows}")
        result = np.zeros((columns.shape[0], max(stop - start, 0)))
        held = self.matrix
        _scatter(held.indptr, held.indices, held.data, columns, start, stop, result)
        return result

    def rows(self, rows: IntArray) -> SparseColumns:
        """Return a store of some rows."""
        taken = self.matrix[rows]
        taken.sort_indices()
        return SparseColumns(sparse.csc_array(taken))

    def columns(self, columns: IntArray) -> SparseColumns:
        """Return a store of some columns."""
        return SparseColumns(sparse.csc_array(self.matrix[:, columns]))

    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value of every column."""
        low, high = self.matrix.min(axis=0), self.matrix.max(axis=0)
        return low.toarray().ravel(), high.toarray().ravel()

    def filled(self, fills: FloatArray) -> SparseColumns:
        """Return a store in which NaN among the entries is replaced, by one value per column."""
        held = self.matrix.copy()
        gaps = np.flatnonzero(np.isnan(held.data))
        held.data[gaps] = fills[np.searchsorted(held.indptr, gaps, side="right") - 1]
        return SparseColumns(held)

    def columns_where(self, entries: NDArray[np.bool_]) -> IntArray:
        """Return the sorted columns that some of the stored entries belong to."""
        places = np.flatnonzero(entries)
        return np.unique(np.searchsorted(self.matrix.indptr, places, side="right") - 1)


@dataclass(frozen=True, eq=False)
class MappedColumns(ColumnStore):
    """A memory-mapped array of numbers that are not float64: only what is asked for is converted.

    Parameters
    ----------
    values : array of shape (rows, columns)
        Integers or floats of any size.

    Examples
    --------
    >>> import numpy as np
    >>> MappedColumns(np.array([[1, 2], [3, 4]], dtype=np.float32))[:, 1]
    array([2., 4.])
    """

    values: NDArray[Any]

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        rows, columns = self.values.shape
        return int(rows), int(columns)

    def transposed(self, columns: IntArray, rows: slice = slice(None)) -> FloatArray:
        """Return some columns of some rows as a dense array, one column per row of the result."""
        return np.ascontiguousarray(self.values[rows][:, columns].T, dtype=np.float64)

    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest value of every column, without a copy."""
        low, high = self.values.min(axis=0), self.values.max(axis=0)
        return low.astype(np.float64), high.astype(np.float64)

    def rows(self, rows: IntArray) -> MappedColumns:
        """Return a store of some rows."""
        return MappedColumns(self.values[rows])

    def columns(self, columns: IntArray) -> MappedColumns:
        """Return a store of some columns."""
        return MappedColumns(self.values[:, columns])


@dataclass(frozen=True, eq=False)
class FilledColumns(ColumnStore):
    """Another store whose missing values are filled in as they are asked for.

    Parameters
    ----------
    store : ColumnStore
        With NaN for what is missing.
    fills : array
        What stands for it, one value per column.
    """

    store: ColumnStore
    fills: FloatArray

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return self.store.shape

    def transposed(self, columns: IntArray, rows: slice = slice(None)) -> FloatArray:
        """Return some columns of some rows as a dense array, one column per row of the result."""
        values = self.store.transposed(columns, rows)
        return np.where(np.isnan(values), self.fills[columns][:, np.newaxis], values)

    def rows(self, rows: IntArray) -> FilledColumns:
        """Return a store of some rows."""
        return FilledColumns(self.store.rows(rows), self.fills)

    def columns(self, columns: IntArray) -> FilledColumns:
        """Return a store of some columns."""
        return FilledColumns(self.store.columns(columns), self.fills[columns])


@dataclass(frozen=True, eq=False)
class ChosenColumns(ColumnStore):
    """A few columns of a wider sample; the others were left behind and cannot be asked for.

    Parameters
    ----------
    values : array of shape (rows, k)
        The columns that are held.
    places : int array of length k
        Where they stand among all columns.
    n_columns : int
        How many columns there were.
    """

    values: FloatArray
    places: IntArray
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns, those left behind included."""
        return int(self.values.shape[0]), self.n_columns

    def transposed(self, columns: IntArray, rows: slice = slice(None)) -> FloatArray:
        """Return some columns of some rows as a dense array, one column per row of the result."""
        return np.ascontiguousarray(self.values[rows, self._held(columns)].T)

    def rows(self, rows: IntArray) -> ChosenColumns:
        """Return a store of some rows."""
        return ChosenColumns(self.values[rows], self.places, self.n_columns)

    def columns(self, columns: IntArray) -> ChosenColumns:
        """Return a store of some columns, all of which must be held."""
        held = self._held(columns)
        return ChosenColumns(self.values[:, held], np.arange(len(held)), len(held))

    def _held(self, columns: IntArray) -> IntArray:
        place_of = {int(place): k for k, place in enumerate(self.places)}
        absent = [int(s) for s in columns if int(s) not in place_of]
        if absent:
            raise InputError(
                f"column {absent[0]} must be one of the chosen variables: this result holds the "
                "data of no others, to save memory; use two_sample_test for all columns"
            )
        return np.array([place_of[int(s)] for s in columns], dtype=np.intp)


@dataclass(frozen=True, eq=False)
class PickedRows(ColumnStore):
    """Some rows of a matrix or store, picked as columns are asked for: nothing is copied before.

    Parameters
    ----------
    values : matrix or ColumnStore
        All rows.
    index : int array
        The rows picked.

    Examples
    --------
    >>> import numpy as np
    >>> PickedRows(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.array([2, 0]))[:, 1]
    array([6., 2.])
    """

    values: FloatArray | ColumnStore
    index: IntArray

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        return int(self.index.size), int(self.values.shape[1])

    def transposed(self, columns: IntArray, rows: slice = slice(None)) -> FloatArray:
        """Return some columns of some rows as a dense array, one column per row of the result."""
        picked = self.index[rows]
        if isinstance(self.values, ColumnStore):
            return np.ascontiguousarray(self.values.transposed(columns)[:, picked])
        return np.ascontiguousarray(self.values[picked[:, np.newaxis], columns].T)

    def rows(self, rows: IntArray) -> PickedRows:
        """Return a store of some rows."""
        return PickedRows(self.values, self.index[rows])

    def columns(self, columns: IntArray) -> PickedRows:
        """Return a store of some columns."""
        if isinstance(self.values, ColumnStore):
            return PickedRows(self.values.columns(columns), self.index)
        return PickedRows(self.values[:, columns], self.index)


def _arrays_of(matrix: Any) -> list[NDArray[Any]]:
    parts = (getattr(matrix, name, None) for name in ("data", "indices", "indptr"))
    return [part for part in parts if isinstance(part, np.ndarray)]


@compiled
def _scatter(indptr, indices, data, columns, start, stop, result):  # type: ignore[no-untyped-def]
    for c in range(columns.shape[0]):
        first, last = indptr[columns[c]], indptr[columns[c] + 1]
        # Rows are sorted within a column.
        place = first + np.searchsorted(indices[first:last], start)
        while place < last and indices[place] < stop:
            result[c, indices[place] - start] = data[place]
            place += 1


# Samples that are dense, or such a store.


Values = FloatArray | ColumnStore
"""One sample: a dense matrix, or a store that gives out dense columns a few at a time."""

# Rows of a tile of a transposed copy: both sides of it stay in the second-level cache.
_TILE_ROWS = 256


def rows_of(values: Values, rows: IntArray) -> Values:
    """Return some rows of one sample, held as it was."""
    return values.rows(rows) if isinstance(values, ColumnStore) else values[rows]


def columns_of(values: Values, columns: IntArray) -> Values:
    """Return some columns of one sample, held as it was."""
    return values.columns(columns) if isinstance(values, ColumnStore) else values[:, columns]


def dense(values: Values) -> FloatArray:
    """Return one sample as a matrix, for few rows: a store is made dense."""
    return values[:, np.arange(values.shape[1])] if isinstance(values, ColumnStore) else values


def extremes_of(values: Values) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest value of every column of one sample."""
    if isinstance(values, ColumnStore):
        return values.extremes()
    return values.min(axis=0), values.max(axis=0)


def transposed(
    values: Values, columns: IntArray | None = None, rows: slice = slice(None)
) -> FloatArray:
    """Return a contiguous copy of some columns, or of all, one per row of the result.

    Of some rows only, if given: of a sparse sample, take a few at a time.
    """
    chosen = np.arange(values.shape[1]) if columns is None else columns
    if isinstance(values, ColumnStore):
        return values.transposed(chosen, rows)
    part = values[rows]
    result = np.empty((chosen.shape[0], part.shape[0]))
    _copy(part, chosen, result)
    return result


@compiled
def _copy(rows, columns, result):  # type: ignore[no-untyped-def]
    for start in range(0, rows.shape[0], _TILE_ROWS):
        stop = min(start + _TILE_ROWS, rows.shape[0])
        for c in range(columns.shape[0]):
            column = columns[c]
            for i in range(start, stop):
                result[c, i] = rows[i, column]
