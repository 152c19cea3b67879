"""The region T = {‖z‖₂ ≤ 1, ‖z‖₁ ≤ √d} that holds every d-sparse point of the unit ball."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.strs.rounding import EPS


def support_function(g: FloatArray, d: int) -> float:
    """Return max {gᵀz : z ∈ T} = min over τ ≥ 0 of ‖(|g| − τ)₊‖₂ + τ√d, rounded up.

    Every τ ≥ 0 gives an upper bound, so that the result stays one whatever the rounding errors
    of the best τ.

    Examples
    --------
    >>> import numpy as np
    >>> round(support_function(np.array([3.0, -4.0]), 2), 12)
    5.0
    >>> round(support_function(np.array([3.0, -4.0]), 1), 12)
    4.0
    """
    tau = best_threshold(g, d)
    excess = np.maximum(np.abs(g) - tau, 0.0)
    value = float(np.linalg.norm(excess)) + tau * float(np.sqrt(d))
    return value * float(1 + 2 * (g.shape[0] + 8) * EPS)


def best_threshold(g: FloatArray, d: int) -> float:
    """Return the τ ≥ 0 that minimises ‖(|g| − τ)₊‖₂ + τ√d.

    The slope in τ is √d − ‖w‖₁/‖w‖₂ with w = (|g| − τ)₊. With the k largest entries above τ,
    m their mean and V the sum of their squared deviations from it, the slope is zero at
    τ = m − √(dV/(k(k − d))). The right k is the first at whose next entry ‖w‖₁ ≥ √d‖w‖₂.
    """
    size = np.sort(np.abs(g))[::-1]
    count = np.arange(1, size.shape[0] + 1)
    following = np.append(size[1:], 0.0)
    mean = np.cumsum(size) / count
    deviation = np.maximum(np.cumsum(size**2) - count * mean**2, 0.0)
    above = mean - following
    # ‖w‖₁ = k·above and ‖w‖₂² = V + k·above² at τ = following.
    reached = (count * above) ** 2 >= d * (deviation + count * above**2)
    reached &= (count > d) & (above > 0)
    if not reached.any():
        # The slope is positive from the start: the ℓ₁ constraint does not bind.
        return 0.0
    k = int(np.argmax(reached))
    spread = float(np.sqrt(d * deviation[k] / (count[k] * (count[k] - d))))
    return float(np.clip(mean[k] - spread, following[k], size[0]))


def ranges(vectors: FloatArray, d: int) -> FloatArray:
    """Return θ_i = max {v_iᵀz : z ∈ T} for every column v_i, rounded up."""
    return np.array([support_function(column, d) for column in vectors.T])
