"""The scan: one test on all rows that looks at several families of differences at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tellapart.arrays import FloatArray
from tellapart.data.samples import Samples
from tellapart.errors import InputError
from tellapart.permutation.bins import BinnedLabels, draw_bins
from tellapart.permutation.nulls import PermutationNull, null_of
from tellapart.progress import Progress, silent
from tellapart.scan.combination import TIE, combine, family_score
from tellapart.scan.families.correlation import PairScan, correlation_statistics
from tellapart.scan.families.higher import higher_statistics
from tellapart.scan.families.kernel import kernel_statistics
from tellapart.scan.families.location import location_statistics
from tellapart.scan.families.pair import pair_statistics
from tellapart.scan.families.plan import Plan, make_plan
from tellapart.scan.families.shape import shape_statistics
from tellapart.scan.families.triple import TripleScan, triple_statistics
from tellapart.scan.finding import Finding
from tellapart.scan.findings import find
from tellapart.scan.pool import Pool
from tellapart.scan.scores import make_scores
from tellapart.scan.whole_rows import WholeRows
from tellapart.threads import one_blas_thread

# How much each family counts in the combination. Chosen with the statistics of the families on
# data made for that, and not on what the benchmarks show.
WEIGHTS = {
    "location": 3.0,
    "shape": 1.0,
    "kernel": 0.5,
    "correlation": 1.0,
    "pair": 1.0,
    "triple": 0.5,
    "higher": 0.5,
}
# What the statistics of one permutation take, for each column and each bin.
BYTES_PER_COLUMN = 300
BYTES_PER_BIN = 8
MOST_BYTES = 8_000_000_000


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

    def to_dict(self) -> dict[str, Any]:
        """Return what was found as plain Python values, ready for JSON."""
        return {
            "families": dict(self.families),
            "findings": [finding.to_dict() for finding in self.findings],
            "variable_pvalues": dict(self.variable_pvalues),
            "skipped": dict(self.skipped),
            "notes": dict(self.notes),
            "rows_per_bin": self.rows_per_bin,
        }

    def labelled(self, labels: tuple[str, str]) -> Scan:
        """Return the scan with findings that call the samples by these names."""
        named = tuple(replace(finding, labels=labels) for finding in self.findings)
        return replace(self, findings=named)


@dataclass(frozen=True)
class _Families:
    """The statistics of every family that ran, and what the findings need of them."""

    statistics: Mapping[str, FloatArray]
    pair_scans: list[PairScan]
    triple_scan: TripleScan | None
    n_variables: int


def scan(
    samples: Samples,
    *,
    n_permutations: int,
    alpha: float,
    rng: np.random.Generator,
    n_jobs: int = 1,
    progress: Progress = silent,
) -> Scan:
    """Scan two samples for differences of every kind.

    Parameters
    ----------
    samples : Samples
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
    """
    # Threads of our own share out what is large: those of BLAS wait for each other on a busy
    # machine, hundreds of times in one scan.
    with one_blas_thread():
        return _scan(samples, n_permutations, alpha, rng, n_jobs, progress)


def _scan(
    samples: Samples,
    n_permutations: int,
    alpha: float,
    rng: np.random.Generator,
    n_jobs: int,
    progress: Progress,
) -> Scan:
    labels = draw_bins(samples.n_x, samples.n_y, n_permutations, rng)
    progress("scan", f"{samples.n_columns:,} columns, {labels.count - 1:,} permutations")
    _check_memory(samples, labels)
    scores = make_scores(samples)
    if scores.column.size == 0:
        raise InputError(
            f"X and Y must have a column that varies; all {samples.n_columns} are constant"
        )
    pool = Pool(scores, labels, n_jobs)
    plan = make_plan(pool)
    run = _run_families(pool, plan, rng, progress)
    combined = combine(
        {name: family_score(table) for name, table in run.statistics.items()}, WEIGHTS
    )
    null = null_of(combined.values, TIE, alpha, exact=labels.exact)
    progress("scan", "naming what differs")
    found = find(
        samples,
        pool,
        run.pair_scans,
        run.triple_scan,
        pvalue=null.pvalue,
        alpha=alpha,
        rng=rng,
    )
    return Scan(
        null=null,
        families=combined.pvalues,
        findings=found.findings,
        variable_pvalues=dict(zip(samples.names, found.column_pvalues.tolist(), strict=True)),
        skipped=plan.skipped,
        notes=plan.notes,
        rows_per_bin=labels.rows_per_bin,
        columns=found.columns,
        pairs=found.pairs,
        triples=found.triples,
        n_variables=run.n_variables,
    )


def _check_memory(samples: Samples, labels: BinnedLabels) -> None:
    """Raise if the statistics of so many permutations would not fit into memory."""
    each = BYTES_PER_COLUMN * samples.n_columns + BYTES_PER_BIN * labels.n_bins
    if labels.count * each > MOST_BYTES:
        raise InputError(
            f"n_permutations must be at most {MOST_BYTES // each:,} for a scan of "
            f"{samples.n_columns:,} columns (their statistics may take {MOST_BYTES / 1e9:g} GB); "
            f"got {labels.count - 1:,}"
        )


def _run_families(
    pool: Pool, plan: Plan, rng: np.random.Generator, progress: Progress
) -> _Families:
    rows = WholeRows.of(pool, rng)
    statistics: dict[str, FloatArray] = {}
    progress("scan", "location, shape and kernel of single columns")
    statistics["location"] = location_statistics(pool, rows)
    statistics["shape"] = shape_statistics(pool)
    kernel = kernel_statistics(pool)
    statistics["kernel"] = kernel.statistics
    pair_scans: list[PairScan] = []
    triple_scan: TripleScan | None = None
    if plan.runs("correlation"):
        progress("scan", f"correlation of {plan.pairs.size:,} pairs")
        pair_scans.append(correlation_statistics(pool, plan.pairs, plan.screened, plan.core))
        statistics["correlation"] = pair_scans[-1].statistics
    if plan.runs("pair"):
        progress("scan", f"other dependence of {plan.shaped.size:,} pairs")
        pair_scans.append(pair_statistics(pool, plan.shaped))
        statistics["pair"] = pair_scans[-1].statistics
    if plan.runs("triple"):
        progress("scan", f"dependence of {plan.triples.size:,} triples")
        triple_scan = triple_statistics(pool, plan.triples, plan.triple_columns)
        statistics["triple"] = triple_scan.statistics
    if plan.runs("higher"):
        progress("scan", "fours of columns and directions")
        statistics["higher"] = higher_statistics(
            pool, plan.four_columns, plan.direction_columns, rng
        ).statistics
    return _Families(statistics, pair_scans, triple_scan, kernel.n_variables)
