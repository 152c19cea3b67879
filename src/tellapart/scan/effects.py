"""How large a change is, in units people know, with a bootstrap interval.

Every effect is a function of means of features over each sample, and sums over bins are all that it
needs: a bootstrap draws bins. The same draws serve all effects of a result. The rows which keep
their labels count in the effect, not in its interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.compiling import compiled
from tellapart.permutation.bins import Singles
from tellapart.permutation.designed_bins import DesignedBins
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.permutation.shared_labels import SharedLabels
from tellapart.scan.designed_resamples import designed_sides

N_RESAMPLES = 999
COVERAGE = 0.95
LEAST_VARIANCE = 1e-12
# Samples that do not vary within themselves have no spread to count in but this share of the
# pooled one, which is 1.
LEAST_SHARE = 0.01

Measure = Callable[[FloatArray], FloatArray]
"""From means of features, shape (k, F), to k values."""
Counts = FloatArray | None
Sides = tuple[tuple[FloatArray, Counts], tuple[FloatArray, Counts]]
"""Sums of features over the bins of X and over those of Y, (bins + 1, F) each, and where values
may be missing how many rows are behind each sum."""


class Side(Protocol):
    """Bootstrap resamples of one sample."""

    def mean(self, sums: FloatArray, present: Counts) -> FloatArray:
        """Return the means over all rows that have the values, (1 × F)."""
        ...

    def means(self, sums: FloatArray, present: Counts) -> FloatArray:
        """Return the means of the resamples, (resamples × F)."""
        ...


class _Side:
    """Bootstrap resamples of the bins of one sample."""

    def __init__(self, n_rows: int, shares: FloatArray | Singles) -> None:
        self._n_rows = n_rows
        self._shares = shares

    def mean(self, sums: FloatArray, present: Counts) -> FloatArray:
        """Return the means over all rows that have the values, (1 × F)."""
        rows = self._n_rows if present is None else np.maximum(present.sum(axis=0), 1)
        return np.asarray(sums.sum(axis=0)[np.newaxis] / rows)

    def means(self, sums: FloatArray, present: Counts) -> FloatArray:
        """Return the means of the resamples, (resamples × F)."""
        found = self._weighted(sums)
        if present is not None:
            shares = self._weighted(present)
            found = np.divide(found, shares, out=np.zeros_like(found), where=shares > 0)
        return found

    def _weighted(self, sums: FloatArray) -> FloatArray:
        found = self._shares @ sums[:-1].astype(self._shares.dtype, copy=False)
        return np.asarray(found, dtype=np.float64)


class Resamples:
    """Bootstrap resamples of two samples, drawn once; under a design, of its blocks or units."""

    def __init__(self, bins: KeyedBins, rng: np.random.Generator) -> None:
        self.x: Side
        self.y: Side
        if isinstance(bins, DesignedBins):
            self.x, self.y = designed_sides(bins, N_RESAMPLES, rng)
        else:
            draw = _draw_quickly if isinstance(bins, SharedLabels) else _draw
            self.x, self.y = (
                _Side(rows, draw(count, bins.rows_per_bin, rng))
                for rows, count in zip(bins.n_rows_of, bins.n_bins_of, strict=True)
            )
        self.n_rows = bins.n_rows_of


def _draw(bins: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Return what each bin of `size` rows weighs in the mean of every resample."""
    counts = rng.multinomial(bins, np.full(bins, 1 / bins), size=N_RESAMPLES)
    return np.asarray(counts / (bins * size))


def _draw_quickly(bins: int, size: int, rng: np.random.Generator) -> Singles:
    """Return the same, bin by bin: in a tenth of the time, by other numbers of the same seed.

    In single precision, which is enough for an interval and half to read for each.
    """
    drawn = rng.integers(bins, size=(N_RESAMPLES, bins), dtype=np.uint16)
    shares = np.zeros((N_RESAMPLES, bins), dtype=np.float32)
    _add_shares(drawn, np.float32(1 / (bins * size)), shares)
    return shares


@compiled
def _add_shares(drawn, share, shares):  # type: ignore[no-untyped-def]  # pragma: no cover
    for k in range(drawn.shape[0]):
        for i in range(drawn.shape[1]):
            shares[k, drawn[k, i]] += share


@dataclass(frozen=True)
class Effect:
    """An effect, its interval, and the two values it compares."""

    effect: float
    interval: tuple[float, float]
    values: tuple[float, float]


def mean_shift(sums: Sides, drawn: Resamples) -> Effect:
    """Return the difference of the means, in units of the deviation within the samples."""
    n_x, n_y = drawn.n_rows

    def difference(of_x: FloatArray, of_y: FloatArray) -> FloatArray:
        pooled = (n_x * _variance(of_x) + n_y * _variance(of_y)) / (n_x + n_y)
        pooled = np.maximum(pooled, LEAST_SHARE**2)
        return np.asarray((of_x[:, 0] - of_y[:, 0]) / np.sqrt(pooled))

    return _bootstrap(sums, difference, share, drawn)


def spread_ratio(sums: Sides, drawn: Resamples) -> Effect:
    """Return the ratio of the deviations within the samples."""

    def ratio(of_x: FloatArray, of_y: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(_variance(of_x) / _variance(of_y)))

    return _bootstrap(sums, ratio, lambda means: np.sqrt(_variance(means)), drawn)


def difference_of(measure: Measure, sums: Sides, drawn: Resamples) -> Effect:
    """Return the difference of a measure of the means of features."""
    return _bootstrap(sums, lambda of_x, of_y: measure(of_x) - measure(of_y), measure, drawn)


def share(means: FloatArray) -> FloatArray:
    """Return the mean of the first feature."""
    return np.asarray(means[:, 0])


def skewness(means: FloatArray) -> FloatArray:
    """Return the third standardised moment, from the means of v, v², v³, v⁴."""
    m, second, third = means[:, 0], means[:, 1], means[:, 2]
    return np.asarray((third - 3 * m * second + 2 * m**3) / _variance(means) ** 1.5)


def kurtosis(means: FloatArray) -> FloatArray:
    """Return the fourth standardised moment; a normal variable has 3."""
    m, second, third, fourth = means.T
    central = fourth - 4 * m * third + 6 * m**2 * second - 3 * m**4
    return np.asarray(central / np.square(_variance(means)))


def correlation(means: FloatArray) -> FloatArray:
    """Return the correlation of a and b, from the means of a, a², b, b², ab."""
    spread = _variance(means[:, :2]) * _variance(means[:, 2:4])
    return np.asarray((means[:, 4] - means[:, 0] * means[:, 2]) / np.sqrt(spread))


def _variance(means: FloatArray) -> FloatArray:
    return np.maximum(means[:, 1] - np.square(means[:, 0]), LEAST_VARIANCE)


def _bootstrap(
    sums: Sides,
    effect: Callable[[FloatArray, FloatArray], FloatArray],
    measure: Measure,
    drawn: Resamples,
) -> Effect:
    x, y = drawn.x.mean(*sums[0]), drawn.y.mean(*sums[1])
    again = effect(drawn.x.means(*sums[0]), drawn.y.means(*sums[1]))
    edge = (1 - COVERAGE) / 2
    low, high = np.quantile(again, [edge, 1 - edge])
    values = float(measure(x)[0]), float(measure(y)[0])
    return Effect(float(effect(x, y)[0]), (float(low), float(high)), values)
