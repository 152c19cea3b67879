"""Labels of one comparison whose rows, and random orders of them, are shared with others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.permutation.keyed_bins import KeyedBins
from tellapart.permutation.row_orders import RowOrders, WholeMatrix


@dataclass(frozen=True, eq=False)
class SharedLabels(KeyedBins):
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

    @classmethod
    def of(cls, orders: RowOrders, rows_x: IntArray, rows_y: IntArray) -> SharedLabels:
        """Return the labels of the comparison of some rows with all others."""
        sizes = (int(rows_x.size), int(rows_y.size))
        none = np.empty((orders.count + 1, 0), dtype=np.float32)
        return cls(sizes, sizes, 1, 0, none, False, orders, rows_x, rows_y)

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

    def contrast(
        self, matrix: WholeMatrix, rows: FloatArray, sums: FloatArray, margin: FloatArray
    ) -> FloatArray:
        """Return wᵀMw, w = 1/m on x and −1/n on y, for the true labels and every order.

        `rows` are the sums of the rows of M, `sums` and `margin` those of M and of `rows` over the
        first rows of the orders: (sizes × B) each.
        """
        place = int(np.searchsorted(self.orders.sizes, self.size))
        inside = np.append(self.true_order.form_sums(matrix), sums[place])
        reached = np.append(self.true_order.vector_sums(rows), margin[place])
        n, rest = self.size, self.n_rows - self.size
        across = reached - inside
        outside = rows.sum() - reached - across
        return np.asarray(inside / n**2 - 2 * across / (n * rest) + outside / rest**2)
