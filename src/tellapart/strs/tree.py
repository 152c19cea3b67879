"""Best-first branch and bound: nodes, and the one loop over them."""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count
from typing import Generic, Self, TypeVar

import numpy as np

from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.strs.incumbent import Incumbent, Search


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
