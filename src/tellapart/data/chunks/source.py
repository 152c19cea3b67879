"""One sample in chunks, opened but not yet read; and one held in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from tellapart.data.chunks.arrays import ArrayRows
from tellapart.data.chunks.chunk import Chunk, ColumnKind, Labels, Reading, kind_of, read_part
from tellapart.data.chunks.fold import RowsDone, RowStore
from tellapart.data.chunks.summary import Summary, Survey
from tellapart.data.columns import Column, to_arrow
from tellapart.data.sources import Source


class ChunkSource(ABC):
    """One sample in chunks: what it is called, its columns, and how to go through it.

    Attributes
    ----------
    title : str
        What messages call it.
    names : tuple of str, or None
        Names of the columns, if they have any.
    n_columns : int
        Number of columns.
    waits : bool
        Whether going through it leaves a core idle now and then.
    """

    title: str
    names: tuple[str, ...] | None
    n_columns: int
    waits: bool = False

    @property
    @abstractmethod
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What the types of the columns say; empty where there are none, in a matrix."""

    @abstractmethod
    def survey(self, survey: Survey, progress: RowsDone | None = None) -> Summary:
        """Return what the sample holds, after one pass over it."""

    @abstractmethod
    def store(self, reading: Reading, labels: Labels, n_rows: int) -> RowStore:
        """Return the rows as numbers, to be summed over."""


@dataclass(frozen=True, eq=False)
class MemorySource(ChunkSource):
    """A sample in memory beside one that is not: a single chunk."""

    source: Source

    @property
    def title(self) -> str:  # type: ignore[override]
        """What messages call it."""
        return self.source.title

    @property
    def names(self) -> tuple[str, ...] | None:  # type: ignore[override]
        """Names of the columns, if they have any."""
        return self.source.names

    @property
    def n_columns(self) -> int:  # type: ignore[override]
        """Number of columns."""
        return self.source.n_columns

    @property
    def kinds(self) -> tuple[ColumnKind, ...]:
        """What the types of the columns say; empty for a matrix."""
        dtypes, data = self.source.dtypes, self.source.data
        if not isinstance(data, tuple):
            return tuple(ColumnKind(whole=dtype.is_integer()) for dtype in dtypes)
        found = []
        for dtype, series in zip(dtypes, data, strict=True):
            arrow = None if dtype.is_numeric() else to_arrow(series)
            kind = ColumnKind(whole=dtype.is_integer(), dtype=str(dtype))
            found.append(kind if arrow is None else kind_of(arrow.type))
        return tuple(found)

    def survey(self, survey: Survey, progress: RowsDone | None = None) -> Summary:
        """Return what the sample holds."""
        summary = survey.add_chunk(survey.start(), 0, self._chunk(survey.reading))
        if progress is not None:
            progress(summary.n_rows)
        return summary

    def store(self, reading: Reading, labels: Labels, n_rows: int) -> RowStore:
        """Return the rows as one array."""
        values = np.empty((n_rows, len(labels)), order="F")
        for s, column in enumerate(self._chunk(reading).numbers(labels)):
            values[:, s] = column
        return ArrayRows(values)

    def _chunk(self, reading: Reading) -> Chunk:
        asked = zip(reading.places, reading.names, reading.parts, strict=True)
        return Chunk([self._column(place, name, part) for place, name, part in asked])

    def _column(self, place: int, name: str, part: str | None) -> Column:
        if part is None or not isinstance(self.source.data, tuple):
            return self.source.column(place, name)
        return read_part(self.title, name, to_arrow(self.source.data[place]), part)
