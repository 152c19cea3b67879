"""Bins of rows that keep to the design of a study, and sums over them adjusted for its blocks.

With S_g the sum of a feature over unit g, c_g its rows, μ_h its mean over all rows of block h and
μ that over all rows, the sums are centred within blocks,

    S̃_g = S_g − c_g (μ_h − μ),

so that blocks which differ from each other, in one of which x has more of the rows than in another,
make no difference between x and y. No label is seen: μ_h is a mean over both samples. The rows that
count as x may change in number with whole clusters, so means are divided by the number that each
permutation gives. δ = mean_x − mean_y then has mean 0 over the permutations of the design and, up
to the change of the numbers, the variance

    (1/n_x + 1/n_y)² Σ_h k_h l_h / (m_h (m_h − 1)) Σ_{g∈h} (R_g − R̄_h)²,   R_g = S̃_g − c_g μ,

k_h and l_h the units of x and y in block h, m_h = k_h + l_h, n_x and n_y the expected numbers of
rows. For n pairs it is Σ_g d_g²/n², d_g their differences: as small as the pairs are alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.design import Design
from tellapart.permutation.bins import Singles
from tellapart.permutation.design import Units, permute_units, units_of
from tellapart.permutation.keyed_bins import KeyedBins

# Sums that are adjusted at a time, 64 MB in double precision.
ENTRIES = 8_000_000
# A deviation below this share of the largest sum is rounding.
FLAT = 1e-6


@dataclass(frozen=True, eq=False)
class DesignedBins(KeyedBins):
    """The units of a design as bins, in place of bins of any rows.

    Attributes
    ----------
    units : Units
        Which rows move together, and in which block.
    places : pair of arrays
        The place of every row of X and of Y within its unit.
    """

    units: Units
    places: tuple[IntArray, IntArray]

    @property
    def full(self) -> bool:
        """Squares and the like are summed over every unit: they are adjusted as sums are."""
        return True

    @property
    def largest(self) -> int:
        """Rows of the largest unit."""
        return int(self.units.rows.max())

    @property
    def fewest(self) -> int:
        """Units of the smaller sample: what does not depend on which units are those of x."""
        return min(self.units.n_units)

    @cached_property
    def counts(self) -> tuple[Singles, Singles]:
        """Rows that count as x and as y, of every permutation."""
        of_x = self.labels @ self.units.rows.astype(np.float32)
        return of_x, np.float32(self.n_rows) - of_x

    def of_rows(self, sample: int, first_row: int, count: int) -> tuple[IntArray, IntArray]:
        """Return the units of some rows, counted within their sample, and their places in them."""
        rows = slice(first_row, first_row + count)
        first = sample * self.n_bins_of[0]
        return self.units.of_rows[sample][rows] - first, self.places[sample][rows]

    def weights(self) -> FloatArray:
        """Return w(e): 1/n_x for units of x, −1/n_y for those of y, one row per permutation."""
        of_x, of_y = (np.asarray(count, dtype=np.float64)[:, np.newaxis] for count in self.counts)
        return np.where(self.labels > 0, 1 / np.maximum(of_x, 1), -1 / np.maximum(of_y, 1))

    def centred_weights(self) -> FloatArray:
        """Return weights of unadjusted sums that give the same as w(e) does of adjusted ones."""
        weights = self.weights()
        within = (weights * self.units.rows) @ self._members.T / self._rows_of_blocks
        return np.asarray(weights - within[:, self.units.block])

    def centre(self, sums: FloatArray) -> FloatArray:
        """Return S̃ of sums of shape (G, F)."""
        of_blocks = self._members @ sums
        excess = of_blocks / self._rows_of_blocks[:, np.newaxis] - sums.sum(axis=0) / self.n_rows
        return np.asarray(sums - self.units.rows[:, np.newaxis] * excess[self.units.block])

    @cached_property
    def needs_centring(self) -> bool:
        """Whether x has another share of the rows in one block than in another."""
        shapes, rows = self.units.shapes, self.units.rows
        alike = shapes[0] * shapes[1, 0] == shapes[1] * shapes[0, 0]
        return not (alike.all() and (rows == rows[0]).all())

    def spread_out(self, sums: FloatArray) -> FloatArray:
        """Return Z with ZᵀZ the covariance over permutations of δ, of adjusted sums (G, F)."""
        mean = sums.sum(axis=0) / self.n_rows
        rest = sums - self.units.rows[:, np.newaxis] * mean
        shapes = self.units.shapes
        size = shapes.sum(axis=0)
        rest -= (self._members @ rest / size[:, np.newaxis])[self.units.block]
        factor = shapes[0] * shapes[1] / (size * (size - 1))
        return np.asarray(rest * (self.unit**2 * np.sqrt(factor))[self.units.block][:, np.newaxis])

    @cached_property
    def unit(self) -> float:
        """√(1/n_x + 1/n_y), of the rows that permutations give on average."""
        shapes = self.units.shapes
        of_x = float((self._rows_of_blocks * shapes[0] / shapes.sum(axis=0)).sum())
        return math.sqrt(1 / of_x + 1 / (self.n_rows - of_x))

    def deviations(self, sums: Singles) -> FloatArray:
        """Return the deviation of δ over permutations, of adjusted sums (G, F)."""
        found = np.empty(sums.shape[1])
        step = max(ENTRIES // max(sums.shape[0], 1), 1)
        for start in range(0, found.size, step):
            some = slice(start, start + step)
            found[some] = np.sqrt(np.square(self.spread_out(_doubles(sums[:, some]))).sum(axis=0))
        return found

    def centre_in_place(self, x: Singles, y: Singles) -> None:
        """Adjust sums over the bins of X and of Y, (bins + 1, F) each; no row keeps its label."""
        step = max(ENTRIES // max(self.n_bins, 1), 1)
        for start in range(0, x.shape[1], step):
            some = slice(start, start + step)
            adjusted = self.centre(_doubles(np.concatenate([x[:-1, some], y[:-1, some]])))
            x[:-1, some], y[:-1, some] = np.split(adjusted, [self.n_bins_of[0]])

    @cached_property
    def _members(self) -> sparse.csr_array:
        """Which units each block has, as a matrix of 0 and 1."""
        units = self.units
        ones = (np.ones(units.size), (units.block, np.arange(units.size)))
        return sparse.csr_array(ones, shape=(int(units.block.max()) + 1, units.size))

    @cached_property
    def _rows_of_blocks(self) -> FloatArray:
        return np.asarray(self._members @ self.units.rows.astype(np.float64))


def _doubles(values: Singles) -> FloatArray:
    return values.astype(np.float64)


def draw_designed_bins(
    design: Design, n_permutations: int, rng: np.random.Generator
) -> DesignedBins:
    """Return the units of a design and permutations of their labels; all of them where few."""
    units = units_of(design, rng)
    drawn = permute_units(units, n_permutations, rng)
    n_x, n_y = (rows.size for rows in units.of_rows)
    return DesignedBins(
        n_rows_of=(n_x, n_y),
        n_bins_of=units.n_units,
        rows_per_bin=units.together,
        seed=0,
        labels=np.unpackbits(drawn.bits, axis=1, count=units.size).astype(np.float32),
        exact=drawn.exact,
        units=units,
        places=(_places_within(units.of_rows[0]), _places_within(units.of_rows[1])),
    )


def _places_within(unit: IntArray) -> IntArray:
    """Return how many rows of the same unit come before each row."""
    order = np.argsort(unit, kind="stable")
    rising = unit[order]
    start = np.flatnonzero(np.concatenate([[True], rising[1:] != rising[:-1]]))
    sizes = np.diff(start, append=unit.size)
    places = np.empty(unit.size, dtype=np.intp)
    places[order] = np.arange(unit.size) - np.repeat(start, sizes)
    return places
