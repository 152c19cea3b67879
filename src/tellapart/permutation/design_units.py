"""Labels by the design of a study: its units in place of bins, permuted within its blocks.

Without a design all scores have variance 1 in the pooled rows, and δ has one deviation for all of
them. Under a design it has not: where pairs agree closely in one column, a tiny shift of it is
significant, and would be lost beside columns in which pairs agree less. So each change is
multiplied by

    √(1/n_x + 1/n_y) / (its deviation over the permutations of the design),

known in closed form (`tellapart.permutation.design.Units`) and without a look at labels. A change
that is no mean of a feature, such as that of a correlation, has the deviation of the feature it
moves with to first order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.data.design import Design
from tellapart.data.samples import Samples
from tellapart.permutation.conditional import ConditionalUnits
from tellapart.permutation.design import (
    Units,
    permute_units,
    units_of,
    weighed,
    weighed_by_rows,
)
from tellapart.permutation.labels import (
    Bins,
    TwoSampleSums,
    UnitSums,
    arranged_labels,
    draw_arrangement,
    draw_bins,
    quadratic_forms,
)
from tellapart.permutation.pvalues import beyond_rounding

# Sums that are adjusted at a time, 64 MB in double precision.
ENTRIES = 8_000_000
# A deviation below this share of the largest sum is rounding.
FLAT = 1e-6
# The share of its terms that rounding makes of a form in double precision.
ROUNDING = 1e-12
LEAST_VARIANCE = 1e-6
FEWEST_VARIANCES = 10
"""Variances that are drawn towards each other, at least."""
MOST_FREEDOM = 1_000.0
"""Degrees of freedom that variances of other features can add, at most."""


@dataclass(frozen=True, eq=False)
class DesignUnits(Bins):
    """The units of a design as bins, in place of bins of any rows.

    Attributes
    ----------
    units : Units
        Which rows move together, and in which block.
    places : pair of arrays
        The place of every row of X and of Y within its unit.
    """

    units: Units
    places: tuple[IntArray, IntArray]

    by_design: ClassVar[bool] = True

    @property
    def full(self) -> bool:
        """Squares and the like are summed over every unit: they are adjusted as sums are."""
        return True

    @property
    def largest(self) -> int:
        """Rows of the largest unit that is permuted."""
        return int(self.units.rows[self.units.moved].max())

    @property
    def mean_rows(self) -> float:
        """What a unit that is permuted counts for on average, in rows."""
        return float(self.units.counts[self.units.moved].mean())

    @property
    def fewest(self) -> int:
        """Units of the smaller sample: what does not depend on which units are those of x."""
        return min(self.n_moved_of)

    @property
    def n_moved_of(self) -> tuple[int, int]:
        """Units of X and of Y that are permuted; those that keep their labels come after them."""
        return self.units.n_moved

    @cached_property
    def log_labellings(self) -> float:
        """The logarithm of the number of all labellings; of an own scheme, of those drawn."""
        if self.units.scheme is not None:
            return math.log(self.count)
        return sum(
            math.lgamma(x + y + 1) - math.lgamma(x + 1) - math.lgamma(y + 1)
            for x, y in self.units.shapes.T.tolist()
        )

    @cached_property
    def counts(self) -> tuple[Singles, Singles]:
        """What counts as x and as y, in rows, of every permutation."""
        of_x = self.labels @ self.arranged_units.counts.astype(np.float32)
        return of_x, np.float32(self.n_rows) - of_x

    @property
    def true_counts(self) -> tuple[float, float]:
        """What counts as x and as y by the true labels, in rows."""
        of_x, of_y = self.counts
        return float(of_x[0]), float(of_y[0])

    @cached_property
    def arranged_units(self) -> Units:
        """The units in the arrangement of the labels."""
        return self.units.arranged(self.order)

    def of_rows(self, sample: int, first_row: int, count: int) -> tuple[IntArray, IntArray]:
        """Return the units of some rows, counted within their sample, and their places in them."""
        rows = slice(first_row, first_row + count)
        first = sample * self.n_bins_of[0]
        return self.units.of_rows[sample][rows] - first, self.places[sample][rows]

    def weights_within(self, sample: int, first_row: int, count: int) -> FloatArray | None:
        """Return what some rows count for in their unit, whose mean is 1; None where all do."""
        within = self.units.within
        return None if within is None else within[sample][first_row : first_row + count]

    def further(self, count: int, rng: np.random.Generator) -> DesignUnits | None:
        """Return so many further permutations of the labels of the units.

        None where all are here, or where a scheme of the user draws them: its draws need not be
        exchangeable with those of an earlier call.
        """
        if self.exact or self.units.scheme is not None:
            return None
        drawn = permute_units(self.units, count, rng)
        if drawn.exact:
            return None
        return replace(self, labels=arranged_labels(drawn, self.order)[1:])

    def adjust(self, x: Singles, y: Singles) -> None:
        """Adjust sums over the bins of X and of Y, (bins + 1, F) each, in place.

        The last is empty, for rows that keep their labels are in units of their blocks. Sums are
        multiplied by the weights of the units' rows, and centred within blocks.
        """
        if self.units.row_weights is not None and x.size:
            of_x, of_y = np.split(self.units.row_weights, [self.n_bins_of[0]])
            x[:-1] *= of_x[:, np.newaxis].astype(np.float32)
            y[:-1] *= of_y[:, np.newaxis].astype(np.float32)
        if not self.units.adjusts:
            return
        for some in self._parts(x.shape[1]):
            sums = np.concatenate([x[:-1, some], y[:-1, some]]).astype(np.float64)
            x[:-1, some], y[:-1, some] = np.split(self.units.centre(sums), [self.n_bins_of[0]])

    def null_scale(
        self, sums: UnitSums, pooled: FloatArray | Singles | None = None
    ) -> FloatArray | Singles | None:
        """Return what δ of each feature is multiplied by; 0 for what cannot change."""
        scales = self._scales(sums)
        return scales if pooled is None else np.where(pooled > 0, scales, pooled)

    def null_moments(
        self,
        sums: TwoSampleSums,
        mean: FloatArray,  # noqa: ARG002
        deviation: FloatArray,
    ) -> tuple[FloatArray, FloatArray] | None:
        """Return mean and deviation of δ in the units of `null_scale`, where blocks decide both."""
        if sums.present is not None or self.units.scheme is not None:
            return None
        none = np.zeros(sums.size)
        return none, np.where(deviation > 0, self.units.unit, none)

    def null_mean_squares(self, sums: UnitSums) -> FloatArray | None:
        """Return the mean of δ² of each feature over the permutations, per 1/n_x + 1/n_y."""
        squares = np.empty(sums.size)
        for some in self._parts(sums.size):
            spread = self.units.spread_out(sums.stacked(some))
            squares[some] = np.square(np.sqrt(np.square(spread).sum(axis=0)))
        return squares / self.units.unit**2

    def zscores(self, sums: TwoSampleSums) -> FloatArray:
        """Return z-scores of the changes of features with the tails of the normal distribution.

        Each change is divided by its deviation within the samples (`Units.changes`), its own and
        one moderated by all features, and bent from Student's t to the normal distribution. The
        smaller counts: neither a deviation that is small by chance nor one that is truly larger
        than those of other features makes a change significant. 0 for what cannot change.
        """
        change, variance = np.zeros(sums.size), np.zeros(sums.size)
        for some in self._parts(sums.size):
            change[some], rest = self.units.changes(sums.stacked(some))
            variance[some] = np.square(rest).sum(axis=0)
        # Where the samples do not overlap, nothing may be left within them but rounding.
        variance = np.maximum(variance, LEAST_VARIANCE * change**2)
        varies = self._scales(sums) > 0
        change, variance = change[varies], variance[varies]
        unmoderated = normal_tail(change / np.sqrt(variance), self.units.freedom)
        variance, freedom = moderated(variance, self.units.freedom)
        drawn = normal_tail(change / np.sqrt(variance), freedom)
        zscores = np.zeros(sums.size)
        zscores[varies] = np.where(np.abs(unmoderated) < np.abs(drawn), unmoderated, drawn)
        return zscores

    def product_zscores(self, zscores: FloatArray, sums: UnitSums, kept: IntArray) -> FloatArray:
        """Return z-scores in units of the deviation within the samples of some of the products."""
        n_x, n_y = self.true_counts
        changes = zscores * self._scales(sums, within=True)[kept]
        changes = changes * np.sqrt(1 / n_x + 1 / n_y) / self.units.unit
        # Products have heavier tails than their columns: as if the units were half as many.
        return normal_tail(changes, max(self.units.freedom / 2, 1.0))

    def quadratic(
        self,
        matrix: FloatArray,
        *,
        rows: float | FloatArray = 1.0,  # noqa: ARG002
        adjusted: bool = False,
        n_jobs: int = 1,
    ) -> FloatArray:
        """Return wᵀMw of every permutation, of a matrix M of the units as they are numbered.

        Where M is not made of `adjusted` sums, weights are centred within blocks, and units that
        keep their labels do not count.
        """
        units = self.arranged_units
        weights = (
            units.weights(self.labels)
            if adjusted
            else units.only_moved().centred_weights(self.labels)
        )
        matrix = matrix[np.ix_(self.order, self.order)]
        forms = quadratic_forms(matrix, weights, n_jobs)
        terms = float(np.abs(matrix).sum()) * float(np.square(weights).max())
        return beyond_rounding(forms, ROUNDING * terms)

    def _scales(self, sums: UnitSums, *, within: bool = False) -> Singles:
        """Return the scales by the deviation over permutations, or by that within the samples."""
        scales = np.zeros(sums.size, dtype=np.float32)
        units = self.units
        for some in self._parts(sums.size):
            stacked = sums.stacked(some)
            moved = units.changes(stacked)[1] if within else units.spread_out(stacked)
            deviation = np.sqrt(np.square(moved).sum(axis=0))
            # Sums in single precision: a deviation of their rounding is none.
            noise = (
                FLAT
                * np.abs(stacked[units.moved]).max(axis=0, initial=0.0)
                * units.unit**2
                * math.sqrt(stacked.shape[0])
            )
            still = deviation <= np.maximum(noise, np.finfo(np.float64).tiny)
            scales[some] = np.where(still, 0.0, units.unit / np.where(still, 1.0, deviation))
        return scales

    def _parts(self, n_features: int) -> Iterator[slice]:
        """Return as many features at a time as memory is meant for."""
        step = max(ENTRIES // max(self.n_bins, 1), 1)
        for start in range(0, n_features, step):
            yield slice(start, min(start + step, n_features))


def design_units(design: Design, rng: np.random.Generator) -> Units:
    """Return the units of a design, with what their rows count for."""
    units = units_of(design, rng)
    if design.weights is not None:
        return weighed_by_rows(units, design.weights)
    units = weighed(units, design.likeness)
    if design.adjustment is None:
        return units
    return ConditionalUnits.of(units, design.adjustment)


def draw_design_units(design: Design, n_permutations: int, rng: np.random.Generator) -> DesignUnits:
    """Return the units of a design and permutations of their labels; all of them where few."""
    units = design_units(design, rng)
    drawn = permute_units(units, n_permutations, rng)
    arrangement = draw_arrangement(units.size, rng)
    n_x, n_y = (rows.size for rows in units.of_rows)
    return DesignUnits(
        n_rows_of=(n_x, n_y),
        n_bins_of=units.n_units,
        rows_per_bin=units.together,
        seed=0,
        labels=arranged_labels(drawn, arrangement),
        exact=drawn.exact,
        arrangement=arrangement,
        units=units,
        places=(_places_within(units.of_rows[0]), _places_within(units.of_rows[1])),
    )


def draw_labels(samples: Samples, n_permutations: int, rng: np.random.Generator) -> Bins:
    """Return bins of any rows of the samples, or the units of their design, with permutations."""
    if samples.design is not None:
        return draw_design_units(samples.design, n_permutations, rng)
    return draw_bins(*samples.n_read, n_permutations, rng, samples.n_columns)


def true_labels(samples: Samples) -> Bins:
    """Return labels of which the true ones alone are used: deviations have a closed form.

    Without a design there are no bins at all: every row is one of those that keep their labels.
    """
    if samples.design is not None:
        return draw_design_units(samples.design, 1, np.random.default_rng(0))
    return Bins.of_single_rows(samples.n_read, bins=(0, 0))


def _places_within(unit: IntArray) -> IntArray:
    """Return how many rows of the same unit come before each row."""
    order = np.argsort(unit, kind="stable")
    rising = unit[order]
    start = np.flatnonzero(np.concatenate([[True], rising[1:] != rising[:-1]]))
    sizes = np.diff(start, append=unit.size)
    places = np.empty(unit.size, dtype=np.intp)
    places[order] = np.arange(unit.size) - np.repeat(start, sizes)
    return places


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
    positive = variances > 0
    if np.count_nonzero(positive) < FEWEST_VARIANCES:
        return variances, freedom
    logs = np.log(variances[positive]) - special.digamma(freedom / 2) + math.log(freedom / 2)
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
