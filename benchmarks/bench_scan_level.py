"""The level of the scan and of every family of it, and the family-wise error of its findings.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_scan_level.py [pairs]

Ten kinds of nulls and three partial nulls, in which some columns differ and the others do not,
`pairs` of each (default 1,000). A false finding names a column, pair or triple of which no column
differs. Writes benchmarks/results/scan_level.md and .csv, with one row per kind and what is
measured. The band holds 99.9 % of the counts of a test whose level is exactly 0.05.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import stats

from store import store, table
from tellapart.data.tables import read_samples
from tellapart.scan.scan import Scan, scan

ALPHA = 0.05
PERMUTATIONS = 199
Rows = NDArray[np.float64] | pd.DataFrame
Null = Callable[[np.random.Generator, int], Rows]


def _gaussian(rng: np.random.Generator, rows: int) -> Rows:
    return rng.normal(size=(rows, 20))


def _cauchy(rng: np.random.Generator, rows: int) -> Rows:
    return rng.standard_cauchy(size=(rows, 15))


def _counts(rng: np.random.Generator, rows: int) -> Rows:
    return rng.poisson(0.6, size=(rows, 12)).astype(np.float64)


def _flags(rng: np.random.Generator, rows: int) -> Rows:
    return (rng.random((rows, 15)) < np.linspace(0.03, 0.5, 15)).astype(np.float64)


def _factor(rng: np.random.Generator, rows: int) -> Rows:
    return 3 * rng.normal(size=(rows, 1)) + rng.normal(size=(rows, 12))


def _autoregressive(rng: np.random.Generator, rows: int) -> Rows:
    values = rng.normal(size=(rows, 20))
    for s in range(1, 20):
        values[:, s] = 0.9 * values[:, s - 1] + np.sqrt(1 - 0.81) * values[:, s]
    return values


def _categories(rng: np.random.Generator, rows: int) -> Rows:
    columns: dict[str, NDArray[np.float64] | NDArray[np.str_]] = {
        f"c{i}": rng.choice(list("abcd"), rows, p=[0.5, 0.3, 0.15, 0.05]) for i in range(5)
    }
    columns |= {f"v{i}": rng.lognormal(size=rows) for i in range(5)}
    return pd.DataFrame(columns)


def _few(rng: np.random.Generator, rows: int) -> Rows:
    return rng.normal(size=(rows, 5))


def _wide(rng: np.random.Generator, rows: int) -> Rows:
    return rng.normal(size=(rows, 200)) + rng.normal(size=(rows, 1))


def _zero_inflated(rng: np.random.Generator, rows: int) -> Rows:
    values = rng.exponential(size=(rows, 15))
    return np.where(rng.random((rows, 15)) < 0.6, 0.0, values)


NULLS: dict[str, tuple[Null, int, int]] = {
    "normal, 60 + 60 × 20": (_gaussian, 60, 60),
    "Cauchy, 50 + 50 × 15": (_cauchy, 50, 50),
    "counts, 60 + 60 × 12": (_counts, 60, 60),
    "rare flags, 70 + 50 × 15": (_flags, 70, 50),
    "one strong factor, 50 + 50 × 12": (_factor, 50, 50),
    "autoregressive, 30 + 120 × 20": (_autoregressive, 30, 120),
    "categories and lognormal, 60 + 60 × 10": (_categories, 60, 60),
    "few rows, 5 + 6 × 5": (_few, 5, 6),
    "wide, 20 + 20 × 200": (_wide, 20, 20),
    "zero-inflated, 200 + 15 × 15": (_zero_inflated, 200, 15),
}


def _shifted(rng: np.random.Generator) -> tuple[Rows, Rows, set[str]]:
    x, y = _autoregressive(rng, 80), _autoregressive(rng, 80)
    x = np.asarray(x)
    x[:, [3, 10]] += 1.0
    return x, y, {"x3", "x10"}


def _spread_and_shape(rng: np.random.Generator) -> tuple[Rows, Rows, set[str]]:
    x, y = rng.normal(size=(100, 12)), rng.normal(size=(70, 12))
    common = 0.8
    for values in (x, y):
        values[:, 1:] = common * values[:, :1] + 0.6 * values[:, 1:]
    x[:, 11] *= 2.0
    x[:, 10] = rng.exponential(size=100)
    return x, y, {"x10", "x11"}


def _dependent(rng: np.random.Generator) -> tuple[Rows, Rows, set[str]]:
    x, y = rng.normal(size=(120, 15)), rng.normal(size=(120, 15))
    x[:, 1] = 0.8 * x[:, 0] + 0.6 * x[:, 1]
    x[:, 4] = np.abs(x[:, 4]) * np.sign(x[:, 2] * x[:, 3])
    return x, y, {f"x{s}" for s in range(5)}


PARTIAL = {
    "two of 20 autoregressive columns shifted, 80 + 80": _shifted,
    "spread and shape of two of 12 correlated columns, 100 + 70": _spread_and_shape,
    "a pair and a triple of 15 columns, 120 + 120": _dependent,
}


def _scanned(x: Rows, y: Rows, rng: np.random.Generator) -> Scan:
    samples = read_samples(x, y)
    return scan(samples, n_permutations=PERMUTATIONS, alpha=ALPHA, rng=rng)


def null_pair(kind: str, number: int) -> dict[str, bool]:
    """Return what one null pair rejects: the scan, each family, and whether anything is named."""
    draw, m, n = NULLS[kind]
    rng = np.random.default_rng([7, list(NULLS).index(kind), number])
    pooled = draw(rng, m + n)
    found = _scanned(pooled[:m], pooled[m:], rng)
    told = {"scan": found.null.pvalue <= ALPHA}
    told |= {name: p <= ALPHA for name, p in found.families.items()}
    least = min(found.variable_pvalues.values())
    told["any finding"] = bool(found.findings) or least <= ALPHA
    return told


def partial_pair(kind: str, number: int) -> dict[str, bool]:
    """Return whether a partial null is rejected, and whether a false or a true name is given."""
    rng = np.random.default_rng([8, list(PARTIAL).index(kind), number])
    x, y, changed = PARTIAL[kind](rng)
    found = _scanned(x, y, rng)
    names = [set(finding.variables) for finding in found.findings]
    return {
        "any false finding": any(not changed & own for own in names),
        "rejected": found.null.pvalue <= ALPHA,
        "a true finding": any(changed & own for own in names),
    }


def measure(
    kind: str, one: Callable[[str, int], dict[str, bool]], pairs: int, jobs: int
) -> list[dict[str, object]]:
    """Return one row per thing measured of a kind."""
    started = time.perf_counter()
    told = Parallel(n_jobs=jobs)(delayed(one)(kind, number) for number in range(pairs))
    taken = 1000 * (time.perf_counter() - started) / pairs
    low, high = stats.binom.ppf([0.0005, 0.9995], pairs, ALPHA) / pairs
    rows = []
    for what in told[0]:
        rate = float(np.mean([answer[what] for answer in told]))
        verdict = "above" if rate > high else "inside" if rate >= low else "below"
        if what in ("rejected", "a true finding"):
            verdict = "power"
        rows.append(
            {
                "data": kind,
                "what": what,
                "pairs": pairs,
                "rate": f"{rate:.4f}",
                "99.9 % band": f"{low:.4f} to {high:.4f}",
                "verdict": verdict,
                "ms per pair": f"{taken:.0f}",
            }
        )
    return rows


def main(pairs: int, jobs: int) -> None:
    """Measure every kind and store the table."""
    rows = []
    for kind in NULLS:
        rows += measure(kind, null_pair, pairs, jobs)
    for kind in PARTIAL:
        rows += measure(kind, partial_pair, pairs, jobs)
    text = (
        f"# Level of the scan at α = {ALPHA}\n\n"
        f"{PERMUTATIONS} permutations; `python benchmarks/bench_scan_level.py`. Below the band: "
        "ties, few permutations, or p-values held above that of the scan.\n\n" + table(rows)
    )
    store("scan_level", text, rows)


if __name__ == "__main__":
    main(
        int(sys.argv[1]) if len(sys.argv) > 1 else 1000,
        int(sys.argv[2]) if len(sys.argv) > 2 else 1,
    )
