"""How long the default call takes: beside a plain permutation test, and by rows and columns.

    python benchmarks/bench_scan_time.py

First the whole call, `two_sample_test(X, Y)`, beside a permutation test of one Gaussian MMD as one
would write it in NumPy, with one matrix product for all permutations: in the same process, in turn,
warm, 999 permutations each, with the threads that BLAS has.

And a cold start: `python -c` with the default call on 200 + 200 rows of 50 columns, start of the
interpreter, imports and all, compiled code in its cache.

Then the scan alone, without the choice of variables that follows it, on one thread: normal columns
with one weak factor, one of them shifted. Something small is scanned before, so that no compiling
counts, and every size has a process of its own, so that the peak is its own.
Writes benchmarks/results/scan_time.md and .csv.
"""

from __future__ import annotations

import multiprocessing
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median

import numpy as np

import tellapart as ta
from store import store, table
from tellapart.arrays import FloatArray
from tellapart.data.reader import read_samples
from tellapart.scan.scan import scan

BESIDE = ((200, 50), (2_000, 100))
REPEATS = 5
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


def plain_test(X: FloatArray, Y: FloatArray, seed: int) -> float:
    """Return the p-value of the Gaussian MMD with the median bandwidth, all rows permuted."""
    rng = np.random.default_rng(seed)
    pooled = np.vstack([X, Y])
    m, rows = len(X), len(X) + len(Y)
    n = rows - m
    lengths = np.square(pooled).sum(axis=1)
    squares = lengths[:, np.newaxis] + lengths - 2 * pooled @ pooled.T
    gram = np.exp(-squares / np.median(squares[np.triu_indices(rows, 1)]))
    np.fill_diagonal(gram, 0.0)
    labels = np.zeros((rows, PERMUTATIONS + 1))
    labels[:m, 0] = 1.0
    for e in range(1, PERMUTATIONS + 1):
        labels[rng.permutation(rows)[:m], e] = 1.0
    product = gram @ labels
    xx = (labels * product).sum(axis=0)
    touching = product.sum(axis=0)
    xy, yy = touching - xx, gram.sum() - 2 * touching + xx
    statistic = xx / (m * (m - 1)) + yy / (n * (n - 1)) - 2 * xy / (m * n)
    return float(np.mean(statistic >= statistic[0]))


def beside(rows: int, columns: int) -> dict[str, object]:
    """Return the times of the default call and of the plain test, in turn."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(rows, columns)), rng.normal(size=(rows, columns))
    Y[:, 0] += 0.2
    calls: dict[str, Callable[[int], float]] = {
        "default call": lambda seed: ta.two_sample_test(X, Y, random_state=seed).pvalue,
        "plain test": lambda seed: plain_test(X, Y, seed),
    }
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for seed in range(REPEATS + 1):
        for name, call in calls.items():
            started = time.perf_counter()
            call(seed)
            seconds[name].append(time.perf_counter() - started)
    # The first of each is cold.
    ours, theirs = (median(seconds[name][1:]) for name in calls)
    return {
        "rows of each": f"{rows:,}",
        "columns": f"{columns:,}",
        "default call, first, s": f"{seconds['default call'][0]:.2f}",
        "default call, s": f"{ours:.2f}",
        "plain test, s": f"{theirs:.2f}",
        "ratio": f"{ours / theirs:.1f}",
    }


COLD = """
import numpy as np, tellapart as ta
X, Y = np.random.default_rng(0).normal(size=(2, 200, 50))
ta.two_sample_test(X, Y, random_state=0)
"""


def cold_start() -> float:
    """Return the seconds of a process that makes one default call, the best of a few."""
    seconds = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", COLD], check=True)
        seconds.append(time.perf_counter() - started)
    return min(seconds)


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
    """Measure every size, each in a process of its own, and store the tables."""
    context = multiprocessing.get_context("spawn")
    compared, rows = [], []
    for size in BESIDE:
        with context.Pool(1) as pool:
            compared.append(pool.apply(beside, size))
    for size in SIZES:
        with context.Pool(1) as pool:
            rows.append(pool.apply(measure, size))
    text = (
        "# How long the default call takes\n\n"
        f"{PERMUTATIONS} permutations; `python benchmarks/bench_scan_time.py`.\n\n"
        "The whole default call beside a plain NumPy permutation test of one Gaussian MMD, on "
        f'{multiprocessing.cpu_count()} cores, warm, medians of {REPEATS}; "first" is the first '
        "call of a process, compiled code loaded from its cache:\n\n"
        + table(compared)
        + f"\n\nA process that makes the first of these calls and ends: {cold_start():.1f} s.\n\n"
        "The scan alone, on one thread:\n\n" + table(rows)
    )
    store("scan_time", text, rows)


if __name__ == "__main__":
    main()
