"""MMD² and its variance under H1, from Gram matrices.

    MMD²_u = Σ_{i≠j} K(x_i, x_j)/m(m−1) + Σ_{i≠j} K(y_i, y_j)/n(n−1) − 2 Σ_{ij} K(x_i, y_j)/mn
    p_i = mean_j K(x_i, x_j) − mean_j K(x_i, y_j),  q_j = mean_i K(y_j, y_i) − mean_i K(x_i, y_j)
    σ² = 4ñ [var(p)/m + var(q)/n],  ñ = 2mn/(m + n)

with population variances and the diagonals included in p and q. The "paired" estimator is the
paper's, for m = n: the mean over i ≠ j of H_ij = K(x_i, x_j) + K(y_i, y_j) − K(x_i, y_j) −
K(y_i, x_j), with σ² = 4 var(p_i + q_i).
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray
from tellapart.errors import InputError

Estimator = Literal["unbiased", "paired"]


ESTIMATORS: tuple[Estimator, ...] = ("unbiased", "paired")


def mmd2(kxx: FloatArray, kyy: FloatArray, kxy: FloatArray, estimator: str = "unbiased") -> float:
    """Return MMD² from Gram matrices.

    Parameters
    ----------
    kxx, kyy, kxy : arrays of shape (m, m), (n, n), (m, n)
        K(x_i, x_j), K(y_i, y_j) and K(x_i, y_j).
    estimator : {"unbiased", "paired"}
        "paired" drops the cross terms i = j and needs m = n.

    Examples
    --------
    >>> import numpy as np
    >>> mmd2(np.eye(2), np.ones((2, 2)), np.zeros((2, 2)))
    1.0
    """
    m, n = kxx.shape[0], kyy.shape[0]
    check_rows(m, n, estimator)
    within = (kxx.sum() - np.trace(kxx)) / (m * (m - 1))
    within += (kyy.sum() - np.trace(kyy)) / (n * (n - 1))
    if estimator == "paired":
        return float(within - 2 * (kxy.sum() - np.trace(kxy)) / (m * (m - 1)))
    return float(within - 2 * kxy.mean())


def variance(
    kxx: FloatArray, kyy: FloatArray, kxy: FloatArray, estimator: str = "unbiased"
) -> float:
    """Return σ², the variance of MMD² under H1 times ñ = 2mn/(m + n), from Gram matrices.

    Parameters
    ----------
    kxx, kyy, kxy : arrays of shape (m, m), (n, n), (m, n)
        K(x_i, x_j), K(y_i, y_j) and K(x_i, y_j).
    estimator : {"unbiased", "paired"}
        "paired" is 4 var(p_i + q_i) and needs m = n.

    Examples
    --------
    >>> import numpy as np
    >>> variance(np.eye(2), np.ones((2, 2)), np.array([[1.0, 1.0], [0.0, 0.0]]))
    1.0
    """
    m, n = kxx.shape[0], kyy.shape[0]
    check_rows(m, n, estimator)
    p = kxx.mean(axis=1) - kxy.mean(axis=1)
    q = kyy.mean(axis=1) - kxy.mean(axis=0)
    if estimator == "paired":
        return float(4 * np.var(p + q))
    return float(4 * effective_size(m, n) * (np.var(p) / m + np.var(q) / n))


def effective_size(m: int, n: int) -> float:
    """Return ñ = 2mn/(m + n)."""
    return 2 * m * n / (m + n)


def check_rows(m: int, n: int, estimator: str) -> None:
    """Raise if the estimator cannot do with so many rows."""
    check_choice("estimator", estimator, ESTIMATORS)
    if min(m, n) < 2:
        raise InputError(f"both samples must have at least 2 rows; got {m} and {n}")
    if estimator == "paired" and m != n:
        raise InputError(
            f"estimator 'paired' needs samples of the same size; got {m} and {n} rows; "
            "use 'unbiased'"
        )
