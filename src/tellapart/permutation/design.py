"""Permutations that keep to the design of a study: labels of units, permuted within blocks.

Units (rows, clusters, the members of a pair) of block h number k_h of x and l_h of y. Under H₀
any k_h of its k_h + l_h units may be those of x, so there are Π_h C(k_h + l_h, k_h) permutations,
2ⁿ for n pairs. As with `tellapart.permutation.bins`, many units are made fewer without loss of
validity, by a subgroup of these permutations:

- units of a block are put at random into bins of b_h units each, the same b_h for both samples,
  and the bins are permuted: bins of unequal numbers of units are not exchangeable;
- units left over, and those of a sample that is far larger than the other, keep their labels;
- blocks of the same shape, such as pairs, are permuted alike.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.data.design import Design
from tellapart.errors import InputError
from tellapart.permutation.bins import FEWEST_BINS, LARGER_SHARE, MOST_BINS
from tellapart.permutation.labels import MOST_BYTES, Permutations
from tellapart.permutation.units import Units

MOST_UNITS = 4_000
"""Units of both samples, bins and those that keep their labels."""
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
    shapes = np.stack([np.bincount(block, minlength=blocks.size) for _, block in numbered])
    plan = _Joined.fitting(shapes, rng)
    if plan is None:
        (unit_x, block_x), (unit_y, block_y) = numbered
        unit_y = unit_y + block_x.size
        return Units(
            of_rows=(unit_x, unit_y),
            rows=np.bincount(np.concatenate([unit_x, unit_y])),
            block=np.concatenate([block_x, block_y]),
            n_units=(int(block_x.size), int(block_y.size)),
        )
    (to_x, groups_x), (to_y, groups_y) = (
        plan.groups(side, block, rng) for side, (_, block) in enumerate(numbered)
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


def _number(block: IntArray, unit: IntArray) -> tuple[IntArray, IntArray]:
    """Return the unit of each row, counted from 0 in the order of the blocks, and their blocks."""
    pairs, place = np.unique(np.stack([block, unit]), axis=1, return_inverse=True)
    return place.ravel(), pairs[0]


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
        if total < 2 * MOST_BINS and shapes.sum() <= MOST_UNITS:
            return None
        noise = rng.random((shapes.shape[1],))
        few, fewer = max(total // MOST_BINS, 1), -(-total // FEWEST_BINS)
        tried = itertools.product((False, True), SHARES, (few, fewer))
        for coarse, share, together in tried:
            found = cls._of(shapes, together, share, coarse, noise)
            if found.n_units(shapes) <= MOST_UNITS:
                return found
        # One bin of either sample in every block: all blocks have one shape.
        return found

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
        place = np.empty(block.size, dtype=np.intp)
        place[order] = np.arange(block.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        place //= self.size[block]
        keeps_label = place >= self.bins[side][block]
        place[keeps_label] = 0
        named = np.stack([keeps_label, self.joint[block], place])
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
    every = count_designed(shapes, n_permutations)
    count = n_permutations + 1 if every is None else every
    if count * units.size > MOST_BYTES:
        raise InputError(
            f"n_permutations must be at most {MOST_BYTES // units.size:,} for {units.size:,} units "
            f"(their labels may take {MOST_BYTES / 1e9:g} GB); got {n_permutations:,}"
        )
    true_labels = (np.arange(units.size) < units.n_units[0]).astype(np.uint8)
    labels = np.tile(true_labels, (count, 1))
    places = _places(units)
    if every is not None:
        _enumerate(labels, shapes, places)
        return Permutations(np.packbits(labels, axis=1), exact=True)
    kinds, kind = np.unique(shapes, axis=1, return_inverse=True)
    for which, (k, n) in enumerate(kinds.T.tolist()):
        alike = np.flatnonzero(kind.ravel() == which)
        own = np.array([places[h] for h in alike])
        true = np.broadcast_to(
            (np.arange(k + n) < k).astype(np.uint8), (n_permutations, alike.size, k + n)
        )
        labels[1:, own.ravel()] = rng.permuted(true, axis=2).reshape(n_permutations, -1)
    return Permutations(np.packbits(labels, axis=1), exact=False)


def _places(units: Units) -> list[IntArray]:
    """Return the units of every block whose labels are permuted, those of x first."""
    moved = np.flatnonzero(units.moved)
    order = moved[np.argsort(units.block[moved], kind="stable")]
    return np.split(order, np.cumsum(units.shapes.sum(axis=0))[:-1])


def _enumerate(labels: NDArray[np.uint8], shapes: IntArray, places: list[IntArray]) -> None:
    """Write all permutations: every choice in one block beside every choice in the others."""
    repeats = labels.shape[0]
    number = np.arange(labels.shape[0])
    for (k, n), own in zip(shapes.T.tolist(), places, strict=True):
        chosen = np.array(list(itertools.combinations(range(k + n), k)))
        patterns = np.zeros((chosen.shape[0], k + n), dtype=np.uint8)
        np.put_along_axis(patterns, chosen, 1, axis=1)
        repeats //= patterns.shape[0]
        # The first choice in every block is the true one, as the first of all is.
        labels[:, own] = patterns[number // repeats % patterns.shape[0]]
