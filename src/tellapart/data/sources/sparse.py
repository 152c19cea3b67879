"""Sparse matrices of SciPy, whose structure is checked first.

SciPy and Numba trust the arrays inside: an index out of range would crash the process.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from tellapart.data.column_store import SparseColumns
from tellapart.data.columns import check_rounded, rounded_extremes
from tellapart.data.sources.source import EXPECTED, HeldSource
from tellapart.errors import InputError
from tellapart.text import described


class SparseSource(HeldSource):
    """Sparse matrices and arrays of SciPy, held as sparse columns."""

    @classmethod
    def claims(cls, data: object) -> bool:
        """Say whether this is a sparse matrix or array."""
        return bool(sparse.issparse(data))

    @classmethod
    def opened(cls, title: str, data: Any) -> HeldSource:
        """Open a sparse matrix of real numbers or truth values."""
        if data.ndim != 2:
            raise InputError(
                f"{title} must be {EXPECTED}; got {described(data)} of {data.ndim} dimensions"
            )
        if data.dtype.kind not in "biuf":
            raise InputError(
                f"{title} must hold numbers; got a sparse matrix of dtype {data.dtype}"
            )
        entries = np.asarray(data.data) if hasattr(data, "data") else np.empty(0)
        rounded = rounded_extremes(entries) if entries.dtype != object else None
        if rounded is not None:
            check_rounded(title, min(rounded[0], 0), max(rounded[1], 0))
        held = SparseColumns.from_scipy(check_structure(title, data))
        boolean = data.dtype.kind == "b"
        if boolean:
            held.matrix.data[held.matrix.data != 0] = 1.0  # entries given twice were added up
        return cls(title, None, held.shape, held, boolean)


def check_structure(title: str, matrix: Any) -> Any:
    """Return a sparse matrix whose arrays describe a matrix; it is read once, and not changed.

    SciPy and Numba trust the arrays inside: an index out of range is read, or written, outside
    of memory that is theirs. What SciPy keeps as lists or in a dictionary comes back in arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> broken = sparse.csr_array(np.eye(3))
    >>> broken.indices[0] = 9
    >>> check_structure("X", broken)
    Traceback (most recent call last):
    ...
    tellapart.errors.InputError: X must be a sound sparse matrix; its column indices must lie in
    0..2; got 9
    """
    try:
        if matrix.format == "lil":
            _check_lists(matrix)
            matrix = matrix.tocsr()
        elif matrix.format == "dok":
            matrix = matrix.tocoo()
        CHECKS[matrix.format](matrix)
    except (IndexError, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{title} must be a sound sparse matrix; {error}") from None
    return matrix


def _check_compressed(matrix: Any) -> None:
    """Check csr and csc: rows (or columns) one after the other."""
    n_rows, n_columns = matrix.shape
    names = ("row", "column") if matrix.format == "csr" else ("column", "row")
    sizes = (n_rows, n_columns) if matrix.format == "csr" else (n_columns, n_rows)
    _check_pointers(matrix, sizes[0], f"{names[0]}s")
    _check_range(matrix.indices[: matrix.indptr[-1]], sizes[1], f"{names[1]} indices")


def _check_blocks(matrix: Any) -> None:
    """Check bsr: rows of dense blocks."""
    if np.ndim(matrix.data) != 3:
        raise ValueError(f"its blocks must be in 3 dimensions; got {np.ndim(matrix.data)}")
    sizes = matrix.data.shape[1:]
    if 0 in sizes or matrix.shape[0] % sizes[0] or matrix.shape[1] % sizes[1]:
        raise ValueError(f"blocks of {sizes} must fit into its shape {matrix.shape}")
    _check_pointers(matrix, matrix.shape[0] // sizes[0], "rows of blocks")
    used = matrix.indices[: matrix.indptr[-1]]
    _check_range(used, matrix.shape[1] // sizes[1], "column indices of blocks")


def _check_pointers(matrix: Any, n_lines: int, lines: str) -> None:
    pointers, indices, data = matrix.indptr, matrix.indices, matrix.data
    _check_integers(pointers, "indptr")
    _check_integers(indices, "indices")
    if data.shape[0] != indices.size or (data.ndim != 1 and matrix.format != "bsr"):
        raise ValueError(f"it must have one index per entry; got {indices.size} for {data.shape}")
    if pointers.size != n_lines + 1:
        raise ValueError(
            f"its indptr must have {n_lines + 1} entries for {n_lines} {lines}; got {pointers.size}"
        )
    if pointers[0] != 0 or pointers[-1] > indices.size or np.any(pointers[1:] < pointers[:-1]):
        most = indices.size
        raise ValueError(f"its indptr must rise from 0 to at most {most}, the entries stored")


def _check_coordinates(matrix: Any) -> None:
    """Check coo: a row and a column for every entry."""
    for indices, size, name in zip(
        (matrix.row, matrix.col), matrix.shape, ("row", "column"), strict=True
    ):
        _check_integers(indices, f"{name} indices")
        if np.ndim(matrix.data) != 1 or indices.size != matrix.data.size:
            raise ValueError(
                f"it must have one {name} index per entry; got {indices.size} for "
                f"{np.shape(matrix.data)}"
            )
        _check_range(indices, size, f"{name} indices")


def _check_diagonals(matrix: Any) -> None:
    """Check dia: one row of values per diagonal; those that miss the matrix hold nothing of it."""
    _check_integers(matrix.offsets, "offsets")
    if np.ndim(matrix.data) != 2 or matrix.data.shape[0] != matrix.offsets.size:
        raise ValueError(
            f"it must have one diagonal per offset; got {np.shape(matrix.data)} for "
            f"{matrix.offsets.size}"
        )
    if np.unique(matrix.offsets).size != matrix.offsets.size:
        raise ValueError("its offsets must be distinct")


def _check_lists(matrix: Any) -> None:
    """Check lil before its lists are joined: as many values as indices in every row."""
    for lists, name in ((matrix.rows, "indices"), (matrix.data, "values")):
        if np.shape(lists) != (matrix.shape[0],) or not all(isinstance(v, list) for v in lists):
            raise ValueError(f"its {name} must be {matrix.shape[0]} lists, one per row")
    for row, (places, values) in enumerate(zip(matrix.rows, matrix.data, strict=True)):
        if len(places) != len(values):
            raise ValueError(
                f"row {row} must have one index per value; got {len(places)} for {len(values)}"
            )


def _check_integers(values: Any, name: str) -> None:
    # Of the two types that SciPy makes and its compiled code takes.
    if np.ndim(values) != 1 or getattr(values, "dtype", None) not in (np.int32, np.int64):
        raise ValueError(f"its {name} must be 32 or 64-bit integers in one dimension")


def _check_range(indices: Any, size: int, name: str) -> None:
    if not indices.size:
        return
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= size:
        raise ValueError(f"its {name} must lie in 0..{size - 1}; got {low if low < 0 else high}")


CHECKS: dict[str, Callable[[Any], None]] = {
    "csr": _check_compressed,
    "csc": _check_compressed,
    "bsr": _check_blocks,
    "coo": _check_coordinates,
    "dia": _check_diagonals,
}
