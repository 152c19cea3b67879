"""Sums over the bins of both samples, and what they give under every permutation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.scan.bin_sums import SampleSums, Singles
from tellapart.scan.requests import N_WAVES, POWERS, SINGLES, SQUARED


@dataclass(frozen=True, eq=False)
class Halves:
    """Sums of features over the bins of X and over those of Y, (bins + 1) × F each.

    The last row of each is the sum over the rows that keep their labels.
    """

    x: Singles
    y: Singles

    @property
    def size(self) -> int:
        """Number of features, F."""
        return int(self.x.shape[1])

    def total(self) -> FloatArray:
        """Return the sums over all rows."""
        return np.asarray(
            self.x.sum(axis=0, dtype=np.float64) + self.y.sum(axis=0, dtype=np.float64)
        )

    def of_x(
        self, bins: KeyedBins, rows: slice = slice(None), features: slice = slice(None)
    ) -> Singles:
        """Return the sums over the rows that count as x, one row per permutation."""
        fewer = bins.fewer
        if fewer is None:
            labels, of_x = bins.labels[rows], self.x.shape[0] - 1
            sums = labels[:, :of_x] @ self.x[:-1, features]
            sums += labels[:, of_x:] @ self.y[:-1, features]
        else:
            sums = fewer.sums(self.x, self.y, rows, features)
            if not fewer.of_x:
                moved = self.x[:-1, features].sum(axis=0, dtype=np.float64)
                moved += self.y[:-1, features].sum(axis=0, dtype=np.float64)
                sums = moved.astype(np.float32) - sums
        sums += self.x[-1, features]
        return np.asarray(sums)

    def some(self, features: IntArray) -> Halves:
        """Return the sums of some of the features."""
        return Halves(self.x[:, features], self.y[:, features])

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
    """

    x: SampleSums
    y: SampleSums
    full: bool

    def of(self, name: str) -> Halves:
        """Return the sums of one score of every column."""
        kind = SINGLES.index(name)
        return Halves(self.x.singles[kind], self.y.singles[kind])

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
        cosine = self._derived(first, "clipped", lambda v: np.cos(turn * v))
        return cosine, self._derived(first + N_WAVES, "clipped", lambda v: np.sin(turn * v))

    def pairs(self, name: str) -> Halves:
        """Return the sums of products of two."""
        return Halves(self.x.pairs[name], self.y.pairs[name])

    def triples(self, name: str) -> Halves:
        """Return the sums of products of three."""
        return Halves(self.x.triples[name], self.y.triples[name])

    def fours(self, name: str) -> Halves:
        """Return the sums of products of four."""
        return Halves(self.x.fours[name], self.y.fours[name])

    @property
    def directions(self) -> Halves:
        """The sums of the waves along directions."""
        return Halves(self.x.others[:, :-1], self.y.others[:, :-1])

    @property
    def row_score(self) -> Halves:
        """The sums of the score of whole rows."""
        return Halves(self.x.others[:, -1:], self.y.others[:, -1:])

    @property
    def points(self) -> Singles:
        """V of the rows that were kept as they are, bin by bin."""
        return np.concatenate([self.x.points, self.y.points])

    def _derived(self, place: int, name: str, function: Callable[[Singles], Singles]) -> Halves:
        kind = SINGLES.index(name)

        def side(sums: SampleSums) -> Singles:
            if self.full:
                return np.asarray(sums.derived[place])
            return np.concatenate([function(sums.singles[kind, :-1]), sums.derived[place]])

        return Halves(side(self.x), side(self.y))
