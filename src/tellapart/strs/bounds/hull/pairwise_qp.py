"""A concave quadratic over the capped simplex, by steps along pairs of coordinates."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.compiling import compiled

EDGE = 1e-13
"""Coordinates this close to 0 or 1 are put there."""


@compiled
def maximise_over_capped_simplex(
    q: FloatArray, gradient: FloatArray, hessian: FloatArray, precision: float
) -> FloatArray:
    """Return x near the maximiser of gᵀ(x − q) + ½(x − q)ᵀH(x − q), 0 ≤ x ≤ 1, Σx = Σq.

    H is negative semidefinite. Each step moves weight from one coordinate to another: the
    receiver has the largest derivative, the giver is the one with the most to gain. Stops when
    no pair's derivatives differ by more than `precision`.
    """
    n = q.shape[0]
    x = q.copy()
    slope = gradient.copy()
    for _ in range(50 * n + 1000):
        to = -1
        worst = np.inf
        for i in range(n):
            if x[i] < 1.0 - EDGE and (to < 0 or slope[i] > slope[to]):
                to = i
            if x[i] > EDGE and slope[i] < worst:
                worst = slope[i]
        if to < 0 or slope[to] - worst <= precision:
            break
        giver = -1
        amount = 0.0
        best = 0.0
        for j in range(n):
            if x[j] <= EDGE or slope[j] >= slope[to]:
                continue
            bend = max(2 * hessian[to, j] - hessian[to, to] - hessian[j, j], 1e-300)
            lift = slope[to] - slope[j]
            step = min(lift / bend, 1.0 - x[to], x[j])
            gain = step * (lift - 0.5 * bend * step)
            if gain > best:
                best, amount, giver = gain, step, j
        if giver < 0:
            break
        x[to] += amount
        x[giver] -= amount
        if x[to] > 1.0 - EDGE:
            x[to] = 1.0
        if x[giver] < EDGE:
            x[giver] = 0.0
        for i in range(n):
            slope[i] += amount * (hessian[i, to] - hessian[i, giver])
    return x
