"""The part of the sphere with z ≥ 0: its maximum face by face, where no dual bound is tight."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.strs.domains import (
    EPS,
    Domain,
    block_slack,
    dual_bound_on_sphere,
    length_of,
    maximise_on_sphere,
    multiplier_on_orthant,
    sphere_bound,
)

# The sphere's other local maximum: a quadratic has at most one besides the global ones.


STEPS = 200
"""Newton steps at most; each at least halves what is left of the way, near the end much more."""


def other_local_maximiser(A: FloatArray, a: FloatArray) -> FloatArray | None:
    """Return the local maximiser of zᵀAz + aᵀz on ‖z‖₂ = 1 that is not global; None without one.

    With A = UΛUᵀ, λ₁ > λ₂ ≥ … its eigenvalues and c = ½Uᵀa it is z = ½(μI − A)⁻¹a for the
    largest μ in (λ₂, λ₁) with Σ c_i²/(μ − λ_i)² = 1 (Martínez, 1994). In the hard case, c₁ = 0
    up to rounding error, it is the mirror image of the global one across the top eigenvector.
    """
    eigenvalues, vectors = np.linalg.eigh(A)
    gaps = (eigenvalues[-1] - eigenvalues)[:-1]
    c = (vectors.T @ a) / 2
    top, rest = float(c[-1]), c[:-1]
    room = float(gaps.min(initial=np.inf))
    t = abs(top)
    if t <= 8 * EPS * length_of(a):
        if room <= 0.0:
            return None
        # Both signs along the top eigenvector: the search on the sphere took one of them.
        along = rest / gaps
        missing = 1.0 - float(along @ along)
        if missing < 0.0:
            return None
        sign = -1.0 if top >= 0 else 1.0
        mirrored: FloatArray = vectors @ np.append(along, sign * np.sqrt(missing))
        return mirrored
    # μ = λ₁ − t: from the left Newton on the convex Σ − 1 never passes the first root.
    for _ in range(STEPS):
        if t >= room:
            return None
        shares = np.append(rest / (gaps - t), -top / t)
        excess = float(shares @ shares) - 1.0
        if excess <= 1e-15:
            break
        squares = shares * shares
        slope = 2 * float(squares[:-1] @ (1 / (gaps - t)) - squares[-1] / t)
        if slope >= 0.0:
            return None
        step = -excess / slope
        if t + step <= t:
            break
        t += step
    z: FloatArray = vectors @ np.append(rest / (gaps - t), -top / t)
    return z / np.linalg.norm(z)


# The maximum over the sphere within z ≥ 0, face by face where no dual bound settles it.
#
# A maximiser lies in the interior of some face {z : z_i = 0 for i outside P, ‖z‖₂ = 1}, and there
# it is a local maximiser on the sphere in the variables P: the global one or the only other one
# (`other_local_maximiser`). A face needs no further look below it if the sphere's maximiser is in
# it, or if
#
#     μ + ¼ tᵀ(μI − A)⁻¹t,   t ≥ a,  μI − A positive definite,
#
# is tight or low enough: it bounds zᵀAz + aᵀz for z ≥ 0, since aᵀz ≤ tᵀz.


MARGIN = 1e-9
"""How far above λ_max(A) the multiplier of the dual bound stays, as a part of ‖A‖."""


@dataclass
class FaceSearch:
    """Branch and bound over the faces of one support.

    `cutoff` is a value that need not be beaten; after `limit` faces the rest keep their bounds.
    `bound` is proved, rounding error allowed for, and close unless only the point matters
    (`prove` is False); `point` is the best met.
    """

    A: FloatArray
    a: FloatArray
    cutoff: float = -np.inf
    limit: int = 2_000
    prove: bool = True
    value: float = field(default=-np.inf, init=False)
    bound: float = field(default=-np.inf, init=False)

    def __post_init__(self) -> None:
        self.point = np.zeros(self.a.shape[0])

    def run(self) -> FaceSearch:
        """Visit faces, the largest first, until none is open; return itself."""
        everything = np.arange(self.a.shape[0])
        # Faces still to visit: the variables, how many of the first must stay, and a bound.
        open_faces: list[tuple[IntArray, int, float]] = [(everything, 0, np.inf)]
        visited = 0
        while open_faces and visited < self.limit:
            face, kept, parent_bound = open_faces.pop()
            visited += 1
            bound, order = self._visit(face, kept, parent_bound)
            if order is None:
                self.bound = max(self.bound, bound)
                continue
            # The k-th child drops the k-th variable and keeps those before it: each face once.
            last_first = range(len(face) - 1, kept - 1, -1)
            open_faces.extend((np.delete(order, k), k, bound) for k in last_first)
        for _, _, parent_bound in open_faces:
            self.bound = max(self.bound, parent_bound)
        return self

    def _visit(
        self, face: IntArray, kept: int, parent_bound: float
    ) -> tuple[float, IntArray | None]:
        """Return a bound over a face, and the order to drop its variables in; None if it is done.

        The first `kept` variables stay first: they are not dropped.
        """
        A, a = self.A[np.ix_(face, face)], self.a[face]
        slack = block_slack(A, a)
        if face.shape[0] == 1:
            # One sum, rounded once.
            value = self._offer(face, np.ones(1))
            return value + EPS * abs(value), None
        z, value = maximise_on_sphere(A, a)
        if (z <= 0).all() and not a.any():
            z = -z
        if (z >= 0).all():
            effort = self.cutoff if self.prove else np.inf
            return sphere_bound(A, a, self._offer(face, z), effort), None
        bound = min(parent_bound, value + slack)
        if bound <= max(self.value, self.cutoff):
            return bound, None
        mu, w = self._dual_point(A, a, z)
        largest = float(w.max())
        if largest > 0.0:
            # Beside a small a this point is so short that the squares of its entries vanish.
            w_near_one = w / largest
            self._offer(face, w_near_one / np.linalg.norm(w_near_one))
        # Complementary slackness at w; any t ≥ a is valid.
        t = np.maximum(a, 2 * (mu * w - A @ w))
        bound = min(bound, dual_bound_on_sphere(A, t, mu))
        if bound <= max(self.value + slack, self.cutoff):
            return bound, None
        other = other_local_maximiser(A, a)
        if other is not None and (other >= 0).all():
            self.bound = max(self.bound, self._offer(face, other) + slack)
        if face.shape[0] == kept:
            return self.bound, None
        droppable = kept + np.argsort(z[kept:], kind="stable")
        return bound, np.concatenate([face[:kept], face[droppable]])

    def _dual_point(self, A: FloatArray, a: FloatArray, z: FloatArray) -> tuple[float, FloatArray]:
        """Return the μ, above λ_max(A), of the least dual bound, and its maximiser."""
        eigenvalues = np.linalg.eigvalsh(A)
        scale = float(np.abs(eigenvalues).max()) + float(np.abs(a).max())
        lowest = float(eigenvalues[-1]) + MARGIN * scale
        multiplier: tuple[float, FloatArray] = multiplier_on_orthant(-A, a, lowest, z > 0)
        return multiplier

    def _offer(self, face: IntArray, entries: FloatArray) -> float:
        """Keep a point if it is the best so far; return its value."""
        value = float(entries @ self.A[np.ix_(face, face)] @ entries + self.a[face] @ entries)
        if value > self.value:
            self.value = value
            self.point = np.zeros(self.a.shape[0])
            self.point[face] = entries
        return value


QUICK = 200
"""Faces that the search for a good point visits; a proof may take more."""


class SphereOrthant(Domain):
    """‖z‖₂ = 1, z ≥ 0.

    The sphere's own maximiser where it is nonnegative; else a dual bound that is tight wherever
    μI − A is positive definite at the maximiser; else the faces, one by one (`FaceSearch`).
    """

    on_sphere = True
    nonnegative = True

    def maximise(
        self, A: FloatArray, a: FloatArray, above: float = -np.inf
    ) -> tuple[FloatArray, float]:
        """Return the best point found: the maximiser, unless more than 200 faces are in play."""
        z, value = maximise_on_sphere(A, a)
        if (z >= 0).all():
            return z, value
        search = FaceSearch(A, a, cutoff=above, limit=QUICK, prove=False).run()
        return search.point, search.value

    def bound(
        self, A: FloatArray, a: FloatArray, value: float, cutoff: float, error: float
    ) -> float:
        """Return a proved bound: the maximum and its slack, unless too many faces are in play."""
        search = FaceSearch(A, a, cutoff=max(cutoff - error, value)).run()
        return max(search.bound, value) + error
