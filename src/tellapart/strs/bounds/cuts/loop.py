"""The cut loop: a master problem over all cuts so far, and new cuts at its solutions, in turn."""

from __future__ import annotations

from typing import Protocol

from tellapart.arrays import IntArray
from tellapart.strs.bounds.cuts.cut import CutSource
from tellapart.strs.bounds.cuts.master import Master
from tellapart.strs.control import Control

COARSE = 0.05
"""Masters are solved to this part of the gap that is left: early ones are soon out of date."""


class CutSearch(Protocol):
    """Whose gap the loop closes: the best value so far, and what is proved about the rest.

    `open_bound` is proved for every support that is not yet given up; the loop lowers it.
    """

    control: Control
    open_bound: float

    @property
    def value(self) -> float:
        """The best value so far."""
        ...

    @property
    def cutoff(self) -> float:
        """The bound at which the work is done."""
        ...

    @property
    def stopped(self) -> bool:
        """Whether a limit is reached."""
        ...

    def offer(self, support: IntArray) -> None:
        """Take over a support if it is better."""
        ...

    def count_master(self) -> None:
        """Take note of one more master problem solved for binary q."""
        ...


def close_gap(search: CutSearch, source: CutSource, master: Master) -> None:
    """Add cuts until the master's bound is within the gap, a limit is reached, or none is new."""
    _fractional_rounds(search, source, master)
    _integer_rounds(search, source, master)


def _fractional_rounds(search: CutSearch, source: CutSource, master: Master) -> None:
    """Cut at fractional solutions of the master first: they cost a linear program each."""
    for _ in range(source.rounds):
        if search.stopped or search.open_bound <= search.cutoff:
            return
        answer = master.relaxed(search.control)
        _lower(search, answer.bound)
        for q in answer.points:
            for cut in source.at(q):
                master.add(cut)


def _integer_rounds(search: CutSearch, source: CutSource, master: Master) -> None:
    """Cut at binary solutions of the master, whose values are lower bounds."""
    seen: set[bytes] = set()
    accuracy = COARSE
    while not search.stopped and search.open_bound > search.cutoff:
        # Below this level a q is no better than the gap allows.
        master.require(search.cutoff - 2 * master.allowance)
        answer = master.solve(search.control, accuracy * (search.open_bound - search.value))
        _lower(search, answer.bound)
        search.count_master()
        fresh = [q for q in answer.points if q.tobytes() not in seen][: source.points]
        if not fresh and accuracy == 0.0:
            # Every cut is as tight as tolerances allow: what is left is theirs.
            return
        accuracy = COARSE if fresh else 0.0
        for q in fresh:
            seen.add(q.tobytes())
            search.offer(source.variables[q > 0.5])
            for cut in source.at(q):
                master.add(cut)


def _lower(search: CutSearch, bound: float) -> None:
    """Lower the open bound, never below the best value: that is attained."""
    search.open_bound = min(search.open_bound, max(bound, search.value))
