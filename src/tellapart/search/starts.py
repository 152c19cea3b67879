"""Where searches start: what single variables say, what pairs and triples say, and chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tellapart.arrays import FloatArray, IntArray
from tellapart.data.samples import Samples
from tellapart.kernels import Linear
from tellapart.search.feature_groups import strongest_groups_of_many
from tellapart.search.interactions import MOST_WORK, strongest_groups
from tellapart.search.linear import linear_problem
from tellapart.search.sphere import Hill, climb
from tellapart.statistics.coefficients import linear_coefficients
from tellapart.statistics.objective import FittedObjective
from tellapart.strs import solve
from tellapart.strs.base import truncate
from tellapart.strs.control import Control
from tellapart.strs.solvers.thresholding import Thresholding

MANY_ROWS = 4_000
"""Rows of a sample beyond which groups are looked for by features in place of pairs of rows."""
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
    few = max(samples.n_x, samples.n_y) <= MANY_ROWS
    scan = strongest_groups if few else strongest_groups_of_many
    groups = [
        group.variables
        for size in range(2, min(largest_group, n_variables) + 1)
        if not control.out_of_time
        for group in scan(samples, kernel, size, N_GROUPS, control.rng, work)
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
    """Return z, or its positive part where z ≥ 0 is asked for; its size where there is none."""
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
