"""How far floating-point arithmetic can be off: allowances that keep bounds valid."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import IntArray
from tellapart.strs.problem import SparseTrustRegion

EPS = float(np.finfo(np.float64).eps)


def value_slack(problem: SparseTrustRegion, support: IntArray) -> float:
    """Return an allowance for the rounding error of an exact maximum over one support.

    Eigenvalues of A_SS are off by at most a small multiple of |S|·ε·‖A_SS‖_F, and the value is
    off by no more than that and the same multiple of ε·‖a_S‖. A factor is multiplied out first.
    """
    block = problem.submatrix(support)
    size = int(support.shape[0])
    scale = float(np.linalg.norm(block)) + float(np.linalg.norm(problem.a[support]))
    return 16 * (size + 4) * EPS * scale + problem.forming_error
