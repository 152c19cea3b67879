"""False alarms: what a monitor promises of them, and the e-value that keeps the promise.

Testing by betting. Let p₁, p₂, … be independent and each at least as large as a uniform number, as
those of `tellapart.monitor.rows` are. A bet pays f(p) with ∫₀¹ f = 1, more for small p: nobody who
stakes again and again what they have can expect to gain, so from a stake of 1 the probability of
ever holding 1/α is at most α (Ville's inequality). The bets here are

    f_κ(p) = max(p, p₀)^(κ−1) / c_κ,    c_κ = p₀^κ + ∫_{p₀}^1 q^(κ−1) dq,

κ near 1 for weak evidence in many checks, κ ≤ 0 for strong evidence in one; each has an equal share
of the stake. A change comes at an unknown check j, and a stake laid before is mostly lost by then.
So the stake is divided: a part w_j is kept back until check j. The capital, which is the e-value of
the sequence (a test martingale), is

    S_k^κ = f_κ(p_k) (S_{k−1}^κ + w_k),    capital_k = mean_κ S_k^κ + Σ_{j>k} w_j.

f_κ falls in p, so p-values that are too large only make the capital smaller.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import FloatArray, IntArray

EXPONENTS = np.array([-1.0, 0.0, 0.3, 0.6])
"""κ: for changes that show in one check, in few, or only in many."""
SMALLEST_PVALUE = 1e-4
"""p₀: a smaller p-value pays no more, as permutations seldom attain one."""
MOST_CAPITAL = 1e200
"""Keeps the capital finite where a change is too small to raise the alarm that would end it."""
HALVINGS = 60
"""Bisections of the range of log p, after which its ends differ by less than rounding."""


@dataclass(frozen=True)
class Ever:
    """The probability of any false alarm, however long the sequence, is at most α.

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
    units: str = "rows"

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
        """Return what is promised, in words."""
        return (
            "the probability of any false alarm, however long the sequence, is at most "
            f"{self.alpha:g} if {self.units} are independent"
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
    units: str = "rows"

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
        """Return what is promised, in words."""
        return (
            f"the mean number of checks until a false alarm is at least {self.run_length:g} if "
            f"{self.units} are independent"
        )


@dataclass(frozen=True)
class Planned:
    """The probability of any false alarm in a planned number of checks is at most α.

    Check k raises an alarm where p ≤ α/n_checks, however the p-values depend on each other.

    Examples
    --------
    >>> Planned(0.05, 20).alarm_level
    0.0025
    """

    alpha: float
    n_checks: int
    units: str = "rows"

    @property
    def alarm_level(self) -> float:
        """α/n_checks, the level of every check."""
        return self.alpha / self.n_checks

    def describe(self) -> str:
        """Return what is promised, in words."""
        return (
            f"the probability of any false alarm in the {self.n_checks} planned checks is at most "
            f"{self.alpha:g} if {self.units} are independent"
        )


def payoffs(
    pvalues: float | FloatArray,
    floor: float | FloatArray = SMALLEST_PVALUE,
    exponents: FloatArray = EXPONENTS,
) -> FloatArray:
    """Return f_κ(p) for every κ, in the last axis: what one unit on each of the bets becomes.

    `floor` is p₀: known before the p-value is, it may differ from check to check.

    Examples
    --------
    >>> payoffs(0.5).round(2), payoffs(0.001).round(1)
    (array([0.  , 0.2 , 0.51, 0.79]), array([50. , 97.9, 39.5,  9.5]))
    >>> payoffs(0.02, floor=0.02).round(1)
    array([25.3, 10.2,  5.9,  3. ])
    """
    floored = np.maximum(pvalues, floor)[..., np.newaxis]
    return np.asarray(floored ** (exponents - 1) / _normalizers(floor, exponents))


def _normalizers(floor: float | FloatArray, exponents: FloatArray) -> FloatArray:
    """Return c_κ; κ = 0 is the limit −log p₀ of (1 − p₀^κ)/κ, plus 1."""
    floors = np.asarray(floor)[..., np.newaxis]
    powers = floors**exponents
    nonzero = np.where(exponents == 0, 1.0, exponents)
    tails = np.where(exponents == 0, -np.log(floors), (1 - powers) / nonzero)
    return np.asarray(powers + tails)


@dataclass(frozen=True)
class Bets:
    """The state of a sequence of bets.

    Attributes
    ----------
    promise : Ever or Rate
        When the stake is laid, and how much capital an alarm needs.
    number : int
        Checks that were bet on.
    sums : tuple of float
        S^κ, one for each exponent.

    Examples
    --------
    >>> bets = Bets(Ever(0.05))
    >>> for pvalue in (0.4, 0.9, 0.01, 0.02):
    ...     bets = bets.after(pvalue)
    >>> round(bets.capital, 1), bets.enough
    (4.4, False)
    >>> bets.after(bets.alarm_level).enough
    True
    """

    promise: Ever | Rate
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
        """Return the state after one more check."""
        number = self.number + 1
        sums = payoffs(pvalue) * (np.array(self.sums) + self.promise.stake(number))
        return replace(self, number=number, sums=tuple(np.minimum(sums, MOST_CAPITAL).tolist()))

    def level_alone(self) -> float:
        """Return the p-value that the next check needs on its own, whatever the earlier ones were.

        It may decide how many permutations a check draws: it depends on the number of the check
        alone and never on earlier answers, of which the p-values must stay independent.
        """
        return replace(self, sums=(0.0,) * EXPONENTS.size).alarm_level


RANK_EXPONENTS = np.array([-4.0, -1.0, 0.0, 0.5])
"""κ of bets on ranks: the smaller, the more for units that deviate more than all others."""
AGES = 16
"""Checks after which stakes of a stream are no longer told apart by when they were laid."""


@dataclass(frozen=True, eq=False)
class Streams:
    """Bets on several streams of rank p-values at once, one stake divided among them.

    Each stream alone is fair; how they depend on each other is not known. With weights w_s that add
    up to 1, stream s raises an alarm where w_s times its capital reaches what is needed. Ville's
    inequality gives stream s a probability of at most w_s α of ever doing so, and the sum over the
    streams is α. With `Rate`, P(alarm within k checks) ≤ Σ_s w_s k/L = k/L for a capital L (Doob's
    inequality), so that the mean number of checks is at least ∫₀^L (1 − k/L) dk = L/2: L is twice
    the run length.

    The p-values are ranks among n units, with changed ones among them: of a changed units the
    latest has rank 1 to a. So a stake that is laid at check j, which pays if the change came there,
    bets f_κ with p₀ = a/n at its a-th check: nothing is lost where changed units rank among each
    other, and a units that all deviate more than the rest multiply it by nearly n^a/(2^a a!).

    Attributes
    ----------
    promise : Ever or Rate
        When the stakes are laid, and how much capital an alarm needs.
    weights : array of length S
        w_s.
    number : int
        Checks that were bet on.
    sums : array of shape (S, number of bets, AGES)
        What the stakes of each age have become; those that are older are added to the oldest.

    Examples
    --------
    >>> streams = Streams.start(Ever(0.05), np.array([0.5, 0.5]))
    >>> for pvalues in ([0.02, 0.4], [0.04, 0.7], [0.06, 0.1]):
    ...     streams = streams.after(np.array(pvalues), n_units=50)
    >>> [round(float(capital), 1) for capital in streams.capitals], streams.enough
    ([634.4, 0.4], True)
    """

    promise: Ever | Rate
    weights: FloatArray
    number: int
    sums: FloatArray

    @classmethod
    def start(cls, promise: Ever | Rate, weights: FloatArray) -> Streams:
        """Return the state before the first check."""
        return cls(promise, weights, 0, np.zeros((weights.size, RANK_EXPONENTS.size, AGES)))

    @property
    def capitals(self) -> FloatArray:
        """What each stream contributes: w_s (mean_κ of its sums, and the part kept back)."""
        kept = self.promise.kept_back(self.number)
        return np.asarray(self.weights * (self.sums.sum(axis=2).mean(axis=1) + kept))

    @property
    def capital(self) -> float:
        """The largest of the capitals."""
        return float(self.capitals.max())

    @property
    def capital_needed(self) -> float:
        """What an alarm needs."""
        needed = self.promise.capital_needed
        return 2 * needed if isinstance(self.promise, Rate) else needed

    @property
    def enough(self) -> bool:
        """Whether the capital of a stream suffices for an alarm."""
        return self.capital >= self.capital_needed

    @property
    def leading(self) -> IntArray:
        """The streams that suffice for an alarm, the one with the most capital first."""
        order = np.argsort(-self.capitals, kind="stable")
        return order[self.capitals[order] >= self.capital_needed]

    def after(self, pvalues: FloatArray, n_units: int) -> Streams:
        """Return the state after one more check, with a p-value for every stream."""
        number = self.number + 1
        stakes = np.empty_like(self.sums)
        stakes[..., 1:] = self.sums[..., :-1]
        stakes[..., -1] += self.sums[..., -1]
        stakes[..., 0] = self.promise.stake(number)
        floors = np.clip(np.arange(1, AGES + 1) / n_units, SMALLEST_PVALUE, 1.0)
        paid = payoffs(pvalues[:, np.newaxis], floors, RANK_EXPONENTS)
        stakes *= np.moveaxis(paid, -1, 1)
        return replace(self, number=number, sums=np.minimum(stakes, MOST_CAPITAL))
