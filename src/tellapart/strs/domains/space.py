"""The whole space, or the part of it with z ≥ 0: A is negative definite."""

from __future__ import annotations

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.strs.domains.base import Domain
from tellapart.strs.orthant import maximise_on_orthant
from tellapart.strs.rounding import dual_bound_on_sphere


class Space(Domain):
    """Any z: the maximum over a support is ¼aᵀM⁻¹a, M = −A."""

    on_sphere = False
    nonnegative = False

    def maximise(
        self,
        A: FloatArray,
        a: FloatArray,
        above: float = -np.inf,  # noqa: ARG002 - one solve answers everything
    ) -> tuple[FloatArray, float]:
        """Return ½M⁻¹a and its value."""
        z: FloatArray = np.linalg.solve(-A, a / 2).astype(np.float64, copy=False)
        return z, float(z @ A @ z + a @ z)

    def bound(
        self,
        A: FloatArray,
        a: FloatArray,
        value: float,
        cutoff: float,  # noqa: ARG002 - there is one bound only
        error: float,
    ) -> float:
        """Return ¼tᵀM⁻¹t, t = a or, where z ≥ 0, above it; rounding error allowed for."""
        t = self._above(A, a)
        # The bound on the sphere at μ = 0 holds without the sphere.
        return max(dual_bound_on_sphere(A, t, 0.0), value) + error

    def _above(self, A: FloatArray, a: FloatArray) -> FloatArray:  # noqa: ARG002 - see SpaceOrthant
        """Return the linear term of the bound: a, or any t ≥ a where z ≥ 0."""
        return a


class SpaceOrthant(Space):
    """z ≥ 0: nonnegative least squares on each support."""

    nonnegative = True

    def maximise(
        self,
        A: FloatArray,
        a: FloatArray,
        above: float = -np.inf,  # noqa: ARG002 - one solve answers everything
    ) -> tuple[FloatArray, float]:
        """Return the maximiser over z ≥ 0 and its value."""
        z = maximise_on_orthant(-A, a, a > 0)
        return z, float(z @ A @ z + a @ z)

    def _above(self, A: FloatArray, a: FloatArray) -> FloatArray:
        """Return max(a, 2Mz): at the maximiser z this makes the bound tight."""
        z: FloatArray = maximise_on_orthant(-A, a, a > 0)
        return np.maximum(a, -2 * (A @ z))
