"""The values of some columns as they were read, whatever holds the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tellapart.arrays import BoolArray, FloatArray
from tellapart.budget import current_budget
from tellapart.data.column_store import Values
from tellapart.data.missing import MissingPattern
from tellapart.data.row_stores import ArrayRows, RowStore, block_rows
from tellapart.data.samples import Samples
from tellapart.effects.estimate import Sampling, sampling_of

Columns = tuple[FloatArray, FloatArray]
"""Values of some columns in X and in Y, rows × columns, NaN where missing."""


class RawColumns:
    """Gives out columns of two samples: raw values, NaN where missing or not compared.

    Of rows in files or on a cluster, columns are gathered in one pass for all that `gather` was
    called with, and those of rows drawn at random stand for them where all would take too much
    memory.

    Parameters
    ----------
    samples : Samples
        The rows.
    """

    def __init__(self, samples: Samples) -> None:
        self.names = samples.names
        self.kinds = samples.kinds
        self.categories: Mapping[str, tuple[str, ...]] = samples.categories
        self._samples = samples
        self._gathered: dict[int, Columns] = {}

    @cached_property
    def sampling(self) -> Sampling:
        """How rows were drawn."""
        return sampling_of(self._samples.design)

    @cached_property
    def own_weights(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The weights of the rows of X, of Y and of all rows, each adding up to 1."""
        design = self._samples.design
        assert design is not None
        assert design.weights is not None
        x, y = design.weights
        both = np.concatenate([x, y])
        return x / x.sum(), y / y.sum(), both / both.sum()

    @property
    def pattern(self) -> MissingPattern | None:
        """Where values are missing."""
        return self._samples.pattern

    @cached_property
    def _sources(self) -> tuple[Values | RowStore, Values | RowStore]:
        stores = self._samples.stores
        x, y = (store.values if isinstance(store, ArrayRows) else store for store in stores)
        return x, y

    @property
    def _in_memory(self) -> bool:
        return not any(isinstance(source, RowStore) for source in self._sources)

    def gather(self, columns: Sequence[int]) -> None:
        """Read columns that will be used, in one pass, where rows are not in memory."""
        columns_to_read = [
            column for column in dict.fromkeys(columns) if column not in self._gathered
        ]
        if self._in_memory or not columns_to_read:
            return
        samples = self._samples
        each = 8 * sum(samples.n_read)
        most = current_budget().gathered_bytes // each - len(self._gathered)
        drawn = RawColumns(samples.held)
        for column in columns_to_read[max(most, 0) :]:
            self._gathered[column] = drawn.values([column])
        columns_to_read = columns_to_read[: max(most, 0)]
        if columns_to_read:
            step = block_rows(samples.stores[0].shape[1])
            x, y = (
                np.concatenate(store.fold(_Gathered(tuple(columns_to_read), samples.pattern), step))
                for store in samples.stores
            )
            for place, column in enumerate(columns_to_read):
                one = slice(place, place + 1)
                self._gathered[column] = x[:, one], y[:, one]

    def values(self, columns: Sequence[int]) -> Columns:
        """Return some columns of X and of Y."""
        if not self._in_memory:
            self.gather(columns)
            x, y = (
                np.concatenate([self._gathered[column][k] for column in columns], axis=1)
                for k in (0, 1)
            )
            return x, y
        sides = [self._held(sample, columns) for sample in (0, 1)]
        return sides[0], sides[1]

    def _held(self, sample: int, columns: Sequence[int]) -> FloatArray:
        source, pattern = self._sources[sample], self.pattern
        assert not isinstance(source, RowStore)
        places = np.asarray(columns, dtype=np.intp)
        if pattern is not None:
            places = pattern.kept[places]
        found = np.array(source[:, places], dtype=np.float64)
        if pattern is not None and pattern.whole_rows:
            found[self._incomplete[sample]] = np.nan
        return found

    @cached_property
    def _incomplete(self) -> tuple[BoolArray, BoolArray]:
        """Rows of each sample in memory that miss a value."""
        pattern = self.pattern
        assert pattern is not None
        sides = []
        for source in self._sources:
            assert not isinstance(source, RowStore)
            gone = np.zeros(source.shape[0], dtype=np.bool_)
            for place in pattern.places:
                gone |= np.isnan(source[:, place])
            sides.append(gone)
        return sides[0], sides[1]

    def missing(self, place: int) -> Columns:
        """Return 1 where a value of one of the columns of the pattern is missing, else 0."""
        pattern = self.pattern
        assert pattern is not None
        at = int(pattern.places[place])
        sides = []
        for source in self._sources:
            if isinstance(source, RowStore):
                found = np.concatenate(
                    source.fold(_Gathered((at,), None), block_rows(source.shape[1]))
                )[:, 0]
            else:
                found = np.asarray(source[:, at], dtype=np.float64)
            sides.append(np.isnan(found).astype(np.float64))
        return sides[0], sides[1]

    def indicator(self, column: int, level: str) -> Columns | None:
        """Return 1 where a categorical column has this level, NaN where it is missing."""
        labels = self.categories.get(self.names[column], ())
        if level not in labels:
            return None
        code = labels.index(level)
        x, y = (
            np.where(np.isnan(own), np.nan, (own == code).astype(np.float64))
            for own in self.values([column])
        )
        return x, y


@dataclass(frozen=True)
class _Gathered:
    """Some columns of all rows, as one array per block."""

    columns: tuple[int, ...]
    pattern: MissingPattern | None

    def start(self) -> list[FloatArray]:
        return []

    def add(self, held: list[FloatArray], first_row: int, values: FloatArray) -> list[FloatArray]:  # noqa: ARG002
        own = values if self.pattern is None else self.pattern.values(values)
        held.append(own[:, list(self.columns)])
        return held

    def merge(self, left: list[FloatArray], right: list[FloatArray]) -> list[FloatArray]:
        left.extend(right)
        return left
