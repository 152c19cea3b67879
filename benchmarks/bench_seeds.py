"""How often two seeds give two verdicts, with 999 permutations and with more while it is open.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_seeds.py          # about 20 minutes on one core
    python benchmarks/bench_seeds.py --only level       # or nulls, borderline, times
    python benchmarks/bench_seeds.py --quick                         # four tables each, not stored

Tables of 100 + 100 rows and 10 columns: 200 without a difference (four kinds), and 200 whose
p-value with a third seed lies between 0.02 and 0.1 (a shift, a spread, a correlation, weak shifts
of all columns). Each is tested with two seeds by 999 permutations
(`Budget(most_permutations=999)`) and by the default, which draws up to 19,999 while the verdict is
open. Then the level of the default on 300 pairs of ordinary null tables
(benchmarks/null_tables.py), and times of clear and borderline tables, with and without, one after
the other. Writes benchmarks/results/seeds_*.md and .csv, and seeds.md with all of them.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from null_tables import ORDINARY
from store import RESULTS, store, table
from tellapart.budget import Budget, using_budget
from tellapart.data.reader import read_samples
from tellapart.data.samples import Samples
from tellapart.scan.scan import scan

ALPHA = 0.05
ROWS, COLUMNS = 100, 10
N_TABLES, N_LEVEL, N_TIMES = 200, 300, 5
BORDERLINE = 0.02, 0.1
FIXED = Budget(most_permutations=999)
LEVELS = (
    "normal, 60 + 60 × 20",
    "counts, 60 + 60 × 12",
    "categories and lognormal, 60 + 60 × 10",
    "zero-inflated, 200 + 15 × 15",
)

Matrix = NDArray[np.float64]
Draw = Callable[[np.random.Generator], tuple[Matrix, Matrix]]


def _normal(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    x, y = rng.normal(size=(2, ROWS, COLUMNS))
    return x, y


def _heavy(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    x, y = rng.standard_t(2, size=(2, ROWS, COLUMNS))
    return x, y


def _dependent(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    x, y = rng.normal(size=(2, ROWS, COLUMNS)) + 1.5 * rng.normal(size=(2, ROWS, 1))
    return x, y


def _counts(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    x, y = rng.poisson(1.5, size=(2, ROWS, COLUMNS)).astype(np.float64)
    return x, y


def _shift(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    x, y = _normal(rng)
    y[:, 0] += 0.4
    return x, y


def _spread(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    x, y = _normal(rng)
    y[:, 0] *= 1.45
    return x, y


def _correlation(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    x, y = _normal(rng)
    y[:, 0] = 0.45 * y[:, 1] + np.sqrt(1 - 0.45**2) * y[:, 0]
    return x, y


def _weak_shifts(rng: np.random.Generator) -> tuple[Matrix, Matrix]:
    x, y = _normal(rng)
    y += 0.17
    return x, y


NULLS: dict[str, Draw] = {
    "normal": _normal,
    "Student's t, 2 degrees of freedom": _heavy,
    "one factor": _dependent,
    "counts": _counts,
}
DIFFERENCES: dict[str, Draw] = {
    "shift of one column": _shift,
    "SD of one column": _spread,
    "correlation of two columns": _correlation,
    "weak shifts of all columns": _weak_shifts,
}


def test(samples: Samples, seed: int) -> tuple[float, int]:
    """Return the p-value and how many permutations gave it."""
    rng = np.random.default_rng(seed)
    null = scan(samples, n_permutations=999, alpha=ALPHA, rng=rng, settle=True).null
    return null.pvalue, null.n_permutations


def tables(
    draws: dict[str, Draw], count: int, *, borderline: bool
) -> Iterator[tuple[str, Samples]]:
    """Yield so many tables, of the kinds in turn; borderline ones by a third seed."""
    number, taken = 0, 0
    while taken < count:
        names = list(draws)
        name = names[taken % len(names)]
        number += 1
        samples = read_samples(*draws[name](np.random.default_rng([number, int(borderline)])))
        if borderline:
            with using_budget(FIXED):
                p, _ = test(samples, 3)
            if not BORDERLINE[0] <= p <= BORDERLINE[1]:
                continue
        taken += 1
        yield name, samples


def both(samples: Samples, seed: int) -> tuple[float, float, int]:
    """Return the p-value of 999 permutations, that of the default, and its permutations."""
    settled, count = test(samples, seed)
    if count == 999:
        # Then the default is the same computation.
        return settled, settled, count
    with using_budget(FIXED):
        fixed, _ = test(samples, seed)
    return fixed, settled, count


def compared(kind: str, draws: dict[str, Draw], count: int, *, borderline: bool) -> list[dict]:
    """Return one row per table."""
    rows = []
    for number, (name, samples) in enumerate(tables(draws, count, borderline=borderline)):
        fixed, settled, counts = zip(*(both(samples, seed) for seed in (1, 2)), strict=True)
        rows.append(
            {
                "part": kind,
                "data": name,
                "number": number,
                "p, 999": fixed[0],
                "p, 999, other seed": fixed[1],
                "p": settled[0],
                "p, other seed": settled[1],
                "permutations": counts[0],
                "permutations, other seed": counts[1],
            }
        )
    return rows


def differing(rows: list[dict], name: str) -> int:
    """Return in how many tables the two seeds disagree."""
    return sum((row[name] <= ALPHA) != (row[f"{name}, other seed"] <= ALPHA) for row in rows)


def summarised(kind: str, rows: list[dict]) -> dict:
    """Return the line of the table."""
    before, after = (differing(rows, name) for name in ("p, 999", "p"))
    apart = [
        np.array([row[name] - row[f"{name}, other seed"] for row in rows])
        for name in ("p, 999", "p")
    ]
    counts = np.array([row["permutations"] for row in rows])
    return {
        "tables": f"{kind} ({len(rows)})",
        "verdicts differ, 999": f"{before} ({before / len(rows):.1%})",
        "verdicts differ, default": f"{after} ({after / len(rows):.1%})",
        "SD of p between seeds, 999": f"{np.sqrt(np.mean(apart[0] ** 2) / 2):.4f}",
        "default": f"{np.sqrt(np.mean(apart[1] ** 2) / 2):.4f}",
        "999 / 4,999 / 19,999 permutations": " / ".join(
            f"{np.mean(counts == count):.0%}" for count in (999, 4_999, 19_999)
        ),
    }


def levels(count: int) -> list[dict]:
    """Return how often tables without a difference are rejected by the default."""
    rows = []
    for name in LEVELS:
        pvalues = []
        for number in range(count):
            x, y, _ = ORDINARY[name](np.random.default_rng([number, 7]))
            pvalues.append(test(read_samples(x, y), number)[0])
        row: dict[str, object] = {"data": name, "pairs": count}
        for alpha in (0.01, 0.05, 0.1):
            rejected = int(np.sum(np.array(pvalues) <= alpha))
            low, high = stats.binom.ppf([0.0005, 0.9995], count, alpha) / count
            row[f"rate at {alpha}"] = f"{rejected / count:.3f} (band {low:.3f}–{high:.3f})"
        rows.append(row)
    return rows


def times(count: int) -> list[dict]:
    """Return seconds with 999 permutations and by the default, in turn, median of several."""
    rows = []
    for n, d in ((100, 10), (400, 30)):
        for name, shift in (("null", 0.0), ("borderline", None), ("clear difference", 1.0)):
            samples = _timed(n, d, shift)
            test(samples, 0)
            seconds: tuple[list[float], list[float]] = ([], [])
            for turn in range(2 * count):
                budget = FIXED if turn % 2 == 0 else Budget()
                started = time.perf_counter()
                with using_budget(budget):
                    p, drawn = test(samples, 0)
                seconds[turn % 2].append(time.perf_counter() - started)
            before, after = map(np.median, seconds)
            rows.append(
                {
                    "table": f"{n:,} + {n:,} × {d}, {name}",
                    "p": f"{p:.3f}",
                    "permutations": drawn,
                    "s, 999": f"{before:.3f}",
                    "s, default": f"{after:.3f}",
                }
            )
    return rows


def _timed(n: int, d: int, shift: float | None) -> Samples:
    """Return a table with a shift; with None the first whose p-value is within 0.01 of alpha."""
    for seed in range(1_000):
        x, y = np.random.default_rng([n, seed]).normal(size=(2, n, d))
        y[:, 0] += 4 / np.sqrt(n) * 0.9 if shift is None else shift
        samples = read_samples(x, y)
        with using_budget(FIXED):
            p, _ = test(samples, 0)
        clear = p > 0.2 if shift == 0 else p <= 0.001
        if clear if shift is not None else abs(p - ALPHA) < 0.01:
            return samples
    raise RuntimeError("no such table")


HEADINGS = {
    "nulls": "200 tables without a difference, two seeds:",
    "borderline": "200 borderline tables, two seeds:",
    "level": "Level of the default (99.9 % bands of an exact test):",
    "times": "Seconds, median in turn, one thread:",
}


def measured(part: str, *, quick: bool) -> list[dict]:
    """Return the rows of one part."""
    n_tables, n_level, n_times = (4, 3, 1) if quick else (N_TABLES, N_LEVEL, N_TIMES)
    if part == "nulls":
        return compared("null", NULLS, n_tables, borderline=False)
    if part == "borderline":
        return compared("borderline", DIFFERENCES, n_tables, borderline=True)
    return levels(n_level) if part == "level" else times(n_times)


def main() -> None:
    """Measure one part or all, and store what was measured so far."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=list(HEADINGS))
    options = parser.parse_args()
    for part in [options.only] if options.only else HEADINGS:
        rows = measured(part, quick=options.quick)
        shown = [summarised(part, rows)] if part in ("nulls", "borderline") else rows
        text = f"{HEADINGS[part]}\n\n{table(shown)}"
        if options.quick:
            print(text)
        else:
            store(f"seeds_{part}", text, rows)
    parts = [RESULTS / f"seeds_{part}.md" for part in HEADINGS]
    if not options.quick:
        command = "`OPENBLAS_NUM_THREADS=1 python benchmarks/bench_seeds.py`: α = 0.05."
        texts = [path.read_text(encoding="utf-8") for path in parts if path.exists()]
        heading = f"# Verdicts of two seeds\n\n{command}\n\n"
        (RESULTS / "seeds.md").write_text(heading + "\n".join(texts), encoding="utf-8")


if __name__ == "__main__":
    main()
