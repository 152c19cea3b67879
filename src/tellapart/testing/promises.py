"""What a monitor promises of false alarms: none ever but with chance α, few, or none in a plan."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Ever:
    """The chance of any false alarm, however long the sequence, is at most α.

    The stake of 1 is laid in parts w_j = 1/log₂(j + 1) − 1/log₂(j + 2), which add up to 1 and fall
    hardly faster than they must: w_j ≈ 0.69/(j log² j). The capital is then a test martingale, and
    an alarm needs 1/α.

    Examples
    --------
    >>> promise = Ever(0.05)
    >>> promise.capital_needed, round(promise.stake(1), 3), round(promise.stake(1000), 6)
    (20.0, 0.369, 1.4e-05)
    """

    alpha: float

    @property
    def capital_needed(self) -> float:
        """1/α."""
        return 1 / self.alpha

    def stake(self, number: int) -> float:
        """Return w_j, the part of the stake that is laid at check j."""
        return self.kept_back(number - 1) - self.kept_back(number)

    def kept_back(self, number: int) -> float:
        """Return Σ_{j > k} w_j = 1/log₂(k + 2)."""
        return 1 / math.log2(number + 2)

    def describe(self) -> str:
        """Say what is promised."""
        return (
            "the probability of any false alarm, however long the sequence, is at most "
            f"{self.alpha:g}"
        )


@dataclass(frozen=True)
class Rate:
    """The mean number of checks until a false alarm is at least the run length.

    A new stake of 1 is laid at every check (an e-detector of Shiryaev and Roberts' kind). The
    capital less the number of checks is a martingale, so the mean number of checks until the
    capital reaches the run length is at least that. Evidence before a change costs nothing: the
    delay after it does not grow with the length of the sequence.

    Examples
    --------
    >>> promise = Rate(1000)
    >>> promise.capital_needed, promise.stake(1), promise.stake(1000)
    (1000, 1.0, 1.0)
    """

    run_length: float

    @property
    def capital_needed(self) -> float:
        """The run length."""
        return self.run_length

    def stake(self, number: int) -> float:  # noqa: ARG002
        """Return 1: every check is a new beginning."""
        return 1.0

    def kept_back(self, number: int) -> float:  # noqa: ARG002
        """Return 0: nothing waits."""
        return 0.0

    def describe(self) -> str:
        """Say what is promised."""
        return f"the mean number of checks until a false alarm is at least {self.run_length:g}"


@dataclass(frozen=True)
class Planned:
    """The chance of any false alarm in a number of checks known before is at most α.

    Check k alarms where p ≤ α/n_checks, whatever the p-values have to do with each other.

    Examples
    --------
    >>> Planned(0.05, 20).alarm_level
    0.0025
    """

    alpha: float
    n_checks: int

    @property
    def alarm_level(self) -> float:
        """α/n_checks, the level of every check."""
        return self.alpha / self.n_checks

    def describe(self) -> str:
        """Say what is promised."""
        return (
            f"the probability of any false alarm in the {self.n_checks} planned checks is at most "
            f"{self.alpha:g}"
        )
