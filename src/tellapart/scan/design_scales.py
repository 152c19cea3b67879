"""Changes in units of their deviation under a design, so that the largest of many is the surest.

Without a design all scores have variance 1 in the pooled rows, and δ has one deviation for all of
them. Under a design it has not: where pairs agree closely in one column, a tiny shift of it is
sure, and would be lost beside columns in which pairs agree less. So each change is multiplied by

    √(1/n_x + 1/n_y) / (its deviation over the permutations of the design),

known in closed form (`tellapart.permutation.designed_bins`) and without a look at labels. A change
that is no mean of a feature, such as that of a correlation, has the deviation of the feature it
moves with to first order.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray, IntArray
from tellapart.permutation.bins import Singles
from tellapart.permutation.designed_bins import ENTRIES, FLAT, DesignedBins
from tellapart.scan.requests import ProductOfTwo
from tellapart.scan.sums import Halves, Sums

LEAST_VARIANCE = 1e-6
# Correlations are kept off ±1, as their changes are.
EDGE = 0.9999
FEWEST_VARIANCES = 10
"""Variances that are drawn towards each other, at least."""
MOST_FREEDOM = 1_000.0
"""Degrees of freedom that variances of other features can add, at most."""


def stacked(halves: Halves, features: slice | IntArray = slice(None)) -> FloatArray:
    """Return the sums over the units of X and then of Y, (G × F)."""
    return np.concatenate([halves.x[:-1, features], halves.y[:-1, features]]).astype(np.float64)


def scales(bins: DesignedBins, halves: Halves) -> Singles:
    """Return what δ of each feature is multiplied by; 0 for what cannot change."""
    return _scales(bins, halves.size, lambda some: stacked(halves, some))


def mean_squares(bins: DesignedBins, halves: Halves) -> FloatArray:
    """Return the mean of δ² of each feature over the permutations, in units of 1/n_x + 1/n_y."""
    found = bins.deviations(np.concatenate([halves.x[:-1], halves.y[:-1]]))
    return np.square(found) / bins.units.unit**2


def pair_scales(
    bins: DesignedBins, sums: Sums, name: str, asked: ProductOfTwo, *, within: bool = False
) -> Singles:
    """Return the scales of the changes of correlation of pairs of scores a and b.

    To first order (r_x − r_y)/(1 − r²) is the change of the mean of (ab − r(a² + b²)/2)/(1 − r²),
    a and b of variance 1. `within` takes its deviation within the samples, as for a t statistic,
    in place of that over the permutations.
    """
    products = sums.pairs(name)
    sides = [
        (stacked(sums.of(score)), stacked(sums.squares(score)))
        for score in (asked.first, asked.second)
    ]
    moments = [
        (plain.sum(axis=0) / bins.n_rows, squares.sum(axis=0) / bins.n_rows)
        for plain, squares in sides
    ]
    variances = [np.maximum(square - mean**2, LEAST_VARIANCE) for mean, square in moments]

    def moved(some: slice) -> FloatArray:
        s, t = asked.pairs.s[some], asked.pairs.t[some]
        own = stacked(products, some)
        unit = np.sqrt(variances[0][s] * variances[1][t])
        r = (own.sum(axis=0) / bins.n_rows - moments[0][0][s] * moments[1][0][t]) / unit
        r = np.clip(r, -EDGE, EDGE)
        own /= unit
        own -= sides[0][1][:, s] * (r / (2 * variances[0][s]))
        own -= sides[1][1][:, t] * (r / (2 * variances[1][t]))
        return np.asarray(own / (1 - r**2))

    return _scales(bins, asked.pairs.size, moved, within=within)


def triple_scales(
    bins: DesignedBins,
    products: Halves,
    plain: Halves,
    pairs: Halves,
    members: tuple[IntArray, IntArray, IntArray],
    opposite: tuple[IntArray, IntArray, IntArray],
) -> Singles:
    """Return the scales of changes of third cumulants: those of abc − aE[bc] − bE[ac] − cE[ab]."""
    single, means = stacked(plain), pairs.total() / bins.n_rows

    def moved(some: slice) -> FloatArray:
        own = stacked(products, some)
        for member, across in zip(members, opposite, strict=True):
            own -= single[:, member[some]] * means[across[some]]
        return own

    return _scales(bins, products.size, moved)


def _scales(
    bins: DesignedBins, size: int, sums: Callable[[slice], FloatArray], *, within: bool = False
) -> Singles:
    found = np.zeros(size, dtype=np.float32)
    step = max(ENTRIES // max(bins.n_bins, 1), 1)
    for start in range(0, size, step):
        some = slice(start, min(start + step, size))
        own = sums(some)
        moved = bins.units.changes(own)[1] if within else bins.units.spread_out(own)
        deviation = np.sqrt(np.square(moved).sum(axis=0))
        # Sums in single precision: a deviation of their rounding is none.
        noise = (
            FLAT
            * np.abs(own[bins.units.moved]).max(axis=0, initial=0.0)
            * bins.units.unit**2
            * math.sqrt(own.shape[0])
        )
        still = deviation <= np.maximum(noise, np.finfo(np.float64).tiny)
        found[some] = np.where(still, 0.0, bins.units.unit / np.where(still, 1.0, deviation))
    return found


def studentised(bins: DesignedBins, halves: Halves) -> FloatArray:
    """Return z-scores of the changes of features with the tails of the normal distribution.

    Each change is divided by its deviation within the samples (`Units.changes`), its own and one
    moderated by all features, and bent from Student's t to the normal distribution. The smaller
    counts: neither a deviation that is small by chance nor one that is truly larger than those of
    other features makes a change significant. 0 for what cannot change.
    """
    change, variance = np.zeros(halves.size), np.zeros(halves.size)
    step = max(ENTRIES // max(bins.n_bins, 1), 1)
    for start in range(0, halves.size, step):
        some = slice(start, start + step)
        change[some], rest = bins.units.changes(stacked(halves, some))
        variance[some] = np.square(rest).sum(axis=0)
    # Where the samples do not overlap, nothing may be left within them but rounding.
    variance = np.maximum(variance, LEAST_VARIANCE * change**2)
    varies = scales(bins, halves) > 0
    change, variance = change[varies], variance[varies]
    own = normal_tail(change / np.sqrt(variance), bins.units.freedom)
    variance, freedom = moderated(variance, bins.units.freedom)
    drawn = normal_tail(change / np.sqrt(variance), freedom)
    found = np.zeros(halves.size)
    found[varies] = np.where(np.abs(own) < np.abs(drawn), own, drawn)
    return found


def moderated(variances: FloatArray, freedom: float) -> tuple[FloatArray, float]:
    """Return variances drawn towards each other as far as they are alike, and their freedom.

    An estimate of d degrees of freedom of a variance that is itself drawn from a scaled inverse χ²
    distribution of d₀ degrees around s₀² is (d₀s₀² + d s²)/(d₀ + d), of d₀ + d degrees; d₀ and s₀²
    are those that give log s² its mean and variance over all (Smyth, 2004).

    Examples
    --------
    >>> import numpy as np
    >>> equal = np.random.default_rng(0).chisquare(6, 1_000) / 6
    >>> drawn, freedom = moderated(equal, 6.0)
    >>> bool(np.ptp(drawn) < 0.1 * np.ptp(equal)), freedom > 60
    (True, True)
    """
    known = variances > 0
    if np.count_nonzero(known) < FEWEST_VARIANCES:
        return variances, freedom
    logs = np.log(variances[known]) - special.digamma(freedom / 2) + math.log(freedom / 2)
    excess = float(np.var(logs, ddof=1) - special.polygamma(1, freedom / 2))
    prior = MOST_FREEDOM
    if excess > special.polygamma(1, MOST_FREEDOM / 2):
        prior = 2 * _inverse_trigamma(excess)
    centre = math.exp(float(logs.mean()) + special.digamma(prior / 2) - math.log(prior / 2))
    total = prior + freedom
    return np.asarray((prior * centre + freedom * variances) / total), total


def _inverse_trigamma(value: float) -> float:
    """Return y with ψ′(y) = value, by Newton's method on 1/ψ′, which is nearly linear."""
    y = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(special.polygamma(1, y))
        step = trigamma * (1 - trigamma / value) / float(special.polygamma(2, y))
        y += step
        if abs(step) < 1e-8 * y:
            break
    return y


def normal_tail(t: FloatArray, freedom: float) -> FloatArray:
    """Return the normal quantile with about the tail of Student's t (Wallace's approximation).

    Examples
    --------
    >>> import numpy as np
    >>> normal_tail(np.array([2.0, -6.0]), 20.0).round(2).tolist()
    [1.89, -4.48]
    """
    bent = np.sqrt(freedom * np.log1p(t * t / freedom))
    return np.asarray(np.sign(t) * bent * (8 * freedom + 1) / (8 * freedom + 3))
