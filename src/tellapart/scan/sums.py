"""Sums over the bins of both samples, and what they give under every permutation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.chunks.chunked_samples import ChunkedSamples
from tellapart.data.chunks.fold import block_rows
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.progress import Progress, ShareDone, silent
from tellapart.scan.bin_sums import BinSums, SampleSums, Singles
from tellapart.scan.requests import N_WAVES, POWERS, SINGLES, SQUARED, Requests, ValueRanges
from tellapart.scan.tables import Tables


@dataclass(frozen=True, eq=False)
class Halves:
    """Sums of features over the bins of X and over those of Y, (bins + 1) × F each.

    The last row of each is the sum over the rows that keep their labels. Where values may be
    missing, `present` counts the rows behind each sum.
    """

    x: Singles
    y: Singles
    present: Halves | None = None

    @property
    def size(self) -> int:
        """Number of features, F."""
        return int(self.x.shape[1])

    def total(self) -> FloatArray:
        """Return the sums over all rows."""
        return np.asarray(
            self.x.sum(axis=0, dtype=np.float64) + self.y.sum(axis=0, dtype=np.float64)
        )

    def sides(self) -> tuple[FloatArray, FloatArray]:
        """Return the sums over all rows of X, and over all rows of Y."""
        of_x, of_y = (side.sum(axis=0, dtype=np.float64) for side in (self.x, self.y))
        return of_x, of_y

    def permuted(self, bins: KeyedBins) -> tuple[Singles, ...]:
        """Return the sums over the bins that are permuted, of X and of Y."""
        of_x, of_y = bins.n_moved_of
        return self.x[:of_x], self.y[:of_y]

    def of_x(self, bins: KeyedBins) -> Singles:
        """Return the sums over the rows that count as x, one row per permutation."""
        return self.summing(bins)(slice(None))

    def summing(self, bins: KeyedBins, features: slice = slice(None)) -> Callable[[slice], Singles]:
        """Return what gives the sums of some features over x, under some of the permutations."""
        moved = bins.arranged(self.x[:-1, features], self.y[:-1, features])
        kept, fewer = self.x[-1, features], bins.fewer
        if fewer is None:
            return lambda rows: np.asarray(bins.labels[rows] @ moved + kept)
        if fewer.of_x:
            return lambda rows: np.asarray(fewer.sums(moved, rows) + kept)
        of_both = moved.sum(axis=0, dtype=np.float64).astype(np.float32)
        return lambda rows: np.asarray(of_both - fewer.sums(moved, rows) + kept)

    def some(self, features: IntArray) -> Halves:
        """Return the sums of some of the features."""
        present = None if self.present is None else self.present.some(features)
        return Halves(self.x[:, features], self.y[:, features], present)

    def column(self, place: int) -> tuple[FloatArray, FloatArray]:
        """Return one feature's sums over the bins of X and of Y."""
        return self.x[:, place].astype(np.float64), self.y[:, place].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Sums:
    """The sums of both samples.

    Parameters
    ----------
    x, y : SampleSums
        Those of each.
    full : bool
        Whether squares, powers and waves were summed over every bin; else, with rows permuted one
        by one, they are those of the scores themselves.
    present_of : mapping from str to str
        Where values may be missing, by which name the rows behind each product were counted.
    """

    x: SampleSums
    y: SampleSums
    full: bool
    present_of: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def present(self) -> Halves | None:
        """How many values of each column are there; None where none is missing."""
        return Halves(self.x.present, self.y.present) if self.x.present.size else None

    @property
    def missing(self) -> Halves:
        """The sums of what rows miss."""
        return Halves(self.x.missing, self.y.missing)

    def values(self, asked: ValueRanges) -> Halves:
        """Return how many rows have values that stand apart."""
        every = Halves(self.x.values, self.y.values)
        if not asked.missing:
            return every
        places = np.arange(asked.column.size)
        return replace(every.some(places), present=every.some(places.size + places))

    def of(self, name: str) -> Halves:
        """Return the sums of one score of every column."""
        kind = SINGLES.index(name)
        return Halves(self.x.singles[kind], self.y.singles[kind], self.present)

    def squares(self, name: str) -> Halves:
        """Return the sums of the squares of one score of every column."""
        return self._derived(SQUARED.index(name), name, np.square)

    def power(self, exponent: int) -> Halves:
        """Return the sums of V³ or V⁴ of every column."""
        place = len(SQUARED) + POWERS.index(exponent)
        # Products: powers of single precision take a hundred times as long.
        return self._derived(place, "clipped", lambda v: v * v * (v if exponent == 3 else v * v))

    def waves(self, frequency: int, angle: float) -> tuple[Halves, Halves]:
        """Return the sums of cos and sin of `angle`·V, the wave number `frequency` from 1."""
        first = len(SQUARED) + len(POWERS) + frequency - 1
        turn = np.float32(angle)
        cosine = self._derived(first, "clipped", lambda v: np.cos(turn * v), at_zero=1.0)
        return cosine, self._derived(first + N_WAVES, "clipped", lambda v: np.sin(turn * v))

    def pairs(self, name: str) -> Halves:
        """Return the sums of products of two."""
        rows = self.present_of.get(name)
        present = None if rows is None else Halves(self.x.pairs[rows], self.y.pairs[rows])
        return Halves(self.x.pairs[name], self.y.pairs[name], present)

    def triples(self, name: str) -> Halves:
        """Return the sums of products of three."""
        rows = self.present_of.get(name)
        present = None if rows is None else Halves(self.x.triples[rows], self.y.triples[rows])
        return Halves(self.x.triples[name], self.y.triples[name], present)

    def fours(self, name: str) -> Halves:
        """Return the sums of products of four."""
        rows = self.present_of.get(name)
        present = None if rows is None else Halves(self.x.fours[rows], self.y.fours[rows])
        return Halves(self.x.fours[name], self.y.fours[name], present)

    @property
    def directions(self) -> Halves:
        """The sums of the waves along directions."""
        return self._others(slice(None, -1))

    @property
    def row_score(self) -> Halves:
        """The sums of the score of whole rows."""
        return self._others(slice(-1, None))

    def _others(self, places: slice) -> Halves:
        present = None
        if self.x.others_present.size:
            present = Halves(self.x.others_present[:, places], self.y.others_present[:, places])
        return Halves(self.x.others[:, places], self.y.others[:, places], present)

    @property
    def points(self) -> Singles:
        """V of the rows that were kept as they are, bin by bin."""
        return np.concatenate([self.x.points, self.y.points])

    @property
    def points_present(self) -> Singles | None:
        """1 for each of these rows that has any value, else 0; None where none is missing."""
        if self.present is None:
            return None
        return np.concatenate([self.x.points_present, self.y.points_present])

    def _derived(
        self,
        place: int,
        name: str,
        function: Callable[[Singles], Singles],
        at_zero: float = 0.0,
    ) -> Halves:
        """Return the sums of a function of a score; `at_zero` is what a missing value would add."""
        kind = SINGLES.index(name)

        def side(sums: SampleSums) -> Singles:
            if self.full:
                return np.asarray(sums.derived[place])
            one_by_one = function(sums.singles[kind, :-1])
            if at_zero and sums.present.size:
                one_by_one = one_by_one - np.float32(at_zero) * (1 - sums.present[:-1])
            return np.concatenate([one_by_one, sums.derived[place]])

        return Halves(side(self.x), side(self.y), self.present)


def sum_bins(
    samples: ChunkedSamples,
    tables: Tables,
    labels: KeyedBins,
    requests: Requests,
    n_jobs: int = 1,
    progress: Progress = silent,
    width: int | None = None,
) -> Sums:
    """Return the sums over the bins of both samples: one pass over all rows of each.

    `width` is how many columns the rows have, where the tables are those of some of them.
    """
    step = block_rows(tables.size if width is None else width)
    bins, parts = labels.without_labels(), []
    share = ShareDone(progress, "scan", samples.n_x + samples.n_y)
    for sample, store in enumerate((samples.x, samples.y)):
        threads = 1 if store.side_by_side else n_jobs
        fold = BinSums(tables, bins, requests, sample, threads)
        parts.append(store.fold(fold, step, share.after(sample * samples.n_x)))
    parts[0].adjust_with(parts[1], labels)
    return Sums(parts[0], parts[1], labels.full, requests.present_of)
