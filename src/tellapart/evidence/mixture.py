"""From z-scores to the odds that a thing differs, with how common each kind is learned from all.

Of n things (columns, pairs, triples), each differs in one of K kinds, or in none. Under kind k the
statistic χ² (of ν degrees of freedom) comes from effects of variance τ² in units of the noise:

    BF_ik = mean over τ of (1 + τ²)^(−ν/2) exp(½ χ²_ik τ²/(1 + τ²)),
    odds_i = Σ_k π_k BF_ik / π_0.

The shares π are those that make the data likeliest (EM). So where shifts are about and changes of
spread are not, a large χ² of spread counts for less than one of location: what the columns have in
common decides what a single one is believed to be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles

EFFECTS = (1.5, 3.0, 6.0)
"""The τ: barely visible, clear and strong effects, each as likely as the others."""
LARGEST_LOG = 600.0
"""Bayes factors beyond e⁶⁰⁰ are as good as that: their products stay finite."""
STEPS = 60
# How many things may differ before any was looked at, and the least share that may differ in none.
PRIOR_COUNT = 0.5
LEAST_NULL = 0.1


@dataclass(frozen=True)
class Mixture:
    """What was learned of n things.

    Attributes
    ----------
    log_odds : array of length n
        Log of the odds that a thing differs.
    kind_scores : array of shape (K, n)
        log π_k BF_ik: the kind with the largest is the likeliest.
    shares : array of length K
        π, the share of the things that differ in each kind.
    """

    log_odds: FloatArray
    kind_scores: FloatArray
    shares: FloatArray

    @property
    def kind(self) -> IntArray:
        """The likeliest kind of each thing."""
        return np.asarray(self.kind_scores.argmax(axis=0))


def log_bayes_factor(chi2: FloatArray, freedom: int = 1) -> FloatArray:
    """Return log BF of χ² statistics.

    Examples
    --------
    >>> import numpy as np
    >>> log_bayes_factor(np.array([0.0, 4.0, 16.0])).round(2).tolist()
    [-1.06, 0.57, 5.77]
    """
    parts = []
    for effect in EFFECTS:
        square = effect * effect
        parts.append(chi2 * (0.5 * square / (1 + square)) - 0.5 * freedom * np.log1p(square))
    total = np.logaddexp.reduce(parts) - np.log(len(EFFECTS))
    return np.asarray(np.minimum(total, LARGEST_LOG))


def fit_mixture(log_factors: FloatArray, expected: float, alike: IntArray | None = None) -> Mixture:
    """Learn the shares from the log Bayes factors (K × n); `expected` things may differ at first.

    Rows with one number in `alike` are one kind seen in several ways, and have one share each.

    Examples
    --------
    >>> import numpy as np
    >>> factors = log_bayes_factor(np.array([[30.0] + [0.5] * 50, [1.0] * 51]))
    >>> found = fit_mixture(factors, 1.0)
    >>> int(found.log_odds.argmax()), int(found.kind[0]), bool(found.log_odds[1] < 0)
    (0, 0, True)
    """
    n_kinds, n = log_factors.shape
    factors = np.exp(log_factors)
    shares = np.full(n_kinds, min(expected / n, 0.5) / n_kinds)
    for _ in range(STEPS):
        likely = shares[:, np.newaxis] * factors
        likely /= likely.sum(axis=0) + _null_share(shares)
        moved = (likely.sum(axis=1) + PRIOR_COUNT / n_kinds) / (n + PRIOR_COUNT + 1)
        if alike is not None:
            moved = (np.bincount(alike, moved) / np.bincount(alike))[alike]
        still = np.allclose(moved, shares, rtol=1e-3)
        shares = moved
        if still:
            break
    scores = np.log(shares)[:, np.newaxis] + log_factors
    log_odds = np.logaddexp.reduce(scores) - np.log(_null_share(shares))
    return Mixture(np.asarray(log_odds), np.asarray(scores), shares)


def strength(log_odds: FloatArray) -> FloatArray:
    """Return √(2 log(1 + odds)): the evidence as the length of a vector, above 0 whatever the odds.

    Squares of independent evidence add up like χ² statistics.
    """
    return np.asarray(np.sqrt(2 * np.logaddexp(0.0, log_odds)))


def _null_share(shares: FloatArray) -> float:
    return max(1.0 - float(shares.sum()), LEAST_NULL)


# Differences of means in units of their noise.


def standardised(values: Singles) -> Singles:
    """Return columns with mean 0 and variance 1 in single precision; constant ones become 0."""
    centred = values - values.mean(axis=0)
    deviation = centred.std(axis=0)
    flat = deviation <= 1e-6
    return np.asarray(np.where(flat, 0, centred / np.where(flat, 1, deviation)), dtype=np.float32)


def standardised_present(values: Singles, present: Singles | None) -> Singles:
    """Return `standardised` values of the rows that have one, and 0 for what is missing."""
    if present is None:
        return standardised(values)
    rows = np.maximum(present.sum(axis=0), 1)
    centred = (values - (values * present).sum(axis=0) / rows) * present
    deviation = np.sqrt(np.square(centred).sum(axis=0) / rows)
    flat = deviation <= 1e-6
    return np.asarray(np.where(flat, 0, centred / np.where(flat, 1, deviation)), dtype=np.float32)


def zscores(scores: Singles, n_x: int, present: Singles | None = None) -> FloatArray:
    """Return δ/√var(δ) of standardised pooled scores, δ the difference of their sample means.

    The variance is that over permutations of the labels: N²/(m n (N − 1)) for scores of
    variance 1 over the N = m + n pooled rows. Where values are missing, `present` is 1 for those
    that are there, and the rows that have a value are those that count.
    """
    if present is not None:
        of_x, of_y = (part.sum(axis=0, dtype=np.float64) for part in (scores[:n_x], scores[n_x:]))
        k_x, k_y = (part.sum(axis=0, dtype=np.float64) for part in (present[:n_x], present[n_x:]))
        unit = np.sqrt(k_x * k_y * np.maximum(k_x + k_y - 1, 0)) / np.maximum(k_x + k_y, 1)
        return np.asarray((of_x / np.maximum(k_x, 1) - of_y / np.maximum(k_y, 1)) * unit)
    n_rows = scores.shape[0]
    n_y = n_rows - n_x
    unit = math.sqrt(n_x * n_y * (n_rows - 1)) / n_rows
    # The pooled mean is 0, so that the mean of x decides that of y.
    mean_x = scores[:n_x].mean(axis=0, dtype=np.float64)
    return np.asarray(mean_x * (n_rows / n_y) * unit)


def centred_within(scores: Singles, n_x: int) -> Singles:
    """Return scores less their mean in each sample."""
    centred = scores.copy()
    centred[:n_x] -= centred[:n_x].mean(axis=0)
    centred[n_x:] -= centred[n_x:].mean(axis=0)
    return centred


def within_samples(scores: Singles, n_x: int) -> Singles:
    """Return scores centred within each sample, standardised over both."""
    return standardised(centred_within(scores, n_x))
