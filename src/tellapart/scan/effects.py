"""How large a change is, in units people know, with a bootstrap interval.

Every effect is a function of means over each sample, so a bootstrap needs no more than weighted
means: rows are put at random into at most `MOST_BINS` bins of each sample, and bins are drawn. The
same draws serve all effects of a result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray

N_RESAMPLES = 999
MOST_BINS = 250
COVERAGE = 0.95
LEAST_VARIANCE = 1e-12
LEAST_SHARE = 0.01

Measure = Callable[[FloatArray], FloatArray]
"""From means of features, shape (k, F), to k values."""


class _Side:
    """Bootstrap resamples of the rows of one sample."""

    def __init__(self, n_rows: int, rng: np.random.Generator) -> None:
        self._size = -(-n_rows // MOST_BINS)
        bins = n_rows // self._size
        self._order = rng.permutation(n_rows)[: bins * self._size]
        self._counts = rng.multinomial(bins, np.full(bins, 1 / bins), size=N_RESAMPLES) / bins

    def means(self, features: FloatArray) -> FloatArray:
        """Return the means of the resamples of features, (resamples × F)."""
        binned = features[self._order].reshape(-1, self._size, features.shape[1]).mean(axis=1)
        return np.asarray(self._counts @ binned)


class Resamples:
    """Bootstrap resamples of two samples, drawn once."""

    def __init__(self, n_x: int, n_y: int, rng: np.random.Generator) -> None:
        self.x = _Side(n_x, rng)
        self.y = _Side(n_y, rng)


@dataclass(frozen=True)
class Effect:
    """An effect, its interval, and the two values it compares."""

    effect: float
    interval: tuple[float, float]
    values: tuple[float, float]


def mean_shift(x: FloatArray, y: FloatArray, drawn: Resamples) -> Effect:
    """Return the difference of the means, in units of the deviation within the samples."""
    features = [np.column_stack([v, np.square(v)]) for v in (x, y)]
    n_x, n_y = x.size, y.size
    # Samples that do not vary within themselves have no spread to count in.
    least = LEAST_SHARE**2 * float(np.concatenate([x, y]).var())

    def difference(of_x: FloatArray, of_y: FloatArray) -> FloatArray:
        pooled = (n_x * _variance(of_x) + n_y * _variance(of_y)) / (n_x + n_y)
        pooled = np.maximum(pooled, least)
        return np.asarray((of_x[:, 0] - of_y[:, 0]) / np.sqrt(pooled))

    values = float(x.mean()), float(y.mean())
    return _bootstrap(features[0], features[1], difference, values, drawn)


def spread_ratio(x: FloatArray, y: FloatArray, drawn: Resamples) -> Effect:
    """Return the ratio of the deviations within the samples."""
    features = [np.column_stack([v, np.square(v)]) for v in (x, y)]
    values = float(x.std()), float(y.std())
    return _bootstrap(
        features[0],
        features[1],
        lambda of_x, of_y: np.sqrt(_variance(of_x) / _variance(of_y)),
        values,
        drawn,
    )


def difference_of(measure: Measure, x: FloatArray, y: FloatArray, drawn: Resamples) -> Effect:
    """Return the difference of a measure of the means of features x and y, (rows × F) each."""
    values = tuple(float(measure(v.mean(axis=0)[np.newaxis])[0]) for v in (x, y))
    return _bootstrap(
        x, y, lambda of_x, of_y: measure(of_x) - measure(of_y), (values[0], values[1]), rng
    )


def share(means: FloatArray) -> FloatArray:
    """Return the mean of the one feature."""
    return np.asarray(means[:, 0])


def powers(values: FloatArray) -> FloatArray:
    """Return the features v, v², v³, v⁴ for `skewness` and `kurtosis`."""
    return np.column_stack([values, values**2, values**3, values**4])


def skewness(means: FloatArray) -> FloatArray:
    """Return the third standardised moment."""
    m, second, third = means[:, 0], means[:, 1], means[:, 2]
    return np.asarray((third - 3 * m * second + 2 * m**3) / _variance(means) ** 1.5)


def kurtosis(means: FloatArray) -> FloatArray:
    """Return the fourth standardised moment; a normal variable has 3."""
    m, second, third, fourth = means.T
    central = fourth - 4 * m * third + 6 * m**2 * second - 3 * m**4
    return np.asarray(central / np.square(_variance(means)))


def pair_features(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the features for `correlation`."""
    return np.column_stack([a, a * a, b, b * b, a * b])


def correlation(means: FloatArray) -> FloatArray:
    """Return the correlation of a and b."""
    spread = _variance(means[:, :2]) * _variance(means[:, 2:4])
    return np.asarray((means[:, 4] - means[:, 0] * means[:, 2]) / np.sqrt(spread))


def _variance(means: FloatArray) -> FloatArray:
    return np.maximum(means[:, 1] - np.square(means[:, 0]), LEAST_VARIANCE)


def _bootstrap(
    x: FloatArray,
    y: FloatArray,
    effect: Callable[[FloatArray, FloatArray], FloatArray],
    values: tuple[float, float],
    drawn: Resamples,
) -> Effect:
    true = float(effect(x.mean(axis=0)[np.newaxis], y.mean(axis=0)[np.newaxis])[0])
    again = effect(drawn.x.means(x), drawn.y.means(y))
    edge = (1 - COVERAGE) / 2
    low, high = np.quantile(again, [edge, 1 - edge])
    return Effect(true, (float(low), float(high)), values)
