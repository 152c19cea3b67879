"""Kernel: the largest MMD² of few columns, reselected under every permutation.

With a_s the MMD² of column s, S_d = max {aᵀz : z ≥ 0, ‖z‖₂ = 1, ‖z‖₀ ≤ d} is the length of the
d largest a_s > 0: the best choice of d columns for the linear kernel at λ = 0, known in closed
form, so that it is chosen again under every permutation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tellapart.arrays import Singles
from tellapart.budget import Budget
from tellapart.scan.family import (
    COLUMN_KINDS,
    ColumnFamily,
    FamilyPlan,
    FamilyResult,
    ScanState,
    WholeRowSums,
)
from tellapart.scan.loops import N_WAVES, PERIOD
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.tails import tail_pvalues

NUMBERS = (1, 3, 8)
# Numbers of columns that are compared where nobody says how many to choose.
PATH = (1, 2, 3, 4, 5, 7, 10)
NEARLY = 0.95
# The scalar kernel exp(−(u − v)²/2τ²) of the clipped scores as a Fourier series.
BANDWIDTH = 0.5
# Sums of so few single-precision terms differ by less than this share by their rounding.
ROUNDING = 1e-6
# Of many comparisons the waves that make up 94 % of it do.
SHARED_WAVES = 6
FREQUENCIES = 2 * np.pi / PERIOD * np.arange(1, N_WAVES + 1)


class Kernel(ColumnFamily):
    """The largest MMD² of few columns, reselected under every permutation."""

    name = "kernel"
    weight = 0.5
    description = "any difference of single columns: the largest MMD² of a few of them"
    work = 2
    n_kept = max(PATH)
    column_kinds = COLUMN_KINDS

    def plan(self, state: ScanState, budget: Budget) -> FamilyPlan:  # noqa: ARG002
        """Look at every column: the sums of waves are always there."""
        return FamilyPlan()

    def column_statistics(self, contrasts: Pool) -> Iterator[Singles]:
        """Yield the squares of a_s of every column."""
        yield np.square(column_mmd(contrasts))

    def run(self, contrasts: Pool, plan: FamilyPlan) -> FamilyResult:  # noqa: ARG002
        """Return S_d² for d = 1, 3, 8, and the number of columns that carries nearly all."""
        return _result(*self.column_statistics(contrasts))

    def from_largest(
        self,
        contrasts: Pool,  # noqa: ARG002
        largest: Sequence[Singles],
        rows: WholeRowSums,  # noqa: ARG002
    ) -> FamilyResult:
        """Return the same from blocks of columns: the ten largest are enough."""
        return _result(largest[0])


def _result(squares: Singles) -> FamilyResult:
    """Return the statistics by the squares of a_s, of all columns or the largest."""
    path = [d for d in PATH if d <= squares.shape[1]]
    lengths = np.column_stack(top_sums(squares, tuple(path)))
    surprise = -np.log(tail_pvalues(np.cbrt(lengths))[0])
    # A few columns that carry nearly all of the difference tell more than many that carry it all.
    enough = int(np.argmax(surprise >= NEARLY * surprise.max()))
    statistics = np.column_stack(top_sums(squares, NUMBERS))
    return FamilyResult(statistics, n_variables=path[enough])


def column_mmd(pool: Pool) -> Singles:
    """Return max(a_s − median over permutations, 0) for every column and permutation.

    a_s = Σ_j w_j (δ(cos ω_j V)² + δ(sin ω_j V)²) is MMD² up to a constant, which the median takes
    out. Under a design it is in units of its mean over the permutations.
    """
    weights = np.exp(-0.5 * np.square(FREQUENCIES * BANDWIDTH))
    if pool.labels.shared:
        weights = weights[:SHARED_WAVES]
    total = np.zeros((pool.count, pool.tables.size), dtype=np.float32)
    usual = np.zeros(pool.tables.size)
    mean_squares = None
    for j, weight in enumerate(weights / weights.sum()):
        for wave in pool.sums.waves(j + 1, FREQUENCIES[j]):
            total += np.float32(weight) * np.square(pool.changes(wave))
            mean_squares = pool.labels.null_mean_squares(wave)
            if mean_squares is not None:
                usual += weight * mean_squares
    if mean_squares is not None:
        total /= np.where(usual > 0, usual, np.inf).astype(np.float32)
    excess: Singles = np.subtract(total, np.median(total, axis=0), dtype=np.float32)
    # What rounding leaves of equal values would count: the cube root of its square is large.
    excess[excess <= ROUNDING * total.max(axis=0, initial=0.0)] = 0.0
    return excess
