"""How the whole default call grows with the rows, and what one heavy tail does to it.

    python benchmarks/bench_large.py [--sizes 10000 100000 1000000] [--repeats 1]

`two_sample_test(X, Y)` on n + n rows of 100 normal columns, of which one is shifted and two are
correlated in one sample only, and on the same with five lognormal(0, 2) columns. Every call has a
process of its own, which runs something small before, so that no compiling counts; with the
threads that BLAS has. The peak is that of the process beyond what it held with the samples in
memory. Writes benchmarks/results/large.md and .csv.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import time

import numpy as np

import tellapart as ta
from memory import forget_peak, peak
from store import store, table

COLUMNS, HEAVY = 100, 5
SHIFT, CORRELATION = 0.02, 0.05


def samples(rows: int, heavy: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the two samples."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(rows, COLUMNS)), rng.normal(size=(rows, COLUMNS))
    Y[:, 0] += SHIFT
    Y[:, 1] = CORRELATION * Y[:, 2] + math.sqrt(1 - CORRELATION**2) * Y[:, 1]
    if heavy:
        for values in (X, Y):
            values[:, -HEAVY:] = rng.lognormal(0.0, 2.0, size=(rows, HEAVY))
    return X, Y


def measure(rows: int, heavy: bool, repeats: int) -> dict[str, object]:
    """Return time and peak of the default call."""
    X, Y = samples(rows, heavy)
    ta.two_sample_test(X[:300], Y[:300], random_state=0)
    ta.two_sample_test(X[:3_000], Y[:3_000], random_state=0)
    before = forget_peak()
    seconds = []
    for seed in range(repeats):
        started = time.perf_counter()
        result = ta.two_sample_test(X, Y, random_state=seed)
        seconds.append(time.perf_counter() - started)
    named = sorted({name for finding in result.findings for name in finding.variables})
    return {
        "rows of each": f"{rows:,}",
        "lognormal columns": HEAVY if heavy else 0,
        "seconds": f"{min(seconds):.1f}",
        "peak beyond the input, GB": f"{(peak() - before) / 1e9:.2f}",
        "rows per bin": result.scan.rows_per_bin if result.scan else "",
        "p": f"{result.pvalue:.3g}",
        "named": ", ".join(named) or "none",
        "chosen": ", ".join(result.variables),
    }


def main() -> None:
    """Measure every size, each in a process of its own, and store the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--repeats", type=int, default=1)
    asked = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    rows = []
    for size in asked.sizes:
        for heavy in (False, True):
            with context.Pool(1) as pool:
                rows.append(pool.apply(measure, (size, heavy, asked.repeats)))
    plain = [float(str(row["seconds"])) for row in rows[::2]]
    tailed = [float(str(row["seconds"])) for row in rows[1::2]]
    growth = math.log(plain[-1] / plain[0]) / math.log(asked.sizes[-1] / asked.sizes[0])
    text = (
        "# The default call on many rows\n\n"
        f"{COLUMNS} columns, 999 permutations, {multiprocessing.cpu_count()} cores; column x0 is "
        f"shifted by {SHIFT} spreads, x1 and x2 are correlated by {CORRELATION} in one sample; "
        "`python benchmarks/bench_large.py`.\n\n"
        + table(rows)
        + f"\n\nFrom {asked.sizes[0]:,} to {asked.sizes[-1]:,} rows it grows like n^{growth:.2f}. "
        f"With {HEAVY} lognormal columns it takes "
        + ", ".join(f"{t / p:.2f}" for p, t in zip(plain, tailed, strict=True))
        + " times as long.\n"
    )
    store("large", text, rows)


if __name__ == "__main__":
    main()
