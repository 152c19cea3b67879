"""Branch and bound on the hull bound with a shift per variable: exact, for any symmetric A."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from tellapart.arrays import IntArray
from tellapart.strs.bounds.enumeration import Enumeration
from tellapart.strs.bounds.hull import DENSE_LIMIT, Curvature, Node, Relaxed, fix_variables, relax
from tellapart.strs.bounds.shift import tighten
from tellapart.strs.contract import Control, Solution, finish, is_plain, until_interrupted
from tellapart.strs.incumbent import CANDIDATES, Incumbent
from tellapart.strs.problem import SparseQuadratic
from tellapart.strs.solvers.misdp import Misdp
from tellapart.strs.tree import OpenNodes
from tellapart.threads import one_blas_thread

WORTH_A_NEW_SHIFT = 0.8
"""The shift is optimised again once a node has shrunk to this part of its variables…"""
CHEAP_SHIFT = 500
"""…and once at every node of at most this many."""
CHEAP_VISITS = 600_000
"""Operations, of the order of 10 ms, that a node may spend on visiting all its supports."""
LOOSE_ROOT = 0.05
"""A relative gap left at the root above which the semidefinite bound is worth its price…"""
CURVED = 0.25
"""…if the largest eigenvalue of A is at least this part of the value…"""
SEMIDEFINITE_LIMIT = 300
"""…and there are at most this many variables."""
ENUMERATION_LIMIT = 1_000
"""Up to this many variables a loose node may be enumerated support by support…"""
ENUMERATION_WORK = 3 * 10**11
"""…if that promises to take no more operations than these; it takes a tenth of them, a minute."""
LEAST_MULTIPLIER = 0.02
"""An enumeration's multiplier μ is at least this part of the value…"""
SLACK_OF_BEST = 0.15
"""…and as large as leaves the best support's own bound within this part of its value."""
ENUMERATION_GAPS = (0.3, 0.1, 0.03, 0.0)
"""The relative gaps that enumerations prove one after the other, down to the one asked for."""
SHORT_ENUMERATION = 5
"""Up to this many variables to pick it takes seconds: the gap asked for is proved at once."""
JUST_BELOW = 0.999
"""The part of the allowed gap that it leaves: its end must be within the gap asked for."""


@dataclass(frozen=True)
class BranchAndBound:
    """Best-first branch and bound over which variables are in. Exact within the gap asked for.

    At a node the hull relaxation (`hull.relaxation`) gives a bound, fixes variables by its
    scores, and is tightened by the best shift per variable (`hull.shift`); its solution is
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
        search = _Search(problem, control)
        threads = one_blas_thread() if problem.n_columns <= DENSE_LIMIT else nullcontext()
        with until_interrupted(threads) as ctrl_c:
            search.run(start)
            if search.hull_is_loose:
                return self._with_semidefinite_bounds(search)
        return search.best.solution(
            self.name, search.visited, search.upper_bound(), interrupted=ctrl_c.caught
        )

    def _with_semidefinite_bounds(self, search: _Search) -> Solution:
        """Go on where the hull bound is too weak, keeping the point and the bound it has."""
        problem, control = search.problem, search.control
        known = search.upper_bound()

        def best_known(bound: float | None) -> float | None:
            return min((b for b in (bound, known) if b is not None), default=None)

        def progress(iterations: int, value: float, bound: float | None) -> None:
            control.tell_progress(search.visited + iterations, value, best_known(bound))

        rest = Misdp().solve(problem, replace(control, progress=progress), search.best.support)
        return finish(
            problem,
            rest.support,
            upper_bound=best_known(rest.upper_bound),
            solver=self.name,
            iterations=search.visited + rest.iterations,
            control=control,
            interrupted=rest.interrupted,
        )


class _Search:
    """The state of one run: the best point, the open nodes, the bounds of what was closed."""

    def __init__(self, problem: SparseQuadratic, control: Control) -> None:
        self.problem = problem
        self.control = control
        tried = max(30, 3 * problem.d)
        self.best = Incumbent.of_linear_term(problem, control, candidates=tried)
        self.nodes: OpenNodes[Node] = OpenNodes()
        self.visited = 0

    @property
    def cutoff(self) -> float:
        """Nodes whose bound is at most this are closed."""
        return self.best.cutoff - self.problem.forming_error

    @property
    def tolerance(self) -> float:
        """Accuracy of relaxations: a fraction of the gap asked for."""
        return 0.1 * self.control.allowed(self.best.value)

    def upper_bound(self) -> float | None:
        """Return the highest bound among what is closed and what is open; None before the first."""
        # Nodes bound the problem of the matrix as multiplied out.
        highest = self.nodes.bound + self.problem.forming_error
        return highest if np.isfinite(highest) else None

    def run(self, start: IntArray | None) -> None:
        """Search until nothing open can beat the cutoff, or time is up."""
        for support in [self.best.support, *([] if start is None else [start])]:
            self.best.improve(support)
        self.whole = Curvature.of(self.problem)
        self.nodes.push(self.root())
        while self.nodes.highest > self.cutoff:
            # The root is visited in any case: a bound, however late, beats none.
            if self.visited > 0 and self.control.out_of_time:
                break
            node = self.nodes.take()
            self.visited += 1
            for child in self.process(node):
                self.nodes.push(child)
            self.nodes.current = None
            self.control.tell_progress(self.visited, self.best.value, self.upper_bound())
            if self.hull_is_loose:
                break

    @property
    def hull_is_loose(self) -> bool:
        """Whether the root left a wide gap because A has large positive eigenvalues."""
        if self.visited != 1 or self.problem.n_columns > SEMIDEFINITE_LIMIT:
            return False
        if not is_plain(self.problem):
            return False
        scale = abs(self.best.value)
        wide = self.nodes.highest - self.best.value > LOOSE_ROOT * scale
        return wide and self.is_curved

    @property
    def is_curved(self) -> bool:
        """Whether A has an eigenvalue that matters beside the value."""
        return -self.root_shift >= CURVED * abs(self.best.value)

    def root(self) -> Node:
        """Return the node of all points, with one shift for all variables."""
        size = self.problem.n_columns
        scores = self.problem.domain.promise(self.problem.a)
        self.root_shift = self.whole.lowest_shift()
        q = np.zeros(size)
        q[self.problem.best_places(self.problem.a)] = 1.0
        return Node(
            variables=np.arange(size),
            forced=np.isin(np.arange(size), self.problem.required),
            delta=np.full(size, self.root_shift),
            q=q,
            scores=scores,
            bound=np.inf,
        )

    def process(self, node: Node) -> tuple[Node, ...]:
        """Bound a node, shrink it, and return its children; none if it is closed."""
        d = self.problem.d
        curvature = self.whole.principal(node.variables)
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
            self.nodes.current = relaxed.node
            if self.visited == 1:
                self.best.improve(self.rounded(relaxed.node))
            else:
                self.best.offer(self.rounded(relaxed.node), swaps=True)
            if relaxed.node.bound <= self.cutoff:
                self.nodes.close(relaxed.node.bound)
                return ()
            node, given_up = fix_variables(relaxed, d, self.cutoff)
            self.nodes.close(given_up)
            if node.variables.shape[0] < relaxed.node.variables.shape[0]:
                curvature = self.whole.principal(node.variables)
            if not np.array_equal(node.forced, relaxed.node.forced):
                if self.stop() and not node.is_leaf(d):
                    return (node,)
                continue
            if node.visits(d) <= CHEAP_VISITS:
                break
            size = node.variables.shape[0]
            shrunk = node.shift_size == 0 or size <= WORTH_A_NEW_SHIFT * node.shift_size
            if self.stop() or not (shrunk or (size <= CHEAP_SHIFT and not shifted_here)):
                enumerated = self.enumerate_supports(relaxed)
                if enumerated is None:
                    return ()
                return self.branch(replace(relaxed, node=enumerated))
            shifted_here = True
            node = tighten(
                relaxed,
                d,
                value=self.best.value,
                tolerance=max(2 * self.tolerance, 0.01 * (relaxed.node.bound - self.best.value)),
                stop=self.stop,
            )
        self.visit_supports(node)
        return ()

    def branch(self, relaxed: Relaxed) -> tuple[Node, ...]:
        """Return the children at the free variable whose perspective term is least tight."""
        node = relaxed.node
        slack = np.where(node.forced, -1.0, relaxed.point.slack)
        position = int(np.argmax(slack))
        if slack[position] <= 0.0:
            # An integral q that is not closed: separate at its most valuable variable.
            position = int(np.argmax(np.where(node.forced, -1.0, relaxed.hull.scores)))
        return node.branch(position, self.problem.d)

    def enumerate_supports(self, relaxed: Relaxed) -> Node | None:
        """Look at every support of a loose node in compiled code; None if that closes it.

        For one gap after the other: a wide one is proved much sooner, and its bound stays with
        the node where the next would take too long.
        """
        node = relaxed.node
        wide = node.bound - self.best.value > LOOSE_ROOT * abs(self.best.value)
        small = relaxed.curvature.dense is not None and node.variables.shape[0] <= ENUMERATION_LIMIT
        if not wide or not small or self.is_curved:
            return node
        self.best.candidates = CANDIDATES
        self.best.improve(self.best.support)
        for slack in (
            ENUMERATION_GAPS
            if node.picks(self.problem.d) > SHORT_ENUMERATION
            else ENUMERATION_GAPS[-1:]
        ):
            if node.bound <= self.enumeration_cutoff(slack) and slack > 0.0:
                continue
            bound = self.enumerate_once(node, relaxed.curvature, slack)
            if bound is None:
                return node
            node = replace(node, bound=min(node.bound, bound))
            self.nodes.current = node
        self.nodes.close(node.bound)
        return None

    def enumerate_once(self, node: Node, curvature: Curvature, slack: float) -> float | None:
        """Return the bound that an enumeration of a node proves; None if it would take too long."""
        assert curvature.dense is not None
        enumeration = Enumeration(
            curvature.dense,
            self.problem.a[node.variables],
            node.forced,
            node.picks(self.problem.d),
            self.problem.domain,
            self.multiplier(),
        )
        highest = -np.inf
        for support in enumeration.open_supports(lambda: self.enumeration_cutoff(slack)):
            if support is not None:
                found = self.best.offer_whole(node.variables[support], swaps=True)
                highest = max(highest, found)
            elif not enumeration.finished and (
                self.stop() or enumeration.promised_work > ENUMERATION_WORK
            ):
                return None
        return max(highest, self.enumeration_cutoff(slack)) if enumeration.finished else None

    def enumeration_cutoff(self, slack: float) -> float:
        """Return what an enumeration may leave: a relative gap, or just below that asked for."""
        value = self.best.value
        left = max(JUST_BELOW * self.control.allowed(value), slack * abs(value))
        return value + left - self.problem.forming_error

    def multiplier(self) -> float:
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
            if bound <= value + SLACK_OF_BEST * abs(value):
                return float(mu)
        return low

    def visit_supports(self, node: Node) -> None:
        """Solve a node support by support: it has one, or few."""
        highest = -np.inf
        for support in node.supports(self.problem.d):
            highest = max(highest, self.best.offer_whole(support, swaps=True))
        self.nodes.close(min(node.bound, highest))

    def rounded(self, node: Node) -> IntArray:
        """Return the forced variables and those with the largest q, then score."""
        order = np.lexsort((-node.scores, -node.q, ~node.forced))
        return np.sort(node.variables[order[: self.problem.d]])

    def stop(self) -> bool:
        """Whether the time limit has passed."""
        return self.control.out_of_time
