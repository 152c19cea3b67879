"""Permutations that keep to the design of a study: labels of units, permuted within blocks.

Units (rows, clusters, the members of a pair) of block h number k_h of x and l_h of y. Under H₀
any k_h of its k_h + l_h units may be those of x, so there are Π_h C(k_h + l_h, k_h) permutations,
2ⁿ for n pairs. As with `tellapart.permutation.draws`, many units are made fewer without loss of
validity, by a subgroup of these permutations:

- units of a block are put at random into bins of b_h units each, the same b_h for both samples,
  and the bins are permuted: bins of unequal numbers of units are not exchangeable;
- units left over, and those of a sample that is far larger than the other, keep their labels;
- blocks of the same shape, such as pairs, are permuted alike.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from tellapart.arrays import BoolArray, FloatArray, IntArray, Singles
from tellapart.budget import current_budget
from tellapart.data.design import Design, ExchangeableUnits, PermutationScheme
from tellapart.errors import InputError
from tellapart.permutation.draws import (
    FEWEST_BINS,
    LARGER_SHARE,
    MOST_BINS,
    Permutations,
)

# Units of a design: rows that move together, and sums over them adjusted for their blocks.
#
# With S_g the sum of a feature over unit g, c_g its rows, or what they count for, μ_h its mean over
# all rows of block h and μ that over all rows, the sums are centred within blocks,
#
#     S̃_g = S_g − c_g (μ_h − μ),
#
# so that blocks which differ from each other, in one of which x has more of the rows than in
# another, make no difference between x and y. No label is seen: μ_h is a mean over both samples.
# The rows that count as x may change in number with whole clusters, so means are divided by the
# number that each permutation gives. δ = mean_x − mean_y then has mean 0 over the permutations of
# the design and, up to the change of the numbers, the variance
#
#     (1/n_x + 1/n_y)² Σ_h k_h l_h / (m_h (m_h − 1)) Σ_{g∈h} (R_g − R̄_h)²,   R_g = S̃_g − c_g μ,
#
# k_h and l_h the units of x and y in block h, m_h = k_h + l_h, n_x and n_y the expected numbers of
# rows. For n pairs it is Σ_g d_g²/n², d_g their differences: as small as the pairs are alike. Units
# that keep their labels are part of the means, and of neither k_h, l_h nor R̄_h.


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
    scheme : PermutationScheme or None
        Draws the labels; None: every permutation within blocks is as likely as any other.
    keys : array of length G, or None
        The numbers by which the scheme knows the units.
    within : pair of arrays or None
        What every row of X and of Y counts for, in multiples of the mean of its unit, where rows
        of one unit have different weights.
    """

    of_rows: tuple[IntArray, IntArray]
    rows: IntArray
    block: IntArray
    n_units: tuple[int, int]
    together: int = 1
    row_weights: FloatArray | None = None
    members: IntArray | None = None
    keeps_label: BoolArray | None = None
    scheme: PermutationScheme | None = None
    keys: IntArray | None = None
    within: tuple[FloatArray, FloatArray] | None = None

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

    @property
    def adjusts(self) -> bool:
        """Whether sums over units are adjusted, as where there are several blocks."""
        return int(self.shapes.shape[1]) > 1

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
        each = np.ones(unit.size) if self.within is None else np.concatenate(self.within)
        entries = (each, (unit, np.arange(unit.size)))
        sums = sparse.csr_array(entries, shape=(self.size, unit.size)) @ rows.astype(np.float64)
        if self.row_weights is not None:
            sums *= self.row_weights[:, np.newaxis]
        return np.asarray(self.centre(sums) if self.adjusts else sums)

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
        if self.adjusts:
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
    """Return the units with the weights n/(1 + (n − 1)ρ) of `tellapart.data.design_labels`.

    Units that were put together keep the weight of their rows: they are some hundred at least, each
    of several of the design's own.
    """
    if likeness == 0 or units.together > 1:
        return units
    # Those that keep their labels are many of the design's own, of so many rows on average.
    rows = units.rows if units.members is None else units.rows / units.members
    weights = 1 / (1 + (rows - 1) * likeness)
    return replace(units, row_weights=weights * (units.rows.sum() / (weights @ units.rows)))


def weighed_by_rows(units: Units, weights: tuple[FloatArray, FloatArray]) -> Units:
    """Return the units with the weights of their rows, which move with them.

    Examples
    --------
    >>> import numpy as np
    >>> units = Units((np.array([0, 0]), np.array([1])), np.array([2, 1]), np.zeros(2, int), (1, 1))
    >>> units = weighed_by_rows(units, (np.array([1.0, 3.0]), np.array([2.0])))
    >>> units.counts.tolist(), units.within[0].tolist()
    ([2.0, 1.0], [0.5, 1.5])
    """
    unit = np.concatenate(units.of_rows)
    each = np.concatenate(weights)
    own = np.bincount(unit, each) / units.rows
    within = np.split(each / own[unit], [weights[0].size])
    if units.row_weights is not None:
        own = own * units.row_weights
    own *= units.rows.sum() / (own @ units.rows)
    alike = bool((units.rows == 1).all())
    return replace(units, row_weights=own, within=None if alike else (within[0], within[1]))


SHARES = (LARGER_SHARE, 15, 10, 7, 5, 3, 2, 1)
"""Units of the larger sample in a block, in multiples of the smaller: the first that suffices."""
LEFT_OVER = 0.1
"""The share of a block's units that may be left over for larger bins."""
MOST_COARSE = 3
"""Bins of the smaller sample in a small block, where blocks of all shapes are many."""


def units_of(design: Design, rng: np.random.Generator) -> Units:
    """Return the units of a design, put together where they are many."""
    blocks, block_of = np.unique(np.concatenate(design.blocks), return_inverse=True)
    sides = np.split(block_of, [design.blocks[0].size])
    numbered = [_number(block, unit) for block, unit in zip(sides, design.units, strict=True)]
    shapes = np.stack([np.bincount(block, minlength=blocks.size) for _, block, _ in numbered])
    # What a scheme permutes are the units themselves: bins of them may not be exchangeable.
    free = design.scheme is None and design.adjustment is None
    plan = _Joined.fitting(shapes, rng) if free else None
    if plan is None:
        (unit_x, block_x, key_x), (unit_y, block_y, key_y) = numbered
        unit_y = unit_y + block_x.size
        return Units(
            of_rows=(unit_x, unit_y),
            rows=np.bincount(np.concatenate([unit_x, unit_y])),
            block=np.concatenate([block_x, block_y]),
            n_units=(int(block_x.size), int(block_y.size)),
            scheme=design.scheme,
            keys=np.concatenate([key_x, key_y]),
        )
    (to_x, groups_x), (to_y, groups_y) = (
        plan.groups(side, block, rng) for side, (_, block, _) in enumerate(numbered)
    )
    to_y = to_y + groups_x.shape[1]
    unit_x, unit_y = to_x[numbered[0][0]], to_y[numbered[1][0]]
    keeps_label, block, _ = np.concatenate([groups_x, groups_y], axis=1)
    rows = np.bincount(np.concatenate([unit_x, unit_y]))
    weights = None
    dropped = (keeps_label > 0) & plan.mixed[block]
    if dropped.any():
        weights = np.where(dropped, 0.0, rows.sum() / rows[~dropped].sum())
    return Units(
        of_rows=(unit_x, unit_y),
        rows=rows,
        block=block,
        n_units=(groups_x.shape[1], groups_y.shape[1]),
        together=plan.together,
        row_weights=weights,
        members=np.bincount(np.concatenate([to_x, to_y])),
        keeps_label=keeps_label > 0,
    )


def _number(block: IntArray, unit: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the unit of each row, counted from 0 by blocks, and the block and key of each unit."""
    pairs, unit_of = np.unique(np.stack([block, unit]), axis=1, return_inverse=True)
    return unit_of.ravel(), pairs[0], pairs[1]


@dataclass(frozen=True, eq=False)
class _Joined:
    """Blocks of many units with fewer bins of them, and small blocks of one shape permuted alike.

    Attributes
    ----------
    size : array of length H
        Units in each bin of a block, b_h.
    bins : array of shape (2, H)
        Bins of x and of y in each block; units beyond them keep their labels.
    joint : array of length H
        The block that each becomes part of.
    mixed : array
        Which of the joint blocks have members of which unequal numbers of units keep their
        labels. These units do not count: no mean over the block would be that of each member.
    """

    size: IntArray
    bins: IntArray
    joint: IntArray
    mixed: BoolArray

    @classmethod
    def fitting(cls, shapes: IntArray, rng: np.random.Generator) -> _Joined | None:
        """Return blocks of few enough units; None where all may be permuted one by one."""
        total = int(shapes.min(axis=0).sum())
        most_units = current_budget().permuted_units
        if total < 2 * MOST_BINS and shapes.sum() <= most_units:
            return None
        noise = rng.random((shapes.shape[1],))
        few, fewer = max(total // MOST_BINS, 1), -(-total // FEWEST_BINS)
        tried = itertools.product((False, True), SHARES, (few, fewer))
        for coarse, share, together in tried:
            joined = cls._of(shapes, together, share, coarse, noise)
            if joined.n_units(shapes) <= most_units:
                return joined
        # One bin of either sample in every block: all blocks have one shape.
        return joined

    @classmethod
    def _of(
        cls, shapes: IntArray, together: int, share: int, coarse: bool, noise: FloatArray
    ) -> _Joined:
        large = shapes.min(axis=0) > together
        size = np.ones(large.size, dtype=np.intp)
        size[large] = [_bin_size(m, n, together) for m, n in shapes[:, large].T.tolist()]
        if coarse:
            size[~large] = _coarse_sizes(shapes[:, ~large], 1 if share == 1 else MOST_COARSE)
        bins = shapes // size
        bins = np.minimum(bins, share * bins.min(axis=0))
        left = shapes - size * bins
        if coarse:
            together = max(int(bins[:, ~large].min(axis=0).sum()) // FEWEST_BINS, 1)
        # Blocks of the same shape, in random order, so many at a time.
        alike = bins if coarse else np.concatenate([bins, left])
        _, kind = np.unique(alike, axis=1, return_inverse=True)
        kind = kind.ravel()
        order = np.lexsort((noise, large, kind))
        ordered = np.stack([kind, large])[:, order]
        new = np.any(ordered[:, 1:] != ordered[:, :-1], axis=0)
        start = np.flatnonzero(np.concatenate([[True], new]))
        within = np.arange(order.size) - np.repeat(start, np.diff(start, append=order.size))
        first = np.where(large[order], True, within % together == 0)
        joint = np.empty(order.size, dtype=np.intp)
        joint[order] = np.cumsum(first) - 1
        one = left[:, order[first]][:, joint]
        mixed = np.zeros(int(joint.max()) + 1, dtype=np.bool_)
        mixed[joint[np.any(left != one, axis=0)]] = True
        return cls(size, bins, joint, mixed)

    @property
    def together(self) -> int:
        """Units of the design that are permuted together, at most."""
        return int(np.bincount(self.joint, self.size).max())

    def n_units(self, shapes: IntArray) -> int:
        """Return how many units there are then: bins, and those that keep their labels."""
        _, one = np.unique(self.joint, return_index=True)
        keeping = [np.unique(self.joint[left > 0]).size for left in shapes - self.size * self.bins]
        return int(self.bins[:, one].sum()) + sum(keeping)

    def groups(
        self, side: int, block: IntArray, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """Return where each unit of a sample goes, and what there is then.

        That is, for each group of units, whether it keeps its label, its block and its place there.
        """
        # A random place within the block: so many to each bin, and the rest keep their labels.
        order = np.lexsort((rng.random(block.size), block))
        sizes = np.bincount(block, minlength=self.joint.size)
        bin_of = np.empty(block.size, dtype=np.intp)
        bin_of[order] = np.arange(block.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        bin_of //= self.size[block]
        keeps_label = bin_of >= self.bins[side][block]
        bin_of[keeps_label] = 0
        named = np.stack([keeps_label, self.joint[block], bin_of])
        groups, to = np.unique(named, axis=1, return_inverse=True)
        return to.ravel(), groups


def _bin_size(n_x: int, n_y: int, together: int) -> int:
    """Return b for a block of many units: about `together`, so that few units are left over.

    >>> _bin_size(500, 15_000, 2), _bin_size(5, 7, 2), _bin_size(29, 40, 12)
    (2, 1, 9)
    """
    smaller = min(n_x, n_y)
    most = smaller // -(-smaller // together)
    sizes = np.arange(most, max(most // 2, 1) - 1, -1)
    left = np.maximum(n_x % sizes / n_x, n_y % sizes / n_y)
    small = np.flatnonzero(left <= LEFT_OVER)
    return int(sizes[small[0] if small.size else np.argmin(left)])


def _coarse_sizes(shapes: IntArray, most: int) -> IntArray:
    """Return b of small blocks such that the smaller sample has 1 to `most` bins of them."""
    sizes = np.stack([np.maximum(shapes.min(axis=0) // n, 1) for n in range(1, most + 1)])
    left = np.max(shapes[:, np.newaxis] % sizes / np.maximum(shapes, 1)[:, np.newaxis], axis=0)
    return np.asarray(np.take_along_axis(sizes, left.argmin(axis=0)[np.newaxis], axis=0)[0])


def count_designed(shapes: IntArray, at_most: int) -> int | None:
    """Return Π_h C(k_h + l_h, k_h), or None where it exceeds `at_most`.

    >>> count_designed(np.ones((2, 5), dtype=int), 999), count_designed(np.array([[50], [50]]), 999)
    (32, None)
    """
    every = shapes.T.tolist()
    log_count = sum(
        math.lgamma(k + n + 1) - math.lgamma(k + 1) - math.lgamma(n + 1) for k, n in every
    )
    if log_count > math.log(at_most) + 1.0:
        return None
    count = math.prod(math.comb(k + n, k) for k, n in every)
    return count if count <= at_most else None


def least_designed_pvalue(design: Design, n_permutations: int, symmetric: bool = True) -> float:
    """Return the smallest p-value that permutations of a design can give.

    `symmetric` says whether swapping the samples leaves the statistic as it is.
    """
    if design.scheme is not None or design.adjustment is not None:
        return 1.0 / (n_permutations + 1)
    units = units_of(design, np.random.default_rng(0))
    shapes = units.shapes
    count = count_designed(shapes, n_permutations)
    if count is None:
        return 1.0 / (n_permutations + 1)
    # Where every block has as many units of either sample, the mirror image is as extreme.
    mirrored = symmetric and np.array_equal(shapes[0], shapes[1]) and units.moved.all()
    return (2 if mirrored else 1) / count


def permute_units(units: Units, n_permutations: int, rng: np.random.Generator) -> Permutations:
    """Enumerate all permutations of the units' labels if at most so many, else draw that many."""
    shapes = units.shapes
    every = count_designed(shapes, n_permutations) if units.scheme is None else None
    count = n_permutations + 1 if every is None else every
    most = current_budget().label_bytes
    if count * units.size > most:
        raise InputError(
            f"n_permutations must be at most {most // units.size:,} for {units.size:,} units "
            f"(their labels may take {most / 1e9:g} GB); got {n_permutations:,}"
        )
    true_labels = (np.arange(units.size) < units.n_units[0]).astype(np.uint8)
    labels = np.tile(true_labels, (count, 1))
    if units.scheme is not None:
        labels[1:] = _drawn_by_scheme(units.scheme, units, n_permutations, rng)
        return Permutations(np.packbits(labels, axis=1), exact=False)
    units_of_blocks = _places(units)
    if every is not None:
        _enumerate(labels, shapes, units_of_blocks)
        return Permutations(np.packbits(labels, axis=1), exact=True)
    kinds, kind = np.unique(shapes, axis=1, return_inverse=True)
    for which, (k, n) in enumerate(kinds.T.tolist()):
        alike = np.flatnonzero(kind.ravel() == which)
        moved = np.array([units_of_blocks[h] for h in alike])
        true = np.broadcast_to(
            (np.arange(k + n) < k).astype(np.uint8), (n_permutations, alike.size, k + n)
        )
        labels[1:, moved.ravel()] = rng.permuted(true, axis=2).reshape(n_permutations, -1)
    return Permutations(np.packbits(labels, axis=1), exact=False)


def _drawn_by_scheme(
    scheme: PermutationScheme, units: Units, n_permutations: int, rng: np.random.Generator
) -> BoolArray:
    """Return the labels that a scheme draws, checked: as many of x in each block as there are."""
    assert units.keys is not None
    of_x = np.arange(units.size) < units.n_units[0]
    drawn = np.asarray(
        scheme.draw(ExchangeableUnits(of_x, units.block, units.keys), n_permutations, rng)
    )
    if drawn.shape != (n_permutations, units.size):
        raise InputError(
            f"design {scheme.name!r} must draw labels of shape {(n_permutations, units.size)}: one "
            f"row per permutation and one column per unit; got {drawn.shape}"
        )
    labels = drawn.astype(np.bool_)
    if (labels != drawn).any() or (_sizes(labels, units) != units.shapes[0]).any():
        raise InputError(
            f"design {scheme.name!r} must draw labels of 0 and 1 that leave as many units of X in "
            "every block as there are"
        )
    return labels


def _sizes(labels: BoolArray, units: Units) -> IntArray:
    """Return the units of x in every block, one row per row of labels."""
    order = np.argsort(units.block, kind="stable")
    starts = np.flatnonzero(np.diff(units.block[order], prepend=-1))
    return np.add.reduceat(labels[:, order].astype(np.intp), starts, axis=1)


def _places(units: Units) -> list[IntArray]:
    """Return the units of every block whose labels are permuted, those of x first."""
    moved = np.flatnonzero(units.moved)
    order = moved[np.argsort(units.block[moved], kind="stable")]
    return np.split(order, np.cumsum(units.shapes.sum(axis=0))[:-1])


def _enumerate(
    labels: NDArray[np.uint8], shapes: IntArray, units_of_blocks: list[IntArray]
) -> None:
    """Write all permutations: every choice in one block beside every choice in the others."""
    repeats = labels.shape[0]
    number = np.arange(labels.shape[0])
    for (k, n), moved in zip(shapes.T.tolist(), units_of_blocks, strict=True):
        chosen = np.array(list(itertools.combinations(range(k + n), k)))
        patterns = np.zeros((chosen.shape[0], k + n), dtype=np.uint8)
        np.put_along_axis(patterns, chosen, 1, axis=1)
        repeats //= patterns.shape[0]
        # The first choice in every block is the true one, as the first of all is.
        labels[:, moved] = patterns[number // repeats % patterns.shape[0]]
