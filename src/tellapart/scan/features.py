"""Features: what the families ask to be summed over the bins of the rows, one class per kind.

A feature names the scores that it is made of and adds its sums over a block of rows to an array,
one row per bin. It sees no labels. Whatever has the attributes and methods of `Feature` can be
asked for by a family (`tellapart.scan.family`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import BoolArray, FloatArray, IntArray, Singles
from tellapart.data.missing import MissingPattern
from tellapart.scan.cells import CELL_SCORES
from tellapart.scan.loops import (
    N_WAVES,
    sum_fours,
    sum_pairs,
    sum_pairs_by_row,
    sum_triples,
    sum_triples_by_row,
)
from tellapart.threads import in_slices

PRESENT = "present"
"""The score that is 1 where a value is there and 0 where it is missing."""
SINGLES = (*CELL_SCORES, "clipped", "squared", "far")
"""Scores of single columns that are summed over every bin, in every case."""
SQUARED = ("normal", "clipped", "spread", "squared", "wave 2")
"""Scores whose squares are summed, too: those whose deviation within the samples counts."""
POWERS = (3, 4)
"""Powers of V that are summed."""
N_DERIVED = len(SQUARED) + len(POWERS) + 2 * N_WAVES
KNOWN_LENGTHS = 2_048
"""Lengths of rows whose score is kept; others lie in between."""
GRID_STEPS = 16_384

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

        def some(segments: slice) -> None:
            work(self.starts[segments.start : segments.stop + 1], self.bins[segments])

        in_slices(some, self.bins.size, SEGMENTS_AT_A_TIME, self.n_jobs)


@dataclass(frozen=True, eq=False)
class ScoredBlock:
    """A block of rows, sorted by bin, of which features are summed.

    Attributes
    ----------
    scores : mapping from str to array of shape (score columns, rows)
        The scores that were asked for, in the order of the bins; `PRESENT` is among them where
        values may be missing.
    values : array of shape (rows, columns)
        The values that are compared, in the order in which they were read.
    as_read : array of the same number of rows
        All columns as they were read, of what may be missing.
    order : array
        The rows in the order of the bins.
    place : array
        The place of every row in its bin, in the order of the bins.
    """

    scores: Mapping[str, Singles]
    values: FloatArray
    as_read: FloatArray
    order: IntArray
    place: IntArray


class Feature(Protocol):
    """What is summed over the bins of the rows.

    Features are told apart by identity: two families share the sums of one object.
    """

    @property
    def size(self) -> int:
        """Number of sums per bin."""
        ...

    @property
    def scores(self) -> tuple[str, ...]:
        """The scores of the block that it is made of, by `SINGLES` or `PRESENT`."""
        ...

    def add(self, block: ScoredBlock, segments: Segments, out: Singles) -> None:
        """Add the sums over each segment to `out` (bins × size)."""
        ...

    def rows_behind(self) -> Feature | None:
        """Return the feature that counts the rows behind each sum, where values may be missing."""
        ...


class Pairs(NamedTuple):
    """Pairs (s_q, t_q) of score columns."""

    s: IntArray
    t: IntArray

    @property
    def size(self) -> int:
        """Number of pairs."""
        return int(self.s.size)


class Triples(NamedTuple):
    """Triples (s_q, t_q, u_q) of score columns."""

    s: IntArray
    t: IntArray
    u: IntArray

    @property
    def size(self) -> int:
        """Number of triples."""
        return int(self.s.size)


@dataclass(frozen=True, eq=False)
class Product:
    """Σ over rows of the product of one score of each of two, three or four columns.

    Attributes
    ----------
    scores : tuple of str
        One score for each column of a product; products of three and four have one for all.
    columns : tuple of arrays
        The score columns of every product: the first of all, the second of all, …
    """

    scores: tuple[str, ...]
    columns: tuple[IntArray, ...]

    @property
    def size(self) -> int:
        """Number of products."""
        return int(self.columns[0].size)

    def add(self, block: ScoredBlock, segments: Segments, out: Singles) -> None:
        """Add the sums of the products over each segment."""
        if self.size == 0:
            return
        values = [block.scores[name] for name in self.scores]
        if len(self.columns) == 2:
            add_pairs(Pairs(*self.columns), values[0], values[1], segments, out)
        elif len(self.columns) == 3:
            add_triples(Triples(*self.columns), values[0], segments, out)
        else:
            columns = np.stack(self.columns, axis=1)
            segments.each(lambda starts, bins: sum_fours(values[0], columns, starts, bins, out))

    def rows_behind(self) -> Product:
        """Return what counts the rows that have all columns of each product."""
        return Product((PRESENT,) * len(self.columns), self.columns)

    def same_columns(self, other: Product) -> bool:
        """Say whether the products are of the same columns."""
        return len(self.columns) == len(other.columns) and all(
            mine is theirs or np.array_equal(mine, theirs)
            for mine, theirs in zip(self.columns, other.columns, strict=True)
        )


def add_pairs(
    pairs: Pairs, first: Singles, second: Singles, segments: Segments, out: Singles
) -> None:
    """Add the sums of products to out (bins × products); scores are (columns × rows)."""
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
    used, place = np.unique(np.concatenate(triples), return_inverse=True)
    s, t, u = place.reshape(3, -1)
    scores = _some(values, used)
    pairs, first = np.unique(s * used.size + t, return_inverse=True)
    if segments.rows_per_segment < FEWEST_ROWS:
        rows = np.ascontiguousarray(scores.T)
        segments.each(lambda starts, bins: sum_triples_by_row(rows, s, t, u, starts, bins, out))
        return
    if used.size < FEWEST_COLUMNS or triples.size < LEAST_SHARE * pairs.size * used.size:
        segments.each(lambda starts, bins: sum_triples(scores, s, t, u, starts, bins, out))
        return
    left, right = pairs // used.size, pairs % used.size
    flat = first * used.size + u

    def multiply(starts: IntArray, bins: IntArray) -> None:
        for i, at in enumerate(bins):
            of_bin = scores[:, starts[i] : starts[i + 1]]
            out[at] += np.take((of_bin[left] * of_bin[right]) @ of_bin.T, flat)

    segments.each(multiply)


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


@dataclass(frozen=True, eq=False)
class Directions:
    """Σ over rows of cos(ω·(v·U − mean)/deviation), one row of `weights` per direction v."""

    weights: FloatArray
    mean: FloatArray
    inverse: FloatArray
    frequency: float

    scores = ("normal",)

    @property
    def size(self) -> int:
        """Number of directions."""
        return int(self.mean.size)

    def add(self, block: ScoredBlock, segments: Segments, out: Singles) -> None:
        """Add the sums of the waves; of rows that have all columns of a direction."""
        turn = self.frequency * self.inverse
        weights = (self.weights * turn[:, np.newaxis]).astype(np.float32)
        offset = (self.mean * turn)[:, np.newaxis].astype(np.float32)
        normal, present = block.scores["normal"], block.scores.get(PRESENT)

        def waves(rows: slice) -> Singles:
            angle = weights @ normal[:, rows]
            angle -= offset
            cosine = np.cos(angle, out=angle)
            if present is not None:
                cosine = cosine * self.complete(present[:, rows])
            return np.asarray(cosine)

        add_features(waves, segments, out)

    def complete(self, present: Singles) -> Singles:
        """Return 1 for every direction and row that has all its columns, else 0."""
        used = (self.weights != 0).astype(np.float32)
        return np.asarray(used @ (1 - present) == 0, dtype=np.float32)

    def rows_behind(self) -> RowCount:
        """Return what counts the rows that have all columns of each direction."""
        return RowCount(self.size, self.complete)


@dataclass(frozen=True, eq=False)
class RowCount:
    """Σ over rows of a function of which of their values are there, (columns × rows)."""

    size: int
    function: Callable[[Singles], Singles]

    scores = (PRESENT,)

    def add(self, block: ScoredBlock, segments: Segments, out: Singles) -> None:
        """Add the numbers of rows."""
        present = block.scores[PRESENT]
        add_features(lambda rows: self.function(present[:, rows]), segments, out)

    def rows_behind(self) -> None:
        """Return None: it is a count itself."""


def has_any(present: Singles) -> Singles:
    """Return 1 for every row that has any value, else 0: (1 × rows)."""
    return np.asarray(present.max(axis=0, keepdims=True))


@dataclass(frozen=True, eq=False)
class RowScore:
    """Σ over rows of the normal score of ‖V‖², less βᵀV; a table of ‖V‖² gives the score."""

    lengths: FloatArray
    normal_scores: FloatArray
    slopes: FloatArray

    scores = ("clipped",)
    size = 1

    def of(self, lengths: FloatArray | NDArray[np.float32]) -> FloatArray:
        """Return the normal score of each ‖V‖²: between two known ones, in between."""
        if self.lengths.size < KNOWN_LENGTHS:
            return np.interp(lengths, self.lengths, self.normal_scores)
        low, step, grid = self._grid
        place = (lengths - low) * np.float32(1 / step)
        return grid[np.clip(place, 0, grid.size - 1).astype(np.int32)]

    @cached_property
    def _grid(self) -> tuple[np.float32, float, FloatArray]:
        """Where many are known: the least, and the scores at the middle of equal steps from it."""
        low, high = self.lengths[0], self.lengths[-1]
        step = (high - low) / GRID_STEPS
        middle = low + step * (np.arange(GRID_STEPS) + 0.5)
        return np.float32(low), float(step), np.interp(middle, self.lengths, self.normal_scores)

    def add(self, block: ScoredBlock, segments: Segments, out: Singles) -> None:
        """Add the sums of the score; 0 for rows without any value."""
        clipped, present = block.scores["clipped"], block.scores.get(PRESENT)
        slopes = self.slopes.astype(np.float32)

        def score(rows: slice) -> Singles:
            values = clipped[:, rows]
            lengths = np.square(values).sum(axis=0, dtype=np.float32)
            if present is None:
                return (self.of(lengths) - slopes @ values)[np.newaxis].astype(np.float32)
            n_present = present[:, rows].sum(axis=0)
            lengths = full_lengths(lengths, n_present, values.shape[0])
            scored = (self.of(lengths) - slopes @ values) * (n_present > 0)
            return np.asarray(scored[np.newaxis], dtype=np.float32)

        add_features(score, segments, out)

    def rows_behind(self) -> RowCount:
        """Return what counts the rows that have any value."""
        return RowCount(1, has_any)


def full_lengths(
    lengths: NDArray[np.float32], present: NDArray[np.float32], size: int
) -> NDArray[np.float32]:
    """Return what ‖V‖² of rows would be if their other values were as those that are there."""
    return np.asarray(lengths * (np.float32(size) / np.maximum(present, 1)))


@dataclass(frozen=True, eq=False)
class MissingValues:
    """Σ over rows of what they miss: each column, how many, that squared, and pairs of columns.

    `s` and `t` are places of pairs among the columns of the pattern.
    """

    pattern: MissingPattern
    s: IntArray
    t: IntArray

    scores = ()

    @property
    def size(self) -> int:
        """Number of sums."""
        return len(self.pattern.names) + 2 + int(self.s.size)

    def of(self, missing: BoolArray) -> NDArray[np.float32]:
        """Return the features of rows, (features × rows), from indicators (columns × rows)."""
        indicators = missing.astype(np.float32)
        count = indicators.sum(axis=0)
        both = indicators[self.s] * indicators[self.t]
        return np.concatenate([indicators, [count, count * count], both])

    def add(self, block: ScoredBlock, segments: Segments, out: Singles) -> None:
        """Add the sums of what rows miss."""
        indicators = self.pattern.indicators(block.as_read)[block.order].T
        add_features(lambda rows: self.of(indicators[:, rows]), segments, out)

    def rows_behind(self) -> None:
        """Return None: all rows count."""


@dataclass(frozen=True, eq=False)
class ValueRanges:
    """Σ over rows of whether the value of column c_q lies between low_q and high_q.

    Attributes
    ----------
    column, low, high : arrays
        The column of the samples, and the least and greatest value of each range.
    count : array
        How many of the pooled rows have such a value.
    missing : bool
        Whether values may be missing: then whether there is one is summed, too.
    source : ValueRanges or None
        The ranges whose sums comparisons share, and of which these are some…
    place : array or None
        …with the place of each among them.
    """

    column: IntArray
    low: FloatArray
    high: FloatArray
    count: IntArray
    missing: bool = False
    source: ValueRanges | None = None
    place: IntArray | None = None

    scores = ()

    @property
    def size(self) -> int:
        """Number of sums."""
        return int(self.column.size) * (2 if self.missing else 1)

    def with_rows(self, fewest: int, columns: IntArray) -> ValueRanges | None:
        """Return those that so many of the pooled rows have; None where there are none.

        `columns` are the columns of the samples that those of these ranges stand for.
        """
        enough = np.flatnonzero(self.count >= fewest)
        if not enough.size:
            return None
        return ValueRanges(
            columns[self.column[enough]],
            self.low[enough],
            self.high[enough],
            self.count[enough],
            self.missing,
            self,
            enough,
        )

    def of(self, values: FloatArray) -> NDArray[np.float32]:
        """Return the features of rows, (features × rows)."""
        of_column = values[:, self.column].T
        low, high = self.low[:, np.newaxis], self.high[:, np.newaxis]
        inside = ((of_column >= low) & (of_column <= high)).astype(np.float32)
        if not self.missing:
            return np.asarray(inside)
        return np.concatenate([inside, (~np.isnan(of_column)).astype(np.float32)])

    def add(self, block: ScoredBlock, segments: Segments, out: Singles) -> None:
        """Add the numbers of rows that have such values."""
        indicators = self.of(block.values)[:, block.order]
        add_features(lambda rows: indicators[:, rows], segments, out)

    def rows_behind(self) -> None:
        """Return None: it counts its rows itself."""


@dataclass(frozen=True, eq=False)
class Requests:
    """All that is summed over bins, beyond the scores of single columns.

    Attributes
    ----------
    features : tuple of Feature
        What is summed.
    points_per_bin : int
        Rows of each bin that are kept as they are, for statistics of whole rows.
    row_lengths : bool
        Whether ‖V‖² of every row is kept.
    pattern : MissingPattern or None
        What is compared of rows as they were read; None where none misses anything.
    rows_behind : mapping from Feature to Feature
        Where values may be missing, the feature that counts the rows behind each one.
    """

    features: tuple[Feature, ...] = ()
    points_per_bin: int = 0
    row_lengths: bool = False
    pattern: MissingPattern | None = None
    rows_behind: Mapping[Feature, Feature] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        features: Iterable[Feature],
        points_per_bin: int = 0,
        pattern: MissingPattern | None = None,
    ) -> Requests:
        """Return the requests of these features, each once, and of the rows behind them."""
        wanted = tuple(dict.fromkeys(features))
        if pattern is None:
            return cls(wanted, points_per_bin)
        counts: dict[Feature, Feature] = {}
        for feature in wanted:
            count = feature.rows_behind()
            if isinstance(count, Product):
                alike = (one for one in counts.values() if isinstance(one, Product))
                count = next((one for one in alike if one.same_columns(count)), count)
            if count is not None:
                counts[feature] = count
        every = tuple(dict.fromkeys((*wanted, *counts.values())))
        return cls(every, points_per_bin, pattern=pattern, rows_behind=counts)

    @property
    def n_features(self) -> int:
        """Sums per bin, beyond those of single columns."""
        return sum(feature.size for feature in self.features)

    def scores(self) -> set[str]:
        """Return the scores that features are made of."""
        names = {name for feature in self.features for name in feature.scores}
        if self.points_per_bin or self.row_lengths:
            names.add("clipped")
        if self.pattern is not None:
            names.add(PRESENT)
        return names
