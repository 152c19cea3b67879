"""Where searches start: what single variables say, what pairs and triples say, and chance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.kernels import Linear
from tellapart.search.interactions import MOST_WORK, strongest_groups
from tellapart.search.sphere import Hill, climb
from tellapart.statistics.coefficients import LinearCoefficients, linear_coefficients
from tellapart.statistics.objective import FittedObjective
from tellapart.strs import solve
from tellapart.strs.contract import Control
from tellapart.strs.problem import ShiftedFactor, SparseRatio, SparseTrustRegion, truncate
from tellapart.strs.solvers.thresholding import Thresholding

# The linear kernel's choice, written as a sparse trust region problem or as a sparse ratio.


MOST_RATIO_COLUMNS = 2_000
"""The ratio needs V as a matrix: columns at most."""


def linear_problem(
    coefficients: LinearCoefficients, regularization: float, d: int, nonnegative: bool = False
) -> SparseTrustRegion:
    """Return max aᵀz − λ zᵀVz over ‖z‖₂ = 1, ‖z‖₀ ≤ d, and z ≥ 0 if `nonnegative`.

    A is −λV: variance is a cost.
    """
    if coefficients.B is not None:
        factor = ShiftedFactor(0.0, math.sqrt(regularization) * coefficients.B)
        return SparseTrustRegion(factor, coefficients.a, d, nonnegative)
    matrix = -regularization * coefficients.variance_matrix()
    return SparseTrustRegion(matrix, coefficients.a, d, nonnegative)


def ratio_problem(
    coefficients: LinearCoefficients, d: int, shrinkage: float, nonnegative: bool = False
) -> SparseRatio:
    """Return max aᵀz/√(zᵀ(V + r·v·I)z) over ‖z‖₀ ≤ d, and z ≥ 0 if `nonnegative`.

    r is the `shrinkage` and v the median of the positive variances V_ss. Where there are none, as
    between a sample and its copy, v = 1: a alone decides then.
    """
    n_columns = coefficients.a.shape[0]
    if n_columns > MOST_RATIO_COLUMNS:
        raise InputError(
            f"the ratio takes at most {MOST_RATIO_COLUMNS:,} columns; got {n_columns:,}; "
            "choose by the regularized objective"
        )
    M = coefficients.variance_matrix().copy()
    variances = np.diag(M)
    positive = variances[variances > 0]
    unit = float(np.median(positive)) if positive.size > 0 else 1.0
    M[np.diag_indices_from(M)] += shrinkage * unit
    return SparseRatio(M, coefficients.a, d, nonnegative)


# Groups of each size that are grown into starts.
N_GROUPS = 3
# A start need not be polished.
_GROWING_STEPS, _GROWING_TOLERANCE = 5, 1e-4
# The regularization of the linear start where λ is 0 too would repeat the top-d of |a|.
_LINEAR_REGULARIZATION = 0.1
# Operations of a scan for groups, for each second of a time limit: a small part of it.
_WORK_PER_SECOND = 3e9


@dataclass(frozen=True)
class Start:
    """A point to search from and where it comes from."""

    origin: str
    z: FloatArray


@dataclass(frozen=True)
class Scores:
    """What the linear kernel says of every column, and groups whose dependence differs.

    Attributes
    ----------
    single : array of shape (D,)
        |a_s|, the MMD² of each column by itself; a_s less the least of them if scored for z ≥ 0.
    linear : array of shape (D,)
        The linear kernel's weights for d variables, by a heuristic.
    groups : tuple of int tuples
        The strongest pairs and triples, strongest first in each size.
    """

    single: FloatArray
    linear: FloatArray
    groups: tuple[tuple[int, ...], ...]


def score_columns(
    samples: Samples,
    n_variables: int,
    regularization: float,
    control: Control,
    *,
    largest_group: int,
    n_jobs: int,
    most_work: float = MOST_WORK,
    nonnegative: bool = False,
) -> Scores:
    """Look at single columns, and at groups of up to `largest_group` ≤ 3 of them.

    `nonnegative` is for searches that z ≥ 0 restricts (`FittedObjective.within_orthant`).
    """
    kernel = Linear().fit(samples, n_jobs=n_jobs)
    keep = np.flatnonzero(~kernel.constant)
    coefficients = linear_coefficients(samples, kernel, n_jobs=n_jobs)
    a = coefficients.a
    single = a - a.min() if nonnegative else np.abs(a)
    linear = np.zeros(samples.n_columns)
    single[kernel.constant] = 0.0
    if keep.size > 0:
        problem = linear_problem(
            coefficients,
            regularization or _LINEAR_REGULARIZATION,
            min(n_variables, keep.size),
            nonnegative,
        )
        linear = solve(problem, solver=Thresholding()).z
    work = most_work
    if control.time_limit is not None:
        work = min(work, _WORK_PER_SECOND * control.time_limit)
    groups = [
        group.variables
        for size in range(2, min(largest_group, n_variables) + 1)
        if not control.out_of_time
        for group in strongest_groups(samples, kernel, size, N_GROUPS, control.rng, work)
    ]
    return Scores(single, linear, tuple(groups))


def make_starts(
    objective: FittedObjective,
    n_variables: int,
    scores: Scores,
    *,
    n_random: int,
    rng: np.random.Generator,
    control: Control,
) -> list[Start]:
    """Return the starts, the most promising kind first; supports that repeat are left out."""
    size = scores.single.shape[0]
    uniform = np.full(size, 1 / np.sqrt(size))
    lift = objective.lift(objective.weight_slopes(uniform))
    starts = [
        Start("largest |a|", equal(truncate(scores.single, n_variables), size)),
        Start("steepest", equal(truncate(lift - lift.min(), n_variables), size)),
    ]
    # Where no column varies in these rows the linear kernel has no weights, and so no start.
    if scores.linear.any():
        linear = spread(objective, cut(feasible(objective, scores.linear), n_variables))
        starts.insert(0, Start("linear kernel", linear))
    for group in scores.groups:
        if len(group) > n_variables:
            continue
        if control.out_of_time:
            break
        seed = equal(np.array(group), size)
        grown = grow(objective, seed, n_variables, control)
        starts.append(Start(f"group of {len(group)}", grown))
    starts += [
        Start("random", equal(np.sort(rng.choice(size, n_variables, replace=False)), size))
        for _ in range(n_random)
    ]
    return _distinct(starts)


def grow(
    objective: FittedObjective, z: FloatArray, n_variables: int, control: Control | None = None
) -> FloatArray:
    """Return z with the steepest unused variables added, as many again at a time, up to d."""
    z = _climbed(objective, z, control)
    while (used := np.flatnonzero(z)).shape[0] < n_variables:
        slopes = objective.weight_slopes(z)
        lift = np.where(z == 0, objective.lift(slopes), -np.inf)
        room = n_variables - used.shape[0]
        coming = np.argsort(-lift, kind="stable")[: min(room, used.shape[0])]
        moved = z.copy()
        entry = float(np.abs(z[used]).min()) / 2
        moved[coming] = entry
        if objective.signed:
            moved[coming] *= np.where(slopes[coming] < 0, -1.0, 1.0)
        moved /= np.linalg.norm(moved)
        z = _climbed(objective, moved, control)
        if np.count_nonzero(z) <= used.shape[0]:
            break  # what came in went out again: more variables would not help from here
    return z


def _climbed(objective: FittedObjective, z: FloatArray, control: Control | None) -> FloatArray:
    steps, tolerance = _GROWING_STEPS, _GROWING_TOLERANCE
    return climb(objective, z, most_steps=steps, tolerance=tolerance, control=control).z


def equal(support: IntArray, size: int) -> FloatArray:
    """Return the point with equal entries on `support`."""
    z = np.zeros(size)
    z[support] = 1 / np.sqrt(support.shape[0])
    return z


def feasible(objective: FittedObjective, z: FloatArray) -> FloatArray:
    """Return z, or its positive part where z ≥ 0 is required; |z| where there is none."""
    if not objective.within_orthant or (z >= 0).all():
        return z
    kept: FloatArray = np.maximum(z, 0.0) if (z > 0).any() else np.abs(z)
    kept /= np.linalg.norm(kept)
    return kept


def cut(z: FloatArray, n_variables: int) -> FloatArray:
    """Return z with its largest entries only: scores may be of more variables than are wanted."""
    if np.count_nonzero(z) <= n_variables:
        return z
    kept = np.zeros_like(z)
    largest = truncate(z, n_variables)
    kept[largest] = z[largest]
    return kept / np.linalg.norm(kept)


def spread(objective: Hill, z: FloatArray) -> FloatArray:
    """Return the point whose weights ω are in proportion to the entries of a linear solution."""
    if not objective.squares_weights:
        return z
    root: FloatArray = np.sqrt(np.abs(z))
    root /= np.linalg.norm(root)
    return root


def _distinct(starts: list[Start]) -> list[Start]:
    seen: set[bytes] = set()
    kept = []
    for start in starts:
        key = np.flatnonzero(start.z).tobytes()
        if key not in seen:
            seen.add(key)
            kept.append(start)
    return kept


# Candidates among many columns: those that first-order information supports.


# Newcomers in one round of screening at most.
_NEWCOMERS = 30
MOST_ROUNDS = 5


@dataclass(frozen=True)
class Screen:
    """The candidate columns and the objective restricted to them.

    Attributes
    ----------
    columns : sorted int array
        The candidates.
    objective : FittedObjective
        F of the candidates alone, the kernel as it is for all columns.
    size : int
        Number of all columns.
    rounds : int
        How often candidates were chosen.
    """

    columns: IntArray
    objective: FittedObjective
    size: int
    rounds: int = 1

    @classmethod
    def of(
        cls,
        objective: FittedObjective,
        scores: Scores,
        n_variables: int,
        most: int,
        must: Sequence[int] = (),
    ) -> Screen:
        """Choose candidates: those of the starts, then the best by themselves and by slope.

        By slope: ∂F/∂ω_s at equal weights, where every column has its say.
        """
        size = scores.single.shape[0]
        n_candidates = max(most, 4 * n_variables)
        if size <= n_candidates:
            return cls(np.arange(size), objective, size)
        lift = objective.lift(objective.weight_slopes(np.full(size, 1 / np.sqrt(size))))
        first = [*must, *(s for group in scores.groups for s in group)]
        first += np.flatnonzero(scores.linear).tolist()
        ranked = zip(np.argsort(-scores.single), np.argsort(-lift), strict=True)
        queue = [*first, *(int(s) for pair in ranked for s in pair)]
        # Starts are never cut short, however few candidates were requested.
        n_candidates = max(n_candidates, len(set(first)))
        columns = np.sort(np.array(list(dict.fromkeys(queue))[:n_candidates]))
        return cls(columns, objective.columns(columns), size)

    def restricted(self, scores: Scores) -> Scores:
        """Return the scores of the candidates, by their positions among them."""
        position = {int(s): i for i, s in enumerate(self.columns)}
        groups = tuple(tuple(position[s] for s in group) for group in scores.groups)
        return Scores(scores.single[self.columns], scores.linear[self.columns], groups)

    def embedded(self, z: FloatArray) -> FloatArray:
        """Return z of the candidates as a point of all columns."""
        full = np.zeros(self.size)
        full[self.columns] = z
        return full


def widened(
    screen: Screen, objective: FittedObjective, z: FloatArray, n_variables: int
) -> Screen | None:
    """Return a screen with more columns if some outside promise as much as those in use.

    Where Σω = 1, a column is worth a look if its ∂F/∂ω_s at z is above that of the chosen ones,
    which have one in common at a maximum. Elsewhere any slope helps while a place is unused, and
    one above the least of the chosen ones after that.
    """
    outside = np.setdiff1d(np.arange(screen.size), screen.columns)
    if outside.size == 0 or screen.rounds == MOST_ROUNDS:
        return None
    slopes = objective.weight_slopes(z)
    lift = objective.lift(slopes)
    used = np.flatnonzero(z)
    if objective.squares_weights:
        least = float(objective.weights(z) @ slopes)
    else:
        least = float(lift[used].min()) if used.shape[0] == n_variables else 0.0
    promising = outside[lift[outside] > least]
    if promising.size == 0:
        return None
    newcomers = promising[np.argsort(-lift[promising], kind="stable")[:_NEWCOMERS]]
    columns = np.union1d(screen.columns, newcomers)
    return Screen(columns, objective.columns(columns), screen.size, screen.rounds + 1)
