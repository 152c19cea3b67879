"""Exact MISDP: branch and bound over q on the strong SDP relaxation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tellapart.arguments import check_choice
from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.bounds.admm import AdmmSettings, Iterate, Standing, solve_admm
from tellapart.strs.bounds.conic import solve_conic
from tellapart.strs.bounds.sdp import DualBound, dual_bound
from tellapart.strs.contract import (
    Control,
    Solution,
    check_columns,
    check_plain,
    require,
    until_interrupted,
)
from tellapart.strs.domains import EPS
from tellapart.strs.incumbent import Incumbent
from tellapart.strs.problem import SparseQuadratic
from tellapart.strs.solvers.local_search import LocalSearch
from tellapart.strs.solvers.sdp import tolerance_for
from tellapart.strs.tree import OpenNodes

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
    own = np.diag(entries).copy()
    others = entries.copy()
    np.fill_diagonal(others, 0.0)
    free = -np.sort(-others[:, ~forced], axis=1)
    sums = np.cumsum(np.hstack([np.zeros((entries.shape[0], 1)), free]), axis=1)
    taken = np.minimum(np.where(forced, picks, picks - 1), free.shape[1])
    rows: FloatArray = (
        own + others[:, forced].sum(axis=1) + sums[np.arange(entries.shape[0]), taken]
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
"""…or has fallen by less than a tenth of it in this many checks: branching does more."""


@dataclass(frozen=True)
class Misdp:
    """Branch and bound over q with the strong SDP relaxation at the nodes. Exact, for small D.

    A node forces some variables in and leaves some out. Its bound is the proved dual bound of the
    relaxation on the variables left, and the bound's row terms fix further variables for free:
    exchanging a row among the d largest for one that is not changes the bound by their
    difference. Best-first; the variable whose q is nearest to ½ is decided next.

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
        check_plain(problem, f"{self.name!r}")
        check_columns(problem, self.largest, f"{self.name!r}")
        require(self)
        search = _Search(problem, control, self)
        with until_interrupted() as ctrl_c:
            search.run(start)
        return search.best.solution(
            self.name, search.visited, search.upper_bound(), interrupted=ctrl_c.caught
        )


@dataclass(frozen=True)
class _Node:
    """The points whose support holds `variables[forced]` and lies within `variables`."""

    variables: IntArray
    forced: BoolArray
    bound: float
    iterate: Iterate | None = None

    def without(self, places: IntArray, bound: float) -> _Node:
        """Return the node with the variables at `places` fixed to 0."""
        kept = np.delete(np.arange(self.variables.shape[0]), places)
        iterate = None if self.iterate is None else self.iterate.columns(kept)
        return _Node(self.variables[kept], self.forced[kept], bound, iterate)

    def with_forced(self, places: IntArray, bound: float) -> _Node:
        """Return the node with the variables at `places` forced in."""
        forced = self.forced.copy()
        forced[places] = True
        return replace(self, forced=forced, bound=bound)

    def leaf_support(self, d: int) -> IntArray | None:
        """Return the one support worth looking at, if the node has only one."""
        if self.variables.shape[0] <= d:
            return self.variables
        return self.variables[self.forced] if np.count_nonzero(self.forced) == d else None


class _Search:
    """The state of one run: the best point, the open nodes, the bounds of what was closed."""

    def __init__(self, problem: SparseQuadratic, control: Control, solver: Misdp) -> None:
        self.problem, self.control, self.solver = problem, control, solver
        self.best = Incumbent.of_linear_term(problem, control)
        self.slack = problem.forming_error
        self.nodes: OpenNodes[_Node] = OpenNodes()
        self.bounds: list[float] = []
        self.visited = 0

    def upper_bound(self) -> float | None:
        """Return the highest bound among what is closed, open or in work."""
        return self.nodes.bound if np.isfinite(self.nodes.bound) else None

    def run(self, start: IntArray | None) -> None:
        """Search until nothing open can beat the cutoff, or a limit is reached."""
        size = self.problem.n_columns
        forced = np.zeros(size, dtype=bool)
        root = dual_bound(self.problem.A, self.problem.a, self.problem.d, forced).value
        self.nodes.push(_Node(np.arange(size), forced, root + self.slack))
        # With a small a its largest entries are a poor start: swaps from several find better.
        self.best.offer(LocalSearch().solve(self.problem, self.control, start).support, swaps=True)
        while self.nodes.highest > self.best.cutoff:
            if self.control.out_of_time or self.visited >= self.solver.max_nodes:
                break
            node = self.nodes.take()
            self.visited += 1
            self.process(node)
            self.nodes.current = None
            self.control.tell_progress(self.visited, self.best.value, self.upper_bound())

    def process(self, node: _Node) -> None:
        """Bound a node, then close it or push its children."""
        support = node.leaf_support(self.problem.d)
        if support is not None:
            self.nodes.close(min(node.bound, self.best.offer_whole(support, swaps=True)))
            return
        cheap = self.cheap_bound(node)
        if cheap <= self.best.cutoff:
            self.nodes.close(cheap)
            return
        bound, q, iterate = self.relax(node)
        total = min(bound.value + self.slack, node.bound)
        self.best.offer(node.variables[_largest(q, node.forced, self.problem.d)], swaps=True)
        if total <= self.best.cutoff:
            self.nodes.close(total)
            return
        node = replace(node, bound=total, iterate=iterate)
        self.nodes.current = node
        self.branch(node, bound, q)

    def cheap_bound(self, node: _Node) -> float:
        """Return the bound that needs no relaxation: it closes many nodes near the leaves."""
        A, a = self.problem.submatrix(node.variables), self.problem.a[node.variables]
        picks = self.problem.d - int(np.count_nonzero(node.forced))
        return min(node.bound, spectral_bound(A, a, node.forced, picks) + self.slack)

    def relax(self, node: _Node) -> tuple[DualBound, FloatArray, Iterate | None]:
        """Return a proved bound of the node, the shares q, and where its children may start."""
        A = self.problem.submatrix(node.variables)
        a, d = self.problem.a[node.variables], self.problem.d
        if self.solver.relaxation == "conic":
            left = self.control.remaining
            conic = solve_conic(A, a, d, node.forced, time_limit=left, solver=self.solver.name)
            return conic.bound, conic.q, None
        settings = AdmmSettings(tolerance=tolerance_for(self.control.gap), max_iterations=1_000)
        self.bounds.clear()
        standing = solve_admm(A, a, d, node.forced, settings, self.enough, node.iterate)
        return standing.bound, standing.q, standing.iterate

    def enough(self, standing: Standing | None) -> bool:
        """Whether ADMM need not go on at this node."""
        if standing is None or self.control.out_of_time:
            return self.control.out_of_time
        bound = standing.bound.value + self.slack
        to_close = bound - self.best.cutoff
        if to_close <= 0.0 or standing.error <= WORTHWHILE * to_close:
            return True
        self.bounds.append(bound)
        return len(self.bounds) > PATIENCE and self.bounds[-PATIENCE - 1] - bound < 0.1 * to_close

    def branch(self, node: _Node, bound: DualBound, q: FloatArray) -> None:
        """Fix what the bound's row terms allow, then push both sides of one more decision."""
        if_out, if_in = _alternatives(bound, node.forced, self.problem.d)
        if_out = np.minimum(if_out + self.slack, node.bound)
        if_in = np.minimum(if_in + self.slack, node.bound)
        free = ~node.forced
        must_in = free & (if_out <= self.best.cutoff)
        must_out = free & (if_in <= self.best.cutoff) & ~must_in
        for given_up in (if_out[must_in], if_in[must_out]):
            self.nodes.close(float(given_up.max(initial=-np.inf)))
        undecided = free & ~must_in & ~must_out
        node = node.with_forced(np.flatnonzero(must_in), node.bound)
        if not undecided.any() or np.count_nonzero(node.forced) >= self.problem.d:
            self.nodes.push(node.without(np.flatnonzero(must_out), node.bound))
            return
        place = int(np.argmin(np.where(undecided, np.abs(q - 0.5), np.inf)))
        inside = node.with_forced(np.array([place]), float(if_in[place]))
        self.nodes.push(inside.without(np.flatnonzero(must_out), float(if_in[place])))
        outside = np.append(np.flatnonzero(must_out), place)
        self.nodes.push(node.without(outside, float(if_out[place])))


def _largest(q: FloatArray, forced: BoolArray, d: int) -> IntArray:
    """Return the places of the forced variables and of the largest other q, d in all."""
    return np.sort(np.lexsort((-q, ~forced))[:d])


def _alternatives(bound: DualBound, forced: BoolArray, d: int) -> tuple[FloatArray, FloatArray]:
    """Return the bound with each free variable left out, and with each one forced in.

    The bound is sphere + Σ_forced rows + the k largest free rows. Leaving out one of the largest
    lets the next one in; forcing in another one drives the smallest of the largest out.
    """
    free = np.flatnonzero(~forced)
    order = free[np.argsort(-bound.rows[free], kind="stable")]
    k = d - int(np.count_nonzero(forced))
    if_out = np.full(forced.shape[0], bound.value)
    if_in = if_out.copy()
    if_out[order[:k]] += bound.rows[order[k]] - bound.rows[order[:k]]
    if_in[order[k:]] += bound.rows[order[k:]] - bound.rows[order[k - 1]]
    return if_out, if_in
