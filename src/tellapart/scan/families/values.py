"""Values that stand apart: whether rows of one sample have them more often than the other.

Which values these are is decided from pooled rows without labels
(`tellapart.effects.values.candidate_values`): a repeated value such as −9999 far from all others,
one that is much more frequent than its neighbours, a group of rows beyond a wide gap. With
I_q = 1 where a row has value q, the family's statistics are the largest score of δ(I_q)
(`tellapart.scan.tails`) and the sum of the five largest δ(I_q)², in units of their
deviation. Ranks and winsorised values hardly notice such rows, as there are few of them. Where no
value stands apart, as in most tables of continuous columns, the family does not run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.budget import Budget
from tellapart.effects.values import Candidate, candidate_values, may_stand_apart
from tellapart.permutation.labels import TwoSampleSums
from tellapart.scan.family import Family, FamilyPlan, FamilyResult, ScanState, Skipped
from tellapart.scan.features import ValueRanges
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.tails import BinMoments
from tellapart.threads import in_threads

FEW = 5
# What a larger share of the pooled rows has is seen by ranks and by the score of frequent values.
MOST_SHARE = 0.1
# Values of all columns together: of more, those that most rows have.
MOST_VALUES = 1_000
# Entries of the pooled rows that a thread sorts at a time.
BLOCK_ENTRIES = 250_000


@dataclass(frozen=True, eq=False)
class ValueCandidates:
    """How much the proportion of each value that stands apart changed.

    `scores` are those of `tellapart.scan.tails`, one row per permutation and one entry for
    every value of `ranges`.
    """

    scores: FloatArray
    ranges: ValueRanges

    def column_pvalues(self, adjusted: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the columns with such values, rising, and the least adjusted p-value of each."""
        columns, place = np.unique(self.ranges.column, return_inverse=True)
        pvalues = np.ones(columns.size)
        np.minimum.at(pvalues, place, adjusted)
        return columns, pvalues

    def largest(self) -> tuple[IntArray, FloatArray]:
        """Return the columns with such values, rising, and the largest score of each."""
        columns, place = np.unique(self.ranges.column, return_inverse=True)
        order = np.argsort(place, kind="stable")
        first = np.searchsorted(place[order], np.arange(columns.size))
        return columns, np.maximum.reduceat(self.scores[:, order], first, axis=1)

    def named(
        self, adjusted: FloatArray, alpha: float
    ) -> list[tuple[int, list[tuple[float, float]], float]]:
        """Return the columns that are named, the most significant first.

        Each with the least and greatest of its values that are significant, and its p-value.
        """
        columns, pvalues = self.column_pvalues(adjusted)
        ranges = self.ranges
        named = []
        for k in np.argsort(pvalues, kind="stable"):
            significant = np.flatnonzero((ranges.column == columns[k]) & (adjusted <= alpha))
            if significant.size:
                limits = zip(
                    ranges.low[significant].tolist(), ranges.high[significant].tolist(), strict=True
                )
                named.append((int(columns[k]), list(limits), float(pvalues[k])))
        return named


@dataclass(frozen=True, eq=False, kw_only=True)
class ValuesPlan(FamilyPlan):
    """The values to look at."""

    ranges: ValueRanges


class Values(Family):
    """Values that stand apart: whether rows of one sample have them more often."""

    name = "values"
    weight = 1.0
    description = "values that occur in one sample only"

    def plan(self, state: ScanState, budget: Budget) -> ValuesPlan | Skipped:  # noqa: ARG002
        """Find values that stand apart in the pooled rows."""
        ranges = values_apart(state.rows, state.kinds, state.fewest_with_value, state.n_jobs)
        return Skipped() if ranges is None else ValuesPlan(features=(ranges,), ranges=ranges)

    def run(self, contrasts: Pool, plan: ValuesPlan) -> FamilyResult:
        """Return the two statistics of values that stand apart."""
        sums = value_sums(contrasts, plan.ranges)
        changes = contrasts.changes(sums)
        scale = contrasts.labels.null_scale(sums)
        if scale is not None:
            changes = np.asarray(changes * scale)
        else:
            share = sums.total() / contrasts.labels.n_rows
            deviation = np.sqrt(np.maximum(share * (1 - share), 1e-12))
            changes = np.asarray(changes / deviation, dtype=np.float32)
        moved = contrasts.labels.n_moved_of
        moments = BinMoments.of(sums.permuted(moved), moved[0] / sum(moved))
        scores = moments.of_sum().scores(changes)
        (few,) = top_sums(np.square(changes), (FEW,))
        statistics = np.column_stack([scores.max(axis=1), few])
        return FamilyResult(statistics, (ValueCandidates(scores, plan.ranges),))


def value_sums(pool: Pool, ranges: ValueRanges) -> TwoSampleSums:
    """Return how many rows have these values, and how many have any."""
    if ranges.source is not None and ranges.place is not None:
        return pool.sums.feature(ranges.source).some(ranges.place)
    every = pool.sums.feature(ranges)
    if not ranges.missing:
        return every
    places = np.arange(ranges.column.size)
    return replace(every.some(places), present=every.some(places.size + places))


def values_apart(
    rows: FloatArray, kinds: Sequence[str], fewest: int, n_jobs: int = 1
) -> ValueRanges | None:
    """Return the values of numeric columns that stand apart; None where there are none.

    Parameters
    ----------
    rows : array of shape (rows, D)
        Pooled rows, all or some drawn without labels, NaN where missing.
    kinds : sequence of str
        "numeric" or "categorical", for every column.
    fewest : int
        How many of these rows must have a value: see `tellapart.effects.values.fewest_rows`.
    n_jobs : int
        Threads.
    """
    n_rows = rows.shape[0]
    most = int(MOST_SHARE * n_rows)
    numeric = np.flatnonzero([kind == "numeric" for kind in kinds])
    if most < fewest or not numeric.size:
        return None
    step = max(BLOCK_ENTRIES // n_rows, 1)
    blocks = [numeric[i : i + step] for i in range(0, numeric.size, step)]

    def look(columns: IntArray) -> tuple[list[tuple[int, Candidate]], bool]:
        # What is missing comes last; sorting rows of this copy is sorting columns.
        ordered = np.sort(np.ascontiguousarray(rows[:, columns].T), axis=1)
        counts = n_rows - np.count_nonzero(np.isnan(ordered), axis=1)
        gaps = counts < n_rows
        look_at = gaps.copy()
        look_at[~gaps] = may_stand_apart(ordered[~gaps], fewest, most)
        candidates = [
            (int(columns[q]), candidate)
            for q in np.flatnonzero(look_at)
            for candidate in candidate_values(ordered[q, : counts[q]], fewest, most)
        ]
        return candidates, bool(gaps.any())

    parts = in_threads(look, blocks, n_jobs)
    candidates = [candidate for in_block, _ in parts for candidate in in_block]
    if not candidates:
        return None
    candidates = sorted(candidates, key=lambda candidate: -candidate[1].count)[:MOST_VALUES]
    candidates.sort(key=lambda candidate: (candidate[0], candidate[1].low))
    return ValueRanges(
        np.array([column for column, _ in candidates], dtype=np.intp),
        np.array([candidate.low for _, candidate in candidates]),
        np.array([candidate.high for _, candidate in candidates]),
        np.array([candidate.count for _, candidate in candidates], dtype=np.intp),
        missing=any(gaps for _, gaps in parts),
    )
