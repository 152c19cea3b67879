"""Correlation: two columns that move together in one sample more than in the other, or many.

The change of a pair is (r_x − r_y)/(1 − r_x r_y), of the correlations of U within the samples, so
that shifts and spreads do not count. The statistics: the largest square over all pairs, over the
pairs that are most correlated in the pooled rows, and the length of the matrix of changes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import Budget
from tellapart.scan.family import (
    Family,
    FamilyPlan,
    FamilyResult,
    GroupCandidates,
    ScanState,
    Skipped,
    columns_for_pairs,
)
from tellapart.scan.features import Pairs, Product
from tellapart.scan.loops import spectral_norms
from tellapart.scan.pool import Largest, Pool, each_pair

# Values kept of each permutation, for the maxima of what is not named: of all pairs, and of those
# looked at apart.
MANY_KEPT, SOME_KEPT = 30, 8
# Of the pairs, the share that is looked at apart: those most correlated in the pooled rows.
SCREENED_SHARE = 0.02
FEWEST_SCREENED = 10
POWER_STEPS = 10
CORE_COLUMNS = 120


@dataclass(frozen=True)
class ProductKind:
    """Which score of one column is multiplied with which of the other, and among which pairs."""

    first: str
    second: str
    screened: bool = False

    def of(self, pairs: Pairs) -> Product:
        """Return what is to be summed over bins for these pairs."""
        return Product((self.first, self.second), pairs)


CORRELATED = ProductKind("normal", "normal")
CORRELATED_SCREENED = ProductKind("normal", "normal", screened=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class CorrelationPlan(FamilyPlan):
    """The products of all pairs and of those looked at apart, and the columns of the core."""

    every: Product
    screened: Product
    core: IntArray


class Correlation(Family):
    """Two columns that move together in one sample more than in the other, or many."""

    name = "correlation"
    weight = 1.0
    description = "correlations of pairs of columns"
    work = 4
    fewest_rows = 4

    def plan(self, state: ScanState, budget: Budget) -> CorrelationPlan | Skipped:
        """Look at the pairs of the columns that depend most on others."""
        dependence = state.dependence
        columns = dependence.most(columns_for_pairs(state.affordable(budget)))
        pairs = all_pairs(columns, state.scores.column)
        needed = None if pairs.size else "two columns that vary"
        reason = state.why_skipped(self.fewest_rows, needed)
        if reason is not None:
            return Skipped(reason)
        chosen = screened_pairs(dependence.correlation, pairs.size)
        apart = Pairs(dependence.columns[chosen.s], dependence.columns[chosen.t])
        every, screened = CORRELATED.of(pairs), CORRELATED_SCREENED.of(apart)
        return CorrelationPlan(
            features=(every, screened),
            note=state.screening_note("pairs", columns, state.n_varying),
            correlations=every,
            every=every,
            screened=screened,
            core=dependence.most(CORE_COLUMNS),
        )

    def run(self, contrasts: Pool, plan: CorrelationPlan) -> FamilyResult:
        """Return the three statistics of the pairs."""
        pairs = Pairs(*plan.every.columns)
        largest = Largest.empty(contrasts.count, MANY_KEPT, pairs.size)
        inner = np.isin(pairs.s, plan.core) & np.isin(pairs.t, plan.core)
        place: IntArray = np.cumsum(inner) - inner
        within = Pairs(pairs.s[inner], pairs.t[inner])
        of_core = np.empty((contrasts.count, within.size), dtype=np.float32)

        def take(rows: slice, block: slice, changes: Singles) -> None:
            largest.add(rows, block, changes)
            of_core[rows, place[block][inner[block]]] = changes[:, inner[block]]

        each_pair(contrasts, plan.every, take)
        length = np.zeros(contrasts.count)
        if within.size:
            length = _lengths(contrasts, of_core, within)
        apart = Largest.empty(contrasts.count, SOME_KEPT, plan.screened.size)
        each_pair(contrasts, plan.screened, apart.add)
        return FamilyResult(
            np.column_stack([largest.maximum(), apart.maximum(), np.square(length)]),
            (
                GroupCandidates(CORRELATED, largest, np.column_stack(pairs)),
                GroupCandidates(CORRELATED_SCREENED, apart, np.column_stack(plan.screened.columns)),
            ),
        )


def all_pairs(columns: IntArray, parent: IntArray) -> Pairs:
    """Return the pairs of these score columns, levels of one column not among them."""
    i, j = np.triu_indices(columns.size, 1)
    s, t = columns[i], columns[j]
    apart = parent[s] != parent[t]
    return Pairs(s[apart], t[apart])


def screened_pairs(correlation: FloatArray, n_pairs: int) -> Pairs:
    """Return the pairs most correlated in the pooled rows, among all columns."""
    i, j = np.triu_indices(correlation.shape[0], 1)
    strength = np.abs(correlation[i, j])
    most = min(max(int(SCREENED_SHARE * n_pairs), FEWEST_SCREENED), strength.size)
    if most == 0:
        return Pairs(i, j)
    chosen = np.sort(np.argpartition(-strength, most - 1)[:most])
    chosen = chosen[strength[chosen] > 0]
    return Pairs(i[chosen], j[chosen])


def _lengths(pool: Pool, changes: Singles, pairs: Pairs) -> FloatArray:
    """Return the spectral norm of the symmetric matrix of changes of each permutation."""
    columns, place = np.unique(np.concatenate([pairs.s, pairs.t]), return_inverse=True)
    s, t = place[: pairs.size], place[pairs.size :]
    # Any start without regard to labels will do, as every permutation has the same.
    start = np.random.default_rng(0).choice([-1.0, 1.0], columns.size)
    start = (start / np.sqrt(columns.size)).astype(np.float32)
    lengths = np.zeros(pool.count, dtype=np.float32)

    def measure(rows: slice) -> None:
        spectral_norms(changes[rows], s, t, start, POWER_STEPS, lengths[rows])

    pool.each_slice(measure)
    return lengths.astype(np.float64)
