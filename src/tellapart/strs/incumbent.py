"""The best support so far: one rule for when another takes over."""

from __future__ import annotations

import heapq
from itertools import count
from typing import Generic, Protocol, TypeVar

import numpy as np

from tellapart.arrays import IntArray
from tellapart.strs.base import finish
from tellapart.strs.control import Control
from tellapart.strs.problem import SparseQuadratic
from tellapart.strs.rounding import support_bound
from tellapart.strs.solution import Solution
from tellapart.strs.swaps import CANDIDATES, improve_by_swaps
from tellapart.strs.trust_region import polish


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
        best.offer(problem.best_places(problem.a))
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


# The nodes of a best-first search: those waiting, the one in work, the bounds of those closed.


class Bounded(Protocol):
    """A node: all that matters here is its bound."""

    @property
    def bound(self) -> float:
        """No point of the node has a higher value."""
        ...


NodeT = TypeVar("NodeT", bound=Bounded)


class OpenNodes(Generic[NodeT]):
    """Nodes in the order of their bounds, the highest first; of equal ones the oldest.

    `bound` holds for everything pushed so far. No moment leaves a node out of it: after Ctrl-C,
    wherever that falls, it is still proved.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, NodeT]] = []
        self._ticket = count()
        self.current: NodeT | None = None
        self.closed_bound = -np.inf

    def push(self, node: NodeT) -> None:
        """Add a node that waits."""
        heapq.heappush(self._heap, (-node.bound, next(self._ticket), node))

    def take(self) -> NodeT:
        """Return the waiting node with the highest bound, in work from now on."""
        # Noted before it leaves the heap: an interrupt in between must not lose its bound.
        self.current = node = self._heap[0][2]
        heapq.heappop(self._heap)
        return node

    def close(self, bound: float) -> None:
        """Remember the bound of what will not be visited."""
        self.closed_bound = max(self.closed_bound, bound)

    @property
    def highest(self) -> float:
        """The highest bound of those waiting; −∞ if none is."""
        return self._heap[0][2].bound if self._heap else -np.inf

    @property
    def bound(self) -> float:
        """The highest bound of all: waiting, in work or closed."""
        current = -np.inf if self.current is None else self.current.bound
        return max(self.closed_bound, self.highest, current)
