"""Power and false discoveries of the kernels in the paper's four cases, corrected and literal.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_kernels.py [seeds]

D = 100, d = 20 = the number of variables that differ, n rows of each sample to choose from and as
many to test with, n = 50 … 300, level 0.05, `seeds` data sets for each (default 10). λ is fixed, so
that the table shows kernels and bandwidths and not their tuning: power with everything tuned is
in docs/paper/evaluation.md. FDP is the share of chosen variables that do not differ. The search
polishes its starts and exchanges variables (`tellapart.search.Annealing(iterations=0)`).
Writes benchmarks/results/kernels.{md,csv}.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import numpy as np

from store import store, table
from tellapart.data.reader import read_samples
from tellapart.datasets import CASES, make_case
from tellapart.kernels import Gaussian, Kernel, Linear, Quadratic
from tellapart.permutation.mmd import permutation_test
from tellapart.search import Annealing
from tellapart.search.choice import Solvers
from tellapart.selection.choose import choose
from tellapart.selection.settings import SelectionSettings
from tellapart.threads import one_blas_thread

ROWS = (50, 100, 200, 300)
D, VARIABLES = 100, 20
KERNELS: dict[str, Kernel] = {
    "linear": Linear(),
    "linear, paper": Linear(bandwidth="paper"),
    "quadratic": Quadratic(),
    "quadratic, paper": Quadratic(bandwidth="paper"),
    "Gaussian": Gaussian("median"),
    "Gaussian × 1/4": Gaussian("median", multiplier=0.25),
    "Gaussian, paper": Gaussian("paper"),
}
SWIFT = Annealing(iterations=0, n_random=0, n_exchanged=1, largest_group=2, bound_seconds=0.0)


def trial(case: str, n: int, seed: int) -> dict[str, tuple[bool, float]]:
    """Return for each kernel whether the test rejects, and its false discovery proportion."""
    x, y, informative = make_case(
        case, 2 * n, n_features=D, n_informative=VARIABLES, random_state=seed
    )
    train, held_out = read_samples(x[:n], y[:n]), read_samples(x[n:], y[n:])
    found = {}
    with one_blas_thread():
        for name, kernel in KERNELS.items():
            fitted = kernel.fit(train)
            selection = choose(
                train,
                fitted,
                VARIABLES,
                1.0 if kernel.name == "gaussian" else 0.1,
                SelectionSettings(kernel=kernel, nonnegative=False),
                rng=np.random.default_rng(seed),
                solvers=Solvers("local-search", SWIFT),
            )
            null = permutation_test(
                held_out,
                fitted,
                selection.z,
                n_permutations=199,
                alpha=0.05,
                rng=np.random.default_rng(seed),
            )
            false = np.setdiff1d(selection.support, informative)
            found[name] = null.pvalue <= 0.05, false.size / selection.support.size
    return found


def main(seeds: int) -> None:
    """Measure all and store."""
    rows = []
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        jobs = {
            (case, n): [pool.submit(trial, case, n, seed) for seed in range(seeds)]
            for case, n in product(CASES, ROWS)
        }
        for (case, n), trials in jobs.items():
            results = [one.result() for one in trials]
            for name in KERNELS:
                power, fdp = np.mean([result[name] for result in results], axis=0)
                rows.append(
                    {
                        "case": case,
                        "n": n,
                        "kernel": name,
                        "power": f"{power:.2f}",
                        "FDP": f"{fdp:.2f}",
                        "seeds": seeds,
                    }
                )
            print(
                case, n, {row["kernel"]: row["power"] for row in rows[-len(KERNELS) :]}, flush=True
            )
    cells = {(row["case"], row["n"], row["kernel"]): row for row in rows}
    wide = [
        {
            "case": case,
            "kernel": name,
            **{
                f"n = {n}": f"{cells[case, n, name]['power']} / {cells[case, n, name]['FDP']}"
                for n in ROWS
            },
        }
        for case, name in product(CASES, KERNELS)
    ]
    text = f"""# Power / FDP of the kernels, corrected and literal bandwidths

D = {D}, d = {VARIABLES} = variables that differ, n rows of each sample to train and as many to
test, λ = 0.1 (Gaussian: 1), level 0.05, {seeds} data sets: a power has a standard error of up to
{0.5 / np.sqrt(seeds):.2f}. "paper" is the paper's literal bandwidth; "× 1/4" a quarter of the
median scale. `python benchmarks/bench_kernels.py {seeds}`.

{table(wide)}
"""
    store("kernels", text, rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
