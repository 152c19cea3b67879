"""Joint: local differences in the distribution of one, two, three or all columns together.

A difference is local where density moves between places that lie close to each other: a wave, a
gap, clusters that turn. Means, variances and correlations hardly change then; a kernel with a small
bandwidth shows it. Two kinds of kernel are used.

Waves, of single columns and of sets of two and three. With F the pooled ranks divided by N and
φ_k(F) = √2 cos(kπF), the statistic of a set is

    Σ_k w(k) c(k)²,    w(k) = exp(−(πh‖k‖)²),

over frequencies k ≥ 1 of its columns, c(k) the difference of the means of φ_k (of a pair, that of
the covariances within the samples): MMD² of a Gaussian kernel of bandwidth h on ranks; of a pair or
triple, the part of it that its single columns do not have. These are sums over rows, so no pairs of
rows are needed, however many rows there are.

Gaussian kernels of all columns, where they are few and no value is missing, each column divided by
its scale. The bandwidths are half the 2nd and half the 8th percentile of the pooled distances.

Wilson and Hilferty's cube root turns a weighted sum of squares, by its mean and variance, into a
nearly normal score, so that the largest over bandwidths and sets compares like with like. Of many
columns, those pairs are looked at that depend most on each other at high frequencies in the pooled
rows, without labels, and the triples that they make up.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.special import ndtr

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import Budget
from tellapart.compiling import compiled
from tellapart.scan.family import Family, FamilyPlan, FamilyResult, ScanState, Skipped
from tellapart.scan.features import PRESENT, Feature, ScoredBlock, Segments
from tellapart.scan.pool import Pool
from tellapart.scan.row_forms import points_per_bin, row_forms
from tellapart.scan.scores import Scores

BANDWIDTHS = {
    1: (2**-3.5, 2**-4.5, 2**-5.5, 2**-7.0),
    2: (2**-3.5, 2**-4.25, 2**-5.0),
    3: (2**-2.5, 2**-3.25),
}
"""Bandwidths of sets of one, two and three columns, in shares of the pooled rows."""
LARGEST_FREQUENCY = {1: 28, 2: 16, 3: 6}
FINEST_FREQUENCY = 80
"""Of single columns, where they are at most `FEW_COLUMNS`."""
FEW_COLUMNS = 10
# A wave whose weight is smaller than this at its largest frequency has that bandwidth.
DECAYED = 0.15
PERCENTILES = (0.02, 0.08)
MOST_IN_FULL = 6
"""Score columns of which all pairs are looked at, and, of fewer, all triples."""
SCREENED_PAIRS, SCREENED_TRIPLES = 10, 5
SCREENING_FREQUENCY, LEAST_FREQUENCY = 8, 4
# Deviations that the dependence of a pair must lie above chance in the pooled rows.
STANDS_OUT = 4.0
SCREENED_COLUMNS = 120
KERNEL_COLUMNS = 10
WEIGHTS = ((2, 8.0), (5, 4.0), (10, 1.5))
"""How much the family counts in tables of at most so many columns."""
# A variance below this share of that of a wave is rounding.
FLAT = 1e-6


@cache
def frequencies(n_columns: int, most: int) -> IntArray:
    """Return the frequencies k of a set of columns, (number × columns), the last rising fastest.

    Their length ‖k‖ is at most `most`.

    >>> frequencies(1, 3).ravel().tolist(), frequencies(2, 2).tolist()
    ([1, 2, 3], [[1, 1]])
    """
    every = np.array(list(itertools.product(range(1, most + 1), repeat=n_columns)), dtype=np.intp)
    return np.asarray(every[np.square(every).sum(axis=1) <= most**2])


@dataclass(frozen=True, eq=False)
class Waves:
    """Σ over rows of the products of cosines of all frequencies, set after set of columns.

    Attributes
    ----------
    sets : tuple of tuples of int
        Score columns of each set, one to three.
    n_single : int
        Frequencies of a set of one column.
    """

    sets: tuple[tuple[int, ...], ...]
    n_single: int = LARGEST_FREQUENCY[1]

    scores = ("normal",)

    def frequencies(self, n_columns: int) -> IntArray:
        """Return the frequencies of a set of so many columns."""
        return frequencies(
            n_columns, self.n_single if n_columns == 1 else LARGEST_FREQUENCY[n_columns]
        )

    def bandwidths(self, n_columns: int) -> tuple[float, ...]:
        """Return the bandwidths that these frequencies are enough for."""
        most = int(self.frequencies(n_columns).max())
        every = BANDWIDTHS[n_columns]
        return tuple(h for h in every if math.exp(-((math.pi * h * most) ** 2)) < DECAYED)

    @property
    def size(self) -> int:
        """Number of sums."""
        return int(self.starts[-1])

    @property
    def starts(self) -> IntArray:
        """The first sum of each set, and their number."""
        counts = [self.frequencies(len(columns)).shape[0] for columns in self.sets]
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.intp)

    def _members(self) -> tuple[IntArray, IntArray]:
        """Return the score columns that take part, and their places in every set, −1 for none."""
        used = np.unique(np.concatenate([np.array(columns) for columns in self.sets]))
        places = np.full((len(self.sets), 3), -1, dtype=np.intp)
        for q, columns in enumerate(self.sets):
            places[q, : len(columns)] = np.searchsorted(used, columns)
        return used, places

    def add(self, block: ScoredBlock, segments: Segments, out: Singles) -> None:
        """Add the sums of the waves; of rows that have all columns of a set."""
        used, places = self._members()
        ranks = ndtr(block.scores["normal"][used])
        present = block.scores.get(PRESENT)
        there = np.ones((used.size, 1), np.float32) if present is None else present[used]
        starts, most = self.starts, self.n_single
        segments.each(
            lambda rows, bins: _add_waves(
                ranks, there, most, places, starts, LAST_OF_PAIRS, LAST_OF_TRIPLES, rows, bins, out
            )
        )

    def rows_behind(self) -> RowsOfSets:
        """Return what counts the rows that have all columns of each set."""
        return RowsOfSets(self)

    def of(self, ranks: FloatArray | Singles, number: int) -> Singles:
        """Return the waves of one set for rows of ranks F (rows × score columns)."""
        columns = self.sets[number]
        values = np.ones((ranks.shape[0], 1), dtype=np.float32)
        every = self.frequencies(len(columns))
        angles = np.pi * np.arange(1, int(every.max()) + 1)
        for q, column in enumerate(columns):
            waves = np.sqrt(2) * np.cos(angles * ranks[:, [column]])
            values = values * waves[:, every[:, q] - 1].astype(np.float32)
        return values


@dataclass(frozen=True, eq=False)
class RowsOfSets:
    """Σ over rows of whether they have all columns of a set, once for every wave of it."""

    waves: Waves

    scores = (PRESENT,)

    @property
    def size(self) -> int:
        """Number of sums."""
        return self.waves.size

    def add(self, block: ScoredBlock, segments: Segments, out: Singles) -> None:
        """Add the numbers of rows."""
        present, starts = block.scores[PRESENT], self.waves.starts
        for q, columns in enumerate(self.waves.sets):
            complete = present[list(columns)].min(axis=0)
            counts = np.add.reduceat(complete, segments.starts[:-1])
            out[segments.bins, starts[q] : starts[q + 1]] += counts[:, np.newaxis]

    def rows_behind(self) -> None:
        """Return None: it is a count itself."""


def _n_last(n_columns: int) -> IntArray:
    """Return how many frequencies of the last column there are, by those of the others."""
    most = LARGEST_FREQUENCY[n_columns]
    counts = np.zeros((most,) * (n_columns - 1), dtype=np.intp)
    np.add.at(counts, tuple(frequencies(n_columns, most)[:, :-1].T - 1), 1)
    return counts


LAST_OF_PAIRS, LAST_OF_TRIPLES = _n_last(2), _n_last(3)
ROOT_TWO = np.float32(np.sqrt(2))


@compiled(fastmath=True)
def _add_waves(  # type: ignore[no-untyped-def]  # pragma: no cover
    ranks, present, most, places, starts, last_of_pairs, last_of_triples, rows, bins, out
):  # fmt: skip
    """Add √2cos(kπF) of every set, and products of them, to the sums of the bin of each row."""
    n_used = ranks.shape[0]
    waves = np.empty((n_used, max(most, last_of_pairs.size)), dtype=np.float32)
    gaps = present.shape[1] > 1
    for i in range(bins.size):
        total = out[bins[i]]
        for row in range(rows[i], rows[i + 1]):
            for c in range(n_used):
                first = math.cos(math.pi * ranks[c, row])
                before, here = 1.0, first
                for k in range(waves.shape[1]):
                    waves[c, k] = ROOT_TWO * here
                    before, here = here, 2.0 * first * here - before
            for q in range(places.shape[0]):
                a, b, c = places[q]
                if gaps:
                    complete = present[a, row]
                    if b >= 0:
                        complete *= present[b, row]
                    if c >= 0:
                        complete *= present[c, row]
                    if complete == 0:
                        continue
                at = starts[q]
                if b < 0:
                    for k in range(most):
                        total[at + k] += waves[a, k]
                elif c < 0:
                    for j in range(last_of_pairs.size):
                        one = waves[a, j]
                        for k in range(last_of_pairs[j]):
                            total[at + k] += one * waves[b, k]
                        at += last_of_pairs[j]
                else:
                    for i1 in range(last_of_triples.shape[0]):
                        for j in range(last_of_triples.shape[1]):
                            both = waves[a, i1] * waves[b, j]
                            for k in range(last_of_triples[i1, j]):
                                total[at + k] += both * waves[c, k]
                            at += last_of_triples[i1, j]


@dataclass(frozen=True, eq=False)
class KeptRows:
    """Some rows of every bin as points: numeric columns as they are, in units of their scales.

    Attributes
    ----------
    column : array
        Numeric columns of the samples.
    middle, scale : arrays
        What they are centred at, and divided by.
    per_bin : int
        Rows that are kept of a bin.
    """

    column: IntArray
    middle: FloatArray
    scale: FloatArray
    per_bin: int

    scores = ()

    @property
    def size(self) -> int:
        """Number of values of a bin."""
        return self.per_bin * int(self.column.size)

    def of(self, values: FloatArray) -> Singles:
        """Return the points of rows."""
        return np.asarray((values[:, self.column] - self.middle) / self.scale, dtype=np.float32)

    def add(self, block: ScoredBlock, segments: Segments, out: Singles) -> None:
        """Keep the rows: each stands at a place of its own, so that adding up merges blocks."""
        bins = np.repeat(segments.bins, np.diff(segments.starts))
        kept = np.flatnonzero((block.place < self.per_bin) & (bins < out.shape[0] - 1))
        held = out.reshape(out.shape[0], self.per_bin, -1)
        held[bins[kept], block.place[kept]] = self.of(block.values[block.order[kept]])

    def rows_behind(self) -> None:
        """Return None: these are rows, not sums."""


@dataclass(frozen=True, eq=False, kw_only=True)
class JointPlan(FamilyPlan):
    """The sets of columns, and the points of the kernels of all columns.

    Attributes
    ----------
    waves : Waves
        The sets of score columns; those of one column come first.
    variances : array
        The variance of every wave in the pooled rows.
    rows : KeptRows or None
        What is kept of rows; None where columns are too many for kernels of all of them.
    levels : array
        Score columns of categories, whose scores are coordinates beside those of `rows`.
    bandwidths : tuple of float
        Those of the kernels of all columns.
    """

    waves: Waves
    variances: FloatArray
    rows: KeptRows | None
    levels: IntArray
    bandwidths: tuple[float, ...]


@dataclass(frozen=True)
class LocalDifference:
    """A set of columns whose distribution differs: its columns, bandwidth and log odds."""

    columns: tuple[int, ...]
    bandwidth: float
    log_odds: float


@dataclass(frozen=True, eq=False)
class JointCandidates:
    """How much the distribution of each set of columns changed.

    Attributes
    ----------
    scores : array of shape (permutations, sets)
        s = z²/2 of the largest score z over the bandwidths, 0 below it, as in
        `tellapart.scan.tails`.
    sets : tuple of tuples of int
        Columns of the samples.
    bandwidths : tuple of float
        The bandwidth of the largest score at the true labels, in shares of the rows; NaN for the
        kernels of all columns.
    """

    scores: FloatArray
    sets: tuple[tuple[int, ...], ...]
    bandwidths: tuple[float, ...]

    def difference(self, place: int) -> LocalDifference:
        """Return one of the sets; its odds are those of one among all that were looked at."""
        log_odds = float(self.scores[0, place]) - math.log(2 * len(self.sets))
        return LocalDifference(self.sets[place], self.bandwidths[place], log_odds)


class Joint(Family):
    """Local differences of one, two, three or all columns together."""

    name = "joint"
    weight = 0.5
    description = "local differences of the distribution of one to three columns, or of all if few"
    work = 4
    fewest_rows = 10

    def plan(self, state: ScanState, budget: Budget) -> JointPlan | Skipped:
        """Decide which sets to look at: all of few columns, else those that depend most."""
        reason = state.why_skipped(self.fewest_rows, None)
        if reason is not None:
            return Skipped(reason)
        n_single = FINEST_FREQUENCY if state.n_varying <= FEW_COLUMNS else LARGEST_FREQUENCY[1]
        sets, note = local_sets(state, budget, n_single)
        if not sets:
            return Skipped()
        waves = Waves(sets, n_single)
        ranks = ndtr(state.scores.normal[state.few])
        variances = np.concatenate(
            [waves.of(ranks, q).var(axis=0, dtype=np.float64) for q in range(len(sets))]
        )
        rows, levels, bandwidths = _points(state)
        features: tuple[Feature, ...] = (waves,) if rows is None else (waves, rows)
        return JointPlan(
            features=features,
            note=note,
            weight=joint_weight(state.n_varying),
            waves=waves,
            variances=np.where(variances > FLAT, variances, 0.0),
            rows=rows,
            levels=levels,
            bandwidths=bandwidths,
        )

    def run(self, contrasts: Pool, plan: JointPlan) -> FamilyResult:
        """Return the largest scores of sets of one, two and three columns, and of the kernels."""
        scores, best = wave_scores(contrasts, plan)
        sizes = np.array([len(columns) for columns in plan.waves.sets])
        largest = [scores[:, sizes == size].max(axis=1) for size in np.unique(sizes)]
        parent = contrasts.tables.column
        sets = [tuple(sorted({int(parent[s]) for s in one})) for one in plan.waves.sets]
        table, of_sets, bandwidths = [*scores.T], sets, [*best]
        if plan.bandwidths:
            forms = kernel_forms(contrasts, plan)
            largest += [_standardised(np.cbrt(form)) for form in forms]
            whole = np.max([_standardised(np.cbrt(form)) for form in forms], axis=0)
            every = tuple(sorted({int(column) for column in parent}))
            if every in of_sets:
                at = of_sets.index(every)
                table[at] = np.maximum(table[at], whole)
            else:
                table.append(whole)
                of_sets, bandwidths = [*of_sets, every], [*bandwidths, np.nan]
        # The combination takes cube roots: of these the scores themselves are left.
        statistics = np.column_stack(largest).clip(min=0.0) ** 3
        exponents = np.square(np.column_stack(table).clip(min=0.0)) / 2
        candidates = JointCandidates(exponents, tuple(of_sets), tuple(bandwidths))
        return FamilyResult(statistics, (candidates,))


def joint_weight(n_columns: int) -> float:
    """Return how much the family counts: the more, the fewer columns there are."""
    return next((weight for most, weight in WEIGHTS if n_columns <= most), Joint.weight)


def local_sets(
    state: ScanState, budget: Budget, n_single: int
) -> tuple[tuple[tuple[int, ...], ...], str | None]:
    """Return the sets of score columns to look at, and what is left out of them, if anything."""
    parent, n_rows = state.scores.column, state.labels.n_rows
    columns = range(parent.size)
    note = None
    if parent.size <= MOST_IN_FULL:
        pairs = _across(parent, 2)
        triples = _across(parent, 3) if parent.size < MOST_IN_FULL else []
    else:
        pairs = screened_pairs(state)
        triples = joined(pairs, parent)[:SCREENED_TRIPLES]
        every = math.comb(np.unique(parent).size, 2)
        note = (
            f"pairs ({len(pairs)} of {every:,}) and triples ({len(triples)}) were screened, blind "
            "to group: those with the most local dependence in the pooled rows"
        )
    affordable = int(budget.local_products * state.effort // max(n_rows, 1))
    waves = Waves((*pairs, *triples), n_single)
    used = {s for one in waves.sets for s in one}
    most = max(affordable - waves.size, 0) // n_single
    alone = columns if parent.size <= most else sorted(used)
    return (*((s,) for s in alone), *pairs, *triples), note


def _across(parent: IntArray, size: int) -> list[Any]:
    """Return all sets of so many score columns that belong to different columns."""
    every = itertools.combinations(range(parent.size), size)
    return [one for one in every if len({int(parent[s]) for s in one}) == size]


def screened_pairs(state: ScanState) -> list[tuple[int, int]]:
    """Return the pairs of score columns with the most dependence at high frequencies.

    What low frequencies show is that of correlations and of other smooth dependence, which other
    families look at. Pairs that do not stand out from chance are none.
    """
    scores = state.scores
    columns = np.arange(scores.column.size)
    if columns.size > SCREENED_COLUMNS:
        columns = state.dependence.most(SCREENED_COLUMNS)
    ranks = ndtr(scores.normal[np.ix_(state.screening, columns)])
    n_rows, size = ranks.shape
    number = np.arange(1, SCREENING_FREQUENCY + 1)
    waves = np.sqrt(2) * np.cos(np.pi * ranks[:, :, np.newaxis] * number)
    waves = np.asarray(waves.reshape(n_rows, -1), dtype=np.float32)
    waves -= waves.mean(axis=0)
    deviation = np.sqrt(np.square(waves).mean(axis=0))
    waves /= np.where(deviation > FLAT, deviation, np.inf)
    products = (waves.T @ waves).reshape(size, number.size, size, number.size)
    local = np.add.outer(number, number) >= LEAST_FREQUENCY
    strength = np.einsum("sjtk,jk->st", np.square(products) / n_rows, local)
    excess = (strength - local.sum()) / np.sqrt(2 * local.sum())
    parent = scores.column[columns]
    excess[parent[:, np.newaxis] >= parent] = -np.inf
    order = np.argsort(-excess, axis=None, kind="stable")[:SCREENED_PAIRS]
    return [
        (int(columns[q // size]), int(columns[q % size]))
        for q in order
        if excess.flat[q] > STANDS_OUT
    ]


def joined(pairs: Sequence[tuple[int, int]], parent: IntArray) -> list[tuple[int, int, int]]:
    """Return the triples that two pairs with a column in common make up, the strongest first."""
    triples: dict[tuple[int, ...], None] = {}
    for one, other in itertools.combinations(pairs, 2):
        together = tuple(sorted({*one, *other}))
        if len(together) == 3 and len({int(parent[s]) for s in together}) == 3:
            triples[together] = None
    return [(s, t, u) for s, t, u in triples]


def _points(state: ScanState) -> tuple[KeptRows | None, IntArray, tuple[float, ...]]:
    """Return what is kept of rows, the score columns of levels, and the bandwidths of kernels."""
    scores = state.scores
    levels = np.setdiff1d(np.arange(scores.column.size), scores.numeric)
    numeric = scores.column[scores.numeric]
    # A missing value has no place among points: what is missing would count as a difference.
    gaps = scores.present is not None
    if gaps or not 2 <= state.n_varying <= KERNEL_COLUMNS or not numeric.size:
        return None, levels, ()
    values = state.rows[:, numeric]
    low, high = np.quantile(values, (0.02, 0.98), axis=0)
    middle = np.median(values, axis=0)
    scale = np.std(np.clip(values, low, high), axis=0)
    spread = np.std(values, axis=0)
    scale = np.where(scale > 0, scale, spread)
    rows = KeptRows(numeric, middle, scale, points_per_bin(state.labels))
    seen = state.few
    points = np.hstack([rows.of(state.rows[seen]), _level_points(scores, levels)[seen]])
    squares = np.square(points).sum(axis=1)
    distances = squares[:, np.newaxis] + squares - 2 * points @ points.T
    above = distances[np.triu_indices(seen.size, 1)]
    above = np.sqrt(above[above > 1e-6 * max(above.max(initial=0.0), 1e-300)])
    if not above.size:
        return None, levels, ()
    return rows, levels, tuple((np.quantile(above, PERCENTILES) / 2).tolist())


def _level_points(scores: Scores, levels: IntArray) -> Singles:
    counts = np.bincount(scores.column)[scores.column[levels]]
    return np.asarray(scores.clipped[:, levels] / np.sqrt(counts), dtype=np.float32)


def wave_scores(pool: Pool, plan: JointPlan) -> tuple[FloatArray, list[float]]:
    """Return the scores of every set under every permutation, and the best bandwidth of each."""
    waves, starts = plan.waves, plan.waves.starts
    sums = pool.sums.feature(waves)
    of_design = pool.labels.null_mean_squares(sums)
    variances = plan.variances if of_design is None else np.where(plan.variances > 0, of_design, 0)
    n_x, n_y = pool.labels.true_counts
    unit = 1 / n_x + 1 / n_y
    every_x, every_y = pool.means(sums)
    precision = None if sums.present is None else pool.precision(sums.present)
    single: dict[int, slice] = {}
    scores = np.empty((pool.count, len(waves.sets)))
    best = []
    for q, columns in enumerate(waves.sets):
        features = slice(starts[q], starts[q + 1])
        mean_x, mean_y = every_x[:, features], every_y[:, features]
        every, bandwidths = waves.frequencies(len(columns)), waves.bandwidths(len(columns))
        if len(columns) == 1:
            single[columns[0]] = features
        elif len(columns) == 2:
            a, b = (single[s].start + every[:, side] - 1 for side, s in enumerate(columns))
            mean_x = mean_x - every_x[:, a] * every_x[:, b]
            mean_y = mean_y - every_y[:, a] * every_y[:, b]
        changes = mean_x - mean_y
        if precision is not None:
            changes = changes * precision[:, features]
        squares = np.square(changes) / np.float32(unit)
        of_set = _scores_of_set(squares, every, variances[features], bandwidths)
        best.append(bandwidths[int(np.argmax(of_set[0]))])
        scores[:, q] = of_set.max(axis=1)
    return scores, best


def _scores_of_set(
    squares: Singles, every: IntArray, variances: FloatArray, bandwidths: tuple[float, ...]
) -> FloatArray:
    """Return the nearly normal scores of weighted sums of squares, one column per bandwidth."""
    lengths = np.square(every).sum(axis=1)
    weights = np.exp(-np.square(np.pi * np.array(bandwidths)) * lengths[:, np.newaxis])
    mean = variances @ weights
    variance = 2 * np.square(variances) @ np.square(weights)
    usable = mean > 0
    share = np.where(usable, variance / np.where(usable, 9 * np.square(mean), 1.0), 1.0)
    roots = np.cbrt(
        (squares @ weights.astype(np.float32)).astype(np.float64) / np.where(usable, mean, 1.0)
    )
    return np.asarray(np.where(usable, (roots - (1 - share)) / np.sqrt(share), 0.0))


def witness(scores: Scores, n_x: int, difference: LocalDifference) -> Singles | None:
    """Return Σ_k w(k) c(k) φ_k of every row, those of X first: large where X is denser than Y.

    None for sets that have a column of several levels, and for those of all columns.
    """
    size = len(difference.columns)
    places = [np.flatnonzero(scores.column == column) for column in difference.columns]
    if math.isnan(difference.bandwidth) or any(place.size != 1 for place in places):
        return None
    of_set = Waves((tuple(int(place[0]) for place in places),), FINEST_FREQUENCY)
    waves = of_set.of(ndtr(scores.normal), 0)
    waves -= waves.mean(axis=0)
    lengths = np.square(of_set.frequencies(size)).sum(axis=1)
    weights = np.exp(-np.square(np.pi * difference.bandwidth) * lengths)
    changes = waves[:n_x].mean(axis=0) - waves[n_x:].mean(axis=0)
    return np.asarray(waves @ (weights * changes).astype(np.float32))


def kernel_forms(pool: Pool, plan: JointPlan) -> list[FloatArray]:
    """Return wᵀKw of the Gaussian kernels of all columns under every permutation."""
    assert plan.rows is not None
    forms = row_forms(pool.labels, pool)
    points = forms.kept_rows(pool.sums.feature(plan.rows), plan.rows.per_bin)
    if plan.levels.size:
        crowd = np.bincount(pool.tables.column)[pool.tables.column[plan.levels]]
        points = np.hstack([points, forms.kept_scores()[:, plan.levels] / np.sqrt(crowd)])
    return [
        np.maximum(forms.gaussian(np.ascontiguousarray(points, dtype=np.float32), h), 0.0)
        for h in plan.bandwidths
    ]


def _standardised(values: FloatArray) -> FloatArray:
    deviation = values.std()
    return np.asarray((values - values.mean()) / (deviation if deviation > 0 else 1.0))
