"""One column in both samples: mean, standard deviation, shape, proportion, distribution.

Tests are studentised: each has its limit where only its own measure is equal in both samples,
whatever else differs.

location
    Hedges' g, (x̄ − ȳ)/s with s the pooled standard deviation, times its small-sample factor. The
    p-value is the larger of Welch's and of Hall's, whose t is corrected for skewness. The interval
    combines the limits of x̄ − ȳ with those of s (method of variance estimates recovery for a
    ratio), so that it contains 0 where that of the difference of means does.
spread
    s_x/s_y. The p-value is the larger of Brown and Forsythe's and of that of log s_x − log s_y with
    kurtosis-adjusted variances, whose interval is given.
shape
    Differences of L-skewness or L-kurtosis, or of the proportion of the most frequent value, which
    shifts and changes of scale leave alone; the most significant, its p-value times their number.
share
    The difference of the proportions of one value: Newcombe's interval, Fisher's exact p-value.
distribution
    Whatever measure is the most significant, for a column that is known to differ: those of shape,
    Cliff's delta, or the largest difference between the distribution functions.

A variance is known the less well the heavier the tails. With κ the kurtosis, unbiased for normal
samples, the larger of that of the sample and of both, and more in small samples, which rarely
contain their own tails, s²/σ² is taken as χ²_ν/ν with ν = 2n/(κ − 1 + 2/(n − 1)).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray, IntArray
from tellapart.effects.estimate import (
    Estimate,
    IndependentRows,
    Sampling,
    t_estimate,
    t_pvalue,
    t_quantile,
)
from tellapart.optional import stats

ROUNDING = 1e-12
"""A standard deviation below this share of the largest value is rounding."""
FEWEST_SHAPED = 30
"""Rows of a sample from which on its shape is judged."""
LEAST_KURTOSIS = 1.5
MOST_TAKEN = 0.4
"""The part of a t statistic that the correction for skewness takes away at most."""
LEAST_DEGREES = 0.7
UNSEEN_ROWS, UNSEEN_POWER = 20, 0.6
"""Small samples rarely contain their own tails: κ is taken times 1 + (20/n)^0.6 (κ − 3)₊/√n."""
ROWS_OF_KURTOSIS = 50
"""Rows from which on a sample's kurtosis counts more than that of both samples."""
LARGEST_POWERED = 1e60
"""Values beyond it, or all below 1 over it, have fourth powers that no float can hold."""
NUMERIC, LEVELS, CONSTANT, EMPTY = "numeric", "levels", "constant", "empty"
"""Types of columns: numbers, categories or two values, one value, none in one of the samples."""


@dataclass(frozen=True, eq=False)
class ColumnSample:
    """The values of one column in one sample, none missing, and their weights.

    Moments are computed in multiples of `unit`, a power of two that is 1 but for extreme values.
    """

    values: FloatArray
    weights: FloatArray
    unit: float = 1.0
    weighted: bool = False

    @property
    def n(self) -> int:
        """Number of values."""
        return int(self.values.size)

    @cached_property
    def size(self) -> float:
        """Number of values; of weighted ones, Kish's effective number 1/Σw²."""
        if not self.weighted or not self.n:
            return self.n
        return float(1 / np.square(self.weights).sum())

    @cached_property
    def mean(self) -> float:
        """The mean."""
        if self.n == 0:
            return math.nan
        start = float(self.values[0])
        return start + float(self.weights @ (self.values - start))

    @cached_property
    def centred(self) -> FloatArray:
        """The values less their mean, in units."""
        return (self.values - self.mean) / self.unit

    @cached_property
    def variance(self) -> float:
        """The variance in units, with n − 1 degrees; 0 where it is rounding."""
        if self.n < 2:
            return math.nan
        variance = float(self.weights @ np.square(self.centred)) * self.size / (self.size - 1)
        largest = float(np.abs(self.values).max()) / self.unit
        return variance if variance > (ROUNDING * largest) ** 2 else 0.0

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return self.unit * math.sqrt(self.variance) if self.n > 1 else math.nan

    def moment(self, power: int) -> float:
        """Return a central moment, in units."""
        return float(self.weights @ self.centred**power)

    @cached_property
    def kurtosis(self) -> float:
        """The kurtosis, unbiased for normal samples; 3 of a sample too small to have one."""
        n, second = self.size, self.moment(2) if self.n else 0.0
        if n < 4 or self.variance == 0:
            return 3.0
        raw = self.moment(4) / second**2
        return max(3 + (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * (raw - 3) + 6), LEAST_KURTOSIS)

    @cached_property
    def median(self) -> float:
        """The median."""
        if self.weighted and self.n:
            return float(weighted_quantiles(self.values, self.weights, (0.5,))[0])
        return float(np.median(self.values)) if self.n else math.nan

    @property
    def constant(self) -> bool:
        """Whether the values do not vary."""
        return not self.variance > 0


@dataclass(frozen=True, eq=False)
class Column:
    """One column in both samples; of a design every row has a value.

    `labels` are those of a categorical column, whose values are places in them; None of numbers.
    """

    x: ColumnSample
    y: ColumnSample
    sampling: Sampling
    labels: Sequence[str] | None = None

    @classmethod
    def of(
        cls,
        x: FloatArray,
        y: FloatArray,
        sampling: Sampling,
        labels: Sequence[str] | None = None,
    ) -> Column:
        """Return the column of these values, NaN where missing."""
        sides = []
        unit = _unit(x, y)
        for sample, values in enumerate((x, y)):
            weights = sampling.weights(sample, values)
            present = ~np.isnan(values)
            if not present.all():
                values, weights = values[present], weights[present]
            values = np.asarray(values, dtype=np.float64)
            sides.append(ColumnSample(values, weights, unit, sampling.ranked))
        return cls(sides[0], sides[1], sampling, labels)

    @cached_property
    def type(self) -> str:
        """What the column holds: "numeric", "levels", "constant" or "empty"."""
        if not min(self.x.n, self.y.n):
            return EMPTY
        if self.labels is not None:
            return LEVELS if self.levels[0].size > 1 else CONSTANT
        values = two_values(self)
        if values is None:
            return NUMERIC
        return CONSTANT if values[0] == values[1] else LEVELS

    @cached_property
    def levels(self) -> tuple[FloatArray, IntArray]:
        """The values that occur, rising, and how many rows of both samples have each."""
        pooled = np.concatenate([self.x.values, self.y.values])
        codes, counts = np.unique(pooled, return_counts=True)
        return codes, counts

    @cached_property
    def shapes(self) -> list[Estimate]:
        """The differences of shape; none of a column that is not numeric."""
        return shapes(self) if self.type == NUMERIC else []

    @property
    def plain(self) -> bool:
        """Whether rows are independent."""
        return isinstance(self.sampling, IndependentRows)

    @property
    def sides(self) -> tuple[ColumnSample, ColumnSample]:
        """Both samples."""
        return self.x, self.y

    def error(self, influence_x: FloatArray, influence_y: FloatArray) -> tuple[float, float]:
        """Return the standard error of a difference of estimators, and its degrees of freedom."""
        errors = self.sampling.errors(influence_x[:, np.newaxis], influence_y[:, np.newaxis])
        return float(errors.standard_error[0]), float(errors.difference_degrees[0])

    @cached_property
    def degrees_of_deviation(self) -> tuple[float, float]:
        """ν of each sample: s² is as precise as that of ν + 1 normal values."""
        sizes = self.x.size, self.y.size
        both = sum(n * side.kurtosis for n, side in zip(sizes, self.sides, strict=True))
        both /= sum(sizes)
        degrees_of = []
        for sample, (n, side) in enumerate(zip(sizes, self.sides, strict=True)):
            weight = n / (n + ROWS_OF_KURTOSIS)
            kurtosis = max(side.kurtosis, weight * side.kurtosis + (1 - weight) * both)
            unseen = (UNSEEN_ROWS / n) ** UNSEEN_POWER
            kurtosis *= 1 + unseen * max(kurtosis - 3, 0) / math.sqrt(n)
            degrees = 2 * n / (kurtosis - 1 + 2 / max(n - 1, 1))
            if not self.plain and side.variance > 0:
                degrees = min(degrees, self._degrees_by_units(sample))
            degrees_of.append(max(degrees, LEAST_DEGREES))
        return degrees_of[0], degrees_of[1]

    def _degrees_by_units(self, sample: int) -> float:
        """Return ν from the variance of s² over independent units."""
        influence = [np.zeros((side.n, 1)) for side in self.sides]
        side = self.sides[sample]
        influence[sample][:, 0] = np.square(side.centred) / side.variance - 1
        errors = self.sampling.errors(influence[0], influence[1])
        return 2 / max(float(errors.variances[sample][0]), ROUNDING)


def column_effects(
    x: FloatArray, y: FloatArray, sampling: Sampling | None = None
) -> Mapping[str, Estimate]:
    """Return the effects of one numeric column: "location", "spread" and "shape", or "share".

    A column of two values, as 0 and 1, has the "share" of the larger one and nothing else. Kinds
    that do not make sense (no value in one sample, nothing that varies) are left out.

    Parameters
    ----------
    x, y : arrays of one dimension
        The values, NaN where missing.
    sampling : Sampling or None
        How rows were drawn; None where they are independent.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> effects = column_effects(rng.normal(1, 1, 50), rng.normal(0, 2, 60))
    >>> {kind: round(estimate.effect, 2) for kind, estimate in effects.items()}
    {'location': 0.69, 'spread': 0.45, 'shape': 0.03}
    """
    column = Column.of(x, y, sampling or IndependentRows())
    if not column.x.n or not column.y.n:
        return {}
    values = two_values(column)
    if values is not None:
        return {"share": share(column, values[1], f"{values[1]:g}")}
    candidates = {"location": location(column), "spread": spread(column), "shape": shape(column)}
    return {kind: estimate for kind, estimate in candidates.items() if estimate is not None}


def _unit(x: FloatArray, y: FloatArray) -> float:
    """Return 1, or the power of two next to the largest value where that is extreme."""
    largest = max(float(np.abs(side).max(initial=0.0, where=~np.isnan(side))) for side in (x, y))
    if largest == 0 or 1 / LARGEST_POWERED <= largest <= LARGEST_POWERED:
        return 1.0
    return math.ldexp(1.0, math.frexp(largest)[1])


def two_values(column: Column) -> tuple[float, float] | None:
    """Return the values of a column that has no more than two; None of any other."""
    low = min(float(side.values.min()) for side in column.sides)
    high = max(float(side.values.max()) for side in column.sides)
    if all(bool(np.all((side.values == low) | (side.values == high))) for side in column.sides):
        return low, high
    return None


def location(column: Column) -> Estimate | None:
    """Return Hedges' g; None where a sample has one value only, or nothing varies."""
    x, y = column.sides
    if min(x.n, y.n) < 2:
        return None
    difference = (x.mean - y.mean) / x.unit
    largest = max(float(np.abs(side.values).max()) for side in column.sides) / x.unit
    if abs(difference) <= ROUNDING * largest:
        difference = 0.0
    error, degrees = column.error(x.centred, y.centred)
    spare = x.size + y.size - 2
    weights = (x.size - 1) / spare, (y.size - 1) / spare
    pooled = math.sqrt(weights[0] * x.variance + weights[1] * y.variance)
    if pooled == 0:
        # Two constants: they differ by no number of standard deviations.
        if difference == 0:
            return None
        effect = math.copysign(math.inf, difference)
        return Estimate("mean", effect, (x.mean, y.mean), 0.0, lambda _: (effect, effect))
    # Under a design the error can be 0: pairs that all differ by the same number.
    statistic = 0.0
    if difference:
        statistic = difference / error if error > 0 else math.copysign(math.inf, difference)
    skewness = 0.0
    if column.plain:
        skewness = (x.moment(3) / x.n**2 - y.moment(3) / y.n**2) / error**3
    pvalue = max(t_pvalue(statistic, degrees), t_pvalue(_unskewed(statistic, skewness), degrees))
    degrees_of_pooled = _pooled_degrees(column, weights, pooled)

    def limits(confidence: float) -> tuple[float, float]:
        quantile = t_quantile(confidence, degrees)
        # Both intervals of the difference, by Welch and by Hall: what either allows.
        below = max(quantile, _skewed(quantile, skewness)) * error
        above = max(quantile, -_skewed(-quantile, skewness)) * error
        tail = (1 - confidence) / 2
        least = pooled * math.sqrt(degrees_of_pooled / special.chdtri(degrees_of_pooled, tail))
        most = pooled * math.sqrt(degrees_of_pooled / special.chdtri(degrees_of_pooled, 1 - tail))
        low = _ratio_limit(difference, below, pooled, least, most)
        return low, -_ratio_limit(-difference, above, pooled, least, most)

    correction = 1 - 3 / (4 * spare - 1)
    effect = correction * difference / pooled
    return Estimate("mean", effect, (x.mean, y.mean), pvalue, limits)


def _unskewed(statistic: float, skewness: float) -> float:
    """Return Hall's transformation of a t statistic whose estimator has this skewness.

    It is flat where skewness·t is near −3, so that one outlier could hide any difference: it takes
    away no more than `MOST_TAKEN` of t.
    """
    if abs(skewness) < ROUNDING:
        return statistic
    corrected = ((1 + skewness * statistic / 3) ** 3 - 1) / skewness + skewness / 6
    return math.copysign(max(abs(corrected), (1 - MOST_TAKEN) * abs(statistic)), statistic)


def _skewed(quantile: float, skewness: float) -> float:
    """Return the t statistic that Hall's transformation takes to a quantile."""
    if abs(skewness) < ROUNDING:
        return quantile
    cube = 1 + skewness * (quantile - skewness / 6)
    statistic = 3 * (float(np.cbrt(cube)) - 1) / skewness
    return math.copysign(min(abs(statistic), abs(quantile) / (1 - MOST_TAKEN)), quantile)


def _ratio_limit(
    difference: float, below: float, deviation: float, least: float, most: float
) -> float:
    """Return the lower limit of difference/deviation, from the limits of both.

    The limit r is where difference − r·deviation is 0 within its own error: the squares of the two
    errors add up.
    """
    rest = difference**2 - below**2
    if difference <= 0 or rest <= 0:
        # r ≤ 0: the farther off, the smaller the deviation is.
        spread = deviation - least
        lead = deviation**2 - spread**2
        root = math.sqrt(max((difference * deviation) ** 2 - lead * rest, 0.0))
        return min((difference * deviation - root) / lead, 0.0)
    spread = most - deviation
    lead = deviation**2 - spread**2
    root = math.sqrt(max((difference * deviation) ** 2 - lead * rest, 0.0))
    return rest / (difference * deviation + root)


def _pooled_degrees(column: Column, weights: tuple[float, float], pooled: float) -> float:
    """Return ν of the pooled variance."""
    if column.sampling.dependent:
        influence = [
            weight * (np.square(side.centred) - side.variance) / pooled**2
            for weight, side in zip(weights, column.sides, strict=True)
        ]
        error, _ = column.error(influence[0], -influence[1])
        relative = error**2
    else:
        relative = sum(
            2 * (weight * side.variance / pooled**2) ** 2 / degrees
            for weight, side, degrees in zip(
                weights, column.sides, column.degrees_of_deviation, strict=True
            )
        )
    return max(2 / max(relative, ROUNDING), LEAST_DEGREES)


def spread(column: Column) -> Estimate | None:
    """Return the ratio of the standard deviations; 0 or ∞ where one sample does not vary."""
    x, y = column.sides
    if min(x.n, y.n) < 2 or (x.constant and y.constant):
        return None
    values = x.deviation, y.deviation
    levene = _levene(column)
    if x.constant or y.constant:
        effect = 0.0 if x.constant else math.inf
        return Estimate("SD", effect, values, levene, lambda _: (0.0, math.inf), null=1.0)
    ratio = math.log(values[0]) - math.log(values[1])
    if column.plain:
        both = column.degrees_of_deviation
        variances = [float(special.polygamma(1, degrees / 2)) / 4 for degrees in both]
        error = math.sqrt(sum(variances))
        degrees = sum(variances) ** 2 / sum(
            v**2 / nu for v, nu in zip(variances, both, strict=True)
        )
    else:
        influence = [(np.square(side.centred) / side.variance - 1) / 2 for side in column.sides]
        error, degrees = column.error(influence[0], influence[1])

    def limits(confidence: float) -> tuple[float, float]:
        half = t_quantile(confidence, degrees) * error
        return math.exp(ratio - half), math.exp(min(ratio + half, 700.0))

    studentised = t_pvalue(ratio / error, degrees) if error > 0 else float(ratio == 0)
    pvalue = max(levene, studentised)
    return Estimate("SD", math.exp(ratio), values, pvalue, limits, null=1.0)


def _levene(column: Column) -> float:
    """Return the p-value of Brown and Forsythe's test: deviations from each sample's median."""
    away = [np.abs(side.values - side.median) / side.unit for side in column.sides]
    means = [float(side.weights @ values) for side, values in zip(column.sides, away, strict=True)]
    centred = [values - mean for values, mean in zip(away, means, strict=True)]
    if not column.plain:
        error, degrees = column.error(centred[0], centred[1])
    else:
        degrees = float(column.x.n + column.y.n - 2)
        squares = sum(float(values @ values) for values in centred)
        error = math.sqrt(squares / degrees * (1 / column.x.n + 1 / column.y.n))
    if error == 0:
        return float(means[0] == means[1])
    return t_pvalue((means[0] - means[1]) / error, degrees)


def share(column: Column, value: float, name: str) -> Estimate:
    """Return the difference of the proportions of one value."""
    hits = [(side.values == value).astype(np.float64) for side in column.sides]
    return proportions(hits[0], hits[1], column.sampling, f"proportion of {name}")


def proportions(x: FloatArray, y: FloatArray, sampling: Sampling, measure: str) -> Estimate:
    """Return the difference of the proportions of ones among zeros and ones."""
    column = Column.of(x, y, sampling)
    first, second = (min(max(side.mean, 0.0), 1.0) for side in column.sides)
    if not column.plain:
        error, degrees = column.error(column.x.centred, column.y.centred)
        return t_estimate(measure, (first, second), error, degrees, (-1.0, 1.0))
    sizes = column.x.n, column.y.n
    counts = [round(p * n) for p, n in zip((first, second), sizes, strict=True)]
    table = [[count, n - count] for count, n in zip(counts, sizes, strict=True)]
    pvalue = float(stats.fisher_exact(np.array(table))[1])

    def limits(confidence: float) -> tuple[float, float]:
        z = float(-special.ndtri((1 - confidence) / 2))
        (low_x, high_x), (low_y, high_y) = (
            _wilson(p, n, z) for p, n in zip((first, second), sizes, strict=True)
        )
        low = first - second - math.hypot(first - low_x, high_y - second)
        high = first - second + math.hypot(high_x - first, second - low_y)
        return max(low, -1.0), min(high, 1.0)

    return Estimate(measure, first - second, (first, second), pvalue, limits)


def _wilson(proportion: float, n: int, z: float) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion."""
    middle = (proportion + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * math.sqrt(proportion * (1 - proportion) / n + z**2 / (4 * n**2))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def shape(column: Column) -> Estimate | None:
    """Return the most significant difference of shape."""
    return most_significant(column.shapes)


def most_significant(candidates: Sequence[Estimate]) -> Estimate | None:
    """Return the estimate with the smallest p-value, which is multiplied by their number."""
    if not candidates:
        return None
    best = min(candidates, key=lambda estimate: estimate.pvalue)
    return replace(best, pvalue=min(best.pvalue * len(candidates), 1.0))


def shapes(column: Column) -> list[Estimate]:
    """Return the differences of L-skewness, L-kurtosis and of the most frequent value."""
    x, y = column.sides
    if min(x.n, y.n) < FEWEST_SHAPED or x.constant or y.constant:
        return []
    estimates = []
    ratios = [_l_ratios(side) for side in column.sides]
    for k, name in enumerate(("L-skewness", "L-kurtosis")):
        (of_x, influence_x), (of_y, influence_y) = (of_sample[k] for of_sample in ratios)
        error, degrees = column.error(influence_x, influence_y)
        error *= max(map(_unseen_tails, column.sides))
        estimates.append(t_estimate(name, (of_x, of_y), error, degrees, (-2.0, 2.0)))
    value = _most_frequent(column)
    if value is not None:
        estimates.append(share(column, value, f"{value:.6g}"))
    return estimates


def _unseen_tails(side: ColumnSample) -> float:
    """Return by how much the error of an L-moment ratio exceeds what the sample shows.

    Chosen by simulation, so that tests of normal, exponential, lognormal and t₃ samples keep their
    level from 30 rows on.
    """
    excess = 1.5 * max(side.kurtosis - 3, 0) / math.sqrt(side.size)
    return float((1 + 3 / side.size) * (1 + min(excess, 3 / side.size**0.4)))


def _most_frequent(column: Column) -> float | None:
    """Return the value that more than a few rows have; None where none stands out."""
    pooled = np.sort(np.concatenate([column.x.values, column.y.values]))
    starts = np.flatnonzero(np.diff(pooled, prepend=np.nan) != 0)
    counts = np.diff(starts, append=pooled.size)
    largest = int(counts.argmax())
    typical = float(np.median(counts))
    often = counts[largest] >= max(0.02 * pooled.size, 3 * typical, 10)
    return float(pooled[starts[largest]]) if often else None


def _l_ratios(side: ColumnSample) -> list[tuple[float, FloatArray]]:
    """Return L-skewness and L-kurtosis, each with the influence of every row on it.

    From probability-weighted moments β_r = E[X F(X)^r], whose influence is
    x F(x)^r + r E[X F(X)^{r−1}; X ≥ x] up to a constant.
    """
    n = side.n
    order = np.argsort(side.values, kind="stable")
    values = side.centred[order] / math.sqrt(side.variance)
    weights = side.weights[order]
    rank = np.cumsum(weights) - weights / 2
    moments, influences = [], []
    for r in range(4):
        above = np.zeros(n)
        if r:
            tail = weights * values * rank ** (r - 1)
            above = r * (np.cumsum(tail[::-1])[::-1] - tail / 2)
        influence = values * rank**r + above
        influences.append(influence - weights @ influence)
        moments.append(_weighted_moment(values, weights, rank, r))
    ratios = []
    scale = 2 * moments[1] - moments[0]
    scale_influence = 2 * influences[1] - influences[0]
    for coefficients in ((1, -6, 6), (-1, 12, -30, 20)):
        top = sum(c * moments[r] for r, c in enumerate(coefficients))
        moved = np.sum([c * influences[r] for r, c in enumerate(coefficients)], axis=0)
        influence = np.empty(n)
        influence[order] = (moved - top / scale * scale_influence) / scale
        ratios.append((top / scale, influence))
    return ratios


def _weighted_moment(values: FloatArray, weights: FloatArray, rank: FloatArray, r: int) -> float:
    """Return β_r: the unbiased estimator of equal weights, else that of the plotting positions."""
    n = values.size
    if weights[0] == weights[-1] and float(np.ptp(weights)) == 0:
        positions = np.arange(n, dtype=np.float64)
        factors = np.ones(n)
        for k in range(r):
            factors *= (positions - k) / (n - 1 - k)
        return float(np.mean(factors * values))
    return float(weights @ (values * rank**r))


def distribution(column: Column) -> list[Estimate]:
    """Return further measures of a column of numbers that differs.

    P(X > Y) + P(X = Y)/2 against one half, by Brunner and Munzel's test, and the largest difference
    between the distribution functions, with an interval that holds wherever it is.
    """
    superiority = [_superiority(column)] if min(column.x.n, column.y.n) >= 2 else []
    return [*superiority, _largest_gap(column)]


def _superiority(column: Column) -> Estimate:
    """Return Cliff's delta: the probability that X exceeds Y less that of the opposite."""
    x, y = column.sides
    pooled = np.concatenate([x.values, y.values])
    ranks = stats.rankdata(pooled)
    # The proportion of the other sample below each row, ties counting half.
    if x.weighted:
        below = _below(x.values, y), _below(y.values, x)
    else:
        below = (
            (ranks[: x.n] - stats.rankdata(x.values)) / y.n,
            (ranks[x.n :] - stats.rankdata(y.values)) / x.n,
        )
    probability = float(below[0].mean()) if column.plain else float(x.weights @ below[0])
    influence = below[0] - x.weights @ below[0], below[1] - y.weights @ below[1]
    # A row of Y that exceeds more of X takes from the probability.
    error, degrees = column.error(influence[0], influence[1])
    return t_estimate(
        "probability of superiority",
        (probability, 1 - probability),
        2 * error,
        degrees,
        (-1.0, 1.0),
    )


def _below(values: FloatArray, other: ColumnSample) -> FloatArray:
    """Return the weight of the other sample below each value, that of ties counting half."""
    order = np.argsort(other.values, kind="stable")
    running = np.concatenate([[0.0], np.cumsum(other.weights[order])])
    rising = other.values[order]
    first, last = (
        running[np.searchsorted(rising, values, side=side)] for side in ("left", "right")
    )
    return np.asarray((first + last) / 2)


def _largest_gap(column: Column) -> Estimate:
    """Return the largest difference between the proportions of rows up to a value."""
    cuts = column.levels[0]
    shares: list[FloatArray] = []
    sizes: list[float] = []
    for side in column.sides:
        order = np.argsort(side.values, kind="stable")
        running = np.concatenate([[0.0], np.cumsum(side.weights[order])])
        at_cuts = np.searchsorted(side.values[order], cuts, side="right")
        shares.append(running[at_cuts])
        sizes.append(_rows_behind(side, order, running, at_cuts))
    gaps = shares[0] - shares[1]
    at = int(np.abs(gaps).argmax())
    values = float(min(shares[0][at], 1.0)), float(min(shares[1][at], 1.0))
    effect = values[0] - values[1]
    root = math.sqrt(sizes[0] * sizes[1] / (sizes[0] + sizes[1]))

    def limits(confidence: float) -> tuple[float, float]:
        half = float(special.kolmogi(1 - confidence)) / root
        return max(effect - half, -1.0), min(effect + half, 1.0)

    pvalue = float(special.kolmogorov(root * abs(effect)))
    return Estimate(f"proportion up to {cuts[at]:.6g}", effect, values, pvalue, limits)


def _rows_behind(
    side: ColumnSample, order: IntArray, running: FloatArray, at_cuts: IntArray
) -> float:
    """Return n; of weighted rows, those as many of which F̂ would be as precise where it is least.

    The variance Σ w²(1(x ≤ t) − F̂(t))² of F̂(t) is that of n equal rows at most 1/(4n).
    """
    if not side.weighted:
        return side.n
    squares = np.concatenate([[0.0], np.cumsum(np.square(side.weights[order]))])[at_cuts]
    share = running[at_cuts]
    variance = squares * (1 - 2 * share) + share**2 * float(np.square(side.weights).sum())
    return float(min(1 / (4 * max(float(variance.max()), ROUNDING)), side.size))


def weighted_quantiles(
    values: FloatArray, weights: FloatArray, levels: Sequence[float]
) -> FloatArray:
    """Return quantiles of values with weights that add up to 1.

    The smallest value up to which the weight is at least the level; where it is the level itself,
    half way to the next value, as the median of an even number of rows is.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([0.5, 0.25, 0.25]), (0.4, 0.5))
    array([2. , 2.5])
    """
    order = np.argsort(values, kind="stable")
    rising, running = values[order], np.cumsum(weights[order])
    asked = np.asarray(levels) * running[-1]
    last = rising.size - 1
    low = np.minimum(np.searchsorted(running, asked * (1 - ROUNDING), side="left"), last)
    high = np.minimum(np.searchsorted(running, asked * (1 + ROUNDING), side="right"), last)
    return np.asarray((rising[low] + rising[high]) / 2)
