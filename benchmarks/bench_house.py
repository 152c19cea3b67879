"""Two versions of the source, the same calls: how long they take, before and after.

    python benchmarks/bench_house.py --before ../base/src --after src [--rounds 3] [--only groups]

Both folders hold `tellapart/`. Every call runs in processes of its own, which find the one or the
other folder by PYTHONPATH, in turn (before, after; then after, before; …). A process calls once to
load and compile, then several times; the best of all rounds counts, in seconds of the wall and of
the processor. "ratio" is before / after of the wall: above 1 the new source is faster. "spread" is
by how many percent the median of the rounds is above the best (the larger one of both sources): a
ratio closer to 1 than that says nothing, and where other work runs on the machine the ratio of
processor seconds says more. Answers must agree: p-values of both are compared.

The default call on 200 + 200 × 50 and 2,000 + 2,000 × 100 numbers as in bench_scan_time, with
strata, with missing values, and the choice alone; ten groups of cells as in bench_groups; 40 ×
20,000 numbers in blocks as in bench_wide; two files of Parquet and of CSV; two Dask arrays.
Writes benchmarks/results/house.md and .csv; with `--only` it only prints.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

SIDES = ("before", "after")
FILE_ROWS, FILE_COLUMNS = {"parquet": 100_000, "csv": 20_000}, 10
Call = Callable[[], float]


def numbers(n_rows: int, n_columns: int, shift: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Return normal columns with one weak factor; the first is shifted in the second sample."""
    rng = np.random.default_rng(0)
    X, Y = (rng.normal(size=(n_rows, n_columns)) for _ in range(2))
    for one in (X, Y):
        one += 0.4 * rng.normal(size=(n_rows, 1))
    Y[:, 0] += shift
    return X, Y


def tested(*samples: Any, **options: Any) -> float:
    """Return the p-value of the default call."""
    import tellapart as ta

    return float(ta.two_sample_test(*samples, random_state=0, **options).pvalue)


def default(n_rows: int, n_columns: int, **options: Any) -> Call:
    """Return the default call on numbers."""
    X, Y = numbers(n_rows, n_columns)
    return lambda: tested(X, Y, **options)


def with_strata() -> Call:
    """Return the default call within four strata."""
    labels = np.arange(200) % 4
    return default(200, 50, strata=(labels, labels))


def with_gaps() -> Call:
    """Return the default call with a twentieth of the values missing, compared pairwise."""
    X, Y = numbers(200, 50)
    rng = np.random.default_rng(1)
    for one in (X, Y):
        one[rng.random(one.shape) < 0.05] = np.nan
    return lambda: tested(X, Y, missing="pairwise")


def split() -> Call:
    """Return the paper's test, which holds rows out."""
    return default(200, 50, method="split", n_variables=5, regularization=0.1)


def choice() -> Call:
    """Return the choice of five variables by evidence, with its value instead of a p-value."""
    import tellapart as ta

    X, Y = numbers(200, 50)
    return lambda: float(ta.select_variables(X, Y, 5, random_state=0).value)


def groups() -> Call:
    """Return the comparison of ten types of 700 sparse cells with 765 genes."""
    import tellapart as ta

    rng = np.random.default_rng(0)
    n_cells, n_genes, n_types, n_markers = 700, 765, 10, 8
    kind = rng.integers(n_types, size=n_cells)
    rate = np.tile(rng.lognormal(-2.0, 1.2, n_genes), (n_types, 1))
    markers = rng.permutation(n_genes)[: n_types * n_markers].reshape(n_types, n_markers)
    for row, genes in zip(rate, markers, strict=True):
        row[genes] = 3.0 * row[genes] + 0.3
    mean = rate[kind] * rng.lognormal(0.0, 0.3, n_cells)[:, np.newaxis]
    cells = sparse.csr_array(np.log1p(rng.negative_binomial(2.0, 2.0 / (2.0 + mean))))
    labels = [f"type {number}" for number in kind]

    def compare() -> float:
        result = ta.compare_groups(cells, by=labels, random_state=0)
        return sum(comparison.pvalue for comparison in result.comparisons)

    return compare


def wide() -> Call:
    """Return the default call on 40 rows of 20,000 columns, too many to be held at once."""
    X, Y = numbers(20, 20_000)
    Y[:, :3] += 3.0
    return lambda: tested(X, Y)


def files(form: str) -> Call:
    """Return the default call on two files, opened and read within it."""
    import tellapart as ta

    paths = [Path(os.environ["HOUSE_FILES"], f"{name}.{form}") for name in "xy"]
    return lambda: tested(*map(ta.open_dataset, paths))


def dask_arrays() -> Call:
    """Return the default call on two Dask arrays of four chunks each."""
    import dask.array

    X, Y = (
        dask.array.from_array(one, chunks=(25_000, FILE_COLUMNS))
        for one in numbers(100_000, FILE_COLUMNS, 0.01)
    )
    return lambda: tested(X, Y)


# The call, and how often a process repeats it.
CALLS: dict[str, tuple[Callable[[], Call], int]] = {
    "default, 200 + 200 × 50": (lambda: default(200, 50), 7),
    "default, 2,000 + 2,000 × 100": (lambda: default(2_000, 100), 4),
    "strata, 200 + 200 × 50": (with_strata, 5),
    "missing values, 200 + 200 × 50": (with_gaps, 5),
    "split, 200 + 200 × 50": (split, 5),
    "select_variables, 200 + 200 × 50": (choice, 5),
    "groups, 10 of 700 × 765": (groups, 1),
    "wide, 40 × 20,000": (wide, 1),
    "Parquet, 2 × 100,000 × 10": (lambda: files("parquet"), 3),
    "CSV, 2 × 20,000 × 10": (lambda: files("csv"), 3),
    "Dask, 2 × 100,000 × 10": (dask_arrays, 3),
}


def write_files(folder: Path) -> None:
    """Write the files that are compared."""
    for form, n_rows in FILE_ROWS.items():
        for name, values in zip("xy", numbers(n_rows, FILE_COLUMNS, 0.02), strict=True):
            frame = pd.DataFrame(values, columns=[f"x{s}" for s in range(FILE_COLUMNS)])
            path = folder / f"{name}.{form}"
            if form == "parquet":
                frame.to_parquet(path, index=False)
            else:
                frame.round(6).to_csv(path, index=False)


def work(name: str) -> None:
    """Time one call in this process, and print the best of its repeats."""
    import tellapart as ta

    warnings.simplefilter("ignore")
    make, repeats = CALLS[name]
    call = make()
    answer, seconds, used = call(), [], []
    for _ in range(repeats):
        started, before = time.perf_counter(), time.process_time()
        call()
        seconds.append(time.perf_counter() - started)
        used.append(time.process_time() - before)
    print(json.dumps([min(seconds), min(used), answer, ta.__file__]))


def run(name: str, source: Path, folder: Path) -> tuple[float, float, float]:
    """Time one call with one source in a process of its own: wall, processor, answer."""
    environment = {**os.environ, "PYTHONPATH": str(source), "HOUSE_FILES": str(folder)}
    ended = subprocess.run(
        [sys.executable, __file__, "--work", name],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds, used, answer, file = json.loads(ended.stdout.splitlines()[-1])
    if not Path(file).resolve().is_relative_to(source):
        raise SystemExit(f"{file} was loaded, not what lies in {source}")
    return seconds, used, answer


def compare(name: str, sources: dict[str, Path], rounds: int, folder: Path) -> dict[str, object]:
    """Return the row of one call."""
    timed: dict[str, list[tuple[float, float, float]]] = {side: [] for side in SIDES}
    for number in range(rounds):
        for side in SIDES[:: -1 if number % 2 else 1]:
            timed[side].append(run(name, sources[side], folder))
    wall = {side: [one[0] for one in timed[side]] for side in SIDES}
    used = {side: min(one[1] for one in timed[side]) for side in SIDES}
    best = {side: min(wall[side]) for side in SIDES}
    answers = {side: timed[side][0][2] for side in SIDES}
    spread = max(np.median(wall[side]) / best[side] - 1 for side in SIDES)
    return {
        "call": name,
        "before, s": f"{best['before']:.3f}",
        "after, s": f"{best['after']:.3f}",
        "ratio": f"{best['before'] / best['after']:.2f}",
        "CPU before, s": f"{used['before']:.3f}",
        "CPU after, s": f"{used['after']:.3f}",
        "CPU ratio": f"{used['before'] / max(used['after'], 1e-9):.2f}",
        "spread, %": f"{100 * spread:.0f}",
        "same answer": "yes" if np.isclose(*answers.values(), rtol=1e-9) else "no",
    }


def main() -> None:
    """Run every call with both sources."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, help="a folder that holds tellapart/")
    parser.add_argument("--after", type=Path, default=Path(__file__).parents[1] / "src")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="calls whose names begin with this")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work)
        return
    if given.before is None:
        parser.error("--before is needed")
    from store import store, table

    sources = {side: getattr(given, side).resolve() for side in SIDES}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder))
        for name in filter(lambda name: name.startswith(given.only), CALLS):
            rows.append(compare(name, sources, given.rounds, Path(folder)))
            print(rows[-1], flush=True)
    text = (
        "# Before and after\n\n"
        f"{os.cpu_count()} cores, best of {given.rounds} processes for each source in turn, warm, "
        "999 permutations; ratio: before / after. `python benchmarks/bench_house.py`.\n\n"
        + table(rows)
    )
    if given.only:
        print(text)
    else:
        store("house", text, rows)


if __name__ == "__main__":
    main()
