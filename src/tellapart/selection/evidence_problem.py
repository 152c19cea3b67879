"""The problem behind a choice by evidence, and what else solves it nearly as well.

For each set of groups (`tellapart.evidence.evidence`) whose columns fit, one sparse ratio problem
with these required. A set of columns has the evidence of the best set of groups within it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from tellapart.evidence.evidence import Evidence
from tellapart.selection.alternatives import Alternatives, incidence_of
from tellapart.selection.selection import Selection
from tellapart.strs.contract import Control
from tellapart.strs.near_optimal import MOST_SUPPORTS, Collected, collect, threshold_of
from tellapart.strs.problem import SparseRatio

NEAR = 0.01
"""The relative distance within which other choices are looked for."""


def sets_of_groups(evidence: Evidence, n_variables: int) -> Iterator[tuple[int, ...]]:
    """Yield the sets of groups whose columns fit into `n_variables`, the empty one first."""
    for size in range(len(evidence.groups) + 1):
        for chosen in combinations(range(len(evidence.groups)), size):
            if len(members_of(evidence, chosen)) <= n_variables:
                yield chosen


def members_of(evidence: Evidence, chosen: tuple[int, ...]) -> list[int]:
    """Return the columns of some groups, sorted."""
    return sorted({column for g in chosen for column in evidence.groups[g].columns})


def problem_of(evidence: Evidence, chosen: tuple[int, ...], n_variables: int) -> SparseRatio:
    """Return the problem in which these groups, and no others, may have weights."""
    count = evidence.n_columns
    index = np.append(np.arange(count), count + np.array(chosen, dtype=np.intp)).astype(np.intp)
    members = np.flatnonzero(np.isin(evidence.columns, members_of(evidence, chosen)))
    required = np.append(members, np.arange(count, index.size))
    return SparseRatio(
        evidence.shared[np.ix_(index, index)],
        evidence.strengths[index],
        n_variables + len(chosen),
        nonnegative=True,
        required=required if chosen else None,
        # M has no eigenvalue below half its shrinkage, and no part of it has.
        known=True,
    )


def collect_choices(
    evidence: Evidence,
    n_variables: int,
    threshold: float,
    control: Control,
    most_nodes: float = np.inf,
    most: int = MOST_SUPPORTS,
) -> Collected:
    """Return the sets of candidate columns whose evidence reaches a threshold, the minimal ones.

    Those of every set of groups are collected, and of all of them the minimal ones stay.
    """
    found: dict[tuple[int, ...], float] = {}
    bound = threshold
    for chosen in sets_of_groups(evidence, n_variables):
        problem = problem_of(evidence, chosen, n_variables)
        part = collect(problem, threshold, control, most=most, most_nodes=most_nodes)
        for support, value in zip(part.supports, part.values.tolist(), strict=True):
            columns = tuple(support[support < evidence.n_columns].tolist())
            found[columns] = max(value, found.get(columns, -np.inf))
        bound = max(bound, part.upper_bound)
        if part.interrupted:
            # Ctrl-C: what is found stands, and of the sets not visited nothing is proved.
            bound = np.inf
            break
    ranked = sorted(found, key=lambda columns: (-found[columns], columns))
    supports = [np.array(columns, dtype=np.intp) for columns in ranked]
    marked = incidence_of(supports, evidence.n_columns).astype(np.float32)
    sizes = marked.sum(axis=1)
    # One that contains another, smaller one is not minimal.
    kept = [
        row
        for row in range(len(ranked))
        if not ((marked @ marked[row] == sizes) & (sizes < sizes[row])).any()
    ]
    return Collected(
        supports=tuple(supports[row] for row in kept),
        values=np.array([found[ranked[row]] for row in kept], dtype=np.float64),
        upper_bound=bound,
        interrupted=bound == np.inf,
    )


@dataclass(frozen=True, eq=False)
class EvidenceProblem:
    """The problem that a choice by evidence solves; see `tellapart.selection.selection`."""

    evidence: Evidence
    gap: float

    def alternatives(
        self, selection: Selection, within: float, control: Control, most_nodes: float = np.inf
    ) -> Alternatives:
        """Return all choices that are nearly as good as an optimal one."""
        threshold = threshold_of(selection.value, within)
        number = self._number(selection)
        columns = self.evidence.columns
        return Alternatives.of(
            collect_choices(self.evidence, number, threshold, control, most_nodes),
            [selection.names[s] for s in columns.tolist()],
            value=selection.value,
            is_optimal=selection.status == "optimal",
            within=within,
            n_variables=number,
            seconds=control.elapsed,
        )

    def look_around(
        self, selection: Selection, control: Control, most_nodes: float = np.inf
    ) -> Selection:
        """Return the selection with a proof of its runner-up, and with those nearly as good.

        As far as the time and so many nodes of each tree are enough: what is not complete is left
        out.
        """
        runner_up = selection.runner_up
        if runner_up is not None and not runner_up.proved:
            runner_up = replace(runner_up, proved=self._is_next(selection, control, most_nodes))
            selection = replace(selection, runner_up=runner_up)
        if runner_up is None or selection.near is not None or control.out_of_time:
            return selection
        is_alone = runner_up.proved and runner_up.share < 1 - NEAR
        # Where the runner-up is too much for a short search, listing all others is.
        if is_alone or not (runner_up.proved or np.isinf(most_nodes)):
            return selection
        near = self.alternatives(selection, NEAR, control, most_nodes)
        return replace(selection, near=near if near.complete else selection.near)

    def _is_next(self, selection: Selection, control: Control, most_nodes: float) -> bool:
        """Whether no choice but the one made is better than its runner-up by more than the gap.

        All choices with more contain one of those collected, so that must be the one made.
        """
        assert selection.runner_up is not None
        least = selection.runner_up.share * selection.value * (1 + self.gap)
        if least >= selection.value:
            return True
        number = self._number(selection)
        others = collect_choices(self.evidence, number, least, control, most_nodes, most=2)
        if others.upper_bound > least or len(others.supports) != 1:
            return False
        (support,) = others.supports
        return bool(np.array_equal(np.sort(self.evidence.columns[support]), selection.support))

    def _number(self, selection: Selection) -> int:
        allowed = selection.n_variables
        count = self.evidence.n_columns
        return count if allowed is None else min(allowed, count)
