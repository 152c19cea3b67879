"""Shape: spread, tails, skew and lumps of single columns, and the scale of whole rows.

Sums of the few largest squares of δ(S) over columns, for every score S that a shift of the column
leaves alone, and δ(r)² of whole rows, r the normal score of ‖V‖².
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.permutation.labels import TwoSampleSums
from tellapart.permutation.pvalues import beyond_rounding
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.requests import KNOWN_LENGTHS, RowScore, full_lengths
from tellapart.scan.scores import Scores

FEW = 3
# Rows for each column without which a regression fits noise.
FEWEST_ROWS_PER_COLUMN = 10
RANK_TOLERANCE = 1e-6
# A score of rows that is this share of what it was before the regression is rounding.
FLAT = 1e-3
# Means of normal scores in single precision.
ROUNDING = 1e-6
# Lengths this share apart, a few units in the last place, are equal.
SAME_LENGTH = 4e-7
WAVES = ("wave 2", "wave 3", "wave 4")


def shape_statistics(pool: Pool) -> FloatArray:
    """Return the statistics of shape, one row per permutation."""
    columns = [top_sums(table, (FEW,))[0] for table in shape_changes(pool)]
    return np.column_stack([*columns, scale_changes(pool, pool.sums.row_score)])


def shape_changes(pool: Pool) -> Iterator[Singles]:
    """Give δ(S)² of every column and permutation, of one score after the other."""
    for name in ("spread", "skew", "fourth", "atom"):
        yield np.square(pool.differences(name))
    yield wave_changes(pool)


def scale_changes(pool: Pool, row_score: TwoSampleSums) -> FloatArray:
    """Return δ(r)² of the score of whole rows under every permutation."""
    squares = np.asarray(np.square(pool.changes(row_score))[:, 0], dtype=np.float64)
    return beyond_rounding(squares, ROUNDING**2)


def wave_changes(pool: Pool) -> Singles:
    """Return Σ_j δ(cos jπF)² over j = 2, 3, 4, for every column and permutation."""
    return np.asarray(sum(np.square(pool.differences(wave)) for wave in WAVES))


def row_score(outline: Scores) -> RowScore:
    """Return what gives the normal score of ‖V‖² of a row, less its regression on V.

    The length of a row of few skewed columns reflects where it lies: that is location. Where
    columns are many a regression would fit noise, and there is none. The score is 0 where nothing
    but rounding would be left of it: V of a column with two values, or of the levels of one factor,
    determines the length of a row.
    """
    values = outline.clipped.astype(np.float64)
    lengths = np.square(outline.clipped).sum(axis=1, dtype=np.float32)
    if outline.present is not None:
        there = outline.present.sum(axis=1)
        lengths = full_lengths(lengths, there, outline.present.shape[1])[there > 0]
        values = values[there > 0]
    known, scores, place = _ranked(lengths)
    slopes = np.zeros(values.shape[1])
    if values.shape[1] <= values.shape[0] / FEWEST_ROWS_PER_COLUMN:
        slopes = np.asarray(np.linalg.lstsq(values, scores[place], rcond=RANK_TOLERANCE)[0])
    left = scores[place] - values @ slopes
    if left.std() <= FLAT * scores[place].std():
        return RowScore(known[:1].astype(np.float64), np.zeros(1), np.zeros_like(slopes))
    return _thinned(known, scores, slopes)


def score_of_lengths(lengths: Singles) -> RowScore:
    """Return what gives the normal score of ‖V‖² of a row where columns are many."""
    known, scores, _ = _ranked(lengths)
    return _thinned(known, scores, np.empty(0))


def _ranked(lengths: Singles) -> tuple[Singles, FloatArray, IntArray]:
    """Return the lengths that occur, their normal scores, and which of them each row has.

    Lengths that differ by the rounding of their squares are one.
    """
    known, place, counts = np.unique(lengths, return_inverse=True, return_counts=True)
    first = np.append(True, np.diff(known) > SAME_LENGTH * known[1:])
    counts = np.add.reduceat(counts, np.flatnonzero(first))
    ranks = np.cumsum(counts) - counts / 2
    return known[first], special.ndtri(ranks / lengths.size), (np.cumsum(first) - 1)[place]


def _thinned(known: Singles, scores: FloatArray, slopes: FloatArray) -> RowScore:
    kept = np.unique(np.linspace(0, known.size - 1, min(known.size, KNOWN_LENGTHS)).astype(np.intp))
    return RowScore(known[kept].astype(np.float64), scores[kept], slopes)
