"""What the families ask of the data: sums over bins of scores and of products of scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.scan.cells import CELL_SCORES

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

    def of(self, lengths: FloatArray) -> FloatArray:
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


@dataclass(frozen=True)
class Requests:
    """All that is summed over bins, beyond the scores of single columns.

    `points_per_bin` rows of each bin are kept as they are, for statistics of whole rows.
    """

    pairs: dict[str, ProductOfTwo] = field(default_factory=dict)
    triples: dict[str, ProductOfThree] = field(default_factory=dict)
    fours: dict[str, ProductOfFour] = field(default_factory=dict)
    directions: Directions | None = None
    row_score: RowScore | None = None
    points_per_bin: int = 0

    def scores(self) -> set[str]:
        """Return the scores that products are made of."""
        names = {name for pair in self.pairs.values() for name in (pair.first, pair.second)}
        names |= {triple.score for triple in self.triples.values()}
        names |= {four.score for four in self.fours.values()}
        if self.directions is not None:
            names.add("normal")
        if self.row_score is not None or self.points_per_bin:
            names.add("clipped")
        return names
