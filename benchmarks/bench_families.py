"""The power of `families="location"` beside tests made for location.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_families.py [pairs]

Shares of pairs rejected at level 0.05: the family location alone, Welch's t for each column (χ² for
categories) with Holm's correction, and the energy distance of standardised columns, with 999
permutations. The kinds are `mean_one` of the arena, and those of
benchmarks/development on which the statistics of the family were chosen, with other seeds. Writes
benchmarks/results/families.md and .csv.
"""

from __future__ import annotations

import sys
from zlib import crc32

import numpy as np
from scipy.spatial.distance import cdist

import development.kinds_of_columns
import development.kinds_of_locations  # noqa: F401 - entering the kinds is what the imports are for
from arena.kinds import draw_pair
from arena.methods.columns import welch_holm
from arena.table import FloatArray, Table, standardised
from development.kind import KINDS
from store import store, table
from tellapart.data.reader import read_samples
from tellapart.scan.scan import scan

ALPHA, PERMUTATIONS = 0.05, 999
SEED = 30
SHOWN = (
    "shift_one",
    "shift_few",
    "shift_block",
    "shift_all",
    "shift_all_either_way",
    "shift_in_series",
    "contrast_in_series",
    "bump_in_series",
    "shift_heavy_tails",
    "shift_wide_series",
    "shift_of_four",
    "shares_of_one",
)


def energy_pvalue(X: FloatArray, Y: FloatArray, seed: int) -> float:
    """Return the p-value of the energy distance by permutations of the rows."""
    rng, m, n = np.random.default_rng(seed), len(X), len(Y)
    distances = cdist(np.concatenate([X, Y]), np.concatenate([X, Y]))
    weights = np.repeat([1 / m, -1 / n], [m, n])
    every = np.stack([weights, *(rng.permutation(weights) for _ in range(PERMUTATIONS))])
    values = -((every @ distances) * every).sum(axis=1)
    return float(np.mean(values >= values[0] - 1e-12))


def verdicts(X: Table, Y: Table, seed: int) -> list[bool]:
    """Return what the tests reject."""
    pair = standardised(X, Y)
    # What `two_sample_test` decides by; variables are selected afterwards.
    location = scan(
        read_samples(X, Y),
        n_permutations=PERMUTATIONS,
        alpha=ALPHA,
        rng=np.random.default_rng(seed),
        families=("location",),
    )
    return [
        location.null.pvalue <= ALPHA,
        welch_holm(X, Y, seed).rejected,
        energy_pvalue(pair.X, pair.Y, seed) <= ALPHA,
    ]


def main() -> None:
    """Measure all kinds and store the table."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    rows: list[dict[str, object]] = []
    powers = []
    for kind in ("mean_one", *SHOWN):
        found = []
        for number in range(pairs):
            rng = np.random.default_rng([crc32(kind.encode()), number, SEED])
            pair = draw_pair(kind, number) if kind == "mean_one" else KINDS[kind](rng)
            found.append(verdicts(*pair, number))
        powers.append(np.mean(found, axis=0))
        rows.append(_row(kind, powers[-1]))
        print(rows[-1], flush=True)
    rows.append(_row("mean", np.mean(powers, axis=0)))
    text = (
        '# `families="location"` beside tests made for location\n\n'
        f"Power at level {ALPHA}, {pairs} pairs of each kind; "
        "`python benchmarks/bench_families.py`. `mean_one` is of the arena, the others of "
        "`benchmarks/development`.\n\n" + table(rows)
    )
    store("families", text, rows)


def _row(kind: str, power: FloatArray) -> dict[str, object]:
    names = ('families="location"', "t for each column, Holm", "energy distance")
    return {"kind": kind, **{name: f"{p:.2f}" for name, p in zip(names, power, strict=True)}}


if __name__ == "__main__":
    main()
