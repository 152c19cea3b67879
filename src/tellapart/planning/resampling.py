"""Populations between no difference and that of a pilot, to draw tables of any size from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.data.column_store import ColumnStore
from tellapart.data.samples import Kind, Samples, Values

CONTINUOUS = 0.8
"""A numeric column with at least this share of different values is taken for continuous."""


class Drawn(NamedTuple):
    """Two tables that were drawn, and what differs between their populations.

    `changed` holds the columns of each difference: (3,) for column 3, (0, 1) for the dependence of
    a pair; it is empty where any column may differ, as between the samples of a pilot.
    """

    x: FloatArray
    y: FloatArray
    changed: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True, eq=False)
class RowSource:
    """Pooled rows of a pilot, X's first; tables are mixtures of all rows and of a sample's own.

    With strength w in [0, 1] a row of the first table is one of X's with chance w and else one of
    all pooled rows; of the second likewise:

        P_x(w) = (1 − w) P̂ + w P̂_x,     P_y(w) = (1 − w) P̂ + w P̂_y,

    so that whatever the pilot's samples differ in, the tables differ in w times as much. Values of
    continuous columns move at random, at most half-way to their neighbours: rows drawn twice are
    not ties.
    """

    pool: FloatArray
    n_x: int
    below: FloatArray
    above: FloatArray
    numeric: IntArray
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]

    @classmethod
    def of(cls, samples: Samples) -> RowSource:
        """Return the rows of two samples as a source of tables."""
        pool = np.vstack([_dense(samples.x), _dense(samples.y)])
        rows = pool.shape[0]
        below, above = np.zeros_like(pool), np.zeros_like(pool)
        numeric = []
        for j, kind in enumerate(samples.kinds):
            values, place = np.unique(pool[:, j], return_inverse=True)
            if kind != "numeric" or values.size < 2:
                continue
            numeric.append(j)
            if values.size < CONTINUOUS * rows:
                continue
            gaps = np.diff(values) / 2
            below[:, j] = np.concatenate([gaps[:1], gaps])[place]
            above[:, j] = np.concatenate([gaps, gaps[-1:]])[place]
        numbers = np.array(numeric, dtype=np.intp)
        return cls(pool, samples.n_x, below, above, numbers, samples.names, samples.kinds)

    @property
    def n_y(self) -> int:
        """Rows of the pilot's second sample."""
        return int(self.pool.shape[0]) - self.n_x

    @property
    def continuous(self) -> BoolArray:
        """Whether values of a column hardly repeat: such values move when they are drawn."""
        return np.asarray(self.below.any(axis=0))

    @property
    def means(self) -> FloatArray:
        """Mean of every column."""
        return np.asarray(self.pool.mean(axis=0))

    @property
    def spreads(self) -> FloatArray:
        """Standard deviation of every column."""
        return np.asarray(self.pool.std(axis=0))

    def draw(
        self, n_x: int, n_y: int, strength: float, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Return tables of so many rows that differ `strength` times as much as the pilot's."""
        x, _ = self.draw_rows(n_x, strength, (0, self.n_x), rng)
        y, _ = self.draw_rows(n_y, strength, (self.n_x, self.pool.shape[0]), rng)
        return x, y

    def draw_rows(
        self, count: int, strength: float, own: tuple[int, int], rng: np.random.Generator
    ) -> tuple[FloatArray, IntArray]:
        """Return rows, and their places in the pool.

        They are among those from `own[0]` to `own[1]` with probability `strength`.
        """
        is_own = rng.random(count) < strength
        chosen = np.where(
            is_own, rng.integers(*own, count), rng.integers(self.pool.shape[0], size=count)
        )
        moves = rng.uniform(-1.0, 1.0, size=(count, self.pool.shape[1]))
        reach = np.where(moves < 0, self.below[chosen], self.above[chosen])
        return np.asarray(self.pool[chosen] + moves * reach), chosen


def _dense(values: Values) -> FloatArray:
    if isinstance(values, ColumnStore):
        return np.asarray(values[:, np.arange(values.shape[1])])
    return values
