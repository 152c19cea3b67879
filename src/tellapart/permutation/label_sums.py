"""Sums over the bins that count as x, under every permutation: a product with 0/1 labels.

Additions alone, in an order that is the same on every machine. Where one label is rare, its bins
are added up one by one, and the sum over the others is the total less that: with a share s of the
bins s·G additions a permutation. Else the sums over all subsets of four bins are tabulated first,
and a permutation looks up G/4 of them: a quarter of the additions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import IntArray, Singles
from tellapart.compiling import compiled

LARGEST_SHARE = 0.25
"""Above this share of the bins tables of subsets are as fast."""
# What of the features is held together, so that a core keeps it at hand.
BLOCK_BYTES = 1 << 20
NARROWEST, WIDEST = 32, 256


@dataclass(frozen=True, eq=False)
class MinorityBins:
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
    def of(cls, labels: Singles) -> MinorityBins | None:
        """Return the bins by 0/1 labels (permutations × bins); None where neither label is rare.

        >>> minority = MinorityBins.of(np.eye(5, dtype=np.float32)[:2])
        >>> minority.starts.tolist(), minority.index.tolist(), minority.of_x
        ([0, 1, 2], [0, 1], True)
        """
        share = float(labels.mean()) if labels.size else 0.5
        if min(share, 1 - share) > LARGEST_SHARE:
            return None
        of_x = share <= LARGEST_SHARE
        rows, bins = np.nonzero(labels if of_x else labels == 0)
        counts = np.bincount(rows, minlength=labels.shape[0])
        starts = np.concatenate([[0], np.cumsum(counts)])
        return cls(starts, bins.astype(np.int32), of_x)

    def sums(self, features: Singles, permutations: slice) -> Singles:
        """Return the sums over these bins of their features (bins × F), under permutations."""
        begin, end, _ = permutations.indices(self.starts.size - 1)
        out = np.zeros((end - begin, features.shape[1]), dtype=np.float32)
        starts = self.starts[begin : end + 1]
        add_rows(features, self.index, starts[:-1], starts[1:], out)
        return out


def add_rows(
    values: Singles,
    index: NDArray[np.int32],
    begins: IntArray,
    ends: IntArray,
    out: Singles,
    first: int = 0,
) -> None:
    """Add the rows index[begins[k]], …, index[ends[k] − 1] of the values to row k of `out`.

    `out` has the features from `first` on. Four rows at a time are added to each other first.
    """
    width = BLOCK_BYTES // (4 * max(values.shape[0], 1)) // NARROWEST * NARROWEST
    width = min(max(width, NARROWEST), WIDEST)
    _add(values, index, begins, ends, first, width, out)


@compiled
def _add(values, index, begins, ends, first, width, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add up rows, some columns at a time, which are copied to where a core keeps them at hand."""
    n_rows, n_features = values.shape[0], out.shape[1]
    held = np.empty((n_rows, width), dtype=np.float32)
    for f in range(0, n_features, width):
        w = min(width, n_features - f)
        for j in range(n_rows):
            held[j, :w] = values[j, first + f : first + f + w]
        for k in range(out.shape[0]):
            total = out[k, f : f + w]
            i, end = begins[k], ends[k]
            while i + 4 <= end:
                a, b = held[index[i]], held[index[i + 1]]
                c, d = held[index[i + 2]], held[index[i + 3]]
                for q in range(w):
                    total[q] += (a[q] + b[q]) + (c[q] + d[q])
                i += 4
            while i < end:
                a = held[index[i]]
                for q in range(w):
                    total[q] += a[q]
                i += 1


# Bins in a subset, tables that are looked up together, and features of each held at hand.
SUBSET, TOGETHER, WIDTH = 4, 4, 256
# Floats of a line of the cache: loads across two lines take twice as long.
_LINE = 16


@dataclass(frozen=True, eq=False)
class LabelCodes:
    """The labels of the bins under every permutation, four bins to a number of 0 … 15.

    Attributes
    ----------
    codes : array (permutations × subsets)
        Bit b of codes[k, j] is 1 where bin 4j + b counts as x under permutation k.
    """

    codes: NDArray[np.uint8]

    @classmethod
    def of(cls, labels: Singles) -> LabelCodes:
        """Return the codes of 0/1 labels (permutations × bins), filled up to whole tables.

        >>> LabelCodes.of(np.float32([[1, 0, 1, 0, 1], [1, 1, 1, 1, 0]])).codes.tolist()
        [[5, 1, 0, 0], [15, 0, 0, 0]]
        """
        count, n_bins = labels.shape
        size = SUBSET * TOGETHER
        filled = np.zeros((count, -(-n_bins // size) * size), dtype=np.uint8)
        filled[:, :n_bins] = labels > 0
        bits = np.uint8(1) << np.arange(SUBSET, dtype=np.uint8)
        return cls(filled.reshape(count, -1, SUBSET) @ bits)

    def sums(self, features: Singles, permutations: slice) -> Singles:
        """Return the sums over x of the features of all bins (bins × F), under permutations."""
        codes = self.codes[permutations]
        out = np.empty((codes.shape[0], features.shape[1]), dtype=np.float32)
        tables = _in_lines(TOGETHER << SUBSET)
        _look_up(codes, features, SUBSET, tables, _in_lines(codes.shape[0]), out)
        return out


def _in_lines(n_rows: int) -> Singles:
    """Return room for rows of WIDTH floats that begin where a line of the cache does."""
    room = np.zeros(n_rows * WIDTH + _LINE, dtype=np.float32)
    begin = -(room.ctypes.data // 4) % _LINE
    return room[begin : begin + n_rows * WIDTH].reshape(n_rows, WIDTH)


@compiled
def _look_up(codes, features, subset, tables, sums, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Set the sums over x, some features and the tables of sixteen bins at a time.

    Row 0 of a table is 0. `subset` is SUBSET: loops whose length the compiler knows are written
    out turn by turn, which takes long here.
    """
    n_bins, n_features = features.shape
    size = 1 << subset
    for f in range(0, n_features, WIDTH):
        w = min(WIDTH, n_features - f)
        for k in range(out.shape[0]):
            total = sums[k]
            for q in range(w):
                total[q] = 0.0
        for j in range(0, codes.shape[1], TOGETHER):
            for g in range(subset * j, min(subset * (j + TOGETHER), n_bins)):
                own = features[g, f : f + w]
                first, step = (g // subset - j) * size, 1 << g % subset
                for c in range(first, first + step):
                    without, with_own = tables[c], tables[c + step]
                    for q in range(w):
                        with_own[q] = without[q] + own[q]
            for k in range(out.shape[0]):
                one, two = tables[codes[k, j]], tables[codes[k, j + 1] + size]
                three, four = tables[codes[k, j + 2] + 2 * size], tables[codes[k, j + 3] + 3 * size]
                total = sums[k]
                for q in range(w):
                    total[q] += (one[q] + two[q]) + (three[q] + four[q])
        for k in range(out.shape[0]):
            row, total = out[k, f : f + w], sums[k]
            for q in range(w):
                row[q] = total[q]
