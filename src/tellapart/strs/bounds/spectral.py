"""Bounds that need no relaxation: rows, traces and squares of the largest possible block.

For a support S of at most d variables that holds the forced ones,

    max_{‖z‖=1, z on S} zᵀAz + aᵀz ≤ λ_max(A_SS) + ‖a_S‖₂,

and λ_max(A_SS) is at most (Gershgorin) max_{i∈S} A_ii + Σ_{j∈S, j≠i} |A_ij|, (trace)
κ + Σ_{i∈S} (A_ii − κ) for any κ with A ⪰ κI, and (squares) c + ‖A_SS − cI‖_F for any c. Each is
bounded over all such S at once by the forced entries and the largest free ones. Weak far from
the leaves, but one eigendecomposition at most, and often enough near them.
"""

from __future__ import annotations

import numpy as np

from tellapart.arrays import BoolArray, FloatArray
from tellapart.strs.rounding import EPS


def spectral_bound(A: FloatArray, a: FloatArray, forced: BoolArray, picks: int) -> float:
    """Return the best of the three bounds over supports with `forced` and `picks` more.

    Rounding error is allowed for: every sum is of at most n terms.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> bound = spectral_bound(A, np.zeros(3), np.zeros(3, dtype=bool), picks=2)
    >>> bool(3.0 <= bound <= 3.0 + 1e-12)
    True
    """
    size = int(a.shape[0])
    diagonal = np.diag(A)
    centre = float(diagonal.mean())
    linear = float(np.sqrt(_largest(a * a, forced, picks)))
    quadratic = min(
        _gershgorin(A, forced, picks),
        _trace(A, forced, picks),
        centre + _squares(A, centre, forced, picks),
    )
    slack = 16 * (size + 8) * EPS * (float(np.linalg.norm(A)) * size + linear)
    return quadratic + linear + slack


def _largest(entries: FloatArray, forced: BoolArray, picks: int) -> float:
    """Return the sum of the forced entries and of the `picks` largest others."""
    free = np.sort(entries[~forced])[::-1][:picks]
    return float(entries[forced].sum() + free.sum())


def _rows(entries: FloatArray, forced: BoolArray, picks: int) -> FloatArray:
    """Return for each row its own entry, those of forced columns and the largest others.

    A forced row meets `picks` free columns, a free row one less: it is a pick itself.
    """
    own = np.diag(entries).copy()
    others = entries.copy()
    np.fill_diagonal(others, 0.0)
    free = -np.sort(-others[:, ~forced], axis=1)
    sums = np.cumsum(np.hstack([np.zeros((entries.shape[0], 1)), free]), axis=1)
    taken = np.minimum(np.where(forced, picks, picks - 1), free.shape[1])
    rows: FloatArray = (
        own + others[:, forced].sum(axis=1) + sums[np.arange(entries.shape[0]), taken]
    )
    return rows


def _gershgorin(A: FloatArray, forced: BoolArray, picks: int) -> float:
    entries = np.abs(A)
    np.fill_diagonal(entries, np.diag(A))
    return float(_rows(entries, forced, picks).max())


def _trace(A: FloatArray, forced: BoolArray, picks: int) -> float:
    lowest = float(np.linalg.eigvalsh(A)[0])
    return lowest + _largest(np.diag(A) - lowest, forced, picks)


def _squares(A: FloatArray, centre: float, forced: BoolArray, picks: int) -> float:
    entries = A - centre * np.eye(A.shape[0])
    return float(np.sqrt(_largest(_rows(entries**2, forced, picks), forced, picks)))
