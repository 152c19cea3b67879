"""What solver="auto" picks."""

from __future__ import annotations

from math import comb

from tellapart.strs.problem import SparseTrustRegion


def choose(problem: SparseTrustRegion) -> str:
    """Return the name of the solver that fits the problem's size.

    Brute force where it visits at most 50 supports (d = D among them, one trust region step),
    branch and bound otherwise: it closes small trees at once and, on large problems, returns
    the best point with the bound proved within the time limit.
    """
    return "brute-force" if comb(problem.size, problem.d) <= 50 else "branch-and-bound"
