"""A test of files larger than the memory it may take, beside a plain look at them.

    python benchmarks/bench_files.py FOLDER [--rows 50000000] [--keep]

Writes Parquet files of two samples with 20 columns below FOLDER (8 GB for 50,000,000 rows of both
together; they are removed in the end unless asked to stay), and runs, each in a process of its own
and in turn, twice: a scan by pyarrow that only sums the columns, and
`two_sample_test(open_dataset(...), open_dataset(...))`, everything included. One column is shifted
by 0.002 spreads. Writes benchmarks/results/files.md and .csv.
"""

from __future__ import annotations

import argparse
import multiprocessing
import shutil
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

import tellapart as ta
from memory import forget_peak, peak
from store import store, table

COLUMNS = 20
SHIFT = 0.002
ROWS_PER_FILE = 2_500_000
ROWS_PER_GROUP = 250_000
BUDGET = 2e9


def write(folder: Path, rows: int) -> None:
    """Write the files of both samples."""
    rng = np.random.default_rng(0)
    for side in ("x", "y"):
        (folder / side).mkdir(parents=True, exist_ok=True)
        for number, start in enumerate(range(0, rows // 2, ROWS_PER_FILE)):
            size = min(ROWS_PER_FILE, rows // 2 - start)
            columns = {f"x{s}": rng.normal(size=size) for s in range(COLUMNS)}
            if side == "y":
                columns["x0"] += SHIFT
            pq.write_table(
                pa.table(columns),
                folder / side / f"{number:04}.parquet",
                row_group_size=ROWS_PER_GROUP,
                use_dictionary=False,
            )


def plain(folder: Path) -> dict[str, object]:
    """Sum the columns of all files by pyarrow."""
    before, started = forget_peak(), time.perf_counter()
    for side in ("x", "y"):
        totals = np.zeros(COLUMNS)
        for batch in ds.dataset(folder / side).to_batches():
            totals += [pc.sum(column).as_py() for column in batch.columns]
    seconds = time.perf_counter() - started
    return {"seconds": seconds, "peak": peak() - before, "p": "", "named": ""}


def ours(folder: Path) -> dict[str, object]:
    """Run the default call on all files."""
    rng = np.random.default_rng(0)
    small = rng.normal(size=(3_000, COLUMNS))
    ta.two_sample_test(small[:1_500], small[1_500:], random_state=0)
    before, started = forget_peak(), time.perf_counter()
    result = ta.two_sample_test(
        ta.open_dataset(folder / "x"),
        ta.open_dataset(folder / "y"),
        memory_budget=BUDGET,
        random_state=0,
    )
    seconds = time.perf_counter() - started
    named = sorted({name for finding in result.findings for name in finding.variables})
    return {
        "seconds": seconds,
        "peak": peak() - before,
        "p": f"{result.pvalue:.3g}",
        "named": ", ".join(named) or "none",
    }


CALLS = {"pyarrow, sums of columns": plain, "two_sample_test": ours}


def main() -> None:
    """Write the files, run both calls in turn, and store the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--keep", action="store_true")
    asked = parser.parse_args()
    folder = asked.folder / f"tellapart-{asked.rows}"
    if not folder.exists():
        write(folder, asked.rows)
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet")) / 1e9
    context = multiprocessing.get_context("spawn")
    best: dict[str, dict[str, object]] = {}
    for _ in range(2):
        for name, call in CALLS.items():
            with context.Pool(1) as pool:
                found = pool.apply(call, (folder,))
            if name not in best or float(str(found["seconds"])) < float(str(best[name]["seconds"])):
                best[name] = found
    if not asked.keep:
        shutil.rmtree(folder)
    base = float(str(best["pyarrow, sums of columns"]["seconds"]))
    rows = [
        {
            "call": name,
            "seconds": f"{float(str(found['seconds'])):.1f}",
            "seconds per GB": f"{float(str(found['seconds'])) / size:.2f}",
            "times the plain scan": f"{float(str(found['seconds'])) / base:.1f}",
            "peak beyond the start, GB": f"{float(str(found['peak'])) / 1e9:.2f}",
            "p": found["p"],
            "named": found["named"],
        }
        for name, found in best.items()
    ]
    text = (
        "# Files larger than the memory in use\n\n"
        f"{asked.rows:,} rows of {COLUMNS} columns in Parquet files of {size:.1f} GB together, "
        f"{multiprocessing.cpu_count()} cores, the better of two runs each, in turn; a shift of "
        f"{SHIFT} spreads in x0; `python benchmarks/bench_files.py FOLDER`.\n\n" + table(rows)
    )
    store("files", text, rows)


if __name__ == "__main__":
    main()
