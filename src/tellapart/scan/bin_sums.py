"""Sums over bins of all that the families ask for: one pass over the rows of one sample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray, Singles
from tellapart.permutation.labels import Bins
from tellapart.scan.loops import (
    sum_cells,
    sum_columns,
    sum_fours,
    sum_pairs,
    sum_pairs_by_row,
    sum_triples,
    sum_triples_by_row,
    sum_values,
    sum_waves,
    wave_table,
)
from tellapart.scan.requests import (
    N_DERIVED,
    N_WAVES,
    PRESENT,
    SINGLES,
    Directions,
    Pairs,
    ProductOfFour,
    Requests,
    Triples,
    full_lengths,
)
from tellapart.scan.scores import columns_at_a_time, look_up
from tellapart.scan.tables import Tables
from tellapart.threads import in_slices, one_blas_thread

# Sums over bins of products of scores, by matrix products where bins have many rows.


# Rows of a bin from which on a matrix product is worth its price, and the share of all pairs of
# the columns that must be asked for.
FEWEST_ROWS = 5
LEAST_SHARE = 0.1
# Columns below which compiled loops are as fast, and threads do not wait for each other.
FEWEST_COLUMNS = 40
# Segments that one thread takes at a time.
SEGMENTS_AT_A_TIME = 16


@dataclass(frozen=True, eq=False)
class Segments:
    """Rows sorted by bin: segment i holds rows starts[i]..starts[i + 1] − 1, all of bins[i]."""

    starts: IntArray
    bins: IntArray
    n_jobs: int = 1

    @property
    def rows_per_segment(self) -> float:
        """Rows of a segment on average."""
        return float(self.starts[-1] / max(self.bins.size, 1))

    def each(self, work: Callable[[IntArray, IntArray], None]) -> None:
        """Do work(starts, bins) on some segments at a time, in threads: no two share a bin."""

        def some(part: slice) -> None:
            work(self.starts[part.start : part.stop + 1], self.bins[part])

        in_slices(some, self.bins.size, SEGMENTS_AT_A_TIME, self.n_jobs)


def add_pairs(
    pairs: Pairs, first: Singles, second: Singles, segments: Segments, out: Singles
) -> None:
    """Add the sums of products to out (bins × products); scores are (columns × rows)."""
    if pairs.size == 0:
        return
    left, s = np.unique(pairs.s, return_inverse=True)
    right, t = np.unique(pairs.t, return_inverse=True)
    a, b = _some(first, left), _some(second, right)
    if segments.rows_per_segment < FEWEST_ROWS:
        a, b = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
        segments.each(lambda starts, bins: sum_pairs_by_row(a, b, s, t, starts, bins, out))
        return
    if left.size < FEWEST_COLUMNS or pairs.size < LEAST_SHARE * left.size * right.size:
        segments.each(lambda starts, bins: sum_pairs(a, b, s, t, starts, bins, out))
        return
    flat = s * right.size + t

    def multiply(starts: IntArray, bins: IntArray) -> None:
        for i, at in enumerate(bins):
            rows = slice(starts[i], starts[i + 1])
            out[at] += np.take(a[:, rows] @ b[:, rows].T, flat)

    segments.each(multiply)


def add_triples(triples: Triples, values: Singles, segments: Segments, out: Singles) -> None:
    """Add the sums of products of three to out (bins × products); scores are (columns × rows)."""
    if triples.size == 0:
        return
    used, place = np.unique(np.concatenate(triples.columns()), return_inverse=True)
    s, t, u = place.reshape(3, -1)
    own = _some(values, used)
    pairs, first = np.unique(s * used.size + t, return_inverse=True)
    if segments.rows_per_segment < FEWEST_ROWS:
        rows = np.ascontiguousarray(own.T)
        segments.each(lambda starts, bins: sum_triples_by_row(rows, s, t, u, starts, bins, out))
        return
    if used.size < FEWEST_COLUMNS or triples.size < LEAST_SHARE * pairs.size * used.size:
        segments.each(lambda starts, bins: sum_triples(own, s, t, u, starts, bins, out))
        return
    left, right = pairs // used.size, pairs % used.size
    flat = first * used.size + u

    def multiply(starts: IntArray, bins: IntArray) -> None:
        for i, at in enumerate(bins):
            part = own[:, starts[i] : starts[i + 1]]
            out[at] += np.take((part[left] * part[right]) @ part.T, flat)

    segments.each(multiply)


def add_fours(request: ProductOfFour, values: Singles, segments: Segments, out: Singles) -> None:
    """Add the sums of products of four to out (bins × products)."""
    columns = request.columns
    segments.each(lambda starts, bins: sum_fours(values, columns, starts, bins, out))


def add_features(make: Callable[[slice], Singles], segments: Segments, out: Singles) -> None:
    """Add the sums of features over each segment to out (bins × features).

    `make` gives the features of some rows, (features × rows).
    """

    def add(starts: IntArray, bins: IntArray) -> None:
        features = make(slice(int(starts[0]), int(starts[-1])))
        out[bins] += np.add.reduceat(features, starts[:-1] - starts[0], axis=1).T

    segments.each(add)


def _some(values: Singles, columns: IntArray) -> Singles:
    """Return some rows of the scores; those that follow each other without a copy."""
    first, last = int(columns[0]), int(columns[-1]) + 1
    return values[first:last] if last - first == columns.size else values[columns]


@dataclass(eq=False)
class SampleSums:
    """Sums over the bins of one sample, the last being that of the rows which keep their labels.

    Attributes
    ----------
    singles : array of shape (kinds, bins + 1, P)
        Scores of single columns, by `tellapart.scan.requests.SINGLES`.
    derived : array of shape (N_DERIVED, bins + 1 or 1, P)
        Squares, powers and waves; of rows permuted one by one they follow from the scores.
    pairs, triples, fours : dicts of arrays of shape (bins + 1, products)
        What was asked for.
    others : array of shape (bins + 1, directions + 1)
        Directions, and the score of whole rows.
    points : array of shape (bins · rows kept, P)
        V of some rows of each bin.
    present : array of shape (bins + 1, P), or none
        How many values of each column are there, where some may be missing.
    others_present : array of the shape of `others`, or none
        How many rows are behind each sum of `others`: those that have all columns of a direction,
        and those that have any value.
    points_present : array of length bins · rows kept, or none
        1 where a row of `points` has any value.
    missing : array of shape (bins + 1, features), or none
        The features of `tellapart.scan.requests.MissingValues`.
    values : array of shape (bins + 1, features), or none
        The features of `tellapart.scan.requests.ValueRanges`.
    lengths : array of shape (2, rows), or none
        ‖V‖² of every row, and how many of its values are there.
    """

    singles: Singles
    derived: Singles
    pairs: dict[str, Singles] = field(default_factory=dict)
    triples: dict[str, Singles] = field(default_factory=dict)
    fours: dict[str, Singles] = field(default_factory=dict)
    others: Singles = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    points: Singles = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    present: Singles = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    others_present: Singles = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    points_present: Singles = field(default_factory=lambda: np.empty(0, dtype=np.float32))
    missing: Singles = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    values: Singles = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    lengths: Singles = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))

    def arrays(self) -> list[Singles]:
        """Return all arrays, in one order."""
        parts = [self.singles, self.derived, self.others, self.points, self.present]
        parts += [self.others_present, self.points_present, self.missing, self.values]
        parts.append(self.lengths)
        for named in (self.pairs, self.triples, self.fours):
            parts += named.values()
        return parts

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
        size, bins = self.tables.size, self.bins.n_bins_of[self.sample]
        asked = self.requests
        directions = 0 if asked.directions is None else asked.directions.mean.size

        missing = self.tables.missing

        def zeros(*shape: int) -> Singles:
            return np.zeros(shape, dtype=np.float32)

        return SampleSums(
            singles=zeros(len(SINGLES), bins + 1, size),
            derived=zeros(N_DERIVED, bins + 1 if self._full else 1, size),
            pairs={name: zeros(bins + 1, two.pairs.size) for name, two in asked.pairs.items()},
            triples={
                name: zeros(bins + 1, three.triples.size) for name, three in asked.triples.items()
            },
            fours={
                name: zeros(bins + 1, four.columns.shape[0]) for name, four in asked.fours.items()
            },
            others=zeros(bins + 1, directions + 1),
            points=zeros(bins * asked.points_per_bin, size),
            present=zeros(bins + 1, size) if missing else zeros(0, 0),
            others_present=zeros(bins + 1, directions + 1) if missing else zeros(0, 0),
            points_present=zeros(bins * asked.points_per_bin if missing else 0),
            missing=zeros(0, 0) if asked.missing is None else zeros(bins + 1, asked.missing.size),
            values=zeros(0, 0) if asked.values is None else zeros(bins + 1, asked.values.size),
            lengths=zeros(2, self.bins.n_rows_of[self.sample] if asked.row_lengths else 0),
        )

    def add(self, held: SampleSums, first_row: int, values: FloatArray) -> SampleSums:
        """Add a block of rows, as they were read where values may be missing."""
        indicators, pattern = None, self.requests.compared
        if pattern is not None:
            if self.requests.missing is not None:
                indicators = pattern.indicators(values)
            values = pattern.values(values)
        at, place = self.bins.of_rows(self.sample, first_row, values.shape[0])
        # Sixteen bits are sorted by counting, in a tenth of the time.
        order = np.argsort(at.astype(np.uint16), kind="stable")
        rising = at[order]
        begin = np.flatnonzero(np.concatenate([[True], rising[1:] != rising[:-1]]))
        starts = np.append(begin, rising.size)
        segments = Segments(starts, rising[begin], self.n_jobs)
        with one_blas_thread():
            scores = self._columns(held, values, order, segments)
            self._products(held, scores, segments)
            self._whole_rows(held, scores, segments, rising, place[order])
            if self.requests.row_lengths:
                self._lengths(held, scores, first_row + order)
            if indicators is not None:
                self._missing(held, indicators[order].T, segments)
            ranges = self.requests.values
            if ranges is not None:
                features = ranges.of(values)[:, order]
                add_features(lambda rows: features[:, rows], segments, held.values)
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

    def _missing(self, held: SampleSums, indicators: BoolArray, segments: Segments) -> None:
        asked = self.requests.missing
        assert asked is not None
        add_features(lambda rows: asked.of(indicators[:, rows]), segments, held.missing)

    def _products(self, held: SampleSums, scores: dict[str, Singles], segments: Segments) -> None:
        for name, two in self.requests.pairs.items():
            add_pairs(two.pairs, scores[two.first], scores[two.second], segments, held.pairs[name])
        for name, three in self.requests.triples.items():
            add_triples(three.triples, scores[three.score], segments, held.triples[name])
        for name, four in self.requests.fours.items():
            add_fours(four, scores[four.score], segments, held.fours[name])

    def _whole_rows(
        self,
        held: SampleSums,
        scores: dict[str, Singles],
        segments: Segments,
        at: IntArray,
        place: IntArray,
    ) -> None:
        asked = self.requests
        present = scores.get(PRESENT)
        if asked.directions is not None:
            along = _Waves.of(asked.directions)
            normal = scores["normal"]
            if present is None:
                add_features(lambda rows: along.at(normal[:, rows]), segments, held.others[:, :-1])
            else:
                add_features(
                    lambda rows: along.at(normal[:, rows]) * along.whole(present[:, rows]),
                    segments,
                    held.others[:, :-1],
                )
                add_features(
                    lambda rows: along.whole(present[:, rows]),
                    segments,
                    held.others_present[:, :-1],
                )
        if asked.row_score is not None:
            of, v = asked.row_score, scores["clipped"]
            slopes = of.slopes.astype(np.float32)

            def score(rows: slice) -> Singles:
                part = v[:, rows]
                lengths = np.square(part).sum(axis=0, dtype=np.float32)
                if present is None:
                    found = of.of(lengths)
                    return (found - slopes @ part)[np.newaxis].astype(np.float32)
                there = present[:, rows].sum(axis=0)
                lengths = full_lengths(lengths, there, part.shape[0])
                found = (of.of(lengths) - slopes @ part) * (there > 0)
                return np.asarray(found[np.newaxis], dtype=np.float32)

            add_features(score, segments, held.others[:, -1:])
            if present is not None:
                add_features(
                    lambda rows: present[:, rows].max(axis=0, keepdims=True),
                    segments,
                    held.others_present[:, -1:],
                )
        if asked.points_per_bin:
            here = np.flatnonzero(
                (place < asked.points_per_bin) & (at < self.bins.n_bins_of[self.sample])
            )
            to = at[here] * asked.points_per_bin + place[here]
            held.points[to] = scores["clipped"][:, here].T
            if present is not None:
                held.points_present[to] = present[:, here].max(axis=0)

    def _lengths(self, held: SampleSums, scores: dict[str, Singles], rows: IntArray) -> None:
        held.lengths[0, rows] = np.square(scores["clipped"]).sum(axis=0, dtype=np.float32)
        present = scores.get(PRESENT)
        held.lengths[1, rows] = self.tables.size if present is None else present.sum(axis=0)


@dataclass(frozen=True, eq=False)
class _Waves:
    """Directions in single precision, with their frequency in the weights."""

    weights: Singles
    offset: Singles

    @classmethod
    def of(cls, directions: Directions) -> _Waves:
        turn = directions.frequency * directions.inverse
        weights = directions.weights * turn[:, np.newaxis]
        offset = (directions.mean * turn)[:, np.newaxis]
        return cls(weights.astype(np.float32), offset.astype(np.float32))

    def at(self, normal: Singles) -> Singles:
        """Return cos(ω(v·U − mean)/deviation) of every direction and row."""
        angle = self.weights @ normal
        angle -= self.offset
        return np.asarray(np.cos(angle, out=angle))

    def whole(self, present: Singles) -> Singles:
        """Return 1 for every direction and row that has all its columns, else 0."""
        asked = (self.weights != 0).astype(np.float32)
        return np.asarray(asked @ (1 - present) == 0, dtype=np.float32)
