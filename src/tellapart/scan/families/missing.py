"""Missingness: which values are missing, whatever the others are.

With I_s = 1 where a row misses column s, p_s its share among all rows, and c = Σ_s I_s what a row
misses in all: the largest δ(I_s)²/(p_s(1 − p_s)) and the sum of the five largest, δ(c)²,
δ((c − mean c)²)², and the largest change of cov(I_s, I_t) within the samples over the pooled
deviations of both. All rows count, also those that take part with none of their values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, Singles
from tellapart.budget import Budget
from tellapart.scan.family import Family, FamilyPlan, FamilyResult, ScanState, Skipped
from tellapart.scan.features import MissingValues
from tellapart.scan.loops import FEWEST_UNEVEN
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.tails import BinMoments

FEW = 5
# Columns whose pairs are looked at: those that are missing most evenly in the pooled rows.
MOST_PAIRED = 40
# Columns that a note lists by name.
MOST_LISTED = 5


@dataclass(frozen=True, eq=False)
class MissingCandidates:
    """How much the share of missing values changed, of every column that misses any.

    `scores` are those of `tellapart.scan.tails`, one row per permutation and one entry for
    every column of the pattern, and `names` those columns.
    """

    scores: FloatArray
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class MissingPlan(FamilyPlan):
    """What to sum of what rows miss, and how the columns of the samples are called."""

    missing: MissingValues
    names: tuple[str, ...]


class Missing(Family):
    """Which values are missing, whatever the others are."""

    name = "missing"
    weight = 2.0
    description = "missing values: in single columns, in many, in pairs of columns"

    def plan(self, state: ScanState, budget: Budget) -> MissingPlan | Skipped:  # noqa: ARG002
        """Look at every column with missing values, and at pairs of some of them."""
        pattern = state.pattern
        if pattern is None or state.as_read is None:
            return Skipped()
        share = pattern.indicators(state.as_read).mean(axis=0)
        even = np.sort(np.argsort(-share * (1 - share), kind="stable")[:MOST_PAIRED])
        i, j = np.triu_indices(even.size, 1)
        missing = MissingValues(pattern, even[i], even[j])
        return MissingPlan(features=(missing,), missing=missing, names=state.names)

    def run(self, contrasts: Pool, plan: MissingPlan) -> FamilyResult:
        """Return the five statistics of what is missing."""
        missing = plan.missing
        size = len(missing.pattern.names)
        sums = contrasts.sums.feature(missing)
        of_x, of_y = contrasts.means(sums)
        changes = of_x - of_y
        mean = sums.total() / contrasts.labels.n_rows
        share = mean[:size]
        deviation = np.sqrt(np.maximum(share * (1 - share), 1e-12)).astype(np.float32)
        shares = np.square(changes[:, :size] / deviation)
        counts = changes[:, size].astype(np.float64)
        # (c − mean)² = c² − 2·mean·c + constant.
        uneven = changes[:, size + 1] - 2 * mean[size] * counts
        together = _covariances(of_x, missing, deviation) - _covariances(of_y, missing, deviation)
        most = np.square(together).max(axis=1) if together.shape[1] else np.zeros(contrasts.count)
        one, few = top_sums(shares, (1, FEW))
        statistics = np.column_stack([one, few, np.square(counts), np.square(uneven), most])
        permuted = [part[:, :size] for part in sums.permuted(contrasts.labels.n_moved_of)]
        moments = BinMoments.of(permuted, contrasts.labels.n_bins_of[0] / contrasts.labels.n_bins)
        scores = moments.of_sum().scores(changes[:, :size])
        return FamilyResult(
            statistics.astype(np.float64),
            (MissingCandidates(scores, missing.pattern.names),),
            note=_too_few_values(plan.names, contrasts),
        )


def _covariances(means: Singles, missing: MissingValues, deviation: Singles) -> Singles:
    """Return cov(I_s, I_t) within a sample for every pair, in pooled deviations."""
    s, t = missing.s, missing.t
    joint = means[:, len(missing.pattern.names) + 2 :] - means[:, s] * means[:, t]
    return np.asarray(joint / (deviation[s] * deviation[t]))


def _too_few_values(names: tuple[str, ...], pool: Pool) -> str | None:
    """Return the note on columns that are not compared by their values, at the observed labels."""
    present = pool.sums.present
    if present is None or pool.labels.by_design:
        return None
    scant = pool.precision(present)[0] == 0
    left_out = [names[s] for s in np.unique(pool.tables.column[scant])]
    if not left_out:
        return None
    few = ", ".join(left_out[:MOST_LISTED]) + (", …" if len(left_out) > MOST_LISTED else "")
    return (
        f"the values of {len(left_out):,} columns ({few}) were not compared: one sample "
        f"has fewer than {FEWEST_UNEVEN} of them, and less than half of what an even share of "
        "missing values would leave"
    )
