"""Short features of one column that all chunks share: fixed before any row is summed.

`ScalarKernel.features` looks at all values at once. Chunks cannot: what the features are is settled
by the range of the column and by rows drawn without regard to labels. A range too long for few
features is cut off, and levels too many are lumped together. Both are blind to labels, so a test
by such features is as valid, and it says so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.kernels.fastsum.gaussian import count_modes, fourier_sums

MOST_EXTENT = 64.0
"""Bandwidths that features span at most: 185 of them do."""
MOST_LEVELS = 500
"""Levels of a category that have a feature of their own; all others share one."""


class FeatureMap(Protocol):
    """Φ of one column, with Φ(u)·Φ(v) = k(u, v) to 1e-12, except for the values named by `cut`."""

    @property
    def size(self) -> int:
        """Number of features."""

    @property
    def cut(self) -> str:
        """Which values the features do not distinguish; empty where they distinguish all."""

    def sums(self, values: FloatArray, starts: IntArray) -> FloatArray:
        """Return the sums of Φ over groups of values, (G × r); `starts` as in `features`."""


@dataclass(frozen=True)
class FourierMap:
    """Cosines and sines of a Gaussian kernel, of values clipped to [low, high].

    Examples
    --------
    >>> import numpy as np
    >>> features = FourierMap.of(1.0, np.array([0.0, 1.0]), 0.0, 3.0)
    >>> both = features.sums(np.array([0.5, 2.5]), np.array([0, 1, 2]))
    >>> round(float(both[0] @ both[1]), 9) == round(math.exp(-2), 9)
    True
    """

    bandwidth: float
    low: float
    high: float
    cut: str = ""

    @classmethod
    def of(cls, bandwidth: float, drawn: FloatArray, low: float, high: float) -> FourierMap:
        """Span the whole range, or its 64 bandwidths about the middle of the drawn values."""
        if (high / 2 - low / 2) / bandwidth <= MOST_EXTENT / 2:
            return cls(bandwidth, low, high)
        start = max(float(np.median(drawn)) - MOST_EXTENT / 2 * bandwidth, low)
        start = min(start, high - MOST_EXTENT * bandwidth)
        stop = start + MOST_EXTENT * bandwidth
        return cls(bandwidth, start, stop, f"cut off at {start:.3g} and {stop:.3g}")

    @property
    def size(self) -> int:
        """Number of features."""
        return int(count_modes(self._extent))

    @property
    def _extent(self) -> float:
        return (self.high - self.low) / self.bandwidth

    def sums(self, values: FloatArray, starts: IntArray) -> FloatArray:
        """Return the sums of the features over groups of values."""
        centre = self.low + (self.high - self.low) / 2
        inside = np.clip(values, self.low, self.high) if self.cut else values
        return fourier_sums(inside, starts, self.bandwidth, self._extent, centre)


@dataclass(frozen=True, eq=False)
class LevelMap:
    """One 0/1 feature for each level of a category, and one for all levels that have none.

    Examples
    --------
    >>> import numpy as np
    >>> features = LevelMap.of(np.array([0.0, 2.0, 2.0]), 0.0, 2.0)
    >>> features.sums(np.array([2.0, 2.0, 0.0]), np.array([0, 2, 3])).tolist()
    [[0.0, 0.0, 2.0], [1.0, 0.0, 0.0]]
    """

    feature_of_code: IntArray
    cut: str = ""

    @classmethod
    def of(cls, drawn: FloatArray, low: float, high: float) -> LevelMap:
        """Give features to all codes from `low` to `high`, or to those drawn most often."""
        n_codes = round(high) + 1
        if n_codes - round(low) <= MOST_LEVELS:
            return cls(np.arange(n_codes))
        counts = np.bincount(drawn.astype(np.intp), minlength=n_codes)
        most = np.argsort(-counts, kind="stable")[: MOST_LEVELS - 1]
        feature_of_code = np.full(n_codes, MOST_LEVELS - 1)
        feature_of_code[np.sort(most)] = np.arange(MOST_LEVELS - 1)
        return cls(
            feature_of_code, f"with all but its {MOST_LEVELS - 1} most frequent levels as one"
        )

    @property
    def size(self) -> int:
        """Number of features."""
        return int(self.feature_of_code.max()) + 1

    def sums(self, values: FloatArray, starts: IntArray) -> FloatArray:
        """Return how often each feature is 1 in each group of values."""
        n_groups = starts.shape[0] - 1
        group = np.repeat(np.arange(n_groups), np.diff(starts))
        flat = group * self.size + self.feature_of_code[values.astype(np.intp)]
        counts = np.bincount(flat, minlength=n_groups * self.size)
        return counts.reshape(n_groups, self.size).astype(np.float64)


@dataclass(frozen=True)
class MixedMap:
    """The features of all parts of a mixed kernel."""

    parts: tuple[FeatureMap, ...]

    @property
    def size(self) -> int:
        """Number of features."""
        return sum(part.size for part in self.parts)

    @property
    def cut(self) -> str:
        """Which values the features do not distinguish: those of the shortest bandwidth."""
        return next((part.cut for part in self.parts if part.cut), "")

    def sums(self, values: FloatArray, starts: IntArray) -> FloatArray:
        """Return the sums of the features over groups of values."""
        sums = [part.sums(values, starts) for part in self.parts]
        return np.concatenate(sums, axis=1) / math.sqrt(len(sums))
