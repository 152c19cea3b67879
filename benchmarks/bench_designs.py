"""Designs of studies: the level with the design and without it, and power against the usual test.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_designs.py --jobs 2
    python benchmarks/bench_designs.py --only ratios    # a part, or what a name contains
    python benchmarks/bench_designs.py --resume         # go on after an interruption
    python benchmarks/bench_designs.py --quick          # three pairs each, nothing stored

Nulls are those of benchmarks/designs.py: small tables in which rows that belong together are alike,
so that a test that takes them as independent is wrong, often badly. The scan with the design and
without it, and the split with the design. The level where one sample has up to 40 times as many
units as the other, with 100 to 20,000 units, by the scan, by the split and between groups. Power:
one of four columns is shifted; the competitor is the usual test of each column with Holm's
correction: the t test (no design), the paired one, that beside strata, that of cluster means. 1,000
pairs of each, fewer where one takes longer than 0.3 s. Writes benchmarks/results/designs.md and
.csv after each setting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

import tellapart as ta
from designs import NULLS, RATIOS, UNBALANCED, independent, unbalanced
from levels import ALPHA, Setting, run
from null_tables import scan_pair
from tellapart.permutation.pvalues import holm

PERMUTATIONS, FEW_PERMUTATIONS = 199, 39
SHIFTS = {"none": 0.5, "paired": 0.6, "strata": 0.5, "clusters": 1.0, "unequal clusters": 0.8}
POPULATIONS = {"none": independent, **NULLS}
# Bins are made from 500 units of the smaller sample on: 1:40 needs a few more units than 20,000.
LARGE = {1: 6_000, 5: 6_000, 20: 20_000, 40: 20_500}
OTHERS = (("clusters", 2_000, 1), ("strata", 20_000, 1))
SLOW_PAIRS = 300
HEADING = (
    f"# Designs of studies at α = {ALPHA}\n\n"
    "`OPENBLAS_NUM_THREADS=1 python benchmarks/bench_designs.py --jobs 2 --resume [--pairs N]`. "
    "Part power: one of four "
    "columns is shifted; the usual test is the t test (no design), the paired one, that beside "
    "strata or that of cluster means, each with Holm's correction. Where a test without the design "
    "has no level, its rate is no power."
)
Drawn = tuple[np.ndarray, np.ndarray, dict[str, Any]]


def rejects(x: object, y: object, asked: dict[str, Any], rng: np.random.Generator) -> bool:
    """Return whether the scan rejects."""
    return scan_pair(x, y, asked, PERMUTATIONS, rng).null.pvalue <= ALPHA


def level_setting(name: str) -> Setting:
    """Return the setting of the scan with a design and without it."""

    def decide(rng: np.random.Generator) -> dict[str, bool]:
        x, y, asked = NULLS[name](rng)
        return {
            "with the design": rejects(x, y, asked, rng),
            "without the design": rejects(x, y, {}, rng),
        }

    return Setting("level", name, PERMUTATIONS, decide)


def split_setting(
    part: str,
    name: str,
    draw: Callable[[np.random.Generator], Drawn],
    permutations: int,
    **settings: object,
) -> Setting:
    """Return the setting of the split with a design."""

    def decide(rng: np.random.Generator) -> dict[str, bool]:
        x, y, asked = draw(rng)
        seed = int(rng.integers(2**31))
        found = ta.two_sample_test(
            *(x, y),
            method="split",
            n_permutations=permutations,
            random_state=seed,
            **asked,
            **settings,
        )
        return {"with the design": found.reject}

    return Setting(part, name, permutations, decide, SLOW_PAIRS)


def ratio_setting(design: str, units: int, ratio: int, pairs: int) -> Setting:
    """Return the setting of so many units, 1 of X to `ratio` of Y."""
    draw = unbalanced(design, units, ratio)

    def decide(rng: np.random.Generator) -> dict[str, bool]:
        found = scan_pair(*draw(rng), FEW_PERMUTATIONS, rng)
        named = bool(found.findings) or min(found.variable_pvalues.values()) <= ALPHA
        return {"with the design": found.null.pvalue <= ALPHA, "any finding": named}

    name = f"{design}, {units:,} units, 1:{ratio}"
    return Setting("ratios", name, FEW_PERMUTATIONS, decide, pairs)


def groups_setting(units: int, ratio: int) -> Setting:
    """Return the setting of two groups compared within strata."""
    draw = unbalanced("strata", units, ratio)

    def decide(rng: np.random.Generator) -> dict[str, bool]:
        x, y, asked = draw(rng)
        found = ta.compare_groups(
            np.concatenate([x, y]),
            by=np.repeat(["x", "y"], [len(x), len(y)]),
            strata=np.concatenate(asked["strata"]),
            n_permutations=FEW_PERMUTATIONS,
            random_state=int(rng.integers(2**31)),
        )
        return {"with the design": found.comparisons[0].reject}

    name = f"compare_groups, strata, {units:,} units, 1:{ratio}"
    return Setting("ratios", name, FEW_PERMUTATIONS, decide, SLOW_PAIRS)


def usual_pvalues(name: str, x: np.ndarray, y: np.ndarray, asked: dict[str, Any]) -> np.ndarray:
    """Return the p-values of the usual t test of every column."""
    if name == "none":
        return stats.ttest_ind(x, y).pvalue
    if name == "paired":
        return stats.ttest_rel(x, y).pvalue
    if name == "strata":
        return _within_strata(x, y, *asked["strata"])
    means = [_means(values, own) for values, own in zip((x, y), asked["clusters"], strict=True)]
    return stats.ttest_ind(*means, equal_var=False).pvalue


def usual(name: str, x: np.ndarray, y: np.ndarray, asked: dict[str, Any]) -> bool:
    """Return whether the usual test of any column rejects after Holm's correction."""
    return bool(holm(usual_pvalues(name, x, y, asked).tolist()).min() <= ALPHA)


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


def power_setting(name: str) -> Setting:
    """Return the setting in which the first column is shifted."""

    def decide(rng: np.random.Generator) -> dict[str, bool]:
        x, y, asked = POPULATIONS[name](rng)
        y = y + SHIFTS[name] * np.eye(1, y.shape[1])
        return {
            "scan with the design": rejects(x, y, asked, rng),
            "usual test": usual(name, x, y, asked),
            "scan without it": rejects(x, y, {}, rng),
        }

    return Setting("power", f"{name}, shift {SHIFTS[name]}", PERMUTATIONS, decide, SLOW_PAIRS)


def settings() -> list[Setting]:
    """Return every setting, in the order of the table."""
    found = [level_setting(name) for name in NULLS]
    found += [split_setting("split", name, draw, PERMUTATIONS) for name, draw in NULLS.items()]
    found += [ratio_setting(design, 100, ratio, 1_000) for design in UNBALANCED for ratio in RATIOS]
    found += [ratio_setting(design, units, ratio, SLOW_PAIRS) for design, units, ratio in OTHERS]
    found += [
        ratio_setting(design, LARGE[ratio], ratio, SLOW_PAIRS)
        for design in UNBALANCED
        for ratio in RATIOS
    ]
    found += [
        groups_setting(12_600, 20),
        split_setting(
            *("ratios", "split, strata, 11,000 units, 1:10"),
            *(unbalanced("strata", 11_000, 10), FEW_PERMUTATIONS),
            n_variables=1,
            regularization=0.1,
        ),
    ]
    return found + [power_setting(name) for name in SHIFTS]


if __name__ == "__main__":
    run("designs", HEADING, settings())
