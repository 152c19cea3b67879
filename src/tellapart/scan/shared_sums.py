"""Sums of features over rows that several comparisons divide in different ways.

With rows permuted one by one, what is summed are the scores of rows, and these know no labels. So
one table of them serves every comparison, and what the orders of `tellapart.permutation.row_orders`
give for the sizes of the samples is summed once: a comparison adds the few rows that are its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.permutation.row_orders import RowOrders
from tellapart.permutation.shared_labels import SharedLabels
from tellapart.scan.bin_sums import Singles
from tellapart.scan.requests import SINGLES, ValueRanges
from tellapart.scan.sums import Halves, Sums
from tellapart.threads import MadeOnce

MOST_KEPT = 400_000_000
"""Bytes of the sums of one table of features that are kept; of more, comparisons make their own."""


@dataclass(eq=False)
class PooledFeatures:
    """Features of all rows (N × F), and their sums over the first rows of every order."""

    values: Singles
    _kept: dict[int, Singles] = field(default_factory=dict, repr=False)
    _parts: MadeOnce = field(default_factory=MadeOnce, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @cached_property
    def total(self) -> FloatArray:
        """The sums over all rows."""
        return np.asarray(self.values.sum(axis=0, dtype=np.float64))

    def sums(self, orders: RowOrders, size: int, rows: slice, features: slice) -> Singles:
        """Return the sums over the first `size` rows of some orders, of some features."""
        anchor = orders.anchor(size)
        if 4 * orders.count * self.values.shape[1] * len(orders.anchors) > MOST_KEPT:
            first, last, _ = features.indices(self.values.shape[1])
            begin, end, _ = rows.indices(orders.count)
            out, anchor = np.zeros((end - begin, last - first), dtype=np.float32), 0
        else:
            out = self._sums_at(orders, anchor)[rows, features].copy()
        orders.add(self.values, anchor, size, out, rows, features)
        return out

    def some(self, features: IntArray) -> PooledFeatures:
        """Return some of the features: the same object whoever asks for them."""
        return self._parts.get(
            features.tobytes(),
            lambda: PooledFeatures(np.ascontiguousarray(self.values[:, features])),
        )

    def _sums_at(self, orders: RowOrders, anchor: int) -> Singles:
        with self._lock:
            begin, every = 0, slice(None)
            sums = np.zeros((orders.count, self.values.shape[1]), dtype=np.float32)
            for end in orders.anchors[: orders.anchors.index(anchor) + 1]:
                if end not in self._kept:
                    self._kept[end] = sums.copy()
                    orders.add(self.values, begin, end, self._kept[end], every, every)
                begin, sums = end, self._kept[end]
            return sums


@dataclass(frozen=True, eq=False)
class SharedHalves(Halves):
    """The features of one comparison: which rows are those of x and of y.

    What `x` and `y` of other halves hold is made where it is asked for.
    """

    features: PooledFeatures = field(kw_only=True)
    rows_x: IntArray = field(kw_only=True)
    rows_y: IntArray = field(kw_only=True)

    @classmethod
    def of(cls, features: PooledFeatures, rows_x: IntArray, rows_y: IntArray) -> SharedHalves:
        """Return the features of the rows of x and of y."""
        none = np.empty((0, features.values.shape[1]), dtype=np.float32)
        return cls(none, none, features=features, rows_x=rows_x, rows_y=rows_y)

    def total(self) -> FloatArray:
        """Return the sums over all rows."""
        return self.features.total

    def sides(self) -> tuple[FloatArray, FloatArray]:
        """Return the sums over the rows of x and over those of y."""
        of_x = self.features.values[self.rows_x].sum(axis=0, dtype=np.float64)
        return of_x, self.total() - of_x

    def permuted(self, bins: KeyedBins) -> tuple[Singles, ...]:  # noqa: ARG002
        """Return the features of all rows, each of which is permuted by itself."""
        return (self.features.values,)

    def summing(self, bins: KeyedBins, features: slice = slice(None)) -> Callable[[slice], Singles]:
        """Return what gives the sums of some features over x, under some of the permutations."""
        assert isinstance(bins, SharedLabels)
        first, last, _ = features.indices(self.size)
        own = slice(first, last)

        def sums(rows: slice) -> Singles:
            begin, end, _ = rows.indices(bins.count)
            found = np.zeros((end - begin, last - first), dtype=np.float32)
            true = int(begin == 0)
            if true:
                bins.true_order.add(self.features.values, 0, bins.size, found[:1], slice(1), own)
            drawn = slice(begin + true - 1, end - 1)
            found[true:] = self.features.sums(bins.orders, bins.size, drawn, own)
            if not bins.of_x:
                np.subtract(self.total()[own].astype(np.float32), found, out=found)
            return found

        return sums

    def some(self, features: IntArray) -> SharedHalves:
        """Return the sums of some of the features."""
        return SharedHalves.of(self.features.some(features), self.rows_x, self.rows_y)

    def column(self, place: int) -> tuple[FloatArray, FloatArray]:
        """Return one feature of the rows of X and of Y, and below it that no row keeps a label."""
        own = self.features.values[:, place].astype(np.float64)
        return np.append(own[self.rows_x], 0.0), np.append(own[self.rows_y], 0.0)


@dataclass(frozen=True, eq=False)
class SharedSums(Sums):
    """The sums of one comparison, from scores of all rows: `x` has those, `y` has none.

    Attributes
    ----------
    made : MadeOnce
        Tables of features, made once for all comparisons.
    rows_x, rows_y : arrays
        The rows of the two samples.
    """

    made: MadeOnce = field(kw_only=True)
    rows_x: IntArray = field(kw_only=True)
    rows_y: IntArray = field(kw_only=True)

    def of(self, name: str) -> Halves:
        """Return one score of every column."""
        return self._features(name, lambda: self.x.singles[SINGLES.index(name), :-1])

    def values(self, asked: ValueRanges) -> Halves:
        """Return which rows have values that stand apart."""
        return self._features("values", lambda: self.x.values[:-1]).some(asked.place)

    def pairs(self, name: str) -> Halves:
        """Return products of two."""
        return self._features(("pairs", name), lambda: self.x.pairs[name][:-1])

    def triples(self, name: str) -> Halves:
        """Return products of three."""
        return self._features(("triples", name), lambda: self.x.triples[name][:-1])

    def fours(self, name: str) -> Halves:
        """Return products of four."""
        return self._features(("fours", name), lambda: self.x.fours[name][:-1])

    @property
    def points(self) -> Singles:
        """V of all rows."""
        return np.asarray(self.x.singles[SINGLES.index("clipped"), :-1])

    def _others(self, places: slice) -> Halves:
        key = ("others", places.start, places.stop)
        return self._features(key, lambda: np.ascontiguousarray(self.x.others[:-1, places]))

    def _derived(
        self,
        place: int,
        name: str,
        function: Callable[[Singles], Singles],
        at_zero: float = 0.0,  # noqa: ARG002
    ) -> Halves:
        kind = SINGLES.index(name)
        return self._features(("derived", place), lambda: function(self.x.singles[kind, :-1]))

    def _features(self, key: object, make: Callable[[], Singles]) -> Halves:
        found = self.made.get(key, lambda: PooledFeatures(make()))
        return SharedHalves.of(found, self.rows_x, self.rows_y)
