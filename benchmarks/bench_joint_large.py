"""Quadratic and Gaussian kernels on many rows: seconds, the right variables found, and power.

D = 50 columns, all standard normal in both samples; in Y two columns, drawn again for each seed,
have a correlation. `select_variables` is asked for two variables; the whole call is
`two_sample_test(method="split")` with two variables, λ and bandwidth as by default.

- Time: correlation 0.2, from 2,000 rows of each sample on.
- Power: correlation 0.1, few seeds, the whole call on 2,000 against many rows.

    python benchmarks/bench_joint_large.py [most rows] [seeds of the power] [rows with many]
        [rows up to which the whole call is timed]

Writes benchmarks/results/joint_large.{md,csv}.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import tellapart as ta
from store import store, table

D = 50
TIMED = (2_000, 10_000, 100_000, 1_000_000)
FEW = 2_000
CORRELATIONS = (0.1,)
KERNELS = ("gaussian", "quadratic")
Row = dict[str, object]


def pair(
    n_rows: int, correlation: float, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], set[int]]:
    """Return X, Y and the two columns that are correlated in Y."""
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((n_rows, D)), rng.standard_normal((n_rows, D))
    s, r = rng.choice(D, 2, replace=False)
    y[:, r] = correlation * y[:, s] + np.sqrt(1 - correlation**2) * y[:, r]
    return x, y, {int(s), int(r)}


def selected(kernel: str, n_rows: int, correlation: float, seed: int) -> Row:
    """Return how long the selection took and what share of the pair it found."""
    x, y, truth = pair(n_rows, correlation, seed)
    start = time.perf_counter()
    found = ta.select_variables(x, y, 2, kernel=kernel, random_state=seed)
    return {
        "seconds to select": time.perf_counter() - start,
        "found": len(truth & set(found.support.tolist())) / 2,
        "rows drawn": "all" if found.drawn_rows is None else f"{found.drawn_rows[0]:,}",
        "features": found.n_features or "",
    }


def tested(kernel: str, n_rows: int, correlation: float, seed: int) -> Row:
    """Return how long the whole call took, what share of the pair it found, and its verdict."""
    x, y, truth = pair(n_rows, correlation, seed)
    start = time.perf_counter()
    result = ta.two_sample_test(
        x, y, method="split", n_variables=2, kernel=kernel, random_state=seed
    )
    return {
        "seconds of the test": time.perf_counter() - start,
        "found by the test": len(truth & set(result.selection.support.tolist())) / 2,
        "rejected": bool(result.reject),
    }


def timed(rows: Sequence[int], most_tested: int) -> list[Row]:
    """Measure the time at all sizes, warm; that of the whole call up to `most_tested` rows."""
    measured: list[Row] = []
    for kernel in KERNELS:
        selected(kernel, 500, 0.2, 0)
        for n_rows in rows:
            row: Row = {
                "kernel": kernel,
                "rows of each sample": n_rows,
                "correlation": 0.2,
                "seeds": 1,
            }
            row |= selected(kernel, n_rows, 0.2, 1)
            whole = dict.fromkeys(("seconds of the test", "found by the test", "rejected"), "")
            row |= tested(kernel, n_rows, 0.2, 1) if n_rows <= most_tested else whole
            measured.append({name: _shown(value) for name, value in row.items()})
            print(measured[-1], flush=True)
    return measured


def powers(seeds: int, many: int) -> list[Row]:
    """Measure hits and power on few and on many rows."""
    measured: list[Row] = []
    for kernel in KERNELS:
        for correlation in CORRELATIONS:
            for n_rows in (FEW, many):
                runs = [tested(kernel, n_rows, correlation, seed) for seed in range(seeds)]
                row: Row = {
                    "kernel": kernel,
                    "rows of each sample": n_rows,
                    "correlation": correlation,
                    "seeds": seeds,
                }
                names = ("seconds of the test", "found by the test")
                row |= {name: _shown(np.mean([run[name] for run in runs])) for name in names}
                row["power"] = f"{np.mean([run['rejected'] for run in runs]):.2f}"
                measured.append(row)
                print(row, flush=True)
    return measured


def _shown(value: object) -> object:
    return f"{value:.2f}" if isinstance(value, float | np.floating) else value


def main() -> None:
    """Measure all and store."""
    asked = [int(word) for word in sys.argv[1:]]
    most, seeds, many, most_tested = (*asked, *(100_000, 5, 100_000, 100_000)[len(asked) :])
    times = timed([n for n in TIMED if n <= most], most_tested)
    power = powers(seeds, many) if seeds else []
    text = f"""# Joint kernels on many rows

D = {D}, two columns of Y correlated, two variables asked for. "Found" is the share of the pair that
was chosen, by `select_variables` on all rows and by `two_sample_test(method="split")` on half of
them. "Rows drawn" are those of each sample that the objective is of; "features" are those of each
column (quadratic) or random frequencies (Gaussian) that stand for all pairs of rows.

## Time
{table(times)}

## Hits and power
{table(power) if power else "Not measured in this run."}
"""
    store("joint_large", text, [*_filled(times, power), *_filled(power, times)])


def _filled(rows: list[Row], others: list[Row]) -> list[Row]:
    """Return the rows with every field of the others, empty where they have none."""
    names = dict.fromkeys(name for row in [*rows, *others] for name in row)
    order = sorted(names)
    return [{name: row.get(name, "") for name in order} for row in rows]


if __name__ == "__main__":
    main()
