"""Two samples side by side: the data every later step works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.column_store import ColumnStore
from tellapart.data.design import Design
from tellapart.errors import InputError

Kind = Literal["numeric", "categorical"]
Values = FloatArray | ColumnStore
"""One sample: a dense matrix, or a store that gives out dense columns a few at a time."""


@dataclass(frozen=True)
class Samples:
    """Samples `x` (m × D) and `y` (n × D) over the same D named columns.

    Categorical columns hold integer codes; `categories` maps their names to the labels,
    in code order. Made by `tellapart.data.tables.read_samples`, which checks everything:
    below that door the numbers are finite and both samples have at least two rows.
    Of a sparse sample, `x` or `y` is a `tellapart.data.column_store.ColumnStore`: index it as
    `x[:, columns]`, which is dense, and never all of it at once.
    `dropped_columns` and `dropped_rows` (of X and of Y) say what was left out for missing values.
    `design` says which rows belong together; None where all are independent of each other.
    """

    x: Values
    y: Values
    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    dropped_columns: tuple[str, ...] = ()
    dropped_rows: tuple[int, int] = (0, 0)
    design: Design | None = None

    @property
    def n_x(self) -> int:
        """Rows of the first sample, m."""
        return int(self.x.shape[0])

    @property
    def n_y(self) -> int:
        """Rows of the second sample, n."""
        return int(self.y.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns, D."""
        return int(self.x.shape[1])

    def rows(self, of_x: IntArray, of_y: IntArray) -> Samples:
        """Return the samples restricted to some rows of each."""
        design = None if self.design is None else self.design.rows(of_x, of_y)
        return replace(self, x=rows_of(self.x, of_x), y=rows_of(self.y, of_y), design=design)

    def columns(self, index: IntArray | Sequence[int]) -> Samples:
        """Return the samples restricted to some columns."""
        chosen = np.asarray(index, dtype=np.intp)
        names = tuple(self.names[i] for i in chosen)
        return replace(
            self,
            x=columns_of(self.x, chosen),
            y=columns_of(self.y, chosen),
            names=names,
            kinds=tuple(self.kinds[i] for i in chosen),
            categories={n: self.categories[n] for n in names if n in self.categories},
        )

    def draw(self, most: int, rng: np.random.Generator) -> Samples:
        """Return at most `most` rows of each sample, drawn at random; self where that is all."""
        if max(self.n_x, self.n_y) <= most:
            return self
        if self.design is not None:
            return self.rows(*self.design.draw(most, rng)).informative()
        return self.rows(draw_rows(self.n_x, most, rng), draw_rows(self.n_y, most, rng))

    def split(self, test_size: float, rng: np.random.Generator) -> tuple[Samples, Samples]:
        """Split each sample at random into a training and a test part.

        Each part of each sample keeps at least two rows, which the unbiased MMD² needs. With a
        design no unit and no pair has rows in both parts.
        """
        if self.design is not None:
            train, test = self.design.split(test_size, rng)
            return self.rows(*train), self.rows(*test).informative()
        train_x, test_x = _split_rows(self.n_x, test_size, rng, "X")
        train_y, test_y = _split_rows(self.n_y, test_size, rng, "Y")
        return self.rows(train_x, train_y), self.rows(test_x, test_y)

    def informative(self) -> Samples:
        """Return the samples without rows in blocks of the design that have one sample only."""
        if self.design is None:
            return self
        x, y = self.design.informative()
        if x.all() and y.all():
            return self
        kept = self.rows(np.flatnonzero(x), np.flatnonzero(y))
        assert kept.design is not None
        gone = self.design.left_out
        left_out = (gone[0] + int(np.sum(~x)), gone[1] + int(np.sum(~y)))
        return replace(kept, design=replace(kept.design, left_out=left_out))


def draw_rows(n_rows: int, most: int, rng: np.random.Generator) -> IntArray:
    """Return at most `most` of the numbers 0..n_rows−1, drawn at random and sorted."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, most, replace=False))


def rows_of(values: Values, rows: IntArray) -> Values:
    """Return some rows of one sample, held as it was."""
    return values.rows(rows) if isinstance(values, ColumnStore) else values[rows]


def columns_of(values: Values, columns: IntArray) -> Values:
    """Return some columns of one sample, held as it was."""
    return values.columns(columns) if isinstance(values, ColumnStore) else values[:, columns]


def extremes_of(values: Values) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest value of every column of one sample."""
    if isinstance(values, ColumnStore):
        return values.extremes()
    return values.min(axis=0), values.max(axis=0)


def count_held_out(n_rows: int, test_size: float, name: str) -> int:
    """Return how many rows of a sample to hold out, such that either part has two at least."""
    if n_rows < 4:
        raise InputError(
            f"{name} must have at least 4 rows to be split into two parts of at least 2 rows; "
            f"got {n_rows}"
        )
    return min(max(round(n_rows * test_size), 2), n_rows - 2)


def _split_rows(
    n: int, test_size: float, rng: np.random.Generator, name: str
) -> tuple[IntArray, IntArray]:
    n_test = count_held_out(n, test_size, name)
    order = rng.permutation(n)
    return np.sort(order[n_test:]), np.sort(order[:n_test])
