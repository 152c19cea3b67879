"""The sphere ‖z‖₂ = 1: one trust region step per support."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.strs.domains.base import Domain
from tellapart.strs.rounding import sphere_bound
from tellapart.strs.trust_region import maximise_on_sphere


class Sphere(Domain):
    """‖z‖₂ = 1, entries of any sign."""

    on_sphere = True
    nonnegative = False

    def maximise(
        self,
        A: FloatArray,
        a: FloatArray,
        above: float = -np.inf,  # noqa: ARG002 - one eigendecomposition answers everything
    ) -> tuple[FloatArray, float]:
        """Return the maximiser on the sphere (`maximise_on_sphere`), whatever `above`."""
        return maximise_on_sphere(A, a)

    def bound(
        self, A: FloatArray, a: FloatArray, value: float, cutoff: float, error: float
    ) -> float:
        """Return the value and its slack, or a dual bound (`sphere_bound`)."""
        return sphere_bound(A, a, value, cutoff, error)


SPHERE = Sphere()
"""The domain where nothing else is said."""
