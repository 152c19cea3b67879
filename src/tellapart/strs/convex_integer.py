"""Convex integer programming on the ℓ₁ relaxation: the paper's tightest approximation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arguments import check_integer
from tellapart.errors import InputError
from tellapart.strs.base import finish, truncate
from tellapart.strs.control import Control
from tellapart.strs.convex_integer_model import Program, run_scip
from tellapart.strs.convex_integer_socp import solve_socp
from tellapart.strs.local_search import LocalSearch, improve_by_swaps
from tellapart.strs.optional import load
from tellapart.strs.problem import FloatArray, IntArray, SparseTrustRegion
from tellapart.strs.solution import Solution
from tellapart.strs.trust_region import polish

ERROR = 0.01
"""The interpolation may add this part of the best value to the bound, where N ≤ 8 allows."""


@dataclass(frozen=True)
class ConvexInteger:
    """Relax ‖z‖₀ ≤ d to ‖z‖₁ ≤ √d, and the squares along few eigenvectors to chords. A bound.

    max zᵀAz + aᵀz over ‖z‖₂ ≤ 1, ‖z‖₁ ≤ √d, where directions with λ_i ≤ λ₀ enter exactly and
    the others by a piecewise linear interpolation of the square with 2N pieces (`Program`).
    For A ⪰ 0 and λ₀ ≤ opt, with ρ = 1 + √(d/(d + 1)),

        opt ≤ bound ≤ ρ²·opt + (1/4N²) Σ_{λ_i>λ₀}(λ_i − λ₀)θ_i².

    λ₀ is the best value swaps find, or λmax(A) if that is smaller: then nothing is left to
    interpolate and the program is one second-order cone program (Clarabel); otherwise it goes
    to SCIP. The solution is rounded to its d largest entries, polished and improved by swaps.
    Use it to reproduce the paper; `branch-and-bound` closes the gap, usually faster.

    Attributes
    ----------
    pieces : int, optional
        N; None takes the least N ≤ 8 whose interpolation error is below 1 % of the best value.
    largest : int
        Most variables accepted: the program needs all eigenvectors of A.
    """

    name: str = "convex-integer"
    pieces: int | None = None
    largest: int = 2_000

    def solve(
        self, problem: SparseTrustRegion, control: Control, start: IntArray | None = None
    ) -> Solution:
        """Return the rounded, polished solution with the program's proved bound."""
        if self.pieces is not None:
            check_integer("pieces", self.pieces, 1)
        if problem.size > self.largest:
            raise InputError(
                f"solver {self.name!r} takes at most {self.largest:,} variables; "
                f"got {problem.size:,}; use 'branch-and-bound'"
            )
        load("clarabel", self.name)
        load("pyscipopt", self.name)
        best = truncate(problem.a, problem.d) if start is None else start
        bound: float | None = None
        nodes = 0
        try:
            best = LocalSearch().solve(problem, control, start).support
            best, bound = self._cone_program(problem, best, control)
            best, bound, nodes = self._integer_program(problem, best, bound, control)
        except KeyboardInterrupt:
            # What is proved so far stands; the caller gets it instead of a traceback.
            pass
        return finish(
            problem, best, upper_bound=bound, solver=self.name, iterations=nodes, control=control
        )

    def _cone_program(
        self, problem: SparseTrustRegion, best: IntArray, control: Control
    ) -> tuple[IntArray, float]:
        """Return the program's solution for λ₀ = λmax(A): cheap, and a bound in any case."""
        top = float(np.linalg.eigvalsh(problem.A)[-1])
        z, bound = solve_socp(problem.A, problem.a, problem.d, top, control, self.name)
        return _better(problem, best, z, control), bound

    def _integer_program(
        self, problem: SparseTrustRegion, best: IntArray, bound: float, control: Control
    ) -> tuple[IntArray, float, int]:
        """Return the best support, the lower bound of the two programs, and SCIP's nodes."""
        value = polish(problem, best)[1]
        program = Program.build(
            problem.A, problem.a, problem.d, value, self.pieces, ERROR * abs(value)
        )
        if program.curved.shape[0] == 0 or control.out_of_time or control.closed(value, bound):
            return best, bound, 1
        outcome = run_scip(program, value, control, self.name)
        for z in outcome.points[:3]:
            best = _better(problem, best, z, control)
        return best, min(bound, outcome.bound), outcome.nodes


def _better(
    problem: SparseTrustRegion, best: IntArray, z: FloatArray, control: Control
) -> IntArray:
    """Return the better of a support and the one that swaps reach from the rounded z."""
    support, value, _ = improve_by_swaps(problem, truncate(z, problem.d), control)
    return support if value > polish(problem, best)[1] else best
