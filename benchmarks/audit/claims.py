"""What a solution claims, held against the optimum: everything that is false, in words."""

from __future__ import annotations

import mpmath as mp
import numpy as np

from audit.exact import support_optimum
from audit.problem import Problem
from tellapart.strs import Solution

EPS = 2.0**-52
LAST_DIGITS = 4 * EPS
PROVING = ("branch-and-bound", "brute-force", "misdp", "outer-approximation")


def false_claims(
    problem: Problem, solution: Solution, best: mp.mpf, gap: float, *, in_time: bool = True
) -> list[str]:
    """Return what is false about a solution; an empty list for an honest one.

    A bound and a status are judged without any tolerance: the optimum is that of the numbers as
    they are. Values are allowed their last digits, however much cancels in them.
    """
    mp.mp.dps = problem.digits
    found = _infeasible(problem, solution)
    if found:
        return found
    value, error = problem.value(solution.z), _rounding(problem, solution)
    if abs(value - solution.value) > LAST_DIGITS * abs(value) + 1e-320:
        found.append("value is not the objective at z")
    bound = solution.upper_bound
    if bound is not None and bound < best:
        found.append("false bound")
    if bound is not None and bound < solution.value:
        found.append("bound below value")
    if solution.status == "optimal":
        if bound is None or solution.gap is None or solution.gap > gap:
            found.append("optimal without proof")
        if best - solution.value > gap * abs(solution.value):
            found.append("false status")
    if support_optimum(problem, tuple(solution.support.tolist())) - value > 1e4 * error:
        found.append("z is not the best of its support")
    if solution.status == "time_limit" and in_time:
        found.append("time_limit without a limit")
    return found


def left_open(problem: Problem, solution: Solution, best: mp.mpf) -> bool:
    """Whether an exact solver without a limit proved no optimum, though rounding hides none."""
    if solution.solver not in PROVING or solution.status == "optimal":
        return False
    return bool(abs(best) > 1e5 * _rounding(problem, solution))


def _infeasible(problem: Problem, solution: Solution) -> list[str]:
    z, support = solution.z, solution.support
    found = []
    if z.shape != (problem.size,) or not np.isfinite(z).all():
        return ["z is not a point"]
    if not np.array_equal(support, np.flatnonzero(z)):
        found.append("support is not that of z")
    if not 1 <= len({*support.tolist(), *problem.required}) <= problem.d:
        found.append("too many variables")
    if abs(mp.norm(mp.matrix(z.tolist())) - 1) > 1e-12:
        found.append("z is not of length 1")
    if problem.nonnegative and (z < 0).any():
        found.append("negative weight")
    return found


def _rounding(problem: Problem, solution: Solution) -> float:
    """Return what the products of the value may be off by, their number included."""
    z = np.abs(solution.z)
    products = z @ np.abs(problem.A) @ z
    if problem.factor is not None:
        shift, B = problem.factor
        products = abs(shift) + np.square(np.abs(B) @ z).sum()
    size = float(products + np.abs(problem.a) @ z)
    if problem.ratio:
        # Relative to the ratio: what M loses in the length, and what a loses.
        length = float(solution.z @ problem.A @ solution.z)
        size = float(products) / length * abs(solution.value)
        size += float(np.abs(problem.a) @ z) / np.sqrt(length)
    return 64 * problem.size * EPS * size + 1e-300
