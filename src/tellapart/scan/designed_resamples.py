"""Bootstrap resamples that keep to a design.

Means are those of strata with equal weights in both samples: ω_h = n_xh n_yh/(n_xh + n_yh) of block
h, the weights with which one shift in all blocks is known best. Pairs, and other small blocks, are
drawn whole; of large blocks, units of each sample are, without those that keep their labels: these
count in the means, not in their intervals.
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.permutation.designed_bins import DesignedBins

# Units of the smaller sample in a block on average, below which blocks are drawn whole.
FEWEST_UNITS = 5


class DesignedSide:
    """Bootstrap resamples of the units of one sample.

    Parameters
    ----------
    rows, weights : arrays of length G
        What the rows of each unit count for, and the weight of each of them.
    counts : array of shape (resamples, G)
        How often each unit is drawn; more where it stands for units that are not, in its block.
    """

    def __init__(
        self, rows: FloatArray, weights: FloatArray, counts: FloatArray | IntArray
    ) -> None:
        self._all = (weights / (weights @ rows))[np.newaxis]
        drawn = counts * weights
        self._drawn = drawn / np.maximum(drawn @ rows, np.finfo(np.float64).tiny)[:, np.newaxis]

    def mean(self, sums: FloatArray, present: FloatArray | None) -> FloatArray:
        """Return the means over all rows, (1 × F)."""
        assert present is None, "samples with a design have no values missing"
        return np.asarray(self._all @ sums[:-1])

    def means(self, sums: FloatArray, present: FloatArray | None) -> FloatArray:
        """Return the means of the resamples, (resamples × F)."""
        assert present is None, "samples with a design have no values missing"
        return np.asarray(self._drawn @ sums[:-1])


def designed_sides(
    bins: DesignedBins, n_resamples: int, rng: np.random.Generator
) -> tuple[DesignedSide, DesignedSide]:
    """Return resamples of X and of Y, drawn together where blocks are."""
    units = bins.units
    shapes, n_blocks = units.shapes, int(units.block.max()) + 1
    split = [units.n_units[0]]
    blocks, rows = np.split(units.block, split), np.split(units.counts, split)
    moved = np.split(units.moved, split)
    of_blocks = np.stack(
        [np.bincount(b, r, minlength=n_blocks) for b, r in zip(blocks, rows, strict=True)]
    )
    shared = of_blocks[0] * of_blocks[1] / of_blocks.sum(axis=0)
    whole = shapes.min(axis=0).mean() < FEWEST_UNITS
    drawn = rng.multinomial(n_blocks, np.full(n_blocks, 1 / n_blocks), size=n_resamples)
    sides = []
    for side in range(2):
        counts: FloatArray | IntArray = drawn[:, blocks[side]]
        if not whole:
            counts = np.zeros((n_resamples, blocks[side].size))
            for h in np.flatnonzero(shapes[side]):
                own = np.flatnonzero((blocks[side] == h) & moved[side])
                times = rng.multinomial(own.size, np.full(own.size, 1 / own.size), size=n_resamples)
                counts[:, own] = times * (of_blocks[side, h] / rows[side][own].sum())
        weights = (shared / of_blocks[side])[blocks[side]]
        sides.append(DesignedSide(rows[side], weights, counts))
    return sides[0], sides[1]
