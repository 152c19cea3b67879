"""Rows drawn at random whatever the chunks: those with the smallest marks.

The mark of a row is 64 bits that depend on the seed, the sample (0 or 1) and the row's number:

    mark = μ(key(seed, sample) + (row + 1) γ)   (mod 2⁶⁴)

with the bijection μ and the odd number γ of SplitMix64, so that no two rows of a sample share a
mark. The k rows with the smallest marks are a uniform draw without replacement, of one sample or
of both together, and can be merged from the k smallest of every chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled

Marks = NDArray[np.uint64]

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)
_ONE = np.uint64(1)
_WORD = (1 << 64) - 1
_LARGEST = np.uint64(_WORD)


@compiled
def mix(word):  # type: ignore[no-untyped-def]
    """Return a word of 64 bits with its bits spread: the bijection of SplitMix64."""
    word = (word ^ (word >> _S30)) * _FIRST
    word = (word ^ (word >> _S27)) * _SECOND
    return word ^ (word >> _S31)


def key_of(seed: int, *places: int) -> np.uint64:
    """Return a key of 64 bits for a non-negative seed, a sample, and whatever else it is for."""
    key = 0
    for word in (seed & _WORD, seed >> 64 & _WORD, *places):
        key = int(mix(np.uint64((key + word + int(_GAMMA)) & _WORD)))
    return np.uint64(key)


def marks(seed: int, sample: int, first_row: int, count: int) -> Marks:
    """Return the marks of `count` rows from `first_row` on.

    Examples
    --------
    >>> later = marks(seed=1, sample=0, first_row=3, count=2)
    >>> bool((marks(1, 0, 0, 5)[3:] == later).all())
    True
    """
    return np.asarray(_marks(key_of(seed, sample), np.uint64(first_row), count))


@compiled
def _marks(key, first_row, count):  # type: ignore[no-untyped-def]
    result = np.empty(count, np.uint64)
    for place in range(count):
        result[place] = mix(key + (first_row + np.uint64(place) + _ONE) * _GAMMA)
    return result


@dataclass
class Sketch:
    """The rows of one sample with the smallest marks so far, `most` at least once there are more.

    Attributes
    ----------
    most : int
        How many rows are wanted.
    marks, rows : arrays of length k
        Marks and numbers of the rows.
    values : array of shape (k, D)
        Their values.
    """

    most: int
    marks: Marks
    rows: IntArray
    values: FloatArray
    # Rows with greater marks are not among the wanted ones any more.
    limit: np.uint64 = _LARGEST
    # Rows that came since the smallest were looked for: after every chunk it would take too long.
    waiting: list[tuple[Marks, IntArray, FloatArray]] = field(default_factory=list)

    @classmethod
    def empty(cls, most: int, n_columns: int) -> Sketch:
        """Return a sketch of no rows."""
        return cls(
            most, np.empty(0, np.uint64), np.empty(0, np.intp), np.empty((0, n_columns), order="F")
        )

    def add(self, first_row: int, marks: Marks, columns: Sequence[FloatArray]) -> None:
        """Add consecutive rows, given by their columns."""
        near = np.flatnonzero(marks <= self.limit)
        if near.size:
            values = np.empty((near.size, len(columns)), order="F")
            for s, column in enumerate(columns):
                values[:, s] = column[near]
            self._join(marks[near], near + first_row, values)

    def merge(self, other: Sketch) -> None:
        """Add the rows of another sketch of the same sample, which is not changed."""
        for part in ((other.marks, other.rows, other.values), *other.waiting):
            self._join(*part)

    def smallest(self) -> Sketch:
        """Return the wanted rows and no more, in the order of their numbers, as a copy."""
        marks, rows, values = self._smallest()
        order = np.argsort(rows)
        return Sketch(self.most, marks[order], rows[order], np.asfortranarray(values[order]))

    def _join(self, marks: Marks, rows: IntArray, values: FloatArray) -> None:
        self.waiting.append((marks, rows, values))
        n_held = self.marks.size + sum(part[0].size for part in self.waiting)
        if n_held > self.most + self.most // 2:
            self.marks, self.rows, self.values = self._smallest()
            self.waiting = []
            self.limit = self.marks.max()

    def _smallest(self) -> tuple[Marks, IntArray, FloatArray]:
        """Return the wanted rows among those held and those that wait, in any order."""
        parts = [(self.marks, self.rows, self.values), *self.waiting]
        marks, rows, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        if marks.size <= self.most:
            return marks, rows, values
        kept = np.argpartition(marks, self.most - 1)[: self.most]
        return marks[kept], rows[kept], values[kept]


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows drawn from both samples together, in the order of sample and row number.

    Attributes
    ----------
    values : array of shape (k, D)
        The rows.
    sample : int array of length k
        0 for rows of X, 1 for rows of Y.
    rows : int array of length k
        Their numbers in their samples.
    """

    values: FloatArray
    sample: IntArray
    rows: IntArray


def draw_pooled(x: Sketch, y: Sketch, most: int) -> DrawnRows:
    """Return the `most` rows with the smallest marks of both samples together."""
    marks = np.concatenate((x.marks, y.marks))
    rows = np.concatenate((x.rows, y.rows))
    sample = np.repeat((0, 1), (x.rows.size, y.rows.size)).astype(np.intp)
    kept = np.lexsort((rows, sample, marks))[:most]
    kept = kept[np.lexsort((rows[kept], sample[kept]))]
    values = np.concatenate((x.values, y.values))
    return DrawnRows(np.asfortranarray(values[kept]), sample[kept], rows[kept])


def drawn_places(seed: int, sample: int, n_rows: int, most: int) -> tuple[IntArray, Marks]:
    """Return numbers and marks of the `most` rows with the smallest marks, by row number."""
    every = marks(seed, sample, 0, n_rows)
    if n_rows > most:
        places = np.sort(np.argpartition(every, most - 1)[:most])
        return places, every[places]
    return np.arange(n_rows), every
