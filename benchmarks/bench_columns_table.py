"""The table of all columns: what it takes beside the test, and its genes beside scanpy's.

    python benchmarks/bench_columns_table.py [--scanpy FOLDER]

Normal samples with 999 permutations and defaults: seconds of the test, of `columns_table()` when it
is requested, and of the JSON with it. Then cells as in `bench_groups.py` (3,000 × 8,000, sparse,
ten types): log₂ fold changes and t statistics of `compare_groups(...).columns_table()` against the
same formulas in NumPy and, where scanpy is importable (`pip install --target FOLDER scanpy`),
against `rank_genes_groups_df` with method "t-test". Seconds are those of the processor.
Writes benchmarks/results/columns_table.md and .csv.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import TypeVar

import numpy as np
import pandas as pd
from scipy import sparse

import tellapart as ta
from bench_groups import make_cells
from store import store, table

SIZES = ((20, 20, 20_000), (500, 500, 100), (100_000, 100_000, 50))
CELLS = (3_000, 8_000)
T = TypeVar("T")
Row = dict[str, object]


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return what a function returns, and its seconds of the processor."""
    started = time.process_time()
    made = work()
    return made, time.process_time() - started


def time_table(n_x: int, n_y: int, n_columns: int) -> Row:
    """Return the seconds of a test and of its table."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(n_x, n_columns)), rng.normal(size=(n_y, n_columns))
    y[:, :5] += 1
    result, test = timed(lambda: ta.two_sample_test(x, y, random_state=0))
    _, frame = timed(result.columns_table)
    text, json = timed(result.to_json)
    return {
        "rows": f"{n_x:,} + {n_y:,}",
        "columns": f"{n_columns:,}",
        "test, s": f"{test:.2f}",
        "table, s": f"{frame:.2f}",
        "table, % of the test": f"{100 * frame / test:.1f}",
        "JSON, s": f"{json:.2f}",
        "JSON, MB": f"{len(text) / 1e6:.1f}",
    }


def gene_table(n_cells: int, n_genes: int) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return our table and scanpy's columns by our own NumPy, and lines on how they compare."""
    cells = make_cells(n_cells, n_genes)
    kind = np.array([str(one) for one in cells.kind])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result, test = timed(lambda: ta.compare_groups(cells.counts, kind, random_state=0))
    ours, seconds = timed(lambda: result.columns_table(log2_fold_change="log1p"))
    dense = cells.counts.toarray()
    parts = []
    for label in sorted(set(kind)):
        inside, rest = dense[kind == label], dense[kind != label]
        means = [side.mean(axis=0) for side in (inside, rest)]
        errors = sum(side.var(axis=0, ddof=1) / len(side) for side in (inside, rest))
        change = np.log2((np.expm1(means[0]) + 1e-9) / (np.expm1(means[1]) + 1e-9))
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = (means[0] - means[1]) / np.sqrt(errors)
        names = [f"x{s}" for s in range(n_genes)]
        part = {"group": label, "names": names, "scores": scores, "logfoldchanges": change}
        parts.append(pd.DataFrame(part))
    numpy_table = pd.concat(parts, ignore_index=True)
    lines = [
        f"{n_cells:,} cells × {n_genes:,} genes, ten types: the test takes {test:.1f} s, its table "
        f"of {len(ours):,} rows {seconds:.1f} s.",
        _agreement("NumPy", ours, numpy_table),
    ]
    if find_spec("scanpy") is not None:
        _scanpy_table(cells.counts[:200], kind[:200])  # compiles
        theirs, taken = timed(lambda: _scanpy_table(cells.counts, kind))
        lines.append(f"{_agreement('scanpy', ours, theirs)} scanpy's takes {taken:.1f} s.")
    else:
        lines.append("scanpy is not importable here.")
    return ours, numpy_table, lines


def _scanpy_table(counts: object, kind: np.ndarray) -> pd.DataFrame:
    import anndata
    import scanpy as sc

    data = anndata.AnnData(
        sparse.csr_matrix(counts), obs=pd.DataFrame({"kind": pd.Categorical(kind)})
    )
    data.var_names = [f"x{s}" for s in range(data.n_vars)]
    data.uns["log1p"] = {"base": None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sc.tl.rank_genes_groups(data, "kind", method="t-test", use_raw=False)
    return sc.get.rank_genes_groups_df(data, group=None)


def _agreement(name: str, ours: pd.DataFrame, theirs: pd.DataFrame) -> str:
    """Return how far fold changes and t statistics are apart, in the genes that both have."""
    both = ours.merge(
        theirs, left_on=["group", "column"], right_on=["group", "names"], suffixes=("", "_")
    )
    parts = []
    for mine, other, title in (
        ("log2_fold_change", "logfoldchanges", "log₂ fold changes"),
        ("statistic", "scores", "t statistics"),
    ):
        known = np.isfinite(both[mine]) & np.isfinite(both[other])
        apart = (both.loc[known, mine] - both.loc[known, other]).abs()
        scale = np.maximum(both.loc[known, other].abs(), 1)
        parts.append(f"{title} of {int(known.sum()):,} rows at most {(apart / scale).max():.1e}")
    return f"Relative difference from {name}: {', '.join(parts)}."


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(description="The table of all columns.")
    parser.add_argument("--scanpy", help="folder that scanpy was installed into")
    given = parser.parse_args(arguments)
    if given.scanpy:
        sys.path.append(given.scanpy)
    time_table(30, 30, 5)  # compiles
    rows = [time_table(*size) for size in SIZES]
    _, _, lines = gene_table(*CELLS)
    text = (
        "# The table of all columns\n\n"
        "`python benchmarks/bench_columns_table.py`; seconds of the processor.\n\n"
        f"{table(rows)}\n\n## Genes\n\n" + "\n".join(f"- {line}" for line in lines) + "\n"
    )
    store("columns_table", text, rows)


if __name__ == "__main__":
    main()
