"""The largest squares of each permutation, and which pair or triple each belongs to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import BoolArray, IntArray
from tellapart.permutation.bins import Singles
from tellapart.scan.reductions import keep_largest


@dataclass(frozen=True)
class Largest:
    """The largest squares under each permutation, and all squares at the true labels.

    Attributes
    ----------
    values : array (permutations × kept)
        The largest squares, rising. The first permutation is that of the true labels.
    places : array (permutations × kept)
        The pair or triple that each belongs to; −1 for none.
    observed : array
        The squares of every place at the true labels.
    """

    values: Singles
    places: NDArray[np.int32]
    observed: Singles

    @classmethod
    def empty(cls, count: int, most: int, n_places: int) -> Largest:
        """Return room for `most` values of so many places under each of `count` permutations."""
        values = np.zeros((count, most), dtype=np.float32)
        places = np.full((count, most), -1, dtype=np.int32)
        return cls(values, places, np.zeros(n_places, dtype=np.float32))

    def add(self, rows: slice, block: slice, changes: Singles) -> None:
        """Take in the squares of the changes of some permutations, `rows`, and places, `block`."""
        keep_largest(changes, block.start, self.values[rows], self.places[rows])
        if rows.start == 0:
            np.square(changes[0], out=self.observed[block])

    def maximum(self) -> Singles:
        """Return the largest value of each permutation."""
        return self.values[:, -1]

    def strongest(self, most: int) -> IntArray:
        """Return the places of the `most` largest squares at the true labels, falling."""
        places = np.flatnonzero(self.observed > 0)
        if places.size > most:
            order = np.argpartition(-self.observed[places], most - 1)[:most]
            places = places[np.sort(order)]
        return places[np.argsort(-self.observed[places], kind="stable")]


class Remaining:
    """The largest value of each permutation among the sets of columns that are left.

    Where all the values kept of a permutation are gone, the least of them stands for the next one,
    which is no larger.

    Parameters
    ----------
    values : array (permutations × kept)
        The largest values, rising.
    numbers : array (permutations × kept)
        The set of columns that each belongs to, as an index of `gone`.
    """

    def __init__(self, values: Singles, numbers: IntArray) -> None:
        self._values, self._numbers = values, numbers
        self._rows = np.arange(len(values))
        self._at = np.full(len(values), values.shape[1] - 1)
        self.maxima = values[:, -1].copy()

    def leave_out(self, gone: BoolArray) -> bool:
        """Leave out all sets that are gone; return whether any maximum may have changed."""
        first = rows = np.flatnonzero(gone[self._numbers[self._rows, self._at]] & (self._at > 0))
        while rows.size:
            self._at[rows] -= 1
            rows = rows[gone[self._numbers[rows, self._at[rows]]] & (self._at[rows] > 0)]
        self.maxima[first] = self._values[first, self._at[first]]
        return first.size > 0
