"""Which columns are named: true and false ones, by error rate, beside textbook tests.

    OPENBLAS_NUM_THREADS=1 python benchmarks/bench_named_columns.py [--runs 200] [--genes 20]
    python benchmarks/bench_named_columns.py --only genes     # kinds whose name has this in it

On other seeds than those the scores and weights were chosen on: groups of single cells (ten types
of 700 cells with eight marker genes each among 765, the data of bench_groups.py, every type against
the rest), kinds of data in which four of 60 columns differ, or none does, designs, and 20 + 20
samples of 2,000 genes of which 100 differ. Names at level 0.05 of tellapart's scan by each error
rate, and of Welch's t test, the Wilcoxon test and Brown and Forsythe's test with Holm's adjustment
(beside "fwer") and with Benjamini and Hochberg's (beside "fdr"): the share of the columns that
differ which is named; how often any other column is; the mean proportion of false names; how often
it exceeds 0.1; and of genes the share of true ones among the 100 with the smallest p-values. A gene
of a cell normalised by its depth is no quite clean null, as markers add to the depth. Pairs and
triples, which names of columns share the level with, are looked at with a twentieth of the usual
effort. Writes benchmarks/results/named_columns.md and .csv after each kind.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bench_groups import make_cells
from store import store, table
from tellapart.data.design_labels import DesignArguments
from tellapart.data.reader import read_samples
from tellapart.permutation.pvalues import benjamini_hochberg, holm
from tellapart.scan.column_tests import ColumnTests
from tellapart.scan.error_rates import RATES, ErrorRate
from tellapart.scan.scan import scan

ALPHA = 0.05
PERMUTATIONS = 199
COLUMNS, CHANGED = 60, 4
PLACES = np.linspace(5, COLUMNS - 5, CHANGED).astype(int)
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


GENES, TRUE_GENES, SAMPLES = 2_000, 100, 20


def genes(rng: np.random.Generator) -> tuple[Rows, Rows, NDArray[np.bool_]]:
    """Draw log-expression of genes in modules of ten, and which of them differ."""
    modules = rng.normal(size=(2 * SAMPLES, GENES // 10)).repeat(10, axis=1)
    values = np.sqrt(0.2) * modules + np.sqrt(0.8) * rng.normal(size=(2 * SAMPLES, GENES))
    differs = np.zeros(GENES, dtype=bool)
    differs[rng.choice(GENES, TRUE_GENES, replace=False)] = True
    shift = rng.choice([-1.0, 1.0], TRUE_GENES) * rng.uniform(0.4, 1.8, TRUE_GENES)
    values[:SAMPLES, differs] += shift
    return values[:SAMPLES], values[SAMPLES:], differs


@dataclass(frozen=True)
class Design:
    """Columns of which four are shifted, under a design, and the textbook test for it."""

    arguments: DesignArguments
    x: Rows
    y: Rows
    usual: NDArray[np.float64]


def paired(rng: np.random.Generator) -> Design:
    """Draw 40 people before and after, a shift of 0.7."""
    person = rng.normal(size=(40, COLUMNS))
    x, y = (person + 0.8 * rng.normal(size=person.shape) for _ in range(2))
    x[:, PLACES] += 0.7
    return Design(DesignArguments(paired=True), x, y, stats.ttest_rel(x, y).pvalue)


def stratified(rng: np.random.Generator) -> Design:
    """Draw rows of four sites in other shares, a shift of 0.6."""
    share = np.arange(1, 5) / 10
    sites = rng.choice(4, 100, p=share), rng.choice(4, 100, p=share[::-1])
    of_site = rng.normal(size=(4, COLUMNS))
    x, y = (of_site[site] + rng.normal(size=(100, COLUMNS)) for site in sites)
    x[:, PLACES] += 0.6
    # Least squares with an indicator of each site.
    terms = np.column_stack([np.eye(4)[np.concatenate(sites)], np.arange(200) < 100])
    fit, *_ = np.linalg.lstsq(terms, np.vstack([x, y]), rcond=None)
    rest = np.vstack([x, y]) - terms @ fit
    freedom = 200 - terms.shape[1]
    variance = np.square(rest).sum(axis=0) / freedom * np.linalg.inv(terms.T @ terms)[-1, -1]
    usual = 2 * stats.t.sf(np.abs(fit[-1]) / np.sqrt(variance), freedom)
    return Design(DesignArguments(strata=sites), x, y, usual)


DESIGNS = {
    "pairs, shift 0.7, 40 people": paired,
    "strata, shift 0.6, 100 + 100": stratified,
}


def usual_tests(x: Rows, y: Rows) -> dict[str, NDArray[np.float64]]:
    """Return the p-values of textbook tests of every column."""
    spread = [np.abs(side - np.median(side, axis=0)) for side in (x, y)]
    return {
        "t": known(stats.ttest_ind(x, y, axis=0, equal_var=False).pvalue),
        "Wilcoxon": known(stats.mannwhitneyu(x, y, axis=0).pvalue),
        "Brown–Forsythe": known(stats.ttest_ind(*spread, axis=0).pvalue),
    }


def known(pvalues: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p-values with 1 where there is none."""
    return np.where(np.isnan(pvalues), 1.0, pvalues)


def scanned(
    x: Rows,
    y: Rows,
    seed: int,
    permutations: int = PERMUTATIONS,
    design: DesignArguments | None = None,
) -> tuple[ColumnTests, bool]:
    """Return the test of every column by the scan, which looks at fewer pairs, and its verdict."""
    rng = np.random.default_rng(seed)
    samples = read_samples(x, y, design=design or DesignArguments())
    found = scan(samples, n_permutations=permutations, alpha=ALPHA, rng=rng, effort=EFFORT)
    return found.column_tests, found.null.pvalue <= ALPHA


@dataclass
class Tally:
    """What each method named, in every run: by method true and false names, and those on top."""

    counts: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)
    top: dict[str, list[float]] = field(default_factory=dict)

    def add(
        self,
        own: tuple[ColumnTests, bool],
        usual: Mapping[str, NDArray[np.float64]],
        differs: NDArray[np.bool_],
    ) -> None:
        """Count what is named of two samples; `own` are the tests of the scan."""
        tests, rejects = own
        q = {
            rate: ErrorRate(rate).adjust(tests.pvalue, tests.adjusted, tests.n_compared)
            for rate in RATES
        }
        named = {f"tellapart {rate}": (p <= ALPHA) & rejects for rate, p in q.items()}
        for name, p in usual.items():
            named[f"{name}, Holm"] = holm(p) <= ALPHA
            named[f"{name}, BH"] = benjamini_hochberg(p) <= ALPHA
        harmonic = float(np.sum(1 / np.arange(1, differs.size + 1)))
        named["tellapart, BY"] = (benjamini_hochberg(tests.pvalue) * harmonic <= ALPHA) & rejects
        # e-BH of e = 1/(2√p): BH of 1/e.
        named["tellapart, e-BH"] = benjamini_hochberg(2 * np.sqrt(tests.pvalue)) <= ALPHA
        for method, chosen in named.items():
            true, false = int((chosen & differs).sum()), int((chosen & ~differs).sum())
            self.counts.setdefault(method, []).append((true, false, int(differs.sum())))
        for name, p in {"tellapart": tests.pvalue, **usual}.items():
            first = np.argsort(p, kind="stable")[: max(int(differs.sum()), 1)]
            self.top.setdefault(name, []).append(float(differs[first].mean()))

    def rows(self, kind: str) -> list[dict[str, object]]:
        """Return one row of the table for each method."""
        shown: list[dict[str, object]] = []
        for method, counts in self.counts.items():
            true, false, differing = np.array(counts).T
            proportion = false / np.maximum(true + false, 1)
            top = self.top.get(method.split(",")[0].removesuffix(" fwer"))
            row: dict[str, object] = {"kind": kind, "method": method, "runs": len(counts)}
            row["true names"] = f"{np.mean(true / differing):.2f}" if differing.any() else ""
            row["any false"] = f"{np.mean(false > 0):.3f}"
            row["FDP"] = f"{np.mean(proportion):.3f}"
            row["FDP > 0.1"] = f"{np.mean(proportion > 0.1):.3f}"
            row["true among the first"] = (
                f"{np.mean(top):.2f}"
                if top and differing.any() and not method.endswith("H")
                else ""
            )
            shown.append(row)
        return shown


def of_groups(n_sets: int) -> Tally:
    """Return which markers are named, of every type against the rest."""
    tally = Tally()
    for number in range(n_sets):
        cells = make_cells(700, 765, seed=SEED + number)
        values, names = cells.counts.toarray(), np.array(cells.genes)
        for kind in sorted(cells.markers):
            x, y = values[cells.kind == kind], values[cells.kind != kind]
            differs = np.isin(names, list(cells.markers[kind]))
            tally.add(scanned(x, y, number, 999), usual_tests(x, y), differs)
    return tally


def of_kind(kind: str, runs: int) -> Tally:
    """Return what is named of one kind of data."""
    draw, m, n, change = KINDS[kind]
    tally = Tally()
    for number in range(runs):
        rng = np.random.default_rng([SEED, list(KINDS).index(kind), number])
        pooled = draw(rng, m + n)
        differs = np.zeros(COLUMNS, dtype=bool)
        if change is not unchanged:
            differs[PLACES] = True
            pooled[:m, PLACES] = change(rng, pooled[:m, PLACES])
        x, y = pooled[:m], pooled[m:]
        tally.add(scanned(x, y, number), usual_tests(x, y), differs)
    return tally


def of_design(kind: str, runs: int) -> Tally:
    """Return what is named under a design, beside the test that textbooks have for it."""
    tally, differs = Tally(), np.isin(np.arange(COLUMNS), PLACES)
    for number in range(runs):
        drawn = DESIGNS[kind](np.random.default_rng([SEED, 100 + len(kind), number]))
        own = scanned(drawn.x, drawn.y, number, design=drawn.arguments)
        tally.add(own, {"t of the design": drawn.usual}, differs)
    return tally


def of_genes(runs: int) -> Tally:
    """Return what is named of genes, with the default number of permutations."""
    tally = Tally()
    for number in range(runs):
        x, y, differs = genes(np.random.default_rng([SEED, 200, number]))
        tally.add(scanned(x, y, number, 999), usual_tests(x, y), differs)
    return tally


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and store the table after each kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--groups", type=int, default=2)
    parser.add_argument("--genes", type=int, default=20)
    parser.add_argument("--only", default="", help="kinds whose name has this in it; not stored")
    asked = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    kinds: dict[str, Callable[[], Tally]] = {}
    if asked.groups:
        kinds[f"single cells, {10 * asked.groups} groups"] = lambda: of_groups(asked.groups)
    if asked.genes:
        what = f"genes, {TRUE_GENES} of {GENES:,}, {SAMPLES} + {SAMPLES}"
        kinds[what] = lambda: of_genes(asked.genes)
    for kind, (_, m, n, _) in KINDS.items():
        kinds[f"{kind}, {m} + {n}"] = partial(of_kind, kind, asked.runs)
    for kind in DESIGNS:
        kinds[kind] = partial(of_design, kind, asked.runs)
    rows: list[dict[str, object]] = []
    for kind, tally in kinds.items():
        if asked.only not in kind:
            continue
        rows += tally().rows(kind)
        text = (
            "# Which columns are named\n\n"
            f"Level {ALPHA}. Single cells: {asked.groups} data sets, ten types each against the "
            f"rest; genes: {asked.genes} data sets; both with 999 permutations. Others: "
            f"{asked.runs} runs of each kind, {CHANGED} of {COLUMNS} columns differ or none does, "
            f"{PERMUTATIONS} permutations. FDP: the proportion of false names. True among the "
            "first: of as many columns with the smallest unadjusted p-values as differ. "
            f"`python benchmarks/bench_named_columns.py --runs {asked.runs} "
            f"--groups {asked.groups} --genes {asked.genes}`.\n\n" + table(rows)
        )
        print(table([row for row in rows if row["kind"] == kind]), flush=True)
        if not asked.only:
            store("named_columns", text, rows, show=False)


if __name__ == "__main__":
    main()
