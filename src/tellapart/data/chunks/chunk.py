"""One chunk of a sample, as a file or a worker gives it, with its columns turned into numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.columns import BOOLEAN_LABELS, Column, read_arrow, read_column

Labels = tuple[tuple[str, ...] | None, ...]
"""For each column its labels, in the order of their codes; None where it holds numbers."""


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
    """

    title: str
    names: tuple[str, ...]
    places: tuple[int, ...]

    def open(self, raw: Any) -> Chunk:
        """Return a chunk with its columns read: an array, a record batch, or a pandas frame."""
        return Chunk(
            [
                _column(self.title, name, raw, place)
                for name, place in zip(self.names, self.places, strict=True)
            ]
        )

    def columns(self, index: IntArray | Sequence[int]) -> Reading:
        """Return how to read some of the columns."""
        return Reading(
            self.title,
            tuple(self.names[s] for s in index),
            tuple(self.places[s] for s in index),
        )


def _column(title: str, name: str, raw: Any, place: int) -> Column:
    if isinstance(raw, pa.RecordBatch):
        return read_arrow(title, name, raw.column(place))
    if isinstance(raw, np.ndarray):
        return _from_numbers(title, name, raw[:, place])
    series = raw.iloc[:, place]
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "biuf":
        return _from_numbers(title, name, series.to_numpy())
    return read_column(title, name, nw.from_native(series, series_only=True))


def _from_numbers(title: str, name: str, values: Any) -> Column:
    floats = np.ascontiguousarray(values, dtype=np.float64)
    if values.dtype.kind == "b":
        return Column(title, name, "boolean", "bool", floats, BOOLEAN_LABELS)
    return Column(title, name, "numeric", str(values.dtype), floats)
