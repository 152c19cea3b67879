"""The default choice of variables on the data that its settings were chosen on.

    .venv/bin/python benchmarks/bench_evidence.py [pairs]            # results/evidence.md
    .venv/bin/python benchmarks/bench_evidence.py designs [pairs]    # results/evidence_designs.md

The share of the true variables found on the kinds of development/known_answers.py, beside
the linear kernel, its ratio, mixed bandwidths, and the F test. For data on which nothing was tuned
see benchmarks/which_few.

With `designs`: ten columns are shifted, and `two_sample_test` with the design chooses eight, beside
the eight with the smallest p-values of the usual t test (paired, beside strata, of cluster means).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_selection import f_classif

import tellapart as ta
from bench_designs import FEW_PERMUTATIONS, usual_pvalues
from development.known_answers import ANSWERED, score
from store import store, table
from tellapart.arrays import FloatArray, IntArray
from tellapart.kernels import Linear

FIRST_SEED = 5_000
Designed = tuple[FloatArray, FloatArray, dict[str, Any], IntArray]
"""Both samples, the design as `two_sample_test` takes it, and the columns that differ."""


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


N_TRUE, N_CHOSEN = 10, 8
WIDTHS = (50, 200, 800)


def donors(
    shift: float,
    *,
    n: int = 8,
    low: float = 0.7,
    high: float = 0.7,
    factor: float = 0.0,
    unequal: bool = False,
    counts: bool = False,
) -> Callable[[np.random.Generator, int], Designed]:
    """Return how to draw the cells of n + n donors.

    Effects of donors have deviations between `low` and `high`, one for each column, and may share a
    `factor`; columns are shifted by `shift` deviations of a donor's mean.
    """

    def draw(rng: np.random.Generator, n_columns: int) -> Designed:
        true = rng.choice(n_columns, N_TRUE, replace=False)
        deviation, loading = rng.uniform(low, high, n_columns), factor * rng.normal(size=n_columns)
        sides, own = [], []
        for side in range(2):
            level = deviation * rng.normal(size=(n, n_columns)) + rng.normal(size=(n, 1)) * loading
            level[:, true] += side * shift * np.sqrt(deviation[true] ** 2 + 1 / 20)
            donor = np.repeat(np.arange(n), rng.integers(2, 9, n) ** 2 if unequal else 20)
            if counts:
                cells = rng.poisson(np.exp(level[donor] - 0.5)).astype(float)
            else:
                cells = level[donor] + rng.normal(size=(donor.size, n_columns))
            sides.append(cells)
            own.append(donor + n * side)
        return sides[0], sides[1], {"clusters": (own[0], own[1])}, true

    return draw


def people(rng: np.random.Generator, n_columns: int) -> Designed:
    """Draw two measurements of 16 people, who differ from each other more."""
    true = rng.choice(n_columns, N_TRUE, replace=False)
    level = 2 * rng.normal(size=(16, n_columns))
    x, y = (level + rng.normal(size=level.shape) for _ in range(2))
    y[:, true] += 1.4
    return x, y, {"paired": True}, true


def centres(rng: np.random.Generator, n_columns: int) -> Designed:
    """Draw patients of three centres with levels of their own and other shares of the samples."""
    true = rng.choice(n_columns, N_TRUE, replace=False)
    level = 2 * rng.normal(size=(3, n_columns))
    centre = np.repeat(np.arange(3), [12, 4, 6]), np.repeat(np.arange(3), [4, 10, 6])
    x, y = (level[own] + rng.normal(size=(own.size, n_columns)) for own in centre)
    y[:, true] += 1.2
    return x, y, {"strata": centre}, true


DESIGNED = {
    "clusters": donors(2.0),
    "clusters, unequal sizes": donors(2.2, unequal=True),
    "clusters, unequal deviations": donors(2.2, low=0.2, high=1.5),
    "clusters, common factor": donors(2.4, factor=1.0),
    "clusters, counts": donors(2.2, counts=True),
    "clusters, 20 + 20": donors(1.2, n=20),
    "paired": people,
    "strata": centres,
}


def designs(pairs: int) -> None:
    """Measure how many of eight columns chosen under a design are true, and store."""
    rows = []
    for kind, draw in DESIGNED.items():
        for n_columns in WIDTHS:
            found = np.zeros((pairs, 2))
            for seed in range(pairs):
                X, Y, asked, true = draw(np.random.default_rng(FIRST_SEED + seed), n_columns)
                result = ta.two_sample_test(
                    *(X, Y),
                    n_variables=N_CHOSEN,
                    n_permutations=FEW_PERMUTATIONS,
                    random_state=seed,
                    **asked,
                )
                usual = np.argsort(usual_pvalues(kind.split(",")[0], X, Y, asked))[:N_CHOSEN]
                found[seed] = [np.isin(s, true).sum() for s in (result.selection.support, usual)]
            mean, error = found.mean(axis=0), np.std(found[:, 0] - found[:, 1]) / pairs**0.5
            rows.append(
                {
                    "design": kind,
                    "columns": n_columns,
                    "chosen by evidence": f"{mean[0]:.2f}",
                    "usual t test": f"{mean[1]:.2f}",
                    "difference": f"{mean[0] - mean[1]:+.2f} ± {error:.2f}",
                }
            )
            print(rows[-1], flush=True)
    text = f"# True columns among {N_CHOSEN} chosen, {N_TRUE} shifted, {pairs} pairs each\n\n"
    store("evidence_designs", text + table(rows), rows)


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
    by_design, arguments = "designs" in sys.argv, [a for a in sys.argv[1:] if a != "designs"]
    (designs if by_design else main)(int(arguments[0]) if arguments else 20)
