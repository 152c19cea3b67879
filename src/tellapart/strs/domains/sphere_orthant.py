"""The part of the sphere with z ≥ 0."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.strs.domains.base import Domain
from tellapart.strs.domains.faces import FaceSearch
from tellapart.strs.trust_region import maximise_on_sphere

QUICK = 200
"""Faces that the search for a good point visits; a proof may take more."""


class SphereOrthant(Domain):
    """‖z‖₂ = 1, z ≥ 0.

    The sphere's own maximiser where it is nonnegative; else a dual bound that is tight wherever
    μI − A is positive definite at the maximiser; else the faces, one by one (`faces`).
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
