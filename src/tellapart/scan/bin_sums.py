"""Sums over bins of all that the families ask for: one pass over the rows of one sample."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray, Singles
from tellapart.permutation.labels import Bins
from tellapart.scan.features import (
    N_DERIVED,
    PRESENT,
    SINGLES,
    Requests,
    ScoredBlock,
    Segments,
)
from tellapart.scan.loops import (
    N_WAVES,
    sum_cells,
    sum_columns,
    sum_values,
    sum_waves,
    wave_table,
)
from tellapart.scan.scores import columns_at_a_time, look_up
from tellapart.scan.tables import Tables
from tellapart.threads import in_slices, one_blas_thread


def _none(*shape: int) -> Singles:
    return np.zeros(shape, dtype=np.float32)


@dataclass(eq=False)
class SampleSums:
    """Sums over the bins of one sample, the last being that of the rows which keep their labels.

    Attributes
    ----------
    singles : array of shape (kinds, bins + 1, P)
        Scores of single columns, by `tellapart.scan.features.SINGLES`.
    derived : array of shape (N_DERIVED, bins + 1 or 1, P)
        Squares, powers and waves; of rows permuted one by one they follow from the scores.
    present : array of shape (bins + 1, P), or none
        How many values of each column are there, where some may be missing.
    features : list of arrays of shape (bins + 1, size)
        The features that were requested, in their order.
    points : array of shape (bins · rows kept, P)
        V of some rows of each bin.
    points_present : array of length bins · rows kept, or none
        1 where a row of `points` has any value.
    lengths : array of shape (2, rows), or none
        ‖V‖² of every row, and how many of its values are there.
    """

    singles: Singles
    derived: Singles
    present: Singles = field(default_factory=lambda: _none(0, 0))
    features: list[Singles] = field(default_factory=list)
    points: Singles = field(default_factory=lambda: _none(0, 0))
    points_present: Singles = field(default_factory=lambda: _none(0))
    lengths: Singles = field(default_factory=lambda: _none(0, 0))

    def arrays(self) -> list[Singles]:
        """Return all arrays, in one order."""
        fixed = [self.singles, self.derived, self.present]
        return [*fixed, *self.features, self.points, self.points_present, self.lengths]

    def adjust_with(self, other: SampleSums, bins: Bins) -> None:
        """Adjust these sums and those of the other sample for a design, if any."""
        for mine, theirs in zip(self.arrays(), other.arrays(), strict=True):
            if mine is self.points or mine is self.lengths or mine.ndim == 1:
                continue
            if mine.ndim == 2:
                bins.adjust(mine, theirs)
                continue
            for kind in range(mine.shape[0]):
                bins.adjust(mine[kind], theirs[kind])


@dataclass(frozen=True, eq=False)
class BinSums:
    """The fold that sums up one sample; see `tellapart.data.row_stores.Fold`."""

    tables: Tables
    bins: Bins
    requests: Requests
    sample: int
    n_jobs: int = 1

    @property
    def _full(self) -> bool:
        return self.bins.full

    def start(self) -> SampleSums:
        """Return the sums over no rows."""
        size, bins, requests = self.tables.size, self.bins.n_bins_of[self.sample], self.requests
        missing, n_points = self.tables.missing, bins * requests.points_per_bin
        n_lengths = self.bins.n_rows_of[self.sample] if requests.row_lengths else 0
        return SampleSums(
            singles=_none(len(SINGLES), bins + 1, size),
            derived=_none(N_DERIVED, bins + 1 if self._full else 1, size),
            present=_none(bins + 1, size) if missing else _none(0, 0),
            features=[_none(bins + 1, feature.size) for feature in requests.features],
            points=_none(n_points, size),
            points_present=_none(n_points if missing else 0),
            lengths=_none(2, n_lengths),
        )

    def add(self, held: SampleSums, first_row: int, values: FloatArray) -> SampleSums:
        """Add a block of rows, as they were read where values may be missing."""
        requests, as_read = self.requests, values
        if requests.pattern is not None:
            values = requests.pattern.values(as_read)
        at, place = self.bins.of_rows(self.sample, first_row, values.shape[0])
        # Sixteen bits are sorted by counting, in a tenth of the time.
        order = np.argsort(at.astype(np.uint16), kind="stable")
        rising = at[order]
        begin = np.flatnonzero(np.concatenate([[True], rising[1:] != rising[:-1]]))
        starts = np.append(begin, rising.size)
        segments = Segments(starts, rising[begin], self.n_jobs)
        with one_blas_thread():
            scores = self._columns(held, values, order, segments)
            block = ScoredBlock(scores, values, as_read, order)
            for feature, sums in zip(requests.features, held.features, strict=True):
                feature.add(block, segments, sums)
            if requests.points_per_bin:
                self._keep_points(held, scores, rising, place[order])
            if requests.row_lengths:
                self._keep_lengths(held, scores, first_row + order)
        return held

    def merge(self, left: SampleSums, right: SampleSums) -> SampleSums:
        """Add up two sums."""
        for mine, other in zip(left.arrays(), right.arrays(), strict=True):
            mine += other
        return left

    def _columns(
        self, held: SampleSums, values: FloatArray, order: IntArray, segments: Segments
    ) -> dict[str, Singles]:
        """Score every column in the order of the bins, add up, and keep what products need."""
        tables, rows = self.tables, order.size
        kept = {
            name: np.empty((tables.size, rows), dtype=np.float32)
            for name in sorted(self.requests.scores())
        }

        waves = wave_table()
        starts, bins = segments.starts, segments.bins

        def score(places: slice) -> None:
            found, v, g = look_up(tables, places, values, order, kept)
            to = (starts, bins, places.start, self._full)
            if not self._full:
                sum_columns(
                    found, v, g, waves, tables.cells, tables.cell_start, *to,
                    held.singles, held.derived,
                )  # fmt: skip
            for q, p in enumerate(range(places.start, places.stop)):
                if self._full:
                    cells = tables.cells[tables.cell_start[p] : tables.cell_start[p + 1]]
                    own = (starts, bins, p, self._full)
                    sum_cells(found[q], cells, *own, held.singles, held.derived)
                    sum_values(v[q], g[q], *own, held.singles, held.derived)
                    sum_waves(v[q], waves, *own, held.derived, held.singles.shape[1] - 1)
                if tables.missing:
                    there = ~np.isnan(values[order, tables.column[p]])
                    self._present(held, there, waves, segments, p)
                    if PRESENT in kept:
                        kept[PRESENT][p] = there

        in_slices(score, tables.size, columns_at_a_time(rows), self.n_jobs)
        return kept

    def _present(
        self, held: SampleSums, there: BoolArray, waves: Singles, segments: Segments, p: int
    ) -> None:
        """Count the values that are there, and take back what missing ones added to the waves.

        V of a missing value is 0, and the waves of that are not.
        """
        starts, bins = segments.starts, segments.bins
        counts = np.add.reduceat(there, starts[:-1], dtype=np.float32)
        held.present[bins, p] += counts
        gone = np.diff(starts) - counts
        last = held.singles.shape[1] - 1
        to = bins if self._full else np.zeros(1, dtype=np.intp)
        if not self._full:
            gone = gone[bins == last]
        if gone.size:
            first = N_DERIVED - 2 * N_WAVES
            held.derived[first:, to, p] -= waves[0][:, np.newaxis] * gone

    def _keep_points(
        self, held: SampleSums, scores: dict[str, Singles], at: IntArray, place: IntArray
    ) -> None:
        """Keep some rows of every bin as they are."""
        per_bin, present = self.requests.points_per_bin, scores.get(PRESENT)
        here = np.flatnonzero((place < per_bin) & (at < self.bins.n_bins_of[self.sample]))
        to = at[here] * per_bin + place[here]
        held.points[to] = scores["clipped"][:, here].T
        if present is not None:
            held.points_present[to] = present[:, here].max(axis=0)

    def _keep_lengths(self, held: SampleSums, scores: dict[str, Singles], rows: IntArray) -> None:
        """Keep ‖V‖² of every row, and how many values it has."""
        held.lengths[0, rows] = np.square(scores["clipped"]).sum(axis=0, dtype=np.float32)
        present = scores.get(PRESENT)
        held.lengths[1, rows] = self.tables.size if present is None else present.sum(axis=0)
