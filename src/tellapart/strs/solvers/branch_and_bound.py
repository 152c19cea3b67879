"""Branch and bound on the hull bound with a shift per variable: exact, for any symmetric A."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import IntArray
from tellapart.budget import current_budget
from tellapart.strs.bounds.enumeration import Enumeration
from tellapart.strs.bounds.hull import (
    Curvature,
    HullNode,
    Relaxed,
    fix_variables,
    relax,
)
from tellapart.strs.bounds.screening import screen, screening_seconds
from tellapart.strs.bounds.shift import retune, tighten
from tellapart.strs.contract import Control, Solution, is_plain
from tellapart.strs.incumbent import CANDIDATES, Incumbent, TreeSearch
from tellapart.strs.problem import SparseQuadratic
from tellapart.strs.solvers.misdp import Misdp
from tellapart.threads import one_blas_thread

WORTH_A_NEW_SHIFT = 0.5
"""The shift is optimised again once a node has shrunk to this part of its variables…"""
CHEAP_SHIFT = 60
"""…and once at every node of at most this many…"""
RETUNED = 80
"""…or, at a larger one, that of so many variables, those that matter most."""
LOOSE_ROOT = 0.05
"""A relative gap left at the root above which the semidefinite bound is worth its time…"""
CURVED = 0.25
"""…if the largest eigenvalue of A is at least this part of the value…"""
NEARLY_HOMOGENEOUS = 0.1
"""…and any gap, if the linear term over d variables is at most this part of it."""
LEAST_MULTIPLIER = 0.02
"""An enumeration's multiplier μ is at least this part of the value…"""
SLACK_OF_BEST = 0.15
"""…and as large as leaves the best support's own bound within this part of its value, and half the
gap that is to be proved."""
ENUMERATION_GAPS = (0.3, 0.1, 0.03, 0.0)
"""The relative gaps that enumerations prove one after the other, down to the requested one…"""
SHORT_ENUMERATION = 5
"""…which is proved at once up to this many variables to pick…"""
LOOSE_FOR_LONG = 0.1
"""…while with more only gaps above this are worth the time…"""
LAST_ENUMERATION = 4
"""…or if this many times what a wider one took is left."""
TOO_LONG = 6.0
"""An enumeration is given up if what it still promises to take is more than so many times the
seconds left (the promise is far too high)…"""
TRIED = 1 / 3
"""…once it has taken this part of them."""
FEWER_PICKS = 2
"""After that only nodes with so many picks less are enumerated."""
SCREENED = 4
"""At the root of a problem with more variables than so many times those that get shifts of their
own, those are removed first that no good support holds…"""
SCREENING_PART = 0.5
"""…if that takes at most this part of the time that is left."""
JUST_BELOW = 0.999
"""The part of the allowed gap that it leaves: its end must be within the requested gap."""


@dataclass(frozen=True)
class BranchAndBound:
    """Best-first branch and bound over which variables are in. Exact within the requested gap.

    At a node the hull relaxation (`bounds.hull`) gives a bound, fixes variables by its
    scores, and is tightened by the best shift per variable (`bounds.shift`); its solution is
    rounded, polished and improved by swaps. Where the relaxation is loose and no semidefinite
    bound is better (few rows: variance averages away over columns that may not be used together),
    the supports of a node are enumerated in compiled code (`bounds.enumeration`). Stops at the gap,
    the time limit or Ctrl-C, always with the best point and a proved bound over all open nodes.

    Where A has large positive eigenvalues and a is small (a = 0 is sparse principal components)
    the hull bound is hardly better than λ_max(A) on the variables left. If that shows at the
    root, the search goes on with the bounds of `misdp`: at each node the best of the
    semidefinite, trust region, Gershgorin, trace and square bounds.
    """

    name: str = "branch-and-bound"

    def solve(
        self, problem: SparseQuadratic, control: Control, start: IntArray | None = None
    ) -> Solution:
        """Return the best point and its proved bound."""
        return HullSearch(problem, control).begin(start)


class HullSearch(TreeSearch[HullNode]):
    """The tree of hull bounds. Stopped by the clock, it can go on (`resume`) where it was."""

    def __init__(
        self, problem: SparseQuadratic, control: Control, best: Incumbent | None = None
    ) -> None:
        if best is None:
            tried = max(30, 3 * problem.d)
            best = Incumbent.of_linear_term(problem, control, candidates=tried)
        super().__init__(best, error=problem.forming_error)
        self.budget = current_budget()
        self.semidefinite_bound: float | None = None
        self.is_rooted = False
        self.is_screened = False
        self.formed: tuple[IntArray, Curvature] | None = None
        self.most_picks = problem.n_columns

    def begin(self, start: IntArray | None) -> Solution:
        """Search until the gap is closed or a limit is reached."""
        is_small = self.problem.n_columns <= self.budget.dense_columns
        threads = one_blas_thread() if is_small else nullcontext()
        solution = self.solve(BranchAndBound.name, start, threads)
        # Callbacks may hold anything; what is kept for later holds numbers only.
        self.control = self.best.control = replace(self.control, progress=None)
        is_over = solution.interrupted or self.semidefinite_bound is not None
        return (
            solution if is_over or self.highest <= self.cutoff else replace(solution, search=self)
        )

    def resume(self, control: Control) -> Solution:
        """Go on with the nodes that wait, within the limits of another control."""
        self.control = self.best.control = control
        self.most_picks = self.problem.n_columns
        return self.begin(None)

    @property
    def tolerance(self) -> float:
        """Accuracy of relaxations: a fraction of the requested gap."""
        return 0.1 * self.control.allowed(self.best.value)

    def upper_bound(self) -> float | None:
        """Return the lowest bound proved: of the tree, or of semidefinite relaxations."""
        bounds = (super().upper_bound(), self.semidefinite_bound)
        return min((bound for bound in bounds if bound is not None), default=None)

    def run(self, start: IntArray | None) -> None:
        """Search until nothing open can beat the cutoff, or time is up."""
        for support in [self.best.support, *([] if start is None else [start])]:
            self.best.improve(support)
        if not self.is_rooted:
            self.whole = Curvature.of(self.problem)
            self.root_shift = self.whole.lowest_shift()
            self.push(HullNode.root(self.problem, self.root_shift))
            self.is_rooted = True
        self.explore()
        if self.is_over:
            self.run_semidefinite()

    def run_semidefinite(self) -> None:
        """Go on where the hull bound is too weak, keeping the point and the bound it has."""
        visited = self.iterations

        def progress(iterations: int, value: float, bound: float | None) -> None:
            self.iterations, self.semidefinite_bound = visited + iterations, bound
            self.control.report_progress(self.iterations, value, self.upper_bound())

        control = replace(self.control, progress=progress)
        rest = Misdp().solve(self.problem, control, self.best.support)
        self.best.support, self.best.value = rest.support, rest.value
        self.iterations = visited + rest.iterations
        self.semidefinite_bound = rest.upper_bound
        if rest.interrupted:
            raise KeyboardInterrupt

    @property
    def is_over(self) -> bool:
        """Whether the root left a wide gap because A has large positive eigenvalues."""
        if self.iterations != 1 or self.problem.n_columns > self.budget.semidefinite_columns:
            return False
        if not is_plain(self.problem):
            return False
        scale = abs(self.best.value)
        linear = np.linalg.norm(self.problem.a[self.problem.best_support(self.problem.a)])
        if linear <= NEARLY_HOMOGENEOUS * scale:
            return self.highest > self.cutoff and self.is_curved
        wide = self.highest - self.best.value > LOOSE_ROOT * scale
        return wide and self.is_curved

    @property
    def is_curved(self) -> bool:
        """Whether A has an eigenvalue that matters beside the value."""
        return -self.root_shift >= CURVED * abs(self.best.value)

    def expand(self, node: HullNode) -> tuple[HullNode, ...]:
        """Bound a node, shrink it, and return its children; none if it is closed."""
        d = self.problem.d
        curvature = self.curvature_of(node)
        shifted_here = False
        while not node.is_leaf(d):
            relaxed = relax(
                node,
                curvature,
                self.problem.a,
                d,
                self.problem.domain,
                tolerance=self.tolerance,
                cutoff=self.cutoff,
                stop=self.stop,
            )
            self.current = relaxed.node
            rounded = relaxed.node.rounded(relaxed.node.q, relaxed.node.scores, d=d)
            if self.iterations == 1:
                self.best.improve(rounded)
            else:
                self.best.offer(rounded, swaps=True)
            if relaxed.node.bound <= self.cutoff:
                self.close(relaxed.node.bound)
                return ()
            node, given_up = fix_variables(relaxed, d, self.cutoff)
            self.close(given_up)
            if node.variables.shape[0] < relaxed.node.variables.shape[0]:
                curvature = self.curvature_of(node)
            if not np.array_equal(node.forced, relaxed.node.forced):
                if self.stop() and not node.is_leaf(d):
                    return (node,)
                continue
            if node.visits(d) <= self.budget.visited_supports_work:
                break
            size = node.variables.shape[0]
            shrunk = node.shift_size == 0 or size <= WORTH_A_NEW_SHIFT * node.shift_size
            if self.stop() or (shifted_here and not shrunk):
                enumerated = self.enumerate_supports(relaxed)
                if enumerated is None:
                    return ()
                return self.branch(replace(relaxed, node=enumerated))
            if self.is_worth_screening(relaxed):
                self.is_screened = True
                node, given_up = screen(
                    relaxed, d, value=self.best.value, cutoff=self.cutoff, stop=self.stop
                )
                self.close(given_up)
                if node.variables.shape[0] < size:
                    curvature = self.curvature_of(node)
                    continue
            shifted_here = True
            if not shrunk and size > CHEAP_SHIFT:
                node = retune(
                    relaxed,
                    d,
                    value=self.best.value,
                    cutoff=self.cutoff,
                    tolerance=2 * self.tolerance,
                    most=RETUNED,
                    stop=self.stop,
                )
                continue
            node = tighten(
                relaxed,
                d,
                value=self.best.value,
                cutoff=self.cutoff,
                tolerance=2 * self.tolerance,
                most=self.budget.shifted_columns * (2 if self.is_screened else 1),
                stop=self.stop,
            )
        self.visit_supports(node)
        return ()

    def curvature_of(self, node: HullNode) -> Curvature:
        """Return M over the variables of a node; formed from a factor only once."""
        if self.formed is not None:
            variables, curvature = self.formed
            return curvature.principal(np.searchsorted(variables, node.variables))
        curvature = self.whole.principal(node.variables)
        if self.whole.factor is not None and curvature.factor is None and not self._waiting:
            # No node is open beside this one: all that follow are parts of it.
            self.formed = node.variables, curvature
        return curvature

    def is_worth_screening(self, relaxed: Relaxed) -> bool:
        """Whether this is the root of a problem with far more variables than can be shifted."""
        many = relaxed.node.variables.shape[0] > SCREENED * self.budget.shifted_columns
        if self.is_screened or not many or not self.problem.domain.on_sphere:
            return False
        return screening_seconds(relaxed) <= SCREENING_PART * self.seconds_left

    def branch(self, relaxed: Relaxed) -> tuple[HullNode, ...]:
        """Return the children at the free variable whose perspective term is least tight."""
        node = relaxed.node
        slack = np.where(node.forced, -1.0, relaxed.point.slack)
        position = int(np.argmax(slack))
        if slack[position] <= 0.0:
            # An integral q that is not closed: separate at its most valuable variable.
            position = int(np.argmax(np.where(node.forced, -1.0, relaxed.hull.scores)))
        return node.branch(position, self.problem.d)

    def enumerate_supports(self, relaxed: Relaxed) -> HullNode | None:
        """Look at every support of a loose node in compiled code; None if that closes it.

        For one gap after the other: a wide one is proved much sooner, and its bound stays with
        the node where the next would take too long. The requested one is next where the time
        seems enough for it.
        """
        node = relaxed.node
        picks = node.picks(self.problem.d)
        loose = LOOSE_ROOT if picks <= SHORT_ENUMERATION else LOOSE_FOR_LONG
        wide = node.bound - self.best.value > loose * abs(self.best.value)
        small = node.variables.shape[0] <= self.budget.enumerated_columns
        few = picks <= self.most_picks
        if not (wide and small and few) or relaxed.curvature.dense is None or self.is_curved:
            return node
        self.best.candidates = CANDIDATES
        self.best.improve(self.best.support)
        gaps = [gap for gap in ENUMERATION_GAPS if node.bound > self.enumeration_cutoff(gap)]
        at_once = picks <= SHORT_ENUMERATION
        while gaps:
            gap, started = gaps[-1 if at_once else 0], self.control.elapsed
            bound = self.enumerate_once(node, relaxed.curvature, gap)
            if bound is None and self.stop():
                break
            if bound is None:
                self.most_picks = min(self.most_picks, picks - FEWER_PICKS)
                gaps, at_once = gaps[:-1] if at_once else [], False
                continue
            node = replace(node, bound=min(node.bound, bound))
            self.current = node
            if gap == ENUMERATION_GAPS[-1]:
                self.close(node.bound)
                return None
            gaps = gaps[gaps.index(gap) + 1 :]
            at_once = LAST_ENUMERATION * (self.control.elapsed - started) <= self.seconds_left
        return node

    def enumerate_once(self, node: HullNode, curvature: Curvature, slack: float) -> float | None:
        """Return the bound that an enumeration of a node proves; None if it would take too long."""
        assert curvature.dense is not None
        enumeration = Enumeration(
            curvature.dense,
            self.problem.a[node.variables],
            node.forced,
            node.picks(self.problem.d),
            self.problem.domain,
            self.multiplier(slack),
        )
        highest, started = -np.inf, self.control.elapsed
        for support in enumeration.open_supports(lambda: self.enumeration_cutoff(slack)):
            if support is not None:
                bound = self.best.offer_whole(node.variables[support], swaps=True)
                highest = max(highest, bound)
            elif not enumeration.finished and (
                self.stop() or self.takes_too_long(enumeration, self.control.elapsed - started)
            ):
                return None
        return max(highest, self.enumeration_cutoff(slack)) if enumeration.finished else None

    def takes_too_long(self, enumeration: Enumeration, seconds: float) -> bool:
        """Whether an enumeration that has run for some seconds promises to go on for too long."""
        promised = enumeration.promised_work
        if promised > self.budget.enumeration_work:
            return True
        still = seconds * (promised / max(enumeration.work, 1) - 1.0)
        left = self.seconds_left
        return seconds > TRIED * left and still > TOO_LONG * left

    @property
    def seconds_left(self) -> float:
        """Seconds until the time limit; infinity without one."""
        left = self.control.remaining
        return np.inf if left is None else left

    def enumeration_cutoff(self, slack: float) -> float:
        """Return what an enumeration may leave: a relative gap, or just below the requested one."""
        value = self.best.value
        left = max(JUST_BELOW * self.control.allowed(value), slack * abs(value))
        return value + left - self.problem.forming_error

    def multiplier(self, slack: float) -> float:
        """Return the μ of an enumeration: a large one makes variables less alike, families smaller.

        But every support's bound moves away from its maximum: by how much, the best one says.
        """
        if not self.problem.domain.on_sphere:
            return 0.0
        value, support = self.best.value, self.best.support
        M, a = -self.problem.submatrix(support), self.problem.a[support]
        low = LEAST_MULTIPLIER * abs(value) + max(-self.root_shift, 0.0)
        for mu in np.linspace(abs(value), 0.0, 100):
            if mu <= low:
                break
            bound = mu + a @ np.linalg.solve(M + mu * np.eye(a.shape[0]), a) / 4
            if bound <= value + (SLACK_OF_BEST + slack / 2) * abs(value):
                return float(mu)
        return low

    def visit_supports(self, node: HullNode) -> None:
        """Solve a node support by support: it has one, or few."""
        highest = -np.inf
        for support in node.supports(self.problem.d):
            highest = max(highest, self.best.offer_whole(support, swaps=True))
        self.close(min(node.bound, highest))

    def stop(self) -> bool:
        """Whether the time limit has passed."""
        return self.control.out_of_time
