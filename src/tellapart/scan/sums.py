"""Sums over the bins of both samples: of scores, of products of them and of what follows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.data.chunked_samples import ChunkedSamples
from tellapart.data.row_stores import block_rows
from tellapart.permutation.labels import Bins, TwoSampleSums
from tellapart.progress import Progress, ShareDone, silent
from tellapart.scan.bin_sums import BinSums, SampleSums
from tellapart.scan.features import POWERS, SINGLES, SQUARED, Feature, Product, Requests
from tellapart.scan.loops import N_WAVES
from tellapart.scan.tables import Tables


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
    requests : Requests
        The features that were summed.
    """

    x: SampleSums
    y: SampleSums
    full: bool
    requests: Requests = field(default_factory=Requests)

    @cached_property
    def present(self) -> TwoSampleSums | None:
        """How many values of each column are there; None where none is missing."""
        return TwoSampleSums(self.x.present, self.y.present) if self.x.present.size else None

    def of(self, name: str) -> TwoSampleSums:
        """Return the sums of one score of every column."""
        kind = SINGLES.index(name)
        return TwoSampleSums(self.x.singles[kind], self.y.singles[kind], self.present)

    def squares(self, name: str) -> TwoSampleSums:
        """Return the sums of the squares of one score of every column."""
        return self._derived(SQUARED.index(name), name, np.square)

    def power(self, exponent: int) -> TwoSampleSums:
        """Return the sums of V³ or V⁴ of every column."""
        place = len(SQUARED) + POWERS.index(exponent)
        # Products: powers of single precision take a hundred times as long.
        return self._derived(place, "clipped", lambda v: v * v * (v if exponent == 3 else v * v))

    def waves(self, frequency: int, angle: float) -> tuple[TwoSampleSums, TwoSampleSums]:
        """Return the sums of cos and sin of `angle`·V, the wave number `frequency` from 1."""
        first = len(SQUARED) + len(POWERS) + frequency - 1
        turn = np.float32(angle)
        cosine = self._derived(first, "clipped", lambda v: np.cos(turn * v), at_zero=1.0)
        return cosine, self._derived(first + N_WAVES, "clipped", lambda v: np.sin(turn * v))

    def feature(self, feature: Feature) -> TwoSampleSums:
        """Return the sums of a feature that was requested, and the rows behind them."""
        count = self.requests.rows_behind.get(feature)
        return self._summed(feature, None if count is None else self._summed(count))

    def _summed(self, feature: Feature, present: TwoSampleSums | None = None) -> TwoSampleSums:
        place = self._places[feature]
        return TwoSampleSums(self.x.features[place], self.y.features[place], present)

    @cached_property
    def _places(self) -> dict[Feature, int]:
        return {feature: place for place, feature in enumerate(self.requests.features)}

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
    ) -> TwoSampleSums:
        """Return the sums of a function of a score; `at_zero` is what a missing value would add."""
        kind = SINGLES.index(name)

        def side(sums: SampleSums) -> Singles:
            if self.full:
                return np.asarray(sums.derived[place])
            one_by_one = function(sums.singles[kind, :-1])
            if at_zero and sums.present.size:
                one_by_one = one_by_one - np.float32(at_zero) * (1 - sums.present[:-1])
            return np.concatenate([one_by_one, sums.derived[place]])

        return TwoSampleSums(side(self.x), side(self.y), self.present)


def sum_bins(
    samples: ChunkedSamples,
    tables: Tables,
    labels: Bins,
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
    return Sums(parts[0], parts[1], labels.full, requests)


# Sums over bins of the features that changes of correlations and of cumulants move with.


LEAST_VARIANCE = 1e-6
# Correlations are kept off ±1, as their changes are.
EDGE = 0.9999


@dataclass(frozen=True, eq=False)
class CorrelationSums:
    """What the changes of correlation of pairs of scores a and b move with, summed over bins.

    To first order (r_x − r_y)/(1 − r²) is the change of the mean of (ab − r(a² + b²)/2)/(1 − r²),
    a and b of variance 1.
    """

    sums: Sums
    product: Product
    n_rows: int

    @property
    def size(self) -> int:
        """Number of pairs."""
        return self.product.size

    @cached_property
    def _moments(self) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
        """Sums of squares over bins, means and variances of both scores, by column."""
        moments = []
        for score in self.product.scores:
            squares = self.sums.squares(score).stacked()
            mean = self.sums.of(score).stacked().sum(axis=0) / self.n_rows
            variance = squares.sum(axis=0) / self.n_rows - mean**2
            moments.append((squares, mean, np.maximum(variance, LEAST_VARIANCE)))
        return moments

    def stacked(self, features: slice) -> FloatArray:
        """Return the sums of some pairs over the bins of X and then of Y (G × k)."""
        (squares_a, mean_a, variance_a), (squares_b, mean_b, variance_b) = self._moments
        s, t = (columns[features] for columns in self.product.columns)
        moved = self.sums.feature(self.product).stacked(features)
        unit = np.sqrt(variance_a[s] * variance_b[t])
        r = (moved.sum(axis=0) / self.n_rows - mean_a[s] * mean_b[t]) / unit
        r = np.clip(r, -EDGE, EDGE)
        moved /= unit
        moved -= squares_a[:, s] * (r / (2 * variance_a[s]))
        moved -= squares_b[:, t] * (r / (2 * variance_b[t]))
        return np.asarray(moved / (1 - r**2))


@dataclass(frozen=True, eq=False)
class CumulantSums:
    """What the changes of third cumulants move with: abc − aE[bc] − bE[ac] − cE[ab].

    `members` are the columns of every triple, `opposite` the pairs of the other two.
    """

    products: TwoSampleSums
    single: TwoSampleSums
    pairs: TwoSampleSums
    members: tuple[IntArray, IntArray, IntArray]
    opposite: tuple[IntArray, IntArray, IntArray]
    n_rows: int

    @property
    def size(self) -> int:
        """Number of triples."""
        return self.products.size

    @cached_property
    def _single(self) -> FloatArray:
        return self.single.stacked()

    @cached_property
    def _means(self) -> FloatArray:
        return np.asarray(self.pairs.total() / self.n_rows)

    def stacked(self, features: slice) -> FloatArray:
        """Return the sums of some triples over the bins of X and then of Y (G × k)."""
        moved = self.products.stacked(features)
        for member, across in zip(self.members, self.opposite, strict=True):
            moved -= self._single[:, member[features]] * self._means[across[features]]
        return moved
