"""Rows in order of time: level with and without blocks of time, and the warning's false alarms.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_time.py
    python benchmarks/bench_time.py --quick     # three pairs each, nothing stored

Two consecutive half-years of daily rows of one AR(1) process in three columns, of which nothing
differs, at 199 permutations: the proportion rejected by a plain call and with clusters of weeks,
two and four weeks. Two years with one season, of which X has more rows in winter, plain and with
months as strata. The warning: how often it is given for independent rows (1,000 pairs of mixed
columns, dates with ties) and for AR(1) rows, and its share of the time of a default call. Writes
benchmarks/results/time.md and .csv.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from zlib import crc32

import numpy as np
import pandas as pd

import tellapart as ta
from store import store, table
from tellapart.data.reader import read_samples
from tellapart.data.time_blocks import warn_of_time_order

PERMUTATIONS, PAIRS, WARNINGS = 199, 200, 1_000
START = np.datetime64("2023-01-02")
Pair = tuple[pd.DataFrame, pd.DataFrame]


def autoregressive(phi: float, rng: np.random.Generator, n: int = 364) -> pd.DataFrame:
    """Return daily rows of an AR(1) process in three columns, stationary from the first."""
    noise = rng.normal(size=(n, 3))
    rows = np.empty_like(noise)
    rows[0] = noise[0] / np.sqrt(1 - phi**2)
    for k in range(1, n):
        rows[k] = phi * rows[k - 1] + noise[k]
    frame = pd.DataFrame(rows, columns=["a", "b", "c"])
    frame["day"] = START + np.arange(n)
    return frame


def halves(phi: float) -> Callable[[np.random.Generator], Pair]:
    """Return the first half of the days as X, the second as Y."""

    def draw(rng: np.random.Generator) -> Pair:
        frame = autoregressive(phi, rng)
        return frame[:182], frame[182:]

    return draw


def seasons(rng: np.random.Generator) -> Pair:
    """Return 300 days of each of two years with one season, X with more days in winter."""
    sides = []
    for year, winter in ((0, 1.0), (1, -1.0)):
        days = np.arange(365)
        season = np.cos(2 * np.pi * days / 365)
        kept = np.sort(rng.choice(365, 250, replace=False, p=_share(1 + 0.5 * winter * season)))
        frame = pd.DataFrame(rng.normal(size=(250, 3)), columns=["a", "b", "c"])
        frame["a"] += season[kept]
        frame["day"] = START + 365 * year + kept
        sides.append(frame)
    return sides[0], sides[1]


def _share(weights: np.ndarray) -> np.ndarray:
    return weights / weights.sum()


def rejects(x: pd.DataFrame, y: pd.DataFrame, number: int, **design: object) -> bool:
    """Return whether the test of the columns other than the day rejects."""
    values = [side.drop(columns="day") for side in (x, y)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ta.two_sample_test(
            *values, **design, n_permutations=PERMUTATIONS, random_state=number, n_jobs=1
        ).reject


def level(
    name: str, draw: Callable[..., Pair], pairs: int, how: str, width: str
) -> dict[str, object]:
    """Return the proportion of pairs rejected, with blocks of time as clusters or strata."""
    count = 0
    for number in range(pairs):
        x, y = draw(np.random.default_rng([crc32(name.encode()), number]))
        design = {}
        if how == "clusters":
            design = {"clusters": ta.time_blocks((x["day"], y["day"]), width)}
        elif how == "strata":
            design = {"strata": tuple(side["day"].dt.month.to_numpy() for side in (x, y))}
        count += rejects(x, y, number, **design)
    what = "plain" if not how else f"{how}: {width}"
    return {"data": name, "what": what, "pairs": pairs, "rate": f"{count / pairs:.4f}"}


def independent(rng: np.random.Generator) -> Pair:
    """Return independent rows of mixed columns, several a day."""
    sides = []
    for first in (0, 120):
        n = 200
        base = rng.normal(size=(n, 6))
        frame = pd.DataFrame(base, columns=list("abcdef"))
        frame["g"], frame["h"] = np.exp(2 * base[:, 0]), rng.poisson(1.0, n)
        frame["i"] = rng.choice(["u", "v", "w"], n)
        frame["j"] = (rng.random(n) < 0.05).astype(float)
        frame["day"] = START + first + rng.integers(0, 120, n)
        sides.append(frame.sort_values(["day", "a"]))
    return sides[0], sides[1]


def warned(x: pd.DataFrame, y: pd.DataFrame) -> bool:
    """Return whether these rows are warned of."""
    samples = read_samples(x, y, keep=())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_time_order(samples, ("X", "Y"))
    return bool(caught)


def alarms(name: str, draw: Callable[..., Pair], pairs: int) -> dict[str, object]:
    """Return how often the warning is given."""
    count = sum(
        warned(*draw(np.random.default_rng([crc32(name.encode()), number])))
        for number in range(pairs)
    )
    return {"data": name, "what": "warned", "pairs": pairs, "rate": f"{count / pairs:.4f}"}


def cost() -> dict[str, object]:
    """Return the share of the warning in the processor's time of a default call."""
    rng = np.random.default_rng(0)
    sides = [pd.DataFrame(rng.normal(size=(1_000, 20))).add_prefix("x") for _ in range(2)]
    for side in sides:
        side["day"] = START + np.arange(1_000)
    samples = read_samples(*sides, keep=())
    taken = []
    for _ in range(3):
        began = time.process_time()
        ta.two_sample_test(*sides, random_state=0)
        middle = time.process_time()
        warn_of_time_order(samples, ("X", "Y"))
        taken.append((time.process_time() - middle) / (middle - began))
    share = float(np.median(taken))
    return {
        "data": "1,000 + 1,000 × 20",
        "what": "share of time",
        "pairs": 3,
        "rate": f"{share:.4f}",
    }


def main() -> None:
    """Measure all and store the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    pairs, many = (3, 20) if quick else (PAIRS, WARNINGS)
    rows = [cost(), alarms("independent rows, 200 + 200 × 10", independent, many)]
    rows += [
        alarms(f"AR(1), φ = {phi}, 182 + 182 × 3", halves(phi), min(many, 100))
        for phi in (0.2, 0.7)
    ]
    print(rows, flush=True)
    for phi in (0.7,):
        name = f"AR(1), φ = {phi}, 182 + 182 days"
        for how, width in (("", ""), ("clusters", "7D"), ("clusters", "14D"), ("clusters", "28D")):
            rows.append(level(name, halves(phi), pairs, how, width))
            print(rows[-1], flush=True)
    name = "one season, 250 + 250 days of two years"
    for how in ("", "strata"):
        rows.append(level(name, seasons, pairs, how, "months"))
        print(rows[-1], flush=True)
    text = (
        "# Rows in order of time\n\n`OPENBLAS_NUM_THREADS=1 python benchmarks/bench_time.py`. "
        f"α = 0.05, {PERMUTATIONS} permutations; nothing differs but the time.\n\n{table(rows)}\n"
    )
    if quick:
        print(text)
    else:
        store("time", text, rows)


if __name__ == "__main__":
    main()
