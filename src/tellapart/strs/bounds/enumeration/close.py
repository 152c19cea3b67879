"""The dual bound of single supports at the best multiplier of each, in compiled code."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled
from tellapart.strs.bounds.enumeration.walk import MARGIN
from tellapart.strs.orthant import multiplier_on_orthant
from tellapart.strs.secular import secular_root

EDGE = 1e-9
"""How far above −λ_min(M) the multiplier stays, as a part of the size of the numbers."""


@compiled
def dual_bounds(M: FloatArray, a: FloatArray, supports: IntArray, nonnegative: bool) -> FloatArray:
    """Return μ + ¼tᵀ(μI + M)⁻¹t for each support, at about the best μ and t.

    It bounds aᵀz − zᵀMz over ‖z‖₂ = 1 on the support; t = a, or t ≥ a where z ≥ 0. The diagonal
    of μI + M is lowered by more than rounding error, as in `walk`.
    """
    size = supports.shape[1]
    bounds = np.empty(supports.shape[0])
    block = np.empty((size, size))
    linear = np.empty(size)
    for row in range(supports.shape[0]):
        for i in range(size):
            linear[i] = a[supports[row, i]]
            for j in range(size):
                block[i, j] = M[supports[row, i], supports[row, j]]
        eigenvalues, vectors = np.linalg.eigh(block)
        scale = np.abs(eigenvalues).max() + np.abs(linear).max()
        lowest = EDGE * scale - eigenvalues[0]
        t = linear
        if nonnegative:
            mu, w = multiplier_on_orthant(block, linear, lowest, linear > 0)
            t = np.maximum(linear, 2.0 * (block @ w + mu * w))
        else:
            c = np.ascontiguousarray(vectors.T) @ linear / 2.0
            mu = secular_root(eigenvalues - eigenvalues[0], c, EDGE * scale) - eigenvalues[0]
        bounds[row] = _bound(block, t, mu)
    return bounds


@compiled
def _bound(M: FloatArray, t: FloatArray, mu: float) -> float:
    """Return μ + ¼tᵀ(μI + M)⁻¹t, not below the exact one; infinity if that is not definite."""
    size = t.shape[0]
    factor = np.zeros((size, size))
    along = np.empty(size)
    total = 0.0
    for i in range(size):
        own = M[i, i] + mu
        if own <= 0.0:
            return np.inf
        along[i] = t[i]
        for j in range(i):
            entry = M[i, j]
            for k in range(j):
                entry -= factor[i, k] * factor[j, k]
            factor[i, j] = entry / factor[j, j]
            along[i] -= factor[i, j] * along[j]
        pivot = own * (1.0 - MARGIN)
        for k in range(i):
            pivot -= factor[i, k] ** 2
        if pivot <= MARGIN * own:
            return np.inf
        factor[i, i] = np.sqrt(pivot)
        along[i] /= factor[i, i]
        total += along[i] ** 2
    return mu + total / 4.0 + 1e-14 * (abs(mu) + total)
