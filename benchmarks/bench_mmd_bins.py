"""Level and power of the MMD tests with bins of rows and with single rows.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_mmd_bins.py [pairs]

MMD²_u with equal weights of three columns, that is the test of a split's held-out rows (linear
kernel) and of `StandardMMD` (Gaussian kernel): 1,000 + 1,000 rows, 99 permutations, the same pairs
with bins of four rows and with every row by itself. Writes benchmarks/results/mmd_bins.md and
mmd_bins.csv.
"""

from __future__ import annotations

import sys

import numpy as np

from store import store, table
from tellapart.data.reader import read_samples
from tellapart.data.samples import Samples
from tellapart.kernels import Gaussian, Kernel, Linear
from tellapart.permutation import labels as bins
from tellapart.permutation.mmd import permutation_test

ROWS, COLUMNS = 1_000, 3
ALPHA = 0.05
KINDS = ("none", "a shift", "a spread")
KERNELS: dict[str, Kernel] = {"linear": Linear(), "gaussian": Gaussian(bandwidth="median")}
SIZES = {"bins": bins.MOST_BINS, "single rows": ROWS}


def pair(kind: str, seed: int) -> Samples:
    """Return two samples that differ weakly, or not at all."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(ROWS, COLUMNS)), rng.normal(size=(ROWS, COLUMNS))
    if kind == "a shift":
        Y[:, 0] += 0.11
    elif kind == "a spread":
        Y *= 1.07
    return read_samples(X, Y)


def rates(kernel: str, kind: str, pairs: int) -> dict[str, object]:
    """Return how often the test rejects with bins and with single rows."""
    hits: dict[str, list[bool]] = {name: [] for name in SIZES}
    for seed in range(pairs):
        samples = pair(kind, seed)
        fitted, z = KERNELS[kernel].fit(samples), np.full(COLUMNS, COLUMNS**-0.5)
        for name, most in SIZES.items():
            bins.MOST_BINS, bins.USUAL_BINS = most, 5 * most
            rng = np.random.default_rng(seed)
            null = permutation_test(
                samples, fitted, z, n_permutations=99, alpha=ALPHA, rng=rng, n_jobs=1
            )
            hits[name].append(null.pvalue <= ALPHA)
    shares = {name: float(np.mean(found)) for name, found in hits.items()}
    apart = np.std(np.subtract(*(np.array(found, dtype=float) for found in hits.values())))
    return {
        "kernel": kernel,
        "difference": kind,
        **{name: f"{share:.3f}" for name, share in shares.items()},
        "standard error of the difference": f"{apart / np.sqrt(pairs):.3f}",
    }


def main() -> None:
    """Measure both tests on every kind of difference."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    rows = []
    for kernel in KERNELS:
        for kind in KINDS:
            rows.append(rates(kernel, kind, pairs))
            print(rows[-1], flush=True)
    text = (
        "# Level and power with bins of rows and with single rows\n\n"
        f"Rejections at level {ALPHA} of {pairs:,} pairs of {ROWS:,} + {ROWS:,} rows; "
        "`python benchmarks/bench_mmd_bins.py`.\n\n" + table(rows)
    )
    store("mmd_bins", text, rows)


if __name__ == "__main__":
    main()
