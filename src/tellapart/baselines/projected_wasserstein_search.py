"""The sparse direction along which two samples are farthest apart: relax, then tighten."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.linalg import LinearOperator, eigsh
from scipy.spatial.distance import cdist

from tellapart.arrays import FloatArray
from tellapart.baselines.projected_wasserstein_distance import ProjectedDistance
from tellapart.data.samples import draw_rows

ROUNDS = 20
"""Rounds of the relaxation: one transport and one direction each."""
MOST_ROWS = 200
"""Rows of each sample that the relaxation looks at: a transport costs their number cubed."""
POWER_STEPS = 30
DENSE = 500
"""Most columns of a covariance matrix that is formed."""
STEPS = 300
"""Most steps of the ascent."""
SHORTEST = 1e-6
"""The length of a step at which a direction stands."""
SMALLEST_GAIN = 1e-6
"""The relative gain of a step at which a start has climbed enough to be compared."""
SEARCH_ROWS = 1_000
"""Rows of each sample that all starts climb on."""
FINALISTS = 3
"""Ends that climb on to the top, with all rows."""


def farthest_direction(
    distance: ProjectedDistance, d: int, n_starts: int, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Return the best direction found, ‖β‖₂ = 1 and ‖β‖₀ ≤ d, and its distance.

    Starts come from the relaxation, from simple differences and from chance (`n_starts`). All
    are tightened by projected gradient ascent, and the best end wins. A heuristic: there are
    many local maxima, and nothing is proved. Of a direction and its mirror image, the one whose
    heaviest weight is positive is returned.
    """
    search = _on_few_rows(distance, SEARCH_ROWS, rng)
    starts = np.concatenate(
        [
            relaxed_directions(search, d, rng),
            simple_directions(search),
            rng.standard_normal((n_starts, search.x.shape[1])),
        ]
    )
    points, values = ascend(search, starts, d, SMALLEST_GAIN)
    finalists = np.argsort(-values, kind="stable")[:FINALISTS]
    points, values = ascend(distance, points[finalists], d)
    best = int(np.argmax(values))
    beta = points[best]
    mirrored = beta[np.argmax(np.abs(beta))] < 0
    return -beta if mirrored else beta, float(values[best])


def ascend(
    distance: ProjectedDistance, starts: FloatArray, d: int, smallest_gain: float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Climb from each row of `starts`: a step along the gradient, cut back to d entries.

    β ← T_d(β + η∇)/‖·‖₂, with T_d keeping the d largest entries. A step that does not climb is
    undone and η falls, otherwise η grows, for each start by itself. As η falls the support
    settles, and the steps optimise the weights on it, until they are short or their relative
    gain is small.
    """
    point = to_sparse_sphere(starts, d)
    value, gradient = distance.value_and_gradient(point)
    eta = 1 / np.maximum(np.linalg.norm(gradient, axis=1), np.finfo(float).tiny)
    active = np.arange(point.shape[0])
    for _ in range(STEPS):
        trial = to_sparse_sphere(point[active] + eta[active, None] * gradient[active], d)
        moved = np.linalg.norm(trial - point[active], axis=1)
        new_value, new_gradient = distance.value_and_gradient(trial)
        gain = new_value - value[active]
        better = gain > 0
        risen = active[better]
        point[risen], value[risen] = trial[better], new_value[better]
        gradient[risen] = new_gradient[better]
        eta[active] *= np.where(better, 2.0, 0.25)
        settled = (moved <= SHORTEST) | (better & (gain <= smallest_gain * new_value))
        active = active[~settled]
        if active.size == 0:
            break
    return point, value


def relaxed_directions(distance: ProjectedDistance, d: int, rng: np.random.Generator) -> FloatArray:
    """Return directions from the relaxation β βᵀ → B, a mixture of sparse directions.

    max over B of min over transports M of ⟨W_M, B⟩ is concave in B (Mueller and Jaakkola).
    Here both sides play in turn: the best transport against the mixture so far, an assignment
    problem, and the best sparse direction against that transport, which joins the mixture. All
    of them and the leading direction of the mixture are worth a start.
    """
    count = min(distance.x.shape[0], distance.y.shape[0], MOST_ROWS)
    x, y = (rows[draw_rows(len(rows), count, rng)] for rows in (distance.x, distance.y))
    cost = cdist(x, y, "sqeuclidean") / x.shape[1]
    played, shares = np.empty((ROUNDS, x.shape[1])), np.zeros(ROUNDS)
    for t in range(ROUNDS):
        match = linear_sum_assignment(cost)[1]
        played[t] = _sparse_principal(x - y[match], d)
        share = 2 / (t + 3)
        cost = (1 - share) * cost + share * np.subtract.outer(x @ played[t], y @ played[t]) ** 2
        shares *= 1 - share
        shares[t] = share
    leading = np.linalg.svd(np.sqrt(shares)[:, None] * played, full_matrices=False)[2][0]
    return np.vstack([played, leading])


def simple_directions(distance: ProjectedDistance) -> FloatArray:
    """Return the directions of single differences: of means, of marginals, of covariances."""
    x, y = distance.x, distance.y
    means = x.mean(axis=0) - y.mean(axis=0)
    marginals = distance.merge.distances(np.sort(x.T), np.sort(y.T), distance.order)
    return np.vstack([means, marginals, *_covariance_directions(x, y)])


def to_sparse_sphere(directions: FloatArray, d: int) -> FloatArray:
    """Keep the d largest entries of each row and scale it to length 1; ties keep the first.

    >>> to_sparse_sphere(np.array([[3.0, 1.0, -4.0]]), 2)
    array([[ 0.6, 0. , -0.8]])
    """
    kept = np.zeros_like(directions)
    chosen = np.argsort(-np.abs(directions), axis=1, kind="stable")[:, :d]
    np.put_along_axis(kept, chosen, np.take_along_axis(directions, chosen, axis=1), axis=1)
    length = np.linalg.norm(kept, axis=1, keepdims=True)
    # Nothing points anywhere: the first column does as well as any.
    kept[length[:, 0] == 0, 0] = 1.0
    return np.asarray(kept / np.where(length > 0, length, 1.0))


def _sparse_principal(differences: FloatArray, d: int) -> FloatArray:
    """Return a sparse direction of large ‖Δβ‖, by truncated power steps from the longest column."""
    longest = int(np.argmax(np.einsum("ij,ij->j", differences, differences)))
    beta = to_sparse_sphere(differences[None, :, longest] @ differences, d)
    for _ in range(POWER_STEPS):
        before, beta = beta, to_sparse_sphere(beta @ differences.T @ differences, d)
        if np.abs(beta - before).max() <= SHORTEST:
            break
    return np.asarray(beta[0])


def _covariance_directions(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the directions in which x varies most beside y, and y beside x."""
    x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    n_columns = x.shape[1]
    if n_columns <= DENSE:
        vectors = np.linalg.eigh(x.T @ x / len(x) - y.T @ y / len(y))[1]
    else:
        difference = LinearOperator(
            (n_columns, n_columns),
            matvec=lambda v: x.T @ (x @ v) / len(x) - y.T @ (y @ v) / len(y),
            dtype=np.float64,
        )
        vectors = eigsh(difference, k=2, which="BE", v0=np.ones(n_columns), tol=1e-3)[1]
    return vectors[:, -1], vectors[:, 0]


def _on_few_rows(
    distance: ProjectedDistance, most: int, rng: np.random.Generator
) -> ProjectedDistance:
    """Return the distance of at most so many rows of each sample; the same one if it has those."""
    if max(distance.x.shape[0], distance.y.shape[0]) <= most:
        return distance
    x, y = (rows[draw_rows(len(rows), most, rng)] for rows in (distance.x, distance.y))
    return ProjectedDistance.of(x, y, distance.order)
