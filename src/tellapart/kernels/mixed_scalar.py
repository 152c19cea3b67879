"""A mean of scalar kernels: short bandwidths see shapes, long ones see shifts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.kernels.base import Expansion, KernelMoments, ScalarKernel
from tellapart.kernels.feature_maps import MixedMap

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
        every = [part.features(values, starts) for part in self.parts]
        held = [features for features in every if features is not None]
        if len(held) < len(every):
            return None
        return np.concatenate(held, axis=1) / math.sqrt(len(held))

    def feature_map(self, drawn: FloatArray, low: float, high: float) -> MixedMap | None:
        """Return the features of all parts, or None where one of them has none."""
        every = [part.feature_map(drawn, low, high) for part in self.parts]
        held = tuple(one for one in every if one is not None)
        return MixedMap(held) if len(held) == len(every) else None

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
        return MixedMoments(tuple(mine.merge(its) for mine, its in each))


@dataclass(frozen=True)
class MixedExpansion:
    """Sums of a mixed kernel: means of the sums of its parts."""

    parts: tuple[Expansion, ...]

    @property
    def mean_xx(self) -> float:
        """Mean of k(x_i, x_j) over all i, j."""
        return sum(part.mean_xx for part in self.parts) / len(self.parts)

    @property
    def mean_yy(self) -> float:
        """Mean of k(y_i, y_j) over all i, j."""
        return sum(part.mean_yy for part in self.parts) / len(self.parts)

    @property
    def mean_xy(self) -> float:
        """Mean of k(x_i, y_j) over all i, j."""
        return sum(part.mean_xy for part in self.parts) / len(self.parts)

    def witness(self, values: FloatArray) -> FloatArray:
        """Return mean_i k(x_i, v) − mean_j k(y_j, v) for each v in `values`."""
        return np.asarray(sum(part.witness(values) for part in self.parts) / len(self.parts))
