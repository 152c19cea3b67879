"""Location: values that are larger in one sample, in few, many or correlated columns.

With δ(S) = mean_x S − mean_y S: the largest δ(U)², the sum of the five largest,
δ(V)ᵀ(Σ + 0.3 I)⁻¹δ(V) with Σ the pooled correlation of V, and the energy distance.
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray, Singles
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.row_forms import RowProducts, row_forms

FEW = 5
LARGEST = (1, FEW)
"""So many of the largest δ(U)² are added up."""
RIDGE = 0.3


def location_statistics(pool: Pool) -> FloatArray:
    """Return the four statistics, one row per permutation."""
    return np.column_stack([*_largest(pool), *whole_row_statistics(pool)])


def whole_row_statistics(pool: Pool, products: RowProducts | None = None) -> list[FloatArray]:
    """Return the last two of the statistics, of `products` of rows over all columns if given."""
    rows = row_forms(pool.labels, pool, products)
    return [rows.decorrelated(RIDGE), rows.energy()]


def _largest(pool: Pool) -> list[FloatArray]:
    """Return the largest δ(U)² and the sum of the five largest."""
    if pool.shifts is not None:
        return pool.shifts.top_sums(FEW)
    return top_sums(shifts(pool), LARGEST)


def shifts(pool: Pool) -> Singles:
    """Return δ(U)² of every column and permutation."""
    return np.square(pool.differences("normal"))
