"""Work column by column on row-major samples, in threads and at the speed of memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.data.column_store import ColumnStore
from tellapart.data.samples import Samples, Values
from tellapart.interrupts import check_interrupts
from tellapart.threads import in_threads

S = TypeVar("S")
T = TypeVar("T")

# Columns copied out at once: the eight doubles of one cache line.
_GROUP = 8
# Rows of a tile of a transposed copy: both sides of it stay in the second-level cache.
_TILE_ROWS = 256


def map_columns(
    work: Callable[[int, FloatArray, FloatArray], T],
    samples: Samples,
    columns: IntArray,
    n_jobs: int,
) -> list[T]:
    """Return work(s, x_s, y_s) for each of the columns, x_s and y_s contiguous copies.

    Examples
    --------
    >>> import numpy as np
    >>> samples = Samples(np.eye(2), np.ones((3, 2)), ("u", "v"), ("numeric", "numeric"))
    >>> map_columns(lambda s, x, y: (s, x.size, y.size), samples, np.array([1]), n_jobs=1)
    [(1, 2, 3)]
    """
    size = min(_GROUP, max(1, columns.shape[0] // n_jobs))
    groups = [columns[i : i + size] for i in range(0, columns.shape[0], size)]

    def run(group: IntArray) -> list[T]:
        x, y = transposed(samples.x, group), transposed(samples.y, group)
        found = []
        for i, s in enumerate(group):
            check_interrupts()
            found.append(work(int(s), x[i], y[i]))
        return found

    return [result for results in in_threads(run, groups, n_jobs) for result in results]


def transposed(
    values: Values, columns: IntArray | None = None, rows: slice = slice(None)
) -> FloatArray:
    """Return a contiguous copy of some columns, or of all, one per row of the result.

    Of some rows only, if asked: a sparse sample should be asked for a few at a time.
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
