"""Values no kernel can work with: missing ones, infinite ones, and numbers too large to square."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tellapart.column_store import ColumnStore, SparseColumns
from tellapart.errors import InputError
from tellapart.samples import FloatArray, IntArray, Samples, Values, some_rows

POLICIES = ("error", "drop-rows", "drop-columns")
# Kernels sum squared differences: (2e150)² leaves room for a million columns in float64.
LARGEST = 1e150
FEWEST_ROWS = 2
# Messages name this many columns, then say how many more there are.
MOST_NAMED = 5

Titles = tuple[str, str]
Test = Callable[[FloatArray], NDArray[np.bool_]]


def settle_missing(samples: Samples, policy: str, titles: Titles = ("X", "Y")) -> Samples:
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
    >>> from tellapart.samples import Samples
    >>> x = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]])
    >>> samples = Samples(x, np.ones((2, 2)), ("a", "b"), ("numeric", "numeric"))
    >>> settle_missing(samples, "drop-rows").x
    array([[1., 2.],
           [5., 6.]])
    >>> settle_missing(samples, "drop-columns").names
    ('a',)
    """
    suspects = np.flatnonzero(_is_suspect(samples.x) | _is_suspect(samples.y))
    if not suspects.size:
        return samples
    pair = " and ".join(titles)
    _refuse(samples, suspects, np.isinf, titles, f"{pair} must hold finite numbers; got infinite")
    _refuse(
        samples,
        suspects,
        _is_too_large,
        titles,
        f"{pair} must hold magnitudes of at most {LARGEST:g} (differences are squared); "
        "rescale the columns; got larger",
    )
    counts = _count(samples, suspects, np.isnan)
    gaps = suspects[counts.any(axis=0)]
    if policy == "drop-columns":
        return _without_columns(samples, gaps)
    if policy == "drop-rows":
        return _without_rows(samples, gaps, titles)
    found = _listed(samples.names, suspects, counts, titles)
    raise InputError(
        f"{pair} must not have missing values; got {found}; "
        'pass missing="drop-rows" or missing="drop-columns" to leave them out'
    )


def _is_suspect(values: Values) -> NDArray[np.bool_]:
    """Say which columns hold anything that is not a number of at most the largest magnitude."""
    if isinstance(values, SparseColumns):
        suspect = np.zeros(values.shape[1], dtype=np.bool_)
        suspect[values.columns_where(~(np.abs(values.matrix.data) <= LARGEST))] = True
        return suspect
    if isinstance(values, ColumnStore):
        raise TypeError(f"a sample is read as a matrix or as sparse columns, not as {values!r}")
    # NaN passes through minimum and maximum, and no comparison with it is true.
    with np.errstate(invalid="ignore"):
        largest = np.maximum(values.max(axis=0), -values.min(axis=0))
        return np.asarray(~(largest <= LARGEST))


def _is_too_large(values: FloatArray) -> NDArray[np.bool_]:
    return np.asarray(np.abs(values) > LARGEST)


def _count(samples: Samples, columns: IntArray, test: Test) -> IntArray:
    """Return how many values pass `test`: one row per sample, one entry per column."""
    return np.array(
        [
            [np.count_nonzero(test(values[:, s])) for s in columns]
            for values in (samples.x, samples.y)
        ],
        dtype=np.intp,
    )


def _refuse(
    samples: Samples, columns: IntArray, test: Test, titles: Titles, complaint: str
) -> None:
    counts = _count(samples, columns, test)
    if counts.any():
        raise InputError(f"{complaint} {_listed(samples.names, columns, counts, titles)}")


def _listed(names: Sequence[str], columns: IntArray, counts: IntArray, titles: Titles) -> str:
    """Return "values in column 'a' (3 in X, 1 in Y), column 'b' (2 in Y) and 4 more columns"."""
    entries = []
    affected = np.flatnonzero(counts.any(axis=0))
    for place in affected[:MOST_NAMED]:
        parts = [
            f"{count} in {title}"
            for count, title in zip(counts[:, place], titles, strict=True)
            if count
        ]
        entries.append(f"column {names[columns[place]]!r} ({', '.join(parts)})")
    more = affected.size - len(entries)
    tail = f" and {more} more column{'s' if more > 1 else ''}" if more else ""
    return f"values in {', '.join(entries)}{tail}"


def _without_columns(samples: Samples, gaps: IntArray) -> Samples:
    kept = np.setdiff1d(np.arange(samples.n_columns), gaps)
    if not kept.size:
        raise InputError(
            'missing="drop-columns" must leave at least one column; '
            f"all {samples.n_columns} have missing values"
        )
    dropped = tuple(samples.names[s] for s in gaps)
    return replace(samples.columns(kept), dropped_columns=dropped)


def _without_rows(samples: Samples, gaps: IntArray, titles: Titles) -> Samples:
    x = _complete_rows(samples.x, gaps, titles[0])
    y = _complete_rows(samples.y, gaps, titles[1])
    dropped = (samples.n_x - x.shape[0], samples.n_y - y.shape[0])
    return replace(samples, x=x, y=y, dropped_rows=dropped)


def _complete_rows(values: Values, gaps: IntArray, title: str) -> Values:
    kept = np.ones(values.shape[0], dtype=np.bool_)
    for s in gaps:
        kept &= ~np.isnan(values[:, s])
    n_kept = np.count_nonzero(kept)
    if n_kept < FEWEST_ROWS:
        raise InputError(
            f'missing="drop-rows" must leave at least {FEWEST_ROWS} rows of {title}; '
            f"got {n_kept} of {kept.size}"
        )
    return values if n_kept == kept.size else some_rows(values, np.flatnonzero(kept))
