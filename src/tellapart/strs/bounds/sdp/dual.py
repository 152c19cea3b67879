"""A proved upper bound from any multiplier of the strong SDP relaxation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import BoolArray, FloatArray
from tellapart.compiling import compiled
from tellapart.strs.bounds.sdp.rows import row_support
from tellapart.strs.rounding import EPS
from tellapart.strs.secular import secular_root


@dataclass(frozen=True)
class DualBound:
    """A proved bound, its sphere part, and what each row contributes if it is chosen.

    value = sphere + Σ_{forced} rows + the d − |forced| largest other rows.
    """

    value: float
    sphere: float
    rows: FloatArray


def dual_bound(
    A: FloatArray,
    a: FloatArray,
    d: int,
    forced: BoolArray,
    W: FloatArray | None = None,
    prices: FloatArray | None = None,
) -> DualBound:
    """Return a proved bound on max zᵀAz + aᵀz over the d-sparse unit sphere.

    For **any** D × D matrix W, symmetric or not, and any feasible z with support S,

        zᵀAz + aᵀz = zᵀ(A − W)z + aᵀz + Σ_{i∈S} z_i Σ_j W_ij z_j
                   ≤ max_{‖v‖=1} vᵀ(A − W)v + aᵀv + Σ_{i∈S} h_i(W_i),

    where h_i(w) = max ⟨w, y⟩ over the rows y with ‖y‖₂² ≤ y_i and ‖y‖₁² ≤ d y_i, of which
    y = z_i z is one, and the sum is at most that of the d largest h_i. The first term is a trust
    region problem, the second has the closed form of `row_support`. The least bound over W is the
    value of the relaxation: this is its Lagrange dual in the multiplier of Z = Y.

    W = None stands for W = 0: the trust region bound. With `forced` variables the bound holds for
    supports that contain them. `prices` (D × 2) are the rows' ν and slopes, read as first guesses
    and overwritten: they save time at the next W. Rounding error is allowed for.
    """
    size = int(a.shape[0])
    if W is None:
        sphere = sphere_bound(A, a)
        return DualBound(sphere, sphere, np.zeros(size))
    sphere = sphere_bound(A - (W + W.T) / 2, a)
    # A − W is formed with one rounding per entry. A row's term is a sum of positive numbers but
    # for α in `row_support`, where entries of the row may cancel.
    sphere += 4 * EPS * float(np.linalg.norm(W) + np.linalg.norm(A))
    prices = np.zeros((size, 2)) if prices is None else prices
    rows = row_supports(np.ascontiguousarray(W), float(np.sqrt(d)), prices)
    rows *= 1 + 4 * (size + 16) * EPS
    rows += 16 * EPS * np.abs(W).max(axis=1)
    free = np.sort(rows[~forced])[::-1][: d - int(np.count_nonzero(forced))]
    total = float(rows[forced].sum() + free.sum()) * (1 + size * EPS)
    return DualBound(sphere + total, sphere, rows)


def sphere_bound(A: FloatArray, a: FloatArray) -> float:
    """Return an upper bound on max vᵀAv + aᵀv over ‖v‖₂ = 1, tight to rounding error.

    For any μ above the largest eigenvalue the value is at most μ + aᵀ(μI − A)⁻¹a/4. The computed
    eigenpairs belong to a matrix within a small multiple of D·ε·‖A‖_F of A, and the computed Uᵀa
    to a vector within the same multiple of D·ε·‖a‖ of a: both are added.
    """
    size = int(a.shape[0])
    values, vectors = np.linalg.eigh(A)
    c = (vectors.T @ a) / 2
    gaps = values[-1] - values
    noise = float(EPS * (np.linalg.norm(A) + np.linalg.norm(a)))
    s = max(float(secular_root(gaps, c, 0.0)), noise)
    # At noise = 0 all of A and a is 0, and so is the value.
    rest = float(np.sum(c * c / (gaps + s))) if s > 0.0 else 0.0
    return float(values[-1]) + s + rest + 16 * (size + 4) * noise


@compiled
def row_supports(W: FloatArray, root_d: float, prices: FloatArray) -> FloatArray:
    """Return the upper bound of `row_support` for every row of W."""
    size = W.shape[0]
    rows = np.empty(size)
    sizes = np.abs(W)
    for i in range(size):
        sizes[i, i] = 0.0
        guess = (prices[i, 0], prices[i, 1])
        rows[i], prices[i, 0], prices[i, 1] = row_support(W[i, i], sizes[i], root_d, guess)
    return rows
