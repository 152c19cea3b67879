"""The best F over z ≥ 0 and few variables, found slowly and by nothing the search uses."""

from itertools import combinations

import numpy as np
from scipy.optimize import minimize

from bench_search_small import values_at


def best_in_orthant(goal, d, seed, n_points=60):
    """Return the best over all supports: the best of many points on each, polished by L-BFGS."""
    rng, size = np.random.default_rng(seed), goal.samples.n_columns
    best = values_at(goal, np.eye(size)).max()
    for support in combinations(range(size), d):
        points = np.zeros((n_points, size))
        points[:, support] = rng.dirichlet(np.full(d, 0.6), size=n_points)
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        best = max(best, polished(goal, points[np.argmax(values_at(goal, points))]))
    return best


def polished(goal, z):
    """Return the best value near z; z = u²/‖u²‖ needs no constraint."""
    support = np.flatnonzero(z)

    def loss(u):
        length = np.linalg.norm(u * u)
        point = np.zeros_like(z)
        point[support] = u * u / length
        here = goal.local(point, support)
        along = here.gradient - (here.gradient @ point[support]) * point[support]
        return -here.value, -2 * u * along / length

    tight = {"ftol": 1e-12, "gtol": 1e-8}
    return -minimize(loss, np.sqrt(z[support]), jac=True, method="L-BFGS-B", options=tight).fun
