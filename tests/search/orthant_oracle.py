"""The best F over z ≥ 0 and few variables, found slowly and by nothing the search uses."""

from itertools import combinations

import numpy as np
from scipy.optimize import minimize

from bench_search_small import values_at


def best_in_orthant(goal, d, seed, n_points=30, n_polished=4):
    """Return the best of many points on every support, the best few polished by L-BFGS."""
    rng, size = np.random.default_rng(seed), goal.samples.n_columns
    points = [np.eye(size)]
    for support in combinations(range(size), d):
        part = np.zeros((n_points, size))
        part[:, support] = rng.dirichlet(np.full(d, 0.6), size=n_points)
        points.append(part)
    points = np.concatenate(points)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    values = np.concatenate([values_at(goal, part) for part in np.array_split(points, 8)])
    best = np.argsort(-values)[:n_polished]
    return max(values.max(), *(polished(goal, points[k]) for k in best))


def polished(goal, z):
    """Return the best value near z; z = u²/‖u²‖ needs no constraint."""
    support = np.flatnonzero(z)

    def loss(u):
        length = np.linalg.norm(u * u)
        point = np.zeros_like(z)
        point[support] = u * u / length
        slopes = goal.gradient(point)[support]
        along = slopes - (slopes @ point[support]) * point[support]
        return -goal.value(point), -2 * u * along / length

    tight = {"ftol": 1e-15, "gtol": 1e-10}
    return -minimize(loss, np.sqrt(z[support]), jac=True, method="L-BFGS-B", options=tight).fun
