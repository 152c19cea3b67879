"""Gradient steps cut back to d variables: the cheapest useful heuristic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.strs.contract import Control, Solution
from tellapart.strs.incumbent import Incumbent
from tellapart.strs.problem import SparseQuadratic, polish

_TINY = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True)
class Thresholding:
    """S ← the d largest |z + t∇|, ∇ = a + 2Az, z the maximiser on S. No upper bound.

    For many problems of one kind, as in tuning: a few products with A and eigendecompositions
    of order d, no randomness. Steps are `lengths` times 1/L, L the curvature of the objective.
    """

    name: str = "thresholding"
    lengths: tuple[float, ...] = (1.0, 8.0)
    iterations: int = 30

    def solve(
        self, problem: SparseQuadratic, control: Control, start: IntArray | None = None
    ) -> Solution:
        """Return the best support met on the way from a few starts."""
        curvature = 2.0 * _norm(problem)
        starts = [
            problem.best_support(problem.a),
            # The signal per unit of its own noise, where A is a penalty on variance.
            problem.best_support(problem.a / np.sqrt(np.abs(problem.diagonal) + _TINY)),
        ]
        if start is not None:
            starts.append(start)
        best, steps = Incumbent(problem, control), 0
        for support in starts:
            for length in self.lengths:
                steps += self._climb(best, support, length, curvature)
            if control.out_of_time:
                break
        return best.solution(self.name, steps)

    def _climb(self, best: Incumbent, support: IntArray, length: float, curvature: float) -> int:
        """Offer the supports on one path; return the steps taken."""
        problem = best.problem
        seen: set[bytes] = set()
        while support.tobytes() not in seen and len(seen) < self.iterations:
            seen.add(support.tobytes())
            z, value = polish(problem, support)
            best.keep(support, value)
            gradient = problem.a + 2.0 * problem.product(z)
            # L z + length·∇, not z + (length/L)∇: without curvature there is no step to take.
            support = problem.best_support(curvature * z + length * gradient)
        return len(seen)


def _norm(problem: SparseQuadratic, sweeps: int = 20) -> float:
    """Return about ‖A‖₂, by power iteration from a fixed start."""
    vector: FloatArray = np.linspace(1.0, 2.0, problem.n_columns)
    length = 0.0
    for _ in range(sweeps):
        vector = problem.product(vector / np.linalg.norm(vector))
        length = float(np.linalg.norm(vector))
        if length == 0.0:
            return 0.0
    return length
