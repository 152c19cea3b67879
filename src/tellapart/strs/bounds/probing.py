"""What a multiplier of the strong SDP relaxation proves of one support, and of one variable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tellapart.arrays import BoolArray, FloatArray
from tellapart.compiling import compiled
from tellapart.strs.bounds.sdp import DualBound
from tellapart.strs.domains import EPS

# The rows' convex hulls.
#
# `dual_bound` charges a chosen row i with h_i(W_i), the maximum of ⟨W_i, y⟩ over the relaxation's
# rows. The rows that matter are y = z_i z with ‖z‖₂ = 1 and a support that holds i, the forced
# variables and `picks` free ones. Over these alone the maximum is
#
#     max_t tW_ii + √(t(1 − t)) ω_i = ½(W_ii + √(W_ii² + ω_i²)),
#
# ω_i² the sum of W_ij² over the forced j and the largest free ones: never larger, and much smaller
# where few are left to pick.


def hull_rows(W: FloatArray, forced: BoolArray, picks: int) -> FloatArray:
    """Return what each row adds at most to the value if it is chosen.

    Examples
    --------
    >>> import numpy as np
    >>> W = np.array([[0.0, 3.0, 4.0], [0.0, 3.0, 0.0], [2.0, 0.0, 0.0]])
    >>> hull_rows(W, np.zeros(3, dtype=bool), picks=2).round(6).tolist()
    [2.0, 3.0, 1.0]
    """
    squares = _others(np.ascontiguousarray(W), forced, picks)
    rows: FloatArray = _heights(np.diag(W), squares) * (1 + 4 * (W.shape[0] + 16) * EPS)
    return rows


def tighten_rows(bound: DualBound, W: FloatArray, forced: BoolArray, picks: int) -> DualBound:
    """Return the proved bound of the same multiplier with the rows' hulls."""
    rows = np.minimum(bound.rows, hull_rows(W, forced, picks))
    free = np.sort(rows[~forced])[::-1][:picks]
    total = float(rows[forced].sum() + free.sum()) * (1 + rows.shape[0] * EPS)
    return replace(bound, value=bound.sphere + total, rows=rows)


@compiled
def _others(W: FloatArray, forced: BoolArray, picks: int) -> FloatArray:
    """Return ω²: for each row the squares of forced columns and of the largest free ones.

    A forced row meets `picks` free columns, a free one is a pick itself.
    """
    size = W.shape[0]
    sums = np.empty(size)
    free = np.empty(size)
    for i in range(size):
        total = 0.0
        count = 0
        for j in range(size):
            if j == i:
                continue
            square = W[i, j] * W[i, j]
            if forced[j]:
                total += square
            else:
                free[count] = square
                count += 1
        left = picks if forced[i] else picks - 1
        if left >= count:
            total += free[:count].sum()
        elif left > 0:
            total += np.partition(free[:count], count - left)[count - left :].sum()
        sums[i] = total
    return sums


def _heights(diagonal: FloatArray, squares: FloatArray) -> FloatArray:
    """Return ½(w + √(w² + ω²)), without the cancellation that a negative w would bring."""
    root = np.sqrt(diagonal * diagonal + squares)
    below = np.maximum(root - diagonal, np.finfo(float).tiny)
    heights: FloatArray = np.where(diagonal > 0.0, root + diagonal, squares / below) / 2
    return heights


# One variable forced in.
#
# The relaxation's solution leaves most rows unused, and what its multiplier charges for them is
# arbitrary up to the price of the last row chosen. If variable i is forced in, its diagonal entry
# can pay back: with B = A − W, P = (μI − B)⁻¹ for a μ above the eigenvalues of B, and δ < 1/P_ii,
#
#     max_{‖v‖=1} vᵀ(B + δe_i e_iᵀ)v + aᵀv ≤ μ + ¼(aᵀPa + δ(Pa)_i²/(1 − δP_ii)),
#
# while row i adds h_i(W_i − δe_i) only. One eigendecomposition serves all variables and several μ.


RISES = (0.003, 0.01, 0.03, 0.1, 0.3)
"""μ rises above the sphere's multiplier by these parts of what is left to close."""
SHARES = (0.5, 0.9, 1 - 1e-4)
"""δ in parts of 1/P_ii; without a linear term the last is the best."""
ROUNDING = 1e-6
"""Rounding error of the eigenvalues is at most this part of what μ is above them."""


def forced_in_bounds(
    A: FloatArray,
    a: FloatArray,
    forced: BoolArray,
    picks: int,
    W: FloatArray,
    rows: FloatArray,
    to_close: float,
) -> FloatArray:
    """Return proved bounds with each free variable forced in; infinity for those forced already.

    `rows` are what the rows of W add at most if chosen (`hull_rows`), `to_close` is by how much
    the bound is too high.
    """
    size = int(a.shape[0])
    bounds = np.full(size, np.inf)
    free = np.flatnonzero(~forced)
    if picks == 0 or free.shape[0] == 0 or not to_close > 0.0:
        return bounds
    eigenvalues, vectors = np.linalg.eigh(A - (W + W.T) / 2)
    noise = 16 * (size + 4) * EPS * float(np.linalg.norm(A) + np.linalg.norm(W) + np.linalg.norm(a))
    c = vectors.T @ a
    squares = _others(np.ascontiguousarray(W), forced, picks)[free]
    others = _largest_others(rows, forced, picks)[free]
    for rise in RISES:
        above = rise * to_close
        if noise > ROUNDING * above:
            continue
        inverse = 1.0 / (eigenvalues[-1] + above - eigenvalues)
        sphere = float(eigenvalues[-1]) + above + float(c @ (inverse * c)) / 4 + noise
        P = (vectors[free] ** 2) @ inverse
        Pa = vectors[free] @ (inverse * c)
        for share in SHARES if c.any() else SHARES[-1:]:
            delta = share / P
            lifted = delta * Pa**2 / (4 * (1 - share))
            added = _heights(np.diag(W)[free] - delta, squares)
            total = sphere + (others + added + 1.05 * lifted) * (1 + 8 * (size + 16) * EPS)
            bounds[free] = np.minimum(bounds[free], total + noise)
    return bounds


def _largest_others(rows: FloatArray, forced: BoolArray, picks: int) -> FloatArray:
    """Return for each free row what the forced ones and the picks − 1 largest others add."""
    free = np.where(forced, -np.inf, rows)
    top = np.sort(free)[::-1][: picks - 1]
    last = top[-1] if picks > 1 else np.inf
    following = np.sort(free)[::-1][picks - 1]
    inside = rows >= last
    others: FloatArray = (
        rows[forced].sum() + top.sum() + np.where(inside, np.maximum(following, 0.0) - rows, 0.0)
    )
    return others
