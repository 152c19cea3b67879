"""Short features of a scalar kernel, k(u, v) ≈ f(u)ᵀf(v), from a few landmarks of its column.

With landmarks l at even ranks of the pooled values, w their shares of the rows and
diag(√w) k(l, l) diag(√w) = V Λ Vᵀ, the features f(v) = Λ^{-1/2} Vᵀ diag(√w) k(l, v) of the largest
eigenvalues keep most of the kernel on these rows (Nyström). Only the sorted pooled values enter:
neither labels nor the order of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.kernels.base import PairFunction

N_LANDMARKS = 32
# Directions with less than this share of the largest eigenvalue are rounding error.
_LEAST_SHARE = 1e-10


@dataclass(frozen=True)
class Landmarks:
    """The features of one column.

    Attributes
    ----------
    scalar : PairFunction
        k.
    points : array of length L
        The landmarks.
    projection : array of shape (L, r)
        diag(√w) V Λ^{-1/2}.
    """

    scalar: PairFunction
    points: FloatArray
    projection: FloatArray

    @classmethod
    def of(cls, scalar: PairFunction, pooled: FloatArray, rank: int) -> Landmarks:
        """Place landmarks for these values; at most `rank` features.

        Examples
        --------
        >>> import numpy as np
        >>> from tellapart.kernels.scalar import GaussianScalar
        >>> values = np.linspace(-2.0, 2.0, 100)
        >>> features = Landmarks.of(GaussianScalar(1.0), values, 10).features(values)
        >>> gram = GaussianScalar(1.0).gram(values, values)
        >>> bool(np.abs(features @ features.T - gram).max() < 1e-3)
        True
        """
        ranks = (2 * np.arange(N_LANDMARKS) + 1) * pooled.shape[0] // (2 * N_LANDMARKS)
        points, counts = np.unique(
            np.partition(pooled, np.unique(ranks))[ranks], return_counts=True
        )
        roots = np.sqrt(counts / counts.sum())
        gram = scalar.gram(points, points) * np.multiply.outer(roots, roots)
        values, vectors = np.linalg.eigh((gram + gram.T) / 2)
        kept = np.flatnonzero(values > _LEAST_SHARE * max(values[-1], 0.0))[::-1][:rank]
        return cls(scalar, points, roots[:, None] * vectors[:, kept] / np.sqrt(values[kept]))

    @property
    def rank(self) -> int:
        """How many features there are."""
        return int(self.projection.shape[1])

    def features(self, values: FloatArray) -> FloatArray:
        """Return f of each value, of shape (n, rank)."""
        return np.asarray(self.scalar.gram(values, self.points) @ self.projection)
