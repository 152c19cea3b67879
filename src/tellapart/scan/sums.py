"""Sums over bins of all that the families ask for: one pass over the rows of each sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray, Singles
from tellapart.budget import current_budget
from tellapart.data.row_stores import block_rows
from tellapart.data.samples import Samples
from tellapart.permutation.labels import Bins, TwoSampleSums
from tellapart.progress import Progress, ShareDone, silent
from tellapart.scan.features import (
    N_DERIVED,
    POWERS,
    PRESENT,
    SINGLES,
    SQUARED,
    Feature,
    Product,
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


class _SingleRows(Bins):
    """Rows one by one, of which squares and the like are summed all the same."""

    @property
    def full(self) -> bool:
        return True


def add_at(sums: Singles, bins: IntArray, rows: Singles) -> None:
    """Add rows to the sums over their bins, the second axis from the last of both arrays."""
    order = np.argsort(bins, kind="stable")
    begin = np.flatnonzero(np.diff(bins[order], prepend=-1))
    sums[..., bins[order][begin], :] += np.add.reduceat(rows[..., order, :], begin, axis=-2)


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
        weights = self.bins.weights_within(self.sample, first_row, values.shape[0])
        if weights is not None:
            return self._add_weighted(held, first_row, values, weights)
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
            block = ScoredBlock(scores, values, as_read, order, place[order])
            for feature, sums in zip(requests.features, held.features, strict=True):
                feature.add(block, segments, sums)
            if requests.points_per_bin:
                self._keep_points(held, scores, rising, place[order])
            if requests.row_lengths:
                self._keep_lengths(held, scores, first_row + order)
        return held

    def _add_weighted(
        self, held: SampleSums, first_row: int, values: FloatArray, weights: FloatArray
    ) -> SampleSums:
        """Add rows that count for different weights: each is summed by itself, then weighted."""
        n_rows, requests = values.shape[0], self.requests
        each = requests.n_features + (len(SINGLES) + N_DERIVED) * self.tables.size
        step = max(current_budget().block_entries // each, 1)
        at, place = self.bins.of_rows(self.sample, first_row, n_rows)
        for start in range(0, n_rows, step):
            some = slice(start, min(start + step, n_rows))
            size = some.stop - some.start
            alone = replace(
                self,
                bins=_SingleRows.of_single_rows((size, 0), bins=(size, 0)),
                sample=0,
                requests=replace(
                    requests, row_lengths=False, points_per_bin=min(requests.points_per_bin, 1)
                ),
            )
            rows = alone.add(alone.start(), 0, values[some])
            to, own = at[some], weights[some].astype(np.float32)
            summed = [(held.singles, rows.singles), (held.derived, rows.derived)]
            summed += zip(held.features, rows.features, strict=True)
            for sums, of_rows in summed:
                add_at(sums, to, of_rows[..., :-1, :] * own[:, np.newaxis])
            per_bin = requests.points_per_bin
            kept = np.flatnonzero(place[some] < per_bin)
            if kept.size:
                held.points[to[kept] * per_bin + place[some][kept]] = rows.points[kept]
            if requests.row_lengths:
                clipped = rows.singles[SINGLES.index("clipped"), :-1]
                held.lengths[0, first_row + start + np.arange(size)] = np.square(clipped).sum(
                    axis=1
                )
                held.lengths[1, first_row + start + np.arange(size)] = self.tables.size
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
            cell_numbers, v, g = look_up(tables, places, values, order, kept)
            to = (starts, bins, places.start, self._full)
            if not self._full:
                sum_columns(
                    cell_numbers, v, g, waves, tables.cells, tables.cell_start, *to,
                    held.singles, held.derived,
                )  # fmt: skip
            for q, p in enumerate(range(places.start, places.stop)):
                if self._full:
                    cells = tables.cells[tables.cell_start[p] : tables.cell_start[p + 1]]
                    to_column = (starts, bins, p, self._full)
                    sum_cells(cell_numbers[q], cells, *to_column, held.singles, held.derived)
                    sum_values(v[q], g[q], *to_column, held.singles, held.derived)
                    sum_waves(v[q], waves, *to_column, held.derived, held.singles.shape[1] - 1)
                if tables.missing:
                    has_value = ~np.isnan(values[order, tables.column[p]])
                    self._present(held, has_value, waves, segments, p)
                    if PRESENT in kept:
                        kept[PRESENT][p] = has_value

        in_slices(score, tables.size, columns_at_a_time(rows), self.n_jobs)
        return kept

    def _present(
        self, held: SampleSums, has_value: BoolArray, waves: Singles, segments: Segments, p: int
    ) -> None:
        """Count the values that are there, and take back what missing ones added to the waves.

        V of a missing value is 0, and the waves of that are not.
        """
        starts, bins = segments.starts, segments.bins
        counts = np.add.reduceat(has_value, starts[:-1], dtype=np.float32)
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


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of both samples.

    Parameters
    ----------
    x, y : SampleSums
        Those of each.
    full : bool
        Whether squares, powers and waves were summed over every bin; else, with rows permuted one
        by one, they are those of the scores themselves.
    requests : Requests
        The features that were summed.
    """

    x: SampleSums
    y: SampleSums
    full: bool
    requests: Requests = field(default_factory=Requests)

    @cached_property
    def present(self) -> TwoSampleSums | None:
        """How many values of each column are there; None where none is missing."""
        return TwoSampleSums(self.x.present, self.y.present) if self.x.present.size else None

    def of(self, name: str) -> TwoSampleSums:
        """Return the sums of one score of every column."""
        kind = SINGLES.index(name)
        return TwoSampleSums(self.x.singles[kind], self.y.singles[kind], self.present)

    def squares(self, name: str) -> TwoSampleSums:
        """Return the sums of the squares of one score of every column."""
        return self._derived(SQUARED.index(name), name, np.square)

    def power(self, exponent: int) -> TwoSampleSums:
        """Return the sums of V³ or V⁴ of every column."""
        place = len(SQUARED) + POWERS.index(exponent)
        # Products: powers of single precision take a hundred times as long.
        return self._derived(place, "clipped", lambda v: v * v * (v if exponent == 3 else v * v))

    def waves(self, frequency: int, angle: float) -> tuple[TwoSampleSums, TwoSampleSums]:
        """Return the sums of cos and sin of `angle`·V, the wave number `frequency` from 1."""
        first = len(SQUARED) + len(POWERS) + frequency - 1
        turn = np.float32(angle)
        cosine = self._derived(first, "clipped", lambda v: np.cos(turn * v), at_zero=1.0)
        return cosine, self._derived(first + N_WAVES, "clipped", lambda v: np.sin(turn * v))

    def feature(self, feature: Feature) -> TwoSampleSums:
        """Return the sums of a feature that was requested, and the rows behind them."""
        count = self.requests.rows_behind.get(feature)
        return self._summed(feature, None if count is None else self._summed(count))

    def _summed(self, feature: Feature, present: TwoSampleSums | None = None) -> TwoSampleSums:
        place = self._places[feature]
        return TwoSampleSums(self.x.features[place], self.y.features[place], present)

    @cached_property
    def _places(self) -> dict[Feature, int]:
        return {feature: place for place, feature in enumerate(self.requests.features)}

    @property
    def points(self) -> Singles:
        """V of the rows that were kept as they are, bin by bin."""
        return np.concatenate([self.x.points, self.y.points])

    @property
    def points_present(self) -> Singles | None:
        """1 for each of these rows that has any value, else 0; None where none is missing."""
        if self.present is None:
            return None
        return np.concatenate([self.x.points_present, self.y.points_present])

    def _derived(
        self,
        place: int,
        name: str,
        function: Callable[[Singles], Singles],
        at_zero: float = 0.0,
    ) -> TwoSampleSums:
        """Return the sums of a function of a score; `at_zero` is what a missing value would add."""
        kind = SINGLES.index(name)

        def side(sums: SampleSums) -> Singles:
            if self.full:
                return np.asarray(sums.derived[place])
            one_by_one = function(sums.singles[kind, :-1])
            if at_zero and sums.present.size:
                one_by_one = one_by_one - np.float32(at_zero) * (1 - sums.present[:-1])
            return np.concatenate([one_by_one, sums.derived[place]])

        return TwoSampleSums(side(self.x), side(self.y), self.present)


def sum_bins(
    samples: Samples,
    tables: Tables,
    labels: Bins,
    requests: Requests,
    n_jobs: int = 1,
    progress: Progress = silent,
    width: int | None = None,
) -> Sums:
    """Return the sums over the bins of both samples: one pass over all rows of each.

    `width` is how many columns the rows have, where the tables are those of some of them.
    """
    step = block_rows(tables.size if width is None else width)
    bins, parts = labels.without_labels(), []
    n_rows = samples.n_read
    share = ShareDone(progress, "scan", sum(n_rows))
    for sample, store in enumerate(samples.stores):
        threads = 1 if store.side_by_side else n_jobs
        fold = BinSums(tables, bins, requests, sample, threads)
        parts.append(store.fold(fold, step, share.after(sample * n_rows[0])))
    parts[0].adjust_with(parts[1], labels)
    return Sums(parts[0], parts[1], labels.full, requests)


# Sums over bins of the features that changes of correlations and of cumulants move with.


LEAST_VARIANCE = 1e-6
# Correlations are kept off ±1, as their changes are.
EDGE = 0.9999


@dataclass(frozen=True, eq=False)
class CorrelationSums:
    """What the changes of correlation of pairs of scores a and b move with, summed over bins.

    To first order (r_x − r_y)/(1 − r²) is the change of the mean of (ab − r(a² + b²)/2)/(1 − r²),
    a and b of variance 1.
    """

    sums: Sums
    product: Product
    n_rows: int

    @property
    def size(self) -> int:
        """Number of pairs."""
        return self.product.size

    @cached_property
    def _moments(self) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """Sums of squares over bins, means and variances of both scores, by column."""
        moments = []
        for score in self.product.scores:
            squares = self.sums.squares(score).stacked()
            mean = self.sums.of(score).stacked().sum(axis=0) / self.n_rows
            variance = squares.sum(axis=0) / self.n_rows - mean**2
            moments.append((squares, mean, np.maximum(variance, LEAST_VARIANCE)))
        return moments

    def stacked(self, features: slice) -> FloatArray:
        """Return the sums of some pairs over the bins of X and then of Y (G × k)."""
        (squares_a, mean_a, variance_a), (squares_b, mean_b, variance_b) = self._moments
        s, t = (columns[features] for columns in self.product.columns)
        moved = self.sums.feature(self.product).stacked(features)
        unit = np.sqrt(variance_a[s] * variance_b[t])
        r = (moved.sum(axis=0) / self.n_rows - mean_a[s] * mean_b[t]) / unit
        r = np.clip(r, -EDGE, EDGE)
        moved /= unit
        moved -= squares_a[:, s] * (r / (2 * variance_a[s]))
        moved -= squares_b[:, t] * (r / (2 * variance_b[t]))
        return np.asarray(moved / (1 - r**2))


@dataclass(frozen=True, eq=False)
class CumulantSums:
    """What the changes of third cumulants move with: abc − aE[bc] − bE[ac] − cE[ab].

    `members` are the columns of every triple, `opposite` the pairs of the other two.
    """

    products: TwoSampleSums
    single: TwoSampleSums
    pairs: TwoSampleSums
    members: tuple[IntArray, IntArray, IntArray]
    opposite: tuple[IntArray, IntArray, IntArray]
    n_rows: int

    @property
    def size(self) -> int:
        """Number of triples."""
        return self.products.size

    @cached_property
    def _single(self) -> FloatArray:
        return self.single.stacked()

    @cached_property
    def _means(self) -> FloatArray:
        return np.asarray(self.pairs.total() / self.n_rows)

    def stacked(self, features: slice) -> FloatArray:
        """Return the sums of some triples over the bins of X and then of Y (G × k)."""
        moved = self.products.stacked(features)
        for member, across in zip(self.members, self.opposite, strict=True):
            moved -= self._single[:, member[features]] * self._means[across[features]]
        return moved
