"""Tables of very many columns and few rows: time, memory, level and power of the default call.

    python benchmarks/bench_wide.py [--part time|level] [--columns 5000] [--nulls 200] [--pairs 40]

Time: the whole default call, the choice of variables included, and its page, on 40 × 100,000 and
200 × 20,000 numbers, on 500 × 50,000 sparse counts, and `tellapart compare` on two CSV files of
20 × 100,000; beside SciPy's Mann-Whitney test of every column with Holm's correction, which answers
for single shifts and nothing else. Each in a process of its own, wall-clock and CPU seconds, peak
memory beyond the input. Three columns are shifted by 3 spreads.

Level and power: 20 + 20 rows, all columns in blocks, 99 permutations; without a difference, and
with three columns shifted. Writes benchmarks/results/wide.md, wide_level.md and .csv of both.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse, stats

import tellapart as ta
from memory import forget_peak, peak
from store import store, table
from tellapart.budget import Budget, using_budget
from tellapart.data.reader import read_samples
from tellapart.data.sources.files import read_table
from tellapart.scan.scan import scan

SHIFTED, SHIFT = 3, 3.0
SIZES = {
    "40 × 100,000": (40, 100_000, None),
    "200 × 20,000": (200, 20_000, None),
    "500 × 50,000, 5 % counts": (500, 50_000, 0.05),
}
LEVEL_ROWS = 20
LEVEL_PERMUTATIONS = 99
SHIFTS = (0.0, 1.5, 2.0)
ALPHA = 0.05


def make(size: str) -> tuple[Any, Any]:
    """Return two samples, the second with three columns shifted."""
    n_rows, n_columns, density = SIZES[size]
    rng = np.random.default_rng(1)
    half = n_rows // 2
    if density is None:
        x, y = (rng.normal(size=(half, n_columns)) for _ in range(2))
        y[:, :SHIFTED] += SHIFT
        return x, y
    parts = []
    for number in range(2):
        held = sparse.random_array(
            (half, n_columns),
            density=density,
            rng=rng,
            data_sampler=lambda size: 1.0 + rng.poisson(1, size=size),
        ).tolil()
        held[:, :SHIFTED] = rng.poisson(1 + number * SHIFT, size=(half, SHIFTED))
        parts.append(sparse.csr_array(held))
    return parts[0], parts[1]


def holm(pvalues: np.ndarray) -> np.ndarray:
    """Return Holm's adjusted p-values."""
    order = np.argsort(pvalues)
    falling = np.arange(pvalues.size, 0, -1)
    adjusted = np.empty(pvalues.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(pvalues[order] * falling), 1.0)
    return adjusted


def dense(values: Any) -> np.ndarray:
    """Return a sample as an array."""
    return values.toarray() if sparse.issparse(values) else values


def ours(x: Any, y: Any) -> tuple[float, list[str]]:
    """Run the default call, and write its page."""
    result = ta.two_sample_test(x, y, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        result.to_html(Path(folder) / "page.html")
        print(f"    page: {time.process_time() - started:.1f} CPU s", flush=True)
    named = {name for finding in result.findings for name in finding.variables}
    return result.pvalue, sorted(named)


def plain(x: Any, y: Any) -> tuple[float, list[str]]:
    """Test every column by ranks, and correct by Holm."""
    pvalues = stats.mannwhitneyu(dense(x), dense(y), axis=0, method="asymptotic").pvalue
    adjusted = holm(np.nan_to_num(pvalues, nan=1.0))
    return float(adjusted.min()), [f"x{s}" for s in np.flatnonzero(adjusted <= ALPHA)]


CALLS: dict[str, Callable[[Any, Any], tuple[float, list[str]]]] = {
    "two_sample_test and its page": ours,
    "Mann-Whitney, Holm (SciPy)": plain,
}


def warm_up() -> None:
    """Load what is compiled."""
    rng = np.random.default_rng(0)
    ours(rng.normal(size=(20, 60)), rng.normal(size=(20, 60)))


def measure(size: str, name: str) -> dict[str, object]:
    """Run one call on one size."""
    x, y = make(size)
    warm_up()
    before, started, used = forget_peak(), time.perf_counter(), time.process_time()
    pvalue, named = CALLS[name](x, y)
    return _measured(size, name, before, started, used, pvalue, named)


def compare_files(folder: Path) -> dict[str, object]:
    """Read two CSV files as the command line does, and run the default call."""
    rng = np.random.default_rng(1)
    names = [f"x{s}" for s in range(100_000)]
    paths = []
    for number, name in enumerate(("a", "b")):
        values = rng.normal(size=(20, 100_000)).round(6)
        values[:, :SHIFTED] += number * SHIFT
        paths.append(folder / f"{name}.csv")
        pd.DataFrame(values, columns=names).to_csv(paths[-1], index=False)
    warm_up()
    before, started, used = forget_peak(), time.perf_counter(), time.process_time()
    x, y = (read_table(path) for path in paths)
    result = ta.two_sample_test(x, y, random_state=0)
    named = sorted({name for finding in result.findings for name in finding.variables})
    return _measured(
        "20 + 20 × 100,000 in CSV", "read and test", before, started, used, result.pvalue, named
    )


def _measured(
    size: str,
    name: str,
    before: float,
    started: float,
    used: float,
    pvalue: float,
    named: list[str],
) -> dict[str, object]:
    return {
        "table": size,
        "call": name,
        "seconds": f"{time.perf_counter() - started:.1f}",
        "CPU seconds": f"{time.process_time() - used:.1f}",
        "peak beyond the input, GB": f"{(peak() - before) / 1e9:.2f}",
        "p": f"{pvalue:.2g}",
        "columns named": len(named),
        "of the three shifted": len(set(named) & {f"x{s}" for s in range(SHIFTED)}),
    }


def time_all() -> None:
    """Run every call on every size in a process of its own."""
    context = multiprocessing.get_context("spawn")
    rows = []
    for size in SIZES:
        for name in CALLS:
            with context.Pool(1) as pool:
                rows.append(pool.apply(measure, (size, name)))
            print(rows[-1], flush=True)
    with tempfile.TemporaryDirectory() as folder, context.Pool(1) as pool:
        rows.append(pool.apply(compare_files, (Path(folder),)))
    text = (
        "# Tables of very many columns\n\n"
        f"{multiprocessing.cpu_count()} cores, 999 permutations, three columns shifted by "
        f"{SHIFT:g} spreads (counts: by {SHIFT:g}); `python benchmarks/bench_wide.py "
        "--part time`.\n\n" + table(rows)
    )
    store("wide", text, rows)


def trial(shift: float, seed: int, columns: int) -> dict[str, tuple[bool, int, int]]:
    """Return for each way whether it rejects, shifted columns named, and others named."""
    rng = np.random.default_rng((seed, int(100 * shift)))
    x, y = (rng.normal(size=(LEVEL_ROWS, columns)) for _ in range(2))
    y[:, :SHIFTED] += shift
    found = scan(
        read_samples(x, y),
        n_permutations=LEVEL_PERMUTATIONS,
        alpha=ALPHA,
        rng=np.random.default_rng(seed),
        n_jobs=2,
    )
    # Findings need p ≤ α of the whole, too; adjusted p-values are never below it.
    ways = {
        "scan in blocks": np.array(list(found.variable_pvalues.values())),
        "t test, Holm": holm(stats.ttest_ind(x, y, axis=0).pvalue),
        "Mann-Whitney, Holm": holm(stats.mannwhitneyu(x, y, axis=0).pvalue),
    }
    outcomes = {}
    for name, pvalues in ways.items():
        named = pvalues <= ALPHA
        rejects = bool(named.any())
        if name == "scan in blocks":
            rejects = found.null.pvalue <= ALPHA
        own = named[:SHIFTED] if shift else np.zeros(0, dtype=bool)
        others = named[SHIFTED:] if shift else named
        outcomes[name] = (rejects, int(own.sum()), int(others.any()))
    return outcomes


def level(columns: int, nulls: int, pairs: int) -> None:
    """Measure level and power."""
    rows = []
    blocks = Budget(unblocked_bytes=0, unblocked_columns=0)
    for shift in SHIFTS:
        count = nulls if shift == 0 else pairs
        with using_budget(blocks):
            found = [trial(shift, seed, columns) for seed in range(1_000, 1_000 + count)]
        for name in found[0]:
            rejects, own, others = (
                np.mean([outcome[name][k] for outcome in found]) for k in range(3)
            )
            rows.append(
                {
                    "shift of three columns, spreads": f"{shift:g}",
                    "way": name,
                    "pairs of samples": count,
                    "rejects": f"{rejects:.3f}",
                    "shifted columns named": f"{own / SHIFTED:.3f}" if shift else "",
                    "names a column that does not differ": f"{others:.3f}",
                }
            )
            print(rows[-1], flush=True)
    text = (
        "# Level and power in blocks of columns\n\n"
        f"{LEVEL_ROWS} + {LEVEL_ROWS} rows × {columns:,} normal columns, "
        f"{LEVEL_PERMUTATIONS} permutations, level {ALPHA}, every column in blocks; "
        f"`python benchmarks/bench_wide.py --part level --columns {columns} --nulls {nulls} "
        f"--pairs {pairs}`.\n\n" + table(rows)
    )
    store("wide_level", text, rows)


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=["time", "level", "all"], default="all")
    parser.add_argument("--columns", type=int, default=5_000)
    parser.add_argument("--nulls", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=40)
    asked = parser.parse_args()
    if asked.part != "level":
        time_all()
    if asked.part != "time":
        level(asked.columns, asked.nulls, asked.pairs)


if __name__ == "__main__":
    main()
