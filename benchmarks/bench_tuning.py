"""What the choice of λ costs: power with λ tuned on one split, tuned on five, and fixed.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_tuning.py [runs]

The paper's four cases, D = 100, d = 20, 100 + 100 rows split in halves, level 0.05, linear kernel,
`runs` pairs each (default 100). The weights come from the heuristic that tuning uses, for every λ
alike, so that only the rule differs. Writes benchmarks/results/tuning.md and tuning.csv.
"""

from __future__ import annotations

import sys

import numpy as np

from store import store, table
from tellapart.data.reader import read_samples
from tellapart.data.samples import Samples
from tellapart.datasets import CASES, make_case
from tellapart.kernels import Linear
from tellapart.permutation.mmd import permutation_test
from tellapart.search.starts import linear_problem
from tellapart.selection.folds import make_folds, split_in_halves
from tellapart.selection.tuning import (
    GRID,
    N_SPLITS,
    RegularizationScore,
    best_regularization,
    score_regularizations,
)
from tellapart.statistics.coefficients import linear_coefficients
from tellapart.strs import solve
from tellapart.strs.solvers.thresholding import Thresholding

ROWS, COLUMNS, VARIABLES = 100, 100, 20
FIXED = (0.0, 0.1, 1.0)
RULES = ("one split", "five splits", *(f"λ = {regularization:g}" for regularization in FIXED))


def rejections(train: Samples, test: Samples) -> dict[float, bool]:
    """Return for each λ whether the held-out rows reject."""
    kernel = Linear().fit(train)
    coefficients = linear_coefficients(train, kernel)
    rejected = {}
    for regularization in GRID:
        z = solve(linear_problem(coefficients, regularization, VARIABLES), solver=Thresholding()).z
        rng = np.random.default_rng(1)
        null = permutation_test(test, kernel, z, n_permutations=199, alpha=0.05, rng=rng)
        rejected[regularization] = null.pvalue <= 0.05
    return rejected


def one_run(case: str, seed: int) -> list[bool]:
    """Return whether each rule rejects."""
    rng = np.random.default_rng(seed)
    x, y, _ = make_case(case, ROWS, n_features=COLUMNS, n_informative=VARIABLES, random_state=rng)
    train, test = read_samples(x, y).split(0.5, rng)
    rejected = rejections(train, test)
    folds = make_folds(Linear(), split_in_halves(train, N_SPLITS, rng), n_jobs=1)
    seeds = rng.integers(2**32, size=N_SPLITS).tolist()
    scores = score_regularizations({1.0: folds}, VARIABLES, GRID, seeds, lambda *_: None)
    first = [RegularizationScore(s.regularization, s.pvalues[:1], s.ratios[:1]) for s in scores]
    tuned = [best_regularization(first).regularization, best_regularization(scores).regularization]
    return [rejected[regularization] for regularization in (*tuned, *FIXED)]


def main(runs: int) -> None:
    """Measure every case and store the table."""
    rows = []
    for case in CASES:
        powers = np.mean([one_run(case, seed) for seed in range(runs)], axis=0)
        rows.append({"case": case, **{r: f"{p:.2f}" for r, p in zip(RULES, powers, strict=True)}})
    text = (
        "# Power by the way λ is chosen\n\n"
        f"{runs} runs per case, D = {COLUMNS}, d = {VARIABLES}, {ROWS} + {ROWS} rows, level 0.05; "
        "`python benchmarks/bench_tuning.py`.\n\n" + table(rows)
    )
    store("tuning", text, rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
