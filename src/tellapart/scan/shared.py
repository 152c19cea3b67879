"""What several comparisons of the same rows share: scores, plans and sums, made without labels.

Where every group is compared with all other rows, the rows are the same in every comparison and
only their labels differ. All that knows no labels is made once: tables, scores, which pairs and
triples to look at, random orders of the rows, sums over their first rows. It is the same whatever
is asked for first, and whichever comparisons are made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tellapart.arrays import IntArray, Singles
from tellapart.budget import current_budget
from tellapart.data.samples import Samples
from tellapart.effects.values import FEWEST_WITH_VALUE, fewest_rows
from tellapart.errors import InputError
from tellapart.permutation.labels import Bins, TwoSampleSums
from tellapart.permutation.shared_orders import PooledFeatures, PooledSums, RowOrders, SharedOrders
from tellapart.scan.families import AskedFamilies, asked_families
from tellapart.scan.families.values import Values, ValuesPlan
from tellapart.scan.family import Planned, ScanState, plan_families
from tellapart.scan.features import SINGLES, Feature, Requests
from tellapart.scan.pool import Pool
from tellapart.scan.scores import score_rows
from tellapart.scan.sums import BinSums, Sums
from tellapart.scan.tables import PooledSample, Tables, tables_of
from tellapart.scan.wide import WideScores, WideShifts, wide_shifts
from tellapart.threads import MadeOnce, one_blas_thread


@dataclass(frozen=True, eq=False)
class SharedSums(Sums):
    """The sums of one comparison, from scores of all rows: `x` has those, `y` has none.

    Attributes
    ----------
    made : MadeOnce
        Tables of features, made once for all comparisons.
    rows_x, rows_y : arrays
        The rows of the two samples.
    """

    made: MadeOnce = field(kw_only=True)
    rows_x: IntArray = field(kw_only=True)
    rows_y: IntArray = field(kw_only=True)

    def of(self, name: str) -> TwoSampleSums:
        """Return one score of every column."""
        return self._features(name, lambda: self.x.singles[SINGLES.index(name), :-1])

    def feature(self, feature: Feature) -> TwoSampleSums:
        """Return a feature of every row."""
        place = self._places[feature]
        return self._features(("feature", place), lambda: self.x.features[place][:-1])

    @property
    def points(self) -> Singles:
        """V of all rows."""
        return np.asarray(self.x.singles[SINGLES.index("clipped"), :-1])

    def _derived(
        self,
        place: int,
        name: str,
        function: Callable[[Singles], Singles],
        at_zero: float = 0.0,  # noqa: ARG002
    ) -> TwoSampleSums:
        kind = SINGLES.index(name)
        return self._features(("derived", place), lambda: function(self.x.singles[kind, :-1]))

    def _features(self, key: object, make: Callable[[], Singles]) -> TwoSampleSums:
        features = self.made.get(key, lambda: PooledFeatures(make()))
        return PooledSums.of(features, self.rows_x, self.rows_y)


@dataclass(frozen=True)
class SharedPart:
    """What one comparison takes of what is shared: its sums, and what its families look at."""

    pool: Pool
    planned: Planned
    labels: SharedOrders


class SharedPool:
    """The pooled rows of several comparisons.

    Parameters
    ----------
    whole : Samples
        All rows, of which X and Y are the first and the others, in the order of their table.
    rows : sequence of arrays
        The rows that each comparison compares with all others.
    n_permutations : int
        Permutations of each.
    seed : int
        Draws the orders of the rows.
    effort : float
        As in `tellapart.scan.scan.scan`.
    n_jobs : int
        Threads that make what is shared.
    families : names, mapping from names to weights, or None
        As in `tellapart.scan.scan.scan`.
    """

    def __init__(
        self,
        whole: Samples,
        rows: Sequence[IntArray],
        n_permutations: int,
        *,
        seed: int,
        effort: float,
        n_jobs: int = 1,
        families: AskedFamilies | None = None,
    ) -> None:
        self._seeds = np.random.default_rng(seed).integers(2**63, size=2)
        self._effort, self._n_jobs = effort, n_jobs
        self._asked, self._families = families, asked_families(families)
        n_rows = whole.n_x + whole.n_y
        sizes = np.array([min(rows_x.size, n_rows - rows_x.size) for rows_x in rows], dtype=np.intp)
        self._orders = RowOrders.draw(n_rows, sizes, n_permutations, int(self._seeds[0]))
        self._rows = rows
        self._shifts: list[WideShifts] | None = None
        self.wide: WideScores | None = None
        columns = np.arange(whole.n_columns)
        most = columns_in_full(n_rows, len(rows))
        if columns.size > most:
            self.wide = WideScores.of(whole, n_jobs)
            columns = _least_tied(self.wide, columns, most)
            named = ~np.isin(self.wide.columns, columns)
            self._shifts = wide_shifts(self.wide, self._orders, rows, named, n_jobs)
        with one_blas_thread():
            self._score(whole, columns)
        self._made, self._rows_made = MadeOnce(), MadeOnce()

    def _score(self, whole: Samples, columns: IntArray) -> None:
        """Score all rows of the columns that are looked at in full."""
        in_full = whole if columns.size == whole.n_columns else whole.columns(columns)
        pooled = PooledSample.of_all_rows(in_full)
        local = tables_of(in_full, pooled, self._n_jobs)
        if local.size == 0 and (self.wide is None or self.wide.size == 0):
            raise InputError(
                f"X and Y must have a column that varies; all {whole.n_columns} are constant"
            )
        scores = score_rows(local, pooled.values, self._n_jobs)
        self._values, self._local = pooled.values, local
        self._names, self._kinds = in_full.names, in_full.kinds
        self.in_full = pooled.values, columns
        # From here on columns are given by their places among all columns of the samples.
        parent = columns[local.column]
        self._tables = replace(local, column=parent, constant=columns[local.constant])
        self.scores = replace(scores, column=parent, constant=columns[local.constant])

    def part(self, number: int) -> SharedPart:
        """Return what one comparison takes."""
        rows_x = self._rows[number]
        rows_y = np.setdiff1d(np.arange(self._orders.n_rows), rows_x, assume_unique=True)
        labels = SharedOrders.of(self._orders, rows_x, rows_y)
        # From so many rows of the smaller sample on every family runs.
        enough = max(family.fewest_rows for family in self._families)
        planned, summed = self._planned(min(labels.fewest, enough))
        planned = self._with_values(planned, fewest_rows(labels.n_x, labels.n_y))
        sums = SharedSums(full=False, rows_x=rows_x, rows_y=rows_y, **summed)
        shifts = None if self._shifts is None else self._shifts[number]
        pool = Pool(
            self._tables, self.scores, labels, sums.requests, sums, 1, self._rows_made, shifts
        )
        return SharedPart(pool, planned, labels)

    def _planned(self, fewest: int) -> tuple[Planned, dict[str, Any]]:
        """Return plans and sums of comparisons with so many rows in either sample."""
        with one_blas_thread():
            return self._made.get(fewest, lambda: self._plan(fewest))

    def _plan(self, fewest: int) -> tuple[Planned, dict[str, Any]]:
        n_rows, rng = self._orders.n_rows, np.random.default_rng(int(self._seeds[1]))
        sizes, count = (fewest, n_rows - fewest), self._orders.count + 1
        state = ScanState.of(
            self._names,
            self._kinds,
            self._tables,
            self._values,
            self.scores,
            Bins.of_single_rows(sizes, count),
            rng,
            current_budget(),
            effort=self._effort,
            n_jobs=self._n_jobs,
            fewest_with_value=FEWEST_WITH_VALUE,
        )
        planned = plan_families(self._families, state).weighed(self._asked)
        if self.wide is not None:
            planned = _with_notes(planned, self.wide, self._tables)
        # No points are kept: V of all rows is there.
        requests = Requests.of(planned.features())
        bins = Bins.of_single_rows((n_rows, 0), count)
        fold = BinSums(self._local, bins, requests, 0, self._n_jobs)
        held = fold.add(fold.start(), 0, self._values)
        return planned, {"x": held, "y": held, "requests": requests, "made": MadeOnce()}

    def _with_values(self, planned: Planned, fewest: int) -> Planned:
        """Return the plans with those values only that so many of the pooled rows have."""
        name = Values.name
        plan = planned.plans.get(name)
        if not isinstance(plan, ValuesPlan):
            return planned
        ranges = plan.ranges.with_rows(fewest, self.in_full[1])
        plans = {one: other for one, other in planned.plans.items() if one != name}
        if ranges is not None:
            plans[name] = replace(plan, ranges=ranges)
        running = tuple(family for family in planned.families if family.name in plans)
        return replace(planned, families=running, plans=plans)


def columns_in_full(n_rows: int, n_comparisons: int) -> int:
    """Return how many columns are looked at in full: location, shape and dependence.

    >>> columns_in_full(700, 10), columns_in_full(3_000, 10), columns_in_full(3_000, 2)
    (800, 300, 1000)
    """
    budget = current_budget()
    most = min(
        budget.group_columns // n_comparisons, budget.group_entries // (n_rows * n_comparisons)
    )
    return max(min(most, budget.shared_entries // n_rows), budget.fewest_group_columns)


def _least_tied(wide: WideScores, columns: IntArray, most: int) -> IntArray:
    """Return the columns to look at in full: those with the fewest ties.

    Categories are among them, however many they are: the others are compared by their ranks alone.
    """
    other = np.setdiff1d(columns, wide.columns)
    kept = wide.columns[np.argsort(wide.ties, kind="stable")[:most]]
    return np.sort(np.concatenate([other, kept]))


def _with_notes(planned: Planned, wide: WideScores, tables: Tables) -> Planned:
    """Say which families look at some of the columns only."""
    count = np.unique(tables.column).size
    every = np.union1d(tables.column, wide.columns).size
    note = (
        f"computed from {count:,} of {every:,} columns, selected blind to group: those with the "
        "fewest ties"
    )
    return replace(planned, notes={**planned.notes, "shape": note, "kernel": note})
