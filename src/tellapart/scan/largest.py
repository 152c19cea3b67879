"""The largest squares of each permutation, and which pair or triple each belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import BoolArray
from tellapart.permutation.bins import Singles
from tellapart.scan.reductions import keep_largest


@dataclass(frozen=True)
class Largest:
    """The largest squares under each permutation, rising, and the places they were found at."""

    values: Singles
    places: NDArray[np.int32]

    @classmethod
    def empty(cls, count: int, most: int) -> Largest:
        """Return room for `most` values under each of `count` permutations."""
        values = np.zeros((count, most), dtype=np.float32)
        return cls(values, np.full((count, most), -1, dtype=np.int32))

    def add(self, rows: slice, block: slice, changes: Singles) -> None:
        """Take in the squares of the changes of some permutations, `rows`, and places, `block`."""
        keep_largest(changes, block.start, self.values[rows], self.places[rows])

    def maximum(self) -> Singles:
        """Return the largest value of each permutation."""
        return self.values[:, -1]

    def maximum_without(self, gone: BoolArray) -> Singles:
        """Return the largest value under each permutation that is not gone.

        Where all the values kept are, the least of those kept stands for the next one, which is
        no larger.
        """
        best = np.where(gone, np.float32(-1), self.values).max(axis=1)
        return np.asarray(np.where(best < 0, self.values[:, 0], best))
