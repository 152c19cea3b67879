"""Scores of each sample by its own ranks: what is left to differ is how columns depend.

Ranked within its sample, every column has the same distribution in both, so a shift or another
spread of one column cannot pass for a change of its dependence on others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from tellapart.arrays import FloatArray
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
        quantile = (stats.rankdata(values, axis=0) - 0.5) / values.shape[0]
        normal = special.ndtri(quantile)
        normal = standardised(normal.astype(np.float32)).astype(np.float64)
        spread = without(np.clip(normal * normal - 1, -2.5, 4), normal)
        wave = without(np.cos(2 * np.pi * quantile), normal)
        return cls(normal.astype(np.float32), spread.astype(np.float32), wave.astype(np.float32))

    def by_name(self, name: str) -> Singles:
        """Return one matrix of scores."""
        return {"normal": self.normal, "spread": self.spread, "wave": self.wave}[name]
