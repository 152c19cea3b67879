"""Shape: spread, tails, skew and lumps of single columns, and the scale of whole rows.

Sums of the few largest squares of δ(S) over columns, for every score S that a shift of the column
leaves alone, and δ(r)² of whole rows, r the normal score of ‖V‖².
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from tellapart.arrays import FloatArray
from tellapart.permutation.bins import Singles
from tellapart.scan.pool import Pool, top_sums

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
    columns += list(np.square(pool.labels.differences(_row_scores(pool))).T)
    return np.column_stack(columns)


def wave_changes(pool: Pool) -> Singles:
    """Return Σ_j δ(cos jπF)² over j = 2, 3, 4, for every column and permutation."""
    return np.asarray(sum(np.square(pool.differences(wave)) for wave in WAVES))


def _row_scores(pool: Pool) -> Singles:
    """Return the normal score of ‖V‖² of each row, less its regression on V where columns are few.

    The length of a row of few lopsided columns says where it lies: that is location.
    """
    values = pool.scores.clipped.astype(np.float64)
    ranks = stats.rankdata(np.square(values).sum(axis=1))
    score = special.ndtri((ranks - 0.5) / ranks.size)
    if values.shape[1] <= values.shape[0] / FEWEST_ROWS_PER_COLUMN:
        score = score - values @ np.linalg.lstsq(values, score, rcond=RANK_TOLERANCE)[0]
    return score[:, np.newaxis].astype(np.float32)
