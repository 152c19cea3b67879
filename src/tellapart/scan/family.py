"""The contract of a family of differences: what one file in `tellapart.scan.families` provides.

A family first plans by pooled rows, without labels, what to look at, and names the features whose
sums it needs (`tellapart.scan.features`). Once all rows were summed, it turns the sums into a few
statistics under every permutation. The scan combines the statistics of all families into one
p-value and names what differs among the candidates that families return.

What families plan by is `ScanState`: how many pairs and triples may be looked at, and which columns
they are made of, follow from the numbers of rows, columns and permutations and from the pooled
rows, never from the labels. What runs must not depend on what the observed labels show.

A new family is one class with these methods, registered by `tellapart.scan.families`:

>>> from tellapart.scan.families import FAMILIES
>>> [family.name for family in FAMILIES][:3]
['location', 'shape', 'kernel']
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import Budget, current_budget
from tellapart.data.missing import MissingPattern
from tellapart.data.samples import Samples, draw_rows
from tellapart.effects.values import fewest_rows
from tellapart.permutation.labels import Bins, TwoSampleSums
from tellapart.scan.features import Feature, Product
from tellapart.scan.pool import Largest, Pool
from tellapart.scan.row_forms import RowProducts
from tellapart.scan.scores import ALL_SCORES, Scores
from tellapart.scan.tables import Tables
from tellapart.threads import in_threads

# Fewer permutations do not look at more: what is seen shall not depend on their number.
USUAL_PERMUTATIONS = 1_000


COLUMN_KINDS = ("location", "spread", "shape")
"""What can change of a column, from simple to less so; shares of levels count as location."""
BYTES_PER_COLUMN = 300
"""What the statistics of one permutation take for each column that is held."""


@dataclass(frozen=True, eq=False)
class FamilyPlan:
    """What a family looks at; families that need to remember more derive from it.

    Attributes
    ----------
    features : tuple of Feature
        What is to be summed over bins.
    note : str or None
        What is left out, if anything.
    correlations : Product or None
        The product of U whose sums tell the change of correlation of pairs over all rows.
    weight : float or None
        How much the family counts on these columns and rows; None where as much as always.
    """

    features: tuple[Feature, ...] = ()
    note: str | None = None
    correlations: Product | None = None
    weight: float | None = None


@dataclass(frozen=True)
class Skipped:
    """Why a family does not run; without a reason there is nothing to look at, or to report."""

    reason: str = ""


@dataclass(frozen=True, eq=False)
class GroupCandidates:
    """Pairs or triples of columns that can be named: the largest changes of one kind of product.

    Attributes
    ----------
    kind : object
        What is multiplied; kinds come from simple to less so.
    largest : Largest
        The largest changes under every permutation.
    score_columns : array of shape (groups, 2 or 3)
        The score columns that each place of `largest` stands for.
    """

    kind: Any
    largest: Largest
    score_columns: IntArray

    @property
    def n_members(self) -> int:
        """Columns of each group."""
        return int(self.score_columns.shape[1])


@dataclass(frozen=True, eq=False)
class FamilyResult:
    """What a family computed.

    Attributes
    ----------
    statistics : array of shape (permutations, statistics)
        The observed labels first; the larger, the more the samples differ. At least 0.
    candidates : tuple
        What findings can be named from: `GroupCandidates` and those of
        `tellapart.scan.families.missing` and `tellapart.scan.families.values`.
    note : str or None
        What could not be compared, if anything.
    n_variables : int or None
        How many columns carry nearly all of the difference, where a family can say so.
    """

    statistics: FloatArray
    candidates: tuple[object, ...] = ()
    note: str | None = None
    n_variables: int | None = None


class Family(Protocol):
    """A family of differences.

    Attributes
    ----------
    name : str
        By which results, pages and messages call it.
    weight : float
        How much it counts in the combination, unless its plan says otherwise. Those of the package
        were chosen on data made for that, and not on what the benchmarks show.
    description : str
        What its statistics respond to, for pages and documentation.
    work : int
        Families with more of it are begun earlier, so that no thread is left alone with a long one.
    fewest_rows : int
        Rows of the smaller sample without which it does not run.
    column_kinds : tuple of str
        What is named of single columns where it runs, by `COLUMN_KINDS`.
    """

    name: str
    weight: float
    description: str
    work: int = 0
    fewest_rows: int = 1
    column_kinds: tuple[str, ...] = ()

    def plan(self, state: ScanState, budget: Budget) -> FamilyPlan | Skipped:
        """Decide what to look at, by pooled rows without labels."""
        ...

    def features(self, plan: Any) -> Sequence[Feature]:
        """Return what is to be summed over bins."""
        return tuple(plan.features)

    def run(self, contrasts: Pool, plan: Any) -> FamilyResult:
        """Return the statistics under every permutation, from the sums."""
        ...


@dataclass(frozen=True, eq=False)
class WholeRowSums:
    """What is known of whole rows of a table whose columns come in blocks.

    Attributes
    ----------
    products : RowProducts
        Inner products of rows over all columns.
    row_score : TwoSampleSums
        The sums over bins of the normal score of ‖V‖².
    """

    products: RowProducts
    row_score: TwoSampleSums


@runtime_checkable
class ColumnFamily(Family, Protocol):
    """A family that adds up the largest statistics of single columns.

    Of very many columns these come in blocks, and only the `n_kept` largest of each permutation
    are held.
    """

    n_kept: int

    def column_statistics(self, contrasts: Pool) -> Iterable[Singles]:
        """Yield statistics of every column, (permutations × columns) each."""
        ...

    def from_largest(
        self, contrasts: Pool, largest: Sequence[Singles], rows: WholeRowSums
    ) -> FamilyResult:
        """Return the result by the largest of each of `column_statistics` over all columns."""
        ...


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
    few : array
        The places of a few rows at random, for scales that need no more.
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
    few: IntArray
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
        few = rng.spawn(1)[0].permutation(scores.normal.shape[0])[: budget.scale_rows]
        n_varying, n_numeric = counts or (np.unique(scores.column).size, scores.numeric.size)
        fewest = fewest_with_value or fewest_rows(labels.n_x, labels.n_y)
        return cls(
            names, kinds, tables, rows, scores, labels, dependence, screening, few, effort,
            n_jobs, pattern, as_read, n_varying, n_numeric, fewest, complete,
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


@dataclass(frozen=True, eq=False)
class Planned:
    """The families that run, with what each looks at.

    Attributes
    ----------
    families : tuple of Family
        Those that run, in the order in which results list them.
    plans : mapping from str to FamilyPlan
        By the names of these families.
    skipped, notes : mapping from str to str
        Families that cannot run, and those that leave something out, with the reason.
    state : ScanState
        What they planned by.
    given : mapping from str to float
        Weights that the user gave.
    """

    families: tuple[Family, ...]
    plans: Mapping[str, FamilyPlan]
    skipped: Mapping[str, str]
    notes: Mapping[str, str]
    state: ScanState = field(repr=False)
    given: Mapping[str, float] = field(default_factory=dict)

    def features(self) -> list[Feature]:
        """Return what all families want to be summed."""
        return [
            feature
            for family in self.families
            for feature in family.features(self.plans[family.name])
        ]

    @property
    def weights(self) -> dict[str, float]:
        """How much each family counts: as the user says, or its plan, or else as always."""
        weights = {}
        for family in self.families:
            planned = self.plans[family.name].weight
            weight = family.weight if planned is None else planned
            weights[family.name] = self.given.get(family.name, weight)
        return weights

    def weighed(self, asked: tuple[str, ...] | Mapping[str, float] | None) -> Planned:
        """Return the plan with the weights that the user gave, if any."""
        return replace(self, given=asked) if isinstance(asked, Mapping) else self

    @property
    def column_kinds(self) -> tuple[str, ...]:
        """What is named of single columns, by `COLUMN_KINDS`."""
        return kinds_named(self.families)

    @property
    def correlations(self) -> Product | None:
        """The product of U of the pairs whose correlations are looked at."""
        every = (self.plans[family.name].correlations for family in self.families)
        return next((product for product in every if product is not None), None)


def kinds_named(families: Sequence[Family]) -> tuple[str, ...]:
    """Return what is named of single columns where these families run, by `COLUMN_KINDS`."""
    every = {kind for family in families for kind in family.column_kinds}
    return tuple(kind for kind in COLUMN_KINDS if kind in every)


def plan_families(families: Sequence[Family], state: ScanState) -> Planned:
    """Let families plan what to look at, side by side; those that cannot run are skipped."""
    budget = current_budget()
    longest_first = sorted(families, key=lambda family: -family.work)
    made = in_threads(lambda family: family.plan(state, budget), longest_first, state.n_jobs)
    answers = {family.name: plan for family, plan in zip(longest_first, made, strict=True)}
    plans: dict[str, FamilyPlan] = {}
    skipped: dict[str, str] = {}
    for family in families:
        plan = answers[family.name]
        if isinstance(plan, FamilyPlan):
            plans[family.name] = plan
        elif plan.reason:
            skipped[family.name] = plan.reason
    running = tuple(family for family in families if family.name in plans)
    notes = {name: plan.note for name, plan in plans.items() if plan.note is not None}
    return Planned(running, plans, skipped, notes, state)


def run_families(
    planned: Planned,
    contrasts: Pool,
    known: Mapping[str, FamilyResult] | None = None,
    begin_with: int = 0,
) -> dict[str, FamilyResult]:
    """Run every family side by side in the threads of the pool, but for those `known` already.

    Scans side by side that share sums begin with different families, by `begin_with`: none then
    waits for what another is making.
    """
    known = known or {}
    runs = [family for family in planned.families if family.name not in known]
    runs.sort(key=lambda family: -family.work)
    turn = begin_with % max(len(runs), 1)
    runs = runs[turn:] + runs[:turn]
    made = in_threads(
        lambda family: family.run(contrasts, planned.plans[family.name]), runs, contrasts.n_jobs
    )
    results = {family.name: result for family, result in zip(runs, made, strict=True)}
    results.update(known)
    return {family.name: results[family.name] for family in planned.families}


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
