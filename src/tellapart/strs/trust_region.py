"""The trust region problem on the sphere, solved exactly on one support."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.compiling import compiled

if TYPE_CHECKING:
    from tellapart.strs.problem import SparseQuadratic


# The secular equation Σ_i c_i² / (s + g_i)² = 1: the heart of every trust region step.


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


SMALL = 1e-100
"""Numbers below this are multiplied by a power of two, which changes no digit, before squaring."""


def maximise_on_sphere(A: FloatArray, a: FloatArray) -> tuple[FloatArray, float]:
    """Return the maximiser of zᵀAz + aᵀz over ‖z‖₂ = 1, and its value.

    With A = UΛUᵀ, λ₁ the largest eigenvalue and b = Uᵀa, the maximiser is
    z = ½(μI − A)⁻¹a with μ ≥ λ₁ the root of Σ b_i²/(4(μ − λ_i)²) = 1. In the *hard case*
    (b is 0 on the top eigenspace and the sum stays below 1 at μ = λ₁) the missing length is
    filled up along a top eigenvector.

    Examples
    --------
    >>> import numpy as np
    >>> z, value = maximise_on_sphere(np.diag([1.0, 0.0]), np.array([0.0, 1.0]))
    >>> bool(np.isclose(value, 1.25)), np.abs(z).round(4).tolist()
    (True, [0.866, 0.5])
    """
    largest = max(float(np.abs(A).max()), float(np.abs(a).max()))
    if 0.0 < largest < SMALL:
        up, down = _powers(largest)
        z, value = maximise_on_sphere(A * up, a * up)
        return z, value * down
    eigenvalues, vectors = np.linalg.eigh(A)
    gaps = eigenvalues[-1] - eigenvalues
    linear, size = a, float(np.abs(a).max())
    if 0.0 < size < SMALL:
        # z depends on a/gaps only: both are multiplied, so that no square of a vanishes.
        up, _ = _powers(size)
        with np.errstate(over="ignore"):
            linear, gaps = a * up, gaps * up
    c = (vectors.T @ linear) / 2
    # Below rounding error the component along the top eigenspace is noise, not a direction.
    noise = 8 * np.finfo(float).eps * float(np.linalg.norm(linear))
    c[(gaps <= noise) & (np.abs(c) <= noise)] = 0.0
    s = secular_root(gaps, c, 0.0)
    shifted = s + gaps
    coordinates = np.divide(c, shifted, out=np.zeros_like(c), where=shifted > 0)
    missing = 1.0 - float(coordinates @ coordinates)
    if missing > 0.0:
        coordinates[-1] += _signed(np.sqrt(coordinates[-1] ** 2 + missing), coordinates[-1])
    z = vectors @ coordinates
    z /= np.linalg.norm(z)
    return z, float(z @ A @ z + a @ z)


def _powers(size: float) -> tuple[float, float]:
    """Return a power of two that brings a small number to about 1, at most 2¹⁰⁰⁰, and 1/it."""
    exponent = min(-int(np.frexp(size)[1]), 1000)
    return 2.0**exponent, 2.0**-exponent


def _signed(length: float, entry: float) -> float:
    """Return what to add to `entry` so that its size becomes `length`, keeping its sign."""
    return length - entry if entry >= 0 else -length - entry


def polish(
    problem: SparseQuadratic, support: IntArray, above: float = -np.inf
) -> tuple[FloatArray, float]:
    """Return the best z (length D) with non-zeros in `support` only, and its value.

    Where that is at most `above`, perhaps another (`Domain.maximise`).
    """
    block, linear = problem.submatrix(support), problem.a[support]
    part, value = problem.domain.maximise(block, linear, above)
    z = np.zeros(problem.n_columns)
    z[support] = part
    return z, value
