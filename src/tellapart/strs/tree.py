"""Best-first branch and bound: the open nodes, the one in work, the bounds of those closed."""

from __future__ import annotations

import heapq
from itertools import count
from typing import Generic, Protocol, TypeVar

import numpy as np

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
