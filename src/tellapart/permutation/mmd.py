"""The null distribution and the p-value: every permutation of the held-out rows at once.

Under H₀ the rows of the pooled test half are exchangeable, and kernel, bandwidth and z were
fixed on other rows. So the statistic of the true labels is one of the statistics of random
labels, and its rank is a p-value that holds in finite samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.compiling import compiled
from tellapart.data.row_draws import Holdout
from tellapart.data.row_stores import block_rows
from tellapart.data.samples import Samples
from tellapart.interrupts import check_interrupts
from tellapart.kernels.base import FittedKernel
from tellapart.kernels.feature_maps import FeatureMap
from tellapart.kernels.random_features import GramTiles, RandomFeatures, draw_features
from tellapart.permutation.draws import MEMORY_BUDGET, binned_sizes, draw_permutations
from tellapart.permutation.forms import ColumnSums, Forms, RowGroups, permute_samples
from tellapart.permutation.pvalues import PermutationNull, null_of
from tellapart.progress import Progress, ShareDone, silent
from tellapart.threads import blas_threads, in_threads, one_blas_thread

# Sums of any kernel between groups of rows: all pairs once, in tiles, not once per permutation.


# Rows on a side of a tile at most: 2 MB, a few of which stay in cache.
SIDE = 512


def gram_forms(tiles: GramTiles, bins: RowGroups, memory_budget: int, n_jobs: int) -> Forms:
    """Return the forms of a kernel; the rows of `tiles` stand group after group.

    Bands of groups with all groups from there on: the pairs above the diagonal are enough.
    """
    forms = bins.forms(n_jobs)
    n_rows = int(bins.starts[-1])
    # A band may take a quarter of the budget, and a tile is made in about three arrays.
    side = int(min(SIDE, max(memory_budget // (32 * n_rows), 1)))
    tile_rows = max(min(SIDE, memory_budget // (128 * side)), 1)
    first = 0
    while first < bins.n_groups:
        check_interrupts()
        # As many groups as have no more rows than a side, but one at least.
        reach = int(bins.starts[first]) + side
        last = max(int(np.searchsorted(bins.starts, reach, side="right")) - 1, first + 1)
        band, largest = _band(tiles, bins.starts, first, last, side, tile_rows, n_jobs)
        forms.add_band(first, band)
        forms.magnitude = max(forms.magnitude, largest)
        first = last
    return forms


def _band(
    tiles: GramTiles,
    starts: IntArray,
    first: int,
    last: int,
    side: int,
    tile_rows: int,
    n_jobs: int,
) -> tuple[FloatArray, float]:
    """Return the sums of K between the groups first..last−1 and those from `first` on, and max |K|.

    No row is paired with itself.
    """
    begin, end, n_rows = int(starts[first]), int(starts[last]), int(starts[-1])
    tasks = [
        (slice(row, min(row + side, end)), slice(column, min(column + tile_rows, n_rows)))
        for row in range(begin, end, side)
        for column in range(begin, n_rows, tile_rows)
    ]

    def work(task: tuple[slice, slice]) -> tuple[FloatArray, float]:
        rows, columns = task
        tile = tiles.tile(rows, columns)
        low, high = max(rows.start, columns.start), min(rows.stop, columns.stop)
        diagonal = np.arange(low, max(low, high))
        tile[diagonal - rows.start, diagonal - columns.start] = 0.0
        of_rows, of_columns = _groups(starts, rows), _groups(starts, columns)
        sums = np.zeros((int(of_rows[-1]) + 1, int(of_columns[-1]) + 1))
        return sums, float(_add_tile(tile, of_rows, of_columns, sums))

    band = np.zeros((last - first, starts.shape[0] - 1 - first))
    magnitude = 0.0
    # One BLAS thread in each of ours; some tiles at a time bound the memory.
    with one_blas_thread():
        for i in range(0, len(tasks), 4 * n_jobs):
            some = tasks[i : i + 4 * n_jobs]
            for (rows, columns), (sums, largest) in zip(
                some, in_threads(work, some, n_jobs), strict=True
            ):
                row, column = _group_at(starts, rows.start), _group_at(starts, columns.start)
                band[
                    row - first : row - first + sums.shape[0],
                    column - first : column - first + sums.shape[1],
                ] += sums
                magnitude = max(magnitude, largest)
    return band, magnitude


def _group_at(starts: IntArray, row: int) -> int:
    return int(np.searchsorted(starts, row, side="right")) - 1


def _groups(starts: IntArray, rows: slice) -> IntArray:
    """Return the groups of some rows, counted from that of the first."""
    return np.asarray(
        np.searchsorted(starts, np.arange(rows.start, rows.stop), side="right")
        - 1
        - _group_at(starts, rows.start)
    )


@compiled
def _add_tile(tile, of_rows, of_columns, sums):  # type: ignore[no-untyped-def]
    """Add up a tile by the groups of its rows and columns; return its largest magnitude."""
    largest = 0.0
    for i in range(tile.shape[0]):
        row = sums[of_rows[i]]
        for j in range(tile.shape[1]):
            value = tile[i, j]
            row[of_columns[j]] += value
            largest = max(largest, abs(value))
    return largest


# Sums of random features over groups of rows.


# Rows of features at a time in each thread: 16 MB at 2,048 of them.
BLOCK_ROWS = 2_048


def random_forms(samples: Samples, features: RandomFeatures, bins: RowGroups, n_jobs: int) -> Forms:
    """Return the forms of the kernel that the features approximate."""
    every = np.arange(samples.n_columns)
    pooled = np.concatenate([samples.x[:, every], samples.y[:, every]])
    centre = np.where([kind == "categorical" for kind in samples.kinds], 0.0, _middle(pooled))
    sums = np.zeros((bins.n_groups, 2 * features.weights.shape[0]))
    group = np.repeat(np.arange(bins.n_groups), bins.rows)
    starts = range(0, pooled.shape[0], BLOCK_ROWS)

    def work(start: int) -> tuple[int, FloatArray]:
        rows = slice(start, min(start + BLOCK_ROWS, pooled.shape[0]))
        values = features.of(pooled[bins.order[rows]], centre)
        groups = group[rows]
        sums_of_groups = np.zeros((int(groups[-1] - groups[0]) + 1, values.shape[1]))
        _add_rows(values, groups - groups[0], sums_of_groups)
        return int(groups[0]), sums_of_groups

    with one_blas_thread():
        for i in range(0, len(starts), 4 * n_jobs):
            for first, sums_of_groups in in_threads(work, starts[i : i + 4 * n_jobs], n_jobs):
                sums[first : first + sums_of_groups.shape[0]] += sums_of_groups
    forms = bins.forms(n_jobs)
    forms.add_features(sums, np.tile(features.weights, 2))
    forms.leave_out_diagonal(np.multiply(features.diagonal, bins.rows))
    forms.magnitude = features.magnitude
    return forms


@compiled
def _add_rows(values, group, sums):  # type: ignore[no-untyped-def]
    for i in range(values.shape[0]):
        row = sums[group[i]]
        for j in range(values.shape[1]):
            row[j] += values[i, j]


def _middle(pooled: FloatArray) -> FloatArray:
    return np.asarray(np.median(pooled, axis=0))


TIE_TOLERANCE = 1e-12
"""Two statistics closer than this times the largest |K| are a tie."""


def permutation_test(
    samples: Samples,
    kernel: FittedKernel,
    z: FloatArray,
    *,
    n_permutations: int,
    alpha: float,
    rng: np.random.Generator,
    memory_budget: int = MEMORY_BUDGET,
    n_jobs: int | None = None,
) -> PermutationNull:
    """Test MMD²_u(z) of two samples against all, or many random, permutations of their rows.

    p = (1 + #{i : T_i ≥ T}) / (N_p + 1) with N_p random permutations. When there are at most
    N_p distinct ones they are all enumerated, the true one included, and
    p = #{i : T_i ≥ T} / count. Statistics equal up to rounding count as ties, against the
    rejection: P(p ≤ α) ≤ α under H₀ for every sample size.

    Where both samples are large, bins of rows are permuted (`tellapart.permutation.labels`), and
    what is needed of the kernel are its sums between bins: by short features of the columns, or
    over all pairs of rows once. Beyond 40,000 rows a kernel without short features takes random
    ones, drawn without labels; one that has none either is tested on 20,000 rows of each sample
    at most, drawn at random. `PermutationNull.note` says so.

    With a design (`samples.design`) labels are permuted by it, and MMD² is adjusted for its blocks
    (`tellapart.permutation.forms.DesignForms`).

    Parameters
    ----------
    samples : Samples
        The held-out rows: not those on which `kernel` and `z` were chosen.
    kernel : FittedKernel
        The kernel with its bandwidths frozen.
    z : array of length D
        The weights.
    n_permutations : int
        Number of random permutations, N_p.
    alpha : float
        The level, for `threshold` only.
    rng : numpy Generator
        The p-value is the same for the same generator state, whatever the memory budget.
    memory_budget : int
        Bytes that blocks of the Gram matrix and of the labels may take.
    n_jobs : int or None
        Threads; None takes as many as BLAS would.

    Returns
    -------
    PermutationNull
        Statistic, null distribution, p-value and critical value.
    """
    threads = blas_threads() if n_jobs is None else n_jobs
    # Only the chosen columns take part: of a wide sample, or a sparse one, no others are copied.
    used = np.flatnonzero(z)
    samples, kernel, z = samples.columns(used), kernel.columns(used), z[used]
    note, features, budget = "", None, current_budget()
    if not kernel.abilities.short_features and samples.n_x + samples.n_y > budget.paired_rows:
        levels = [len(samples.categories.get(name, ())) for name in samples.names]
        features = draw_features(kernel, z, levels, budget.random_frequencies, rng)
        if features is None:
            drawn = samples.draw(budget.paired_rows // 2, rng)
            note = (
                f"on {drawn.n_x:,} of {samples.n_x:,} and {drawn.n_y:,} of {samples.n_y:,} rows, "
                "drawn at random"
            )
            samples = drawn
        else:
            note = f"with {budget.random_frequencies:,} random frequencies for the kernel"
    bins = permute_samples(samples, n_permutations, rng)
    # The products are small: BLAS threads of their own would wait for each other on a busy machine.
    with one_blas_thread():
        if features is not None:
            forms = random_forms(samples, features, bins, threads)
        else:
            every = np.arange(used.size)
            pooled = np.concatenate([samples.x[:, every], samples.y[:, every]])[bins.order]
            forms = _column_forms(pooled, kernel, z, bins, threads) or gram_forms(
                GramTiles(kernel, pooled, z), bins, memory_budget, threads
            )
        statistics = forms.mmd2()
    return null_of(
        statistics,
        TIE_TOLERANCE * forms.magnitude,
        alpha,
        exact=bins.exact,
        rows_per_bin=bins.rows_per_bin,
        note=note,
    )


def _column_forms(
    pooled: FloatArray, kernel: FittedKernel, z: FloatArray, bins: RowGroups, n_jobs: int
) -> Forms | None:
    """Sum K_z = Σ_s z_s k_s column by column: O(N r) for r features in all, whatever the tails.

    None for kernels that are no such sums, and where rows are so few that features would be as
    many as they are: the Gram matrix is the cheaper way then.
    """
    if not kernel.abilities.short_features:
        return None
    columns, scalars = np.ascontiguousarray(pooled.T), kernel.scalar_kernels
    few = bins.rows_per_bin == 1 and pooled.shape[0] <= current_budget().gram_rows

    def sums_of(s: int) -> ColumnSums:
        sums = ColumnSums(scalars[s], columns[s], bins.starts)
        if not few and sums.features is None:
            _ = sums.gram  # made here, in this thread
        return sums

    forms, parts, weights = bins.forms(n_jobs), [], []
    dense = np.zeros((0, 0))
    for weight, sums in zip(z, in_threads(sums_of, range(z.size), n_jobs), strict=True):
        features = sums.features
        # Judge by the first columns: with as many features as rows the Gram matrix wins.
        if few and (features is None or features.shape[1] * z.size >= pooled.shape[0]):
            return None
        if features is None:
            dense = weight * sums.gram if dense.size == 0 else dense + weight * sums.gram
        else:
            parts.append(features)
            weights.append(np.full(features.shape[1], weight))
    if parts:
        forms.add_features(np.concatenate(parts, axis=1), np.concatenate(weights))
    if dense.size > 0:
        forms.add_sums(dense)
    # k(v, v) = 1.
    forms.leave_out_diagonal(np.multiply(z.sum(), bins.rows))
    forms.magnitude = float(np.abs(z).sum())
    return forms


# The test of the rows held out of chunks: sums of short features over bins, in one pass.
#
# A row's place in the random order that held it out (`tellapart.data.row_draws`) tells its
# bin, so nobody holds the rows. What permutations of the bins need of them are the sums of the
# chosen columns' features over every bin, as in `tellapart.permutation.mmd`.


def permutation_test_in_chunks(
    samples: Samples,
    holdout: Holdout,
    kernel: FittedKernel,
    z: FloatArray,
    *,
    n_permutations: int,
    alpha: float,
    rng: np.random.Generator,
    n_jobs: int = 1,
    progress: Progress = silent,
) -> PermutationNull:
    """Test MMD²_u(z) of the rows held out of two samples against permutations of bins of them.

    See `tellapart.permutation.mmd.permutation_test`. Where a chosen column has a long tail, or
    very many levels, its kernel is cut off as `tellapart.kernels.feature_maps` says, whatever the
    labels, and `PermutationNull.note` tells.

    Parameters
    ----------
    samples : Samples
        All rows, those that chose included.
    holdout : Holdout
        Which of them are held out.
    kernel, z, n_permutations, alpha, rng
        As in `permutation_test`.
    n_jobs : int
        Threads, where the rows are not shared out already.
    progress : callable
        Told how far the work is.
    """
    used = np.flatnonzero(z)
    maps = tuple(_map_of(samples, kernel, int(s)) for s in used)
    n_x, n_y = holdout.n_held_out
    bins_x, bins_y, size = binned_sizes(n_x, n_y)
    share = ShareDone(progress, "test", sum(samples.n_read))
    sums = []
    for sample, store in enumerate(samples.stores):
        threads = 1 if store.side_by_side else n_jobs
        n_bins = (bins_x, bins_y)[sample]
        fold = FeatureSums(maps, tuple(used.tolist()), holdout, sample, n_bins, size, threads)
        step = block_rows(samples.n_columns)
        sums.append(store.fold(fold, step, share.after(sample * samples.n_read[0])))
    groups = RowGroups.of_bins(
        n_x, n_y, np.empty(0, dtype=np.intp), draw_permutations(bins_x, bins_y, n_permutations, rng)
    )
    kept = np.flatnonzero([n_x > bins_x * size, n_y > bins_y * size])
    left_over = np.concatenate([sums[0][-1:], sums[1][-1:]])[kept]
    features = np.concatenate([sums[0][:-1], sums[1][:-1], left_over])
    forms = groups.forms(n_jobs)
    with one_blas_thread():
        forms.add_features(features, np.repeat(z[used], [one.size for one in maps]))
        # k(v, v) = 1.
        forms.leave_out_diagonal(np.multiply(z.sum(), groups.rows))
        forms.magnitude = float(np.abs(z).sum())
        statistics = forms.mmd2()
    cuts = [f"{samples.names[s]} {one.cut}" for s, one in zip(used, maps, strict=True) if one.cut]
    return null_of(
        statistics,
        TIE_TOLERANCE * forms.magnitude,
        alpha,
        exact=groups.exact,
        rows_per_bin=size,
        note=f"with {'; '.join(cuts)}" if cuts else "",
    )


@dataclass(frozen=True, eq=False)
class FeatureSums:
    """The fold that sums the features of the chosen columns over bins of the rows held out.

    The last bin is that of the rows which keep their labels.
    """

    maps: tuple[FeatureMap, ...]
    columns: tuple[int, ...]
    holdout: Holdout
    sample: int
    n_bins: int
    rows_per_bin: int
    n_jobs: int = 1

    def start(self) -> FloatArray:
        """Return the sums over no rows."""
        return np.zeros((self.n_bins + 1, sum(one.size for one in self.maps)))

    def add(self, held: FloatArray, first_row: int, values: FloatArray) -> FloatArray:
        """Add the features of the rows of a block that are held out."""
        places = self.holdout.places(self.sample, first_row, values.shape[0])
        rows = np.flatnonzero(places < self.holdout.n_held_out[self.sample])
        if rows.size == 0:
            return held
        at = np.minimum(places[rows] // self.rows_per_bin, self.n_bins)
        order = np.argsort(at, kind="stable")
        rows, at = rows[order], at[order]
        bins, starts = np.unique(at, return_index=True)
        starts = np.append(starts, rows.size)
        edges = np.cumsum([0, *(one.size for one in self.maps)])

        def sum_column(i: int) -> None:
            sums = self.maps[i].sums(values[rows, self.columns[i]], starts)
            held[bins, edges[i] : edges[i + 1]] += sums

        in_threads(sum_column, range(len(self.maps)), self.n_jobs)
        return held

    def merge(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the sums over the rows of both."""
        left += right
        return left


def _map_of(samples: Samples, kernel: FittedKernel, s: int) -> FeatureMap:
    rows = samples.whole
    low, high = float(rows.least[s]), float(rows.greatest[s])
    features = kernel.scalar_kernels[s].feature_map(rows.pooled[:, s], low, high)
    assert features is not None, "a kernel whose sums add up has features that chunks share"
    return features
