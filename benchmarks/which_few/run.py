"""Measure what is not on file yet: every selector on the same tasks of every kind.

    python benchmarks/which_few/run.py [--pairs 20] [--jobs 1] [--methods NAME ...]
                                       [--kinds NAME ...]

The competitors need what benchmarks/which_few/__init__.py says; those that cannot be imported are
named and left out. Rows are stored as they come, so a run may be stopped and taken up again. To
measure a selector again, remove its file from benchmarks/results/which_few.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from joblib import Parallel, delayed

from which_few.kinds import FIRST_SEED, KINDS
from which_few.measure import ORACLE, measure_some, scores
from which_few.methods import METHODS

TOGETHER = 5
"""Tasks measured in one go: enough to share what is compiled, few enough to lose when stopped."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure the tasks that are missing."""
    names = [*METHODS, ORACLE]
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pairs", type=int, default=20, help="pairs of samples of each kind")
    parser.add_argument("--methods", nargs="+", choices=names, default=names)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    chosen = parser.parse_args(arguments)
    for method in able(chosen.methods):
        run(method, chosen.kinds, chosen.pairs, chosen.jobs)


def able(methods: Iterable[str]) -> Iterator[str]:
    """Give the selectors that can be imported, and name the others."""
    for method in methods:
        missing = METHODS[method].missing() if method in METHODS else []
        if missing:
            print(f"{method}: left out, cannot import {', '.join(missing)}")
        else:
            yield method


def run(method: str, kinds: Sequence[str], pairs: int, jobs: int) -> None:
    """Measure the missing tasks by one selector, and store them as they come."""
    store = scores(method)
    tasks = list(_missing(store.done(), kinds, pairs))
    if not tasks:
        print(f"{method}: all on file")
        return
    store.prepare()
    started, failed = time.perf_counter(), 0
    found = Parallel(jobs, return_as="generator_unordered", batch_size=1)(
        delayed(measure_some)(method, kind, seeds) for kind, seeds in tasks
    )
    for rows in found:
        store.add(rows)
        failed += sum(bool(row["error"]) for row in rows)
    seconds = time.perf_counter() - started
    print(f"{method}: done in {seconds:.0f} s, {failed} tasks failed", flush=True)


def _missing(
    done: set[tuple[str, ...]], kinds: Sequence[str], pairs: int
) -> Iterator[tuple[str, list[int]]]:
    for kind in kinds:
        seeds = [FIRST_SEED + i for i in range(pairs) if (kind, str(FIRST_SEED + i)) not in done]
        for first in range(0, len(seeds), TOGETHER):
            yield kind, seeds[first : first + TOGETHER]


if __name__ == "__main__":
    main()
