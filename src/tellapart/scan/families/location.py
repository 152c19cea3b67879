"""Location: values that are larger in one sample, in few, many or correlated columns.

With δ(S) = mean_x S − mean_y S: the largest δ(U)² of a column, and the sum of the five largest (of
a column with three levels or more Pearson's χ², brought to the scale of δ(U)²);
δ(V)ᵀ(Σ + r I)⁻¹δ(V), Σ the pooled correlation of V and r the larger of 0.01 and ½(P/N)² for P
columns and N rows; the energy distance; and, of two numeric columns or more, (Σ_s δ(V_s))².
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import Budget
from tellapart.scan.family import ColumnFamily, FamilyPlan, FamilyResult, ScanState, WholeRowSums
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.row_forms import RowProducts, row_forms

FEW = 5
LARGEST = (1, FEW)
"""So many of the largest δ(U)² are added up."""


class Location(ColumnFamily):
    """Means of columns, and distances between whole rows."""

    name = "location"
    weight = 4.0
    description = (
        "means of columns, and distances between whole rows (which also respond to "
        "differences in dependence)"
    )
    work = 3
    n_kept = FEW
    column_kinds = ("location",)

    def plan(self, state: ScanState, budget: Budget) -> FamilyPlan:  # noqa: ARG002
        """Look at every column: the sums of single scores are always there."""
        return FamilyPlan()

    def column_statistics(self, contrasts: Pool) -> Iterator[Singles]:
        """Yield δ(U)² of every column."""
        yield _of_columns(np.square(contrasts.differences("normal")), contrasts)

    def run(self, contrasts: Pool, plan: FamilyPlan) -> FamilyResult:  # noqa: ARG002
        """Return the statistics."""
        if contrasts.shifts is not None:
            largest = contrasts.shifts.top_sums(FEW)
        else:
            largest = top_sums(next(self.column_statistics(contrasts)), LARGEST)
        return FamilyResult(np.column_stack([*largest, *_whole_rows(contrasts)]))

    def from_largest(
        self, contrasts: Pool, largest: Sequence[Singles], rows: WholeRowSums
    ) -> FamilyResult:
        """Return the same from blocks of columns."""
        whole = _whole_rows(contrasts, rows.products)
        return FamilyResult(np.column_stack([*top_sums(largest[0], LARGEST), *whole]))


def _of_columns(squares: Singles, pool: Pool) -> Singles:
    """Return δ(U)² of each column, from that of each score column.

    With p_l the pooled proportions of L ≥ 3 levels, Q = Σ_l (1 − p_l) δ_l² is Pearson's χ² up to
    its scale; in its place comes the δ² of one score that is as improbable.
    """
    tables, labels = pool.tables, pool.labels
    columns, first, counts = np.unique(tables.column, return_index=True, return_counts=True)
    if columns.size == tables.size:
        return squares
    largest = np.maximum.reduceat(squares, first, axis=1)
    # A score of two values is √((1 − p)/p) at the level, and −√(p/(1 − p)) elsewhere.
    odds = np.square(np.maximum.reduceat(tables.cells[:, 0], tables.cell_start[:-1]))
    chi_squares = np.add.reduceat(squares * (odds / (1 + odds)), first, axis=1)
    several = np.flatnonzero(counts > 2)
    # The variance of δ of one score over permutations.
    unit = (1 / labels.n_x + 1 / labels.n_y) * labels.n_rows / (labels.n_rows - 1)
    single = _as_single(chi_squares[:, several] / unit, counts[several] - 1)
    largest[:, several] = single * unit
    return largest


def _as_single(values: FloatArray, freedom: IntArray) -> FloatArray:
    """Return what has one degree of freedom and is as improbable as χ² with so many.

    By the approximation of Wilson and Hilferty.

    >>> _as_single(np.array([[5.991, 7.815]]), np.array([2, 3])).round(2)  # both of p = 0.05
    array([[3.89, 3.87]])
    """
    share = 2 / (9 * freedom)
    normal = (np.cbrt(values / freedom) - (1 - share)) / np.sqrt(share)
    both_sides = special.log_ndtr(-normal) - np.log(2)
    return np.asarray(np.square(special.ndtri_exp(both_sides)))


def _whole_rows(pool: Pool, products: RowProducts | None = None) -> list[FloatArray]:
    """Return the statistics of whole rows, of `products` over all columns if given."""
    rows = row_forms(pool.labels, pool, products)
    # A single column moves one way anyway.
    together = [rows.together()] if rows.n_numeric > 1 else []
    return [rows.decorrelated(), rows.energy(), *together]
