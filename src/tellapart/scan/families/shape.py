"""Shape: spread, tails, skew and lumps of single columns, and the scale of whole rows.

Sums of the few largest squares of δ(S) over columns, for every score S that a shift of the column
leaves alone, and δ(r)² of whole rows, r the normal score of ‖V‖².
"""

from __future__ import annotations

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray
from tellapart.permutation.bins import Singles
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.requests import KNOWN_LENGTHS, RowScore, full_lengths
from tellapart.scan.scores import Scores

FEW = 3
# Rows for each column without which a regression fits noise.
FEWEST_ROWS_PER_COLUMN = 10
RANK_TOLERANCE = 1e-6
WAVES = ("wave 2", "wave 3", "wave 4")


def shape_statistics(pool: Pool) -> FloatArray:
    """Return the statistics of shape, one row per permutation."""
    columns: list[FloatArray] = []
    for name in ("spread", "skew", "fourth", "atom"):
        columns += top_sums(np.square(pool.differences(name)), (FEW,))
    columns += top_sums(wave_changes(pool), (FEW,))
    columns += list(np.square(pool.changes(pool.sums.row_score)).T)
    return np.column_stack(columns)


def wave_changes(pool: Pool) -> Singles:
    """Return Σ_j δ(cos jπF)² over j = 2, 3, 4, for every column and permutation."""
    return np.asarray(sum(np.square(pool.differences(wave)) for wave in WAVES))


def row_score(outline: Scores) -> RowScore:
    """Return what gives the normal score of ‖V‖² of a row, less its regression on V.

    The length of a row of few lopsided columns says where it lies: that is location. Where columns
    are many a regression would fit noise, and there is none.
    """
    values = outline.clipped.astype(np.float64)
    lengths = np.square(outline.clipped).sum(axis=1, dtype=np.float32)
    if outline.present is not None:
        there = outline.present.sum(axis=1)
        lengths = full_lengths(lengths, there, outline.present.shape[1])[there > 0]
        values = values[there > 0]
    known, place, counts = np.unique(lengths, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - counts / 2
    scores = special.ndtri(ranks / lengths.size)
    slopes = np.zeros(values.shape[1])
    if values.shape[1] <= values.shape[0] / FEWEST_ROWS_PER_COLUMN:
        slopes = np.linalg.lstsq(values, scores[place], rcond=RANK_TOLERANCE)[0]
    kept = np.unique(np.linspace(0, known.size - 1, min(known.size, KNOWN_LENGTHS)).astype(np.intp))
    return RowScore(known[kept].astype(np.float64), scores[kept], slopes)
