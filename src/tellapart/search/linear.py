"""The linear kernel's choice, written as a sparse trust region problem."""

from __future__ import annotations

import math

from tellapart.statistics.coefficients import LinearCoefficients
from tellapart.strs.problem import ShiftedFactor, SparseTrustRegion


def linear_problem(
    coefficients: LinearCoefficients, regularization: float, d: int
) -> SparseTrustRegion:
    """Return max aᵀz − λ zᵀVz over ‖z‖₂ = 1, ‖z‖₀ ≤ d: A is −λV, variance is a cost."""
    if coefficients.B is not None:
        factor = ShiftedFactor(0.0, math.sqrt(regularization) * coefficients.B)
        return SparseTrustRegion(factor, coefficients.a, d)
    return SparseTrustRegion(-regularization * coefficients.variance_matrix(), coefficients.a, d)
