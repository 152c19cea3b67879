"""Random orders of rows that several comparisons share: of each the first n rows count as a sample.

Of rows that are alike, any n are as good a sample as any others. So one random order of all rows is
a permutation for every comparison of some of them with the rest, whatever the size of the sample:
its first n rows. A p-value needs orders that are independent of each other and of the labels, and
has them; that other comparisons use them, too, makes the p-values depend on each other, which
Holm's adjustment allows. Sums over the first rows of an order serve all sizes on the way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from tellapart.arrays import FloatArray, IntArray, Singles
from tellapart.budget import current_budget
from tellapart.compiling import compiled
from tellapart.permutation.label_sums import add_rows
from tellapart.permutation.labels import Labels, TwoSampleSums
from tellapart.threads import MadeOnce

# Sums are kept at some sizes, each so many times as large as the one before, or more where that
# would be too many; the rest is added on top.
ANCHOR_RATIO = 1.05
MOST_ANCHORS = 4
# Rows are added up four at a time, counted from the first: so sums do not depend on anchors.
RUN = 4
# Entries of a matrix are so many bits long at most: sums of 4,000² of them fit into 64.
WHOLE_BITS = 30
TILE = 64
# So few rows of each order are added up from where they stand.
FEW_ROWS = 32


@dataclass(frozen=True, eq=False)
class WholeMatrix:
    """A symmetric matrix in whole multiples of a power of two: its sums are exact in any order."""

    entries: NDArray[np.int32]
    unit: float

    @classmethod
    def of(cls, matrix: Singles) -> WholeMatrix:
        """Return the matrix, rounded to WHOLE_BITS bits of its largest entry."""
        largest = max(float(matrix.max(initial=0.0)), -float(matrix.min(initial=0.0)))
        unit = math.ldexp(1.0, math.frexp(largest)[1] - WHOLE_BITS)
        return cls(_whole(matrix, 1 / unit), unit)


@dataclass(frozen=True, eq=False)
class RowOrders:
    """The first rows of B random orders of N rows.

    Attributes
    ----------
    first : array of shape (B, longest)
        Row numbers.
    n_rows : int
        N.
    sizes : array
        The sizes of samples that comparisons take from the orders, rising.
    seed : int
        Drew the orders.
    """

    first: NDArray[np.int32]
    n_rows: int
    sizes: IntArray
    seed: int = 0

    @classmethod
    def draw(cls, n_rows: int, sizes: IntArray, count: int, seed: int) -> RowOrders:
        """Draw the orders; which sizes are asked for does not change them.

        >>> some, more = (RowOrders.draw(9, np.array(s), 3, 0) for s in ([2], [2, 4]))
        >>> some.first.shape, more.first.shape, bool((more.first[:, :2] == some.first).all())
        ((3, 2), (3, 4), True)
        """
        rng = np.random.default_rng(seed)
        wanted = np.unique(sizes)
        orders = np.tile(np.arange(n_rows, dtype=np.int32), (count, 1))
        rng.permuted(orders, axis=1, out=orders)
        return cls(np.ascontiguousarray(orders[:, : int(wanted[-1])]), n_rows, wanted, seed)

    def true_order(self, rows: IntArray) -> RowOrders:
        """Return the rows of a sample as one more order, whose sums are taken as those of all.

        The rows stand in random order, as in every other: sums round off by the order of their
        terms, and the true labels must not be known by that.
        """
        shuffled = np.random.default_rng([self.seed, rows.size]).permutation(rows)
        first = shuffled.astype(np.int32)[np.newaxis]
        return RowOrders(first, self.n_rows, np.array([rows.size]), self.seed)

    @property
    def count(self) -> int:
        """Number of orders, B."""
        return int(self.first.shape[0])

    @cached_property
    def anchors(self) -> tuple[int, ...]:
        """The sizes at which sums are worth keeping, rising."""
        ratio = ANCHOR_RATIO
        while True:
            anchors: list[int] = []
            for size in self.sizes.tolist():
                if not anchors or size > ratio * anchors[-1]:
                    anchors.append(size - size % RUN)
            if len(anchors) <= MOST_ANCHORS:
                return tuple(anchors)
            ratio *= ratio

    def anchor(self, size: int) -> int:
        """Return the largest anchor that is no larger than this size."""
        return max(anchor for anchor in self.anchors if anchor <= size)

    def add(
        self, values: Singles, begin: int, end: int, out: Singles, rows: slice, features: slice
    ) -> None:
        """Add the rows at the places begin … end − 1 of some orders to the sums `out`.

        `values` are features of all rows (N × F), of which some are summed.
        """
        first, last, _ = features.indices(values.shape[1])
        if end - begin <= FEW_ROWS:
            _add_few(values[:, first:last], self.first[rows], begin, end, out)
            return
        starts = np.arange(self.count)[rows] * self.first.shape[1]
        add_rows(values, self.first.ravel(), starts + begin, starts + end, out, first)

    def form(self, matrix: FloatArray | Singles) -> OrderedForm:
        """Return a matrix of all rows with its sums over the first rows of all orders."""
        singles = np.asarray(matrix, dtype=np.float32)
        # Centred, what single precision has to hold is small: constants cancel.
        singles = singles - singles.mean(dtype=np.float64).astype(np.float32)
        rows, whole = singles.sum(axis=1, dtype=np.float64), WholeMatrix.of(singles)
        return OrderedForm(whole, rows, self.form_sums(whole), self.vector_sums(rows))

    def form_sums(self, matrix: WholeMatrix) -> FloatArray:
        """Return Σ M_ij over pairs of the first n rows, for every size n and order (sizes × B)."""
        out = np.empty((self.sizes.size, self.count), dtype=np.int64)
        _form_sums(matrix.entries, self.first, self.sizes, out)
        return np.asarray(out * matrix.unit, dtype=np.float64)

    def vector_sums(self, vector: FloatArray) -> FloatArray:
        """Return Σ v_i over the first n rows, for every size n and order (sizes × B)."""
        running = np.cumsum(vector[self.first], axis=1)
        return np.ascontiguousarray(running[:, self.sizes - 1].T)


@compiled
def _add_few(values, orders, begin, end, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Add up all features of a few rows of every order."""
    for k in range(orders.shape[0]):
        total, order = out[k], orders[k]
        i = begin
        while i + 4 <= end:
            a, b = values[order[i]], values[order[i + 1]]
            c, d = values[order[i + 2]], values[order[i + 3]]
            for q in range(total.size):
                total[q] += (a[q] + b[q]) + (c[q] + d[q])
            i += 4
        while i < end:
            a = values[order[i]]
            for q in range(total.size):
                total[q] += a[q]
            i += 1


@compiled
def _whole(matrix, per_unit):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return a symmetric matrix in whole units, by its part below the diagonal."""
    n_rows = matrix.shape[0]
    whole = np.empty((n_rows, n_rows), dtype=np.int32)
    for top in range(0, n_rows, TILE):
        for left in range(0, top + 1, TILE):
            for i in range(top, min(top + TILE, n_rows)):
                for j in range(left, min(left + TILE, i + 1)):
                    whole[i, j] = whole[j, i] = np.int32(np.rint(matrix[i, j] * per_unit))
    return whole


@compiled
def _form_sums(matrix, orders, sizes, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Sum a symmetric matrix over the first rows of every order, row after row.

    From one size to the next rows are taken as they stand in the matrix, which memory prefers.
    """
    order = np.empty(orders.shape[1], dtype=np.uint32)
    for k in range(orders.shape[0]):
        total, begin = 0, 0
        for at in range(sizes.size):
            end = sizes[at]
            order[begin:end] = np.sort(orders[k, begin:end])
            for t in range(begin, end):
                row = matrix[order[t]]
                across = 0
                for s in range(t):
                    across += row[order[s]]
                total += 2 * across + row[order[t]]
            out[at, k] = total
            begin = end


@dataclass(frozen=True, eq=False)
class OrderedForm:
    """A symmetric matrix of all rows, and what the orders of the rows make of it.

    Attributes
    ----------
    matrix : WholeMatrix
        M, less its mean.
    rows : array of length N
        The sums of its rows.
    inside, reached : arrays of shape (sizes, B)
        Sums of M over pairs of the first rows of the orders, and of `rows` over these.
    """

    matrix: WholeMatrix
    rows: FloatArray
    inside: FloatArray
    reached: FloatArray


# Sums of features over rows that several comparisons divide in different ways.
#
# With rows permuted one by one, what is summed are the scores of rows, and these know no labels.
# So one table of them serves every comparison, and what the orders give for the sizes of the
# samples is summed once: a comparison adds the few rows that are its own.


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
        held = 4 * orders.count * self.values.shape[1] * len(orders.anchors)
        if held > current_budget().shared_sums_bytes:
            first, last, _ = features.indices(self.values.shape[1])
            begin, end, _ = rows.indices(orders.count)
            out, anchor = np.zeros((end - begin, last - first), dtype=np.float32), 0
        else:
            out = self._sums_at(orders, anchor)[rows, features].copy()
        orders.add(self.values, anchor, size, out, rows, features)
        return out

    def some(self, features: IntArray) -> PooledFeatures:
        """Return some of the features: the same object in every case for them."""
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
class PooledSums(TwoSampleSums):
    """The features of one comparison: which rows are those of x and of y.

    What `x` and `y` of other sums hold is made where it is needed.
    """

    features: PooledFeatures = field(kw_only=True)
    rows_x: IntArray = field(kw_only=True)
    rows_y: IntArray = field(kw_only=True)

    @classmethod
    def of(cls, features: PooledFeatures, rows_x: IntArray, rows_y: IntArray) -> PooledSums:
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

    def permuted(self, n_moved_of: tuple[int, int]) -> tuple[Singles, ...]:  # noqa: ARG002
        """Return the features of all rows, each of which is permuted by itself."""
        return (self.features.values,)

    def some(self, features: IntArray) -> PooledSums:
        """Return the sums of some of the features."""
        return PooledSums.of(self.features.some(features), self.rows_x, self.rows_y)

    def column(self, feature: int) -> tuple[FloatArray, FloatArray]:
        """Return one feature of the rows of X and of Y, and below it that no row keeps a label."""
        values = self.features.values[:, feature].astype(np.float64)
        return np.append(values[self.rows_x], 0.0), np.append(values[self.rows_y], 0.0)


# Labels of one comparison whose rows, and random orders of them, are shared with others.


@dataclass(frozen=True, eq=False)
class SharedOrders(Labels):
    """Which of the rows that all comparisons share count as x: the true ones, and by the orders.

    Rows are permuted one by one. The smaller sample is that of the first rows of an order.

    Attributes
    ----------
    orders : RowOrders
        The permutations.
    rows_x, rows_y : arrays
        The rows of each sample, by their numbers among those shared.
    """

    orders: RowOrders
    rows_x: IntArray
    rows_y: IntArray

    shared: ClassVar[bool] = True

    @classmethod
    def of(cls, orders: RowOrders, rows_x: IntArray, rows_y: IntArray) -> SharedOrders:
        """Return the labels of the comparison of some rows with all others."""
        sizes = (int(rows_x.size), int(rows_y.size))
        return cls(sizes, sizes, 1, orders, rows_x, rows_y)

    @property
    def count(self) -> int:
        """Number of permutations, the true labels among them."""
        return self.orders.count + 1

    @property
    def of_x(self) -> bool:
        """Whether the first rows of an order count as x."""
        return self.rows_x.size <= self.rows_y.size

    @property
    def size(self) -> int:
        """Rows of the smaller sample."""
        return int(min(self.rows_x.size, self.rows_y.size))

    @cached_property
    def true_order(self) -> RowOrders:
        """The true labels as an order like all others: rows of the smaller sample, at random."""
        return self.orders.true_order(self.rows_x if self.of_x else self.rows_y)

    def sums_over_x(
        self, sums: TwoSampleSums, features: slice = slice(None)
    ) -> Callable[[slice], Singles]:
        """Return what gives the sums of some features over x, under some of the permutations."""
        assert isinstance(sums, PooledSums)
        first, last, _ = features.indices(sums.size)
        some, pooled = slice(first, last), sums.features

        def over_x(permutations: slice) -> Singles:
            begin, end, _ = permutations.indices(self.count)
            of_x = np.zeros((end - begin, last - first), dtype=np.float32)
            true = int(begin == 0)
            if true:
                self.true_order.add(pooled.values, 0, self.size, of_x[:1], slice(1), some)
            drawn = slice(begin + true - 1, end - 1)
            of_x[true:] = pooled.sums(self.orders, self.size, drawn, some)
            if not self.of_x:
                np.subtract(sums.total()[some].astype(np.float32), of_x, out=of_x)
            return of_x

        return over_x

    def quadratic(
        self,
        matrix: FloatArray | OrderedForm,
        *,
        rows: float | FloatArray = 1.0,  # noqa: ARG002
        adjusted: bool = False,  # noqa: ARG002
        n_jobs: int = 1,  # noqa: ARG002
    ) -> FloatArray:
        """Return wᵀMw, w = 1/m on x and −1/n on y, for the true labels and every order."""
        form = matrix if isinstance(matrix, OrderedForm) else self.orders.form(matrix)
        at = int(np.searchsorted(self.orders.sizes, self.size))
        inside = np.append(self.true_order.form_sums(form.matrix), form.inside[at])
        reached = np.append(self.true_order.vector_sums(form.rows), form.reached[at])
        n, rest = self.size, self.n_rows - self.size
        across = reached - inside
        outside = form.rows.sum() - reached - across
        return np.asarray(inside / n**2 - 2 * across / (n * rest) + outside / rest**2)
