"""The choice by evidence: the variables whose differences together are the surest, with a proof.

With the strengths e and the shared part M of columns and groups (`tellapart.evidence.evidence`),
z ≥ 0 maximises eᵀz/√(zᵀMz) over at most d columns. A group counts only where all its columns are
chosen, and takes no place of its own. There are few groups: for each set of them whose columns fit,
one sparse ratio problem with these required is solved with a proved bound, and the largest bound
holds for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.evidence.evidence import Evidence
from tellapart.selection.selection import EVIDENCE, Selection
from tellapart.strs import solve
from tellapart.strs.control import Control
from tellapart.strs.ratio import SparseRatio
from tellapart.strs.solution import Solution

MOST_VARIABLES = 10
"""Variables at most where their number is left open."""
ENOUGH = 0.95
"""The share of the evidence of that many which fewer must have."""
EXACT, HEURISTIC = "branch-and-bound", "local-search"
LEAST_SECONDS = 1e-3


@dataclass(frozen=True)
class Best:
    """The best choice: weights of the candidate columns, groups in it, and what is proved."""

    z: FloatArray
    groups: tuple[int, ...]
    value: float
    upper_bound: float | None
    solver: str


def best_of(evidence: Evidence, n_variables: int, control: Control, solver: str = EXACT) -> Best:
    """Return the candidate columns with the most evidence, and a bound where the solver proves one.

    Bounds of different sets of groups hold for their own choices; the largest holds for all.
    """
    best: Best | None = None
    bounds: list[float | None] = []
    for chosen in _sets_of_groups(evidence, n_variables):
        # A set that cannot beat the best by more than the gap need not be solved to its end.
        floor = None if best is None else best.value * (1 + control.gap)
        found = _solved(evidence, chosen, n_variables, control, solver, floor)
        bounds.append(found.upper_bound)
        if best is None or found.value > best.value:
            z = _column_weights(evidence, chosen, found.z)
            best = Best(z, chosen, found.value, None, found.solver)
        if found.interrupted:
            # Ctrl-C: the best so far stands, and of the sets not visited nothing is proved.
            bounds.append(None)
            break
    assert best is not None
    proved = [bound for bound in bounds if bound is not None]
    bound = max(proved) if len(proved) == len(bounds) else None
    return Best(best.z, best.groups, best.value, bound, best.solver)


def enough_variables(evidence: Evidence, control: Control) -> int:
    """Return the least number of variables that carry nearly all the evidence of ten.

    More variables carry no less, so that halving the numbers in question finds it.
    """
    most = min(MOST_VARIABLES, evidence.n_columns)
    wanted = ENOUGH * best_of(evidence, most, control, HEURISTIC).value
    too_few, enough = 0, most
    while enough - too_few > 1:
        middle = (too_few + enough) // 2
        if best_of(evidence, middle, control, HEURISTIC).value >= wanted:
            enough = middle
        else:
            too_few = middle
    return enough


def select_by_evidence(
    samples: Samples,
    evidence: Evidence,
    best: Best,
    n_variables: int,
    *,
    constant: Sequence[str],
    control: Control,
    drawn: bool = False,
) -> Selection:
    """Return the best choice of at most `n_variables` variables as a selection.

    `drawn` says that the samples are themselves rows drawn from more.

    Its kernel is the one that sees what was chosen: linear, or Gaussian where dependence was.
    """
    z = np.zeros(samples.n_columns)
    z[evidence.columns] = best.z
    all_rows = (samples.n_x, samples.n_y)
    support = np.flatnonzero(z)
    reasons = dict(zip(evidence.columns.tolist(), evidence.reasons, strict=True))
    groups = [evidence.groups[g].columns for g in best.groups]
    return Selection(
        support=support,
        z=z,
        value=best.value,
        upper_bound=best.upper_bound,
        status=control.status(best.value, best.upper_bound),
        solver=best.solver,
        seconds=control.elapsed,
        kernel="gaussian" if groups else "linear",
        names=samples.names,
        regularization=0.0,
        constant=tuple(constant),
        nonnegative=True,
        objective=EVIDENCE,
        n_variables=n_variables,
        reasons=tuple(_reason(s, groups, reasons, samples.names) for s in support.tolist()),
        substitutes=find_substitutes(samples.names, evidence, support),
        n_candidates=evidence.n_columns,
        drawn_rows=evidence.n_rows if drawn or evidence.n_rows != all_rows else None,
        groups=tuple(groups),
    )


def _sets_of_groups(evidence: Evidence, n_variables: int) -> Iterator[tuple[int, ...]]:
    """Yield the sets of groups whose columns fit into `n_variables`, the empty one first."""
    for size in range(len(evidence.groups) + 1):
        for chosen in combinations(range(len(evidence.groups)), size):
            if len(_members(evidence, chosen)) <= n_variables:
                yield chosen


def _members(evidence: Evidence, chosen: tuple[int, ...]) -> list[int]:
    return sorted({column for g in chosen for column in evidence.groups[g].columns})


def _solved(
    evidence: Evidence,
    chosen: tuple[int, ...],
    n_variables: int,
    control: Control,
    solver: str,
    floor: float | None,
) -> Solution:
    """Solve the problem in which these groups, and no others, may have weights."""
    count = evidence.n_columns
    index = np.append(np.arange(count), count + np.array(chosen, dtype=np.intp)).astype(np.intp)
    members = np.flatnonzero(np.isin(evidence.columns, _members(evidence, chosen)))
    required = np.append(members, np.arange(count, index.size))
    problem = SparseRatio(
        evidence.shared[np.ix_(index, index)],
        evidence.strengths[index],
        n_variables + len(chosen),
        nonnegative=True,
        required=required if chosen else None,
        # M has no eigenvalue below half its shrinkage, and no part of it has.
        known=True,
    )
    left = control.remaining
    return solve(
        problem,
        solver=solver,
        gap=control.gap,
        # Each set gets its first bound, however late: without it nothing would be proved of any.
        time_limit=None if left is None else max(left, LEAST_SECONDS),
        random_state=control.rng,
        progress=control.progress,
        floor=floor,
    )


def _column_weights(evidence: Evidence, chosen: tuple[int, ...], z: FloatArray) -> FloatArray:
    """Return weights of length 1 of the columns: a group's square is shared by its members."""
    squares = z[: evidence.n_columns] ** 2
    for group, weight in zip(chosen, z[evidence.n_columns :], strict=True):
        members = np.flatnonzero(np.isin(evidence.columns, evidence.groups[group].columns))
        squares[members] += weight**2 / members.size
    weights = np.sqrt(squares)
    return np.asarray(weights / np.linalg.norm(weights))


def _reason(
    column: int, groups: list[tuple[int, ...]], reasons: dict[int, str], names: tuple[str, ...]
) -> str:
    """Say what a chosen column differs in: by itself, or in how it depends on others."""
    partners = sorted({other for group in groups if column in group for other in group} - {column})
    if not partners:
        return reasons[column]
    return "dependence on " + " and ".join(names[other] for other in partners)


# A substitute follows the chosen column this closely, and has this share of its evidence.
ALIKE = 0.5
AS_STRONG = 0.6


def find_substitutes(
    names: tuple[str, ...], evidence: Evidence, support: IntArray
) -> dict[str, tuple[str, ...]]:
    """Return for each chosen column the others that could stand in for it, the likest first.

    A column could stand in if what it differs in is correlated with what the chosen one differs in,
    r² ≥ ½ within the samples and in the same direction, and if its own evidence is not far below.
    """
    found: dict[str, tuple[str, ...]] = {}
    places = {column: place for place, column in enumerate(evidence.columns.tolist())}
    count = evidence.n_columns
    others = ~np.isin(evidence.columns, support)
    for column in support.tolist():
        own = places[column]
        alike = evidence.likeness[own, :count]
        strong = evidence.strengths[:count] >= AS_STRONG * evidence.strengths[own]
        close = np.flatnonzero(others & strong & (alike >= ALIKE**0.5))
        close = close[np.argsort(-alike[close], kind="stable")]
        if close.size:
            found[names[column]] = tuple(names[c] for c in evidence.columns[close])
    return found
