"""What the families ask of the data: sums over bins of scores and of products of scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.data.missing import MissingPattern
from tellapart.scan.cells import CELL_SCORES

PRESENT = "present"
"""The score that is 1 where a value is there and 0 where it is missing."""
SINGLES = (*CELL_SCORES, "clipped", "squared", "far")
"""Scores of single columns that are summed over every bin."""
SQUARED = ("normal", "clipped", "spread", "squared", "wave 2")
"""Scores whose squares are summed, too: those whose deviation within the samples counts."""
POWERS = (3, 4)
"""Powers of V that are summed."""
N_WAVES = 12
PERIOD = 10.5
"""V lies within ±4.5, and images a period apart do not touch: cos and sin of 2πjV/PERIOD."""
KNOWN_LENGTHS = 2_048
"""Lengths of rows whose score is kept; others lie in between."""
GRID_STEPS = 16_384
N_DERIVED = len(SQUARED) + len(POWERS) + 2 * N_WAVES


@dataclass(frozen=True)
class Pairs:
    """Pairs (s_q, t_q) of score columns."""

    s: IntArray
    t: IntArray

    @property
    def size(self) -> int:
        """Number of pairs."""
        return int(self.s.size)


@dataclass(frozen=True)
class Triples:
    """Triples (s_q, t_q, u_q) of score columns."""

    s: IntArray
    t: IntArray
    u: IntArray

    @property
    def size(self) -> int:
        """Number of triples."""
        return int(self.s.size)

    def columns(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the three members of every triple."""
        return self.s, self.t, self.u


@dataclass(frozen=True)
class ProductOfTwo:
    """Σ over rows of score `first` of column s_q times score `second` of column t_q."""

    first: str
    second: str
    pairs: Pairs


@dataclass(frozen=True)
class ProductOfThree:
    """Σ over rows of one score of the columns s_q, t_q and u_q."""

    score: str
    triples: Triples


@dataclass(frozen=True)
class ProductOfFour:
    """Σ over rows of one score of four columns, one row of `columns` each."""

    score: str
    columns: IntArray


@dataclass(frozen=True)
class Directions:
    """Σ over rows of cos(ω·(v·U − mean)/deviation), one row of `weights` per direction v."""

    weights: FloatArray
    mean: FloatArray
    inverse: FloatArray
    frequency: float


@dataclass(frozen=True)
class RowScore:
    """Σ over rows of the normal score of ‖V‖², less βᵀV; a table of ‖V‖² gives the score."""

    lengths: FloatArray
    scores: FloatArray
    slopes: FloatArray

    def of(self, lengths: FloatArray | NDArray[np.float32]) -> FloatArray:
        """Return the normal score of each ‖V‖²: between two known ones, in between."""
        if self.lengths.size < KNOWN_LENGTHS:
            return np.interp(lengths, self.lengths, self.scores)
        low, step, grid = self._grid
        place = (lengths - low) * np.float32(1 / step)
        return grid[np.clip(place, 0, grid.size - 1).astype(np.int32)]

    @cached_property
    def _grid(self) -> tuple[np.float32, float, FloatArray]:
        """Where many are known: the least, and the scores at the middle of equal steps from it."""
        low, high = self.lengths[0], self.lengths[-1]
        step = (high - low) / GRID_STEPS
        middle = low + step * (np.arange(GRID_STEPS) + 0.5)
        return np.float32(low), float(step), np.interp(middle, self.lengths, self.scores)


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

    @property
    def size(self) -> int:
        """Number of sums."""
        return len(self.pattern.names) + 2 + int(self.s.size)

    def of(self, missing: BoolArray) -> NDArray[np.float32]:
        """Return the features of rows, (features × rows), from indicators (columns × rows)."""
        own = missing.astype(np.float32)
        count = own.sum(axis=0)
        return np.concatenate([own, [count, count * count], own[self.s] * own[self.t]])


@dataclass(frozen=True, eq=False)
class ValueRanges:
    """Σ over rows of whether the value of column c_q lies between low_q and high_q.

    `count` of the pooled rows have such a value. With `missing`, whether there is a value is
    summed, too. `place` is that of each sum among all: comparisons that share sums use some.
    """

    column: IntArray
    low: FloatArray
    high: FloatArray
    count: IntArray
    place: IntArray
    missing: bool = False

    @property
    def size(self) -> int:
        """Number of sums."""
        return int(self.column.size) * (2 if self.missing else 1)

    def with_rows(self, fewest: int) -> ValueRanges | None:
        """Return those that so many of the pooled rows have; None where there are none."""
        own = np.flatnonzero(self.count >= fewest)
        if not own.size:
            return None
        return ValueRanges(
            self.column[own],
            self.low[own],
            self.high[own],
            self.count[own],
            self.place[own],
            self.missing,
        )

    def of(self, values: FloatArray) -> NDArray[np.float32]:
        """Return the features of rows, (features × rows)."""
        own = values[:, self.column].T
        low, high = self.low[:, np.newaxis], self.high[:, np.newaxis]
        inside = ((own >= low) & (own <= high)).astype(np.float32)
        if not self.missing:
            return np.asarray(inside)
        return np.concatenate([inside, (~np.isnan(own)).astype(np.float32)])


@dataclass(frozen=True)
class Requests:
    """All that is summed over bins, beyond the scores of single columns.

    `points_per_bin` rows of each bin are kept as they are, for statistics of whole rows, and with
    `row_lengths` ‖V‖² of every row. Where values may be missing, `present_of` names for each
    product another one: of the scores that are 1 where a value is there, so that it counts the rows
    which have all its columns. `pattern` says what is compared of rows where nothing is asked of
    what they miss. `values` are those that stand apart in single columns.
    """

    pairs: dict[str, ProductOfTwo] = field(default_factory=dict)
    triples: dict[str, ProductOfThree] = field(default_factory=dict)
    fours: dict[str, ProductOfFour] = field(default_factory=dict)
    directions: Directions | None = None
    row_score: RowScore | None = None
    points_per_bin: int = 0
    row_lengths: bool = False
    missing: MissingValues | None = None
    pattern: MissingPattern | None = None
    values: ValueRanges | None = None
    present_of: dict[str, str] = field(default_factory=dict)

    def count_present(self) -> None:
        """Ask for the number of rows behind every product."""
        counted: list[tuple[Pairs, str]] = []
        for name, product in list(self.pairs.items()):
            own = product.pairs
            same = [n for p, n in counted if _equal(p.s, own.s) and _equal(p.t, own.t)]
            self.present_of[name] = rows = same[0] if same else f"rows of {name}"
            if not same:
                counted.append((own, rows))
                self.pairs[rows] = ProductOfTwo(PRESENT, PRESENT, own)
        for name, three in list(self.triples.items()):
            self.present_of[name] = rows = f"rows of {name}"
            self.triples[rows] = ProductOfThree(PRESENT, three.triples)
        for name, four in list(self.fours.items()):
            self.present_of[name] = rows = f"rows of {name}"
            self.fours[rows] = ProductOfFour(PRESENT, four.columns)

    def scores(self) -> set[str]:
        """Return the scores that products are made of."""
        names = {name for pair in self.pairs.values() for name in (pair.first, pair.second)}
        names |= {triple.score for triple in self.triples.values()}
        names |= {four.score for four in self.fours.values()}
        if self.directions is not None:
            names.add("normal")
        if self.row_score is not None or self.points_per_bin or self.row_lengths:
            names.add("clipped")
        if self.compared is not None:
            names.add(PRESENT)
        return names

    @property
    def compared(self) -> MissingPattern | None:
        """What is compared of rows as they were read; None where none misses anything."""
        return self.pattern if self.missing is None else self.missing.pattern


def _equal(left: IntArray, right: IntArray) -> bool:
    return left is right or np.array_equal(left, right)
