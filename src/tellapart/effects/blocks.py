"""Effects of many columns or pairs at once, as arrays, with their intervals at any level.

The estimators and intervals are those of `tellapart.effects.columns` and `tellapart.effects.groups`
for one column or pair, computed for a block of them by array operations. Besides come what
independent units add to each difference (`Sampling.parts`), from which resampling learns how the
differences vary together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse, special

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.effects.columns import ROUNDING
from tellapart.effects.estimate import (
    DesignedRows,
    Errors,
    IndependentRows,
    Sampling,
    independent_errors,
)
from tellapart.effects.every_column import (
    Moments,
    Precision,
    block_moments,
    location_limits,
    pooled_variance,
    wilson,
)
from tellapart.effects.groups import (
    FEWEST_INFORMATIVE,
    FEWEST_ROWS,
    LEAST_VARIANCE,
    z_influence,
)

FEWEST_WITH_VALUE = 5
"""Units with a value, and without it, from which on the variance of its proportion is known."""

FEWEST_SUMMED = 500
"""Rows of each sample from which on the jackknife of correlations has nothing to correct."""

Intervals = tuple[FloatArray, FloatArray]
"""Lower and upper limits of all effects of a block."""


@dataclass(frozen=True, eq=False)
class EffectBlock:
    """Effects of one kind.

    Attributes
    ----------
    places : array
        Which of the columns, or pairs, that were given have the effect.
    effects : array
        First sample against second: Hedges' g, ratios of standard deviations, differences of
        proportions or of correlations.
    parts : array (units × effects)
        What independent units add to the difference, in multiples of its standard error: squares
        add up to 1, or to 0 where nothing varies.
    limits : callable
        From tail probabilities (1 − confidence)/2, one or one per effect, to the intervals.
    """

    places: IntArray
    effects: FloatArray
    parts: FloatArray
    limits: Callable[[FloatArray | float], Intervals]


def numeric_blocks(
    x: FloatArray, y: FloatArray, sampling: Sampling
) -> tuple[EffectBlock, EffectBlock]:
    """Return the standardised mean differences and the ratios of standard deviations.

    Columns with fewer than two values in a sample, or that vary in neither, have no effects. The
    intervals are those of `tellapart.effects.every_column`; under a design the standard deviations
    are no more precise than their kurtosis allows.
    """
    n_x, n_y = ((~np.isnan(side)).sum(axis=0) for side in (x, y))
    varies = np.nanmax(x, axis=0, initial=-np.inf) > np.nanmin(x, axis=0, initial=np.inf)
    varies |= np.nanmax(y, axis=0, initial=-np.inf) > np.nanmin(y, axis=0, initial=np.inf)
    places = np.flatnonzero((np.minimum(n_x, n_y) >= 2) & varies)
    x, y = x[:, places], y[:, places]
    _, moments, precision = block_moments((x, y), sampling)
    centred = [(own - side.mean) / side.unit for own, side in zip((x, y), moments, strict=True)]
    return (
        _locations(moments, precision, centred, sampling, places),
        _spreads(moments, precision, centred, sampling, places),
    )


def _locations(
    moments: tuple[Moments, Moments],
    precision: Precision,
    centred: list[FloatArray],
    sampling: Sampling,
    places: IntArray,
) -> EffectBlock:
    """Return Hedges' g."""
    x, y = moments
    difference = (x.mean - y.mean) / x.unit
    largest = np.maximum(x.largest, y.largest)
    difference = np.where(np.abs(difference) <= ROUNDING * largest, 0.0, difference)
    pooled = np.sqrt(pooled_variance(x, y)[1])

    def limits(tail: FloatArray | float) -> Intervals:
        return location_limits(difference, pooled, precision, tail)

    effects = (1 - 3 / (4 * (x.n + y.n - 2) - 1)) * difference / pooled
    return EffectBlock(places, effects, standardised(sampling.parts(*centred)), limits)


def _spreads(
    moments: tuple[Moments, Moments],
    precision: Precision,
    centred: list[FloatArray],
    sampling: Sampling,
    places: IntArray,
) -> EffectBlock:
    """Return the ratios of standard deviations; 0 or ∞ where one sample does not vary."""
    x, y = moments
    constant = (x.variance == 0) | (y.variance == 0)
    variances = [np.where(constant, 1.0, side.variance) for side in moments]
    ratio = (np.log(variances[0]) - np.log(variances[1])) / 2
    influence = [
        (np.square(own) / variance - 1) / 2
        for own, variance in zip(centred, variances, strict=True)
    ]
    error, degrees = precision.ratio_error, precision.ratio_degrees
    if not isinstance(sampling, IndependentRows):
        # The error of the influences, the larger the less ν allows them to show.
        nu = precision.deviation_degrees
        of_each = [special.polygamma(1, own / 2) / 4 for own in nu]
        total = of_each[0] + of_each[1]
        shown = sum(sampling.errors(influence[0], influence[1]).variances)
        error = error * np.sqrt(np.maximum(total / np.where(shown > 0, shown, 1.0), 1.0))
        known = total**2 / (of_each[0] ** 2 / nu[0] + of_each[1] ** 2 / nu[1])
        degrees = np.minimum(degrees, known)

    def limits(tail: FloatArray | float) -> Intervals:
        half = _t_quantile(degrees, tail) * error
        low, high = np.exp(ratio - half), np.exp(np.minimum(ratio + half, 700.0))
        return np.where(constant, 0.0, low), np.where(constant, np.inf, high)

    effects = np.where(constant, np.where(x.variance == 0, 0.0, np.inf), np.exp(ratio))
    return EffectBlock(places, effects, standardised(sampling.parts(*influence)), limits)


def _t_quantile(degrees: FloatArray, tail: FloatArray | float) -> FloatArray:
    """Return the quantiles that t exceeds with the probability of the tail."""
    return np.asarray(-special.stdtrit(degrees, tail), dtype=np.float64)


def proportion_block(x: FloatArray, y: FloatArray, sampling: Sampling) -> EffectBlock:
    """Return the differences of the proportions of ones, of columns of 0, 1 and NaN.

    Newcombe's intervals of independent rows, as in `tellapart.effects.columns.proportions`. Under a
    design, what either t intervals allow or Newcombe's with t quantiles and as many rows as are
    equivalent to the units: t intervals alone would exclude every difference where no unit has the
    value.
    """
    n_x, n_y = ((~np.isnan(side)).sum(axis=0).astype(np.float64) for side in (x, y))
    places = np.flatnonzero((n_x > 0) & (n_y > 0))
    x, y = x[:, places], y[:, places]
    sizes = n_x[places], n_y[places]
    shares, centred = [], []
    for sample, side in enumerate((x, y)):
        weights = sampling.weights(sample, side)
        share = np.clip((weights * np.nan_to_num(side)).sum(axis=0), 0.0, 1.0)
        shares.append(share)
        centred.append(side - share)
    first, second = shares
    effects = first - second
    parts = standardised(sampling.parts(centred[0], centred[1]))
    if not isinstance(sampling, DesignedRows):

        def limits(tail: FloatArray | float) -> Intervals:
            return _newcombe(shares, sizes, np.asarray(-special.ndtri(tail)), 0.0)

        return EffectBlock(places, effects, parts, limits)
    errors = sampling.errors(centred[0], centred[1])
    equivalent = [
        _equivalent_rows(sampling, sample, share, variance)
        for sample, (share, variance) in enumerate(zip(shares, errors.variances, strict=True))
    ]
    root = 2 * np.sqrt(errors.variances[0] * errors.variances[1])
    known = root > 0
    shared = np.where(known, sum(errors.variances) - errors.variance, 0.0)
    shared = np.clip(shared / np.where(known, root, 1.0), -1.0, 1.0)

    def limits_by_design(tail: FloatArray | float) -> Intervals:
        quantile = _t_quantile(errors.difference_degrees, tail)
        half = quantile * errors.standard_error
        low, high = _newcombe(shares, equivalent, quantile, shared)
        return (
            np.maximum(np.minimum(low, effects - half), -1.0),
            np.minimum(np.maximum(high, effects + half), 1.0),
        )

    return EffectBlock(places, effects, parts, limits_by_design)


def _equivalent_rows(
    sampling: DesignedRows, sample: int, share: FloatArray, variance: FloatArray
) -> FloatArray:
    """Return how many independent rows give a proportion as precisely as a design does.

    No more than 1/Σw² of the weights w of its rows, or of its units where few of them have the
    value or few have not: the variance is then hardly known.
    """
    weights = sampling.row_weights[sample]
    rows = float(1 / np.square(weights).sum())
    units = float(1 / np.square(np.bincount(sampling.units[sample], weights)).sum())
    known = (units * np.minimum(share, 1 - share) >= FEWEST_WITH_VALUE) & (variance > 0)
    equivalent = share * (1 - share) / np.where(known, variance, 1.0)
    return np.maximum(np.where(known, np.minimum(equivalent, rows), units), 1.0)


def _newcombe(
    shares: list[FloatArray],
    sizes: tuple[FloatArray, FloatArray] | list[FloatArray],
    quantile: FloatArray,
    shared: FloatArray | float,
) -> Intervals:
    """Return Newcombe's limits; `shared` is the correlation of the two proportions."""
    (low_x, high_x), (low_y, high_y) = (
        wilson(share, n, quantile) for share, n in zip(shares, sizes, strict=True)
    )
    first, second = shares
    low = first - second - _length(first - low_x, high_y - second, shared)
    high = first - second + _length(high_x - first, second - low_y, shared)
    return np.maximum(low, -1.0), np.minimum(high, 1.0)


def _length(a: FloatArray, b: FloatArray, shared: FloatArray | float) -> FloatArray:
    """Return the lengths of the differences of errors a and b with this correlation."""
    return np.sqrt(np.maximum(a * a + b * b - 2 * shared * a * b, 0.0))


def standardised(parts: FloatArray) -> FloatArray:
    """Return what units add, divided by the standard errors; 0 where there are none."""
    error = np.sqrt(np.square(parts).sum(axis=0))
    return np.asarray(parts / np.where(error > 0, error, 1.0))


@dataclass(frozen=True, eq=False)
class PairColumns:
    """Columns whose correlations are compared, with what decides whether a pair can be.

    `most_frequent` is the proportion of the most frequent value of each column in each sample,
    `judged` whether a pair (columns × columns) has enough informative rows in both.
    """

    sides: tuple[FloatArray, FloatArray]
    sampling: Sampling
    most_frequent: tuple[FloatArray, FloatArray]
    judged: BoolArray

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, sampling: Sampling) -> PairColumns:
        """Return columns of values, NaN where missing."""
        judged = np.ones((x.shape[1],) * 2, dtype=np.bool_)
        frequencies, sides = [], []
        for sample, values in enumerate((x, y)):
            present = ~np.isnan(values)
            mode, share = _modes(values)
            leaves = (present & (values != mode)).astype(np.float64)
            rows = present.astype(np.float64).T @ present
            counted = leaves.T @ leaves
            expected = rows * np.outer(1 - share, 1 - share)
            middle = np.nanmean(values, axis=0)
            varies = np.sqrt(np.nanmean(np.square(values - middle), axis=0)) > (
                ROUNDING * np.nanmax(np.abs(values), axis=0)
            )
            judged &= varies[:, np.newaxis] & varies
            judged &= (rows >= FEWEST_ROWS) & (np.maximum(counted, expected) >= FEWEST_INFORMATIVE)
            if sampling.standardised:
                values = sampling.within_strata(sample, values)
                share = _modes(values)[1]
            sides.append(values)
            frequencies.append(share)
        np.fill_diagonal(judged, val=False)
        return cls((sides[0], sides[1]), sampling, (frequencies[0], frequencies[1]), judged)

    def block(self, first: IntArray, second: IntArray) -> EffectBlock:
        """Return the differences of the correlations of columns `first` with `second`.

        Zou's intervals with variances of the jackknife; see `tellapart.effects.groups`.
        """
        r, influences, floors, n = [], [], [], []
        for sample, values in enumerate(self.sides):
            a, b = values[:, first], values[:, second]
            gone = np.isnan(a) | np.isnan(b)
            some = bool(gone.any())
            weights = self.sampling.weights(sample, np.where(gone, np.nan, 0.0))
            if some:
                a, b = np.where(gone, 0.0, a), np.where(gone, 0.0, b)
            n.append((~gone).sum(axis=0))
            edge = 1 - 1 / np.maximum(n[-1], 2.0) ** 2
            of_side, influence = z_influence(a, b, weights, edge)
            r.append(of_side)
            influences.append(np.where(gone, np.nan, influence) if some else influence)
            frequent = np.maximum(
                self.most_frequent[sample][first], self.most_frequent[sample][second]
            )
            rows = 1 / np.square(weights).sum(axis=0)
            floors.append(np.maximum(frequent, LEAST_VARIANCE) / np.maximum(rows - 3, 1.0))
        errors = self.sampling.errors(influences[0], influences[1])
        edge = 1 - 1 / np.maximum(np.minimum(n[0], n[1]), 2.0) ** 2
        limits = _zou_limits(r, edge, *_with_floors(errors, floors))
        parts = standardised(self.sampling.parts(influences[0], influences[1]))
        return EffectBlock(np.arange(first.size), r[0] - r[1], parts, limits)

    @cached_property
    def _scores(self) -> list[FloatArray]:
        """The columns of both samples with mean 0 and mean square 1."""
        centred = [side - side.mean(axis=0) for side in self.sides]
        return [side / np.sqrt(np.square(side).mean(axis=0)) for side in centred]

    @property
    def many_rows(self) -> bool:
        """Whether sums over groups of rows suffice: all rows independent, complete and many."""
        return isinstance(self.sampling, IndependentRows) and all(
            len(side) >= FEWEST_SUMMED and not np.isnan(side).any() for side in self.sides
        )

    def summed_block(
        self, first: IntArray, second: IntArray, sums_of: sparse.csr_array
    ) -> EffectBlock:
        """Return the same for many rows, by matrix products; `parts` are summed over groups.

        The influence on z is (ab − r(a² + b²)/2)/(1 − r²) of standardised columns, whose variance
        comes from fourth moments. `sums_of` (groups × rows of both samples) adds rows up.
        """
        # Blocks of pairs have few first columns each: the places of both among those they have.
        (of_i, i), (of_j, j) = (np.unique(own, return_inverse=True) for own in (first, second))
        r, variances, floors = [], [], []
        parts = np.zeros((sums_of.shape[0], first.size))
        start = 0
        edge = 1 - 1 / min(map(len, self.sides)) ** 2
        for sample, scores in enumerate(self._scores):
            n = len(scores)
            a, b = scores[:, of_i], scores[:, of_j]
            aa, bb = np.square(a), np.square(b)
            of_pairs = np.clip(((a.T @ b) / n)[i, j], -1.0, 1.0)
            both = ((aa.T @ bb) / n)[i, j]
            odd = (((aa * a).T @ b + a.T @ (bb * b)) / n)[i, j]
            fourth = np.square(aa).mean(axis=0)[i] + np.square(bb).mean(axis=0)[j]
            rest = 1 - np.square(np.clip(of_pairs, -edge, edge))
            own = both - of_pairs * odd + of_pairs**2 / 4 * (fourth + 2 * both)
            r.append(of_pairs)
            variances.append(own / rest**2 / (n - 1))
            frequent = self.most_frequent[sample]
            frequent = np.maximum(frequent[first], frequent[second])
            floors.append(np.maximum(frequent, LEAST_VARIANCE) / (n - 3))
            groups = sums_of[:, start : start + n].tocsr()
            start += n
            products = _products_by_group(groups, a, b)[:, i, j]
            products -= of_pairs / 2 * ((groups @ aa)[:, i] + (groups @ bb)[:, j])
            parts += (1 - 2 * sample) * products / (rest * n)
        degrees = [np.full(first.size, len(side) - 1.0) for side in self.sides]
        errors = independent_errors(variances[0], variances[1], degrees[0], degrees[1])
        limits = _zou_limits(r, np.full(first.size, edge), *_with_floors(errors, floors))
        return EffectBlock(np.arange(first.size), r[0] - r[1], parts, limits)


def _products_by_group(groups: sparse.csr_array, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the sums of products of columns over groups of rows, (groups × of a × of b)."""
    sums = np.zeros((groups.shape[0], a.shape[1], b.shape[1]))
    for group, (start, end) in enumerate(zip(groups.indptr[:-1], groups.indptr[1:], strict=True)):
        rows = groups.indices[start:end]
        np.matmul(a[rows].T, b[rows], out=sums[group])
    return sums


def _zou_limits(
    r: list[FloatArray],
    edge: FloatArray,
    variances: tuple[FloatArray, FloatArray],
    shared: FloatArray,
    degrees: FloatArray,
) -> Callable[[FloatArray | float], Intervals]:
    """Return Zou's limits of differences of correlations, from those of each artanh r."""
    z = [np.arctanh(np.clip(of_side, -edge, edge)) for of_side in r]
    effects = r[0] - r[1]

    def limits(tail: FloatArray | float) -> Intervals:
        quantile = _t_quantile(degrees, tail)
        lows, highs = [], []
        for of_side, of_z, variance in zip(r, z, variances, strict=True):
            half = quantile * np.sqrt(variance)
            lows.append(np.minimum(np.tanh(of_z - half), of_side))
            highs.append(np.maximum(np.tanh(of_z + half), of_side))
        low = effects - _length(r[0] - lows[0], highs[1] - r[1], shared)
        high = effects + _length(highs[0] - r[0], r[1] - lows[1], shared)
        return np.maximum(low, -2.0), np.minimum(high, 2.0)

    return limits


def _with_floors(
    errors: Errors, floors: list[FloatArray]
) -> tuple[tuple[FloatArray, FloatArray], FloatArray, FloatArray]:
    """Return variances of both estimators, their correlation, and degrees of the difference."""
    v, w = errors.variances
    root = 2 * np.sqrt(v * w)
    shared = np.where(root > 0, v + w - errors.variance, 0.0) / np.where(root > 0, root, 1.0)
    a, b = np.maximum(v, floors[0]), np.maximum(w, floors[1])
    alone = np.abs(shared) < ROUNDING
    of_x, of_y = errors.degrees
    degrees = np.where(
        alone, (a + b) ** 2 / (a * a / of_x + b * b / of_y), errors.difference_degrees
    )
    return (a, b), np.clip(np.where(alone, 0.0, shared), -1.0, 1.0), degrees


def _modes(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the most frequent value of each column, and its proportion; NaN counts as nothing."""
    ordered = np.sort(values, axis=0)
    n_rows = len(ordered)
    steps = np.arange(n_rows)[:, np.newaxis]
    new = np.ones(ordered.shape, dtype=np.bool_)
    new[1:] = ordered[1:] != ordered[:-1]
    start = np.maximum.accumulate(np.where(new, steps, 0), axis=0)
    length = np.where(np.isnan(ordered), 0, steps - start + 1)
    last = length.argmax(axis=0)
    columns = np.arange(values.shape[1])
    present = np.maximum((~np.isnan(values)).sum(axis=0), 1)
    return ordered[last, columns], length[last, columns] / present
