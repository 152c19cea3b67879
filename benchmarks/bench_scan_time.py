"""How long a scan takes, by rows and columns.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_scan_time.py

Normal columns with one weak factor, one of them shifted, 999 permutations, one thread; the scan
alone, without the choice of variables that follows it. Every size is scanned once before it is
timed, so that no compiling counts, and in a process of its own, so that the peak is its own.
Writes benchmarks/results/scan_time.md and .csv.
"""

from __future__ import annotations

import multiprocessing
import resource
import time

import numpy as np

from store import store, table
from tellapart.data.tables import read_samples
from tellapart.scan.scan import scan

SIZES = (
    (100, 20),
    (1_000, 20),
    (10_000, 20),
    (100_000, 20),
    (200, 100),
    (2_000, 100),
    (20_000, 100),
    (100, 1_000),
    (100, 5_000),
)
PERMUTATIONS = 999


def measure(rows: int, columns: int) -> dict[str, object]:
    """Return the time and the peak of one scan."""
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(2 * rows, 1))
    pooled = 0.3 * factor + rng.normal(size=(2 * rows, columns))
    pooled[:rows, 0] += 0.3
    samples = read_samples(pooled[:rows], pooled[rows:])
    small = read_samples(pooled[:50, :10], pooled[50:100, :10])
    scan(small, n_permutations=99, alpha=0.05, rng=rng)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    found = scan(samples, n_permutations=PERMUTATIONS, alpha=0.05, rng=rng)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return {
        "rows of each": f"{rows:,}",
        "columns": f"{columns:,}",
        "seconds": f"{seconds:.1f}",
        "peak beyond the input, MB": f"{peak / 1024:,.0f}",
        "rows per bin": found.rows_per_bin,
        "p": f"{found.null.pvalue:.3g}",
        "left out": "; ".join(f"{name}: {note}" for name, note in found.notes.items()) or "nothing",
    }


def main() -> None:
    """Measure every size, each in a process of its own, and store the table."""
    context = multiprocessing.get_context("spawn")
    rows = []
    for size in SIZES:
        with context.Pool(1) as pool:
            rows.append(pool.apply(measure, size))
    text = (
        "# How long a scan takes\n\n"
        f"{PERMUTATIONS} permutations, one thread; `python benchmarks/bench_scan_time.py`.\n\n"
        + table(rows)
    )
    store("scan_time", text, rows)


if __name__ == "__main__":
    main()
