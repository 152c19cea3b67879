"""Samples as they were read, with their missing values: what a comparison of the gaps works on.

Which rows and columns take part with their values is decided row by row and from both samples
together, never by a label. All rows take part with the pattern of what they miss, so that the
permutations of the labels are those of all rows.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.data.column_store import ColumnStore, FilledColumns, SparseColumns

Values = FloatArray | ColumnStore


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
        own = block if every else np.asfortranarray(block[:, self.kept])
        if self.whole_rows:
            own = own.copy(order="F") if every else own
            own[self.indicators(block).any(axis=1)] = np.nan
        return own

    def of(self, names: Collection[str]) -> MissingPattern:
        """Return the pattern of some of its columns; what is compared by value stays the same."""
        own = [q for q, name in enumerate(self.names) if name in names]
        return replace(self, names=tuple(self.names[q] for q in own), places=self.places[own])

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
        return AsRead(_rows(self.x, of_x), _rows(self.y, of_y), self.pattern)

    def columns(self, index: IntArray) -> AsRead:
        """Return some of the columns that are compared, and no pattern but theirs."""
        kept = self.pattern.kept[index]
        own = np.flatnonzero(np.isin(self.pattern.places, kept))
        pattern = self.pattern.of({self.pattern.names[q] for q in own})
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
        own = filled[:, s]
        own[np.isnan(own)] = fill
    return filled


def _rows(values: Values, rows: IntArray) -> Values:
    return values.rows(rows) if isinstance(values, ColumnStore) else values[rows]
