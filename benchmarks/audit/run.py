"""The audit: thousands of small problems, all solvers, every claim against optima in fifty digits.

    .venv/bin/python benchmarks/audit/run.py [--count 10000] [--seed 0] [--jobs 2]

Signed and nonnegative trust region problems, with and without required variables, factors, and
ratios, of the families in `families.py`. Every solver that takes a problem solves it, at one of
three gaps, now and then under a time limit so short that work ends early. Writes
results/audit.md and results/audit.csv, a row for each solver.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

sys.path.insert(0, str(Path(__file__).parents[1]))
from audit.claims import false_claims, left_open
from audit.exact import optimum
from audit.families import FAMILIES, draw
from audit.problem import Problem
from store import store, table
from tellapart.strs import SOLVERS, ShiftedFactor, Solution, SparseRatio, SparseTrustRegion, solve

PLAIN_ONLY = {"sdp", "convex-integer", "outer-approximation", "misdp"}
SECONDS = {"convex-integer": 5.0}
"""Limits of solvers whose program may stay open for minutes on a small problem."""
GAPS = (1e-4, 1e-4, 1e-9, 0.05)


def solvers_for(problem: Problem) -> list[str]:
    """Return the names of the solvers that take such a problem."""
    plain = not (problem.nonnegative or problem.ratio or problem.required)
    return [name for name in SOLVERS if plain or name not in PLAIN_ONLY]


def answer(problem: Problem, solver: str, gap: float, time_limit: float | None) -> Solution:
    """Return what a solver says, at the package's own door."""
    A: object = problem.A
    if problem.factor is not None:
        A = ShiftedFactor(*problem.factor)
    kind = SparseRatio if problem.ratio else SparseTrustRegion
    asked = kind(A, problem.a, problem.d, problem.nonnegative, list(problem.required))
    return solve(asked, solver, gap=gap, time_limit=time_limit, random_state=0)


def examine(seed: int, number: int, solvers: tuple[str, ...] | None = None) -> Counter[str]:
    """Return what was claimed of one problem, what was false and what was left open."""
    problem = draw(seed, number)
    best = optimum(problem)
    rng = np.random.default_rng([seed, number, 1])
    gap = float(rng.choice(GAPS))
    tally: Counter[str] = Counter()
    for name in solvers_for(problem):
        if solvers is not None and name not in solvers:
            continue
        hurry = 1e-3 if rng.random() < 0.1 else SECONDS.get(name)
        solution = answer(problem, name, gap, hurry)
        tally[f"{name}|answers"] += 1
        tally[f"{name}|bounds"] += solution.upper_bound is not None
        tally[f"{name}|optimal"] += solution.status == "optimal"
        for claim in false_claims(problem, solution, best, gap, in_time=hurry is None):
            tally[f"{name}|false"] += 1
            tally[f"fault|{name}, {problem.family}, problem {number}: {claim}"] += 1
        if hurry is None and left_open(problem, solution, best):
            tally[f"{name}|open"] += 1
            tally[f"left open|{name}, {problem.family}, problem {number}"] += 1
    return tally


def main() -> None:
    """Examine, count, store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    settings = parser.parse_args()
    started = time.perf_counter()
    work = (delayed(examine)(settings.seed, number) for number in range(settings.count))
    tally: Counter[str] = Counter()
    for found in Parallel(settings.jobs, batch_size=20, return_as="generator")(work):
        tally.update(found)
    rows = [
        {"solver": name, **{told: tally[f"{name}|{what}"] for what, told in COLUMNS.items()}}
        for name in SOLVERS
    ]
    told = [f"- {line.split('|', 1)[1]}" for line in sorted(tally) if line.startswith("fault|")]
    opened = [line.split("|", 1)[1] for line in sorted(tally) if line.startswith("left open|")]
    lines = [
        "# The audit of the solvers",
        "",
        f"{settings.count:,} problems of {len(FAMILIES)} families (seed {settings.seed}, "
        f"{(time.perf_counter() - started) / 60:.0f} minutes), every solver that takes them; "
        f"`python benchmarks/audit/run.py --count {settings.count}`. Optima in fifty digits and "
        "more, over all supports, without code of the package. A bound is false if it lies below "
        "the optimum by anything at all; a status, if the value is further from the optimum than "
        "the gap asked for. Left open: an exact solver without a limit that proved no optimum, "
        "though rounding error hides none.",
        "",
        table(rows),
        "",
        *(["False claims:", "", *told] if told else ["Not one claim was false."]),
    ]
    if opened:
        lines += ["", "Left open: " + "; ".join(opened[:20]) + "."]
    store("audit", "\n".join(lines), rows)


COLUMNS = {
    "answers": "answers",
    "bounds": "with a bound",
    "optimal": "called optimal",
    "false": "false claims",
    "open": "left open",
}

if __name__ == "__main__":
    main()
