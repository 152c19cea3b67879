"""Cuts: linear functions of q that no support's value exceeds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.rounding import EPS
from tellapart.strs.secular import secular_root


@dataclass(frozen=True)
class Cut:
    """f(q) ≤ constant + weightsᵀq for every q ∈ {0,1}ⁿ with at most d ones; weights ≥ 0.

    f(q) is the maximum of zᵀAz + aᵀz over the unit vectors z whose non-zeros q marks.
    """

    constant: float
    weights: FloatArray

    def at(self, q: FloatArray) -> float:
        """Return the cut's value at q."""
        return self.constant + float(self.weights @ q)

    def largest(self, forced: BoolArray, picks: int) -> FloatArray:
        """Return, for every variable, the cut's maximum over supports that contain it.

        Supports hold all of `forced` and `picks` more.
        """
        base = self.constant + float(self.weights[forced].sum())
        free = np.where(forced, 0.0, self.weights)
        top = np.sort(free)[::-1][:picks]
        if picks == 0:
            return np.full(free.shape[0], base)
        # A variable outside the top comes in for the last one inside.
        change: FloatArray = np.where(forced, 0.0, np.minimum(free - top[-1], 0.0))
        return base + float(top.sum()) + change


class CutSource(Protocol):
    """Where cuts come from: one way to over-estimate f over some of the variables.

    `variables` are those still in play, as indices of the whole problem; `forced` marks those
    in every support that matters, and q runs along `variables`. `bound` is proved for f. Cuts at
    fractional q are worth `rounds` rounds, and cuts at the best `points` solutions of a master.
    """

    variables: IntArray
    forced: BoolArray
    bound: float
    rounds: int
    points: int

    def seed(self) -> list[Cut]:
        """Return the cuts of the root relaxation."""
        ...

    def at(self, q: FloatArray) -> list[Cut]:
        """Return cuts that are as tight as this source can be at q, perhaps fractional."""
        ...


def support_cut(A: FloatArray, a: FloatArray, d: int, support: IntArray) -> Cut:
    """Return f(q) ≤ f(S) + Σ_{i∉S} q_i π_i: exact on S and its subsets, valid for every q.

    With μ the multiplier of the trust region problem on S,
    z_SᵀAz_S + a_Sᵀz_S ≤ f(S) − μ(1 − ‖z_S‖²) = f(S) − μ Σ_{i∉S} z_i² on the sphere. What a
    variable i ∉ S adds is then z_i(h_iᵀz + a_i) with h_ij = 2A_ij for j ∈ S, A_ij for j ∉ S and
    h_ii = A_ii − μ. With w_i the norm of the d − 1 largest |h_ij|, j ≠ i, and |a_i||z_i| ≤
    |a_i|(z_i²/s + s)/2 for any s > 0, that is at most

        π_i = ½(h + √(h² + w_i²)) + s|a_i|/2,   h = h_ii + |a_i|/(2s).

    Rounding errors are allowed for.
    """
    size = a.shape[0]
    constant, mu = _sphere_dual(A[np.ix_(support, support)], a[support])
    outside = np.setdiff1d(np.arange(size), support)
    rows = A[outside].copy()
    rows[:, support] *= 2
    own = A[outside, outside] - mu
    rows[np.arange(outside.shape[0]), outside] = 0.0
    others = np.sort(rows**2, axis=1)[:, ::-1][:, : d - 1].sum(axis=1)
    linear = np.abs(a[outside])[:, None]
    s = np.geomspace(1e-3, 1.0, 13)[None, :]
    h = own[:, None] + linear / (2 * s)
    # The larger of ½(h ± √…) is a sum of positive terms or a quotient of them: no cancellation.
    root = np.hypot(h, np.sqrt(others)[:, None])
    # Only where h ≤ 0 is divided: elsewhere root − h may be 0 and the quotient overflow.
    below = np.maximum(np.where(h > 0, 1.0, root - h), np.finfo(float).tiny)
    gain = np.where(h > 0, h + root, others[:, None] / below)
    penalties = (gain / 2 + s * linear / 2).min(axis=1)
    weights = np.zeros(size)
    error = 16 * (size + 8) * EPS * (np.abs(mu) + np.sqrt(others) + np.abs(A[outside, outside]))
    weights[outside] = penalties * (1 + 16 * EPS) + error
    return Cut(constant, weights)


def _sphere_dual(A: FloatArray, a: FloatArray) -> tuple[float, float]:
    """Return (c, μ), μ > λmax(A): zᵀAz + aᵀz ≤ c − μ(1 − ‖z‖²) for every z, tight on the sphere.

    c = μ + ¼aᵀ(μI − A)⁻¹a, with the rounding errors of the eigendecomposition added.
    """
    size = a.shape[0]
    eigenvalues, vectors = np.linalg.eigh(A)
    scale = float(np.linalg.norm(A)) + float(np.linalg.norm(a)) + np.finfo(float).tiny
    # Kept away from the pole by more than the eigenvalues' rounding error.
    gaps = eigenvalues[-1] - eigenvalues + 64 * size * EPS * scale
    c = (vectors.T @ a) / 2
    s = secular_root(gaps, c, 0.0)
    mu = float(eigenvalues[-1] + gaps[-1] + s)
    value = mu + float(np.sum(c * c / (gaps + s)))
    return value + 16 * (size + 4) * EPS * (scale + abs(mu)), mu
