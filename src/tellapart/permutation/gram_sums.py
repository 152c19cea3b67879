"""Sums of any kernel between groups of rows: all pairs once, in tiles, not once per permutation."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.interrupts import check_interrupts
from tellapart.kernels.tiles import GramTiles
from tellapart.permutation.bins import PermutedBins
from tellapart.permutation.forms import Forms, forms_of
from tellapart.threads import in_threads, one_blas_thread

# Rows on a side of a tile at most: 2 MB, a few of which stay in cache.
SIDE = 512


def gram_forms(tiles: GramTiles, bins: PermutedBins, memory_budget: int, n_jobs: int) -> Forms:
    """Return the forms of a kernel; the rows of `tiles` stand group after group.

    Bands of groups with all groups from there on: the pairs above the diagonal are enough.
    """
    forms = forms_of(bins, n_jobs)
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
        own = np.arange(low, max(low, high))
        tile[own - rows.start, own - columns.start] = 0.0
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
