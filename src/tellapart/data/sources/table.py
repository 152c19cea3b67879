"""Tables of pandas, polars and pyarrow, queries and streams: read through narwhals and Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tellapart.data.column_notes import remembered
from tellapart.data.columns import LARGEST_WHOLE, check_rounded, floats_of
from tellapart.data.sources.source import EXPECTED, HeldSource, check_shape, distinct
from tellapart.data.sources.sparse import SparseSource
from tellapart.errors import InputError
from tellapart.optional import is_arrow, is_installed, load_arrow, missing, pa
from tellapart.text import described, package_of, safe

Frame = nw.DataFrame[Any]
_LONG_INTEGERS = (nw.Int64, nw.UInt64)


class TableSource(HeldSource):
    """Tables of pandas, polars, pyarrow, and of whatever narwhals knows as one."""

    @classmethod
    def claims(cls, data: object) -> bool:
        """Say whether this is a table."""
        if is_arrow(data, "RecordBatch", "RecordBatchReader") or _is_scanner(data):
            return True
        try:
            frame = nw.from_native(cast(Any, data), eager_only=True, pass_through=True)
        except nw.exceptions.DuplicateError:
            return True
        return isinstance(frame, nw.DataFrame)

    @classmethod
    def load(cls, title: str, data: Any) -> Any:  # noqa: ARG003
        """Return batches, and what reads or scans them, as one table."""
        if is_arrow(data, "RecordBatch"):
            return pa.Table.from_batches([data])
        if is_arrow(data, "RecordBatchReader"):
            return data.read_all()
        return data.to_table() if _is_scanner(data) else data

    @classmethod
    def opened(cls, title: str, data: Any) -> HeldSource:
        """Open a table; one of sparse columns as a sparse matrix."""
        # pandas has the accessor for such tables only, and for tables without any column.
        is_sparse = package_of(data) == "pandas" and hasattr(
            getattr(data, "sparse", None), "to_coo"
        )
        if is_sparse and len(data.columns):
            return _open_sparse(title, data)
        frame = as_frame(title, data)
        assert frame is not None
        return cls.of_frame(title, frame)

    @classmethod
    def of_frame(cls, title: str, frame: Frame) -> HeldSource:
        """Open a table that narwhals holds."""
        names, (n_rows, n_columns) = frame_names(title, frame), frame.shape
        check_shape(title, n_rows, n_columns)
        row_labels = remembered(frame.to_native())
        frame, dtypes = _without_long_integers(title, frame)
        if all(dtype.is_integer() or dtype.is_float() for dtype in dtypes):
            values = frame.to_numpy()
            whole = np.array([dtype in _LONG_INTEGERS for dtype in dtypes])
            # Not where a library hands out objects, or has rounded large whole numbers beside
            # floats.
            if values.dtype.kind in "iu" or (
                values.dtype.kind == "f"
                and not (np.abs(values[:, whole].astype(np.float64)) > LARGEST_WHOLE).any()
            ):
                numbers = floats_of(values)
                return cls(title, names, frame.shape, numbers, False, dtypes, row_labels)
        # All columns at once: narwhals takes time in proportion to D to find a single one.
        columns = tuple(frame.iter_columns())
        return cls(title, names, (n_rows, n_columns), columns, False, dtypes, row_labels)


class QuerySource(HeldSource):
    """Queries that are not run yet: lazy frames of polars, relations of DuckDB, and the like.

    A query is run once, with polars by its streaming engine: a second run might give other rows,
    or the same in another order.
    """

    @classmethod
    def claims(cls, data: object) -> bool:
        """Say whether narwhals knows this as a lazy frame; nothing is computed for that."""
        return isinstance(nw.from_native(cast(Any, data), pass_through=True), nw.LazyFrame)

    @classmethod
    def names_of(cls, title: str, data: Any) -> tuple[str, ...]:
        """Return the names of the columns, before the query is run."""
        try:
            return distinct(title, nw.from_native(data).collect_schema().names())
        except InputError:
            raise
        except Exception as error:  # every engine has errors of its own
            raise _failed(title, error) from None

    @classmethod
    def load(cls, title: str, data: Any) -> Any:
        """Run the query and return its rows as one table."""
        query = nw.from_native(data)
        if not query.implementation.is_polars():
            load_arrow(subject="running a query")
        try:
            if query.implementation.is_polars():
                try:
                    return data.collect(engine="streaming")
                except TypeError:  # polars before 1.23
                    return data.collect()
            return query.collect("pyarrow").to_native()
        except Exception as error:
            raise _failed(title, error) from None


class StreamSource(HeldSource):
    """Anything else that gives out record batches by Arrow's C stream interface."""

    @classmethod
    def claims(cls, data: object) -> bool:
        """Say whether this is a stream; one column alone, which is one too, is no sample."""
        if not hasattr(data, "__arrow_c_stream__"):
            return False
        native = nw.from_native(cast(Any, data), allow_series=True, pass_through=True)
        return not isinstance(native, nw.Series)

    @classmethod
    def load(cls, title: str, data: Any) -> pa.Table:
        """Return all record batches as one table."""
        try:
            return pa.RecordBatchReader.from_stream(data).read_all()
        except pa.ArrowInvalid as error:
            reason = " ".join(safe(error).split())
            raise InputError(
                f"{title} must be {EXPECTED}; got {described(data)}, whose stream cannot be read "
                f"as a table: {reason}"
            ) from None


def _failed(title: str, error: Exception) -> InputError:
    """Return the error for a query that cannot be run."""
    # What follows the first line shows the plan of the query.
    reason = safe(next(iter(str(error).splitlines()), ""))
    return InputError(f"{title}: the query cannot be run: {type(error).__name__}: {reason}")


def as_frame(title: str, data: object) -> Frame | None:
    """Return data in memory as a narwhals frame, or None if they are no table."""
    try:
        frame = nw.from_native(cast(Any, data), eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError:
        table = cast(Any, data)
        distinct(title, table.column_names if is_arrow(data, "Table") else table.columns)
        raise
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_names(title: str, frame: Frame) -> tuple[str, ...]:
    """Return the names of a table's columns, which must be distinct as texts."""
    return distinct(title, frame.columns)


def make_frame(
    columns: Mapping[str, Sequence[Any] | NDArray[Any]], library: str | None = None
) -> Any:
    """Return a table of named columns.

    `library` is "pandas", "polars" or "pyarrow"; for any other, and where it is not installed, it
    is the first of pandas, pyarrow and polars that is.
    """
    known = ("pandas", "pyarrow", "polars")
    wanted = [library] if library in known else []
    found = next((name for name in (*wanted, *known) if is_installed(name)), None)
    if found is None:
        raise missing("a table", "pandas, polars or pyarrow", "files")
    listed = {
        name: values if isinstance(values, np.ndarray) else list(values)
        for name, values in columns.items()
    }
    if is_installed("pyarrow"):
        table = pa.table(listed)
        if found == "polars":
            return import_module("polars").from_arrow(table)
        return table.to_pandas() if found == "pandas" else table
    # polars would refuse whole numbers beside others.
    options = {"strict": False} if found == "polars" else {}
    return import_module(found).DataFrame(listed, **options)


def _open_sparse(title: str, data: Any) -> HeldSource:
    """Open a pandas table whose columns are all sparse."""
    try:
        matrix = data.sparse.to_coo()
    except ValueError as error:
        raise InputError(f"{title} must have sparse columns with 0 left out; {error}") from None
    names = distinct(title, data.columns)
    return replace(SparseSource.opened(title, matrix), names=names)


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


def _is_scanner(data: object) -> bool:
    return package_of(data) == "pyarrow" and type(data).__name__ == "Scanner"
