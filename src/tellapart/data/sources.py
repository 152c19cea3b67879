"""One sample as it came: an array, a table, a sparse matrix or AnnData, opened but not yet read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from tellapart.arrays import FloatArray
from tellapart.data.column_store import ColumnStore, MappedColumns, SparseColumns
from tellapart.data.columns import (
    BOOLEAN_LABELS,
    Column,
    Series,
    as_float,
    is_number,
    looks_numeric,
    read_column,
)
from tellapart.data.in_memory import in_memory
from tellapart.data.missing import FEWEST_ROWS
from tellapart.data.samples import Values
from tellapart.data.sparsity import check_structure
from tellapart.errors import InputError

Frame = nw.DataFrame[Any]
Matrix = np.ndarray[tuple[int, int], np.dtype[Any]]

EXPECTED = (
    "a 2-dimensional array, a SciPy sparse matrix, a pandas, polars or pyarrow table, or AnnData"
)
MOST_NAMED = 5


@dataclass(frozen=True)
class NamedMatrix:
    """A matrix with names for its columns: made by `with_names`."""

    matrix: Any
    names: tuple[str, ...]


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


@dataclass(frozen=True)
class Source:
    """One sample as it came.

    Attributes
    ----------
    title : str
        What messages call it.
    names : tuple of str, or None
        Names of the columns, if they have any.
    shape : pair of int
        Rows and columns.
    data : float or bool array, column store, or tuple of columns
        A matrix if all columns are numbers or all are booleans, else the columns one by one.
    boolean : bool
        Whether a sparse matrix held truth values.
    dtypes : tuple of narwhals dtypes
        Those of a table's columns; empty for a matrix.
    """

    title: str
    names: tuple[str, ...] | None
    shape: tuple[int, int]
    data: NDArray[Any] | ColumnStore | tuple[Series, ...]
    boolean: bool = False
    dtypes: tuple[Any, ...] = ()

    @property
    def n_columns(self) -> int:
        """Number of columns, D."""
        return self.shape[1]

    @property
    def numbers(self) -> Values | None:
        """The whole sample as it is, if every column is numeric and in one matrix."""
        if isinstance(self.data, ColumnStore):
            return None if self.boolean else self.data
        if isinstance(self.data, tuple) or self.data.dtype != np.float64:
            return None
        return self.data

    def column(self, place: int, name: str) -> Column:
        """Return one column, under the name that both samples use."""
        if isinstance(self.data, tuple):
            return read_column(self.title, name, self.data[place])
        values = self.data[:, place]
        boolean = self.boolean or values.dtype == np.bool_
        floats = values.astype(np.float64, copy=False)
        if boolean:
            return Column(self.title, name, "boolean", "bool", floats, BOOLEAN_LABELS)
        return Column(self.title, name, "numeric", str(values.dtype), floats)


def open_source(title: str, data: object) -> Source:
    """Open anything that may hold a sample; what cannot is one clear error."""
    data = _as_named_matrix(title, in_memory(title, data))
    is_matrix = isinstance(data, NamedMatrix) or is_anndata(data) or sparse.issparse(data)
    frame = None if is_matrix else as_frame(title, data)
    if frame is not None:
        return from_frame(title, frame_names(title, frame), frame)
    if isinstance(data, np.ndarray) and data.ndim == 2 and data.dtype.kind in "mM":
        return _from_moments(title, data)
    source = open_matrix(title, data)
    check_shape(title, *source.shape)
    return source


def _from_moments(title: str, data: NDArray[Any]) -> Source:
    """Open an array of dates or durations as a table: their parts need names."""
    try:
        moments = data.astype(f"{data.dtype.kind}8[us]")
    except TypeError:  # months have no length
        raise InputError(f"{title} must hold numbers; got an array of dtype {data.dtype}") from None
    columns = {f"x{s}": pa.array(moments[:, s]) for s in range(data.shape[1])}
    return from_frame(title, tuple(columns), nw.from_native(pa.table(columns), eager_only=True))


def open_matrix(title: str, data: object) -> Source:
    """Open a matrix with or without names, or AnnData; any number of rows will do."""
    if isinstance(data, NamedMatrix):
        names, matrix = data.names, data.matrix
    elif is_anndata(data):
        names, matrix = _of_anndata(title, data)
    else:
        names, matrix = None, data
    if sparse.issparse(matrix):
        return _from_sparse(title, names, matrix)
    values = _as_array(title, matrix)
    numbers = (
        _mapped(title, values) if isinstance(matrix, np.memmap) else _as_numbers(title, values)
    )
    return Source(title, names, values.shape, numbers)


def is_anndata(data: object) -> bool:
    """Say whether this is AnnData, without importing it."""
    return _package(data) == "anndata" and hasattr(data, "var_names") and hasattr(data, "obs")


def from_frame(title: str, names: tuple[str, ...], frame: Frame) -> Source:
    """Open a table."""
    n_rows, n_columns = frame.shape
    check_shape(title, n_rows, n_columns)
    dtypes = tuple(frame.schema.values())
    if all(dtype.is_integer() or dtype.is_float() for dtype in dtypes):
        values = frame.to_numpy()
        if values.dtype.kind in "iuf":  # not where a library hands out objects
            floats = values.astype(np.float64, copy=False)
            return Source(title, names, (n_rows, n_columns), floats, dtypes=dtypes)
    # All columns at once: narwhals takes time in proportion to D to find a single one.
    columns = tuple(frame.iter_columns())
    return Source(title, names, (n_rows, n_columns), columns, dtypes=dtypes)


def as_frame(title: str, data: object) -> Frame | None:
    """Return the data as a narwhals frame, or None if it is no table."""
    data = in_memory(title, data)
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    elif isinstance(data, pa.RecordBatchReader):
        data = data.read_all()
    try:
        frame = nw.from_native(data, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        labels = cast(Any, data)
        labels = labels.column_names if isinstance(data, pa.Table) else labels.columns
        raise _repeated(title, tuple(map(str, labels))) from None
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_names(title: str, frame: Frame) -> tuple[str, ...]:
    """Return the names of a table's columns, which must be distinct as texts."""
    return distinct(title, tuple(str(name) for name in frame.columns))


def check_shape(title: str, n_rows: int, n_columns: int) -> None:
    """Raise if there are too few rows or columns."""
    check_columns(title, n_columns)
    if n_rows < FEWEST_ROWS:
        raise InputError(f"{title} must have at least {FEWEST_ROWS} rows; got {n_rows}")


def check_columns(title: str, n_columns: int) -> None:
    """Raise if there are no columns."""
    if n_columns == 0:
        raise InputError(f"{title} must have at least one column; got none")


def described(data: object) -> str:
    """Return what messages call an object: its package and type."""
    package = _package(data)
    name = type(data).__name__ if package == "builtins" else f"{package} {type(data).__name__}"
    return f"{name} {data!r}" if isinstance(data, str) else name


def quoted(names: Iterable[str]) -> str:
    """Return "'a', 'b' and 3 more"."""
    every = list(names)
    more = len(every) - MOST_NAMED
    shown = ", ".join(repr(name) for name in every[:MOST_NAMED])
    return f"{shown} and {more} more" if more > 0 else shown


def _as_named_matrix(title: str, data: Any) -> object:
    """Return a pandas table whose columns are all sparse as a sparse matrix, all else as it is."""
    # pandas has the accessor for such tables only, and for tables without any column.
    if _package(data) != "pandas" or not hasattr(getattr(data, "sparse", None), "to_coo"):
        return data
    if len(data.columns) == 0:
        return data
    try:
        matrix = data.sparse.to_coo()
    except ValueError as error:
        raise InputError(f"{title} must have sparse columns with 0 left out; {error}") from None
    return NamedMatrix(matrix, distinct(title, tuple(str(name) for name in data.columns)))


def _package(data: object) -> str:
    return type(data).__module__.partition(".")[0]


def _of_anndata(title: str, data: Any) -> tuple[tuple[str, ...], Any]:
    """Return the names of the variables and the matrix X."""
    names = distinct(title, tuple(str(name) for name in data.var_names))
    matrix = data.X
    if matrix is None:
        raise InputError(
            f"{title} must be AnnData with a matrix X; it has none; for a layer pass "
            'from_anndata(adata, layer="…")'
        )
    check_in_memory(title, matrix)
    shape: tuple[int, ...] = cast(Any, matrix).shape
    if len(shape) == 2 and len(names) != shape[1]:
        raise InputError(
            f"{title} must be AnnData with one name per column of its X, {shape[1]} in all; "
            f"got {len(names)} var_names"
        )
    return names, matrix


def check_in_memory(title: str, matrix: object) -> None:
    """Raise if a matrix of AnnData is still in its file."""
    if not (sparse.issparse(matrix) or isinstance(matrix, np.ndarray)):
        got = f"its matrix is {described(matrix)}: call .to_memory()"
        raise InputError(f"{title} must be AnnData in memory; {got}")


def _from_sparse(title: str, names: tuple[str, ...] | None, matrix: Any) -> Source:
    if matrix.ndim != 2:
        raise InputError(
            f"{title} must be {EXPECTED}; got {described(matrix)} of {matrix.ndim} dimensions"
        )
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{title} must hold numbers; got a sparse matrix of dtype {matrix.dtype}")
    held = SparseColumns.from_scipy(check_structure(title, matrix))
    boolean = matrix.dtype.kind == "b"
    if boolean:
        held.matrix.data[held.matrix.data != 0] = 1.0  # entries given twice were added up
    return Source(title, names, held.shape, held, boolean)


def distinct(title: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names if no two are the same."""
    if len(set(names)) < len(names):  # such as 1 and "1"
        raise _repeated(title, names)
    return names


def _repeated(title: str, names: tuple[str, ...]) -> InputError:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    return InputError(
        f"{title} must have distinct column names; got more than one {quoted(repeated)}"
    )


def _as_array(title: str, data: object) -> Matrix:
    """Return the data as an array of two dimensions, of any dtype."""
    if data is None or isinstance(data, str | bytes | dict | set):
        raise InputError(f"{title} must be {EXPECTED}; got {described(data)}")
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise InputError(f"{title} must be {EXPECTED}; got {described(data)}: call .collect()")
    if isinstance(data, np.ma.MaskedArray) and data.dtype.kind in "biuf":
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


def _mapped(title: str, values: NDArray[Any]) -> NDArray[Any] | ColumnStore:
    """Return a memory-mapped array, never as a copy of the whole; see `_as_numbers`."""
    if values.dtype.kind in "iuf" and values.dtype != np.float64:
        return MappedColumns(values)
    return _as_numbers(title, values)


def _as_numbers(title: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return the array as float64 or booleans; anything else is refused."""
    kind = values.dtype.kind
    if kind == "b":
        return values
    if kind in "iuf":
        with np.errstate(over="ignore"):  # long doubles: infinite values are refused later
            return values.astype(np.float64, copy=False)
    if kind == "O":
        return _from_objects(title, values)
    if kind in "US":
        places = np.ndindex(values.shape)
        place = next((p for p in places if not looks_numeric(str(values[p]))), (0, 0))
        raise _not_a_number(title, values[place].item(), place)
    raise InputError(f"{title} must hold numbers; got an array of dtype {values.dtype}")


def _from_objects(title: str, values: NDArray[Any]) -> FloatArray:
    floats = np.empty(values.shape)
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
