"""Two or three columns in both samples: correlation, dependence, three-way interaction.

Each measure is computed within each sample, after its own centre and scale or from its own ranks,
so that differences of the margins do not count. With w_i the weights of rows, an estimator z and
z₍ᵢ₎ the same without row i, the influence of row i is taken as that of the jackknife,

    ψ_i = (1 − w_i)/w_i · (z − z₍ᵢ₎),

which is large where a few rows determine z. The variance of z is that of `Sampling.errors`, but at
least c/(n − 3), 1/(n − 3) being that of independent columns and c the largest proportion of rows
that share one value: a sample in which two rare values never meet does not show how much the number
of times that they do varies.

correlation
    Pearson's r_x − r_y. With z = artanh r and its limits in each sample, the interval is Zou's
    combination of both, and the p-value that at which it ends at 0; or the p-value of the same test
    of normal scores (own ranks), where that is larger.
dependence
    The same of absolute deviations, and of the values of one column with the absolute deviations
    of the other, in normal scores; and of distances from the median in ranks. The most significant
    is reported, its p-value times their number.
triple
    The mean product of three standardised columns, signs about the own median or normal scores;
    the more significant is reported, its p-value times 2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import optimize, special

from tellapart.arrays import BoolArray, FloatArray
from tellapart.effects.columns import weighted_quantiles
from tellapart.effects.estimate import (
    Errors,
    Estimate,
    IndependentRows,
    Sampling,
    t_estimate,
    t_pvalue,
    t_quantile,
)

FEWEST_ROWS = 8
"""Rows of a sample from which on correlations are compared."""
FEWEST_FOR_DEPENDENCE = 20
"""Rows from which on other dependence is: ranks of fewer rows agree by chance too often."""
FEWEST_INFORMATIVE = 5.0
"""Rows in which every column of a group leaves its most frequent value, counted or expected."""
LEAST_VARIANCE = 0.2
"""A variance of z is at least this share of that of independent columns."""
NEARLY_LINEAR = 0.8
"""R² of absolute deviations on values, from which on ties make them equivalent."""
ROUNDING = 1e-12

MEASURES = (
    "correlation of absolute deviations",
    "correlation of {0} with the absolute deviation of {1}",
    "correlation of the absolute deviation of {0} with {1}",
    "correlation of distances from the median",
)
"""What "dependence" compares; {0} and {1} stand for the names of the columns."""
SIGNS, SCORES = "three-way interaction of signs", "three-way interaction"


@dataclass(frozen=True, eq=False)
class GroupSample:
    """The columns of a group in one sample, in rows that have all of them.

    Attributes
    ----------
    values, ranks : arrays (rows × columns)
        The values, and (rank − 1/2)/n of each, ties shared.
    weights : array (rows × 1)
        What rows count for.
    present : array
        Which rows of the sample these are.
    most_frequent : float
        The largest proportion of rows with one value, over the columns.
    informative : float
        Number of rows in which every column leaves its most frequent value, or the number to be
        expected of independent columns where that is larger.
    """

    values: FloatArray
    ranks: FloatArray
    weights: FloatArray
    present: BoolArray
    most_frequent: float
    informative: float

    @classmethod
    def of(cls, values: FloatArray, sampling: Sampling, sample: int) -> GroupSample:
        """Return the columns of a sample, those rows left out in which one is missing."""
        values = np.asarray(values, dtype=np.float64)
        present = np.asarray(~np.isnan(values).any(axis=1))
        weights = sampling.weights(sample, np.where(present, 0.0, np.nan)[:, np.newaxis])
        if not present.all():
            values, weights = values[present], weights[present]
        if not len(values):
            return cls(values, values, weights, present, 1.0, 0.0)
        own = weights[:, 0] if sampling.ranked else None
        ranks, frequent, shares = zip(*(_ranks(one, own) for one in values.T), strict=True)
        expected = len(values) * math.prod(1 - share for share in shares)
        counted = np.count_nonzero((values != frequent).all(axis=1))
        informative = max(float(counted), expected)
        return cls(values, np.stack(ranks, axis=1), weights, present, max(shares), informative)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.values)

    @property
    def judged(self) -> bool:
        """Whether enough rows are informative about dependence."""
        if self.n < FEWEST_ROWS or self.informative < FEWEST_INFORMATIVE:
            return False
        largest = np.abs(self.values).max(axis=0)
        return bool((self.values.std(axis=0) > ROUNDING * largest).all())

    def spread_out(self, influence: FloatArray) -> FloatArray:
        """Return the influence by all rows of the sample, NaN where a column is missing."""
        if self.n == self.present.size:
            return influence
        every = np.full((self.present.size, influence.shape[1]), np.nan)
        every[self.present] = influence
        return every


@dataclass(frozen=True)
class Precision:
    """Standard deviations of the estimators of both samples, and degrees of their difference.

    `shared` is the correlation of the two estimators, 0 of independent samples.
    """

    deviations: tuple[float, float]
    shared: float
    degrees: float

    def length(self, a: float, b: float) -> float:
        """Return the length of the difference of two errors a and b with this correlation."""
        return math.sqrt(max(a * a + b * b - 2 * self.shared * a * b, 0.0))


@dataclass(frozen=True, eq=False)
class Correlation:
    """One correlation in both samples, r, and how precisely z = artanh r is known."""

    r: tuple[float, float]
    z: tuple[float, float]
    precision: Precision

    @property
    def statistic(self) -> float:
        """The studentised difference of z."""
        error = self.precision.length(*self.precision.deviations)
        return (self.z[0] - self.z[1]) / error if error > 0 else 0.0

    @property
    def z_pvalue(self) -> float:
        """The p-value of the difference of z."""
        return t_pvalue(self.statistic, self.precision.degrees)

    def limits(self, quantile: float) -> tuple[float, float]:
        """Return Zou's limits of r_x − r_y, from limits of each z so many deviations away."""
        (r, s), (low_x, high_x) = self.r, self._ends(0, quantile)
        low_y, high_y = self._ends(1, quantile)
        low = r - s - self.precision.length(r - low_x, high_y - s)
        high = r - s + self.precision.length(high_x - r, s - low_y)
        return max(low, -2.0), min(high, 2.0)

    def pvalue(self) -> float:
        """Return the p-value: 1 − the level at which an interval ends at 0."""
        quantile = abs(self.statistic)
        side = 0 if self.r[0] > self.r[1] else 1

        def end(at: float) -> float:
            return self.limits(at)[side] * (1 - 2 * side)

        low, high = 0.5 * quantile, 2 * quantile
        if quantile > 0 and end(low) > 0 > end(high):
            quantile = float(optimize.brentq(end, low, high, xtol=1e-6))
        return t_pvalue(quantile, self.precision.degrees)

    def estimate(self, measure: str, n_measures: int, at_least: float = 0.0) -> Estimate:
        """Return the difference, the most significant of so many measures."""
        pvalue = max(min(n_measures * self.pvalue(), 1.0), at_least)

        def limits(confidence: float) -> tuple[float, float]:
            level = 1 - (1 - confidence) / n_measures
            low, high = self.limits(t_quantile(level, self.precision.degrees))
            return (min(low, 0.0), max(high, 0.0)) if pvalue > 1 - confidence else (low, high)

        return Estimate(measure, self.r[0] - self.r[1], self.r, pvalue, limits)

    def _ends(self, sample: int, quantile: float) -> tuple[float, float]:
        r, half = self.r[sample], quantile * self.precision.deviations[sample]
        z = self.z[sample]
        return min(math.tanh(z - half), r), max(math.tanh(z + half), r)


@dataclass(frozen=True, eq=False)
class Group:
    """Two or three columns in both samples, in rows that have all of them."""

    x: GroupSample
    y: GroupSample
    sampling: Sampling

    @classmethod
    def of(cls, x: FloatArray, y: FloatArray, sampling: Sampling) -> Group:
        """Return the group of these values (rows × columns), NaN where missing."""
        return cls(GroupSample.of(x, sampling, 0), GroupSample.of(y, sampling, 1), sampling)

    @property
    def sides(self) -> tuple[GroupSample, GroupSample]:
        """Both samples."""
        return self.x, self.y

    @property
    def judged(self) -> bool:
        """Whether enough rows of both samples are informative about dependence."""
        return self.x.judged and self.y.judged

    @cached_property
    def correlations(self) -> dict[int, Correlation]:
        """The correlations of two columns: values, normal scores, then those of `MEASURES`.

        By their number; those that add nothing to that of the values are left out.
        """
        scores = [_pair_scores(side) for side in self.sides]
        used = np.logical_and(*(_varying(*pair) for pair in scores))
        return _correlations(self.sides, scores, self.sampling, used)


def correlation(group: Group) -> Estimate | None:
    """Return the difference of the correlations of two columns; None with too few rows."""
    if not group.judged:
        return None
    of_values, of_scores = group.correlations[0], group.correlations[1]
    return of_values.estimate("correlation", 1, of_scores.z_pvalue)


def dependence(group: Group) -> Estimate | None:
    """Return the most significant difference of other dependence between two columns.

    None with too few rows, and where ties leave nothing but the correlation to compare.
    """
    if not group.judged or min(side.n for side in group.sides) < FEWEST_FOR_DEPENDENCE:
        return None
    others = {k: found for k, found in group.correlations.items() if k > 1}
    if not others:
        return None
    best = min(others, key=lambda k: others[k].z_pvalue)
    return others[best].estimate(MEASURES[best - 2], len(others))


def three_way_interaction(group: Group) -> Estimate | None:
    """Return the difference of the three-way interaction of three columns; see `triple_effect`."""
    if not group.judged:
        return None
    means, influences, floors = [], [], []
    for side in group.sides:
        middle = np.median(side.values, axis=0)
        if group.sampling.ranked:
            own = side.weights[:, 0]
            middle = np.concatenate([weighted_quantiles(one, own, (0.5,)) for one in side.values.T])
        signs = np.sign(side.values - middle)
        scores = np.stack([signs, special.ndtri(side.ranks)], axis=1)
        if (np.ptp(scores, axis=0) == 0).any():
            return None
        mean, influence = _interaction(scores, side.weights)
        means.append(mean)
        influences.append(side.spread_out(influence))
        floors.append(_least_variance(side) * np.clip(1 - np.square(mean), 0, 1))
    errors = group.sampling.errors(influences[0], influences[1])
    estimates = []
    for j, measure in enumerate((SIGNS, SCORES)):
        precision = _with_floor(errors, j, (float(floors[0][j]), float(floors[1][j])))
        values = float(means[0][j]), float(means[1][j])
        estimates.append(
            t_estimate(measure, values, precision.length(*precision.deviations), precision.degrees)
        )
    best = min(estimates, key=lambda estimate: estimate.pvalue)
    return replace(
        best,
        pvalue=min(2 * best.pvalue, 1.0),
        limits=lambda confidence: best.limits(1 - (1 - confidence) / 2),
    )


def pair_effects(
    x: FloatArray, y: FloatArray, sampling: Sampling | None = None
) -> Mapping[str, Estimate]:
    """Return the effects of two columns: "correlation" and "dependence".

    Both are left out where too few rows are informative: rows in which both columns leave
    their most frequent value, in either sample; "dependence" also where ties leave nothing but the
    correlation to compare, as of two columns of 0 and 1.

    Parameters
    ----------
    x, y : arrays of two columns
        The values, NaN where missing. Rows that miss one of both are left out.
    sampling : Sampling or None
        How rows were drawn; None where they are independent.

    Returns
    -------
    mapping of str to Estimate
        The measure of "dependence" has {0} and {1} for the names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 100)
    >>> estimate = pair_effects(x, rng.normal(size=(80, 2)))["correlation"]
    >>> [round(value, 2) for value in (*estimate.values, *estimate.interval)]
    [0.81, -0.02, 0.62, 1.05]
    """
    group = Group.of(x, y, sampling or IndependentRows())
    effects = {"correlation": correlation(group), "dependence": dependence(group)}
    return {kind: estimate for kind, estimate in effects.items() if estimate is not None}


def triple_effect(
    x: FloatArray, y: FloatArray, sampling: Sampling | None = None
) -> Estimate | None:
    """Return the difference of the three-way interaction of three columns.

    None where too few rows are informative: rows in which all three leave their most
    frequent value. Parameters are those of `pair_effects`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x, y = rng.normal(size=(200, 3)), rng.normal(size=(200, 3))
    >>> x[:, 2] = np.abs(x[:, 2]) * np.sign(x[:, 0] * x[:, 1])
    >>> estimate = triple_effect(x, y)
    >>> estimate.measure, round(estimate.effect, 2), estimate.pvalue < 1e-9
    ('three-way interaction of signs', 0.84, True)
    """
    return three_way_interaction(Group.of(x, y, sampling or IndependentRows()))


def _pair_scores(side: GroupSample) -> tuple[FloatArray, FloatArray]:
    """Return what is correlated with what: values, normal scores, then those of `MEASURES`."""
    scores = special.ndtri(side.ranks)
    sizes, waves = np.abs(scores), np.cos(2 * np.pi * side.ranks)
    (a, b), (u, v), (s, t), (c, d) = side.values.T, scores.T, sizes.T, waves.T
    return np.stack([a, u, s, u, s, c], axis=1), np.stack([b, v, t, t, v, d], axis=1)


def _varying(first: FloatArray, second: FloatArray) -> BoolArray:
    """Return which correlations add to that of the values."""
    used = np.ones(first.shape[1], dtype=np.bool_)
    for scores, value, of_size in ((first, first[:, 1], (2, 4)), (second, second[:, 1], (2, 3))):
        size = scores[:, of_size[0]]
        if _nearly_linear(size, value):
            used[[*of_size, 5]] = False
    return used


def _nearly_linear(size: FloatArray, value: FloatArray) -> bool:
    a, b = size - size.mean(), value - value.mean()
    aa, bb = float(a @ a), float(b @ b)
    return aa <= ROUNDING * bb or float(a @ b) ** 2 > NEARLY_LINEAR * aa * bb


def _correlations(
    sides: tuple[GroupSample, GroupSample],
    scores: list[tuple[FloatArray, FloatArray]],
    sampling: Sampling,
    used: BoolArray,
) -> dict[int, Correlation]:
    """Return the correlations of those scores that are used, by their number."""
    edge = 1 - 1 / min(side.n for side in sides) ** 2
    r, influences = [], []
    for side, (first, second) in zip(sides, scores, strict=True):
        r_of_side, influence = z_influence(first[:, used], second[:, used], side.weights, edge)
        r.append(r_of_side)
        influences.append(side.spread_out(influence))
    errors = sampling.errors(influences[0], influences[1])
    floors = _least_variance(sides[0]), _least_variance(sides[1])
    correlations = {}
    for j, k in enumerate(np.flatnonzero(used).tolist()):
        of_x, of_y = float(r[0][j]), float(r[1][j])
        z = math.atanh(max(min(of_x, edge), -edge)), math.atanh(max(min(of_y, edge), -edge))
        correlations[k] = Correlation((of_x, of_y), z, _with_floor(errors, j, floors))
    return correlations


def z_influence(
    a: FloatArray, b: FloatArray, weights: FloatArray, edge: float
) -> tuple[FloatArray, FloatArray]:
    """Return r of each column of a with that of b, and the influence of rows on artanh r.

    r is kept within ±edge there, beyond which z has no scale.
    """
    a = a - (weights * a).sum(axis=0)
    b = b - (weights * b).sum(axis=0)
    aa, bb, ab = a * a, b * b, a * b
    saa, sbb, sab = ((weights * products).sum(axis=0) for products in (aa, bb, ab))
    r = np.clip(sab / np.sqrt(saa * sbb), -1.0, 1.0)
    odds = weights / (1 - weights)
    left = np.maximum(saa - odds * aa, ROUNDING * saa) * np.maximum(sbb - odds * bb, ROUNDING * sbb)
    without = np.clip((sab - odds * ab) / np.sqrt(left), -edge, edge)
    change = np.arctanh(np.clip(r, -edge, edge)) - np.arctanh(without)
    return r, change / np.where(odds > 0, odds, np.inf)


def _interaction(scores: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean product of three standardised columns, (rows × scores × 3), and influences.

    ψ = abc − κ − a·E[bc] − b·E[ac] − c·E[ab] − κ(a² + b² + c² − 3)/2, over 1 − w_i(1 + a² + b² +
    c²): rows far out are fitted by their own weight.
    """
    each = weights[:, :, np.newaxis]
    scores = scores - (each * scores).sum(axis=0)
    scores = scores / np.sqrt((each * np.square(scores)).sum(axis=0))
    a, b, c = np.moveaxis(scores, 2, 0)
    product = a * b * c
    mean = (weights * product).sum(axis=0)
    influence = product - mean
    for one, two in ((a, b * c), (b, a * c), (c, a * b)):
        influence -= one * (weights * two).sum(axis=0) + mean * (np.square(one) - 1) / 2
    leverage = weights * (1 + np.square(scores).sum(axis=2))
    return mean, influence / np.maximum(1 - leverage, 0.2)


def _with_floor(errors: Errors, j: int, floors: tuple[float, float]) -> Precision:
    """Return the standard deviations of both estimators, not below the floors."""
    v, w = (float(variance[j]) for variance in errors.variances)
    root = 2 * math.sqrt(v * w)
    shared = (v + w - float(errors.variance[j])) / root if root > 0 else 0.0
    a, b = max(v, floors[0]), max(w, floors[1])
    degrees = float(errors.difference_degrees[j])
    if abs(shared) < ROUNDING:
        shared = 0.0
        of_x, of_y = (float(degrees_of[j]) for degrees_of in errors.degrees)
        degrees = (a + b) ** 2 / (a * a / of_x + b * b / of_y)
    return Precision((math.sqrt(a), math.sqrt(b)), max(min(shared, 1.0), -1.0), degrees)


def _least_variance(side: GroupSample) -> float:
    rows = 1 / float(np.square(side.weights).sum())
    return max(side.most_frequent, LEAST_VARIANCE) / max(rows - 3, 1.0)


def _ranks(
    values: FloatArray, weights: FloatArray | None = None
) -> tuple[FloatArray, float, float]:
    """Return (rank − 1/2)/n of each value, the most frequent value, and its proportion.

    With weights, which add up to 1, the weight below each value and half of that at it.
    """
    n, order = values.size, values.argsort()
    rising = values[order]
    starts = np.flatnonzero(np.concatenate([[True], rising[1:] != rising[:-1]]))
    ends = np.append(starts[1:], n)
    counts = ends - starts
    ranks = np.empty(n)
    ranks[order] = np.repeat((starts + ends) / (2 * n), counts)
    if weights is not None:
        running = np.concatenate([[0.0], np.cumsum(weights[order])])
        running /= running[-1]
        ranks[order] = np.repeat((running[starts] + running[ends]) / 2, counts)
        best = int((running[ends] - running[starts]).argmax())
        share = float(running[ends[best]] - running[starts[best]])
        return ranks, float(rising[starts[best]]), share
    best = int(counts.argmax())
    return ranks, float(rising[starts[best]]), float(counts[best] / n)
