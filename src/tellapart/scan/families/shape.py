"""Shape: spread, tails, skew and lumps of single columns, and the scale of whole rows.

Sums of the few largest squares of δ(S) over columns, for every score S that a shift of the column
leaves alone, and δ(r)² of whole rows, r the normal score of ‖V‖².
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import Budget
from tellapart.permutation.labels import TwoSampleSums
from tellapart.permutation.pvalues import beyond_rounding
from tellapart.scan.family import ColumnFamily, FamilyPlan, FamilyResult, ScanState, WholeRowSums
from tellapart.scan.features import KNOWN_LENGTHS, RowScore, full_lengths
from tellapart.scan.pool import Pool, top_sums
from tellapart.scan.scores import Scores

FEW = 3
# Rows for each column without which a regression fits noise.
FEWEST_ROWS_PER_COLUMN = 10
RANK_TOLERANCE = 1e-6
# A score of rows that is this share of what it was before the regression is rounding.
FLAT = 1e-3
# Means of normal scores in single precision.
ROUNDING = 1e-6
# Lengths this share apart, a few units in the last place, are equal.
SAME_LENGTH = 4e-7
WAVES = ("wave 2", "wave 3", "wave 4")


@dataclass(frozen=True, eq=False, kw_only=True)
class ShapePlan(FamilyPlan):
    """How whole rows are scored by their length."""

    row_score: RowScore


class Shape(ColumnFamily):
    """Spread, tails, skewness and multimodality of single columns, and the scale of whole rows."""

    name = "shape"
    weight = 1.0
    description = "standard deviations, skewness, tails and multimodality of single columns"
    work = 1
    n_kept = FEW
    column_kinds = ("spread", "shape")

    def plan(self, state: ScanState, budget: Budget) -> ShapePlan:  # noqa: ARG002
        """Score the lengths of the pooled rows."""
        score = row_score(state.scores)
        return ShapePlan(features=(score,), row_score=score)

    def column_statistics(self, contrasts: Pool) -> Iterator[Singles]:
        """Yield δ(S)² of every column, of one score after the other."""
        for name in ("spread", "skew", "fourth", "atom"):
            yield np.square(contrasts.differences(name))
        yield wave_changes(contrasts)

    def run(self, contrasts: Pool, plan: ShapePlan) -> FamilyResult:
        """Return a sum of the few largest for every score, and the scale of rows."""
        sums = contrasts.sums.feature(plan.row_score)
        return _result(contrasts, self.column_statistics(contrasts), sums)

    def from_largest(
        self, contrasts: Pool, largest: Sequence[Singles], rows: WholeRowSums
    ) -> FamilyResult:
        """Return the same from blocks of columns."""
        return _result(contrasts, largest, rows.row_score)


def _result(pool: Pool, tables: Iterable[Singles], row_score: TwoSampleSums) -> FamilyResult:
    columns = [top_sums(table, (FEW,))[0] for table in tables]
    return FamilyResult(np.column_stack([*columns, scale_changes(pool, row_score)]))


def scale_changes(pool: Pool, row_score: TwoSampleSums) -> FloatArray:
    """Return δ(r)² of the score of whole rows under every permutation."""
    squares = np.asarray(np.square(pool.changes(row_score))[:, 0], dtype=np.float64)
    return beyond_rounding(squares, ROUNDING**2)


def wave_changes(pool: Pool) -> Singles:
    """Return Σ_j δ(cos jπF)² over j = 2, 3, 4, for every column and permutation."""
    return np.asarray(sum(np.square(pool.differences(wave)) for wave in WAVES))


def row_score(pooled_scores: Scores) -> RowScore:
    """Return what gives the normal score of ‖V‖² of a row, less its regression on V.

    The length of a row of few skewed columns reflects where it lies: that is location. Where
    columns are many a regression would fit noise, and there is none. The score is 0 where nothing
    but rounding would be left of it: V of a column with two values, or of the levels of one factor,
    determines the length of a row.
    """
    values = pooled_scores.clipped.astype(np.float64)
    lengths = np.square(pooled_scores.clipped).sum(axis=1, dtype=np.float32)
    if pooled_scores.present is not None:
        n_present = pooled_scores.present.sum(axis=1)
        lengths = full_lengths(lengths, n_present, pooled_scores.present.shape[1])[n_present > 0]
        values = values[n_present > 0]
    distinct, scores, place = _ranked(lengths)
    slopes = np.zeros(values.shape[1])
    if values.shape[1] <= values.shape[0] / FEWEST_ROWS_PER_COLUMN:
        slopes = np.asarray(np.linalg.lstsq(values, scores[place], rcond=RANK_TOLERANCE)[0])
    rest = scores[place] - values @ slopes
    if rest.std() <= FLAT * scores[place].std():
        return RowScore(distinct[:1].astype(np.float64), np.zeros(1), np.zeros_like(slopes))
    return _thinned(distinct, scores, slopes)


def score_of_lengths(lengths: Singles) -> RowScore:
    """Return what gives the normal score of ‖V‖² of a row where columns are many."""
    distinct, scores, _ = _ranked(lengths)
    return _thinned(distinct, scores, np.empty(0))


def _ranked(lengths: Singles) -> tuple[Singles, FloatArray, IntArray]:
    """Return the lengths that occur, their normal scores, and which of them each row has.

    Lengths that differ by the rounding of their squares are one.
    """
    distinct, place, counts = np.unique(lengths, return_inverse=True, return_counts=True)
    first = np.append(True, np.diff(distinct) > SAME_LENGTH * distinct[1:])
    counts = np.add.reduceat(counts, np.flatnonzero(first))
    ranks = np.cumsum(counts) - counts / 2
    return distinct[first], special.ndtri(ranks / lengths.size), (np.cumsum(first) - 1)[place]


def _thinned(lengths: Singles, scores: FloatArray, slopes: FloatArray) -> RowScore:
    count = min(lengths.size, KNOWN_LENGTHS)
    kept = np.unique(np.linspace(0, lengths.size - 1, count).astype(np.intp))
    return RowScore(lengths[kept].astype(np.float64), scores[kept], slopes)
