"""How sure a share of rejections is."""

from __future__ import annotations

import math
from dataclasses import dataclass

NORMAL = 1.959963984540054
"""The 97.5 % quantile of the standard normal distribution."""


@dataclass(frozen=True)
class Share:
    """`hits` of `trials`, with Wilson's 95 % interval.

    (p̂ + z²/2k ± z·√(p̂(1−p̂)/k + z²/4k²)) / (1 + z²/k), which unlike p̂ ± 2 s.e. stays inside
    [0, 1] and does not shrink to a point where all or none of the k trials are hits.

    Examples
    --------
    >>> Share(19, 20).text
    '0.95 [0.76, 0.99]'
    """

    hits: int
    trials: int

    @property
    def value(self) -> float:
        """The share itself."""
        return self.hits / self.trials

    @property
    def low(self) -> float:
        """Lower end of the interval."""
        return max(self._centre - self._half, 0.0) if self.hits > 0 else 0.0

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return min(self._centre + self._half, 1.0) if self.hits < self.trials else 1.0

    @property
    def variance(self) -> float:
        """Variance of the share, by the share with two hits and two misses more: never 0."""
        p = (self.hits + 2) / (self.trials + 4)
        return p * (1 - p) / (self.trials + 4)

    @property
    def text(self) -> str:
        """The share and its interval, to read."""
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"

    @property
    def _centre(self) -> float:
        z2 = NORMAL**2 / self.trials
        return (self.value + z2 / 2) / (1 + z2)

    @property
    def _half(self) -> float:
        p, k = self.value, self.trials
        return NORMAL * math.sqrt(p * (1 - p) / k + NORMAL**2 / (4 * k**2)) / (1 + NORMAL**2 / k)
