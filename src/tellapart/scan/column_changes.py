"""How much each column changed, by kind, under every permutation: what findings are named by.

location   δ(U)² and δ(V)²
spread     the smaller of two log² (deviation within x / deviation within y), of U and of V:
           U does not mind a change of units, V not a shift, so that one change has one name
shape      changes of skewness and kurtosis of V within the samples, of its waves, and of the
           share of its most frequent value
share      of a categorical column, δ² of the indicator of each level
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.permutation.bins import Singles
from tellapart.scan.families.shape import wave_changes
from tellapart.scan.pool import Moments, Pool
from tellapart.scan.tails import tail_scores

KINDS = ("location", "spread", "shape")
SHAPE_MEASURES = ("skewness", "kurtosis", "waves", "atom")
# The score of what cannot change.
NOTHING = -np.inf
# Deviations below this share of the pooled one count as that.
LEAST_DEVIATION = 1e-3


@dataclass(frozen=True)
class ColumnChanges:
    """Scores −log p of every column and kind under every permutation.

    Attributes
    ----------
    columns : array of length C
        Columns of the samples that vary.
    scores : array of shape (kinds, permutations, C)
        By `KINDS`; a change of shares counts as location.
    measure : array of length C
        Which score column (of U) shows the most at the true labels: the level of a category.
    shape : array of length C
        Which of `SHAPE_MEASURES` shows the most.
    """

    columns: IntArray
    scores: FloatArray
    measure: IntArray
    shape: IntArray

    def largest(self) -> FloatArray:
        """Return the score of each column, the largest of its kinds."""
        return np.asarray(self.scores.max(axis=0))


def column_changes(pool: Pool) -> ColumnChanges:
    """Return how much each column changed under every permutation."""
    location = np.maximum(
        _scores(np.square(pool.differences("normal"))),
        _scores(np.square(pool.differences("clipped"))),
    )
    spreads = np.minimum(_log_ratio(pool.moments("normal")), _log_ratio(pool.moments("clipped")))
    skewness, kurtosis = _standardised_moments(pool)
    if pool.sums.present is not None:
        noise = np.square(pool.precision(pool.sums.present))
        spreads, skewness, kurtosis = spreads * noise, skewness * noise, kurtosis * noise
    spread = _scores(spreads)
    shapes = np.stack(
        [
            _scores(skewness),
            _scores(kurtosis),
            _scores(wave_changes(pool)),
            _scores(np.square(pool.differences("atom"))),
        ]
    )
    # The shares of two values, or of the levels of a category, leave nothing else to change.
    shapeless = pool.tables.shapeless
    spread[:, shapeless] = NOTHING
    shapes[:, :, shapeless] = NOTHING
    columns, first = np.unique(pool.tables.column, return_index=True)
    if first.size == pool.tables.size:
        joined = [location, spread, shapes.max(axis=0)]
        measure = first
    else:
        joined = [
            np.maximum.reduceat(kind, first, axis=1)
            for kind in (location, spread, shapes.max(axis=0))
        ]
        parts = np.split(location[0], first[1:])
        measure = first + np.array([int(part.argmax()) for part in parts])
    return ColumnChanges(columns, np.stack(joined), measure, shapes[:, 0, first].argmax(axis=0))


def _scores(statistics: Singles | FloatArray) -> FloatArray:
    """Return −log of the p-values, by their tails, of the cube roots."""
    return tail_scores(np.cbrt(np.asarray(statistics, dtype=np.float64)))


def _log_ratio(moments: Moments) -> Singles:
    x = np.where(moments.inverse_x > 0, moments.inverse_x, 1 / LEAST_DEVIATION)
    y = np.where(moments.inverse_y > 0, moments.inverse_y, 1 / LEAST_DEVIATION)
    return np.asarray(np.square(np.log(y / x)))


def _standardised_moments(pool: Pool) -> tuple[FloatArray, FloatArray]:
    """Return the squared changes of skewness and kurtosis of V within the samples."""
    moments = pool.moments("clipped")
    third, fourth = pool.means(pool.sums.power(3)), pool.means(pool.sums.power(4))
    sides = (
        (moments.mean_x, moments.inverse_x, third[0], fourth[0]),
        (moments.mean_y, moments.inverse_y, third[1], fourth[1]),
    )
    skewness, kurtosis = [], []
    for mean, inverse, cube, power in sides:
        variance = np.where(inverse > 0, 1 / np.square(np.where(inverse > 0, inverse, 1)), 0)
        centre, inverse_square = np.square(mean), np.square(inverse)
        second = variance + centre
        skewness.append((cube - 3 * mean * second + 2 * mean * centre) * inverse * inverse_square)
        fourth_moment = power - 4 * mean * cube + 6 * centre * second - 3 * np.square(centre)
        kurtosis.append(fourth_moment * np.square(inverse_square))
    return (
        np.square((skewness[0] - skewness[1]).astype(np.float64)),
        np.square((kurtosis[0] - kurtosis[1]).astype(np.float64)),
    )
