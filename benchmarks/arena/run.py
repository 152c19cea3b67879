"""Measure what is not on file yet: every method on the same pairs of every kind.

    TELLAPART_DATA=FOLDER python benchmarks/arena/run.py [--pairs 100] [--jobs 2]
                                                         [--methods NAME ...] [--kinds NAME ...]
    python benchmarks/arena/run.py --memory [--methods NAME ...]

The competitors need what benchmarks/arena/__init__.py says; those that cannot be imported are
named and left out. Rows are stored as they come, so a run may be stopped and taken up again. To
measure a method again, remove its file from benchmarks/results/arena.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from joblib import Parallel, delayed

from arena.kinds import KINDS, available
from arena.measure import judge_some, measure_memory, memory, verdicts
from arena.methods import METHODS

TOGETHER = 10
"""Pairs of one task: enough to share what is compiled, few enough to lose when stopped."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the pairs that are missing, or the memory."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pairs", type=int, default=100, help="pairs of each kind")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--memory", action="store_true", help="measure peak memory, no verdicts")
    chosen = parser.parse_args(arguments)
    methods = [name for name in chosen.methods if _can_run(name)]
    kinds = [name for name in chosen.kinds if name in available()]
    for name in set(chosen.kinds) - set(kinds):
        print(f"{name}: left out, TELLAPART_DATA names no folder with its data")
    if chosen.memory:
        weigh(methods)
        return
    for method in methods:
        run(method, kinds, chosen.pairs, chosen.jobs)


def _can_run(method: str) -> bool:
    missing = METHODS[method].missing()
    if missing:
        print(f"{method}: left out, cannot import {', '.join(missing)}")
    return not missing


def run(method: str, kinds: Sequence[str], pairs: int, jobs: int) -> None:
    """Judge the pairs that are missing by one method, and store them as they come."""
    store = verdicts(method)
    tasks = list(_missing(store.done(), kinds, pairs))
    if not tasks:
        print(f"{method}: all on file")
        return
    store.prepare()
    started, failed = time.perf_counter(), 0
    found = Parallel(jobs, return_as="generator_unordered", batch_size=1)(
        delayed(judge_some)(method, kind, numbers) for kind, numbers in tasks
    )
    for number, rows in enumerate(found, 1):
        store.add(rows)
        failed += sum(bool(row["error"]) for row in rows)
        _tell(f"{method}: {number} of {len(tasks)} tasks, {rows[0]['kind']}")
    seconds = time.perf_counter() - started
    print(f"\r{method}: done in {seconds:.0f} s, {failed} pairs failed".ljust(79), flush=True)


def _missing(
    done: set[tuple[str, ...]], kinds: Sequence[str], pairs: int
) -> Iterator[tuple[str, list[int]]]:
    for kind in kinds:
        numbers = [number for number in range(pairs) if (kind, str(number)) not in done]
        for first in range(0, len(numbers), TOGETHER):
            yield kind, numbers[first : first + TOGETHER]


def _tell(text: str) -> None:
    if sys.stdout.isatty():
        print(f"\r{text}".ljust(79), end="", flush=True)


def weigh(methods: Sequence[str]) -> None:
    """Store each method's peak memory on one pair, each measured in a process of its own."""
    store = memory()
    kept = [row for row in store.rows() if row["method"] not in methods]
    found = []
    for method in methods:
        with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
            found.append(fresh.submit(measure_memory, method).result())
        print(f"{method}: {found[-1]['megabytes']} MB")
    store.path.unlink(missing_ok=True)
    store.add([*kept, *found])


if __name__ == "__main__":
    main()
