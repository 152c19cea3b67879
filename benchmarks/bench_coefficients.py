"""Measure how fast, exact and lean the coefficients (a, V) of the linear kernel are.

Beside the dense O(n²) formula in NumPy at n = m = 2,000, then alone up to n = m = 10⁶, always
with D = 100 columns. Each number of rows runs in a process of its own, so that the peak of its
resident memory can be read off. Writes benchmarks/results/coefficients.{md,csv}.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.kernels import FittedKernel, Linear
from tellapart.statistics.coefficients import linear_coefficients

D = 100
ROWS = (2_000, 10_000, 100_000, 1_000_000)
N_JOBS = os.cpu_count() or 1
RESULTS = Path(__file__).parent / "results"


def make_samples(n: int, n_columns: int = D) -> Samples:
    """Return normal columns, every second one shifted."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((n, n_columns)), rng.standard_normal((n, n_columns))
    y[:, ::2] += 0.3
    names = tuple(f"v{s}" for s in range(n_columns))
    return Samples(x, y, names, ("numeric",) * n_columns)


def dense_coefficients(samples: Samples, kernel: FittedKernel) -> tuple[FloatArray, FloatArray]:
    """Return a and V from Gram matrices, one column at a time, vectorised and in place."""
    m, n = samples.n_x, samples.n_y
    a, p, q = np.zeros(D), np.zeros((m, D)), np.zeros((n, D))
    for s in range(D):
        scalar = kernel.scalars[s]
        x, y = samples.x[:, s].copy(), samples.y[:, s].copy()
        kxx, kyy, kxy = scalar.gram(x, x), scalar.gram(y, y), scalar.gram(x, y)
        rows_x, rows_y = kxx.mean(axis=1), kyy.mean(axis=1)
        cross_x, cross_y = kxy.mean(axis=1), kxy.mean(axis=0)
        p[:, s], q[:, s] = rows_x - cross_x, rows_y - cross_y
        a[s] = (m * rows_x.mean() - 1) / (m - 1) + (n * rows_y.mean() - 1) / (n - 1)
        a[s] -= 2 * cross_x.mean()
    p -= p.mean(axis=0)
    q -= q.mean(axis=0)
    return a, 8 * m * n / (m + n) * (p.T @ p / m**2 + q.T @ q / n**2)


def resident(field: str) -> int:
    """Return VmRSS or VmHWM of this process in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {field} in /proc/self/status")


def measure(n: int) -> dict[str, float]:
    """Time one number of rows in this process; at the smallest one also the dense formula."""
    warm_up = make_samples(50, 2)
    linear_coefficients(warm_up, Linear().fit(warm_up))
    samples = make_samples(n)
    before = resident("VmRSS")
    # Reset the high-water mark to the memory in use now, the input included.
    Path("/proc/self/clear_refs").write_text("5")
    times = []
    for _ in range(1 if n > 100_000 else 3):
        start, cpu_start = time.perf_counter(), time.process_time()
        kernel = Linear().fit(samples, n_jobs=N_JOBS)
        middle = time.perf_counter()
        found = linear_coefficients(samples, kernel, n_jobs=N_JOBS)
        stop, cpu_stop = time.perf_counter(), time.process_time()
        times.append((stop - start, middle - start, stop - middle, cpu_stop - cpu_start))
    total, bandwidths, sums, cpu = min(times)
    result = {
        "n": n,
        "bandwidths_s": bandwidths,
        "coefficients_s": sums,
        "total_s": total,
        "cpu_s": cpu,
        "extra_memory_gb": (resident("VmHWM") - before) / 1e9,
    }
    if n == ROWS[0]:
        dense = []
        for _ in range(2):
            start, cpu_start = time.perf_counter(), time.process_time()
            a, V = dense_coefficients(samples, kernel)
            dense.append((time.perf_counter() - start, time.process_time() - cpu_start))
        result["dense_s"], result["dense_cpu_s"] = min(dense)
        result["error_a"] = float(np.abs(found.a - a).max())
        result["error_V"] = float(np.abs(found.variance_matrix() - V).max())
    return result


def growth(rows_measured: list[float], seconds: list[float]) -> float:
    """Return the exponent b of seconds ∝ n^b, by least squares on the logarithms."""
    return float(np.polyfit(np.log(rows_measured), np.log(seconds), 1)[0])


def results_page(rows: list[dict[str, float]]) -> str:
    """Return the results as a page of Markdown."""
    first, grown = rows[0], rows[1:]
    rows_measured = [row["n"] for row in grown]
    exponents = {
        name: growth(rows_measured, [row[name] for row in grown])
        for name in ("total_s", "coefficients_s", "cpu_s")
    }
    last = growth(rows_measured[-2:], [row["cpu_s"] for row in grown[-2:]])
    lines = [
        "# Coefficients of the linear kernel",
        "",
        f"D = {D} columns, n = m rows in each sample, {N_JOBS} threads; seconds of wall time.",
        "",
        "| n = m | bandwidths | coefficients | both | processor time | memory beyond the input |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row['n']:,.0f} | {row['bandwidths_s']:.3f} | {row['coefficients_s']:.3f} "
        f"| {row['total_s']:.3f} | {row['cpu_s']:.3f} | {row['extra_memory_gb']:.2f} GB |"
        for row in rows
    ]
    lines += [
        "",
        f"- Dense formula in NumPy at n = {first['n']:,.0f}, same kernel, same run: "
        f"{first['dense_s']:.2f} s, {first['dense_s'] / first['coefficients_s']:.0f} times the "
        f"coefficients, {first['dense_s'] / first['total_s']:.0f} times bandwidths and "
        f"coefficients together (the dense time holds no bandwidths); in processor time "
        f"{first['dense_cpu_s'] / first['cpu_s']:.0f} times both. Required: 20.",
        f"- Largest difference from it: {first['error_a']:.1e} in a, {first['error_V']:.1e} in V. "
        "Required: below 1e-10.",
        f"- Growth from n = 10⁴ to 10⁶: n^{exponents['total_s']:.2f} in all, "
        f"n^{exponents['coefficients_s']:.2f} without bandwidths, n^{exponents['cpu_s']:.2f} in "
        f"processor time; from 10⁵ to 10⁶ alone n^{last:.2f} in processor time. "
        "Required: at most 1.1.",
        f"- Peak memory beyond the input at n = 10⁶: {rows[-1]['extra_memory_gb']:.2f} GB. "
        "Required: below 4 GB.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Run every number of rows in its own process, store, then print."""
    rows = []
    for n in ROWS:
        command = [sys.executable, __file__, str(n)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        rows.append(json.loads(output))
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "coefficients.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    page = results_page(rows)
    (RESULTS / "coefficients.md").write_text(page)
    print(page)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(int(sys.argv[1]))))
    else:
        main()
