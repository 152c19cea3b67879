"""The test without a split: its time beside that of a split, and of making every choice by itself.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_reselection.py [runs]

Laplace against normal samples, D = 100 columns, 20 of them different, 20 chosen, 999 permutations,
one thread. CPU seconds of `two_sample_test(split=False)`, and of

- one `select_variables(regularization=0)` per permutation, timed once and multiplied by 1,000:
  what it would cost to make the choice again with the library's own fast coefficients;
- `two_sample_test` with a split, λ = 0.1.

Power at level 0.05 over `runs` (default 100) pairs of samples of 60 rows, 199 permutations, by the
number of variables: as many as differ, fewer, and left open. Writes
benchmarks/results/reselection.md and reselection.csv.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import tellapart as ta
from store import store, table

COLUMNS, CHOSEN, PERMUTATIONS = 100, 20, 999
ROWS = (100, 1_000, 10_000)
WEAK_ROWS = 60


def seconds(work: Callable[[], object]) -> float:
    """Return the CPU time of the second run: the first one compiles."""
    work()
    started = time.process_time()
    work()
    return time.process_time() - started


def timings(n: int) -> dict[str, object]:
    """Time the three ways at n rows of each sample."""
    X, Y, _ = ta.datasets.make_case("laplace", n, n_features=COLUMNS, random_state=0)
    given = {"n_variables": CHOSEN, "n_permutations": PERMUTATIONS, "random_state": 0}
    reselected = seconds(lambda: ta.two_sample_test(X, Y, split=False, **given))
    one = seconds(lambda: ta.select_variables(X, Y, CHOSEN, regularization=0.0))
    split = seconds(lambda: ta.two_sample_test(X, Y, regularization=0.1, **given))
    return {
        "rows of each": n,
        "no split, s": f"{reselected:.2f}",
        "one choice per permutation, s": f"{one * (PERMUTATIONS + 1):.0f}",
        "ratio": f"{one * (PERMUTATIONS + 1) / reselected:.0f}",
        "split, λ = 0.1, s": f"{split:.2f}",
    }


def power(case: str, runs: int) -> dict[str, object]:
    """Count rejections of the same samples with and without a split."""
    ways = {
        "split, d = 20, λ = 0.1": {"n_variables": 20, "regularization": 0.1},
        "no split, d = 20": {"n_variables": 20, "split": False},
        "no split, d = 5": {"n_variables": 5, "split": False},
        "no split, d open": {"split": False},
    }
    hits = dict.fromkeys(ways, 0)
    for seed in range(runs):
        X, Y, _ = ta.datasets.make_case(case, WEAK_ROWS, n_features=COLUMNS, random_state=seed)
        for name, settings in ways.items():
            result = ta.two_sample_test(X, Y, n_permutations=199, random_state=seed, **settings)
            hits[name] += result.reject
    return {"case": case} | {name: f"{count / runs:.2f}" for name, count in hits.items()}


def main(runs: int) -> None:
    """Measure and store both tables."""
    times = [timings(n) for n in ROWS]
    powers = [power(case, runs) for case in ta.datasets.CASES]
    text = (
        "# The test without a split\n\n"
        f"CPU seconds, D = {COLUMNS}, {PERMUTATIONS} permutations; "
        f"`python benchmarks/bench_reselection.py`.\n\n{table(times)}\n\n"
        f"Power at level 0.05, {WEAK_ROWS} rows of each sample, {runs} pairs a case:\n\n"
        f"{table(powers)}"
    )
    blank = dict.fromkeys([*times[0], *powers[0]], "")
    store("reselection", text, [blank | row for row in (*times, *powers)])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
