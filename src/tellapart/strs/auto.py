"""What solver="auto" picks."""

from __future__ import annotations

from math import comb

from tellapart.strs.problem import SparseTrustRegion


def choose(problem: SparseTrustRegion) -> str:
    """Return the name of the solver that fits the problem's size.

    Brute force where it takes about a tenth of a second at most (d = D among them, one trust
    region step), branch and bound otherwise: it closes small trees at once and, on large
    problems, returns the best point with the bound proved within the time limit.
    """
    supports = comb(problem.size, problem.d)
    quick = supports == 1 or supports * (3_000 + problem.d**3) <= 5_000_000
    return "brute-force" if quick else "branch-and-bound"
