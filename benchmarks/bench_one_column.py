"""What weights of at least 0 do for the split test: one column, 40 + 40 rows, shift 0.45.

With signed weights the training half gives z = −1 whenever its MMD² comes out below 0, and then the
test can only reject samples that are more alike than chance. Power with signed and nonnegative
weights on the same pairs, and the level with z ≥ 0 on pairs without a difference.

    .venv/bin/python benchmarks/bench_one_column.py [pairs]     # results/one_column.md
"""

from __future__ import annotations

import sys

import numpy as np

import tellapart as ta
from store import store, table

ROWS = 40
SHIFT = 0.45
ALPHA = 0.05


def pvalues(pairs: int, shift: float, *, nonnegative: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the p-values of the split test, and the weights it used."""
    found = []
    for seed in range(pairs):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(ROWS, 1)), rng.normal(shift, size=(ROWS, 1))
        result = ta.two_sample_test(
            x,
            y,
            method="split",
            n_variables=1,
            regularization=0.0,
            nonnegative=nonnegative,
            n_permutations=199,
            random_state=seed,
        )
        found.append((result.pvalue, result.selection.z[0]))
    values = np.array(found)
    return values[:, 0], values[:, 1]


def main(pairs: int) -> None:
    """Measure and store."""
    rows = []
    for weights, nonnegative in (("signed", False), ("at least 0", True)):
        for what, shift in (("power", SHIFT), ("level", 0.0)):
            p, z = pvalues(pairs, shift, nonnegative=nonnegative)
            share = float(np.mean(p <= ALPHA))
            error = float(np.sqrt(share * (1 - share) / pairs))
            rows.append(
                {
                    "weights": weights,
                    "what": what,
                    "pairs": pairs,
                    "rejected": round(share, 4),
                    "standard_error": round(error, 4),
                    "negative": int((z < 0).sum()),
                }
            )
    text = f"# One column, {ROWS} + {ROWS} rows, split test at level {ALPHA}, shift {SHIFT}\n\n"
    store("one_column", text + table(rows), rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
