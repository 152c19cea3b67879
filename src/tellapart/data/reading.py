"""How the columns of one sample are read, all rows at once or chunk by chunk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.columns import (
    BOOLEAN_LABELS,
    Column,
    read_arrow,
    read_column,
    rounded_extremes,
    to_arrow,
)
from tellapart.data.times import part_of, parts_of, split_name
from tellapart.errors import InputError

Labels = tuple[tuple[str, ...] | None, ...]
"""For each column its labels, in the order of their codes; None where it holds numbers."""


@dataclass(frozen=True)
class ColumnKind:
    """What the type of a column says before its values are read.

    Attributes
    ----------
    parts : tuple of str
        The parts of dates, times and durations; none for anything else.
    whole : bool
        Whether it holds numbers that are whole, or may be: delimited text does not say.
    empty : bool
        Whether the type allows missing values only.
    dtype : str
        What messages call it.
    """

    parts: tuple[str, ...] = ()
    whole: bool = False
    empty: bool = False
    dtype: str = ""


def kind_of(kind: Any, *, delimited: bool = False) -> ColumnKind:
    """Return what an Arrow type says; numbers of delimited text are read as floats.

    >>> kind_of(pa.int32()).whole, kind_of(pa.float64()).whole, kind_of(pa.time32("s")).parts
    (True, False, ('hour',))
    """
    whole = pa.types.is_integer(kind) or (delimited and pa.types.is_floating(kind))
    return ColumnKind(parts_of(kind), whole, pa.types.is_null(kind), str(kind))


@dataclass(frozen=True)
class Reading:
    """How one sample is read.

    Attributes
    ----------
    title : str
        What messages call the sample.
    names : tuple of str
        The columns, in the order in which both samples have them.
    places : tuple of int
        Where they stand in the sample.
    parts : tuple of str or None
        The part of dates or times that a column is; None for a column as it is.
    whole : tuple of bool
        Whether it is to be found out if whole numbers are consecutive.
    kept : frozenset of str
        Columns whose text is compared as categories, however many there are.
    labels : tuple
        Labels of the columns that have any; known after the first pass.
    n_rows : int
        Rows of the sample; known after the first pass.
    """

    title: str
    names: tuple[str, ...]
    places: tuple[int, ...]
    parts: tuple[str | None, ...]
    whole: tuple[bool, ...]
    kept: frozenset[str] = frozenset()
    labels: Labels = ()
    n_rows: int = 0

    @classmethod
    def as_is(
        cls,
        title: str,
        names: Sequence[str],
        places: Sequence[int] | IntArray | None = None,
        kept: frozenset[str] = frozenset(),
    ) -> Reading:
        """Return how to read columns as they are, in their order unless `places` are given."""
        n = len(names)
        chosen = tuple(range(n)) if places is None else tuple(map(int, places))
        return cls(title, tuple(names), chosen, (None,) * n, (False,) * n, kept)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns that are read."""
        return self.n_rows, len(self.names)

    def columns(self, index: IntArray | Sequence[int]) -> Reading:
        """Return how to read some of the columns."""
        if len(index) == len(self.names) and np.array_equal(index, np.arange(len(self.names))):
            return self
        return replace(
            self,
            names=tuple(self.names[s] for s in index),
            places=tuple(self.places[s] for s in index),
            parts=tuple(self.parts[s] for s in index),
            whole=tuple(self.whole[s] for s in index),
        )

    def projected(self) -> tuple[list[int], Reading]:
        """Return the places that are read, and how to read chunks with the columns there only."""
        places = list(dict.fromkeys(self.places))
        at = {place: k for k, place in enumerate(places)}
        return places, replace(self, places=tuple(at[place] for place in self.places))

    def open(self, chunk: Any) -> list[Column]:
        """Return the columns of a chunk: of an array, a record batch, or a pandas frame."""
        return [
            self.resolved(_column(self.title, name, chunk, place, part))
            for name, place, part in zip(self.names, self.places, self.parts, strict=True)
        ]

    def resolved(self, column: Column) -> Column:
        """Return a column that was read, its text as categories if it is to be kept."""
        if column.form == "text" and column.name in self.kept:
            return replace(column, form="category")
        return column

    def numbers(self, columns: Sequence[Column]) -> list[FloatArray]:
        """Return the values of columns that were read: numbers, or codes into their labels."""
        return [
            column.values if labels is None else column.codes_among(labels)
            for column, labels in zip(columns, self.labels, strict=True)
        ]

    def matrix(self, columns: Sequence[Column]) -> FloatArray:
        """Return the values of columns that were read as one matrix in Fortran order."""
        values = np.empty((columns[0].values.size, len(columns)), order="F")
        for s, column in enumerate(self.numbers(columns)):
            values[:, s] = column
        return values


def read_part(title: str, name: str, values: Any, part: str) -> Column:
    """Read one part of dates or times, given as an Arrow array."""
    if values is None or not parts_of(values.type):
        if values is not None and values.null_count == len(values):
            return read_arrow(title, name, pa.nulls(len(values)))
        got = "objects" if values is None else str(values.type)
        column, _ = split_name(name) or (name, part)
        raise InputError(
            f"column {column!r} of {title} must hold dates, times or durations in all of its rows, "
            f"as in the first; got {got}; fix these values or drop the column"
        )
    return read_arrow(title, name, part_of(values, part))


def number_column(title: str, name: str, values: NDArray[Any], *, boolean: bool = False) -> Column:
    """Return numbers or truth values of an array as a column."""
    floats = values.astype(np.float64, copy=False)
    if boolean or values.dtype.kind == "b":
        return Column(title, name, "boolean", "bool", floats, BOOLEAN_LABELS)
    rounded = rounded_extremes(values)
    return Column(title, name, "numeric", str(values.dtype), floats, rounded=rounded)


def _column(title: str, name: str, chunk: Any, place: int, part: str | None) -> Column:
    if isinstance(chunk, np.ndarray):
        return number_column(title, name, np.ascontiguousarray(chunk[:, place]))
    if isinstance(chunk, pa.RecordBatch):
        values = chunk.column(place)
        return (
            read_arrow(title, name, values)
            if part is None
            else read_part(title, name, values, part)
        )
    series = chunk.iloc[:, place]
    if part is not None:
        arrow = to_arrow(nw.from_native(series, series_only=True))
        return read_part(title, name, arrow, part)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf":
        return number_column(title, name, np.ascontiguousarray(series.to_numpy()))
    return read_column(title, name, nw.from_native(series, series_only=True))
