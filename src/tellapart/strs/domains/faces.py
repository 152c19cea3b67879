"""The maximum over the sphere within z ≥ 0, face by face where no dual bound settles it.

A maximiser lies in the interior of some face {z : z_i = 0 for i outside P, ‖z‖₂ = 1}, and there
it is a local maximiser on the sphere in the variables P: the global one or the only other one
(`local_maximum`). A face needs no further look below it if the sphere's maximiser is in it, or if

    μ + ¼ tᵀ(μI − A)⁻¹t,   t ≥ a,  μI − A positive definite,

is tight or low enough: it bounds zᵀAz + aᵀz for z ≥ 0, since aᵀz ≤ tᵀz.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.strs.domains.local_maximum import other_local_maximiser
from tellapart.strs.orthant import multiplier_on_orthant
from tellapart.strs.rounding import EPS, block_slack, dual_bound_on_sphere, sphere_bound
from tellapart.strs.trust_region import maximise_on_sphere

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
            face, kept, known = open_faces.pop()
            visited += 1
            bound, order = self._visit(face, kept, known)
            if order is None:
                self.bound = max(self.bound, bound)
                continue
            # The k-th child drops the k-th variable and keeps those before it: each face once.
            last_first = range(len(face) - 1, kept - 1, -1)
            open_faces.extend((np.delete(order, k), k, bound) for k in last_first)
        for _, _, known in open_faces:
            self.bound = max(self.bound, known)
        return self

    def _visit(self, face: IntArray, kept: int, known: float) -> tuple[float, IntArray | None]:
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
        bound = min(known, value + slack)
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
        found: tuple[float, FloatArray] = multiplier_on_orthant(-A, a, lowest, z > 0)
        return found

    def _offer(self, face: IntArray, part: FloatArray) -> float:
        """Keep a point if it is the best so far; return its value."""
        value = float(part @ self.A[np.ix_(face, face)] @ part + self.a[face] @ part)
        if value > self.value:
            self.value = value
            self.point = np.zeros(self.a.shape[0])
            self.point[face] = part
        return value
