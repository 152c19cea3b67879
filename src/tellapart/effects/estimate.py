"""An effect size with its test and its confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray

CONFIDENCE = 0.95

Limits = Callable[[float], tuple[float, float]]
"""From a confidence level to the interval of the effect at that level."""


@dataclass(frozen=True)
class Estimate:
    """One effect: what it compares, how large it is, and how sure that is.

    Attributes
    ----------
    measure : str
        What is compared: "mean", "SD", "correlation", …
    effect : float
        First sample against second: a difference, or a ratio of standard deviations.
    values : pair of float
        The measure in the first sample and in the second.
    pvalue : float
        Two-sided and unadjusted, of no difference in this measure, whatever else differs.
    limits : callable
        From a confidence level to an interval of the effect. An interval at level 1 − p or above
        contains the effect of no difference.
    null : float
        The effect of no difference: 0, or 1 of a ratio.
    """

    measure: str
    effect: float
    values: tuple[float, float]
    pvalue: float
    limits: Limits = field(repr=False)
    null: float = 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval."""
        return self.limits(CONFIDENCE)

    def interval_for(self, n_effects: int) -> tuple[float, float]:
        """Return the interval that holds for so many effects at once, by Bonferroni's bound."""
        return self.limits(1 - (1 - CONFIDENCE) / max(n_effects, 1))


def t_estimate(
    measure: str,
    values: tuple[float, float],
    error: float,
    degrees: float,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """Return a difference with t intervals, cut off at the bounds that it cannot leave."""
    effect = values[0] - values[1]
    low, high = bounds

    def limits(confidence: float) -> tuple[float, float]:
        half = t_quantile(confidence, degrees) * error
        return max(effect - half, low), min(effect + half, high)

    pvalue = t_pvalue(effect / error, degrees) if error > 0 else float(effect == 0)
    return Estimate(measure, effect, values, pvalue, limits)


def t_quantile(confidence: float, degrees: float) -> float:
    """Return the quantile that |t| exceeds with probability 1 − confidence."""
    return float(-special.stdtrit(degrees, (1 - confidence) / 2))


def t_pvalue(statistic: float, degrees: float) -> float:
    """Return the two-sided p-value of a t statistic."""
    return float(2 * special.stdtr(degrees, -abs(statistic)))


def holm(pvalues: Sequence[float], n_hypotheses: int) -> FloatArray:
    """Return p-values adjusted by Holm's method, of some of so many hypotheses.

    Those that are not among them count as never rejected.

    >>> holm([0.001, 0.04], 5).round(3).tolist()
    [0.005, 0.16]
    """
    raw = np.asarray(pvalues, dtype=np.float64)
    order = np.argsort(raw, kind="stable")
    left = np.maximum(n_hypotheses - np.arange(raw.size), 1)
    adjusted = np.empty(raw.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(raw[order] * left), 1.0)
    return adjusted
