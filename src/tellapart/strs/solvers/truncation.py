"""Truncation: the paper's two cheapest approximations, with their guarantees."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.budget import current_budget
from tellapart.strs.contract import Control, Solution, is_plain
from tellapart.strs.domains import maximise_on_sphere
from tellapart.strs.incumbent import Incumbent, fill_up
from tellapart.strs.problem import SparseQuadratic


@dataclass(frozen=True)
class Truncation:
    """Best of Truncation I and II, polished on its support. A fast start; no upper bound.

    I: normalised d-sparse truncations of the columns of A, and the basis vectors, with both
    signs (−z has the other linear term). II: truncation of the trust region solution without
    the sparsity constraint. For A ⪰ 0,
    V_I ≥ opt/√d − 2‖a‖_(d+1) and V_II ≥ (d/D)·opt − (d/D)‖a‖₂ − (1 + √(d/D))‖a‖_(d).
    The truncation of a itself, exact for A = 0, is tried too. A is shifted to be PSD for I,
    which changes no ranking of points on the sphere. Above 2,000 variables only the truncation
    of a is tried.
    """

    name: str = "truncation"

    def solve(
        self, problem: SparseQuadratic, control: Control, start: IntArray | None = None
    ) -> Solution:
        """Return the best truncation, polished."""
        supports = candidate_supports(problem)
        if start is not None:
            supports.append(start)
        best = Incumbent(problem, control)
        for support in supports:
            best.offer(support)
        return best.solution(self.name, len(supports))


def candidate_supports(problem: SparseQuadratic, limit: int | None = None) -> list[IntArray]:
    """Return the supports worth polishing: of a, of Truncation I's best, of Truncation II.

    I and II take an eigendecomposition of order D: above `limit` variables (by default those
    of the budget) they are left out.
    """
    limit = current_budget().dense_columns if limit is None else limit
    supports = [problem.best_support(problem.a)]
    if problem.n_columns <= limit:
        spectrum = np.linalg.eigh(problem.A)
        one = np.flatnonzero(truncation_one(problem, float(spectrum[0][0])))
        supports.append(one if is_plain(problem) else fill_up(problem, one))
        unconstrained, _ = maximise_on_sphere(problem.A, problem.a, spectrum)
        supports.append(problem.best_support(unconstrained))
    return supports


def truncation_one(problem: SparseQuadratic, lowest: float) -> FloatArray:
    """Return the best normalised truncation of a column of the PSD-shifted A, or basis vector.

    `lowest` is the lowest eigenvalue of A.
    """
    columns = problem.A - min(lowest, 0.0) * np.eye(problem.n_columns)
    kept = np.argsort(-np.abs(columns), axis=0, kind="stable")[: problem.d]
    points = np.zeros_like(columns)
    np.put_along_axis(points, kept, np.take_along_axis(columns, kept, axis=0), axis=0)
    lengths = np.linalg.norm(points, axis=0)
    points = points[:, lengths > 0] / lengths[lengths > 0]
    points = np.hstack([points, np.eye(problem.n_columns)])
    quadratic = np.einsum("ij,ij->j", points, problem.A @ points)
    linear = problem.a @ points
    best = int(np.argmax(quadratic + np.abs(linear)))
    return points[:, best] if linear[best] >= 0 else -points[:, best]
