"""The evidence of columns and groups together: how strong each is, and how much they share.

Every column and every group (a pair or triple whose dependence differs) has a strength
e = √(2 log(1 + odds)) and a score that shows its difference best. With C the correlations c of
these scores within the samples, each times c²N/(c²N + 9) so that those which N rows show by chance
hardly count, s the signs of the differences and

    M = ½ (ssᵀ∘C + C∘C) + r·I,

the evidence of a set with weights z ≥ 0 is eᵀz/√(zᵀMz). Were M = ssᵀ∘C, this would be Hotelling's T
of the scores, each counted in the direction in which it differs; were M = C∘C, a thing would add
the less the more it follows the others. The first knows that two columns may show together what
neither shows alone, the second does not fall for chance of that kind: half of each. r ≥ 0.2 keeps
one strong column from being built up of many that nearly cancel, and M positive definite.

Under a design (clusters, strata, pairs) all of this is judged by its units: the odds by t
statistics of their sums, and C by what is left of these sums beside blocks and samples, shrunk
more (`_correlations`). Pairs need `FEWEST_ROWS_IN_PAIRS` units of each sample, and triples take no
part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray, Singles
from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.evidence.columns import (
    REASONS,
    ColumnEvidence,
    column_evidence,
    strength,
    within_samples,
)
from tellapart.evidence.dependence import (
    FEWEST_ROWS_IN_PAIRS,
    FEWEST_ROWS_IN_TRIPLES,
    MOST_PAIRED_COLUMNS,
    CopulaScores,
    Group,
    find_pairs,
    find_triples,
    most_columns,
)
from tellapart.evidence.shared_scores import KnownScores
from tellapart.permutation.design_units import design_units
from tellapart.scan.differences import Differences, find_differences
from tellapart.scan.families.joint import LocalDifference, witness
from tellapart.scan.family import ScanState, most_varied, tiedness
from tellapart.scan.scores import Scores, make_scores
from tellapart.threads import in_threads, one_blas_thread

# Rows that have every column looked at: where values are missing, dependence is judged by them.


LEAST_SHARE = 0.5
"""Columns are left out until this share of the rows has all the others."""


@dataclass(frozen=True, eq=False)
class SomeRows:
    """Which of the pooled rows count, those of X first; None for all."""

    counted: BoolArray | None
    n_rows: int

    def fewer(self, n_x: int) -> int:
        """Return how many rows of the smaller sample count, X having the first `n_x`."""
        if self.counted is None:
            return min(n_x, self.n_rows - n_x)
        return int(min(self.counted[:n_x].sum(), self.counted[n_x:].sum()))

    def of(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the rows of both samples that count."""
        if self.counted is None:
            return x, y
        return x[self.counted[: len(x)]], y[self.counted[len(x) :]]

    def of_all(self, groups: Iterable[Group]) -> list[Group]:
        """Return groups whose scores are those of all rows: 0 for rows that do not count."""
        if self.counted is None:
            return list(groups)
        padded = []
        for group in groups:
            every = np.zeros(self.n_rows, dtype=np.float32)
            every[self.counted] = group.score
            padded.append(replace(group, score=every))
        return padded


def whole_rows(scores: Scores, places: IntArray) -> tuple[SomeRows, IntArray]:
    """Return the rows that have all of some columns, and these columns.

    Where values are missing, columns are left out, those that miss most in the pooled rows first,
    until half of the rows have all the others.
    """
    n_rows = scores.normal.shape[0]
    if scores.present is None:
        return SomeRows(None, n_rows), scores.column[places]
    present = scores.present[:, places] > 0
    order = np.argsort(-present.sum(axis=0), kind="stable")
    complete = np.logical_and.accumulate(present[:, order], axis=1).mean(axis=0)
    count = max(int(np.count_nonzero(complete >= LEAST_SHARE)), min(2, order.size))
    kept = np.sort(order[:count])
    counted = np.asarray(present[:, kept].all(axis=1))
    return SomeRows(counted, n_rows), scores.column[places[kept]]


SHRINKAGE = 0.2
"""r, or what takes the least eigenvalue of M to half of it."""
CHANCE = 9.0
"""A correlation counts half where its square is this many times that of chance, 1/N."""
CHANCE_OF_UNITS = 40.0
"""The same under a design: of few units the largest of many correlations is large by chance."""
EDGE = 0.9999
"""Correlations of units are kept off ±1."""
FEWEST_CANDIDATES = 100
"""Candidates of a choice that is one of many."""
LEAST_VARYING = 0.1
"""Of columns with fewer rows off their most common value, dependence shows by chance."""
MOST_SEEN = 50
"""Pairs, and triples, with the largest odds, of which…"""
ENTRIES_FOR_THREADS = 100_000
"""Rows times columns below which handing pairs and triples to other threads takes longer."""
MOST_GROUPS = 5
"""…so many take part at most."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """What can be chosen: the candidate columns first, then the groups.

    Attributes
    ----------
    columns : array of length C
        Candidate columns of the samples, in their order.
    groups : tuple of Group
        Pairs and triples whose dependence differs.
    strengths : array of length C + groups
        e.
    shared : array of shape (C + groups, C + groups)
        M.
    likeness : array of the same shape
        ssᵀ∘C: how closely one follows another, in the direction in which both differ.
    reasons : tuple of str
        What each candidate column differs in: "shift", "spread" or "shape".
    n_rows : pair of int
        Rows of X and Y that were used.
    """

    columns: IntArray
    groups: tuple[Group, ...]
    strengths: FloatArray
    shared: FloatArray
    likeness: FloatArray
    reasons: tuple[str, ...]
    n_rows: tuple[int, int]

    @property
    def n_columns(self) -> int:
        """Number of candidate columns."""
        return int(self.columns.size)


def gather_evidence(
    samples: Samples,
    n_variables: int,
    *,
    rng: np.random.Generator,
    n_jobs: int = 1,
    differences: Differences | None = None,
    effort: float = 1.0,
    known: KnownScores | None = None,
    state: ScanState | None = None,
    local: Sequence[LocalDifference] = (),
) -> Evidence:
    """Return the evidence of two samples; of no columns where none varies in the rows used.

    Pairs and triples are looked at where `n_variables` has room for them. They take part where
    their dependence more likely differs than any of their columns is by itself, and than the
    columns whose places they would take: else single columns tell the samples apart better.

    Beyond `Budget.evidence_rows` rows of a sample, dependence is that of rows drawn at random.
    Single columns and correlations are judged by all rows all the same: by `differences` where
    these are known, else by a pass over the rows. Under a design they are always judged in that
    way.

    `effort` is the share of the usual candidates, pairs and triples, for one choice of many, and
    `known` the scores of all rows, where these are shared with others. `state` is what a scan of
    the same samples made of their rows: tables and scores are not made again. `local` are sets of
    columns that a scan names for local differences: they are groups, too.
    """
    drawn = samples if known is not None else samples.draw(_most_rows(samples.n_columns), rng)
    if differences is None and (drawn is not samples or samples.design is not None):
        differences = find_differences(samples, n_jobs)
    with one_blas_thread():
        scores = None if known is None else known.of_samples
        if scores is None and state is not None:
            scores = state.scores_of(drawn)
        if scores is None:
            scores = make_scores(drawn, n_jobs)
        if scores.column.size == 0:
            none = np.empty((0, 0))
            rows = (drawn.n_x, drawn.n_y)
            return Evidence(scores.column, (), np.empty(0), none, none, (), rows)
        of_columns = column_evidence(scores, drawn.n_x, n_variables, differences, known)
        groups = [
            group
            for group in _groups(drawn, scores, n_variables, differences, effort, known, n_jobs)
            if group.log_odds > _strongest_rival(of_columns, group, n_variables)
        ][:MOST_GROUPS]
        groups = [*_local_groups(scores, drawn.n_x, n_variables, local), *groups][:MOST_GROUPS]
        members = [column for group in groups for column in group.columns]
        kept = _candidates(of_columns, members, effort)
        best_scores = of_columns.best_scores(scores, kept)
        return _joined(of_columns, kept, best_scores, groups, drawn)


def _local_groups(
    scores: Scores, n_x: int, n_variables: int, local: Sequence[LocalDifference]
) -> list[Group]:
    """Return groups of the sets that differ locally, each with its witness function as score."""
    groups = []
    for difference in local:
        score = witness(scores, n_x, difference)
        if len(difference.columns) <= n_variables and score is not None:
            odds = difference.log_odds
            zscore = float(np.sqrt(2 * max(odds, 0.0)))
            groups.append(Group(difference.columns, odds, zscore, score))
    return groups


def judged_by_draw(samples: Samples) -> bool:
    """Say whether dependence would be judged by drawn rows."""
    return max(samples.n_x, samples.n_y) > _most_rows(samples.n_columns)


def _strongest_rival(of_columns: ColumnEvidence, group: Group, n_variables: int) -> float:
    """Return the largest log odds of a group's columns and of those whose places it would take."""
    members = np.isin(of_columns.columns, group.columns)
    others = np.sort(of_columns.log_odds[~members])[::-1]
    kept = n_variables - len(group.columns)
    rivals = [*of_columns.log_odds[members], *others[kept : kept + 1]]
    return float(max(rivals))


def _most_rows(n_columns: int) -> int:
    budget = current_budget()
    return min(budget.evidence_rows, max(budget.evidence_entries // (2 * n_columns), 500))


def _candidates(of_columns: ColumnEvidence, members: list[int], effort: float) -> IntArray:
    """Return the places of the columns with the most evidence, and of those in groups."""
    usual = current_budget().evidence_candidates
    most = min(max(int(effort * usual), FEWEST_CANDIDATES), usual)
    if of_columns.columns.size <= most:
        return np.arange(of_columns.columns.size)
    order = np.argsort(-of_columns.log_odds, kind="stable")[:most]
    return np.union1d(order, np.flatnonzero(np.isin(of_columns.columns, members)))


def _joined(
    of_columns: ColumnEvidence,
    kept: IntArray,
    best_scores: Singles,
    groups: list[Group],
    samples: Samples,
) -> Evidence:
    log_odds = np.append(of_columns.log_odds[kept], [group.log_odds for group in groups])
    every = np.append(of_columns.zscores[kept], [group.zscore for group in groups])
    signs = np.where(every < 0, -1.0, 1.0)
    products = [group.score[:, np.newaxis] for group in groups]
    correlation = _correlations(np.concatenate([best_scores, *products], axis=1), samples)
    np.fill_diagonal(correlation, 1.0)
    likeness = correlation * np.outer(signs, signs)
    shared = (likeness + correlation**2) / 2
    shared = (shared + shared.T) / 2
    lowest = float(np.linalg.eigvalsh(shared)[0])
    shared[np.diag_indices_from(shared)] += max(SHRINKAGE, SHRINKAGE / 2 - lowest)
    return Evidence(
        columns=of_columns.columns[kept],
        groups=tuple(groups),
        strengths=strength(log_odds),
        shared=shared,
        likeness=likeness,
        reasons=tuple(REASONS[of_columns.scores[place]] for place in kept),
        n_rows=(samples.n_x, samples.n_y),
    )


def _correlations(scores: Singles, samples: Samples) -> FloatArray:
    """Return the correlations of scores within the samples, less what chance makes of them.

    Under a design they are those of sums over its units, less what blocks and samples explain: how
    the differences of two scores vary together is shown by units, not by their rows. Of N degrees
    of freedom, artanh²(c) stands in place of c², as few units show only what is nearly a copy.
    """
    if samples.design is None:
        table = within_samples(scores, samples.n_x)
        correlation = np.asarray(table.T @ table / table.shape[0], dtype=np.float64)
        square = correlation**2 * table.shape[0]
        correlation *= square / (square + CHANCE)
        return correlation
    units = design_units(samples.design, np.random.default_rng(0))
    _, rest = units.changes(units.sums_of(scores))
    length = np.linalg.norm(rest, axis=0)
    rest /= np.where(length > 0, length, 1.0)
    correlation = rest.T @ rest
    square = units.freedom * np.arctanh(np.clip(correlation, -EDGE, EDGE)) ** 2
    return np.asarray(correlation * square / (square + CHANCE_OF_UNITS))


def _groups(
    samples: Samples,
    scores: Scores,
    n_variables: int,
    differences: Differences | None,
    effort: float,
    known: KnownScores | None,
    n_jobs: int,
) -> list[Group]:
    """Return the groups of at most `n_variables` columns that likely differ, by their odds."""
    fewer = min(samples.n_units)
    if n_variables < 2 or fewer < FEWEST_ROWS_IN_PAIRS:
        return []
    strongest = _strongest(scores, samples, n_jobs)
    in_pairs = int(MOST_PAIRED_COLUMNS * effort ** (1 / 2))
    rows, columns = whole_rows(scores, _linked(scores, strongest, in_pairs))
    fewer = rows.fewer(samples.n_x)
    if fewer < FEWEST_ROWS_IN_PAIRS:
        return []
    if columns.size * (samples.n_x + samples.n_y) < ENTRIES_FOR_THREADS:
        n_jobs = 1
    x, y, columns = _copulas(samples, rows, columns, known, n_jobs)
    groups = rows.of_all(find_pairs(x, y, columns, MOST_SEEN, differences, n_jobs))
    by_design = differences is not None and differences.by_design
    if n_variables >= 3 and fewer >= FEWEST_ROWS_IN_TRIPLES and not by_design:
        most = int(most_columns(samples.n_x + samples.n_y) * effort ** (1 / 3))
        if columns.size > most:
            rows, fewer_columns = whole_rows(scores, _linked(scores, strongest, most))
            if rows.counted is None:
                # The most dependent columns are among those of the pairs, and so are their rows.
                kept = np.flatnonzero(np.isin(columns, fewer_columns))
                x, y, columns = x.columns(kept), y.columns(kept), columns[kept]
            else:
                x, y, columns = _copulas(samples, rows, fewer_columns, known, n_jobs)
        groups += rows.of_all(find_triples(x, y, columns, MOST_SEEN, n_jobs))
    return sorted(groups, key=lambda group: -group.log_odds)


def _copulas(
    samples: Samples, rows: SomeRows, columns: IntArray, known: KnownScores | None, n_jobs: int
) -> tuple[CopulaScores, CopulaScores, IntArray]:
    """Return the scores by own ranks of the columns that vary enough in both samples."""
    if known is not None and known.ranks is not None and rows.counted is None:
        ranks = known.ranks.within(columns, known.order, samples.n_x)
        varies = (ranks.off_median >= LEAST_VARYING).all(axis=0)
        x, y = (
            CopulaScores.of_ranks(np.asfortranarray(of_sample[:, varies]))
            for of_sample in (ranks.x, ranks.y)
        )
        return x, y, columns[varies]
    of_x, of_y = rows.of(samples.x[:, columns], samples.y[:, columns])
    varies = _share_off_median(of_x) >= LEAST_VARYING
    varies &= _share_off_median(of_y) >= LEAST_VARYING
    x, y = in_threads(lambda side: CopulaScores.of(side[:, varies]), (of_x, of_y), n_jobs)
    return x, y, columns[varies]


def _share_off_median(values: FloatArray) -> FloatArray:
    """Return the share of the rows that are not at the median: small where one value is common."""
    middle = np.sort(values, axis=0)[values.shape[0] // 2]
    return np.asarray((values != middle).mean(axis=0))


def _linked(scores: Scores, strongest: FloatArray, most: int) -> IntArray:
    """Return the numeric columns, or those that depend most on others."""
    places = scores.numeric
    if places.size <= most:
        return places
    return places[np.sort(np.argsort(-strongest, kind="stable")[:most])]


def _strongest(scores: Scores, samples: Samples, n_jobs: int) -> FloatArray:
    """Return the largest correlation of each numeric column with another, within the samples.

    Of more than `Budget.linked_columns` columns those with the fewest ties are looked at, and the
    others have none: correlations are as many as the square of the columns.
    """
    places, most = scores.numeric, MOST_PAIRED_COLUMNS
    strongest = np.zeros(places.size)
    seen = np.arange(places.size)
    linked = current_budget().linked_columns
    if places.size > linked:
        seen = most_varied(tiedness(scores)[places], linked)
    rest = within_samples(scores.normal[:, places[seen]], samples.n_x)

    def largest(start: int) -> FloatArray:
        block = np.abs(rest.T @ rest[:, start : start + most]) / rest.shape[0]
        index = np.arange(start, start + block.shape[1])
        block[index, np.arange(block.shape[1])] = 0.0
        return np.asarray(block.max(axis=1), dtype=np.float64)

    starts = range(0, seen.size, most)
    strongest[seen] = np.max(in_threads(largest, starts, n_jobs), axis=0, initial=0.0)
    return strongest
