"""Sums over the bins of both samples, and what they give under every permutation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import special

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.data.chunked_samples import ChunkedSamples
from tellapart.data.row_stores import block_rows
from tellapart.permutation.designed_bins import ENTRIES, FLAT, DesignedBins
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.progress import Progress, ShareDone, silent
from tellapart.scan.bin_sums import BinSums, SampleSums
from tellapart.scan.requests import (
    N_WAVES,
    POWERS,
    SINGLES,
    SQUARED,
    ProductOfTwo,
    Requests,
    ValueRanges,
)
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


# Changes in units of their deviation under a design, so that the largest of many is the surest.
#
# Without a design all scores have variance 1 in the pooled rows, and δ has one deviation for all of
# them. Under a design it has not: where pairs agree closely in one column, a tiny shift of it is
# sure, and would be lost beside columns in which pairs agree less. So each change is multiplied by
#
#     √(1/n_x + 1/n_y) / (its deviation over the permutations of the design),
#
# known in closed form (`tellapart.permutation.designed_bins`) and without a look at labels. A
# change that is no mean of a feature, such as that of a correlation, has the deviation of the
# feature it moves with to first order.


LEAST_VARIANCE = 1e-6
# Correlations are kept off ±1, as their changes are.
EDGE = 0.9999
FEWEST_VARIANCES = 10
"""Variances that are drawn towards each other, at least."""
MOST_FREEDOM = 1_000.0
"""Degrees of freedom that variances of other features can add, at most."""


def stacked(halves: Halves, features: slice | IntArray = slice(None)) -> FloatArray:
    """Return the sums over the units of X and then of Y, (G × F)."""
    return np.concatenate([halves.x[:-1, features], halves.y[:-1, features]]).astype(np.float64)


def scales(bins: DesignedBins, halves: Halves) -> Singles:
    """Return what δ of each feature is multiplied by; 0 for what cannot change."""
    return _scales(bins, halves.size, lambda some: stacked(halves, some))


def mean_squares(bins: DesignedBins, halves: Halves) -> FloatArray:
    """Return the mean of δ² of each feature over the permutations, in units of 1/n_x + 1/n_y."""
    found = bins.deviations(np.concatenate([halves.x[:-1], halves.y[:-1]]))
    return np.square(found) / bins.units.unit**2


def pair_scales(
    bins: DesignedBins, sums: Sums, name: str, asked: ProductOfTwo, *, within: bool = False
) -> Singles:
    """Return the scales of the changes of correlation of pairs of scores a and b.

    To first order (r_x − r_y)/(1 − r²) is the change of the mean of (ab − r(a² + b²)/2)/(1 − r²),
    a and b of variance 1. `within` takes its deviation within the samples, as for a t statistic,
    in place of that over the permutations.
    """
    products = sums.pairs(name)
    sides = [
        (stacked(sums.of(score)), stacked(sums.squares(score)))
        for score in (asked.first, asked.second)
    ]
    moments = [
        (plain.sum(axis=0) / bins.n_rows, squares.sum(axis=0) / bins.n_rows)
        for plain, squares in sides
    ]
    variances = [np.maximum(square - mean**2, LEAST_VARIANCE) for mean, square in moments]

    def moved(some: slice) -> FloatArray:
        s, t = asked.pairs.s[some], asked.pairs.t[some]
        own = stacked(products, some)
        unit = np.sqrt(variances[0][s] * variances[1][t])
        r = (own.sum(axis=0) / bins.n_rows - moments[0][0][s] * moments[1][0][t]) / unit
        r = np.clip(r, -EDGE, EDGE)
        own /= unit
        own -= sides[0][1][:, s] * (r / (2 * variances[0][s]))
        own -= sides[1][1][:, t] * (r / (2 * variances[1][t]))
        return np.asarray(own / (1 - r**2))

    return _scales(bins, asked.pairs.size, moved, within=within)


def triple_scales(
    bins: DesignedBins,
    products: Halves,
    plain: Halves,
    pairs: Halves,
    members: tuple[IntArray, IntArray, IntArray],
    opposite: tuple[IntArray, IntArray, IntArray],
) -> Singles:
    """Return the scales of changes of third cumulants: those of abc − aE[bc] − bE[ac] − cE[ab]."""
    single, means = stacked(plain), pairs.total() / bins.n_rows

    def moved(some: slice) -> FloatArray:
        own = stacked(products, some)
        for member, across in zip(members, opposite, strict=True):
            own -= single[:, member[some]] * means[across[some]]
        return own

    return _scales(bins, products.size, moved)


def _scales(
    bins: DesignedBins, size: int, sums: Callable[[slice], FloatArray], *, within: bool = False
) -> Singles:
    found = np.zeros(size, dtype=np.float32)
    step = max(ENTRIES // max(bins.n_bins, 1), 1)
    for start in range(0, size, step):
        some = slice(start, min(start + step, size))
        own = sums(some)
        moved = bins.units.changes(own)[1] if within else bins.units.spread_out(own)
        deviation = np.sqrt(np.square(moved).sum(axis=0))
        # Sums in single precision: a deviation of their rounding is none.
        noise = (
            FLAT
            * np.abs(own[bins.units.moved]).max(axis=0, initial=0.0)
            * bins.units.unit**2
            * math.sqrt(own.shape[0])
        )
        still = deviation <= np.maximum(noise, np.finfo(np.float64).tiny)
        found[some] = np.where(still, 0.0, bins.units.unit / np.where(still, 1.0, deviation))
    return found


def studentised(bins: DesignedBins, halves: Halves) -> FloatArray:
    """Return z-scores of the changes of features with the tails of the normal distribution.

    Each change is divided by its deviation within the samples (`Units.changes`), its own and one
    moderated by all features, and bent from Student's t to the normal distribution. The smaller
    counts: neither a deviation that is small by chance nor one that is truly larger than those of
    other features makes a change significant. 0 for what cannot change.
    """
    change, variance = np.zeros(halves.size), np.zeros(halves.size)
    step = max(ENTRIES // max(bins.n_bins, 1), 1)
    for start in range(0, halves.size, step):
        some = slice(start, start + step)
        change[some], rest = bins.units.changes(stacked(halves, some))
        variance[some] = np.square(rest).sum(axis=0)
    # Where the samples do not overlap, nothing may be left within them but rounding.
    variance = np.maximum(variance, LEAST_VARIANCE * change**2)
    varies = scales(bins, halves) > 0
    change, variance = change[varies], variance[varies]
    own = normal_tail(change / np.sqrt(variance), bins.units.freedom)
    variance, freedom = moderated(variance, bins.units.freedom)
    drawn = normal_tail(change / np.sqrt(variance), freedom)
    found = np.zeros(halves.size)
    found[varies] = np.where(np.abs(own) < np.abs(drawn), own, drawn)
    return found


def moderated(variances: FloatArray, freedom: float) -> tuple[FloatArray, float]:
    """Return variances drawn towards each other as far as they are alike, and their freedom.

    An estimate of d degrees of freedom of a variance that is itself drawn from a scaled inverse χ²
    distribution of d₀ degrees around s₀² is (d₀s₀² + d s²)/(d₀ + d), of d₀ + d degrees; d₀ and s₀²
    are those that give log s² its mean and variance over all (Smyth, 2004).

    Examples
    --------
    >>> import numpy as np
    >>> equal = np.random.default_rng(0).chisquare(6, 1_000) / 6
    >>> drawn, freedom = moderated(equal, 6.0)
    >>> bool(np.ptp(drawn) < 0.1 * np.ptp(equal)), freedom > 60
    (True, True)
    """
    known = variances > 0
    if np.count_nonzero(known) < FEWEST_VARIANCES:
        return variances, freedom
    logs = np.log(variances[known]) - special.digamma(freedom / 2) + math.log(freedom / 2)
    excess = float(np.var(logs, ddof=1) - special.polygamma(1, freedom / 2))
    prior = MOST_FREEDOM
    if excess > special.polygamma(1, MOST_FREEDOM / 2):
        prior = 2 * _inverse_trigamma(excess)
    centre = math.exp(float(logs.mean()) + special.digamma(prior / 2) - math.log(prior / 2))
    total = prior + freedom
    return np.asarray((prior * centre + freedom * variances) / total), total


def _inverse_trigamma(value: float) -> float:
    """Return y with ψ′(y) = value, by Newton's method on 1/ψ′, which is nearly linear."""
    y = 0.5 + 1 / value
    for _ in range(50):
        trigamma = float(special.polygamma(1, y))
        step = trigamma * (1 - trigamma / value) / float(special.polygamma(2, y))
        y += step
        if abs(step) < 1e-8 * y:
            break
    return y


def normal_tail(t: FloatArray, freedom: float) -> FloatArray:
    """Return the normal quantile with about the tail of Student's t (Wallace's approximation).

    Examples
    --------
    >>> import numpy as np
    >>> normal_tail(np.array([2.0, -6.0]), 20.0).round(2).tolist()
    [1.89, -4.48]
    """
    bent = np.sqrt(freedom * np.log1p(t * t / freedom))
    return np.asarray(np.sign(t) * bent * (8 * freedom + 1) / (8 * freedom + 3))
