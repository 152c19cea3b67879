"""One order of rows, columns and samples, whatever order they came in: given by what they hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.data.row_draws import GAMMA, ONE, mix
from tellapart.data.samples import Samples, map_columns


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
            word = mix(rows[i] + np.uint64(ranks[s, i]) * GAMMA)
            if i < n_x:
                first += word
            else:
                second += word
        keys[s] = mix(first + ONE) + mix(second + ONE)


@compiled
def _key_rows(ranks, keys, rows):  # type: ignore[no-untyped-def]
    rows[:] = np.uint64(0)
    for s in range(ranks.shape[0]):
        for i in range(ranks.shape[1]):
            rows[i] += mix(keys[s] + np.uint64(ranks[s, i]) * GAMMA)
