"""Arrays of numbers, with or without names for their columns; anything else in them is refused."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tellapart.data.column_store import ColumnStore, MappedColumns
from tellapart.data.columns import (
    as_float,
    check_rounded,
    floats_of,
    has_large_whole,
    is_number,
    looks_numeric,
    rounded_extremes,
)
from tellapart.data.sources.source import EXPECTED, HeldSource, distinct
from tellapart.data.sources.sparse import SparseSource
from tellapart.data.sources.table import TableSource, make_frame
from tellapart.errors import InputError
from tellapart.text import described

Matrix = np.ndarray[tuple[int, int], np.dtype[Any]]


class ArraySource(HeldSource):
    """NumPy arrays, and whatever NumPy makes an array of."""

    @classmethod
    def claims(cls, data: object) -> bool:
        """Say whether this is an array."""
        return isinstance(data, np.ndarray)

    @classmethod
    def opened(cls, title: str, data: Any) -> HeldSource:
        """Open an array of two dimensions."""
        if isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "mM":
            return _open_moments(title, data)
        values = as_array(title, data)
        is_mapped = isinstance(data, np.memmap)
        numbers = _mapped(title, values) if is_mapped else as_numbers(title, values)
        return cls(title, None, values.shape, numbers)


@dataclass(frozen=True)
class NamedMatrix:
    """A matrix with names for its columns: made by `with_names`."""

    matrix: Any
    names: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n_rows, n_columns = self.matrix.shape
        return int(n_rows), int(n_columns)


class NamedSource(HeldSource):
    """Arrays and sparse matrices with names for their columns."""

    @classmethod
    def claims(cls, data: object) -> bool:
        """Say whether `with_names` made this."""
        return isinstance(data, NamedMatrix)

    @classmethod
    def opened(cls, title: str, data: Any) -> HeldSource:
        """Open the matrix."""
        kind = SparseSource if sparse.issparse(data.matrix) else ArraySource
        return replace(kind.opened(title, data.matrix), names=data.names)


def with_names(matrix: Any, names: Iterable[object]) -> NamedMatrix:
    """Give names to the columns of an array or a sparse matrix, which have none of their own.

    For a layer of AnnData see `from_anndata`.

    Parameters
    ----------
    matrix : NumPy array or SciPy sparse matrix
        Rows × columns.
    names : iterable of str
        One name per column, all distinct.

    Returns
    -------
    NamedMatrix
        To be passed as X or Y wherever a table can be.

    Examples
    --------
    >>> import numpy as np, tellapart as ta
    >>> from scipy import sparse
    >>> rng = np.random.default_rng(0)
    >>> genes = ["CD3E", "MS4A1", "NKG7"]
    >>> X = ta.with_names(sparse.csr_array(rng.poisson(0.2, (80, 3))), genes)
    >>> Y = ta.with_names(sparse.csr_array(rng.poisson([0.2, 2, 0.2], (90, 3))), genes)
    >>> ta.select_variables(X, Y, 1).variables
    ('MS4A1',)
    """
    is_matrix = sparse.issparse(matrix) or isinstance(matrix, np.ndarray)
    shape: tuple[int, ...] = getattr(matrix, "shape", ()) if is_matrix else ()
    if len(shape) != 2:
        raise InputError(
            f"matrix must be a NumPy array or a SciPy sparse matrix of two dimensions; "
            f"got {described(matrix)}"
        )
    if isinstance(names, str | bytes) or not isinstance(names, Iterable):
        raise InputError(f"names must be a sequence of column names; got {described(names)}")
    every = tuple(str(name) for name in names)
    if len(every) != shape[1]:
        raise InputError(f"names must be one per column, {shape[1]} in all; got {len(every)}")
    return NamedMatrix(matrix, distinct("names", every))


def _open_moments(title: str, data: NDArray[Any]) -> HeldSource:
    """Open an array of dates or durations as a table: their parts need names."""
    try:
        moments = data.astype(f"{data.dtype.kind}8[us]")
    except TypeError:  # months have no length
        raise InputError(f"{title} must hold numbers; got an array of dtype {data.dtype}") from None
    columns = {f"x{s}": moments[:, s] for s in range(data.shape[1])}
    return TableSource.opened(title, make_frame(columns, "pyarrow"))


def as_array(title: str, data: object) -> Matrix:
    """Return the data as an array of two dimensions, of any dtype."""
    if isinstance(data, str | PathLike):
        raise _is_a_path(title, str(data))
    if data is None or isinstance(data, bytes | dict | set):
        raise InputError(f"{title} must be {EXPECTED}; got {described(data)}")
    if isinstance(data, np.ma.MaskedArray) and data.dtype.kind in "biuf":
        rounded = rounded_extremes(data.compressed())
        if rounded is not None:
            check_rounded(title, *rounded, exact=False)
        data = np.ma.filled(data.astype(np.float64), np.nan)
    try:
        values = np.asarray(data)
        if values.dtype.kind in "US" and not isinstance(data, np.ndarray):
            # NumPy turned the numbers beside a text into text as well: keep them apart.
            values = np.array(data, dtype=object)
    except ValueError:
        raise InputError(
            f"{title} must be {EXPECTED}; got {described(data)} with rows of unequal length"
        ) from None
    if values.ndim == 1:
        raise InputError(
            f"{title} must be 2-dimensional (rows × columns); got {described(data)} of one "
            "dimension; reshape a single variable to one column, .reshape(-1, 1) or .to_frame()"
        )
    if values.ndim != 2:
        raise InputError(
            f"{title} must be {EXPECTED}; got {described(data)} of {values.ndim} dimensions"
        )
    return cast(Matrix, values)


def _is_a_path(title: str, path: str) -> InputError:
    """Return the error for the path of a file in the place of what is in it."""
    opened = f"tellapart.open_dataset({path!r})"
    if path.endswith(".h5ad"):
        opened = f"anndata.read_h5ad({path!r})"
    return InputError(
        f"{title} must be {EXPECTED}; got the text {path!r}; if it is the path of a file, "
        f"pass {opened}"
    )


def _mapped(title: str, values: NDArray[Any]) -> NDArray[Any] | ColumnStore:
    """Return a memory-mapped array, never as a copy of the whole; see `as_numbers`."""
    if values.dtype.kind in "iuf" and values.dtype != np.float64 and not has_large_whole(values):
        return MappedColumns(values)
    return as_numbers(title, values)


def as_numbers(title: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return the array as float64 or booleans; anything else is refused.

    Whole numbers beyond 2⁵³ stay as they are, to be looked at column by column.
    """
    kind = values.dtype.kind
    if kind == "b":
        return values
    if kind in "iuf":
        return floats_of(values)
    if kind == "O":
        return _from_objects(title, values)
    if kind in "US":
        places = np.ndindex(values.shape)
        place = next((p for p in places if not looks_numeric(str(values[p]))), (0, 0))
        raise _not_a_number(title, values[place].item(), place)
    raise InputError(f"{title} must hold numbers; got an array of dtype {values.dtype}")


def _from_objects(title: str, values: NDArray[Any]) -> NDArray[Any]:
    floats = np.empty(values.shape)
    whole = values.ravel().tolist()
    if all(type(value) is int for value in whole) and any(v != as_float(v) for v in whole):
        # As an array of these numbers would be; those of Python may be larger still.
        limits = np.iinfo(np.int64)
        if limits.min <= min(whole) and max(whole) <= limits.max:
            return values.astype(np.int64)
    for place, value in np.ndenumerate(values):
        if value is None or type(value).__name__ == "NAType":  # pandas.NA, without pandas
            floats[place] = np.nan
        elif is_number(value):
            floats[place] = as_float(value)
        else:
            raise _not_a_number(title, value, place)
    return floats


def _not_a_number(title: str, value: object, place: tuple[int, ...]) -> InputError:
    return InputError(
        f"{title} must hold numbers; got {value!r} ({type(value).__name__}) "
        f"at row {place[0]}, column {place[1]}"
    )
