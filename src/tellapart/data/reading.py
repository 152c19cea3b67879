"""One chunk of a sample, as a file or a worker gives it, with its columns turned into numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

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
class Chunk:
    """Some consecutive rows of a sample.

    Attributes
    ----------
    columns : list of Column
        All rows of each column.
    """

    columns: list[Column]

    @property
    def n_rows(self) -> int:
        """Rows of the chunk."""
        return int(self.columns[0].values.size)

    def numbers(self, labels: Labels) -> list[FloatArray]:
        """Return the values of each column: numbers, or codes into its labels."""
        return [
            column.values if known is None else column.codes_among(known)
            for column, known in zip(self.columns, labels, strict=True)
        ]


@dataclass(frozen=True)
class Reading:
    """How the chunks of one sample are read.

    Attributes
    ----------
    title : str
        What messages call the sample.
    names : tuple of str
        The columns, in the order in which both samples have them.
    places : tuple of int
        Where they stand in a chunk.
    parts : tuple of str or None
        The part of dates or times that a column is; None for a column as it is.
    whole : tuple of bool
        Whether it is to be found out if whole numbers are consecutive.
    """

    title: str
    names: tuple[str, ...]
    places: tuple[int, ...]
    parts: tuple[str | None, ...]
    whole: tuple[bool, ...]

    @classmethod
    def as_is(cls, title: str, names: Sequence[str], places: Sequence[int]) -> Reading:
        """Return how to read columns as they are."""
        n = len(names)
        return cls(title, tuple(names), tuple(map(int, places)), (None,) * n, (False,) * n)

    def open(self, raw: Any) -> Chunk:
        """Return a chunk with its columns read: an array, a record batch, or a pandas frame."""
        return Chunk(
            [
                _column(self.title, name, raw, place, part)
                for name, place, part in zip(self.names, self.places, self.parts, strict=True)
            ]
        )

    def columns(self, index: IntArray | Sequence[int]) -> Reading:
        """Return how to read some of the columns."""
        return Reading(
            self.title,
            tuple(self.names[s] for s in index),
            tuple(self.places[s] for s in index),
            tuple(self.parts[s] for s in index),
            tuple(self.whole[s] for s in index),
        )


def read_part(title: str, name: str, values: Any, part: str) -> Column:
    """Read one part of dates or times, given as an Arrow array."""
    if values is None or (not pa.types.is_null(values.type) and not parts_of(values.type)):
        got = "objects" if values is None else str(values.type)
        column, _ = split_name(name) or (name, part)
        raise InputError(
            f"column {column!r} of {title} must hold dates, times or durations in all of its rows, "
            f"as in the first; got {got}; fix these values or drop the column"
        )
    return read_arrow(title, name, part_of(values, part))


def _column(title: str, name: str, raw: Any, place: int, part: str | None) -> Column:
    if isinstance(raw, pa.RecordBatch):
        values = raw.column(place)
        return (
            read_arrow(title, name, values)
            if part is None
            else read_part(title, name, values, part)
        )
    if isinstance(raw, np.ndarray):
        return _from_numbers(title, name, raw[:, place])
    series = raw.iloc[:, place]
    if part is not None:
        arrow = to_arrow(nw.from_native(series, series_only=True))
        return read_part(title, name, arrow, part)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf":
        return _from_numbers(title, name, series.to_numpy())
    return read_column(title, name, nw.from_native(series, series_only=True))


def _from_numbers(title: str, name: str, values: Any) -> Column:
    floats = np.ascontiguousarray(values, dtype=np.float64)
    if values.dtype.kind == "b":
        return Column(title, name, "boolean", "bool", floats, BOOLEAN_LABELS)
    rounded = rounded_extremes(values)
    return Column(title, name, "numeric", str(values.dtype), floats, rounded=rounded)
