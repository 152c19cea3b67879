"""From statistics under all permutations to p-values that go on below 1/(number of permutations).

The p-value of a statistic is its rank among all permutations, ties counted against rejection.
In the top tenth an exponential tail continues it: with u the (k₀ + 1)-th largest of k values and
k₀ = ⌊k/10⌋,

    p = (k₀ + 1)/k · exp(−(s − u)/mean excess over u).

Every permutation is treated alike, the true labels included, so what is made of these p-values
is exchangeable under H₀, whether the tail fits or not.
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray

TAIL_SHARE = 0.1
# Fewer values than this in the top tenth say nothing of a tail.
FEWEST = 5
# Statistics closer than this, in units of the largest, are a tie: single precision sums differ
# by the order of their terms.
TIE = 1e-5


def rank_pvalues(values: FloatArray) -> FloatArray:
    """Return #{e' : T(e') ≥ T(e)}/k for each row e, column by column.

    >>> rank_pvalues(np.array([[3.0], [1.0], [3.0], [2.0]])).ravel().tolist()
    [0.5, 1.0, 0.5, 0.75]
    """
    return _ranked(values, np.sort(values, axis=0))


def tail_pvalues(values: FloatArray) -> FloatArray:
    """Return the p-values with their tails; see the module.

    >>> import numpy as np
    >>> p = tail_pvalues(np.arange(1000.0)[:, np.newaxis]).ravel()
    >>> bool(p[0] == 1.0 and p[500] == 0.5 and 1e-2 < p[990] < 0.05)
    True
    """
    rising = np.sort(values, axis=0)
    pvalues = _ranked(values, rising)
    count = values.shape[0]
    inside = int(TAIL_SHARE * count)
    if inside < FEWEST:
        return pvalues
    start = rising[count - inside - 1]
    excess = (rising[count - inside :] - start).mean(axis=0)
    usable = excess > TIE * np.maximum(np.abs(rising[-1]), 1e-300)
    beyond = (values - start) / np.where(usable, excess, 1.0)
    tail = (inside + 1) / count * np.exp(-np.maximum(beyond, 0.0))
    return np.asarray(np.where(usable & (beyond > 0), tail, pvalues))


def tail_pvalue_of(observed: FloatArray, values: FloatArray) -> FloatArray:
    """Return where `observed` lies among one vector of `values`, by rank and tail.

    How large the largest of them is does not count: with x₁ ≥ x₂ ≥ … ≥ x_{k₀} the excesses over u,
    the mean excess is that of a sample of which the largest is censored,

        (x₂ + x₂ + x₃ + … + x_{k₀})/(k₀ − 1).

    >>> values = np.random.default_rng(0).exponential(size=200)
    >>> values[0] = values.max() + 1
    >>> before = tail_pvalue_of(values[1:], values)
    >>> values[0] *= 100
    >>> bool((tail_pvalue_of(values[1:], values) == before).all())
    True
    """
    rising = np.sort(values)
    count = values.shape[0]
    # Rounding is of the size of what is compared, which one value that is far off is not.
    tolerance = TIE * max(abs(rising[0]), abs(rising[max(count - 2, 0)]))
    pvalues = (count - np.searchsorted(rising, observed - tolerance, side="left")) / count
    pvalues = np.maximum(pvalues, 1 / (count + 1))
    inside = int(TAIL_SHARE * count)
    if inside < FEWEST:
        return np.asarray(pvalues)
    start = rising[count - inside - 1]
    excesses = rising[count - inside : -1] - start
    excess = float(excesses.sum() + excesses[-1]) / (inside - 1)
    if excess <= TIE * max(abs(float(rising[-2])), 1e-300):
        return np.asarray(pvalues)
    beyond = np.maximum((observed - start) / excess, 0.0)
    return np.asarray(np.where(beyond > 0, (inside + 1) / count * np.exp(-beyond), pvalues))


def beyond_rounding(values: FloatArray, rounding: float) -> FloatArray:
    """Return a statistic of all permutations: 0 for all where it varies by rounding alone.

    `rounding` is what that of its terms may amount to. Ties are judged by the size of the
    statistic, and that may be nothing else.
    """
    return values if np.ptp(values) > rounding else np.zeros_like(values)


def _ranked(values: FloatArray, rising: FloatArray) -> FloatArray:
    count = values.shape[0]
    tolerance = TIE * np.maximum(np.abs(rising[0]), np.abs(rising[-1]))
    pvalues = np.empty(values.shape)
    for q in range(values.shape[1]):
        at = np.searchsorted(rising[:, q], values[:, q] - tolerance[q], side="left")
        pvalues[:, q] = (count - at) / count
    return pvalues
