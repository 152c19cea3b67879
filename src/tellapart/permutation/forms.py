"""MMD²_u of every permutation from sums of the kernel between groups of rows.

`RowGroups` are the rows whose labels are permuted together, with the labels of all permutations.

With S_gh the sum of K over pairs of rows of the groups g and h, no row paired with itself, and e
the 0/1 labels of the groups, a statistic needs eᵀSe, eᵀS1 and 1ᵀS1 only. S is never needed
whole: it comes as features, S = Σ_f w_f φ_f φ_fᵀ, or in bands of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.data.samples import Samples, map_columns
from tellapart.interrupts import check_interrupts
from tellapart.kernels.base import ScalarKernel
from tellapart.permutation.design import Units, permute_units, units_of
from tellapart.permutation.draws import Permutations, bin_rows, binned_sizes, draw_permutations
from tellapart.threads import in_threads

GATHER_COST = 20.0
# Labels unpacked at a time: 2 MB.
UNPACKED_ENTRIES = 262_144


@dataclass(frozen=True)
class RowGroups:
    """Groups of pooled rows whose labels are permuted together, and the packed labels of all.

    The groups are the bins, those of x first, and the rows left over of x and of y, which keep
    their labels; no group is empty.

    Attributes
    ----------
    order : array of length N
        Pooled row numbers, group after group.
    starts : array of length G + 1
        Where in `order` each group begins, and where the last ends.
    permutations : Permutations
        The labels of the bins; the true ones come first.
    n_bins : int
        Groups that are permuted.
    rows_per_bin : int
        Rows in each of them.
    kept : array
        The labels of the other groups.
    n_x, n_y : int
        Rows of the two samples.
    """

    order: IntArray
    starts: IntArray
    permutations: Permutations
    n_bins: int
    rows_per_bin: int
    kept: FloatArray
    n_x: int
    n_y: int

    @classmethod
    def of_bins(cls, n_x: int, n_y: int, order: IntArray, permutations: Permutations) -> RowGroups:
        """Return the bins of samples of such sizes, and the rows left over; see `binned_sizes`."""
        bins_x, bins_y, size = binned_sizes(n_x, n_y)
        rest = np.array([n_x - bins_x * size, n_y - bins_y * size])
        starts = np.arange(bins_x + bins_y + 1) * size
        return cls(
            order=order,
            starts=np.append(starts, starts[-1] + np.cumsum(rest[rest > 0])),
            permutations=permutations,
            n_bins=bins_x + bins_y,
            rows_per_bin=size,
            kept=np.array([1.0, 0.0])[rest > 0],
            n_x=n_x,
            n_y=n_y,
        )

    @property
    def exact(self) -> bool:
        """Whether all permutations of the bins are there."""
        return self.permutations.exact

    @property
    def n_groups(self) -> int:
        """Number of groups, G."""
        return int(self.starts.shape[0]) - 1

    @property
    def count(self) -> int:
        """Number of permutations, the true labels among them."""
        return int(self.permutations.bits.shape[0])

    @property
    def rows(self) -> IntArray:
        """How many rows each group has."""
        return np.diff(self.starts)

    def labels(self, which: slice) -> FloatArray:
        """Return the 0/1 labels of the groups under some permutations, one row each."""
        of_bins = self.permutations.labels(self.n_bins, which)
        labels = np.empty((of_bins.shape[0], self.n_groups))
        labels[:, : self.n_bins] = of_bins
        labels[:, self.n_bins :] = self.kept
        return labels

    def slices(self, entries: int = UNPACKED_ENTRIES) -> list[slice]:
        """Return all permutations, as many at a time as have so many labels."""
        step = max(entries // self.n_groups, 1)
        return [slice(start, min(start + step, self.count)) for start in range(0, self.count, step)]

    def blocks(self, entries: int = UNPACKED_ENTRIES) -> Iterator[tuple[slice, FloatArray]]:
        """Return the labels of the groups, some permutations at a time."""
        for which in self.slices(entries):
            check_interrupts()
            yield which, self.labels(which)

    def weights(self, labels: FloatArray) -> FloatArray:
        """Return w with Σ_g w_g S_g = mean_x − mean_y of sums S over groups, per row of labels."""
        weights = labels * (1 / self.n_x + 1 / self.n_y)
        weights -= 1 / self.n_y
        return weights

    def of_rows(self, labels: FloatArray) -> FloatArray:
        """Return the labels of the pooled rows, in their own order, from those of the groups."""
        if self.rows_per_bin == 1 and self.n_groups == self.n_bins:
            return labels
        spread = np.empty((labels.shape[0], self.order.shape[0]))
        spread[:, self.order] = np.repeat(labels, self.rows, axis=1)
        return spread

    def forms(self, n_jobs: int = 1) -> Forms:
        """Return room for the sums of a kernel between the groups."""
        return Forms(self, n_jobs)

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums over each group of values of shape (N,) or (N, r), in pooled order."""
        ordered = values[self.order]
        if self.rows_per_bin == 1 and self.n_groups == self.n_bins:
            return ordered
        used = self.n_bins * self.rows_per_bin
        shape = (self.n_bins, self.rows_per_bin, *values.shape[1:])
        sums = np.empty((self.n_groups, *values.shape[1:]))
        sums[: self.n_bins] = ordered[:used].reshape(shape).sum(axis=1)
        for group in range(self.n_bins, self.n_groups):
            sums[group] = ordered[self.starts[group] : self.starts[group + 1]].sum(axis=0)
        return sums


def permute_rows(n_x: int, n_y: int, n_permutations: int, rng: np.random.Generator) -> RowGroups:
    """Put the rows into bins and permute their labels, which stay packed; all of them where few."""
    bins_x, bins_y, _ = binned_sizes(n_x, n_y)
    order = bin_rows(n_x, n_y, rng)
    drawn = draw_permutations(bins_x, bins_y, n_permutations, rng)
    return RowGroups.of_bins(n_x, n_y, order, drawn)


@dataclass(frozen=True)
class DesignGroups(RowGroups):
    """The units of a design as groups, with labels for those, too, that keep theirs."""

    units: Units

    def weights(self, labels: FloatArray) -> FloatArray:
        """Return w with Σ_g w_g S_g = mean_x − mean_y of sums S centred within blocks."""
        weights = self.units.centred_weights(labels)
        row_weights = self.units.row_weights
        return weights if row_weights is None else weights * row_weights

    def of_rows(self, labels: FloatArray) -> FloatArray:
        """Return the labels of the pooled rows, in their own order, from those of the groups."""
        return labels[:, np.concatenate(self.units.of_rows)]

    def forms(self, n_jobs: int = 1) -> Forms:
        """Return room for the sums of a kernel between the units."""
        return DesignForms(self, n_jobs)

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums over each group of values of shape (N,) or (N, r), in pooled order."""
        return np.asarray(np.add.reduceat(values[self.order], self.starts[:-1], axis=0))


def permute_samples(samples: Samples, n_permutations: int, rng: np.random.Generator) -> RowGroups:
    """Return permutations of the labels of the rows, or of what the design says moves together."""
    if samples.design is None:
        return permute_rows(samples.n_x, samples.n_y, n_permutations, rng)
    units = units_of(samples.design, rng)
    return DesignGroups(
        order=np.argsort(np.concatenate(units.of_rows), kind="stable"),
        starts=np.append(0, np.cumsum(units.rows)),
        permutations=permute_units(units, n_permutations, rng),
        n_bins=units.size,
        rows_per_bin=units.together,
        kept=np.zeros(0),
        n_x=samples.n_x,
        n_y=samples.n_y,
        units=units,
    )


class Forms:
    """eᵀSe, eᵀS1 and 1ᵀS1 of all permutations e, added up part by part.

    Parameters
    ----------
    bins : RowGroups
        The groups and the labels of all permutations.
    n_jobs : int
        Threads.
    gather_cost : float
        What one number of S that is looked up costs, in multiples of one in a matrix product.
    """

    def __init__(self, bins: RowGroups, n_jobs: int = 1, gather_cost: float = GATHER_COST) -> None:
        self._bins, self._n_jobs, self._gather_cost = bins, n_jobs, gather_cost
        self._within = np.zeros(bins.count)
        self._row_sums = np.zeros(bins.n_groups)
        self.magnitude = 0.0
        """A bound on |K|, the scale of rounding errors."""

    def add_features(self, sums: FloatArray, weights: FloatArray) -> None:
        """Add S = Σ_f w_f φ_f φ_fᵀ, the columns of `sums` (G × r) being φ_f."""
        if sums.shape[1] >= sums.shape[0]:
            self.add_sums((sums * weights) @ sums.T)
            return
        self._add(lambda labels: np.square(labels @ sums) @ weights)
        self._row_sums += sums @ (weights * sums.sum(axis=0))

    def add_sums(self, sums: FloatArray) -> None:
        """Add S, whole."""
        size, of_x = sums.shape[0], int(self._bins.labels(slice(0, 1)).sum())
        minority = min(of_x, size - of_x)
        if self._gather_cost * minority * minority >= size * size:
            self.add_band(0, sums)
            return
        # Of very unequal samples, the groups of the smaller one are looked up: the sums over the
        # other follow from the totals.
        label, row_sums = float(of_x == minority), sums.sum(axis=1)
        total = row_sums.sum()

        def within(labels: FloatArray) -> FloatArray:
            inside = np.empty(labels.shape[0])
            _gather(sums, labels, label, inside)
            return inside if label == 1.0 else inside + 2.0 * (labels @ row_sums) - total

        self._add(within)
        self._row_sums += row_sums

    def add_band(self, first: int, band: FloatArray) -> None:
        """Add the rows `first`, `first` + 1, … of S, each from column `first` on.

        S is symmetric: what lies left of the band, another one has added.
        """
        last = first + band.shape[0]
        beyond = band[:, band.shape[0] :]
        self._row_sums[first:last] += band.sum(axis=1)
        self._row_sums[last:] += beyond.sum(axis=0)

        def within(labels: FloatArray) -> FloatArray:
            of_band = labels[:, first:last]
            sums = of_band @ band[:, : band.shape[0]]
            if beyond.shape[1] > 0:
                sums += 2.0 * (labels[:, last:] @ beyond.T)
            return np.asarray(np.einsum("ij,ij->i", sums, of_band))

        self._add(within)

    def leave_out_diagonal(self, sums: FloatArray) -> None:
        """Take away the pairs of each row with itself: Σ K(w, w) over the rows of each group."""
        self._add(lambda labels: -(labels @ sums))
        self._row_sums -= sums

    def mmd2(self) -> FloatArray:
        """Return MMD²_u of each permutation."""
        touching = np.empty_like(self._within)
        for which, labels in self._bins.blocks():
            touching[which] = labels @ self._row_sums
        m, n = self._bins.n_x, self._bins.n_y
        xx = self._within
        xy = touching - xx
        yy = self._row_sums.sum() - 2.0 * touching + xx
        return np.asarray(xx / (m * (m - 1)) + yy / (n * (n - 1)) - 2.0 * xy / (m * n))

    def _add(self, within: Callable[[FloatArray], FloatArray]) -> None:
        """Add to eᵀSe what a function of the labels says, in threads."""

        def work(which: slice) -> None:
            self._within[which] += within(self._bins.labels(which))

        in_threads(work, self._bins.slices(), self._n_jobs)


class DesignForms(Forms):
    """MMD² under a design: S whole, adjusted for blocks, without pairs within a unit.

    With w(e) = 1/n_x for units of x and −1/n_y for those of y, and S̃ the sums of the kernel whose
    features are centred within blocks (`tellapart.permutation.design`), it is Σ_{g≠h} w_g w_h S̃_gh.
    Its mean over permutations is about 0 whatever the sizes of clusters.
    """

    def __init__(self, bins: DesignGroups, n_jobs: int = 1) -> None:
        super().__init__(bins, n_jobs)
        self._units = bins.units
        self._sums = np.zeros((bins.n_groups, bins.n_groups))

    def add_features(self, sums: FloatArray, weights: FloatArray) -> None:
        """Add S = Σ_f w_f φ_f φ_fᵀ, the columns of `sums` (G × r) being φ_f."""
        self._sums += (sums * weights) @ sums.T

    def add_sums(self, sums: FloatArray) -> None:
        """Add S, whole."""
        self._sums += sums

    def add_band(self, first: int, band: FloatArray) -> None:
        """Add the rows `first`, `first` + 1, … of S, each from column `first` on."""
        last = first + band.shape[0]
        self._sums[first:last, first:] += band
        self._sums[last:, first:last] += band[:, band.shape[0] :].T

    def leave_out_diagonal(self, sums: FloatArray) -> None:
        """Take away the pairs of each row with itself: Σ K(w, w) over the rows of each group."""
        self._sums[np.diag_indices_from(self._sums)] -= sums

    def mmd2(self) -> FloatArray:
        """Return MMD² of each permutation."""
        matrix, units = self._sums, self._units
        if units.row_weights is not None:
            matrix = matrix * units.row_weights * units.row_weights[:, np.newaxis]
        if units.needs_centring:
            matrix = units.centre(units.centre(matrix).T)
        # Of those that keep their labels the pairs within are those of many units.
        matrix = matrix - np.diag(np.where(units.moved, np.diag(matrix), 0.0))
        statistics = np.empty(self._bins.count)
        for which, labels in self._bins.blocks():
            weights = units.weights(labels)
            statistics[which] = np.einsum("ij,ij->i", weights @ matrix, weights)
        return statistics


@compiled
def _gather(sums, labels, label, within):  # type: ignore[no-untyped-def]
    """Sum S over the pairs of groups that carry the label, for each row of labels."""
    members = np.empty(sums.shape[0], dtype=np.int64)
    for e in range(labels.shape[0]):
        count = 0
        for g in range(sums.shape[0]):
            if labels[e, g] == label:
                members[count] = g
                count += 1
        total = 0.0
        for i in range(count):
            row = sums[members[i]]
            for j in range(count):
                total += row[members[j]]
        within[e] = total


class ColumnSums:
    """The sums of one column's kernel between groups of rows: by features, or S itself.

    Parameters
    ----------
    scalar : ScalarKernel
        k, with k(v, v) = 1.
    values : array of length N
        Group after group.
    starts : array of length G + 1
        Where each group begins, and where the last ends.
    """

    def __init__(self, scalar: ScalarKernel, values: FloatArray, starts: IntArray) -> None:
        self.features = scalar.features(values, starts)
        self._scalar, self._values, self._starts = scalar, values, starts
        self._rows = np.diff(starts).astype(np.float64)

    @cached_property
    def gram(self) -> FloatArray:
        """S, each row paired with itself, too: asked for where there are no features."""
        return self._scalar.gram_sums(self._values, self._starts)

    def products(self, labels: FloatArray) -> FloatArray:
        """Return labels S labelsᵀ for labels of shape (k, G): pairs of a row with itself count."""
        if self.features is None:
            return np.asarray(labels @ self.gram @ labels.T)
        embedded = labels @ self.features
        return np.asarray(embedded @ embedded.T)

    def mmd2(self, bins: RowGroups, groups: IntArray | None = None) -> FloatArray:
        """Return MMD²_u of each permutation of the groups, or of some of them."""
        chosen = np.arange(self._rows.shape[0]) if groups is None else groups
        forms = bins.forms()
        if self.features is None:
            whole = chosen.size == self._rows.size
            forms.add_sums(self.gram if whole else self.gram[np.ix_(chosen, chosen)])
        else:
            forms.add_features(self.features[chosen], np.ones(self.features.shape[1]))
        forms.leave_out_diagonal(self._rows[chosen])
        return forms.mmd2()


def mmd2_of_columns(features: Sequence[FloatArray], bins: RowGroups) -> FloatArray:
    """Return MMD²_u of several columns under each permutation, a row per column.

    One product of matrices for all of them; `features` are the sums over groups, (G × r) each, of
    kernels with k(v, v) = 1.
    """
    whole = np.concatenate(features, axis=1)
    edges = np.cumsum([0, *(table.shape[1] for table in features[:-1])])
    total = whole.sum(axis=0)
    every = np.add.reduceat(np.square(total), edges) - bins.rows.sum()
    m, n = bins.n_x, bins.n_y
    statistics = np.empty((len(features), bins.count))
    for which, labels in bins.blocks():
        embedded, rows_of_x = labels @ whole, (labels @ bins.rows)[:, np.newaxis]
        touching = np.add.reduceat(embedded * total, edges, axis=1) - rows_of_x
        xx = np.add.reduceat(np.square(embedded), edges, axis=1) - rows_of_x
        xy, yy = touching - xx, every - 2.0 * touching + xx
        mmd2 = xx / (m * (m - 1)) + yy / (n * (n - 1)) - 2.0 * xy / (m * n)
        statistics[:, which] = mmd2.T
    return statistics


# The statistic of every column under every permutation of the rows, or of bins of them.
#
# One shared set of permutations gives a matrix T, one row per permutation, the true labels first,
# and one column per variable: what tests of several variables, or of the best few, compare.


# Labels of rows at a time, 64 MB.
LABEL_ENTRIES = 8_000_000
# Standardised statistics, of size 1, closer than this are a tie.
TIE = 1e-9

ColumnStatistic = Callable[[int, FloatArray, RowGroups], FloatArray]
"""From a column, its pooled values and the permuted bins to a statistic for each permutation."""
WeightStatistic = Callable[[int, FloatArray, FloatArray], FloatArray]
"""From a column, its pooled values and weights w of shape (k, m + n) to the k statistics.

A row of w has 1/n_x for rows of x and −1/n_y for those of y, so that w·f = mean_x f − mean_y f.
"""


def mmd_statistic(scalars: tuple[ScalarKernel, ...]) -> ColumnStatistic:
    """Return the function that gives MMD²_u of one column for each permutation.

    It needs the sums of the column's kernel between bins only.
    """

    def statistic(column: int, values: FloatArray, bins: RowGroups) -> FloatArray:
        return ColumnSums(scalars[column], values[bins.order], bins.starts).mmd2(bins)

    return statistic


def by_rows(statistic: WeightStatistic) -> ColumnStatistic:
    """Return a statistic of the weights of rows as one of the permuted bins.

    Under a design they are those of features centred within blocks: see
    `tellapart.permutation.design`.
    """

    def of_bins(column: int, values: FloatArray, bins: RowGroups) -> FloatArray:
        entries = LABEL_ENTRIES * bins.n_groups // values.shape[0]
        return np.concatenate(
            [
                statistic(column, values, bins.of_rows(bins.weights(labels)))
                for _, labels in bins.blocks(entries)
            ]
        )

    return of_bins


def permuted_statistics(
    samples: Samples,
    columns: IntArray,
    bins: RowGroups,
    statistic: ColumnStatistic,
    n_jobs: int,
) -> FloatArray:
    """Return T: the statistic of each column under each permutation, shape (k, |columns|)."""

    def of_column(s: int, x: FloatArray, y: FloatArray) -> FloatArray:
        return statistic(s, np.concatenate([x, y]), bins)

    return np.array(map_columns(of_column, samples, columns, n_jobs)).T


def standardise(table: FloatArray) -> FloatArray:
    """Return T less its mean over the permutations, in units of its standard deviation.

    Both are symmetric in the permutations, the true one included, so these stay exchangeable.
    """
    deviations = table.std(axis=0)
    flat = deviations <= TIE * np.abs(table).max(axis=0)
    centred: FloatArray = table - table.mean(axis=0)
    return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, deviations)))
