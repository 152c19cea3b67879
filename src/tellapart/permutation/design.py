"""Permutations that keep to the design of a study: labels of units, permuted within blocks.

Units (rows, clusters, the members of a pair) of block h number k_h of x and l_h of y. Under H₀
any k_h of its k_h + l_h units may be those of x, so there are Π_h C(k_h + l_h, k_h) permutations,
2ⁿ for n pairs. As with `tellapart.permutation.bins`, many units are made fewer without loss of
validity, by a subgroup of these permutations: units of one sample and block are put at random into
bins that move together, and blocks of the same shape (k, l), such as pairs, are permuted alike.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import IntArray
from tellapart.data.design import Design
from tellapart.errors import InputError
from tellapart.permutation.bins import LARGER_SHARE, MOST_BINS
from tellapart.permutation.labels import MOST_BYTES, Permutations
from tellapart.permutation.units import Units

MOST_UNITS = 4_000
"""Units of both samples, where blocks allow so few."""
SHARES = (LARGER_SHARE, 5, 2, 1)
"""Units of the larger sample in a block, in multiples of the smaller: the first that suffices."""


def units_of(design: Design, rng: np.random.Generator) -> Units:
    """Return the units of a design, put together where they are many."""
    blocks, block_of = np.unique(np.concatenate(design.blocks), return_inverse=True)
    sides = np.split(block_of, [design.blocks[0].size])
    found = [_number(block, unit) for block, unit in zip(sides, design.units, strict=True)]
    (unit_x, block_x), (unit_y, block_y) = found
    shapes = np.stack([np.bincount(side, minlength=blocks.size) for side in (block_x, block_y)])
    together = max(int(shapes.min(axis=0).sum()) // MOST_BINS, 1)
    if together > 1:
        for share in SHARES:
            joined = _Joined.of(shapes, together, share, rng)
            (to_x, block_of_x), (to_y, block_of_y) = (
                joined.units(side, block, rng) for side, block in enumerate((block_x, block_y))
            )
            if block_of_x.size + block_of_y.size <= MOST_UNITS:
                break
        unit_x, unit_y, block_x, block_y = to_x[unit_x], to_y[unit_y], block_of_x, block_of_y
    unit_y = unit_y + block_x.size
    size = block_x.size + block_y.size
    return Units(
        of_rows=(unit_x, unit_y),
        rows=np.bincount(np.concatenate([unit_x, unit_y]), minlength=size),
        block=np.concatenate([block_x, block_y]),
        n_units=(int(block_x.size), int(block_y.size)),
        together=together,
    )


def _number(block: IntArray, unit: IntArray) -> tuple[IntArray, IntArray]:
    """Return the unit of each row, counted from 0 in the order of the blocks, and their blocks."""
    pairs, place = np.unique(np.stack([block, unit]), axis=1, return_inverse=True)
    return place.ravel(), pairs[0]


@dataclass(frozen=True, eq=False)
class _Joined:
    """Blocks of many units with fewer, and small blocks of one shape permuted alike.

    Attributes
    ----------
    shapes : array of shape (2, H)
        The units that each block has after its own are put into bins.
    joint : array of length H
        The block that each becomes part of.
    """

    shapes: IntArray
    joint: IntArray

    @classmethod
    def of(cls, shapes: IntArray, together: int, share: int, rng: np.random.Generator) -> _Joined:
        smaller = shapes.min(axis=0)
        large = smaller >= 2 * together
        bins = np.where(large, smaller // together, smaller)
        fewer = np.minimum(np.where(large, shapes // together, shapes), share * bins)
        # Blocks of the same shape, in random order, so many at a time.
        _, kind = np.unique(fewer, axis=1, return_inverse=True)
        kind = kind.ravel()
        order = np.lexsort((rng.random(kind.size), large, kind))
        ordered = np.stack([kind, large])[:, order]
        new = np.any(ordered[:, 1:] != ordered[:, :-1], axis=0)
        start = np.flatnonzero(np.concatenate([[True], new]))
        within = np.arange(order.size) - np.repeat(start, np.diff(start, append=order.size))
        first = np.where(large[order], True, within % together == 0)
        joint = np.empty(order.size, dtype=np.intp)
        joint[order] = np.cumsum(first) - 1
        return cls(fewer, joint)

    def units(
        self, side: int, block: IntArray, rng: np.random.Generator
    ) -> tuple[IntArray, IntArray]:
        """Return where each unit of a sample goes, and the blocks of what there is then."""
        # A random place within the block, dealt out to its bins in turn.
        order = np.lexsort((rng.random(block.size), block))
        sizes = np.bincount(block, minlength=self.joint.size)
        place = np.empty(block.size, dtype=np.intp)
        place[order] = np.arange(block.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        place %= self.shapes[side][block]
        pairs, to = np.unique(np.stack([self.joint[block], place]), axis=1, return_inverse=True)
        return to.ravel(), pairs[0]


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
    return (2 if symmetric and np.array_equal(shapes[0], shapes[1]) else 1) / count


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
    labels = np.empty((count, units.size), dtype=np.uint8)
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
    labels[0] = np.arange(units.size) < units.n_units[0]
    return Permutations(np.packbits(labels, axis=1), exact=False)


def _places(units: Units) -> list[IntArray]:
    """Return the units of every block, those of x first."""
    order = np.argsort(units.block, kind="stable")
    return np.split(order, np.cumsum(np.bincount(units.block))[:-1])


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
