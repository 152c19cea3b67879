"""Are planned rows right? Predicted against simulated power, from named effects and from pilots.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_planning.py [named] [pilots] [100] [400] [2]

The parts to run (both), the number of pilots of each kind, of tests for each simulated power, and
of processes.

Named effects: the rows that a plan gives for power 0.8, and the share of the default tests (999
permutations) of new tables of that size that reject. Pilots: `pilots` of each kind and size; how
often the 90 % limits of predicted power hold the power simulated at two and four times the pilot's
rows, and what a plain bootstrap of the pilot would have said. Six columns; pilots of 30 and
60 rows, and of 100 where there are 100 pilots or more. Writes benchmarks/results/planning_named and
planning_pilots (.md, .csv), kind by kind, so that a run that was stopped goes on where it stopped;
and docs/images/planning.svg.
"""

from __future__ import annotations

import csv
import multiprocessing
import sys
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from matplotlib.figure import Figure

from store import RESULTS, store, table
from tellapart.data.reader import read_samples
from tellapart.planning.named_effects import NamedEffects
from tellapart.planning.plan_sample_size import plan_sample_size
from tellapart.planning.planner import Planner
from tellapart.planning.simulation import RowSource
from tellapart.scan.scan import scan

COLUMNS, ALPHA, POWER = 6, 0.05, 0.8
NAMED: dict[str, tuple[dict[str, float], dict[str, Any]]] = {
    "shift of 0.5, one column": ({"location": 0.5}, {}),
    "shift of 0.5, one heavy-tailed column": ({"location": 0.5}, {"distribution": "heavy-tailed"}),
    "shift of 0.2, all columns": ({"location": 0.2}, {"n_differing": COLUMNS}),
    "spread of 1.5, one column": ({"spread": 1.5}, {}),
    "correlation of 0.5, one pair": ({"correlation": 0.5}, {}),
    "spread of 1.5, skewed column": ({"spread": 1.5}, {"distribution": "skewed"}),
}
PILOTS: dict[str, tuple[dict[str, float], dict[str, Any]]] = {
    "no difference": ({"location": 0.0}, {}),
    "shift of 0.6": ({"location": 0.6}, {}),
    "spread of 1.6": ({"spread": 1.6}, {}),
    "correlation of 0.6": ({"correlation": 0.6}, {}),
    "shift, spread and correlation": ({"location": 0.4, "spread": 1.3, "correlation": 0.4}, {}),
    "shift of 0.6, heavy tails": ({"location": 0.6}, {"distribution": "heavy-tailed"}),
    "shift of 0.25, all columns": ({"location": 0.25}, {"n_differing": COLUMNS}),
}
PILOT_ROWS, FEW_SIZES, MANY_PILOTS = (30, 60, 100), (30, 60), 100
SIMULATIONS = 90
TIMES = (2, 4)
Job = tuple[str, int, int, int]


def population(name: str) -> NamedEffects:
    """Return the populations of a kind."""
    sizes, more = (PILOTS | NAMED)[name]
    return NamedEffects(sizes, COLUMNS, **more)


def rejects(job: tuple[str, int, int, int]) -> bool:
    """Return whether a test of new tables rejects: kind, rows, seed, permutations."""
    name, rows, seed, permutations = job
    rng = np.random.default_rng([seed, rows])
    samples = read_samples(*population(name).draw(rows, rows, rng)[:2])
    # The default test, without naming what differs: its p-value is the same.
    found = scan(samples, n_permutations=permutations, alpha=1e-12, rng=rng)
    return bool(found.null.pvalue <= ALPHA)


def planned(job: Job) -> dict[str, float]:
    """Plan from one pilot: predictions and limits at multiples of its rows, and a bootstrap's."""
    name, rows, seed, simulations = job
    rng = np.random.default_rng([seed, rows, 7])
    x, y, _ = population(name).draw(rows, rows, rng)
    # What a plain shift would take plays no part in what is predicted, and takes half of the time.
    with mock.patch.object(Planner, "_detectable", return_value={}):
        plan = plan_sample_size(
            x, y, power=POWER, alpha=ALPHA, n_simulations=simulations, n_jobs=1, random_state=seed
        )
    source = RowSource.of(read_samples(x, y))
    found: dict[str, float] = {}
    for times in TIMES:
        guess = plan.predict(times * rows)
        found |= {f"power {times}": guess.power, f"low {times}": guess.low}
        found[f"high {times}"] = guess.high
        plain = [
            scan(
                read_samples(*source.draw(times * rows, times * rows, 1.0, rng)),
                n_permutations=99,
                alpha=1e-12,
                rng=rng,
            ).null.pvalue
            for _ in range(5)
        ]
        found[f"bootstrap {times}"] = float(np.mean(np.array(plain) <= ALPHA))
    return found


def named_rows(pool: Any, runs: int) -> list[dict[str, object]]:
    """Return what plans from named effects say, and what tests of that size do."""
    rows: list[dict[str, object]] = []
    for name, (sizes, more) in NAMED.items():
        plan = plan_sample_size(
            effects=sizes, n_columns=COLUMNS, power=POWER, random_state=1, **more
        )
        assert plan.n_x is not None
        jobs = [(name, plan.n_x, 10_000 + seed, 999) for seed in range(runs)]
        share = float(np.mean(pool.map(rejects, jobs)))
        rows.append(
            {
                "effect": name,
                "rows of each": plan.n_x,
                "90 % limits": f"{plan.interval[0]} to {plan.interval[1]}",
                "predicted": f"{POWER:.2f}",
                "simulated": f"{share:.2f}",
                "standard error": f"{(share * (1 - share) / runs) ** 0.5:.2f}",
            }
        )
        print(rows[-1], flush=True)
    return rows


def pilot_rows(pool: Any, pilots: int, runs: int) -> None:
    """Measure how often limits from pilots hold the power, and store it kind by kind."""
    sizes = PILOT_ROWS if pilots >= MANY_PILOTS else FEW_SIZES
    rows = stored_pilots(pilots, runs)
    known = {row["populations"] for row in rows}
    for name in PILOTS:
        if name in known:
            continue
        for size in sizes:
            jobs = [(name, size, seed, SIMULATIONS) for seed in range(pilots)]
            plans = pool.map(planned, jobs)
            for times in TIMES:
                again = [(name, times * size, 20_000 + seed, 999) for seed in range(runs)]
                truth = float(np.mean(pool.map(rejects, again)))
                low, high, middle, plain = (
                    np.array([plan[f"{key} {times}"] for plan in plans])
                    for key in ("low", "high", "power", "bootstrap")
                )
                # The simulated power is itself known to a standard error only.
                # Of none among n, 3/n is what 95 % limits leave open.
                slack = max(2 * (truth * (1 - truth) / runs) ** 0.5, 3 / runs)
                held = (low - slack <= truth) & (truth <= high + slack)
                rows.append(
                    {
                        "populations": name,
                        "pilot": size,
                        "rows": times * size,
                        "simulated power": f"{truth:.2f}",
                        "predicted, median": f"{np.median(middle):.2f}",
                        "limits hold it": f"{held.mean():.2f}",
                        "limits too high": f"{np.mean(low - slack > truth):.2f}",
                        "limits too low": f"{np.mean(high + slack < truth):.2f}",
                        "median width": f"{np.median(high - low):.2f}",
                        "plain bootstrap": f"{plain.mean():.2f}",
                    }
                )
        store_pilots(rows, pilots, runs)


def draw(rows: list[dict[str, object]], path: Path) -> None:
    """Draw predicted over simulated power."""
    figure = Figure(figsize=(5.2, 4.2), layout="constrained")
    axes = figure.subplots()
    truth = [float(str(row["simulated power"])) for row in rows]
    for key, marker, label in (
        ("predicted, median", "o", "plan (median of pilots)"),
        ("plain bootstrap", "x", "plain bootstrap (mean)"),
    ):
        axes.scatter(truth, [float(str(row[key])) for row in rows], marker=marker, label=label)
    axes.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
    axes.set(
        xlabel="simulated power", ylabel="predicted from pilots", xlim=(0, 1.02), ylim=(0, 1.02)
    )
    axes.legend(frameon=False, loc="lower right")
    figure.savefig(path, metadata={"Date": None})


def stored_pilots(pilots: int, runs: int) -> list[dict[str, object]]:
    """Return what an earlier run of the same size, which was stopped, has stored."""
    text, numbers = (RESULTS / f"planning_pilots.{kind}" for kind in ("md", "csv"))
    if not text.exists() or f"pilots {pilots} {runs}`" not in text.read_text(encoding="utf-8"):
        return []
    with numbers.open(encoding="utf-8", newline="") as lines:
        return [dict(row) for row in csv.DictReader(lines)]


def store_pilots(rows: list[dict[str, object]], pilots: int, runs: int) -> None:
    """Write what is known so far of plans from pilots."""
    text = (
        "# Rows planned from pilots\n\n"
        f"`python benchmarks/bench_planning.py pilots {pilots} {runs}`: {pilots} pilots of each "
        f"kind, {COLUMNS} columns, level {ALPHA}. Simulated power: {runs} default tests (999 "
        "permutations) of new tables. Do the 90 % limits hold it?\n\n" + table(rows)
    )
    store("planning_pilots", text, rows)
    draw(rows, Path(__file__).parent.parent / "docs" / "images" / "planning.svg")


def main() -> None:
    """Measure one way of planning, or both."""
    parts = [argument for argument in sys.argv[1:] if not argument.isdigit()] or ["named", "pilots"]
    numbers = [int(argument) for argument in sys.argv[1:] if argument.isdigit()]
    pilots, runs, processes = (numbers + [100, 400, 2][len(numbers) :])[:3]
    warnings.simplefilter("ignore")
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        if "named" in parts:
            named = named_rows(pool, runs)
            text = (
                "# Rows planned from named effects\n\n"
                f"`python benchmarks/bench_planning.py named {pilots} {runs}`: rows of each sample "
                f"for power {POWER}, {COLUMNS} columns, level {ALPHA}. Simulated power: {runs} "
                "default tests (999 permutations) of new tables of that size.\n\n" + table(named)
            )
            store("planning_named", text, named)
        if "pilots" in parts:
            pilot_rows(pool, pilots, runs)


if __name__ == "__main__":
    main()
