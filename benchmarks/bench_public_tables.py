"""Power beside published powers: the rows of MMD-FUSE's paper, and the studies of MD2sample.

    python benchmarks/bench_public_tables.py run [--methods scan] [--tables mmdfuse md2sample]
                                                 [--studies NAME ...] [--pairs 100] [--jobs 1]
    python benchmarks/bench_public_tables.py summary

`run` measures what is not on file yet and stores one row for each pair in
benchmarks/results/public/METHOD.csv, as it comes, so that it may be stopped and taken up again; to
measure a method again, remove its file. The methods are those of the arena, with what
benchmarks/arena/__init__.py says about them, and `classical`: nine tests of MD2sample by their
definitions. `summary` writes benchmarks/results/public_tables.md and .csv; it measures nothing.

The published powers are in benchmarks/results/public/published_mmdfuse.csv (200 pairs each; the
files results/*_vary_dif*.npy of github.com/antoninschrab/mmdfuse-paper at commit 558e399) and
published_md2sample.csv (`power_studies_results$"Alt Cont"` of MD2sample 1.2.0, on CRAN since
28 March 2026).
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence

from joblib import Parallel, delayed

from arena.methods import METHODS
from public.summary import summarise
from public.tables import CLASSICAL, STUDIES, TABLES, measure, rows_of
from store import Row

TOGETHER = 10
"""Pairs of one task: enough to share what is compiled, few enough to lose when stopped."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the pairs that are missing, or write the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=["run", "summary"])
    parser.add_argument("--methods", nargs="+", choices=[*METHODS, CLASSICAL], default=["scan"])
    parser.add_argument("--tables", nargs="+", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--studies", nargs="+", choices=list(STUDIES), help="instead of tables")
    parser.add_argument("--pairs", type=int, default=100, help="pairs of each study")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    chosen = parser.parse_args(arguments)
    if chosen.what == "summary":
        summarise()
        return
    studies = chosen.studies or [study for table in chosen.tables for study in TABLES[table]]
    for method in chosen.methods:
        missing = METHODS[method].missing() if method in METHODS else []
        if missing:
            print(f"{method}: left out, cannot import {', '.join(missing)}")
            continue
        run(method, studies, chosen.pairs, chosen.jobs)


def run(method: str, studies: Sequence[str], pairs: int, jobs: int) -> None:
    """Measure the pairs that are missing by one method, and store them as they come."""
    store = rows_of(method)
    done = store.done()
    tasks = []
    for study in studies:
        numbers = [number for number in range(pairs) if (study, str(number)) not in done]
        tasks += [(study, numbers[at : at + TOGETHER]) for at in range(0, len(numbers), TOGETHER)]
    if not tasks:
        print(f"{method}: all on file")
        return
    store.prepare()
    started = time.perf_counter()
    for rows in Parallel(jobs, return_as="generator_unordered", batch_size=1)(
        delayed(_measure_some)(method, study, numbers) for study, numbers in tasks
    ):
        store.add(rows)
    print(f"{method}: {len(tasks)} tasks in {time.perf_counter() - started:.0f} s", flush=True)


def _measure_some(method: str, study: str, pairs: list[int]) -> list[Row]:
    return [measure(method, study, pair) for pair in pairs]


if __name__ == "__main__":
    main()
