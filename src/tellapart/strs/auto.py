"""What solver="auto" picks."""

from __future__ import annotations

from math import comb

from tellapart.strs.problem import SparseTrustRegion

EIGENVALUE_SECONDS = 0.4
"""About what all eigenvalues of a dense matrix of order 1,000 take."""


def choose(problem: SparseTrustRegion, time_limit: float | None = None) -> str:
    """Return the name of the solver that fits the problem and the time there is.

    By D and d: brute force where it takes about a tenth of a second at most (d = D among them,
    one trust region step). By D and the time limit: local search, which proves nothing, where the
    limit would pass before branch and bound had the eigenvalues of a dense A, its first bound.
    Branch and bound otherwise: it closes small trees at once and, on large problems, returns the
    best point with the bound proved within the limit. The spectrum decides inside it: where A
    has large positive eigenvalues and the hull bound shows to be loose, semidefinite bounds take
    over.
    """
    supports = comb(problem.n_columns, problem.d)
    if supports == 1 or supports * (3_000 + problem.d**3) <= 5_000_000:
        return "brute-force"
    first_bound = EIGENVALUE_SECONDS * (problem.n_columns / 1_000) ** 3
    if time_limit is not None and problem.factor is None and first_bound > time_limit:
        return "local-search"
    return "branch-and-bound"
