"""The paper's strong SDP relaxation, rounded: a good point with a proved upper bound."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from tellapart.arrays import IntArray
from tellapart.strs.bounds.admm import AdmmSettings, Standing, solve_admm
from tellapart.strs.contract import (
    Control,
    Solution,
    check_accepted,
)
from tellapart.strs.incumbent import Incumbent, Search
from tellapart.strs.problem import SparseQuadratic

HOPELESS = 0.05
"""An error of the bound below this part of its distance to the best point is not the obstacle."""
FINEST = 1e-7
"""The relaxation is not solved to more than this: first-order steps would take too long."""


@dataclass(frozen=True)
class Sdp:
    """The strong SDP relaxation by ADMM, rounded to the d largest q and polished.

    max ⟨Ã, Z⟩ over Z ⪰ 0 of order D + 1 with Z₀₀ = 1, tr Z = 2, and for i = 1, …, D

        Σ_j Z_ij² ≤ Z_ii q_i,  (Σ_j |Z_ij|)² ≤ d Z_ii q_i,  0 ≤ q ≤ 1,  Σq ≤ d,

    where Ã holds A and, beside it, a/2. For A ⪰ 0 the relaxation is at most
    ‖a‖₂ + min{(D/d)·opt, d·opt − min|a_k|}. The bound reported is not ADMM's objective but the
    dual function at its multiplier, proved for any multiplier (`dual_bound`).

    The one to take for A with large positive eigenvalues and small a (sparse principal
    components) at D up to a few hundred, for a bound rather than a proof of optimality.

    Attributes
    ----------
    settings : AdmmSettings
        How ADMM runs. A small gap lowers its tolerance where that may close the gap.
    largest : int
        Variables at most: every iteration decomposes a matrix of order D + 1.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.strs import SparseTrustRegion, solve
    >>> solution = solve(SparseTrustRegion(np.ones((4, 4)), np.zeros(4), d=2), Sdp())
    >>> round(solution.value, 6), solution.status
    (2.0, 'optimal')
    """

    name: str = "sdp"
    settings: AdmmSettings = field(default_factory=AdmmSettings)
    largest: int = 1_000

    def solve(
        self, problem: SparseQuadratic, control: Control, start: IntArray | None = None
    ) -> Solution:
        """Return the best rounded point and the best proved bound."""
        check_accepted(problem, self)
        return _Rounding(problem, control, self.settings).solve(self.name, start)


class _Rounding(Search):
    """The best point and bound of one run, kept up to date as ADMM proceeds."""

    def __init__(self, problem: SparseQuadratic, control: Control, settings: AdmmSettings) -> None:
        super().__init__(Incumbent.of_linear_term(problem, control))
        self.settings = settings
        self.bound: float | None = None

    def upper_bound(self) -> float | None:
        """Return the best bound of ADMM so far."""
        return self.bound

    def run(self, start: IntArray | None) -> None:
        """Solve the relaxation, rounding its shares on the way; exchange variables at the end."""
        if start is not None:
            self.best.offer(start)
        problem = self.problem
        tolerance = min(self.settings.tolerance, tolerance_for(self.control.gap))
        solve_admm(
            problem.A,
            problem.a,
            problem.d,
            np.zeros(problem.n_columns, dtype=bool),
            replace(self.settings, tolerance=tolerance),
            self.stop,
        )
        if self.bound is not None and not self.control.closed(self.best.value, self.bound):
            self.best.improve(self.best.support)

    def stop(self, standing: Standing | None) -> bool:
        """Round the shares at a check; say whether the gap is closed or time is up."""
        if standing is None:
            self.iterations += 1
            return self.control.out_of_time
        self.iterations = standing.iterations
        self.bound = standing.bound.value + self.problem.forming_error
        self.best.offer(self.problem.best_support(standing.q))
        self.control.report_progress(self.iterations, self.best.value, self.bound)
        if self.control.closed(self.best.value, self.bound) or self.control.out_of_time:
            return True
        # Accurate, and far too accurate for the rest to close the gap to the rounded point.
        accurate = self.settings.tolerance * abs(self.bound)
        return standing.error <= min(accurate, HOPELESS * (self.bound - self.best.value))


def tolerance_for(gap: float) -> float:
    """Return the accuracy of relaxations that can close a gap: at the gap itself, they may not."""
    return max(0.3 * gap, FINEST)
