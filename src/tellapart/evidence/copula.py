"""Scores of each sample by its own ranks: what is left to differ is how columns depend.

Ranked within its sample, every column has the same distribution in both, so a shift or another
spread of one column cannot pass for a change of its dependence on others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.evidence.zscores import standardised
from tellapart.scan.scores import Singles, without


@dataclass(frozen=True)
class CopulaScores:
    """Scores of one sample's columns: `normal`, `spread` (their size) and `wave` (the middle)."""

    normal: Singles
    spread: Singles
    wave: Singles

    @classmethod
    def of(cls, values: FloatArray) -> CopulaScores:
        """Rank the columns of one sample and score them."""
        return cls.of_ranks(mid_ranks(values))

    @classmethod
    def of_ranks(cls, ranks: FloatArray) -> CopulaScores:
        """Score the columns of one sample by their mid-ranks."""
        quantile = (ranks - 0.5) / ranks.shape[0]
        normal = special.ndtri(quantile)
        normal = standardised(normal.astype(np.float32)).astype(np.float64)
        spread = without(np.clip(normal * normal - 1, -2.5, 4), normal)
        wave = without(np.cos(2 * np.pi * quantile), normal)
        return cls(normal.astype(np.float32), spread.astype(np.float32), wave.astype(np.float32))

    def columns(self, places: IntArray) -> CopulaScores:
        """Return the scores of some of the columns."""
        return CopulaScores(self.normal[:, places], self.spread[:, places], self.wave[:, places])

    def by_name(self, name: str) -> Singles:
        """Return one matrix of scores."""
        return {"normal": self.normal, "spread": self.spread, "wave": self.wave}[name]


def mid_ranks(values: FloatArray) -> FloatArray:
    """Return the rank of each value in its column from 1 on, the mean rank where values are equal.

    As `scipy.stats.rankdata`, without the second that loading scipy.stats takes.

    >>> mid_ranks(np.array([[3.0], [1.0], [3.0], [2.0]])).ravel().tolist()
    [3.5, 1.0, 3.5, 2.0]
    """
    ranks = np.empty(values.shape, order="F")
    columns = np.asfortranarray(values)
    _rank(columns, np.asfortranarray(np.argsort(columns, axis=0)), ranks)
    return ranks


@compiled
def _rank(values, order, ranks):  # type: ignore[no-untyped-def]  # pragma: no cover
    n_rows = values.shape[0]
    for s in range(values.shape[1]):
        first = 0
        while first < n_rows:
            last = first
            while last + 1 < n_rows and values[order[last + 1, s], s] == values[order[first, s], s]:
                last += 1
            for place in range(first, last + 1):
                ranks[order[place, s], s] = (first + last) / 2 + 1
            first = last + 1
