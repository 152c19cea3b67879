"""The default choice of variables on the data that its settings were chosen on.

    .venv/bin/python benchmarks/bench_evidence.py [pairs]      # results/evidence.md

The share of the true variables found on the kinds of development/known_answers.py, beside
the linear kernel, its ratio, mixed bandwidths, and the F test. For data on which nothing was tuned
see benchmarks/which_few.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from sklearn.feature_selection import f_classif

import tellapart as ta
from development.known_answers import ANSWERED, score
from store import store, table
from tellapart.arrays import FloatArray, IntArray
from tellapart.kernels import Linear

FIRST_SEED = 5_000


def by_f_test(X: FloatArray, Y: FloatArray, d: int) -> IntArray:
    """Return the d columns with the largest F."""
    labels = np.repeat([0, 1], [len(X), len(Y)])
    return np.argsort(-f_classif(np.concatenate([X, Y]), labels)[0])[:d]


SELECTORS: dict[str, Callable[[FloatArray, FloatArray, int], IntArray]] = {
    "evidence": lambda X, Y, d: ta.select_variables(X, Y, d).support,
    "linear": lambda X, Y, d: ta.select_variables(X, Y, d, kernel="linear").support,
    "linear, mixed bandwidths": lambda X, Y, d: (
        ta.select_variables(X, Y, d, kernel=Linear(bandwidth="mixed")).support
    ),
    "linear, ratio": lambda X, Y, d: ta.select_variables(X, Y, d, objective="ratio").support,
    "F test": by_f_test,
}


def main(pairs: int) -> None:
    """Measure and store."""
    rows = []
    seconds = dict.fromkeys(SELECTORS, 0.0)
    for kind, draw in ANSWERED.items():
        found: dict[str, list[float]] = {name: [] for name in SELECTORS}
        for seed in range(FIRST_SEED, FIRST_SEED + pairs):
            X, Y, groups, d = draw(np.random.default_rng(seed))
            for name, select in SELECTORS.items():
                started = time.perf_counter()
                found[name].append(score(groups, select(X, Y, d)))
                seconds[name] += time.perf_counter() - started
        rows.append({"kind": kind} | {name: f"{np.mean(s):.2f}" for name, s in found.items()})
    means = {name: np.mean([float(row[name]) for row in rows]) for name in SELECTORS}
    rows.append({"kind": "**mean**"} | {name: f"{mean:.3f}" for name, mean in means.items()})
    calls = pairs * len(ANSWERED)
    rows.append(
        {"kind": "seconds a call"} | {name: f"{s / calls:.2f}" for name, s in seconds.items()}
    )
    text = f"# Share of the true variables found, development kinds, {pairs} pairs each\n\n"
    store("evidence", text + table(rows), rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
