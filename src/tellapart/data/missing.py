"""Values no kernel can work with: missing ones, infinite ones, and numbers too large to square."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.data.column_store import (
    ColumnStore,
    FilledColumns,
    MappedColumns,
    SparseColumns,
    Values,
    columns_of,
    extremes_of,
    rows_of,
)
from tellapart.errors import InputError, warn_caller

if TYPE_CHECKING:
    from tellapart.data.samples import Samples

# Samples as they were read, with their missing values: what a comparison of the gaps works on.
#
# Which rows and columns take part with their values is decided row by row and from both samples
# together, never by a label. All rows take part with the pattern of what they miss, so that the
# permutations of the labels are those of all rows.


@dataclass(frozen=True, eq=False)
class MissingPattern:
    """Which columns have missing values, and which values are compared all the same.

    Attributes
    ----------
    names : tuple of str
        The columns with missing values, but for those without any value at all.
    places : array
        Where they stand among the columns as they were read.
    kept : array
        The columns that are compared by value.
    whole_rows : bool
        Whether a row with a missing value takes part with none of its values.
    """

    names: tuple[str, ...]
    places: IntArray
    kept: IntArray
    whole_rows: bool = False

    def indicators(self, block: FloatArray) -> BoolArray:
        """Return, for some rows as read, which of the columns of `names` are missing."""
        return np.isnan(block[:, self.places])

    def values(self, block: FloatArray) -> FloatArray:
        """Return the values that are compared of some rows as read, NaN for all others."""
        every = self.kept.size == block.shape[1]
        compared = block if every else np.asfortranarray(block[:, self.kept])
        if self.whole_rows:
            compared = compared.copy(order="F") if every else compared
            compared[self.indicators(block).any(axis=1)] = np.nan
        return compared

    def of(self, names: Collection[str]) -> MissingPattern:
        """Return the pattern of some of its columns; what is compared by value stays the same."""
        chosen = [q for q, name in enumerate(self.names) if name in names]
        return replace(self, names=tuple(self.names[q] for q in chosen), places=self.places[chosen])

    def missing_among_kept(self) -> list[tuple[int, int]]:
        """Return (place in `names`, place among the columns compared) of those that are both."""
        where = {int(s): k for k, s in enumerate(self.kept)}
        return [(q, where[int(s)]) for q, s in enumerate(self.places) if int(s) in where]


@dataclass(frozen=True, eq=False)
class AsRead:
    """Both samples as they were read, NaN where a value is missing."""

    x: Values
    y: Values
    pattern: MissingPattern

    def rows(self, of_x: IntArray, of_y: IntArray) -> AsRead:
        """Return some rows of each."""
        return AsRead(rows_of(self.x, of_x), rows_of(self.y, of_y), self.pattern)

    def columns(self, index: IntArray) -> AsRead:
        """Return some of the columns that are compared, and no pattern but theirs."""
        kept = self.pattern.kept[index]
        affected = np.flatnonzero(np.isin(self.pattern.places, kept))
        pattern = self.pattern.of({self.pattern.names[q] for q in affected})
        return AsRead(self.x, self.y, replace(pattern, kept=kept))

    def complete(self) -> tuple[IntArray, IntArray]:
        """Return the rows of each that miss nothing."""
        return complete_rows(self.x, self.pattern.places), complete_rows(
            self.y, self.pattern.places
        )

    def absent(self) -> BoolArray:
        """Return which values of the columns compared are missing, rows of X first."""
        parts = [np.isnan(values[:, self.pattern.kept]) for values in (self.x, self.y)]
        return np.concatenate(parts)


def complete_rows(values: Values, columns: IntArray) -> IntArray:
    """Return the rows that miss none of some columns."""
    complete = np.ones(values.shape[0], dtype=np.bool_)
    for s in columns:
        complete &= ~np.isnan(values[:, s])
    return np.flatnonzero(complete)


def fill_missing(values: Values, columns: IntArray, fills: FloatArray) -> Values:
    """Return one sample with the missing values of some columns filled in, one value for each."""
    every = np.full(values.shape[1], np.nan)
    every[columns] = fills
    if isinstance(values, SparseColumns):
        return values.filled(every)
    if isinstance(values, ColumnStore):
        return FilledColumns(values, every)
    filled = values.copy(order="K")
    for s, fill in zip(columns, fills, strict=True):
        column = filled[:, s]
        column[np.isnan(column)] = fill
    return filled


POLICIES = ("error", "pairwise", "drop-rows", "drop-columns")
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
    as they are, after one pass over the data that allocates only D numbers per sample. Where
    values are missing the samples carry all rows as they were read, so that the pattern of what
    is missing can be compared, too. Columns without any value are left out with a warning.

    Parameters
    ----------
    samples : Samples
        The two samples; NaN stands for "missing".
    policy : str
        "error"; "pairwise": every statistic of a column, or of several, uses the rows that have
        them (what works on whole rows sees the median of the pooled column, or its commonest
        label); "drop-rows" (rows with any missing value); or "drop-columns" (columns with a
        missing value in either sample).
    titles : pair of str
        What messages call the two samples.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.data.samples import Samples
    >>> x = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]])
    >>> samples = Samples(x, np.ones((2, 2)), ("a", "b"), ("numeric", "numeric"))
    >>> handle_missing(samples, "pairwise").x
    array([[1. , 2. ],
           [3. , 1.5],
           [5. , 6. ]])
    >>> handle_missing(samples, "drop-rows").x
    array([[1., 2.],
           [5., 6.]])
    >>> handle_missing(samples, "drop-columns").names
    ('a',)
    """
    pattern = find_missing((samples.x, samples.y), samples.names, policy, titles)
    return samples if pattern is None else resolve_missing(samples, pattern, titles)


def find_missing(
    matrices: Sequence[Values], names: Sequence[str], policy: str, titles: Sequence[str]
) -> MissingPattern | None:
    """Say which columns of some samples miss values, None where none does; see `handle_missing`."""
    suspects = np.flatnonzero(np.any([_is_suspect(values) for values in matrices], axis=0))
    if not suspects.size:
        return None
    infinite, too_large, missing = (
        _counted(matrices, suspects, test) for test in (np.isinf, _is_too_large, np.isnan)
    )
    rows = tuple(int(values.shape[0]) for values in matrices)
    suspect_names = tuple(names[int(s)] for s in suspects)
    flaws = Flaws(suspect_names, tuple(titles), infinite, too_large, missing, rows)
    return flaws.resolve(policy, suspects, len(names))


def resolve_missing(
    samples: Samples, pattern: MissingPattern, titles: Titles = ("X", "Y")
) -> Samples:
    """Return samples free of the missing values that were found; see `handle_missing`."""
    as_read = AsRead(samples.x, samples.y, pattern)
    if pattern.kept.size < samples.n_columns:
        kept = set(pattern.kept.tolist())
        gone = tuple(name for s, name in enumerate(samples.names) if s not in kept)
        samples = replace(samples.columns(pattern.kept), dropped_columns=gone)
    return _resolved(samples, as_read, titles) if pattern.names else samples


def resolve_drawn(samples: Samples, as_read: AsRead) -> Samples:
    """Return other rows, as they were read, over the columns that samples compare."""
    kept, sides = as_read.pattern.kept, (as_read.x, as_read.y)
    x, y = (v if kept.size == v.shape[1] else columns_of(v, kept) for v in sides)
    return _resolved(replace(samples, x=x, y=y, shared=None), as_read)


def _resolved(samples: Samples, as_read: AsRead, titles: Titles = ("X", "Y")) -> Samples:
    whole = replace(samples, as_read=as_read)
    return _without_rows(whole, titles) if as_read.pattern.whole_rows else _filled(whole)


def _without_rows(samples: Samples, titles: Titles) -> Samples:
    """Return the samples without the rows that miss anything."""
    assert samples.as_read is not None
    complete = samples.as_read.complete()
    for title, values, kept in zip(titles, (samples.x, samples.y), complete, strict=True):
        check_rows_left(title, kept.size, int(values.shape[0]))
    x, y = (
        values if kept.size == values.shape[0] else rows_of(values, kept)
        for values, kept in zip((samples.x, samples.y), complete, strict=True)
    )
    gone = samples.n_x - x.shape[0], samples.n_y - y.shape[0]
    return replace(samples, x=x, y=y, dropped_rows=gone)


def _filled(samples: Samples) -> Samples:
    """Return the samples with the pooled median, or the commonest label, where a value misses."""
    assert samples.as_read is not None
    pattern = samples.as_read.pattern
    columns = np.array([place for _, place in pattern.missing_among_kept()], dtype=np.intp)
    fills = np.empty(columns.size)
    for q, s in enumerate(columns):
        pooled = np.concatenate([samples.x[:, s], samples.y[:, s]])
        present = pooled[~np.isnan(pooled)]
        if not present.size:  # drawn rows may miss what others have
            fills[q] = 0.0
        elif samples.kinds[s] == "categorical":
            codes, counts = np.unique(present, return_counts=True)
            fills[q] = codes[np.argmax(counts)]
        else:
            fills[q] = np.median(present)
    if not columns.size:
        return samples
    x, y = (fill_missing(values, columns, fills) for values in (samples.x, samples.y))
    return replace(samples, x=x, y=y, filled_columns=tuple(samples.names[s] for s in columns))


@dataclass(frozen=True)
class Flaws:
    """How many values of each column are infinite, too large or missing: one row per sample."""

    names: tuple[str, ...]
    titles: tuple[str, ...]
    infinite: IntArray
    too_large: IntArray
    missing: IntArray
    n_rows: tuple[int, ...]

    def resolve(self, policy: str, places: IntArray, n_columns: int) -> MissingPattern | None:
        """Return what to do about missing values, None where there are none.

        `places` are those of the columns counted here, among `n_columns` in all.
        """
        self.refuse(policy)
        empty = self.missing.sum(axis=0) == sum(self.n_rows)
        if empty.any() and policy != "drop-columns":
            named = self._named(np.flatnonzero(empty))
            warn_caller(f"{named} of {' and '.join(self.titles)} left out: every value is missing")
        some = self.missing.any(axis=0) & ~empty
        gone = places[empty | some] if policy == "drop-columns" else places[empty]
        if not (empty | some).any():
            return None
        names = tuple(self.names[q] for q in np.flatnonzero(some))
        kept = other_columns(n_columns, gone, policy)
        return MissingPattern(names, places[some], kept, whole_rows=policy == "drop-rows")

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
            remedy = (
                'pass missing="pairwise" to compare the values that are there, and what is '
                'missing, or missing="drop-rows" or missing="drop-columns" to leave them out'
            )
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
                f"{'all ' if counts is self.missing and count == rows else ''}{count} in {title}"
                for count, rows, title in zip(
                    counts[:, place], self.n_rows, self.titles, strict=True
                )
                if count
            ]
            entries.append(f"column {self.names[place]!r} ({', '.join(parts)})")
        return f"values in {', '.join(entries)}{_more(affected.size - len(entries))}"

    def _named(self, affected: IntArray) -> str:
        """Return "column 'a'", or "columns 'a', 'b', … and 4 more columns"."""
        shown = [repr(self.names[place]) for place in affected[:MOST_NAMED]]
        word = "column" if affected.size == 1 else "columns"
        return f"{word} {', '.join(shown)}{_more(affected.size - len(shown))}"


def _more(count: int) -> str:
    return f" and {count} more column{'s' if count > 1 else ''}" if count else ""


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


def other_columns(n_columns: int, gone: IntArray, policy: str) -> IntArray:
    """Return the columns that are not gone, of which there must be one."""
    kept = np.setdiff1d(np.arange(n_columns), gone)
    if not kept.size:
        raise InputError(
            f'missing="{policy}" must leave at least one column; '
            f"all {n_columns} have missing values"
        )
    return kept


def check_rows_left(title: str, n_left: int, n_rows: int) -> None:
    """Raise if too few rows are left without missing values."""
    if n_left < FEWEST_ROWS:
        raise InputError(
            f'missing="drop-rows" must leave at least {FEWEST_ROWS} rows of {title}; '
            f'got {n_left} of {n_rows}; missing="pairwise" keeps rows with a gap'
        )
