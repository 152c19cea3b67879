"""Orders of rows: drawn at random, shuffled, or given by what the rows hold.

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

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.data.samples import Samples, map_columns

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


# One order of rows, columns and samples, whatever order they came in: given by what they hold.


@dataclass(frozen=True)
class RowOrder:
    """An order that the content gives; see `canonical_order`.

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
        generator = self.generator(rng)
        if self.swapped:
            of_y, of_x = generator.permutation(self.of_y), generator.permutation(self.of_x)
        else:
            of_x, of_y = generator.permutation(self.of_x), generator.permutation(self.of_y)
        return of_x, of_y


MOST_ENTRIES = 20_000_000
"""Numbers in both samples up to which they are sorted, about 70 ns each, for a search…"""
MOST_SORTED = 200_000
"""…and where the rest of the work is quick: sorting more would take a good part of its time."""
# Digits of a column's mean within its range: beyond that is rounding.
_DIGITS = 9


def canonical_order(
    samples: Samples, n_jobs: int = 1, most_entries: int = MOST_ENTRIES
) -> RowOrder | None:
    """Return the order that the content gives; None where it would take long, or for a design.

    What is drawn at random (splits that tune, rows to search on, random starts) is drawn by number,
    so it would change with the order of the table. Numbers are given here by content: rows are
    sorted by a key of what they hold, and so are columns, and the sample with fewer rows comes
    first. With r_is ≥ 1 the dense rank of value i of column s among the pooled rows and μ the
    mixing of SplitMix64,

        κ_s = Μ(Σ_{i∈X} μ(r_is), Σ_{i∈Y} μ(r_is))        keys of columns, by their own values,
        ρ_i = Σ_s μ(κ_s + γ r_is)                         keys of rows,
        κ_s ← Μ(Σ_{i∈X} μ(ρ_i + γ r_is), Σ_{i∈Y} …)       keys of columns, by values and rows,

    and ρ once more, with Μ symmetric: Μ(u, v) = μ(u) + μ(v). All sums are of integers mod 2⁶⁴,
    which take any order. Ranks are the same after a column is multiplied by a positive number or
    shifted, as long as no two values become one.

    Rows with one key are the same row. Columns with one key have the same ranks in all rows: how
    the values lie within their range tells them apart, and names decide between copies.

    Examples
    --------
    >>> x, y = np.array([[0.0, 5.0], [2.0, 1.0], [7.0, 3.0]]), np.array([[1.0, 4.0], [3.0, 2.0]])
    >>> names, kinds = ("u", "v"), ("numeric", "numeric")
    >>> one = Samples(x, y, names, kinds)
    >>> other = Samples(y[::-1] + 10, x[[2, 0, 1]] + 10, names, kinds)
    >>> first, second = by_content(one), by_content(other)
    >>> bool((first.x + 10 == second.x).all() and (first.y + 10 == second.y).all())
    True
    """
    n_x, n_y, n_columns = samples.n_x, samples.n_y, samples.n_columns
    if samples.design is not None or (n_x + n_y) * n_columns > most_entries:
        return None
    ranks, middles = _ranks(samples, n_jobs)
    keys = np.empty(n_columns, np.uint64)
    rows = np.zeros(n_x + n_y, np.uint64)
    for _ in range(2):
        _key_columns(ranks, n_x, rows, keys)
        _key_rows(ranks, keys, rows)
    columns = sorted(range(n_columns), key=lambda s: (keys[s], middles[s], samples.names[s]))
    sums = int(_sum_mixed(rows[:n_x])), int(_sum_mixed(rows[n_x:]))
    swapped = (n_x, sums[0]) > (n_y, sums[1])
    return RowOrder(
        of_x=np.argsort(rows[:n_x], kind="stable"),
        of_y=np.argsort(rows[n_x:], kind="stable"),
        columns=np.array(columns, dtype=np.intp),
        swapped=swapped,
        digest=(sums[1], sums[0]) if swapped else sums,
    )


def in_order(samples: Samples, order: RowOrder) -> Samples:
    """Return the samples with their rows in order, the first sample first.

    What was read of missing values is left out: drawn rows are used with their values only.
    """
    held = replace(samples, as_read=None).rows(order.of_x, order.of_y)
    if not order.swapped:
        return held
    gone = held.dropped_rows
    return replace(held, x=held.y, y=held.x, dropped_rows=(gone[1], gone[0]))


def by_content(samples: Samples, most_entries: int = MOST_SORTED) -> Samples:
    """Return the samples with their rows in the canonical order; as they are if they have none."""
    order = canonical_order(samples, most_entries=most_entries)
    return samples if order is None else in_order(samples, order)


def drawn_by_content(
    samples: Samples, rng: np.random.Generator
) -> tuple[Samples, np.random.Generator]:
    """Return rows in the canonical order and a generator to permute them by: see `RowOrder`."""
    order = canonical_order(samples, most_entries=MOST_SORTED)
    return (samples, rng) if order is None else (in_order(samples, order), order.generator(rng))


def split_by_content(
    samples: Samples, test_size: float, rng: np.random.Generator
) -> tuple[Samples, Samples]:
    """Split each sample at random, by what the rows hold where there are few enough to sort."""
    return samples.split(test_size, rng, canonical_order(samples, most_entries=MOST_SORTED))


def _ranks(samples: Samples, n_jobs: int) -> tuple[NDArray[np.uint32], FloatArray]:
    """Return the dense ranks of every column, from 1, and where its mean lies in its range."""

    def of_column(_: int, x: FloatArray, y: FloatArray) -> tuple[NDArray[np.uint32], float]:
        values, places, counts = np.unique(
            np.concatenate([x, y]), return_inverse=True, return_counts=True
        )
        # Halves: the range of finite numbers may not be one.
        low, half_range = values[0] / 2, values[-1] / 2 - values[0] / 2
        middle = 0.0
        if half_range > 0:
            middle = float(counts @ ((values / 2 - low) / half_range)) / places.size
        return (places + 1).astype(np.uint32), round(middle, _DIGITS)

    every = np.arange(samples.n_columns)
    ranks, middles = zip(*map_columns(of_column, samples, every, n_jobs), strict=True)
    return np.array(ranks), np.array(middles)


@compiled
def _sum_mixed(keys):  # type: ignore[no-untyped-def]
    total = np.uint64(0)
    for i in range(keys.shape[0]):
        total += mix(keys[i])
    return total


@compiled
def _key_columns(ranks, n_x, rows, keys):  # type: ignore[no-untyped-def]
    for s in range(ranks.shape[0]):
        first, second = np.uint64(0), np.uint64(0)
        for i in range(ranks.shape[1]):
            word = mix(rows[i] + np.uint64(ranks[s, i]) * _GAMMA)
            if i < n_x:
                first += word
            else:
                second += word
        keys[s] = mix(first + _ONE) + mix(second + _ONE)


@compiled
def _key_rows(ranks, keys, rows):  # type: ignore[no-untyped-def]
    rows[:] = np.uint64(0)
    for s in range(ranks.shape[0]):
        for i in range(ranks.shape[1]):
            rows[i] += mix(keys[s] + np.uint64(ranks[s, i]) * _GAMMA)
