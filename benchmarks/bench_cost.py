"""What a scan costs: a formula fitted to measured runs, and what it says of larger ones.

    python benchmarks/bench_cost.py            # fit, cluster of 1, 2 and 4 workers, predictions
    python benchmarks/bench_cost.py --no-cluster

Scans of normal columns at many sizes, on one thread, each in a process of its own that runs
something small before; CPU seconds. The coefficients of `tellapart.scan.scan` are fitted to them by
nonnegative least squares of relative errors, and are to be copied there where they moved. The same
data on a Dask cluster of this machine (LocalCluster, one thread a worker, rows in the workers'
memory) are scanned with 1, 2 and 4 workers, answers compared bit by bit. Writes
benchmarks/results/cost.md and .csv.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time

import numpy as np
from scipy.optimize import nnls

import tellapart as ta
from store import store, table
from tellapart.data.reader import read_samples
from tellapart.scan.scan import COEFFICIENTS, ScanCost, scan

SIZES = (
    (1_000, 20),
    (10_000, 20),
    (100_000, 20),
    (1_000_000, 20),
    (1_000, 100),
    (10_000, 100),
    (100_000, 100),
    (300_000, 100),
    (1_000, 300),
    (30_000, 300),
    (100_000, 300),
    (500, 1_000),
)
CLUSTER_ROWS, CLUSTER_COLUMNS = 2_000_000, 20
WORKERS = (1, 2, 4)
LARGE = ScanCost(500_000_000, 500_000_000, 1_000)


def measure(rows: int, columns: int) -> float:
    """Return the CPU seconds of one scan on one thread."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(rows, columns)), rng.normal(size=(rows, columns))
    for small in (300, 3_000):
        part = read_samples(X[:small, :20], Y[:small, :20])
        scan(part, n_permutations=99, alpha=0.05, rng=rng)
    samples = read_samples(X, Y)
    started = time.process_time()
    scan(samples, n_permutations=999, alpha=0.05, rng=rng)
    return time.process_time() - started


def fit(seconds: list[float]) -> tuple[float, ...]:
    """Return the coefficients that make relative errors small."""
    terms = np.array([ScanCost(rows, rows, columns).terms() for rows, columns in SIZES])
    scaled = terms / np.array(seconds)[:, np.newaxis]
    unit = scaled.max(axis=0)
    found, _ = nnls(scaled / unit, np.ones(len(SIZES)))
    return tuple(float(c) for c in found / unit)


def on_clusters() -> list[dict[str, object]]:
    """Return the time of the whole call on clusters of this machine, and whether answers agree."""
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    rows, answers = [], []
    for workers in WORKERS:
        cluster = LocalCluster(
            n_workers=workers, threads_per_worker=1, dashboard_address=None, silence_logs=50
        )
        with cluster, Client(cluster):
            X, Y = (
                da.random.default_rng(seed).normal(
                    size=(CLUSTER_ROWS, CLUSTER_COLUMNS), chunks=(250_000, CLUSTER_COLUMNS)
                )
                for seed in (0, 1)
            )
            X, Y = X.persist(), Y.persist()
            wait([X, Y])
            # Once before, so that no worker compiles or loads while the clock runs.
            ta.two_sample_test(X, Y, n_variables=3, random_state=0)
            started = time.perf_counter()
            result = ta.two_sample_test(X, Y, n_variables=3, random_state=0)
            seconds = time.perf_counter() - started
        answers.append((result.null_distribution, result.selection.z))
        cost = ScanCost(CLUSTER_ROWS, CLUSTER_ROWS, CLUSTER_COLUMNS)
        rows.append(
            {
                "workers": workers,
                "seconds, whole call": f"{seconds:.1f}",
                "predicted, scan": f"{cost.cluster_seconds(workers):.1f}",
                "same answer": all(
                    np.array_equal(a, b) for a, b in zip(answers[0], answers[-1], strict=True)
                ),
            }
        )
    first = float(str(rows[0]["seconds, whole call"]))
    for row in rows:
        row["speed-up"] = f"{first / float(str(row['seconds, whole call'])):.2f}"
    return rows


def main() -> None:
    """Measure, fit, predict, and store the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-cluster", action="store_true")
    asked = parser.parse_args()
    context = multiprocessing.get_context("spawn")
    seconds = []
    for size in SIZES:
        with context.Pool(1) as pool:
            seconds.append(pool.apply(measure, size))
        print(size, f"{seconds[-1]:.2f}", flush=True)
    fitted = fit(seconds)
    rows = []
    for (n, columns), took in zip(SIZES, seconds, strict=True):
        cost = ScanCost(n, n, columns)
        told = float(np.dot(fitted, cost.terms()))
        rows.append(
            {
                "rows of each": f"{n:,}",
                "columns": f"{columns:,}",
                "CPU seconds": f"{took:.2f}",
                "fitted": f"{told:.2f}",
                "fitted/measured": f"{told / took:.2f}",
                "in the package": f"{cost.seconds():.2f}",
            }
        )
    text = (
        "# What a scan costs\n\n"
        "999 permutations, one thread; `python benchmarks/bench_cost.py`. Coefficients c₀ … c₅ of "
        "`tellapart.scan.scan`, fitted here: " + ", ".join(f"{c:.2g}" for c in fitted) + "; in the "
        "package: " + ", ".join(f"{c:.2g}" for c in COEFFICIENTS) + ".\n\n" + table(rows)
    )
    if not asked.no_cluster:
        text += (
            f"\n\n{CLUSTER_ROWS:,} + {CLUSTER_ROWS:,} rows of {CLUSTER_COLUMNS} columns in the "
            f"memory of Dask workers on this machine of {multiprocessing.cpu_count()} cores, the "
            "whole call with n_variables=3, the second call of each:\n\n" + table(on_clusters())
        )
    text += (
        f"\n\n{LARGE.n_rows:,} rows of {LARGE.n_columns:,} columns, by the coefficients in the "
        f"package: {LARGE.bytes_read / 1e12:.0f} TB read (two looks), "
        f"{LARGE.cluster_seconds(1) / 3600:.0f} hours on one thread; on 100 workers of one thread "
        f"{LARGE.cluster_seconds(100) / 60:.0f} minutes for the scan, at most {LARGE.n_lanes} of "
        f"them at once, {LARGE.bytes_sent / 1e9:.0f} GB sent at 1 GB/s, "
        f"{LARGE.bytes_held / 1e9:.1f} GB held by a worker and the client beyond the rows.\n"
    )
    store("cost", text, rows)


if __name__ == "__main__":
    main()
