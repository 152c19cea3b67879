"""A concave quadratic over z ≥ 0, in the whole space or on the sphere, by pivoting."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import BoolArray, FloatArray
from tellapart.compiling import compiled

PATIENCE = 3
"""Block pivots that may fail to lower the number of wrong signs before single pivots take over."""


@compiled
def maximise_on_orthant(H: FloatArray, c: FloatArray, passive: BoolArray) -> FloatArray:
    """Return the maximiser of cᵀw − wᵀHw over w ≥ 0, H positive definite.

    `passive` marks the entries that may be positive: a guess on entry, the answer on return.
    Block principal pivoting: solve 2Hw = c on the passive entries, exchange every entry of the
    wrong sign (w < 0, or a slope c − 2Hw > 0 outside), until there is none. Single exchanges
    of the last wrong one, which cannot cycle, take over where blocks do not help.
    """
    n = c.shape[0]
    w = np.zeros(n)
    fewest = n + 1
    patience = PATIENCE
    for _ in range(20 * n + 50):
        index = np.flatnonzero(passive)
        w[:] = 0.0
        slope = c.copy()
        size = np.abs(c)
        if index.shape[0] > 0:
            block = np.empty((index.shape[0], index.shape[0]))
            part = np.empty(index.shape[0])
            for i in range(index.shape[0]):
                part[i] = 0.5 * c[index[i]]
                for j in range(index.shape[0]):
                    block[i, j] = H[index[i], index[j]]
            solved = np.linalg.solve(block, part)
            for i in range(index.shape[0]):
                w[index[i]] = solved[i]
                for j in range(n):
                    slope[j] -= 2.0 * H[j, index[i]] * solved[i]
                    size[j] += abs(2.0 * H[j, index[i]] * solved[i])
        wrong = np.zeros(n, dtype=np.bool_)
        for i in range(n):
            # A slope that is rounding error gains nothing.
            wrong[i] = w[i] < 0.0 if passive[i] else slope[i] > 1e-14 * size[i]
        count = int(wrong.sum())
        if count == 0:
            break
        if count < fewest:
            fewest = count
            patience = PATIENCE
        else:
            patience -= 1
        if patience >= 0:
            for i in range(n):
                if wrong[i]:
                    passive[i] = not passive[i]
        else:
            last = np.flatnonzero(wrong)[-1]
            passive[last] = not passive[last]
    for i in range(n):
        if w[i] <= 0.0:
            w[i] = 0.0
            passive[i] = False
    return w


@compiled
def multiplier_on_orthant(
    N: FloatArray, c: FloatArray, lowest: float, passive: BoolArray
) -> tuple[float, FloatArray]:
    """Return the μ ≥ lowest at which the maximiser w of cᵀw − wᵀ(N + μI)w, w ≥ 0, has length 1.

    And w; `lowest` and its w, if that is no longer than 1. N + lowest·I is positive definite.
    ‖w‖ falls with μ. Newton on 1/‖w‖ − 1, concave while `passive` (a guess on entry, the answer
    on return) stays, within a bracket that guards it where that changes.
    """
    n = c.shape[0]
    low, high = lowest, np.inf
    mu = lowest
    shifted = N.copy()
    w = np.zeros(n)
    for step in range(100):
        for i in range(n):
            shifted[i, i] = N[i, i] + mu
        w = maximise_on_orthant(shifted, c, passive)
        norm2 = float(w @ w)
        if step == 0 and norm2 <= 1.0:
            return mu, w
        if norm2 >= 1.0:
            low = mu
        else:
            high = mu
        # `high` may be infinite, and an infinite bracket is no narrow one.
        if abs(norm2 - 1.0) <= 1e-14 or high <= low + 1e-15 * abs(low):
            break
        index = np.flatnonzero(passive)
        move = np.inf
        if index.shape[0] > 0:
            block = np.empty((index.shape[0], index.shape[0]))
            part = np.empty(index.shape[0])
            for i in range(index.shape[0]):
                part[i] = w[index[i]]
                for j in range(index.shape[0]):
                    block[i, j] = shifted[index[i], index[j]]
            move = norm2 * (np.sqrt(norm2) - 1.0) / float(part @ np.linalg.solve(block, part))
        following = mu + move
        if not low < following < high:
            if abs(move) <= 4e-16 * abs(mu) or not np.isfinite(high):
                break
            following = 0.5 * (low + high)
        mu = following
    return mu, w
