"""Rows of two samples as one number, ñ = 2mn/(m + n), and back."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tellapart.statistics.mmd import effective_size

FEWEST = {"scan": 4, "split": 16}
"""Rows of the smaller sample below which no test of a method is simulated."""


@dataclass(frozen=True)
class Sizes:
    """Samples of m and n = ratio·m rows, by their effective size ñ = 2m·ratio/(1 + ratio).

    >>> Sizes(ratio=2.0).rows(100.0)
    (75, 150)
    >>> Sizes(ratio=2.0).effective(75)
    100.0
    """

    ratio: float
    fewest: int = FEWEST["scan"]

    def rows(self, size: float) -> tuple[int, int]:
        """Return the fewest rows m, n of this effective size or more."""
        m = math.ceil(size * (1 + self.ratio) / (2 * self.ratio) - 1e-9)
        m = max(m, self.fewest, math.ceil(self.fewest / self.ratio))
        return m, max(math.ceil(m * self.ratio - 1e-9), self.fewest)

    def effective(self, n_x: int) -> float:
        """Return ñ of n_x rows of the first sample."""
        return effective_size(n_x, max(round(n_x * self.ratio), 1))

    @property
    def smallest(self) -> float:
        """The effective size of the smallest samples."""
        return effective_size(*self.rows(0.0))
