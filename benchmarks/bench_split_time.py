"""What the split test and the standard MMD test cost, and how it grows with the rows.

    python benchmarks/bench_split_time.py

`StandardMMD` against the plain NumPy test of bench_scan_time.py, that is one Gram matrix and one
product for all permutations; the split test with its defaults against the same call with d and λ
given, with and without a lognormal(0, 2) column; and its growth up to 10⁶ rows of each sample. The
best of a few runs in turn, after one that compiles. Writes benchmarks/results/split_time.md and
split_time.csv.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np

import tellapart as ta
from bench_scan_time import plain_test
from store import store, table
from tellapart.arrays import FloatArray

REPEATS = 3
GROWTH = (10_000, 100_000, 1_000_000)
GIVEN = {"n_variables": 5, "regularization": 0.1}


def pair(rows: int, columns: int, heavy: int = 0) -> tuple[FloatArray, FloatArray]:
    """Return two samples that differ in three columns; the last `heavy` ones are lognormal."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(rows, columns)), rng.normal(size=(rows, columns))
    Y[:, :3] += 8 / np.sqrt(rows)
    for values in (X, Y):
        values[:, columns - heavy :] = np.exp(2 * values[:, columns - heavy :])
    return X, Y


def seconds_of(calls: Mapping[str, Callable[[], object]], repeats: int = REPEATS) -> list[float]:
    """Return the least time of each call; they take turns, so that all meet the same machine."""
    best = dict.fromkeys(calls, np.inf)
    for turn in range(repeats + 1):
        for name, call in calls.items():
            started = time.perf_counter()
            call()
            # The first of each is cold.
            if turn > 0:
                best[name] = min(best[name], time.perf_counter() - started)
    return list(best.values())


def row(what: str, ours: float, other: str, theirs: float) -> dict[str, object]:
    """Return one line of the table."""
    return {
        "call": what,
        "seconds": f"{ours:.2f}",
        "against": other,
        "its seconds": f"{theirs:.2f}",
        "ratio": f"{ours / theirs:.2f}",
    }


def standard(rows: int, columns: int) -> dict[str, object]:
    """Compare the standard MMD test with the plain one."""
    X, Y = pair(rows, columns)
    test = ta.baselines.StandardMMD("gaussian", n_permutations=1_000, random_state=0)
    ours, theirs = seconds_of(
        {"ours": lambda: test.test(X, Y), "plain": lambda: plain_test(X, Y, 0)}
    )
    return row(f"StandardMMD, {rows:,} + {rows:,} × {columns}", ours, "plain NumPy product", theirs)


def tuned(rows: int, columns: int) -> list[dict[str, object]]:
    """Compare the split test with its defaults, and with d and λ given: those found, and five."""
    X, Y = pair(rows, columns)

    def call(**given: object) -> ta.TestResult:
        return ta.two_sample_test(X, Y, method="split", random_state=0, **given)

    found = call()
    same = {"n_variables": len(found.variables), "regularization": found.regularization}
    ours, given, five = seconds_of(
        {"defaults": call, "same": lambda: call(**same), "five": lambda: call(**GIVEN)}
    )
    what = f"split, defaults, {rows:,} + {rows:,} × {columns}"
    d = same["n_variables"]
    return [
        row(what, ours, f"the same d = {d} and λ given", given),
        row(what, ours, "d = 5 and λ = 0.1 given", five),
    ]


def heavy(rows: int, columns: int) -> dict[str, object]:
    """Compare the split test with and without a lognormal column."""
    calls: dict[str, Callable[[], object]] = {}
    for name, count in (("heavy", 1), ("light", 0)):
        X, Y = pair(rows, columns, count)

        def call(X: FloatArray = X, Y: FloatArray = Y) -> object:
            return ta.two_sample_test(X, Y, method="split", random_state=0, **GIVEN)

        calls[name] = call
    ours, theirs = seconds_of(calls)
    what = f"split, d and λ given, one lognormal column, {rows:,} + {rows:,} × {columns}"
    return row(what, ours, "normal columns", theirs)


def growth() -> list[dict[str, object]]:
    """Time the split test, d and λ given, for more and more rows."""
    rows: list[dict[str, object]] = []
    before = np.nan
    for n in GROWTH:
        X, Y = pair(n, 20)

        def call(X: FloatArray = X, Y: FloatArray = Y) -> object:
            return ta.two_sample_test(X, Y, method="split", random_state=0, **GIVEN)

        (seconds,) = seconds_of({"split": call}, repeats=1)
        tenth = "a tenth of the rows" if rows else "itself"
        what = f"split, d and λ given, {n:,} + {n:,} × 20"
        rows.append(row(what, seconds, tenth, before if rows else seconds))
        before = seconds
    return rows


def main() -> None:
    """Measure all and store the table."""
    rows = [
        standard(2_000, 100),
        *tuned(2_000, 100),
        *tuned(100_000, 20),
        heavy(10_000, 5),
        heavy(56_000, 5),
        *growth(),
    ]
    text = (
        "# What the split test and the standard MMD test cost\n\n"
        f"999 permutations (1,000 for StandardMMD), the best of {REPEATS} runs; "
        "`python benchmarks/bench_split_time.py`.\n\n" + table(rows)
    )
    store("split_time", text, rows)


if __name__ == "__main__":
    main()
