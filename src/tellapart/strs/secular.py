"""The secular equation Σ_i c_i² / (s + g_i)² = 1: the heart of every trust region step."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.compiling import compiled


@compiled
def secular_root(gaps: FloatArray, c: FloatArray, lowest: float) -> float:
    """Return the s ≥ lowest with Σ c_i²/(s + g_i)² = 1, or `lowest` if the sum is below 1 there.

    `gaps` g_i and `lowest` are at least 0. Newton on 1/√(sum) − 1, which is nearly linear and
    concave in s, so that the steps from the left never overshoot: a handful reach rounding error.
    """
    s = lowest
    norm2 = 0.0
    for i in range(c.shape[0]):
        norm2 += c[i] * c[i]
        # One term alone reaches 1 here, so the root is not further left.
        s = max(s, abs(c[i]) - gaps[i])
    if norm2 == 0.0 or s < 0.0:
        return lowest
    if s == 0.0:
        # Σ c²/g² at s = 0 decides: terms with g = c = 0 count as 0.
        total = 0.0
        for i in range(c.shape[0]):
            if c[i] != 0.0:
                total += (c[i] / gaps[i]) ** 2
        if total <= 1.0:
            return lowest
        s = 1e-16 * np.sqrt(norm2)
    for _ in range(100):
        total = 0.0
        slope = 0.0
        for i in range(c.shape[0]):
            ratio = c[i] / (s + gaps[i]) if c[i] != 0.0 else 0.0
            total += ratio * ratio
            slope += ratio * ratio / (s + gaps[i]) if c[i] != 0.0 else 0.0
        if total <= 1.0:
            break
        step = total * (np.sqrt(total) - 1.0) / slope
        if s + step <= s:
            break
        s += step
        if step <= 4e-16 * s:
            break
    return s
