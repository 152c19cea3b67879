"""The pooled rows under every permutation: means, deviations and dependence within the samples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import BoolArray, FloatArray, IntArray, Singles
from tellapart.budget import current_budget
from tellapart.interrupts import check_interrupts
from tellapart.permutation.labels import PERMUTATIONS_AT_A_TIME, Labels, TwoSampleSums
from tellapart.scan.features import Pairs, Product, Requests
from tellapart.scan.loops import (
    correlation_changes,
    keep_largest,
    mean_changes,
    noise_ratios,
    present_correlation_changes,
)
from tellapart.scan.scores import Scores
from tellapart.scan.sums import CorrelationSums, Sums
from tellapart.scan.tables import Tables
from tellapart.scan.wide import WideShifts
from tellapart.threads import MadeOnce, in_slices

# A deviation below this share of the pooled one is rounding: the column does not vary there.
FLAT = 1e-3


Receive = Callable[[slice, slice, Singles], None]
"""Takes which permutations, which products, and their changes (permutations × products)."""


@dataclass(frozen=True)
class Moments:
    """Means and inverse deviations within x and within y, one row per permutation."""

    mean_x: Singles
    mean_y: Singles
    inverse_x: Singles
    inverse_y: Singles

    def some(self, columns: IntArray) -> Moments:
        """Return those of some columns, side by side."""
        every = (self.mean_x, self.mean_y, self.inverse_x, self.inverse_y)
        return Moments(*(np.take(one, columns, axis=1) for one in every))


@dataclass(frozen=True)
class Pool:
    """Sums over bins of pooled rows, and the labels that permute the bins.

    Attributes
    ----------
    tables : Tables
        What turned values into scores.
    pooled_scores : Scores
        The scores of the rows that the tables and the plan were made from, without labels.
    labels : Labels
        The bins and their labels under every permutation.
    requests : Requests
        What was summed over the bins.
    sums : Sums
        The sums.
    n_jobs : int
        Threads.
    made : MadeOnce
        What was made without labels; one for all comparisons that share the rows.
    shifts : WideShifts or None
        The location of all columns of a wide table, of which the sums are those of some.
    """

    tables: Tables
    pooled_scores: Scores
    labels: Labels
    requests: Requests
    sums: Sums
    n_jobs: int = 1
    made: MadeOnce = field(default_factory=MadeOnce, repr=False)
    shifts: WideShifts | None = None
    _moments: dict[str, Moments] = field(default_factory=dict)
    _of_x: dict[str, Singles] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock, repr=False)
    _counts: list[tuple[Singles, Singles]] = field(default_factory=list, repr=False)
    _counting: Lock = field(default_factory=Lock, repr=False)

    @property
    def count(self) -> int:
        """Number of permutations, the true labels among them."""
        return self.labels.count

    def under(self, labels: Labels) -> Pool:
        """Return the same sums under other permutations of the same bins."""
        return Pool(
            self.tables,
            self.pooled_scores,
            labels,
            self.requests,
            self.sums,
            self.n_jobs,
            self.made,
            self.shifts,
        )

    def _over_x(self, sums: TwoSampleSums) -> Singles:
        return self.labels.sums_over_x(sums)(slice(None))

    def means(self, sums: TwoSampleSums) -> tuple[Singles, Singles]:
        """Return the means over x and over y, one row per permutation."""
        return self._means(sums, self._over_x(sums))

    def _means(self, sums: TwoSampleSums, of_x: Singles) -> tuple[Singles, Singles]:
        total = sums.total().astype(np.float32)
        if sums.present is not None:
            n_x, n_y = (np.where(k > 0, k, 1) for k in self.counts(sums.present))
            return np.asarray(of_x / n_x), np.asarray((total - of_x) / n_y)
        n_x, n_y = (count[:, np.newaxis] for count in self.labels.counts)
        return of_x / n_x, (total - of_x) / n_y

    def score_means(self, name: str) -> tuple[Singles, Singles]:
        """Return the means of one kind of score, whose sums are computed once."""
        sums = self.sums.of(name)
        # Two families that want the same at once compute it twice, to the same end.
        if name not in self._of_x:
            self._of_x[name] = self._over_x(sums)
        return self._means(sums, self._of_x[name])

    def changes(self, sums: TwoSampleSums) -> Singles:
        """Return mean_x − mean_y of features, one row per permutation.

        Where values are missing, in the noise that all rows would have: see `precision`.
        """
        if sums.present is not None:
            of_x, of_y = self.means(sums)
            return (of_x - of_y) * self.precision(sums.present)
        changes = self._over_x(sums)
        mean_changes(changes, sums.total().astype(np.float32), *self.labels.counts)
        return changes

    def counts(self, present: TwoSampleSums) -> tuple[Singles, Singles]:
        """Return how many rows of x and of y are behind each feature, for every permutation."""
        if present is not self.sums.present:
            return self._counted(present)
        with self._counting:
            if not self._counts:
                self._counts.append(self._counted(present))
            return self._counts[0]

    def _counted(self, present: TwoSampleSums) -> tuple[Singles, Singles]:
        of_x = self._over_x(present)
        return of_x, present.total().astype(np.float32) - of_x

    def precision(self, present: TwoSampleSums) -> Singles:
        """Return √((1/m + 1/n)/(1/k_x + 1/k_y)) for k_x and k_y rows that are there.

        A difference of means has as much noise, times this, as one of all rows. So where only the
        share of what is missing differs, a difference is no larger at the true labels than under
        permutations, which even the shares out. It is 0 where a sample has nothing, or too few
        values for that to hold (`tellapart.scan.loops.too_few`), at the true labels as under
        every permutation.
        """
        k_x, k_y = self.counts(present)
        return noise_ratio(k_x, k_y, self.labels.n_x, self.labels.n_y)

    def moments(self, name: str) -> Moments:
        """Return the moments of one kind of score, computed once."""
        with self._lock:
            if name not in self._moments:
                means = self.score_means(name)
                self._moments[name] = _moments(means, self.means(self.sums.squares(name)))
            return self._moments[name]

    def moments_of(self, name: str, columns: IntArray) -> Moments:
        """Return the moments of some score columns, where no more of them are needed."""
        means = self.means(self.sums.of(name).some(columns))
        return _moments(means, self.means(self.sums.squares(name).some(columns)))

    def differences(self, name: str) -> Singles:
        """Return δ = mean_x − mean_y of one kind of score, one row per permutation.

        Under a design in units of its deviation there (`Labels.null_scale`).
        """
        of_x, of_y = self.score_means(name)
        scale = self.labels.null_scale(self.sums.of(name))
        if scale is None and self.sums.present is not None:
            scale = self.precision(self.sums.present)
        difference = of_x - of_y
        return difference if scale is None else np.asarray(difference * scale)

    def each_change(
        self,
        sums: TwoSampleSums,
        loops: tuple[Callable[..., None], Callable[..., None]],
        places: Callable[[slice], tuple[NDArray[Any], ...]],
        moments: Callable[[slice], tuple[Singles, ...]],
        receive: Receive,
    ) -> None:
        """Give the changes of products of columns under all permutations, block by block.

        Parameters
        ----------
        sums : TwoSampleSums
            The sums of the products.
        loops : pair of functions
            What turns sums over x into changes, in place: where no value is missing, and where the
            rows behind each product are counted (`tellapart.scan.loops`).
        places : callable
            From some of the products to what the loops need of them.
        moments : callable
            From some of the permutations to the moments of the columns that the loops need.
        receive : callable
            Takes the changes; threads call it, each with permutations of its own.
        """
        labels, present = self.labels, sums.present
        loop, present_loop = loops
        n_x, n_y = labels.counts
        both = 1 / np.float32(labels.n_x) + 1 / np.float32(labels.n_y)
        share = np.float32(labels.n_x / labels.n_rows)
        total = sums.total().astype(np.float32)
        n_rows = total if present is None else present.total().astype(np.float32)
        step = max(current_budget().block_entries // self.count, 1)

        def changes_of(block: slice) -> Callable[[slice], None]:
            over_x = labels.sums_over_x(sums, block)
            rows_of_x = None if present is None else labels.sums_over_x(present, block)
            fixed = places(block)

            def change(rows: slice) -> None:
                of_x = over_x(rows)
                if rows_of_x is None:
                    loop(of_x, total[block], *fixed, n_x[rows], n_y[rows], *moments(rows))
                else:
                    counted = rows_of_x(rows), total[block], n_rows[block]
                    present_loop(of_x, *counted, *fixed, both, share, *moments(rows))
                receive(rows, block, of_x)

            return change

        for start in range(0, sums.size, step):
            check_interrupts()
            block = slice(start, min(start + step, sums.size))
            self.each_slice(changes_of(block))

    def each_slice(self, work: Callable[[slice], None]) -> None:
        """Do the work on slices of the permutations, in threads."""
        in_slices(work, self.count, PERMUTATIONS_AT_A_TIME, self.n_jobs)


def noise_ratio(k_x: Singles, k_y: Singles, n_x: int, n_y: int) -> Singles:
    """Return √((1/m + 1/n)/(1/k_x + 1/k_y)); 0 where `tellapart.scan.loops.too_few`.

    >>> noise_ratio(np.float32([8, 10, 2]), np.float32([10, 10, 10]), 10, 10).round(2).tolist()
    [0.9399999976158142, 1.0, 0.0]
    """
    ratios = np.zeros(k_x.shape, dtype=np.float32)
    whole, share = np.float32(1 / n_x + 1 / n_y), np.float32(n_x / (n_x + n_y))
    noise_ratios(k_x.ravel(), k_y.ravel(), whole, share, ratios.reshape(-1))
    return ratios


def _moments(means: tuple[Singles, Singles], squares: tuple[Singles, Singles]) -> Moments:
    mean_x, mean_y = means
    inverse_x, inverse_y = map(_inverse_deviation, squares, means)
    return Moments(mean_x, mean_y, inverse_x, inverse_y)


def _inverse_deviation(square: Singles, mean: Singles) -> Singles:
    variance = square - np.square(mean)
    flat = variance < FLAT**2
    return np.asarray(
        np.where(flat, np.float32(0), 1 / np.sqrt(np.where(flat, np.float32(1), variance)))
    )


def top_sums(squares: Singles, counts: tuple[int, ...]) -> list[FloatArray]:
    """Return, for each count, the sum of that many largest entries of each row.

    >>> [s.tolist() for s in top_sums(np.array([[4.0, 1.0, 9.0]]), (1, 2))]
    [[9.0], [13.0]]
    """
    most = min(max(counts), squares.shape[1])
    if most == 0:
        return [np.zeros(squares.shape[0]) for _ in counts]
    if most < squares.shape[1]:
        squares = np.partition(squares, squares.shape[1] - most, axis=1)[:, -most:]
    falling = np.sort(squares, axis=1)[:, ::-1]
    sums = np.cumsum(falling, axis=1, dtype=np.float64)
    return [sums[:, min(count, most) - 1] for count in counts]


WHOLE = {"normal", "clipped"}
"""Scores whose moments are needed of every column."""


def each_pair(pool: Pool, product: Product, receive: Receive) -> None:
    """Give the change of correlation of the pairs of a product that was summed, in blocks.

    The change is (r_x − r_y)/(1 − r_x r_y), of the correlations within the two samples; where
    values are missing, products are those of rows that have both, and means and deviations those
    of rows that have the one. Threads call `receive`, each with permutations of its own.
    """
    pairs, (a, b) = _with_moments(pool, product)
    correlations = CorrelationSums(pool.sums, product, pool.labels.n_rows)
    scale = pool.labels.null_scale(correlations)

    def moments(rows: slice) -> tuple[Singles, ...]:
        return (
            a.mean_x[rows], a.mean_y[rows], a.inverse_x[rows], a.inverse_y[rows],
            b.mean_x[rows], b.mean_y[rows], b.inverse_x[rows], b.inverse_y[rows],
        )  # fmt: skip

    def receive_scaled(rows: slice, block: slice, changes: Singles) -> None:
        if scale is not None:
            changes *= scale[block]
        receive(rows, block, changes)

    pool.each_change(
        pool.sums.feature(product),
        (correlation_changes, present_correlation_changes),
        lambda block: (pairs.s[block], pairs.t[block]),
        moments,
        receive_scaled,
    )


def _with_moments(pool: Pool, product: Product) -> tuple[Pairs, tuple[Moments, Moments]]:
    """Return the pairs, by where their columns stand among the moments of both scores."""
    pairs, names = Pairs(*product.columns), product.scores
    columns, column_of = np.unique(np.concatenate([pairs.s, pairs.t]), return_inverse=True)
    if pool.labels.shared and not set(names) <= WHOLE:
        # Of many comparisons each makes the moments that it needs.
        moments = {name: pool.moments_of(name, columns) for name in names}
    elif columns.size == pool.tables.size:
        return pairs, (pool.moments(names[0]), pool.moments(names[1]))
    else:
        moments = {name: pool.moments(name).some(columns) for name in names}
    among = Pairs(column_of[: pairs.size], column_of[pairs.size :])
    return among, (moments[names[0]], moments[names[1]])


# The largest squares of each permutation, and which pair or triple each belongs to.


@dataclass(frozen=True)
class Largest:
    """The largest squares under each permutation, and all squares at the true labels.

    Attributes
    ----------
    values : array (permutations × kept)
        The largest squares, rising. The first permutation is that of the true labels.
    places : array (permutations × kept)
        The pair or triple that each belongs to; −1 for none.
    observed : array
        The squares of every place at the true labels.
    """

    values: Singles
    places: NDArray[np.int32]
    observed: Singles

    @classmethod
    def empty(cls, count: int, most: int, n_places: int) -> Largest:
        """Return room for `most` values of so many places under each of `count` permutations."""
        values = np.zeros((count, most), dtype=np.float32)
        places = np.full((count, most), -1, dtype=np.int32)
        return cls(values, places, np.zeros(n_places, dtype=np.float32))

    def add(self, rows: slice, block: slice, changes: Singles) -> None:
        """Take in the squares of the changes of some permutations, `rows`, and places, `block`."""
        keep_largest(changes, block.start, self.values[rows], self.places[rows])
        if rows.start == 0:
            np.square(changes[0], out=self.observed[block])

    def maximum(self) -> Singles:
        """Return the largest value of each permutation."""
        return self.values[:, -1]

    def strongest(self, most: int) -> IntArray:
        """Return the places of the `most` largest squares at the true labels, falling."""
        places = np.flatnonzero(self.observed > 0)
        if places.size > most:
            order = np.argpartition(-self.observed[places], most - 1)[:most]
            places = places[np.sort(order)]
        return places[np.argsort(-self.observed[places], kind="stable")]


class Remaining:
    """The largest value of each permutation among the sets of columns that are left.

    Where all the values kept of a permutation are gone, the least of them stands for the next one,
    which is no larger.

    Parameters
    ----------
    values : array (permutations × kept)
        The largest values, rising.
    numbers : array (permutations × kept)
        The set of columns that each belongs to, as an index of `gone`.
    """

    def __init__(self, values: Singles, numbers: IntArray) -> None:
        self._values, self._numbers = values, numbers
        self._rows = np.arange(len(values))
        self._at = np.full(len(values), values.shape[1] - 1)
        self.maxima = values[:, -1].copy()

    def leave_out(self, gone: BoolArray) -> bool:
        """Leave out all sets that are gone; return whether any maximum may have changed."""
        first = rows = np.flatnonzero(gone[self._numbers[self._rows, self._at]] & (self._at > 0))
        while rows.size:
            self._at[rows] -= 1
            rows = rows[gone[self._numbers[rows, self._at[rows]]] & (self._at[rows] > 0)]
        self.maxima[first] = self._values[first, self._at[first]]
        return first.size > 0
