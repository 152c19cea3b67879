"""Kernels of squared differences as mixtures of Gaussian ones, φ(t) = Σ_k a_k exp(−ρ_k t), a ≥ 0.

By Schoenberg's theorem φ(Σ_s ω_s (u_s − v_s)²) is a kernel for every number of columns just if φ is
such a mixture. Random frequencies of a mixture are easy to draw, and with them a kernel of many
rows costs a sum over rows instead of one over pairs of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from tellapart.arrays import FloatArray
from tellapart.kernels.base import Outer

# A typical t is about 2 whatever the units: six decades of it, and of the rates.
_INDICES = np.concatenate([[0.0], np.logspace(-3, 3, 241)])
_RATES = np.logspace(-3.5, 3.5, 141)
_MOST_ITERATIONS = 10_000
ACCURACY = 1e-3
"""The largest error of a mixture that may stand for φ, as a share of φ(0)."""


@dataclass(frozen=True)
class Exponentials:
    """φ(t) = height · Σ_k shares_k exp(−rates_k t), the shares adding up to 1.

    Examples
    --------
    >>> import numpy as np
    >>> Exponentials(np.array([0.5]), np.array([1.0]), 2.0).value(np.array([0.0, 2.0])).round(4)
    array([2.    , 0.7358])
    """

    rates: FloatArray
    shares: FloatArray
    height: float

    def value(self, t: FloatArray) -> FloatArray:
        """Return φ(t)."""
        decays = np.exp(-np.multiply.outer(np.asarray(t), self.rates))
        return np.asarray(self.height * (decays @ self.shares))


def exponentials_of(outer: Outer) -> Exponentials | None:
    """Return φ as a mixture: its own if it knows it, else fitted; None where none is close enough.

    Examples
    --------
    >>> from tellapart.kernels.gaussian import Exponential
    >>> exponentials_of(Exponential(2.0)).rates.tolist()
    [0.25]
    """
    rate: float | None = getattr(outer, "rate", None)
    if rate is not None:
        return Exponentials(np.array([rate]), np.ones(1), 1.0)
    with np.errstate(all="ignore"):
        target = np.asarray(outer.value(_INDICES), dtype=np.float64)
    if not np.isfinite(target).all() or target[0] <= 0:
        return None
    decays = np.exp(-np.multiply.outer(_INDICES, _RATES))
    try:
        shares, _ = nnls(decays, target / target[0], maxiter=_MOST_ITERATIONS)
    except RuntimeError:  # no convergence: nothing is known of φ
        return None
    total = float(shares.sum())
    if total == 0.0:
        return None
    used = np.flatnonzero(shares)
    found = Exponentials(_RATES[used], shares[used] / total, float(target[0]))
    error = float(np.abs(found.value(_INDICES) - target).max())
    return found if error <= ACCURACY * target[0] else None
