"""The sphere's other local maximum: a quadratic has at most one besides the global ones."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.strs.rounding import EPS, length_of

STEPS = 200
"""Newton steps at most; each at least halves what is left of the way, near the end much more."""


def other_local_maximiser(A: FloatArray, a: FloatArray) -> FloatArray | None:
    """Return the local maximiser of zᵀAz + aᵀz on ‖z‖₂ = 1 that is not global; None without one.

    With A = UΛUᵀ, λ₁ > λ₂ ≥ … its eigenvalues and c = ½Uᵀa it is z = ½(μI − A)⁻¹a for the
    largest μ in (λ₂, λ₁) with Σ c_i²/(μ − λ_i)² = 1 (Martínez, 1994). In the hard case, c₁ = 0
    up to rounding error, it is the mirror image of the global one across the top eigenvector.
    """
    eigenvalues, vectors = np.linalg.eigh(A)
    gaps = (eigenvalues[-1] - eigenvalues)[:-1]
    c = (vectors.T @ a) / 2
    top, rest = float(c[-1]), c[:-1]
    room = float(gaps.min(initial=np.inf))
    t = abs(top)
    if t <= 8 * EPS * length_of(a):
        if room <= 0.0:
            return None
        # Both signs along the top eigenvector: the search on the sphere took one of them.
        along = rest / gaps
        missing = 1.0 - float(along @ along)
        if missing < 0.0:
            return None
        sign = -1.0 if top >= 0 else 1.0
        mirrored: FloatArray = vectors @ np.append(along, sign * np.sqrt(missing))
        return mirrored
    # μ = λ₁ − t: from the left Newton on the convex Σ − 1 never passes the first root.
    for _ in range(STEPS):
        if t >= room:
            return None
        shares = np.append(rest / (gaps - t), -top / t)
        excess = float(shares @ shares) - 1.0
        if excess <= 1e-15:
            break
        squares = shares * shares
        slope = 2 * float(squares[:-1] @ (1 / (gaps - t)) - squares[-1] / t)
        if slope >= 0.0:
            return None
        step = -excess / slope
        if t + step <= t:
            break
        t += step
    z: FloatArray = vectors @ np.append(rest / (gaps - t), -top / t)
    return z / np.linalg.norm(z)
