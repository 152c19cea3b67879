"""Scalar kernels: one column, bandwidth frozen, k(v, v) = 1."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.kernels.fastsum import (
    BoxExpansion,
    BoxGrid,
    BoxMoments,
    CountExpansion,
    SortedExpansion,
)

# Columns of a feature matrix at most: above, the Gram matrix in blocks is the better way.
MAX_FEATURES = 200
# Truncation of the Fourier series and distance of its periodic images, both below 1e-14.
_TAIL = math.sqrt(2 * math.log(1e14))


class _OfDifference(ABC):
    """A kernel that depends on u − v only."""

    def gram(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the matrix k(u_i, v_j)."""
        with np.errstate(over="ignore"):  # far apart: exp(−inf) = 0
            return self._of_difference(np.subtract.outer(u, v))

    def elementwise(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the vector k(u_i, v_i)."""
        with np.errstate(over="ignore"):  # far apart: exp(−inf) = 0
            return self._of_difference(u - v)

    @abstractmethod
    def _of_difference(self, difference: FloatArray) -> FloatArray:
        """Return k at each difference, in place: a Gram block is large."""


@dataclass(frozen=True)
class GaussianScalar(_OfDifference):
    """k(u, v) = exp(−(u − v)² / 2τ²).

    Examples
    --------
    >>> import numpy as np
    >>> GaussianScalar(2.0).gram(np.array([0.0]), np.array([0.0, 2.0])).round(6).tolist()
    [[1.0, 0.606531]]
    """

    bandwidth: float
    compact: ClassVar[bool] = True

    def expand(self, x: FloatArray, y: FloatArray) -> BoxExpansion:
        """Return the kernel sums of the two samples in O(n)."""
        grid = BoxGrid(self.bandwidth)
        return BoxExpansion(BoxMoments.of(grid, x), BoxMoments.of(grid, y))

    def features(self, values: FloatArray) -> FloatArray | None:
        """Return cosines and sines Φ with ΦΦᵀ = Gram to 1e-12, or None for a long range.

        exp(−u²/2) = Σ_m w_m cos(m h u), h = 2π / (R + √(2 ln 1/ε)), R = range / τ,
        w_m = h / √(2π) · exp(−(m h)²/2), doubled for m ≥ 1.
        """
        low, high = float(values.min()), float(values.max())
        extent = (high / 2 - low / 2) / self.bandwidth * 2
        step = 2 * math.pi / (extent + _TAIL)
        modes = math.ceil(_TAIL / step) if math.isfinite(extent) else MAX_FEATURES
        if 2 * modes + 1 > MAX_FEATURES:
            return None
        frequencies = step * np.arange(modes + 1)
        weights = step / math.sqrt(2 * math.pi) * np.exp(-0.5 * np.square(frequencies))
        weights[1:] *= 2
        centred = (values - (low + (high - low) / 2)) / self.bandwidth
        angles = np.multiply.outer(centred, frequencies)
        features = np.concatenate([np.cos(angles), np.sin(angles[:, 1:])], axis=1)
        features *= np.sqrt(np.concatenate([weights, weights[1:]]))
        return features

    def _of_difference(self, difference: FloatArray) -> FloatArray:
        difference /= self.bandwidth
        np.square(difference, out=difference)
        difference *= -0.5
        return np.exp(difference, out=difference)


@dataclass(frozen=True)
class LaplaceScalar(_OfDifference):
    """k(u, v) = exp(−|u − v| / τ).

    Examples
    --------
    >>> import numpy as np
    >>> LaplaceScalar(2.0).gram(np.array([0.0]), np.array([0.0, 2.0])).round(6).tolist()
    [[1.0, 0.367879]]
    """

    bandwidth: float
    compact: ClassVar[bool] = False

    def expand(self, x: FloatArray, y: FloatArray) -> SortedExpansion:
        """Return the kernel sums of the two samples in O(n log n)."""
        return SortedExpansion(x, y, self.bandwidth)

    def features(self, values: FloatArray) -> FloatArray | None:  # noqa: ARG002
        """Return None: the kink at 0 leaves no short exact features."""
        return None

    def _of_difference(self, difference: FloatArray) -> FloatArray:
        np.abs(difference, out=difference)
        difference /= -self.bandwidth
        return np.exp(difference, out=difference)


@dataclass(frozen=True)
class Indicator:
    """k(u, v) = 1[u = v], for the codes of a categorical column.

    Examples
    --------
    >>> import numpy as np
    >>> Indicator().gram(np.array([0.0, 1.0]), np.array([1.0])).tolist()
    [[0.0], [1.0]]
    """

    compact: ClassVar[bool] = True

    def gram(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the matrix 1[u_i = v_j]."""
        return np.equal.outer(u, v).astype(np.float64)

    def elementwise(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the vector 1[u_i = v_i]."""
        return np.equal(u, v).astype(np.float64)

    def expand(self, x: FloatArray, y: FloatArray) -> CountExpansion:
        """Return the kernel sums of the two samples by counting."""
        return CountExpansion(x, y)

    def features(self, values: FloatArray) -> FloatArray | None:
        """Return one 0/1 column per level, or None for very many levels."""
        levels, position = np.unique(values, return_inverse=True)
        if levels.shape[0] > MAX_FEATURES:
            return None
        features = np.zeros((values.shape[0], levels.shape[0]))
        features[np.arange(values.shape[0]), position] = 1.0
        return features
