"""What bins of rows cost the scan: level and power with bins against rows permuted one by one.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_bins.py [pairs]

1,000 + 1,000 rows of six columns, no difference and weak ones of three kinds, 199 permutations, the
same pairs for both, in two processes. Writes benchmarks/results/bins.md and .csv.
"""

from __future__ import annotations

import multiprocessing
import sys

import numpy as np

from store import store, table
from tellapart.arrays import FloatArray
from tellapart.data.reader import read_samples
from tellapart.permutation import labels as bins
from tellapart.scan.scan import scan

KINDS = (
    "none",
    "a shift",
    "a correlation",
    "a sign triple",
)
ROWS, COLUMNS = 1_000, 6
ALPHA = 0.05
PROCESSES = 2


def pair(kind: str, seed: int) -> tuple[FloatArray, FloatArray]:
    """Return two samples that differ weakly in one way."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=(ROWS, COLUMNS))
    if kind == "a shift":
        Y[:, 0] += 0.17
    elif kind == "a correlation":
        Y[:, 1] = 0.2 * Y[:, 0] + np.sqrt(1 - 0.2**2) * Y[:, 1]
    elif kind == "a sign triple":
        some = rng.random(ROWS) < 0.24
        Y[some, 2] = np.abs(Y[some, 2]) * np.sign(Y[some, 0] * Y[some, 1])
    return X, Y


def rejected(kind: str, seed: int, single: bool) -> bool:
    """Return whether the scan rejects."""
    bins.MOST_BINS, bins.USUAL_BINS = (10**9, 10**9) if single else (250, 1_250)
    samples = read_samples(*pair(kind, seed))
    rng = np.random.default_rng(seed)
    found = scan(samples, n_permutations=199, alpha=ALPHA, rng=rng)
    assert (found.rows_per_bin == 1) == single
    return bool(found.null.pvalue <= ALPHA)


def main() -> None:
    """Measure every kind both ways."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    rows: list[dict[str, object]] = []
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        for kind in KINDS:
            answers = [
                np.array(
                    pool.starmap(rejected, [(kind, s, single) for s in range(pairs)], chunksize=20)
                )
                for single in (False, True)
            ]
            binned, single = (float(answer.mean()) for answer in answers)
            apart = answers[0].astype(float) - answers[1]
            rows.append(
                {
                    "difference": kind,
                    "bins of 4 rows": f"{binned:.3f}",
                    "rows one by one": f"{single:.3f}",
                    "bins less rows": f"{binned - single:+.3f}",
                    "standard error of that": f"{apart.std() / np.sqrt(pairs):.3f}",
                }
            )
            print(rows[-1], flush=True)
    text = (
        "# What bins of rows cost\n\n"
        f"Rejections at level {ALPHA} of {pairs:,} pairs of {ROWS:,} + {ROWS:,} rows of {COLUMNS} "
        "columns, the same pairs both ways; `python benchmarks/bench_bins.py`.\n\n" + table(rows)
    )
    store("bins", text, rows)


if __name__ == "__main__":
    main()
