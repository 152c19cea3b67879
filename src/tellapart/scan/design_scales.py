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

from tellapart.arrays import FloatArray, IntArray
from tellapart.permutation.bins import Singles
from tellapart.permutation.designed_bins import ENTRIES, FLAT, DesignedBins
from tellapart.scan.requests import ProductOfTwo
from tellapart.scan.sums import Halves, Sums

LEAST_VARIANCE = 1e-6
# Correlations are kept off ±1, as their changes are.
EDGE = 0.9999


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


def pair_scales(bins: DesignedBins, sums: Sums, name: str, asked: ProductOfTwo) -> Singles:
    """Return the scales of the changes of correlation of pairs of scores a and b.

    To first order (r_x − r_y)/(1 − r²) is the change of the mean of (ab − r(a² + b²)/2)/(1 − r²),
    a and b of variance 1.
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

    return _scales(bins, asked.pairs.size, moved)


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


def _scales(bins: DesignedBins, size: int, sums: Callable[[slice], FloatArray]) -> Singles:
    found = np.zeros(size, dtype=np.float32)
    step = max(ENTRIES // max(bins.n_bins, 1), 1)
    for start in range(0, size, step):
        some = slice(start, min(start + step, size))
        own = sums(some)
        deviation = np.sqrt(np.square(bins.units.spread_out(own)).sum(axis=0))
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
