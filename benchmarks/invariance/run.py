"""Which answers stay the same: two hundred random tables for each call and each change.

    .venv/bin/python benchmarks/invariance/run.py [--tables 200] [--slow 40]

Searches and groups take `--slow` tables. Writes results/invariance.md and results/invariance.csv.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

sys.path.insert(0, str(Path(__file__).parents[1]))
from invariance.calls import CALLS, Answer
from invariance.changes import CHANGES, CHUNKS, FORMS, Pair, draw_pair
from invariance.promises import NONE, PROMISES, broken
from store import store, table

SLOW = ("quadratic", "gaussian", "compare_groups")


def plain(frame: object) -> object:
    """Return the table itself."""
    return frame


def answers(call: str, way: str, pair: Pair, seed: int) -> Iterator[tuple[str, Answer]]:
    """Return what the call answers to the pair given in another way, and which way it was."""
    run, rng = CALLS[call], np.random.default_rng([seed, 1])
    if way in CHANGES:
        yield way, run(*CHANGES[way](*pair, rng), plain)
    elif way == "threads":
        for n_jobs in (1, 2):
            with threadpool_limits(n_jobs):
                yield f"{n_jobs} threads", run(*pair, plain, n_jobs=n_jobs)
    else:
        forms = FORMS if way == "forms" else CHUNKS
        # One form for each table, in turn: every form meets every kind of difference.
        name = list(forms)[seed % len(forms)]
        yield name, run(*pair, forms[name])


def examine(call: str, seed: int, ways: tuple[str, ...] | None = None) -> Iterator[tuple[str, str]]:
    """Return every change of one table with what broke a promise, empty where nothing did."""
    pair = draw_pair(seed)
    promised = [way for way, grade in PROMISES[call].items() if grade != NONE]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows, constant columns
        before = CALLS[call](*pair, plain)
        for way in promised if ways is None else ways:
            for name, after in answers(call, way, pair, seed):
                fault = broken(call, PROMISES[call][way], before, after)
                yield way, f"{name}, table {seed}: {fault}" if fault else ""


def main() -> None:
    """Try, print and store."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--slow", type=int, default=40)
    settings = parser.parse_args()
    rows: list[dict[str, object]] = []
    for call in CALLS:
        slow = any(word in call for word in SLOW)
        tried: Counter[str] = Counter()
        fell: dict[str, list[str]] = {}
        # Other tables than those of the tests.
        for seed in range(1_000, 1_000 + (settings.slow if slow else settings.tables)):
            for way, fault in examine(call, seed):
                tried[way] += 1
                if fault:
                    fell.setdefault(way, []).append(fault)
        for way, count in tried.items():
            faults = fell.get(way, [])
            rows.append(
                {
                    "call": call,
                    "change": way,
                    "promised": PROMISES[call][way],
                    "tried": count,
                    "fell": len(faults),
                    "which": "; ".join(faults[:3]),
                }
            )
        print(call, dict(tried), fell, flush=True)
    text = "\n\n".join(
        [
            "# Invariance",
            f"{sum(int(str(row['tried'])) for row in rows):,} answers to the same rows given in "
            "another way, against what docs/developers/invariance.md promises of them "
            "(`python benchmarks/invariance/run.py`).",
            table(rows),
        ]
    )
    store("invariance", text, rows)


if __name__ == "__main__":
    main()
