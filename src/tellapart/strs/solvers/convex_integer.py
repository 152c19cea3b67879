"""Convex integer programming on the ℓ₁ relaxation: the paper's tightest approximation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tellapart.arguments import check_integer
from tellapart.arrays import IntArray
from tellapart.strs.bounds.l1 import Program, run_scip, solve_socp
from tellapart.strs.contract import (
    Control,
    Solution,
    check_accepted,
)
from tellapart.strs.incumbent import Incumbent, Search
from tellapart.strs.problem import SparseQuadratic
from tellapart.strs.solvers.local_search import LocalSearch

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

    libraries: ClassVar = ("clarabel", "pyscipopt")

    def __post_init__(self) -> None:
        if self.pieces is not None:
            check_integer("pieces", self.pieces, 1)

    def solve(
        self, problem: SparseQuadratic, control: Control, start: IntArray | None = None
    ) -> Solution:
        """Return the rounded, polished solution with the program's proved bound."""
        check_accepted(problem, self)
        return _Relaxation(problem, control, self).solve(self.name, start)


class _Relaxation(Search):
    """The cone program and, where it is not enough, the integer one."""

    def __init__(self, problem: SparseQuadratic, control: Control, settings: ConvexInteger) -> None:
        super().__init__(Incumbent.of_linear_term(problem, control))
        self.settings = settings
        self.bound: float | None = None

    def upper_bound(self) -> float | None:
        """Return the bound of the last program; None before the first."""
        return None if self.bound is None else self.bound + self.problem.forming_error

    def run(self, start: IntArray | None) -> None:
        """Find a point, solve the cone program and, where λmax(A) > λ₀, the integer one."""
        problem, control, name = self.problem, self.control, self.settings.name
        self.best.offer(LocalSearch().solve(problem, control, start).support)
        eigenvalues, vectors = np.linalg.eigh(problem.A)
        # λ₀ = λmax(A) first: a cheap program, and a proved bound in any case.
        top = float(eigenvalues[-1])
        z, self.bound = solve_socp(problem.A, problem.a, problem.d, top, control, name)
        self.iterations = 1
        self.best.improve(problem.best_support(z))
        done = control.out_of_time or control.closed(self.best.value, self.bound)
        if self.best.value >= top or done:
            return
        program = Program.build(
            eigenvalues,
            vectors,
            problem.a,
            problem.d,
            floor=self.best.value,
            pieces=self.settings.pieces,
            accuracy=ERROR * abs(self.best.value),
        )
        outcome = run_scip(program, self.best.value, control, name)
        self.iterations = outcome.nodes
        # SCIP offers no certificate. A bound that a known point refutes is no bound at all.
        if outcome.bound >= self.best.value:
            self.bound = min(self.bound, outcome.bound)
        if outcome.interrupted:
            raise KeyboardInterrupt
        for z in outcome.points[:3]:
            self.best.improve(problem.best_support(z))
