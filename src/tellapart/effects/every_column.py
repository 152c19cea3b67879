"""All columns at once: moments, quartiles, standardised differences and SD ratios with intervals.

The numbers are those of `effects.columns`, for many columns in a few array operations:

numbers
    Mean, SD and quartiles of each sample; Hedges' g and s_x/s_y with the intervals that the
    findings "location" and "spread" have.
two values
    d = (p_x − p_y)/s with p the proportion of the larger value and s² the mean of p(1 − p) of both
    samples; the interval is Newcombe's for p_x − p_y, or the design's, divided by s.
categories
    D = √(δᵀS⁻¹δ), with δ the difference of the proportions of all levels but one and S the mean of
    their covariance matrices (Yang and Dalton, 2012): no sign. n_x n_y/(n_x + n_y)·D² is taken as
    noncentral χ² for the interval, which is approximate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray, IntArray
from tellapart.effects.columns import (
    LARGEST_POWERED,
    LEAST_DEGREES,
    LEAST_KURTOSIS,
    MOST_TAKEN,
    ROUNDING,
    ROWS_OF_KURTOSIS,
    UNSEEN_POWER,
    UNSEEN_ROWS,
)
from tellapart.effects.estimate import CONFIDENCE, IndependentRows, Sampling

TAIL = (1 - CONFIDENCE) / 2
QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of every column of one sample, from the values that are not missing.

    `second`, `third` and `fourth` are central moments in multiples of `unit`, a power of two for
    each column that is 1 but for extreme values; `largest` is the largest absolute value in them.
    Moments of parts of the rows are merged by `merged`.
    """

    n: IntArray | FloatArray
    mean: FloatArray
    second: FloatArray
    third: FloatArray
    fourth: FloatArray
    largest: FloatArray
    unit: FloatArray

    @classmethod
    def of(
        cls,
        values: FloatArray,
        unit: FloatArray,
        weights: FloatArray | None = None,
        *,
        effective: bool = False,
    ) -> Moments:
        """Return the moments of rows × columns, NaN where missing; weights add up to 1.

        With `effective`, n is Kish's effective number of rows, 1/Σw².
        """
        missing = np.isnan(values)
        n = values.shape[0] - missing.sum(axis=0)
        any_missing = bool(missing.any())
        filled = np.where(missing, 0.0, values) if any_missing else values
        if weights is None:
            share = 1 / np.maximum(n, 1)[np.newaxis, :]
            weights = np.where(missing, 0.0, share) if any_missing else share

        def mean_of(terms: FloatArray) -> FloatArray:
            if weights.shape[0] == 1:
                return np.asarray(terms.sum(axis=0) * weights[0])
            return np.asarray(np.einsum("ij,ij->j", np.broadcast_to(weights, terms.shape), terms))

        largest = np.abs(filled).max(axis=0, initial=0.0) / unit
        # The sum of a million values may lose digits: what it left is added once more.
        scaled = filled / unit
        start = mean_of(scaled)
        centred = scaled - start
        if any_missing:
            centred[missing] = 0.0
        rest = mean_of(centred)
        centred -= rest
        if any_missing:
            centred[missing] = 0.0
        squares = np.square(centred)
        mean = np.where(n > 0, (start + rest) * unit, np.nan)
        return cls(
            1 / np.square(np.broadcast_to(weights, values.shape)).sum(axis=0) if effective else n,
            mean,
            mean_of(squares),
            mean_of(squares * centred),
            mean_of(np.square(squares)),
            largest,
            unit,
        )

    def merged(self, other: Moments) -> Moments:
        """Return the moments of the rows of both, by the formulas of Pébay."""
        n = self.n + other.n
        of_self, of_other = (part.n / np.maximum(n, 1) for part in (self, other))
        left, right = (np.where(part.n > 0, part.mean, 0.0) / self.unit for part in (self, other))
        apart = np.where((self.n > 0) & (other.n > 0), right - left, 0.0)
        product = of_self * of_other

        def mixed(name: str) -> FloatArray:
            return np.asarray(of_self * getattr(self, name) + of_other * getattr(other, name))

        second = mixed("second") + product * apart**2
        third = (
            mixed("third")
            + product * (of_self - of_other) * apart**3
            + 3 * product * apart * (other.second - self.second)
        )
        fourth = (
            mixed("fourth")
            + product * (of_self**2 - product + of_other**2) * apart**4
            + 6 * product * apart**2 * (of_self * other.second + of_other * self.second)
            + 4 * product * apart * (other.third - self.third)
        )
        mean = np.where(n > 0, (of_self * left + of_other * right) * self.unit, np.nan)
        largest = np.maximum(self.largest, other.largest)
        return Moments(n, mean, second, third, fourth, largest, self.unit)

    @property
    def variance(self) -> FloatArray:
        """The variances in units, with n − 1 degrees; 0 where they are rounding."""
        variance = self.second * self.n / np.maximum(self.n - 1, 1)
        real = variance > np.square(ROUNDING * self.largest)
        return np.where(self.n > 1, np.where(real, variance, 0.0), np.nan)

    @property
    def deviation(self) -> FloatArray:
        """The standard deviations."""
        return np.asarray(self.unit * np.sqrt(self.variance))

    @property
    def kurtosis(self) -> FloatArray:
        """The kurtosis, unbiased for normal samples; 3 of samples too small to have one."""
        n = self.n
        known = (n >= 4) & (self.variance > 0)
        raw = self.fourth / np.where(known, self.second, 1.0) ** 2
        scale = (n - 1) / np.where(known, (n - 2) * (n - 3), 1)
        unbiased = 3 + scale * ((n + 1) * (raw - 3) + 6)
        return np.where(known, np.maximum(unbiased, LEAST_KURTOSIS), 3.0)


def units_of(largest: FloatArray) -> FloatArray:
    """Return 1, or the power of two next to the largest value of a column where it is extreme."""
    extreme = (largest > LARGEST_POWERED) | ((largest > 0) & (largest < 1 / LARGEST_POWERED))
    return np.where(extreme, np.ldexp(1.0, np.frexp(largest)[1]), 1.0)


def quartiles(values: FloatArray) -> FloatArray:
    """Return the quartiles (3 × columns) of columns × rows that are sorted, NaN last.

    Between two order statistics they are interpolated linearly, as NumPy and pandas do.

    >>> import numpy as np
    >>> quartiles(np.array([[1.0, 2.0, 4.0, np.nan]])).ravel().tolist()
    [1.5, 2.0, 3.0]
    """
    n = values.shape[1] - np.isnan(values).sum(axis=1)
    rows = np.arange(values.shape[0])
    found = np.full((len(QUARTILES), values.shape[0]), np.nan)
    some = n > 0
    for k, level in enumerate(QUARTILES):
        position = level * np.maximum(n - 1, 0)
        low = np.floor(position).astype(np.intp)
        below = values[rows, low]
        above = values[rows, np.minimum(low + 1, np.maximum(n - 1, 0))]
        found[k, some] = (below + (position - low) * (above - below))[some]
    return found


@dataclass(frozen=True, eq=False)
class Precision:
    """How well differences of means and of log SDs are known, one entry per column.

    In units: the standard error of the difference of means with its degrees of freedom and the
    skewness of its estimator; ν of the two variances and of the pooled one; the standard error of
    log s_x − log s_y with its degrees.
    """

    error: FloatArray
    degrees: FloatArray
    skewness: FloatArray
    deviation_degrees: tuple[FloatArray, FloatArray]
    pooled_degrees: FloatArray
    ratio_error: FloatArray
    ratio_degrees: FloatArray


@dataclass(frozen=True, eq=False)
class EveryEffect:
    """Effects of every column: value and ends of the interval, (3 × columns), NaN where unknown.

    `statistic` is the difference of means over its standard error, `pvalues` (2 × columns) are the
    unadjusted ones of equal means and of equal SDs, by t distributions.
    """

    difference: FloatArray
    ratio: FloatArray
    statistic: FloatArray
    pvalues: FloatArray


def independent_precision(x: Moments, y: Moments) -> Precision:
    """Return the precision where rows are independent."""
    variances = [side.second / np.maximum(side.n - 1, 1) for side in (x, y)]
    total = variances[0] + variances[1]
    spent = sum(
        np.square(v) / np.maximum(side.n - 1, 1) for v, side in zip(variances, (x, y), strict=True)
    )
    degrees = np.where(
        spent > 0,
        np.maximum(np.square(total) / np.where(spent > 0, spent, 1.0), 1.0),
        np.maximum(x.n - 1, 1) + np.maximum(y.n - 1, 1),
    )
    third = x.third / np.maximum(x.n, 1) ** 2 - y.third / np.maximum(y.n, 1) ** 2
    skewness = np.where(total > 0, third / np.where(total > 0, total, 1.0) ** 1.5, 0.0)
    nu = _deviation_degrees(x, y)
    spreads = [special.polygamma(1, own / 2) / 4 for own in nu]
    both = spreads[0] + spreads[1]
    return Precision(
        np.sqrt(total),
        degrees,
        skewness,
        nu,
        _pooled_degrees(x, y, nu),
        np.sqrt(both),
        np.square(both) / (np.square(spreads[0]) / nu[0] + np.square(spreads[1]) / nu[1]),
    )


def designed_precision(
    x: Moments, y: Moments, values: tuple[FloatArray, FloatArray], sampling: Sampling
) -> Precision:
    """Return the precision under a design, from the values (rows × columns, none missing)."""
    centred = [(own - side.mean) / side.unit for own, side in zip(values, (x, y), strict=True)]
    errors = sampling.errors(centred[0], centred[1])
    variances = [np.where(side.variance > 0, side.variance, 1.0) for side in (x, y)]
    relative = [np.square(c) / v - 1 for c, v in zip(centred, variances, strict=True)]
    of_squares = sampling.errors(relative[0], relative[1])
    nu = _deviation_degrees(x, y)
    limited = [
        np.maximum(
            np.where(
                side.variance > 0,
                np.minimum(own, 2 / np.maximum(variance, ROUNDING)),
                own,
            ),
            LEAST_DEGREES,
        )
        for own, side, variance in zip(nu, (x, y), of_squares.variances, strict=True)
    ]
    nu = limited[0], limited[1]
    pooled_degrees = _pooled_degrees(x, y, nu)
    if sampling.dependent:
        weights, pooled = pooled_variance(x, y)
        scale = np.where(pooled > 0, pooled, 1.0)
        parts = [
            weight * (np.square(c) - side.variance) / scale
            for weight, c, side in zip(weights, centred, (x, y), strict=True)
        ]
        of_pooled = sampling.errors(parts[0], -parts[1])
        pooled_degrees = np.maximum(2 / np.maximum(of_pooled.variance, ROUNDING), LEAST_DEGREES)
    of_ratio = sampling.errors(relative[0] / 2, relative[1] / 2)
    return Precision(
        errors.standard_error,
        errors.difference_degrees,
        np.zeros(errors.variance.shape),
        nu,
        pooled_degrees,
        of_ratio.standard_error,
        of_ratio.difference_degrees,
    )


def _deviation_degrees(x: Moments, y: Moments) -> tuple[FloatArray, FloatArray]:
    """Return ν of the variances of both samples; see `Column.degrees_of_deviation`."""
    both = (x.n * x.kurtosis + y.n * y.kurtosis) / np.maximum(x.n + y.n, 1)
    found = []
    for side in (x, y):
        n = np.maximum(side.n, 1)
        weight = n / (n + ROWS_OF_KURTOSIS)
        kurtosis = np.maximum(side.kurtosis, weight * side.kurtosis + (1 - weight) * both)
        unseen = (UNSEEN_ROWS / n) ** UNSEEN_POWER
        kurtosis = kurtosis * (1 + unseen * np.maximum(kurtosis - 3, 0) / np.sqrt(n))
        degrees = 2 * n / (kurtosis - 1 + 2 / np.maximum(n - 1, 1))
        found.append(np.maximum(degrees, LEAST_DEGREES))
    return found[0], found[1]


def pooled_variance(x: Moments, y: Moments) -> tuple[tuple[FloatArray, FloatArray], FloatArray]:
    """Return the weights of the two variances, and the pooled variance."""
    spare = np.maximum(x.n + y.n - 2, 1)
    weights = (x.n - 1) / spare, (y.n - 1) / spare
    return weights, weights[0] * x.variance + weights[1] * y.variance


def _pooled_degrees(x: Moments, y: Moments, degrees: tuple[FloatArray, FloatArray]) -> FloatArray:
    weights, pooled = pooled_variance(x, y)
    scale = np.where(pooled > 0, pooled, 1.0)
    relative = sum(
        2 * np.square(weight * side.variance / scale) / own
        for weight, side, own in zip(weights, (x, y), degrees, strict=True)
    )
    return np.maximum(2 / np.maximum(relative, ROUNDING), LEAST_DEGREES)


def number_effects(x: Moments, y: Moments, precision: Precision) -> EveryEffect:
    """Return Hedges' g and the SD ratio of columns of numbers; see `effects.columns`."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        enough = np.minimum(x.n, y.n) > 1
        difference = (x.mean - y.mean) / x.unit
        largest = np.maximum(x.largest, y.largest)
        difference = np.where(np.abs(difference) <= ROUNDING * largest, 0.0, difference)
        pooled = np.sqrt(pooled_variance(x, y)[1])
        error = precision.error
        statistic = np.where(
            difference == 0,
            0.0,
            np.where(error > 0, difference / error, np.copysign(np.inf, difference)),
        )
        effect = (1 - 3 / (4 * (x.n + y.n - 2) - 1)) * difference / pooled
        low, high = location_limits(difference, pooled, precision, TAIL)
        apart = np.where(difference == 0, np.nan, np.copysign(np.inf, difference))
        standardised = np.stack([effect, low, high])
        standardised = np.where(pooled > 0, standardised, apart)
        standardised[:, ~enough] = np.nan
        statistic[~enough | ((pooled == 0) & (difference == 0))] = np.nan
        ratio = _ratios(x, y, precision)
        ratio[:, ~enough] = np.nan
        of_ratio = np.log(ratio[0]) / precision.ratio_error
        degrees = np.stack([precision.degrees, precision.ratio_degrees])
        pvalues = 2 * special.stdtr(degrees, -np.abs(np.stack([statistic, of_ratio])))
    return EveryEffect(standardised, ratio, statistic, pvalues)


def location_limits(
    difference: FloatArray, pooled: FloatArray, precision: Precision, tail: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Return the limits of difference/pooled with these tail probabilities on each side."""
    quantile = np.asarray(-special.stdtrit(precision.degrees, tail), np.float64)
    below = np.maximum(quantile, _skewed(quantile, precision.skewness)) * precision.error
    above = np.maximum(quantile, -_skewed(-quantile, precision.skewness)) * precision.error
    nu = precision.pooled_degrees
    least = pooled * np.sqrt(nu / special.chdtri(nu, tail))
    most = pooled * np.sqrt(nu / special.chdtri(nu, 1 - np.asarray(tail)))
    low = _ratio_limit(difference, below, pooled, least, most)
    return low, -_ratio_limit(-difference, above, pooled, least, most)


def _skewed(quantile: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the t statistic that Hall's transformation takes to a quantile."""
    none = np.abs(skewness) < ROUNDING
    safe = np.where(none, 1.0, skewness)
    statistic = 3 * (np.cbrt(1 + safe * (quantile - safe / 6)) - 1) / safe
    bounded = np.minimum(np.abs(statistic), np.abs(quantile) / (1 - MOST_TAKEN))
    return np.where(none, quantile, np.copysign(bounded, quantile))


def _ratio_limit(
    difference: FloatArray,
    below: FloatArray,
    deviation: FloatArray,
    least: FloatArray,
    most: FloatArray,
) -> FloatArray:
    """Return the lower limits of difference/deviation; see `effects.columns`."""
    rest = np.square(difference) - np.square(below)
    negative = (difference <= 0) | (rest <= 0)
    spread = np.where(negative, deviation - least, most - deviation)
    lead = np.square(deviation) - np.square(spread)
    product = difference * deviation
    root = np.sqrt(np.maximum(np.square(product) - lead * rest, 0.0))
    limit = np.where(negative, np.minimum((product - root) / lead, 0.0), rest / (product + root))
    return np.asarray(limit, dtype=np.float64)


def _ratios(x: Moments, y: Moments, precision: Precision) -> FloatArray:
    """Return s_x/s_y with its interval; 0 or ∞ where one sample does not vary."""
    log_ratio = np.log(x.deviation) - np.log(y.deviation)
    half = -special.stdtrit(precision.ratio_degrees, TAIL) * precision.ratio_error
    found = np.exp(np.stack([log_ratio, log_ratio - half, np.minimum(log_ratio + half, 700.0)]))
    constant_x, constant_y = x.variance == 0, y.variance == 0
    one = constant_x ^ constant_y
    found[:, one] = np.array([[0.0], [0.0], [np.inf]])
    found[0, one & constant_y] = np.inf
    found[:, constant_x & constant_y] = np.nan
    return np.asarray(found, dtype=np.float64)


# Proportions: of one of two values, and of the levels of a categorical column.


def two_value_effect(
    x: FloatArray,
    y: FloatArray,
    n: tuple[IntArray, IntArray],
    error: FloatArray | None = None,
    degrees: FloatArray | None = None,
) -> FloatArray:
    """Return d and its interval from the proportions of the larger value in both samples.

    `error` and `degrees` of p_x − p_y are given where rows are not independent.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt((x * (1 - x) + y * (1 - y)) / 2)
        difference = x - y
        if error is None or degrees is None:
            z = -special.ndtri(TAIL)
            (low_x, high_x), (low_y, high_y) = (
                wilson(p, np.maximum(size, 1), z) for p, size in zip((x, y), n, strict=True)
            )
            low = difference - np.hypot(x - low_x, high_y - y)
            high = difference + np.hypot(high_x - x, y - low_y)
        else:
            half = -special.stdtrit(degrees, TAIL) * error
            low, high = difference - half, difference + half
        ends = np.stack([difference, np.maximum(low, -1.0), np.minimum(high, 1.0)])
        found = ends / deviation
    found[:, (n[0] == 0) | (n[1] == 0) | ((deviation == 0) & (difference == 0))] = np.nan
    return np.asarray(found)


def wilson(
    proportion: FloatArray, n: IntArray | FloatArray, z: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Return Wilson's score interval of proportions, from the normal quantile z."""
    middle = (proportion + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(proportion * (1 - proportion) / n + z**2 / (4 * n**2))
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


def category_effect(
    x: FloatArray, y: FloatArray, n: tuple[int, int], *, limits: bool = True
) -> tuple[float, float, float]:
    """Return D and its interval from the proportions of all levels in both samples.

    ∞ where the levels tell the samples apart; no interval if `limits` is False.

    >>> import numpy as np
    >>> x, y = np.array([0.5, 0.3, 0.2]), np.array([0.4, 0.4, 0.2])
    >>> [round(number, 3) for number in category_effect(x, y, (90, 90))]
    [0.227, 0.0, 0.485]
    """
    occurs = (x > 0) | (y > 0)
    if min(n) == 0 or occurs.sum() < 2:
        return np.nan, np.nan, np.nan
    first, second = (side[occurs][1:] for side in (x, y))
    covariance = sum(np.diag(p) - np.outer(p, p) for p in (first, second)) / 2
    apart = first - second
    solution = np.linalg.pinv(covariance, hermitian=True) @ apart
    if np.abs(covariance @ solution - apart).max() > 1e-9:
        return np.inf, np.inf, np.inf
    squared = max(float(apart @ solution), 0.0)
    if not limits:
        return float(np.sqrt(squared)), np.nan, np.nan
    size = n[0] * n[1] / (n[0] + n[1])
    levels = int(occurs.sum()) - 1
    tail = (1 - CONFIDENCE) / 2
    ends = [
        float(special.chndtrinc(size * squared, levels, p))
        if special.chdtr(levels, size * squared) > p
        else 0.0
        for p in (1 - tail, tail)
    ]
    low, high = (float(np.sqrt(max(end, 0.0) / size)) for end in ends)
    return float(np.sqrt(squared)), low, high


def block_moments(
    values: tuple[FloatArray, FloatArray], sampling: Sampling
) -> tuple[tuple[Moments, Moments], tuple[Moments, Moments], Precision]:
    """Return raw moments of both samples, those that effects compare, and their precision.

    Under a design with strata the latter are weighted, so that strata count alike in both; where
    rows have weights of their own, n of the latter is effective.
    """
    largest = np.maximum(
        *(np.abs(own).max(axis=0, initial=0.0, where=~np.isnan(own)) for own in values)
    )
    unit = units_of(largest)
    raw = Moments.of(values[0], unit), Moments.of(values[1], unit)
    if isinstance(sampling, IndependentRows):
        return raw, raw, independent_precision(*raw)
    compared = raw
    if sampling.standardised or sampling.weighted:
        weighted = [
            Moments.of(own, unit, sampling.weights(k, own), effective=sampling.ranked)
            for k, own in enumerate(values)
        ]
        compared = weighted[0], weighted[1]
    return raw, compared, designed_precision(*compared, values, sampling)


def sorted_columns(values: Sequence[FloatArray]) -> list[FloatArray]:
    """Return each sample as columns × rows, sorted and NaN last, then both together."""
    sides = [np.sort(np.ascontiguousarray(own.T), axis=1) for own in values]
    # Two sorted runs are merged in one pass.
    return [*sides, np.sort(np.concatenate(sides, axis=1), axis=1, kind="stable")]
