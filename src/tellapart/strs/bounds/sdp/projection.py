"""The two projections of the ADMM for the strong SDP relaxation, with the corrected split [E4]."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import BoolArray, FloatArray
from tellapart.compiling import compiled
from tellapart.strs.bounds.sdp.rows import STEPS, next_guess, project_row

TRACE = 2.0
"""tr Z: 1 for Z₀₀ and 1 for ‖z‖² = 1."""
SHARE_TOLERANCE = 1e-11
"""How far Σq may be from its limit, relative to it."""


def project_spectrum(X: FloatArray) -> FloatArray:
    """Return the matrix nearest to the symmetric X in {Z ⪰ 0, tr Z = 2}.

    The set is unitarily invariant, so the eigenvalues go to the simplex of sum 2 and the vectors
    stay. With Z₀₀ = 1 in the same set, as the paper has it, that would not be so.
    """
    values, vectors = np.linalg.eigh(X)
    falling = values[::-1]
    thresholds = (np.cumsum(falling) - TRACE) / np.arange(1, falling.shape[0] + 1)
    kept = int(np.count_nonzero(falling > thresholds))
    part = vectors[:, -kept:] * np.sqrt(np.maximum(values[-kept:] - thresholds[kept - 1], 0.0))
    return np.asarray(part @ part.T)


@compiled
def project_rows(
    X: FloatArray, forced: BoolArray, d: int, prices: FloatArray, search: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the nearest (Y, q) with every row in its cones, 0 ≤ q ≤ 1 and Σq ≤ d.

    Row i has to satisfy Σ_j Y_ij² ≤ Y_ii q_i and (Σ_j |Y_ij|)² ≤ d Y_ii q_i. Y need not be
    symmetric: it is a copy of the symmetric Z, row by row, and agreement with Z restores symmetry.
    Given the multiplier κ of Σq ≤ d the rows separate; Σq falls in κ.

    Parameters
    ----------
    X : array of shape (D, D)
        The matrix to project.
    forced : bool array of length D
        Rows with q = 1 by decree: they use up d and pay no κ.
    d : int
        The largest number of non-zeros.
    prices : array of shape (D, 2)
        The rows' ν and slopes, read as first guesses and overwritten; zeros at first.
    search : array of length 2
        κ and the slope of Σq in κ, likewise.
    """
    size = X.shape[0]
    sizes = np.abs(X)
    diagonal = np.empty(size)
    budget = float(d)
    highest = 0.0
    for i in range(size):
        diagonal[i] = X[i, i]
        length = np.sqrt(np.sum(sizes[i] * sizes[i]))
        sizes[i, i] = 0.0
        if forced[i]:
            budget -= 1.0
        else:
            # The row is 0 from κ = h(x) on, and h(x) is at most this.
            highest = max(highest, 0.5 * (diagonal[i] + length))
    rows = np.empty((size, 3))
    _share_price(diagonal, sizes, forced, d, budget, highest, prices, search, rows)
    Y = np.empty((size, size))
    for i in range(size):
        t, scale = rows[i, 0], rows[i, 1]
        nu = prices[i, 0]
        for j in range(size):
            rest = scale * max(sizes[i, j] - nu, 0.0)
            Y[i, j] = rest if X[i, j] >= 0.0 else -rest
        Y[i, i] = t
    return Y, rows[:, 2].copy()


@compiled
def _share_price(
    diagonal: FloatArray,
    sizes: FloatArray,
    forced: BoolArray,
    d: int,
    budget: float,
    highest: float,
    prices: FloatArray,
    search: FloatArray,
    rows: FloatArray,
) -> None:
    """Find the κ ≥ 0 with Σq ≤ budget, equality where κ > 0; leave its rows in `rows`."""
    tolerance = SHARE_TOLERANCE * (1.0 + budget)
    kappa, slope = min(max(search[0], 0.0), highest), search[1]
    low, high = -1.0, highest
    before, f_before = -1.0, 0.0
    for step in range(STEPS):
        excess = _all_rows(diagonal, sizes, forced, d, kappa, prices, rows) - budget
        if before >= 0.0:
            slope = (excess - f_before) / (kappa - before)
        if abs(excess) <= tolerance or (kappa == 0.0 and excess < 0.0):
            break
        if excess > 0.0:
            low = kappa
        else:
            high = kappa
        before, f_before = kappa, excess
        following = next_guess(kappa, excess, slope, low, high, step)
        if following == kappa or high - low <= 1e-16 * highest:
            break
        kappa = following
    search[0], search[1] = kappa, slope


@compiled
def _all_rows(
    diagonal: FloatArray,
    sizes: FloatArray,
    forced: BoolArray,
    d: int,
    kappa: float,
    prices: FloatArray,
    rows: FloatArray,
) -> float:
    """Solve every row at the price κ and return Σq over the rows that are not forced."""
    root_d = np.sqrt(float(d))
    total = 0.0
    for i in range(diagonal.shape[0]):
        price = 0.0 if forced[i] else kappa
        guess = (prices[i, 0], prices[i, 1])
        t, scale, q, nu, slope = project_row(diagonal[i], sizes[i], root_d, price, guess)
        rows[i, 0], rows[i, 1], rows[i, 2] = t, scale, q
        prices[i, 0], prices[i, 1] = nu, slope
        if not forced[i]:
            total += q
    return total
