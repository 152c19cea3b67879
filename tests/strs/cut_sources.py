"""Sources of cuts over all variables, before anything is fixed."""

from itertools import combinations

import numpy as np

from tellapart.strs.bounds.cuts import HullCuts
from tellapart.strs.bounds.hull import Curvature, HullNode, relax
from tellapart.strs.problem import truncate


def supports(size, d):
    return [np.array(chosen) for chosen in combinations(range(size), d)]


def marks(size, chosen):
    q = np.zeros(size)
    q[chosen] = 1.0
    return q


def hull_cuts(problem):
    """Return the closed-form source over all variables, before anything is fixed."""
    curvature = Curvature.of(problem)
    q = marks(problem.n_columns, truncate(problem.a, problem.d))
    node = HullNode(
        variables=np.arange(problem.n_columns),
        forced=np.zeros(problem.n_columns, dtype=bool),
        delta=np.full(problem.n_columns, curvature.lowest_shift()),
        q=q,
        scores=np.abs(problem.a),
        bound=np.inf,
    )
    relaxed = relax(
        node,
        curvature,
        problem.a,
        problem.d,
        tolerance=1e-6,
        cutoff=-np.inf,
        stop=lambda: False,
    )
    return HullCuts(problem, relaxed)
