"""Sums over bins of products of scores, by matrix products where bins have many rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import IntArray
from tellapart.scan.bin_loops import (
    sum_fours,
    sum_pairs,
    sum_pairs_by_row,
    sum_triples,
    sum_triples_by_row,
)
from tellapart.scan.requests import Pairs, ProductOfFour, Triples
from tellapart.threads import in_slices

Singles = NDArray[np.float32]

# Rows of a bin from which on a matrix product is worth its price, and the share of all pairs of
# the columns that must be asked for.
FEWEST_ROWS = 5
LEAST_SHARE = 0.1
# Columns below which compiled loops are as fast, and threads do not wait for each other.
FEWEST_COLUMNS = 40
# Segments that one thread takes at a time.
SEGMENTS_AT_A_TIME = 16


@dataclass(frozen=True, eq=False)
class Segments:
    """Rows sorted by bin: segment i holds rows starts[i]..starts[i + 1] − 1, all of bins[i]."""

    starts: IntArray
    bins: IntArray
    n_jobs: int = 1

    @property
    def rows_per_segment(self) -> float:
        """Rows of a segment on average."""
        return float(self.starts[-1] / max(self.bins.size, 1))

    def each(self, work: Callable[[IntArray, IntArray], None]) -> None:
        """Do work(starts, bins) on some segments at a time, in threads: no two share a bin."""

        def some(part: slice) -> None:
            work(self.starts[part.start : part.stop + 1], self.bins[part])

        in_slices(some, self.bins.size, SEGMENTS_AT_A_TIME, self.n_jobs)


def add_pairs(
    pairs: Pairs, first: Singles, second: Singles, segments: Segments, out: Singles
) -> None:
    """Add the sums of products to out (bins × products); scores are (columns × rows)."""
    if pairs.size == 0:
        return
    left, s = np.unique(pairs.s, return_inverse=True)
    right, t = np.unique(pairs.t, return_inverse=True)
    a, b = _some(first, left), _some(second, right)
    if segments.rows_per_segment < FEWEST_ROWS:
        a, b = np.ascontiguousarray(a.T), np.ascontiguousarray(b.T)
        segments.each(lambda starts, bins: sum_pairs_by_row(a, b, s, t, starts, bins, out))
        return
    if left.size < FEWEST_COLUMNS or pairs.size < LEAST_SHARE * left.size * right.size:
        segments.each(lambda starts, bins: sum_pairs(a, b, s, t, starts, bins, out))
        return
    flat = s * right.size + t

    def multiply(starts: IntArray, bins: IntArray) -> None:
        for i, at in enumerate(bins):
            rows = slice(starts[i], starts[i + 1])
            out[at] += np.take(a[:, rows] @ b[:, rows].T, flat)

    segments.each(multiply)


def add_triples(triples: Triples, values: Singles, segments: Segments, out: Singles) -> None:
    """Add the sums of products of three to out (bins × products); scores are (columns × rows)."""
    if triples.size == 0:
        return
    used, place = np.unique(np.concatenate(triples.columns()), return_inverse=True)
    s, t, u = place.reshape(3, -1)
    own = _some(values, used)
    pairs, first = np.unique(s * used.size + t, return_inverse=True)
    if segments.rows_per_segment < FEWEST_ROWS:
        rows = np.ascontiguousarray(own.T)
        segments.each(lambda starts, bins: sum_triples_by_row(rows, s, t, u, starts, bins, out))
        return
    if used.size < FEWEST_COLUMNS or triples.size < LEAST_SHARE * pairs.size * used.size:
        segments.each(lambda starts, bins: sum_triples(own, s, t, u, starts, bins, out))
        return
    left, right = pairs // used.size, pairs % used.size
    flat = first * used.size + u

    def multiply(starts: IntArray, bins: IntArray) -> None:
        for i, at in enumerate(bins):
            part = own[:, starts[i] : starts[i + 1]]
            out[at] += np.take((part[left] * part[right]) @ part.T, flat)

    segments.each(multiply)


def add_fours(request: ProductOfFour, values: Singles, segments: Segments, out: Singles) -> None:
    """Add the sums of products of four to out (bins × products)."""
    columns = request.columns
    segments.each(lambda starts, bins: sum_fours(values, columns, starts, bins, out))


def add_features(make: Callable[[slice], Singles], segments: Segments, out: Singles) -> None:
    """Add the sums of features over each segment to out (bins × features).

    `make` gives the features of some rows, (features × rows).
    """

    def add(starts: IntArray, bins: IntArray) -> None:
        features = make(slice(int(starts[0]), int(starts[-1])))
        out[bins] += np.add.reduceat(features, starts[:-1] - starts[0], axis=1).T

    segments.each(add)


def _some(values: Singles, columns: IntArray) -> Singles:
    """Return some rows of the scores; those that follow each other without a copy."""
    first, last = int(columns[0]), int(columns[-1]) + 1
    return values[first:last] if last - first == columns.size else values[columns]
