"""Bins of rows by a keyed shuffle: which bin a row belongs to follows from its number alone.

As in `tellapart.permutation.labels` labels are permuted among bins of b rows. Here no list of the
rows of each bin is kept: a row's place in a random order of its sample is computed from the seed,
the sample and the row's number, so that whoever holds the row knows its bin.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import IntArray, Singles
from tellapart.compiling import compiled
from tellapart.data.drawn_rows import shuffled
from tellapart.permutation.labels import LARGER_SHARE, Permutations, draw_permutations, rows_per_bin

# Sums over the bins of the rarer label: all that a permutation needs where one sample is small.
#
# The sum over the other sample is the total less that. With a share s of the bins in the rarer
# sample that is s·G additions a permutation where a product with the labels takes G.


LARGEST_SHARE = 0.25
"""Above this share of the bins a product with the labels is as fast."""
# What of the features is held together, so that a core keeps it at hand.
BLOCK_BYTES = 1 << 20
NARROWEST, WIDEST = 32, 256


@dataclass(frozen=True, eq=False)
class Fewer:
    """Which bins carry the rarer label under every permutation.

    Attributes
    ----------
    starts, index : arrays
        Bins index[starts[k]], …, index[starts[k + 1] − 1] carry it under permutation k.
    of_x : bool
        Whether that label is x.
    """

    starts: IntArray
    index: NDArray[np.int32]
    of_x: bool

    @classmethod
    def of(cls, labels: Singles) -> Fewer | None:
        """Return the bins by 0/1 labels (permutations × bins); None where neither label is rare.

        >>> found = Fewer.of(np.eye(5, dtype=np.float32)[:2])
        >>> found.starts.tolist(), found.index.tolist(), found.of_x
        ([0, 1, 2], [0, 1], True)
        """
        share = float(labels.mean()) if labels.size else 0.5
        if min(share, 1 - share) > LARGEST_SHARE:
            return None
        of_x = share <= LARGEST_SHARE
        rows, places = np.nonzero(labels if of_x else labels == 0)
        counts = np.bincount(rows, minlength=labels.shape[0])
        starts = np.concatenate([[0], np.cumsum(counts)])
        return cls(starts, places.astype(np.int32), of_x)

    def sums(self, features: Singles, rows: slice) -> Singles:
        """Return the sums over these bins of their features (bins × F), under some permutations."""
        begin, end, _ = rows.indices(self.starts.size - 1)
        n_bins, n_features = features.shape
        out = np.zeros((end - begin, n_features), dtype=np.float32)
        width = BLOCK_BYTES // (4 * max(n_bins, 1)) // NARROWEST * NARROWEST
        width = min(max(width, NARROWEST), WIDEST)
        _add(features, self.starts[begin : end + 1], self.index, width, out)
        return out


@compiled
def _add(features, starts, index, width, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add up the features of the bins of every permutation, some columns at a time."""
    n_bins, n_features = features.shape
    held = np.empty((n_bins, width), dtype=np.float32)
    for f in range(0, n_features, width):
        w = min(width, n_features - f)
        for j in range(n_bins):
            held[j, :w] = features[j, f : f + w]
        for k in range(out.shape[0]):
            own = out[k, f : f + w]
            i, end = starts[k], starts[k + 1]
            while i + 4 <= end:
                a, b = held[index[i]], held[index[i + 1]]
                c, d = held[index[i + 2]], held[index[i + 3]]
                for q in range(w):
                    own[q] += (a[q] + b[q]) + (c[q] + d[q])
                i += 4
            while i < end:
                a = held[index[i]]
                for q in range(w):
                    own[q] += a[q]
                i += 1


MOST_SUMS = 10_000_000
"""Bins times columns at most, each of which has 45 sums of single scores…"""
FEWEST_BINS_IN_ALL = 500
"""…unless that leaves fewer bins than this."""


@dataclass(frozen=True, eq=False)
class KeyedBins:
    """Bins of the rows of two samples, and labels of the bins under every permutation.

    Attributes
    ----------
    n_rows_of, n_bins_of : pairs of int
        Rows and bins of X and of Y; the bins of X come first.
    rows_per_bin : int
        Rows in each bin, b.
    seed : int
        Decides the bins.
    labels : array of shape (k, G)
        1 where a bin counts as x, in the arrangement; row 0 holds the true labels. Empty for
        `without_labels`.
    exact : bool
        Whether all permutations of the bins are there.
    arrangement : array of length G, or None
        The bins in a random order, drawn without regard to labels, in which sums are taken; None:
        as they are numbered. In it the true labels are one draw among all, so that not even the
        rounding of a sum, which depends on where its terms stand, tells them from a permutation.
    """

    n_rows_of: tuple[int, int]
    n_bins_of: tuple[int, int]
    rows_per_bin: int
    seed: int
    labels: Singles
    exact: bool
    arrangement: IntArray | None = field(default=None, kw_only=True)

    @property
    def n_x(self) -> int:
        """Rows of X."""
        return self.n_rows_of[0]

    @property
    def n_y(self) -> int:
        """Rows of Y."""
        return self.n_rows_of[1]

    @property
    def n_rows(self) -> int:
        """Rows of both samples, N."""
        return sum(self.n_rows_of)

    @property
    def n_bins(self) -> int:
        """Number of bins, G."""
        return sum(self.n_bins_of)

    @property
    def n_moved_of(self) -> tuple[int, int]:
        """Bins of X and of Y that are permuted, the first of each."""
        return self.n_bins_of

    @property
    def count(self) -> int:
        """Number of permutations, the true labels among them."""
        return int(self.labels.shape[0])

    @cached_property
    def fewer(self) -> Fewer | None:
        """The bins of the rarer label; None where neither label is rare."""
        return Fewer.of(self.labels)

    @property
    def full(self) -> bool:
        """Whether squares and the like are summed over bins, not made of the scores of rows."""
        return self.rows_per_bin > 1

    @property
    def largest(self) -> int:
        """Rows of the largest bin."""
        return self.rows_per_bin

    @property
    def fewest(self) -> int:
        """Rows of the smaller sample."""
        return min(self.n_rows_of)

    @property
    def counts(self) -> tuple[Singles, Singles]:
        """Rows that count as x and as y, of every permutation."""
        return (
            np.full(self.count, self.n_x, dtype=np.float32),
            np.full(self.count, self.n_y, dtype=np.float32),
        )

    def without_labels(self) -> KeyedBins:
        """Return what maps rows to bins, which is all that the holder of rows needs."""
        none = np.empty((0, self.n_bins), dtype=np.float32)
        return replace(self, labels=none, arrangement=None)

    @property
    def order(self) -> IntArray:
        """The bins in the order in which labels hold them."""
        return np.arange(self.n_bins) if self.arrangement is None else self.arrangement

    def arranged(self, x: Singles, y: Singles) -> Singles:
        """Return features of the bins of X and of Y, one array, in the order of the labels."""
        if self.arrangement is None:
            return np.concatenate([x, y])
        found = np.empty((self.n_bins, x.shape[1]), dtype=x.dtype)
        of_x, of_y = np.split(self._places, [x.shape[0]])
        found[of_x], found[of_y] = x, y
        return found

    @cached_property
    def _places(self) -> IntArray:
        """The place of every bin in the arrangement."""
        return np.argsort(self.order)

    def of_rows(self, sample: int, first_row: int, count: int) -> tuple[IntArray, IntArray]:
        """Return the bins of some rows, counted within their sample, and their places in them.

        Rows that keep their labels are in the bin after the last.
        """
        n_rows, bins, size = self.n_rows_of[sample], self.n_bins_of[sample], self.rows_per_bin
        if n_rows == bins:
            return np.arange(first_row, first_row + count), np.zeros(count, dtype=np.intp)
        order = shuffled(self.seed, sample, n_rows, first_row, count)
        at = order // size
        return np.minimum(at, bins), order - at * size


def count_bins(n_x: int, n_y: int, n_columns: int = 1) -> tuple[int, int, int]:
    """Return the bins of X and of Y that are permuted, and the rows in each.

    Of a sample that is far larger than the other no more bins take part than help: twenty times as
    many, and in wide tables fewer, so that sums over bins stay within memory.

    >>> count_bins(2_000, 3_000), count_bins(600, 12_000), count_bins(600, 12_000, 20_000)
    ((250, 375, 8), (150, 3000, 4), (150, 350, 4))
    """
    size = rows_per_bin(n_x, n_y)
    bins_x, bins_y = n_x // size, n_y // size
    bins_x, bins_y = min(bins_x, LARGER_SHARE * bins_y), min(bins_y, LARGER_SHARE * bins_x)
    if size > 1:
        most = max(MOST_SUMS // n_columns, FEWEST_BINS_IN_ALL)
        least = most // 2
        bins_x, bins_y = (
            min(bins_x, max(most - bins_y, least)),
            min(bins_y, max(most - bins_x, least)),
        )
    return bins_x, bins_y, size


def draw_keyed_bins(
    n_x: int, n_y: int, n_permutations: int, rng: np.random.Generator, n_columns: int = 1
) -> KeyedBins:
    """Decide on bins and draw permutations of their labels; all of them where few."""
    bins_x, bins_y, size = count_bins(n_x, n_y, n_columns)
    seed = 0 if (bins_x, bins_y) == (n_x, n_y) else int(rng.integers(2**63))
    drawn = draw_permutations(bins_x, bins_y, n_permutations, rng)
    arrangement = draw_arrangement(bins_x + bins_y, rng)
    labels = arranged_labels(drawn, arrangement)
    sizes = (n_x, n_y), (bins_x, bins_y), size, seed
    return KeyedBins(*sizes, labels, drawn.exact, arrangement=arrangement)


def draw_arrangement(n_bins: int, rng: np.random.Generator) -> IntArray:
    """Return a random order of the bins, by a child of the generator: its own stream stays."""
    return rng.spawn(1)[0].permutation(n_bins)


def arranged_labels(drawn: Permutations, arrangement: IntArray) -> Singles:
    """Return the 0/1 labels of the bins in an arrangement, one row per permutation."""
    labels = np.unpackbits(drawn.bits, axis=1, count=arrangement.size)
    return labels[:, arrangement].astype(np.float32)
