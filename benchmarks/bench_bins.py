"""What bins of rows cost in power: the scan with 500 and with 250 bins of the smaller sample.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_bins.py [pairs]

2,000 + 2,000 rows of six columns, six kinds of weak difference, 199 permutations, the same pairs
for both numbers. Writes benchmarks/results/bins.md and .csv.
"""

from __future__ import annotations

import sys

import numpy as np

from store import store, table
from tellapart.arrays import FloatArray
from tellapart.data.tables import read_samples
from tellapart.permutation import bins
from tellapart.scan.scan import scan

KINDS = ("a shift", "a spread", "a correlation", "a sign triple", "outliers", "a shift, t(2)")
NUMBERS = (500, 250)
ROWS, COLUMNS = 2_000, 6
ALPHA = 0.05


def pair(kind: str, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return two samples that differ weakly in one way."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=(ROWS, COLUMNS))
    if kind == "a shift":
        Y[:, 0] += 0.125
    elif kind == "a spread":
        Y[:, 0] *= 1.1
    elif kind == "a correlation":
        Y[:, 1] = 0.14 * Y[:, 0] + np.sqrt(1 - 0.14**2) * Y[:, 1]
    elif kind == "a sign triple":
        some = rng.random(ROWS) < 0.17
        Y[some, 2] = np.abs(Y[some, 2]) * np.sign(Y[some, 0] * Y[some, 1])
    elif kind == "outliers":
        Y[rng.random(ROWS) < 0.006, :4] += 3
    else:
        X, Y = rng.standard_t(2, size=(2, ROWS, COLUMNS))
        Y[:, 0] += 0.16
    return X, Y


def power(kind: str, number: int, pairs: int) -> float:
    """Return how often the scan rejects with so many bins."""
    bins.MOST_BINS = number
    hits = 0
    for seed in range(pairs):
        samples = read_samples(*pair(kind, seed))
        rng = np.random.default_rng(seed)
        found = scan(samples, n_permutations=199, alpha=ALPHA, rng=rng)
        hits += found.null.pvalue <= ALPHA
    return hits / pairs


def main() -> None:
    """Measure every kind with both numbers of bins."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    rows = []
    for kind in KINDS:
        found = {f"{number} bins": power(kind, number, pairs) for number in NUMBERS}
        rows.append({"difference": kind, **{name: f"{v:.3f}" for name, v in found.items()}})
        print(rows[-1], flush=True)
    means = {
        name: f"{np.mean([float(row[name]) for row in rows]):.3f}"
        for name in rows[0]
        if name.endswith("bins")
    }
    rows.append({"difference": "mean", **means})
    text = (
        "# What bins of rows cost\n\n"
        f"Rejections at level {ALPHA} of {pairs} pairs of {ROWS:,} + {ROWS:,} rows by bins of the "
        "smaller sample; `python benchmarks/bench_bins.py`.\n\n" + table(rows)
    )
    store("bins", text, rows)


if __name__ == "__main__":
    main()
