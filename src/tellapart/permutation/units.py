"""Units of a design: rows that move together, and sums over them adjusted for their blocks.

With S_g the sum of a feature over unit g, c_g its rows, or what they count for, μ_h its mean over
all rows of block h and μ that over all rows, the sums are centred within blocks,

    S̃_g = S_g − c_g (μ_h − μ),

so that blocks which differ from each other, in one of which x has more of the rows than in another,
make no difference between x and y. No label is seen: μ_h is a mean over both samples. The rows that
count as x may change in number with whole clusters, so means are divided by the number that each
permutation gives. δ = mean_x − mean_y then has mean 0 over the permutations of the design and, up
to the change of the numbers, the variance

    (1/n_x + 1/n_y)² Σ_h k_h l_h / (m_h (m_h − 1)) Σ_{g∈h} (R_g − R̄_h)²,   R_g = S̃_g − c_g μ,

k_h and l_h the units of x and y in block h, m_h = k_h + l_h, n_x and n_y the expected numbers of
rows. For n pairs it is Σ_g d_g²/n², d_g their differences: as small as the pairs are alike. Units
that keep their labels are part of the means, and of neither k_h, l_h nor R̄_h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.permutation.bins import Singles

# Sums of b terms in single precision are off by this share times √b of their size, a few times.
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Units:
    """Units of pooled rows that move together, and the blocks they move in.

    Attributes
    ----------
    of_rows : pair of arrays
        The unit of every row of X and of Y; the units of X are numbered first, then those of Y.
    rows : array of length G
        Rows of each unit.
    block : array of length G
        The block of each unit, numbered from 0.
    n_units : pair of int
        Units of X and of Y.
    together : int
        Units of the design that were put together, at most: 1 where all move by themselves. In one
        block all units that move are made of as many.
    row_weights : array of length G, or None
        What each row of a unit counts for, where that is not 1; Σ_g c_g of the counts
        c_g = weight × rows is the number of rows.
    members : array of length G, or None
        Units of the design in each, where that is not 1.
    keeps_label : array of length G, or None
        Which units are never permuted; those of each sample come last.
    """

    of_rows: tuple[IntArray, IntArray]
    rows: IntArray
    block: IntArray
    n_units: tuple[int, int]
    together: int = 1
    row_weights: FloatArray | None = None
    members: IntArray | None = None
    keeps_label: BoolArray | None = None

    @cached_property
    def counts(self) -> FloatArray:
        """c_g: what the rows of each unit count for."""
        rows = self.rows.astype(np.float64)
        return rows if self.row_weights is None else rows * self.row_weights

    @property
    def size(self) -> int:
        """Number of units, G."""
        return int(self.rows.size)

    @cached_property
    def moved(self) -> BoolArray:
        """Which units are permuted."""
        if self.keeps_label is None:
            return np.ones(self.size, dtype=np.bool_)
        return ~self.keeps_label

    @property
    def n_moved(self) -> tuple[int, int]:
        """Units of X and of Y that are permuted."""
        of_x, of_y = np.split(self.moved, [self.n_units[0]])
        return int(of_x.sum()), int(of_y.sum())

    @cached_property
    def shapes(self) -> IntArray:
        """Units of x and of y that are permuted in every block, of shape (2, H)."""
        n_blocks = int(self.block.max()) + 1
        of_x = self.n_units[0]
        return np.stack(
            [
                np.bincount(block[moved], minlength=n_blocks)
                for block, moved in (
                    (self.block[:of_x], self.moved[:of_x]),
                    (self.block[of_x:], self.moved[of_x:]),
                )
            ]
        )

    @cached_property
    def needs_centring(self) -> bool:
        """Whether x has another share of the rows in one block than in another."""
        shapes, rows = self.shapes, self.counts
        if shapes.shape[1] == 1:
            return False
        if not self.moved.all():
            return True
        alike = shapes[0] * shapes[1, 0] == shapes[1] * shapes[0, 0]
        return not (alike.all() and (rows == rows[0]).all())

    @cached_property
    def unit(self) -> float:
        """√(1/n_x + 1/n_y), of the rows that permutations give on average."""
        shapes, n_rows = self.shapes, float(self.counts.sum())
        moved = self._members @ (self.counts * self.moved)
        of_x = float((moved * shapes[0] / np.maximum(shapes.sum(axis=0), 1)).sum())
        of_x += float((self.counts * ~self.moved)[: self.n_units[0]].sum())
        return math.sqrt(1 / of_x + 1 / (n_rows - of_x))

    def arranged(self, order: IntArray) -> Units:
        """Return the units in another order, for weights by labels that stand in it."""

        def taken(values: NDArray[Any] | None) -> NDArray[Any] | None:
            return None if values is None else values[order]

        return replace(
            self,
            rows=self.rows[order],
            block=self.block[order],
            row_weights=taken(self.row_weights),
            members=taken(self.members),
            keeps_label=taken(self.keeps_label),
        )

    def centre(self, sums: FloatArray) -> FloatArray:
        """Return S̃ of sums of shape (G, F), which were added up in single precision.

        Where S_g − c_g μ_h is nothing but rounding for all units, it is 0: no permutation changes
        the feature. Where x has the same share of every block, S̃ = S but for that.
        """
        counts = self.counts[:, np.newaxis]
        level = counts * (sums.sum(axis=0) / self.counts.sum())
        within = self._members @ sums / self._rows_of_blocks[:, np.newaxis]
        rest = sums - counts * within[self.block]
        rounding = ROUNDING * math.sqrt(float(self.rows.max())) * np.abs(sums).max(axis=0)
        still = np.abs(rest).max(axis=0) <= rounding
        if self.needs_centring:
            return np.asarray(level + np.where(still, 0.0, rest))
        return np.asarray(np.where(still, level, sums))

    def weights(self, labels: FloatArray | Singles) -> FloatArray:
        """Return w(e): 1/n_x for units of x, −1/n_y for those of y, one row per row of labels."""
        of_x = (labels @ self.counts)[:, np.newaxis]
        of_y = self.counts.sum() - of_x
        return np.where(labels > 0, 1 / of_x, -1 / of_y)

    def centred_weights(self, labels: FloatArray | Singles) -> FloatArray:
        """Return weights of unadjusted sums that give the same as w(e) does of adjusted ones."""
        weights = self.weights(labels)
        within = (weights * self.counts) @ self._members.T / self._rows_of_blocks
        return np.asarray(weights - within[:, self.block])

    def spread_out(self, sums: FloatArray) -> FloatArray:
        """Return Z with ZᵀZ the covariance over permutations of δ, of adjusted sums (G, F)."""
        rest = sums - self.counts[:, np.newaxis] * (sums.sum(axis=0) / self.counts.sum())
        rest[~self.moved] = 0.0
        shapes = self.shapes
        size = shapes.sum(axis=0)
        rest -= (self._members @ rest / np.maximum(size, 1)[:, np.newaxis])[self.block]
        factor = shapes[0] * shapes[1] / np.maximum(size * (size - 1), 1)
        each = self.unit**2 * np.sqrt(factor)[self.block] * self.moved
        return np.asarray(rest * each[:, np.newaxis])

    def sums_of(self, rows: Singles) -> FloatArray:
        """Return S̃ (G, F) of features of all rows (N, F), those of X first."""
        unit = np.concatenate(self.of_rows)
        entries = (np.ones(unit.size), (unit, np.arange(unit.size)))
        sums = sparse.csr_array(entries, shape=(self.size, unit.size)) @ rows.astype(np.float64)
        if self.row_weights is not None:
            sums *= self.row_weights[:, np.newaxis]
        return np.asarray(sums if self.shapes.shape[1] == 1 else self.centre(sums))

    @cached_property
    def freedom(self) -> int:
        """Degrees of freedom of what is left of sums beside the blocks and the samples."""
        informative = np.count_nonzero(self.shapes.min(axis=0))
        return max(int(self.shapes[:, self.shapes.min(axis=0) > 0].sum() - informative - 1), 1)

    def changes(self, sums: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return δ at the true labels, and Z with ZᵀZ an estimate of its covariance.

        Z is that of `spread_out` for what is left of the adjusted sums (G, F) beside the difference
        of the samples, S̃_g − β L̃_g: L̃ are the adjusted sums of the indicator of x, and β is the
        slope δ(S̃)/δ(L̃). So the variance is that of a t statistic: of unit means where clusters are
        of one size, of differences for pairs, beside the strata where there are some.
        """
        of_x = (np.arange(self.size) < self.n_units[0]).astype(np.float64)
        weights = self.weights(of_x[np.newaxis])[0]
        indicator = of_x * self.counts
        if self.shapes.shape[1] > 1:
            indicator = self.centre(indicator[:, np.newaxis])[:, 0]
        change = weights @ sums
        slope = change / (weights @ indicator)
        rest = self.spread_out(sums - indicator[:, np.newaxis] * slope)
        return change, rest * math.sqrt((self.freedom + 1) / self.freedom)

    def only_moved(self) -> Units:
        """Return the units with those that keep their labels counting for nothing."""
        if self.keeps_label is None:
            return self
        weights = np.ones(self.size) if self.row_weights is None else self.row_weights
        return replace(self, row_weights=weights * self.moved)

    @cached_property
    def _members(self) -> sparse.csr_array:
        """Which units each block has, as a matrix of 0 and 1."""
        ones = (np.ones(self.size), (self.block, np.arange(self.size)))
        return sparse.csr_array(ones, shape=(int(self.block.max()) + 1, self.size))

    @cached_property
    def _rows_of_blocks(self) -> FloatArray:
        return np.asarray(self._members @ self.counts)


def weighed(units: Units, likeness: float) -> Units:
    """Return the units with the weights n/(1 + (n − 1)ρ) of `tellapart.data.likeness`.

    Units that were put together keep the weight of their rows: they are some hundred at least, each
    of several of the design's own.
    """
    if likeness == 0 or units.together > 1:
        return units
    # Those that keep their labels are many of the design's own, of so many rows on average.
    rows = units.rows if units.members is None else units.rows / units.members
    weights = 1 / (1 + (rows - 1) * likeness)
    return replace(units, row_weights=weights * (units.rows.sum() / (weights @ units.rows)))
