"""Well-known sparse problems as sparse trust region and ratio problems."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tellapart.arguments import check_number
from tellapart.errors import InputError
from tellapart.strs.contract import Solution, relative_gap
from tellapart.strs.domains import EPS
from tellapart.strs.problem import (
    SparseRatio,
    SparseTrustRegion,
    checked_symmetric,
    checked_vector,
    form_value,
)
from tellapart.strs.solve import SMALLEST_GAP, solve


def sparse_pca(
    C: ArrayLike,
    d: int,
    *,
    nonnegative: bool = False,
    gap: float = 1e-4,
    time_limit: float | None = None,
) -> Solution:
    """Solve max zᵀCz over ‖z‖₂ = 1, ‖z‖₀ ≤ d: the first sparse principal component.

    Parameters
    ----------
    C : array of shape (D, D)
        A symmetric matrix, as a covariance or correlation matrix.
    d : int
        The largest number of non-zeros, 1 ≤ d ≤ D.
    nonnegative : bool
        Whether z ≥ 0 too.
    gap : float
        Relative gap at which the search may stop.
    time_limit : float, optional
        Seconds after which the best point so far is returned, with its bound.

    Returns
    -------
    Solution
        The loadings `z`, the variance `value`, and a proved `upper_bound`.

    See Also
    --------
    near_optimal : all supports that are nearly as good, of
        `SparseTrustRegion(C, np.zeros(D), d)`.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.5]])
    >>> component = sparse_pca(C, d=2)
    >>> component.support.tolist(), round(component.value, 6), component.status
    ([0, 1], 3.0, 'optimal')
    """
    matrix = checked_symmetric("C", C)
    problem = SparseTrustRegion(matrix, np.zeros(matrix.shape[0]), d, nonnegative)
    return solve(problem, gap=gap, time_limit=time_limit)


def best_subset(
    M: ArrayLike,
    e: ArrayLike,
    d: int,
    *,
    nonnegative: bool = False,
    required: ArrayLike | None = None,
    gap: float = 1e-4,
    time_limit: float | None = None,
) -> Solution:
    """Solve max 2eᵀz − zᵀMz over ‖z‖₀ ≤ d, for a positive definite M.

    With M = XᵀX and e = Xᵀy that is least squares with at most d variables: ‖y − Xz‖² is yᵀy less
    the value. On a support S the maximum is e_SᵀM_SS⁻¹e_S. With M = XᵀX + κI it is ridge
    regression, which fewer rows than variables need.

    Parameters
    ----------
    M : array of shape (D, D)
        A symmetric positive definite matrix.
    e : array of shape (D,)
        The linear term.
    d : int
        The largest number of non-zeros, 1 ≤ d ≤ D.
    nonnegative : bool
        Whether z ≥ 0 too.
    required : indices, optional
        Variables that count among the d in any case.
    gap : float
        Relative gap of the value at which the search may stop.
    time_limit : float, optional
        Seconds after which the best point so far is returned, with its bound.

    Returns
    -------
    Solution
        The coefficients `z`, the `value` 2eᵀz − zᵀMz, and a proved `upper_bound`.

    See Also
    --------
    near_optimal : all supports that are nearly as good, of `SparseRatio(M, e, d)`, whose value is
        the root of this one.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.5]])
    >>> y = np.array([1.0, 2.0, 2.0, 1.0])
    >>> fit = best_subset(X.T @ X, X.T @ y, d=2)
    >>> fit.z.round(6).tolist(), round(fit.value, 6), float(y @ y)
    ([1.0, 2.0, 0.0], 10.0, 10.0)
    """
    share = check_number("gap", gap, SMALLEST_GAP, 1.0, open_high=True)
    linear, matrix = checked_vector("e", e), checked_symmetric("M", M)
    if linear.shape[0] != matrix.shape[0]:
        raise InputError(
            f"e must have as many entries as M has columns, {matrix.shape[0]}; "
            f"got {linear.shape[0]}"
        )
    problem = SparseRatio(matrix, linear, d, nonnegative, required)
    # The gap of a square is twice that of its root.
    ratio = solve(problem, gap=max(0.49 * share, SMALLEST_GAP), time_limit=time_limit)
    z, value, bound = np.zeros(problem.n_columns), 0.0, ratio.upper_bound
    if ratio.value > 0.0:
        block, part = -matrix[np.ix_(ratio.support, ratio.support)], linear[ratio.support]
        z[ratio.support] = np.linalg.solve(-block, part)
        value = form_value(block, 2 * part, z[ratio.support])
    if bound is not None:
        bound = max(max(bound, 0.0) ** 2 * (1 + 4 * EPS), value)
    status = ratio.status
    if status == "optimal" and (bound is None or relative_gap(value, bound) > share):
        status = "feasible"
    return replace(
        ratio,
        support=np.flatnonzero(z),
        z=z,
        value=value,
        upper_bound=bound,
        status=status,
        search=None,
    )
