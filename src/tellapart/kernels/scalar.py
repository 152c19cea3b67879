"""Scalar kernels: one column, bandwidth frozen, k(v, v) = 1."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.kernels.base import Expansion, KernelMoments, ScalarKernel
from tellapart.kernels.fastsum import (
    BoxExpansion,
    BoxGrid,
    BoxMoments,
    CountExpansion,
    LevelCounts,
    SortedExpansion,
    count_modes,
    extent_of,
    fourier_sums,
    gaussian_group_sums,
    indicator_group_sums,
    laplace_group_sums,
)
from tellapart.kernels.feature_maps import FourierMap, LevelMap, MixedMap

# Columns of a feature matrix at most: above, sums of the kernel itself are the better way.
MAX_FEATURES = 200


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

    def moments(self, values: FloatArray) -> BoxMoments:
        """Return the power sums of the values, box by box, in O(n)."""
        return BoxMoments.of(BoxGrid(self.bandwidth), values)

    def expand(self, x: BoxMoments, y: BoxMoments) -> BoxExpansion:
        """Return the kernel sums of the two samples."""
        return BoxExpansion(x, y)

    def features(self, values: FloatArray, starts: IntArray | None = None) -> FloatArray | None:
        """Return cosines and sines Φ with ΦΦᵀ = Gram to 1e-12, or None for a long range.

        See `tellapart.kernels.fastsum.gaussian`.
        """
        extent = extent_of(values, self.bandwidth)
        if count_modes(extent) > MAX_FEATURES:
            return None
        low, high = float(values.min()), float(values.max())
        starts = _single_rows(values) if starts is None else starts
        return fourier_sums(values, starts, self.bandwidth, extent, low + (high - low) / 2)

    def feature_map(self, drawn: FloatArray, low: float, high: float) -> FourierMap:
        """Return cosines and sines of values from `low` to `high`, cut off where that is long."""
        return FourierMap.of(self.bandwidth, drawn, low, high)

    def gram_sums(self, values: FloatArray, starts: IntArray) -> FloatArray:
        """Return the sums of k between groups of rows, whatever the range of the values."""
        return gaussian_group_sums(values, starts, self.bandwidth)

    def frequencies(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw ω with k(u, v) = E cos(ω(u − v)): normal, with variance 1/τ²."""
        return rng.standard_normal(count) / self.bandwidth

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

    def moments(self, values: FloatArray) -> LevelCounts:
        """Return the distinct values and their counts, in O(n log n)."""
        return LevelCounts.of(values)

    def expand(self, x: LevelCounts, y: LevelCounts) -> SortedExpansion:
        """Return the kernel sums of the two samples."""
        return SortedExpansion(x, y, self.bandwidth)

    def features(self, values: FloatArray, starts: IntArray | None = None) -> None:
        """Return None: the kink at 0 leaves no short exact features."""

    def feature_map(self, drawn: FloatArray, low: float, high: float) -> None:
        """Return None, as `features` does."""

    def gram_sums(self, values: FloatArray, starts: IntArray) -> FloatArray:
        """Return the sums of k between groups of rows."""
        return laplace_group_sums(values, starts, self.bandwidth)

    def frequencies(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Draw ω with k(u, v) = E cos(ω(u − v)): Cauchy, with scale 1/τ."""
        return rng.standard_cauchy(count) / self.bandwidth

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

    def moments(self, values: FloatArray) -> LevelCounts:
        """Return the levels and their counts."""
        return LevelCounts.of(values)

    def expand(self, x: LevelCounts, y: LevelCounts) -> CountExpansion:
        """Return the kernel sums of the two samples."""
        return CountExpansion(x, y)

    def features(self, values: FloatArray, starts: IntArray | None = None) -> FloatArray | None:
        """Return one 0/1 column per level, or None for very many levels."""
        levels, position = np.unique(values, return_inverse=True)
        if levels.shape[0] > MAX_FEATURES:
            return None
        sizes = np.diff(_single_rows(values) if starts is None else starts)
        cell = np.repeat(np.arange(sizes.shape[0]), sizes) * levels.shape[0] + position
        counts = np.bincount(cell, minlength=sizes.shape[0] * levels.shape[0])
        return counts.reshape(-1, levels.shape[0]).astype(np.float64)

    def feature_map(self, drawn: FloatArray, low: float, high: float) -> LevelMap:
        """Return one 0/1 feature for each code from `low` to `high`; very many share one."""
        return LevelMap.of(drawn, low, high)

    def gram_sums(self, values: FloatArray, starts: IntArray) -> FloatArray:
        """Return the number of equal pairs between groups of rows."""
        return indicator_group_sums(values, starts)


def _single_rows(values: FloatArray) -> IntArray:
    return np.arange(values.shape[0] + 1)


# A mean of scalar kernels: short bandwidths see shapes, long ones see shifts.


MIXED = "mixed"
"""The `bandwidth` of a mean over `MIXED_MULTIPLIERS`."""
MIXED_MULTIPLIERS = (0.5, 1.0, 2.0)
"""In units of the median rule."""


@dataclass(frozen=True)
class MixedScalar:
    """k(u, v) = mean over the parts of k_b(u, v): a kernel again, with k(v, v) = 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.kernels.scalar import GaussianScalar
    >>> mixed = MixedScalar((GaussianScalar(1.0), GaussianScalar(2.0)))
    >>> mixed.gram(np.array([0.0]), np.array([0.0, 2.0])).round(4).tolist()
    [[1.0, 0.3709]]
    """

    parts: tuple[ScalarKernel, ...]

    @property
    def compact(self) -> bool:
        """Whether sums of all parts are cheap to hold."""
        return all(part.compact for part in self.parts)

    @property
    def bandwidth(self) -> float:
        """The shortest of the parts' bandwidths."""
        return min(getattr(part, "bandwidth", math.inf) for part in self.parts)

    def gram(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the matrix k(u_i, v_j)."""
        return self._mean([part.gram(u, v) for part in self.parts])

    def elementwise(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """Return the vector k(u_i, v_i)."""
        return self._mean([part.elementwise(u, v) for part in self.parts])

    def moments(self, values: FloatArray) -> MixedMoments:
        """Return what every part needs of the values, side by side."""
        return MixedMoments(tuple(part.moments(values) for part in self.parts))

    def expand(self, x: MixedMoments, y: MixedMoments) -> MixedExpansion:
        """Return the kernel sums of the two samples, those of the parts side by side."""
        each = zip(self.parts, x.parts, y.parts, strict=True)
        return MixedExpansion(tuple(part.expand(of_x, of_y) for part, of_x, of_y in each))

    def features(self, values: FloatArray, starts: IntArray | None = None) -> FloatArray | None:
        """Return the features of all parts, or None where one of them has none."""
        of_parts = [part.features(values, starts) for part in self.parts]
        held = [features for features in of_parts if features is not None]
        if len(held) < len(of_parts):
            return None
        return np.concatenate(held, axis=1) / math.sqrt(len(held))

    def feature_map(self, drawn: FloatArray, low: float, high: float) -> MixedMap | None:
        """Return the features of all parts, or None where one of them has none."""
        of_parts = [part.feature_map(drawn, low, high) for part in self.parts]
        held = tuple(feature_map for feature_map in of_parts if feature_map is not None)
        return MixedMap(held) if len(held) == len(of_parts) else None

    def gram_sums(self, values: FloatArray, starts: IntArray) -> FloatArray:
        """Return the sums of k between groups of rows."""
        return self._mean([part.gram_sums(values, starts) for part in self.parts])

    @staticmethod
    def _mean(values: Sequence[FloatArray]) -> FloatArray:
        return np.asarray(sum(values) / len(values))


@dataclass(frozen=True)
class MixedMoments:
    """Moments of a mixed kernel: those of its parts."""

    parts: tuple[KernelMoments, ...]

    @property
    def count(self) -> int:
        """Number of values summed."""
        return self.parts[0].count

    def merge(self, other: MixedMoments) -> MixedMoments:
        """Return the moments of both sets of values together."""
        each = zip(self.parts, other.parts, strict=True)
        return MixedMoments(tuple(first.merge(second) for first, second in each))


class MixedExpansion:
    """Sums of a mixed kernel: means of the sums of its parts."""

    def __init__(self, parts: tuple[Expansion, ...]) -> None:
        self.parts = parts
        self.mean_xx = sum(part.mean_xx for part in parts) / len(parts)
        self.mean_yy = sum(part.mean_yy for part in parts) / len(parts)
        self.mean_xy = sum(part.mean_xy for part in parts) / len(parts)

    def witness(self, values: FloatArray) -> FloatArray:
        """Return mean_i k(x_i, v) − mean_j k(y_j, v) for each v in `values`."""
        return np.asarray(sum(part.witness(values) for part in self.parts) / len(self.parts))
