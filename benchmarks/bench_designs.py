"""Designs of studies: the level with the design and without it, and power against the usual test.

    python benchmarks/bench_designs.py                    # 1,000 nulls of each design, 200 of power
    python benchmarks/bench_designs.py --nulls 200 --pairs 50 --split 100

Nulls are those of benchmarks/designs.py: small tables in which rows that belong together are alike,
so that a test that takes them as independent is wrong, often badly. The scan with the design and
without it, and the split with the design, each with 199 permutations at level .05. Power: one of
four columns is shifted; the competitor is the usual test of each column with Holm's correction: the
t test (no design), the paired one, that beside strata, that of cluster means. Writes
benchmarks/results/designs.md and .csv.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from scipy import stats

from designs import NULLS, independent
from store import store, table
from tellapart.data.design_labels import DesignArguments
from tellapart.data.tables import read_samples
from tellapart.permutation.holm import holm
from tellapart.scan.scan import scan
from tellapart.testing.two_sample import two_sample_test

PERMUTATIONS, LEVEL = 199, 0.05
SHIFTS = {"none": 0.5, "paired": 0.6, "strata": 0.5, "clusters": 1.0, "unequal clusters": 0.8}
POPULATIONS = {"none": independent, **NULLS}


def scanned(x: np.ndarray, y: np.ndarray, asked: dict[str, object], seed: int) -> bool:
    """Return whether the scan rejects."""
    samples = read_samples(x, y, design=DesignArguments(**asked))
    rng = np.random.default_rng(seed)
    return scan(samples, n_permutations=PERMUTATIONS, alpha=LEVEL, rng=rng).null.pvalue <= LEVEL


def split(x: np.ndarray, y: np.ndarray, asked: dict[str, object], seed: int) -> bool:
    """Return whether the split test rejects."""
    return two_sample_test(
        x, y, method="split", n_permutations=PERMUTATIONS, random_state=seed, **asked
    ).reject


def usual(name: str, x: np.ndarray, y: np.ndarray, asked: dict[str, object]) -> bool:
    """Return whether the usual test of any column rejects after Holm's correction."""
    if name == "none":
        pvalues = stats.ttest_ind(x, y).pvalue
    elif name == "paired":
        pvalues = stats.ttest_rel(x, y).pvalue
    elif name == "strata":
        pvalues = _within_strata(x, y, *asked["strata"])
    else:
        means = [_means(values, own) for values, own in zip((x, y), asked["clusters"], strict=True)]
        pvalues = stats.ttest_ind(*means, equal_var=False).pvalue
    return bool(holm(pvalues.tolist()).min() <= LEVEL)


def _within_strata(x: np.ndarray, y: np.ndarray, of_x: np.ndarray, of_y: np.ndarray) -> np.ndarray:
    """Return p-values of the sample's coefficient beside one intercept for each stratum."""
    strata = np.concatenate([of_x, of_y])
    sample = np.repeat([1.0, 0.0], [of_x.size, of_y.size])
    design = np.column_stack([sample, *(strata == s for s in np.unique(strata))])
    values = np.concatenate([x, y])
    coefficients, rest, rank, _ = np.linalg.lstsq(design, values, rcond=None)
    freedom = values.shape[0] - rank
    error = np.sqrt(rest / freedom * np.linalg.inv(design.T @ design)[0, 0])
    return 2 * stats.t.sf(np.abs(coefficients[0] / error), freedom)


def _means(values: np.ndarray, own: np.ndarray) -> np.ndarray:
    return np.array([values[own == c].mean(axis=0) for c in np.unique(own)])


def rate(count: int, seed: int, decide: Callable[[np.random.Generator, int], bool]) -> float:
    """Return the share of so many pairs of samples that are rejected."""
    return round(sum(decide(np.random.default_rng([seed, i]), i) for i in range(count)) / count, 3)


def level_row(name: str, nulls: int, splits: int) -> dict[str, object]:
    """Return the rates of rejection of one design without a difference."""

    def with_design(rng: np.random.Generator, i: int) -> bool:
        return scanned(*NULLS[name](rng), i)

    def without(rng: np.random.Generator, i: int) -> bool:
        x, y, _ = NULLS[name](rng)
        return scanned(x, y, {}, i)

    def split_with(rng: np.random.Generator, i: int) -> bool:
        return split(*NULLS[name](rng), i)

    return {
        "design": name,
        "nulls": nulls,
        "with the design": rate(nulls, 11, with_design),
        "without it": rate(nulls, 11, without),
        "nulls of the split": splits,
        "split with the design": rate(splits, 12, split_with) if splits else "",
    }


def power_row(name: str, pairs: int) -> dict[str, object]:
    """Return the rates of rejection where the first column is shifted."""

    def shifted(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, dict[str, object]]:
        x, y, asked = POPULATIONS[name](rng)
        return x, y + SHIFTS[name] * np.eye(1, y.shape[1]), asked

    def without(rng: np.random.Generator, i: int) -> bool:
        x, y, _ = shifted(rng)
        return scanned(x, y, {}, i)

    return {
        "design": name,
        "shift": SHIFTS[name],
        "pairs": pairs,
        "scan with the design": rate(pairs, 13, lambda rng, i: scanned(*shifted(rng), i)),
        "usual test": rate(pairs, 13, lambda rng, _: usual(name, *shifted(rng))),
        "scan without it": rate(pairs, 13, without),
    }


def main() -> None:
    """Run and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nulls", type=int, default=1_000)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--split", type=int, default=200)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    levels = [level_row(name, given.nulls, given.split) for name in NULLS]
    powers = [power_row(name, given.pairs) for name in SHIFTS]
    text = (
        "# Designs of studies\n\n"
        f"Share of pairs rejected at level {LEVEL} without any difference, {PERMUTATIONS} "
        f"permutations (`python benchmarks/bench_designs.py --nulls {given.nulls} "
        f"--pairs {given.pairs} --split {given.split}`).\n\n{table(levels)}\n\n"
        "Share rejected where one of four columns is shifted; the usual test is the t test (no "
        "design), the paired one, that beside strata or that of cluster means, each with Holm's "
        "correction. Where a test without the design has no level, its rate is no power.\n\n"
        f"{table(powers)}\n"
    )
    rows = [{"kind": "level", **row} for row in levels] + [
        {"kind": "power", **row} for row in powers
    ]
    every = list(dict.fromkeys(key for row in rows for key in row))
    store("designs", text, [{key: row.get(key, "") for key in every} for row in rows])


if __name__ == "__main__":
    main()
