"""Exact MISDP: branch and bound over q on the strong SDP relaxation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.bounds.admm import AdmmSettings, Iterate, Standing, solve_admm
from tellapart.strs.bounds.conic import solve_conic
from tellapart.strs.bounds.probing import forced_in_bounds, tighten_rows
from tellapart.strs.bounds.sdp import DualBound, dual_bound
from tellapart.strs.contract import (
    Control,
    Solution,
    check_accepted,
)
from tellapart.strs.domains import EPS
from tellapart.strs.incumbent import Incumbent, Node, TreeSearch, exchange_bounds
from tellapart.strs.problem import SparseQuadratic
from tellapart.strs.solvers.local_search import LocalSearch
from tellapart.strs.solvers.sdp import tolerance_for

# Bounds that need no relaxation: rows, traces and squares of the largest possible block.
#
# For a support S of at most d variables that holds the forced ones,
#
#     max_{‖z‖=1, z on S} zᵀAz + aᵀz ≤ λ_max(A_SS) + ‖a_S‖₂,
#
# and λ_max(A_SS) is at most (Gershgorin) max_{i∈S} A_ii + Σ_{j∈S, j≠i} |A_ij|, (trace)
# κ + Σ_{i∈S} (A_ii − κ) for any κ with A ⪰ κI, and (squares) c + ‖A_SS − cI‖_F for any c. Each is
# bounded over all such S at once by the forced entries and the largest free ones. Weak far from
# the leaves, but one eigendecomposition at most, and often enough near them.


def spectral_bound(A: FloatArray, a: FloatArray, forced: BoolArray, picks: int) -> float:
    """Return the best of the three bounds over supports with `forced` and `picks` more.

    Rounding error is allowed for: every sum is of at most n terms.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 1.0]])
    >>> bound = spectral_bound(A, np.zeros(3), np.zeros(3, dtype=bool), picks=2)
    >>> bool(3.0 <= bound <= 3.0 + 1e-12)
    True
    """
    size = int(a.shape[0])
    diagonal = np.diag(A)
    centre = float(diagonal.mean())
    linear = float(np.sqrt(_largest_of_spectral(a * a, forced, picks)))
    quadratic = min(
        _gershgorin(A, forced, picks),
        _trace(A, forced, picks),
        centre + _squares(A, centre, forced, picks),
    )
    slack = 16 * (size + 8) * EPS * (float(np.linalg.norm(A)) * size + linear)
    return quadratic + linear + slack


def _largest_of_spectral(entries: FloatArray, forced: BoolArray, picks: int) -> float:
    """Return the sum of the forced entries and of the `picks` largest others."""
    free = np.sort(entries[~forced])[::-1][:picks]
    return float(entries[forced].sum() + free.sum())


def _rows(entries: FloatArray, forced: BoolArray, picks: int) -> FloatArray:
    """Return for each row its own entry, those of forced columns and the largest others.

    A forced row meets `picks` free columns, a free row one less: it is a pick itself.
    """
    diagonal = np.diag(entries).copy()
    others = entries.copy()
    np.fill_diagonal(others, 0.0)
    free = -np.sort(-others[:, ~forced], axis=1)
    sums = np.cumsum(np.hstack([np.zeros((entries.shape[0], 1)), free]), axis=1)
    taken = np.minimum(np.where(forced, picks, picks - 1), free.shape[1])
    rows: FloatArray = (
        diagonal + others[:, forced].sum(axis=1) + sums[np.arange(entries.shape[0]), taken]
    )
    return rows


def _gershgorin(A: FloatArray, forced: BoolArray, picks: int) -> float:
    entries = np.abs(A)
    np.fill_diagonal(entries, np.diag(A))
    return float(_rows(entries, forced, picks).max())


def _trace(A: FloatArray, forced: BoolArray, picks: int) -> float:
    lowest = float(np.linalg.eigvalsh(A)[0])
    return lowest + _largest_of_spectral(np.diag(A) - lowest, forced, picks)


def _squares(A: FloatArray, centre: float, forced: BoolArray, picks: int) -> float:
    entries = A - centre * np.eye(A.shape[0])
    return float(np.sqrt(_largest_of_spectral(_rows(entries**2, forced, picks), forced, picks)))


WORTHWHILE = 0.5
"""ADMM stops at a node once its bound can fall by at most this part of what is left to close…"""
PATIENCE = 10
"""…or has fallen by less than a tenth of it in this many checks: branching does more…"""
SHRUNK = 0.8
"""…or proves that all but this part of the variables are out: the rest is bounded again."""
HELD_BYTES = 1e9
"""Memory of the iterates that waiting nodes hold; beyond it nodes start from nothing."""


@dataclass(frozen=True)
class Misdp:
    """Branch and bound over q with the strong SDP relaxation at the nodes. Exact, for small D.

    A node forces some variables in and leaves some out. Its bound is the proved dual bound of the
    relaxation on the variables left, with the rows' hulls in place of its rows, and its multiplier
    fixes further variables for free (`bounds.probing`): most are out before the first decision.
    Best-first; the variable whose q is nearest to ½ is decided next.

    Attributes
    ----------
    relaxation : "admm" or "conic"
        Who solves the relaxations: ADMM, which stops as soon as a node is closed and starts from
        the parent's solution, or the interior-point solver Clarabel.
    max_nodes : int
        Nodes at most.
    largest : int
        Variables at most.

    Examples
    --------
    >>> import numpy as np
    >>> from tellapart.strs import SparseTrustRegion, solve
    >>> solution = solve(SparseTrustRegion(np.ones((4, 4)), np.zeros(4), d=2), Misdp())
    >>> round(solution.value, 6), solution.status
    (2.0, 'optimal')
    """

    name: str = "misdp"
    relaxation: Literal["admm", "conic"] = "admm"
    max_nodes: int = 1_000_000
    largest: int = 1_000

    def __post_init__(self) -> None:
        check_choice("relaxation", self.relaxation, ["admm", "conic"])

    @property
    def libraries(self) -> tuple[str, ...]:
        """The modules that it needs."""
        return ("clarabel",) if self.relaxation == "conic" else ()

    def solve(
        self, problem: SparseQuadratic, control: Control, start: IntArray | None = None
    ) -> Solution:
        """Return the best point and its proved bound."""
        check_accepted(problem, self)
        return SemidefiniteSearch(problem, control, self).solve(self.name, start)


@dataclass(frozen=True)
class _SemidefiniteNode(Node):
    """A node and where its relaxation starts, if anywhere."""

    iterate: Iterate | None = None

    @property
    def held(self) -> int:
        """Bytes of its iterate."""
        return 0 if self.iterate is None else self.iterate.Y.nbytes + self.iterate.W.nbytes

    def keep(self, kept: BoolArray, forced: BoolArray, d: int) -> _SemidefiniteNode:
        """Return the child with the variables `kept`, of which `forced` are in."""
        child = super().keep(kept, forced, d)
        if self.iterate is None:
            return child
        return replace(child, iterate=self.iterate.columns(np.flatnonzero(kept)))


@dataclass(frozen=True)
class _Relaxed:
    """A node's matrices, a proved bound and its multiplier, the shares q and the last iterate."""

    A: FloatArray
    a: FloatArray
    bound: DualBound
    W: FloatArray
    q: FloatArray
    iterate: Iterate | None


class SemidefiniteSearch(TreeSearch[_SemidefiniteNode]):
    """The tree of semidefinite bounds, each with the error of a matrix multiplied out added."""

    def __init__(
        self,
        problem: SparseQuadratic,
        control: Control,
        solver: Misdp,
        best: Incumbent | None = None,
    ) -> None:
        best = Incumbent.of_linear_term(problem, control) if best is None else best
        super().__init__(best, error=0.0, most_nodes=solver.max_nodes)
        self.solver = solver
        self.slack = problem.forming_error
        self.bounds: list[float] = []
        self.held = 0

    def push(self, node: _SemidefiniteNode) -> None:
        """Add a node that waits, without its iterate where that would take too much memory."""
        if self.held + node.held > HELD_BYTES:
            node = replace(node, iterate=None)
        self.held += node.held
        super().push(node)

    def take(self) -> _SemidefiniteNode:
        """Return the waiting node with the highest bound, in work from now on."""
        node = super().take()
        self.held -= node.held
        return node

    def run(self, start: IntArray | None) -> None:
        """Search until nothing open can beat the cutoff, or a limit is reached."""
        size = self.problem.n_columns
        forced = np.zeros(size, dtype=bool)
        root = dual_bound(self.problem.A, self.problem.a, self.problem.d, forced).value
        self.push(_SemidefiniteNode(np.arange(size), forced, root + self.slack))
        # With a small a its largest entries are a poor start: swaps from several find better.
        self.best.offer(LocalSearch().solve(self.problem, self.control, start).support, swaps=True)
        self.explore()

    def expand(self, node: _SemidefiniteNode) -> tuple[_SemidefiniteNode, ...]:
        """Bound a node, fix what its row terms allow, and return both sides of a decision."""
        d = self.problem.d
        if node.is_leaf(d):
            support = node.leaf_support(d)
            # Where every variable was given up there is nothing left.
            if support.shape[0] > 0:
                self.close(min(node.bound, self.best.offer_whole(support, swaps=True)))
            return ()
        cheap = self.cheap_bound(node)
        if cheap <= self.cutoff:
            self.close(cheap)
            return ()
        while True:
            relaxed = self.relax(node)
            total = min(relaxed.bound.value + self.slack, node.bound)
            self.best.offer(node.rounded(relaxed.q, d=d), swaps=True)
            if total <= self.cutoff:
                self.close(total)
                return ()
            self.current = node = replace(node, bound=total, iterate=relaxed.iterate)
            child, *both = self.branch(node, relaxed)
            if not both or self.control.out_of_time:
                return (child,)
            if child.variables.shape[0] > SHRUNK * node.variables.shape[0]:
                return tuple(both)
            self.current = node = child

    def cheap_bound(self, node: _SemidefiniteNode) -> float:
        """Return the bound that needs no relaxation: it closes many nodes near the leaves."""
        A, a = self.problem.submatrix(node.variables), self.problem.a[node.variables]
        picks = self.problem.d - int(np.count_nonzero(node.forced))
        return min(node.bound, spectral_bound(A, a, node.forced, picks) + self.slack)

    def relax(self, node: _SemidefiniteNode) -> _Relaxed:
        """Solve the relaxation of a node as far as that pays."""
        A = self.problem.submatrix(node.variables)
        a, d = self.problem.a[node.variables], self.problem.d
        if self.solver.relaxation == "conic":
            left = self.control.remaining
            conic = solve_conic(A, a, d, node.forced, time_limit=left, solver=self.solver.name)
            bound = tighten_rows(conic.bound, conic.W, node.forced, node.picks(d))
            return _Relaxed(A, a, bound, conic.W, conic.q, None)
        settings = AdmmSettings(tolerance=tolerance_for(self.control.gap), max_iterations=1_000)
        self.bounds.clear()

        def relaxed(standing: Standing) -> _Relaxed:
            bound = tighten_rows(standing.bound, standing.W, node.forced, node.picks(d))
            return _Relaxed(A, a, bound, standing.W, standing.q, standing.iterate)

        def enough(standing: Standing | None) -> bool:
            if standing is None or self.control.out_of_time:
                return self.control.out_of_time
            return self.enough(standing, relaxed(standing), node)

        return relaxed(solve_admm(A, a, d, node.forced, settings, enough, node.iterate))

    def enough(self, standing: Standing, relaxed: _Relaxed, node: _SemidefiniteNode) -> bool:
        """Whether ADMM need not go on at this node."""
        bound = relaxed.bound.value + self.slack
        to_close = bound - self.cutoff
        if to_close <= 0.0 or standing.error <= WORTHWHILE * to_close:
            return True
        if np.isfinite(standing.error):
            kept = self.if_in(node, relaxed) > self.cutoff
            if np.count_nonzero(kept) <= SHRUNK * kept.shape[0]:
                return True
        self.bounds.append(bound)
        return len(self.bounds) > PATIENCE and self.bounds[-PATIENCE - 1] - bound < 0.1 * to_close

    def branch(self, node: _SemidefiniteNode, relaxed: _Relaxed) -> tuple[_SemidefiniteNode, ...]:
        """Return the node with what can be fixed, then both sides of one more decision.

        Only the first where nothing is left to decide.
        """
        d, bound = self.problem.d, relaxed.bound
        if_out = exchange_bounds(bound.value, bound.rows, node.forced, node.picks(d))[1]
        if_in, if_out = self.if_in(node, relaxed), np.minimum(if_out + self.slack, node.bound)
        child, given_up = node.fix(if_in, if_out, self.cutoff, d)
        self.close(given_up)
        if child.is_leaf(d):
            return (child,)
        kept = np.isin(node.variables, child.variables)
        position = int(np.argmin(np.where(child.forced, np.inf, np.abs(relaxed.q[kept] - 0.5))))
        inside, outside = child.branch(position, d)
        return (
            child,
            replace(inside, bound=float(if_in[kept][position])),
            replace(outside, bound=float(if_out[kept][position])),
        )

    def if_in(self, node: _SemidefiniteNode, relaxed: _Relaxed) -> FloatArray:
        """Return proved bounds of the node with each variable in."""
        bound, picks = relaxed.bound, node.picks(self.problem.d)
        exchanged = exchange_bounds(bound.value, bound.rows, node.forced, picks)[0]
        to_close = bound.value + self.slack - self.cutoff
        probed = forced_in_bounds(
            relaxed.A, relaxed.a, node.forced, picks, relaxed.W, bound.rows, to_close
        )
        if_in: FloatArray = np.minimum(np.minimum(exchanged, probed) + self.slack, node.bound)
        return if_in
