"""The level of a weighted scan, and what equal weights change: nothing.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_weights.py
    python benchmarks/bench_weights.py --resume    # go on after an interruption
    python benchmarks/bench_weights.py --quick     # three pairs each, nothing stored

Pairs of samples whose rows and weights come from one mechanism in both, so that nothing differs,
at 199 permutations: the proportion that the scan rejects, that has any finding, and of 95 %
intervals of means that miss 0. Three settings in which it cannot be valid or need not be: weights
of another scale in Y, weights that remove a difference of a column from the samples, and the same
data without weights. Last, weights that are all equal, at three scales, against no weights. Writes
benchmarks/results/weights.md and .csv.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
from collections.abc import Callable, Mapping
from zlib import crc32

import numpy as np
import pandas as pd

import tellapart as ta
from store import RESULTS, store, table

ALPHA, PERMUTATIONS, PAIRS = 0.05, 199, 500
Pair = tuple[pd.DataFrame, pd.DataFrame, Mapping[str, object]]
Draw = Callable[[np.random.Generator], Pair]


def values(rng: np.random.Generator, n: int) -> pd.DataFrame:
    """Return rows of related columns: normal, skewed, heavy-tailed, counts, two levels."""
    base = rng.normal(size=(n, 3))
    return pd.DataFrame(
        {
            "a": base[:, 0],
            "b": 0.6 * base[:, 0] + 0.8 * base[:, 1],
            "c": np.exp(base[:, 2]),
            "d": rng.standard_t(3, size=n),
            "e": rng.poisson(np.exp(0.3 * base[:, 1])),
            "f": np.where(rng.random(n) < 0.3, "yes", "no"),
        }
    )


def uniform(rng: np.random.Generator, table: pd.DataFrame) -> np.ndarray:
    """Return weights between 0.5 and 2."""
    return rng.uniform(0.5, 2.0, len(table))


def heavy(rng: np.random.Generator, table: pd.DataFrame) -> np.ndarray:
    """Return lognormal weights: one row in twenty has half of the weight."""
    return rng.lognormal(0.0, 1.5, len(table))


def related(rng: np.random.Generator, table: pd.DataFrame) -> np.ndarray:
    """Return weights that grow with the first column."""
    return np.exp(0.8 * table["a"].to_numpy()) * rng.uniform(0.8, 1.25, len(table))


def plain(weigh: Callable[..., np.ndarray], n_x: int, n_y: int) -> Draw:
    """Return pairs of independent rows, weighted by one mechanism."""

    def draw(rng: np.random.Generator) -> Pair:
        x, y = values(rng, n_x), values(rng, n_y)
        return x, y, {"weights": (weigh(rng, x), weigh(rng, y))}

    return draw


def clustered(rng: np.random.Generator) -> Pair:
    """Return 24 and 30 clusters of five rows with a level of their own."""
    x, y = values(rng, 120), values(rng, 150)
    for side in (x, y):
        own = np.repeat(rng.normal(size=(len(side) // 5, 3)), 5, axis=0)
        side[["a", "b", "d"]] += own
    clusters = np.repeat(np.arange(24), 5), np.repeat(np.arange(24, 54), 5)
    return x, y, {"weights": (related(rng, x), related(rng, y)), "clusters": clusters}


def stratified(rng: np.random.Generator) -> Pair:
    """Return three strata that differ, in other proportions in X than in Y."""
    strata = rng.choice(3, 120, p=[0.5, 0.3, 0.2]), rng.choice(3, 150, p=[0.2, 0.3, 0.5])
    x, y = values(rng, 120), values(rng, 150)
    for side, own in zip((x, y), strata, strict=True):
        side["a"] += own
    return x, y, {"weights": (related(rng, x), related(rng, y)), "strata": strata}


def other_scale(rng: np.random.Generator) -> Pair:
    """Return weights that add up to the same total in samples of unequal sizes."""
    x, y = values(rng, 60), values(rng, 240)
    sides = [heavy(rng, side) for side in (x, y)]
    return x, y, {"weights": tuple(own / own.sum() for own in sides)}


def confounded(rng: np.random.Generator) -> Pair:
    """Return rows that depend on age, which differs, weighted by the inverse odds of age."""
    ages = rng.normal(0.0, 1.0, 150), rng.normal(0.8, 1.0, 150)
    x, y = (values(rng, 150) for _ in range(2))
    for side, age in zip((x, y), ages, strict=True):
        for name in ("a", "b", "d"):
            side[name] += age
    odds = [np.exp(0.8 * age - 0.32) for age in ages]
    return x, y, {"weights": (1 + odds[0], 1 + 1 / odds[1])}


def without(draw: Draw) -> Draw:
    """Return the same pairs without weights."""

    def drawn(rng: np.random.Generator) -> Pair:
        x, y, asked = draw(rng)
        return x, y, {name: value for name, value in asked.items() if name != "weights"}

    return drawn


VALID: dict[str, Draw] = {
    "uniform weights, 60 + 80": plain(uniform, 60, 80),
    "heavy-tailed weights, 60 + 80": plain(heavy, 60, 80),
    "weights related to a column, 60 + 80": plain(related, 60, 80),
    "weighted clusters, 24 + 30 of five rows": clustered,
    "weights within three strata, 120 + 150": stratified,
    "weights related to a column, 1,500 + 2,000, in blocks of rows": plain(related, 1_500, 2_000),
}
FEWER = {
    "weights within three strata, 120 + 150": 150,
    "weights related to a column, 1,500 + 2,000, in blocks of rows": 100,
    "weights of the same total in 60 + 240 rows": 100,
    "weights that remove a difference of age, 150 + 150": 100,
    "the same without weights": 100,
}
"""Pairs of settings that take longer, or whose rate is far from α."""
NOT_COVERED: dict[str, Draw] = {
    "weights of the same total in 60 + 240 rows": other_scale,
    "weights that remove a difference of age, 150 + 150": confounded,
    "the same without weights": without(confounded),
}


def measure(kind: str, name: str, draw: Draw, pairs: int) -> dict[str, object]:
    """Return the rates of one setting."""
    rejected, found, missed, counted, began = 0, 0, 0, 0, time.process_time()
    for number in range(pairs):
        rng = np.random.default_rng([crc32(name.encode()), number])
        x, y, asked = draw(rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = ta.two_sample_test(
                x, y, **asked, n_permutations=PERMUTATIONS, random_state=number, n_jobs=1
            )
        rejected += result.reject
        found += bool(result.findings)
        frame = result.columns_table()
        low, high = (frame[end].to_numpy(dtype=float) for end in ("smd_low", "smd_high"))
        known = ~np.isnan(low)
        missed += int(((low > 0) | (high < 0))[known].sum())
        counted += int(known.sum())
    return {
        "kind": kind,
        "setting": name,
        "pairs": pairs,
        "rejected": f"{rejected / pairs:.3f}",
        "any finding": f"{found / pairs:.3f}",
        "CI missing 0": f"{missed / counted:.3f}",
        "CPU s": f"{time.process_time() - began:.0f}",
    }


def equal_weights() -> list[bool]:
    """Return whether answers with equal weights are those without, for three scales."""
    rng = np.random.default_rng(7)
    x, y = values(rng, 90), values(rng, 110)
    y["a"] += 0.5
    plain = comparable(ta.two_sample_test(x, y, random_state=1))
    same = []
    for scale in (1.0, 0.37, 5_000.0):
        weights = np.full(90, scale), np.full(110, scale)
        answer = comparable(ta.two_sample_test(x, y, weights=weights, random_state=1))
        same.append(answer == plain)
    return same


def comparable(result: ta.TestResult) -> str:
    """Return all that a result holds but its seconds and settings, as text."""
    found = json.loads(result.to_json())
    del found["seconds"], found["settings"], found["selection"]["seconds"]
    return json.dumps(found)


def on_file() -> dict[str, dict[str, object]]:
    """Return the rows that are stored, by setting."""
    path = RESULTS / "weights.csv"
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {row["setting"]: {**row} for row in csv.DictReader(file)}


def write(rows: list[dict[str, object]], pairs: int, same: list[bool]) -> None:
    """Store the table, or show it where only a few pairs were drawn."""
    text = (
        f"# Weighted rows: level at α = {ALPHA}\n\n"
        "`OPENBLAS_NUM_THREADS=1 python benchmarks/bench_weights.py [--resume]`. "
        f"{PERMUTATIONS} permutations; nothing differs in the rows of one mechanism. The standard "
        f"error of a rate of 0.05 is {np.sqrt(0.05 * 0.95 / PAIRS):.3f} with {PAIRS} pairs."
        f"\n\n{table(rows)}\n\n"
        f"Equal weights of 1, 0.37 and 5,000 give the answer without weights: {same}.\n"
    )
    if pairs == PAIRS:
        store("weights", text, rows, show=False)
    else:
        print(text)


def main() -> None:
    """Measure all settings and store the table after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--resume", action="store_true")
    asked = parser.parse_args()
    pairs = 3 if asked.quick else PAIRS
    known = on_file() if asked.resume else {}
    rows, same = [], equal_weights()
    for kind, settings in (("one mechanism", VALID), ("not covered", NOT_COVERED)):
        for name, draw in settings.items():
            own = min(pairs, FEWER.get(name, pairs))
            rows.append(known.get(name) or measure(kind, name, draw, own))
            print(rows[-1], flush=True)
            if not asked.quick:
                write(rows, pairs, same)
    write(rows, pairs, same)


if __name__ == "__main__":
    main()
