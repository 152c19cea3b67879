"""Measure value, gradient and Hessian of the objective beside the speed of matrix products.

At n = m = 300, D = 100, for the quadratic and the Gaussian kernel, at a point with all weights
and at one with d = 20; then the quadratic kernel with a Hessian in 60 candidates at D = 1,000.
The share of matrix-product speed is the time that one product of the Hessian's size takes by
itself, over the time of gradient + Hessian, both with one BLAS thread, as the library runs.
Writes benchmarks/results/objective.{md,csv}.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from store import store, table
from tellapart.kernels import Gaussian, Quadratic
from tellapart.statistics.objective import Objective
from tellapart.threads import one_blas_thread

N = 300
REPEATS = 3


def seconds(work: Callable[[], object]) -> float:
    """Return the best of some runs, after one to warm up."""
    work()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def product_seconds(n_columns: int) -> float:
    """Return the time of Ψ Ψᵀ, Ψ of shape (n_columns, pairs on and above the diagonal)."""
    pairs = N * (2 * N + 1)
    stack = np.random.default_rng(0).standard_normal((n_columns, pairs))
    other = stack[::-1].copy()  # two matrices: NumPy would see the symmetry and do half
    with one_blas_thread():
        return seconds(lambda: stack @ other.T)


def measure(
    kernel: Quadratic | Gaussian, n_columns: int, d: int, candidates: int
) -> dict[str, object]:
    """Return one row of the table; the Hessian is in the first `candidates` variables."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((N, n_columns))
    y = 1.1 * rng.standard_normal((N, n_columns)) + 0.1
    z = np.zeros(n_columns)
    z[:d] = 1 / np.sqrt(d)
    start = time.perf_counter()
    objective = Objective(x, y, kernel)
    fit = time.perf_counter() - start
    start = time.perf_counter()
    objective.gradient(z)
    first = time.perf_counter() - start
    variables = np.arange(candidates)
    both = seconds(lambda: objective.local(z, variables))
    among = objective.columns(variables)
    restricted = seconds(lambda: among.derivatives(z[:candidates]))
    # A sparse z has a small product with the Gaussian kernel: ω′ = 0 elsewhere.
    n_columns = min(d, candidates) if kernel.name == "gaussian" else candidates
    product = product_seconds(n_columns)
    return {
        "kernel": kernel.name,
        "D": n_columns,
        "z ≠ 0": d,
        "Hessian of": candidates,
        "fit (s)": f"{fit:.3f}",
        "first gradient (s)": f"{first:.3f}",
        "value (s)": f"{seconds(lambda: objective.value(z)):.3f}",
        "gradient (s)": f"{seconds(lambda: objective.gradient(z)):.3f}",
        "gradient + Hessian (s)": f"{both:.3f}",
        "same, restricted (s)": f"{restricted:.3f}",
        "product alone (s)": f"{product:.3f}",
        "share of product speed": f"{100 * product / both:.0f} %",
    }


def main() -> None:
    """Measure all and store."""
    rows = [
        measure(kernel, n_columns, d, candidates)
        for kernel, n_columns, d, candidates in (
            (Quadratic(), 100, 100, 100),
            (Quadratic(), 100, 20, 100),
            (Gaussian(), 100, 100, 100),
            (Gaussian(), 100, 20, 100),
            (Quadratic(), 1_000, 20, 60),
            (Gaussian(), 1_000, 20, 60),
        )
    ]
    text = f"""# Objective: gradient and Hessian beside the speed of matrix products

n = m = {N}, best of {REPEATS} runs, one BLAS thread, memory budget 1 GB. "First gradient" does what
is done once: for the quadratic kernel at D = 100 the sums of all products over pairs, after which
no pair is touched again; at D = 1,000 these do not fit and every call goes through the pairs. The
Gaussian kernel needs matrix products with the samples only. "Restricted" is the objective of those
candidates alone, as a search between two screenings has it. "Product alone" is one matrix product
of the Hessian's size over all pairs, what a Hessian by plain sums takes at least.

{table(rows)}
"""
    store("objective", text, rows)


if __name__ == "__main__":
    main()
