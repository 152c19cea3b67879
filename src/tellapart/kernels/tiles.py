"""Tiles of a Gram matrix: the kernel between some rows and others of one pool."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.kernels.base import FittedKernel

# Squared lengths, in units of the index t, above which opening up a square loses too many digits.
FAR = 4_000.0


class GramTiles:
    """K_z between slices of the rows of a pool.

    Where t = Σ_s ω_s ((u_s − v_s)/τ_s)² with ω ≥ 0, it opens up: ‖u‖² + ‖v‖² − 2 u·v in scaled
    coordinates, one matrix product for a tile. Rows far out, which would lose digits that way, and
    other kernels take the kernel's own `gram`.

    Parameters
    ----------
    kernel : FittedKernel
        The kernel.
    pooled : array of shape (N, D)
        The rows.
    z : array of length D
        The weights.
    """

    def __init__(self, kernel: FittedKernel, pooled: FloatArray, z: FloatArray) -> None:
        self._kernel, self._pooled, self._z = kernel, pooled, z
        self._points = _scaled(kernel, pooled, z)
        if self._points is not None:
            self._lengths = np.einsum("ij,ij->i", self._points, self._points)
            self._far = ~(self._lengths <= FAR)
            self._points[self._far] = 0.0

    def tile(self, rows: slice, columns: slice) -> FloatArray:
        """Return K_z(u_i, u_j) for i in `rows` and j in `columns`."""
        u, v = self._pooled[rows], self._pooled[columns]
        if self._points is None:
            return self._kernel.gram(u, v, self._z)
        index = self._points[rows] @ self._points[columns].T
        index *= -2.0
        index += self._lengths[rows, np.newaxis]
        index += self._lengths[columns]
        np.maximum(index, 0.0, out=index)
        far_rows, far_columns = self._far[rows], self._far[columns]
        if far_rows.any() or far_columns.any():
            index[far_rows] = 0.0
            index[:, far_columns] = 0.0
        gram = self._kernel.outer.value(index)
        if far_rows.any():
            gram[far_rows] = self._kernel.gram(u[far_rows], v, self._z)
        if far_columns.any():
            gram[:, far_columns] = self._kernel.gram(u, v[far_columns], self._z)
        return gram


def _scaled(kernel: FittedKernel, pooled: FloatArray, z: FloatArray) -> FloatArray | None:
    """Return coordinates in which t is the squared distance; None where there are none."""
    scales, weights = kernel.squared_scales, kernel.weights(z)
    if scales is None or (weights < 0).any():
        return None
    varying = np.flatnonzero(~kernel.constant)
    values = pooled[:, varying]
    with np.errstate(over="ignore", invalid="ignore"):
        # Differences are what counts: without the common offset none of their digits are lost.
        return np.asarray(
            (values - np.median(values, axis=0)) * (np.sqrt(weights[varying]) / scales)
        )
