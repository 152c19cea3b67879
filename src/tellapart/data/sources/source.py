"""One sample as it came: an array, a table, a sparse matrix or AnnData, opened but not yet read."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import sparse

from tellapart.data.column_notes import remembered
from tellapart.data.column_store import ColumnStore, SparseColumns
from tellapart.data.columns import (
    BOOLEAN_LABELS,
    LARGEST_WHOLE,
    Column,
    Series,
    check_rounded,
    read_column,
    rounded_extremes,
)
from tellapart.data.missing import FEWEST_ROWS
from tellapart.data.samples import Values
from tellapart.data.sources.array import as_array, as_numbers, mapped
from tellapart.data.sources.sparse import check_structure
from tellapart.data.sources.table import EXPECTED, described, package_of, quoted
from tellapart.errors import InputError

# What counts as a sample in chunks, told without loading what could read it.


def is_chunked(data: object) -> bool:
    """Say whether this is a sample in chunks: a dataset of files, or a Dask array or DataFrame.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, pyarrow.dataset as ds
    >>> is_chunked(np.eye(3)), is_chunked(ds.dataset(pa.table({"a": [1, 2]})))
    (False, True)
    """
    return is_file_dataset(data) or is_arrow_dataset(data) or is_dask(data)


def is_file_dataset(data: object) -> bool:
    """Say whether `tellapart.open_dataset` made this."""
    return _is_a(data, "tellapart.data.sources.dataset", "FileDataset")


def is_arrow_dataset(data: object) -> bool:
    """Say whether this is a dataset of pyarrow."""
    return _is_a(data, "pyarrow.dataset", "Dataset")


def is_dask(data: object) -> bool:
    """Say whether this is a Dask array or DataFrame."""
    kind = type(data)
    package = kind.__module__.partition(".")[0]
    return package in ("dask", "dask_expr") and kind.__name__ in ("Array", "DataFrame")


def _is_a(data: object, module: str, name: str) -> bool:
    # Whoever has such an object has loaded its module.
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(data, getattr(loaded, name))


# Data in chunks as one table or array in memory, for calls that need all of it there.


def in_memory(title: str, data: Any) -> Any:
    """Return Dask data and datasets of files as what they hold; all else as it is.

    Parameters
    ----------
    title : str
        What messages call the data.
    data : object
        Anything that may hold a sample.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.dataset as ds
    >>> in_memory("X", ds.dataset(pa.table({"age": [31, 47]}))).to_pydict()
    {'age': [31, 47]}
    """
    if is_dask(data):
        with dead_workers_told(title):
            return data.compute()
    if is_file_dataset(data) or is_arrow_dataset(data) or _is_scanner(data):
        return data.to_table()
    return data


@contextmanager
def dead_workers_told(title: str) -> Iterator[None]:
    """Say in one line that no worker of Dask could compute a block; other errors go through."""
    try:
        yield
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise InputError(
            f"{title} must be Dask data that its workers can compute; those that tried a block "
            "died one after the other, often for want of memory; use smaller chunks or larger "
            "workers"
        ) from error


def _is_scanner(data: object) -> bool:
    kind = type(data)
    return kind.__module__.partition(".")[0] == "pyarrow" and kind.__name__ == "Scanner"


# --- what the module is for


Frame = nw.DataFrame[Any]
_LONG_INTEGERS = (nw.Int64, nw.UInt64)


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
    row_labels : tuple of str
        Columns that a file had and the table has not: saved row labels.
    """

    title: str
    names: tuple[str, ...] | None
    shape: tuple[int, int]
    data: NDArray[Any] | ColumnStore | tuple[Series, ...]
    boolean: bool = False
    dtypes: tuple[Any, ...] = ()
    row_labels: tuple[str, ...] = ()

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
        rounded = rounded_extremes(values)
        return Column(self.title, name, "numeric", str(values.dtype), floats, rounded=rounded)


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
    values = as_array(title, matrix)
    numbers = mapped(title, values) if isinstance(matrix, np.memmap) else as_numbers(title, values)
    return Source(title, names, values.shape, numbers)


def is_anndata(data: object) -> bool:
    """Say whether this is AnnData, without importing it."""
    return package_of(data) == "anndata" and hasattr(data, "var_names") and hasattr(data, "obs")


def from_frame(title: str, names: tuple[str, ...], frame: Frame) -> Source:
    """Open a table."""
    n_rows, n_columns = frame.shape
    check_shape(title, n_rows, n_columns)
    gone = remembered(frame.to_native())
    frame, dtypes = _without_long_integers(title, frame)
    if all(dtype.is_integer() or dtype.is_float() for dtype in dtypes):
        values = frame.to_numpy()
        whole = np.array([dtype in _LONG_INTEGERS for dtype in dtypes])
        # Not where a library hands out objects, or has rounded large whole numbers beside floats.
        if values.dtype.kind in "iu" or (
            values.dtype.kind == "f"
            and not (np.abs(values[:, whole].astype(np.float64)) > LARGEST_WHOLE).any()
        ):
            numbers = as_numbers(title, values)
            return Source(title, names, (n_rows, n_columns), numbers, False, dtypes, gone)
    # All columns at once: narwhals takes time in proportion to D to find a single one.
    columns = tuple(frame.iter_columns())
    return Source(title, names, (n_rows, n_columns), columns, False, dtypes, gone)


def _without_long_integers(title: str, frame: Frame) -> tuple[Frame, tuple[nw.dtypes.DType, ...]]:
    """Return a table and its dtypes, integers of 128 bits as floats: NumPy has none of these."""
    schema = frame.schema
    long = [name for name, dtype in schema.items() if dtype in (nw.Int128, nw.UInt128)]
    for name in long:
        least, greatest = frame[name].min() or 0, frame[name].max() or 0
        if max(-least, greatest) > LARGEST_WHOLE:
            check_rounded(f"column {name!r} of {title}", least, greatest, exact=False)
    if long:
        frame = frame.with_columns(nw.col(*long).cast(nw.Float64))
        schema = frame.schema
    return frame, tuple(schema.values())


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


def _as_named_matrix(title: str, data: Any) -> object:
    """Return a pandas table whose columns are all sparse as a sparse matrix, all else as it is."""
    # pandas has the accessor for such tables only, and for tables without any column.
    if package_of(data) != "pandas" or not hasattr(getattr(data, "sparse", None), "to_coo"):
        return data
    if len(data.columns) == 0:
        return data
    try:
        matrix = data.sparse.to_coo()
    except ValueError as error:
        raise InputError(f"{title} must have sparse columns with 0 left out; {error}") from None
    return NamedMatrix(matrix, distinct(title, tuple(str(name) for name in data.columns)))


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
    entries = np.asarray(matrix.data) if hasattr(matrix, "data") else np.empty(0)
    rounded = rounded_extremes(entries) if entries.dtype != object else None
    if rounded is not None:
        check_rounded(title, min(rounded[0], 0), max(rounded[1], 0))
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
