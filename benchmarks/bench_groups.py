"""Groups of single cells: how long ten comparisons take, beside scanpy, and who finds the markers.

    python benchmarks/bench_groups.py [--sizes 700x765 3000x8000]

Counts of cells are generated: negative binomial, of varying depth, ten types with eight marker
genes each; normalised by depth, logarithm, sparse. Every type is compared with the rest by
`compare_groups` with its defaults and, where scanpy is installed (`pip install scanpy`), by
`rank_genes_groups` with "t-test" and "wilcoxon", in the same process, warm. Seconds are those of
the wall and of the processor; "markers found" is the share of each type's markers among as many
genes as tellapart chose for it, scanpy's by its own order. scanpy ranks genes by one test each;
tellapart tests every type for any difference with 999 permutations, so the ratio says what that
costs: in processor seconds, which other work on the machine moves the least. Writes
benchmarks/results/groups.md and .csv after each size.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from scipy import sparse

import tellapart as ta
from store import store, table

SIZES = ((700, 765), (3_000, 8_000))
N_TYPES, N_MARKERS = 10, 8
FOLD, DISPERSION = 3.0, 2.0
PEER_METHODS = ("t-test", "wilcoxon")


@dataclass(frozen=True)
class Cells:
    """Log-normalised counts, the type of each cell, and the marker genes of each type."""

    counts: sparse.csr_array
    kind: np.ndarray
    markers: dict[str, set[str]]

    @property
    def genes(self) -> list[str]:
        """Names of the genes."""
        return [f"x{s}" for s in range(self.counts.shape[1])]


def make_cells(n_cells: int, n_genes: int, seed: int = 0) -> Cells:
    """Generate cells."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(N_TYPES, size=n_cells)
    rate = np.tile(rng.lognormal(-2.0, 1.2, n_genes), (N_TYPES, 1))
    own = rng.permutation(n_genes)[: N_TYPES * N_MARKERS].reshape(N_TYPES, N_MARKERS)
    for place, genes in enumerate(own):
        rate[place, genes] = FOLD * rate[place, genes] + 0.3
    mean = rate[kind] * rng.lognormal(0.0, 0.3, n_cells)[:, np.newaxis]
    counts = rng.negative_binomial(DISPERSION, DISPERSION / (DISPERSION + mean)).astype(float)
    depth = np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    names = [f"type {place}" for place in range(N_TYPES)]
    return Cells(
        sparse.csr_array(np.log1p(counts / depth * np.median(depth))),
        np.array(names)[kind],
        {name: {f"x{s}" for s in genes} for name, genes in zip(names, own, strict=True)},
    )


def compare(cells: Cells) -> dict[str, list[str]]:
    """Return the genes that tellapart chose for each type that differs."""
    result = ta.compare_groups(cells.counts, by=cells.kind, random_state=0)
    return {c.group: list(c.variables) for c in result.comparisons if c.reject}


def rank(cells: Cells, method: str) -> dict[str, list[str]]:
    """Return scanpy's genes of each type, the first first."""
    import anndata
    import pandas as pd
    import scanpy

    obs = pd.DataFrame(
        {"kind": pd.Categorical(cells.kind)}, index=[str(i) for i in range(cells.kind.size)]
    )
    var = pd.DataFrame(index=cells.genes)
    data = anndata.AnnData(sparse.csr_matrix(cells.counts), obs=obs, var=var)
    scanpy.tl.rank_genes_groups(data, "kind", method=method)
    names = data.uns["rank_genes_groups"]["names"]
    return {kind: list(names[kind]) for kind in names.dtype.names}


def timed(call: Callable[[], dict[str, list[str]]]) -> tuple[dict[str, list[str]], float, float]:
    """Return what a call gives, with its seconds of the wall and of the processor."""
    wall, processor = time.perf_counter(), time.process_time()
    found = call()
    return found, time.perf_counter() - wall, time.process_time() - processor


def found_share(cells: Cells, found: dict[str, list[str]], number: dict[str, int]) -> float:
    """Return the share of the markers among the first genes of each type, as many as `number`."""
    hits = [
        len(cells.markers[kind] & set(found.get(kind, [])[: number[kind]])) / N_MARKERS
        for kind in cells.markers
    ]
    return float(np.mean(hits))


def measure(n_cells: int, n_genes: int) -> list[dict[str, object]]:
    """Return one row for each method at one size."""
    cells = make_cells(n_cells, n_genes)
    chosen, wall, own_work = timed(lambda: compare(cells))
    number = {kind: len(chosen.get(kind, [])) for kind in cells.markers}
    rows = [("tellapart", chosen, wall, own_work)]
    if find_spec("scanpy") is None:
        print("scanpy: not installed; pip install scanpy", flush=True)
    else:
        for method in PEER_METHODS:
            rank(cells, method)  # compiles
            rows.append((f"scanpy, {method}", *timed(lambda m=method: rank(cells, m))))
    return [
        {
            "cells": n_cells,
            "genes": n_genes,
            "method": name,
            "seconds": f"{seconds:.2f}",
            "processor seconds": f"{work:.2f}",
            "tellapart takes": f"{wall / seconds:.1f} times",
            "in processor time": f"{own_work / work:.1f} times",
            "markers found": f"{found_share(cells, found, number):.2f}",
        }
        for name, found, seconds, work in rows
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure every size, and store the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", nargs="+", default=[f"{n}x{d}" for n, d in SIZES])
    sizes = [tuple(map(int, size.split("x"))) for size in parser.parse_args(arguments).sizes]
    warnings.simplefilter("ignore")
    for size in ((200, 150), (300, 1_100)):
        compare(make_cells(*size))  # compiles what narrower and wider tables need
    rows: list[dict[str, object]] = []
    for n_cells, n_genes in sizes:
        rows += measure(n_cells, n_genes)
        text = (
            "# Ten types of cells, each against the rest\n\n"
            f"{N_TYPES} types with {N_MARKERS} markers each, 999 permutations a comparison; "
            "`python benchmarks/bench_groups.py`.\n\n" + table(rows)
        )
        store("groups", text, rows)


if __name__ == "__main__":
    main()
