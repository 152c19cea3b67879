"""Location: values that are larger in one sample, in few, many or correlated columns.

With δ(S) = mean_x S − mean_y S: the largest δ(U)², the sum of the five largest,
δ(V)ᵀ(Σ + 0.3 I)⁻¹δ(V) with Σ the pooled correlation of V, and the energy distance.
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.scan.designed_rows import DesignedRows
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.scores import Scores
from tellapart.scan.whole_rows import WholeRows

FEW = 5
RIDGE = 0.3


def location_statistics(pool: Pool) -> FloatArray:
    """Return the four statistics, one row per permutation."""
    one, few = top_sums(np.square(pool.differences("normal")), (1, FEW))
    if pool.design is not None:
        designed = DesignedRows(pool, pool.design)
        return np.column_stack([one, few, designed.decorrelated(RIDGE), designed.energy()])
    rows = WholeRows.of(pool)
    return np.column_stack([one, few, _decorrelated(pool, rows), rows.energy()])


def _decorrelated(pool: Pool, rows: WholeRows) -> FloatArray:
    """Return δᵀ(Σ + 0.3 I)⁻¹δ by the smaller of two matrices: columns or rows."""
    values = pool.outline.clipped
    if values.shape[1] > rows.n_rows:
        return rows.decorrelated(RIDGE)
    gram = (values.T @ values).astype(np.float64) / _rows_behind(pool.outline)
    spectrum, vectors = np.linalg.eigh(gram)
    turn = (vectors / np.sqrt(np.maximum(spectrum, 0.0) + RIDGE)).astype(np.float32)
    squares = np.square(pool.differences("clipped") @ turn)
    return np.asarray(squares.sum(axis=1, dtype=np.float64))


def _rows_behind(outline: Scores) -> FloatArray | float:
    """Return how many rows have both of two columns, for every pair of them."""
    if outline.present is None:
        return float(outline.clipped.shape[0])
    present = outline.present
    return np.maximum((present.T @ present).astype(np.float64), 1.0)
