"""The annealed search against restarts of a general-purpose optimiser, at equal time.

20 instances: the paper's four cases, n = 100, D = 100, d = 20, Gaussian and quadratic kernels,
λ = 0.1 and 1. First `tellapart.search.Annealing` runs. Then SciPy's L-BFGS-B, given our objective
and its gradient, is restarted from random supports of 20 variables (z = y/‖y‖₂ on the support, so
that the sphere needs no constraint) until 50 restarts are done and our time has passed, whichever
is later.
Also the time of `select_variables(kernel="gaussian")` at n = 200, D = 100, d = 20.
Writes benchmarks/results/search.{md,csv}.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

import tellapart as ta
from store import store, table
from tellapart.datasets import CASES
from tellapart.kernels import Gaussian, Quadratic
from tellapart.search import Annealing
from tellapart.statistics.objective import Objective
from tellapart.strs.contract import Control
from tellapart.threads import one_blas_thread

N, D, VARIABLES, RESTARTS = 100, 100, 20, 50


def climb(objective: Objective, support: NDArray[np.intp], rng: np.random.Generator) -> float:
    """Return the best F that L-BFGS-B reaches on a support."""
    part = objective.columns(support)

    def negative(y: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        length = float(np.linalg.norm(y))
        z = y / length
        gradient = part.gradient(z)
        return -part.value(z), -(gradient - (gradient @ z) * z) / length

    start = np.abs(rng.standard_normal(support.shape[0]))
    return -float(minimize(negative, start, jac=True, method="L-BFGS-B").fun)


def instance(
    case: str, kernel: Gaussian | Quadratic, regularization: float, seed: int
) -> dict[str, object]:
    """Return one row: our value and time, theirs after 50 restarts or our time."""
    x, y, _ = ta.datasets.make_case(
        case, N, n_features=D, n_informative=VARIABLES, random_state=seed
    )
    objective = Objective(x, y, kernel, regularization)
    start = time.perf_counter()
    ours = Annealing().search(objective, VARIABLES, Control())
    seconds = time.perf_counter() - start
    rng = np.random.default_rng(seed)
    start, best, restarts = time.perf_counter(), -np.inf, 0
    while restarts < RESTARTS or time.perf_counter() - start < seconds:
        support = np.sort(rng.choice(D, VARIABLES, replace=False))
        best = max(best, climb(objective, support, rng))
        restarts += 1
    theirs = time.perf_counter() - start
    return {
        "case": case,
        "kernel": kernel.name + (f" × {kernel.multiplier:g}" if kernel.multiplier != 1 else ""),
        "λ": regularization,
        "ours": f"{ours.value:.5f}",
        "theirs": f"{best:.5f}",
        "never worse": "yes" if ours.value >= best - 1e-9 * abs(best) else "no",
        "our seconds": f"{seconds:.1f}",
        "their seconds": f"{theirs:.1f}",
        "restarts": restarts,
    }


def main() -> None:
    """Measure all and store."""
    settings = [
        (case, kernel, regularization, seed)
        for seed, (kernel, regularization) in enumerate(
            (
                (Gaussian(), 0.1),
                (Gaussian(), 1.0),
                (Gaussian("median", 0.25), 1.0),
                (Quadratic(), 0.1),
                (Quadratic(), 1.0),
            )
        )
        for case in CASES
    ]
    with one_blas_thread():
        rows = [instance(*setting) for setting in settings]
        x, y, _ = ta.datasets.make_case("covariance-shift", 200, random_state=0)
        start = time.perf_counter()
        ta.select_variables(x, y, VARIABLES, kernel="gaussian", random_state=0)
        seconds = time.perf_counter() - start
    won = sum(row["never worse"] == "yes" for row in rows)
    text = f"""# Annealed search against restarts of L-BFGS-B

n = {N}, D = {D}, d = {VARIABLES}; restarts from random supports, at least {RESTARTS} of them and
at least our time. One thread. Our F is at least theirs in {won} of {len(rows)} instances.

{table(rows)}

`select_variables(kernel="gaussian")` at n = 200, D = 100, d = 20 (case II, one thread):
{seconds:.1f} s.
"""
    store("search", text, rows)


if __name__ == "__main__":
    main()
