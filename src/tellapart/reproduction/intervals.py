"""How sure a share of rejections is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from scipy.stats import binomtest


@dataclass(frozen=True)
class Share:
    """`hits` of `trials`, with Wilson's 95 % interval.

    Unlike p̂ ± 2 s.e. it stays inside [0, 1] and does not shrink to a point where all or none of
    the trials are hits.

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
        return self._interval[0]

    @property
    def high(self) -> float:
        """Upper end of the interval."""
        return self._interval[1]

    @property
    def variance(self) -> float:
        """Variance of the share, by the share with two hits and two misses more: never 0."""
        p = (self.hits + 2) / (self.trials + 4)
        return p * (1 - p) / (self.trials + 4)

    @property
    def text(self) -> str:
        """The share and its interval, to read."""
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"

    @cached_property
    def _interval(self) -> tuple[float, float]:
        low, high = binomtest(self.hits, self.trials).proportion_ci(method="wilson")
        return float(low), float(high)
