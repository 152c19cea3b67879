"""Location: values that are larger in one sample, in few, many or correlated columns.

With δ(S) = mean_x S − mean_y S: the largest δ(U)², the sum of the five largest,
δ(V)ᵀ(Σ + 0.3 I)⁻¹δ(V) with Σ the pooled correlation of V, and the energy distance.
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray, Singles
from tellapart.permutation.shared_orders import SharedLabels
from tellapart.scan.pool import Pool, RowForms, top_sums
from tellapart.scan.row_statistics import DesignedRows, RowProducts, WholeRows
from tellapart.scan.scores import Scores

FEW = 5
LARGEST = (1, FEW)
"""So many of the largest δ(U)² are added up."""
RIDGE = 0.3


def location_statistics(pool: Pool) -> FloatArray:
    """Return the four statistics, one row per permutation."""
    one, few = _largest(pool)
    if pool.design is not None:
        designed = DesignedRows(pool, pool.design)
        return np.column_stack([one, few, designed.decorrelated(RIDGE), designed.energy()])
    if pool.forms is not None:
        return np.column_stack([one, few, *_shared(pool, pool.forms)])
    rows = WholeRows.of(pool)
    return np.column_stack([one, few, _decorrelated(pool, rows), rows.energy()])


def whole_row_statistics(pool: Pool, products: RowProducts) -> list[FloatArray]:
    """Return the last two of the statistics, by products of rows over all columns."""
    if pool.design is not None:
        designed = DesignedRows(pool, pool.design, products)
        return [designed.decorrelated(RIDGE), designed.energy()]
    rows = WholeRows.by_products(pool, products)
    return [rows.decorrelated(RIDGE), rows.energy()]


def _largest(pool: Pool) -> list[FloatArray]:
    """Return the largest δ(U)² and the sum of the five largest."""
    if pool.shifts is not None:
        return pool.shifts.top_sums(FEW)
    return top_sums(shifts(pool), LARGEST)


def shifts(pool: Pool) -> Singles:
    """Return δ(U)² of every column and permutation."""
    return np.square(pool.differences("normal"))


def _decorrelated(pool: Pool, rows: WholeRows) -> FloatArray:
    """Return δᵀ(Σ + 0.3 I)⁻¹δ by the smaller of two matrices: columns or rows."""
    if pool.outline.clipped.shape[1] > rows.n_rows:
        return rows.decorrelated(RIDGE)
    return _turned(pool, _turn(pool.outline))


def _shared(pool: Pool, forms: RowForms) -> tuple[FloatArray, FloatArray]:
    """Return the same by what comparisons of the same rows share, and the energy distance."""
    labels = pool.labels
    assert isinstance(labels, SharedLabels)
    if pool.outline.clipped.shape[1] > labels.n_rows:
        return forms.decorrelated(RIDGE, labels), forms.energy(labels)
    turn = forms.once("turn", lambda: _turn(pool.outline))
    return _turned(pool, turn), forms.energy(labels)


def _turned(pool: Pool, turn: Singles) -> FloatArray:
    squares = np.square(pool.differences("clipped") @ turn)
    return np.asarray(squares.sum(axis=1, dtype=np.float64))


def _turn(outline: Scores) -> Singles:
    """Return (Σ + 0.3 I)^(−½), up to a rotation."""
    values = outline.clipped
    gram = (values.T @ values).astype(np.float64) / _rows_behind(outline)
    spectrum, vectors = np.linalg.eigh(gram)
    turn = vectors / np.sqrt(np.maximum(spectrum, 0.0) + RIDGE)
    return np.asarray(turn, dtype=np.float32)


def _rows_behind(outline: Scores) -> FloatArray | float:
    """Return how many rows have both of two columns, for every pair of them."""
    if outline.present is None:
        return float(outline.clipped.shape[0])
    present = outline.present
    return np.maximum((present.T @ present).astype(np.float64), 1.0)
