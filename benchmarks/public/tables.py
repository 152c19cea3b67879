"""The two public tables: their studies, the pairs of them, and what is stored and published."""

from __future__ import annotations

import csv
from zlib import crc32

import numpy as np

from arena.measure import verdict_on
from public import fuse, md2sample
from public.classical import TESTS, classical_pvalues
from store import RESULTS, Row, Store
from tellapart.arrays import FloatArray

FOLDER = RESULTS / "public"
STUDIES = {**fuse.STUDIES, **md2sample.STUDIES}
TABLES = {"mmdfuse": list(fuse.STUDIES), "md2sample": list(md2sample.STUDIES)}
CLASSICAL = "classical"
"""Not a method of the arena: the nine tests of MD2sample, which share what they compute."""


def draw(study: str, pair: int) -> tuple[FloatArray, FloatArray]:
    """Return the pair of that number of a study: the same for every method and machine."""
    return STUDIES[study](np.random.default_rng(_sequence(study, pair, 0)))


def _sequence(study: str, pair: int, use: int) -> np.random.SeedSequence:
    return np.random.SeedSequence([crc32(study.encode()), pair, use])


def rows_of(method: str) -> Store:
    """Return the file of a method's rows, one for each pair."""
    values = TESTS if method == CLASSICAL else ("rejected", "pvalue", "seconds", "error")
    return Store(FOLDER / f"{method}.csv", ("study", "pair"), values)


def measure(method: str, study: str, pair: int) -> Row:
    """Run one method on one pair of a study."""
    X, Y = draw(study, pair)
    seed = int(_sequence(study, pair, 1).generate_state(1)[0] // 2)
    where = {"study": study, "pair": str(pair)}
    if method == CLASSICAL:
        found = classical_pvalues(X, Y, seed)
        return {**where, **{name: f"{found[name]:.6g}" for name in TESTS}}
    return {**where, **verdict_on(method, X, Y, seed)}


def published(table: str) -> dict[str, dict[str, float]]:
    """Return the published powers of a table by study and test."""
    with (FOLDER / f"published_{table}.csv").open(newline="", encoding="utf-8") as file:
        return {
            row.pop("study"): {name: float(value) for name, value in row.items() if value}
            for row in csv.DictReader(file)
        }
