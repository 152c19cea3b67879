"""Where rows and columns of two samples stand, and which sample comes first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import IntArray


@dataclass(frozen=True)
class RowOrder:
    """An order that the content gives: see `tellapart.data.canonical_order`.

    Attributes
    ----------
    of_x, of_y : array
        Row numbers of X and of Y, in order.
    columns : array of length D
        Column numbers, in order.
    swapped : bool
        Whether Y comes first.
    digest : pair of int
        64 bits each of the rows of the first and of the second sample, whatever their order.
    """

    of_x: IntArray
    of_y: IntArray
    columns: IntArray
    swapped: bool
    digest: tuple[int, int]

    def generator(self, rng: np.random.Generator) -> np.random.Generator:
        """Return a generator with the content in its seed, whatever order the rows came in.

        With the seed alone, draws from rows that are sorted by content would favour the same
        contents in every pair of samples: in a table of zeros and ones a seed would have more ones
        in the first part of every split, by as much as chance allows once, and its permutations
        would have one and the same error in every p-value. With the content in the seed every
        pair of samples has draws of its own, as random as the hash is.
        """
        return np.random.default_rng([int(rng.integers(2**63)), *self.digest])

    def shuffled(self, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Return the row numbers of X and of Y in random orders that do not depend on theirs.

        The content is part of the seed, so that a split is independent of what the rows hold.
        """
        own = self.generator(rng)
        if self.swapped:
            of_y, of_x = own.permutation(self.of_y), own.permutation(self.of_x)
        else:
            of_x, of_y = own.permutation(self.of_x), own.permutation(self.of_y)
        return of_x, of_y
