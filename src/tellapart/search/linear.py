"""The linear kernel's choice, written as a sparse trust region problem or as a sparse ratio."""

from __future__ import annotations

import math

import numpy as np

from tellapart.errors import InputError
from tellapart.statistics.coefficients import LinearCoefficients
from tellapart.strs.problem import ShiftedFactor, SparseTrustRegion
from tellapart.strs.ratio import SparseRatio

MOST_RATIO_COLUMNS = 2_000
"""The ratio needs V as a matrix: columns at most."""


def linear_problem(
    coefficients: LinearCoefficients, regularization: float, d: int, nonnegative: bool = False
) -> SparseTrustRegion:
    """Return max aᵀz − λ zᵀVz over ‖z‖₂ = 1, ‖z‖₀ ≤ d, and z ≥ 0 if `nonnegative`.

    A is −λV: variance is a cost.
    """
    if coefficients.B is not None:
        factor = ShiftedFactor(0.0, math.sqrt(regularization) * coefficients.B)
        return SparseTrustRegion(factor, coefficients.a, d, nonnegative)
    matrix = -regularization * coefficients.variance_matrix()
    return SparseTrustRegion(matrix, coefficients.a, d, nonnegative)


def ratio_problem(
    coefficients: LinearCoefficients, d: int, shrinkage: float, nonnegative: bool = False
) -> SparseRatio:
    """Return max aᵀz/√(zᵀ(V + r·v·I)z) over ‖z‖₀ ≤ d, and z ≥ 0 if `nonnegative`.

    r is the `shrinkage` and v the median of the positive variances V_ss. Where there are none, as
    between a sample and its copy, v = 1: a alone decides then.
    """
    n_columns = coefficients.a.shape[0]
    if n_columns > MOST_RATIO_COLUMNS:
        raise InputError(
            f"the ratio takes at most {MOST_RATIO_COLUMNS:,} columns; got {n_columns:,}; "
            "choose by the regularized objective"
        )
    M = coefficients.variance_matrix().copy()
    own = np.diag(M)
    positive = own[own > 0]
    unit = float(np.median(positive)) if positive.size > 0 else 1.0
    M[np.diag_indices_from(M)] += shrinkage * unit
    return SparseRatio(M, coefficients.a, d, nonnegative)
