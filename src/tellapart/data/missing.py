"""Values no kernel can work with: missing ones, infinite ones, and numbers too large to square."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.column_store import ColumnStore, MappedColumns, SparseColumns
from tellapart.data.samples import Samples, Values, extremes_of, rows_of
from tellapart.errors import InputError

POLICIES = ("error", "drop-rows", "drop-columns")
# An error, too, for callers that have no argument `missing` to offer.
REFUSED = "refused"
# Kernels sum squared differences: (2e150)² leaves room for a million columns in float64.
LARGEST = 1e150
FEWEST_ROWS = 2
# Messages name this many columns, then say how many more there are.
MOST_NAMED = 5

Titles = tuple[str, str]
Test = Callable[[FloatArray], NDArray[np.bool_]]


def handle_missing(samples: Samples, policy: str, titles: Titles = ("X", "Y")) -> Samples:
    """Return samples free of missing values, or raise an error that counts them.

    Infinite values and magnitudes above 1e150 are always an error. Sound samples come back
    as they are, after one pass over the data that allocates only D numbers per sample.

    Parameters
    ----------
    samples : Samples
        The two samples; NaN stands for "missing".
    policy : str
        "error", "drop-rows" (rows with any missing value), or "drop-columns" (columns with a
        missing value in either sample).
    titles : pair of str
        What messages call the two samples.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.samples import Samples
    >>> x = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]])
    >>> samples = Samples(x, np.ones((2, 2)), ("a", "b"), ("numeric", "numeric"))
    >>> handle_missing(samples, "drop-rows").x
    array([[1., 2.],
           [5., 6.]])
    >>> handle_missing(samples, "drop-columns").names
    ('a',)
    """
    kept = keep_complete((samples.x, samples.y), samples.names, policy, titles)
    if kept.columns is not None:
        gone = np.setdiff1d(np.arange(samples.n_columns), kept.columns)
        dropped = tuple(samples.names[s] for s in gone)
        return replace(samples.columns(kept.columns), dropped_columns=dropped)
    if kept.rows is None:
        return samples
    x, y = kept.of_rows(0, samples.x), kept.of_rows(1, samples.y)
    of_x, of_y = samples.dropped_rows
    return replace(
        samples,
        x=x,
        y=y,
        dropped_rows=(of_x + samples.n_x - x.shape[0], of_y + samples.n_y - y.shape[0]),
        design=None if samples.design is None else samples.design.rows(*kept.rows[:2]),
    )


@dataclass(frozen=True)
class Kept:
    """What is left of some samples: columns, or rows of each; None where all of them are."""

    columns: IntArray | None = None
    rows: tuple[IntArray, ...] | None = None

    def of_rows(self, place: int, values: Values) -> Values:
        """Return the kept rows of the sample at a place."""
        if self.rows is None or self.rows[place].size == values.shape[0]:
            return values
        return rows_of(values, self.rows[place])


def keep_complete(
    matrices: Sequence[Values], names: Sequence[str], policy: str, titles: Sequence[str]
) -> Kept:
    """Say which columns, or rows, of some samples to keep; see `handle_missing`."""
    suspects = np.flatnonzero(np.any([_is_suspect(values) for values in matrices], axis=0))
    if not suspects.size:
        return Kept()
    flaws = Flaws(
        tuple(names[int(s)] for s in suspects),
        tuple(titles),
        *(_counted(matrices, suspects, test) for test in (np.isinf, _is_too_large, np.isnan)),
    )
    flaws.refuse(policy)
    gaps = suspects[flaws.missing.any(axis=0)]
    if policy == "drop-columns":
        return Kept(columns=other_columns(len(names), gaps))
    pairs = zip(matrices, titles, strict=True)
    return Kept(rows=tuple(_complete_rows(values, gaps, title) for values, title in pairs))


@dataclass(frozen=True)
class Flaws:
    """How many values of each column are infinite, too large or missing: one row per sample."""

    names: tuple[str, ...]
    titles: tuple[str, ...]
    infinite: IntArray
    too_large: IntArray
    missing: IntArray

    def refuse(self, policy: str) -> None:
        """Raise if there is anything that the policy for missing values does not deal with."""
        every = " and ".join(self.titles)
        if self.infinite.any():
            raise InputError(
                f"{every} must hold finite numbers; got infinite {self._listed(self.infinite)}"
            )
        if self.too_large.any():
            raise InputError(
                f"{every} must hold magnitudes of at most {LARGEST:g} (differences are squared); "
                f"rescale the columns; got larger {self._listed(self.too_large)}"
            )
        if self.missing.any() and policy in ("error", REFUSED):
            remedy = 'pass missing="drop-rows" or missing="drop-columns" to leave them out'
            if policy == REFUSED:
                remedy = "fill them in, or leave their rows or columns out, before"
            raise InputError(
                f"{every} must not have missing values; got {self._listed(self.missing)}; {remedy}"
            )

    def _listed(self, counts: IntArray) -> str:
        """Return "values in column 'a' (3 in X, 1 in Y), … and 4 more columns"."""
        entries = []
        affected = np.flatnonzero(counts.any(axis=0))
        for place in affected[:MOST_NAMED]:
            parts = [
                f"{count} in {title}"
                for count, title in zip(counts[:, place], self.titles, strict=True)
                if count
            ]
            entries.append(f"column {self.names[place]!r} ({', '.join(parts)})")
        more = affected.size - len(entries)
        tail = f" and {more} more column{'s' if more > 1 else ''}" if more else ""
        return f"values in {', '.join(entries)}{tail}"


def _counted(matrices: Sequence[Values], columns: IntArray, test: Test) -> IntArray:
    """Return how many values pass `test`: one row per sample, one entry per column."""
    return np.array(
        [[np.count_nonzero(test(values[:, s])) for s in columns] for values in matrices],
        dtype=np.intp,
    )


def _is_suspect(values: Values) -> NDArray[np.bool_]:
    """Say which columns hold anything that is not a number of at most the largest magnitude."""
    if isinstance(values, SparseColumns):
        suspect = np.zeros(values.shape[1], dtype=np.bool_)
        suspect[values.columns_where(~(np.abs(values.matrix.data) <= LARGEST))] = True
        return suspect
    if isinstance(values, ColumnStore) and not isinstance(values, MappedColumns):
        raise TypeError(f"a sample is read as a matrix or as sparse columns, not as {values!r}")
    # NaN passes through minimum and maximum, and no comparison with it is true.
    with np.errstate(invalid="ignore", over="ignore"):
        low, high = extremes_of(values)
        return np.asarray(~(np.maximum(high, -low) <= LARGEST))


def _is_too_large(values: FloatArray) -> NDArray[np.bool_]:
    return np.asarray(np.abs(values) > LARGEST)


def other_columns(n_columns: int, gaps: IntArray) -> IntArray:
    """Return the columns without gaps, of which there must be one."""
    kept = np.setdiff1d(np.arange(n_columns), gaps)
    if not kept.size:
        raise InputError(
            'missing="drop-columns" must leave at least one column; '
            f"all {n_columns} have missing values"
        )
    return kept


def _complete_rows(values: Values, gaps: IntArray, title: str) -> IntArray:
    complete = np.ones(values.shape[0], dtype=np.bool_)
    for s in gaps:
        complete &= ~np.isnan(values[:, s])
    kept = np.flatnonzero(complete)
    check_rows_left(title, kept.size, complete.size)
    return kept


def check_rows_left(title: str, n_left: int, n_rows: int) -> None:
    """Raise if too few rows are left without missing values."""
    if n_left < FEWEST_ROWS:
        raise InputError(
            f'missing="drop-rows" must leave at least {FEWEST_ROWS} rows of {title}; '
            f"got {n_left} of {n_rows}"
        )
