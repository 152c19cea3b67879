"""How far proofs of wide problems get: the linear kernel at D = 10,000, ratios at D = 1,000.

    .venv/bin/python benchmarks/bench_wide_proofs.py [--seconds 60] [--ratio-seconds 20]

n = 500, d = 20, relative gap asked for 1e-4: cases I–IV with λ = 0.8/0.7/0.6/0.5 at D = 10,000,
weights of any sign, and the ratio with the default shrinkage at D = 1,000, weights z ≥ 0; the mean
shift, the hardest case, with both. Seconds are CPU seconds of one thread, of the limits too, so
that a busy machine says the same. Writes benchmarks/results/wide_proofs.{md,csv}.
"""

from __future__ import annotations

import argparse
import time

# Limits are looked at by this clock.
time.perf_counter = time.process_time

from store import store, table  # noqa: E402
from tellapart.data.reader import read_samples  # noqa: E402
from tellapart.datasets import CASES, make_case  # noqa: E402
from tellapart.kernels import Linear  # noqa: E402
from tellapart.search.starts import linear_problem, ratio_problem  # noqa: E402
from tellapart.selection.settings import RATIO_SHRINKAGE  # noqa: E402
from tellapart.statistics.coefficients import linear_coefficients  # noqa: E402
from tellapart.strs import SparseRatio, SparseTrustRegion, solve  # noqa: E402

from reproduction.table1 import REGULARIZATIONS  # isort: skip  # noqa: E402

ROWS, VARIABLES = 500, 20


def make_problem(
    case: str, n_columns: int, ratio: bool, nonnegative: bool
) -> SparseTrustRegion | SparseRatio:
    """Return the problem of one case."""
    x, y, _ = make_case(case, ROWS, n_features=n_columns, n_informative=20, random_state=n_columns)
    samples = read_samples(x, y)
    coefficients = linear_coefficients(samples, Linear().fit(samples))
    if ratio:
        return ratio_problem(coefficients, VARIABLES, RATIO_SHRINKAGE, nonnegative)
    return linear_problem(coefficients, REGULARIZATIONS[case], VARIABLES, nonnegative)


def measure(
    case: str, n_columns: int, ratio: bool, nonnegative: bool, limit: float
) -> dict[str, object]:
    """Return one row of the table."""
    problem = make_problem(case, n_columns, ratio, nonnegative)
    solution = solve(problem, "branch-and-bound", gap=1e-4, time_limit=limit)
    row: dict[str, object] = {
        "objective": "ratio" if ratio else "regularized",
        "case": case,
        "D": n_columns,
        "weights": "z ≥ 0" if nonnegative else "any sign",
        "status": solution.status,
        "value": f"{solution.value:.6f}",
        "gap": f"{solution.gap:.1e}",
        "nodes": solution.iterations,
        "CPU seconds": f"{solution.seconds:.2f}",
        "limit": f"{limit:g}",
    }
    print(row, flush=True)
    return row


def main() -> None:
    """Measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--ratio-seconds", type=float, default=20.0)
    settings = parser.parse_args()
    # Numba compiles on the first call: not part of what is measured.
    for ratio in (False, True):
        solve(make_problem(CASES[1], 40, ratio, ratio), "branch-and-bound")
    rows = [measure(case, 1_000, True, True, settings.ratio_seconds) for case in CASES]
    rows += [measure(CASES[0], 1_000, True, False, settings.ratio_seconds)]
    rows += [measure(case, 10_000, False, False, settings.seconds) for case in CASES]
    rows += [measure(CASES[0], 10_000, False, True, settings.seconds)]
    text = (
        f"# Wide proofs\n\n{__doc__.split(chr(10))[0]} Branch and bound, n = {ROWS}, "
        f"d = {VARIABLES}, relative gap asked for 1e-4, CPU seconds of one thread.\n\n"
        + table(rows)
    )
    store("wide_proofs", text, rows)


if __name__ == "__main__":
    main()
