"""One selector on one task: its score and its seconds, or how it failed."""

from __future__ import annotations

import time
import warnings
from importlib import import_module
from pathlib import Path

from threadpoolctl import threadpool_limits

from store import Row, Store
from which_few.kinds import KINDS, Task, draw_task
from which_few.methods import METHODS
from which_few.table import IntArray

RESULTS = Path(__file__).parent.parent / "results"
SCORES = RESULTS / "which_few"
ORACLE = "oracle"
"""The selector that is told the kind of difference: a mark, no bound and no competitor."""


def scores(method: str) -> Store:
    """Return the file of a selector's scores, one row for each task."""
    return Store(
        SCORES / f"{method}.csv", ("kind", "seed"), ("method", "score", "seconds", "cpu", "error")
    )


class Clock:
    """Seconds since it was made: on the wall, and of the processor, which others cannot slow."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    def read(self) -> Row:
        """Return both as they are stored."""
        wall, cpu = time.perf_counter() - self._wall, time.process_time() - self._cpu
        return {"seconds": f"{wall:.4f}", "cpu": f"{cpu:.4f}"}


def measure(method: str, kind: str, seed: int) -> Row:
    """Run one selector on one task; a failure is a row, too, and finds nothing."""
    task = draw_task(kind, seed)
    row = {"kind": kind, "seed": str(seed), "method": method, "score": "0", "error": ""}
    clock = Clock()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # What a competitor may raise is not ours to know.
        try:
            chosen = _choose(method, kind, seed, task)
            row |= clock.read()
            row["score"] = f"{task.score(chosen):.4f}"
        except Exception as error:
            row |= clock.read()
            row["error"] = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    return row


def _choose(method: str, kind: str, seed: int, task: Task) -> IntArray:
    if method == ORACLE:
        return KINDS[kind].oracle(task.X, task.Y, task.d)
    return METHODS[method].select(task.X, task.Y, task.d, seed)


def measure_some(method: str, kind: str, seeds: list[int]) -> list[Row]:
    """Run one selector on some tasks of one kind, which share what it compiles."""
    # Imports are not the selector's time.
    for name in METHODS[method].needs if method in METHODS else ():
        import_module(name)
    return [measure(method, kind, seed) for seed in seeds]
