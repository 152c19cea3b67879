"""Which columns are named: true ones, beside textbook tests with Holm, and false ones.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_named_columns.py [--runs 200] [--groups 2]

On other seeds than those the scores were made on: groups of single cells (ten types of 700 cells
with eight marker genes each among 765, the data of bench_groups.py, every type against the rest),
and kinds of data in which four of 60 columns differ, or none does. Of tellapart's scan, of the
Wilcoxon test and of Welch's t test, both with Holm over all columns: the share of the columns that
differ which is named at level 0.05, and how often any other column is named. A gene of a cell
normalised by its depth is no quite clean null, as markers add to the depth. Pairs and triples,
which names of columns share the level with, are looked at with a twentieth of the usual effort.
Writes benchmarks/results/named_columns.md and .csv after each kind.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bench_groups import make_cells
from store import store, table
from tellapart.data.reader import read_samples
from tellapart.permutation.pvalues import holm
from tellapart.scan.scan import scan

ALPHA = 0.05
PERMUTATIONS = 199
COLUMNS, CHANGED = 60, 4
EFFORT = 0.05
SEED = 20_261
Rows = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Rows]
Change = Callable[[np.random.Generator, Rows], Rows]


def normal(rng: np.random.Generator, rows: int) -> Rows:
    """Draw normal columns."""
    return rng.normal(size=(rows, COLUMNS))


def heavy(rng: np.random.Generator, rows: int) -> Rows:
    """Draw columns of Student's t with two degrees of freedom."""
    return rng.standard_t(2, size=(rows, COLUMNS))


def sparse_counts(rng: np.random.Generator, rows: int) -> Rows:
    """Draw counts, most of them 0, of columns that are rare and of columns that are less so."""
    mean = np.geomspace(0.02, 1.0, COLUMNS)[rng.permutation(COLUMNS)]
    return rng.negative_binomial(2.0, 2.0 / (2.0 + mean), size=(rows, COLUMNS)).astype(float)


def zero_inflated(rng: np.random.Generator, rows: int) -> Rows:
    """Draw lognormal columns of which four fifths are 0."""
    values = rng.lognormal(size=(rows, COLUMNS))
    return np.where(rng.random(values.shape) < 0.8, 0.0, values)


def rare_flags(rng: np.random.Generator, rows: int) -> Rows:
    """Draw flags that are 1 in one to ten rows of a hundred."""
    share = np.linspace(0.01, 0.1, COLUMNS)
    return (rng.random((rows, COLUMNS)) < share).astype(float)


def mixed(rng: np.random.Generator, rows: int) -> Rows:
    """Draw a quarter each of normal, heavy-tailed, sparse and rare columns."""
    kinds = (normal, heavy, sparse_counts, rare_flags)
    parts = [draw(rng, rows) for draw in kinds]
    return np.column_stack([part[:, k :: len(kinds)] for k, part in enumerate(parts)])


def shifted(by: float) -> Change:
    """Return a shift."""
    return lambda _, own: own + by


def scaled(by: float) -> Change:
    """Return another spread."""
    return lambda _, own: own * by


def more(share: float) -> Change:
    """Return values that are larger by 1 in a share of the rows."""
    return lambda rng, own: own + (rng.random(own.shape) < share)


def flagged(share: float) -> Change:
    """Return flags that are 1 in another share of the rows."""
    return lambda rng, own: np.maximum(own, rng.random(own.shape) < share)


def exponential(rng: np.random.Generator, own: Rows) -> Rows:
    """Return a skewed column of the same mean and spread."""
    return rng.exponential(size=own.shape) - 1


def unchanged(_: np.random.Generator, own: Rows) -> Rows:
    """Return the column as it is."""
    return own


KINDS: dict[str, tuple[Draw, int, int, Change]] = {
    "normal": (normal, 60, 60, unchanged),
    "heavy tails": (heavy, 40, 120, unchanged),
    "sparse counts": (sparse_counts, 40, 300, unchanged),
    "zero-inflated": (zero_inflated, 40, 300, unchanged),
    "mixed columns": (mixed, 40, 200, unchanged),
    "normal, shift 0.6": (normal, 100, 100, shifted(0.6)),
    "normal, shift 0.85": (normal, 30, 200, shifted(0.85)),
    "normal, spread 1.6": (normal, 100, 100, scaled(1.6)),
    "normal, spread 1/2.2": (normal, 30, 200, scaled(1 / 2.2)),
    "normal, skewed": (normal, 100, 100, exponential),
    "heavy tails, shift 0.8": (heavy, 100, 100, shifted(0.8)),
    "zero-inflated, 1 more in 25 % of the rows": (zero_inflated, 60, 400, more(0.25)),
    "sparse counts, 1 more in 20 % of the rows": (sparse_counts, 60, 400, more(0.2)),
    "rare flags, 12 % more": (rare_flags, 60, 400, flagged(0.12)),
    "mixed columns, shift 1": (mixed, 40, 200, shifted(1.0)),
}


def wilcoxon(x: Rows, y: Rows) -> NDArray[np.float64]:
    """Return Holm's p-values of the Wilcoxon test of every column."""
    return _holm(stats.mannwhitneyu(x, y, axis=0).pvalue)


def welch(x: Rows, y: Rows) -> NDArray[np.float64]:
    """Return Holm's p-values of Welch's t test of every column."""
    return _holm(stats.ttest_ind(x, y, axis=0, equal_var=False).pvalue)


def _holm(pvalues: NDArray[np.float64]) -> NDArray[np.float64]:
    known = np.where(np.isnan(pvalues), 1.0, pvalues)
    return np.asarray(holm(known.tolist(), known.size))


def scanned(x: Rows, y: Rows, seed: int) -> NDArray[np.float64]:
    """Return the adjusted p-value of every column by the scan, which looks at fewer pairs."""
    rng = np.random.default_rng(seed)
    samples = read_samples(x, y)
    found = scan(samples, n_permutations=PERMUTATIONS, alpha=ALPHA, rng=rng, effort=EFFORT)
    return np.array(list(found.variable_pvalues.values()))


@dataclass
class Tally:
    """What each method named: shares of the columns that differ, and whether any other."""

    named: dict[str, list[float]] = field(default_factory=dict)
    false: dict[str, list[bool]] = field(default_factory=dict)

    def add(self, x: Rows, y: Rows, own: NDArray[np.float64], differs: NDArray[np.bool_]) -> None:
        """Count what is named of two samples; `own` are the p-values of the scan."""
        pvalues = {"tellapart": own, "Wilcoxon, Holm": wilcoxon(x, y), "t test, Holm": welch(x, y)}
        for method, p in pvalues.items():
            share = float((p[differs] <= ALPHA).mean()) if differs.any() else np.nan
            self.named.setdefault(method, []).append(share)
            self.false.setdefault(method, []).append(bool((p[~differs] <= ALPHA).any()))

    def row(self, kind: str) -> dict[str, object]:
        """Return one row of the table."""
        shown: dict[str, object] = {"kind": kind}
        for method, named in self.named.items():
            share = np.mean(named)
            shown[f"{method}: true names"] = "" if np.isnan(share) else f"{share:.2f}"
        for method, false in self.false.items():
            shown[f"{method}: any false"] = f"{np.mean(false):.3f}"
        print(shown, flush=True)
        return shown


def of_groups(n_sets: int) -> dict[str, object]:
    """Return which markers are named, of every type against the rest."""
    tally = Tally()
    for number in range(n_sets):
        cells = make_cells(700, 765, seed=SEED + number)
        values, genes = cells.counts.toarray(), np.array(cells.genes)
        for kind in sorted(cells.markers):
            x, y = values[cells.kind == kind], values[cells.kind != kind]
            rng = np.random.default_rng(number)
            samples = read_samples(x, y)
            found = scan(samples, n_permutations=999, alpha=ALPHA, rng=rng, effort=EFFORT)
            own = np.array(list(found.variable_pvalues.values()))
            tally.add(x, y, own, np.isin(genes, list(cells.markers[kind])))
    return tally.row(f"single cells, {10 * n_sets} groups")


def of_kind(kind: str, runs: int) -> dict[str, object]:
    """Return what is named of one kind of data."""
    draw, m, n, change = KINDS[kind]
    places = np.linspace(5, COLUMNS - 5, CHANGED).astype(int)
    tally = Tally()
    for number in range(runs):
        rng = np.random.default_rng([SEED, list(KINDS).index(kind), number])
        pooled = draw(rng, m + n)
        differs = np.zeros(COLUMNS, dtype=bool)
        if change is not unchanged:
            differs[places] = True
            pooled[:m, places] = change(rng, pooled[:m, places])
        x, y = pooled[:m], pooled[m:]
        tally.add(x, y, scanned(x, y, number), differs)
    return tally.row(f"{kind}, {m} + {n}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and store the table after each kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--groups", type=int, default=2)
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    rows = [of_groups(asked.groups)] if asked.groups else []
    for kind in KINDS:
        rows.append(of_kind(kind, asked.runs))
        text = (
            "# Which columns are named\n\n"
            f"Level {ALPHA}. Single cells: {asked.groups} data sets, ten types each against the "
            f"rest, 999 permutations. Others: {asked.runs} runs of each kind, {CHANGED} of "
            f"{COLUMNS} columns differ or none does, {PERMUTATIONS} permutations. "
            f"`python benchmarks/bench_named_columns.py --runs {asked.runs} "
            f"--groups {asked.groups}`.\n\n" + table(rows)
        )
        store("named_columns", text, rows)


if __name__ == "__main__":
    main()
