"""How much each column changed, by kind, under every permutation: what findings are named by.

location   δ(U) and δ(V); of a column with heavy tails δ of the rank
spread     (s_x − s_y)/s of U and of V, the less sure of the two, s the deviations within the
           samples: U does not mind a change of units, V not a shift, so that one change has one
           name
shape      δ of the scores of skew, fourth, waves and atom, all without what U says of them
share      of a categorical column, δ of the indicator of each level

Each is scored by its own tails (`tellapart.scan.tails`), each side by itself. What is
bounded, or a sum, has tails that are known: the logarithm of a ratio of spreads, or the kurtosis
of a sample, is far off any other where a rare value happens to occur once in it, or not at all.

Tails are heavy where V, in units of the MAD, deviates by more than `HEAVY` in the pooled rows: it
is 1 for normal values, 1.1 for logistic ones, 1.4 for Student's t with two degrees of freedom. No
label is seen by that.

Shape is the largest of six measures, and would set the maxima that location and spread have to
beat. So it pays for them itself: location and spread have a head start of log 6, the same for all
permutations, by which the chance of the largest of six is made that of one. What they are ahead by
beyond that is their weight: people look for shifts first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray, Singles
from tellapart.budget import current_budget
from tellapart.permutation.labels import Labels, TwoSampleSums
from tellapart.scan.adjusted import Named, TableUnits
from tellapart.scan.column_tests import Unadjusted
from tellapart.scan.families.shape import WAVES
from tellapart.scan.family import COLUMN_KINDS
from tellapart.scan.pool import Pool
from tellapart.scan.tails import NOTHING, BinMoments, PermutedTails
from tellapart.scan.wide import WideShifts

SHAPE_SCORES = ("skew", "fourth", *WAVES, "atom")
HEAD_START = {
    "location": math.log(len(SHAPE_SCORES)) + 1.5,
    "spread": math.log(len(SHAPE_SCORES)) + 0.5,
}
"""What location and spread are ahead of shape by."""
HEAVY = 1.05
"""The deviation of V in units of the MAD from which on tails are heavy."""


@dataclass(frozen=True)
class ColumnChanges:
    """Scores of every column and kind under every permutation.

    Attributes
    ----------
    columns : array of length C
        Columns of the samples that vary.
    scores : array of shape (kinds, permutations, C)
        By kind, head start included; a change of shares counts as location.
    labels : Labels
        Those that were permuted.
    """

    columns: IntArray
    scores: FloatArray
    labels: Labels

    def largest(self) -> FloatArray:
        """Return the score of each column, the largest of its kinds."""
        return np.asarray(self.scores.max(axis=0))


def column_changes(pool: Pool, kinds: Sequence[str] = COLUMN_KINDS) -> ColumnChanges:
    """Return how much each column changed under every permutation, by some kinds or all."""
    scores = []
    for kind in kinds:
        own = MEASURES[kind](pool)
        own += HEAD_START.get(kind, 0.0)
        if kind != "location":
            # The shares of two values, or of the levels of a category, leave nothing else.
            own[:, pool.tables.shapeless] = NOTHING
        scores.append(own)
    columns, first = np.unique(pool.tables.column, return_index=True)
    if first.size < pool.tables.size:
        scores = [np.maximum.reduceat(own, first, axis=1) for own in scores]
    return ColumnChanges(columns, np.stack(scores), pool.labels)


def _of_score(pool: Pool, name: str) -> FloatArray:
    """Return the scores of δ of one kind of score."""
    sums = pool.sums.of(name)
    moments = _moments(pool, sums)
    known = pool.labels.null_moments(sums, *moments.sum_over_x())
    return moments.of_sum().scores(pool.differences(name), known)


def _of_location(pool: Pool) -> FloatArray:
    """Return the larger score of δ(U) and δ(V); of columns with heavy tails that of the rank."""
    scale = pool.tables.units.scale
    heavy = (scale > 0) & (scale * HEAVY < 1)
    scores = np.maximum(_of_score(pool, "normal"), _of_score(pool, "clipped"))
    if heavy.any():
        scores[:, heavy] = _of_score(pool, "rank")[:, heavy]
    return scores


def _of_shape(pool: Pool) -> FloatArray:
    """Return the largest score of all measures of shape."""
    largest = np.full((pool.count, pool.tables.size), NOTHING)
    for name in SHAPE_SCORES:
        np.maximum(largest, _of_score(pool, name), out=largest)
    return largest


def _of_spread(pool: Pool) -> FloatArray:
    """Return the scores of the change of spread: the smaller of those of U and of V.

    Both being as large is less likely than one of them, by how little they depend on each other:
    two normal variables of correlation ρ exceed z at once with a chance of the order of
    exp(−z²/(1 + ρ)), and so the smaller score counts 2/(1 + ρ) times.
    """
    rows = pool.labels.mean_rows
    changes, scores = [], []
    for name in ("normal", "clipped"):
        squares = _moments(pool, pool.sums.squares(name))
        root, plain = squares.of_root(rows), squares.of_sum()
        # Where a root would lean to the other side, as for rare values, there is none.
        rooted = squares.skewness >= 1.5 * squares.deviation / rows
        tails = PermutedTails(
            np.where(rooted, root.skewness, plain.skewness),
            np.where(rooted, root.excess, plain.excess),
        )
        changes.append(_spread_changes(pool, name, rooted))
        scores.append(tails.scores(changes[-1]))
    alike = np.maximum(_correlation(*changes), 0)
    return np.asarray(np.minimum(*scores) * (2 / (1 + alike)))


def _spread_changes(pool: Pool, name: str, rooted: BoolArray) -> Singles:
    """Return (s_x − s_y)/s, or where not `rooted` (s_x² − s_y²)/s², of one kind of score.

    s² is the mean of s_x² and s_y², by the rows of each.
    """
    moments, share = pool.moments(name), pool.labels.n_x / pool.labels.n_rows
    present = pool.sums.present
    x, y = (
        np.where(inverse > 0, 1 / np.where(inverse > 0, inverse, 1), 0)
        for inverse in (moments.inverse_x, moments.inverse_y)
    )
    if present is not None:
        # The deviation of k values is too small by a factor that depends on k.
        x, y = (
            deviation * np.sqrt(k / np.maximum(k - 1.5, 0.5))
            for deviation, k in zip((x, y), pool.counts(present), strict=True)
        )
    within = np.sqrt(share * np.square(x) + (1 - share) * np.square(y))
    inverse = 1 / np.where(within > 0, within, 1)
    x, y = x * inverse, y * inverse
    changes = np.asarray((x - y) * np.where(rooted, np.float32(1), x + y))
    # In the noise that all rows would have, where values are missing.
    return changes if present is None else np.asarray(changes * pool.precision(present))


MEASURES = {"location": _of_location, "spread": _of_spread, "shape": _of_shape}
"""What gives the scores of each kind, by `COLUMN_KINDS`."""


def _correlation(a: Singles, b: Singles) -> FloatArray:
    """Return the correlation of statistics over the permutations, column by column."""
    a, b = a - a.mean(axis=0), b - b.mean(axis=0)
    unit = np.sqrt(np.square(a).sum(axis=0) * np.square(b).sum(axis=0))
    return np.asarray((a * b).sum(axis=0) / np.where(unit > 0, unit, 1.0))


def _moments(pool: Pool, sums: TwoSampleSums) -> BinMoments:
    """Return the moments of what is permuted of sums."""
    moved = pool.labels.n_moved_of
    return BinMoments.of(sums.permuted(moved), moved[0] / sum(moved))


# How much columns changed under every permutation: all of them, or the strongest of very many.
#
# Adjusted p-values step down from the column with the largest score at the true labels. What they
# need of the other columns is the largest score under every permutation. So of columns that come
# in blocks those that lead so far are kept, and of all others the maximum: until more columns are
# named than are kept, the p-values are those of the whole table; from then on the maxima are no
# longer made smaller, and p-values only become a little larger.


@dataclass(frozen=True, eq=False)
class MaxTScores:
    """The scores of columns, the largest of their kinds.

    Attributes
    ----------
    columns : array of length C
        Columns of the samples that vary.
    own : array of length C
        Their scores at the true labels.
    kept : array of length K
        Places among them of those that are kept: no other has a larger score.
    table : array of shape (permutations, K)
        Their scores.
    unadjusted : Unadjusted
        The unadjusted p-values of all C columns.
    others : array of length permutations, or None
        The largest score of all others; None where all are kept.
    """

    columns: IntArray
    own: FloatArray
    kept: IntArray
    table: FloatArray
    unadjusted: Unadjusted
    others: FloatArray | None = None

    @classmethod
    def of(cls, changes: ColumnChanges) -> MaxTScores:
        """Return the max-T scores of columns that are all there."""
        table, labels = changes.largest(), changes.labels
        unadjusted = Unadjusted.of(table, labels.log_labellings, exact=labels.exact)
        return cls(changes.columns, table[0], np.arange(changes.columns.size), table, unadjusted)

    @classmethod
    def joined(cls, parts: Sequence[MaxTScores]) -> MaxTScores:
        """Return the max-T scores of all columns of several, one after the other."""
        budget = current_budget()
        most = max(budget.max_t_entries // parts[0].table.shape[0], budget.max_t_columns)
        first = np.cumsum([0, *(part.columns.size for part in parts)])
        kept = np.concatenate(
            [part.kept + start for part, start in zip(parts, first[:-1], strict=True)]
        )
        own = np.concatenate([part.own for part in parts])
        columns = np.concatenate([part.columns for part in parts])
        others = [part.others for part in parts if part.others is not None]
        lead = np.sort(np.argsort(-own[kept], kind="stable")[:most])
        inside = np.zeros(kept.size, dtype=np.bool_)
        inside[lead] = True
        tables, start = [], 0
        for part in parts:
            kept_here = inside[start : start + part.kept.size]
            start += part.kept.size
            tables.append(part.table[:, kept_here])
            if not kept_here.all():
                others.append(part.table[:, ~kept_here].max(axis=1))
        table = np.concatenate(tables, axis=1)
        left = np.max(others, axis=0) if others else None
        unadjusted = Unadjusted.joined([part.unadjusted for part in parts])
        return cls(columns, own, kept[lead], table, unadjusted, left)

    def units(self) -> TableUnits:
        """Return the kept columns as units to be named."""
        return TableUnits(self.table, self.others)

    def adjusted(self, units: TableUnits, named: Named) -> FloatArray:
        """Return the adjusted p-value of every column."""
        adjusted = named.rest(self.own)
        adjusted[self.kept] = units.adjusted(named)
        return adjusted


# Columns of a wide table that are named by their location alone, with adjusted p-values.


OTHERS = "others"
"""The class of these columns among those that share one level."""


class OtherUnits:
    """The columns that are named here, as units of `tellapart.scan.adjusted.step_down`."""

    def __init__(self, shifts: WideShifts) -> None:
        named = np.flatnonzero(shifts.named)
        self._order = named[np.argsort(-shifts.true_scores[named], kind="stable")]
        self._shifts = shifts
        self._n_taken = 0

    def strongest(self) -> float | None:
        """Return the largest score at the true labels; None if all were taken."""
        if self._n_taken == self._order.size:
            return None
        return float(self._shifts.true_scores[self._order[self._n_taken]])

    def maxima(self) -> FloatArray:
        """Return the largest score of what is left, under every permutation."""
        return self._shifts.maximum_without(set(self._order[: self._n_taken].tolist()))

    def take(self) -> None:
        """Leave out the strongest column."""
        self._n_taken += 1

    def adjusted(self, named: Named) -> FloatArray:
        """Return the adjusted p-values of the columns that are named here, 1 for the others."""
        adjusted = np.ones(self._shifts.true_scores.size)
        taken, left = np.split(self._order, [self._n_taken])
        adjusted[taken] = named.pvalues
        adjusted[left] = named.rest(self._shifts.true_scores[left])
        return adjusted
