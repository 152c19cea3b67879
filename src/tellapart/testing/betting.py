"""Testing by betting: what a sequence of p-values says so far, at whatever check one looks.

Let p₁, p₂, … be independent and each at least as large as a uniform number, which is what
`tellapart.testing.seen_rows` sees to. A bet pays f(p) with ∫₀¹ f = 1, more for small p: whoever
stakes again and again what they have cannot expect to gain, so from a stake of 1 the chance of ever
holding 1/α is at most α (Ville's inequality). The bets here are

    f_κ(p) = max(p, p₀)^(κ−1) / c_κ,    c_κ = p₀^κ + ∫_{p₀}^1 q^(κ−1) dq,

κ near 1 for weak evidence in many checks, κ ≤ 0 for strong evidence in one; each has an equal share
of the stake. A change comes at some check j that nobody knows, and a stake laid before is mostly
lost by then. So the stake is divided: a part w_j is kept back until check j. The capital is

    S_k^κ = f_κ(p_k) (S_{k−1}^κ + w_k),    capital_k = mean_κ S_k^κ + Σ_{j>k} w_j.

f_κ falls in p, so p-values that are too large only make the capital smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tellapart.arrays import FloatArray

EXPONENTS = np.array([-1.0, 0.0, 0.3, 0.6])
"""κ: of the bets on a change that one check shows, or few, or many."""
SMALLEST_PVALUE = 1e-4
"""p₀: a smaller p-value pays no more, since permutations seldom reach one."""
MOST_CAPITAL = 1e200
"""Capital that no alarm ends, where the change is too small to be worth one, stays a number."""
# Halvings of the range of log p, after which its ends differ by less than rounding.
HALVINGS = 60


class Promise(Protocol):
    """What is promised of false alarms, and so when each part of the stake is laid."""

    @property
    def capital_needed(self) -> float: ...  # noqa: D102
    def stake(self, number: int) -> float: ...  # noqa: D102
    def kept_back(self, number: int) -> float: ...  # noqa: D102


def payoffs(pvalue: float) -> FloatArray:
    """Return f_κ(p) for every κ: what one unit on each of the bets becomes.

    Examples
    --------
    >>> payoffs(0.5).round(2), payoffs(0.001).round(1)
    (array([0.  , 0.2 , 0.51, 0.79]), array([50. , 97.9, 39.5,  9.5]))
    """
    floored = max(pvalue, SMALLEST_PVALUE)
    return np.asarray(floored ** (EXPONENTS - 1) / _normalizers())


def _normalizers() -> FloatArray:
    """Return c_κ; κ = 0 is the limit −log p₀ of (1 − p₀^κ)/κ, plus 1."""
    powers = SMALLEST_PVALUE**EXPONENTS
    nonzero = np.where(EXPONENTS == 0, 1.0, EXPONENTS)
    tails = np.where(EXPONENTS == 0, -math.log(SMALLEST_PVALUE), (1 - powers) / nonzero)
    return np.asarray(powers + tails)


@dataclass(frozen=True)
class Bets:
    """Where a sequence of bets stands.

    Attributes
    ----------
    promise : Promise
        When the stake is laid, and how much capital an alarm needs.
    number : int
        Checks that were bet on.
    sums : tuple of float
        S^κ, one for each exponent.

    Examples
    --------
    >>> from tellapart.testing.promises import Ever
    >>> bets = Bets(Ever(0.05))
    >>> for pvalue in (0.4, 0.9, 0.01, 0.02):
    ...     bets = bets.after(pvalue)
    >>> round(bets.capital, 1), bets.enough
    (4.4, False)
    >>> bets.after(bets.alarm_level).enough
    True
    """

    promise: Promise
    number: int = 0
    sums: tuple[float, ...] = (0.0,) * EXPONENTS.size

    @property
    def capital(self) -> float:
        """What the stake has become: mean_κ S^κ, and the part that is kept back."""
        return float(np.mean(self.sums)) + self.promise.kept_back(self.number)

    @property
    def enough(self) -> bool:
        """Whether the capital suffices for an alarm."""
        return self.capital >= self.promise.capital_needed

    @property
    def alarm_level(self) -> float:
        """The largest p-value of the next check that makes the capital enough; 0 if none does."""
        if not self.after(SMALLEST_PVALUE).enough:
            return 0.0
        if self.after(1.0).enough:
            return 1.0
        low, high = math.log(SMALLEST_PVALUE), 0.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.after(math.exp(middle)).enough else (low, middle)
        return math.exp(low)

    def after(self, pvalue: float) -> Bets:
        """Return where things stand after one more check."""
        number = self.number + 1
        sums = payoffs(pvalue) * (np.array(self.sums) + self.promise.stake(number))
        return replace(self, number=number, sums=tuple(np.minimum(sums, MOST_CAPITAL).tolist()))

    def level_alone(self) -> float:
        """Return the p-value that the next check alone needs, whatever those before it said.

        The permutations of a check may be chosen by it: it depends on the number alone, and
        never on earlier answers, of which the p-values must stay independent.
        """
        return replace(self, sums=(0.0,) * EXPONENTS.size).alarm_level
