"""Differences of one column, ψ_s(u, v) with ψ_s(v, v) = 0: what the Gaussian kernel adds up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellapart.arrays import FloatArray

# Larger differences count as this one, so that products of two of them, and with them every
# second derivative, stay finite.
LARGEST_DIFFERENCE = 1e70


@dataclass(frozen=True)
class SquaredDifference:
    """ψ(u, v) = ((u − v) / τ)².

    Examples
    --------
    >>> import numpy as np
    >>> SquaredDifference(2.0).gram(np.array([0.0]), np.array([1.0, 4.0])).tolist()
    [[0.25, 4.0]]
    """

    scale: float = 1.0

    @property
    def squared_scale(self) -> float:
        """τ: says that ψ is a squared difference, whose sums over pairs open up."""
        return self.scale

    def frequencies(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw ω with exp(−ψ(u, v)/2) = E cos(ω(u − v)): normal, with variance 1/τ²."""
        return rng.standard_normal(count) / self.scale

    def gram(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the matrix ψ(u_i, v_j)."""
        with np.errstate(over="ignore"):  # far apart: cut off below
            difference = np.subtract.outer(u, v)
            difference /= self.scale
            if _far_apart(u, v, self.scale):
                np.clip(difference, -LARGEST_DIFFERENCE, LARGEST_DIFFERENCE, out=difference)
        return np.square(difference, out=difference)


@dataclass(frozen=True)
class Mismatch:
    """ψ(u, v) = 1[u ≠ v], for the codes of a categorical column.

    Examples
    --------
    >>> import numpy as np
    >>> Mismatch().gram(np.array([0.0, 1.0]), np.array([1.0])).tolist()
    [[1.0], [0.0]]
    """

    by_level: ClassVar[bool] = True
    """Random phases of exp(−ψ) go by the level, not by the value."""

    def gram(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the matrix 1[u_i ≠ v_j]."""
        return np.not_equal.outer(u, v).astype(np.float64)


def _far_apart(u: FloatArray, v: FloatArray, scale: float) -> bool:
    if u.size == 0 or v.size == 0:
        return False
    largest = max(float(np.abs(u).max()), float(np.abs(v).max()))
    return largest / LARGEST_DIFFERENCE > scale / 2
