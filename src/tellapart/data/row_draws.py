"""Rows drawn at random and shuffled, wherever they are held: by numbers that nobody stores.

The mark of a row is 64 bits that depend on the seed, the sample (0 or 1) and the row's number:

    mark = μ(key(seed, sample) + (row + 1) γ)   (mod 2⁶⁴)

with the bijection μ and the odd number γ of SplitMix64, so that no two rows of a sample share a
mark. The k rows with the smallest marks are a uniform draw without replacement, of one sample or
of both together, and can be merged from the k smallest of every chunk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.compiling import compiled
from tellapart.data.columns import Labels
from tellapart.data.row_stores import A, Fold, RowsDone, RowStore
from tellapart.errors import InputError

if TYPE_CHECKING:
    from tellapart.data.samples import Samples

Marks = NDArray[np.uint64]

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)
ONE = np.uint64(1)
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
        key = int(mix(np.uint64((key + word + int(GAMMA)) & _WORD)))
    return np.uint64(key)


def marks(seed: int, sample: int, first_row: int, count: int) -> Marks:
    """Return the marks of `count` rows from `first_row` on.

    Examples
    --------
    >>> later = marks(seed=1, sample=0, first_row=3, count=2)
    >>> bool((marks(1, 0, 0, 5)[3:] == later).all())
    True
    """
    result = np.empty(count, dtype=np.uint64)
    _marks(key_of(seed, sample), np.uint64(first_row), result)
    return result


@compiled
def _marks(key, first_row, result):  # type: ignore[no-untyped-def]
    for place in range(result.size):
        result[place] = mix(key + (first_row + np.uint64(place) + ONE) * GAMMA)


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

    @classmethod
    def of(cls, store: RowStore, seed: int, sample: int, most: int) -> Sketch:
        """Return the sketch of all rows of a store."""
        rows, marks = drawn_places(seed, sample, store.shape[0], most)
        return cls(most, marks, rows, store.rows(rows))

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


RowNumbers = tuple[IntArray, IntArray]
"""Numbers of some rows of X and of some rows of Y."""


def draw_pooled(x: Sketch, y: Sketch, most: int) -> tuple[FloatArray, RowNumbers]:
    """Return the `most` rows with the smallest marks of both samples together, and their numbers.

    Rows of X come first, by row number.
    """
    marks = np.concatenate((x.marks, y.marks))
    rows = np.concatenate((x.rows, y.rows))
    sample = np.repeat((0, 1), (x.rows.size, y.rows.size)).astype(np.intp)
    kept = np.lexsort((rows, sample, marks))[:most]
    kept = kept[np.lexsort((rows[kept], sample[kept]))]
    values = np.concatenate((x.values, y.values))
    of_x = kept[sample[kept] == 0]
    of_y = kept[of_x.size :]
    return np.asfortranarray(values[kept]), (rows[of_x], rows[of_y])


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


# All rows, wherever they are held, and what was drawn of them.


@dataclass(frozen=True, eq=False)
class AllRows:
    """All rows of two samples, to be summed over, and some of them drawn from both together.

    Attributes
    ----------
    x, y : RowStore
        All rows and columns as they were read, NaN where a value is missing.
    pooled : array of shape (k, D)
        Rows drawn from both samples together, at most 65,536, those of X first.
    pooled_rows : pair of arrays
        Their numbers in X and in Y.
    least, greatest : arrays
        The smallest and the largest value in both samples of each column that is compared; of a
        categorical one the first and the last code.
    held_rows : pair of arrays or None
        Numbers of the rows that are held in memory; None where all are.
    """

    x: RowStore
    y: RowStore
    pooled: FloatArray
    pooled_rows: RowNumbers
    least: FloatArray
    greatest: FloatArray
    held_rows: RowNumbers | None = None

    @classmethod
    def of(
        cls,
        stores: Sequence[RowStore],
        sketches: Sequence[Sketch],
        extremes: Sequence[FloatArray],
        labels: Labels,
        held_rows: RowNumbers | None = None,
    ) -> AllRows:
        """Return all rows, given what was drawn of each sample and the range of its columns."""
        x, y = sketches
        pooled = draw_pooled(x, y, max(x.most, y.most))
        return cls(stores[0], stores[1], *pooled, *_ranges(extremes, labels), held_rows)

    @property
    def n_rows(self) -> tuple[int, int]:
        """Rows of X and of Y."""
        return self.x.shape[0], self.y.shape[0]


def _ranges(extremes: Sequence[FloatArray], labels: Labels) -> tuple[FloatArray, FloatArray]:
    """Return the smallest and the largest value of each column in both samples."""
    least = np.minimum(extremes[0][0], extremes[1][0])
    greatest = np.maximum(extremes[0][1], extremes[1][1])
    for s, names_of_levels in enumerate(labels):
        if names_of_levels is not None:
            least[s], greatest[s] = 0.0, len(names_of_levels) - 1.0
    return least, greatest


def most_pooled(n_columns: int) -> int:
    """Return how many rows to draw from both samples together."""
    budget = current_budget()
    of_width = max(budget.drawn_bytes // (8 * n_columns), budget.fewest_drawn_rows)
    return min(budget.pooled_rows, of_width)


def most_drawn(n_columns: int) -> int:
    """Return how many rows of each sample to draw for what needs them in memory."""
    return min(current_budget().drawn_rows, most_pooled(n_columns))


# A random part of each sample held out, whatever the chunks: a row's number decides its part.
#
# The rows of a sample have a random order that nobody stores (`tellapart.data.row_order`), and
# the first ones in it are held out. Their places in that order number them at random, which
# puts them into bins.


@dataclass(frozen=True)
class Holdout:
    """Which rows of two samples are held out, and which train.

    Attributes
    ----------
    seed : int
        Decides the parts.
    n_rows, n_held_out : pairs of int
        Rows of X and of Y: all of them, and those held out.

    Examples
    --------
    >>> holdout = Holdout(seed=0, n_rows=(6, 4), n_held_out=(3, 2))
    >>> sorted(holdout.places(0, first_row=0, count=6).tolist())
    [0, 1, 2, 3, 4, 5]
    >>> int(holdout.held_out(1, np.arange(4)).sum())
    2
    """

    seed: int
    n_rows: tuple[int, int]
    n_held_out: tuple[int, int]

    @classmethod
    def of(cls, samples: Samples, test_size: float, seed: int) -> Holdout:
        """Hold out a share of the rows of each sample."""
        of_x, of_y = (
            count_held_out(n, test_size, name)
            for n, name in zip(samples.n_read, ("X", "Y"), strict=True)
        )
        return cls(seed, samples.n_read, (of_x, of_y))

    def places(self, sample: int, first_row: int, count: int) -> IntArray:
        """Return the places of consecutive rows in the random order of their sample.

        Those below `n_held_out` are held out.
        """
        return shuffled(self.seed, sample, self.n_rows[sample], first_row, count)

    def held_out(self, sample: int, rows: IntArray) -> BoolArray:
        """Say which of some rows, given by their numbers, are held out."""
        places = places_of(self.seed, sample, self.n_rows[sample], rows)
        return np.asarray(places < self.n_held_out[sample])

    def part(self, samples: Samples, *, held_out: bool) -> Samples:
        """Return the rows held out, or the others, of samples in chunks.

        Of the rows drawn from both parts, those of the part stay.
        """
        rows = samples.all_rows
        assert rows is not None
        assert rows.held_rows is not None
        x, y = (
            PartOfRows(store, self, sample, held_out) for sample, store in enumerate(samples.stores)
        )
        held = self._of_part(rows.held_rows, held_out)
        pooled = self._of_part(rows.pooled_rows, held_out)
        n_pooled_x = rows.pooled_rows[0].size
        values = rows.pooled[np.concatenate([pooled[0], n_pooled_x + pooled[1]])]
        part = replace(
            rows,
            x=x,
            y=y,
            pooled=np.asfortranarray(values),
            pooled_rows=_some(rows.pooled_rows, pooled),
            held_rows=_some(rows.held_rows, held),
        )
        return replace(samples.held.rows_as_read(*held), all_rows=part)

    def _of_part(self, rows: RowNumbers, held_out: bool) -> RowNumbers:
        """Return the places of those of some rows that are in a part."""
        of_x, of_y = (
            np.flatnonzero(self.held_out(sample, numbers) == held_out)
            for sample, numbers in enumerate(rows)
        )
        return of_x, of_y


def _some(rows: RowNumbers, places: RowNumbers) -> RowNumbers:
    return rows[0][places[0]], rows[1][places[1]]


@dataclass(frozen=True, eq=False)
class PartOfRows(RowStore):
    """The rows of one sample that are held out, or the others.

    Rows keep the numbers they have among all rows, so that those of a block rise but may leave
    some out.
    """

    whole: RowStore
    holdout: Holdout
    sample: int
    held_out: bool

    @property
    def shape(self) -> tuple[int, int]:  # type: ignore[override]
        """Rows and columns."""
        out = self.holdout.n_held_out[self.sample]
        n_rows, n_columns = self.whole.shape
        return (out if self.held_out else n_rows - out), n_columns

    @property
    def side_by_side(self) -> bool:  # type: ignore[override]
        """Whether several blocks are summed at once."""
        return self.whole.side_by_side

    def fold(self, fold: Fold[A], step: int, progress: RowsDone | None = None) -> A:
        """Return the sum over the rows of the part, in blocks of `step` rows of both parts."""
        of_part = _OfPart(fold, self.holdout, self.sample, self.held_out)
        if progress is None:
            return self.whole.fold(of_part, step)
        share = self.shape[0] / self.whole.shape[0]
        return self.whole.fold(of_part, step, lambda rows: progress(int(share * rows)))

    def rows(self, index: IntArray) -> FloatArray:
        """Return some rows, by the numbers they have among all."""
        return self.whole.rows(index)


@dataclass(frozen=True, eq=False)
class _OfPart(Generic[A]):
    """A fold that sees the rows of one part only."""

    fold: Fold[A]
    holdout: Holdout
    sample: int
    held_out: bool

    def start(self) -> A:
        return self.fold.start()

    def add(self, held: A, first_row: int, values: FloatArray) -> A:
        places = self.holdout.places(self.sample, first_row, values.shape[0])
        inside = (places < self.holdout.n_held_out[self.sample]) == self.held_out
        return self.fold.add(held, first_row, np.asfortranarray(values[inside]))

    def merge(self, left: A, right: A) -> A:
        return self.fold.merge(left, right)


def count_held_out(n_rows: int, test_size: float, name: str) -> int:
    """Return how many rows of a sample to hold out, such that either part has two at least."""
    if n_rows < 4:
        raise InputError(
            f"{name} must have at least 4 rows to be split into two parts of at least 2 rows; "
            f"got {n_rows}"
        )
    return min(max(round(n_rows * test_size), 2), n_rows - 2)
