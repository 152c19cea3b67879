"""The scan: one test on all rows that looks at several families of differences at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.chunked_samples import ChunkedSamples, in_chunks
from tellapart.data.samples import Samples
from tellapart.effects.raw_columns import RawColumns
from tellapart.effects.values import fewest_rows
from tellapart.errors import InputError
from tellapart.permutation.design_units import draw_labels
from tellapart.permutation.labels import Bins
from tellapart.permutation.pvalues import PermutationNull, null_of
from tellapart.progress import Progress, silent
from tellapart.scan.blocks import ColumnsInBlocks, ColumnStatistics, pool_in_blocks
from tellapart.scan.differences import Differences
from tellapart.scan.families.correlation import (
    CORRELATED,
    PairScan,
    correlation_statistics,
)
from tellapart.scan.families.higher import higher_statistics
from tellapart.scan.families.kernel import kernel_statistics
from tellapart.scan.families.location import location_statistics
from tellapart.scan.families.missingness import MissingScan, asked_missing, missing_statistics
from tellapart.scan.families.pair import pair_statistics
from tellapart.scan.families.plan import (
    BYTES_PER_COLUMN,
    Asked,
    Plan,
    ask_families,
    columns_held,
    in_blocks,
    make_plan,
)
from tellapart.scan.families.shape import shape_statistics
from tellapart.scan.families.triple import TripleScan, triple_statistics
from tellapart.scan.families.values import ValuesScan, values_apart, values_statistics
from tellapart.scan.finding import Finding
from tellapart.scan.findings import find
from tellapart.scan.loops import FEWEST_UNEVEN
from tellapart.scan.pool import Pool
from tellapart.scan.scores import score_rows
from tellapart.scan.sums import sum_bins
from tellapart.scan.tables import OUTLINED, Outline, tables_of
from tellapart.scan.tails import COMBINATION_TIE as TIE
from tellapart.scan.tails import combine, family_score
from tellapart.threads import in_threads, one_blas_thread

# How much each family counts in the combination. Chosen with the statistics of the families on
# data made for that, and not on what the benchmarks show.
WEIGHTS = {
    "location": 4.0,
    "shape": 1.0,
    "kernel": 0.5,
    "correlation": 1.0,
    "pair": 1.0,
    "triple": 0.5,
    "higher": 0.5,
    "missing": 2.0,
    "values": 1.0,
}
BYTES_PER_BIN = 8
"""What the labels and statistics of one permutation take for each bin."""
MOST_BYTES = 8_000_000_000
# Columns that a note lists by name.
MOST_LISTED = 5


@dataclass(frozen=True, eq=False)
class Scan:
    """What a scan found.

    Attributes
    ----------
    null : PermutationNull
        log C of the true labels and of the permutations, with p-value and critical value.
    families : mapping from str to float
        The p-value of each family that ran: valid by itself, not adjusted for the others.
    findings : tuple of Finding
        What differs, the surest of each class first.
    variable_pvalues : mapping from str to float
        The adjusted p-value of every column.
    skipped, notes : mapping from str to str
        Families that could not run, and those that left something out, with the reason.
    rows_per_bin : int
        Rows that were permuted together; 1 where rows were permuted one by one.
    columns, pairs, triples : tuples
        Places of the columns that were named, and of those of pairs and triples.
    n_variables : int
        Columns of the best choice by the kernel family: as many as carry nearly all.
    differences : Differences or None
        How much every score of every column differs, over all rows.
    unlisted : mapping from str to int
        How many more pairs and triples are significant than are listed among the findings.
    """

    null: PermutationNull
    families: Mapping[str, float]
    findings: tuple[Finding, ...]
    variable_pvalues: Mapping[str, float]
    skipped: Mapping[str, str]
    notes: Mapping[str, str]
    rows_per_bin: int
    columns: tuple[int, ...] = ()
    pairs: tuple[tuple[int, ...], ...] = ()
    triples: tuple[tuple[int, ...], ...] = ()
    n_variables: int = 1
    differences: Differences | None = field(default=None, repr=False)
    unlisted: Mapping[str, int] = field(default_factory=dict)

    @property
    def by_design(self) -> bool:
        """Whether labels were permuted by a design."""
        return self.differences is not None and self.differences.by_design

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain Python values, ready for JSON."""
        return {
            "families": dict(self.families),
            "findings": [finding.to_dict() for finding in self.findings],
            "variable_pvalues": dict(self.variable_pvalues),
            "skipped": dict(self.skipped),
            "notes": dict(self.notes),
            "unlisted": dict(self.unlisted),
            "rows_per_bin": self.rows_per_bin,
        }

    def labelled(self, labels: tuple[str, str]) -> Scan:
        """Return the scan with findings that call the samples by these names."""
        named = tuple(replace(finding, labels=labels) for finding in self.findings)
        return replace(self, findings=named)


@dataclass
class FamilyRuns:
    """The statistics of every family that ran, and what the findings need of them."""

    statistics: dict[str, FloatArray] = field(default_factory=dict)
    correlated: PairScan | None = None
    paired: PairScan | None = None
    triple_scan: TripleScan | None = None
    missing_scan: MissingScan | None = None
    values_scan: ValuesScan | None = None
    n_variables: int = 1


def scan(
    samples: Samples | ChunkedSamples,
    *,
    n_permutations: int,
    alpha: float,
    rng: np.random.Generator,
    n_jobs: int = 1,
    progress: Progress = silent,
    effort: float = 1.0,
) -> Scan:
    """Scan two samples for differences of every kind.

    Parameters
    ----------
    samples : Samples or ChunkedSamples
        All rows.
    n_permutations : int
        Permutations; all are enumerated where there are no more than that.
    alpha : float
        The level, for the critical value and for which findings are named.
    rng : numpy Generator
        Draws bins, permutations and the resamples of the intervals.
    n_jobs : int
        Threads.
    progress : callable
        Told how far the work is.
    effort : float
        The share of the usual work that pairs and triples may take: where not all of them can be
        looked at, they are made of fewer columns.
    """
    # Threads of our own share out what is large: those of BLAS wait for each other on a busy
    # machine, hundreds of times in one scan.
    with one_blas_thread():
        return _scan(in_chunks(samples), n_permutations, alpha, rng, n_jobs, progress, effort)


def _scan(
    samples: ChunkedSamples,
    n_permutations: int,
    alpha: float,
    rng: np.random.Generator,
    n_jobs: int,
    progress: Progress,
    effort: float,
) -> Scan:
    labels = draw_labels(samples, n_permutations, rng)
    progress("scan", f"{samples.n_columns:,} columns, {labels.count - 1:,} permutations")
    _check_memory(samples.n_columns, labels)
    blocks = None
    if in_blocks(samples.n_columns, labels.count):
        pool, plan, asked, blocks = pool_in_blocks(samples, labels, rng, n_jobs, progress, effort)
    else:
        pool, plan, asked = make_pool(samples, labels, rng, n_jobs, progress, effort)
    return scan_pool(samples, pool, plan, asked, alpha=alpha, progress=progress, blocks=blocks)


def scan_pool(
    samples: Samples | ChunkedSamples,
    pool: Pool,
    plan: Plan,
    asked: Asked,
    *,
    alpha: float,
    progress: Progress = silent,
    blocks: ColumnsInBlocks | None = None,
    begin_with: int = 0,
) -> Scan:
    """Run every family on sums that are there, combine them, and name what differs.

    `blocks` is what was found of all columns, where the sums are those of pairs and triples;
    `begin_with` is the place of the family to begin with.
    """
    names, labels = samples.names, pool.labels
    known = None if blocks is None else blocks.statistics
    run = run_families(pool, plan, asked, progress, known, begin_with)
    combined = combine(
        {name: family_score(table) for name, table in run.statistics.items()}, WEIGHTS
    )
    null = null_of(combined.values, TIE, alpha, exact=labels.exact)
    progress("scan", "naming what differs")
    found = find(
        names,
        pool,
        [scanned for scanned in (run.correlated, run.paired) if scanned is not None],
        run.triple_scan,
        run.missing_scan,
        run.values_scan,
        pvalue=null.pvalue,
        alpha=alpha,
        raw=RawColumns(samples),
        contest=None if blocks is None else blocks.contest,
    )
    differences = Differences.of(
        pool.sums,
        pool.tables,
        labels,
        plan.pairs if CORRELATED.name in pool.requests.pairs else None,
    )
    if blocks is not None:
        differences = replace(blocks.differences, correlations=differences.correlations)
    return Scan(
        null=null,
        families=combined.pvalues,
        findings=found.findings,
        variable_pvalues=dict(zip(names, found.column_pvalues.tolist(), strict=True)),
        skipped=plan.skipped,
        notes=plan.notes | _too_few_values(names, pool),
        unlisted=found.unlisted,
        rows_per_bin=labels.rows_per_bin,
        columns=found.columns,
        pairs=found.pairs,
        triples=found.triples,
        n_variables=run.n_variables,
        differences=differences,
    )


def _too_few_values(names: tuple[str, ...], pool: Pool) -> dict[str, str]:
    """Return the note on columns that are not compared by their values, at the true labels."""
    present = pool.sums.present
    if present is None or pool.labels.by_design:
        return {}
    scant = pool.precision(present)[0] == 0
    left_out = [names[s] for s in np.unique(pool.tables.column[scant])]
    if not left_out:
        return {}
    few = ", ".join(left_out[:MOST_LISTED]) + (", …" if len(left_out) > MOST_LISTED else "")
    return {
        "missing": f"the values of {len(left_out):,} columns ({few}) were not compared: one sample "
        f"has fewer than {FEWEST_UNEVEN} of them, and less than half of what an even share of "
        "missing values would leave"
    }


def make_pool(
    samples: ChunkedSamples,
    labels: Bins,
    rng: np.random.Generator,
    n_jobs: int = 1,
    progress: Progress = silent,
    effort: float = 1.0,
) -> tuple[Pool, Plan, Asked]:
    """Return the sums over bins of all that the families ask for: two looks at the rows.

    The first, at some rows drawn from both samples alike, makes the tables and the plan; the
    second, at all rows, adds up.
    """
    pooled = Outline.of(samples)
    tables = tables_of(samples, pooled, n_jobs)
    if tables.size == 0:
        raise InputError(
            f"X and Y must have a column that varies; all {samples.n_columns} are constant"
        )
    rows = pooled.some_rows(tables.size, rng)
    outline = score_rows(tables, rows, n_jobs, OUTLINED)
    plan = make_plan(outline, labels, effort)
    missing = asked_missing(samples)
    values = values_apart(rows, samples.kinds, fewest_rows(labels.n_x, labels.n_y), n_jobs)
    asked = ask_families(plan, outline, labels, rng, n_jobs, missing, values)
    sums = sum_bins(samples, tables, labels, asked.requests, n_jobs, progress)
    return Pool(tables, outline, labels, asked.requests, sums, n_jobs), plan, asked


def _check_memory(n_columns: int, labels: Bins) -> None:
    """Raise if the statistics of so many permutations would not fit into memory."""
    each = BYTES_PER_COLUMN * columns_held(n_columns, labels.count) + BYTES_PER_BIN * labels.n_bins
    if labels.count * each > MOST_BYTES:
        raise InputError(
            f"n_permutations must be at most {MOST_BYTES // each:,} for a scan of "
            f"{n_columns:,} columns (their statistics may take {MOST_BYTES / 1e9:g} GB); "
            f"got {labels.count - 1:,}"
        )


def run_families(
    pool: Pool,
    plan: Plan,
    asked: Asked,
    progress: Progress,
    known: ColumnStatistics | None = None,
    begin_with: int = 0,
) -> FamilyRuns:
    """Run every family that the plan has, side by side in the threads of the pool.

    Those of single columns may be `known` already. Scans side by side that share sums begin with
    different families: none then waits for what another is making.
    """
    run = FamilyRuns()

    def location() -> FloatArray:
        return location_statistics(pool) if known is None else known.location

    def shape() -> FloatArray:
        return shape_statistics(pool) if known is None else known.shape

    def kernel() -> FloatArray:
        found = kernel_statistics(pool) if known is None else known.kernel
        run.n_variables = found.n_variables
        return found.statistics

    def correlation() -> FloatArray:
        run.correlated = correlation_statistics(pool, plan.pairs, plan.screened, plan.core)
        return run.correlated.statistics

    def pair() -> FloatArray:
        run.paired = pair_statistics(pool, plan.shaped)
        return run.paired.statistics

    def triple() -> FloatArray:
        run.triple_scan = triple_statistics(pool, asked.triples)
        return run.triple_scan.statistics

    def higher() -> FloatArray:
        assert asked.higher is not None
        return higher_statistics(pool, asked.higher)

    def missing() -> FloatArray:
        run.missing_scan = missing_statistics(pool)
        return run.missing_scan.statistics

    def values() -> FloatArray:
        run.values_scan = values_statistics(pool)
        return run.values_scan.statistics

    # The longest first, so that no thread is left alone with one of them in the end.
    every = (triple, pair, higher, correlation, location, kernel, shape)
    runs = [family for family in every if plan.runs(family.__name__)]
    if asked.requests.missing is not None:
        runs.append(missing)
    if asked.requests.values is not None:
        runs.append(values)
    turn = begin_with % max(len(runs), 1)
    runs = runs[turn:] + runs[:turn]
    progress(
        "scan", f"{len(runs)} families: {plan.pairs.size:,} pairs, {plan.triples.size:,} triples"
    )
    found = in_threads(lambda family: family(), runs, pool.n_jobs)
    statistics = {family.__name__: table for family, table in zip(runs, found, strict=True)}
    run.statistics.update({name: statistics[name] for name in WEIGHTS if name in statistics})
    return run
