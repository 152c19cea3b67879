"""Wide tables with few rows: how long the proof takes, by the number of variables.

    .venv/bin/python benchmarks/bench_few_rows.py [--seeds 16] [--seconds 10] [--variables 4 5 6 8]

30 + 25 rows × 300 columns of Gaussian noise, four of them shifted by .5 to 1.2, λ = 2, weights of
any sign and weights z ≥ 0. CPU seconds of one core. Writes benchmarks/results/few_rows.{md,csv}.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from store import store, table
from tellapart.data.reader import read_samples
from tellapart.kernels import Linear
from tellapart.search.starts import linear_problem
from tellapart.statistics.coefficients import linear_coefficients
from tellapart.strs import SparseTrustRegion, solve
from tellapart.strs.contract import Control
from tellapart.strs.solvers.branch_and_bound import BranchAndBound

REGULARIZATION = 2.0


def make_problem(seed: int, d: int, nonnegative: bool) -> SparseTrustRegion:
    """Return the problem of one table."""
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(30, 300)), rng.normal(size=(25, 300))
    y[:, :4] += rng.uniform(0.5, 1.2, 4)
    samples = read_samples(x, y)
    coefficients = linear_coefficients(samples, Linear().fit(samples))
    signed = linear_problem(coefficients, REGULARIZATION, d)
    return SparseTrustRegion(signed.A, signed.a, d, nonnegative=nonnegative)


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--variables", type=int, nargs="+", default=[4, 5, 6, 8])
    settings = parser.parse_args()
    # Numba compiles on the first call: not part of what is compared.
    for nonnegative in (False, True):
        solve(make_problem(99, 3, nonnegative), "branch-and-bound")
    rows: list[dict[str, object]] = []
    for d in settings.variables:
        for nonnegative in (False, True):
            solutions = []
            for seed in range(settings.seeds):
                problem = make_problem(seed, d, nonnegative)
                control = Control(
                    time_limit=settings.seconds,
                    resolution=problem.resolution,
                    clock=time.process_time,
                )
                solutions.append(BranchAndBound().solve(problem, control))
            seconds = [each.seconds for each in solutions]
            rows.append(
                {
                    "d": d,
                    "weights": "z ≥ 0" if nonnegative else "any sign",
                    "proved": sum(each.status == "optimal" for each in solutions),
                    "of": settings.seeds,
                    "median seconds": f"{np.median(seconds):.2f}",
                    "most seconds": f"{max(seconds):.2f}",
                    "median gap": f"{np.median([each.gap or 0.0 for each in solutions]):.1e}",
                    "largest gap": f"{max(each.gap or 0.0 for each in solutions):.1e}",
                }
            )
            print(rows[-1], flush=True)
    text = (
        f"# Few rows\n\n{__doc__.split(chr(10))[0]} At most {settings.seconds:g} CPU s each, "
        "relative gap asked for 1e-4.\n\n" + table(rows)
    )
    store("few_rows", text, rows)


if __name__ == "__main__":
    main()
