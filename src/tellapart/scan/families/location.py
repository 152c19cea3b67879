"""Location: values that are larger in one sample, in few, many or correlated columns.

With δ(S) = mean_x S − mean_y S: the largest δ(U)², the sum of the five largest,
δ(V)ᵀ(Σ + 0.3 I)⁻¹δ(V) with Σ the pooled correlation of V, and the energy distance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tellapart.arrays import FloatArray, Singles
from tellapart.budget import Budget
from tellapart.scan.family import ColumnFamily, FamilyPlan, FamilyResult, ScanState, WholeRowSums
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.row_forms import RowProducts, row_forms

FEW = 5
LARGEST = (1, FEW)
"""So many of the largest δ(U)² are added up."""
RIDGE = 0.3


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
        yield np.square(contrasts.differences("normal"))

    def run(self, contrasts: Pool, plan: FamilyPlan) -> FamilyResult:  # noqa: ARG002
        """Return the four statistics."""
        if contrasts.shifts is not None:
            largest = contrasts.shifts.top_sums(FEW)
        else:
            largest = top_sums(next(self.column_statistics(contrasts)), LARGEST)
        return FamilyResult(np.column_stack([*largest, *_whole_rows(contrasts)]))

    def from_largest(
        self, contrasts: Pool, largest: Sequence[Singles], rows: WholeRowSums
    ) -> FamilyResult:
        """Return the same four from blocks of columns."""
        whole = _whole_rows(contrasts, rows.products)
        return FamilyResult(np.column_stack([*top_sums(largest[0], LARGEST), *whole]))


def _whole_rows(pool: Pool, products: RowProducts | None = None) -> list[FloatArray]:
    """Return δᵀ(Σ + 0.3 I)⁻¹δ and the energy distance, of `products` over all columns if given."""
    rows = row_forms(pool.labels, pool, products)
    return [rows.decorrelated(RIDGE), rows.energy()]
