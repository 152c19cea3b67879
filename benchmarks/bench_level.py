"""The level of the test: how often it rejects when both samples come from one distribution.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_level.py [runs]

Four kinds of data, `runs` null pairs each (default 1,000 with the number of variables and λ
fixed, a quarter of that with both tuned). Writes benchmarks/results/level.md and level.csv. The
band holds 99.9 % of the counts of a test whose level is exactly 0.05: a count above it is a
broken promise, one below it comes from ties, which count against rejection.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import tellapart as ta
from store import store, table

ALPHA = 0.05
PERMUTATIONS = 99
COLUMNS = 10
Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]


def _gaussian(rng: np.random.Generator, rows: int) -> NDArray[np.float64]:
    return rng.normal(size=(rows, COLUMNS))


def _heavy_tailed(rng: np.random.Generator, rows: int) -> NDArray[np.float64]:
    return rng.standard_cauchy(size=(rows, COLUMNS))


def _discrete(rng: np.random.Generator, rows: int) -> NDArray[np.float64]:
    counts = rng.poisson(0.7, size=(rows, COLUMNS // 2))
    flags = rng.random((rows, COLUMNS - COLUMNS // 2)) < np.linspace(0.05, 0.5, 5)
    return np.column_stack([counts, flags]).astype(np.float64)


KINDS: dict[str, tuple[Draw, int, int]] = {
    "Gaussian, 40 + 40 rows": (_gaussian, 40, 40),
    "Cauchy, 40 + 40 rows": (_heavy_tailed, 40, 40),
    "counts and flags, 40 + 40 rows": (_discrete, 40, 40),
    "Gaussian, 100 + 20 rows": (_gaussian, 100, 20),
}
SETTINGS: dict[str, dict[str, object]] = {
    "2 variables, λ = 0.1": {"n_variables": 2, "regularization": 0.1},
    "all tuned": {},
}


def measure(draw: Draw, m: int, n: int, runs: int, settings: dict[str, object]) -> int:
    """Return how many of `runs` null pairs are rejected."""
    rng = np.random.default_rng(2024)
    rejected = 0
    for _ in range(runs):
        pooled = draw(rng, m + n)
        result = ta.two_sample_test(
            pooled[:m],
            pooled[m:],
            method="split",
            n_permutations=PERMUTATIONS,
            alpha=ALPHA,
            random_state=rng,
            **settings,  # type: ignore[arg-type]
        )
        rejected += result.reject
    return rejected


def main(runs: int) -> None:
    """Measure every kind under every setting and store the table."""
    warnings.simplefilter("ignore", ta.ConstantColumnWarning)
    rows = []
    for setting, arguments in SETTINGS.items():
        count = runs if arguments else runs // 4
        low, high = stats.binom.ppf([0.0005, 0.9995], count, ALPHA) / count
        for kind, (draw, m, n) in KINDS.items():
            started = time.perf_counter()
            rate = measure(draw, m, n, count, arguments) / count
            rows.append(
                {
                    "data": kind,
                    "settings": setting,
                    "null pairs": count,
                    "rejected": f"{rate:.4f}",
                    "99.9 % band": f"{low:.4f} to {high:.4f}",
                    "verdict": "above" if rate > high else "inside" if rate >= low else "below",
                    "ms per test": f"{1000 * (time.perf_counter() - started) / count:.0f}",
                }
            )
    text = (
        f"# Level of the test at α = {ALPHA}\n\n"
        f"Null pairs with {COLUMNS} columns, {PERMUTATIONS} permutations; "
        "`python benchmarks/bench_level.py`.\n\n" + table(rows)
    )
    store("level", text, rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
