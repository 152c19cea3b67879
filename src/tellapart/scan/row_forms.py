"""Statistics of whole rows that several comparisons share: one matrix, summed by shared orders.

The matrices are those of `tellapart.scan.whole_rows`, of all rows; what the orders of the rows give
for every size of a sample is summed once for all comparisons.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.interrupts import check_interrupts
from tellapart.permutation.row_orders import RowOrders, WholeMatrix
from tellapart.permutation.shared_labels import SharedLabels
from tellapart.scan.bin_sums import Singles
from tellapart.scan.row_matrices import crowd, distances, ridge_matrix
from tellapart.threads import MadeOnce

T = TypeVar("T")

BLOCK_ENTRIES = 4_000_000


class RowForms:
    """Quadratic forms of pooled rows, as points in the space of the clipped scores.

    Parameters
    ----------
    values : array of shape (N, P)
        V of all rows.
    parent : array of length P
        The columns that the score columns belong to.
    orders : RowOrders
        The permutations of all comparisons.
    """

    def __init__(self, values: Singles, parent: IntArray, orders: RowOrders) -> None:
        self._points = np.ascontiguousarray(values / crowd(parent))
        self._orders = orders
        self._made = MadeOnce()

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Return what `make` makes, made by whoever asks for it first."""
        return self._made.get(name, make)

    def energy(self, labels: SharedLabels) -> FloatArray:
        """Return the energy distance of each permutation."""
        return -self._contrast("energy", self._distances, labels)

    def decorrelated(self, ridge: float, labels: SharedLabels) -> FloatArray:
        """Return δᵀ(Σ + ridge·I)⁻¹δ of each permutation."""
        return self._contrast("ridge", lambda: ridge_matrix(self._points, ridge), labels)

    def _contrast(
        self, name: str, make: Callable[[], FloatArray | Singles], labels: SharedLabels
    ) -> FloatArray:
        def sums() -> tuple[WholeMatrix, FloatArray, FloatArray, FloatArray]:
            matrix = np.asarray(make(), dtype=np.float32)
            # Centred, what single precision has to hold is small: constants cancel.
            matrix -= matrix.mean(dtype=np.float64).astype(np.float32)
            rows, whole = matrix.sum(axis=1, dtype=np.float64), WholeMatrix.of(matrix)
            return whole, rows, self._orders.form_sums(whole), self._orders.vector_sums(rows)

        return labels.contrast(*self.once(name, sums))

    def _distances(self) -> Singles:
        n_rows = self._points.shape[0]
        lengths = np.square(self._points).sum(axis=1)
        found = np.empty((n_rows, n_rows), dtype=np.float32)
        step = max(BLOCK_ENTRIES // n_rows, 1)
        for start in range(0, n_rows, step):
            check_interrupts()
            rows = slice(start, min(start + step, n_rows))
            found[rows] = distances(self._points, lengths, rows)
        return found
