"""One method on one pair: its verdict and its seconds, or how it failed."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from arena.kinds import draw_pair, method_seed
from arena.methods import METHODS
from arena.table import Table
from store import Row, Store

RESULTS = Path(__file__).parent.parent / "results"
VERDICTS = RESULTS / "arena"
MEMORY_KIND = "pair"
"""Peak memory is measured on one pair of this kind: 200 + 200 rows, 50 columns."""


def verdicts(method: str) -> Store:
    """Return the file of a method's verdicts, one row for each pair."""
    return Store(
        VERDICTS / f"{method}.csv", ("kind", "pair"), ("rejected", "pvalue", "seconds", "error")
    )


def memory() -> Store:
    """Return the file of the methods' peak memory."""
    return Store(RESULTS / "arena_memory.csv", ("method",), ("megabytes", "before"))


def judge(method: str, kind: str, pair: int) -> Row:
    """Run one method on one pair; a failure is a row, too, and counts as no rejection."""
    X, Y = draw_pair(kind, pair)
    return {"kind": kind, "pair": str(pair), **verdict_on(method, X, Y, method_seed(kind, pair))}


def verdict_on(method: str, X: Table, Y: Table, seed: int) -> Row:
    """Return a method's verdict, seconds and error as they are stored."""
    row = {"rejected": "0", "pvalue": "", "error": ""}
    started = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # What a competitor may raise is not ours to know.
        try:
            verdict = METHODS[method].test(X, Y, seed)
        except Exception as error:
            row["error"] = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        else:
            row["rejected"] = str(int(verdict.rejected))
            row["pvalue"] = "" if verdict.pvalue is None else f"{verdict.pvalue:.6g}"
    row["seconds"] = f"{time.perf_counter() - started:.4f}"
    return row


def judge_some(method: str, kind: str, pairs: list[int]) -> list[Row]:
    """Run one method on some pairs of one kind, which share what it compiles."""
    return [judge(method, kind, pair) for pair in pairs]


def measure_memory(method: str) -> Row:
    """Return how far one call raises this process's memory; for a fresh process, on Linux."""
    tiny = np.random.default_rng(0).normal(size=(2, 24, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # A tiny call first, so that imports and compilers are not counted.
        METHODS[method].test(tiny[0], tiny[1], 0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts again here
    before = _kilobytes("VmRSS")
    judge(method, MEMORY_KIND, 0)
    above = _kilobytes("VmHWM") - before
    return {
        "method": method,
        "megabytes": f"{above / 1024:.1f}",
        "before": f"{before / 1024:.0f}",
    }


def _kilobytes(name: str) -> int:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith(name))
