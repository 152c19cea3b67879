"""Outer approximation: the paper's exact algorithm, with cuts that hold for every support."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import FloatArray, IntArray
from tellapart.strs.bounds.cut_loop import Master, close_gap
from tellapart.strs.bounds.cuts import CutSource, HullCuts, SdpCuts, shrink_root
from tellapart.strs.contract import (
    Control,
    Solution,
    check_accepted,
)
from tellapart.strs.incumbent import Incumbent, Search
from tellapart.strs.problem import SparseQuadratic
from tellapart.strs.solvers.local_search import LocalSearch

CUTS = ("auto", "closed-form", "sdp")
SDP_LIMIT = 14
"""Up to this many variables semidefinite cuts are cheap enough to be an automatic choice."""
SDP_LARGEST = 60
"""Beyond this one semidefinite program takes minutes, and no time limit can be kept."""


@dataclass(frozen=True)
class OuterApproximation:
    """Maximise over binary q the least of the cuts met so far; cut again at its solution. Exact.

    f(q), the best value over supports marked by q, is concave on [0, 1]^D, and every cut
    f(q̂) + gᵀ(q − q̂) lies above it everywhere. The master problem (HiGHS) gives an upper bound
    f̄ and a new q̂, whose value is a lower one; the work ends when f̄(q̂) − f(q̂) is within the
    gap (the paper prints the difference reversed). Fractional rounds and the root relaxation's
    cut come first, so that few integer programs are left.

    Attributes
    ----------
    cuts : "auto", "closed-form" or "sdp"
        Closed-form cuts cost one eigendecomposition each. "sdp" are the paper's own: a
        semidefinite program (Clarabel) per cut, tighter for sparse-PCA-like problems, slow beyond
        D = 30. Either way the root relaxation first drops the variables that it proves useless.
        "auto" takes "sdp" where no more than 14 variables are left and the closed-form cut is
        not exact at the best support.
    largest : int
        Most variables accepted.
    """

    name: str = "outer-approximation"
    cuts: str = "auto"
    largest: int = 2_000

    def __post_init__(self) -> None:
        check_choice("cuts", self.cuts, CUTS)

    @property
    def libraries(self) -> tuple[str, ...]:
        """The modules that it needs."""
        return ("highspy",) if self.cuts == "closed-form" else ("highspy", "clarabel")

    def solve(
        self, problem: SparseQuadratic, control: Control, start: IntArray | None = None
    ) -> Solution:
        """Return the best support and the bound of the last master problem."""
        largest = min(self.largest, SDP_LARGEST) if self.cuts == "sdp" else self.largest
        check_accepted(problem, self, largest, f"{self.name!r} with cuts={self.cuts!r}")
        return _CutSearch(problem, control, self).solve(self.name, start)


class _CutSearch(Search):
    """The bounds of what is open and of what is given up, as cuts are added."""

    def __init__(
        self, problem: SparseQuadratic, control: Control, settings: OuterApproximation
    ) -> None:
        super().__init__(Incumbent.of_linear_term(problem, control))
        self.settings = settings
        self.given_up = -np.inf
        self.open_bound = np.inf

    @property
    def value(self) -> float:
        """The best value so far."""
        return self.best.value

    @property
    def cutoff(self) -> float:
        """The bound at which the work is done."""
        return self.best.cutoff

    @property
    def stopped(self) -> bool:
        """Whether the time limit has passed."""
        return self.control.out_of_time

    def upper_bound(self) -> float | None:
        """Return what is proved; None before the first bound."""
        bound = float(max(self.open_bound, self.given_up)) + self.problem.forming_error
        return bound if np.isfinite(bound) else None

    def run(self, start: IntArray | None) -> None:
        """Bound the root, then alternate between the master problem and new cuts."""
        self.best.offer(LocalSearch().solve(self.problem, self.control, start).support)
        source = self.source()
        if source is None:
            return
        self.open_bound = source.bound
        if source.bound <= self.cutoff:
            return
        picks = self.problem.d - int(source.forced.sum())
        cuts = [*source.seed(), *source.at(self.marked(source))]
        master = Master(
            source.forced, picks, self.value, source.bound, cuts, solver=self.settings.name
        )
        close_gap(self, source, master)

    def source(self) -> CutSource | None:
        """Return where cuts come from; None if the root already settles everything."""
        if self.problem.d == self.problem.n_columns:
            self.open_bound = self.best.offer_whole(np.arange(self.problem.n_columns))
            return None
        if not self.problem.a.any() and not self.problem.A.any():
            # Every point has the value 0, which no relative gap can be measured against.
            self.open_bound = 0.0
            return None
        root = shrink_root(self.problem, self.value, self.control)
        self.given_up = root.given_up
        self.open_bound = root.node.bound
        if root.relaxed is not None:
            return self.choose(HullCuts(self.problem, root.relaxed))
        if root.node.is_leaf(self.problem.d):
            support = root.node.leaf_support(self.problem.d)
            self.open_bound = min(self.open_bound, self.best.offer_whole(support, swaps=True))
        return None

    def choose(self, hull: HullCuts) -> CutSource:
        """Return the closed-form cuts or the semidefinite ones over the same variables."""
        wanted = self.settings.cuts == "sdp"
        if self.settings.cuts == "auto" and hull.variables.shape[0] <= SDP_LIMIT:
            wanted = not hull.exact(self.marked(hull))
        return SdpCuts(hull, self.control, self.settings.name) if wanted else hull

    def offer(self, support: IntArray) -> None:
        """Take over a support if it is better, after swaps."""
        self.best.offer(support, swaps=True)

    def count_master(self) -> None:
        """Count one more master problem, and report progress."""
        self.iterations += 1
        self.control.report_progress(self.iterations, self.value, self.upper_bound())

    def marked(self, source: CutSource) -> FloatArray:
        """Return the q of the best support, completed within the variables in play."""
        held = np.isin(source.variables, self.best.support)
        size = np.abs(self.problem.a[source.variables])
        order = np.lexsort((-size, ~held, ~source.forced))
        q = np.zeros(held.shape[0])
        q[order[: self.problem.d]] = 1.0
        return q
