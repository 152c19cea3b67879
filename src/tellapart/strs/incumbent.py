"""The best support so far, and the swaps of one variable for another that improve it."""

from __future__ import annotations

import heapq
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import count
from typing import Generic, Self, TypeVar

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.contract import Control, Solution, finish, until_interrupted
from tellapart.strs.domains import Domain
from tellapart.strs.problem import SparseQuadratic, polish, support_bound

CANDIDATES = 200
"""Outsiders tried in a sweep, unless a solver says otherwise."""


class Incumbent:
    """The best support a solver has met, and the exact maximum over it.

    Only a strictly higher value takes over, so that of equal supports the first one met stays
    and a run can be repeated. Before the first support the value is −∞.
    """

    def __init__(
        self, problem: SparseQuadratic, control: Control, *, candidates: int = CANDIDATES
    ) -> None:
        self.problem = problem
        self.control = control
        self.candidates = candidates
        self.support: IntArray = np.empty(0, dtype=np.intp)
        self.value = -np.inf

    @classmethod
    def of_linear_term(
        cls, problem: SparseQuadratic, control: Control, *, candidates: int = CANDIDATES
    ) -> Incumbent:
        """Return one that holds the d best of a: something to return from the first moment."""
        best = cls(problem, control, candidates=candidates)
        best.offer(problem.best_support(problem.a))
        return best

    def keep(self, support: IntArray, value: float) -> None:
        """Take over a support of known value if it is better."""
        if value > self.value:
            self.support, self.value = support, value

    def offer(self, support: IntArray, *, swaps: bool = False) -> float:
        """Take over a support if it is better, with `swaps` after improving it; return its value.

        The value returned is that of the support itself, before any swap; perhaps less where it
        is not better.
        """
        value = polish(self.problem, support, self.value)[1]
        if swaps and value > self.value:
            self.improve(support)
        else:
            self.keep(support, value)
        return value

    def offer_whole(self, support: IntArray, *, swaps: bool = False) -> float:
        """Offer a support, and return a proved bound on every value over it."""
        value = self.offer(support, swaps=swaps)
        return support_bound(self.problem, support, value, self.cutoff)

    def improve(self, support: IntArray) -> int:
        """Offer the support that swaps reach from this one; return the sweeps they took."""
        better, value, sweeps = improve_by_swaps(
            self.problem, support, self.control, self.candidates
        )
        self.keep(better, value)
        return sweeps

    @property
    def cutoff(self) -> float:
        """The bound at which a search may end."""
        return max(self.value + self.control.allowed(self.value), self.control.floor)

    def solution(
        self,
        solver: str,
        iterations: int,
        upper_bound: float | None = None,
        *,
        interrupted: bool = False,
    ) -> Solution:
        """Return the Solution whose z is the exact maximiser on the best support."""
        return finish(
            self.problem,
            self.support,
            upper_bound=upper_bound,
            solver=solver,
            iterations=iterations,
            control=self.control,
            interrupted=interrupted,
        )


class Search(ABC):
    """One run of a solver: the best support, how far it got, and what it proved."""

    def __init__(self, best: Incumbent) -> None:
        self.best = best
        self.problem = best.problem
        self.control = best.control
        self.iterations = 0

    @abstractmethod
    def run(self, start: IntArray | None) -> None:
        """Search until the gap is closed or a limit is reached."""

    @abstractmethod
    def upper_bound(self) -> float | None:
        """Return what is proved, at any moment; None before the first bound."""

    def solve(
        self,
        solver: str,
        start: IntArray | None,
        threads: AbstractContextManager[object] | None = None,
    ) -> Solution:
        """Run until the end or Ctrl-C, and return the best support with what is proved by then."""
        with until_interrupted(threads) as interruption:
            self.run(start)
        return self.best.solution(
            solver, self.iterations, self.upper_bound(), interrupted=interruption.caught
        )


def improve_by_swaps(
    problem: SparseQuadratic, support: IntArray, control: Control, candidates: int = CANDIDATES
) -> tuple[IntArray, float, int]:
    """Return a support no tried swap improves, its value, and the sweeps it took."""
    support = fill_up(problem, support)
    z, value = polish(problem, support)
    sweeps = 0
    while not control.out_of_time and support.shape[0] < problem.n_columns:
        sweeps += 1
        gradient = problem.domain.promise(problem.a + 2 * problem.product(z))
        gradient[support] = -np.inf
        tried = min(candidates, problem.n_columns - support.shape[0])
        outsiders = np.argsort(-gradient, kind="stable")[:tried]
        together = np.concatenate([support, outsiders])
        leaving, coming = _better_swap(
            problem.submatrix(together),
            problem.a[together],
            z[support],
            problem.is_required[support],
            problem.domain,
            value + problem.resolution,
            control,
        )
        if leaving < 0:
            break
        swapped = np.sort(np.append(np.delete(support, leaving), together[coming]))
        z, new_value = polish(problem, swapped)
        # A gain that was rounding error could make the search cycle.
        if new_value <= value:
            break
        support, value = swapped, new_value
    return support, value, sweeps


def _better_swap(
    A: FloatArray,
    a: FloatArray,
    z: FloatArray,
    required: BoolArray,
    domain: Domain,
    threshold: float,
    control: Control,
) -> tuple[int, int]:
    """Return a swap that beats `threshold`, or (−1, −1) if none is found in time.

    The variables in come first in A and a; z is the maximiser over them. Those that matter
    least leave first, for those that promise most; those `required` stay.
    """
    d = z.shape[0]
    if domain.on_sphere:
        multipliers = (float(z @ A[:d, :d] @ z + 0.5 * a[:d] @ z), threshold)
    else:
        limits_by_leaving = _space_limits(A, a, d, domain.nonnegative)
    order = np.argsort(np.abs(z), kind="stable")
    for leaving in order[~required[order]]:
        if domain.on_sphere:
            rest = np.delete(np.arange(d), leaving)
            limits = _sphere_limits(A, a, rest, domain.nonnegative, multipliers)
        else:
            limits = limits_by_leaving[leaving]
        for coming in np.argsort(-limits, kind="stable"):
            if control.out_of_time:
                return -1, -1
            if limits[coming] <= threshold:
                break
            swapped = np.arange(d)
            swapped[leaving] = d + coming
            block, linear = A[swapped[:, None], swapped], a[swapped]
            if domain.maximise(block, linear, threshold)[1] > threshold:
                return int(leaving), int(d + coming)
    return -1, -1


def _sphere_limits(
    A: FloatArray,
    a: FloatArray,
    rest: IntArray,
    nonnegative: bool,
    multipliers: tuple[float, ...],
) -> FloatArray:
    """Return upper limits to the values over `rest` and one outsider, for each outsider.

    The maximum over a support S is at most μ + ¼ a_Sᵀ(μI − A_SS)⁻¹a_S for every μ above the
    eigenvalues of A_SS. From one eigendecomposition over `rest`, this costs d² operations for
    each outsider, against some 10 d³ for the maximum itself. The current μ rules out nearly all
    swaps; μ = threshold decides where a plays no part, and without room there a swap surely helps.
    Where z ≥ 0 an outsider that would come in below 0 adds nothing.
    """
    d = rest.shape[0] + 1
    eigenvalues, vectors = np.linalg.eigh(A[rest[:, None], rest])
    c = vectors.T @ a[rest]
    cross = vectors.T @ A[rest, d:]
    diagonal = np.diag(A)[d:]
    limits = np.full(diagonal.shape[0], np.inf)
    for mu in multipliers:
        gaps = mu - eigenvalues
        if (gaps <= 0).any():
            continue
        room = mu - diagonal - (cross * cross).T @ (1 / gaps)
        lift = a[d:] + cross.T @ (c / gaps)
        outsider = _outsider_gains(lift, room, nonnegative)
        limits = np.minimum(limits, mu + float(c @ (c / gaps)) / 4 + outsider)
    return limits


def _space_limits(A: FloatArray, a: FloatArray, d: int, nonnegative: bool) -> FloatArray:
    """Return the limits of `_sphere_limits` without the sphere: a row for each variable to leave.

    μ is 0 there. With P the inverse of M = −A over the d variables, that of M without its
    i-th row and column is P − p_i p_iᵀ/P_ii: one inverse serves all of them.
    """
    cross, diagonal = A[:d, d:], np.diag(A)[d:]
    inverse = np.linalg.inv(-A[:d, :d])
    inverse_diagonal = np.diag(inverse)
    z, shares = inverse @ a[:d], inverse @ cross
    room = -diagonal - (cross * shares).sum(axis=0) + shares**2 / inverse_diagonal[:, None]
    lift = a[d:] + z @ cross - shares * (z / inverse_diagonal)[:, None]
    left = float(a[:d] @ z) - z**2 / inverse_diagonal
    return left[:, None] / 4 + _outsider_gains(lift, room, nonnegative)


def _outsider_gains(lift: FloatArray, room: FloatArray, nonnegative: bool) -> FloatArray:
    """Return lift²/(4 room), what outsiders add at most; without room, infinity."""
    if nonnegative:
        lift = np.maximum(lift, 0.0)
    gains = np.full(lift.shape, np.inf)
    np.divide(lift * lift, 4 * room, out=gains, where=room > 0)
    return gains


def fill_up(problem: SparseQuadratic, support: IntArray) -> IntArray:
    """Return `support` with those required, then the best of a, added until it has d variables."""
    chosen = np.zeros(problem.n_columns, dtype=bool)
    chosen[support] = True
    missing = problem.required[~chosen[problem.required]]
    if missing.shape[0] > 0:
        # Where there is no room, the least promising make some.
        promise = problem.domain.promise(problem.a[support])
        promise = np.where(problem.is_required[support], np.inf, promise)
        stay = np.argsort(-promise, kind="stable")[: problem.d - missing.shape[0]]
        support = np.sort(np.concatenate([support[stay], missing]))
        chosen[:] = False
        chosen[support] = True
    if support.shape[0] >= problem.d:
        return support
    order = np.argsort(-problem.domain.promise(problem.a), kind="stable")
    added = order[~chosen[order]][: problem.d - support.shape[0]]
    return np.sort(np.concatenate([support, added]))


# Best-first branch and bound: nodes, and the one loop over them.


@dataclass(frozen=True)
class Node:
    """The points whose support holds `variables[forced]` and lies within `variables`.

    No point of the node has a value above `bound`. Relaxations add what they need to start from.
    """

    variables: IntArray
    forced: BoolArray
    bound: float

    def picks(self, d: int) -> int:
        """How many free variables may still be chosen."""
        return d - int(self.forced.sum())

    def is_leaf(self, d: int) -> bool:
        """Whether one support contains every point of the node."""
        return self.picks(d) == 0 or self.variables.shape[0] <= d

    def leaf_support(self, d: int) -> IntArray:
        """Return the support of a leaf."""
        return self.variables[self.forced] if self.picks(d) == 0 else self.variables

    def keep(self, kept: BoolArray, forced: BoolArray, d: int) -> Self:  # noqa: ARG002
        """Return the child with the variables `kept`, of which `forced` are in."""
        return replace(self, variables=self.variables[kept], forced=forced[kept])

    def branch(self, position: int, d: int) -> tuple[Self, Self]:
        """Return the children with one free variable in, and out."""
        everything = np.ones(self.variables.shape[0], dtype=bool)
        with_it = self.forced.copy()
        with_it[position] = True
        without = everything.copy()
        without[position] = False
        return self.keep(everything, with_it, d), self.keep(without, self.forced, d)

    def rounded(self, *keys: FloatArray, d: int) -> IntArray:
        """Return the support of the forced variables and those with the largest keys, d in all."""
        order = np.lexsort((*(-key for key in reversed(keys)), ~self.forced))
        return np.sort(self.variables[order[:d]])

    def fix(
        self, if_in: FloatArray, if_out: FloatArray, cutoff: float, d: int
    ) -> tuple[Self, float]:
        """Decide the free variables one of whose choices has a bound of at most `cutoff`.

        Returns the child, and the highest bound of the choices given up.
        """
        must_in = ~self.forced & (if_out <= cutoff)
        must_out = ~self.forced & (if_in <= cutoff) & ~must_in
        given_up = max(
            float(if_out[must_in].max(initial=-np.inf)),
            float(if_in[must_out].max(initial=-np.inf)),
        )
        return self.keep(~must_out, self.forced | must_in, d), given_up


def exchange_bounds(
    total: float, scores: FloatArray, forced: BoolArray, picks: int
) -> tuple[FloatArray, FloatArray]:
    """Return the bound with each free variable forced in, and with each one left out.

    The bound `total` holds the `picks` largest free scores. A variable outside can only come in
    for the last one inside, and one inside only leave for the first one outside. The other
    choices change nothing: infinity.
    """
    free = np.flatnonzero(~forced)
    ranked = free[np.argsort(-scores[free], kind="stable")]
    inside, outside = ranked[:picks], ranked[picks:]
    if_in, if_out = np.full((2, forced.shape[0]), np.inf)
    if_in[outside] = total - scores[inside[-1]] + scores[outside]
    if_out[inside] = total - scores[inside] + scores[outside[0]]
    return if_in, if_out


NodeT = TypeVar("NodeT", bound=Node)


class TreeSearch(Search, Generic[NodeT]):
    """The loop: the node with the highest bound is expanded next, of equal ones the oldest.

    `open_bound` holds for everything pushed so far: waiting, in work or closed. No moment leaves a
    node out of it: after Ctrl-C, wherever that falls, it is still proved. Bounds are those of the
    matrix as multiplied out, `error` is what that may hide.
    """

    def __init__(self, best: Incumbent, *, error: float, most_nodes: float = np.inf) -> None:
        super().__init__(best)
        self.error = error
        self.most_nodes = most_nodes
        self._waiting: list[tuple[float, int, NodeT]] = []
        self._ticket = count()
        self.current: NodeT | None = None
        self.closed_bound = -np.inf

    @abstractmethod
    def expand(self, node: NodeT) -> Iterable[NodeT]:
        """Bound a node and return its children; what they leave out is closed (`close`)."""

    @property
    def is_over(self) -> bool:
        """Whether the search ends here, whatever is open."""
        return False

    @property
    def cutoff(self) -> float:
        """Nodes whose bound is at most this are closed."""
        return self.best.cutoff - self.error

    def explore(self) -> None:
        """Expand nodes until none can beat the cutoff, or a limit is reached."""
        while self.highest > self.cutoff:
            # Without any bound a node is expanded in any case: a bound, however late, beats none.
            if np.isfinite(self.open_bound) and (
                self.control.out_of_time or self.iterations >= self.most_nodes
            ):
                break
            node = self.take()
            self.iterations += 1
            for child in self.expand(node):
                self.push(child)
            self.current = None
            self.control.report_progress(self.iterations, self.best.value, self.upper_bound())
            if self.is_over:
                break

    def push(self, node: NodeT) -> None:
        """Add a node that waits."""
        heapq.heappush(self._waiting, (-node.bound, next(self._ticket), node))

    def take(self) -> NodeT:
        """Return the waiting node with the highest bound, in work from now on."""
        # Noted before it leaves the heap: an interrupt in between must not lose its bound.
        self.current = node = self._waiting[0][2]
        heapq.heappop(self._waiting)
        return node

    def close(self, bound: float) -> None:
        """Remember the bound of what will not be visited."""
        self.closed_bound = max(self.closed_bound, bound)

    @property
    def highest(self) -> float:
        """The highest bound of those waiting; −∞ if none is."""
        return self._waiting[0][2].bound if self._waiting else -np.inf

    @property
    def open_bound(self) -> float:
        """The highest bound of all: waiting, in work or closed."""
        current = -np.inf if self.current is None else self.current.bound
        return max(self.closed_bound, self.highest, current)

    def upper_bound(self) -> float | None:
        """Return what is proved; None before the first bound."""
        bound = self.open_bound + self.error
        return bound if np.isfinite(bound) else None
