"""Rows drawn at random whatever the chunks: those with the smallest marks.

The mark of a row is 64 bits that depend on the seed, the sample (0 or 1) and the row's number:

    mark = μ(key(seed, sample) + (row + 1) γ)   (mod 2⁶⁴)

with the bijection μ and the odd number γ of SplitMix64, so that no two rows of a sample share a
mark. The k rows with the smallest marks are a uniform draw without replacement, of one sample or
of both together, and can be merged from the k smallest of every chunk.
"""

from __future__ import annotations

import math
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


# A random order of n rows that nobody has to store: a Feistel network that walks cycles.
#
# A row number below a·b ≥ n, with a ≈ b ≈ √n, is a pair (l, r) with l < a and r < b. Each round
# adds a keyed hash of one half to the other,
#
#     l ← l + F(r) mod a,   r ← r + F(l) mod b,
#
# which can be undone, so the rounds are a bijection of 0 … ab − 1. Where it leads out of 0 … n − 1
# it is applied again until it leads back, which makes it a bijection of 0 … n − 1.


N_ROUNDS = 6
# Keys of the rounds must differ from those of the marks.
_PURPOSE = 0x5348554646

_S32, _S29 = np.uint64(32), np.uint64(29)
_SHUFFLE_FIRST = np.uint64(0xD6E8FEB86659FD93)
_SHUFFLE_SECOND = np.uint64(0xCA5A826395121157)


def shuffled(seed: int, sample: int, n_rows: int, first_row: int, count: int) -> IntArray:
    """Return the places of `count` rows, from `first_row` on, in a random order of all `n_rows`.

    Examples
    --------
    >>> sorted(shuffled(seed=0, sample=1, n_rows=5, first_row=0, count=5).tolist())
    [0, 1, 2, 3, 4]
    """
    return np.asarray(_shuffled(*_rounds_of(seed, sample, n_rows), n_rows, first_row, count))


def places_of(seed: int, sample: int, n_rows: int, rows: IntArray) -> IntArray:
    """Return the places of any rows, given by their numbers, in the same order.

    Examples
    --------
    >>> every = shuffled(seed=0, sample=1, n_rows=50, first_row=0, count=50)
    >>> rows = np.array([41, 7])
    >>> bool((places_of(0, 1, 50, rows) == every[rows]).all())
    True
    """
    return np.asarray(_places(*_rounds_of(seed, sample, n_rows), n_rows, rows))


def _rounds_of(seed: int, sample: int, n_rows: int) -> tuple[Marks, np.uint64, np.uint64]:
    """Return the keys of the rounds, and the numbers of values of both halves, a and b."""
    keys = np.array([key_of(seed, sample, _PURPOSE + r) for r in range(N_ROUNDS)])
    a = math.isqrt(max(n_rows - 1, 0)) + 1
    return keys, np.uint64(a), np.uint64(-(-n_rows // a))


@compiled
def _hash(key, word, size):  # type: ignore[no-untyped-def]
    """Return a number below `size`, which has at most 32 bits."""
    word = word + key
    word = (word ^ (word >> _S32)) * _SHUFFLE_FIRST
    word = (word ^ (word >> _S29)) * _SHUFFLE_SECOND
    return ((word >> _S32) * size) >> _S32


@compiled
def _rounds(keys, a, b, left, right):  # type: ignore[no-untyped-def]
    for r in range(0, N_ROUNDS, 2):
        left += _hash(keys[r], right, a)
        left = left - a if left >= a else left
        right += _hash(keys[r + 1], left, b)
        right = right - b if right >= b else right
    return left * b + right


@compiled
def _places(keys, a, b, n_rows, rows):  # type: ignore[no-untyped-def]
    n = np.uint64(n_rows)
    result = np.empty(rows.shape[0], np.int64)
    for place in range(rows.shape[0]):
        word = np.uint64(rows[place])
        while True:
            word = np.uint64(_rounds(keys, a, b, word // b, word % b))
            if word < n:
                break
        result[place] = np.int64(word)
    return result


@compiled
def _shuffled(keys, a, b, n_rows, first_row, count):  # type: ignore[no-untyped-def]
    n = np.uint64(n_rows)
    result = np.empty(count, np.int64)
    left = np.uint64(first_row) // b
    right = np.uint64(first_row) - left * b
    done = 0
    # Rows that share `left` in a loop of their own: the compiler takes several of them at once,
    # which makes it six times faster.
    while done < count:
        here = min(count - done, np.int64(b - right))
        for place in range(here):
            word = _rounds(keys, a, b, left, right + np.uint64(place))
            result[done + place] = np.int64(word)
        done += here
        left, right = left + np.uint64(1), np.uint64(0)
    for place in range(count):
        word = np.uint64(result[place])
        while word >= n:
            word = _rounds(keys, a, b, word // b, word % b)
        result[place] = np.int64(word)
    return result
