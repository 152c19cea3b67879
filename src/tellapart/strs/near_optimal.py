"""All near-optimal supports, proved to be all, and the runner-up, proved to be the next best.

The value of a support S is the maximum over the points whose non-zeros lie in S, so that no
variable added lowers it. The supports of at most d variables with a value of at least a threshold
are therefore described by the *minimal* ones among them, from which no variable can be dropped:
every one contains a minimal one, and whatever contains a minimal one is one of them. Those are
collected.

Branch and bound does it, with a cutoff that stays at the threshold. A node whose bound is below it
is closed; one whose variables forced in reach it by themselves is closed too, since they contain a
minimal support, which is kept, and every other support of the node contains them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tellapart.arguments import check_integer, check_number, check_time_limit
from tellapart.arrays import BoolArray, FloatArray, IntArray
from tellapart.errors import InputError
from tellapart.interrupts import interruptible
from tellapart.strs.contract import Control, Progress, Solution
from tellapart.strs.incumbent import Incumbent, Node
from tellapart.strs.problem import (
    ShiftedFactor,
    SparseQuadratic,
    SparseRatio,
    SparseTrustRegion,
    polish,
    support_bound,
)
from tellapart.strs.solve import SMALLEST_GAP, check_problem, solve
from tellapart.strs.solvers.branch_and_bound import BranchAndBound, HullSearch
from tellapart.strs.solvers.misdp import Misdp, SemidefiniteSearch

if TYPE_CHECKING:
    from tellapart.strs.bounds.hull import HullNode

MOST_SUPPORTS = 10_000
"""Supports collected at most, unless the caller says otherwise."""
REMEMBERED = 100_000
"""Values of supports that are kept at hand."""
NODE_BYTES = 500_000_000
"""Memory that the nodes of a tree may take, about."""
ACCURACY = 0.3
"""Relaxations are as accurate as this part of the distance from the best to the threshold."""


# What is found.


@dataclass(frozen=True)
class NearOptimal:
    """The minimal supports of at most d variables whose value is nearly that of the best.

    A support is near-optimal if its value is at least `best.value − within·|best.value|`. All
    near-optimal supports are those that contain one of `supports`, if `complete`.

    Attributes
    ----------
    supports : tuple of sorted int arrays
        The minimal near-optimal supports that were found, the highest value first: without any one
        of its variables, but those required, none of them is near-optimal.
    values : array
        Their values.
    best : Solution
        The best point, and what is proved about it.
    within : float
        The relative distance from the best that was requested.
    upper_bound : float
        No support that contains none of `supports` has a higher value.
    n_columns : int
        Number of variables, D.
    seconds : float
        Wall time.
    interrupted : bool
        Whether Ctrl-C ended the work.
    """

    supports: tuple[IntArray, ...]
    values: FloatArray
    best: Solution
    within: float
    upper_bound: float
    n_columns: int
    seconds: float
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """Whether `best` is proved to be optimal, and no near-optimal support is missing."""
        return self.best.status == "optimal" and self.upper_bound <= self.threshold

    @property
    def threshold(self) -> float:
        """The least value of a near-optimal support."""
        return threshold_of(self.best.value, self.within)

    @property
    def reach(self) -> float | None:
        """The relative distance from the best down to which no support is missing; None for none.

        That is `within` if nothing is missing.
        """
        if self.best.status != "optimal":
            return None
        return reach_of(self.best.value, self.upper_bound, self.within)

    @cached_property
    def incidence(self) -> BoolArray:
        """One row per support and one column per variable: whether it is in."""
        marked = np.zeros((len(self.supports), self.n_columns), dtype=bool)
        for row, support in zip(marked, self.supports, strict=True):
            row[support] = True
        return marked

    @property
    def counts(self) -> IntArray:
        """For each variable the number of supports that contain it."""
        counts: IntArray = self.incidence.sum(axis=0).astype(np.intp)
        return counts

    @property
    def in_all(self) -> IntArray:
        """The variables that are in all supports."""
        return np.flatnonzero(self.counts == len(self.supports))

    @property
    def in_none(self) -> IntArray:
        """The variables that are in none: no near-optimal support needs them."""
        return np.flatnonzero(self.counts == 0)

    @property
    def groups(self) -> tuple[IntArray, ...]:
        """Variables that substitute for each other (`exchange_groups`)."""
        return exchange_groups(self.incidence)


def threshold_of(value: float, within: float) -> float:
    """Return the least value that is within a relative distance of another."""
    return value - within * abs(value)


def reach_of(value: float, upper_bound: float, within: float) -> float | None:
    """Return the relative distance between a value and a bound below it, at most `within`."""
    if upper_bound > value:
        return None
    if upper_bound <= threshold_of(value, within):
        return within
    return min((value - upper_bound) / abs(value), within)


def exchange_groups(incidence: BoolArray) -> tuple[IntArray, ...]:
    """Return groups of variables that substitute for each other, those in most supports first.

    In a group no two variables are in one support, and each can take the place of the first one in
    some support: with it instead, that is another one of the supports. Within a group the variables
    in most supports come first.

    Parameters
    ----------
    incidence : bool array
        One row per support and one column per variable.

    Examples
    --------
    >>> import numpy as np
    >>> incidence = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
    >>> [group.tolist() for group in exchange_groups(incidence)]
    [[1, 2]]
    """
    rows = {row.tobytes() for row in np.packbits(incidence, axis=1)}
    counts = incidence.sum(axis=0)
    order = [int(j) for j in np.argsort(-counts, kind="stable") if counts[j] > 0]
    together = incidence.T.astype(np.float32) @ incidence.astype(np.float32) > 0
    taken: set[int] = set()
    groups = []
    for first in order:
        if first in taken or counts[first] == incidence.shape[0]:
            continue
        group = [first]
        for other in order:
            if other in taken or other == first or together[other, group].any():
                continue
            if _replaces(incidence, rows, first, other):
                group.append(other)
        if len(group) > 1:
            taken.update(group)
            groups.append(np.array(group, dtype=np.intp))
    return tuple(sorted(groups, key=lambda group: -int(counts[group].sum())))


def _replaces(incidence: BoolArray, rows: set[bytes], first: int, other: int) -> bool:
    """Whether some support, with one variable in the place of another, is one of the rows."""
    swapped = incidence[incidence[:, other]].copy()
    swapped[:, other], swapped[:, first] = False, True
    return any(row.tobytes() in rows for row in np.packbits(swapped, axis=1))


# The search for them.


class Collection(Incumbent):
    """In the place of the best support so far: all minimal supports above a fixed threshold.

    To a tree it is an incumbent whose value is the threshold. `given` are the variables that every
    support of the node in work contains.
    """

    def __init__(
        self,
        problem: SparseQuadratic,
        control: Control,
        threshold: float,
        most: int = MOST_SUPPORTS,
    ) -> None:
        super().__init__(problem, replace(control, gap=0.0, resolution=0.0, floor=-np.inf))
        self.value = threshold
        self.most = most
        self.found: dict[tuple[int, ...], float] = {}
        self.given: tuple[int, ...] = tuple(problem.required.tolist())
        self._required = frozenset(self.given)
        self._values: dict[tuple[int, ...], float] = {}

    @property
    def cutoff(self) -> float:
        """The bound at which a node is closed."""
        return self.value

    @property
    def is_full(self) -> bool:
        """Whether as many supports are found as may be kept."""
        return len(self.found) >= self.most

    def improve(self, support: IntArray) -> int:
        """Take no steps: a tree need not find the best support."""
        self.offer(support)
        return 0

    def offer(self, support: IntArray, *, swaps: bool = False) -> float:  # noqa: ARG002
        """Keep one minimal support within this one, if its value reaches the threshold."""
        members = tuple(support.tolist())
        value = self.value_of(members)
        if value > self.value:
            self.take(members)
        return value

    def offer_whole(self, support: IntArray, *, swaps: bool = False) -> float:  # noqa: ARG002
        """Keep the minimal supports with those `given` within this one.

        Return a proved bound on the values over all others within it.
        """
        members = tuple(support.tolist())
        value = self.value_of(members)
        if value > self.value and self._collect(members, self.given):
            return self.value
        return support_bound(self.problem, support, value, self.cutoff)

    def covers(self, node: Node) -> bool:
        """Whether all of a node is accounted for: what it forces in reaches the threshold."""
        self.given = tuple(sorted(node.variables[node.forced].tolist()))
        return self.value_of(self.given) > self.value and self.take(self.given)

    def value_of(self, members: tuple[int, ...]) -> float:
        """Return the value of a support; where it does not exceed the threshold, perhaps less."""
        if not members:
            return -np.inf
        known = self._values.get(members)
        if known is None:
            known = polish(self.problem, np.array(members, dtype=np.intp), self.value)[1]
            if len(self._values) >= REMEMBERED:
                self._values.clear()
            self._values[members] = known
        return known

    def take(self, members: tuple[int, ...]) -> bool:
        """Keep a minimal support within one that reaches the threshold; False if there is no room.

        Each variable is dropped unless that goes below: what cannot be dropped from a support
        cannot be dropped from a smaller one.
        """
        for member in members:
            if member not in self._required:
                smaller = tuple(other for other in members if other != member)
                if self.value_of(smaller) > self.value:
                    members = smaller
        if members not in self.found:
            if self.is_full:
                return False
            self.found[members] = self.value_of(members)
        return True

    def _collect(self, members: tuple[int, ...], given: tuple[int, ...]) -> bool:
        """Keep all minimal supports between two, the larger of which reaches the threshold.

        False if that was given up, for lack of room or time.
        """
        if self.is_full or self.control.out_of_time:
            return False
        if self.value_of(given) > self.value:
            return self.take(given)
        inside = set(given)
        member = next(member for member in members if member not in inside)
        without = tuple(other for other in members if other != member)
        if self.value_of(without) > self.value and not self._collect(without, given):
            return False
        return self._collect(members, tuple(sorted((*given, member))))


class _HullCollection(HullSearch):
    """The tree of hull bounds, collecting."""

    best: Collection

    def __init__(self, best: Collection, accuracy: float, most_nodes: float) -> None:
        super().__init__(best.problem, best.control, best)
        self.accuracy = accuracy
        self.most_nodes = min(most_nodes, NODE_BYTES / (64 * best.problem.n_columns))

    @property
    def tolerance(self) -> float:
        """Accuracy of relaxations."""
        return self.accuracy

    @property
    def is_over(self) -> bool:
        """Whether there is no more room, or semidefinite bounds are to go on."""
        return self.best.is_full or super().is_over

    def expand(self, node: HullNode) -> tuple[HullNode, ...]:
        """Bound a node, unless it is accounted for."""
        if not self.best.covers(node):
            return super().expand(node)
        self.close(self.cutoff)
        return ()

    def run_semidefinite(self) -> None:
        """Go on with semidefinite bounds where the hull bound is too weak."""
        if self.best.is_full:
            return
        rest = _SemidefiniteCollection(self.best, self.most_nodes)
        interrupted = rest.solve(Misdp.name, None).interrupted
        self.iterations += rest.iterations
        self.semidefinite_bound = rest.upper_bound()
        if interrupted:
            raise KeyboardInterrupt


class _SemidefiniteCollection(SemidefiniteSearch):
    """The tree of semidefinite bounds, collecting."""

    best: Collection

    def __init__(self, best: Collection, most_nodes: float) -> None:
        super().__init__(best.problem, best.control, Misdp(), best)
        self.most_nodes = most_nodes

    @property
    def is_over(self) -> bool:
        """Whether there is no more room."""
        return self.best.is_full

    def expand(self, node: Any) -> tuple[Any, ...]:
        """Bound a node, unless it is accounted for."""
        if not self.best.covers(node):
            return super().expand(node)
        self.close(self.cutoff)
        return ()


@dataclass(frozen=True)
class Collected:
    """The minimal supports above a threshold with their values, and a bound on all others."""

    supports: tuple[IntArray, ...]
    values: FloatArray
    upper_bound: float
    interrupted: bool


def collect(
    problem: SparseQuadratic | SparseRatio,
    threshold: float,
    control: Control,
    *,
    start: IntArray | None = None,
    most: int = MOST_SUPPORTS,
    most_nodes: float = np.inf,
    accuracy: float = 3e-3,
) -> Collected:
    """Return the minimal supports whose value is at least a threshold.

    Parameters
    ----------
    problem : SparseQuadratic or SparseRatio
        The problem.
    threshold : float
        The least value; of a ratio, above 0 unless no ratio is.
    control : Control
        The time limit.
    start : array of indices, optional
        A support that reaches the threshold.
    most : int
        Supports at most.
    most_nodes : float
        Nodes of the tree at most.
    accuracy : float
        Accuracy of relaxations, as a share of the threshold.
    """
    if isinstance(problem, SparseRatio):
        if problem.single_best() is not None:
            return _single_supports(problem, threshold)
        squared = (problem.scale * max(threshold, 0.0)) ** 2
        inside = collect(
            problem.squared,
            squared,
            control,
            start=start,
            most=most,
            most_nodes=most_nodes,
            accuracy=2 * accuracy,
        )
        values = np.sqrt(np.maximum(inside.values, 0.0)) / problem.scale
        # A root is off by less than this; that of the threshold itself must not be above it.
        root = float(np.sqrt(max(inside.upper_bound, 0.0))) / problem.scale * (1 + 1e-15)
        bound = threshold if inside.upper_bound <= squared else root
        return replace(inside, values=values, upper_bound=bound)
    # Rounding error must not decide: what it may hide counts.
    lowered = threshold - problem.resolution
    best = Collection(problem, control, lowered, most)
    best.support = problem.best_support(problem.a) if start is None else start
    precision = max(accuracy * abs(threshold), problem.resolution)
    search = _HullCollection(best, precision, most_nodes)
    solution = search.solve(BranchAndBound.name, start)
    proved = search.upper_bound()
    found = sorted(best.found.items(), key=lambda item: (-item[1], item[0]))
    return Collected(
        supports=tuple(np.array(members, dtype=np.intp) for members, _ in found),
        values=np.array([value for _, value in found], dtype=np.float64),
        upper_bound=np.inf if proved is None else max(proved, lowered),
        interrupted=solution.interrupted,
    )


def _single_supports(problem: SparseRatio, threshold: float) -> Collected:
    """Return the supports where no mixture of variables beats the best of its parts."""
    ratios = problem.a / np.sqrt(np.diag(problem.M))
    if not problem.nonnegative:
        ratios = np.abs(ratios)
    given = problem.required
    reached = np.flatnonzero(ratios >= threshold)
    if given.shape[0] > 0 and (np.isin(given, reached).any() or given.shape[0] == problem.d):
        supports = [given]
    else:
        supports = [np.sort(np.append(given, each)) for each in reached]
    supports.sort(key=lambda support: -float(ratios[support].max()))
    values = np.array([ratios[support].max() for support in supports], dtype=np.float64)
    return Collected(tuple(supports), values, threshold, interrupted=False)


@interruptible()
def near_optimal(
    problem: SparseTrustRegion | SparseRatio,
    within: float = 0.01,
    best: Solution | None = None,
    gap: float = 1e-4,
    time_limit: float | None = None,
    most: int = MOST_SUPPORTS,
    progress: Progress | None = None,
) -> NearOptimal:
    """Return all minimal supports whose value is within a relative distance of the best.

    A support that contains a near-optimal one is near-optimal too. So those are listed from which
    no variable can be dropped; all others contain one of them.

    Parameters
    ----------
    problem : SparseTrustRegion or SparseRatio
        The problem.
    within : float
        The relative distance, at least 0 and below 1. Ties up to rounding error count.
    best : Solution, optional
        The solution of the problem, where it is known already.
    gap : float
        The relative gap within which the best must be proved, where it is not known.
    time_limit : float, optional
        Seconds after which what is found and proved so far is returned.
    most : int
        Supports that are collected at most.
    progress : callable, optional
        Called as progress(iterations, threshold, upper bound or None).

    Returns
    -------
    NearOptimal
        With `complete`, or else how far the proof reaches.

    Examples
    --------
    >>> import numpy as np
    >>> problem = SparseTrustRegion(np.diag([3.0, 2.99, 1.0]), np.zeros(3), d=2)
    >>> near = near_optimal(problem, within=0.01)
    >>> [support.tolist() for support in near.supports], near.complete
    ([[0], [1]], True)
    """
    quadratic = check_problem(problem)
    share = check_number("within", within, 0.0, 1.0, open_high=True)
    gap = check_number("gap", gap, SMALLEST_GAP, 1.0, open_high=True)
    most = check_integer("most", most, 1)
    control = Control(time_limit=check_time_limit(time_limit), progress=progress)
    if best is None:
        best = solve(problem, gap=gap, time_limit=time_limit)
    elif not isinstance(best, Solution) or best.z.shape != (problem.n_columns,):
        raise InputError(f"best must be a Solution of this problem; got {type(best).__name__}")
    threshold = threshold_of(best.value, share)
    collected = collect(
        problem,
        threshold,
        control,
        start=np.union1d(best.support, quadratic.required),
        most=most,
        accuracy=ACCURACY * max(share, best.gap or 0.0, gap),
    )
    return NearOptimal(
        supports=collected.supports,
        values=collected.values,
        best=best,
        within=share,
        upper_bound=collected.upper_bound,
        n_columns=problem.n_columns,
        seconds=control.elapsed,
        interrupted=collected.interrupted or best.interrupted,
    )


# The runner-up.


def next_best(
    problem: SparseTrustRegion | SparseRatio,
    best: Solution,
    gap: float = 1e-4,
    time_limit: float | None = None,
) -> Solution | None:
    """Return the best point without one of the variables of another; None if there is none.

    Every support of at most d variables that does not contain that of `best` leaves out one of its
    variables: the best one without each of them is solved for, and the best of these is the
    runner-up. It is proved as far as the bounds of all of them are: `status`.

    Parameters
    ----------
    problem : SparseTrustRegion or SparseRatio
        The problem.
    best : Solution
        Its solution.
    gap : float
        Relative gap.
    time_limit : float, optional
        Seconds for all of it.

    Examples
    --------
    >>> import numpy as np
    >>> problem = SparseTrustRegion(np.diag([3.0, 2.5, 1.0]), np.zeros(3), d=1)
    >>> runner_up = next_best(problem, solve(problem))
    >>> runner_up.support.tolist(), runner_up.value, runner_up.status
    ([1], 2.5, 'optimal')
    """
    quadratic = check_problem(problem)
    control = Control(gap=check_number("gap", gap, SMALLEST_GAP, 1.0, open_high=True))
    control = replace(control, time_limit=check_time_limit(time_limit))
    leaving = [s for s in best.support.tolist() if not quadratic.is_required[s]]
    if problem.n_columns == 1 or not leaving:
        return None
    found: Solution | None = None
    bounds: list[float | None] = []
    iterations = 0
    for number, member in enumerate(leaving):
        kept = np.delete(np.arange(problem.n_columns), member)
        left = control.remaining
        solution = solve(
            _restricted(problem, kept),
            gap=gap,
            time_limit=None if left is None else max(left / (len(leaving) - number), 1e-3),
            floor=None if found is None else found.value + gap * abs(found.value),
        )
        bounds.append(solution.upper_bound)
        iterations += solution.iterations
        if found is None or solution.value > found.value:
            z = np.zeros(problem.n_columns)
            z[kept] = solution.z
            found = replace(solution, support=kept[solution.support], z=z)
        if solution.interrupted:
            bounds.append(None)
            break
    assert found is not None
    proved = [bound for bound in bounds if bound is not None]
    bound = max(*proved, found.value) if len(proved) == len(bounds) else None
    return replace(
        found,
        upper_bound=bound,
        status=control.status(found.value, bound),
        iterations=iterations,
        seconds=control.elapsed,
        interrupted=len(bounds) > len(leaving) or solution.interrupted,
        search=None,
    )


def _restricted(
    problem: SparseTrustRegion | SparseRatio, kept: IntArray
) -> SparseTrustRegion | SparseRatio:
    """Return the problem over some of the variables, those required among them."""
    d = min(problem.d, kept.shape[0])
    required = np.flatnonzero(np.isin(kept, problem.required))
    if isinstance(problem, SparseRatio):
        block = problem.M[np.ix_(kept, kept)]
        return SparseRatio(
            block, problem.a[kept], d, problem.nonnegative, required=required, known=True
        )
    matrix: FloatArray | ShiftedFactor
    if problem.factor is None:
        matrix = problem.submatrix(kept)
    else:
        matrix = ShiftedFactor(problem.factor.shift, problem.factor.B[:, kept])
    return SparseTrustRegion(matrix, problem.a[kept], d, problem.domain.nonnegative, required)
