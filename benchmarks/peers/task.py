"""Two samples with a planted difference that is equally hard to find at every number of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

SIGMAS = 6.0
"""The shift, and the change of the correlation, in units of their standard errors."""


@dataclass(frozen=True)
class Pair:
    """The rows of both samples in one array.

    Peers that take X and Y, and those that take a table with labels, find their own form in it
    without a copy.
    """

    values: FloatArray
    labels: IntArray

    @property
    def rows(self) -> int:
        """Rows of each sample."""
        return len(self.values) // 2

    @property
    def X(self) -> FloatArray:  # noqa: N802
        """The first sample, label 0."""
        return self.values[: self.rows]

    @property
    def Y(self) -> FloatArray:  # noqa: N802
        """The second sample, label 1."""
        return self.values[self.rows :]


@dataclass(frozen=True)
class Planted:
    """The answer: the column that is shifted, and the two whose correlation is new."""

    shifted: int
    correlated: tuple[int, int]


def planted(columns: int, seed: int) -> Planted:
    """Return which columns differ, without drawing the samples."""
    rng = np.random.default_rng([seed, columns])
    shifted, first, second = (int(s) for s in rng.choice(columns, 3, replace=False))
    return Planted(shifted, (first, second))


def draw(rows: int, columns: int, seed: int) -> Pair:
    """Draw independent standard normal columns and plant the difference in the second sample.

    The difference of two means has the standard error √(2/n), that of two correlations near 0 as
    well: both are SIGMAS·√(2/n), at most 0.9, so more rows do not make the question easier.
    """
    rng = np.random.default_rng([seed, columns, rows])
    values = np.empty((2 * rows, columns))
    rng.standard_normal(out=values)
    pair = Pair(values, np.repeat([0, 1], rows))
    answer, size = planted(columns, seed), min(0.9, SIGMAS * np.sqrt(2 / rows))
    first, second = answer.correlated
    Y = pair.Y
    Y[:, answer.shifted] += size
    Y[:, second] *= np.sqrt(1 - size**2)
    Y[:, second] += size * Y[:, first]
    return pair
