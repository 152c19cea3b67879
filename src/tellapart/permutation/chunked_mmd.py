"""The test of the rows held out of chunks: sums of short features over bins, in one pass.

A row's place in the random order that held it out (`tellapart.data.chunks.halves`) tells its bin,
so nobody holds the rows. What permutations of the bins need of them are the sums of the chosen
columns' features over every bin, as in `tellapart.permutation.mmd`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.chunks.chunked_samples import ChunkedSamples
from tellapart.data.chunks.fold import block_rows
from tellapart.data.chunks.halves import Halves
from tellapart.kernels.base import FittedKernel
from tellapart.kernels.feature_maps import FeatureMap
from tellapart.permutation.bins import PermutedBins, binned_sizes
from tellapart.permutation.forms import Forms
from tellapart.permutation.labels import draw_permutations
from tellapart.permutation.mmd import TIE_TOLERANCE
from tellapart.permutation.nulls import PermutationNull, null_of
from tellapart.progress import Progress, ShareDone, silent
from tellapart.threads import in_threads, one_blas_thread


def permutation_test_in_chunks(
    samples: ChunkedSamples,
    halves: Halves,
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
    samples : ChunkedSamples
        All rows, those that chose included.
    halves : Halves
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
    n_x, n_y = halves.n_held_out
    bins_x, bins_y, size = binned_sizes(n_x, n_y)
    share = ShareDone(progress, "test", samples.n_x + samples.n_y)
    sums = []
    for sample, store in enumerate((samples.x, samples.y)):
        threads = 1 if store.side_by_side else n_jobs
        n_bins = (bins_x, bins_y)[sample]
        fold = FeatureSums(maps, tuple(used.tolist()), halves, sample, n_bins, size, threads)
        step = block_rows(samples.n_columns)
        sums.append(store.fold(fold, step, share.after(sample * samples.n_x)))
    rest = np.array([n_x - bins_x * size, n_y - bins_y * size])
    kept = np.flatnonzero(rest)
    starts = np.arange(bins_x + bins_y + 1) * size
    bins = PermutedBins(
        order=np.empty(0, dtype=np.intp),
        starts=np.append(starts, starts[-1] + np.cumsum(rest[kept])),
        permutations=draw_permutations(bins_x, bins_y, n_permutations, rng),
        n_bins=bins_x + bins_y,
        rows_per_bin=size,
        kept=np.array([1.0, 0.0])[kept],
        n_x=n_x,
        n_y=n_y,
    )
    left_over = np.concatenate([sums[0][-1:], sums[1][-1:]])[kept]
    features = np.concatenate([sums[0][:-1], sums[1][:-1], left_over])
    forms = Forms(bins, n_jobs)
    with one_blas_thread():
        forms.add_features(features, np.repeat(z[used], [one.size for one in maps]))
        # k(v, v) = 1.
        forms.leave_out_diagonal(np.multiply(z.sum(), bins.rows))
        forms.magnitude = float(np.abs(z).sum())
        statistics = forms.mmd2()
    cuts = [f"{samples.names[s]} {one.cut}" for s, one in zip(used, maps, strict=True) if one.cut]
    return null_of(
        statistics,
        TIE_TOLERANCE * forms.magnitude,
        alpha,
        exact=bins.exact,
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
    halves: Halves
    sample: int
    n_bins: int
    rows_per_bin: int
    n_jobs: int = 1

    def start(self) -> FloatArray:
        """Return the sums over no rows."""
        return np.zeros((self.n_bins + 1, sum(one.size for one in self.maps)))

    def add(self, held: FloatArray, first_row: int, values: FloatArray) -> FloatArray:
        """Add the features of the rows of a block that are held out."""
        places = self.halves.places(self.sample, first_row, values.shape[0])
        rows = np.flatnonzero(places < self.halves.n_held_out[self.sample])
        if rows.size == 0:
            return held
        at = np.minimum(places[rows] // self.rows_per_bin, self.n_bins)
        order = np.argsort(at, kind="stable")
        rows, at = rows[order], at[order]
        bins, starts = np.unique(at, return_index=True)
        starts = np.append(starts, rows.size)
        edges = np.cumsum([0, *(one.size for one in self.maps)])

        def sum_column(i: int) -> None:
            found = self.maps[i].sums(values[rows, self.columns[i]], starts)
            held[bins, edges[i] : edges[i + 1]] += found

        in_threads(sum_column, range(len(self.maps)), self.n_jobs)
        return held

    def merge(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the sums over the rows of both."""
        left += right
        return left


def _map_of(samples: ChunkedSamples, kernel: FittedKernel, s: int) -> FeatureMap:
    low, high = float(samples.least[s]), float(samples.greatest[s])
    found = kernel.scalar_kernels[s].feature_map(samples.pooled.values[:, s], low, high)
    assert found is not None, "a kernel whose sums add up has features that chunks share"
    return found
