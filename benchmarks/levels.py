"""Rates of rejection of many settings, each judged by its band and stored when it is measured."""

from __future__ import annotations

import argparse
import csv
import re
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from joblib import Parallel, delayed
from scipy import stats

from store import RESULTS, store, table

ALPHA = 0.05
COLUMNS = (
    "part",
    "data",
    "permutations",
    "what",
    "pairs",
    "rate",
    "99.9 % band",
    "verdict",
    "ms per pair",
)
UNJUDGED = {
    "rejected": "power",
    "a true finding": "power",
    "scan with the design": "power",
    "usual test": "power",
    "scan without it": "power",
    "without the design": "no level",
}
"""What is measured without a level that it should have."""
QUICK_PAIRS = 3


@dataclass(frozen=True)
class Setting:
    """One kind of data, and what is decided about a pair of samples of it.

    Attributes
    ----------
    part, name : str
        The part of the benchmark, and the data.
    permutations : int
        Permutations of each test, as the table says.
    decide : callable
        Takes a random generator, draws a pair and returns what was rejected.
    pairs : int
        How many pairs are drawn.
    """

    part: str
    name: str
    permutations: int
    decide: Callable[[np.random.Generator], dict[str, bool]]
    pairs: int = 1_000

    @property
    def key(self) -> tuple[str, str, str]:
        """What its rows are found by."""
        return self.part, self.name, str(self.permutations)

    def answer(self, number: int) -> tuple[dict[str, bool], float]:
        """Return what is rejected of the pair of this number, and the processor's seconds."""
        rng = np.random.default_rng([crc32("/".join(self.key).encode()), number])
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.decide(rng), time.process_time() - began


Row = dict[str, object]


def band(pairs: int) -> tuple[float, float]:
    """Return the rates that hold 99.9 % of those of a test whose level is exactly α."""
    low, high = stats.binom.ppf([0.0005, 0.9995], pairs, ALPHA) / pairs
    return float(low), float(high)


def judge(what: str, rate: float, pairs: int) -> str:
    """Return the verdict on a rate: "above" breaks the level, "below" keeps it with room."""
    if what in UNJUDGED:
        return UNJUDGED[what]
    low, high = band(pairs)
    return "above" if rate > high else "inside" if rate >= low else "below"


def measure(setting: Setting, pairs: int, jobs: int) -> list[Row]:
    """Return one row for each thing that is measured of a setting."""
    timed = Parallel(n_jobs=jobs)(delayed(setting.answer)(number) for number in range(pairs))
    answers = [answer for answer, _ in timed]
    # The median leaves out what is compiled at first.
    taken = 1000 * float(np.median([seconds for _, seconds in timed]))
    low, high = band(pairs)
    # A family that has nothing to look at in some of the pairs rejects none of those.
    every = dict.fromkeys(what for answer in answers for what in answer)
    rows: list[Row] = []
    for what in every:
        rate = float(np.mean([answer.get(what, False) for answer in answers]))
        values = (
            *(setting.part, setting.name, setting.permutations, what, pairs),
            *(f"{rate:.4f}", f"{low:.4f} to {high:.4f}", judge(what, rate, pairs), f"{taken:.0f}"),
        )
        rows.append(dict(zip(COLUMNS, values, strict=True)))
    return rows


def on_file(name: str) -> dict[tuple[str, str, str], list[Row]]:
    """Return the rows that are stored, by the key of their setting."""
    path = RESULTS / f"{name}.csv"
    found: dict[tuple[str, str, str], list[Row]] = {}
    if not path.exists():
        return found
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != COLUMNS:
            print(f"{path.name} has other columns: its rows are replaced", flush=True)
            return found
        for row in reader:
            found.setdefault((row["part"], row["data"], row["permutations"]), []).append({**row})
    return found


def _text(heading: str, rows: Sequence[Row], missing: int) -> str:
    judged = [row for row in rows if row["what"] not in UNJUDGED]
    above = sum(row["verdict"] == "above" for row in judged)
    below = sum(row["verdict"] == "below" for row in judged)
    still = f" {missing} settings are not measured yet." if missing else ""
    return (
        f"{heading}\n\nOf {len(judged)} rates {above} lie above the band, which holds 99.9 % of "
        f"the rates of a test whose level is exactly {ALPHA}, and {below} below it: ties, few "
        "permutations, or p-values that are held above that of the scan. Milliseconds are the "
        f"median of the processor's time.{still}\n\n{table(rows)}\n"
    )


def run(
    name: str, heading: str, settings: Sequence[Setting], arguments: Sequence[str] | None = None
) -> list[Row]:
    """Measure the settings that the command line asks for; store the table after each of them."""
    parser = argparse.ArgumentParser(description=heading.splitlines()[0].lstrip("# "))
    parser.add_argument("--only", help="regular expression: settings with it in part or name")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--pairs", type=int, help="at most so many pairs of each setting")
    parser.add_argument("--resume", action="store_true", help="keep settings that are on file")
    parser.add_argument("--quick", action="store_true", help="three pairs each, nothing stored")
    given = parser.parse_args(arguments)
    chosen = [
        one for one in settings if re.search(given.only or "", ", ".join(one.key), re.IGNORECASE)
    ]
    if not chosen:
        parser.error(f"--only {given.only!r} must match a setting; it matches none")
    rows_of = {} if given.quick else on_file(name)
    measured: list[Row] = []
    started = time.perf_counter()
    for place, setting in enumerate(chosen, 1):
        pairs = min(setting.pairs, given.pairs or setting.pairs)
        pairs = QUICK_PAIRS if given.quick else pairs
        stored = rows_of.get(setting.key, [])
        if given.resume and stored and int(str(stored[0]["pairs"])) >= pairs:
            continue
        began = time.perf_counter()
        rows = measure(setting, pairs, given.jobs)
        measured += rows
        rows_of[setting.key] = rows
        if not given.quick:
            joined = [row for one in settings for row in rows_of.get(one.key, [])]
            missing = sum(one.key not in rows_of for one in settings)
            store(name, _text(heading, joined, missing), joined, show=False)
        now = time.perf_counter()
        rates = ", ".join(f"{r['what']} {r['rate']} {r['verdict']}" for r in rows)
        print(
            f"[{place}/{len(chosen)}, {now - started:.0f} s] {', '.join(setting.key)}: "
            f"{pairs} pairs in {now - began:.1f} s ({rows[0]['ms per pair']} ms of one core each): "
            f"{rates}",
            flush=True,
        )
    print(f"{sum(row['verdict'] == 'above' for row in measured)} rates above their band")
    return measured
