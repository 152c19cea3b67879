"""An effect size with its test and its confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy import sparse, special

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.data.adjustment import Adjustment
from tellapart.data.design import Design

CONFIDENCE = 0.95

Limits = Callable[[float], tuple[float, float]]
"""From a confidence level to the interval of the effect at that level."""


@dataclass(frozen=True)
class Estimate:
    """One effect: what it compares, how large it is, and with what precision.

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
    detail : str
        What else there is to know, in words.
    regions : tuple
        Where a joint distribution differs (`tellapart.effects.regions.Region`), strongest first.
    """

    measure: str
    effect: float
    values: tuple[float, float]
    pvalue: float
    limits: Limits = field(repr=False)
    null: float = 0.0
    detail: str = ""
    regions: tuple[Any, ...] = ()

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval."""
        return self.limits(CONFIDENCE)

    def interval_for(self, n_effects: int) -> tuple[float, float]:
        """Return the interval that holds for so many effects at once, by Bonferroni's bound."""
        return self.limits(1 - (1 - CONFIDENCE) / max(n_effects, 1))

    def pvalue_beyond(self, size: float) -> float:
        """Return the two-sided p-value of an effect of at most this size, in either direction.

        Of a ratio, of one between 1/size and size. It is 1 − the largest level at which the
        interval lies beyond the size, and never smaller than that of no difference.

        >>> estimate = t_estimate("mean", (1.0, 0.0), 0.25, 60.0)
        >>> round(estimate.pvalue_beyond(0.5), 4), estimate.pvalue_beyond(1.5)
        (0.05, 1.0)
        """
        ratio = self.null == 1
        first = self.effect > self.null
        edge = (size if first else 1 / size) if ratio else math.copysign(size, self.effect)

        def beyond(pvalue: float) -> bool:
            low, high = self.limits(1 - pvalue)
            return low > edge if first else high < edge

        low, high = math.log(LEAST_PVALUE), 0.0
        if not beyond(1 - 1e-9) or not math.isfinite(edge):
            return 1.0
        if not beyond(LEAST_PVALUE):
            while high - low > 1e-6:
                middle = (low + high) / 2
                low, high = (low, middle) if beyond(math.exp(middle)) else (middle, high)
            return max(math.exp(high), self.pvalue)
        return max(LEAST_PVALUE, self.pvalue)


LEAST_PVALUE = 1e-15
"""A smaller one cannot be told from 0 by 1 − p."""


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


# How rows were sampled: what each counts for, and which of them are independent.
#
# An estimator θ̂ of one sample is, up to terms of higher order, θ + Σ_i w_i ψ_i with weights w_i
# that add up to 1 and ψ_i the influence of row i on it. Its variance is that of the sums of w_i
# ψ_i over independent units:
#
#     rows        w = 1/n;                         Σ ψ_i² / (n (n − 1))
#     clusters    w = 1/n;                         G/(G − 1) Σ_g (Σ_{i∈g} w_i ψ_i)²
#     strata      w = ω_h/n_h, Σ_h ω_h = 1;        the same, within each stratum about its mean
#     pairs       w = 1/n;                         that of the differences within pairs
#
# Weights of rows, as of a survey, take the place of 1/n, and the variances are those of the
# linearised estimators, Σ_g (Σ_{i∈g} w_i ψ_i)²/(1 − W_g) with W_g the weight of a unit: HC2 of
# weighted least squares, and what is above where all weigh the same. Degrees of freedom are Kish's
# effective number of units, 1/Σ_g W_g², less one.
#
# ω_h ∝ n_xh n_yh/(n_xh + n_yh): both samples count strata alike, so that strata which differ from
# each other make no difference between the samples. Strata that are small on average are treated as
# pairs are: the difference within each is one independent value.


FEWEST_UNITS = 5
"""Units of the smaller sample in a block on average, below which blocks are independent values."""
LEAST_DEGREES = 1.0
ROUNDING = 1e-12


@dataclass(frozen=True)
class Errors:
    """Variances of the estimators of the two samples and of their difference, with degrees.

    Each is an array with one entry per estimator; those of `difference` are the sum of the other
    two unless the samples depend on each other.
    """

    variances: tuple[FloatArray, FloatArray]
    degrees: tuple[FloatArray, FloatArray]
    variance: FloatArray
    difference_degrees: FloatArray

    @property
    def standard_error(self) -> FloatArray:
        """The standard error of the difference."""
        return np.sqrt(self.variance)


class Sampling(Protocol):
    """What a way of sampling gives."""

    @property
    def dependent(self) -> bool:
        """Whether the samples depend on each other, as pairs do."""
        ...

    @property
    def standardised(self) -> bool:
        """Whether rows of a sample count differently, so that strata count alike in both."""
        ...

    @property
    def weighted(self) -> bool:
        """Whether rows have weights of their own, which every estimate takes into account."""
        ...

    @property
    def ranked(self) -> bool:
        """Whether ranks, quantiles and effective numbers of rows are those of weighted rows."""
        ...

    @property
    def words(self) -> tuple[str, str]:
        """What follows a measure where it is standardised, and a correlation then."""
        ...

    def within_strata(self, sample: int, values: FloatArray) -> FloatArray:
        """Return values (rows × columns) less the means of the sample within each stratum."""
        ...

    def weights(self, sample: int, values: FloatArray) -> FloatArray:
        """Return the weights of rows of a sample, in the shape of `values`, 0 where NaN.

        They add up to 1 down every column that has values.
        """
        ...

    def errors(self, influence_x: FloatArray, influence_y: FloatArray) -> Errors:
        """Return the variances, from ψ (rows × estimators) of both samples, NaN where missing."""
        ...

    def parts(self, influence_x: FloatArray, influence_y: FloatArray) -> FloatArray:
        """Return what independent units add to the differences, (units × estimators).

        Their squares add up to the variances of the differences, so that sums with random
        multipliers of mean 0 and variance 1 vary as the differences do, together.
        """
        ...


class IndependentRows:
    """Every row is independent of all others; values may be missing."""

    dependent = False
    standardised = False
    weighted = False
    ranked = False
    words = ("", "")

    def within_strata(self, sample: int, values: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return values less their means."""
        return np.asarray(values - np.nanmean(values, axis=0))

    def weights(self, sample: int, values: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return 1/n for each of n values of a column, 0 where missing."""
        present = ~np.isnan(values)
        return np.asarray(present / np.maximum(present.sum(axis=0), 1))

    def errors(self, influence_x: FloatArray, influence_y: FloatArray) -> Errors:
        """Return Σψ²/(n(n − 1)) of each sample, and Welch's degrees of their sum."""
        variances, degrees = [], []
        for influence in (influence_x, influence_y):
            present = ~np.isnan(influence)
            n = present.sum(axis=0).astype(np.float64)
            squares = np.square(np.where(present, influence, 0.0)).sum(axis=0)
            variances.append(squares / np.maximum(n * (n - 1), 1))
            degrees.append(np.maximum(n - 1, LEAST_DEGREES))
        return independent_errors(variances[0], variances[1], degrees[0], degrees[1])

    def parts(self, influence_x: FloatArray, influence_y: FloatArray) -> FloatArray:
        """Return ±ψ/√(n(n − 1)) of every row, 0 where missing."""
        parts = []
        for influence, sign in ((influence_x, 1.0), (influence_y, -1.0)):
            n = (~np.isnan(influence)).sum(axis=0).astype(np.float64)
            parts.append(np.nan_to_num(influence) * (sign / np.sqrt(np.maximum(n * (n - 1), 1))))
        return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class DesignedRows:
    """Rows of a design: strata, pairs, clusters. No value is missing.

    `row_weights` are those of X and of Y, `units` and `blocks` of each row are numbered from 0,
    those of blocks over both samples.
    """

    row_weights: tuple[FloatArray, FloatArray]
    units: tuple[IntArray, IntArray]
    blocks: tuple[IntArray, IntArray]
    dependent: bool
    weighted: bool = False

    @property
    def ranked(self) -> bool:
        """Whether ranks, quantiles and effective numbers of rows are those of weighted rows."""
        return self.weighted

    @property
    def words(self) -> tuple[str, str]:
        """What follows a measure where it is standardised, and a correlation then."""
        return ", standardised to the strata", " within strata"

    @property
    def standardised(self) -> bool:
        """Whether rows of a sample count differently by their strata."""
        if self.weighted and not max(int(own.max()) for own in self.blocks):
            return False
        return any(bool(np.ptp(own) > 1e-9 * own.max()) for own in self.row_weights)

    def within_strata(self, sample: int, values: FloatArray) -> FloatArray:
        """Return values less the means of the sample within each stratum."""
        blocks = self.blocks[sample]
        n_blocks = int(blocks.max()) + 1
        if self.weighted:
            own = self.row_weights[sample]
            totals = np.bincount(blocks, own, minlength=n_blocks)[:, np.newaxis]
            sums = _sums(blocks, own[:, np.newaxis] * values, n_blocks)
            return np.asarray(values - (sums / np.where(totals > 0, totals, 1.0))[blocks])
        counts = np.maximum(np.bincount(blocks, minlength=n_blocks), 1)[:, np.newaxis]
        return np.asarray(values - (_sums(blocks, values, n_blocks) / counts)[blocks])

    def weights(self, sample: int, values: FloatArray) -> FloatArray:
        """Return the weights of the rows, the same for every column."""
        own = self.row_weights[sample].reshape((-1,) + (1,) * (values.ndim - 1))
        return np.broadcast_to(own, values.shape)

    def errors(self, influence_x: FloatArray, influence_y: FloatArray) -> Errors:
        """Return the variances of sums over units, within their blocks."""
        weighted = self._weighted(influence_x, influence_y)
        if self.dependent:
            x, y = self._by_block(weighted)
            n_blocks = len(x)
            factor = n_blocks / max(n_blocks - 1, 1)
            of_x, of_y, both = (factor * np.square(part).sum(axis=0) for part in (x, y, x - y))
            most = n_blocks - 1.0
            if self.weighted:
                most = min(self._effective(0), self._effective(1)) - 1
            degrees = np.full(both.shape, max(most, LEAST_DEGREES))
            return Errors((of_x, of_y), (degrees, degrees), both, degrees)
        parts = [
            _within_blocks(self.blocks[k], self.units[k], own, self._leverage(k))
            for k, own in enumerate(weighted)
        ]
        if self.weighted:
            parts = [
                (of, np.clip(degrees, LEAST_DEGREES, max(self._effective(k) - 1, LEAST_DEGREES)))
                for k, (of, degrees) in enumerate(parts)
            ]
        return independent_errors(parts[0][0], parts[1][0], parts[0][1], parts[1][1])

    def parts(self, influence_x: FloatArray, influence_y: FloatArray) -> FloatArray:
        """Return the sums over units, about the means of their blocks."""
        weighted = self._weighted(influence_x, influence_y)
        if self.dependent:
            x, y = self._by_block(weighted)
            return np.asarray(math.sqrt(len(x) / max(len(x) - 1, 1)) * (x - y))
        centred = []
        for k, own in enumerate(weighted):
            deviations, block, size = _deviations(
                self.blocks[k], self.units[k], own, self._leverage(k)
            )
            scale = np.sqrt(np.where(size > 1, size / np.maximum(size - 1, LEAST_DEGREES), 1.0))
            centred.append(deviations * scale[block, np.newaxis])
        return np.concatenate([centred[0], -centred[1]])

    def _effective(self, sample: int) -> float:
        """Return Kish's effective number of independent units."""
        units = self.blocks if self.dependent else self.units
        return float(1 / np.square(np.bincount(units[sample], self.row_weights[sample])).sum())

    def _weighted(
        self, influence_x: FloatArray, influence_y: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        x, y = self.row_weights
        return x[:, np.newaxis] * influence_x, y[:, np.newaxis] * influence_y

    def _leverage(self, sample: int) -> FloatArray | None:
        """Return √((1 − 1/G)/(1 − W)) of every unit, W its share of its block of G units."""
        if not self.weighted:
            return None
        units, blocks, own = self.units[sample], self.blocks[sample], self.row_weights[sample]
        block = np.zeros(int(units.max()) + 1, dtype=np.intp)
        block[units] = blocks
        size = np.bincount(block)[block]
        share = np.bincount(units, own) / np.bincount(blocks, own)[block]
        left = np.maximum(1 - share, ROUNDING)
        return np.where(size > 1, np.sqrt((1 - 1 / size) / left), 1.0)

    def _by_block(self, weighted: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        """Return the sums of each sample over the rows of every block."""
        n_blocks = 1 + max(int(blocks.max()) for blocks in self.blocks)
        x, y = (
            _sums(blocks, own, n_blocks) for blocks, own in zip(self.blocks, weighted, strict=True)
        )
        return x, y


@dataclass(frozen=True, eq=False, kw_only=True)
class AdjustedRows(DesignedRows):
    """Rows that are compared given covariates: each counts for its overlap weight.

    As the weights balance functions b of the covariates, what b explains of the influences cancels
    between the samples. Errors are those of the rest; b is regressed on, over both samples, with
    the weights of the rows.
    """

    functions: tuple[FloatArray, FloatArray]

    @property
    def words(self) -> tuple[str, str]:
        """What follows a measure, and a correlation."""
        return ", adjusted", " given the covariates"

    @property
    def ranked(self) -> bool:
        """Ranks, quantiles and effective numbers of rows are those of weighted rows."""
        return True

    @property
    def standardised(self) -> bool:
        """Rows count differently, and no covariate makes a difference between the samples."""
        return True

    def within_strata(self, sample: int, values: FloatArray) -> FloatArray:
        """Return values less their regression on the covariates within the sample."""
        turned = self._turned(self.functions[sample], self.row_weights[sample])
        root = np.sqrt(self.row_weights[sample])[:, np.newaxis]
        explained = turned @ (turned.T @ (values * root))
        return np.asarray(values - explained / np.where(root > 0, root, 1.0))

    @staticmethod
    def _turned(functions: FloatArray, weights: FloatArray) -> FloatArray:
        left, values, _ = np.linalg.svd(
            functions * np.sqrt(weights)[:, np.newaxis], full_matrices=False
        )
        return np.asarray(left[:, values > 1e-7 * values[0]])

    def _weighted(
        self, influence_x: FloatArray, influence_y: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        weights = np.concatenate(self.row_weights)
        functions = np.concatenate(self.functions)
        turned, root = self._turned(functions, weights), np.sqrt(weights)[:, np.newaxis]
        rest = np.concatenate([influence_x, influence_y]) * root
        rest -= turned @ (turned.T @ rest)
        # Rows that follow many functions closely vary less about them than about the truth.
        lost = np.minimum(np.square(turned).sum(axis=1, keepdims=True), MOST_LOST)
        x, y = np.split(rest * root / np.sqrt(1 - lost), [influence_x.shape[0]])
        return x, y


MOST_LOST = 0.9
"""The share of a row's own variation that the covariates may take, at most."""


def sampling_of(design: Design | None) -> Sampling:
    """Return how the rows of samples with this design were drawn."""
    if design is None:
        return IndependentRows()
    if design.adjustment is not None:
        return _adjusted_rows(design, design.adjustment)
    names = np.unique(np.concatenate(design.blocks))
    x, y = (np.searchsorted(names, blocks) for blocks in design.blocks)
    counts = np.stack([np.bincount(blocks, minlength=names.size) for blocks in (x, y)])
    both = counts.min(axis=0) > 0
    shared = np.where(both, counts[0] * counts[1] / np.maximum(counts.sum(axis=0), 1), 0.0)
    shared = shared / shared.sum()
    weights = [
        (shared / np.maximum(count, 1))[blocks]
        for blocks, count in zip((x, y), counts, strict=True)
    ]
    if design.weights is not None:
        weights = _weighted_strata((x, y), design.weights, both)
    units = [np.unique(units, return_inverse=True)[1] for units in design.units]
    smallest = np.stack(
        [_units_in_blocks(b, u, names.size) for b, u in zip((x, y), units, strict=True)]
    ).min(axis=0)
    dependent = design.paired is not None or (
        names.size > 1 and float(smallest.mean()) < FEWEST_UNITS
    )
    weighted = design.weights is not None
    return DesignedRows((weights[0], weights[1]), (units[0], units[1]), (x, y), dependent, weighted)


def _weighted_strata(
    blocks: tuple[IntArray, IntArray], weights: tuple[FloatArray, FloatArray], both: BoolArray
) -> list[FloatArray]:
    """Return weights of rows that add up to 1, those of each stratum to the same in both samples.

    Strata count by their weight in both samples as they count by their rows without weights.
    """
    totals = np.stack(
        [np.bincount(k, own, minlength=both.size) for k, own in zip(blocks, weights, strict=True)]
    )
    all_rows = np.where(totals.sum(axis=0) > 0, totals.sum(axis=0), 1.0)
    shared = np.where(both, totals[0] * totals[1] / all_rows, 0.0)
    shared = shared / shared.sum()
    return [
        own * (shared / np.where(total > 0, total, 1.0))[k]
        for k, own, total in zip(blocks, weights, totals, strict=True)
    ]


def _adjusted_rows(design: Design, adjustment: Adjustment) -> AdjustedRows:
    units = [np.unique(units, return_inverse=True)[1] for units in design.units]
    one_block = [np.zeros(own.size, dtype=np.intp) for own in units]
    functions = np.split(adjustment.functions[:, :-1], [units[0].size])
    return AdjustedRows(
        row_weights=adjustment.balanced_weights,
        units=(units[0], units[1]),
        blocks=(one_block[0], one_block[1]),
        dependent=False,
        functions=(functions[0], functions[1]),
    )


def independent_errors(
    of_x: FloatArray, of_y: FloatArray, degrees_x: FloatArray, degrees_y: FloatArray
) -> Errors:
    """Return the errors of estimators of two independent samples, from variances and degrees."""
    both = of_x + of_y
    spent = np.square(of_x) / degrees_x + np.square(of_y) / degrees_y
    shared = np.square(both) / np.where(spent > 0, spent, 1.0)
    degrees = np.where(spent > 0, np.maximum(shared, LEAST_DEGREES), degrees_x + degrees_y)
    return Errors((of_x, of_y), (degrees_x, degrees_y), both, degrees)


def _within_blocks(
    blocks: IntArray, units: IntArray, weighted: FloatArray, leverage: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """Return the variance of Σ over units, and its degrees, from units within their blocks."""
    deviations, block, size = _deviations(blocks, units, weighted, leverage)
    squares = _sums(block, np.square(deviations), size.size)
    degrees = np.maximum(size - 1, LEAST_DEGREES)
    variance = squares * np.where(size > 1, size / degrees, 1.0)[:, np.newaxis]
    total = variance.sum(axis=0)
    spent = (np.square(variance) / degrees[:, np.newaxis]).sum(axis=0)
    shared = np.square(total) / np.where(spent > 0, spent, 1.0)
    return total, np.where(spent > 0, np.maximum(shared, LEAST_DEGREES), degrees.sum())


def _deviations(
    blocks: IntArray, units: IntArray, weighted: FloatArray, leverage: FloatArray | None
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return the sums over units less the means of their blocks, their blocks, and units of each.

    One unit alone has nothing to vary about but the mean of all, which is 0. `leverage` is what
    deviations are multiplied by, where units have weights.
    """
    n_units = int(units.max()) + 1
    block = np.zeros(n_units, dtype=np.intp)
    block[units] = blocks
    sums = _sums(units, weighted, n_units)
    size = np.bincount(block).astype(np.float64)
    mean = _sums(block, sums, size.size) / np.maximum(size, 1)[:, np.newaxis]
    mean[size < 2] = 0.0
    deviations = sums - mean[block]
    return deviations if leverage is None else deviations * leverage[:, np.newaxis], block, size


def _sums(index: IntArray, values: FloatArray, size: int) -> FloatArray:
    """Return the sums of rows with the same index, (size × columns)."""
    rows = np.arange(index.size)
    adding = sparse.csr_array((np.ones(index.size), (index, rows)), shape=(size, index.size))
    return np.asarray(adding @ values)


def _units_in_blocks(blocks: IntArray, units: IntArray, n_blocks: int) -> IntArray:
    pairs = np.unique(np.column_stack([blocks, units]), axis=0)
    return np.bincount(pairs[:, 0], minlength=n_blocks)
