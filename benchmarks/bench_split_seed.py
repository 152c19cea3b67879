"""The level of the split test with one fixed seed over many discrete tables.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_split_seed.py [tables]

Splits and permutations are drawn by what the rows hold, so that the order of a table does not
matter. A user who keeps one `random_state` for all tables must get the level all the same. Ties
are the hard case: of a table of zeros and ones little is left that could make two draws differ.
Four kinds of null pairs, `tables` of each (default 2,000) with each of three seeds, and as many
with a seed of their own. Pairs of one flag are so few that all of them are tried: their level with
a seed is a sum of binomial probabilities, without an error. Writes
benchmarks/results/split_seed.md and split_seed.csv. The band holds 99.9 % of the counts of a test
whose level is exactly 0.05.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

import tellapart as ta
from store import store, table

ALPHA = 0.05
PERMUTATIONS = 99
SEEDS = (0, 1, 2)
EXACT_SEEDS = range(20)
EXACT_ROWS = 20
RARE = 3e-4
"""Pairs of one flag that are rarer than this are left out: together 3 % of all."""
Table = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Table]


def _flags(n_columns: int) -> Draw:
    def draw(rng: np.random.Generator, rows: int) -> Table:
        return (rng.random((rows, n_columns)) < 0.5).astype(np.float64)

    return draw


def _copies(rng: np.random.Generator, rows: int) -> Table:
    """Return rows of which there are six different ones."""
    six = np.random.default_rng(6).integers(3, size=(6, 4)).astype(np.float64)
    return six[rng.integers(6, size=rows)]


def _counts(rng: np.random.Generator, rows: int) -> Table:
    counts = rng.poisson(0.4, size=(rows, 3))
    return np.column_stack([counts, rng.random((rows, 3)) < 0.1]).astype(np.float64)


def _one_table(rng: np.random.Generator, rows: int) -> Table:
    """Return the rows of one and the same table in another order."""
    pooled = _flags(5)(np.random.default_rng(5), rows)
    return pooled[rng.permutation(rows)]


KINDS: dict[str, tuple[Draw, int, int]] = {
    "five flags, 20 + 20 rows": (_flags(5), 20, 20),
    "copies of six rows, 40 + 40 rows": (_copies, 40, 40),
    "counts and rare flags, 30 + 15 rows": (_counts, 30, 15),
    "one table of five flags, labels shuffled, 20 + 20 rows": (_one_table, 20, 20),
}


def rejects(x: Table, y: Table, random_state: int | np.random.Generator) -> bool:
    """Say whether the split test rejects."""
    return ta.two_sample_test(
        x,
        y,
        method="split",
        n_variables=min(2, x.shape[1]),
        regularization=0.1,
        n_permutations=PERMUTATIONS,
        alpha=ALPHA,
        random_state=random_state,
    ).reject


def rate(draw: Draw, m: int, n: int, tables: int, seed: int | None) -> float:
    """Return the share of null pairs that are rejected; without a seed each has its own."""
    rng = np.random.default_rng([2026, SEEDS.index(seed) if seed is not None else len(SEEDS)])
    rejected = 0
    for _ in range(tables):
        pooled = draw(rng, m + n)
        rejected += rejects(pooled[:m], pooled[m:], rng if seed is None else seed)
    return rejected / tables


def exact_level(seed: int) -> float:
    """Return the level with one seed for pairs of one flag, of chance one half, from all pairs."""
    chance = stats.binom.pmf(np.arange(EXACT_ROWS + 1), EXACT_ROWS, 0.5)
    flag = [np.repeat([[1.0], [0.0]], [k, EXACT_ROWS - k], axis=0) for k in range(chance.size)]
    weights = np.outer(chance, chance)
    likely = np.argwhere(weights >= RARE)
    hits = sum(weights[i, j] * rejects(flag[i], flag[j], seed) for i, j in likely)
    return float(hits / weights[weights >= RARE].sum())


def _row(kind: str, rates: dict[str, float], high: float) -> dict[str, object]:
    verdict = "above" if max(rates.values()) > high else "not above"
    return {"data": kind} | {n: f"{share:.4f}" for n, share in rates.items()} | {"verdict": verdict}


def main(tables: int) -> None:
    """Measure every kind with every seed and store the table."""
    warnings.simplefilter("ignore", ta.ConstantColumnWarning)
    low, high = stats.binom.ppf([0.0005, 0.9995], tables, ALPHA) / tables
    rows = []
    for kind, (draw, m, n) in KINDS.items():
        rates = {f"seed {seed}": rate(draw, m, n, tables, seed) for seed in SEEDS}
        rates["seeds of their own"] = rate(draw, m, n, tables, None)
        rows.append(_row(kind, rates, high))
        print(rows[-1], flush=True)
    exact = [exact_level(seed) for seed in EXACT_SEEDS]
    kind = f"one flag, {EXACT_ROWS} + {EXACT_ROWS} rows, exactly"
    rates = {f"seed {seed}": exact[seed] for seed in SEEDS}
    rows.append(_row(kind, rates | {"seeds of their own": float(np.mean(exact))}, ALPHA))
    text = (
        f"# Level of the split test at α = {ALPHA} with one seed for all tables\n\n"
        f"{tables:,} null pairs per number, {PERMUTATIONS} permutations; a test of exactly this "
        f"level rejects {low:.4f} to {high:.4f} of them (99.9 % band). "
        "`python benchmarks/bench_split_seed.py`.\n\n"
        + table(rows)
        + f"\n\nOne flag: all pairs, so that the level of a seed has no error. Of {len(exact)} "
        f"seeds the lowest has {min(exact):.4f}, the highest {max(exact):.4f}; the last column is "
        "their mean.\n"
    )
    store("split_seed", text, rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
