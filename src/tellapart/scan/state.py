"""What a scan knows before any label is looked at: tables, pooled rows and their scores.

Families plan by it what to look at: how many pairs and triples may be looked at, and which columns
they are made of, follow from the numbers of rows, columns and permutations and from the pooled
rows, never from the labels. What runs must not depend on what the observed labels show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import Budget
from tellapart.data.missing import MissingPattern
from tellapart.data.samples import Samples, draw_rows
from tellapart.effects.values import fewest_rows
from tellapart.permutation.labels import Bins
from tellapart.scan.scores import ALL_SCORES, Scores
from tellapart.scan.tables import Tables

# Fewer permutations do not look at more: what is seen shall not depend on their number.
USUAL_PERMUTATIONS = 1_000
BYTES_PER_COLUMN = 300
"""What the statistics of one permutation take for each column that is held."""


@dataclass(frozen=True, eq=False)
class Dependence:
    """How much score columns depend on others in the pooled rows.

    Attributes
    ----------
    columns : array of length K
        The score columns whose correlations are known: all, or of very many the most varied.
    correlation : array of shape (K, K)
        Their correlations, 0 within one column of the samples.
    strength : array of length K
        The sum of the three largest squared correlations of each.
    """

    columns: IntArray
    correlation: FloatArray
    strength: FloatArray

    @classmethod
    def of(cls, scores: Scores, most: int) -> Dependence:
        """Measure the dependence of at most `most` score columns."""
        columns = np.arange(scores.column.size)
        if columns.size > most:
            columns = most_varied(tiedness(scores), most)
        correlation = pooled_correlation(scores.normal[:, columns], scores.column[columns])
        squares = np.square(correlation)
        if squares.shape[1] > 3:
            squares = np.partition(squares, -3, axis=1)[:, -3:]
        return cls(columns, correlation, np.asarray(squares.sum(axis=1)))

    def most(self, count: int, among: IntArray | None = None) -> IntArray:
        """Return the `count` score columns that depend most on others, of some or of all."""
        places = np.arange(self.columns.size)
        if among is not None:
            places = np.flatnonzero(np.isin(self.columns, among))
        if places.size > count:
            order = np.argsort(-self.strength[places], kind="stable")
            places = np.sort(places[order[:count]])
        return self.columns[places]


@dataclass(frozen=True, eq=False)
class ScanState:
    """What families plan by. It knows no labels.

    Attributes
    ----------
    names, kinds : tuples of str
        The columns of the samples, and whether each is "numeric" or "categorical".
    tables : Tables
        What turns values into scores.
    rows : array of shape (rows, columns)
        Pooled rows, all or some drawn without regard to labels, NaN where missing.
    scores : Scores
        The scores of these rows.
    labels : Bins
        The numbers of rows, bins and permutations.
    dependence : Dependence
        How much columns depend on each other in these rows.
    screening : array
        The places of the rows that name candidates where looking at all would take long.
    effort : float
        The share of the usual work that pairs, triples and more may take, for one scan of many.
    n_jobs : int
        Threads.
    pattern : MissingPattern or None
        What may be missing; None where nothing is.
    as_read : array or None
        Pooled rows with all their columns, as they were read, where values may be missing.
    n_varying, n_numeric : int
        How many columns of the samples vary, and how many of them are numeric.
    fewest_with_value : int
        How many of all rows must have a value that stands apart for it to be looked at.
    complete : bool
        Whether `rows` are all rows, those of X first, and `tables` have all columns that vary.
    """

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    tables: Tables
    rows: FloatArray
    scores: Scores
    labels: Bins
    dependence: Dependence
    screening: IntArray
    effort: float
    n_jobs: int
    pattern: MissingPattern | None
    as_read: FloatArray | None
    n_varying: int
    n_numeric: int
    fewest_with_value: int
    complete: bool

    @classmethod
    def of(
        cls,
        names: tuple[str, ...],
        kinds: tuple[str, ...],
        tables: Tables,
        rows: FloatArray,
        scores: Scores,
        labels: Bins,
        rng: np.random.Generator,
        budget: Budget,
        *,
        effort: float = 1.0,
        n_jobs: int = 1,
        pattern: MissingPattern | None = None,
        as_read: FloatArray | None = None,
        counts: tuple[int, int] | None = None,
        fewest_with_value: int | None = None,
        complete: bool = False,
    ) -> ScanState:
        """Return the state; `counts` are the columns that vary, where `tables` has some of them."""
        dependence = Dependence.of(scores, budget.correlated_columns)
        screening = draw_rows(scores.normal.shape[0], budget.screening_rows, rng)
        n_varying, n_numeric = counts or (np.unique(scores.column).size, scores.numeric.size)
        fewest = fewest_with_value or fewest_rows(labels.n_x, labels.n_y)
        return cls(
            names, kinds, tables, rows, scores, labels, dependence, screening, effort, n_jobs,
            pattern, as_read, n_varying, n_numeric, fewest, complete,
        )  # fmt: skip

    def scores_of(self, samples: Samples) -> Scores | None:
        """Return all scores of the rows of the samples that were scanned, where they are held."""
        all_rows = (samples.n_x, samples.n_y) == self.labels.n_rows_of
        dropped = self.pattern is not None and self.pattern.whole_rows
        if not self.complete or not all_rows or dropped or set(ALL_SCORES) - set(self.scores.held):
            return None
        # Categories may be declared that no row has: then not all of these columns vary.
        categorical = np.flatnonzero([kind == "categorical" for kind in self.kinds])
        codes = self.rows[:, np.intersect1d(categorical, self.tables.column)]
        still = np.nanmin(codes, axis=0) == np.nanmax(codes, axis=0) if codes.size else False
        return None if np.any(still) else self.scores

    def affordable(self, budget: Budget, n_products: int = 1) -> int:
        """Return how many pairs or triples a family can afford, of so many products each."""
        most = affordable_groups(self.labels.count, self.labels.n_bins, budget)
        return int(self.effort * most // n_products)

    def why_skipped(self, fewest_rows: int, needed: str | None) -> str | None:
        """Return why a family of dependence cannot run; None where it can.

        It needs so many rows of either sample, and what is `needed`, where that is not there.
        """
        fewest = self.labels.fewest
        if fewest < fewest_rows:
            return f"needs {fewest_rows} rows of each sample; the smaller one has {fewest}"
        return None if needed is None else f"needs {needed}"

    def screening_note(self, groups: str, columns: IntArray, n_columns: int) -> str | None:
        """Return what is left out where groups are made of some score columns only."""
        count = np.unique(self.scores.column[columns]).size
        if count >= n_columns:
            return None
        return (
            f"{groups} were screened among {count:,} of {n_columns:,} columns, blind to group: "
            "those that depend most on others in the pooled rows"
        )


def affordable_groups(count: int, n_bins: int, budget: Budget) -> int:
    """Return how many pairs or triples can be looked at under `count` permutations."""
    count = max(count, USUAL_PERMUTATIONS)
    by_products = budget.family_products // (count * max(n_bins, 1))
    return min(by_products, budget.family_entries // count)


def columns_for_pairs(most: int) -> int:
    """Return the largest number of columns with at most `most` pairs.

    >>> columns_for_pairs(10), columns_for_pairs(9), columns_for_pairs(0)
    (5, 4, 1)
    """
    return int((1 + math.isqrt(1 + 8 * most)) // 2)


def columns_for_triples(most: int) -> int:
    """Return the largest number of columns with at most `most` triples.

    >>> columns_for_triples(10), columns_for_triples(9)
    (5, 4)
    """
    columns = 2
    while math.comb(columns + 1, 3) <= most:
        columns += 1
    return columns


def pooled_correlation(normal: Singles, parent: IntArray) -> FloatArray:
    """Return the pooled correlations of U between score columns, 0 within one column."""
    matrix: FloatArray = (normal.T @ normal).astype(np.float64) / normal.shape[0]
    matrix[parent[:, np.newaxis] == parent] = 0.0
    return matrix


def tiedness(scores: Scores) -> Singles:
    """Return the fourth moment of each score column: large where many rows share a value."""
    return np.asarray(np.mean(np.square(np.square(scores.normal)), axis=0))


def most_varied(ties: Singles, most: int) -> IntArray:
    """Return the columns whose most frequent value is the least frequent, by their ties."""
    return np.sort(np.argsort(ties, kind="stable")[:most])


def in_blocks(n_columns: int, count: int, budget: Budget) -> bool:
    """Say whether columns are too many to be held at once under every permutation.

    >>> budget = Budget()
    >>> in_blocks(5_000, 1_000, budget), in_blocks(100_000, 1_000, budget)
    (False, True)
    >>> in_blocks(100, 200_000, budget)
    False
    """
    taken = count * BYTES_PER_COLUMN * n_columns
    return n_columns > budget.unblocked_columns and taken > budget.unblocked_bytes


def columns_held(n_columns: int, count: int, budget: Budget) -> int:
    """Return how many columns' statistics under every permutation are held at once."""
    return budget.columns_beside_blocks if in_blocks(n_columns, count, budget) else n_columns
